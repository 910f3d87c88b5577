# SPDX-License-Identifier: Apache-2.0
"""The command line: it only parses arguments, and other modules do the work. Each kind of command has one file.

This file imports almost nothing. While the commands are imported, an interrupt ends the process with one line.
"""

from __future__ import annotations

import os
import sys

from onnx_conformance.cli.interrupts import BROKEN, importing


def entry() -> None:
    """Run the command; an error of the harness ends it with status 2 and a message."""
    if sys.platform == "win32":
        os.write(2, b"onnx-conformance: runs on Linux and macOS; on Windows, use WSL\n")  # Pipes, signals, locks.
        sys.exit(BROKEN)
    _open_streams()
    with importing():
        from onnx_conformance.cli import commands
    sys.exit(commands.run())


def _open_streams() -> None:
    """Open closed standard streams on the null device; the next opened file would become one of them otherwise."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
