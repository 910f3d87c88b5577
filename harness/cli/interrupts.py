"""An interrupt while modules are imported: there is nothing to keep yet, so the process ends with one line."""

from __future__ import annotations

import contextlib
import os
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

BROKEN = 2
"""The exit status of a command that could not do what it was asked to."""


@contextlib.contextmanager
def importing() -> Iterator[None]:
    """Let an interrupt end the process at once: inside an import it would come out as any error, of any module."""
    mine = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if mine:
        signal.signal(signal.SIGINT, _leave)
    try:
        yield
    finally:
        if mine:  # From now on there may be something to keep.
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(_number: int, _frame: FrameType | None) -> None:
    try:
        os.write(2, b"onnx-conformance: interrupted\n")
    finally:
        os._exit(BROKEN)
