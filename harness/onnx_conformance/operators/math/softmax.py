# SPDX-License-Identifier: Apache-2.0
"""Softmax: the normalized exponential.

    output = Softmax(input, axis=-1)
    output = Softmax(input, axis=1)    # before version 13

Versions: 1 (of the input coerced into a matrix at 'axis'), 11 (negative axes), 13 (along one dimension).
"""

from __future__ import annotations

import math

import numpy as np

from onnx_conformance.declare import (
    Array,
    Op,
    Result,
    Tag,
    Tolerance,
    Version,
    axes,
    axes_outside,
    ramp,
    reshaped,
    typed,
)
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.families.elementwise import float_types
from onnx_conformance.declare.families.sums import roundings
from onnx_conformance.declare.readings import REAL_NUMBERS
from onnx_conformance.declare.rounding import exponential_leaves_range
from onnx_conformance.declare.sizes import filled
from onnx_conformance.operators.math._sizes import LANES


def _matrix(input: Array, axis: int) -> Array:
    """Return the matrix into which the input is coerced before version 13. Its columns start at `axis`."""
    k = axis % input.ndim
    return input.reshape(math.prod(input.shape[:k]), math.prod(input.shape[k:]))


def _rounding(v: Version, input: Array, axis: int) -> list[Array]:
    """Return the errors of a careful implementation, relative to the value.

    A difference from the largest value rounds by half an epsilon of itself, which the exponential turns into a relative
    error. The sum has the mean of these errors, and each addition rounds once.
    """
    values, along = (input, axis) if FORMULA.in_force(v.since) else (_matrix(input, axis), 1)
    with np.errstate(all="ignore"):
        apart = values.max(along, keepdims=True, initial=-np.inf) - values
        exponential = np.exp(-apart)
        shares = exponential / exponential.sum(along, keepdims=True)
        mean = np.where(shares > 0, shares * apart, 0).sum(along, keepdims=True)
        of_sum = roundings(values.shape[along]) / 2
        return [(shares * (apart / 2 + mean / 2 + of_sum + 3)).reshape(input.shape)]


def _lane(v: Version, input: Array, axis: int) -> tuple[int, ...]:
    """Return the axes of a lane: the columns of the matrix into which the input is coerced, or one axis."""
    first = axis % input.ndim
    return (first,) if FORMULA.in_force(v.since) else tuple(range(first, input.ndim))


SOFTMAX = Op(
    "Softmax",
    versions=(1, 11, 13),
    compare=Tolerance(
        "exp is within 1 ULP in numerator and denominator, and the quotient rounds once; each difference from the "
        "maximum rounds in an exponent, and each addition rounds once",
        ulp=8,
        narrow=2,
        bound=_rounding,
    )
    .limited(0, 1)
    .summing_to(1, _lane),
    rank="input",
)
SOFTMAX.example(input=waves(2, 3, 4), axis=1)

NORMALIZED = SOFTMAX.clause(
    "normalized exponential",
    note="The formula is one of real numbers: exp(1000) must not overflow on the way, as the official case of large "
    "numbers shows. exp(inf) / exp(inf) has no value, and the text does not define the values of the other elements "
    "then.",
)
LAYER = SOFTMAX.clause("values for each layer in the batch of the given input", before=13)
COERCED = SOFTMAX.clause(
    "For an arbitrary n-dimensional tensor input \\in [a_0, a_1, ..., a_{k-1}, a_k, ..., a_{n-1}] and k is the axis "
    "provided, then input will be coerced into a 2-dimensional tensor with dimensions [a_0 * ... * a_{k-1}, a_k * ... "
    "* a_{n-1}].",
    before=13,
    note="For axis 0 the product of dimensions is empty, so the whole input is one layer. The text does not define "
    "whether axis = n makes layers of one element. onnx.reference uses one dimension in every version, but only "
    "version 13 defines that.",
)
DEFAULT_ONE = SOFTMAX.clause(
    "For the default case where axis=1, this means the input tensor will be coerced into a 2D tensor of dimensions "
    "[a_0, a_1 * ... * a_{n-1}], where a_0 is often the batch size.",
    before=13,
)
MATCHED = SOFTMAX.clause(
    "In this situation, we must have a_0 = N and a_1 * ... * a_{n-1} = D. Each of these dimensions must be matched "
    "correctly, or else the operator will throw errors.",
    before=13,
    note="An input of rank 0 has no a_0.",
)
ORIGINAL = SOFTMAX.clause(
    "The output values with the same shape as input tensor (the original size without coercion).", before=13
)
BACK = SOFTMAX.clause("Negative value means counting dimensions from the back.", since=11)
RANGE = SOFTMAX.clause(
    "Accepted range is [-r, r-1] where r = rank(input).",
    since=11,
    see=("https://github.com/onnx/onnx/issues/7155", "https://github.com/onnx/onnx/pull/7625"),
)
FORMULA = SOFTMAX.clause("Softmax(input, axis) = Exp(input) / ReduceSum(Exp(input), axis=axis, keepdims=1)", since=13)
ALONG = SOFTMAX.clause('The "axis" attribute indicates the dimension along which Softmax will be performed.', since=13)
RANK = SOFTMAX.clause(
    "The input tensor of rank >= axis.", since=13, note="The accepted range is narrower: axis = rank is outside it."
)
SAME_SHAPE = SOFTMAX.clause("The output values with the same shape as the input tensor.", since=13)


