# SPDX-License-Identifier: Apache-2.0
"""The use from Python without the command line."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys

import numpy as np
import pytest

import onnx_conformance
from onnx_conformance import Outcome, Verdict, cases, judge
from onnx_conformance.base.errors import HarnessError
from paths import ROOT

pytestmark = pytest.mark.usefixtures("few_operators")

PAGE = ROOT / "docs" / "from-python.md"


def test_the_program_of_the_page_prints_the_output_shown() -> None:
    page = PAGE.read_text()
    program, shown = (re.search(rf"```{kind}\n(.*?)```", page, re.DOTALL)[1] for kind in ("python", "text"))  # type: ignore[index]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(program, str(PAGE), "exec"), {})
    *first, rest = shown.splitlines()
    assert rest == "..."
    assert out.getvalue().splitlines()[: len(first)] == first
    assert len(out.getvalue().splitlines()) > len(first)


def test_a_case_has_a_model_inputs_and_expected_outputs() -> None:
    case = next(case for case in cases(op="Split/18", case="*/uneven_three"))
    assert (case.outcome, case.outputs) == (Outcome.VALUES, ("outputs_0", "outputs_1", "outputs_2")), case.outputs
    assert [value.tolist() for value in case.inputs.values()] == [[0, 1, 2, 3, 4, 5, 6]]
    assert case.expected is not None
    right = [np.asarray(value) for value in case.expected]
    assert judge(case, right).verdict is Verdict.PASS
    assert judge(case, [right[0] + 1, *right[1:]]).verdict is Verdict.WRONG_VALUE
    assert judge(case, right[:2]).verdict is Verdict.WRONG_COUNT
    refused = judge(case, RuntimeError("no such kernel"), backend="toy")
    assert (refused.verdict, refused.message, refused.backend) == (Verdict.REFUSED, "no such kernel", "toy")


def test_a_model_that_must_be_refused_is_judged_by_the_refusal() -> None:
    rejected = {case.force: case for case in cases(op="Split/18") if case.outcome is Outcome.REJECTS}
    for force, verdict in (("must", Verdict.ACCEPTED_INVALID), ("signature", Verdict.LENIENT)):
        assert judge(rejected[force], ValueError("no")).verdict is Verdict.PASS
        assert judge(rejected[force], []).verdict is verdict


@pytest.mark.slow
def test_the_core_is_a_part() -> None:
    core = [case.id for case in cases(op=("Split/18", "Split/13"), core=True)]
    assert 0 < len(core) < sum(1 for _ in cases(op=("Split/18", "Split/13")))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"op": "Splt"}, "--op 'Splt' matches nothing in suite generated; did you mean Split"),
        ({"suite": "nowhere"}, "suite nowhere does not exist"),
        ({"suite": "official", "core": True}, "suite official has no core"),
    ],
)
def test_unknown_options_get_a_sentence(options: dict[str, str], sentence: str) -> None:
    with pytest.raises(HarnessError, match=re.escape(sentence)):
        list(cases(**options))  # type: ignore[arg-type]


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        onnx_conformance.nothing  # noqa: B018


def test_importing_the_package_does_not_import_onnx() -> None:
    program = "import sys, harness; sys.exit('onnx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
