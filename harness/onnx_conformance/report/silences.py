# SPDX-License-Identifier: Apache-2.0
"""The list of sentences that leave something open, as text, Markdown or JSON."""

from __future__ import annotations

import json
import textwrap
from dataclasses import asdict
from typing import TYPE_CHECKING

from onnx_conformance.base.printing import quoted
from onnx_conformance.base.verdict import parts
from onnx_conformance.report.markup import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from onnx_conformance.analysis.silences import CaseAnswers, Silence

MOST_TEXT = 100
"""Maximum length of the values of an answer, in characters."""


def _versions(silence: Silence) -> str:
    return ", ".join(map(str, sorted(silence.versions)))


def _sentence(silence: Silence) -> str:
    """Return the sentence in quotation marks; a remark if the text of the operator has no sentence on the matter."""
    return quoted(silence.sentence) if silence.sentence else "(no sentence of the text)"


def _count(number: int, noun: str) -> str:
    """Return a number with its noun: 1 case, 2 cases."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _answers(silence: Silence) -> Iterator[str]:
    """Yield a line for each declared case with results: the answers in the variant with the most of them."""
    by_name: dict[str, list[CaseAnswers]] = {}
    for answers in silence.answers:
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


def _verb(backends: Sequence[str], verb: str) -> str:
    return f"{len(backends)} {verb}" if len(backends) > 1 else f"1 {verb}s"


def _short(value: str) -> str:
    return value if len(value) <= MOST_TEXT else f"{value[: MOST_TEXT - 3]}..."


def _votes(silence: Silence) -> str:
    """Return the answers of runtimes, as words."""
    several = [
        f"{name} " + ", ".join(
            f"{word} {count}" for word, count in (("returns", item.returns), ("refuses", item.refuses)) if count
        )
        for name, item in sorted(silence.votes.items())
    ]  # fmt: skip
    if silence.agree or silence.differ:
        several.append(f"same values in {_count(silence.agree, 'case')}, different ones in {silence.differ}")
    return "; ".join(several)


def text(silences: Sequence[Silence]) -> Iterator[str]:
    """Yield the lines of the list."""
    for silence in silences:
        yield f"{silence.operator} ({_versions(silence)})"
        parts = [
            _sentence(silence),
            silence.note,
            *silence.see,
            f"{'case' if len(silence.cases) == 1 else 'cases'}: {', '.join(silence.cases)}",
            _votes(silence),
            *_answers(silence),
        ]
        for part in filter(None, parts):
            yield textwrap.fill(part, 110, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
        yield ""
    operators = len({silence.operator for silence in silences})
    leave = "leaves" if len(silences) == 1 else "leave"
    yield f"{_count(len(silences), 'sentence')} of {_count(operators, 'operator')} {leave} something open."


def markdown(silences: Sequence[Silence]) -> Iterator[str]:
    """Yield the lines of a table."""
    yield "| operator | sentence | left open | cases | runtimes |"
    yield "|---|---|---|---|---|"
    for silence in silences:
        cells = (f"{silence.operator} {_versions(silence)}", _sentence(silence), silence.note)
        row = [*(plain(cell, 2000) for cell in cells), f"{len(silence.cases)}", _cell(silence)]
        yield f"| {' | '.join(row)} |"


def _cell(silence: Silence) -> str:
    """Return the answers of runtimes as one cell of a table."""
    return "<br>".join(plain(item, 2000) for item in filter(None, (_votes(silence), *_answers(silence))))


def as_json(silences: Sequence[Silence]) -> Iterator[str]:
    """Yield a JSON document: a list of objects with the members of a silence."""
    rows = [{**asdict(item), "versions": sorted(item.versions)} for item in silences]
    yield json.dumps(rows, indent=2, ensure_ascii=False)


FORMATS: Mapping[str, Callable[[Sequence[Silence]], Iterator[str]]] = {
    "text": text, "markdown": markdown, "json": as_json,
}  # fmt: skip
