"""Two runs compared: what was fixed, broke, changed, came and went."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tabulate import tabulate

from harness.verdict import Result, Verdict, line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.results import Run

SHOWN = 40


@dataclass
class Comparison:
    """Cases by what became of them from one run to the other.

    Attributes:
        fixed: pass now, and did not before.
        broke: passed before, and no longer.
        changed: another verdict, neither of the two.
        came, went: in one run only.
        same: how many have one verdict in both.
    """

    fixed: list[tuple[str, str, str]] = field(default_factory=list)
    broke: list[tuple[str, str, str]] = field(default_factory=list)
    changed: list[tuple[str, str, str]] = field(default_factory=list)
    came: list[tuple[str, str, str]] = field(default_factory=list)
    went: list[tuple[str, str, str]] = field(default_factory=list)
    same: int = 0

    @property
    def kinds(self) -> dict[str, list[tuple[str, str, str]]]:
        """The lists by name, the worst first."""
        return {
            "broke": self.broke, "fixed": self.fixed, "changed": self.changed, "came": self.came, "went": self.went
        }  # fmt: skip


def compare_runs(before: Run, after: Run) -> Comparison:
    """Compare two runs case by case; where both hold one backend each, its name need not be the same."""
    one_each = len(before.header["backends"]) == len(after.header["backends"]) == 1

    def key(result: Result) -> str:
        return result.case if one_each else f"{result.case} on {result.backend}"

    old = {key(result): result.verdict for result in before.results()}
    found = Comparison()
    for result in after.results():
        name, now = key(result), result.verdict
        was = old.pop(name, None)
        row = (name, str(was or ""), str(now))
        if was is None:
            found.came.append(row)
        elif was is now:
            found.same += 1
        elif now is Verdict.PASS:
            found.fixed.append(row)
        elif was is Verdict.PASS:
            found.broke.append(row)
        else:
            found.changed.append(row)
    found.went = [(name, str(was), "") for name, was in old.items()]
    return found


def lines(before: Run, after: Run, found: Comparison) -> Iterator[str]:
    """Yield the comparison as text."""
    for run in (before, after):
        backends = ", ".join(
            f"{name} {said.get('version', '')}".strip() for name, said in run.header["backends"].items()
        )
        yield line(f"{run.path}: {backends}, suite {run.header['suite']['name']}", 2000) + (
            "" if run.complete else " (cut off)"
        )
    yield ", ".join(f"{len(rows)} {kind}" for kind, rows in found.kinds.items()) + f", {found.same} the same"
    for kind, rows in found.kinds.items():
        if rows:
            yield ""
            shown = [(line(name), was, now) for name, was, now in sorted(rows)[:SHOWN]]
            yield tabulate(shown, [kind, "before", "after"], tablefmt="simple", disable_numparse=True)
            if len(rows) > SHOWN:
                yield f"... and {len(rows) - SHOWN} more that {kind}"
