# SPDX-License-Identifier: Apache-2.0
"""What the package puts into an environment, and that it works in repositories whose folders have the names of ours."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import pytest

from onnx_conformance.base.package import BACKENDS, FOLDER, GENERATED, REPOSITORY, VERSION, lock_of, packed
from onnx_conformance.generation import manifest, suite_digest
from onnx_conformance.specification import schema_file
from paths import ROOT
from test_imports import MODULES

FOLDERS = ("harness", "backends", "tests", "reports", "generated_cases", "tools")
"""Top-level folders of this repository, which others have as well."""
CASE = "ai.onnx/Split/18/uneven_two"
MOST = {"bytes": 5_000_000, "files": 1000}
"""Limits of the wheel."""
one_process = pytest.mark.xdist_group("distributions")
"""Mark of the tests that use the built files, so that they are built only once."""

ADAPTER = """\
import nxrt  # The runtime, not this file.


def info():
    return {"runtime": nxrt.NAME, "version": "1"}


def run(model, inputs, outputs):
    return nxrt.split(*inputs.values(), len(outputs))
"""
RUNTIME = """\
import numpy as np

NAME = "nxrt"


def split(array, count):
    return np.array_split(array, count)
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with packages of our folders' names, none of which may be imported."""
    for name in FOLDERS:
        folder = tmp_path / "theirs" / name
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(f"raise RuntimeError('{name} of somebody else was imported')\n")
    (tmp_path / "theirs" / "test_theirs.py").write_text("def test_theirs():\n    pass\n")
    runtime = tmp_path / "site" / "nxrt"
    runtime.mkdir(parents=True)
    (runtime / "__init__.py").write_text(RUNTIME)
    (tmp_path / "theirs" / "nxrt.py").write_text(ADAPTER)
    return tmp_path / "theirs"


