# SPDX-License-Identifier: Apache-2.0
"""The forms of a single operator that store its parameters in another way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from onnx_conformance.case.case import Case

pytestmark = pytest.mark.usefixtures("few_operators")


@pytest.fixture(scope="module")
def cases() -> dict[str, Case]:
    """Return a case of Add by form, in its oldest version with broadcasting, whose models have an old IR version."""
    selection = Selection(cases=("ai.onnx/Add/7/same_shape", "ai.onnx/Add/7/same_shape@*"))
    return {case.form: case for case in Generated().cases(selection)}


def graph(case: Case) -> onnx.GraphProto:
    return onnx.load_from_string(case.model).graph


def test_constant_nodes_replace_the_inputs_of_the_parameters(cases: dict[str, Case]) -> None:
    plain, delivered = cases["plain"], cases["constant_nodes"]
    constant, add = graph(delivered).node
    assert (constant.op_type, list(constant.output), add.op_type) == ("Constant", ["B"], "Add")
    assert [item.name for item in graph(delivered).input] == list(delivered.inputs) == ["A"]
    assert np.array_equal(numpy_helper.to_array(constant.attribute[0].t), plain.inputs["B"])
    assert np.array_equal(delivered.expected[0], plain.expected[0])


def test_an_overridden_default_has_other_values_than_the_input(cases: dict[str, Case]) -> None:
    plain, delivered = cases["plain"], cases["overridden"]
    (default,) = graph(delivered).initializer
    assert [item.name for item in graph(delivered).input] == list(delivered.inputs) == ["A", "B"]
    assert default.name == "B"
    assert (numpy_helper.to_array(default) != delivered.inputs["B"]).all()
    assert np.array_equal(delivered.inputs["B"], plain.inputs["B"])
    assert np.array_equal(delivered.expected[0], plain.expected[0])


def test_a_default_is_only_overridden_in_an_ir_version_that_has_constants_without_an_input(
    cases: dict[str, Case],
) -> None:
    assert onnx.load_from_string(cases["plain"].model).ir_version == 3
    assert onnx.load_from_string(cases["overridden"].model).ir_version == 4
