# SPDX-License-Identifier: Apache-2.0
"""Measures the CPU time of a run: of the harness, and of its adapter processes."""

from __future__ import annotations

import resource
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Cost:
    """Seconds of CPU time, of the system included.

    Attributes:
        harness: generating cases, comparing answers, and writing results.
        adapters: processes that have ended; those that still run are not counted.
    """

    harness: float
    adapters: float

    def __sub__(self, earlier: Cost) -> Cost:
        """Return the time since an earlier measurement."""
        return Cost(round(self.harness - earlier.harness, 3), round(self.adapters - earlier.adapters, 3))

    def __add__(self, other: Cost) -> Cost:
        """Return the time of both."""
        return Cost(self.harness + other.harness, self.adapters + other.adapters)

    @property
    def members(self) -> dict[str, float]:
        """The fields of the footer of the results."""
        return asdict(self)


def so_far() -> Cost:
    """Return the CPU time since this process began."""
    own, ended = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(own.ru_utime + own.ru_stime, ended.ru_utime + ended.ru_stime)
