"""One line of the result stream: read from JSON, and held to the schema that is published for it.

A results file may come from anywhere, so a line is bounded, a number is one that arithmetic can take, and a member that
the schema names has the type that it says.
"""

from __future__ import annotations

import datetime as dt
import functools
import json
import math
from importlib import resources
from typing import TYPE_CHECKING, Any

import fastjsonschema

from harness.verdict import line

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_BYTES = 4 << 20
"""Of a line. The longest that a run writes are headers with code, and results of many outputs; both are a tenth."""
MOST_DIGITS = 40
"""Of a whole number. Distances have 20 at most, and what has 300 is beyond a float."""
KINDS = ("header", "result", "unreadable", "footer")


class RecordError(ValueError):
    """A line is no record; the text says why, and leaves file and line to the caller."""


class BrokenJsonError(RecordError):
    """A line is no JSON at all: it may be the one in which a run was cut off."""


def read(text: bytes) -> dict[str, Any]:
    """Return the record of a line.

    Raises:
        BrokenJsonError: it has no end, is too long, or no JSON object with a kind.
        RecordError: a member is missing, or not what the schema says.
    """
    record = parse(text)
    kind = record["kind"]
    if kind not in KINDS:
        raise RecordError(f"{line(kind, 40)!r} is no kind of record; there are {', '.join(KINDS)}")
    try:
        _validator(kind)(record)
    except fastjsonschema.JsonSchemaException as error:
        raise RecordError(line(str(error).replace("data", kind, 1))) from None
    return record


def read_again(text: bytes) -> dict[str, Any]:
    """Return the record of a line that `read` has read before: nothing is looked at a second time."""
    record: dict[str, Any] = _PLAIN.raw_decode(text.strip().decode("utf-8"))[0]
    return record


def parse(text: bytes) -> dict[str, Any]:
    """Return the JSON object of a line, which has a kind, and is held to nothing else.

    Raises:
        BrokenJsonError: it has no end, is too long, or no such object.
    """
    if not text.endswith(b"\n"):
        raise BrokenJsonError("longer than a record can be" if len(text) >= MOST_BYTES else "cut off")
    try:
        record = _DECODER.decode(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BrokenJsonError(line(error, 120)) from None
    if not isinstance(record, dict) or not isinstance(record.get("kind"), str):
        raise BrokenJsonError("no object with a kind")
    return record


class _Number(float):
    """A number that was written with a point: JSON Schema takes 3.0 for a whole number, and no index can be one."""

    __slots__ = ()

    def is_integer(self) -> bool:
        return False


def _float(text: str) -> float:
    number = _Number(text)
    if math.isinf(number):
        raise ValueError(f"the number {text[:MOST_DIGITS]} is too large")
    return number


def _int(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"a whole number of {len(text)} digits")
    return int(text)


def _constant(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")


_PLAIN = json.JSONDecoder()
_DECODER = json.JSONDecoder(parse_float=_float, parse_int=_int, parse_constant=_constant)


@functools.cache
def _validator(kind: str) -> Callable[[object], object]:
    """Return what holds a record to the definition of its kind: compiled, for a file may have a million lines."""
    schema = json.loads(resources.files("harness.results").joinpath("results.schema.json").read_text(encoding="utf-8"))
    wanted = {"$schema": "http://json-schema.org/draft-07/schema#", "$defs": schema["$defs"], "$ref": f"#/$defs/{kind}"}
    compiled: Callable[[object], object] = fastjsonschema.compile(
        wanted, formats={"date-time": _moment}, use_default=False
    )
    return compiled


def _moment(text: str) -> bool:
    """Tell whether a text is a moment: a date and a time of day, with a distance from UTC, within the years of UTC."""
    try:
        moment = dt.datetime.fromisoformat(text)
        return moment.tzinfo is not None and moment.astimezone(dt.UTC) is not None
    except (ValueError, OverflowError):
        return False
