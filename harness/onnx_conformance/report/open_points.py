# SPDX-License-Identifier: Apache-2.0
"""The list of the points that the specification leaves open, as text, Markdown or JSON."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING

from onnx_conformance.analysis.open_points import Kind, OpenPoint
from onnx_conformance.base.printing import quoted
from onnx_conformance.base.verdict import parts
from onnx_conformance.report.markup import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from onnx_conformance.analysis.open_points import CaseAnswers

MOST_TEXT = 100
"""Maximum length of the values of an answer, in characters."""
MOST_CASES = 12
"""Maximum number of cases that are named."""


def _versions(point: OpenPoint) -> str:
    return ", ".join(map(str, sorted(point.versions)))


def sentence(point: OpenPoint) -> str:
    """Return the sentence in quotation marks, or the question of a reading; a remark if there is no sentence."""
    if point.reading:
        return f"{point.reading}: {point.sentence}"
    later = f" (only since version {point.later})" if point.later else ""
    return f"{quoted(point.sentence)}{later}" if point.sentence else "(no sentence of the text)"


def where(point: OpenPoint) -> str:
    """Return the operator and its versions; of a reading that is not counted by operator, a remark."""
    return f"{point.operator} ({_versions(point)})" if point.operator else "many operators"


def opponent(point: OpenPoint) -> str:
    """Return the opponent of a contradiction, or the release that changed the sentence, in words, or an empty text."""
    if point.release:
        return f"onnx {point.release} changed this sentence in versions that existed already"
    if not point.against:
        return ""
    own = point.against if not point.is_undecided else quoted(point.against)
    return f"contradicted by {own}"


def _cases(point: OpenPoint) -> str:
    shown = point.cases[:MOST_CASES]
    rest = len(point.cases) - len(shown)
    words = ", ".join(shown) + (f" and {rest:,} more" if rest else "")
    return f"{'case' if len(point.cases) == 1 else 'cases'}: {words}" if shown else ""


def _count(number: int, noun: str) -> str:
    """Return a number with its noun: 1 case, 2 cases."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def case_answers(point: OpenPoint) -> Iterator[str]:
    """Yield a line for each declared case with results: the answers in the variant with the most of them."""
    by_name: dict[str, list[CaseAnswers]] = {}
    for answers in point.answers:
        operator = "/".join(answers.case.split("/")[:3])
        by_name.setdefault(parts(answers.case, operator)[0], []).append(answers)
    for variants in by_name.values():
        shown = max(variants, key=lambda item: (sum(map(len, item.returned.values())), item.voters))
        several = [
            f'{_verb(backends, "return")} "{_short(value)}" ({", ".join(sorted(backends))})'
            for value, backends in shown.returned.items()
        ]
        if shown.refused:
            several.append(f"{_verb(shown.refused, 'refuse')} ({', '.join(sorted(shown.refused))})")
        yield f"{shown.case}: {'; '.join(several)}"


def summary(point: OpenPoint) -> str:
    """Return the answers of the runtimes in a few words, such as "9 backends: different values in 2 cases"."""
    voters = _count(len(point.votes), "backend")
    if not point.is_undecided:
        deviating = [
            f"{name} deviates in {votes.deviates} of {votes.agrees + votes.deviates}"
            for name, votes in sorted(point.votes.items()) if votes.deviates
        ]  # fmt: skip
        return f"{voters}, {_count(len(point.cases), 'case')}: {', '.join(deviating) or 'none deviates'}"
    parts = [f"different values in {_count(point.differ, 'case')}"] if point.differ else []
    parts += [f"the same values in {_count(point.agree, 'case')}"] if point.agree else []
    returning = sum(bool(votes.returns) for votes in point.votes.values())
    parts = parts or [f"{returning} return values" if returning > 1 else f"{returning or 'none'} returns values"]
    return f"{voters}: {', '.join(parts)}"


def _listed(words: Sequence[str]) -> str:
    *rest, last = words
    return f"{', '.join(rest)} and {last}" if rest else last


def _verb(backends: Sequence[str], verb: str) -> str:
    return f"{len(backends)} {verb}" if len(backends) > 1 else f"1 {verb}s"


def _short(value: str) -> str:
    return value if len(value) <= MOST_TEXT else f"{value[: MOST_TEXT - 3]}..."


def votes(point: OpenPoint) -> str:
    """Return the answers of runtimes, as words."""
    several = [
        f"{name} {', '.join(f'{word} {count}' for word, count in asdict(item).items() if count)}"
        for name, item in sorted(point.votes.items())
    ]
    if point.agree or point.differ:
        several.append(f"same values in {_count(point.agree, 'case')}, different ones in {point.differ}")
    return "; ".join(several)


def text(points: Sequence[OpenPoint]) -> Iterator[str]:
    """Yield the lines of the list."""
    for point in points:
        yield f"{where(point)}: {point.kind}"
        parts = [
            sentence(point),
            opponent(point),
            point.note,
            *point.see,
            _cases(point),
            votes(point),
            *case_answers(point),
        ]
        for part in filter(None, parts):
            yield textwrap.fill(part, 110, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
        yield ""
    yield total(points)


def total(points: Sequence[OpenPoint]) -> str:
    """Return the numbers of points of each kind, and of their operators, as a sentence."""
    if not points:
        return "No open points."
    counts = Counter(point.kind for point in points)
    numbers = [_count(counts[kind], kind) for kind in Kind if counts[kind]]
    operators = len({point.operator for point in points} - {""})
    return f"{_listed(numbers)} of {_count(operators, 'operator')}."


def markdown(points: Sequence[OpenPoint]) -> Iterator[str]:
    """Yield the lines of a table."""
    yield "| operator | kind | sentence | explanation | cases | runtimes |"
    yield "|---|---|---|---|---|---|"
    for point in points:
        explanation = ". ".join(filter(None, (opponent(point), point.note)))
        cells = (where(point), point.kind, sentence(point), explanation)
        row = [*(plain(cell, 2000) for cell in cells), f"{len(point.cases)}", _cell(point)]
        yield f"| {' | '.join(row)} |"


def _cell(point: OpenPoint) -> str:
    """Return the answers of runtimes as one cell of a table."""
    return "<br>".join(plain(item, 2000) for item in filter(None, (votes(point), *case_answers(point))))


def as_json(points: Sequence[OpenPoint]) -> Iterator[str]:
    """Yield a JSON document: a list of objects with the members of an open point."""
    rows = [{**asdict(item), "versions": sorted(item.versions)} for item in points]
    yield json.dumps(rows, indent=2, ensure_ascii=False)


FORMATS: Mapping[str, Callable[[Sequence[OpenPoint]], Iterator[str]]] = {
    "text": text, "markdown": markdown, "json": as_json,
}  # fmt: skip