def run(repository: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a program in the repository, whose folder is on the path of modules, after that of the runtime."""
    paths = [str(repository.parent / "site"), str(repository)]
    return subprocess.run(
        words, cwd=repository, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)}, capture_output=True,
        text=True, check=False, timeout=120,
    )  # fmt: skip


def program(name: str) -> str:
    """Return the path of a program of this environment."""
    return str(Path(sys.executable).with_name(name))


def is_record(path: str) -> bool:
    return path.endswith(".dist-info/RECORD")


@pytest.mark.slow
def test_the_distribution_has_one_top_level_name() -> None:
    # The sources of a checkout have metadata, too, if it was installed with -e.
    listed = [item.files or () for item in metadata.distributions(name="onnx-conformance")]
    files = next(files for files in ([str(path) for path in paths] for paths in listed) if any(map(is_record, files)))
    modules = {path.partition("/")[0] for path in files if path.endswith(".py") and not path.startswith("__editable__")}
    assert modules <= {"onnx_conformance"}, modules
    others = {path.partition("/")[0] for path in files if not path.startswith("..")} - modules
    assert all(name.startswith(("onnx_conformance-", "__editable__.onnx_conformance")) for name in others), others


BUILD = """\
import os, sys, tarfile
from setuptools import build_meta

source, out = sys.argv[1:]
os.chdir(source)
archive = build_meta.build_sdist(out)
with tarfile.open(f"{out}/{archive}") as file:
    file.extractall(out, filter="data")
os.chdir(f"{out}/{archive.removesuffix('.tar.gz')}")
build_meta.build_wheel(f"{out}/from_sdist")
os.chdir(source)
build_meta.build_wheel(out)
"""
"""Builds an sdist, a wheel of it, and a wheel of the checkout."""

SUITE = """\
import json
from onnx_conformance.base.package import FOLDER
from onnx_conformance.generation import manifest, suite_digest

print(json.dumps([str(FOLDER), suite_digest.digest(), manifest.all_counts()]))
"""
"""Prints the folder of the package, the digest of its suite, and the numbers of cases in its manifest."""


@dataclass(frozen=True)
class Distributions:
    """The built files: a wheel of the checkout, an sdist, and a wheel of the sdist."""

    wheel: Path
    sdist: Path
    from_sdist: Path


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Distributions:
    folder = tmp_path_factory.mktemp("distributions")
    source = folder / "source"  # Building leaves files in the folder that it builds from.
    source.mkdir()
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, source)
    for name in ("harness", "backends", "generated_cases"):
        shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder / "tools"), *needed]
    environment = {**os.environ, "PYTHONPATH": str(folder / "tools")}
    for words in (install, [sys.executable, "-c", BUILD, str(source), str(folder)]):
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        assert not done.returncode, done.stderr
    ((wheel,), (sdist,)) = (folder.glob("*.whl"), folder.glob("*.tar.gz"))
    return Distributions(wheel, sdist, folder / "from_sdist" / wheel.name)


def contents(wheel: Path) -> dict[str, int]:
    """Return the checksum of each file of a wheel."""
    return {item.filename: item.CRC for item in zipfile.ZipFile(wheel).infolist()}


def too_large(wheel: Path) -> list[str]:
    """Return the limits that a wheel exceeds."""
    sizes = {"bytes": wheel.stat().st_size, "files": len(contents(wheel))}
    return [f"{size:,} {unit}" for unit, size in sizes.items() if size > MOST[unit]]


@pytest.mark.slow
@one_process
def test_the_wheel_has_every_module_and_data_file_and_one_top_level_name(distributions: Distributions) -> None:
    names = set(contents(distributions.wheel))
    tops = {name.partition("/")[0] for name in names}
    assert tops == {"onnx_conformance", f"onnx_conformance-{VERSION}.dist-info"}, tops
    sources = {f"onnx_conformance/{path.relative_to(FOLDER)}" for path in MODULES.values()}
    data = {
        f"onnx_conformance/{path.relative_to(FOLDER)}"
        for folder in (FOLDER, BACKENDS)
        for path in folder.rglob("*")
        if path.suffix in {".toml", ".mjs", ".json", ".jinja", ".css", ".js", ".txt", ".typed"}
        and GENERATED.name not in path.parts
    }
    assert len(sources) > 500, len(sources)
    assert len(data) > 90, len(data)
    assert not sources - names, sorted(sources - names)
    packed_files = {name for name in data if f"{name.removesuffix('.json')}.txz" in names}
    assert packed_files == {"onnx_conformance/operators_microsoft/schemas.json"}
    assert not data - packed_files - names, sorted(data - names)
    assert not packed_files & names
    with zipfile.ZipFile(distributions.wheel) as wheel, wheel.open("onnx_conformance/generated_cases.txz") as archive:
        stored = set(tarfile.open(fileobj=archive, mode="r:xz").getnames())  # noqa: SIM115 - it closes with the archive
    files = [path for pattern in ("*.txt", "*.toml") for path in (ROOT / "generated_cases").glob(pattern)]
    assert len(files) > 200, len(files)
    assert stored == {path.name for path in files}


@pytest.mark.slow
@one_process
def test_a_large_file_can_be_read_in_the_wheel(distributions: Distributions, tmp_path: Path) -> None:
    with zipfile.ZipFile(distributions.wheel) as wheel:
        wheel.extractall(tmp_path)
    name = "operators_microsoft/schemas.json"
    path = packed(tmp_path / "onnx_conformance" / name)
    assert path.read_bytes() == (FOLDER / name).read_bytes()
    assert len(schema_file.read(path)) == len(schema_file.read(packed(FOLDER / name))) > 50
    assert packed(FOLDER / name) == FOLDER / name


@pytest.mark.slow
@one_process
def test_the_wheel_has_every_lock_in_an_archive(distributions: Distributions, tmp_path: Path) -> None:
    with zipfile.ZipFile(distributions.wheel) as wheel:
        wheel.extractall(tmp_path)
    found = 0
    for data in BACKENDS.rglob("*.lock"):
        name = data.relative_to(BACKENDS)
        installed = tmp_path / "onnx_conformance" / "backends" / name
        assert not installed.exists(), name
        lock = lock_of(installed.with_suffix(".toml"))
        assert lock is not None, name
        assert (lock.name, lock.read_bytes()) == (data.name, data.read_bytes())
        found += 1
    assert found > 30, found
    assert lock_of(tmp_path / "onnx_conformance" / "backends" / "nothing.toml") is None


@pytest.mark.slow
@one_process
def test_the_wheel_is_small(distributions: Distributions, tmp_path: Path) -> None:
    assert too_large(distributions.wheel) == []
    with zipfile.ZipFile(tmp_path / "large.whl", "w") as file:
        for number in range(MOST["files"] + 1):
            file.writestr(str(number), bytes(MOST["bytes"] // MOST["files"]))
    assert [text.split()[1] for text in too_large(tmp_path / "large.whl")] == ["bytes", "files"]


@pytest.mark.slow
@one_process
def test_the_sdist_makes_the_same_wheel_and_has_no_tests(distributions: Distributions) -> None:
    assert contents(distributions.from_sdist) == contents(distributions.wheel)
    with tarfile.open(distributions.sdist) as file:
        names = [name.partition("/")[2] for name in file.getnames()]
    assert "CHANGELOG.md" in names
    assert not [name for name in names if name.startswith(("tests/", "generated_cases/second_reading"))]


@pytest.mark.slow
@one_process
def test_the_description_of_the_wheel_has_only_links_that_work_elsewhere(distributions: Distributions) -> None:
    with zipfile.ZipFile(distributions.wheel) as wheel:
        text = wheel.read(f"onnx_conformance-{VERSION}.dist-info/METADATA").decode()
    links = re.findall(r"\]\(([^)]*)\)|(?:src|href)=\"([^\"]*)\"", text)
    assert len(links) > 10
    assert not [link for link in links if not "".join(link).startswith(("https://", "#"))]
    assert f"{REPOSITORY}/raw/v{VERSION}/docs/site.png" in text


@pytest.mark.slow
@one_process
def test_the_wheel_has_the_cases_of_the_checkout(distributions: Distributions, tmp_path: Path) -> None:
    with zipfile.ZipFile(distributions.wheel) as wheel:
        wheel.extractall(tmp_path / "site")
    done = subprocess.run(
        [sys.executable, "-c", SUITE], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done
    folder, digest, counts = json.loads(done.stdout)
    assert folder == str(tmp_path / "site" / "onnx_conformance")
    assert (digest, counts) == (
        suite_digest.digest(),
        {name: [*found] for name, found in manifest.all_counts().items()},
    )


@pytest.mark.slow
@pytest.mark.parametrize("words", [(program("pytest"),), (sys.executable, "-m", "pytest")], ids=["pytest", "python -m"])
def test_pytest_runs_in_a_repository_with_folders_of_our_names(words: tuple[str, ...], repository: Path) -> None:
    done = run(repository, *words, "-q", "-p", "no:cacheprovider", "test_theirs.py")
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done
    own = ("--onnx-backend", "oracle", "--onnx-case", CASE, "--onnx-op", "Split/18")
    done = run(repository, *words, "-q", "-p", "no:cacheprovider", *own, "test_theirs.py")
    assert (done.returncode, "2 passed" in done.stdout) == (0, True), done


@pytest.mark.slow
@pytest.mark.parametrize("words", [(program("onnx-conformance"),), (sys.executable, "-m", "onnx_conformance")])
def test_the_command_and_an_adapter_run_there(words: tuple[str, ...], repository: Path) -> None:
    """The adapter has the name of the runtime that it imports."""
    done = run(repository, *words, "run", "--backend", "./nxrt.py", "--case", CASE, "--op", "Split/18")
    assert done.returncode == 0, done
    assert re.search(r"passed +1\b", done.stdout), done.stdout


@pytest.mark.slow
def test_the_version_is_shown_with_those_that_decide_the_cases() -> None:
    done = subprocess.run([program("onnx-conformance"), "version"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    for name in ("onnx", "numpy"):
        assert f"{name} {metadata.version(name)}" in " ".join(done.stdout.split()), done.stdout
    assert VERSION in done.stdout
    assert "suite generated" in " ".join(done.stdout.split()), done.stdout
    short = subprocess.run([program("onnx-conformance"), "--version"], capture_output=True, text=True, check=False)
    assert VERSION in short.stdout, short
