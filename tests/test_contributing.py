# SPDX-License-Identifier: Apache-2.0
"""The worked examples of CONTRIBUTING.md: an operator, an adapter and a report format do what the page says."""

from __future__ import annotations

import dataclasses
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from packaging.requirements import Requirement

import runtime_fakes
from commands import command
from onnx_conformance import backends
from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.case.case import Outcome
from onnx_conformance.environments import python_environment
from onnx_conformance.forms import delivered, table
from onnx_conformance.generation import coverage, deliveries, plans
from onnx_conformance.specification import registry
from paths import ROOT, TESTS
from runs import data_of
from tools.mutants import __main__ as mutants

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def example(first_words: str) -> str:
    """Return the Python block of the page whose docstring begins so."""
    (block,) = (
        text
        for text in re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
        if f'"""{first_words}' in text
    )
    return block


def data(file: str) -> str:
    """Return the TOML block of the page that names this file in its first line."""
    (block,) = re.findall(rf"^```toml\n(# {re.escape(file)}\n.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return block


def test_the_table_lists_every_folder_of_the_package() -> None:
    package = ROOT / "harness" / "onnx_conformance"
    # A folder that was moved may still contain __pycache__.
    folders = {path.parent.name for path in package.glob("*/*") if path.name != "__pycache__"} - {"__pycache__"}
    table = PAGE.partition("The folders of `harness/onnx_conformance/`")[2].partition("\n\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)/` \|", table, re.MULTILINE)) == folders
    for path in re.findall(r"^\| `([\w./]+)` \|", PAGE.partition("The folders of")[0], re.MULTILINE):
        assert (ROOT / path).exists(), f"the table lists {path}"


def test_the_form_is_delivered_after_one_row_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {**vars(delivered), **vars(table), "dataclasses": dataclasses, "onnx": onnx}
    exec(example("Add a description of the model"), names)
    exec(re.search(r"^row = Form\(.*\)$", PAGE, re.MULTILINE)[0], names)  # type: ignore[index]
    monkeypatch.setattr(table, "FORMS", (*table.FORMS, names["row"]))
    op = registry.load().named("Sign")
    version = registry.versions(op)[-1]
    planned = next(plans.plans(op, (version.since,)))
    cases = {case.form: case for case in plans.delivered(planned)}
    assert onnx.load_from_string(cases["described"].model).doc_string == "a model"
    assert cases["described"].id == f"{planned.id}@described"
    assert "described" in deliveries.form_names(version)
    assert "described" in {form for form, _ in table.delivered(deliveries.started(planned), table.Start.REWRITE)}


def test_the_operator_is_the_file_that_the_page_names() -> None:
    assert "complete file of Sign, `harness/onnx_conformance/operators/math/sign.py`:" in PAGE
    assert example("Sign:") == (ROOT / "harness" / "onnx_conformance" / "operators" / "math" / "sign.py").read_text(
        encoding="utf-8"
    )


def test_the_operator_has_a_case_for_every_schema_point_and_quotes_its_text() -> None:
    op = registry.load().named("Sign")
    for version in registry.versions(op):
        assert all(clause.text in version.text for clause in op.clauses if clause.in_force(version.since))
    cases = list(plans.cases(op))
    assert {case.outcome for case in cases} == {Outcome.VALUES, Outcome.REJECTS}
    open_ = {case.name for case in cases for bound in case.allowance.bounds or () if np.isinf(bound).any()}
    assert open_ == {"nan"}
    for item in coverage.of(op, cases):
        assert not item.missing, item
        assert not item.binding, item


@pytest.mark.slow
def test_the_commands_for_an_operator_do_what_the_page_says(tmp_path: Path) -> None:
    for words in ("check Sign ", "manifest --op Sign ", "nox -s mutants -- --op ai.onnx/Sign "):
        assert words in PAGE
    done = command("check", "Sign")
    assert (done.status, done.out) == (0, "Sign: no faults found\n"), done.text
    done = command("manifest", "--op", "Sign", "--out", tmp_path)
    assert done.status == 0, done.text
    written = (tmp_path / "ai.onnx.Sign.txt").read_text(encoding="utf-8")
    assert written == (ROOT / "generated_cases" / "ai.onnx.Sign.txt").read_text(encoding="utf-8")
    files = ("--results", str(tmp_path / "mutants.ndjson"), "--figures", str(tmp_path / "mutants.toml"))
    ran = CliRunner().invoke(mutants.main, ["--op", "ai.onnx/Sign", "--jobs", "1", *files])
    assert ran.exit_code == 0, ran.output
    assert "100.0 %" in ran.output
    assert "no case notices" not in ran.output


