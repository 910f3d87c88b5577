# SPDX-License-Identifier: Apache-2.0
"""Mean: the mean of any number of tensors, element by element.

    mean = Mean(data_0, data_1, ...)

Versions: 1, 6 (no consumed_inputs), 8 (broadcasting), 13 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Multidirectional, Op, Tag, Version, measured, typed
from onnx_conformance.declare.families.elementwise import float_types
from onnx_conformance.declare.families.variadic import Variadic, rank_of_all

MEAN = Op(
    "Mean", versions=(1, 6, 8, 13), compare=measured("each sum, in any order, and the quotient round"), rank=rank_of_all
)
MEAN.example(data_0=([[1, 5, 3], [4, 2, 0]], [[4, 2, 6], [3, 7, 1]]), consumed_inputs=[0, 0])

COMPUTES = MEAN.clause("Element-wise mean of each of the input tensors")
SAME_SHAPE = MEAN.clause("All inputs and outputs must have the same shape and data type.", before=8)
SAME_TYPE = MEAN.clause("All inputs and outputs must have the same data type.", since=8)
LIST = MEAN.clause("List of tensors for mean.").reworded(before=8, text="List of tensors for Mean.")
NUMPY = Multidirectional(MEAN, since=8)


def _mean(tensors: list[Array]) -> Array:
    """Return the sum at each position divided by the number of tensors."""
    result = tensors[0]
    with np.errstate(all="ignore"):
        for tensor in tensors[1:]:
            result = result + tensor
        return result / len(tensors)


@MEAN.oracle(before=8)
def mean_before_8(v: Version, data_0: list[Array]) -> Array:
    """Return the mean of tensors of one shape."""
    v.require(SAME_SHAPE, len({tensor.shape for tensor in data_0}) == 1)
    return _mean(data_0)


@MEAN.oracle(since=8)
def mean_since_8(v: Version, data_0: list[Array]) -> Array:
    """Return the mean, in the shape to which all inputs are broadcast."""
    NUMPY.require_one_shape(v, *data_0)
    return _mean(data_0)


Variadic(MEAN, COMPUTES, same_shape_before_8=SAME_SHAPE, same_type=SAME_TYPE, numpy=NUMPY).cases(LIST)
inf, nan = np.inf, np.nan
NUMBERS = {
    "fractions": ([0.1, 0.7, -1 / 3, 1e-3], [0.2, -0.1, 2 / 3, 1], [0.3, 0.5, 1 / 7, -2]),
    "infinities": ([inf, 1, -inf], [1, -inf, -inf], [2, 3, 4]),
    "infinities_of_both_signs": ([inf, 1], [-inf, 2], [1, 3]),
    "nan": ([nan, 1, 1], [1, nan, 2], [1, 1, 3]),
    "zeros": ([0.0, -0.0, -0.0], [-0.0, -0.0, 0.0]),
}
for type_, since in float_types(13).items():
    for name, tensors in NUMBERS.items():
        operands = tuple(typed(type_, tensor) for tensor in tensors)
        MEAN.case(f"{name}_{type_}", Tag.EDGE, data_0=operands, since=since, cites=COMPUTES)
MEAN.case("many", data_0=tuple([index, -index / 4, 0.125] for index in range(1, 34)), cites=COMPUTES)
MEAN.case("dtypes", Tag.DTYPE, each="T", data_0=([1, 2, 3], [4, -5, 6], [7, 8, 9]), cites=COMPUTES)
