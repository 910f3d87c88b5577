# SPDX-License-Identifier: Apache-2.0
"""The command in this process, and adapters that are wrong on purpose, for tests of the command line."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios
from dataclasses import dataclass
from typing import TYPE_CHECKING
from unittest import mock

from onnx_conformance import cli
from paths import WRONG

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    status: int
    out: str
    err: str

    @property
    def text(self) -> str:
        return f"exit {self.status}\n{self.out}\n{self.err}"

    def refused(self, problem: str, *named: object) -> bool:
        """Return whether the command ended with an error that has an id and names some values."""
        parts = (f"[{problem}]", *map(str, named))
        return self.status == 2 and all(part in self.err for part in parts)


def command(*words: str | Path) -> Done:
    """Run the command in this process, as its entry point does."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["onnx-conformance", *map(str, words)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            cli.entry()
            status = 0
        except SystemExit as ended:
            status = int(ended.code or 0)
    done = Done(status, out.getvalue(), err.getvalue())
    assert "Traceback" not in done.text, done.text
    assert "\x1b" not in done.text, repr(done.text)
    return done


def on_a_terminal(*words: str, folder: Path) -> tuple[str, str]:
    """Run the command in a folder, its standard error a terminal; return its output, and the text the terminal saw."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "onnx_conformance", *words],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
        cwd=folder,
    )
    os.close(theirs)
    output = b""
    with contextlib.suppress(OSError):  # The other end is closed with the process.
        while part := os.read(ours, 65536):
            output += part
    os.close(ours)
    out = process.communicate()[0].decode()
    return out, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", output.decode())


def adapter(kind: str, *more: str) -> str:
    return "cmd:" + shlex.join([sys.executable, "-S", str(WRONG), kind, *more])
