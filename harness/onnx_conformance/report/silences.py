# SPDX-License-Identifier: Apache-2.0
"""The list of sentences that leave something open, as text, Markdown or JSON."""

from __future__ import annotations

import json
import textwrap
from dataclasses import asdict
from typing import TYPE_CHECKING

from onnx_conformance.report.markup import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from onnx_conformance.analysis.silences import Silence


def _versions(silence: Silence) -> str:
    return ", ".join(map(str, sorted(silence.versions)))


def _votes(silence: Silence) -> str:
    """Return the answers of runtimes, as words."""
    several = [
        f"{name} " + ", ".join(
            f"{word} {count}" for word, count in (("returns", item.returns), ("refuses", item.refuses)) if count
        )
        for name, item in sorted(silence.votes.items())
    ]  # fmt: skip
    if silence.agree or silence.differ:
        several.append(f"same values in {silence.agree} cases, different ones in {silence.differ}")
    return "; ".join(several)


def text(silences: Sequence[Silence]) -> Iterator[str]:
    """Yield the lines of the list."""
    for silence in silences:
        yield f"{silence.operator} ({_versions(silence)})"
        parts = [
            f"«{silence.sentence}»",
            silence.note,
            *silence.see,
            f"cases: {', '.join(silence.cases)}",
            _votes(silence),
        ]
        for part in filter(None, parts):
            yield textwrap.fill(part, 110, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
        yield ""
    operators = len({silence.operator for silence in silences})
    yield f"{len(silences)} sentences of {operators} operators leave something open."


def markdown(silences: Sequence[Silence]) -> Iterator[str]:
    """Yield the lines of a table."""
    yield "| operator | sentence | left open | cases | runtimes |"
    yield "|---|---|---|---|---|"
    for silence in silences:
        cells = (f"{silence.operator} {_versions(silence)}", f"«{silence.sentence}»", silence.note)
        row = [*(plain(cell, 2000) for cell in cells), f"{len(silence.cases)}", plain(_votes(silence), 2000)]
        yield f"| {' | '.join(row)} |"


def as_json(silences: Sequence[Silence]) -> Iterator[str]:
    """Yield a JSON document: a list of objects with the members of a silence."""
    rows = [{**asdict(item), "versions": sorted(item.versions)} for item in silences]
    yield json.dumps(rows, indent=2, ensure_ascii=False)


FORMATS: Mapping[str, Callable[[Sequence[Silence]], Iterator[str]]] = {
    "text": text, "markdown": markdown, "json": as_json,
}  # fmt: skip
