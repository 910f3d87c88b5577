"""Environments of their own for runtimes in JavaScript: npm makes them, once, in the user's cache folder.

What an adapter in JavaScript needs lies beside it as data, `backends/NAME.toml`:

    npm = "onnxruntime-node"    # the package, whose version NAME==VERSION names
    version = "1.30.0"          # of which NAME alone stands
    node = ">=20"               # of Node.js

    implementation = "onnxruntime"  # as in environments.py

    [environment]               # variables of its process
    NODE_OPTIONS = "--no-warnings"

`backends/NAME.lock` beside it is npm's package-lock.json of that version: one version and one digest of everything that
the package brings. Another version is resolved anew.

Unlike uv, npm copies: an environment is some hundred MB and some seconds, for each process that asks for one. So it is
kept, under a name that says all that is in it, and is never changed: it comes to its place whole, or not at all.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
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
from packaging.version import InvalidVersion, Version

import backends
from backends import cache
from harness.execution.python_environment import NoEnvironmentError
from harness.verdict import clean
from harness.verdict import line as line_of

if TYPE_CHECKING:
    from collections.abc import Mapping

LAUNCHER = Path(backends.__file__).with_name("serve_node.py")
HERE = (
    "--no-workspaces",  # Else npm looks above the folder for a project that it may be a part of, and for its .npmrc.
    "--no-global",
    "--location=project",
)
"""What keeps npm to the folder that it runs in; `--prefix` would, but has it miss the machine's own settings."""

