# SPDX-License-Identifier: Apache-2.0
"""Caches the programs that a runtime's compiler makes from one run to the next.

An adapter whose runtime compiles a model spends nearly all of its time there, and compiles the same models in every
run. Only programs are cached: never an answer, never an error. The name of an entry is a digest of everything that it
depends on: the model, the runtime and its version, the compiler's options, the machine. So nothing has to be
invalidated when one of these changes.

The files are in `programs`, in the folder that `ONNX_CONFORMANCE_CACHE` names, or in `onnx-conformance` below
`XDG_CACHE_HOME` or `~/.cache`. An empty `ONNX_CONFORMANCE_CACHE=` turns the cache off. `programs` may be removed at any
time; the other folders are not part of this cache. If it cannot be written, the cache is off without a message: the run
is slower, and its results are the same.

A program is code that an adapter runs, and packs contain expected answers. So a file is only read if it is a regular
file of this user in a folder of this user, which other users cannot write. An adapter process gets only the path of
`programs`, in `ONNX_CONFORMANCE_PROGRAMS`.

With a cached program, the seconds of an answer are those of running alone.

Adapter processes share it without locks: an entry is written to a temporary file and renamed, and contains a digest of
itself; a damaged one is removed and made again. The class that does this, Store, also serves the packs of the harness.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import hmac
import os
import platform
import re
import stat
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

MOST_PROGRAM = 1 << 30
"""Maximum number of bytes of a program; a larger one is compiled again each time."""

MAGIC = b"onnx-conformance program 2\n"

DIGEST_BYTES = hashlib.sha256().digest_size
"""Bytes of the digest of a file, after its first bytes."""

KEY, KEY_BYTES = "digests.key", 32
"""The file in the user's cache folder with the key of digests, and its size in bytes."""

PROGRAMS = "ONNX_CONFORMANCE_PROGRAMS"
"""Variable of an adapter process: the folder of compiled programs; empty: the cache is off."""

_written: dict[Path, int] = {}
"""Bytes that this process wrote into a folder since it last added up the sizes there."""


NAME = re.compile(r"\.?[0-9a-f]{30,64}(\.[a-z]+)?(\.[a-z0-9_]{8})?")
"""The names of files in a store: digests with a suffix. A temporary name has a dot before it and letters behind it."""

OPENS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
"""How files are opened: a link is not followed, and a pipe does not block."""

_reported: set[str] = set()


def _unreported(_: str) -> None:
    """Ignore a problem, because an adapter must not print it."""


report: Callable[[str], None] = _unreported
"""Prints a line about a file or folder that is not used, because it may be another user's or no file of a store."""


def distrust(path: Path, reason: str) -> None:
    """Report once that a file or folder is not used."""
    text = f"cache: {path} {reason}; it is not used"
    if text not in _reported:
        _reported.add(text)
        report(text)


def read_own(path: Path, most_bytes: int) -> bytes | None:
    """Return the content of a regular file of this user; None if there is no such file, or it is larger.

    A link, a pipe, a device and a file of another user are never read: somebody else may have put them there.
    """
    try:
        handle = os.open(path, OPENS)
    except OSError as error:
        if error.errno == errno.ELOOP:
            distrust(path, "is a link")
        return None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            distrust(path, "is no regular file")
        elif status.st_uid != os.geteuid():
            distrust(path, "belongs to another user")
        elif status.st_size > most_bytes:
            distrust(path, f"has more than {most_bytes} bytes")
        else:
            with os.fdopen(handle, "rb", closefd=False) as file:
                return file.read(most_bytes)
    except OSError:
        pass
    finally:
        os.close(handle)
    return None


