"""A run that SIGTERM or SIGHUP tells to end does so as one that is interrupted: in order, and with a sentence."""

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
    """The process was told to end; no Exception, so that nothing takes it for a fault.

    Attributes:
        number: of the signal.
    """

    def __init__(self, number: int) -> None:
        """Take the signal's number."""
        super().__init__(f"ended by {signal.Signals(number).name}")
        self.number = number

    @property
    def status(self) -> int:
        """With which the process exits, as a shell has it."""
        return 128 + self.number


@contextlib.contextmanager
def in_order() -> Iterator[None]:
    """Raise EndedError for the first signal that asks for the end, and ignore those that come while all is put away.

    A signal that was ignored, as nohup has it, or that somebody else handles, is left to that.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _frame: FrameType | None) -> None:
        for other in taken:
            signal.signal(other, signal.SIG_IGN)
        raise EndedError(number)

    taken = [number for number in SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)
