# SPDX-License-Identifier: Apache-2.0
"""The GitHub Action: its scripts are run as the runner runs them, and no input can be a command."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from packaging.requirements import Requirement

from onnx_conformance.base.package import REPOSITORY
from onnx_conformance.base.selection_options import OPTIONS
from onnx_conformance.environments import python_lock
from onnx_conformance.report.formats import FORMATS
from paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("few_operators")

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = ACTION["runs"]["steps"]
SCRIPTS = {step["name"]: step for step in STEPS if "run" in step}
DEFAULTS = {name: str(input_.get("default", "")) for name, input_ in ACTION["inputs"].items()}
PIP = ["-m", "pip", "install", "--disable-pip-version-check"]
VERIFIED = [*PIP, "--require-hashes", "--only-binary=:all:", f"--requirement={ROOT / 'action.lock'}"]
LOCKED = "--constraint=versions"
TOY = {"backend": "toy_runtime.Toy", "op": "Split/18"}


def program(path: Path, command: str) -> None:
    path.write_text(f"#!/usr/bin/env bash\n{command}\n")
    path.chmod(0o755)


@dataclass
class Job:
    """A runner's job with one use of the action: its files and its output."""

    folder: Path
    log: str = ""
    outputs: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("bin", "work"):
            (self.folder / name).mkdir()
        program(self.bin / "onnx-conformance", f'exec "{sys.executable}" -m onnx_conformance "$@"')
        program(self.bin / "python", f'[ "$2" = pip ] || exec "{sys.executable}" "$@"\n'
                                     f'for word in "$@" ""; do case "$word" in --constraint=*)\n'
                                     f'cp "${{word#*=}}" "{self.versions}"; word=--constraint=versions; esac\n'
                                     f'echo "$word" >> "{self.installed}"; done')  # fmt: skip
        (self.work / "toy_runtime.py").write_bytes((ROOT / "docs" / "toy_runtime.py").read_bytes())
        self.summary.touch()

    @property
    def bin(self) -> Path:
        return self.folder / "bin"

    @property
    def work(self) -> Path:
        return self.folder / "work"

    @property
    def summary(self) -> Path:
        return self.folder / "summary.md"

    @property
    def installed(self) -> Path:
        """The words of each call of pip, with an empty line after each."""
        return self.folder / "installed"

    @property
    def versions(self) -> Path:
        """The constraints that pip got."""
        return self.folder / "versions"

    def use(self, **overrides: str) -> dict[str, int]:
        """Run the steps as the runner does; return the exit status of those that ran."""
        inputs = DEFAULTS | {name.replace("_", "-"): value for name, value in overrides.items()}
        statuses: dict[str, int] = {}
        for name, step in SCRIPTS.items():
            condition = step.get("if", "success()")
            assert condition in {
                "success()", "${{ !cancelled() }}", "${{ !cancelled() && steps.run.outputs.status != '' }}",
            }, condition  # fmt: skip
            if condition == "success()" and any(statuses.values()):
                continue
            if "outputs.status" in condition and not self.outputs.get("status"):
                continue
            statuses[name] = self._run(step, inputs)
        return statuses

    def _run(self, step: dict[str, Any], inputs: dict[str, str]) -> int:
        files = {"GITHUB_OUTPUT": self.folder / "output", "GITHUB_ENV": self.folder / "env"}
        for file in files.values():
            file.write_text("")
        environment = {
            "PATH": f"{self.bin}:{os.defpath}:/usr/bin:/bin", "PYTHONPATH": str(ROOT / "harness"), "LC_ALL": "C.UTF-8",
            "OPENBLAS_NUM_THREADS": "1",
            "GITHUB_STEP_SUMMARY": str(self.summary),
            **{name: str(file) for name, file in files.items()},
            **{name: self._value(text, inputs) for name, text in step.get("env", {}).items()},
        }  # fmt: skip
        script = self.folder / "script.sh"
        script.write_text(step["run"])
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)], cwd=self.work, env=environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False,
        )  # fmt: skip
        self.log += done.stdout
        if "id" in step:
            self.outputs = outputs(files["GITHUB_OUTPUT"].read_text())
        return done.returncode

    def _value(self, text: str, inputs: dict[str, str]) -> str:
        """Return the value of an expression of a step's `env`."""
        match = re.fullmatch(r"\$\{\{ (inputs|steps\.run\.outputs|github)\.([\w-]+) \}\}", text)
        assert match, text
        where = {"inputs": inputs, "steps.run.outputs": self.outputs, "github": {"action_path": str(ROOT)}}[match[1]]
        return where.get(match[2], "") if match[1] != "inputs" else where[match[2]]


