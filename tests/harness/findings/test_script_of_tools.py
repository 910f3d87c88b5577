# SPDX-License-Identifier: Apache-2.0
"""The script of a finding of a transformer: whatever is wrong with the model that it made, the script says so."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import onnx
import onnx.printer
import pytest

from composed import X, case_of
from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import Outcome
from onnx_conformance.case.value_text import one
from onnx_conformance.findings import findings_file, script, titles
from onnx_conformance.findings.evidence import _made
from onnx_conformance.findings.failure_groups import FailureGroup
from onnx_conformance.findings.finding import Findings
from onnx_conformance.findings.script import shows
from onnx_conformance.findings.smallest import Smallest
from onnx_conformance.repro import tool_code
from onnx_conformance.repro.tool_code import NOTHING, Made
from onnx_conformance.specification.evaluator import Evaluator
from onnx_conformance.suites.generated import Generated

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_conformance.case.case import Case

MODEL = "agraph (float[2,3] x) => (float[2,3] y) { a = Neg(x)  y = Neg(a) }"
TOOL = {"subject": "transformer", "runtime": "tool", "version": "1"}
OWN = "model.opset_import.add(domain='com.microsoft', version=1); model.graph.node[1].domain = 'com.microsoft'; "
"""Makes the second operator one of ONNX Runtime, which onnx.reference does not know."""
CHANGES = {
    f"{OWN}model.graph.node[1].op_type = 'Gelu'": Verdict.WRONG_VALUE,
    f"{OWN}model.graph.node[1].op_type = 'NoSuch'": Verdict.INVALID_MODEL,
    "model.graph.node[1].op_type = 'Relu'": Verdict.WRONG_VALUE,
    "model.graph.node[1].op_type = 'Shape'": Verdict.INVALID_MODEL,
    "model.graph.node[1].output[0] = model.graph.output[0].name = 'z'": Verdict.INVALID_MODEL,
    "model.graph.output[0].type.tensor_type.elem_type = 11": Verdict.INVALID_MODEL,
    "model.graph.output[0].type.CopyFrom(onnx.helper.make_optional_type_proto(model.graph.output[0].type))":
        Verdict.INVALID_MODEL,
    "model.graph.input.append(onnx.helper.make_tensor_value_info('more', 1, [1]))": Verdict.INVALID_MODEL,
    "model.graph.node[0].op_type = 'NoSuch'": Verdict.INVALID_MODEL,
    "raise ValueError('not today')": Verdict.REFUSED,
    "import os; os.abort()": Verdict.CRASH,
}  # fmt: skip


def said(change: str, path: Path, case: Case | None = None, came: Made = NOTHING, **more: str) -> tuple[int, str]:
    hello = {**TOOL, **more, "repro": f"{change}\n"}
    path.write_text(script.text(case or case_of(MODEL, {"x": X}), "tool", hello, "wrong", came), encoding="utf-8")
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("change", "kind"), CHANGES.items())
def test_a_fault_is_there(change: str, kind: Verdict, tmp_path: Path) -> None:
    status, text = said(change, tmp_path / "script.py")
    assert status == 1, text
    assert shows(text, kind), text


UNUSED = "agraph (float[2,3] x, float[2] unused) => (float[2,3] y) { a = Neg(x)  y = Neg(a) }"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "status"),
    [("", 0), ("model.graph.node[1].op_type = 'Relu'", 1), (f"{OWN}model.graph.node[1].op_type = 'Gelu'", 1)],
)
def test_an_input_that_no_node_needs_may_be_gone(change: str, status: int, tmp_path: Path) -> None:
    case = case_of(UNUSED, {"x": X, "unused": X[:, 0]})
    left, text = said(f"del model.graph.input[1]; {change}", tmp_path / "script.py", case)
    assert left == status, text
    assert not status or shows(text, Verdict.WRONG_VALUE), text


@pytest.mark.slow
@pytest.mark.parametrize("change", ["pass", "model.doc_string = 'changed'", "model.graph.node[0].name = 'n'"])
def test_a_fault_is_gone(change: str, tmp_path: Path) -> None:
    status, text = said(change, tmp_path / "script.py")
    assert status == 0, text


@pytest.mark.parametrize(
    ("does", "expected"),
    [("os.abort()", 1), ("raise ValueError('no')", 0), ("outputs = [inputs['x']]", 0)],
    ids=["dies", "refuses", "answers"],
)
def test_where_the_text_is_silent_only_a_dead_process_is_a_fault(does: str, expected: int, tmp_path: Path) -> None:
    case = dataclasses.replace(case_of(MODEL, {"x": X}), outcome=Outcome.UNSPECIFIED, expected=None)
    for subject in ("runtime", "transformer"):
        repro = f"import os\n{does}\n"
        file = tmp_path / f"{subject}.py"
        file.write_text(script.text(case, "mine", {"subject": subject, "runtime": "mine", "repro": repro}, "crash"))
        done = subprocess.run([sys.executable, file], capture_output=True, text=True, check=False)
        assert done.returncode == expected, done.stdout + done.stderr
        assert shows(done.stdout, Verdict.CRASH) is bool(expected)


@pytest.fixture(scope="module")
def older() -> Case:
    """Before opset 13 Hardmax looks at all axes from its own, since then at one; onnx.reference does the latter."""
    first = case_of("agraph (float[2,3] x) => (float[2,3] y) { y = Hardmax <axis = 0> (x) }", {"x": X})
    model = onnx.load_from_string(first.model)
    model.opset_import[0].version = 11
    values = Evaluator().model(model, first.inputs)
    return dataclasses.replace(first, model=model.SerializeToString(), expected=tuple(values.values()))


def newer(case: Case) -> bytes:
    model = onnx.load_from_string(case.model)
    model.opset_import[0].version = 13
    return bytes(model.SerializeToString())


def given(case: Case) -> str:
    return one(Evaluator().model(onnx.load_from_string(newer(case)), case.inputs)["y"])


CONVERT = "model.opset_import[0].version = 13"
HALVED = """\
halved = [("Cast", "x", "a", {"to": 10}), ("Neg", "a", "b", {}), ("Cast", "b", "y", {"to": 1})]
del model.graph.node[:]
model.graph.node.extend(onnx.helper.make_node(op, [x], [y], **more) for op, x, y, more in halved)
"""
ALONE = "import sys; sys.modules['onnxruntime'] = None"


@pytest.mark.slow
def test_another_evaluator_sees_what_onnx_reference_takes_for_one(older: Case, tmp_path: Path) -> None:
    status, text = said(CONVERT, tmp_path / "script.py", older)
    assert status == 1, text
    assert shows(text, Verdict.WRONG_VALUE), text


@pytest.mark.slow
def test_what_nobody_at_hand_can_judge_cannot_be_seen(older: Case, tmp_path: Path) -> None:
    """Neither as the fault, nor as its end, which is 0."""
    status, text = said(f"{ALONE}; {CONVERT}", tmp_path / "script.py", older)
    assert status == 2, text
    assert "cannot judge the model" in text
    assert said(ALONE, tmp_path / "script.py", older)[0] == 2, "onnx.reference is wrong on it, changed or not"


@pytest.mark.slow
def test_the_model_that_came_is_judged_by_the_text_where_nobody_at_hand_can(older: Case, tmp_path: Path) -> None:
    came = tool_code.made(older, newer(older), TOOL)
    assert came.outputs is not None
    status, text = said(f"{ALONE}; {CONVERT}", tmp_path / "script.py", older, came)
    assert status == 1, text
    assert shows(text, Verdict.WRONG_VALUE), text
    another = f"{ALONE}; {CONVERT}; model.graph.node[0].attribute[0].i = 1"
    assert said(another, tmp_path / "script.py", older, came)[0] == 2, "of another model the script knows nothing"
    assert said("pass", tmp_path / "script.py", older, came)[0] == 0, "onnxruntime is right on it"


def test_so_is_one_whose_values_numpy_lacks(older: Case, tmp_path: Path) -> None:
    """What is expected is of a type that numpy has, what came is not."""
    model = onnx.load_from_string(older.model)
    model.graph.node[0].output[0] = "wide"
    model.graph.node.append(onnx.helper.make_node("Cast", ["wide"], ["y"], to=onnx.TensorProto.BFLOAT16))
    model.graph.output[0].ClearField("type")
    model.opset_import[0].version = 13
    came = tool_code.Made(onnx.printer.to_text(model), (np.ones((2, 3), ml_dtypes.bfloat16),))
    change = f"{ALONE}; model.CopyFrom(onnx.load_from_string({model.SerializeToString()!r}))"
    checked = "import onnx.checker; onnx.checker.check_model = lambda model: None"
    status, text = said(f"{checked}; {change}", tmp_path / "script.py", older, came)
    assert status == 1, text
    assert shows(text, Verdict.WRONG_VALUE), text
    assert "bfloat16 got" in text


@pytest.mark.slow
def test_so_is_one_that_the_text_forbids(older: Case, tmp_path: Path) -> None:
    model = onnx.load_from_string(older.model)
    model.graph.node[0].attribute[0].i = 7
    came = tool_code.made(older, bytes(model.SerializeToString()), TOOL)
    assert came.outputs is None
    assert came.forbidden
    status, text = said(f"{ALONE}; model.graph.node[0].attribute[0].i = 7", tmp_path / "script.py", older, came)
    assert status == 1, text
    assert shows(text, Verdict.INVALID_MODEL), text


@pytest.mark.slow
def test_a_model_of_a_narrower_type_is_held_to_what_that_can_say(tmp_path: Path) -> None:
    """0.1 in float16 is 0.09998; so far off is no fault of who says that it computes so, but of all others."""
    text = "agraph (float[2] x) => (float[2] y) { y = Neg(x) }"
    case = case_of(text, {"x": np.array([0.1, 0.3], np.float32)}, Allowance("exact"))
    assert said(HALVED, tmp_path / "script.py", case, precision="float16")[0] == 0
    assert said(HALVED, tmp_path / "script.py", case)[0] == 1


@pytest.mark.parametrize("model", [None, b"no model", bytes(200_000)])
def test_of_what_is_no_model_nothing_is_kept(model: bytes | None) -> None:
    assert tool_code.made(case_of(MODEL, {"x": X}), model, TOOL) == NOTHING


def test_a_finding_keeps_the_model_that_came_and_what_the_text_gives_to_it(older: Case, tmp_path: Path) -> None:
    met = Result(
        case=older.id, operator=older.operator, backend="tool", verdict=Verdict.WRONG_VALUE, outcome="values"
    )  # fmt: skip
    group = FailureGroup("tool", "1", older.operator, Verdict.WRONG_VALUE, (), (met,))
    found = _made(
        group, Smallest(older, met, (), {**TOOL, "repro": f"{CONVERT}\n"}, (), newer(older)), Generated()
    ).finding
    assert '"" : 13' in found.example.made
    assert found.example.given == {"y": given(older)}
    findings_file.write(tmp_path, Findings({}, {}, (found,)))
    assert findings_file.read(tmp_path).findings[0].example == found.example


def test_a_finding_is_of_the_operator_that_is_left() -> None:
    """The fault was met beside Split, which it does not need."""
    met = Result(
        case="ai.onnx/Split/18/uneven@before_identity", operator="ai.onnx/Split/18", backend="tool",
        verdict=Verdict.WRONG_VALUE, outcome="values", form="before_identity",
    )  # fmt: skip
    group = FailureGroup("tool", "1", "ai.onnx/Split", Verdict.WRONG_VALUE, ("axis=1",), (met,))
    case = dataclasses.replace(case_of(MODEL, {"x": X}), operator="ai.onnx/Neg/13")
    hello = {**TOOL, "repro": "pass\n"}
    made = {
        guilty: _made(
            group, Smallest(case, dataclasses.replace(met, case=case.id), (), hello, guilty), Generated()
        ).finding
        for guilty in ((), ("fuse_negs",))
    }
    finding = made["fuse_negs",]
    assert (finding.identity.operator, finding.cases.versions, finding.cases.conditions) == ("ai.onnx/Neg", (13,), ())
    assert finding.guilt == "guilty pass: fuse_negs"
    assert finding.title.startswith("Neg (13): ")
    assert finding.identity.cause != made[()].identity.cause, "who is guilty tells one cause from another"


def test_what_the_text_forbids_may_show_in_values() -> None:
    assert shows(f"{script.THERE}wrong\n", Verdict.INVALID_MODEL)
    assert not shows(f"{script.THERE}invalid\n", Verdict.WRONG_VALUE)
    assert not shows(f"{script.THERE}refused\n", Verdict.INVALID_MODEL)


def test_a_title_says_why_a_model_is_invalid() -> None:
    case = case_of(MODEL, {"x": X})
    result = Result(
        case=case.id,
        operator=case.operator,
        backend="tool",
        verdict=Verdict.INVALID_MODEL,
        outcome="values",
        message="no type",
    )
    title = titles.title("ai.onnx/Neg", (13,), Verdict.INVALID_MODEL, case, result, ())
    assert title.startswith("Neg (13): returns an invalid model: 'no type' (expected float[2,3] ")
