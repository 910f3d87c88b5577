# SPDX-License-Identifier: Apache-2.0
"""The folder of a site: files are written atomically, obsolete ones are removed, and foreign files are not changed."""

from __future__ import annotations

import contextlib
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import line
from onnx_conformance.report import formats

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

LIST = "site-files.txt"
"""The file in the folder that lists the files written by the command, one on each line."""
MOST_CHARACTERS = 16 << 20


class SiteFolderError(HarnessError):
    """The folder cannot be used; the text contains the reason."""


class SiteFolder:
    """A folder that a site is written to.

    Attributes:
        path: path of the folder.
        size: bytes written so far.
    """

    def __init__(self, path: Path) -> None:
        """Inspect the folder.

        Raises:
            SiteFolderError: it is a file, or contains a page that this command did not write.
        """
        if path.exists() and not path.is_dir():
            raise SiteFolderError("site-not-a-folder", f"{path} is a file; --out expects a folder")
        self.path, self.size = path, 0
        self._known = self._listed()
        self._written: set[str] = set()
        if (path / "index.html").exists() and "index.html" not in self._known:
            raise SiteFolderError(
                "site-of-others",
                f"{path / 'index.html'} was not written by this command; remove it or name another folder",
            )

    def write(self, name: str, pieces: Iterable[str]) -> None:
        """Write a file.

        Args:
            name: its path relative to the folder, with slashes.
            pieces: its text.

        Raises:
            SiteFolderError: another program wrote a file with this name.
            ReportError: it cannot be written.
        """
        path = self.path / name
        if name not in self._known:
            if path.exists():
                raise SiteFolderError(
                    "site-file-of-others", f"{path} was not written by this command; remove it or name another folder"
                )
            formats.make(self.path)
            self._note(name)  # Before the file is written, so that the next command knows it after an interruption.
        formats.make(path.parent)
        self._written.add(name)
        formats.write(path, pieces)
        self.size += path.stat().st_size

    def finish(self) -> None:
        """Remove files of an earlier site that this site does not have, and write the list.

        Raises:
            ReportError: the list cannot be written.
        """
        for name in sorted(self._known - self._written):
            with contextlib.suppress(OSError):  # It no longer exists, or is a folder now.
                (self.path / name).unlink()
                for parent in (self.path / name).parents:
                    if parent == self.path:
                        break
                    parent.rmdir()  # Fails unless it is empty.
        formats.write(self.path / LIST, [f"{name}\n" for name in sorted(self._written)])

    def _note(self, name: str) -> None:
        self._known.add(name)
        try:
            with (self.path / LIST).open("a", encoding="utf-8") as file:
                file.write(f"{name}\n")
        except OSError as error:
            raise SiteFolderError("site-not-writable", f"cannot write {self.path / LIST}: {error.strerror}") from error

    def _listed(self) -> set[str]:
        path = self.path / LIST
        try:
            if not path.exists():
                return set()
            with path.open(encoding="utf-8") as file:
                names = file.read(MOST_CHARACTERS).splitlines()
        except (OSError, ValueError) as error:
            raise SiteFolderError(
                "site-list-not-readable",
                f"cannot read {path}, the list of files of this command: {line(error, 100)}; name another folder",
            ) from error
        return {name for name in names if _inside(name)}


def _inside(name: str) -> bool:
    """Return whether a path stays below the folder."""
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and "\\" not in name
