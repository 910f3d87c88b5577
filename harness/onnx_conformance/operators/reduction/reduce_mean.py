# SPDX-License-Identifier: Apache-2.0
"""ReduceMean: the mean along some axes.

    reduced = ReduceMean(data, axes=None, keepdims=1, noop_with_empty_axes=0)

Versions: 1 (axes as attribute), 11 (range of axes; does not define rank 0 and empty sets), 13 (defines them again), 18
(axes as input, noop_with_empty_axes).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Int, Ints, Op, Result, Tag, Version, bounded, ramp, typed
from onnx_conformance.declare.families.elementwise import float_types
from onnx_conformance.declare.families.reduction import Reduction, exact_sum, reduced_rank, summing, terms_of
from onnx_conformance.declare.families.sums import roundings

REDUCE_MEAN = Op(
    "ReduceMean",
    versions=(1, 11, 13, 18),
    compare=bounded(
        summing(lambda terms: (roundings(terms) / 2 + 1) / terms),
        "each addition, in any order, rounds by half an epsilon of all magnitudes; the quotient rounds once",
    ),
    rank=reduced_rank,
)
REDUCE_MEAN.example(data=ramp(2, 3, 4), axes=[1], keepdims=0, noop_with_empty_axes=1)

COMPUTES = REDUCE_MEAN.clause(
    "Computes the mean of the input tensor's element",
    note="The text does not define the integer result for a mean between two integers. If the mean is an integer, it "
    "is the result even beyond 2**53: onnxruntime and onnx.reference round it to a double.",
)
EMPTY = REDUCE_MEAN.clause(
    "has the reduced dimension pruned. Input tensors of rank zero are valid. Reduction over an empty set of values "
    "yields undefined.",
    since=13,
    note="Version 11 does not define rank 0 or the empty set.",
    see=("https://github.com/onnx/onnx/pull/5568",),
).reworded(
    before=11,
    text="have the reduced dimension pruned. Input tensors of rank zero are valid. Reduction over an empty set of "
    "values yields undefined.",
)
REDUCTION = Reduction(REDUCE_MEAN, empty=EMPTY, by_input=18)


@REDUCE_MEAN.oracle()
def mean(v: Version, data: Array, axes: Ints, keepdims: Int, noop_with_empty_axes: Int) -> Result:
    """Return the sum divided by the number of terms. For integers the mean must be whole."""
    removed = REDUCTION.axes(v, data, axes, keepdims, noop_with_empty_axes)
    total = exact_sum(data, removed, keepdims=keepdims == 1)
    terms = terms_of(data, removed)
    v.silent(EMPTY, terms == 0)
    if data.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            return np.asarray(total / terms)
    return v.leave_open(COMPUTES, total % terms != 0, np.asarray(total // terms).astype(data.dtype))


case = REDUCE_MEAN.case
INT32, INT64 = np.iinfo(np.int32), np.iinfo(np.int64)

REDUCTION.cases(COMPUTES, undefined=True)
case("infinities", Tag.EDGE, data=[[np.inf, 1], [-np.inf, 2], [np.inf, -np.inf]], axes=[1], cites=COMPUTES)
for type_, since in float_types(13).items():
    tenths = typed(type_, [[0.1, 0.7, 1 / 3, 0.3, 1.1, -0.2, 0.9], [-0.6, -1.7, 0.1, -2 / 3, -0.4, 1e-3, -0.8]])
    case(f"fractions_{type_}", Tag.EDGE, data=tenths, axes=[1], since=since, cites=COMPUTES)
case("nan", Tag.EDGE, data=[[np.nan, 1, 2], [3, 4, np.inf], [5, 6, 7]], axes=[1], cites=COMPUTES)
case("cancelling", Tag.EDGE, data=[[1e4, -9e3, 3], [0.1, 0.2, -0.25]], axes=[1], cites=COMPUTES)
case("one_term", Tag.EDGE, data=[[0.1], [-3e38], [1e-45]], axes=[1], cites=COMPUTES)
case("int32_limits", Tag.EDGE, data=typed("int32", [INT32.max, INT32.max, INT32.max]), cites=COMPUTES)
case("int64_exact", Tag.EDGE, data=typed("int64", [2**60 + 1, 2**60 + 3]), cites=COMPUTES)
case("below_zero", data=typed("int32", [-7, -5, 3]), cites=COMPUTES)
case("between_integers", Tag.EDGE, data=typed("int32", [1, 2]), unspecified=COMPUTES)
case("between_integers_once", Tag.EDGE, data=typed("int32", [[1, 2], [1, 3]]), axes=[1], unspecified=COMPUTES)
case("between_integers_below_zero", Tag.EDGE, data=typed("int64", [-1, -2]), unspecified=COMPUTES)
