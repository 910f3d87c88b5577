# SPDX-License-Identifier: Apache-2.0
"""A runtime over its versions: since which version cases pass, and the chart of its rates."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from onnx_conformance.base.verdict import UNRATED, Verdict
from onnx_conformance.report.html.verdict_styles import ABSENT, NUMBER
from onnx_conformance.report.site import runtimes, scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx_conformance.report.html.table import Table
    from onnx_conformance.report.site.results import Operator
    from onnx_conformance.report.site.runtimes import Runtime
    from onnx_conformance.report.site.scores import Score

PASS = NUMBER[Verdict.PASS]
_OPEN = [NUMBER[verdict] for verdict in UNRATED]
WIDTH, HEIGHT = 720, 240
"""Size of the chart, in its own units."""
LEFT, RIGHT, TOP, BOTTOM = 46, 24, 18, 34
"""Margins of the chart, for labels."""
MOST_LABELS = 12
"""Maximum number of versions whose names fit below the chart."""


@dataclass(frozen=True)
class Point:
    """A version on the chart.

    Attributes:
        version: version of the runtime.
        date: date of its run.
        score: score on the cases that all versions of the chart have.
        x, specified, attempted: coordinates on the chart; None: there is no such rate.
        labelled: whether there is room for its name.
    """

    version: str
    date: str
    score: Score
    x: float
    specified: float | None
    attempted: float | None
    labelled: bool


@dataclass(frozen=True)
class Chart:
    """Rates by version, as coordinates of a drawing.

    Attributes:
        points: the oldest version first.
        ticks: percentages with their height.
        cases: number of cases that all versions have.
        left_out: versions that are not on the chart: samples, and runs that were cut off.
    """

    points: tuple[Point, ...]
    ticks: tuple[tuple[int, float], ...]
    cases: int
    left_out: tuple[str, ...]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = RIGHT
    bottom: int = BOTTOM

    def line(self, name: str) -> str:
        """Return the points of one line, `specified` or `attempted`, in SVG syntax."""
        places = [(point.x, getattr(point, name)) for point in self.points]
        return " ".join(f"{x:g},{y:g}" for x, y in places if y is not None)


def chart(table: Table, runtime: Runtime) -> Chart | None:
    """Return the chart of a runtime; None if fewer than two versions have complete runs."""
    whole = [item for item in runtime.history if item.sample == 1 and item.complete and item.cases]
    if len(whole) < 2:  # noqa: PLR2004 - a line has two ends
        return None
    rows = runtimes.verdicts(table, [item.place for item in whole])
    chosen = runtimes.common(rows)
    counts = scores.counted(np.zeros(len(table), np.int64), 1, rows, chosen)
    by_version = [scores.score(counts[0, place]) for place in range(len(whole))]
    pairs = [(item.passed, whole_) for item in by_version for whole_ in (item.specified, item.attempted) if whole_]
    lowest = min((passed * 10 // of * 10 for passed, of in pairs), default=0)
    lowest = min(lowest, 90)
    step = 5 if lowest >= 70 else 10 if lowest >= 40 else 25  # noqa: PLR2004 - few lines

    def height(percent: float) -> float:
        return round(TOP + (100 - percent) / (100 - lowest) * (HEIGHT - TOP - BOTTOM), 1)

    def place(passed: int, of: int) -> float | None:
        return height(passed * 100 / of) if of else None

    room = (WIDTH - LEFT - RIGHT) / (len(whole) - 1)
    every = -(-len(whole) // MOST_LABELS)
    points = tuple(
        Point(
            item.version or "?",
            item.date,
            score,
            round(LEFT + number * room, 1),
            place(score.passed, score.specified),
            place(score.passed, score.attempted),
            labelled=(len(whole) - 1 - number) % every == 0,
        )
        for number, (item, score) in enumerate(zip(whole, by_version, strict=True))
    )
    ticks = tuple((percent, height(percent)) for percent in range(-(-lowest // step) * step, 101, step))
    left_out = tuple(item.version for item in runtime.history if item not in whole)
    return Chart(points, ticks, int(chosen.sum()), left_out)


@dataclass(frozen=True)
class Change:
    """The losses and gains from one version of a runtime to the next.

    Attributes:
        old, new: the versions.
        lost: by operator, how many cases passed in the old version and no longer pass; the most cases first.
        gained: by operator, how many cases pass only in the new version.
    """

    old: str
    new: str
    lost: tuple[tuple[Operator, int], ...]
    gained: tuple[tuple[Operator, int], ...]

    @property
    def parts(self) -> tuple[tuple[str, int, tuple[tuple[Operator, int], ...]], ...]:
        """The title, the number of cases, and the operators of the losses and of the gains; only those that exist."""
        both = (("no longer pass", self.lost), ("pass now", self.gained))
        return tuple((title, sum(count for _, count in items), items) for title, items in both if items)


def changes(table: Table, runtime: Runtime, operators: Sequence[Operator]) -> list[Change]:
    """Return the losses and gains of each version against the one before, on the cases that both ran; newest first."""
    rows = runtimes.verdicts(table, [item.place for item in runtime.history])
    made = []
    for number, (before, after) in enumerate(itertools.pairwise(runtime.history)):
        old, new = rows[number], rows[number + 1]
        both = (old != ABSENT) & (new != ABSENT) & ~np.isin(old, _OPEN) & ~np.isin(new, _OPEN)
        lost = _by_operator(both & (old == PASS) & (new != PASS), operators)
        gained = _by_operator(both & (old != PASS) & (new == PASS), operators)
        if lost or gained:
            made.append(Change(before.version, after.version, lost, gained))
    return made[::-1]


def _by_operator(chosen: runtimes.Bools, operators: Sequence[Operator]) -> tuple[tuple[Operator, int], ...]:
    counts = [(operator, int(chosen[list(operator.cases)].sum())) for operator in operators]
    return tuple(sorted((item for item in counts if item[1]), key=lambda item: (-item[1], item[0].name)))


def since(table: Table, runtime: Runtime, cases: Sequence[int]) -> str:
    """Return the version since which a runtime passes the cases that it passes today; empty if it is unknown.

    Older versions are compared on the cases that both ran.
    """
    if len(runtime.history) < 2 or not cases:  # noqa: PLR2004 - an older version
        return ""
    rows = runtimes.verdicts(table, [item.place for item in runtime.history])[:, list(cases)]
    passing = rows[-1] == PASS
    first = len(rows) - 1
    if not passing.any():
        return ""
    while first and _passes(rows[first - 1], passing):
        first -= 1
    version = runtime.history[first].version
    return f"≤ {version}" if not first else f"since {version}"


def _passes(row: runtimes.Bytes, passing: runtimes.Bools) -> bool:
    both = passing & (row != ABSENT)
    return bool(both.any()) and bool((row[both] == PASS).all())