def is_own(folder: Path, *, make: bool = False) -> bool:
    """Return whether a folder belongs to this user alone.

    Args:
        folder: the path of the folder, which must not be a link.
        make: whether it is made if it does not exist.
    """
    try:
        if make:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode):
            distrust(folder, "is no folder, or a link to one")
        elif status.st_uid != os.geteuid():
            distrust(folder, "belongs to another user")
        else:
            if status.st_mode & 0o077:
                folder.chmod(0o700)
            return True
    except OSError:  # It does not exist, or its disk cannot be written: there is no cache then.
        pass
    return False


@dataclass(frozen=True)
class Store:
    """The files of one folder, which processes share without locks.

    Each file begins with its kind and a digest of its name and the rest. If all files together are too large, the least
    recently used are removed. Only regular files of the user are read, and only files with the names and the first
    bytes of a store are removed.

    Attributes:
        folder: the folder, which is made with the first file, for this user alone.
        magic: the first bytes of each file: its kind, and the version of its format.
        most_bytes: about how many bytes all files take on the disk.
        unchecked_bytes: how many bytes a process may write before it adds up the sizes again.
        spare_bytes: how many bytes more are removed, so that the next file does not exceed the limit again.
        block: bytes; the size of a file on the disk is a multiple of this.
        secret: the key of the digests (HMAC). Without one, whoever can write a file can also write its digest.
    """

    folder: Path
    magic: bytes
    most_bytes: int
    unchecked_bytes: int
    spare_bytes: int = 0
    block: int = 1
    secret: bytes = b""

    def read(self, name: str) -> memoryview | None:
        """Return the content of a file; None if it does not exist or was damaged, in which case it is removed."""
        path = self.folder / name
        content = read_own(path, self.most_bytes) if is_own(self.folder) else None
        if content is None:
            return None
        data = memoryview(content)
        start = len(self.magic)
        body = start + DIGEST_BYTES
        if data[:start] != self.magic and not self.magic.startswith(data[:start]):
            distrust(path, "has other first bytes than a file of the cache")
            return None
        if data[:start] == self.magic and hmac.compare_digest(self.digest(name, data[body:]), data[start:body]):
            with contextlib.suppress(OSError):
                os.utime(path)  # Marks it as used; the least recently used are removed first.
            return data[body:]
        self.remove(name)
        distrust(path, "is damaged, or was written by a program without your key, and was removed")
        return None

    def remove(self, name: str) -> None:
        """Remove a file of this store, if that is possible."""
        with contextlib.suppress(OSError):
            (self.folder / name).unlink()

    def write(self, name: str, body: bytes) -> None:
        """Write a file, unless that is not possible or it alone exceeds the limit."""
        data = self.magic + self.digest(name, body) + body
        if self._on_disk(len(data)) > self.most_bytes or not is_own(self.folder, make=True):
            return
        with contextlib.suppress(OSError):
            handle, temporary = tempfile.mkstemp(dir=self.folder, prefix=f".{name}.")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                Path(temporary).replace(self.folder / name)
            except BaseException:
                with contextlib.suppress(OSError):
                    Path(temporary).unlink()
                raise
            self._bound(len(data))

    def digest(self, name: str, body: bytes | memoryview) -> bytes:
        """Return the digest of a file with this name and content."""
        digest = hmac.new(self.secret, b"%d:%s" % (len(name), name.encode()), hashlib.sha256)
        digest.update(body)
        return digest.digest()

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
        files = self.files()
        over = sum(bytes_ for _, bytes_, _ in files) - self.most_bytes
        if over <= 0:
            return
        over += self.spare_bytes
        for _, bytes_, path in files:
            if over <= 0:
                break
            if self._is_own_file(path):
                with contextlib.suppress(OSError):
                    path.unlink()
                over -= bytes_

    def files(self) -> list[tuple[int, int, Path]]:
        """Return the files with names of a store, each with its time of use and its bytes, the least recent first."""
        files = []
        with contextlib.suppress(OSError), os.scandir(self.folder) as items:
            for item in items:
                with contextlib.suppress(OSError):  # Another process may have removed it.
                    status = item.stat(follow_symlinks=False)
                    if stat.S_ISREG(status.st_mode) and NAME.fullmatch(item.name):
                        files.append((status.st_mtime_ns, self._on_disk(status.st_size), Path(item.path)))
        return sorted(files)

    def clear(self) -> int:
        """Remove all files of this store; return how many bytes they took on the disk."""
        removed = 0
        for _, bytes_, path in self.files() if is_own(self.folder) else ():
            if self._is_own_file(path):
                with contextlib.suppress(OSError):
                    path.unlink()
                    removed += bytes_
        return removed

    def _is_own_file(self, path: Path) -> bool:
        """Return whether a file begins as one of this store, of any version; a temporary one may be cut off."""
        kind = self.magic.rsplit(b" ", 1)[0]
        try:
            handle = os.open(path, OPENS)
        except OSError:
            return False
        with os.fdopen(handle, "rb") as file:
            head = file.read(len(kind))
        return head == kind or (path.name.startswith(".") and kind.startswith(head))


