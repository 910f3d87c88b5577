"""ReduceMax: the largest element along some axes.

Versions: 1 (axes as attribute), 11 (range of axes), 12 (8 bit; silent on rank 0 and empty sets), 13 (says them again),
18 (axes as input, noop_with_empty_axes), 20 (Boolean).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.declare import EXACT, Array, Int, Ints, Op, Reduction, Tag, Version, extremes, ramp, reduced_rank, typed

MAX = Op("ReduceMax", versions=(1, 11, 12, 13, 18, 20), compare=EXACT, rank=reduced_rank)

REDUCTION = Reduction(
    MAX,
    yields="yields minus infinity (if supported by the datatype) or the minimum value of the data type otherwise.",
    silent=12,
    by_input=18,
)
COMPUTES = MAX.clause(
    "Computes the max of the input tensor's element",
    note="Says not whether a NaN is larger than a number, nor which zero is the larger one.",
)
BOOLEAN = MAX.clause(
    "If the input data type is Boolean, the comparison should consider `False < True`.", since=20, result=True
)


def _least(dtype: np.dtype[Any]) -> Any:  # noqa: ANN401 - a value of the type
    """Return minus infinity, or the minimum of a type that has none."""
    if dtype.kind == "f":
        return -np.inf
    return False if dtype.kind == "b" else np.iinfo(dtype).min


@MAX.oracle()
def reduced(v: Version, data: Array, axes: Ints, keepdims: Int, noop_with_empty_axes: Int) -> Array:
    """Return the largest along `axes`."""
    gone = REDUCTION.axes(v, data, axes, keepdims, noop_with_empty_axes)
    largest = np.asarray(data.max(gone, keepdims=keepdims == 1, initial=_least(data.dtype)))
    if gone and data.dtype.kind == "f":
        v.silent(COMPUTES, bool(np.isnan(largest).any()))
        zeros = np.signbit(data[data == 0])
        v.silent(COMPUTES, bool((largest == 0).any() and zeros.any() and not zeros.all()))
    return largest


case = MAX.case

REDUCTION.cases(COMPUTES)
case("dtypes_empty_set", Tag.DTYPE, Tag.EDGE, each="T", data=ramp(0, 3), axes=[0], cites=(REDUCTION.empty,))
case("dtypes_empty_first", Tag.DTYPE, Tag.EDGE, each="T", data=ramp(0, 3), axes=[0], cites=(REDUCTION.empty_first,))
case("negative", Tag.EDGE, data=[[-3, -1, -2], [-5, -7, -6]], axes=[1], cites=(COMPUTES,))
case("infinities", Tag.EDGE, data=[[np.inf, 1], [-np.inf, 2], [-np.inf, -np.inf]], axes=[1], cites=(COMPUTES,))
case("subnormal", Tag.EDGE, data=[[1e-45, 3e-45], [-1e-40, -1e-45]], axes=[1], cites=(COMPUTES,))
case("minus_zeros", Tag.EDGE, data=[[-0.0, -0.0], [-1.0, -0.0]], axes=[1], cites=(COMPUTES,))
case("both_zeros", Tag.EDGE, data=[[-0.0, 0.0], [0.0, -0.0]], axes=[1], unspecified=COMPUTES)
case("nan", Tag.EDGE, data=[[np.nan, 1, 2], [3, np.nan, np.inf], [5, 6, np.nan]], axes=[1], unspecified=COMPUTES)
case("nan_all", Tag.EDGE, data=[np.nan, np.nan], unspecified=COMPUTES)
case("int64_neighbours", Tag.EDGE, data=typed("int64", [2**60, 2**60 + 1, 2**60 - 1]), cites=(COMPUTES,))
case("uint64_high", Tag.EDGE, data=typed("uint64", np.array([1, 2**63 + 1, 2**63], np.uint64)), cites=(COMPUTES,))
case("dtypes_extremes_noop", Tag.EDGE, each="T", data=extremes(12), noop_with_empty_axes=1, cites=(REDUCTION.noop,))

BOOLS = typed("bool", [[False, True, False], [False, False, False], [True, True, True]])
case("boolean", Tag.CHANGE, data=BOOLS, axes=[1], cites=(BOOLEAN,))
case("boolean_columns", Tag.CHANGE, data=BOOLS, axes=[0], keepdims=0, cites=(BOOLEAN,))
case("boolean_all", Tag.CHANGE, data=BOOLS, keepdims=0, cites=(BOOLEAN,))

case("dtypes_kept", Tag.DTYPE, each="T", data=ramp(2, 3), cites=(REDUCTION.keep,))
case("dtypes", Tag.DTYPE, each="T", data=ramp(2, 3), axes=[1], keepdims=0, cites=(REDUCTION.along,))
case("dtypes_noop", Tag.DTYPE, each="T", data=ramp(2, 3), noop_with_empty_axes=1, cites=(REDUCTION.noop,))
