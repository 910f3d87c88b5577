"""Everything that a command prints goes through here, so that no text from outside does more than be read.

Runtimes, models, folders and files name cases and write messages. Whatever they wrote, nothing of it moves the cursor,
colours the terminal, runs backwards, or begins a line that a CI service takes for a command.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from io import TextIOWrapper
from typing import TYPE_CHECKING, TextIO

from harness.errors import HarnessError
from harness.verdict import CONTROL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PROGRAM = "onnx-conformance"
MOST_LINE = 4000
"""Characters of a line on standard error: it may name what somebody else has named."""

_COMMAND = re.compile(r"^[^\S\n]*:(?=:)|##(?=\[)", re.MULTILINE)
"""What GitHub's and Azure's runners take for a command: `::` at the begin of a line, `##[` anywhere."""


class OutputError(HarnessError):
    """Standard output cannot be written to; the text says why."""


class NobodyReadsError(Exception):
    """Whoever read standard output has gone, as `head` does when it has enough: the command ends without a word."""


def neutral(text: object) -> str:
    """Return a text without control characters, and without lines that are commands of a CI service."""
    return _COMMAND.sub(lambda match: f"{match[0]} ", CONTROL.sub("", str(text)))


def show(text: object = "", *, end: str = "\n") -> None:
    """Print to standard output.

    Raises:
        OutputError: it cannot be written, such as to a disk that is full.
        NobodyReadsError: it was closed.
    """
    _write(neutral(text) + end)


def stream(pieces: Iterable[str], *, commands: bool = False) -> None:
    """Print a text that comes in pieces, neutral line by line; as it is where its commands are meant.

    Raises:
        OutputError, NobodyReadsError: as `show`.
    """
    rest = ""
    for piece in pieces:
        if commands:
            _write(piece)
            continue
        *lines, rest = (rest + piece).split("\n")
        for text in lines:
            show(text)
    show(rest, end="")


def _write(text: str) -> None:
    _act(sys.stdout, lambda out: out.write(text))


def flush() -> None:
    """Hand on what was printed.

    Raises:
        OutputError, NobodyReadsError: as `show`.
    """
    _act(sys.stdout, lambda out: out.flush())


def warn(text: object) -> None:
    """Print a line behind the name of the program to standard error."""
    note(f"{PROGRAM}: {text}")


def note(text: object) -> None:
    """Print to standard error; where nobody can be told, nothing ends for that."""
    with contextlib.suppress(OutputError, NobodyReadsError):
        flush()  # Both may be one log, whose lines are to stand in their order.
    try:
        if sys.stderr is not None:
            lines = (one if len(one) <= MOST_LINE else f"{one[:MOST_LINE]}..." for one in neutral(text).split("\n"))
            sys.stderr.write("\n".join(lines) + "\n")
            sys.stderr.flush()
    except (OSError, ValueError):
        _dropped(sys.stderr)


def prepare() -> None:
    """Let both streams take every text, whatever the locale can write."""
    for out in (sys.stdout, sys.stderr):
        if isinstance(out, TextIOWrapper):
            out.reconfigure(errors="backslashreplace")


def on_terminal() -> bool:
    """Tell whether somebody looks at standard error."""
    return sys.stderr is not None and sys.stderr.isatty()


def _act(out: TextIO | None, act: Callable[[TextIO], object]) -> None:
    """Do something with standard output, which is None where the process was started without one."""
    if out is None:
        return
    try:
        act(out)
    except BrokenPipeError:
        _dropped(out)
        raise NobodyReadsError from None
    except OSError as error:
        _dropped(out)
        raise OutputError(f"cannot write to standard output: {error.strerror}") from None


def _dropped(out: TextIO) -> None:
    """Let a stream lead nowhere, so that what it still holds raises nothing when the interpreter ends."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, out.fileno())
        os.close(nowhere)
