"""The command line: arguments only; the work is done by the modules it calls. One file a kind of command.

This file imports next to nothing: until the commands are here, an interrupt ends the process with one line.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

BROKEN = 2


def entry() -> None:
    """Run the command; whatever the harness cannot do ends with status 2 and a sentence."""
    if sys.platform == "win32":
        os.write(2, b"onnx-conformance: runs on Linux and macOS; on Windows, use WSL\n")  # Pipes, signals, locks.
        sys.exit(BROKEN)
    _open_streams()
    with importing():
        from harness.cli import commands
    sys.exit(commands.run())


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


def _open_streams() -> None:
    """Let what was closed lead nowhere: the next file to be opened would become standard output, or errors."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
