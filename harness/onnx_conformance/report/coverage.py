# SPDX-License-Identifier: Apache-2.0
"""`coverage`: how many schema points and sentences have a case, and which have no case."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import onnx
from tabulate import tabulate

from onnx_conformance.results.summary import percentage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onnx_conformance.generation.coverage import Coverage
    from onnx_conformance.generation.mutant_figures import Figures, Shown

OUTDATED = "outdated"


def lines(
    coverages: Sequence[Coverage], faults: Mapping[str, Shown] = MappingProxyType({}), lacking: Sequence[str] = ()
) -> Iterator[str]:
    """Yield a table of all versions and the totals, then the points and sentences without a case.

    Args:
        coverages: of operator versions.
        faults: by operator, how many faults inserted into its oracles its cases detect; empty: no column.
        lacking: declared operator versions that the installed onnx does not define.
    """
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
    names = {_operator(item) for item in declared}
    faults = {name: shown for name, shown in faults.items() if name in names}
    heads += ["faults\ndetected"] if faults else []
    rows: list[list[Any]] = [[str(item.version), *_figures(item), *_noticed(item, faults)] for item in declared]
    current = [shown.figures for shown in faults.values() if shown.current]
    share = [_share(current)] if faults else []
    sums, every = [*_sums(declared), *share], [*_sums(coverages), *share]
    if len(declared) < len(coverages):
        rows += [["all declared", *sums]]
    yield tabulate(
        [*rows, ["all of ONNX" if len(coverages) > len(declared) else "all", *every]], heads, tablefmt="simple"
    )
    yield ""
    yield from _totals(coverages, declared)
    if lacking:
        text = f"Missing, because onnx {onnx.__version__} does not define them (see --onnx): {', '.join(lacking)}"
        yield textwrap.fill(text, 118, subsequent_indent="    ", break_on_hyphens=False)
    yield from _of_faults(faults, current)
    for item in declared:
        for point in item.missing:
            yield f"{item.version}: no case reaches: {point}"
        for excused, reason in sorted(item.excused.items()):
            yield f"{item.version}: excused: {excused}: {reason}"
        for index, sentence in enumerate(item.uncited):
            word = "binding, not cited" if index < item.binding else "not cited"
            yield textwrap.fill(f"{item.version}: {word}: «{sentence}»", 118, subsequent_indent="    ")


def _operator(item: Coverage) -> str:
    return str(item.version).rpartition("/")[0]


def _share(figures: Sequence[Figures]) -> str:
    """Return the share of the detectable faults that cases detect."""
    can_be = sum(item.tried - item.equivalent for item in figures)
    return _rate(sum(item.noticed for item in figures), can_be)


def _rate(part: int, whole: int) -> str:
    return percentage(part, whole) if whole else "no data"


def _noticed(item: Coverage, faults: Mapping[str, Shown]) -> list[str]:
    """Return the cell of an operator's faults, which are counted for all its versions together."""
    shown = faults.get(_operator(item))
    if not faults or shown is None:
        return [""] if faults else []
    return [_share([shown.figures]) if shown.current else OUTDATED]


def _of_faults(faults: Mapping[str, Shown], current: Sequence[Figures]) -> Iterator[str]:
    if current:
        tried, surviving = sum(item.tried for item in current), sum(item.surviving for item in current)
        yield (
            f"{_share(current)} of the faults inserted into the oracles of {len(current)} operators are detected: "
            f"of {tried}, {sum(item.equivalent for item in current)} change nothing and {surviving} survive."
        )
    outdated = [name for name, shown in faults.items() if not shown.current]
    if outdated:
        text = f"Fault detection is outdated (`nox -s mutants` updates it): {', '.join(outdated)}"
        yield textwrap.fill(text, 118, subsequent_indent="    ", break_on_hyphens=False)


def _sums(coverages: Sequence[Coverage]) -> list[int]:
    return [sum(column) for column in zip(*map(_figures, coverages), strict=True)] or [0] * 6


def _totals(coverages: Sequence[Coverage], declared: Sequence[Coverage]) -> Iterator[str]:
    """Yield the share with a case, for ONNX and for the declared versions, and the versions that are not declared."""
    names = {str(item.version).rpartition("/")[0] for item in coverages}
    here = {str(item.version).rpartition("/")[0] for item in declared}
    yield (
        f"{len(here)} of {len(names)} operators and {len(declared)} of {len(coverages)} operator versions are declared."
    )
    points, reached, _, sentences, cited, _ = _sums(coverages)
    yield f"{_rate(reached, points)} of the schema points and {_rate(cited, sentences)} of the sentences have a case."
    if len(declared) == len(coverages):
        return
    if declared:
        points, reached, _, sentences, cited, _ = _sums(declared)
        shares = f"{_rate(reached, points)} of the points and {_rate(cited, sentences)} of the sentences"
        yield f"In the declared versions: {shares}."
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


def record(
    coverages: Sequence[Coverage], faults: Mapping[str, Shown] = MappingProxyType({}), lacking: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Return the same as data for JSON; the `faults` of a version are those of its operator."""
    return [
        {
            "operator": str(item.version),
            "declared": item.declared,
            "in_onnx": True,
            "points": item.points,
            "missing": [str(point) for point in item.missing],
            "excused": dict(item.excused),
            "sentences": item.sentences,
            "uncited": list(item.uncited),
            "binding_uncited": list(item.uncited[: item.binding]),
            **_fault_record(item, faults),
        }
        for item in coverages
    ] + [{"operator": name, "declared": True, "in_onnx": False} for name in lacking]


def _fault_record(item: Coverage, faults: Mapping[str, Shown]) -> dict[str, Any]:
    shown = faults.get(_operator(item)) if item.declared else None
    return {"faults": {**asdict(shown.figures), "current": shown.current}} if shown else {}