def _normalized(v: Version, values: Array, axis: int) -> Result:
    """Return exp divided by the sum of exp along an axis.

    The largest value is first subtracted from all values, which does not change the result.
    """
    infinite = np.isposinf(values).any(axis, keepdims=True)
    with np.errstate(invalid="ignore", under="ignore"):
        largest = values.max(axis, keepdims=True, initial=-np.inf)
        v.reads(REAL_NUMBERS, exponential_leaves_range(largest, v.dtypes["T"]))
        exponential = np.exp(values - largest)
        result = np.asarray(exponential / exponential.sum(axis, keepdims=True))
    return v.leave_open(NORMALIZED, np.broadcast_to(infinite, values.shape), result)


@SOFTMAX.oracle(before=13)
def normalized_before_13(v: Version, input: Array, axis: int) -> Result:
    """Return the values for each row of the matrix whose columns start at `axis`."""
    rank = input.ndim
    v.require(MATCHED, rank > 0)
    v.permit(BACK, axis < 0)
    if RANGE.in_force(v.since):
        v.require(RANGE, -rank <= axis < rank)
    else:
        v.require(COERCED, axis <= rank)
        v.silent(COERCED, axis == rank)
    return reshaped(_normalized(v, _matrix(input, axis), 1), input.shape)


@SOFTMAX.oracle(since=13)
def normalized_since_13(v: Version, input: Array, axis: int) -> Result:
    """Return the values along one dimension."""
    v.require(RANGE, -input.ndim <= axis < input.ndim)
    return _normalized(v, input, axis)


case = SOFTMAX.case

WAVES = np.sin(np.arange(24.0) * 1.7).reshape(2, 3, 4) * 3
"""All rows, columns and layers are different."""

case("default_axis_before_13", Tag.CHANGE, input=WAVES, cites=(DEFAULT_ONE, ORIGINAL))
case("default_axis_since_13", Tag.CHANGE, input=WAVES, cites=(FORMULA, SAME_SHAPE))
for axis in range(3):
    case(f"axis_{axis}_before_13", Tag.CHANGE, input=WAVES, axis=axis, cites=(COERCED, LAYER))
    case(f"axis_{axis}_since_13", Tag.CHANGE, input=WAVES, axis=axis, cites=(ALONG, FORMULA))
    case(f"axis_minus_{axis + 1}_before_13", Tag.CHANGE, input=WAVES, axis=axis - 3, before=13, cites=(COERCED, BACK))
    case(f"axis_minus_{axis + 1}_since_13", Tag.CHANGE, input=WAVES, axis=axis - 3, cites=(ALONG, BACK))
case("matrix", input=WAVES.reshape(4, 6), axis=1, cites=NORMALIZED)
case("matrix_default", input=WAVES.reshape(4, 6), cites=NORMALIZED)

