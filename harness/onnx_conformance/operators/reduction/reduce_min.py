# SPDX-License-Identifier: Apache-2.0
"""ReduceMin: the smallest element along some axes.

    reduced = ReduceMin(data, axes=None, keepdims=1, noop_with_empty_axes=0)

Versions: 1 (axes as attribute), 11 (range of axes), 12 (8 bit; does not define rank 0 and empty sets), 13 (defines them
again), 18 (axes as input, noop_with_empty_axes), 20 (Boolean).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import EXACT, Array, Int, Ints, Op, Reduction, Result, Version, ramp, reduced_rank
from onnx_conformance.declare.families.extremum import highest, reduced_extremum_cases, undefined_order_in

REDUCE_MIN = Op("ReduceMin", versions=(1, 11, 12, 13, 18, 20), compare=EXACT, rank=reduced_rank)
REDUCE_MIN.example(data=ramp(2, 3, 4), axes=[1], keepdims=0, noop_with_empty_axes=1)

COMPUTES = REDUCE_MIN.clause(
    "Computes the min of the input tensor's element",
    note="The text does not define the minimum of NaN and a number, or of +0 and -0.",
    see=(
        "https://github.com/onnx/onnx/issues/4716",
        "https://github.com/microsoft/onnxruntime/issues/10514",
        "https://github.com/apache/tvm/issues/19572",
    ),
)
EMPTY = REDUCE_MIN.clause(
    "has the reduced dimension pruned. Input tensors of rank zero are valid. Reduction over an empty set of values "
    "yields plus infinity (if supported by the datatype) or the maximum value of the data type otherwise.",
    since=13,
    note="Version 12 does not define rank 0 or the empty set.",
    see=("https://github.com/onnx/onnx/pull/5568",),
).reworded(
    before=12,
    text="have the reduced dimension pruned. Input tensors of rank zero are valid. Reduction over an empty set of "
    "values yields plus infinity (if supported by the datatype) or the maximum value of the data type otherwise.",
)
BOOLEAN = REDUCE_MIN.clause(
    "If the input data type is Boolean, the comparison should consider `False < True`.", since=20, result=True
)
REDUCTION = Reduction(REDUCE_MIN, empty=EMPTY, by_input=18)


@REDUCE_MIN.oracle()
def smallest(v: Version, data: Array, axes: Ints, keepdims: int, noop_with_empty_axes: Int) -> Result:
    """Return the smallest element; for an empty set, plus infinity or the highest number of the type."""
    removed = REDUCTION.axes(v, data, axes, keepdims, noop_with_empty_axes)
    result = np.asarray(data.min(removed, keepdims=keepdims == 1, initial=highest(data.dtype)))
    return undefined_order_in(v, COMPUTES, data, removed, result)


reduced_extremum_cases(REDUCTION, COMPUTES, BOOLEAN)