INSTALL = (
    *HERE,
    "--ignore-scripts",  # What these packages run there downloads, for devices that are not tested here.
    "--no-audit",
    "--no-fund",
    "--prefer-offline",
    "--fetch-retries=1",  # Where there is no network, its own two take more than a minute.
    "--loglevel=error",
)
ENDS = ("at ", "A complete log", "Note that", "If you are behind")
"""What begins a line of npm's after which nothing says why."""
VERSION = re.compile(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?")
GET_NODE = "install Node.js, which has npm beside it: https://nodejs.org"


@dataclass(frozen=True)
class Needs:
    """What an adapter in JavaScript needs.

    Attributes:
        name: of the adapter.
        package: whose version may be asked for.
        version: that was tried.
        node: versions of Node.js that it runs on.
        environment: variables of its process.
        implementation: whose answers it gives.
        lock: the package-lock.json that `version` was tried with; None: it has none.
    """

    name: str
    package: str
    version: str
    node: str
    environment: Mapping[str, str] = field(default_factory=dict)
    implementation: str = ""
    lock: Path | None = None

    @property
    def here(self) -> bool:
        """Whether its environment was made before."""
        return cache.user_folder() is not None and _kept(self.of(), self.lock).is_dir()

    def of(self, version: str = "") -> str:
        """Return the requirement of a version, or of the one that was tried, as npm writes it.

        Raises:
            NoEnvironmentError: it is no version.
        """
        asked = version or self.version
        if not VERSION.fullmatch(asked):  # To npm "1.30" is a range, of which it takes the newest.
            raise NoEnvironmentError(
                f"{self.name}=={asked}: {asked!r} is no version of an npm package, which has three numbers; "
                f"write {self.name}=={self.version}"
            )
        return f"{self.package}@{asked}"

    def lock_of(self, version: str = "") -> Path | None:
        """Return the lock of a version, or of the one that was tried; None where it is resolved anew."""
        return self.lock if version in {"", self.version} else None


@functools.cache
def needs(name: str) -> Needs | None:
    """Return what the adapter of a name needs, or None where it is not one in JavaScript."""
    path = Path(backends.__file__).with_name(f"{name}.toml")
    if not path.with_suffix(".mjs").is_file() or not path.is_file():
        return None
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return Needs(
        name=name,
        package=table["npm"],
        version=table["version"],
        node=table["node"],
        environment=table.get("environment", {}),
        implementation=table.get("implementation", name),
        lock=lock if (lock := path.with_suffix(".lock")).is_file() else None,
    )


def names() -> set[str]:
    """Return the names of the adapters in JavaScript: those that have data beside them."""
    found = Path(backends.__file__).parent.glob("*.mjs")
    return {path.stem for path in found if path.with_suffix(".toml").is_file()}


def command(needed: Needs, version: str = "") -> tuple[str, ...]:
    """Return the command that starts an adapter, whose environment is made where it is not here.

    Raises:
        NoEnvironmentError: Node.js or npm is missing or too old, or npm cannot make the environment.
    """
    requirement = needed.of(version)
    runs = node(needed)
    script = Path(backends.__file__).with_name(f"{needed.name}.mjs")
    return (sys.executable, str(LAUNCHER), runs, str(script), str(environment(requirement, needed.lock_of(version))))


def node(needed: Needs) -> str:
    """Return the path of Node.js.

    Raises:
        NoEnvironmentError: it is not installed, does not run, or is too old.
    """
    found = shutil.which("node")
    if found is None:
        raise NoEnvironmentError(f"{needed.name} runs in Node.js {needed.node}, which is not here; {GET_NODE}")
    said = _run([found, "--version"]).stdout.strip()
    try:
        number = said.removeprefix("v").partition("-")[0]  # What is behind it in a nightly is no version of ours.
        good = SpecifierSet(needed.node).contains(Version(number))
    except InvalidVersion:
        good = False
    if not good:
        told = clean(said, 40) or "no version"
        raise NoEnvironmentError(f"{needed.name} runs in Node.js {needed.node}; {found} is {told}; {GET_NODE}")
    return found


def missing(needed: Needs) -> str:
    """Return what stands in the way of making the environment of an adapter, as a sentence; empty: nothing."""
    try:
        node(needed)
        path(needed.of())
    except NoEnvironmentError as error:
        return str(error)
    return ""


@functools.cache
def environment(requirement: str, lock: Path | None = None) -> Path:
    """Return a folder in whose node_modules a requirement lies.

    Args:
        requirement: PACKAGE@VERSION.
        lock: a package-lock.json of it; None: what it brings is as npm resolves it.

    Raises:
        NoEnvironmentError: npm is missing, or cannot make it.
    """
    kept = _kept(requirement, lock)
    if kept.is_dir():
        return kept
    npm = path(requirement)
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        making = tempfile.TemporaryDirectory(prefix=".making-", dir=kept.parent)
    except OSError as error:
        raise NoEnvironmentError(
            f"an environment of {requirement} is kept in {kept.parent}, which cannot be written ({error.strerror}); "
            "name another folder in XDG_CACHE_HOME"
        ) from None
    with making as folder:
        made = Path(folder, "made")
        made.mkdir()
        put_manifest(made, requirement if lock else "")
        if lock:
            shutil.copyfile(lock, made / "package-lock.json")
        done = _run([npm, *(("ci", *INSTALL) if lock else ("install", *INSTALL, requirement))], made)
        if done.returncode or not (made / "node_modules").is_dir():
            said = _told(done.stderr or done.stdout) or "it does not say why"
            versions = f" with the versions of {lock.name}" if lock else ""
            raise NoEnvironmentError(f"npm cannot make an environment of {requirement}{versions}: {said}")
        with contextlib.suppress(OSError):  # Another process was faster, and has made the same.
            made.rename(kept)
    if not kept.is_dir():
        raise NoEnvironmentError(f"the environment of {requirement} cannot be moved to {kept}")
    return kept


def put_manifest(folder: Path, requirement: str = "") -> None:
    """Put a package.json into a folder, so that npm takes that for its project, and none above it.

    Args:
        folder: that npm will run in.
        requirement: PACKAGE@VERSION that it depends on; empty: nothing.
    """
    package, _, version = requirement.rpartition("@")
    wanted = {package: version} if package else {}
    text = json.dumps({"name": "environment", "private": True, "dependencies": wanted})
    (folder / "package.json").write_text(text, encoding="utf-8")


def _told(text: str) -> str:
    """Return what npm says of an error on one line, without the stack and the advice behind it."""
    lines = [line.strip().removeprefix("npm error").strip() for line in clean(text).splitlines()]
    end = next((index for index, line in enumerate(lines) if line.startswith(ENDS)), len(lines))
    return line_of(" ".join(" ".join(lines[:end]).split()), 400)


def versions(needed: Needs) -> list[str]:
    """Return the versions of a package that the registry has.

    Raises:
        NoEnvironmentError: npm is missing, or cannot tell.
    """
    words = [path(needed.package), "view", *HERE, needed.package, "versions", "--json"]
    with tempfile.TemporaryDirectory(prefix="onnx-conformance-") as folder:
        put_manifest(Path(folder))
        done = _run(words, Path(folder))
    try:
        said = json.loads(done.stdout) if not done.returncode else None
    except ValueError:
        said = None
    if not isinstance(said, list | str):
        told = _told(done.stderr or done.stdout) or "it does not say why"
        raise NoEnvironmentError(f"npm cannot tell which versions of {needed.package} there are: {told}")
    return [str(item) for item in ([said] if isinstance(said, str) else said)]


def path(wanted: str) -> str:
    """Return the path of npm.

    Raises:
        NoEnvironmentError: it is not installed.
    """
    found = shutil.which("npm")
    if found is None:
        raise NoEnvironmentError(f"an environment of {wanted} is made by npm, which is not here; {GET_NODE}")
    return found


def _kept(requirement: str, lock: Path | None = None) -> Path:
    """Return where the environment of a requirement lies, or will: each lock, and none, has a place of its own.

    Raises:
        NoEnvironmentError: there is no place for it.
    """
    above = cache.user_folder()
    if above is None:
        raise NoEnvironmentError(f"an environment of {requirement} has no place; name a folder in XDG_CACHE_HOME")
    locked = f"+lock-{hashlib.sha256(lock.read_bytes()).hexdigest()[:16]}" if lock else ""
    return above / "npm" / f"{requirement.replace('/', '+')}{locked}"


def _run(words: list[str], folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run node or npm to its end; one that cannot be run is as one that fails."""
    try:
        return subprocess.run(  # noqa: S603 - node or npm of the user, and what the adapter's own data names
            words,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except OSError as error:
        return subprocess.CompletedProcess(words, 1, "", f"{words[0]}: {error.strerror}")
