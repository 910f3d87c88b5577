"""Two runs compared: what was fixed, broke, changed, came and went, and what moved though it passes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tabulate import tabulate

from harness.case.compare import MOST_OFFSETS
from harness.results import sampling
from harness.verdict import Result, Verdict, line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from harness.results.stream import Run

    Ulps = Mapping[str, Sequence[Sequence[int]]]

SHOWN = 40


@dataclass(frozen=True)
class Drift:
    """A case that passes in both runs, with another answer.

    Attributes:
        case: its id, with the backend where a run holds several.
        where: the output, as in compare.Mismatch, and the row-major index of the element that moved farthest.
        before, after: representable values between it and the expected one, signed.
        moved: how many elements did; the stream keeps so many of each output, see compare.MOST_OFFSETS.
    """

    case: str
    where: str
    before: int
    after: int
    moved: int

    @property
    def ulp(self) -> int:
        """How far the element moved, in units in the last place."""
        return abs(self.after - self.before)


@dataclass
class Comparison:
    """Cases by what became of them from one run to the other.

    Attributes:
        fixed: pass now, and did not before.
        broke: passed before, and no longer.
        changed: another verdict, neither of the two.
        came, went: in one run only.
        same: how many have one verdict in both.
        drifts: of these, what passes with another answer than before, the farthest first.
        unmeasured: why drift is not known; empty: it is.
        outside: by run, the results of the other one that its samples leave out, and that are not compared.
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
        """The lists by name, the worst first."""
        return {
            "broke": self.broke, "fixed": self.fixed, "changed": self.changed, "came": self.came, "went": self.went
        }  # fmt: skip


def compare_runs(before: Run, after: Run) -> Comparison:
    """Compare two runs case by case; where both hold one backend each, its name need not be the same."""
    one_each = len(before.header["backends"]) == len(after.header["backends"]) == 1
    old_part, new_part = _Part(before, any_name=one_each), _Part(after, any_name=one_each)

    def key(result: Result) -> str:
        return result.case if one_each else f"{result.case} on {result.backend}"

    kept = (result for result in before.results() if new_part.has(result))
    old = {key(result): (result.verdict, result.ulps) for result in kept}
    found = Comparison(unmeasured=_unmeasured(before, after))
    for result in after.results():
        if not old_part.has(result):
            continue
        name, now = key(result), result.verdict
        was, ulps = old.pop(name, (None, {}))
        row = (name, str(was or ""), str(now))
        if was is None:
            found.came.append(row)
        elif was is now:
            found.same += 1
            if now is Verdict.PASS and not found.unmeasured and (drift := _drift(name, ulps, result.ulps)):
                found.drifts.append(drift)
        elif now is Verdict.PASS:
            found.fixed.append(row)
        elif was is Verdict.PASS:
            found.broke.append(row)
        else:
            found.changed.append(row)
    found.went = [(name, str(was), "") for name, (was, _) in old.items()]
    found.drifts.sort(key=lambda drift: (-drift.ulp, drift.case))
    found.outside = (old_part.lacks, new_part.lacks)
    return found


class _Part:
    """What of its suite a run asked its backends.

    Attributes:
        lacks: how many results of the other run it was not to have.
    """

    def __init__(self, run: Run, *, any_name: bool) -> None:
        self._samples, self.lacks = sampling.from_header(run.header), 0
        self._any = next(iter(run.header["backends"])) if any_name else ""

    def has(self, result: Result) -> bool:
        """Tell whether it was to have a result for a case of the other run, and count where not."""
        asked = sampling.includes(self._samples, self._any or result.backend, result.case)
        self.lacks += not asked
        return asked


def _unmeasured(before: Run, after: Run) -> str:
    """Return why answers that pass cannot be compared: each run tells how far they are from what it expected."""
    old, new = (" ".join(map(str, run.header["suite"].values())) for run in (before, after))
    if old != new:
        return line(f"the suites expect other values: {old} and {new}")
    for run in (before, after):
        if reference := run.header["arguments"].get("reference"):
            return line(f"what {run.path} expects came from {reference}, whose answers may have moved as well")
    return ""


def _drift(case: str, before: Ulps, after: Ulps) -> Drift | None:
    """Return what moved farthest, or None where an answer did not move."""
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


def _heads(before: Run, after: Run, found: Comparison) -> Iterator[str]:
    for run in (before, after):
        backends = ", ".join(
            f"{name} {said.get('version', '')}".strip() for name, said in run.header["backends"].items()
        )
        yield line(f"{run.path}: {backends}, suite {run.header['suite']['name']}", 2000) + (
            "" if run.complete else " (cut off)"
        )
    for run, other, count in ((before, after, found.outside[0]), (after, before, found.outside[1])):
        if count:
            part = ", ".join(f"{name} {sampling.in_words(n)}" for name, n in sampling.from_header(run.header).items())
            yield line(f"{run.path} is a sample ({part}): {count} results of {other.path} are not compared", 2000)


def lines(before: Run, after: Run, found: Comparison) -> Iterator[str]:
    """Yield the comparison as text."""
    yield from _heads(before, after, found)
    yield ", ".join(f"{len(rows)} {kind}" for kind, rows in found.kinds.items()) + f", {found.same} the same"
    for kind, rows in found.kinds.items():
        if rows:
            yield ""
            shown = [(line(name), was, now) for name, was, now in sorted(rows)[:SHOWN]]
            yield tabulate(shown, [kind, "before", "after"], tablefmt="simple", disable_numparse=True)
            if len(rows) > SHOWN:
                yield f"... and {len(rows) - SHOWN} more that {kind}"
    yield ""
    if found.unmeasured:
        yield f"whether answers that pass have moved is not known: {found.unmeasured}"
    elif not found.drifts:
        yield "no answer that passes in both has moved"
    else:
        yield f"{len(found.drifts)} cases pass in both with another answer; ULP from the expected value:"
        drifts = [
            (line(drift.case), line(drift.where), f"{drift.before:+d}", f"{drift.after:+d}", drift.ulp, drift.moved)
            for drift in found.drifts[:SHOWN]
        ]
        heads = ["moved", "farthest in", "before", "after", "by ULP", "elements"]
        yield tabulate(
            drifts, heads, tablefmt="simple", disable_numparse=True, colalign=["left", "left", *["right"] * 4]
        )
        if len(found.drifts) > SHOWN:
            yield f"... and {len(found.drifts) - SHOWN} more that moved less"
