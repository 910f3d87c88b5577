# SPDX-License-Identifier: Apache-2.0
"""Writes locks: the versions of all packages in a runtime's environment, so a run in a year uses the same ones.

    python -m tools.locks [NAME ...]     locks of these adapters, providers (ep=NAME) or exporters
                                         (producer=NAME), or of all and the action

uv or npm resolves the data of each adapter (`backends/NAME.toml`), execution provider (`backends/providers/NAME.toml`)
and exporter (`backends/producers/NAME.toml`). The result is `NAME.lock` in the same folder. For Python, it has pinned
requirements with markers for every platform and for Python 3.11 or newer, and the digests of the wheels that these can
install (see `python_lock.py`). For Node.js, it is npm's package-lock.json, which contains digests, too. A Python
package without wheels cannot be locked, because its installation would run programs whose versions no lock names.
`action.lock` is the same for the dependencies of this project. No lock contains the address of an index: the user
chooses the index, which may be that of a company.
"""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.utils import parse_wheel_filename

from onnx_conformance.backends.option import EP
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.package import BACKENDS
from onnx_conformance.base.verdict import clean, line
from onnx_conformance.environments import node_environment, python_environment
from onnx_conformance.environments.python_lock import LockError, Pin, pins

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FOLDER = BACKENDS.resolve()  # In a checkout a link; the files next to the folder itself are needed, too.
ACTION = "action"
"""The name of the lock of this project's dependencies: `action.lock`, in the folder of action.yml."""
PLATFORM = re.compile(r"any|(many|musl)?linux[\d_]*_(x86_64|aarch64)|macosx_.*|win_(amd64|arm64)")
"""Platforms in the names of wheels."""
PYTHON = re.compile(r"(py2\.)?py3\d*-none|cp3(1[1-9]|[2-9]\d)-(cp3\d+|none)|cp3\d+-abi3")
"""Interpreters and their interfaces in the names of wheels, without those of interpreters with free threads."""
EXPORTER = "producer="
"""The word before the name of an exporter, because an adapter may have the same name."""


def of_python(requirements: Iterable[str], name: str) -> str:
    """Return the lock of some requirements, which uv resolves for every platform and Python version.

    Args:
        requirements: the requirements in the syntax of uv.
        name: the name of the file.

    Raises:
        LockError: uv finds no versions, only local ones, or no wheels.
        NoEnvironmentError: uv is not installed.
    """
    words = ["--generate-hashes", "--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"]
    made = pins(_compiled("\n".join(requirements), words, name), name)
    if not made:
        raise LockError("lock-empty", f"{name}: uv resolved the requirements to nothing")
    return f"# Written by `nox -s locks`; see tools/locks.py.\n{installable(made, name)}"


def installable(made: Sequence[Pin], name: str) -> str:
    """Return the entries of a lock with the digests of those wheels only that a supported platform can install.

    A package has wheels for Python 3.9, PyPy, 32 bits and others, whose digests would be more than half of a lock.

    Args:
        made: the entries.
        name: the name of the file.

    Raises:
        LockError: uv does not find them.
        NoEnvironmentError: uv is not installed.
    """
    text = "".join(pin.text for pin in made)
    packages = tomllib.loads(_compiled(text, ["--no-deps", "--format=pylock.toml"], name)).get("packages", ())
    wheels = [wheel for package in packages for wheel in package.get("wheels", ())]
    suitable = {
        f"sha256:{wheel['hashes']['sha256']}"
        for wheel in wheels
        if _is_suitable(wheel.get("name") or wheel["url"].rpartition("/")[2])
    }
    kept = ((pin, tuple(item for item in pin.hashes if item in suitable)) for pin in made)
    return "".join(dataclasses.replace(pin, hashes=hashes or pin.hashes).text for pin, hashes in kept)


def _is_suitable(wheel: str) -> bool:
    """Return whether CPython 3.11 or newer can install a wheel on a platform of 64 bits."""
    *_, tags = parse_wheel_filename(wheel)
    return any(PLATFORM.fullmatch(tag.platform) and PYTHON.fullmatch(f"{tag.interpreter}-{tag.abi}") for tag in tags)


def _compiled(requirements: str, words: Sequence[str], name: str) -> str:
    """Return the text that uv writes for some requirements, for every platform and Python version.

    Raises:
        LockError: uv finds no versions, or no wheels.
        NoEnvironmentError: uv is not installed.
    """
    version = f"--python-version={python_environment.OLDEST_PYTHON}"
    always = [python_environment.uv(), "pip", "compile", "-", "--universal", version, "--only-binary=:all:", "--quiet"]
    with python_environment.no_project() as folder:
        done = _run([*always, *words, f"--project={folder}"], requirements)
    if done.returncode:
        raise LockError(
            "uv-cannot-resolve", f"{name}: uv cannot resolve them: {line(' '.join(clean(done.stderr).split()), 1000)}"
        )
    return done.stdout


