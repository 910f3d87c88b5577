# SPDX-License-Identifier: Apache-2.0
"""Counts of verdicts on the same cases, the display of rates, and the strengths of a runtime in words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.base.verdict import UNRATED, Verdict
from onnx_conformance.report.html.matrix import sentence, shares
from onnx_conformance.report.html.verdict_styles import ABSENT, NUMBER, ORDER
from onnx_conformance.results.summary import FEW_CASES, rate, rates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Numbers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Grade:
    """A step of the scale of rates.

    Attributes:
        name: name of its colours in style.css.
        sign: its symbol if there is no room for a rate.
        words: its text in the legend.
        least: lowest rate, in tenths of a percent; -1: there is no rate.
    """

    name: str
    sign: str
    words: str
    least: int


GRADES = (
    Grade("all", "✓", "100 %: all pass", 1000),
    Grade("most", "◕", "at least 95 %", 950),
    Grade("many", "◑", "at least 80 %", 800),
    Grade("some", "◔", "at least 50 %", 500),
    Grade("few", "○", "less than 50 %", 1),
    Grade("none", "✗", "0 %: none passes", 0),
    Grade("out", "U", "all unsupported", -1),
    Grade("broken", "E", "none attempted, because of adapter errors", -1),
    Grade("open", "?", "nothing specified", -1),
    Grade("absent", "-", "no data", -1),
)
"""From the best to no data."""
BY_NAME = {grade.name: grade for grade in GRADES}
FEW = 4
"""Maximum number of names in a sentence."""
GOOD, WEAK, LACKING = 99, 90, 50
"""Percentages: passed of attempted above which a family is good, and below which it is weak; and the share of
unsupported cases above which it is lacking."""


@dataclass(frozen=True)
class Score:
    """The counts of a runtime on some cases, ready to be shown.

    Attributes:
        counts: by verdict, without those that do not occur.
    """

    counts: Mapping[Verdict, int]

    @property
    def total(self) -> int:
        """Number of results."""
        return sum(self.counts.values())

    @property
    def passed(self) -> int:
        """Number of passed cases."""
        return rates(self.counts).passed

    @property
    def specified(self) -> int:
        """Number of specified cases."""
        return rates(self.counts).specified

    @property
    def attempted(self) -> int:
        """Number of specified cases that the runtime attempted."""
        return rates(self.counts).attempted

    @property
    def opted_out(self) -> int:
        """Number of cases that the runtime does not support."""
        return self.counts.get(Verdict.UNSUPPORTED, 0)

    @property
    def crashes(self) -> int:
        """Number of cases that ended the process."""
        return self.counts.get(Verdict.CRASH, 0)

    @property
    def of_specified(self) -> str:
        """Passed of specified, rounded down; never 0 % if any case passes."""
        return share(self.passed, self.specified)

    @property
    def of_attempted(self) -> str:
        """Passed of attempted, rounded down; never 0 % if any case passes."""
        return share(self.passed, self.attempted)

    @property
    def few(self) -> bool:
        """Whether there are so few specified cases that their counts are shown instead of a rate."""
        return 0 < self.specified < FEW_CASES

    @property
    def few_attempted(self) -> bool:
        """The same for the attempted cases."""
        return 0 < self.attempted < FEW_CASES

    @property
    def sentence(self) -> str:
        """Both rates and all counts."""
        return sentence(self.counts)

    @property
    def parts(self) -> list[tuple[str, int, int]]:
        """The parts of a bar of the specified cases: family, start, and width in tenths of a percent."""
        scored = {NUMBER[verdict]: count for verdict, count in self.counts.items() if verdict not in UNRATED}
        return shares(scored)

    @property
    def grade(self) -> Grade:
        """The step of the scale, by passed of specified."""
        if not self.total:
            return BY_NAME["absent"]
        if not self.specified:
            return BY_NAME["open"]
        if not self.attempted:
            return BY_NAME["broken" if self.counts.get(Verdict.ADAPTER_ERROR) else "out"]
        tenths = self.passed * 1000 // self.specified
        if self.passed and not tenths:
            return BY_NAME["few"]
        return next(grade for grade in GRADES if tenths >= grade.least)

    @property
    def rank(self) -> tuple[int, int, int]:
        """The sort key, best first: passed of specified, then of attempted, to a millionth, then crashes."""
        return (
            -(self.passed * 10**6 // max(1, self.specified)),
            -(self.passed * 10**6 // max(1, self.attempted)),
            self.crashes,
        )


def share(part: int, whole: int) -> str:
    """Return a rate, or counts if there are few cases.

    A few of very many cases are "< 0.1 %", because 0.0 % would mean that no case passes.
    """
    if 0 < whole < FEW_CASES:
        return f"{part}/{whole}"
    return "< 0.1 %" if part and part * 1000 < whole else rate(part, whole)


def counted(group: Numbers, groups: int, rows: np.ndarray[Any, Any], chosen: np.ndarray[Any, Any]) -> Numbers:
    """Return the number of cases with each verdict: by group of cases, row and number of the verdict.

    Args:
        group: by case, the number of its group; -1: no group.
        groups: number of groups.
        rows: the verdicts, with a row for each runtime.
        chosen: by case, whether it counts.
    """
    counts = np.zeros((groups, len(rows), len(ORDER)), np.int64)
    for place, row in enumerate(rows):
        here = chosen & (row != ABSENT) & (group >= 0)
        flat = np.bincount(group[here] * len(ORDER) + row[here], minlength=groups * len(ORDER))
        counts[:, place, :] = flat.reshape(groups, len(ORDER))
    return counts


def score(counts: Numbers) -> Score:
    """Return the score of counts by number of the verdict."""
    return Score(Counter({ORDER[number]: int(count) for number, count in enumerate(counts) if count}))


def good_for(families: Mapping[str, Score]) -> str:
    """Return sentences about the strengths and weaknesses of a runtime, from its scores by family."""
    scored = {name: item for name, item in families.items() if item.specified}
    if not scored:
        return ""
    lacking = [name for name, item in scored.items() if item.opted_out * 100 > item.specified * LACKING]
    tried = {name: item for name, item in scored.items() if item.attempted and name not in lacking}
    good = [name for name, item in tried.items() if item.passed * 100 >= item.attempted * GOOD]
    weak = [(name, item) for name, item in tried.items() if item.passed * 100 < item.attempted * WEAK]
    weak.sort(key=lambda pair: pair[1].passed / pair[1].attempted)
    crashing = sorted((name for name, item in scored.items() if item.crashes), key=lambda name: -scored[name].crashes)
    sentences = []
    if len(good) == len(scored):
        sentences.append(f"In every family, at least {GOOD} % of the attempted cases pass.")
    elif good:
        sentences.append(f"Good at {_list(good)}: at least {GOOD} % of the attempted cases pass.")
    elif tried:
        best = max(tried, key=lambda name: tried[name].passed / tried[name].attempted)
        sentences.append(f"Best at {best}: {tried[best].of_attempted} of the attempted cases pass.")
    if weak:
        named = [f"{name} ({item.of_attempted})" for name, item in weak]
        sentences.append(f"Weak at {_list(named)}.")
    if lacking:
        sentences.append(f"Does not support more than half of {_list(lacking)}.")
    crashes = sum(item.crashes for item in scored.values())
    if crashes:
        sentences.append(f"Crashes in {crashes:,} {'case' if crashes == 1 else 'cases'}: {_list(crashing)}.")
    return " ".join(sentences)


def _list(names: Sequence[str]) -> str:
    """Return names as a list in words, shortened if it is long."""
    shown = list(names[:FEW])
    if len(names) > FEW:
        return f"{', '.join(shown)} and {len(names) - FEW} more"
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)
