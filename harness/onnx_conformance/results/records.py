# SPDX-License-Identifier: Apache-2.0
"""One line of the result stream: parsed from JSON, and validated against the published schema.

A results file may have any origin. So the length of a line is bounded, numbers are finite and not too long, and every
member of the schema has its type.
"""

from __future__ import annotations

import datetime as dt
import functools
import json
import math
from typing import TYPE_CHECKING, Any

import fastjsonschema

from onnx_conformance.base import schemas
from onnx_conformance.base.verdict import line

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_BYTES = 4 << 20
"""Maximum length of a line. The longest that a run writes (headers with code, many outputs) have a tenth of it."""
MOST_DIGITS = 40
"""Maximum digits of an integer. Distances have at most 20; an integer with 309 or more does not fit a float."""
KINDS = ("header", "result", "unreadable", "footer")


class RecordError(ValueError):
    """A line is not a valid record; the text contains the reason, and the caller adds file and line."""


class BrokenJsonError(RecordError):
    """A line is not a JSON object with a kind: it may be the last line of a run that was cut off."""


def read(text: bytes) -> dict[str, Any]:
    """Return the record of a line.

    Raises:
        BrokenJsonError: it has no end, is too long, or is not a JSON object with a kind.
        RecordError: a member is missing, or does not match the schema.
    """
    record = parse(text)
    kind = record["kind"]
    if kind not in KINDS:
        raise RecordError(f"{line(kind, 40)!r} is not a kind of record; expected one of {', '.join(KINDS)}")
    try:
        _validator(kind)(record)
    except fastjsonschema.JsonSchemaException as error:
        raise RecordError(line(str(error).replace("data", kind, 1))) from None
    return record


def read_again(text: bytes) -> dict[str, Any]:
    """Return the record of a line that `read` has validated before; nothing is validated again."""
    record: dict[str, Any] = _PLAIN.raw_decode(text.strip().decode("utf-8"))[0]
    return record


def parse(text: bytes) -> dict[str, Any]:
    """Return the JSON object of a line, which has a kind; it is not validated further.

    Raises:
        BrokenJsonError: it has no end, is too long, or is not such an object.
    """
    if not text.endswith(b"\n"):
        raise BrokenJsonError("longer than a record can be" if len(text) >= MOST_BYTES else "cut off")
    try:
        record = _DECODER.decode(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BrokenJsonError(line(error, 120)) from None
    if not isinstance(record, dict) or not isinstance(record.get("kind"), str):
        raise BrokenJsonError("not an object with a kind")
    return record


class _Number(float):
    """A number written with a decimal point: JSON Schema accepts 3.0 as an integer, but it is not a valid index."""

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
        raise ValueError(f"an integer with {len(text)} digits")
    return int(text)


def _constant(text: str) -> float:
    raise ValueError(f"{text} is not a JSON number")


_PLAIN = json.JSONDecoder()
_DECODER = json.JSONDecoder(parse_float=_float, parse_int=_int, parse_constant=_constant)


@functools.cache
def _validator(kind: str) -> Callable[[object], object]:
    """Return a function that validates a record of a kind; compiled, because a file may have a million lines."""
    own = {"$schema": schemas.DRAFT_7, "$defs": schemas.read("results")["$defs"], "$ref": f"#/$defs/{kind}"}
    compiled: Callable[[object], object] = fastjsonschema.compile(
        own, formats={"date-time": _moment}, use_default=False
    )
    return compiled


def _moment(text: str) -> bool:
    """Return whether a text is an ISO 8601 date and time with an offset from UTC, in years that UTC can express."""
    try:
        moment = dt.datetime.fromisoformat(text)
        return moment.tzinfo is not None and moment.astimezone(dt.UTC) is not None
    except (ValueError, OverflowError):
        return False