def of_node(needed: node_environment.Needs) -> str:
    """Return the lock of a package for Node.js, which npm resolves for every platform.

    Raises:
        LockError: npm finds no versions, or wrote their addresses.
        NoEnvironmentError: npm is not installed.
    """
    name = f"{needed.name}.lock"
    requirement = needed.of()
    with tempfile.TemporaryDirectory(prefix="onnx-conformance-") as folder:
        node_environment.put_manifest(Path(folder), requirement)
        words = [
            node_environment.path(requirement),
            "install",
            *node_environment.INSTALL,
            "--package-lock-only",
            "--lockfile-version=3",
        ]
        done = _run([*words, "--omit-lockfile-registry-resolved"], "", Path(folder))
        lock = Path(folder, "package-lock.json")
        if done.returncode or not lock.is_file():
            raise LockError(
                "npm-cannot-resolve",
                f"{name}: npm cannot resolve it: {line(' '.join(clean(done.stderr).split()), 1000)}",
            )
        text = lock.read_text(encoding="utf-8")
    if addressed := [place for place, package in packages(text, name).items() if "resolved" in package]:
        raise LockError(
            "lock-with-address",
            f"{name}: npm wrote the address of {line(addressed[0], 80)}; npm 8.18 and newer omit it",
        )
    return text


def packages(text: str, name: str) -> dict[str, dict[str, Any]]:
    """Return the packages of a package-lock.json by their folders; "" is the project itself.

    Raises:
        LockError: the text is not a package-lock.json.
    """
    try:
        table = json.loads(text)["packages"]
        if isinstance(table[""], dict) and all(isinstance(package, dict) for package in table.values()):
            return dict(table)
    except (ValueError, LookupError, TypeError, AttributeError):
        pass
    raise LockError("not-a-package-lock", f"{name} is not a package-lock.json of npm 7 or newer")


def write(names: Sequence[str] = ()) -> list[Path]:
    """Write locks again, and return their files.

    Args:
        names: the names of adapters, such as tract, of execution providers, such as ep=nxrt, of exporters, such as
            producer=torch, or "action"; empty for all.

    Raises:
        LockError: a name has no lock, or a lock cannot be made. The previous locks are written.
        NoEnvironmentError: uv or npm is not installed.
    """
    action = FOLDER.with_name("action.yml")
    known = {path.stem: path.with_suffix(".lock") for path in sorted(FOLDER.glob("*.toml"))}
    for path in sorted(FOLDER.glob("providers/*.toml")):
        if python_environment.provider(f"{EP}{path.stem}") is not None:
            known[f"{EP}{path.stem}"] = path.with_suffix(".lock")
    for path in sorted(FOLDER.glob("producers/*.toml")):
        known[f"{EXPORTER}{path.stem}"] = path.with_suffix(".lock")
    if action.is_file():
        known[ACTION] = action.with_suffix(".lock")
    if unknown := [name for name in names if name not in known]:
        raise LockError("unknown-lock", f"there is no lock {unknown[0]!r}; expected one of {', '.join(known)}")
    written = []
    for name in names or known:
        known[name].write_text(_of(name, known[name]), encoding="utf-8")
        written.append(known[name])
    return written


def _of(name: str, path: Path) -> str:
    if name == ACTION:
        project = tomllib.loads(path.with_name("pyproject.toml").read_text(encoding="utf-8"))
        return of_python(project["project"]["dependencies"], path.name)
    if (script := node_environment.needs(name)) is not None:
        return of_node(script)
    if name.startswith(EXPORTER):
        needed = python_environment.producer(name.removeprefix(EXPORTER))
    else:
        needed = python_environment.provider(name) or python_environment.needs(name)
    assert needed is not None  # noqa: S101 - one of the two functions reads its .toml
    return of_python(needed.of(), path.name)


def _run(words: list[str], text: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run uv or npm to its end."""
    return subprocess.run(  # noqa: S603 - the user's uv or npm, with names from the adapter's data
        words,
        cwd=folder,
        input=text,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
        env=python_environment.uv_environment(),
    )


def main() -> None:
    """Write the locks that the command line names, and print their paths."""
    try:
        for path in write(sys.argv[1:]):
            print(path.relative_to(FOLDER.parent))  # noqa: T201 - the output of this command
    except HarnessError as error:
        sys.exit(f"locks: {error}")


if __name__ == "__main__":
    main()
