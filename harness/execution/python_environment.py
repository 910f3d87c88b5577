"""Environments of their own for runtimes: uv makes them, they last as long as the harness runs, and nothing is left.

What an adapter needs lies beside it as data, `backends/NAME.toml`:

    distribution = "onnxruntime"    # whose version NAME==VERSION names
    import = "onnxruntime"          # what shows that it is here already
    version = "1.31.1"              # of which NAME alone stands, where it is not here
    requirements = ["sympy"]        # beside it, and beside what every adapter needs; {version} is the one asked for
    python = ">=3.11"

    [environment]                   # variables of its process
    OMP_NUM_THREADS = "1"

    implementation = "onnxruntime"  # whose binding to another language it is; not given: it is one of its own

    [[older]]                       # what an older version needs instead of that
    below = "1.19"
    requirements = ["numpy<2"]

`backends/NAME.lock` beside it names one version of everything that those requirements bring, so that the version that
was tried is tried with the same packages in a year. Another version is resolved anew.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_version
from packaging.version import InvalidVersion, Version

import backends
from harness.errors import HarnessError
from harness.verdict import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

EVERY = ("numpy", "ml_dtypes")
"""What the wire format of an adapter in Python needs."""

OLDEST_PYTHON = "3.11"
"""Of which, and of every newer one, a lock names the versions."""

HOLD = "import sys; print(sys.executable, flush=True); sys.stdin.read()"
"""The interpreter's path, for whoever starts it; the environment is gone when its input ends."""


class NoEnvironmentError(HarnessError):
    """An environment cannot be made; the text says of what, why, and what to do."""


@dataclass(frozen=True)
class Needs:
    """What the adapter of a name needs.

    Attributes:
        name: of the adapter.
        distribution: whose version may be asked for.
        module: what is imported where it is installed.
        version: that was tried.
        requirements: beside it; "{version}" in one stands for the version that is asked for.
        older: what versions below one need instead: (below, requirements).
        python: that it runs on; empty: any.
        environment: variables of its process.
        implementation: whose answers it gives; several packages may be one.
        lock: the file of the versions that `version` was tried with; None: it has none.
    """

    name: str
    distribution: str
    module: str
    version: str
    requirements: tuple[str, ...] = ()
    older: tuple[tuple[str, tuple[str, ...]], ...] = ()
    python: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    implementation: str = ""
    lock: Path | None = None

    @property
    def here(self) -> bool:
        """Whether the runtime can be imported in this environment."""
        try:
            return importlib.util.find_spec(self.module) is not None
        except (ImportError, ValueError):
            return False

    def of(self, version: str = "") -> tuple[str, ...]:
        """Return the requirements of a version, or of the one that was tried.

        Raises:
            NoEnvironmentError: it is no version.
        """
        asked = version or self.version
        try:
            wanted = Version(asked)
        except InvalidVersion:
            raise NoEnvironmentError(
                f"{self.name}=={asked}: {asked!r} is no version; write {self.name}=={self.version}"
            ) from None
        beside = next((found for below, found in self.older if wanted < Version(below)), self.requirements)
        return (f"{self.distribution}=={asked}", *EVERY, *(text.replace("{version}", asked) for text in beside))

    def lock_of(self, version: str = "") -> Path | None:
        """Return the lock of a version, or of the one that was tried; None where it is resolved anew."""
        same = canonicalize_version(version or self.version) == canonicalize_version(self.version)
        return self.lock if same else None


@functools.cache
def needs(name: str) -> Needs | None:
    """Return what the adapter of a name needs, or None where nothing is known of it.

    Of an adapter in JavaScript npm.py knows.
    """
    path = Path(backends.__file__).with_name(f"{name}.toml")
    if not path.is_file() or path.with_suffix(".mjs").is_file():
        return None
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return Needs(
        name=name,
        distribution=table["distribution"],
        module=table["import"],
        version=table["version"],
        requirements=tuple(table.get("requirements", ())),
        older=tuple((row["below"], tuple(row["requirements"])) for row in table.get("older", ())),
        python=table.get("python", ""),
        environment=table.get("environment", {}),
        implementation=table.get("implementation", name),
        lock=lock if (lock := path.with_suffix(".lock")).is_file() else None,
    )


