# SPDX-License-Identifier: Apache-2.0
"""Makes environments for runtimes in JavaScript with npm, each once, in the user's cache folder.

The needs of an adapter in JavaScript are data in `backends/NAME.toml`:

    npm = "onnxruntime-node"    # the package; NAME==VERSION names its version
    version = "1.30.0"          # the version of NAME alone
    node = ">=20"               # versions of Node.js

    implementation = "onnxruntime"  # as in python_environment.py

    [environment]               # variables of the adapter process
    NODE_OPTIONS = "--no-warnings"

`backends/NAME.lock` in the same folder is npm's package-lock.json of that version: it pins a version and a digest of
every dependency. For another version, the dependencies are resolved again.

npm copies: an environment takes some hundred MB and some seconds. So every environment is kept and never changed, also
one without a lock.
"""

from __future__ import annotations

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
from packaging.version import Version

from onnx_conformance.backends import cache
from onnx_conformance.base import under_test
from onnx_conformance.base.package import BACKENDS, lock_of
from onnx_conformance.base.verdict import clean
from onnx_conformance.base.verdict import line as line_of
from onnx_conformance.environments import kept_environment
from onnx_conformance.environments.kept_environment import NoEnvironmentError

if TYPE_CHECKING:
    from collections.abc import Mapping

LAUNCHER = BACKENDS / "serve_node.py"
HERE = (
    "--no-workspaces",  # Else npm searches parent folders for a project with workspaces, and for its .npmrc.
    "--no-global",
    "--location=project",
)
"""Keeps npm in the folder that it runs in; `--prefix` would too, but ignores the settings of the machine."""

