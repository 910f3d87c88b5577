# SPDX-License-Identifier: Apache-2.0
"""Ends a run on SIGTERM or SIGHUP as on an interrupt: it cleans up, and prints a sentence."""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class EndedError(BaseException):
    """A signal asked the process to end; not an Exception, so that no handler of faults catches it.

    Attributes:
        number: of the signal.
    """

    def __init__(self, number: int) -> None:
        """Take the signal's number."""
        super().__init__(f"ended by {signal.Signals(number).name}")
        self.number = number

    @property
    def status(self) -> int:
        """The exit status of the process, as shells define it."""
        return 128 + self.number


@contextlib.contextmanager
def in_order() -> Iterator[None]:
    """Raise EndedError at the first signal of SIGNALS, and ignore later ones while the run cleans up.

    A signal that is ignored, as under nohup, or that has another handler, is left alone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _frame: FrameType | None) -> None:
        for other in handled:
            signal.signal(other, signal.SIG_IGN)
        raise EndedError(number)

    handled = [number for number in SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    for number in handled:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, signal.SIG_DFL)
