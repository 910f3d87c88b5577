# SPDX-License-Identifier: Apache-2.0
"""Environments of npm: its arguments, that they are kept whole or not at all, and messages where it fails."""

from __future__ import annotations

import hashlib
import json
import re
import stat
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from commands import command
from onnx_conformance import backends
from onnx_conformance.environments import backend_names, node_environment, python_environment
from onnx_conformance.environments.kept_environment import NoEnvironmentError
from paths import ROOT
from refusals import refuses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Program = Callable[[str, str], Path]

DATA = sorted(path.with_suffix(".toml") for path in Path(backends.__file__).parent.glob("onnxruntime_*.mjs")
              if path.with_suffix(".toml").is_file())  # fmt: skip
MINE = node_environment.Needs("onnxruntime_node", "onnxruntime-node", "1.30.0", ">=20")
MAKES = """
    import pathlib
    assert pathlib.Path("package.json").is_file(), "else it would be another folder's node_modules"
    pathlib.Path("node_modules").mkdir()
"""
LOCK = Path(backends.__file__).with_name("onnxruntime_node.lock")
LOCKED = f"onnxruntime-node@1.30.0+lock-{hashlib.sha256(LOCK.read_bytes()).hexdigest()[:16]}"


@pytest.fixture(autouse=True)
def _fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let nothing be here but what a test puts there."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    node_environment.environment.cache_clear()
    yield
    node_environment.environment.cache_clear()


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Return a function that puts a program of a name on the PATH; a file beside it logs its arguments."""

    def put(name: str, body: str) -> Path:
        path, log = tmp_path / "bin" / name, tmp_path / f"{name}.asked"
        first = f"#!{sys.executable}\nimport sys\nopen({str(log)!r}, 'a').write(' '.join(sys.argv[1:]) + '\\n')\n"
        path.write_text(first + textwrap.dedent(body))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return log

    return put


def folders(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "cache" / "onnx-conformance" / "npm").iterdir())


def test_there_are_adapters_in_javascript() -> None:
    assert {path.stem for path in DATA} == node_environment.names() >= {"onnxruntime_node", "onnxruntime_web"}
    assert node_environment.names() <= set(backend_names.names())
    shared = {"protocol", "values", "runtime_errors", "serve_node", "onnxruntime_javascript", "onnxruntime_tensors"}
    assert not shared & set(backend_names.names()), "these are no adapters"


@pytest.mark.parametrize("path", DATA, ids=lambda path: path.stem)
def test_every_requirement_of_an_adapter_is_valid(path: Path) -> None:
    assert set(tomllib.loads(path.read_text())) <= {"npm", "version", "node", "environment", "implementation"}
    needed = node_environment.needs(path.stem)
    assert needed is not None
    assert needed.of() == f"{needed.package}@{needed.version}"
    assert Version(needed.version)
    assert SpecifierSet(needed.node)
    assert python_environment.needs(path.stem) is None, "uv has nothing to make of it"


@pytest.mark.parametrize("version", ["newest", "1.30", "^1.30.0", "1.30.0 evil", "../1.2.3", "1.2.3-/.."])
def test_an_invalid_version_is_reported(version: str) -> None:
    with refuses("not-an-npm-version", kind=NoEnvironmentError):
        MINE.of(version)
    for allowed in ("1.20.1", "1.30.0-dev.20250101-abc"):
        assert MINE.of(allowed) == f"onnxruntime-node@{allowed}"


def test_an_environment_is_made_once_and_kept(program: Program, tmp_path: Path) -> None:
    program("node", "print('v20.1.0')")
    log = program("npm", MAKES)
    for _ in range(2):
        command_ = node_environment.command(MINE)
        node_environment.environment.cache_clear()
    assert Path(command_[0]) == Path(sys.executable)
    assert Path(command_[1]).name == "serve_node.py"
    assert command_[2] == str(tmp_path / "bin" / "node")
    assert Path(command_[3]).name == "onnxruntime_node.mjs"
    assert (Path(command_[4]) / "node_modules").is_dir()
    [line] = log.read_text().splitlines()
    assert line.startswith("install --no-workspaces --no-global --location=project ")
    assert " --ignore-scripts " in line
    assert line.endswith(" onnxruntime-node@1.30.0")
    assert folders(tmp_path) == ["onnxruntime-node@1.30.0"]
    assert MINE.here


def test_a_locked_environment_is_made_of_its_lock_and_kept_by_its_digest(program: Program, tmp_path: Path) -> None:
    program("node", "print('v20.1.0')")
    log = program("npm", MAKES)
    needed = node_environment.needs("onnxruntime_node")
    assert needed is not None
    assert not needed.here
    folder = Path(node_environment.command(needed)[4])
    [line] = log.read_text().splitlines()
    assert line.startswith("ci --no-workspaces --no-global --location=project --ignore-scripts ")
    assert "onnxruntime-node" not in line, "npm ci takes no package: the lock has it"
    assert folder.name == LOCKED
    assert (folder / "package-lock.json").read_bytes() == LOCK.read_bytes()
    assert json.loads((folder / "package.json").read_text())["dependencies"] == {"onnxruntime-node": "1.30.0"}
    assert needed.here
    assert node_environment.command(needed, "1.30.0")[4] == str(folder)
    node_environment.command(needed, "1.20.1")
    node_environment.environment(needed.of())
    assert folders(tmp_path) == ["onnxruntime-node@1.20.1", "onnxruntime-node@1.30.0", LOCKED]


def test_another_lock_is_another_environment(program: Program, tmp_path: Path) -> None:
    program("npm", MAKES)
    lock = tmp_path / "mine.lock"
    paths = set()
    for text in ("{}", "{} "):
        lock.write_text(text)
        node_environment.environment.cache_clear()
        paths.add(node_environment.environment("a@1.0.0", lock))
    assert len(paths) == 2


def test_another_version_is_another_environment(program: Program, tmp_path: Path) -> None:
    program("node", "print('v20.1.0')")
    program("npm", MAKES)
    assert node_environment.command(MINE)[4] != node_environment.command(MINE, "1.20.1")[4]
    assert folders(tmp_path) == ["onnxruntime-node@1.20.1", "onnxruntime-node@1.30.0"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("sys.exit('\\x1b[31mnpm error code ENOTFOUND\\nnpm error request to registry failed\\nnpm error at Client')",
         "code ENOTFOUND request to registry failed"),
        ("sys.exit('A complete log of this run can be found in: /nowhere')", "no reason reported"),
        ("sys.exit(1)", "no reason reported"),
        ("", "no reason reported"),  # It says that all is well, and there is nothing.
    ],
)  # fmt: skip
def test_npm_that_fails_is_a_sentence_and_leaves_nothing(
    program: Program, tmp_path: Path, body: str, reason: str
) -> None:
    program("node", "print('v20.1.0')")
    program("npm", body)
    done = command("run", "--backend", "onnxruntime_node", "--op", "Split/13")
    assert done.status == 2, done.text
    environment = "onnxruntime-node@1.30.0 with the versions of onnxruntime_node.lock"
    assert done.err.count("\n") == 1, done.err
    assert done.err.startswith("onnx-conformance: npm cannot "), done.err
    assert done.err.endswith(f" {environment}: {reason} [npm-failed]\n"), done.err
    assert folders(tmp_path) == []


def test_an_environment_created_meanwhile_is_used(program: Program, tmp_path: Path) -> None:
    other = tmp_path / "cache" / "onnx-conformance" / "npm" / "onnxruntime-node@1.30.0" / "node_modules" / "theirs"
    program("node", "print('v20.1.0')")
    program("npm", textwrap.dedent(MAKES) + f"pathlib.Path({str(other)!r}).mkdir(parents=True)\n")
    assert (Path(node_environment.command(MINE)[4]) / "node_modules" / "theirs").is_dir()
    assert folders(tmp_path) == ["onnxruntime-node@1.30.0"]


def test_without_node_the_message_says_how_to_get_it() -> None:
    done = command("run", "--backend", "onnxruntime_web", "--op", "Split/13")
    assert done.status == 2, done.text
    assert len(done.err.splitlines()) == 1, done.text
    assert "[node-missing]" in done.err


def test_without_npm_the_message_says_how_to_get_it(program: Program) -> None:
    program("node", "print('v20.1.0')")
    done = command("run", "--backend", "onnxruntime_web", "--op", "Split/13")
    assert done.status == 2, done.text
    assert "[npm-missing]" in done.err


@pytest.mark.parametrize(
    ("body", "version"),
    [("print('v18.19.1')", "v18.19.1"), ("print('no node')", "no node"), ("sys.exit(1)", "no version")],
)
def test_an_unsupported_node_is_reported(program: Program, body: str, version: str) -> None:
    program("node", body)
    with refuses("node-too-old", version, kind=NoEnvironmentError):
        node_environment.command(MINE)


@pytest.mark.parametrize("newer", ["v20.0.0", "v22.3.0", "v24.0.0-nightly20250101"])
def test_a_newer_node_serves(program: Program, newer: str) -> None:
    program("node", f"print({newer!r})")
    assert node_environment.node(MINE)


def test_a_node_that_cannot_be_run_is_reported(tmp_path: Path) -> None:
    node = tmp_path / "bin" / "node"
    node.write_bytes(b"\x7fELF of another machine")
    node.chmod(0o755)
    with refuses("node-too-old", kind=NoEnvironmentError):
        node_environment.node(MINE)


def test_a_cache_that_cannot_be_written_is_reported(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program("node", "print('v20.1.0')")
    program("npm", MAKES)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with refuses("environments-not-writable", kind=NoEnvironmentError):
        node_environment.command(MINE)


def test_the_cache_is_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for value in ("", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", value)
        assert node_environment._place("a@1.0.0") == tmp_path / ".cache" / "onnx-conformance" / "npm" / "a@1.0.0"


def test_a_python_for_a_node_backend_is_rejected() -> None:
    done = command("run", "--backend", "onnxruntime_node", "--python", sys.executable, "--op", "Split/13")
    assert done.status == 2, done.text
    assert "[backend-without-python]" in done.err


def test_variables_reach_the_process(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    program("node", "print('v20.1.0')")
    program("npm", MAKES)
    needed: Any = node_environment.Needs("onnxruntime_node", "onnxruntime-node", "1.30.0", ">=20", {"A": "1"})
    monkeypatch.setattr(node_environment, "needs", lambda _: needed)
    assert backend_names.resolve("onnxruntime_node").environment == {"A": "1"}


def listed() -> list[str]:
    done = command("backends")
    assert done.status == 0, done.text
    rows = [row for row in done.out.splitlines() if row.startswith(("onnxruntime_node", "onnxruntime_web"))]
    assert len(rows) == 2
    return rows


@pytest.mark.slow
def test_the_list_names_the_installer_and_missing_programs(program: Program) -> None:
    install = "which is not installed; install Node.js, which includes npm: https://nodejs.org"
    assert all(f"needs Node.js >=20, {install}" in row for row in listed())
    program("node", "print('v16.0.0')")
    assert all("needs Node.js >=20, but " in row for row in listed())  # The rest may be cut off.
    program("node", "print('v20.1.0')")
    assert all(f"needs npm, {install}" in row for row in listed())
    program("npm", MAKES)
    assert all(re.search("npm +1.30.0 .*--all", row) for row in listed())


def test_the_files_of_an_environment_are_in_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert {"*.mjs", "*.toml", "*.lock"} <= set(
        project["tool"]["setuptools"]["package-data"]["onnx_conformance.backends"]
    )


def test_without_a_home_the_message_names_the_variable_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    assert not MINE.here
    with refuses("no-folder-for-environments", kind=NoEnvironmentError):
        node_environment.environment("onnxruntime-node@1.30.0")
