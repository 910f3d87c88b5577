# SPDX-License-Identifier: Apache-2.0
"""All output of the commands: text from outside cannot control the terminal or a CI service.

Runtimes, models, folders and files supply names and messages. Nothing in them may move the cursor, colour the
terminal, reverse the reading direction, or begin a line that a CI service takes for a command.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from io import TextIOWrapper
from typing import TYPE_CHECKING, TextIO

from onnx_conformance.base.errors import HarnessError, Note
from onnx_conformance.base.verdict import CONTROL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

PROGRAM = "onnx-conformance"
MOST_LINE = 4000
"""Maximum length of a line on standard error, in characters: it may contain external names."""
MOST_NAME = 36
"""Maximum width of the name of a backend in a table, in characters."""

_COMMAND = re.compile(r"^[^\S\n]*:(?=:)|##(?=\[)", re.MULTILINE)
"""Commands of GitHub and Azure runners: `::` at the start of a line, `##[` anywhere."""


class OutputError(HarnessError):
    """Standard output cannot be written; the text contains the reason."""


class ReaderGoneError(Exception):
    """The reader of standard output has closed it, as `head` does: the command ends without a message."""


def not_writable(error: OSError) -> OutputError:
    """Return the error for a failure to write to standard output."""
    return OutputError("output-not-writable", f"cannot write to standard output: {error.strerror}")


def neutral(text: object) -> str:
    """Return a text without control characters, and without lines that are commands of a CI service."""
    return _COMMAND.sub(lambda match: f"{match[0]} ", CONTROL.sub("", str(text)))


def show(text: object = "", *, end: str = "\n") -> None:
    """Print to standard output.

    Raises:
        OutputError: the write failed, for instance on a full disk.
        ReaderGoneError: its reader has closed it.
    """
    _write(neutral(text) + end)


def stream(pieces: Iterable[str], *, commands: bool = False) -> None:
    """Print a text in pieces, neutralized line by line; unchanged if `commands` is set.

    Raises:
        OutputError, ReaderGoneError: as `show`.
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
    _apply(sys.stdout, lambda out: out.write(text))


def flush() -> None:
    """Flush standard output.

    Raises:
        OutputError, ReaderGoneError: as `show`.
    """
    _apply(sys.stdout, lambda out: out.flush())


def warn(text: object) -> None:
    """Print a line to standard error, prefixed with the name of the program; errors and notes are followed by ids."""
    note(f"{PROGRAM}: {text.labelled if isinstance(text, HarnessError | Note) else text}")


def note(text: object) -> None:
    """Print to standard error; a failure to write there is ignored."""
    with contextlib.suppress(OutputError, ReaderGoneError):
        flush()  # Both streams may go to one log, which must keep the order.
    try:
        if sys.stderr is not None:
            lines = (one if len(one) <= MOST_LINE else f"{one[:MOST_LINE]}..." for one in neutral(text).split("\n"))
            sys.stderr.write("\n".join(lines) + "\n")
            sys.stderr.flush()
    except (OSError, ValueError):
        _redirect_to_null(sys.stderr)


def prepare() -> None:
    """Make both streams accept every text, whatever the encoding of the locale."""
    for out in (sys.stdout, sys.stderr):
        if isinstance(out, TextIOWrapper):
            out.reconfigure(errors="backslashreplace")


def is_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def on_terminal() -> bool:
    """Return whether standard error is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


def _apply(out: TextIO | None, function: Callable[[TextIO], object]) -> None:
    """Apply a function to standard output, which is None if the process was started without it."""
    if out is None:
        return
    try:
        function(out)
    except BrokenPipeError:
        _redirect_to_null(out)
        raise ReaderGoneError from None
    except OSError as error:
        _redirect_to_null(out)
        raise not_writable(error) from None


def _redirect_to_null(out: TextIO) -> None:
    """Redirect a stream to the null device, so that its buffered text raises nothing when the interpreter ends."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, out.fileno())
        os.close(null)


def guilt(names: Sequence[str]) -> str:
    """Return the guilty passes of an optimizer in one line; empty if no pass is guilty."""
    if not names:
        return ""
    return f"guilty pass: {names[0]}" if len(names) == 1 else f"guilty together: {', '.join(names)}"


def quoted(clause: str) -> str:
    """Return a clause for display: a sentence of the text in quotes, a rule of the signature without."""
    return clause if clause.startswith("Signature: ") else f"«{clause}»"


def clipped(backend: str, most: int = MOST_NAME) -> str:
    """Return a name, shortened in the middle if it is long: commands often differ in their last word."""
    return backend if len(backend) <= most else f"{backend[:5]}...{backend[8 - most :]}"
