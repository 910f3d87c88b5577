# SPDX-License-Identifier: Apache-2.0
"""BiasSoftmax: the normalized exponential of a sum of scores and a bias, such as a mask.

    output = BiasSoftmax(data, bias, axis=1, is_inner_broadcast=...)

Versions: 1.
"""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Tolerance, Version, ramp, reshaped, typed, vary
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.families.sums import largest, roundings
from onnx_conformance.declare.sizes import Dims, filled, grid


def _shares(rows: Array) -> Array:
    """Return exp divided by the sum of exp in each row. Subtracting the largest value does not change the result."""
    with np.errstate(all="ignore"):
        exponential = np.exp(rows - rows.max(1, keepdims=True, initial=-np.inf))
        return np.asarray(exponential / exponential.sum(1, keepdims=True))


def _rows(values: Array, axis: int) -> Array:
    """Return a matrix with a row for each softmax: the elements of the dimensions from `axis`."""
    return values.reshape(math.prod(values.shape[:axis]), math.prod(values.shape[axis:]))


def _rounding(v: Version, data: Array, bias: Array, axis: int, **_: object) -> list[Array]:
    """Return the errors of a careful implementation.

    The sum of score and bias rounds by half an epsilon of both, and a difference from the largest value by half an
    epsilon of itself. The exponential turns them into relative errors. The sum has the mean of these errors, and each
    addition rounds once. An exponential and a quotient may round to subnormal numbers.
    """
    limits = ml_dtypes.finfo(v.dtypes["T"])  # type: ignore[no-untyped-call]
    with np.errstate(all="ignore"):
        rows = _rows(data + bias, axis)
        shares = _shares(rows)
        added = _rows(np.broadcast_to(np.abs(data) + np.abs(bias), data.shape), axis)
        apart = rows.max(1, keepdims=True, initial=-np.inf) - rows + added
        exponents = np.where(shares > 0, apart, 0) / 2
        mean = (shares * exponents).sum(1, keepdims=True)
        errors = shares * (exponents + mean + roundings(rows.shape[1]) / 2 + 3)
        errors += 2 * float(limits.smallest_subnormal) / float(limits.eps)
    return [np.nan_to_num(errors).reshape(data.shape)]


BIAS_SOFTMAX = Op(
    "BiasSoftmax",
    versions=(1,),
    compare=Tolerance(
        "the sum with the bias, the difference from the maximum and each addition round", bound=_rounding, steps=True
    )
    .limited(0, 1)
    .summing_to(1, lambda data, axis, **_: tuple(range(axis, data.ndim))),
    domain="com.microsoft",
    rank="data",
)
BIAS_SOFTMAX.example(data=waves(2, 3, 4), bias=waves(1, 3, 4), axis=2, is_inner_broadcast=0)

FORMULA = BIAS_SOFTMAX.clause(
    "Y = softmax(scores + bias)) with simple broadcast on bias.",
    note="Softmax is exp(x) divided by the sum of exp(x). The formula is one of real numbers: exp(1000) must not "
    "overflow on the way. The text does not define the quotient of infinities, or of zeros if all sums are minus "
    "infinity, or sums beyond the range of the type.",
)
INTENDED = BIAS_SOFTMAX.clause(
    "Intended to specialize softmax(scores + additive_mask) commonly found in transformer models."
)
DIMENSIONS = BIAS_SOFTMAX.clause(
    "apply softmax to elements for dimensions axis or higher",
    note="All elements of these dimensions share one sum. The text does not define a negative axis, or one without "
    "dimensions.",
)
BROADCAST = BIAS_SOFTMAX.clause(
    "true if broadcast bias across input for dimensions broadcast_axis to axis-1, otherwise broadcast bias across "
    "input for dimensions 0 to broadcast_axis - 1",
    note="No attribute has the name broadcast_axis, so it follows from the shape of the bias, whose broadcast "
    "dimensions are 1. Dimensions that are missing in front are 1 too. The text does not define a bias that lacks "
    "dimensions in the middle, a bias that is broadcast across other dimensions, or values except 0 and 1.",
)
DATA = BIAS_SOFTMAX.clause("The input data as Tensor.")
MASK = BIAS_SOFTMAX.clause("The bias (or mask) as Tensor.")


def _fits(data: tuple[int, ...], bias: tuple[int, ...], axis: int, *, inner: bool) -> bool:
    """Return whether the bias has a shape that the sentence describes for some broadcast_axis from 0 to `axis`."""
    whole = (*[1] * (len(data) - len(bias)), *bias)
    ones = [1] * axis
    return any(
        whole == ((*data[:at], *ones[at:], *data[axis:]) if inner else (*ones[:at], *data[at:]))
        for at in range(axis + 1)
    )


