# SPDX-License-Identifier: Apache-2.0
"""What a user may name as a backend: files and modules of their own, everywhere a backend is named."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from commands import command
from onnx_conformance.environments import backend_names, python_environment, sandbox
from onnx_conformance.environments.backend_names import UnknownBackendError
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.processes.asker import Asker
from onnx_conformance.repro import bug_report
from refusals import refuses

pytestmark = pytest.mark.usefixtures("few_operators")

SANDBOX = pytest.mark.skipif(
    shutil.which("bwrap") is None
    or bool(subprocess.run(["bwrap", "--ro-bind", "/", "/", "true"], check=False).returncode),
    reason="no sandbox on this machine",
)
ADAPTER = """
import beside
import onnx
import onnx.reference


def info():
    return {"runtime": "mine", "version": "1"}


def run(model, inputs, outputs):
    return onnx.reference.ReferenceEvaluator(onnx.load_from_string(model)).run(outputs, inputs)[: beside.MOST]
"""
GOOD = "ai.onnx/Split/18/uneven_two"
BOTH = ("./mine_here.py", "mine_here")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working directory, with an adapter file and a module that it imports."""
    (tmp_path / "mine_here.py").write_text(ADAPTER)
    (tmp_path / "beside.py").write_text("MOST = None\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["./mine_here.py", "mine_here.py", "mine_here", "{}/mine_here.py", "../{}/mine_here.py"]
)
def test_a_file_or_module_of_ones_own_is_a_backend(here: Path, name: str) -> None:
    with Asker(backend_names.resolve(name.format(here.name if ".." in name else here)), Limits()) as lane:
        assert lane.process.hello["runtime"] == "mine"


@pytest.mark.slow
def test_a_package_of_ones_own_is_a_backend(here: Path) -> None:
    (here / "mine_package").mkdir()
    (here / "mine_here.py").rename(here / "mine_package" / "__init__.py")
    target = backend_names.resolve("mine_package")
    assert target.sees == (here,)
    with Asker(target, Limits()) as lane:
        assert lane.process.hello["runtime"] == "mine"


def test_a_file_is_relative_to_the_working_directory(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "below").mkdir()
    monkeypatch.chdir(here / "below")
    with Asker(backend_names.resolve("../mine_here.py"), Limits()) as lane:
        assert lane.process.hello["runtime"] == "mine"
    with refuses("backend-file-missing", "mine_here.py", "below", kind=UnknownBackendError):
        backend_names.resolve("mine_here.py")


@pytest.mark.slow
def test_an_adapter_here_comes_before_a_module_of_its_name(here: Path) -> None:
    for name in ("onnx_reference", "oracle", "serve"):
        (here / f"{name}.py").write_text("raise SystemExit('the wrong one')")
    for name, module in (("onnx_reference", "onnx_reference"), ("oracle", "onnx_conformance.specification.evaluator")):
        assert backend_names.resolve(name).command[-1] == module
        with Asker(backend_names.resolve(name), Limits()) as lane:
            assert lane.process.hello["protocol"] == 1
    for name in ("serve", "as_package", "onnx_conformance"):
        with refuses("unknown-backend", name, kind=UnknownBackendError):
            backend_names.resolve(name)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("my_adapter.py", r"^no file my_adapter\.py here, in "),
        ("./no/such.py", r"^no file \./no/such\.py here, in "),
        ("/no/such.py", r"^no file /no/such\.py$"),
        ("mine_hree.py", r"^no file mine_hree\.py here, in .*; did you mean mine_here\.py\?$"),
        ("mine_hree", r"^there is no backend 'mine_hree'; .*[Uu]se one of .*\./my_adapter\.py"),
        ("./folder", r"^backend '\./folder' is a folder; .*: folder/my_adapter\.py$"),
        ("folder", r"^there is no backend 'folder'"),
        ("./mine_here.py==1.0", r"^backend '\./mine_here\.py==1\.0': a file has no versions; .* ==1\.0$"),
        ("./\x1b[2J::error.py", r"^no file \./[^\x1b]*error\.py here, in "),
        ("./nul\0.py", r"^no file \./nul"),
    ],
)
def test_a_near_miss_gets_a_sentence(here: Path, name: str, says: str) -> None:
    (here / "folder").mkdir()
    with pytest.raises(UnknownBackendError, match=says):
        backend_names.resolve(name)


def test_a_module_is_looked_for_where_it_is_to_be_run(here: Path) -> None:
    elsewhere = here / "python"
    elsewhere.write_text(f'#!/bin/sh\ncd / && exec {sys.executable} "$@"\n')
    elsewhere.chmod(0o755)
    assert backend_names.resolve("mine_here", python=sys.executable).command[0] == sys.executable
    with refuses("unknown-backend", kind=UnknownBackendError):
        backend_names.resolve("mine_here", python=str(elsewhere))
    with refuses("python-not-runnable", kind=UnknownBackendError):
        backend_names.resolve("mine_here", python="/no/python")


def test_a_file_has_no_known_requirements() -> None:
    assert backend_names.needs("./mine_here.py") is None
    assert backend_names.needs("../backends/onnxruntime") is None, python_environment.needs("onnxruntime")


# Everywhere a backend is named


