"""How long operator versions took in earlier runs, so that workers begin with those that take longest.

`costs.json` in the cache has, by suite and backends, the seconds that a case of an operator version takes on average.
It changes the order of slices and nothing else, so whoever writes it last wins.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnx_conformance.backends import cache

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onnx_conformance.run.worker import SliceReport
    from onnx_conformance.suites.slices import Slice

NAME = "costs.json"
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
        path = _path()
        averages = {
            name: round(self._seconds[name] / count, 6) for name, count in self._cases.items() if count >= ENOUGH
        }
        if path is None or not averages:
            return
        known = _read()
        known.setdefault(_key(suite, backends), {}).update(averages)
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
            try:
                with os.fdopen(handle, "w") as file:
                    json.dump(known, file)
                Path(temporary).replace(path)
            finally:
                Path(temporary).unlink(missing_ok=True)


def seconds(slices: Iterable[Slice], suite: str, backends: Sequence[str]) -> dict[Slice, float]:
    """Return about how long each slice takes; where nothing is known of any, their cases take a second each."""
    averages = _read().get(_key(suite, backends), {})
    usual = statistics.median(averages.values()) if averages else 1.0
    return {part: part.cases * averages.get(part.operator, usual) for part in slices}


def longest_first(slices: Sequence[Slice], suite: str, backends: Sequence[str]) -> list[Slice]:
    """Return slices, those that take longest first, so that workers end at about the same time."""
    known = seconds(slices, suite, backends)
    return sorted(slices, key=lambda part: -known[part])


def _key(suite: str, backends: Sequence[str]) -> str:
    return " ".join([suite, *sorted(set(backends))])


def _path() -> Path | None:
    folder = cache.folder()
    return None if folder is None else folder / NAME


def _read() -> dict[str, dict[str, float]]:
    """Return the durations of earlier runs; empty if the file is missing or damaged."""
    path = _path()
    try:
        known: Any = json.loads(path.read_bytes()) if path is not None else {}
    except (OSError, ValueError):
        return {}
    if not isinstance(known, dict) or not all(isinstance(item, dict) for item in known.values()):
        return {}
    return {
        key: {name: float(each) for name, each in item.items() if isinstance(each, int | float) and each >= 0}
        for key, item in known.items()
    }
