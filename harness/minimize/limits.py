"""Work of this process that may take no longer, and no more memory, than it is given.

What an oracle makes of a case that nobody wrote may be without end: 0, 1, 2 and so on up to the greatest integer.
"""

from __future__ import annotations

import contextlib
import resource
import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

STATM = Path("/proc/self/statm")


class OverdueError(Exception):
    """The time is up."""


@contextlib.contextmanager
def within(seconds: float, room: int) -> Iterator[None]:
    """Raise OverdueError in what takes longer than `seconds`, and MemoryError in what takes `room` more bytes.

    Time is held in the main thread alone, memory where the system tells how much is taken; a timer that runs already
    goes on behind it.
    """
    with _room(room), _time(seconds):
        yield


@contextlib.contextmanager
def _time(seconds: float) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def overdue(*_: object) -> None:
        raise OverdueError(f"not done within {seconds:g} s")

    before = signal.signal(signal.SIGALRM, overdue)
    begun = time.monotonic()
    left, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(1e-3, left - (time.monotonic() - begun)), interval)


@contextlib.contextmanager
def _room(room: int) -> Iterator[None]:
    try:
        taken = int(STATM.read_text().split()[0]) * resource.getpagesize()
    except (OSError, ValueError):  # Not Linux.
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = taken + room
    if soft == resource.RLIM_INFINITY or most < soft:
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
