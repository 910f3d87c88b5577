"""The folder of a site: its files are written whole, those that went are removed, and no foreign file is touched."""

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
"""Names the files that the command wrote, one a line; it lies in the folder itself."""
MOST_CHARACTERS = 16 << 20


class SiteFolderError(HarnessError):
    """The folder cannot be used; the text says why."""


class SiteFolder:
    """A folder that a site is written to.

    Attributes:
        path: of the folder.
        size: bytes written so far.
    """

    def __init__(self, path: Path) -> None:
        """Look at what is there.

        Raises:
            SiteFolderError: it is a file, or has a page that this command did not write.
        """
        if path.exists() and not path.is_dir():
            raise SiteFolderError(f"{path} is a file; --out names a folder")
        self.path, self.size = path, 0
        self._known = self._listed()
        self._written: set[str] = set()
        if (path / "index.html").exists() and "index.html" not in self._known:
            raise SiteFolderError(f"{path / 'index.html'} is not of this command; name another folder, or remove it")

    def write(self, name: str, pieces: Iterable[str]) -> None:
        """Write a file.

        Args:
            name: its path from the folder, with slashes.
            pieces: its text.

        Raises:
            SiteFolderError: another program wrote a file of this name.
            ReportError: it cannot be written.
        """
        path = self.path / name
        if name not in self._known:
            if path.exists():
                raise SiteFolderError(f"{path} is not of this command; name another folder, or remove it")
            formats.make(self.path)
            self._note(name)  # Before it is written: if this is interrupted, the next command still knows its files.
        formats.make(path.parent)
        self._written.add(name)
        formats.write(path, pieces)
        self.size += path.stat().st_size

    def finish(self) -> None:
        """Remove the files of an earlier site that this one does not have, and write the list.

        Raises:
            ReportError: the list cannot be written.
        """
        for name in sorted(self._known - self._written):
            with contextlib.suppress(OSError):  # It is gone, or a folder now.
                (self.path / name).unlink()
                for parent in (self.path / name).parents:
                    if parent == self.path:
                        break
                    parent.rmdir()  # Only where it is empty.
        formats.write(self.path / LIST, [f"{name}\n" for name in sorted(self._written)])

    def _note(self, name: str) -> None:
        self._known.add(name)
        try:
            with (self.path / LIST).open("a", encoding="utf-8") as file:
                file.write(f"{name}\n")
        except OSError as error:
            raise SiteFolderError(f"cannot write {self.path / LIST}: {error.strerror}") from error

    def _listed(self) -> set[str]:
        path = self.path / LIST
        try:
            if not path.exists():
                return set()
            with path.open(encoding="utf-8") as file:
                names = file.read(MOST_CHARACTERS).splitlines()
        except (OSError, ValueError) as error:
            raise SiteFolderError(
                f"cannot read {path}, which has the files of this command: {line(error, 100)}; name another folder"
            ) from error
        return {name for name in names if _inside(name)}


def _inside(name: str) -> bool:
    """Return whether a path stays below the folder."""
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and "\\" not in name
