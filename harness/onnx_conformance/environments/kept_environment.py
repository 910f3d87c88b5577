# SPDX-License-Identifier: Apache-2.0
"""Keeps environments of runtimes in the user's cache folder, each under a name that identifies everything in it.

An environment is made in a temporary folder, and renamed when it is complete. So an environment that has its name is
complete: an installer that fails, a harness that is killed, and a full disk leave at most a temporary folder, which
nothing uses. If two processes make the same environment at the same time, both use the one that was complete first.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from onnx_conformance.backends import cache
from onnx_conformance.base.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Callable

INSTALLERS = ("npm", "python")
"""The folders of environments in the user's cache folder."""
MAKING = ".making-"
"""The beginning of the names of temporary folders."""

ABANDONED = 24 * 60 * 60.0
"""Seconds after which no process can still be working in a temporary folder; the next one removes it."""


class NoEnvironmentError(HarnessError):
    """An environment cannot be created; the text contains its name, the reason, and a solution."""


def place(installer: str, name: str, content: str) -> Path:
    """Return the folder of an environment, which may not exist yet.

    Args:
        installer: the folder of all environments of one installer.
        name: identifies everything in the environment.
        content: of the environment, for the message.

    Raises:
        NoEnvironmentError: the user has no cache folder.
    """
    above = cache.user_folder()
    if above is None:
        raise NoEnvironmentError(
            "no-folder-for-environments",
            f"there is no folder for the environment of {content}; set XDG_CACHE_HOME to a folder",
        )
    return above / installer / name


def make(where: Path, content: str, fill: Callable[[Path], None]) -> None:
    """Make an environment, unless it exists.

    Args:
        where: its folder, as `place` returns it.
        content: of the environment, for the message.
        fill: installs everything into an empty folder, which is renamed afterwards. It raises NoEnvironmentError if it
            cannot.

    Raises:
        NoEnvironmentError: the folder cannot be written, or `fill` raised it.
    """
    if where.is_dir():
        return
    try:
        where.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(where.parent)
        making = tempfile.TemporaryDirectory(prefix=MAKING, dir=where.parent)
    except OSError as error:
        raise NoEnvironmentError(
            "environments-not-writable",
            f"an environment of {content} is stored in {where.parent}, which cannot be written ({error.strerror}); "
            "name another folder in XDG_CACHE_HOME",
        ) from None
    with making as folder:
        new = Path(folder, "made")
        new.mkdir()
        fill(new)
        with contextlib.suppress(OSError):  # Another process may have made the same first.
            new.rename(where)
    if not where.is_dir():
        raise NoEnvironmentError("environment-not-moved", f"the environment of {content} cannot be moved to {where}")


def _remove_abandoned(folder: Path) -> None:
    """Remove the temporary folders of processes that were killed."""
    for path in folder.glob(f"{MAKING}*"):
        with contextlib.suppress(OSError):  # Another process may remove it at the same time.
            if time.time() - path.lstat().st_mtime > ABANDONED:
                shutil.rmtree(path, ignore_errors=True)


def kept() -> list[Path]:
    """Return the folders of all environments of this user, and of those that are being made; links are not followed."""
    above = cache.user_folder()
    found: list[Path] = []
    for installer in INSTALLERS if above is not None else ():
        assert above is not None  # noqa: S101 - see above
        folder = above / installer
        if folder.is_dir() and not folder.is_symlink():
            found += sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())
    return found


def size(folder: Path) -> int:
    """Return the number of bytes of an environment's files."""
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):  # Another process may remove it at the same time.
            total += 0 if path.is_dir() else path.lstat().st_size
    return total


def remove_all() -> None:
    """Remove all environments that no process is making. A later run that needs one makes it again."""
    for path in kept():
        if not path.name.startswith(MAKING):
            shutil.rmtree(path, ignore_errors=True)
