"""`coverage`: how many schema points and sentences have a case, and which have none."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from tabulate import tabulate

from harness.results.summary import rate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from harness.generation.coverage import Coverage


def lines(coverages: Sequence[Coverage]) -> Iterator[str]:
    """Yield a table of all versions and the totals, then the points and sentences without a case."""
    heads = [
        "operator version",
        "schema\npoints",
        "with a\ncase",
        "excused",
        "sentences",
        "cited",
        "binding,\nnot cited",
    ]
    declared = [item for item in coverages if item.declared]
    rows: list[list[Any]] = [[str(item.version), *_figures(item)] for item in declared]
    sums, every = _sums(declared), _sums(coverages)
    if len(declared) < len(coverages):
        rows += [["all that is declared", *sums]]
    yield tabulate(
        [*rows, ["all of ONNX" if len(coverages) > len(declared) else "all", *every]], heads, tablefmt="simple"
    )
    yield ""
    yield from _totals(coverages, declared)
    for item in declared:
        for point in item.missing:
            yield f"{item.version}: no case reaches: {point}"
        for excused, reason in sorted(item.excused.items()):
            yield f"{item.version}: excused: {excused}: {reason}"
        for index, sentence in enumerate(item.uncited):
            word = "binding, not cited" if index < item.binding else "not cited"
            yield textwrap.fill(f"{item.version}: {word}: «{sentence}»", 118, subsequent_indent="    ")


def _sums(coverages: Sequence[Coverage]) -> list[int]:
    return [sum(column) for column in zip(*map(_figures, coverages), strict=True)] or [0] * 6


def _totals(coverages: Sequence[Coverage], declared: Sequence[Coverage]) -> Iterator[str]:
    """Yield the share with a case, of ONNX and of the declared versions, and the versions that are not declared."""
    names = {str(item.version).rpartition("/")[0] for item in coverages}
    here = {str(item.version).rpartition("/")[0] for item in declared}
    yield (
        f"{len(here)} of {len(names)} operators and {len(declared)} of {len(coverages)} operator versions are declared."
    )
    points, reached, _, sentences, cited, _ = _sums(coverages)
    yield f"{rate(reached, points)} of the schema points and {rate(cited, sentences)} of the sentences have a case."
    if len(declared) == len(coverages):
        return
    if declared:
        points, reached, _, sentences, cited, _ = _sums(declared)
        shares = f"{rate(reached, points)} of the points and {rate(cited, sentences)} of the sentences"
        yield f"Of what is declared: {shares}."
    lacking: dict[str, list[str]] = {}
    for item in coverages:
        if not item.declared:
            name, _, since = str(item.version).rpartition("/")
            lacking.setdefault(name, []).append(since)
    listed = ", ".join(f"{name.removeprefix('ai.onnx/')} {' '.join(versions)}" for name, versions in lacking.items())
    yield textwrap.fill(f"No case yet: {listed}", 118, subsequent_indent="    ", break_on_hyphens=False)


def _figures(item: Coverage) -> list[int]:
    reached = item.points - len(item.missing) - len(item.excused)
    cited = item.sentences - len(item.uncited)
    return [item.points, reached, len(item.excused), item.sentences, cited, item.binding]


def record(coverages: Sequence[Coverage]) -> list[dict[str, Any]]:
    """Return the same as data for JSON."""
    return [
        {
            "operator": str(item.version),
            "declared": item.declared,
            "points": item.points,
            "missing": [str(point) for point in item.missing],
            "excused": dict(item.excused),
            "sentences": item.sentences,
            "uncited": list(item.uncited),
            "binding_uncited": list(item.uncited[: item.binding]),
        }
        for item in coverages
    ]
