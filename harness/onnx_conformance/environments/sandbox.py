# SPDX-License-Identifier: Apache-2.0
"""Runs adapters in a sandbox of bubblewrap: no network, no other processes, and no access to the expected answers.

The sandbox begins empty. It shows system libraries, the environment of the runtime and the files of the adapter, all
read-only. /tmp is empty and the adapter's own. Answers within a shown folder are hidden again: the harness, the other
folders of a checkout, the cache, the suite and the results. The adapter has no privileges, even if the user is root.
"""

from __future__ import annotations

import dataclasses
import functools
import glob
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from onnx_conformance.backends import cache
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.package import CHECKOUT, FOLDER
from onnx_conformance.base.verdict import line
from onnx_conformance.environments.adapter_files import needed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from onnx_conformance.base.target import Target

HARNESS = FOLDER
ANSWERS = ("generated_cases", "reports", "tests", ".git", "build", "dist")
"""Folders of a checkout that contain answers."""
RESULTS = "*.ndjson*"
"""Files in the folder of an adapter that are results."""
OFFICIAL = Path("onnx", "backend", "test", "data")
"""The test cases of onnx, in a folder of modules."""
SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store", "/opt/rocm",
    "/run/current-system", "/run/opengl-driver", "/sys",
)  # fmt: skip
"""Programs, libraries, and the description of devices."""
SETTINGS = (
    "OpenCL", "alternatives", "ca-certificates", "fonts", "glvnd", "group", "hosts", "ld.so.cache", "ld.so.conf",
    "ld.so.conf.d", "localtime", "locale.alias", "locale.conf", "nsswitch.conf", "passwd", "pki", "ssl", "vulkan",
)  # fmt: skip
"""Files of /etc that libraries read."""
DEVICES = ("nvidia*", "dri", "kfd", "dxg", "accel")
"""Files of /dev by which a runtime uses an accelerator."""
WRITABLE = ("/tmp", "/var/tmp")  # noqa: S108 - the adapter's own
MOST_ENTRIES = 500
"""Maximum number of entries of a folder with a hidden file: each of the other entries is bound separately."""
TRIAL = 10.0
"""Seconds that a sandbox may take to start."""
ENVIRONMENT = {"TMPDIR": "/tmp", cache.PROGRAMS: ""}  # noqa: S108 - its own one
"""Variables of an adapter in a sandbox: where it can write, and that it caches no programs."""


class NoIsolationError(HarnessError):
    """No sandbox can be created; the text contains the reason and a solution."""


@dataclass(frozen=True)
class Isolation:
    """The paths that adapters see, and those that they never see.

    Attributes:
        folders: appear empty, also within a shown folder.
        files: appear missing, also within a shown folder. They need not exist yet.
        shown: files and folders that every adapter sees, in addition to its own.
    """

    folders: tuple[Path, ...]
    files: tuple[Path, ...] = ()
    shown: tuple[Path, ...] = ()

    def of(self, target: Target) -> Target:
        """Return a target whose adapter runs in a sandbox.

        Raises:
            NoIsolationError: something that it needs is to be hidden.
        """
        environment = {**target.environment, **ENVIRONMENT}
        return dataclasses.replace(target, sandbox=tuple(self._words(target)), environment=environment)

    def _words(self, target: Target) -> Iterator[str]:
        own = any(word.startswith("onnx_conformance.") for word in target.command)  # The oracle is part of the harness.
        here, paths = Path.cwd(), [*needed(target), *self.shown, *([HARNESS] if own else [])]
        hidden = [
            folder for folder in (*self.folders, *_of_modules(paths)) if not (own and folder.name == HARNESS.name)
        ]
        if (above := next((folder for folder in hidden if here.is_relative_to(folder)), None)) is not None:
            raise NoIsolationError(
                "folder-hidden-in-sandbox",
                f"--isolate hides {above}, but adapters would run in {here}; start the command in another folder",
            )
        yield from (*_bwrap(), "--as-pid-1")
        for name in WRITABLE:
            yield from ("--tmpfs", name)
        yield from _base()
        steps: dict[Path, tuple[str, ...]] = {
            path: ("--ro-bind-try", str(path), str(path)) for path in _outermost(paths, hidden)
        }
        visible = [*map(Path, SYSTEM), *steps]
        for folder in filter(Path.is_dir, hidden):
            if any(folder.is_relative_to(path) for path in visible):
                steps[folder] = ("--tmpfs", str(folder))
        steps |= {file: ("--ro-bind", "/dev/null", str(file)) for file in _results(steps)}
        emptied = {folder for folder, words in steps.items() if words[0] == "--tmpfs"}
        for folder, entries in _without(self.files, visible, hidden):
            steps[folder] = ("--tmpfs", str(folder), *entries)
            emptied.add(folder)
        yield from ("--dir", str(here))
        # From the outermost to the innermost, so that a hidden folder stays hidden within a shown one, and the reverse.
        for _, words in sorted(steps.items(), key=lambda step: len(step[0].parts)):
            yield from words
        for folder in (*sorted(emptied), Path("/")):
            yield from ("--remount-ro", str(folder))
        yield from ("--chdir", str(here), "--")


