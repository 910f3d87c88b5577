"""What a run costs in CPU time: the harness itself, and the adapter processes beside it."""

from __future__ import annotations

import resource
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Cost:
    """Seconds of CPU time, of the system included.

    Attributes:
        harness: making cases, comparing answers, and bookkeeping.
        adapters: processes that have ended; what still runs is not counted.
    """

    harness: float
    adapters: float

    def __sub__(self, earlier: Cost) -> Cost:
        """Return what came since."""
        return Cost(round(self.harness - earlier.harness, 3), round(self.adapters - earlier.adapters, 3))

    @property
    def members(self) -> dict[str, float]:
        """As the footer of the results has it."""
        return asdict(self)


def so_far() -> Cost:
    """Return what this process has cost since it began."""
    own, ended = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(own.ru_utime + own.ru_stime, ended.ru_utime + ended.ru_stime)
