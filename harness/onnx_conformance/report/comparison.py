# SPDX-License-Identifier: Apache-2.0
"""Comparison of two runs: fixed, broken, changed, new and missing cases, and cases that pass with other outputs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tabulate import tabulate

from onnx_conformance.base.verdict import Result, Verdict, line
from onnx_conformance.case.compare import MOST_OFFSETS
from onnx_conformance.results import sampling

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onnx_conformance.results.stream import Run

    Ulps = Mapping[str, Sequence[Sequence[int]]]

SHOWN = 40
WORDS = {"broke": "broken", "fixed": "fixed", "changed": "changed", "came": "new", "went": "missing"}
"""The words of the text for the lists of a comparison."""
SETTINGS = {"threads": "as the adapters choose", "locale": "that of the machine", "reference": "the oracles"}
"""The options of a run that may change answers or the expected values, and the meaning of each if it is not set."""


@dataclass(frozen=True)
class Drift:
    """A case that passes in both runs with different outputs.

    Attributes:
        case: its id, with the backend if the run has several.
        where: the output, as in compare.Mismatch, and the row-major index of the element that changed most.
        before, after: the signed number of representable values between it and the expected one.
        moved: number of elements in the stream that changed; see compare.MOST_OFFSETS.
    """

    case: str
    where: str
    before: int
    after: int
    moved: int

    @property
    def ulp(self) -> int:
        """The change of the element, in units in the last place."""
        return abs(self.after - self.before)


@dataclass
class Comparison:
    """Cases by the change of their verdict between two runs; a row is case, verdict before, verdict after.

    Attributes:
        fixed: cases that pass now, and did not before.
        broke: cases that passed before, and do not now.
        changed: cases with another verdict; neither verdict is a pass.
        came, went: cases in the second run only, and in the first run only.
        same: number of cases with the same verdict in both.
        drifts: cases that pass in both with different outputs, largest change first.
        unmeasured: why drifts are unknown; empty: they are known.
        outside: for each run, the number of results of the other one that are not compared, because they are outside
            its samples.
    """

    fixed: list[tuple[str, str, str]] = field(default_factory=list)
    broke: list[tuple[str, str, str]] = field(default_factory=list)
    changed: list[tuple[str, str, str]] = field(default_factory=list)
    came: list[tuple[str, str, str]] = field(default_factory=list)
    went: list[tuple[str, str, str]] = field(default_factory=list)
    same: int = 0
    drifts: list[Drift] = field(default_factory=list)
    unmeasured: str = ""
    outside: tuple[int, int] = (0, 0)

    @property
    def kinds(self) -> dict[str, list[tuple[str, str, str]]]:
        """The lists by name, worst first."""
        return {
            "broke": self.broke, "fixed": self.fixed, "changed": self.changed, "came": self.came, "went": self.went
        }  # fmt: skip


def compare_runs(before: Run, after: Run) -> Comparison:
    """Compare two runs case by case; if each has one backend, the names may differ."""
    one_each = len(before.header["backends"]) == len(after.header["backends"]) == 1
    old_part, new_part = _Part(before, any_name=one_each), _Part(after, any_name=one_each)

    def key(result: Result) -> str:
        return result.case if one_each else f"{result.case} on {result.backend}"

    old = {key(result): (_text(result), result.ulps) for result in before.results() if new_part.has(result)}
    comparison = Comparison(unmeasured=_unmeasured(before, after))
    for result in after.results():
        if not old_part.has(result):
            continue
        name, now = key(result), _text(result)
        was, ulps = old.pop(name, ("", {}))
        row = (name, was, now)
        if not was:
            comparison.came.append(row)
        elif was == now:
            comparison.same += 1
            if now == Verdict.PASS and not comparison.unmeasured and (drift := _drift(name, ulps, result.ulps)):
                comparison.drifts.append(drift)
        elif now == Verdict.PASS:
            comparison.fixed.append(row)
        elif was == Verdict.PASS:
            comparison.broke.append(row)
        else:
            comparison.changed.append(row)
    comparison.went = [(name, was, "") for name, (was, _) in old.items()]
    comparison.drifts.sort(key=lambda drift: (-drift.ulp, drift.case))
    comparison.outside = (old_part.lacks, new_part.lacks)
    return comparison


def _text(result: Result) -> str:
    """Return the verdict of a result; of a failure that a profile excludes, this as well."""
    return f"{result.verdict}, excluded" if result.excluded else str(result.verdict)


class _Part:
    """The part of its suite that a run selected by samples.

    Attributes:
        lacks: number of results of the other run that are not in this part.
    """

    def __init__(self, run: Run, *, any_name: bool) -> None:
        self._samples, self.lacks = sampling.from_header(run.header), 0
        self._any = next(iter(run.header["backends"])) if any_name else ""

    def has(self, result: Result) -> bool:
        """Return whether a result of the other run is in this part, and count those that are not."""
        inside = sampling.includes(self._samples, self._any or result.backend, result.case)
        self.lacks += not inside
        return inside


def _unmeasured(before: Run, after: Run) -> str:
    """Return why passing outputs cannot be compared: a run records only their distance from its expected values."""
    old, new = (" ".join(map(str, run.header["suite"].values())) for run in (before, after))
    if old != new:
        return line(f"the suites expect other values: {old} and {new}")
    for run in (before, after):
        if reference := run.header["arguments"].get("reference"):
            return line(f"the expected values in {run.path} are outputs of {reference}, which may have changed as well")
    return ""


def _drift(case: str, before: Ulps, after: Ulps) -> Drift | None:
    """Return the element that changed most, or None if none did."""
    moved: list[tuple[int, str, int, int]] = []
    for where in {**before, **after}:
        old, new = ({int(index): int(steps) for index, steps in ulps.get(where, ())} for ulps in (before, after))
        cut = max(len(old), len(new)) >= MOST_OFFSETS
        for index in (old.keys() & new.keys()) if cut else {**old, **new}:
            a, b = old.get(index, 0), new.get(index, 0)
            if a != b:
                moved.append((abs(b - a), f"{where} element {index}", a, b))
    if not moved:
        return None
    _, where, a, b = max(moved, key=lambda item: item[0])
    return Drift(case, where, a, b, len(moved))


def _heads(before: Run, after: Run, comparison: Comparison) -> Iterator[str]:
    for run in (before, after):
        backends = ", ".join(
            f"{name} {hello.get('version', '')}".strip() for name, hello in run.header["backends"].items()
        )
        yield line(f"{run.path}: {backends}, suite {run.header['suite']['name']}", 2000) + (
            "" if run.complete else " (cut off)"
        )
    yield from _settings(before, after)
    for run, other, count in ((before, after, comparison.outside[0]), (after, before, comparison.outside[1])):
        if count:
            part = ", ".join(f"{name} {sampling.in_words(n)}" for name, n in sampling.from_header(run.header).items())
            yield line(f"{run.path} is a sample ({part}): {count} results of {other.path} are not compared", 2000)


def _settings(before: Run, after: Run) -> Iterator[str]:
    """Yield a line for each setting in which the runs differ."""
    for name, unset in SETTINGS.items():
        old, new = (run.header["arguments"].get(name) or unset for run in (before, after))
        if old != new:
            yield line(f"the runs differ in {name}: {old} before, {new} after")


def _by_operator(drifts: Sequence[Drift]) -> str:
    """Return the number of cases of each operator, the most first: "MatMul 63, Conv 60"."""
    counts = Counter("/".join(drift.case.split("/")[:2]).removeprefix("ai.onnx/") for drift in drifts)
    return ", ".join(f"{line(name)} {count}" for name, count in counts.most_common())


def lines(before: Run, after: Run, comparison: Comparison) -> Iterator[str]:
    """Yield the comparison as text."""
    yield from _heads(before, after, comparison)
    counts = [f"{len(rows):,} {WORDS[kind]}" for kind, rows in comparison.kinds.items()]
    yield f"cases: {', '.join(counts)}, {comparison.same:,} with the same verdict"
    for kind, rows in comparison.kinds.items():
        if rows:
            yield ""
            shown = [(line(name), was, now) for name, was, now in sorted(rows)[:SHOWN]]
            yield tabulate(shown, [WORDS[kind], "before", "after"], tablefmt="simple", disable_numparse=True)
            if len(rows) > SHOWN:
                yield f"... and {len(rows) - SHOWN} more {WORDS[kind]}"
    yield ""
    if comparison.unmeasured:
        yield f"passing outputs cannot be compared: {comparison.unmeasured}"
    elif not comparison.drifts:
        yield "the outputs of cases that pass in both are the same"
    else:
        many = f"{len(comparison.drifts):,} ({_by_operator(comparison.drifts)})"
        yield f"cases that pass in both runs with other outputs: {many}"
        yield "distance of the element that changed most from its expected value, in ULP:"
        drifts = [
            (line(drift.case), line(drift.where), f"{drift.before:+d}", f"{drift.after:+d}", drift.ulp, drift.moved)
            for drift in comparison.drifts[:SHOWN]
        ]
        heads = ["case", "largest change in", "before", "after", "change", "changed elements"]
        yield tabulate(
            drifts, heads, tablefmt="simple", disable_numparse=True, colalign=["left", "left", *["right"] * 4]
        )
        if len(comparison.drifts) > SHOWN:
            yield f"... and {len(comparison.drifts) - SHOWN} more with smaller changes"
