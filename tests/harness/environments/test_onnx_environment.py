# SPDX-License-Identifier: Apache-2.0
"""Another onnx than the installed one: what names one, and commands that run with it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import onnx
import pytest

from commands import command
from onnx_conformance.environments import python_environment
from onnx_conformance.environments.kept_environment import NoEnvironmentError
from onnx_conformance.environments.onnx_environment import OnnxError, requirement
from refusals import refuses

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1.22.0", "onnx==1.22.0"),
        ("onnx==1.22.0", "onnx==1.22.0"),
        ("onnx", "onnx"),
        ("onnx-weekly", "onnx-weekly"),
        ("onnx_weekly", "onnx-weekly"),
        ("onnx-weekly==1.24.0.dev20261026", "onnx-weekly==1.24.0.dev20261026"),
        ("1.23.0rc1", "onnx==1.23.0rc1"),
    ],
)
def test_a_version_or_a_requirement_names_an_onnx(text: str, wanted: str) -> None:
    assert requirement(text) == wanted


@pytest.mark.parametrize(
    ("text", "problem", "right"),
    [
        *((text, "not-an-onnx-version", "onnx-weekly") for text in (
            "", "newest", "onnxruntime", "onnx>=1.20", "onnx==1.*", "onnx[ml]==1.22.0", "onnx @ https://x.example/a.whl",
            "--help",
        )),
        ("1.18.0", "onnx-too-old", "1.19 or later"),
    ],
)  # fmt: skip
def test_what_names_none_is_refused_with_what_would(text: str, problem: str, right: str) -> None:
    with refuses(problem, right, kind=OnnxError):
        requirement(text)
    done = command("list", "--op", "Split", f"--onnx={text}")
    assert (done.status, done.out) == (2, ""), done.text
    assert done.err.count("\n") == 1


def test_an_onnx_that_cannot_be_installed_gets_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(requirements: tuple[str, ...]) -> str:
        raise NoEnvironmentError("no-version", f"no version of {requirements[0]}")

    monkeypatch.setattr(python_environment, "interpreter", none)
    done = command("list", "--op", "Split", "--onnx", "1.19.99")
    assert (done.status, done.out) == (2, ""), done.text
    assert done.refused("onnx-not-installable", "onnx==1.19.99"), done.text
    assert done.err.count("\n") == 1, done.text


def test_the_installed_onnx_needs_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_environment, "interpreter", lambda _: pytest.fail("it made an environment"))
    done = command("list", "--op", "Split/18", "--onnx", onnx.__version__)
    assert done.status == 0, done.text


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "onnx_conformance", *map(str, words)], capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize(("version", "lacks"), [("1.19.1", "ai.onnx/Identity/25"), ("1.21.0", "ai.onnx/OneHot/28")])
def test_a_run_takes_another_onnx(version: str, lacks: str, tmp_path: Path) -> None:
    """Versions that it lacks are left out with a line; the runtimes are those of the Python that runs this."""
    results = tmp_path / "results.ndjson"
    done = run(
        "run", "--onnx", version, "--op", "Split", "--op", "SplitToSequence", "--op", "OneHot", "--op", "Identity",
        "--core", "--backend", "onnx_reference", "--results", results,
    )  # fmt: skip
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    (note,) = [line for line in done.stderr.splitlines() if "[versions-not-in-onnx]" in line]
    assert f" onnx {version} " in note
    assert lacks in note
    records = [json.loads(line) for line in results.read_text().splitlines()]
    operators = {record["operator"] for record in records if record.get("kind") == "result"}
    assert {"ai.onnx/Split/18", "ai.onnx/SplitToSequence/11", "ai.onnx/OneHot/11"} <= operators
    assert lacks not in operators
    none = run("list", "--onnx", version, "--op", lacks.removeprefix("ai.onnx/"))
    assert (none.returncode, none.stdout) == (2, "")
    assert lacks in none.stderr
