# SPDX-License-Identifier: Apache-2.0
"""DeformConv: the oracle samples all positions at once; here each sample is computed by itself."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest

from onnx_conformance.case.compare import compare
from onnx_conformance.suites.kernels import Kernels
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Mapping

    Array = np.ndarray[Any, Any]


def sampled(plane: Array, y: float, x: float) -> float:
    """Return the value of a padded plane between its pixels; outside the plane there are zeros."""
    value = 0.0
    for row, column in itertools.product(
        range(math.floor(y), math.floor(y) + 2), range(math.floor(x), math.floor(x) + 2)
    ):
        if 0 <= row < plane.shape[0] and 0 <= column < plane.shape[1]:
            value += (1 - abs(y - row)) * (1 - abs(x - column)) * float(plane[row, column])
    return value


def convolved(inputs: Mapping[str, Array], stride: int, dilation: int, pad: int, sharing: int) -> Array:
    """Return the output of a square convolution of one group."""
    data, w, offset, mask = (np.asarray(inputs[name], np.float64) for name in ("X", "W", "offset", "mask"))
    padded = np.pad(data, [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    output = np.zeros((len(data), len(w), *offset.shape[2:])) + inputs["B"].reshape(-1, 1, 1)
    size, of_group = w.shape[2], data.shape[1] // sharing
    for n, channel, i, j in np.ndindex(len(data), data.shape[1], *offset.shape[2:]):
        for element, (row, column) in enumerate(np.ndindex(size, size)):
            place = channel // of_group * size * size + element
            down, right = offset[n, 2 * place : 2 * place + 2, i, j]
            y, x = i * stride + row * dilation + down, j * stride + column * dilation + right
            value = sampled(padded[n, channel], y, x)
            output[n, :, i, j] += w[:, channel, row, column] * value * mask[n, place, i, j]
    return output


@pytest.mark.parametrize("glob", ["kernels_b1_c3_m4_h7_*", "strides_*_h14_*", "dilations_*_h7_*", "sharing_*_h7_*"])
def test_each_sample_by_itself_leads_to_the_expected_values(glob: str) -> None:
    cases = list(Kernels().cases(Selection(cases=(f"ai.onnx/DeformConv/22/{glob}/float",), forms=("plain",))))
    assert cases
    for case in cases:
        (node,) = onnx.load_from_string(case.model).graph.node
        attributes = {item.name: onnx.helper.get_attribute_value(item) for item in node.attribute}
        steps = [attributes[name][0] for name in ("strides", "dilations", "pads")]
        answer = convolved(case.inputs, *steps, attributes["offset_group"])
        assert compare(case.expected or (), [answer.astype(np.float32)], case.allowance) is None, case.id