def uv() -> str:
    """Return the path of uv.

    Raises:
        NoEnvironmentError: it is not installed.
    """
    beside = Path(sys.executable).with_name("uv")
    found = str(beside) if beside.is_file() else shutil.which("uv")
    if found is None:
        raise NoEnvironmentError("an environment of its own is made by uv, which is not here: pip install uv")
    return found


def uv_environment() -> dict[str, str]:
    """Return the variables that uv runs with.

    What the machine trusts, uv trusts, for many have a proxy. It compiles what it installs, once: a runtime that
    crashes starts a thousand times, and with PYTHONDONTWRITEBYTECODE, as in many containers, would import sources.
    """
    return {"UV_NATIVE_TLS": "true", "UV_COMPILE_BYTECODE": "true", **os.environ}


@contextlib.contextmanager
def no_project() -> Iterator[Path]:
    """Give a folder which, as uv's `--project`, keeps out the settings of the project that the user happens to be in.

    uv looks for them in that folder, then in each above it, up to the first that has some: these are empty. The user's
    own settings and the machine's lie elsewhere, and apply as ever. The current folder stays, so that a path in one of
    uv's variables means what it meant.
    """
    with tempfile.TemporaryDirectory(prefix="onnx-conformance-") as folder:
        for name in ("uv.toml", "pyproject.toml", ".python-version"):
            Path(folder, name).touch()
        yield Path(folder)


@functools.cache
def interpreter(requirements: tuple[str, ...], python: str = "", lock: Path | None = None) -> str:
    """Return the Python of an environment that holds some requirements; it lasts until this process ends.

    Its path is asked for, and not run under uv, so that the signal which ends an adapter is seen as it is, and that
    starting one again costs no more than starting Python.

    Args:
        requirements: as uv takes them.
        python: versions of Python that it may have; empty: any, or any that the lock is for.
        lock: a file with the version of everything that the requirements bring; None: as uv resolves them. It binds
            what is wanted and asks for nothing itself: a package index whose torch brings no CUDA is still of use.

    Raises:
        NoEnvironmentError: uv cannot make it.
    """
    with no_project() as folder:
        words = [uv(), "run", f"--project={folder}", "--no-project", "--isolated"]
        if python or lock:
            words += ["--python", python or f">={OLDEST_PYTHON}"]
        for requirement in requirements:
            words += ["--with", requirement]
        if lock:
            shutil.copyfile(lock, folder / "lock.txt")
            constrained = folder / "constrained.txt"  # `uv run` has no --constraints, but reads them in such a file.
            constrained.write_text("-c lock.txt\n")
            words += ["--with-requirements", str(constrained)]
        try:
            return _held(words)
        except NoEnvironmentError as error:
            text = f"uv cannot make an environment of {', '.join(requirements)}"
            if lock:
                reason = str(error).rstrip(".")
                text += (
                    f" with the versions of {lock.name}: {reason}; make one yourself and name its Python: --python PATH"
                )
            else:
                text += f": {error}"
            raise NoEnvironmentError(text) from None


def _held(words: list[str]) -> str:
    """Run uv, and return the path of Python in the environment that it makes; that lasts until this process ends.

    Raises:
        NoEnvironmentError: it makes none; the text is what uv says of it.
    """
    with tempfile.TemporaryFile() as told:
        holder = subprocess.Popen(  # noqa: S603 - uv, and what the adapter's own data names
            [*words, "python", "-c", HOLD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=told,
            env=uv_environment(),
        )
        atexit.register(_let_go, holder)
        assert holder.stdout is not None  # noqa: S101 - PIPE was asked for
        with holder.stdout:
            path = holder.stdout.readline().decode().strip()
        if path:
            return path
        _let_go(holder)
        told.seek(0)
        said = clean(told.read().decode("utf-8", "replace"))
    raise NoEnvironmentError(" ".join(said.split()) or "it does not say why")


def _let_go(holder: subprocess.Popen[bytes]) -> None:
    """End the process that keeps an environment, which then is removed."""
    with contextlib.suppress(OSError):
        assert holder.stdin is not None  # noqa: S101
        holder.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        holder.wait(5)
