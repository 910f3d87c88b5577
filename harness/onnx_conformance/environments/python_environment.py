# SPDX-License-Identifier: Apache-2.0
"""Makes environments for runtimes in Python with uv.

The needs of an adapter are data in `backends/NAME.toml`:

    distribution = "onnxruntime"    # NAME==VERSION names its version
    import = "onnxruntime"          # the module that shows whether it is installed here
    version = "1.31.1"              # the version of NAME alone, where it is not installed here
    requirements = ["sympy"]        # in addition to the requirements of every adapter; {version} is the requested one
    python = ">=3.11"

    [environment]                   # variables of the adapter process
    OMP_NUM_THREADS = "1"

    implementation = "onnxruntime"  # which it is a binding of; default: itself
    folds_with = "onnx_reference"   # the runtime with which a tool evaluates constants; default: none

    [[limits]]                      # documented limits, whose refusals are not findings; see `limits`
    sentence = "shapes must be known when it compiles"
    link = "https://example.org"
    forms = ["symbolic"]

    [[older]]                       # the requirements of older versions instead
    below = "1.19"
    requirements = ["numpy<2"]

`backends/NAME.lock` beside it pins everything that those requirements install, with the digests of the files; see
`python_lock`. So the tested version runs with the same files in a year. uv checks the digests, and installs wheels
only, because a source distribution would run programs that no lock names. Such an environment is kept for later runs.

Another version has no lock. uv resolves its dependencies again, and its environment exists as long as the harness runs.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_version
from packaging.version import Version

from onnx_conformance.backends.option import EP, provider_file
from onnx_conformance.base import under_test
from onnx_conformance.base.package import BACKENDS, lock_of
from onnx_conformance.base.verdict import clean
from onnx_conformance.environments import kept_environment, python_lock
from onnx_conformance.environments.kept_environment import NoEnvironmentError
from onnx_conformance.environments.limits import Limit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

EVERY = ("numpy", "ml_dtypes!=0.7.0")
"""Packages that every adapter in Python needs for the wire format; pyproject.toml has the reason for the exception."""

OLDEST_PYTHON = "3.11"
"""The oldest Python that locks are for."""

HOLD = "import sys; print(sys.executable, flush=True); sys.stdin.read()"
"""Prints the interpreter's path; uv removes the environment when the input of this program ends."""
IDENTITY = "import sys, sysconfig; print(sys.base_prefix, sys.version, sysconfig.get_platform(), sys.abiflags)"
"""Prints a text that is different for every other Python."""
HAS = "import importlib.metadata, sys; importlib.metadata.distribution(sys.argv[1])"
"""Ends with status 0 where a distribution is installed."""
FINDS = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)"
"""Ends with status 0 where a module can be imported."""


