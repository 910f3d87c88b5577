"""What the package puts into an environment, and that it works in repositories whose folders have the names of ours."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from onnx_conformance.base.package import BACKENDS, FOLDER, GENERATED, VERSION
from paths import ROOT
from test_imports import MODULES

FOLDERS = ("harness", "backends", "tests", "reports", "generated_cases", "tools")
"""Top-level folders of this repository, which others have as well."""
CASE = "ai.onnx/Split/18/uneven_two"

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


@pytest.mark.slow
def test_the_wheel_has_every_module_and_data_file_and_one_top_level_name(tmp_path: Path) -> None:
    source = tmp_path / "source"  # Building leaves files in the folder that it builds from.
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in ("harness", "backends", "generated_cases"):
        shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    words = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(source)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    tops = {name.partition("/")[0] for name in names}
    assert tops == {"onnx_conformance", f"onnx_conformance-{VERSION}.dist-info"}, tops
    sources = {f"onnx_conformance/{path.relative_to(FOLDER)}" for path in MODULES.values()}
    folders = (FOLDER, BACKENDS, GENERATED)
    data = {
        f"onnx_conformance/{path.relative_to(FOLDER)}"
        for folder in folders
        for path in folder.rglob("*")
        if path.suffix in {".toml", ".lock", ".mjs", ".json", ".jinja", ".css", ".js", ".txt", ".typed"}
        and {"models", "second_reading"}.isdisjoint(path.parts)  # What tests read is not installed.
    }
    assert len(sources) > 500, len(sources)
    assert len(data) > 300, len(data)
    assert not sources - names, sorted(sources - names)
    assert not data - names, sorted(data - names)


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