INSTALL = (
    *HERE,
    "--ignore-scripts",  # The scripts of these packages download files for devices that are not tested here.
    "--no-audit",
    "--no-fund",
    "--prefer-offline",
    "--fetch-retries=1",  # Without a network, the default of two takes more than a minute.
    "--loglevel=error",
)
ENDS = ("at ", "A complete log", "Note that", "If you are behind")
"""Beginnings of lines of npm that do not contain the reason; neither do the lines after them."""
VERSION = re.compile(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?")
GET_NODE = "install Node.js, which includes npm: https://nodejs.org"


@dataclass(frozen=True)
class Needs:
    """The requirements of an adapter in JavaScript.

    Attributes:
        name: of the adapter.
        package: of the runtime; NAME==VERSION names its version.
        version: that was tested.
        node: versions of Node.js that it runs on.
        environment: variables of its process.
        implementation: of the answers; several packages may share one.
        lock: the package-lock.json that `version` was tested with; None: it has none.
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
        """Whether its environment exists."""
        return cache.user_folder() is not None and _place(self.of(), self.lock).is_dir()

    def of(self, version: str = "") -> str:
        """Return the requirement of a version, or of the tested one, as npm writes it.

        Raises:
            NoEnvironmentError: it is not a version.
        """
        number = version or self.version
        if not VERSION.fullmatch(number):  # To npm "1.30" is a range, and it installs the newest of it.
            raise NoEnvironmentError(
                "not-an-npm-version",
                f"{self.name}=={number}: {number!r} is not a version of an npm package, which has three numbers; "
                f"write {self.name}=={self.version}",
            )
        return f"{self.package}@{number}"

    def lock_of(self, version: str = "") -> Path | None:
        """Return the lock file of a version, or of the tested one; None if npm resolves the dependencies again."""
        return self.lock if version in {"", self.version} else None


@functools.cache
def needs(name: str) -> Needs | None:
    """Return the requirements of an adapter, or None if it is not in JavaScript."""
    path = BACKENDS / f"{name}.toml"
    if not under_test.may_be_adapter(name) or not path.with_suffix(".mjs").is_file() or not path.is_file():
        return None
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return Needs(
        name=name,
        package=table["npm"],
        version=table["version"],
        node=table["node"],
        environment=table.get("environment", {}),
        implementation=table.get("implementation", name),
        lock=lock_of(path),
    )


def names() -> set[str]:
    """Return the names of the adapters in JavaScript: those with a data file."""
    scripts = BACKENDS.glob("*.mjs")
    return {path.stem for path in scripts if path.with_suffix(".toml").is_file()}


def command(needed: Needs, version: str = "") -> tuple[str, ...]:
    """Return the command that starts an adapter; makes its environment where that does not exist.

    Raises:
        NoEnvironmentError: Node.js or npm is missing or too old, or npm cannot make the environment.
    """
    requirement = needed.of(version)
    program = node(needed)
    script = BACKENDS / f"{needed.name}.mjs"
    return (sys.executable, str(LAUNCHER), program, str(script), str(environment(requirement, needed.lock_of(version))))


def node(needed: Needs) -> str:
    """Return the path of Node.js.

    Raises:
        NoEnvironmentError: it is not installed, does not run, or is too old.
    """
    program = shutil.which("node")
    if program is None:
        raise NoEnvironmentError(
            "node-missing", f"{needed.name} needs Node.js {needed.node}, which is not installed; {GET_NODE}"
        )
    text = _run([program, "--version"]).stdout.strip()
    try:
        number = text.removeprefix("v").partition("-")[0]  # Without the suffix of a nightly build.
        good = SpecifierSet(needed.node).contains(Version(number))
    except ValueError:
        good = False
    if not good:
        version = clean(text, 40) or "no version"
        raise NoEnvironmentError(
            "node-too-old", f"{needed.name} needs Node.js {needed.node}, but {program} reports {version}; {GET_NODE}"
        )
    return program


def missing(needed: Needs) -> str:
    """Return why the environment of an adapter cannot be made, as a sentence; empty: it can."""
    try:
        node(needed)
        path(needed.of())
    except NoEnvironmentError as error:
        return str(error)
    return ""


@functools.cache
def environment(requirement: str, lock: Path | None = None) -> Path:
    """Return a folder whose node_modules contains a requirement.

    Args:
        requirement: PACKAGE@VERSION.
        lock: a package-lock.json of it; None: npm resolves its dependencies.

    Raises:
        NoEnvironmentError: npm is missing, or cannot make it.
    """
    place = _place(requirement, lock)
    if place.is_dir():
        return place
    npm = path(requirement)

    def install(new: Path) -> None:
        put_manifest(new, requirement if lock else "")
        if lock:
            (new / "package-lock.json").write_bytes(lock.read_bytes())
        done = _run([npm, *(("ci", *INSTALL) if lock else ("install", *INSTALL, requirement))], new)
        if done.returncode or not (new / "node_modules").is_dir():
            reason = _reason(done.stderr or done.stdout) or "no reason reported"
            versions = f" with the versions of {lock.name}" if lock else ""
            raise NoEnvironmentError(
                "npm-failed", f"npm cannot create an environment for {requirement}{versions}: {reason}"
            )

    kept_environment.make(place, requirement, install)
    return place


def put_manifest(folder: Path, requirement: str = "") -> None:
    """Write a package.json into a folder, so that npm uses this project, and none in a parent folder.

    Args:
        folder: in which npm will run.
        requirement: PACKAGE@VERSION that it depends on; empty: nothing.
    """
    package, _, version = requirement.rpartition("@")
    dependencies = {package: version} if package else {}
    text = json.dumps({"name": "environment", "private": True, "dependencies": dependencies})
    (folder / "package.json").write_text(text, encoding="utf-8")


def _reason(text: str) -> str:
    """Return the reason in an error of npm on one line, without the stack and the advice after it."""
    lines = [line.strip().removeprefix("npm error").strip() for line in clean(text).splitlines()]
    end = next((index for index, line in enumerate(lines) if line.startswith(ENDS)), len(lines))
    return line_of(" ".join(" ".join(lines[:end]).split()), 400)


def versions(needed: Needs) -> list[str]:
    """Return the versions of a package that the registry has.

    Raises:
        NoEnvironmentError: npm is missing, or cannot list them.
    """
    words = [path(needed.package), "view", *HERE, needed.package, "versions", "--json"]
    with tempfile.TemporaryDirectory(prefix="onnx-conformance-") as folder:
        put_manifest(Path(folder))
        done = _run(words, Path(folder))
    try:
        listed = json.loads(done.stdout) if not done.returncode else None
    except ValueError:
        listed = None
    if not isinstance(listed, list | str):
        reason = _reason(done.stderr or done.stdout) or "no reason reported"
        raise NoEnvironmentError("npm-lists-no-versions", f"npm cannot list the versions of {needed.package}: {reason}")
    return [str(item) for item in ([listed] if isinstance(listed, str) else listed)]


def path(requirement: str) -> str:
    """Return the path of npm.

    Raises:
        NoEnvironmentError: it is not installed.
    """
    program = shutil.which("npm")
    if program is None:
        raise NoEnvironmentError(
            "npm-missing", f"the environment for {requirement} needs npm, which is not installed; {GET_NODE}"
        )
    return program


def _place(requirement: str, lock: Path | None = None) -> Path:
    """Return the folder of the environment of a requirement; each lock, and no lock, has its own.

    Raises:
        NoEnvironmentError: there is no folder for it.
    """
    locked = f"+lock-{hashlib.sha256(lock.read_bytes()).hexdigest()[:16]}" if lock else ""
    return kept_environment.place("npm", f"{requirement.replace('/', '+')}{locked}", requirement)


def _run(words: list[str], folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run node or npm to its end; a program that cannot be run counts as one that fails."""
    try:
        return subprocess.run(  # noqa: S603 - the user's node or npm, with names from the adapter's data
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
