# SPDX-License-Identifier: Apache-2.0
"""What a case expects, as text: the other values and orders that the text allows are shown."""

from __future__ import annotations

from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.expected_text import expected_rows
from onnx_conformance.declare import Order
from onnx_conformance.generation import plans
from onnx_conformance.report import case as case_report
from onnx_conformance.specification import registry


def shown(operator: str, name: str) -> str:
    op = registry.load().named(operator)
    specs = [spec for spec in op if spec.name == name]
    return "\n".join(case_report.lines(next(plans.cases(op, specs=specs))))


def test_each_value_that_an_output_may_have_has_a_row() -> None:
    text = shown("DictVectorizer", "text_example")
    assert "  Y = int64[4] 4 8 0 0\n  or Y = int64[1,4] 4 8 0 0\n" in text
    assert "tolerance exact, any of several values: " in text


def test_values_that_are_chosen_by_element_are_told_apart() -> None:
    text = shown("ArgMax", "ties_any_infinity")
    assert "  reduced = int64[1] 1\n  or, element by element, reduced = int64[1] 2\n" in text
    assert "tolerance exact, each element any of several: " in text


def test_an_open_order_is_part_of_the_tolerance() -> None:
    assert "tolerance exact, in any order along axis 1, independently for each lane: " in shown("TopK", "unsorted")
    assert "tolerance exact, in any order along axis 0: " in shown("NonMaxSuppression", "plain")
    assert str(Allowance("why", atol=1, any_order=Order(2, lanewise=False))) == "atol 1, in any order along axis 2: why"


def test_a_case_of_one_answer_has_a_row_for_each_output() -> None:
    op = registry.load().named("Split")
    case = next(plans.cases(op, (18,)))
    assert [name for name, _ in expected_rows(case)] == list(case.outputs)
