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
    """Put a text, piece by piece, in place of a file.

    Raises:
        OSError: it cannot be written; the file is as it was.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    beside = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.writelines(pieces)
        beside.chmod(0o666 & ~_umask())
        beside.replace(path)
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


def _umask() -> int:
    """Return what a new file of this process lacks; a temporary one is for its owner alone."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
