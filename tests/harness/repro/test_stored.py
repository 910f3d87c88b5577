# SPDX-License-Identifier: Apache-2.0
"""Scripts of models with large weights: the code stays short, and the data are at the end."""

from __future__ import annotations

import runpy
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import user_model
from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import Case, Outcome
from onnx_conformance.judging.ask import LiveAnswer
from onnx_conformance.judging.references import by_oracle
from onnx_conformance.repro import bug_report, stored
from onnx_conformance.repro.bug_report import Issue
from onnx_conformance.repro.script import script

if TYPE_CHECKING:
    from pathlib import Path

HELLO = {"runtime": "mine", "version": "1", "repro": "outputs = [RIGHT]\n"}


def case_of(model: onnx.ModelProto) -> Case:
    x = np.random.default_rng(1).standard_normal((1, 3, 8, 8)).astype(np.float32)
    blank = Case("a/b", "model", model.SerializeToString(), {"x": x}, ("y",), Outcome.VALUES, None, Allowance(""))
    return by_oracle(blank)


def text_of(case: Case) -> str:
    return script(case, Result(case.id, case.operator, "mine", Verdict.WRONG_VALUE, "values"), HELLO)


def run(text: str, path: Path, right: Any) -> dict[str, Any]:
    path.write_text(text)
    return runpy.run_path(str(path), {"RIGHT": right})


def weights(model: onnx.ModelProto) -> dict[str, bytes]:
    return {item.name: numpy_helper.to_array(item).tobytes() for item in model.graph.initializer}


def test_large_values_are_at_the_end_and_unchanged(tmp_path: Path) -> None:
    model = user_model.network()
    case = case_of(model)
    assert case.expected is not None
    right = np.asarray(case.expected[0])
    text = text_of(case)
    code, _, data = text.partition(stored.HEADING)
    assert len(code) < 6000, "a reader sees the code at once"
    assert all(line.startswith("# ") and len(line) <= 120 for line in data.splitlines())
    assert "b0 = " in code, "few elements stay in the code"
    made = run(text, tmp_path / "script.py", right)
    assert weights(made["model"]) == weights(model)
    assert [node.op_type for node in made["model"].graph.node] == [node.op_type for node in model.graph.node]
    assert made["inputs"]["x"].tobytes() == np.asarray(case.inputs["x"]).tobytes()
    assert made["inputs"]["x"].flags.writeable, "some runtimes need that"
    with pytest.raises(AssertionError, match="differ"):
        run(text, tmp_path / "script.py", right + 1)


def test_a_model_that_the_text_format_cannot_express_is_stored_as_a_whole(tmp_path: Path) -> None:
    model = user_model.network()
    model.graph.node[0].doc_string = "said " * 2000  # The text format has none.
    case = case_of(model)
    text = text_of(case)
    assert "cannot express" in text
    assert len(text.partition(stored.HEADING)[0]) < 6000
    assert case.expected is not None
    assert weights(run(text, tmp_path / "script.py", np.asarray(case.expected[0]))["model"]) == weights(model)


def test_small_cases_have_no_data() -> None:
    text = '<ir_version: 8, opset_import: ["" : 13]> m (float[1,3,8,8] x) => (float[1,3,8,8] y) { y = Relu (x) }'
    written = text_of(case_of(onnx.parser.parse_model(text)))
    assert "stored" not in written
    assert stored.HEADING not in written


def test_a_bug_report_fits_into_an_issue() -> None:
    case = case_of(user_model.network())
    result = Result(case.id, case.operator, "mine", Verdict.WRONG_VALUE, "values")
    text = bug_report.markdown(Issue(case, result, LiveAnswer("mine", HELLO, result)))
    assert len(text) < 20_000
    assert "`w1 [24, 24, 3, 3]`" in text
    assert "characters are left out here; `--format folder` writes them" in text
    assert "d = Conv" in text


def test_only_long_data_are_left_out() -> None:
    assert stored.shortened("code\n", 0, "") == "code\n"
    whole = f"code\n{stored.HEADING}# data 0: w\n# abc\n"
    assert stored.shortened(whole, 100, "") == whole
    assert stored.shortened(whole, 5, "elsewhere").endswith("# 18 characters are left out here; elsewhere\n")