@dataclass(frozen=True)
class Needs:
    """The requirements of an adapter.

    Attributes:
        name: of the adapter.
        distribution: of the runtime; NAME==VERSION names its version.
        module: that the distribution installs.
        version: that was tested.
        requirements: in addition; "{version}" in one is replaced by the requested version.
        older: requirements of older versions instead: (below, requirements).
        python: that it runs on; empty: any.
        environment: variables of its process.
        implementation: of the answers; several packages may share one.
        folds_with: the backend with which a tool evaluates constants; empty: none.
        limits: the documented limits; see `environments.limits`.
        lock: the file that pins everything that `version` was tested with; None: it has none.
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
    folds_with: str = ""
    limits: tuple[Limit, ...] = ()
    lock: Path | None = None

    @property
    def interpreter(self) -> str:
        """The Python that would import it without a separate environment."""
        return sys.executable if self.module == "onnx" else of_runtimes()

    @property
    def here(self) -> bool:
        """Whether that Python can import the runtime."""
        return has_module(self.interpreter, self.module)

    def of(self, version: str = "") -> tuple[str, ...]:
        """Return the requirements of a version, or of the tested one.

        Raises:
            NoEnvironmentError: it is not a version.
        """
        number = version or self.version
        try:
            parsed = Version(number)
        except ValueError:
            raise NoEnvironmentError(
                "not-a-python-version",
                f"{self.name}=={number}: {number!r} is not a version; write {self.name}=={self.version}",
            ) from None
        more = next((listed for below, listed in self.older if parsed < Version(below)), self.requirements)
        return (f"{self.distribution}=={number}", *EVERY, *(text.replace("{version}", number) for text in more))

    def locks_of(self, version: str = "") -> tuple[Path, ...]:
        """Return the lock file of a version, or of the tested one; empty if uv resolves the dependencies again."""
        same = canonicalize_version(version or self.version) == canonicalize_version(self.version)
        return (self.lock,) if same and self.lock else ()


RUNTIMES = "ONNX_CONFORMANCE_PYTHON"
"""Variable: the Python of runtimes, where it is not that of the harness; see `onnx_environment`."""


def of_runtimes() -> str:
    """Return the Python in which runtimes are installed: that of the harness, unless it runs with --onnx."""
    return os.environ.get(RUNTIMES) or sys.executable


def _succeeds(python: str, program: str, word: str) -> bool:
    """Return whether a Python program ends with status 0."""
    words = [python, "-c", program, word]
    return not subprocess.run(words, capture_output=True, check=False).returncode  # noqa: S603 - a Python


@functools.cache
def has_module(python: str, module: str) -> bool:
    """Return whether a Python can import a module."""
    if python != sys.executable:
        return _succeeds(python, FINDS, module)
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


@functools.cache
def has_distribution(python: str, distribution: str) -> bool:
    """Return whether a distribution is installed for a Python."""
    return _succeeds(python, HAS, distribution)


@functools.cache
def needs(name: str) -> Needs | None:
    """Return the requirements of an adapter, or None if it has no data file or is in JavaScript."""
    path = BACKENDS / f"{name}.toml"
    if not under_test.may_be_adapter(name) or not path.is_file() or path.with_suffix(".mjs").is_file():
        return None
    return _read(path)


PRODUCERS = BACKENDS / "producers"
"""The folder of the exporters that the command `export` tests."""


@functools.cache
def producer(name: str) -> Needs | None:
    """Return the requirements of an exporter in PRODUCERS; None if there is no such exporter."""
    path = PRODUCERS / f"{name}.toml"
    return _read(path) if under_test.may_be_adapter(name) and path.is_file() else None


@functools.cache
def provider(option: str) -> Needs | None:
    """Return the requirements of the execution provider that an option names; None if it names none, or needs nothing.

    Args:
        option: of a backend, such as none,ep=nxrt.

    Raises:
        NoEnvironmentError: the file lacks a key that an environment needs.
    """
    name = next((word.removeprefix(EP) for word in option.split(",") if word.startswith(EP)), "")
    path = provider_file(name)
    if not (name.endswith(".toml") or under_test.may_be_adapter(name)) or not path.is_file():
        return None
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):  # The reader of the profile reports it.
        return None
    if "distribution" not in table:
        return None
    if lacking := [key for key in ("distribution", "import", "version") if not isinstance(table.get(key), str)]:
        raise NoEnvironmentError(
            "provider-file-incomplete",
            f'{path}: its distribution needs an environment, for which the file lacks {lacking[0]} = "..."; add it, or '
            "remove distribution",
        )
    listed = table.get("requirements", [])
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        raise NoEnvironmentError(
            "provider-file-incomplete", f'{path}: requirements = {listed!r} has to be a list, such as ["onnxruntime"]'
        )
    return _read(path)


def python_of(needed: Needs) -> str:
    """Return the Python that has a runtime: the one of runtimes, or else an environment with its requirements.

    Raises:
        NoEnvironmentError: the environment cannot be made.
    """
    if has_distribution(needed.interpreter, needed.distribution):
        return needed.interpreter
    return interpreter(needed.of(), needed.python, needed.locks_of())


def _read(path: Path) -> Needs:
    name, table = path.stem, tomllib.loads(path.read_text(encoding="utf-8-sig"))
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
        folds_with=table.get("folds_with", ""),
        limits=tuple(map(Limit.of, table.get("limits", ()))),
        lock=lock_of(path),
    )


def uv() -> str:
    """Return the path of uv.

    Raises:
        NoEnvironmentError: it is not installed.
    """
    beside = Path(sys.executable).with_name("uv")
    program = str(beside) if beside.is_file() else shutil.which("uv")
    if program is None:
        raise NoEnvironmentError(
            "uv-missing", "a separate environment needs uv, which is not installed: pip install uv"
        )
    return program


def uv_environment() -> dict[str, str]:
    """Return the environment variables of uv.

    uv trusts the certificates of the machine, because many have a proxy. It compiles the files once: a runtime that
    crashes starts a thousand times, and with PYTHONDONTWRITEBYTECODE, as in many containers, would import sources.
    """
    return {"UV_NATIVE_TLS": "true", "UV_COMPILE_BYTECODE": "true", **os.environ}


@contextlib.contextmanager
def no_project() -> Iterator[Path]:
    """Give a folder for uv's `--project`, so that uv ignores the settings of the project in the current folder.

    uv searches that folder, then each parent, up to the first with settings: these are empty. The settings of the user
    and of the machine are elsewhere, and still apply. The current folder stays, so that relative paths in uv's
    variables keep their meaning.
    """
    with tempfile.TemporaryDirectory(prefix="onnx-conformance-") as folder:
        for name in ("uv.toml", "pyproject.toml", ".python-version"):
            Path(folder, name).touch()
        yield Path(folder)


@functools.cache
def interpreter(
    requirements: tuple[str, ...], python: str = "", locks: tuple[Path, ...] = (), *, complete: bool = True
) -> str:
    """Return the Python of an environment with some requirements.

    Adapters run this Python, not uv, so that the signal which ends an adapter is visible, and starting one again costs
    no more than starting Python.

    Args:
        requirements: in the syntax of uv.
        python: versions of Python that are allowed; empty: any, or any that the locks are for.
        locks: files that pin everything that the requirements install; see `python_lock.joined`. Without one, uv
            resolves the requirements, and the environment exists until this process ends.
        complete: whether the locks pin every requirement. If not, or if the user switched the check of digests off, the
            versions in the locks are constraints, which install nothing themselves: an index whose torch needs no CUDA
            still works. The environment exists until this process ends.

    Raises:
        NoEnvironmentError: uv cannot make it, a lock does not pin a requirement, or a file has another digest.
        LockError: a lock cannot be read.
    """
    if locks and complete and verifies_hashes():
        return _locked(requirements, python, locks)
    return _resolved(requirements, python, locks)


NO_VERIFY = "UV_NO_VERIFY_HASHES"
"""Variable of uv: it checks no digests. The option --no-verify-hashes sets it."""


def verifies_hashes() -> bool:
    """Return whether the digests of files are compared with those in the locks."""
    return os.environ.get(NO_VERIFY, "").lower() in {"", "0", "false", "f", "no", "n", "off"}


def _locked(requirements: tuple[str, ...], python: str, locks: tuple[Path, ...]) -> str:
    """Return the Python of the kept environment of some locks, which is made unless it exists.

    Raises:
        NoEnvironmentError, LockError: as in `interpreter`.
    """
    names = " and ".join(lock.name for lock in locks)
    pinned = python_lock.joined(locks)
    if unmet := python_lock.unmet(pinned, requirements):
        raise NoEnvironmentError(
            "lock-incomplete",
            f"{names} does not pin {', '.join(unmet)}; write it again with `nox -s locks`, or use --no-verify-hashes",
        )
    text = "".join(pin.text for pin in pinned)
    wanted, identity = _python(python or f">={OLDEST_PYTHON}")
    content = f"{', '.join(requirements)} with the versions of {names}"
    digest = hashlib.sha256(json.dumps([text, identity]).encode()).hexdigest()
    place = kept_environment.place("python", f"{locks[0].stem}+lock-{digest[:16]}", content)
    kept_environment.make(place, content, lambda folder: _install(folder, wanted, text, content))
    return str(place / "bin" / "python")


def _install(folder: Path, python: str, lock: str, content: str) -> None:
    """Install the packages of a lock into an empty folder, which may be renamed afterwards.

    Raises:
        NoEnvironmentError: uv cannot.
    """
    with no_project() as project:
        file = project / "lock.txt"
        file.write_text(lock, encoding="utf-8")
        making = ["venv", f"--project={project}", "--relocatable", f"--python={python}", str(folder)]
        installing = [
            "pip",
            "install",
            "--quiet",
            f"--project={project}",
            f"--python={folder}",
            "--require-hashes",
            "--only-binary=:all:",
            f"--requirement={file}",
        ]
        for words in (making, installing):
            done = _run_uv(words)
            if not done.returncode:
                continue
            if found := MISMATCH.search(done.stderr):
                raise NoEnvironmentError(
                    "hash-mismatch",
                    f"the package index has no file of {found['package']} with a digest of the lock, so uv installed "
                    f"nothing for {content}; if the index contains custom builds, use --no-verify-hashes",
                )
            raise NoEnvironmentError(
                "environment-failed",
                f"uv cannot create an environment for {content}: {_reason(done.stderr).rstrip('.')}; if the index "
                "contains custom builds, use --no-verify-hashes, or create an environment yourself and pass its "
                "Python with --python PATH",
            )


MISMATCH = re.compile(r"(?:Hash mismatch for|no trusted hash was provided for:) `(?P<package>[^`]+)`")
"""How uv reports a changed file, and a package that has only files with other digests."""


def _python(wanted: str) -> tuple[str, str]:
    """Return a Python of some versions, in the syntax of uv, and a text that is different for every other Python.

    This is the Python of the harness if it has such a version, because uv takes half a second to find another one.

    Raises:
        NoEnvironmentError: uv finds none.
    """
    if SpecifierSet(wanted).contains(platform.python_version(), prereleases=True):
        return sys.executable, _identity(sys.executable)
    with no_project() as folder:
        made = _run_uv(["venv", f"--project={folder}", f"--python={wanted}", str(folder / "python")])
        if made.returncode:
            raise NoEnvironmentError("python-not-found", f"uv finds no Python {wanted}: {_reason(made.stderr)}")
        return wanted, _identity(str(folder / "python" / "bin" / "python"))


@functools.cache
def _identity(python: str) -> str:
    """Return a text that is equal only for environments of the same Python.

    Raises:
        NoEnvironmentError: it cannot be run.
    """
    try:
        words = [python, "-I", "-c", IDENTITY]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout  # noqa: S603 - a Python
    except (OSError, subprocess.CalledProcessError) as error:
        raise NoEnvironmentError("python-not-usable", f"{python} cannot be run: {clean(str(error))}") from None


def _resolved(requirements: tuple[str, ...], python: str, locks: tuple[Path, ...]) -> str:
    """Return the Python of an environment that uv resolves; it exists until this process ends.

    Raises:
        NoEnvironmentError, LockError: as in `interpreter`.
    """
    with no_project() as folder:
        words = [uv(), "run", f"--project={folder}", "--no-project", "--isolated"]
        if python or locks:
            words += ["--python", python or f">={OLDEST_PYTHON}"]
        for requirement in requirements:
            words += ["--with", requirement]
        if locks:
            pinned = python_lock.joined(locks)
            (folder / "lock.txt").write_text("".join(f"{pin.requirement}\n" for pin in pinned), encoding="utf-8")
            constrained = folder / "constrained.txt"  # `uv run` has no --constraints, but reads them in such a file.
            constrained.write_text("-c lock.txt\n")
            words += ["--with-requirements", str(constrained)]
        try:
            return _start_holder(words)
        except NoEnvironmentError as error:
            text = f"uv cannot create an environment for {', '.join(requirements)}"
            if locks:
                reason = str(error).rstrip(".")
                text += (
                    f" with the versions of {' and '.join(lock.name for lock in locks)}: {reason}; create one yourself "
                    "and pass its Python with --python PATH"
                )
            else:
                text += f": {error}"
            raise NoEnvironmentError("environment-failed", text) from None


def _run_uv(words: list[str]) -> subprocess.CompletedProcess[str]:
    """Run uv to its end."""
    return subprocess.run(  # noqa: S603 - the user's uv
        [uv(), *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
        env=uv_environment(),
    )


def _reason(text: str) -> str:
    """Return an error of uv on one line, without its warnings."""
    lines = [line for line in clean(text).split("\n") if not line.startswith("warning:")]
    return " ".join(" ".join(lines).split()) or "no reason reported"


def _start_holder(words: list[str]) -> str:
    """Run uv, and return the path of Python in the environment that it makes; that exists until this process ends.

    Raises:
        NoEnvironmentError: uv makes none; the text is its reason.
    """
    with tempfile.TemporaryFile() as stderr:
        holder = subprocess.Popen(  # noqa: S603 - uv, with names from the adapter's data
            [*words, "python", "-c", HOLD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=uv_environment(),
        )
        atexit.register(_end_holder, holder)
        assert holder.stdout is not None  # noqa: S101 - PIPE was asked for
        with holder.stdout:
            path = holder.stdout.readline().decode().strip()
        if path:
            return path
        _end_holder(holder)
        stderr.seek(0)
        reason = _reason(stderr.read().decode("utf-8", "replace"))
    raise NoEnvironmentError("uv-failed", reason)


def _end_holder(holder: subprocess.Popen[bytes]) -> None:
    """End the process that keeps an environment, which uv then removes."""
    with contextlib.suppress(OSError):
        assert holder.stdin is not None  # noqa: S101
        holder.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        holder.wait(5)