def outputs(text: str) -> dict[str, str]:
    """Read a file of outputs as the runner does."""
    values, lines = {}, iter(text.splitlines())
    for head in lines:
        name, _, end = head.partition("<<")
        value: list[str] = []
        for line in lines:
            if line == end:
                break
            value.append(line)
        values[name] = "\n".join(value)
    return values


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path)


# The text


@pytest.mark.slow
def test_inputs_are_in_no_script() -> None:
    assert len(SCRIPTS) >= 4, list(SCRIPTS)
    for name, step in SCRIPTS.items():
        assert "${{" not in step["run"], f"{name}: an expression in a script is a way to inject commands"
        assert step["shell"] == "bash", name


@pytest.mark.slow
def test_every_input_is_used_and_every_expression_is_known() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    used = set(re.findall(r"inputs\.([\w-]+)", text))
    assert used == set(ACTION["inputs"])
    for name, output in ACTION["outputs"].items():
        assert output["value"] == f"${{{{ steps.run.outputs.{name} }}}}"
    for declared in (*ACTION["inputs"].values(), *ACTION["outputs"].values()):
        assert declared["description"].strip()
    assert ACTION["runs"]["using"] == "composite"


@pytest.mark.slow
def test_arguments_of_pip() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["name"] == "onnx-conformance", "the action installs a release by that name"


# Installing


@pytest.mark.slow
@pytest.mark.parametrize(
    ("inputs", "calls"),
    [
        ({}, [VERIFIED, [*PIP, str(ROOT), LOCKED]]),
        ({"locked": "versions"}, [[*PIP, str(ROOT), LOCKED]]),
        ({"locked": "false"}, [[*PIP, str(ROOT)]]),
        ({"version": "1.2"}, [[*PIP, "onnx-conformance==1.2"]]),
        ({"requirements": "  mine==1.2\n-r r.txt "},
         [VERIFIED, [*PIP, str(ROOT), LOCKED, "mine==1.2", "-r", "r.txt"]]),
        ({"requirements": "* $(touch pwned); `x`"},
         [VERIFIED, [*PIP, str(ROOT), LOCKED, "*", "$(touch", "pwned);", "`x`"]]),
    ],
)  # fmt: skip
def test_the_checkout_and_the_packages_of_the_runtime_are_installed(
    inputs: dict[str, str], calls: list[list[str]], job: Job
) -> None:
    step = SCRIPTS["Install"]
    assert job._run(step, DEFAULTS | inputs) == 0, job.log
    assert [text.split("\n") for text in job.installed.read_text().removesuffix("\n\n").split("\n\n")] == calls
    assert not (job.work / "pwned").exists()


@pytest.mark.slow
def test_the_constraints_are_the_versions_of_the_lock_without_digests(job: Job) -> None:
    assert job._run(SCRIPTS["Install"], DEFAULTS) == 0, job.log
    pins = python_lock.pins((ROOT / "action.lock").read_text(), "action.lock")
    lines = [line for line in job.versions.read_text().splitlines() if not line.startswith("#")]
    assert [Requirement(line) for line in lines] == [pin.requirement for pin in pins]


@pytest.mark.slow
@pytest.mark.parametrize("locked", ["", "yes", "$(touch pwned)"])
def test_locked_is_true_versions_or_false(locked: str, job: Job) -> None:
    assert job._run(SCRIPTS["Install"], DEFAULTS | {"locked": locked}) == 1
    assert job.log == "::error title=onnx-conformance::the input locked must be true, versions or false\n"
    assert not job.installed.exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("locked", "fails", "way_out"),
    [
        ("true", "--require-hashes", "versions"),
        ("true", "--constraint=*", "false"),
        ("versions", "--constraint=*", "false"),
        ("false", "pip", None),
    ],
)
def test_a_failure_of_pip_gets_a_message_with_a_way_out(locked: str, fails: str, way_out: str | None, job: Job) -> None:
    program(job.bin / "python", f'for word in "$@"; do case "$word" in {fails}) exit 3; esac; done')
    assert job._run(SCRIPTS["Install"], DEFAULTS | {"locked": locked}) == 3
    assert job.log.count("::error title=onnx-conformance::pip could not install the packages") == (way_out is not None)
    assert way_out is None or job.log.endswith(f"set the input locked: {way_out}\n")