@BIAS_SOFTMAX.oracle()
def bias_softmax(v: Version, data: Array, bias: Array, axis: int, is_inner_broadcast: int) -> Result:
    """Return the normalized exponentials of the sum over the dimensions from `axis`."""
    v.silent(DIMENSIONS, not 0 <= axis < data.ndim)
    v.silent(BROADCAST, is_inner_broadcast not in {0, 1})
    v.silent(BROADCAST, not _fits(data.shape, bias.shape, axis, inner=bool(is_inner_broadcast)))
    with np.errstate(all="ignore"):
        rows = _rows(data + bias, axis)
    most = largest(v.dtypes["T"])
    is_open = (rows > most).any(1, keepdims=True) | (rows < -most).all(1, keepdims=True)
    return reshaped(v.leave_open(FORMULA, np.broadcast_to(is_open, rows.shape), _shares(rows)), data.shape)


case = BIAS_SOFTMAX.case
CUBE, PLANE, VOLUME = waves(2, 3, 4), waves(3, 4), waves(2, 3, 4, 5)
OTHER = np.cos(np.arange(120.0) * 0.9) * 2


def outer(name: str, data: Array, bias: tuple[int, ...], axis: int, *tags: Tag) -> None:
    """Declare a case with a bias of this shape that is broadcast across the first dimensions."""
    values = OTHER[: math.prod(bias)].reshape(bias)
    case(name, *tags, data=data, bias=values, axis=axis, is_inner_broadcast=0, cites=(FORMULA, DIMENSIONS, BROADCAST))


def inner(name: str, data: Array, bias: tuple[int, ...], axis: int, *tags: Tag) -> None:
    """Declare a case with a bias of this shape that is broadcast across the dimensions before the axis."""
    values = OTHER[: math.prod(bias)].reshape(bias)
    case(name, *tags, data=data, bias=values, axis=axis, is_inner_broadcast=1, cites=(FORMULA, DIMENSIONS, BROADCAST))


outer("outer_batches", CUBE, (1, 3, 4), 2)
outer("outer_all", CUBE, (1, 1, 4), 2)
outer("outer_missing", CUBE, (3, 4), 2)
outer("outer_missing_all", CUBE, (4,), 2)
outer("outer_nothing", CUBE, (2, 3, 4), 2)
outer("outer_of_four", VOLUME, (1, 3, 4, 5), 3)
outer("outer_of_four_two", VOLUME, (1, 1, 4, 5), 3)
outer("outer_several_axes", VOLUME, (1, 3, 4, 5), 2)
outer("outer_several_axes_all", VOLUME, (4, 5), 2)
outer("outer_default_axis", VOLUME, (1, 3, 4, 5), 1)
inner("inner_all", CUBE, (1, 1, 4), 2)
inner("inner_one", CUBE, (2, 1, 4), 2)
inner("inner_nothing", CUBE, (2, 3, 4), 2)
inner("inner_missing_all", CUBE, (4,), 2)
inner("inner_of_four", VOLUME, (2, 3, 1, 5), 3)
inner("inner_of_four_two", VOLUME, (2, 1, 1, 5), 3)
inner("inner_of_attention", waves(2, 3, 5, 5), (2, 1, 1, 5), 3)
inner("inner_several_axes", VOLUME, (2, 1, 4, 5), 2)
inner("inner_whole_at_once", CUBE, (2, 3, 4), 0)
outer("outer_whole_at_once", PLANE, (3, 4), 0)
outer("size_one", waves(3, 1), (3, 1), 1, Tag.EDGE)
outer("one_element", waves(1), (1,), 0, Tag.EDGE)
outer("lane_zero_size", waves(3, 0), (1, 0), 1, Tag.EDGE)
outer("other_zero_size", waves(0, 3), (1, 3), 1, Tag.EDGE)
inner("middle_zero_size", waves(2, 0, 3), (2, 1, 3), 2, Tag.EDGE)
case("default_axis", data=CUBE, bias=CUBE[:1] / 2, is_inner_broadcast=0, cites=(DIMENSIONS, DATA, MASK))
MASKED: dict[str, float] = {"thousands": -10000.0, "least": -3.4e38, "infinity": -np.inf}
for name, mask in MASKED.items():
    values = np.where(PLANE > 0, 0, mask)
    case(f"mask_{name}", data=CUBE, bias=values[None], axis=2, is_inner_broadcast=0, cites=(INTENDED, FORMULA))