case("large", Tag.EDGE, input=[[1000, 1001, 1002], [-1000, -1003, -1001]], cites=NORMALIZED)
case("far_apart", Tag.EDGE, input=[[0, -1000, 1000, 500]], cites=NORMALIZED)
case("equal", Tag.EDGE, input=[[3, 3, 3], [-70, -70, -70]], cites=NORMALIZED)
case("signed_zeros", Tag.EDGE, input=[[0.0, -0.0, -0.0]], cites=NORMALIZED)
case("subnormal_inputs", Tag.EDGE, input=[[1e-45, -1e-45, 1e-40]], cites=NORMALIZED)
case("limits", Tag.EDGE, input=[[3.4e38, -3.4e38, 1], [-3.4e38, -3.4e38, -3.4e38]], cites=NORMALIZED)
case("minus_infinity", Tag.EDGE, input=[[-np.inf, 1, 2], [0, -np.inf, -np.inf]], cites=NORMALIZED)
case("minus_infinity_all", Tag.EDGE, input=[[-np.inf, -np.inf], [1, 2]], cites=FORMULA)
case("nan", Tag.EDGE, input=[[np.nan, 1, 2], [3, np.nan, -np.inf], [4, 5, 7]], cites=NORMALIZED)
case("infinity", Tag.EDGE, input=[[np.inf, 1, 2]], unspecified=NORMALIZED)
case("infinity_in_one_row", Tag.EDGE, input=[[np.inf, 1, 2], [3, 1, 2]], axis=1, unspecified=NORMALIZED)
case("infinity_twice", Tag.EDGE, input=[[np.inf, np.inf, -np.inf]], unspecified=NORMALIZED)
case("one_element", Tag.EDGE, input=[[7.5]], cites=NORMALIZED)
case("size_one", Tag.EDGE, input=[[7.5], [-3], [0]], axis=1, cites=NORMALIZED)
case("batch_one", Tag.EDGE, input=[[7.5, 7, 6.5]], axis=1, cites=NORMALIZED)
case("long", input=np.cos(np.arange(600.0)).reshape(2, 300), axis=1, cites=NORMALIZED)
for type_, since in float_types(13).items():
    # A 16-bit sum that adds one term after the other stays at 2048 (float16) or 256 (bfloat16).
    thousands = typed(type_, np.full((2, 4096), [[0.5], [-3]]))
    case(f"thousands_equal_{type_}", Tag.EDGE, input=thousands, axis=1, since=since, cites=NORMALIZED)
case("axis_zero_size", Tag.EDGE, input=ramp(3, 0), axis=1, cites=NORMALIZED)
case("other_zero_size", Tag.EDGE, input=ramp(0, 3), axis=1, cites=NORMALIZED)
case("inner_zero_size", Tag.EDGE, input=ramp(2, 3, 0), axis=1, cites=NORMALIZED)

case("rank0", Tag.EDGE, input=ramp(), axis=0, rejects=MATCHED)
case("rank0_default", Tag.EDGE, input=ramp(), rejects=MATCHED)
case("rank0_default_since_13", Tag.EDGE, input=ramp(), since=13, rejects=RANGE)
case("rank1_default_before_11", Tag.CHANGE, input=WAVES[0, 0], before=11, unspecified=COERCED)
case("rank1_default_since_11", Tag.CHANGE, input=WAVES[0, 0], before=13, rejects=RANGE)
case("rank1_default_since_13", Tag.CHANGE, input=WAVES[0, 0], since=13, cites=FORMULA)
case("axis_from_back_before_11", Tag.AXIS, input=WAVES, axis=-1, before=11, unspecified=BACK)
case("axis_too_low_before_11", Tag.AXIS, input=WAVES, axis=-4, before=11, unspecified=BACK)
case("axis_rank_before_11", Tag.AXIS, input=WAVES, axis=3, before=11, unspecified=COERCED)
case("axis_too_high_before_11", Tag.AXIS, input=WAVES, axis=4, before=11, rejects=COERCED)
case("axis_rank", Tag.AXIS, input=WAVES, axis=3, cites=RANK, rejects=RANGE)

for name, shape, axis in axes():
    gentle = (
        np.arange(float(math.prod(shape))).reshape(shape) / 8
    )  # Small values, so that no exp underflows. Underflow is not tested here.
    case(name, Tag.AXIS, input=gentle, axis=axis, cites=(BACK, RANGE) if axis < 0 else ())
for name, shape, axis in axes_outside():
    case(name, Tag.AXIS, input=ramp(*shape), axis=axis, since=None if shape else 13, rejects=RANGE)

for name, (dims, axis, sizes) in LANES.items():
    of_lanes = {"input": filled(*dims, floats=(-6, 6)), "axis": axis}
    SOFTMAX.sized(name, sizes, each="T", cites=(FORMULA, ALONG), arguments=of_lanes)
