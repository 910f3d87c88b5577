"""Files that are written whole or not at all: whoever looks at one sees the old text or the new."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def write(path: Path, pieces: Iterable[str]) -> None:
    """Put a text, piece by piece, in place of a file; a device or a pipe is written to as it is.

    What is no text, such as half a character that another program put into JSON, becomes a question mark.

    Raises:
        OSError: it cannot be written; the file is as it was.
    """
    path = path.resolve()  # What a link points to is replaced, not the link.
    if path.exists() and not path.is_file():
        with open(path, "w", encoding="utf-8", errors="replace", newline="\n", opener=_unwaited) as file:
            file.writelines(pieces)
        return
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    beside = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.writelines(pieces)
        beside.chmod(0o666 & ~_umask())
        beside.replace(path)
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


def _unwaited(path: str, flags: int) -> int:
    """Open a path without waiting for the reader of a pipe."""
    handle = os.open(path, (flags | os.O_NONBLOCK) & ~os.O_CREAT & ~os.O_TRUNC)
    os.set_blocking(handle, True)
    return handle


def _umask() -> int:
    """Return what a new file of this process lacks; a temporary one is for its owner alone."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
