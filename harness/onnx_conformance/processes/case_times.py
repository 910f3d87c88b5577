# SPDX-License-Identifier: Apache-2.0
"""The usual duration of the cases of a backend, the limit for slow cases, and the case that a backend waits for."""

from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass, field

LEAST_SECONDS = 1.0
"""A case that takes less is never slow."""
TIMEOUT_SHARE, FIRST_TIMEOUT_SHARE = 10, 4
"""A case is not slow before this part of its timeout: a tenth, and a quarter until enough replies are known."""
TIMES_USUAL = 5
"""A case is not slow before so many times the usual time; a runtime that is slow at everything has no slow cases."""
RECENT, ENOUGH = 16, 8
"""Replies that the usual time is computed from, and how many of them are enough."""


@dataclass
class CaseTimes:
    """How long the latest cases of one backend took.

    Attributes:
        timeout: seconds that one case may take.
        start: seconds that the latest process took to start. A case is not slow before that, so that starting another
            process costs no more time than was waited already.
    """

    timeout: float
    start: float = 0.0
    _recent: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT))

    def add(self, seconds: float) -> None:
        """Add the time of a case that was answered."""
        self._recent.append(seconds)

    @property
    def slow_after(self) -> float:
        """Seconds after which a case is slow: several times the upper quartile of the latest ones."""
        usual = sorted(self._recent)[len(self._recent) * 3 // 4] if self._recent else 0.0
        share = self.timeout / (TIMEOUT_SHARE if len(self._recent) >= ENOUGH else FIRST_TIMEOUT_SHARE)
        return max(LEAST_SECONDS, share, TIMES_USUAL * usual, self.start)


@dataclass(frozen=True)
class Wait:
    """A case that is not answered yet.

    Attributes:
        case: its id.
        seconds: how long it has run.
        limit: seconds that it may run.
    """

    case: str
    seconds: float
    limit: float


@dataclass(frozen=True)
class Status:
    """The state of a backend at one moment.

    Attributes:
        wait: the unanswered case that has run longest, if any.
        stalled: seconds so far in which all that the backend did was run a slow case.
        restarts: how often one of its processes ended and was replaced.
    """

    wait: Wait | None = None
    stalled: float = 0.0
    restarts: int = 0


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
