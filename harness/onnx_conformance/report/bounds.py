# SPDX-License-Identifier: Apache-2.0
"""The list of the tolerances of operators, as text, Markdown or JSON."""

from __future__ import annotations

import json
import textwrap
from dataclasses import asdict
from typing import TYPE_CHECKING

from onnx_conformance.report.markup import plain
from onnx_conformance.report.terminal import WIDTH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from onnx_conformance.analysis.bounds import Bound

WORDS = {
    "exact": "the same value",
    "formula": "a function of the inputs",
    "measured": "the error of a careful implementation on the same inputs",
}
"""By kind without numbers: the tolerance."""


def tolerance(bound: Bound) -> str:
    """Return a tolerance as words."""
    said = WORDS.get(bound.kind, "")
    if bound.kind == "units":
        said = f"{bound.ulp:g} ULP" + ("" if bound.narrow is None else f", in 16 bits {bound.narrow:g} ULP")
    if bound.kind == "relative":
        parts = (f"{bound.atol:g}" if bound.atol else "", f"{bound.rtol:g} * |expected|" if bound.rtol else "")
        said = " + ".join(filter(None, parts))
    low, high = bound.interval or (None, None)
    return said if low is None else f"{said}, from {low:g} to {high:g}"


def extremes(bound: Bound) -> tuple[str, str]:
    """Return the distances of the closest and of the farthest runtime; empty texts without results."""
    every = [*_distances(bound)]
    return (every[0], every[-1] if len(every) > 1 else "") if every else ("", "")


def _distances(bound: Bound) -> Iterator[str]:
    """Yield the distances of the runtimes, the smallest first; those with wrong values last."""
    for name, item in sorted(bound.distances.items(), key=lambda pair: (pair[1].wrong > 0, pair[1].ulps, pair[0])):
        said = f"{name}: the expected values"
        if item.ulps and bound.kind == "units":
            said = f"{name}: at most {item.ulps} ULP ({item.case})"
        elif item.ulps and bound.kind != "exact":  # Then only the bits of NaN, or the sign of zero, may differ.
            said = f"{name}: half of the elements that differ are within {item.typical:,} ULP"
        wrong = f", and wrong values in {item.wrong} more" if item.wrong else ""
        yield f"{said} in {item.passed} passed case{'' if item.passed == 1 else 's'}{wrong}"


def text(bounds: Sequence[Bound]) -> Iterator[str]:
    """Yield the lines of the list."""
    for bound in bounds:
        yield f"{bound.operator}: {tolerance(bound)}"
        for part in (", ".join(bound.types), bound.reason, *_distances(bound)):
            yield textwrap.fill(
                part, WIDTH, initial_indent="    ", subsequent_indent="      ",
                break_on_hyphens=False, break_long_words=False,
            )  # fmt: skip
        yield ""
    yield f"{len(bounds)} operators with outputs of floating types."


def markdown(bounds: Sequence[Bound]) -> Iterator[str]:
    """Yield the lines of a table."""
    yield "| operator | tolerance | floating types | reason | runtimes |"
    yield "|---|---|---|---|---|"
    for bound in bounds:
        cells = (bound.operator, tolerance(bound), ", ".join(bound.types), bound.reason, "; ".join(_distances(bound)))
        yield f"| {' | '.join(plain(cell, 2000) for cell in cells)} |"


def as_json(bounds: Sequence[Bound]) -> Iterator[str]:
    """Yield a JSON document: a list of objects with the members of a bound."""
    yield json.dumps([asdict(item) for item in bounds], indent=2, ensure_ascii=False)


FORMATS: Mapping[str, Callable[[Sequence[Bound]], Iterator[str]]] = {
    "text": text, "markdown": markdown, "json": as_json,
}  # fmt: skip
