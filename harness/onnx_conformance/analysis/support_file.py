# SPDX-License-Identifier: Apache-2.0
"""`support.json`: the support of each published runtime, in a folder of published reports.

Each operator version and each meaning is one line, so a review shows which changed. A version has the counts of each
backend, in the order of `backends`. A meaning has the properties of calls, and for each backend the outcomes of the
cases with them, as letters in the same order; backends with the same letters share them. The last list of a meaning has
the number of failing cases without a property that no passing case has. The ids of cases are not in the file.
"""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import fastjsonschema

from onnx_conformance.analysis.support import ABSENT, Counts, Meaning, Outcome, Support, Word, newest
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import line, split_operator

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

FORMAT = 1
FILE = "support.json"
MOST_BYTES = 16 << 20
"""Maximum size of the file that is read, in bytes."""
NONE = "-"
"""No case."""
_OUTCOMES = frozenset(Outcome)
_TEXT = {"type": "string", "maxLength": 200}
_TEXTS = {"type": "array", "items": _TEXT}
SCHEMA = {
    "type": "object",
    "required": ["format", "suite", "backends", "versions", "rows"],
    "properties": {
        "format": {"const": FORMAT},
        "suite": {"type": "object", "additionalProperties": _TEXT},
        "backends": {
            "type": "array",
            "items": {"type": "object", "required": ["backend"], "additionalProperties": _TEXT},
        },
        "versions": {
            "type": "object",
            "additionalProperties": {
                "type": "array",
                "items": {"type": "array", "items": {"type": "integer", "minimum": 0}, "maxItems": 3},
            },
        },
        "rows": {
            "type": "object",
            "additionalProperties": {
                "type": "array",
                "items": [
                    {"type": "object", "additionalProperties": _TEXTS},
                    {
                        "type": "object",
                        "additionalProperties": {"type": "array", "items": {"type": "integer", "minimum": 0}},
                    },
                    {"type": "array", "items": {"type": "integer", "minimum": 0}},
                ],
                "minItems": 3,
            },
        },
    },
}
"""JSON Schema of the file."""


class SupportError(HarnessError):
    """The file cannot be read. The message contains the reason."""


def text(supports: Sequence[Support]) -> Iterator[str]:
    """Yield the file for some backends, which were tested with one suite."""
    backends = [{"backend": item.backend, "runtime": item.runtime, "version": item.version} for item in supports]
    suite = dict(supports[0].suite) if supports else {}
    yield f'{{"format": {FORMAT},\n"suite": {json.dumps(suite)},\n"backends": [\n'
    yield ",\n".join(json.dumps(item) for item in backends)
    yield '],\n"versions": {\n'
    meanings = sorted({(name, last) for item in supports for name, known in item.meanings.items() for last in known})
    yield ",\n".join(
        f"{json.dumps(f'{name}/{since}')}: {_compact([_numbers(item, name, last, since) for item in supports])}"
        for name, last in meanings
        for since in sorted({since for item in supports for since in _meaning(item, name, last).versions})
    )
    yield '},\n"rows": {\n'
    yield ",\n".join(f"{json.dumps(f'{name}/{last}')}: {_rows(supports, name, last)}" for name, last in meanings)
    yield "}}\n"


def _meaning(support: Support, name: str, last: int) -> Meaning:
    return support.meanings.get(name, {}).get(last, Meaning())


def _numbers(support: Support, name: str, last: int, since: int) -> list[int]:
    """Return the counts of a version without zeros at the end."""
    counts = list(_meaning(support, name, last).versions.get(since, ()))
    while counts and not counts[-1]:
        counts.pop()
    return counts


def _rows(supports: Sequence[Support], name: str, last: int) -> str:
    of_each = [_meaning(item, name, last).rows for item in supports]
    values = {
        key: sorted({value for rows in of_each for value in rows.get(key, ())} - ABSENT)
        for key in sorted({key for rows in of_each for key in rows})
    }
    values = {key: listed for key, listed in values.items() if len(listed) > (not key.endswith("is "))}
    backends: dict[str, list[int]] = {}
    for place, rows in enumerate(of_each):
        letters = "".join(str(rows.get(key, {}).get(value, NONE)) for key in values for value in values[key])
        if letters.strip(NONE):
            backends.setdefault(_shortened(letters), []).append(place)
    return _compact([values, backends, [_meaning(item, name, last).unexplained for item in supports]])


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _shortened(letters: str) -> str:
    """Return letters with a number in front of those that repeat: ppppf as 4pf."""
    runs = ((letter, sum(1 for _ in same)) for letter, same in itertools.groupby(letters))
    return "".join(f"{count if count > 1 else ''}{letter}" for letter, count in runs)


def _written_out(shortened: str, most: int) -> str:
    """Return the letters of a shortened text, at most `most`."""
    letters, number = "", ""
    for letter in shortened:
        if letter.isascii() and letter.isdecimal():
            number += letter
            continue
        letters += letter * min(int(number or 1) if len(number) < 9 else most, most)  # noqa: PLR2004 - digits
        number = ""
    return letters[:most]


def read(path: Path) -> list[Support]:
    """Return the support of the backends of a file.

    Raises:
        SupportError: the file cannot be read, or is not such a file.
    """
    data = _parsed(path)
    suite = {line(key, 80): line(value, 200) for key, value in data["suite"].items()}
    supports = [
        Support(line(item["backend"], 200), line(item.get("runtime", ""), 80), line(item.get("version", ""), 80), suite)
        for item in data["backends"]
    ]
    for name, of_each in data["versions"].items():
        operator, since = split_operator(line(name, 200))
        for support, numbers in zip(supports, of_each, strict=False):
            if numbers and since is not None:
                by_meaning = support.meanings.setdefault(operator, {})
                by_meaning.setdefault(newest(operator, since), Meaning()).versions[since] = Counts(*numbers)
    for name, (values, backends, unexplained) in data["rows"].items():
        operator, last = split_operator(line(name, 200))
        for support, number in zip(supports, unexplained, strict=False):
            if last in (known := support.meanings.get(operator, {})):
                known[last].unexplained = number
        words = [(_key(key), line(value, 200)) for key in values for value in values[key]]
        for shortened, places in backends.items():
            letters = _written_out(shortened, len(words))
            for place in places:
                known = supports[place].meanings.get(operator, {}) if place < len(supports) else {}
                if (meaning := known.get(last or 0)) is not None:
                    _add(meaning, words, letters)
    return supports


def _add(meaning: Meaning, words: Sequence[Word], letters: str) -> None:
    for (key, value), letter in zip(words, letters, strict=False):
        if letter in _OUTCOMES:
            meaning.rows.setdefault(key, {})[value] = Outcome(letter)


def _key(text: str) -> str:
    """Return the first part of a property, which may end with a blank, as one clean line."""
    return line(text, 200) + " " * text.endswith(" ")


def _parsed(path: Path) -> Any:  # noqa: ANN401 - JSON
    try:
        if path.stat().st_size > MOST_BYTES:
            raise SupportError("support-too-large", f"{path} is larger than {MOST_BYTES:,} bytes; run publish again")
        data = json.loads(path.read_bytes())
        fastjsonschema.validate(SCHEMA, data)
    except OSError as error:
        raise SupportError("support-not-readable", f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError, fastjsonschema.JsonSchemaException) as error:
        raise SupportError(
            "not-a-support-file", f"{path} is not a file of format {FORMAT} that `publish` wrote: {line(error, 200)}"
        ) from None
    return data