@pytest.mark.slow
def test_run_keeps_results_of_a_file_and_a_module(here: Path) -> None:
    words = [item for name in BOTH for item in ("--backend", name)]
    done = command("run", *words, "--case", GOOD, "--results", "out/", "--sample", "./mine_here.py=1/1")
    assert done.status == 0, done.text
    heads = [json.loads(path.read_text().splitlines()[0]) for path in (here / "out").iterdir()]
    assert sorted(name for head in heads for name in head["backends"]) == sorted(BOTH), heads
    assert {hello["runtime"] for head in heads for hello in head["backends"].values()} == {"mine"}, heads


@pytest.mark.slow
@pytest.mark.parametrize("name", BOTH)
def test_a_gate_compares_a_file_with_its_expectations(here: Path, name: str) -> None:
    (here / "beside.py").write_text("MOST = 1\n")
    words = ("--backend", name, "--case", GOOD)
    assert command("run", *words, "--results", "today.ndjson").status == 1
    generation = command(
        "expectations", "update", "today.ndjson", "--expectations", "mine.toml", "--accept-new", "--reason", "r"
    )
    assert generation.status == 0, generation.text
    done = command("run", *words, "--expectations", "mine.toml")
    assert done.status == 0, done.text
    assert re.search(f"^the gate is open: .*{re.escape(name)}.*mine.toml$", done.out, re.MULTILINE), done.text


@pytest.mark.slow
@pytest.mark.parametrize("name", BOTH)
def test_repro_writes_a_script_that_calls_it(here: Path, name: str) -> None:
    done = command("repro", GOOD, "--backend", name, "--out", "shown.py")
    assert done.status == 0, done.text
    words = [sys.executable, "shown.py"]
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    shown = subprocess.run(words, cwd=here, capture_output=True, text=True, env=variables, timeout=60, check=False)
    assert (shown.returncode, shown.stdout.splitlines()[-1]) == (0, "as expected"), shown
    (here / "beside.py").write_text("MOST = 1\n")
    shown = subprocess.run(words, cwd=here, capture_output=True, text=True, env=variables, timeout=60, check=False)
    assert "outputs expected, 1 got" in shown.stderr, shown


@pytest.mark.slow
@pytest.mark.parametrize("name", BOTH)
def test_minimize_runs_a_file(here: Path, name: str) -> None:
    (here / "beside.py").write_text("MOST = 1\n")
    done = command("minimize", GOOD, "--backend", name, "--out", "small.py", "--steps", "20")
    assert done.status == 0, done.text
    assert "mine_here" in (here / "small.py").read_text()


def test_trend_reports_that_a_file_has_no_versions() -> None:
    done = command("trend", "./mine_here.py")
    assert (done.status, len(done.err.splitlines())) == (2, 1), done.text
    assert "[versions-unknown]" in done.err, done.text
    done = command("trend", "mine_hree.py")
    assert "[backend-file-missing]" in done.err, done.text


@pytest.mark.slow
@pytest.mark.parametrize("name", BOTH)
def test_the_pytest_plugin_runs_a_file(here: Path, name: str) -> None:
    words = [sys.executable, "-m", "pytest", "--onnx-backend", name, "--onnx-case", GOOD]
    variables = {**os.environ, "PYTHONPATH": str(Path(backend_names.__file__).parents[2])}
    done = subprocess.run(words, cwd=here, capture_output=True, text=True, timeout=120, check=False, env=variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout, done.stdout


@pytest.mark.slow
@SANDBOX
@pytest.mark.parametrize("name", BOTH)
def test_a_sandbox_shows_the_folder_of_a_file(here: Path, name: str) -> None:
    done = command("run", "--backend", name, "--case", GOOD, "--isolate", "--results", here / "kept" / "r.ndjson")
    assert done.status in {0, 2}, done.text
    (here / "kept").mkdir(exist_ok=True)
    done = command("run", "--backend", name, "--case", GOOD, "--isolate", "--results", "kept/r.ndjson", "--overwrite")
    assert done.status == 0, done.text


@pytest.mark.slow
@SANDBOX
def test_a_sandbox_shows_a_file_that_lies_elsewhere(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "work").mkdir()
    monkeypatch.chdir(here / "work")
    done = command("run", "--backend", "../mine_here.py", "--case", GOOD, "--isolate")
    assert done.status == 0, done.text


def test_hidden_paths_stay_hidden_within_a_shown_folder(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file lies in a folder that is hidden, and the suite beside it."""
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    hidden, suite, work = here / "hidden", here / "hidden" / "mine" / "suite", here / "work"
    for folder in (suite, work):
        folder.mkdir(parents=True)
    (here / "mine_here.py").rename(hidden / "mine" / "mine_here.py")
    monkeypatch.chdir(work)
    words = sandbox.Isolation((hidden, suite)).of(backend_names.resolve("../hidden/mine/mine_here.py")).sandbox
    places = {
        path: max(index for index, word in enumerate(words) if word == str(path) and words[index - 1] != "--remount-ro")
        for path in (hidden / "mine", suite)
    }
    assert str(hidden) not in words, "the sandbox is empty but for what is shown"
    assert places[hidden / "mine"] < places[suite], words
    assert words[places[suite] - 1] == "--tmpfs", words


def test_a_bug_report_hides_the_folder_of_a_file(here: Path) -> None:
    assert bug_report.public_name(str(here / "mine_here.py")) == "mine_here.py"
    assert bug_report.public_name("./mine_here.py") == "./mine_here.py"
