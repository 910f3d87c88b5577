"""Caches the programs that a runtime's compiler makes from one run to the next.

An adapter whose runtime compiles a model spends nearly all of its time there, and compiles the same models in every
run. Only programs are cached: never an answer, never an error. The name of an entry is a digest of everything that it
depends on: the model, the runtime and its version, the compiler's options, the machine. So nothing has to be
invalidated when one of these changes.

The files are in `programs`, in the folder that `ONNX_CONFORMANCE_CACHE` names, or in `onnx-conformance` below
`XDG_CACHE_HOME` or `~/.cache`. An empty `ONNX_CONFORMANCE_CACHE=` turns the cache off. `programs` may be removed at any
time; the folders beside it are not part of this cache. Where it cannot be written, the cache is off without a message:
the run is slower, and its results are the same.

With a cached program, the seconds of an answer are those of running alone.

Adapter processes share it without locks: an entry is written to a temporary file and renamed, and contains a digest of
itself; a damaged one is removed and made again. The class that does this, Store, also serves the packs of the harness.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_BYTES = 4 << 30
"""About how many bytes all entries take on the disk; beyond that, the least recently used are removed."""

FOLDERS = 256
"""Entries are in so many folders, by the beginning of their names; each has its share of MOST_BYTES."""

BLOCK = 4096
"""Bytes; the size of a file on the disk is a multiple of this."""

MAGIC = b"onnx-conformance program 1\n"

_written: dict[Path, int] = {}
"""Bytes that this process wrote into a folder since it last added up the sizes there."""


@dataclass(frozen=True)
class Store:
    """The files of one folder, which processes share without locks.

    Each file begins with what it is and a digest of the rest. Where all take too much, the least recently used are
    removed.

    Attributes:
        folder: it; made when the first file is written.
        magic: the first bytes of each file: what it is, and the version of its form.
        most_bytes: about how many bytes all files take on the disk.
        unchecked_bytes: how many bytes a process may write before it adds up the sizes again.
        spare_bytes: how many bytes more are removed, so that the next file does not exceed the limit again.
        block: bytes; the size of a file on the disk is a multiple of this.
        mode: of the folder.
    """

    folder: Path
    magic: bytes
    most_bytes: int
    unchecked_bytes: int
    spare_bytes: int = 0
    block: int = 1
    mode: int = 0o777

    def read(self, name: str) -> memoryview | None:
        """Return the content of a file; None if it does not exist or was damaged, in which case it is removed."""
        path = self.folder / name
        try:
            data = memoryview(path.read_bytes())
        except OSError:
            return None
        start = len(self.magic)
        body = start + hashlib.sha256().digest_size
        if data[:start] == self.magic and hashlib.sha256(data[body:]).digest() == data[start:body]:
            with contextlib.suppress(OSError):
                os.utime(path)  # Marks it as used; the least recently used are removed first.
            return data[body:]
        with contextlib.suppress(OSError):
            path.unlink()
        return None

    def write(self, name: str, body: bytes) -> None:
        """Write a file, unless that is not possible or it alone exceeds the limit."""
        data = self.magic + hashlib.sha256(body).digest() + body
        if self._on_disk(len(data)) > self.most_bytes:
            return
        with contextlib.suppress(OSError):
            self.folder.mkdir(mode=self.mode, parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=self.folder, prefix=".")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                Path(temporary).replace(self.folder / name)
            except BaseException:
                with contextlib.suppress(OSError):
                    Path(temporary).unlink()
                raise
            self._bound(len(data))

    def _on_disk(self, size: int) -> int:
        return -(-size // self.block) * self.block

    def _bound(self, size: int) -> None:
        """Remove the least recently used files of a folder that has more than its limit.

        A process adds up the sizes once, and again whenever it has written a part of the limit.
        """
        checked = self.folder in _written
        _written[self.folder] = _written.get(self.folder, 0) + self._on_disk(size)
        if checked and _written[self.folder] <= self.unchecked_bytes:
            return
        _written[self.folder] = 0
        files = []
        for item in os.scandir(self.folder):
            with contextlib.suppress(OSError):  # Another process may have removed it.
                status = item.stat()
                files.append((status.st_mtime_ns, self._on_disk(status.st_size), item.path))
        over = sum(bytes_ for _, bytes_, _ in files) - self.most_bytes
        if over <= 0:
            return
        over += self.spare_bytes
        for _, bytes_, path in sorted(files):
            if over <= 0:
                break
            with contextlib.suppress(OSError):
                os.unlink(path)  # noqa: PTH108 - scandir returns a name
            over -= bytes_


def folder() -> Path | None:
    """Return the folder of the cache, or None: it is off."""
    setting = os.environ.get("ONNX_CONFORMANCE_CACHE")
    if setting is not None:
        return Path(setting) if setting else None
    return user_folder()


def user_folder() -> Path | None:
    """Return the user's cache folder of this project, or None if there is none."""
    above = os.environ.get("XDG_CACHE_HOME", "")
    try:
        return (Path(above) if Path(above).is_absolute() else Path.home() / ".cache") / "onnx-conformance"
    except RuntimeError:  # There is no home folder.
        return None


def machine() -> str:
    """Return the description of the machine for programs that run on any processor of its architecture."""
    return " ".join((platform.system(), platform.machine(), *platform.libc_ver()))


@functools.cache
def processor() -> str:
    """Return the description of the machine for programs that are compiled for exactly its processor."""
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").partition("\n\n")[0].splitlines()
        described = [line for line in lines if line.partition("\t")[0].strip() in {"model name", "flags", "Features"}]
        if described:
            return "\n".join([machine(), *described])
    return f"{machine()} {platform.processor()}"


def name(*parts: bytes | str) -> str:
    """Return the name of the entry that depends on these: model, runtime, version, options, machine."""
    digest = hashlib.sha256(MAGIC)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(b"%d:" % len(data))  # Different lists of parts must have different bytes.
        digest.update(data)
    return digest.hexdigest()


def get(entry: str) -> bytes | None:
    """Return the program of an entry, or None: it does not exist, or is damaged."""
    store = _store(entry)
    packed = None if store is None else store.read(entry[2:])
    return None if packed is None else zlib.decompress(packed)


def put(entry: str, program: bytes) -> None:
    """Write an entry, unless that is not possible."""
    store = _store(entry)
    if store is not None:
        store.write(entry[2:], zlib.compress(program, 1))


def compiled(compile_: Callable[[], bytes], *parts: bytes | str) -> bytes:
    """Return the program that depends on these parts, from the cache or compiled now; `compile_` may raise."""
    entry = name(*parts)
    program = get(entry)
    if program is None:
        program = compile_()
        put(entry, program)
    return program


def _store(entry: str) -> Store | None:
    """Return the folder of an entry, or None: the cache is off."""
    root = folder()
    if root is None:
        return None
    share = MOST_BYTES // FOLDERS
    return Store(root / "programs" / entry[:2], MAGIC, share, share // 8, share // 8, BLOCK, 0o700)
