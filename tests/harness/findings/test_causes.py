# SPDX-License-Identifier: Apache-2.0
"""Which findings are one fault."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from onnx_conformance.base.verdict import Verdict
from onnx_conformance.findings import causes
from onnx_conformance.findings.finding import Example, FailingCases, Finding, History, Identity, by_cause
from onnx_conformance.findings.finding import causes as number_of_causes
from onnx_conformance.results.severity import Nature, Severity


def finding(
    name: str, operator: str = "Sin", backend: str = "tract", kind: Verdict = Verdict.REFUSED, **more: Any
) -> Finding:
    example = {
        name: more.pop(name)
        for name in ("message", "given", "expected", "inputs", "guilty", "others", "model")
        if name in more
    }
    cases = {name: more.pop(name) for name in ("ids", "forms", "clause", "conditions", "versions") if name in more}
    return Finding(
        name,
        name,
        Identity(backend, f"ai.onnx/{operator}", kind, more.pop("cause", name)),
        FailingCases(1, **cases),
        dataclasses.replace(Example("case", "", {}, {}, {}, ""), **example),
        History(backend, "1"),
        **more,
    )


WRONG, TWO, THREE, FOUR = Verdict.WRONG_VALUE, {"y": "float[1] 2"}, {"y": "float[1] 3"}, {"y": "float[1] 4"}
EMPTY = Severity(Nature.DEGENERATE)

ALIKE = {
    "an informative message names a cause in every operator": (
        {"message": 'Translating node #2 "Sin" Caused by: expected axes as a constant'},
        {"message": 'Translating node #7 "Cos" Caused by: expected axes as a constant', "operator": "Cos"},
    ),
    "the name of a tensor does not matter": (
        {"message": "Cannot parse data from external tensors. Please load it into the raw data of tensor: shape"},
        {"message": "Cannot parse data from external tensors. Please load it into the raw data of tensor: axes",
         "operator": "Cos"},
    ),
    "the ranks and the number of shapes do not matter": (
        {"message": "Incompatible shapes for broadcasting: shapes=[(1, 2), (3,), (3,), (3,)]"},
        {"message": "Incompatible shapes for broadcasting: shapes=[(1, 2, 1), (3, 1), (3, 1)]"},
    ),
    "the wrapper of a library does not matter": (
        {"backend": "onnxruntime", "message": "[Error] : 2 : Status Message: /a/core/pool.h:7 pads are too large"},
        {"backend": "onnxruntime_web", "message": "ERROR_MESSAGE: /mnt/x/core/pool.h:9 pads are too large",
         "operator": "Cos"},
    ),
    "a panic at one line": (
        {"kind": Verdict.CRASH, "message": "the process ended by SIGABRT at hir/src/reduce.rs:12"},
        {"kind": Verdict.CRASH, "message": "the process ended by SIGABRT at hir/src/reduce.rs:12", "operator": "Cos"},
    ),
    "one pass of an optimizer": (
        {"backend": "onnxoptimizer", "kind": Verdict.WRONG_VALUE, "guilty": ("fuse_bn",)},
        {"backend": "onnxoptimizer", "kind": Verdict.WRONG_SHAPE, "guilty": ("fuse_bn",), "operator": "Cos"},
    ),
    "one sentence and one condition of a family": (
        {"kind": WRONG, "clause": "Clip bounds it.", "conditions": ("clip=0", "version is 7")},
        {"kind": WRONG, "clause": "Clip bounds it.", "conditions": ("clip=0",), "operator": "Cos"},
    ),
    "a form that fails for every operator": (
        {"kind": Verdict.WRONG_SHAPE, "forms": ("symbolic",)},
        {"kind": Verdict.WRONG_VALUE, "forms": ("symbolic",), "operator": "Cos"},
    ),
    "an empty tensor that is broadcast": (
        {"kind": Verdict.WRONG_SHAPE, "severity": EMPTY, "inputs": {"a": "float[0]", "b": "float[1] 2"},
         "expected": {"y": "float[0]"}, "given": {"y": "float[1] 2"}},
        {"kind": Verdict.WRONG_SHAPE, "severity": EMPTY, "inputs": {"a": "int8[0]", "b": "int8[1] 3"},
         "expected": {"y": "int8[0]"}, "given": {"y": "int8[1] 3"}, "operator": "Cos"},
    ),
    "integers that are cut to 32 bits": (
        {"kind": WRONG, "expected": {"y": "int64[2] 7 4294967295"}, "given": {"y": "int64[2] 7 2147483647"}},
        {"kind": WRONG, "expected": {"y": "uint32[] 3326731056"}, "given": {"y": "uint32[] -968236240"},
         "operator": "Cos"},
    ),
    "the same difference in two packages of one library": (
        {"backend": "onnxruntime", "kind": WRONG, "expected": TWO, "given": THREE},
        {"backend": "onnxruntime_node", "kind": WRONG, "expected": TWO, "given": THREE},
    ),
    "the same cases fail in two packages of one library": (
        {"backend": "onnxruntime", "kind": Verdict.CRASH, "ids": ("a", "b", "c")},
        {"backend": "onnxruntime_node", "kind": Verdict.CRASH, "ids": ("b", "c", "d")},
    ),
    "the same smallest graph and difference in two packages": (
        {"backend": "onnxruntime", "kind": Verdict.CRASH, "cause": "digest"},
        {"backend": "onnxruntime_web", "kind": Verdict.CRASH, "cause": "digest"},
    ),
    "one rule that two packages do not check": (
        {"backend": "onnxruntime", "kind": Verdict.ACCEPTED_INVALID, "clause": "It must not."},
        {"backend": "onnxruntime_web", "kind": Verdict.ACCEPTED_INVALID, "clause": "It must not."},
    ),
    "nodes without inputs that end the process": (
        {"kind": Verdict.CRASH, "message": "the process ended by SIGSEGV", "clause": "Signature: it has inputs."},
        {"kind": Verdict.CRASH, "message": "the process ended by SIGSEGV", "clause": "Signature: it has inputs.",
         "operator": "Cos"},
    ),
    "models with one fault, whose names differ": (
        {"kind": Verdict.INVALID_MODEL, "message": "the model checker rejects the returned model: Mismatched attribute "
         "type in 'X_cast_to_Sin : to'. Expected: 'STRING', actual: 'INT' ==> Name: X_cast_to_Sin OpType: Cast"},
        {"kind": Verdict.INVALID_MODEL, "message": "the model checker rejects the returned model: Mismatched attribute "
         "type in 'a_cast_to_Cos : to'. Expected: 'STRING', actual: 'INT' ==> Name: a_cast_to_Cos OpType: Cast",
         "operator": "Cos"},
    ),
    "outputs with one wrong type": (
        {"kind": Verdict.INVALID_MODEL, "message": "its output Y is tensor(float16); in the original it is another"},
        {"kind": Verdict.INVALID_MODEL, "message": "its output max is tensor(float16); in the original it is another",
         "operator": "Max"},
    ),
    "initializers that are no inputs": (
        {"kind": Verdict.INVALID_MODEL, "message": "the returned model: B in initializer but not in graph input"},
        {"kind": Verdict.INVALID_MODEL, "message": "the returned model: val_0 in initializer but not in graph input",
         "operator": "Cos"},
    ),
    "versions of one opset without a new meaning": (
        {"kind": Verdict.UNSUPPORTED, "versions": (22,)},
        {"kind": Verdict.UNSUPPORTED, "versions": (22,), "operator": "Cos"},
    ),
    "constants that a tool folds with a runtime": (
        {"backend": "onnx_reference", "kind": WRONG, "expected": TWO, "given": THREE},
        {"backend": "onnxscript_optimizer", "kind": WRONG, "expected": TWO,
         "given": THREE, "others": ({"backend": "onnx_reference", "given": "float[1] 3"},)},
    ),
}  # fmt: skip
APART = {
    "a shape that does not fit, of two operators": (
        {"message": "size mismatch, can't reshape ((6,)) -> ((3, 2, 3))"},
        {"message": "size mismatch, can't reshape ((0, 1, 1)) -> ((1, 1))", "operator": "Cos"},
    ),
    "integers that are cut, and a wrong one": (
        {"kind": WRONG, "expected": {"y": "int64[2] 7 4294967295"}, "given": {"y": "int64[2] 7 2147483647"}},
        {"kind": WRONG, "expected": {"y": "int64[2] 7 4294967295"}, "given": {"y": "int64[2] 8 2147483647"},
         "operator": "Cos"},
    ),
    "integers that are cut, and some that are rounded as float": (
        {"kind": WRONG, "expected": {"y": "int64[1] 4294967295"}, "given": {"y": "int64[1] 2147483647"}},
        {"kind": WRONG, "expected": {"y": "int64[1] 16777217"}, "given": {"y": "int64[1] 16777216"},
         "operator": "Cos"},
    ),
    "one sentence without a condition": (
        {"kind": WRONG, "clause": "It is the sum."},
        {"kind": WRONG, "clause": "It is the sum.", "operator": "Cos"},
    ),
    "one sentence and two conditions": (
        {"kind": WRONG, "clause": "Clip bounds it.", "conditions": ("clip=0",)},
        {"kind": WRONG, "clause": "Clip bounds it.", "conditions": ("clip=1",), "operator": "Cos"},
    ),
    "one pass that fails in two ways": (
        {"backend": "onnxslim", "kind": Verdict.INVALID_MODEL, "guilty": ("fuse",), "message": "no type of an output"},
        {"backend": "onnxslim", "kind": Verdict.INVALID_MODEL, "guilty": ("fuse",), "message": "another rank of it"},
    ),
    "a generic message is a cause of one operator": (
        {"message": "index 3 is out of bounds for axis 1 with size 2"},
        {"message": "index 4 is out of bounds for axis 1 with size 2", "operator": "Cos"},
    ),
    "two libraries": (
        {"message": "expected axes as a constant here"},
        {"message": "expected axes as a constant here", "backend": "tvm"},
    ),
    "models with two faults": (
        {"kind": Verdict.INVALID_MODEL, "message": "the returned model: Unrecognized attribute: to for operator A"},
        {"kind": Verdict.INVALID_MODEL, "message": "the returned model: Unrecognized attribute: n for operator B",
         "operator": "Cos"},
    ),
    "versions of two opsets": (
        {"kind": Verdict.UNSUPPORTED, "versions": (22,)},
        {"kind": Verdict.UNSUPPORTED, "versions": (24,), "operator": "Cos"},
    ),
    "wrong values of two operators with one version": (
        {"kind": WRONG, "versions": (22,)},
        {"kind": WRONG, "versions": (22,), "operator": "Cos"},
    ),
    "a signal names no cause": (
        {"kind": Verdict.CRASH, "message": "the process ended by SIGSEGV"},
        {"kind": Verdict.CRASH, "message": "the process ended by SIGSEGV", "operator": "Cos"},
    ),
    "nodes without inputs that end the process at two lines": (
        {"kind": Verdict.CRASH, "message": "ended by SIGABRT at a.rs:1", "clause": "Signature: it has inputs."},
        {"kind": Verdict.CRASH, "message": "ended by SIGABRT at a.rs:2", "clause": "Signature: it has inputs."},
    ),
    "each operator folds its own constants": (
        {"backend": "onnxslim", "kind": Verdict.WRONG_VALUE, "guilty": ("constant_folding",)},
        {"backend": "onnxslim", "kind": Verdict.WRONG_VALUE, "guilty": ("constant_folding",), "operator": "Cos"},
    ),
    "the same small values of two calls": (
        {"kind": WRONG, "expected": TWO, "given": THREE, "model": "a { y = Sin (x) }"},
        {"kind": WRONG, "expected": TWO, "given": THREE, "model": "b { y = Sin <n: int = 1> (x) }"},
    ),
    "the cases of refusals with two messages": (
        {"backend": "onnxruntime", "ids": ("a", "b"), "message": "the pads are too large for it"},
        {"backend": "onnxruntime_web", "ids": ("a", "b"), "message": "no merge of two shapes here"},
    ),
    "other wrong values": (
        {"kind": WRONG, "expected": TWO, "given": THREE},
        {"kind": WRONG, "expected": TWO, "given": FOUR},
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("pair", "one"), [*((pair, True) for pair in ALIKE.values()), *((pair, False) for pair in APART.values())],
    ids=[*ALIKE, *APART],
)  # fmt: skip
def test_two_findings_have_one_cause(pair: tuple[dict[str, Any], dict[str, Any]], *, one: bool) -> None:
    found = causes.related([finding("a", **pair[0]), finding("b", **pair[1])])
    assert [item.related for item in found] == ([("b",), ("a",)] if one else [(), ()])
    assert number_of_causes(found) == len(by_cause(found)) == (1 if one else 2)


@pytest.mark.parametrize(("number", "one"), [(causes.MOST_OWN_TYPES, True), (causes.MOST_OWN_TYPES - 1, False)])
def test_a_type_that_many_operators_return_is_one_cause(number: int, *, one: bool) -> None:
    types: dict[str, Any] = {"expected": {"y": "float16[1] 0"}, "given": {"y": "float[1] 0"}}
    found = [finding(f"f{n}", f"Op{n}", kind=Verdict.WRONG_TYPE, **types) for n in range(number)]
    assert number_of_causes(causes.related(found)) == (1 if one else number)


def test_a_cause_begins_with_its_most_severe_finding() -> None:
    message = "expected axes as a constant here"
    rare = finding("a", message=message, severity=Severity(Nature.EDGE))
    common = finding("b", "Cos", message=message, severity=Severity(Nature.TYPICAL, 4))
    assert [[item.id for item in group] for group in by_cause(causes.related([rare, common]))] == [["b", "a"]]


NO_AXES = "[ONNXRuntimeError] : 1 : FAIL : Load model failed: no axes in the node"
INSIDE = {
    "a similar message of the runtime in which it loads models": (
        {"backend": "onnxruntime_optimizer", "message": NO_AXES},
        {"backend": "onnxruntime", "verdict": "refused", "given": NO_AXES[:52]},
        "onnxruntime",
    ),
    "the same wrong value of the runtime with which it folds constants": (
        {"backend": "onnxscript_optimizer", "kind": WRONG, "given": THREE},
        {"backend": "onnx_reference", "verdict": "wrong_value", "given": "float[1] 3"},
        "onnx_reference",
    ),
    "a crash has no message": (
        {"backend": "onnxruntime_optimizer", "kind": Verdict.CRASH, "message": "the process ended by SIGSEGV"},
        {"backend": "onnxruntime", "verdict": "crash", "given": ""},
        "onnxruntime",
    ),
    "another message": (
        {"backend": "onnxruntime_optimizer", "message": NO_AXES},
        {
            "backend": "onnxruntime",
            "verdict": "refused",
            "given": "the pads are larger than the kernel of this pooling",
        },
        "",
    ),
    "another value": (
        {"backend": "onnxscript_optimizer", "kind": WRONG, "given": THREE},
        {"backend": "onnx_reference", "verdict": "wrong_value", "given": "float[1] 4"},
        "",
    ),
    "the same tool with another option": (
        {"backend": "onnx_version_converter[21]", "message": NO_AXES},
        {"backend": "onnx_version_converter", "verdict": "refused", "given": NO_AXES},
        "",
    ),
    "the runtime passes": (
        {"backend": "onnxruntime_optimizer", "message": NO_AXES},
        {"backend": "onnxruntime", "verdict": "pass", "given": ""},
        "",
    ),
    "another runtime fails": (
        {"backend": "onnxruntime_optimizer", "message": NO_AXES},
        {"backend": "openvino", "verdict": "refused", "given": NO_AXES},
        "",
    ),
    "a tool without a runtime inside": (
        {"backend": "onnxslim", "kind": WRONG, "given": THREE},
        {"backend": "onnxruntime", "verdict": "wrong_value", "given": "float[1] 3"},
        "",
    ),
}


@pytest.mark.parametrize(("fields", "other", "name"), INSIDE.values(), ids=INSIDE)
def test_a_fault_of_the_runtime_inside_a_tool(fields: dict[str, Any], other: dict[str, str], name: str) -> None:
    assert causes.runtime_at_fault(finding("a", others=(other,), **fields)) == name