def around(suite: str, results: Path | None, *, apart: bool = False, shown: Iterable[Path] = ()) -> Isolation:
    """Return the paths that adapters of a run see and do not see.

    Args:
        suite: name or folder, as in `run`.
        results: the file or folder of the results.
        apart: it is a folder.
        shown: files and folders that adapters see in addition to their own.

    Raises:
        NoIsolationError: this machine cannot make a sandbox, or a path of `shown` does not exist.
    """
    check()
    folders = [HARNESS]
    if CHECKOUT is not None:
        folders += [CHECKOUT / name for name in ANSWERS]
    folders += [folder.absolute() for folder in (cache.folder(), cache.user_folder()) if folder is not None]
    if Path(suite).is_dir():
        folders.append(Path(suite).resolve())
    if results is not None and apart:
        folders.append(results.resolve())
    missing = [folder for folder in folders if not folder.is_dir()]  # They may be made during the run.
    folders = [folder for folder in folders if folder not in missing]
    files = [*missing, *([results.resolve()] if results is not None and not apart else [])]
    more = [path.absolute() for path in shown]
    for path in more:
        if not path.exists():
            raise NoIsolationError("nothing-to-show", f"--show {line(path)}: there is no such file or folder")
    return Isolation(tuple(folders), tuple(files), tuple(more))


def isolated(target: Target, shown: Iterable[Path] | None, suite: str = "generated") -> Target:
    """Return a backend in a sandbox without the results of a run, if --isolate asks for it.

    Args:
        target: the backend.
        shown: as in `around`; None without --isolate.
        suite: as in `around`.

    Raises:
        NoIsolationError: as in `around`.
    """
    return target if shown is None else around(suite, None, shown=shown).of(target)


@functools.cache
def check() -> None:
    """Make a sandbox once, to see whether that works.

    Raises:
        NoIsolationError: it does not.
    """
    try:
        words = [*_bwrap(), *_base(), "--", "true"]
        done = subprocess.run(words, capture_output=True, timeout=TRIAL, check=False)  # noqa: S603 - bwrap
    except subprocess.TimeoutExpired:
        raise NoIsolationError("sandbox-too-slow", f"--isolate: bwrap created no sandbox within {TRIAL:g} s") from None
    if done.returncode:
        reason = line(done.stderr.decode("utf-8", "replace")) or f"it exits with status {done.returncode}"
        raise NoIsolationError(
            "sandbox-not-allowed",
            f"--isolate: bwrap cannot create a sandbox here ({reason}); it needs user namespaces, which this system or "
            "this container does not allow; leave the option out, or run where they are allowed",
        )


