# SPDX-License-Identifier: Apache-2.0
"""Locks: each is of what its adapter needs, and of nothing that only its writer has; and how they are written."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from onnx_conformance import backends
from onnx_conformance.environments import backend_names, node_environment, python_environment, python_lock
from onnx_conformance.environments.python_lock import LockError
from paths import ROOT
from refusals import refuses
from tools import locks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FOLDER = Path(backends.__file__).parent
IN_NODE = sorted(node_environment.names())
IN_PYTHON = sorted({path.stem for path in FOLDER.glob("*.toml")} - node_environment.names())
EXPORTERS = backend_names.producers()
PLATFORMS = [
    {"python_version": python, "python_full_version": f"{python}.0", "sys_platform": system, "platform_system": name,
     "platform_machine": machine, "os_name": "nt" if system == "win32" else "posix",
     "implementation_name": "cpython", "platform_python_implementation": "CPython"}
    for python in ("3.11", "3.12", "3.13", "3.14")
    for system, machine, name in (("linux", "x86_64", "Linux"), ("linux", "aarch64", "Linux"),
                                  ("darwin", "arm64", "Darwin"), ("win32", "AMD64", "Windows"))
]  # fmt: skip


def hashed(lock: str) -> str:
    """Return a lock of some pins, each with a digest."""
    return "".join(f"{pin} --hash=sha256:{'0' * 64}\n" for pin in lock.splitlines())


def broken(lock: str, requirements: Iterable[str]) -> list[str]:
    """Return the requirements that a lock does not meet on some platform, and packages named twice there."""
    pins = [pin.requirement for pin in python_lock.pins(lock, "lock")]
    wrong = []
    for platform in PLATFORMS:
        where = f"{platform['sys_platform']} {platform['python_version']}"
        versions: dict[str, str] = {}
        for pin in pins:
            if pin.marker is None or pin.marker.evaluate(dict(platform)):
                name = canonicalize_name(pin.name)
                if name in versions:
                    wrong.append(f"{where}: {name} twice")
                (specifier,) = pin.specifier
                versions[name] = specifier.version
        for text in requirements:
            requirement = Requirement(text)
            if requirement.marker is not None and not requirement.marker.evaluate(dict(platform)):
                continue
            version = versions.get(canonicalize_name(requirement.name))
            if version is None or not requirement.specifier.contains(version, prereleases=True):
                wrong.append(f"{where}: {text}, locked: {version}")
    return wrong


def missing(packages: dict[str, dict[str, object]]) -> list[str]:
    """Return the dependencies in a package-lock.json that Node.js would not find where it looks for them."""
    wrong = []
    for folder, package in packages.items():
        dependencies = package.get("dependencies", {})
        assert isinstance(dependencies, dict)
        for name in dependencies:
            above = [folder]
            while above[-1]:
                above.append(above[-1].rpartition("node_modules/")[0].rstrip("/"))
            if not any(f"{place}/node_modules/{name}".lstrip("/") in packages for place in above):
                wrong.append(f"{folder}: {name}")
    return wrong


def test_every_adapter_has_an_environment_and_a_lock() -> None:
    assert IN_NODE
    adapters = set(backend_names.names()) - set(backend_names.BUILT_IN)
    missing = adapters - {*IN_PYTHON, *IN_NODE}
    assert not missing, f"write {', '.join(f'backends/{name}.toml' for name in sorted(missing))}"
    unlocked = adapters - {path.stem for path in FOLDER.glob("*.lock")}
    assert not unlocked, f"nox -s locks -- {' '.join(sorted(unlocked))}"
    unknown = {path.stem for path in (*FOLDER.glob("*.toml"), *FOLDER.glob("*.lock"))} - adapters
    assert not unknown, f"there is no adapter of {', '.join(sorted(unknown))}"


@pytest.mark.parametrize("name", IN_PYTHON)
def test_the_lock_of_a_python_runtime_meets_its_requirements(name: str) -> None:
    needed = python_environment.needs(name)
    assert needed is not None
    assert needed.lock == FOLDER / f"{name}.lock"
    assert broken(needed.lock.read_text(), needed.of()) == [], f"nox -s locks -- {name}"


@pytest.mark.parametrize("name", EXPORTERS)
def test_the_lock_of_an_exporter_meets_its_requirements(name: str) -> None:
    needed = python_environment.producer(name)
    assert needed is not None
    assert needed.lock == FOLDER / "producers" / f"{name}.lock"
    assert broken(needed.lock.read_text(), needed.of()) == [], f"nox -s locks -- producer={name}"
    assert needed.lock.with_suffix(".py").is_file()
    target = backend_names.producer(name, "/usr/bin/python3")
    assert target.command[-1] == f"onnx_conformance.backends.producers.{name}"


@pytest.mark.parametrize("name", IN_NODE)
def test_the_lock_of_a_node_runtime_meets_its_requirements(name: str) -> None:
    needed = node_environment.needs(name)
    assert needed is not None
    assert needed.lock == FOLDER / f"{name}.lock"
    packages = locks.packages(needed.lock.read_text(), needed.lock.name)
    assert packages[""]["dependencies"] == {needed.package: needed.version}, f"nox -s locks -- {name}"
    assert packages[f"node_modules/{needed.package}"]["version"] == needed.version
    assert missing(packages) == []
    for folder, package in packages.items():
        assert "resolved" not in package, f"{folder}: an address"
        assert not folder or str(package["integrity"]).startswith("sha512-"), folder


def test_the_actions_lock_meets_the_requirements_of_this_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert broken((ROOT / "action.lock").read_text(), project["dependencies"]) == [], "nox -s locks -- action"


@pytest.mark.parametrize("path", [*sorted(FOLDER.glob("*.lock")), ROOT / "action.lock"], ids=lambda path: path.name)
def test_a_lock_names_no_registry(path: Path) -> None:
    text = path.read_text()
    assert text.endswith("\n")
    for host in ("pypi.", "npmjs.", "pythonhosted", "registry.", "index-url", "find-links", "127.0.0.1", "localhost"):
        assert host not in text, host


@pytest.mark.parametrize(
    ("lock", "wrong"),
    [
        ("a==1.5\nb==2 ; sys_platform == 'win32'\nb==1 ; sys_platform != 'win32'\n", None),
        ("a==2.0\nb==1\n", "linux 3.11: a>=1,<2, locked: 2.0"),
        ("a==1.5\n", "linux 3.11: b, locked: None"),
        ("a==1.5\nb==1 ; sys_platform == 'linux'\n", "darwin 3.11: b, locked: None"),
        ("a==1.5\nb==1\nb==2 ; python_full_version >= '3.12'\n", "linux 3.12: b twice"),
    ],
)
def test_a_lock_that_does_not_meet_its_requirements_is_noticed(lock: str, wrong: str | None) -> None:
    complaints = broken(hashed(lock), ("A>=1,<2", "b"))
    assert [text.replace("A>", "a>") for text in complaints][:1] == ([wrong] if wrong else [])


def test_a_package_that_a_lock_of_npm_lacks_is_noticed() -> None:
    packages: dict[str, dict[str, object]] = {
        "": {"dependencies": {"a": "1"}},
        "node_modules/a": {"dependencies": {"@b/c": "^1", "d": "^1"}},
        "node_modules/a/node_modules/@b/c": {"dependencies": {"d": "^1", "a": "1"}},
        "node_modules/d": {},
    }
    assert missing(packages) == []
    del packages["node_modules/d"]
    assert missing(packages) == ["node_modules/a: d", "node_modules/a/node_modules/@b/c: d"]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"packages": []}', '{"packages": {"": 1}}', '{"packages": {"a": {}}}']
)
def test_a_file_that_is_no_lock_of_npm_is_reported(text: str) -> None:
    with refuses("not-a-package-lock", kind=LockError):
        locks.packages(text, "x.lock")


# Writing

PYLOCK = "\n".join(
    ["[[packages]]", "wheels = ["]
    + [
        f"""{{url = "https://h/{name}.whl", hashes = {{sha256 = "{digit * 64}"}}}},"""
        for name, digit in (("mine-2.0-py3-none-any", "0"), ("mine-2.0-cp311-cp311-manylinux2014_i686", "1"))
    ]
    + ["]"]
)


@pytest.mark.parametrize(
    ("tags", "suitable"),
    [
        ("py3-none-any", True), ("py2.py3-none-any", True), ("cp38-abi3-manylinux2014_aarch64", True),
        ("cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64", True), ("cp312-cp312-win_amd64", True),
        ("cp314-cp314-macosx_11_0_arm64", True),
        ("cp313-cp313-musllinux_1_2_x86_64", True), ("py3-none-manylinux2014_x86_64", True),
        ("cp310-cp310-manylinux_2_28_x86_64", False), ("cp313-cp313t-manylinux_2_28_x86_64", False),
        ("pp311-pypy311_pp73-manylinux_2_28_x86_64", False), ("cp311-cp311-manylinux2014_i686", False),
        ("cp311-cp311-win32", False), ("cp311-cp311-manylinux_2_31_armv7l", False),
        ("cp27-cp27m-macosx_10_9_x86_64", False),
    ],
)  # fmt: skip
def test_a_wheel_for_another_platform_or_interpreter_is_not_in_a_lock(tags: str, *, suitable: bool) -> None:
    assert locks._is_suitable(f"numpy-2.4.6-{tags}.whl") is suitable


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make a checkout with two adapters, which locks.py writes the locks of."""
    folder = tmp_path / "backends"
    folder.mkdir()
    (folder / "mine.toml").write_text('distribution = "mine"\nimport = "mine"\nversion = "2.0"\n')
    (folder / "yours.toml").write_text('npm = "yours"\nversion = "1.0.0"\nnode = ">=20"\n')
    (folder / "yours.mjs").touch()
    (tmp_path / "action.yml").touch()
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["click>=8"]\n')
    (tmp_path / "bin").mkdir()
    monkeypatch.setattr(locks, "FOLDER", folder)
    for module in (python_environment, node_environment):
        monkeypatch.setattr(module, "BACKENDS", folder)
        module.needs.cache_clear()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setattr(python_environment, "uv", lambda: str(tmp_path / "bin" / "uv"))
    for_32_bits = f"--hash=sha256:{'1' * 64}"
    resolves = f"sed -E 's/^([a-z_]+)(!=[0-9.]+)?$/\\1==1/; s/>=/==/; s/$/ --hash=sha256:{'0' * 64} {for_32_bits}/'"
    program(tmp_path, "uv", f"case \"$*\" in *pylock*) echo '{PYLOCK}';; *) {resolves};; esac")
    program(tmp_path, "npm", f"echo '{npm_lock({})}' > package-lock.json")
    yield tmp_path
    for module in (python_environment, node_environment):
        module.needs.cache_clear()


