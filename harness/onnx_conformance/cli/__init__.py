"""The command line: arguments only; the work is done by the modules it calls. One file a kind of command.

This file imports next to nothing: until the commands are here, an interrupt ends the process with one line.
"""

from __future__ import annotations

import os
import sys

from onnx_conformance.cli.interrupts import BROKEN, importing


def entry() -> None:
    """Run the command; an error of the harness ends with status 2 and a message."""
    if sys.platform == "win32":
        os.write(2, b"onnx-conformance: runs on Linux and macOS; on Windows, use WSL\n")  # Pipes, signals, locks.
        sys.exit(BROKEN)
    _open_streams()
    with importing():
        from onnx_conformance.cli import commands
    sys.exit(commands.run())


def _open_streams() -> None:
    """Open closed standard streams on the null device; otherwise the next opened file would become one of them."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