def _bwrap() -> list[str]:
    """Return the words that begin every sandbox: without privileges, and without a way to get some.

    A process in its own user namespace has all capabilities there, with which it could remove mounts. So all are
    dropped, and it cannot make another user namespace, where it would have them again.
    """
    path = shutil.which("bwrap")
    if path is None:
        raise NoIsolationError(
            "bubblewrap-missing",
            "--isolate needs bubblewrap, whose program bwrap is not installed; install it (Linux only), or "
            "leave the option out",
        )
    known = ["--disable-userns"] if "--disable-userns" in _help(path) else []  # Since version 0.8 of 2023.
    return [
        path, "--unshare-all", "--unshare-user", *known, "--cap-drop", "ALL", "--new-session", "--die-with-parent",
        "--dev", "/dev", "--proc", "/proc",
    ]  # fmt: skip


@functools.cache
def _help(program: str) -> str:
    """Return the options that this version of bwrap knows."""
    try:
        done = subprocess.run([program, "--help"], capture_output=True, timeout=TRIAL, check=False)  # noqa: S603 - bwrap
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (done.stdout + done.stderr).decode("utf-8", "replace")


def _base() -> Iterator[str]:
    """Yield the words that show the system."""
    for path in map(Path, SYSTEM):
        if path.is_symlink() and path.parent == Path("/"):  # As /lib, where all libraries are in /usr.
            yield from ("--symlink", str(path.readlink()), str(path))
        else:
            yield from ("--ro-bind-try", str(path), str(path))
    for name in SETTINGS:
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    for device in sorted(device for name in DEVICES for device in glob.glob(f"/dev/{name}")):  # noqa: PTH207 - no folder
        yield from ("--dev-bind-try", device, device)


def _outermost(paths: Iterable[Path], hidden: Iterable[Path]) -> list[Path]:
    """Return the paths to show, without those that are shown together with another of them.

    A path that is shown already cannot be bound again: it may be a link, as an interpreter in its environment is.
    A path that is hidden itself is not shown.
    """
    folders = list(hidden)
    system = [Path(name) for name in SYSTEM]
    shown: list[Path] = []
    for path in sorted(dict.fromkeys(paths), key=lambda path: len(path.parts)):
        if path not in {Path("/"), *folders} and _depth(path, [*shown, *system]) <= _depth(path, folders):
            shown.append(path)
    return shown


def _depth(path: Path, folders: Iterable[Path]) -> int:
    """Return the number of parts of the innermost of some folders around a path; 0 if it is in none of them."""
    return max((len(folder.parts) for folder in folders if path.is_relative_to(folder)), default=0)


def _of_modules(paths: Iterable[Path]) -> list[Path]:
    """Return the folders with answers in folders of modules: onnx's own test cases, and installed copies of this."""
    return [folder for path in paths for name in (OFFICIAL, HARNESS.name) if (folder := path / name).is_dir()]


def _results(paths: Iterable[Path]) -> list[Path]:
    """Return the files in shown folders that are results of runs."""
    return [file for path in paths if path.is_dir() for file in path.glob(RESULTS) if file.is_file()]


def _without(
    files: Iterable[Path], visible: Sequence[Path], hidden: Sequence[Path]
) -> Iterator[tuple[Path, list[str]]]:
    """Yield each shown folder that has hidden files, and the arguments that show its other entries.

    A file need not exist yet, and neither need its folder: then the first missing folder is hidden.
    """
    for file in files:
        inner = file
        while not inner.parent.is_dir():
            inner = inner.parent
        folder = inner.parent
        if _depth(folder, visible) <= _depth(folder, hidden):
            continue
        entries = [entry for entry in folder.iterdir() if entry != inner]
        if len(entries) > MOST_ENTRIES or folder in {Path("/"), *map(Path, SYSTEM)}:
            raise NoIsolationError(
                "results-hidden-in-sandbox",
                f"--isolate hides the results file {file}, but adapters need its folder; name a file in another folder",
            )
        yield folder, [word for entry in entries for word in ("--ro-bind-try", str(entry), str(entry))]
