# SPDX-License-Identifier: Apache-2.0
"""The whole sentence of an operator's text around a quoted part of it.

A clause of an operator file may quote only a part of a sentence, because the other part differs between versions or
is quoted by another clause. A reader of a finding needs the whole sentence.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from onnx_conformance.analysis.sentences import source_of
from onnx_conformance.specification import schema

if TYPE_CHECKING:
    from collections.abc import Iterator

_ABBREVIATIONS = ("e.g.", "E.g.", "i.e.", "etc.", "vs.", "a.k.a.", "w.r.t.", "...")
"""Full stops that do not end a sentence."""
_NO_ABBREVIATION = "".join(f"(?<!{re.escape(text)})" for text in _ABBREVIATIONS)
_BETWEEN = re.compile(
    rf"(?P<stop>{_NO_ABBREVIATION}(?<=[.!?])[)\"'`*]*)\s+|(?P<colon>:) *\n\s*"
    r"|\n\s*\n|\n\s*(?:[-*+]|\d+[.)])\s+|\s*```\w*\s*|\n\s*(?=\|)|\s*<br\s*/?>\s*"
)
"""A gap between two sentences: after a full stop, or between paragraphs, items of a list, rows and blocks of code."""
_MARK = re.compile(r"^(?:[-*+]|\d+[.)])\s+")
"""The mark of an item at the beginning of a text."""
_CODE = re.compile(r"(?<![<>!=])=(?!=)|\(\w+\)|^\|")
"""A formula, a call or a row of a table, which ends with its line."""
_STOPPED = re.compile(r"[.!?:][)\"'`]*\s*$")
"""The end of a sentence, or of a part that can be understood alone."""
_BEGINS = re.compile(r"[A-Z0-9\[({$`\"'*|<]")
"""The first character of a line on which a sentence may begin."""
_AFTER_COLON = re.compile(
    r"(?:\s|<br\s*/?>)*`*(?:\w*\n\s*)?(?P<line>[^`\n]{1,160}?)\s*"
    r"(?:`|<br|\n\s*`|\n\s*\n|\n?\s*$)"
)
"""A single line after a colon, possibly as code."""
_OF_FORMULA = re.compile(r"[\w)\]] ?(?:=|/|\*|\^) ?[\w(\[]")
"""A part of a formula."""
MOST = 400
"""Maximum number of characters that are added to a quote. Longer texts between two full stops are no sentences."""


def whole_of(operator: str, quote: str) -> str:
    """Return the whole sentence of an operator version such as ai.onnx/Split/18; the quote if it is unknown."""
    source = source_of(operator)
    return whole(source, quote) if quote and source is not None else quote


def whole(source: Any, quote: str) -> str:  # noqa: ANN401 - as `schema.source`
    """Return the whole sentence, or sentences, of a text that contain a quote.

    Args:
        source: the schema of an operator version, with the descriptions of its arguments.
        quote: a part of one of them; white space does not matter.

    Returns:
        The quote itself if the text does not contain it, or contains no short sentence around it.
    """
    words = _with_any_space(quote)
    places = ((part, match) for part in _parts(source) if (match := words.search(part)) is not None)
    part, match = next(places, ("", None))
    if match is None:
        return quote
    start = match.start() if _is_start(part, match) else _previous(part, match.start())
    end = match.end() if _is_end(part, match) else _end(part, match)
    found = schema.fold(f"{_MARK.sub('', part[start:end])} {_formula(part, end)}")
    return found if len(found) <= len(quote) + MOST else quote


def contains(source: Any, quote: str) -> bool:  # noqa: ANN401 - as `schema.source`
    """Return whether a text of a schema contains a quote; white space does not matter."""
    words = _with_any_space(quote)
    return any(words.search(part) for part in _parts(source))


def _with_any_space(quote: str) -> re.Pattern[str]:
    """Return a pattern for the words of a quote, with any white space between them."""
    return re.compile(r"\s+".join(map(re.escape, quote.split())))


def _formula(part: str, end: int) -> str:
    """Return the formula of one line that follows a colon at a position; empty if none follows."""
    match = _AFTER_COLON.match(part, end) if part[:end].endswith(":") else None
    whole_line = match is not None and match["line"].count("(") == match["line"].count(")")
    return match["line"] if match is not None and whole_line and _OF_FORMULA.search(match["line"]) else ""


def _parts(source: Any) -> Iterator[str]:  # noqa: ANN401 - as `schema.source`
    """Yield the texts of a schema."""
    items = (*source.inputs, *source.outputs, *source.attributes.values(), *source.type_constraints)
    yield from filter(None, (source.doc, *(item.description for item in items)))


def _is_start(part: str, match: re.Match[str]) -> bool:
    """Return whether a quote starts where a sentence or a line of code does."""
    before = part[: match.start()]
    if not before.strip() or _STOPPED.search(before) or _BETWEEN.search(before + " ", len(before.rstrip())):
        return True
    line = before.rpartition("\n")
    own_line = bool(line[1]) and not _MARK.sub("", line[2].lstrip()).strip()
    return own_line and (_CODE.search(match[0]) is not None or match[0][0].isupper())


def _is_end(part: str, match: re.Match[str]) -> bool:
    """Return whether a quote ends where a sentence or a line of code does."""
    after = part[match.end() :]
    if not after.strip() or _STOPPED.search(match[0]) or _BETWEEN.match(after):
        return True
    line, _, following = after.partition("\n")
    next_line = following.lstrip().partition("\n")[0]
    begins = _BEGINS.match(next_line) is not None or re.match(r"\w+ = ", next_line) is not None
    continued = line.strip() or match[0].endswith(",")
    return not continued and (_CODE.search(match[0]) is not None or begins)


def _previous(part: str, start: int) -> int:
    """Return the start of the sentence that contains a position."""
    return max((gap.end() for gap in _BETWEEN.finditer(part, 0, start)), default=0)


def _end(part: str, match: re.Match[str]) -> int:
    """Return the end of the sentence, with its full stop, in which a quote ends."""
    gap = _BETWEEN.search(part, match.end())
    return len(part) if gap is None else max(gap.end("stop"), gap.end("colon"), gap.start())
