# SPDX-License-Identifier: Apache-2.0
"""A folder whose files are in one tar.xz: in a wheel, the manifest, as 1 file instead of 230, locks and large files."""

from __future__ import annotations

import fnmatch
import functools
from pathlib import Path, PosixPath
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SUFFIX = ".txz"


class ArchivedPath(PosixPath):
    """The path of an archive, or of a file in it, with the methods that read.

    For example, `ArchivedPath("cases.txz") / "ai.onnx.Abs.txt"` is a file in `cases.txz`. All other methods of Path
    behave as for a path below a file: they raise an OSError.
    """

    def read_text(self, encoding: str | None = None, *_: Any, **__: Any) -> str:  # noqa: ANN401 - as in Path
        """Return the text of a file in the archive.

        Raises:
            OSError: the archive does not contain the file, or cannot be read.
        """
        return self.read_bytes().decode(encoding or "utf-8")

    def read_bytes(self) -> bytes:
        """Return the bytes of a file in the archive, or of the archive.

        Raises:
            OSError: the archive does not contain the file, or cannot be read.
        """
        if self.suffix == SUFFIX:
            return super().read_bytes()
        archive, name = self._place()
        content = _contents(archive).get(name)
        if content is None:
            raise FileNotFoundError(2, "no such file in the archive", str(self))
        return content

    def open(self, mode: str = "r", *_: object, encoding: str | None = None, **__: object) -> IO[Any]:  # type: ignore[override]
        """Open a file in the archive for reading.

        Raises:
            OSError: the archive does not contain the file, or cannot be read, or the mode is one of writing.
        """
        import io  # noqa: PLC0415 - every command imports this module, and few read the archive

        if {*mode} & {*"wax+"}:
            raise PermissionError(13, "files in the archive can only be read", str(self))
        if self.suffix == SUFFIX:
            return super().open(mode, encoding=encoding)
        content = self.read_bytes()
        return io.BytesIO(content) if "b" in mode else io.TextIOWrapper(io.BytesIO(content), encoding or "utf-8")

    def is_file(self, **_: Any) -> bool:  # noqa: ANN401 - as in Path
        """Return whether there is an archive, and it contains this file."""
        archive, name = self._place()
        return Path(archive).is_file() and name in _contents(archive)

    def _place(self) -> tuple[str, str]:
        """Return the path of the archive, which may be empty, and the name of the file in it."""
        for folder in self.parents:
            if folder.suffix == SUFFIX:
                return str(folder), self.relative_to(folder).as_posix()
        return "", self.name

    def glob(self, pattern: str, **_: Any) -> Iterator[ArchivedPath]:  # type: ignore[override]  # noqa: ANN401
        """Yield the files in this archive whose names match a pattern."""
        yield from (self / name for name in fnmatch.filter(_contents(str(self)), pattern))


@functools.cache
def _contents(archive: str) -> Mapping[str, bytes]:
    """Return the files of an archive by name.

    All are read at once. An open archive could not be shared with forked processes, which move its position.
    """
    import lzma  # noqa: PLC0415 - every command imports this module, and few read the archive
    import tarfile  # noqa: PLC0415 - as above

    found: dict[str, bytes] = {}
    try:
        with tarfile.open(archive, "r:xz") as file:
            for member in file:
                content = file.extractfile(member)
                if content is not None:
                    found[member.name] = content.read()
    except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
        raise OSError(5, f"not a tar.xz file: {error}", archive) from error
    return found


def write(archive: Path, folder: Path, patterns: tuple[str, ...]) -> None:
    """Write the files of a folder to an archive; the same files are the same bytes.

    The files are compressed together, which needs less space than the compression of a wheel.

    Args:
        archive: the path of the archive.
        folder: the folder.
        patterns: globs for the files, such as `*.txt`, or `more/*.txt` in a subfolder.
    """
    import io  # noqa: PLC0415 - as above
    import lzma  # noqa: PLC0415 - as above
    import tarfile  # noqa: PLC0415 - as above

    # "pb" 0 is for texts, in which no byte depends on its position in a word.
    best = {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "pb": 0}
    with lzma.open(archive, "wb", filters=[best]) as stream, tarfile.open(fileobj=stream, mode="w") as file:
        for path in sorted(path for pattern in patterns for path in folder.glob(pattern)):
            data, member = path.read_bytes(), tarfile.TarInfo(path.relative_to(folder).as_posix())
            member.size = len(data)
            file.addfile(member, io.BytesIO(data))
