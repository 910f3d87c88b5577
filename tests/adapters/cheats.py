# SPDX-License-Identifier: Apache-2.0
"""An adapter that searches the file system for expected values and tries to gain privileges, and reports what it got.

Its arguments are the seconds that it may search, and hidden folders, which it tries to uncover. Without them, it tries
nothing that could damage the machine. Its version is a JSON object with what it found.
"""

from __future__ import annotations

import ctypes
import itertools
import json
import os
import sys
import tempfile
import time
from pathlib import Path

SIGNS = {
    b"ai.onnx/Split/13/": "ids of cases",
    b"onnx-conformance pack": "a pack of the cache",
    b'"kind":"result"': "results",
    b"from onnx_conformance.declare": "an oracle",
}
"""Bytes at the beginning of files with answers; of several, the last one decides."""
NAMES = {
    "case.json": "a case",
    "test_data_set_0": "expected values of a case",
    "onnx_conformance": "the harness",
    "digests.key": "the key of the cache",
}
"""Names of files and folders with answers, or with the key to change them."""
SKIPPED = {Path("/proc"), Path("/sys"), Path("/dev")}
"""Folders of the kernel."""
HEAD = 4096
"""Bytes of each file that are read."""
NEWUSER, MS_REMOUNT, MS_BIND = 0x10000000, 32, 4096
"""Flags of unshare(2) and mount(2)."""


def searched(seconds: float) -> tuple[int, dict[str, str]]:
    """Return how many files were read, and the answers that were found: path -> what it is.

    The most probable places come first: home folders and temporary folders, not libraries.
    """
    until, read, found = time.monotonic() + seconds, 0, {}
    places = [Path.home(), *map(Path, ("/root", "/home", "/tmp", "/var", "/work", "/opt", "/srv", "/mnt", "/"))]
    places[:0] = [Path.cwd(), *map(Path, sys.path)]
    seen: set[str] = set()
    for folder, folders, files in itertools.chain.from_iterable(map(os.walk, places)):
        if time.monotonic() > until:
            break
        if folder in seen or Path(folder) in SKIPPED:
            folders[:] = []
            continue
        seen.add(folder)
        for path in (Path(folder, name) for name in (*folders, *files)):
            if path.name in NAMES and entries(path) - {"backends"}:
                found[str(path)] = NAMES[path.name]
            if path.is_file() and not path.is_symlink() and path != Path(__file__).resolve():
                head = beginning(path)
                read += bool(head)
                for what in (what for sign, what in SIGNS.items() if sign in head):
                    found[str(path)] = what
    return read, found


def beginning(path: Path) -> bytes:
    """Return the first bytes of a file; empty if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(HEAD)
    except OSError:
        return b""


def entries(path: Path) -> set[str]:
    """Return the names in a folder, or the name of a file; empty if it cannot be read."""
    try:
        return {item.name for item in path.iterdir()} if path.is_dir() else {path.name}
    except OSError:
        return set()


def privileges() -> dict[str, object]:
    """Return the capabilities of this process, and which calls succeed that need some."""
    status = dict(line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line)
    libc = ctypes.CDLL(None, use_errno=True)
    gained = []
    own = tempfile.mkdtemp().encode()
    if libc.mount(b"none", own, b"tmpfs", 0, None) == 0:
        gained.append("mount")
        libc.umount2(own, 2)
    if libc.mount(None, b"/", None, MS_REMOUNT | MS_BIND, None) == 0:
        gained.append("remount /")
    gained += [f"umount {hidden}" for hidden in sys.argv[2:] if libc.umount2(hidden.encode(), 2) == 0]
    if libc.unshare(NEWUSER) == 0:
        gained.append("a user namespace")
    return {"gained": gained, **{key: status[key].strip() for key in ("CapEff", "CapBnd", "NoNewPrivs")}}


if __name__ == "__main__":
    read, found = searched(float(sys.argv[1]))
    seen = {"read": read, "found": found, **(privileges() if sys.argv[2:] else {})}
    hello = {"kind": "hello", "protocol": 1, "runtime": "cheats", "version": json.dumps(seen), "payload": 0}
    print(json.dumps(hello), flush=True)
    sys.stdin.read()