LARGE = [[1000, 1001, 1002], [-1000, -1003, -1001]]
case("large", Tag.EDGE, data=LARGE, bias=[[0.5, 1, -1]], is_inner_broadcast=0, cites=FORMULA)
case("cancels", Tag.EDGE, data=LARGE, bias=np.negative(LARGE), is_inner_broadcast=0, cites=FORMULA)
case("nan", Tag.EDGE, data=[[np.nan, 1, 2], [4, 5, 7]], bias=[[1, 2, 3]], is_inner_broadcast=0, cites=FORMULA)
ONE_ROW = [[np.inf, 1, 2], [3, 1, 2]]
case("infinity_in_one_row", Tag.EDGE, data=ONE_ROW, bias=[[1, 2, 3]], is_inner_broadcast=0, unspecified=FORMULA)
ALL_MASKED = [[-np.inf] * 3, [0, -np.inf, 0]]
case("one_row_all_masked", Tag.EDGE, data=ramp(2, 3), bias=ALL_MASKED, is_inner_broadcast=0, unspecified=FORMULA)
BEYOND = typed("float16", [[60000, 1, 2], [3, 1, 2]])
OF_16: dict[str, Any] = {"axis": 1, "is_inner_broadcast": 0}
case("sum_beyond_float16", Tag.EDGE, data=BEYOND, bias=typed("float16", [[60000, 0, 0]]), **OF_16, unspecified=FORMULA)
LOW = typed("float16", [[-60000, 1, 2], [3, 1, 2]])
case("sum_below_float16", Tag.EDGE, data=LOW, bias=typed("float16", [[-60000, 0, 0]]), **OF_16, cites=FORMULA)
LIMITS = typed("float16", [[65504, 1, 2], [-65504, -65504, -65504]])
case("sum_at_the_limits_of_float16", Tag.EDGE, data=LIMITS, bias=typed("float16", [0, 0, 0]), **OF_16, cites=FORMULA)
MASKS = vary(outer=typed("{T}", waves(1, 3, 4)), none=typed("{T}", waves(2, 3, 4)))
case("dtypes", Tag.DTYPE, each="T", data=CUBE, bias=MASKS, axis=2, is_inner_broadcast=0, cites=FORMULA)
case("dtypes_inner", Tag.DTYPE, each="T", data=CUBE, bias=waves(2, 1, 4), axis=2, is_inner_broadcast=1, cites=FORMULA)

AXES = vary(minus_1=-1, rank=3, minus_4=-4)
case("axis", Tag.AXIS, data=CUBE, bias=CUBE[:1], axis=AXES, is_inner_broadcast=0, unspecified=DIMENSIONS)
case("axis_of_vector", Tag.AXIS, data=CUBE[0, 0], bias=CUBE[0, 0], is_inner_broadcast=0, unspecified=DIMENSIONS)
case("rank0", Tag.EDGE, data=1, bias=1, axis=0, is_inner_broadcast=0, unspecified=DIMENSIONS)
FLAGS = vary(two=2, minus_1=-1)
case("is_inner_broadcast", data=CUBE, bias=CUBE, axis=2, is_inner_broadcast=FLAGS, unspecified=BROADCAST)
NOT_OUTER = vary(
    inner=ramp(2, 1, 4), softmax=ramp(2, 3, 1), other=ramp(1, 2, 4), scalar=1, longer=ramp(1, 1, 3, 4),
    missing=ramp(2, 4),
)  # fmt: skip
case("not_outer", data=CUBE, bias=NOT_OUTER, axis=2, is_inner_broadcast=0, unspecified=BROADCAST)
NOT_INNER = vary(
    outer=ramp(1, 3, 4), softmax=ramp(2, 1, 1), other=ramp(3, 1, 4), scalar=1, longer=ramp(1, 2, 1, 4),
    missing=ramp(2, 4),
)  # fmt: skip
case("not_inner", data=CUBE, bias=NOT_INNER, axis=2, is_inner_broadcast=1, unspecified=BROADCAST)
case("outer_within_softmax", data=VOLUME, bias=ramp(1, 1, 4, 5), axis=1, is_inner_broadcast=0, unspecified=BROADCAST)

SIZES = grid(b=(2,), h=(3,), q=(1, 5, 17), k=(1, 7, 16, 64, 65, 257, 1025))
BIASES: dict[str, tuple[Dims, int]] = {
    "inner": (("b", 1, 1, "k"), 1), "outer": ((1, "h", "q", "k"), 0), "whole": (("b", "h", "q", "k"), 0)
}  # fmt: skip
for name, (dims, flag) in BIASES.items():
    of_sizes = {
        "data": filled("b", "h", "q", "k", floats=(-6, 6)), "bias": filled(*dims), "axis": 3, "is_inner_broadcast": flag
    }  # fmt: skip
    BIAS_SOFTMAX.sized(name, SIZES, each="T", cites=(FORMULA, BROADCAST), arguments=of_sizes)
