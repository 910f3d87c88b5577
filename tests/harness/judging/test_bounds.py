# SPDX-License-Identifier: Apache-2.0
"""Bounds of a profile: a passed case that exceeds one fails the run, and keeps its verdict."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from commands import command
from onnx_conformance.base.target import Target
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import Case, Outcome
from onnx_conformance.declare import AnyOf
from onnx_conformance.gate import expectations
from onnx_conformance.gate.exceeded import MOST_LINES, Exceeded
from onnx_conformance.judging import profile
from onnx_conformance.judging.judge import judge
from onnx_conformance.processes.replies import Answered, AsExpected
from onnx_conformance.report import report_data
from onnx_conformance.report.formats import FORMATS
from onnx_conformance.results.stream import Run
from refusals import refuses
from runs import SPLIT, result, run_of

if TYPE_CHECKING:
    from pathlib import Path

HEAD = '[[bounds]]\noperator = "Exp"\ntype = "float"\nreason = "safety"\n'
BOUND = "Exp (float), ulp 2: safety"
LOOSE = Allowance("loose", ulp=10)
STEP = 2**-23
"""The unit in the last place of numbers from 1 to 2 in float."""


def read(text: str) -> profile.Profile:
    return profile.of(Target("mine", (), profile=text), {})


def answer(*outputs: Any) -> Answered:
    return Answered(tuple(item if isinstance(item, np.ndarray) else np.float32(item) for item in outputs), 0.1)


def case_of(*expected: Any, allowance: Allowance = LOOSE, outcome: Outcome = Outcome.VALUES) -> Case:
    wanted = tuple(item if isinstance(item, np.ndarray | list) else np.float32([item]) for item in expected)
    return Case("ai.onnx/Exp/13/a", "ai.onnx/Exp/13", b"", {}, ("y",), outcome, wanted, allowance)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEAD, "has no tolerance"),
        (f"{HEAD}ulp = 0", "above 0"),
        (f"{HEAD}units = 2", "'units'"),
        (HEAD.replace('"float"', '"int64"') + "ulp = 2", "no tolerance"),
        (HEAD.replace('"Exp"', '"*"') + "ulp = 2", "operators"),
        (HEAD.replace('reason = "safety"\n', "ulp = 2"), "has no reason"),
    ],
)
def test_a_malformed_table_gets_a_sentence(text: str, words: str) -> None:
    with refuses("bounds-invalid", words, "mine"):
        read(text)


def test_a_pass_that_exceeds_a_bound_names_the_bound_and_the_error() -> None:
    own = read(f"{HEAD}ulp = 2")
    far = judge(case_of(1), "mine", answer([1 + 3 * STEP]), own)
    assert (far.verdict, far.exceeded) == (Verdict.PASS, BOUND)
    assert far.message.startswith("outputs[0]: 1 of 1 elements differ")
    assert "3 ULP" in far.message
    assert judge(case_of(1), "mine", answer([1 + 2 * STEP]), own).exceeded == ""
    assert judge(case_of(1), "mine", answer([1 + 3 * STEP])).exceeded == ""


def test_a_wrong_answer_is_only_wrong() -> None:
    wrong = judge(case_of(1), "mine", answer([2]), read(f"{HEAD}ulp = 2"))
    assert (wrong.verdict, wrong.exceeded) == (Verdict.WRONG_VALUE, "")


def test_equal_bytes_exceed_no_bound() -> None:
    case = case_of(1)
    assert judge(case, "mine", AsExpected(case, 0.1), read(f"{HEAD}ulp = 2")).exceeded == ""


@pytest.mark.parametrize("head", [HEAD.replace('"Exp"', '"Log"'), HEAD.replace('"float"', '"float16"')])
def test_another_operator_or_type_has_no_bound(head: str) -> None:
    assert judge(case_of(1), "mine", answer([1 + 3 * STEP]), read(f"{head}ulp = 2")).exceeded == ""


def test_the_second_output_is_compared_too() -> None:
    own = read(f"{HEAD}ulp = 2")
    case = case_of(np.int64([5]), 1)
    assert judge(case, "mine", answer(np.int64([5]), [1 + 3 * STEP]), own).message.startswith("outputs[1]")


def test_an_element_that_may_have_any_value_has_no_bound() -> None:
    own = read(f"{HEAD}ulp = 2")
    open_element = Allowance("open", bounds=(np.asarray([np.inf, 1.0]),))
    case = case_of(np.float32([1, 1]), allowance=open_element)
    assert judge(case, "mine", answer([7, 1]), own).exceeded == ""
    assert judge(case, "mine", answer([7, 1.5]), own).exceeded == BOUND


def test_the_nearest_of_several_values_counts() -> None:
    own = read(f"{HEAD}ulp = 2")
    either = AnyOf(np.float32([1]), np.float32([4]))
    case = case_of(1, allowance=Allowance("either", any_of=(either,)))
    assert judge(case, "mine", answer([4]), own).exceeded == ""


def test_relative_and_absolute_bounds_add_up() -> None:
    own = read(f"{HEAD}rtol = 0.001\natol = 0.001")
    near, far = (
        judge(case_of(1, allowance=Allowance("wide", atol=1)), "mine", answer([x]), own) for x in (1.0019, 1.0021)
    )
    assert (near.exceeded, far.exceeded) == ("", "Exp (float), rtol 0.001, atol 0.001: safety")


# Runs and gates


def exceeding(name: str = "near", **fields: Any) -> Any:
    return result(name, exceeded=BOUND, message="3 ULP", **fields)


def test_the_gate_is_closed_by_a_pass_that_exceeds_a_bound(tmp_path: Path) -> None:
    run = run_of(tmp_path / "r", exceeding(), exceeding("other"), result())
    data = report_data.read(run, expectations.parse('backend = "mine"\n', tmp_path / "e.toml"))
    assert data.gate is not None
    assert not data.gate.opened
    (problem,) = data.gate.problems
    assert f"{SPLIT}: 2 passed cases exceed the bound {BOUND}; such as {SPLIT}/" in problem
    assert "3 ULP" in problem


@pytest.mark.parametrize("name", [name for name, kind in FORMATS.items() if not kind.commands])
def test_every_report_has_the_number_of_passes_that_exceed_a_bound(name: str, tmp_path: Path) -> None:
    data = report_data.read(run_of(tmp_path / "r", exceeding(), exceeding("other"), result()))
    text = "".join(FORMATS[name].report(data))
    if name == "json":
        assert json.loads(text)["backends"]["mine"]["exceeded"] == 2
    elif name == "ep-conformance":
        (provider,) = json.loads(text)["providers"]
        assert provider["summary"]["passed_exceeding_a_bound"] == 2
        assert [item.get("exceeded") for item in provider["results"]] == [BOUND, BOUND, None]
    else:
        assert "passed, but exceeds a bound of the profile: 2" in text
        assert name == "badge" or BOUND in text


def test_many_operator_versions_share_a_line() -> None:
    exceeded = Exceeded()
    for number in range(MOST_LINES + 2):
        exceeded.add(exceeding(operator=f"ai.onnx/Split/{number}"))
    lines = [*exceeded.lines()]
    assert len(lines) == MOST_LINES + 1
    assert lines[-1] == "and 2 more passed cases exceed a bound"


def test_a_run_fails_because_of_a_bound(tmp_path: Path) -> None:
    """The Softmax of ONNX Runtime is not exact, and the suite allows its errors."""
    own = tmp_path / "own.toml"
    own.write_text(HEAD.replace('"Exp"', '"Softmax"') + "ulp = 0.25\n", encoding="utf-8")
    words = ("run", "--op", "Softmax/13", "--type", "float", "--form", "plain", "--backend", "onnxruntime")
    free = command(*words, "--results", tmp_path / "free.ndjson")
    assert free.status == 0, free.text
    bound = command(*words, "--profile", own, "--results", tmp_path / "bound.ndjson")
    assert bound.status == 1, bound.text
    assert "passed, but exceeds a bound of the profile" in bound.text
    assert "ai.onnx/Softmax/13: " in bound.text
    (header,) = (Run(tmp_path / "bound.ndjson").header,)
    assert header["backends"]["onnxruntime"]["bounds"] == [
        {"operator": "Softmax", "type": ["float"], "ulp": 0.25, "reason": "safety"}
    ]