def test_the_adapter_passes_its_check_and_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(ROOT / "docs" / "toy_runtime.py", tmp_path)
    (tmp_path / "toy.py").write_text(example("The toy runtime"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    recorded = tomllib.loads(data("tests/backends/recorded/toy.toml"))["real"]
    info = runtime_fakes.real(tmp_path, "./toy.py", recorded["verdicts"])
    assert re.fullmatch(recorded["info"]["version"], info["version"])


def test_the_data_of_the_adapter_name_its_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "toy.toml").write_text(data("backends/toy.toml"), encoding="utf-8")
    monkeypatch.setattr(python_environment, "BACKENDS", tmp_path)
    needed = python_environment.needs.__wrapped__("toy")
    assert needed is not None
    assert (needed.module, needed.python) == ("toy_runtime", ">=3.11")
    packages = [Requirement(text).name for text in needed.of("1.0")]
    assert packages == ["toy-runtime", *(Requirement(text).name for text in python_environment.EVERY), "onnx"]


def test_the_recorded_errors_of_the_adapter_pass_the_tests_of_adapters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "toy.py").write_text(example("The toy runtime"), encoding="utf-8")
    monkeypatch.setattr(backends, "__path__", [*backends.__path__, str(tmp_path)])
    tests = runpy.run_path(str(TESTS / "backends" / "test_recorded.py"))
    recorded = tests["RUNTIMES"]["toy"] = tomllib.loads(data("tests/backends/recorded/toy.toml"))
    tests["TABLES"].append("toy")
    tests["test_every_runtime_has_errors_that_opt_out_and_others"]()
    tests["test_every_row_of_opt_outs_has_an_error"](monkeypatch, "toy")
    for row in recorded["raised"]:
        tests["test_an_error_opts_out_for_its_reason_or_is_a_failure"](monkeypatch, "toy", row)


@pytest.mark.slow
def test_the_examples_pass_lint_and_types(tmp_path: Path) -> None:
    """In files with the names of the page: other rules apply to backends than to the package."""
    for tool in ("ruff", "mypy"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed; `.ci/run` runs this test where it is")
    tsv = example("Tab-separated values")
    for name, text in (
        ("backends/toy.py", example("The toy runtime")),
        ("harness/onnx_conformance/report/tsv.py", tsv),
        ("harness/onnx_conformance/operators/math/sign_example.py", example("Sign:")),
    ):
        for words in (["check"], ["format", "--diff"]):
            ran = subprocess.run(
                ["ruff", *words, "--quiet", "--stdin-filename", name, "-"],
                input=text, capture_output=True, text=True, cwd=ROOT, check=False,
            )  # fmt: skip
            assert ran.returncode == 0, f"{name}: {ran.stdout}{ran.stderr}"
    (tmp_path / "tsv.py").write_text(tsv, encoding="utf-8")
    ran = subprocess.run(["mypy", tmp_path / "tsv.py"], capture_output=True, text=True, cwd=ROOT, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


WITH_TSV = """
from onnx_conformance import report
report.__path__.append({folder!r})
from onnx_conformance.report import formats, tsv
from onnx_conformance.report.formats import Format
formats.FORMATS |= {{{row}}}
"""
"""A plugin of pytest that adds the format of the page."""


@pytest.mark.slow
def test_the_report_format_passes_the_tests_of_every_format(tmp_path: Path) -> None:
    (row,) = re.findall(r"^ +(\"tsv\": Format\(tsv\.report, .*\),)$", PAGE, re.MULTILINE)
    (tmp_path / "tsv.py").write_text(example("Tab-separated values"), encoding="utf-8")
    (tmp_path / "with_tsv.py").write_text(WITH_TSV.format(folder=str(tmp_path), row=row), encoding="utf-8")
    files = [path for path in (TESTS / "harness").rglob("test_*.py") if "FORMATS" in path.read_text(encoding="utf-8")]
    options = ("-v", "-p", "with_tsv", "-p", "no:cacheprovider", "-k", "tsv")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *files],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout
    for name in (
        "test_every_verdict_has_its_row", "test_every_format_has_its_own_file", "test_an_empty_run_is_no_data",
        "test_a_run_that_was_cut_off_is_reported_and_marked", "test_hostile_texts_stay_text", "test_the_help_names",
        "test_memory_does_not_grow_with_the_run", "test_a_format_shows_statements_if_its_row_says_so",
        "test_the_command_writes_a_format", "test_every_format_names_the_sample",
        "test_every_report_has_the_numbers_of_excluded_failures", "test_a_report_without_a_profile",
    ):  # fmt: skip
        assert re.search(rf"::{name}\w*\[.*tsv.*\] PASSED", ran.stdout), f"{name}: {ran.stdout}"


def test_the_report_format_writes_a_line_a_result(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    exec(example("Tab-separated values"), names)
    hostile = Result(
        "ai.onnx/Split/18/a", "ai.onnx/Split/18", "mine", Verdict.WRONG_VALUE, "values", message="one\ttwo\nthree"
    )
    title, first, second = "".join(names["report"](data_of(tmp_path / "run.ndjson", hostile))).splitlines()
    assert title == "# mine 1.0: suite generated"
    assert first.split("\t") == ["case", "backend", "verdict", "status", "message"]
    assert second.split("\t") == ["ai.onnx/Split/18/a", "mine", "wrong_value", "", "one two three"]
