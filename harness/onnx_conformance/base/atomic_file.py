# SPDX-License-Identifier: Apache-2.0
"""Atomic writes: a reader sees either the old text or the new one."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def write(path: Path, pieces: Iterable[str]) -> None:
    """Replace the content of a file by a text in pieces; a device or a pipe is written to directly.

    A surrogate that cannot be encoded, such as one that another program put into JSON, becomes a question mark.

    Raises:
        OSError: the file cannot be written; it keeps its content.
    """
    path = path.resolve()  # Replace the target of a link, not the link.
    if path.exists() and not path.is_file():
        with open(path, "w", encoding="utf-8", errors="replace", newline="\n", opener=_open_without_waiting) as file:
            file.writelines(pieces)
        return
    with replaced(path) as file:
        file.writelines(piece.encode("utf-8", "replace") for piece in pieces)


@contextlib.contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """Open a binary file that replaces another one at the end; after an exception, the other one stays.

    Raises:
        OSError: the file cannot be written.
    """
    path = path.resolve()
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _open_without_waiting(path: str, flags: int) -> int:
    """Open a path; do not wait for the reader of a pipe."""
    handle = os.open(path, (flags | os.O_NONBLOCK) & ~os.O_CREAT & ~os.O_TRUNC)
    os.set_blocking(handle, True)
    return handle


def _umask() -> int:
    """Return the umask of this process; a temporary file would otherwise stay readable by its owner only."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
