# SPDX-License-Identifier: Apache-2.0
"""Sum: the sum of any number of tensors, element by element.

    sum = Sum(data_0, data_1, ...)

Versions: 1, 6 (no consumed_inputs), 8 (broadcasting), 13 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Multidirectional, Op, Tag, Version, measured, typed
from onnx_conformance.declare.families.elementwise import float_types
from onnx_conformance.declare.families.variadic import Variadic, rank_of_all

SUM = Op("Sum", versions=(1, 6, 8, 13), compare=measured("each sum of two rounds, in any order"), rank=rank_of_all)
SUM.example(data_0=([[1, 5, 3], [4, 2, 0]], [[4, 2, 6], [3, 7, 1]]), consumed_inputs=[0, 0])

COMPUTES = SUM.clause("Element-wise sum of each of the input tensors")
SAME_SHAPE = SUM.clause("All inputs and outputs must have the same shape and data type.", before=8)
SAME_TYPE = SUM.clause("All inputs and outputs must have the same data type.", since=8)
LIST = SUM.clause("List of tensors for sum.").reworded(before=8, text="List of tensors for Sum.")
NUMPY = Multidirectional(SUM, since=8)


def _total(tensors: list[Array]) -> Array:
    """Return the sum at each position."""
    result = tensors[0]
    with np.errstate(all="ignore"):
        for tensor in tensors[1:]:
            result = result + tensor
    return result


@SUM.oracle(before=8)
def sum_before_8(v: Version, data_0: list[Array]) -> Array:
    """Return the sum of tensors of one shape."""
    v.require(SAME_SHAPE, len({tensor.shape for tensor in data_0}) == 1)
    return _total(data_0)


@SUM.oracle(since=8)
def sum_since_8(v: Version, data_0: list[Array]) -> Array:
    """Return the sum, in the shape to which all inputs are broadcast."""
    NUMPY.require_one_shape(v, *data_0)
    return _total(data_0)


Variadic(SUM, COMPUTES, same_shape_before_8=SAME_SHAPE, same_type=SAME_TYPE, numpy=NUMPY).cases(LIST)
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
        SUM.case(f"{name}_{type_}", Tag.EDGE, data_0=operands, since=since, cites=COMPUTES)
SUM.case("many", data_0=tuple([index, -index / 4, 0.125] for index in range(1, 34)), cites=COMPUTES)
SUM.case("dtypes", Tag.DTYPE, each="T", data_0=([1, 2, 3], [4, -5, 6], [7, 8, 9]), cites=COMPUTES)
