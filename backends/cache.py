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
itself; a damaged one is removed and made again.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import tempfile
import zlib
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
        digest.update(b"%d:" % len(data))  # So that different lists of parts never give the same bytes.
        digest.update(data)
    return digest.hexdigest()


def get(entry: str) -> bytes | None:
    """Return the program of an entry, or None: it does not exist, or is damaged."""
    path = _path(entry)
    if path is None:
        return None
    try:
        data = path.read_bytes()
    except OSError:
        return None
    body = len(MAGIC) + hashlib.sha256().digest_size
    if data.startswith(MAGIC) and hashlib.sha256(data[body:]).digest() == data[len(MAGIC) : body]:
        with contextlib.suppress(OSError):
            os.utime(path)  # Marks it as used; the least recently used are removed first.
        return zlib.decompress(data[body:])
    with contextlib.suppress(OSError):
        path.unlink()
    return None


def put(entry: str, program: bytes) -> None:
    """Write an entry, unless that is not possible."""
    path = _path(entry)
    if path is None:
        return
    packed = zlib.compress(program, 1)
    data = MAGIC + hashlib.sha256(packed).digest() + packed
    if _on_disk(len(data)) > MOST_BYTES // FOLDERS:
        return
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=".")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(beside, path)  # noqa: PTH105 - mkstemp gives a name
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(beside)  # noqa: PTH108
            raise
        _bound(path.parent, len(data))


def compiled(compile_: Callable[[], bytes], *parts: bytes | str) -> bytes:
    """Return the program that depends on these parts, from the cache or compiled now; `compile_` may raise."""
    entry = name(*parts)
    program = get(entry)
    if program is None:
        program = compile_()
        put(entry, program)
    return program


def _path(entry: str) -> Path | None:
    root = folder()
    return None if root is None else root / "programs" / entry[:2] / entry[2:]


def _on_disk(size: int) -> int:
    return -(-size // BLOCK) * BLOCK


def _bound(place: Path, size: int) -> None:
    """Remove the least recently used entries of a folder that has more than its share.

    A process adds up the sizes once, and again whenever it has written an eighth of the share.
    """
    share = MOST_BYTES // FOLDERS
    checked = place in _written
    _written[place] = _written.get(place, 0) + _on_disk(size)
    if checked and _written[place] <= share // 8:
        return
    _written[place] = 0
    files = []
    for item in os.scandir(place):
        with contextlib.suppress(OSError):  # Another process may have removed it.
            stat = item.stat()
            files.append((stat.st_mtime_ns, _on_disk(stat.st_size), item.path))
    over = sum(bytes_ for _, bytes_, _ in files) - share
    if over <= 0:
        return
    over += share // 8  # Otherwise the next entry would exceed it again.
    for _, bytes_, path in sorted(files):
        if over <= 0:
            break
        with contextlib.suppress(OSError):
            os.unlink(path)  # noqa: PTH108 - scandir gives a name
        over -= bytes_
