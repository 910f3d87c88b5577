"""How long a backend's cases usually take, from when on one of them counts as waiting, and what a wait is told as."""

from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass, field

LEAST = 1.0
"""Seconds that any case may take before anything is made of it."""
SHARE, FIRST_SHARE = 10, 4
"""What part of its deadline a case may take: a tenth, and a quarter until a few answers say what is usual."""
TIMES_USUAL = 5
"""How often the usual time of a case one may take; a runtime that is slow at everything is waited for."""
RECENT, FEW = 16, 8
"""Answers that say what is usual, and how many of them it takes."""


@dataclass
class Patience:
    """How long to wait for a case of one backend before others are run elsewhere meanwhile.

    Attributes:
        timeout: seconds until the deadline of a case.
        start: seconds that the latest process took to come up. What is started meanwhile so costs no more than was
            waited before.
    """

    timeout: float
    start: float = 0.0
    _recent: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT))

    def add(self, seconds: float) -> None:
        """Take the time of a case that was answered."""
        self._recent.append(seconds)

    @property
    def seconds(self) -> float:
        """From how many seconds on a case takes long: several times what three of four of the latest took."""
        usual = sorted(self._recent)[len(self._recent) * 3 // 4] if self._recent else 0.0
        share = self.timeout / (SHARE if len(self._recent) >= FEW else FIRST_SHARE)
        return max(LEAST, share, TIMES_USUAL * usual, self.start)


@dataclass(frozen=True)
class Wait:
    """A case that is not answered yet.

    Attributes:
        case: its id.
        seconds: how long it has been waited for.
        limit: seconds after which nobody waits any longer.
    """

    case: str
    seconds: float
    limit: float


@dataclass(frozen=True)
class Status:
    """What a backend is doing at a moment.

    Attributes:
        wait: the case that it has been waited for the longest, if any.
        held: seconds so far in which it did nothing but take long over a case.
        restarts: how often a process of it ended and the next took its place.
    """

    wait: Wait | None = None
    held: float = 0.0
    restarts: int = 0


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