SLUG = REPOSITORY.removeprefix("https://github.com/")
PINNED = re.compile(r"[\w-]+/[\w.-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+")
USES = [(path.name, text)
        for path in (ROOT / "action.yml", ROOT / "README.md",
                     *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / ".github").rglob("*.yml")))
        for text in re.findall(r"^\s*(?:- )?uses: (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("file", "used"), USES)
def test_an_action_that_is_used_is_one_commit(file: str, used: str) -> None:
    assert PINNED.fullmatch(used) or used.startswith((f"{SLUG}@", f"{SLUG}/.github/")), f"{file}: a tag can be moved"


@pytest.mark.slow
def test_the_actions_that_are_used_are_read() -> None:
    assert {file for file, _ in USES} == {
        "action.yml", "ci.yml", "execution-provider.md", "gate-in-ten-minutes.md", "pages.yml",
        "publish-your-results.md", "release.yml", "report.yml",
    }  # fmt: skip
    assert not PINNED.fullmatch("actions/checkout@v4")


# Running


def arguments(job: Job, **inputs: str) -> list[str]:
    """Return the arguments of `run` that inputs of the action become."""
    program(job.bin / "onnx-conformance", f'printf "%s\\n" "$@" > "{job.folder / "arguments"}"')
    assert job._run(SCRIPTS["Run"], DEFAULTS | {"backend": "mine"} | inputs) == 0, job.log
    return (job.folder / "arguments").read_text().split("\n")[:-1]


def test_inputs_are_options_of_run(job: Job) -> None:
    program(job.bin / "bwrap", "exit 0")
    usual = ["run", "--backend=mine", "--suite=generated", "--jobs=2", "--timeout=20"]
    usual.append("--results=onnx-conformance/results.ndjson")
    assert arguments(job) == [*usual, "--core"]
    assert arguments(
        job, op="Add Split*", case="*/Split/*", tag="edge $(touch pwned)", form="plain\ntop", core="false",
        sample="1/9", repeat="2", isolate="true", memory="4G", shard="1/4",
    ) == [
        *usual, "--op=Add", "--op=Split*", "--case=*/Split/*", "--tag=edge", "--tag=$(touch", "--tag=pwned)",
        "--form=plain", "--form=top", "--isolate", "--sample=1/9", "--repeat=2", "--memory=4G", "--shard=1/4",
    ]  # fmt: skip
    assert not (job.work / "pwned").exists()


@pytest.mark.parametrize("name", ["core", "isolate"])
def test_a_switch_is_true_or_false(name: str, job: Job) -> None:
    assert job._run(SCRIPTS["Run"], DEFAULTS | {"backend": "mine", name: "yes"}) == 2
    assert job.log == f"::error title=onnx-conformance::the input {name} must be true or false\n"


@pytest.mark.slow
def test_a_closed_gate_fails_the_last_step_after_all_reports(job: Job) -> None:
    statuses = job.use(**TOY)
    assert statuses == {"Install": 0, "Run": 0, "Report": 0, "Gate": 1}, job.log
    assert job.outputs == {
        "status": "1", "results": "onnx-conformance/results.ndjson", "report-folder": "onnx-conformance"
    }  # fmt: skip
    assert "\n::warning title=accepted_invalid%3A ai.onnx/Split/18::" in job.log
    assert job.summary.read_text().startswith("# toy_runtime.Toy unknown: suite generated")
    reports = {path.name for path in (job.work / "onnx-conformance").iterdir()}
    assert reports == {kind.file for kind in FORMATS.values()} | {"results.ndjson"}


@pytest.mark.slow
def test_expected_failures_leave_the_gate_open_and_nothing_red(job: Job) -> None:
    job.use(**TOY)
    update = ["expectations", "update", "onnx-conformance/results.ndjson", "--expectations", "toy.toml"]
    environment = {"PATH": f"{job.bin}:/usr/bin:/bin", "PYTHONPATH": str(ROOT / "harness")}
    words = [str(job.bin / "onnx-conformance"), *update, "--accept-new", "--reason", "day one"]
    subprocess.run(words, cwd=job.work, env=environment, check=True, capture_output=True)
    job.log = ""
    statuses = job.use(**TOY, expectations="toy.toml", results="new/r.ndjson", report_folder="reports of today")
    assert statuses == {"Install": 0, "Run": 0, "Report": 0, "Gate": 0}, job.log
    assert "the gate is open" in job.log
    assert not re.findall(r"^::(?:error|warning|notice)", job.log, re.MULTILINE), job.log
    assert ' failures="0" errors="0"' in (job.work / "reports of today" / "junit.xml").read_text()
    ctrf = json.loads((job.work / "reports of today" / "ctrf.json").read_text())
    assert ctrf["results"]["summary"]["failed"] == 0


@pytest.mark.slow
def test_a_run_that_does_not_begin_is_an_annotation_and_a_failure(job: Job) -> None:
    statuses = job.use(backend="no_such_backend")
    assert (statuses["Run"], statuses["Report"], statuses["Gate"]) == (0, 2, 2), job.log
    assert job.outputs["status"] == "2"
    assert "there is no backend 'no_such_backend'" in job.log
    assert "\n::error title=onnx-conformance::the run ended with status 2 and wrote no results" in job.log


@pytest.mark.slow
def test_results_of_an_earlier_run_are_not_taken_for_this_one(job: Job) -> None:
    (job.work / "old.ndjson").write_text("{}")
    assert job.use(backend="no_such_backend", results="old.ndjson")["Report"] == 2, job.log
    assert not (job.work / "old.ndjson").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "hostile", ['"; touch pwned; "', "$(touch pwned)", "`touch pwned`", "--resume", "x\ny=z", "* ?"]
)
def test_an_input_is_never_a_command_or_an_option(hostile: str, job: Job) -> None:
    several = dict.fromkeys(("backend", "expectations", "suite", "op", "shard", "jobs", "timeout", "results"), hostile)
    for inputs in (several, {**TOY, "expectations": hostile}, {**TOY, "results": hostile, "op": "NoSuchOperator"}):
        statuses = job.use(**inputs)
        assert statuses["Gate"] == 2, job.log
        assert set(job.outputs) == {"status", "results", "report-folder"}
        assert job.outputs["results"] == inputs.get("results", "onnx-conformance/results.ndjson").strip()
    assert "Traceback" not in job.log
    assert [path.name for path in job.folder.rglob("*pwned*") if path.parent != job.work or path.name == "pwned"] == []


