"""The command in this process, and adapters that are wrong on purpose, for tests of the command line."""

from __future__ import annotations

import contextlib
import io
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from harness import cli

WRONG = Path(__file__).parent / "adapters" / "wrong.py"


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    status: int
    out: str
    err: str

    @property
    def text(self) -> str:
        return f"exit {self.status}\n{self.out}\n{self.err}"


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


def adapter(kind: str) -> str:
    return "cmd:" + shlex.join([sys.executable, "-S", str(WRONG), kind])
