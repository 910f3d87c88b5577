# SPDX-License-Identifier: Apache-2.0
"""Min: the smallest values of any number of tensors, element by element.

    min = Min(data_0, ...)

Versions: 1 (all of one shape), 6 (no consumed_inputs), 8 (multidirectional broadcasting), 12 and 13 (types).
"""

from __future__ import annotations

import functools

import numpy as np

from onnx_conformance.declare import EXACT, Array, Multidirectional, Op, Result, Version
from onnx_conformance.declare.families.extremum import Extremum, undefined_order
from onnx_conformance.declare.families.variadic import rank_of_all

MIN = Op("Min", versions=(1, 6, 8, 12, 13), compare=EXACT, rank=rank_of_all)
MIN.example(data_0=([[1, 5, 3], [4, 2, 0]], [[4, 2, 6], [3, 7, 1]]), consumed_inputs=[0, 0])

COMPUTES = MIN.clause(
    "Element-wise min of each of the input tensors",
    note="The text does not define the smaller of a number and NaN, or of +0 and -0. A single input is returned "
    "unchanged.",
    see=(
        "https://github.com/onnx/onnx/issues/4716",
        "https://github.com/microsoft/onnxruntime/issues/10514",
        "https://github.com/apache/tvm/issues/19572",
    ),
)
SAME_SHAPE = MIN.clause("All inputs and outputs must have the same shape and data type.", before=8)
SAME_TYPE = MIN.clause("All inputs and outputs must have the same data type.", since=8)
LIST = MIN.clause("List of tensors for min.").reworded(before=8, text="List of tensors for Min")
NUMPY = Multidirectional(MIN, since=8)


def _smallest(v: Version, tensors: list[Array]) -> Result:
    """Return the smallest value at each position. A single tensor is returned unchanged."""
    if len(tensors) == 1:
        return tensors[0]
    return undefined_order(v, COMPUTES, tensors, functools.reduce(np.minimum, tensors))


@MIN.oracle(before=8)
def min_before_8(v: Version, data_0: list[Array]) -> Result:
    """Return the smallest of tensors of one shape."""
    v.require(SAME_SHAPE, len({tensor.shape for tensor in data_0}) == 1)
    return _smallest(v, data_0)


@MIN.oracle(since=8)
def min_since_8(v: Version, data_0: list[Array]) -> Result:
    """Return the smallest, in the shape to which all inputs are broadcast."""
    NUMPY.require_one_shape(v, *data_0)
    return _smallest(v, data_0)


Extremum(MIN, COMPUTES, same_shape_before_8=SAME_SHAPE, same_type=SAME_TYPE, numpy=NUMPY).cases(LIST)
