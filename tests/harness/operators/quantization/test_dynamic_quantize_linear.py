# SPDX-License-Identifier: Apache-2.0
"""DynamicQuantizeLinear beside a tie, where a scale that is off by an ULP rounds to the other integer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from onnx_conformance.case.compare import compare
from onnx_conformance.generation import plans
from onnx_conformance.operators.quantization.dynamic_quantize_linear import DYNAMIC

if TYPE_CHECKING:
    from onnx_conformance.generation.deliveries import Plan

SCALE = np.float32(5) / np.float32(255)


def passes(name: str, y: list[int], zero_point: int, scale: np.float32) -> bool:
    plan: Plan = next(plans.plans(DYNAMIC, specs=[spec for spec in DYNAMIC if spec.name == name]))
    assert plan.expected is not None
    answer = [np.array(y, np.uint8), np.array(scale), np.array(zero_point, np.uint8)]
    return compare(plan.expected, answer, plan.allowance) is None


@pytest.mark.parametrize("scale", [SCALE, np.nextafter(SCALE, np.float32(0)), np.nextafter(SCALE, np.float32(1))])
def test_beside_a_tie_either_neighbour_will_do_and_no_other(scale: np.float32) -> None:
    assert [third for third in range(20, 30) if passes("beside_a_tie", [255, 0, third], 153, scale)] == [25, 26]


def test_an_element_beside_no_tie_has_one_value() -> None:
    assert [first for first in range(250, 256) if passes("beside_a_tie", [first, 0, 26], 153, SCALE)] == [255]


def test_beside_a_tie_of_the_zero_point_it_moves_with_all_elements() -> None:
    assert passes("zero_point_beside_a_tie", [254, 0, 178], 127, SCALE)
    assert passes("zero_point_beside_a_tie", [255, 0, 179], 128, SCALE)
    assert not passes("zero_point_beside_a_tie", [255, 1, 179], 129, SCALE)


def test_a_tie_of_a_scale_that_nothing_rounds_goes_to_the_even_integer() -> None:
    assert passes("ties", [0, 0, 2, 2, 4, 254, 255], 0, np.float32(1))
    assert not passes("ties", [0, 1, 2, 3, 4, 255, 255], 0, np.float32(1))
