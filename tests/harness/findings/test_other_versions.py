# SPDX-License-Identifier: Apache-2.0
"""The smallest case of a finding in the other versions of its operator with the same meaning."""

from __future__ import annotations

from dataclasses import replace

import onnx
import pytest

from onnx_conformance.base.verdict import Verdict
from onnx_conformance.case.case import Case, Outcome
from onnx_conformance.environments import backend_names
from onnx_conformance.findings import other_versions, smallest
from onnx_conformance.judging.ask import ask_and_judge
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.processes.asker import Asker
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.selection import Selection

RELU = "ai.onnx/Relu/14/rank1"


def case_of(case_id: str) -> Case:
    (case,) = Generated().cases(Selection(ids=frozenset({case_id})))
    return case


def test_the_same_call_is_made_in_another_version() -> None:
    made = other_versions.in_version(case_of(RELU), 6)
    assert made is not None
    assert made.operator == "ai.onnx/Relu/6"
    assert onnx.load_from_string(made.model).opset_import[0].version == 6
    with_integers = case_of("ai.onnx/Relu/14/limits_int8")
    assert other_versions.in_version(with_integers, 6) is None, "version 6 has no integers"


@pytest.mark.parametrize(
    ("case", "version"), [("ai.onnx/Cast/1/named_float16", 9), ("ai.onnx/GlobalLpPool/1/p_1_before_2", 2)]
)
def test_an_attribute_has_the_type_of_its_version(case: str, version: int) -> None:
    assert other_versions.in_version(case_of(case), version) is None


def test_a_forbidden_call_must_be_forbidden_in_the_other_version() -> None:
    forbidden = case_of("ai.onnx/Concat/13/one_axis_too_high")
    assert forbidden.outcome is Outcome.REJECTS
    assert other_versions.in_version(forbidden, 11) is not None
    valid = case_of(RELU)
    assert other_versions.in_version(replace(valid, outcome=Outcome.REJECTS, expected=None), 13) is None
    assert other_versions.in_version(replace(valid, outcome=Outcome.UNSPECIFIED, expected=None), 13) is None


@pytest.mark.parametrize("change", ["files", "nodes"])
def test_a_model_of_several_nodes_or_files_is_left_out(change: str) -> None:
    case = case_of(RELU)
    if change == "files":
        case = replace(case, files={"data": b""})
    else:
        model = onnx.load_from_string(case.model)
        model.graph.node.add(op_type="Relu", input=["Y"], output=["Z"])
        case = replace(case, model=model.SerializeToString())
    assert other_versions.in_version(case, 6) is None


@pytest.mark.slow
def test_versions_in_which_a_backend_fails_in_the_same_way_are_named() -> None:
    """LRN accepts no even size in onnxruntime, in any version."""
    target = backend_names.resolve("onnxruntime")
    case = case_of("ai.onnx/LRN/13/size_2")
    assert other_versions.failing(case, Verdict.REFUSED, target, Limits()).keys() == {1}
    assert other_versions.failing(case, Verdict.WRONG_VALUE, target, Limits()) == {}


@pytest.mark.slow
def test_the_smallest_case_is_shown_in_the_newest_version_that_fails() -> None:
    target = backend_names.resolve("onnxruntime")
    old = case_of("ai.onnx/LRN/1/size_2")
    with Asker(target, Limits()) as asker:
        refused = ask_and_judge(asker, old).result
    others = other_versions.failing(old, Verdict.REFUSED, target, Limits())
    assert others.keys() == {13}
    newest = smallest._in_newest(old, refused, others)
    assert newest is not None
    assert (newest[0].operator, newest[1].result.verdict) == ("ai.onnx/LRN/13", Verdict.REFUSED)
    assert smallest._in_newest(newest[0], newest[1].result, {1: (old, newest[1])}) is None
    crash = replace(refused, verdict=Verdict.CRASH, message="the process ended by SIGSEGV")
    assert smallest._in_newest(old, crash, others) is None, "13 fails in another way"
    other = replace(old, clauses=("A sentence of version 1 alone.",))
    assert smallest._in_newest(other, refused, others) is None, "13 does not have the sentence"
    assert smallest._in_newest(old, refused, {}) is None