def folder() -> Path | None:
    """Return the folder of the cache, or None: it is off."""
    setting = os.environ.get("ONNX_CONFORMANCE_CACHE")
    if setting is not None:
        return Path(setting) if setting else None
    return user_folder()


def programs() -> Path | None:
    """Return the folder of the compiled programs, or None: the cache is off.

    An adapter has its path in a variable, because it does not know the other folders of the cache.
    """
    setting = os.environ.get(PROGRAMS)
    if setting is not None:
        return Path(setting) if setting else None
    above = folder()
    return None if above is None else above / "programs"


def user_folder() -> Path | None:
    """Return the user's cache folder of this project, or None if the user has no home folder."""
    above = os.environ.get("XDG_CACHE_HOME", "")
    try:
        return (Path(above) if Path(above).is_absolute() else Path.home() / ".cache") / "onnx-conformance"
    except RuntimeError:  # There is no home folder.
        return None


def secret() -> bytes | None:
    """Return the user's key of digests, which is made at the first use; None if it cannot be kept.

    It is in the user's own cache folder, also if the cache is elsewhere, unless that folder cannot be written. Adapters
    get no path of it, and with `--isolate` they cannot see it.
    """
    for above in (user_folder(), folder()):
        if above is not None and is_own(above, make=True):
            path = above / KEY
            if _key(path) is None:
                with contextlib.suppress(OSError):
                    _make_key(path)
            if (known := _key(path)) is not None:
                return known
    return None


def _key(path: Path) -> bytes | None:
    known = read_own(path, KEY_BYTES)
    return known if known is not None and len(known) == KEY_BYTES else None


def _make_key(path: Path) -> None:
    """Write a new key. If two processes do so at once, the first one wins."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{KEY}.")  # Only this user can read it.
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(os.urandom(KEY_BYTES))
        if path.is_file() and path.stat().st_size != KEY_BYTES:  # The disk was full.
            path.unlink()
        os.link(temporary, path)
    finally:
        Path(temporary).unlink()


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
    if store is None or packed is None:
        return None
    with contextlib.suppress(zlib.error):
        unpacker = zlib.decompressobj()
        program = unpacker.decompress(packed, MOST_PROGRAM)
        if unpacker.eof:
            return program
    store.remove(entry[2:])
    return None


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
    root = programs()
    if root is None or not is_own(root, make=True):
        return None
    return store_of(root / entry[:2])


def every_program() -> list[Store]:
    """Return the stores of all folders of programs."""
    root = programs()
    if root is None or not is_own(root):
        return []
    return [store_of(folder) for folder in sorted(root.iterdir()) if folder.is_dir() and not folder.is_symlink()]


def store_of(folder: Path) -> Store:
    """Return the store of one of the folders of programs."""
    share = MOST_BYTES // FOLDERS
    return Store(folder, MAGIC, share, share // 8, share // 8, BLOCK)