@pytest.mark.slow
def test_texts_of_a_runtime_are_no_workflow_commands(job: Job) -> None:
    (job.work / "toy_runtime.py").write_text(
        "class Toy:\n    @staticmethod\n    def prepare(model, device):\n"
        "        raise ValueError('\\n::error title=evil::x\\n::set-output name=status::0')\n"
    )
    statuses = job.use(**TOY)
    assert (statuses["Run"], statuses["Report"], statuses["Gate"]) == (0, 0, 1), job.log
    token = re.findall(r"^::stop-commands::(\w{32})$", job.log, re.MULTILINE)
    assert len(token) == 1, job.log
    _, begun, rest = job.log.partition(f"::stop-commands::{token[0]}\n")
    report, ended, after = rest.partition(f"\n::{token[0]}::\n")
    assert begun
    assert ended
    assert "evil" in report
    annotations = [line for line in after.splitlines() if line.startswith("::")]
    assert annotations, after
    assert all(re.match(r"::\w+ title=refused%3A ai\.onnx/Split/18::", line) for line in annotations), after


def test_each_option_that_selects_cases_is_an_input() -> None:
    others = {"version": "newest"}  # The input `version` is the release to install.
    assert {others.get(row.name, row.name) for row in OPTIONS} <= set(ACTION["inputs"])


def test_no_key_of_the_action_is_there_twice() -> None:
    """GitHub rejects such a file, but the parser keeps only the last of them."""

    def keys(node: yaml.Node) -> Iterator[list[str]]:
        if isinstance(node, yaml.MappingNode):
            yield [key.value for key, _ in node.value]
        children = (
            [child for pair in node.value for child in pair] if isinstance(node, yaml.MappingNode) else node.value
        )
        for child in children if isinstance(node, yaml.CollectionNode) else ():
            yield from keys(child)

    every = [*keys(yaml.compose((ROOT / "action.yml").read_text(encoding="utf-8")))]
    assert len(every) > len(ACTION["inputs"])
    for names in every:
        assert len(names) == len(set(names)), names


@pytest.mark.slow
def test_the_inputs_select_cases(tmp_path: Path) -> None:
    job = Job(tmp_path)
    job.use(**TOY, core="false", opsets="13..18", newest="true", type="float", no_containers="true", at_most="4")
    first = json.loads((job.work / job.outputs["results"]).read_text(encoding="utf-8").splitlines()[0])
    selection = "--op Split/18 --type float --no-containers --opsets 13..18 --version newest --at-most 4"
    assert first["arguments"]["selection"] == selection, job.log
