# SPDX-License-Identifier: Apache-2.0
"""LogSoftmax: the logarithm of the normalized exponential.

    output = LogSoftmax(input, axis=-1)
    output = LogSoftmax(input, axis=1)    # before version 13

Versions: 1 (of the input coerced into a matrix at 'axis'), 11 (negative axes), 13 (along one dimension).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Version, bounded, typed
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.families.elementwise import float_types
from onnx_conformance.declare.families.sums import roundings
from onnx_conformance.declare.readings import REAL_NUMBERS
from onnx_conformance.declare.rounding import exponential_leaves_range
from onnx_conformance.declare.sizes import filled
from onnx_conformance.operators.math._layers import Layers
from onnx_conformance.operators.math._sizes import LANES


def _logarithm(values: Array, axis: int) -> Array:
    """Return x - log(sum(exp(x))). The largest value is first subtracted from x, which does not change the result."""
    with np.errstate(all="ignore"):
        apart = values - values.max(axis, keepdims=True, initial=-np.inf)
        return np.asarray(apart - np.log(np.exp(apart).sum(axis, keepdims=True)))


def _rounding(input: Array, axis: int) -> list[Array]:  # noqa: ARG001 - every argument is passed
    """Return the absolute errors of exponentials, sum and logarithm, and those of differences in any order."""
    x = input.astype(np.float64)
    with np.errstate(all="ignore"):
        magnitudes = np.nan_to_num(np.abs(x), posinf=0)
        apart = np.abs(x) + magnitudes.max(initial=0)
        # The number of all elements limits the length of a lane: before version 13 a lane is a row of the matrix.
        terms = roundings(input.size) / 2 + np.log(max(1, input.size)) + 4
        return [apart + terms]


LOG_SOFTMAX = Op(
    "LogSoftmax",
    versions=(1, 11, 13),
    compare=bounded(_rounding, "each addition rounds once; exponentials, logarithm and differences round a few times"),
    rank="input",
)
LOG_SOFTMAX.example(input=waves(2, 3, 4), axis=1)

COMPUTED = LOG_SOFTMAX.clause(
    "The operator computes the log", note="The formula is the log of softmax in real numbers."
)
LOG_OF_SOFTMAX = LOG_SOFTMAX.clause(
    "computes the logsoftmax (log of softmax) values",
    before=13,
    note="The formula is one of real numbers: exp(1000) must not overflow on the way, as the official case of large "
    "numbers shows. exp(inf) / exp(inf) has no value, and the text does not define the values of the other elements "
    "then.",
)
FORMULA = LOG_SOFTMAX.clause(
    "LogSoftmax(input, axis) = Log(Softmax(input, axis=axis))",
    since=13,
    note="As in earlier versions, the formula is one of real numbers, and the text does not define results for "
    "infinity.",
)
LAYERS = Layers(LOG_SOFTMAX)


def _values(v: Version, values: Array, axis: int) -> Result:
    """Return the logarithms along an axis. They are open if there is a positive infinity."""
    x = values.astype(np.float64)
    with np.errstate(invalid="ignore"):
        largest = x.max(axis, keepdims=True, initial=-np.inf)
        v.reads(REAL_NUMBERS, exponential_leaves_range(np.append(largest, x - largest), values.dtype))
    infinite = np.isposinf(x).any(axis, keepdims=True)
    return v.leave_open(COMPUTED, np.broadcast_to(infinite, x.shape), _logarithm(x, axis))


@LOG_SOFTMAX.oracle(before=13)
def logarithm_before_13(v: Version, input: Array, axis: int) -> Result:
    """Return the values for each row of the matrix whose columns start at `axis`."""
    return LAYERS.rows(v, input, axis, lambda matrix, columns: _values(v, matrix, columns))


@LOG_SOFTMAX.oracle(since=13)
def logarithm_since_13(v: Version, input: Array, axis: int) -> Result:
    """Return the values along one dimension."""
    return LAYERS.lanes(v, input, axis, lambda data, dimension: _values(v, data, dimension))


case = LOG_SOFTMAX.case
LAYERS.cases()
MATRIX = waves(4, 6)

case("matrix", input=MATRIX, axis=1, cites=COMPUTED)
case("matrix_before_13", input=MATRIX, cites=LOG_OF_SOFTMAX)
case("matrix_since_13", input=MATRIX, cites=FORMULA)
case("large", Tag.EDGE, input=[[1000, 1001, 1002], [-1000, -1003, -1001]], cites=COMPUTED)
case("far_apart", Tag.EDGE, input=[[0, -1000, 1000, 500]], cites=COMPUTED)
case("rounds_to_one", Tag.EDGE, input=[[20, 0, 1], [-30, -60, -61]], cites=COMPUTED)
case("equal", Tag.EDGE, input=[[3, 3, 3], [-70, -70, -70]], cites=COMPUTED)
case("signed_zeros", Tag.EDGE, input=[[0.0, -0.0, -0.0]], cites=COMPUTED)
case("limits", Tag.EDGE, input=[[3e38, -1e37, 1], [-3e38, -3e38, -3e38]], cites=COMPUTED)
case("minus_infinity", Tag.EDGE, input=[[-np.inf, 1, 2], [0, -np.inf, -np.inf]], cites=COMPUTED)
case("minus_infinity_all", Tag.EDGE, input=[[-np.inf, -np.inf], [1, 2]], cites=COMPUTED)
case("nan", Tag.EDGE, input=[[np.nan, 1, 2], [3, np.nan, -np.inf], [4, 5, 7]], cites=COMPUTED)
case("infinity", Tag.EDGE, input=[[np.inf, 1, 2]], unspecified=COMPUTED)
case("infinity_in_one_row", Tag.EDGE, input=[[np.inf, 1, 2], [3, 1, 2]], axis=1, unspecified=COMPUTED)
case("infinity_twice", Tag.EDGE, input=[[np.inf, np.inf, -np.inf]], unspecified=COMPUTED)
case("one_element", Tag.EDGE, input=[[7.5]], cites=COMPUTED)
case("size_one", Tag.EDGE, input=[[7.5], [-3], [0]], axis=1, cites=COMPUTED)
case("batch_one", Tag.EDGE, input=[[7.5, 7, 6.5]], axis=1, cites=COMPUTED)
case("long", input=np.cos(np.arange(600.0)).reshape(2, 300), axis=1, cites=COMPUTED)
case("each_type", Tag.DTYPE, each="T", input=MATRIX, axis=1, cites=COMPUTED)
for type_, since in float_types(13).items():
    # A 16-bit sum that adds one term after the other stays at 2048 (float16) or 256 (bfloat16).
    thousands = typed(type_, np.full((2, 4096), [[0.5], [-3]]))
    case(f"thousands_equal_{type_}", Tag.EDGE, input=thousands, axis=1, since=since, cites=COMPUTED)

for name, (dims, axis, sizes) in LANES.items():
    LOG_SOFTMAX.sized(
        name,
        sizes,
        each="T",
        cites=(FORMULA, LAYERS.along),
        arguments={"input": filled(*dims, floats=(-6, 6)), "axis": axis},
    )
