# SPDX-License-Identifier: Apache-2.0
"""A limit on the time and memory of a block of code in this process.

An oracle may run endlessly on a generated case: for example, it may count from 0 to the greatest integer.
"""

from __future__ import annotations

import contextlib
import gc
import resource
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import types
    from collections.abc import Iterator

STATM = Path("/proc/self/statm")
AGAIN = 0.01
"""Seconds until the next attempt to end an overdue block, if it is in a callback of the collector."""
UNNOTICED = 1.0
"""Seconds until the next attempt if the exception has not ended the block, because it was raised in a finalizer."""


class OverdueError(Exception):
    """The block took longer than its time limit."""


@contextlib.contextmanager
def within(seconds: float, more_bytes: int) -> Iterator[None]:
    """Raise OverdueError if the block takes longer than `seconds`, MemoryError if it allocates `more_bytes` more.

    The time limit works only in the main thread, the memory limit only on Linux. A timer that was running before
    continues afterwards.
    """
    with _memory(more_bytes), _time(seconds):
        yield


@contextlib.contextmanager
def _time(seconds: float) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def overdue(_: int, frame: types.FrameType | None) -> None:
        # A callback that ends in the middle may leave its module in a wrong state.
        is_lost = _in_a_callback_of_the_collector(frame)
        signal.setitimer(signal.ITIMER_REAL, AGAIN if is_lost else UNNOTICED)
        if is_lost:
            return
        raise OverdueError(f"not done within {seconds:g} s")

    def not_raised(lost: sys.UnraisableHookArgs) -> None:
        # Python only passes an exception of a finalizer to this hook, and the block goes on until the next attempt.
        if not isinstance(lost.exc_value, OverdueError):
            hook_before(lost)

    hook_before, sys.unraisablehook = sys.unraisablehook, not_raised
    before = signal.signal(signal.SIGALRM, overdue)
    started = time.monotonic()
    remaining, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        sys.unraisablehook = hook_before
        if remaining:
            signal.setitimer(signal.ITIMER_REAL, max(1e-3, remaining - (time.monotonic() - started)), interval)


def _in_a_callback_of_the_collector(frame: types.FrameType | None) -> bool:
    callbacks = {getattr(callback, "__code__", None) for callback in gc.callbacks}
    while frame is not None:
        if frame.f_code in callbacks:
            return True
        frame = frame.f_back
    return False


@contextlib.contextmanager
def _memory(more_bytes: int) -> Iterator[None]:
    try:
        used = int(STATM.read_text().split()[0]) * resource.getpagesize()
    except (OSError, ValueError):  # Not Linux.
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = used + more_bytes
    if soft == resource.RLIM_INFINITY or limit < soft:
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
