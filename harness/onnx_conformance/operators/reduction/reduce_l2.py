# SPDX-License-Identifier: Apache-2.0
"""ReduceL2: the square root of the sum of squares along some axes.

    reduced = ReduceL2(data, axes=None, keepdims=1, noop_with_empty_axes=0)

Versions: 1 (axes as attribute), 11 (range of axes; does not define rank 0 and empty sets), 13 (bfloat16), 18 (axes as
input, noop_with_empty_axes).
"""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np

from onnx_conformance.declare import Array, Int, Ints, Op, Result, Tag, Version, bounded, ramp, typed
from onnx_conformance.declare.families.elementwise import float_types
from onnx_conformance.declare.families.reduction import Reduction, reduced_axes, reduced_rank, terms_of
from onnx_conformance.declare.families.sums import roundings


def _norm(data: Array, removed: tuple[int, ...], *, keepdims: bool) -> Array:
    """Return the square root of the sum of squares."""
    return np.asarray(np.sqrt(np.square(data.astype(np.float64)).sum(removed, keepdims=keepdims)))


def _rounding(data: Array, axes: Ints, keepdims: Int, noop_with_empty_axes: Int) -> list[Array]:
    """Return the errors relative to the norm: half of those of the squares and their sum, plus that of the root."""
    removed = reduced_axes(data, axes, noop_with_empty_axes)
    terms = roundings(terms_of(data, removed))
    with np.errstate(all="ignore"):
        return [_norm(data, removed, keepdims=bool(keepdims)) * (terms / 4 + 1)]


REDUCE_L2 = Op(
    "ReduceL2",
    versions=(1, 11, 13, 18),
    compare=bounded(
        _rounding, "each square and each addition rounds by half an epsilon, and the root halves these errors"
    ),
    rank=reduced_rank,
)
REDUCE_L2.example(data=[[3, 4, 12], [2, 3, 6]], axes=[1], keepdims=0, noop_with_empty_axes=1)

COMPUTES = REDUCE_L2.clause(
    "Computes the L2 norm of the input tensor's element",
    note="The text does not define the integer result for a norm that is not whole, or the type of the squares and "
    "their sum: in the function body they can overflow or vanish although the norm does not.",
)
REDUCE_L2.dispute(
    "The function body of onnx computes the root of a float even if the elements are doubles (its value sum_square_dbl "
    "is a float).",
    "fractions_double",
)
EMPTY = REDUCE_L2.clause(
    "has the reduced dimension pruned. Input tensors of rank zero are valid. Reduction over an empty set of values "
    "yields 0.",
    since=13,
    note="Version 11 does not define rank 0 or the empty set.",
).reworded(
    before=11,
    text="have the reduced dimension pruned. Input tensors of rank zero are valid. Reduction over an empty set of "
    "values yields 0.",
)
COMPOSITE = REDUCE_L2.clause(
    "composite-reduction operators will still perform the non-reduction steps as needed.", since=18
)
REDUCTION = Reduction(REDUCE_L2, empty=EMPTY, by_input=18)


@REDUCE_L2.oracle()
def l2_norm(v: Version, data: Array, axes: Ints, keepdims: Int, noop_with_empty_axes: Int) -> Result:
    """Return the square root of the sum of squares of real numbers. For integers it must be whole."""
    removed = REDUCTION.axes(v, data, axes, keepdims, noop_with_empty_axes)
    if data.dtype.kind != "f":
        squares = np.asarray(np.square(data.astype(object)).sum(removed, keepdims=keepdims == 1), object)
        roots = np.array([math.isqrt(number) for number in squares.ravel()], object).reshape(squares.shape)
        is_open = (roots**2 != squares) | (squares > np.iinfo(data.dtype).max)
        return v.leave_open(COMPUTES, is_open, np.where(is_open, 0, roots).astype(data.dtype))
    limits = ml_dtypes.finfo(v.dtypes["T"])  # type: ignore[no-untyped-call]
    with np.errstate(all="ignore"):
        finite = np.where(np.isfinite(data), data, 0).astype(np.longdouble)
        squares = np.asarray(np.square(finite).sum(removed, keepdims=keepdims == 1))
        norm = _norm(data, removed, keepdims=keepdims == 1)
    vanish = (squares > 0) & (squares < float(limits.smallest_normal) / float(limits.eps))
    return v.leave_open(COMPUTES, ((squares > float(limits.max)) | vanish) & np.isfinite(norm), norm)


