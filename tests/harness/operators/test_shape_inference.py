# SPDX-License-Identifier: Apache-2.0
"""Calls that ONNX's own shape inference rejects: two texts contradict each other, so the cases are unspecified."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx.shape_inference
import pytest

from generated import cases, every_operator, model
from onnx_conformance.case.case import PLAIN, Outcome
from onnx_conformance.forms.table import INITIALIZER
from onnx_conformance.generation import plans
from onnx_conformance.specification import registry, schema

if TYPE_CHECKING:
    from onnx_conformance.declare import Op

FAULTS = {
    "Inferred shape and existing shape differ": "It computes a shape that the text contradicts.",
    "(op_type:Constant)": "It rejects the function body of MeanVarianceNormalization 13, not the call.",
}
"""Messages with which shape inference fails although it does not reject the call, and the reasons."""


def rejection(proto: onnx.ModelProto) -> str:
    """Return the message with which shape inference rejects the call of a model, or an empty text."""
    try:
        onnx.shape_inference.infer_shapes(proto, strict_mode=True, data_prop=True)
    except onnx.shape_inference.InferenceError as error:
        return "" if any(text in str(error) for text in FAULTS) else str(error)
    return ""


@pytest.mark.slow
@every_operator
def test_a_call_that_shape_inference_rejects_is_unspecified(op: Op) -> None:
    decided = [case for case in cases(op) if case.expected is not None and case.form in {PLAIN, INITIALIZER}]
    rejected = [f"{case.id}: {message}" for case in decided if (message := rejection(model(case)))]
    assert not rejected, "\n".join(rejected)


@pytest.mark.parametrize(
    ("operator", "since", "name"),
    [
        ("HannWindow", 17, "periodic_empty"),
        ("HammingWindow", 17, "symmetric_empty"),
        ("BlackmanWindow", 17, "periodic_empty"),
        ("ConstantOfShape", 25, "value_scalar"),
        ("Dropout", 22, "ratio_vector"),
        ("DFT", 20, "length_vector"),
        ("OneHot", 11, "scalar"),
        ("SplitToSequence", 24, "lengths_none_dim_zero"),
    ],
)
def test_the_calls_that_shape_inference_rejects_are_unspecified(operator: str, since: int, name: str) -> None:
    op = registry.load().named(operator)
    specs = [spec for spec in plans.specs_of(op, schema.in_force(op.domain, op.name, since)) if spec.name == name]
    (found,) = [case for case in plans.cases(op, (since,), specs) if case.form == PLAIN]
    assert found.outcome is Outcome.UNSPECIFIED
    constant = onnx.load_from_string(found.model)
    for item, value in zip(list(constant.graph.input), found.inputs.values(), strict=True):
        constant.graph.initializer.append(onnx.numpy_helper.from_array(value, item.name))  # Inference reads constants.
    assert rejection(constant)
