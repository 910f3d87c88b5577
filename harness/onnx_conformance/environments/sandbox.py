"""Runs adapters in a sandbox of bubblewrap: no network, no other processes, and no access to the expected answers.

Everything is read-only but /tmp, which is the adapter's own. Whatever contains expected answers is hidden: the harness,
the other folders of a checkout, the suite's folder, the results.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import onnx

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.package import BACKENDS, CHECKOUT, FOLDER
from onnx_conformance.base.verdict import line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from onnx_conformance.environments.backend_names import Target

HARNESS = FOLDER
BESIDE = ("generated_cases", "reports", "tests", ".git")
"""Folders of a checkout that contain answers."""
PRIVATE = tuple(Path(name) for name in ("/tmp", "/var/tmp", "/run") if Path(name).is_dir())  # noqa: S108 - as hidden
"""Where other processes leave files and sockets."""
SYSTEM = tuple(map(Path, ("/run/current-system", "/run/opengl-driver")))
"""Folders of libraries on some systems."""
MOST_ENTRIES = 500
"""Maximum number of entries of a folder with a hidden file: each of the other entries is bound separately."""
TRIAL = 10.0
"""Seconds that a sandbox may take to start."""
ENVIRONMENT = {"TMPDIR": "/tmp", "ONNX_CONFORMANCE_CACHE": ""}  # noqa: S108 - its own one
"""Variables of an adapter in a sandbox: where it can write, and that it caches no programs."""


class NoIsolationError(HarnessError):
    """No sandbox can be created; the text contains the reason and a solution."""


@dataclass(frozen=True)
class Isolation:
    """Paths that are hidden from adapters.

    Attributes:
        folders: appear empty.
        files: appear missing.
    """

    folders: tuple[Path, ...]
    files: tuple[Path, ...] = ()

    def of(self, target: Target) -> Target:
        """Return a target whose adapter runs in a sandbox.

        Raises:
            NoIsolationError: something that it needs is to be hidden.
        """
        environment = {**target.environment, **ENVIRONMENT}
        return dataclasses.replace(target, sandbox=tuple(self._words(target)), environment=environment)

    def _words(self, target: Target) -> Iterator[str]:
        own = any(word.startswith("onnx_conformance.") for word in target.command)  # The oracle is part of the harness.
        hidden = [folder for folder in self.folders if not (own and folder == HARNESS)]
        here, needed = Path.cwd(), [*_needed(target.command), *target.sees]
        if (above := next((folder for folder in hidden if here.is_relative_to(folder)), None)) is not None:
            raise NoIsolationError(
                f"--isolate hides {above}, but adapters would run in {here}; start the command in another folder"
            )
        yield from (*_bwrap(), "--die-with-parent", "--as-pid-1")
        for folder in PRIVATE:
            yield from ("--tmpfs", str(folder))
        yield from _shown(PRIVATE, (here, *needed, *SYSTEM))
        files = [file for file in self.files if file.parent not in PRIVATE]
        for file in files:
            yield from _without(file, (here, *needed))
        folders = sorted(filter(Path.is_dir, hidden))
        # From the outermost to the innermost, so that a hidden folder stays hidden within a shown one, and the reverse.
        inner = [(path, ("--ro-bind-try", str(path))) for path in _outermost(needed, hidden)]
        steps = [*inner, *((folder, ("--tmpfs",)) for folder in folders)]
        for path, words in sorted(steps, key=lambda step: len(step[0].parts)):
            yield from (*words, str(path))
        for folder in [*(file.parent for file in files), *folders]:
            yield from ("--remount-ro", str(folder))
        yield from ("--chdir", str(here), "--")


def around(suite: str, results: Path | None, *, apart: bool = False) -> Isolation:
    """Return the paths that are hidden from the adapters of a run.

    Args:
        suite: name or folder, as in `run`.
        results: the file or folder of the results.
        apart: it is a folder.

    Raises:
        NoIsolationError: this machine cannot make a sandbox.
    """
    check()
    folders = [HARNESS]
    if CHECKOUT is not None:
        folders += [CHECKOUT / name for name in BESIDE]
    if suite == "official":
        folders.append(Path(onnx.__file__).resolve().parent / "backend" / "test")
    elif Path(suite).is_dir():
        folders.append(Path(suite).resolve())
    files: list[Path] = []
    if results is not None:
        (folders if apart else files).append(results.resolve())
    return Isolation(tuple(folders), tuple(files))


@functools.cache
def check() -> None:
    """Make a sandbox once, to see whether that works.

    Raises:
        NoIsolationError: it does not.
    """
    try:
        done = subprocess.run([*_bwrap(), "--", "true"], capture_output=True, timeout=TRIAL, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        raise NoIsolationError(f"--isolate: bwrap created no sandbox within {TRIAL:g} s") from None
    if done.returncode:
        reason = line(done.stderr.decode("utf-8", "replace")) or f"it exits with status {done.returncode}"
        raise NoIsolationError(
            f"--isolate: bwrap cannot create a sandbox here ({reason}); it needs user namespaces, which this system or "
            "this container does not allow; leave the option out, or run where they are allowed"
        )


def _bwrap() -> list[str]:
    """Return the words that begin every sandbox."""
    path = shutil.which("bwrap")
    if path is None:
        raise NoIsolationError(
            "--isolate needs bubblewrap, whose program bwrap is not installed; install it (Linux only), or "
            "leave the option out"
        )
    return [path, "--ro-bind", "/", "/", "--unshare-all", "--dev", "/dev", "--proc", "/proc"]


def _shown(hidden: Iterable[Path], paths: Iterable[Path]) -> Iterator[str]:
    """Yield the words that show the needed paths within hidden folders."""
    for path in _outermost(paths, hidden):
        yield from ("--ro-bind-try", str(path), str(path))


def _outermost(paths: Iterable[Path], hidden: Iterable[Path]) -> list[Path]:
    """Return the paths within hidden folders, without those that are shown together with another of them.

    A path that is shown already cannot be bound again: it may be a link, as an interpreter in its environment is.
    """
    folders = list(hidden)
    shown: list[Path] = []
    for path in sorted(dict.fromkeys(paths), key=lambda path: len(path.parts)):
        around_it = [folder for folder in folders if folder in path.parents]
        innermost = max((len(folder.parts) for folder in around_it), default=0)
        if around_it and not any(other in path.parents and len(other.parts) > innermost for other in shown):
            shown.append(path)
    return shown


def _needed(command: Sequence[str]) -> list[Path]:
    """Return the paths that a command needs: the adapter, its interpreter, and the folders of its modules."""
    program = shutil.which(command[0])
    named: Iterable[str] = [*([program] if program else []), *command[1:]]
    imported = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    paths = [Path(word).absolute() for word in (*named, *filter(None, imported)) if Path(word).exists()]
    homes = [home for path in (*paths[:1], Path(sys.executable)) for home in _homes(path)]
    return list(dict.fromkeys([BACKENDS, BACKENDS.resolve(), *homes, *paths]))


def _homes(program: Path) -> Iterator[Path]:
    """Yield the folders of the environment of an interpreter, by its name and with links resolved."""
    for path in (program, program.resolve()):
        if path.parent.name == "bin" and path.parent.parent != Path("/usr"):
            yield path.parent.parent


def _without(file: Path, needed: Sequence[Path]) -> Iterator[str]:
    """Yield the arguments that hide a file, which need not exist yet, but not the other files that are needed."""
    folder = file.parent
    yield from ("--tmpfs", str(folder))
    if not any(path.is_relative_to(folder) for path in needed):
        return
    entries = [entry for entry in folder.iterdir() if entry != file]
    if len(entries) > MOST_ENTRIES or folder == Path("/"):
        raise NoIsolationError(
            f"--isolate hides the results file {file}, but adapters need its folder; name a file in another folder"
        )
    for entry in entries:
        yield from ("--ro-bind-try", str(entry), str(entry))
