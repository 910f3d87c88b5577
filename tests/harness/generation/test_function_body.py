# SPDX-License-Identifier: Apache-2.0
"""The form @expanded: whether the function body of an operator agrees with its text."""

from __future__ import annotations

import dataclasses

import numpy as np
import onnx
import onnx.parser

from onnx_conformance.case.case import Case, Outcome
from onnx_conformance.declare import DeclarationError
from onnx_conformance.forms.table import EXPANDED
from onnx_conformance.generation import deliveries, function_body, plans
from onnx_conformance.specification import evaluator, registry
from onnx_conformance.specification.evaluator import Evaluator
from refusals import refuses

# Whether the body and the text agree


def expanded(operator: str, name: str, since: int) -> Case:
    """Return a case as its function body, before anybody asked whether they agree."""
    op = registry.load().named(operator)
    (plan,) = plans.plans(op, (since,), [spec for spec in op if spec.name == name])
    made = deliveries.in_form(plan, EXPANDED)
    assert made is not None
    return deliveries.build(plan, EXPANDED, made)


def test_a_body_that_gives_something_else_needs_a_dispute() -> None:
    case = expanded("ReduceLogSumExp", "large", 18)
    with refuses("function-body-differs", "large@expanded", "outputs[0]: ", "got inf", kind=DeclarationError):
        function_body.agreed(case, None, Evaluator())
    disputed = function_body.agreed(case, "because", Evaluator())
    assert disputed
    assert (disputed.outcome, disputed.expected, disputed.notes[-1]) == (Outcome.UNSPECIFIED, None, "because")


def test_a_body_that_is_not_valid_needs_a_dispute() -> None:
    case = expanded("Clip", "fractions_bfloat16", 13)
    with refuses("function-body-differs", "fractions_bfloat16@expanded", "tensor(bfloat16)", kind=DeclarationError):
        function_body.agreed(case, None, Evaluator())


def test_a_body_that_agrees_has_the_same_expected_outputs() -> None:
    case = expanded("Clip", "both_infinities", 13)
    for dispute in (None, "needless"):
        left = function_body.agreed(case, dispute, Evaluator())
        assert left
        assert (left.outcome, left.expected, left.notes) == (case.outcome, case.expected, case.notes)


def test_a_body_rests_on_the_readings_of_its_parts() -> None:
    case = expanded("Clip", "both_nan", 13)
    left = function_body.agreed(dataclasses.replace(case, readings=("R9",)), None, Evaluator())
    assert left
    assert left.readings == ("R5", "R9"), "the body compares with NaN"


def test_outputs_that_the_parts_leave_open_are_unspecified() -> None:
    case = expanded("DynamicQuantizeLinear", "signed_zero", 11)
    left = function_body.agreed(case, None, Evaluator())
    assert left
    assert (left.outcome, left.expected) == (Outcome.UNSPECIFIED, None)
    assert "Computes the min" in left.clauses[-1]
    assert left.clauses[-1] in left.detail


def test_elements_that_the_parts_leave_open_are_not_determined_by_the_body() -> None:
    case = expanded("HardSigmoid", "nan", 22)
    left = function_body.agreed(case, None, Evaluator())
    assert left
    assert left.outcome is Outcome.VALUES, "the operator leaves the same elements open"
    strict = dataclasses.replace(case, allowance=dataclasses.replace(case.allowance, bounds=None))
    left = function_body.agreed(strict, None, Evaluator())
    assert left
    assert (left.outcome, left.expected) == (Outcome.UNSPECIFIED, None)
    assert left.clauses[-1] in left.detail


def test_elements_that_the_parts_leave_open_need_not_matter() -> None:
    case = expanded("Softmax", "nan", 13)  # Whatever the maximum of NaN is, the result is NaN.
    left = function_body.agreed(case, None, Evaluator())
    assert left
    assert left.outcome is Outcome.VALUES


def test_without_the_parts_there_is_no_such_form() -> None:
    case = expanded("Clip", "both_infinities", 13)
    assert function_body.agreed(case, None, Evaluator(registry.Registry([registry.load().named("Split")]))) is None


def test_an_operator_without_a_file_is_evaluated_by_its_body() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 18]> g (float[3] x, float limit) => (float[3] y) { y = Clip (x, , limit) }'
    )
    parts = [op for op in registry.load() if op.name != "Clip"]
    answers = evaluator.Evaluator(registry.Registry(parts)).model(
        model, {"x": np.array([1, 5, 9], np.float32), "limit": np.array(4, np.float32)}
    )
    assert np.asarray(answers["y"]).tolist() == [1, 4, 4]
