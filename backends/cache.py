"""Programs that a runtime's compiler made, kept from one run to the next.

An adapter whose runtime compiles a model spends nearly all of its time there, and compiles the same models in every
run. Here it keeps what came out: never an answer, never an error. An entry is named by a digest of everything that it
comes from: the model, the runtime and its version, the compiler's options, the machine. So nothing has to be thrown
away when one of these changes.

The files lie in `programs`, in the folder that `ONNX_CONFORMANCE_CACHE` names, or in `onnx-conformance` below
`XDG_CACHE_HOME` or `~/.cache`. `ONNX_CONFORMANCE_CACHE=` without a value keeps nothing. `programs` may be removed at
any time; what lies beside it is others'. Where it cannot be written nothing is kept either, and nobody is told: the run
is slower, and no less right.

The seconds of an answer that was given by a kept program are those of running alone.

Adapter processes share it without locks: an entry is written beside its place and moved there whole, and carries a
digest of itself; one that is damaged is thrown away and made again.
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
"""What all entries take on the disk, about; beyond it those that were not used for the longest time go."""

FOLDERS = 256
"""Entries lie in so many folders by the beginning of their names; each has its share of MOST_BYTES."""

BLOCK = 4096
"""What a file takes on the disk is a multiple of this."""

MAGIC = b"onnx-conformance program 1\n"

_written: dict[Path, int] = {}
"""Bytes that this process put into a folder since it last looked how many are there."""


def folder() -> Path | None:
    """Return where entries are kept, or None: nowhere."""
    asked = os.environ.get("ONNX_CONFORMANCE_CACHE")
    if asked is not None:
        return Path(asked) if asked else None
    return user_folder()


def user_folder() -> Path | None:
    """Return where this project keeps what can be made again for a user, or None: there is no such place."""
    above = os.environ.get("XDG_CACHE_HOME", "")
    try:
        return (Path(above) if Path(above).is_absolute() else Path.home() / ".cache") / "onnx-conformance"
    except RuntimeError:  # There is no home.
        return None


def machine() -> str:
    """Return what a program that is made for any processor of this kind depends on."""
    return " ".join((platform.system(), platform.machine(), *platform.libc_ver()))


@functools.cache
def processor() -> str:
    """Return what a program that is made for this very processor depends on."""
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").partition("\n\n")[0].splitlines()
        told = [line for line in lines if line.partition("\t")[0].strip() in {"model name", "flags", "Features"}]
        if told:
            return "\n".join([machine(), *told])
    return f"{machine()} {platform.processor()}"


def name(*parts: bytes | str) -> str:
    """Return the name of the entry for what came from these: model, runtime, version, options, machine."""
    digest = hashlib.sha256(MAGIC)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(b"%d:" % len(data))  # So that no two lists of parts are one text.
        digest.update(data)
    return digest.hexdigest()


def get(entry: str) -> bytes | None:
    """Return what was kept under a name, or None: nothing, or it is damaged."""
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
            os.utime(path)  # It was used; what was not is what goes first.
        return zlib.decompress(data[body:])
    with contextlib.suppress(OSError):
        path.unlink()
    return None


def put(entry: str, program: bytes) -> None:
    """Keep what a compiler made; what cannot be written is not kept."""
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


def kept(make: Callable[[], bytes], *parts: bytes | str) -> bytes:
    """Return the program that came from these parts, kept or made now; what `make` raises goes through."""
    entry = name(*parts)
    if (found := get(entry)) is not None:
        return found
    made = make()
    put(entry, made)
    return made


def _path(entry: str) -> Path | None:
    above = folder()
    return None if above is None else above / "programs" / entry[:2] / entry[2:]


def _on_disk(size: int) -> int:
    return -(-size // BLOCK) * BLOCK


def _bound(place: Path, size: int) -> None:
    """Remove what was not used for the longest time where a folder has more than its share.

    It is looked at once by a process, and then whenever that process has filled an eighth of the share.
    """
    share = MOST_BYTES // FOLDERS
    seen = place in _written
    _written[place] = _written.get(place, 0) + _on_disk(size)
    if seen and _written[place] <= share // 8:
        return
    _written[place] = 0
    files = []
    for item in os.scandir(place):
        with contextlib.suppress(OSError):  # Another process may have removed it.
            told = item.stat()
            files.append((told.st_mtime_ns, _on_disk(told.st_size), item.path))
    over = sum(bytes_ for _, bytes_, _ in files) - share
    if over <= 0:
        return
    over += share // 8  # Else the next entry would be one too many again.
    for _, bytes_, path in sorted(files):
        if over <= 0:
            break
        with contextlib.suppress(OSError):
            os.unlink(path)  # noqa: PTH108 - scandir gives a name
        over -= bytes_