def program(folder: Path, name: str, body: str) -> None:
    path = folder / "bin" / name
    path.write_text(f'#!/bin/sh\necho "$@" > {folder}/{name}.asked\n{body}\n')
    path.chmod(0o755)


def npm_lock(package: dict[str, str]) -> str:
    root = {"dependencies": {"yours": "1.0.0"}}
    return json.dumps(
        {"lockfileVersion": 3, "packages": {"": root, "node_modules/yours": {"version": "1.0.0", **package}}}
    )


def test_all_locks_are_written_or_those_that_are_named(checkout: Path) -> None:
    folder = checkout / "backends"
    assert locks.write() == [folder / "mine.lock", folder / "yours.lock", checkout / "action.lock"]
    first, _, text = (folder / "mine.lock").read_text().partition("\n")
    assert first == "# Written by `nox -s locks`; see tools/locks.py."
    digest = f" \\\n    --hash=sha256:{'0' * 64}\n"  # Without that of the wheel for 32 bits.
    assert text == f"mine==2.0{digest}numpy==1{digest}ml_dtypes==1{digest}"
    assert (checkout / "action.lock").read_text().partition("\n")[2] == f"click==8{digest}"
    assert (folder / "yours.lock").read_text().strip() == npm_lock({})
    words = (checkout / "uv.asked").read_text()
    assert words.startswith("pip compile - --universal --python-version=3.11 --only-binary=:all: --quiet ")
    assert " --project=" in words
    words = (checkout / "npm.asked").read_text()
    assert words.startswith("install --no-workspaces "), words
    assert "--omit-lockfile-registry-resolved" in words
    (folder / "mine.lock").unlink()
    assert locks.write(["yours"]) == [folder / "yours.lock"]
    assert not (folder / "mine.lock").exists()


