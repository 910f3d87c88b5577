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
        content = _contents(str(self.parent)).get(self.name)
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
        """Return whether the archive contains this file."""
        return self.parent.suffix == SUFFIX and self.name in _contents(str(self.parent))

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
        folder: the folder; its subfolders are left out.
        patterns: globs for the names of the files.
    """
    import io  # noqa: PLC0415 - as above
    import lzma  # noqa: PLC0415 - as above
    import tarfile  # noqa: PLC0415 - as above

    best = 9 | lzma.PRESET_EXTREME
    with lzma.open(archive, "wb", preset=best) as stream, tarfile.open(fileobj=stream, mode="w") as file:
        for path in sorted(path for pattern in patterns for path in folder.glob(pattern)):
            data, member = path.read_bytes(), tarfile.TarInfo(path.name)
            member.size = len(data)
            file.addfile(member, io.BytesIO(data))
