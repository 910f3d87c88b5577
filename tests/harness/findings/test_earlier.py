# SPDX-License-Identifier: Apache-2.0
"""The smallest cases of old findings, restored from their text."""

from __future__ import annotations

import dataclasses
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from onnx_conformance.base.verdict import Verdict
from onnx_conformance.case.model_text import model_text
from onnx_conformance.case.value_text import one
from onnx_conformance.findings import script
from onnx_conformance.findings.earlier import Earlier, OldFindings, value_of
from onnx_conformance.findings.failure_groups import FailureGroup
from onnx_conformance.findings.finding import Example, FailingCases, Finding, Findings, History, Identity
from onnx_conformance.minimize.declared_candidate import build_case
from onnx_conformance.suites.lookup import find_case, plan_if_declarable
from runs import result


@pytest.mark.parametrize(
    "value",
    [
        np.float32([[0.5, -0.0], [np.inf, 1e-30]]),
        np.float32(3),
        np.zeros((0, 2), np.int64),
        np.array([True, False]),
        np.array(["it's", 'a "b"', "", "two words", "\n"], object),
        np.complex64([1 + 2j]),
        np.array([1, -8], ml_dtypes.int4),
        np.array([0.5, 2], ml_dtypes.bfloat16),
    ],
    ids=lambda value: f"{value.dtype}{value.ndim}",
)
def test_a_value_is_read_from_its_text(value: Any) -> None:
    array = np.asarray(value)
    read = value_of(one(array))
    assert read is not None
    assert (read.dtype, read.shape) == (array.dtype, array.shape)
    assert read.tobytes() == array.tobytes() or read.tolist() == array.tolist()


@pytest.mark.parametrize(
    "text",
    [
        one(np.arange(13)),
        one([np.float32([1])]),
        one(None),
        "float[2] 1",
        "float[1] one",
        "bool[1] 1",
        "string[1] 'a",
        "int8[1] 1000",
        "number[1] 1",
        "",
    ],
)
def test_a_value_that_is_cut_or_no_tensor_is_not_read(text: str) -> None:
    assert value_of(text) is None


def earlier(name: str, **changes: Any) -> Earlier:
    case = find_case(name)
    inputs = tuple((key, one(value)) for key, value in case.inputs.items())
    return dataclasses.replace(
        Earlier(case.id, minimized=True, model=model_text(case.model, 10_000), inputs=inputs), **changes
    )


@pytest.mark.parametrize(
    "name",
    [
        "ai.onnx/Split/18/uneven_two",
        "ai.onnx/Split/18/uneven_two@symbolic",
        "ai.onnx/Clip/13/both_n9/float16",
        "ai.onnx/Concat/13/rank2_axis0",
    ],
)
def test_a_case_is_restored_with_the_values_of_the_oracle(name: str) -> None:
    case = find_case(name)
    plan = plan_if_declarable(case)
    assert plan is not None
    candidate = earlier(name).candidate(case, plan)
    assert candidate is not None
    restored = build_case(candidate)
    assert restored is not None
    assert restored[1].model == case.model
    assert restored[1].expected is not None
    assert case.expected is not None
    for value, wanted in zip(restored[1].expected, case.expected, strict=True):
        np.testing.assert_allclose(np.asarray(value, float), np.asarray(wanted, float), rtol=1e-3)


@pytest.mark.parametrize(
    "changes",
    [
        {"model": "no model"},
        {"inputs": (("input", "float[100] 1 2 ..."),)},
        {"model": 'x <ir_version: 10, opset_import: ["" : 13]> g (float[2] input) => (float[2] y) { y = Abs(input) }'},
        {"model": '<ir_version: 10, opset_import: ["" : 18]> g (float[2] input) => (float[2] y) { y = Nobody(input) }'},
        {"model": '<ir_version: 10, opset_import: ["" : 18]> g (float[2] input) => (float[2] y) { y = Abs(input) }'},
    ],
    ids=["text", "cut", "unreadable", "unknown", "another-operator"],
)
def test_what_cannot_be_restored_is_no_candidate(changes: dict[str, Any]) -> None:
    case = find_case("ai.onnx/Split/18/uneven_two")
    plan = plan_if_declarable(case)
    assert plan is not None
    assert earlier(case.id, **changes).candidate(case, plan) is None


def finding(name: str, kind: Verdict, ids: tuple[str, ...], operator: str = "ai.onnx/Split") -> Finding:
    example = Example(f"{ids[0]}_minimized", "", {"input": "float[1] 0"}, {}, {}, "")
    identity = Identity("mine", operator, kind, name)
    return Finding(name, name, identity, FailingCases(len(ids), ids), example, History("mine", "1"))


def test_the_findings_that_share_most_cases_come_first() -> None:
    items = (
        finding("one", Verdict.CRASH, ("a", "b")),
        finding("two", Verdict.CRASH, ("b", "c", "d")),
        finding("other", Verdict.CRASH, ("e",)),
        finding("kind", Verdict.REFUSED, ("b", "c")),
        finding("operator", Verdict.CRASH, ("b", "c"), "ai.onnx/Concat"),
        finding("lost", Verdict.CRASH, ("b", "c", "d")),
    )
    text = f'model = onnx.parser.parse_model("""\n{"a model"}\n""")'
    scripts = {item.id: text for item in items if item.id != "lost"}
    old = OldFindings(Findings({}, {}, items, scripts))
    failures = tuple(dataclasses.replace(result(), case=case) for case in "bcd")
    group = FailureGroup("mine==1", "1", "ai.onnx/Split", Verdict.CRASH, (), failures)
    assert [(item.origin, item.minimized, item.model) for item in old.of(group)] == [
        ("b", True, "a model"),
        ("a", True, "a model"),
    ]
    assert OldFindings(None).of(group) == ()


def test_a_refusal_with_the_message_of_a_finding_may_be_its_fault() -> None:
    """A finding lists 20 of its cases. Crashes and short messages are the same for many faults."""
    said = "Conversion of the operator is not implemented for 3-D inputs"
    text = f'model = onnx.parser.parse_model("""\n{"a model"}\n""")'
    for kind, message, found in (
        (Verdict.REFUSED, said, True),
        (Verdict.REFUSED, said.replace("3-D", "17-D"), True),
        (Verdict.REFUSED, "Another message of the same runtime", False),
        (Verdict.CRASH, said, False),
    ):
        item = finding("one", kind, ("a",))
        item = dataclasses.replace(item, example=dataclasses.replace(item.example, message=said))
        old = OldFindings(Findings({}, {}, (item,), {item.id: text}))
        failure = dataclasses.replace(result(verdict=kind, message=message), case="z")
        group = FailureGroup("mine==1", "1", "ai.onnx/Split", kind, (), (failure,))
        assert bool(old.of(group)) is found, (kind, message)
    short = dataclasses.replace(item, identity=dataclasses.replace(item.identity, kind=Verdict.REFUSED))
    short = dataclasses.replace(short, example=dataclasses.replace(short.example, message="no"))
    old = OldFindings(Findings({}, {}, (short,), {short.id: text}))
    failure = dataclasses.replace(result(verdict=Verdict.REFUSED, message="no"), case="z")
    assert old.of(FailureGroup("mine==1", "1", "ai.onnx/Split", Verdict.REFUSED, (), (failure,))) == ()


def test_the_model_of_a_script_is_read() -> None:
    case = find_case("ai.onnx/Split/18/uneven_two")
    text = script.text(case, "onnx_reference", {"runtime": "onnx.reference", "version": "1", "repro": ""}, "a title")
    assert script.model_of(text) == model_text(case.model, 10_000).strip()
    assert script.model_of("") is None