@pytest.mark.parametrize(
    ("name", "tool", "body", "message"),
    [
        ("mine", "uv", "echo 'no \033[31msolution' >&2; exit 1", "mine.lock: uv cannot resolve them: no solution"),
        ("mine", "uv", "true", "mine.lock: uv resolved the requirements to nothing"),
        ("mine", "uv", "echo mine==2.0+cpu", "mine.lock, line 1: 'mine==2.0+cpu' is not NAME==VERSION"),
        ("mine", "uv", "echo --index-url http://h/", "mine.lock, line 1: '--index-url http://h/' is not"),
        ("mine", "uv", "echo mine==2.0", "mine.lock, line 1: 'mine==2.0' must be followed by the SHA-256 digest"),
        ("action", "uv", "exit 1", "action.lock: uv cannot resolve them"),
        ("yours", "npm", "echo offline >&2; exit 1", "yours.lock: npm cannot resolve it: offline"),
        ("yours", "npm", "true", "yours.lock: npm cannot resolve it"),
        ("yours", "npm", "echo {} > package-lock.json", "yours.lock is not a package-lock.json"),
        ("yours", "npm", f"echo '{npm_lock({'resolved': 'x'})}' > package-lock.json",
         "yours.lock: npm wrote the address of node_modules/yours"),
        ("theirs", "uv", "true", "there is no lock 'theirs'; expected one of mine, yours, action"),
    ],
)  # fmt: skip
def test_a_lock_that_cannot_be_written_is_reported_and_the_old_one_stays(
    name: str, tool: str, body: str, message: str, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = checkout / ("" if name == "action" else "backends") / f"{name}.lock"
    before.write_text("as it was")
    program(checkout, tool, body)
    monkeypatch.setattr(locks.sys, "argv", ["locks", name])
    with pytest.raises(SystemExit) as ended:
        locks.main()
    assert str(ended.value).startswith(f"locks: {message}")
    assert "\x1b" not in str(ended.value)
    assert before.read_text() == "as it was"


def test_written_locks_are_reported(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(locks.sys, "argv", ["locks", "mine", "action"])
    locks.main()
    assert capsys.readouterr().out == "backends/mine.lock\naction.lock\n"
    assert not (checkout / "backends" / "yours.lock").exists()
