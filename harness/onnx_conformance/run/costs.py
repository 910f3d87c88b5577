# SPDX-License-Identifier: Apache-2.0
"""How long operator versions took in earlier runs, so that workers begin with those that take longest.

The cache has, by suite and backends, the seconds that a case of an operator version takes on average. They change the
order of slices and nothing else, so the last run that writes them wins.
"""

from __future__ import annotations

import statistics
from collections import Counter
from typing import TYPE_CHECKING

from onnx_conformance.suites import packs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onnx_conformance.run.worker import SliceReport
    from onnx_conformance.suites.slices import Slice

MOST = 1e9
"""Maximum number of seconds of a case in the file."""
ENOUGH = 8
"""Minimum number of cases of an operator version in one run; the average of fewer is unreliable."""


class Costs:
    """The measured durations of a run."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._seconds: Counter[str] = Counter()
        self._cases: Counter[str] = Counter()

    def add(self, report: SliceReport) -> None:
        """Add a slice with complete results."""
        self._seconds[report.slice.operator] += report.seconds  # type: ignore[assignment] # a Counter of seconds
        self._cases[report.slice.operator] += sum(report.made.values())

    def write(self, suite: str, backends: Sequence[str]) -> None:
        """Keep the averages for later runs, if that is possible."""
        averages = {
            name: round(self._seconds[name] / count, 6) for name, count in self._cases.items() if count >= ENOUGH
        }
        if averages:
            packs.write_json(_key(suite, backends), _read(suite, backends) | averages)


def seconds(slices: Iterable[Slice], suite: str, backends: Sequence[str]) -> dict[Slice, float]:
    """Return about how long each slice takes; where nothing is known of any, their cases take a second each."""
    averages = _read(suite, backends)
    usual = statistics.median(averages.values()) if averages else 1.0
    return {part: part.cases * averages.get(part.operator, usual) for part in slices}


def longest_first(slices: Sequence[Slice], suite: str, backends: Sequence[str]) -> list[Slice]:
    """Return slices, those that take longest first, so that workers end at about the same time."""
    known = seconds(slices, suite, backends)
    return sorted(slices, key=lambda part: -known[part])


def _key(suite: str, backends: Sequence[str]) -> str:
    return packs.key("costs", suite, *sorted(set(backends)))


def _read(suite: str, backends: Sequence[str]) -> dict[str, float]:
    """Return the durations of earlier runs; empty if the file is missing or has another format."""
    known = packs.read_json(_key(suite, backends))
    if not isinstance(known, dict):
        return {}
    return {name: float(each) for name, each in known.items() if isinstance(each, int | float) and 0 <= each < MOST}