case = REDUCE_L2.case
INT32, INT64 = np.iinfo(np.int32), np.iinfo(np.int64)
TRIPLES = [[3, -4, 12], [2, 3, -6], [0, 0, -5]]
"""Rows whose norms are whole: 13, 7 and 5."""

REDUCTION.cases(COMPUTES)
case("dtypes_empty_set", Tag.DTYPE, Tag.EDGE, each="T", data=ramp(0, 3), axes=[0], cites=EMPTY)
case("dtypes_whole", Tag.DTYPE, each="T", data=np.abs(TRIPLES), axes=[1], cites=COMPUTES)
case("noop_of_signs", Tag.CHANGE, data=TRIPLES, noop_with_empty_axes=1, cites=COMPOSITE)
case("noop_empty_list_of_signs", Tag.CHANGE, data=TRIPLES, axes=[], noop_with_empty_axes=1, cites=COMPOSITE)
case("signs", data=TRIPLES, axes=[1], cites=COMPUTES)
case("infinities", Tag.EDGE, data=[[np.inf, 1], [-np.inf, 2], [np.inf, -np.inf]], axes=[1], cites=COMPUTES)
for type_, since in float_types(13).items():
    tenths = typed(type_, [[0.1, 0.7, 1 / 3, 0.3, 1.1, -0.2, 0.9], [-0.6, -1.7, 0.1, -2 / 3, -0.4, 1e-3, -0.8]])
    case(f"fractions_{type_}", Tag.EDGE, data=tenths, axes=[1], since=since, cites=COMPUTES)
case("nan", Tag.EDGE, data=[[np.nan, 1, 2], [3, 4, np.inf], [5, 6, 7]], axes=[1], cites=COMPUTES)
case("minus_zero", Tag.EDGE, data=[[-0.0, -0.0], [0.0, -0.0], [-1, 2]], axes=[1], cites=COMPUTES)
case("one_term", Tag.EDGE, data=[[-0.1], [-3.5], [7]], axes=[1], cites=COMPUTES)
case("squares_overflow", Tag.EDGE, data=[[3e30, -4e30], [1e20, 1]], axes=[1], unspecified=COMPUTES)
case("squares_vanish", Tag.EDGE, data=[[3e-30, -4e-30], [1e-40, 1e-45]], axes=[1], unspecified=COMPUTES)
case("overflow_to_infinity", Tag.EDGE, data=[[3e38, -3e38], [-3e38, -3e38]], axes=[1], unspecified=COMPUTES)
for type_, whole in {"int32": [30000, 40000], "int64": [3 * 10**9, -4 * 10**9], "uint32": [60000, 80000]}.items():
    case(f"squares_overflow_{type_}", Tag.EDGE, data=typed(type_, whole), unspecified=COMPUTES)
case("squares_nearly_vanish", Tag.EDGE, data=[[3e-17, 4e-17]], axes=[1], unspecified=COMPUTES)
both = typed("int32", [[30000, 40000], [3, 4]])
case("squares_overflow_in_one", Tag.EDGE, data=both, axes=[1], unspecified=COMPUTES)
one = [[3e30, -4e30], [3, 4]]
case("squares_overflow_in_one_float", Tag.EDGE, data=one, axes=[1], unspecified=COMPUTES)
not_finite = [[np.inf, 1e-30], [np.nan, 1e30], [-np.inf, 1e30], [1e-30, np.nan]]
case("not_finite_and_extreme", Tag.EDGE, data=not_finite, axes=[1], cites=COMPUTES)
case("int64_exact", Tag.EDGE, data=typed("int64", [-(2**31), 0, 0]), cites=COMPUTES)
case("float_large", Tag.EDGE, data=[[3e18, -4e18], [1e-15, 0]], axes=[1], cites=COMPUTES)
case("int32_not_whole", Tag.EDGE, data=typed("int32", [[1, 1], [3, 4]]), axes=[1], unspecified=COMPUTES)
case("int32_least", Tag.EDGE, data=typed("int32", [INT32.min, 0]), unspecified=COMPUTES)
case("int64_limits", Tag.EDGE, data=typed("int64", [INT64.max, 0]), unspecified=COMPUTES)
