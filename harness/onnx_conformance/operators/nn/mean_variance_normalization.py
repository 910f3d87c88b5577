# SPDX-License-Identifier: Apache-2.0
"""MeanVarianceNormalization: standardize over some axes.

    Y = MeanVarianceNormalization(X, axes=[0, 2, 3])

Versions: 9, 13 (bfloat16).
"""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np

from onnx_conformance.declare import Array, Ints, Op, Tag, Version, bounded, ramp
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.sizes import filled
from onnx_conformance.operators.nn._normalization import moments
from onnx_conformance.operators.nn._sizes import MAPS

BODY_EPSILON = 1e-9
"""The constant that the function body adds to the deviation."""


def _axes(X: Array, axes: Ints) -> tuple[int, ...]:
    return tuple(int(axis) % X.ndim for axis in axes or ())


def _standardized(X: Array, axes: tuple[int, ...]) -> Array:
    """Return the value of the formula."""
    mean, variance = moments(X, axes)
    return np.asarray((X - mean) / np.sqrt(variance))


def _errors(X: Array, axes: Ints) -> list[Array]:
    """Return the errors of mean, difference and variance.

    As in the function body, the variance is computed as E(X^2) - (EX)^2.
    """
    along = _axes(X, axes)
    terms = math.prod(X.shape[axis] for axis in along)
    eps = min(float(np.finfo(np.float32).eps), float(ml_dtypes.finfo(X.dtype).eps))  # type: ignore[no-untyped-call]
    with np.errstate(all="ignore"):
        x = X.astype(np.float64)
        variance = moments(x, along)[1]
        squares, magnitudes = moments(x**2, along)[0], moments(np.abs(x), along)[0]
        deviation = np.sqrt(variance)
        relative = (terms / 2 + 3) * squares / variance + BODY_EPSILON / eps / deviation + 2
        of_mean = (np.abs(x) + (terms / 2 + 2) * magnitudes) / deviation
        return [np.abs(_standardized(x, along)) * relative + of_mean]


NORMALIZATION = Op(
    "MeanVarianceNormalization",
    versions=(9, 13),
    compare=bounded(
        _errors,
        "sums round once for each element; the function body subtracts the square of the mean from the mean of the "
        "squares",
    ),
    rank="X",
    widens=False,  # The allowed error depends on the type.
)
NORMALIZATION.example(X=waves(2, 3, 4, 5), axes=[0, 2, 3])

NORMALIZATION.dispute(
    "In the function body of onnx, Pow, Add and Div have a constant of type float together with tensors of other "
    "types.",
    "each_type",
)
FORMULA = NORMALIZATION.clause(
    "Perform mean variance normalization on the input tensor X using formula:",
    note="If the variance is 0 the formula has no value. The function body adds 1e-9 to the deviation.",
)
EXPRESSION = NORMALIZATION.clause("(X-EX)/sqrt(E(X-EX)^2)")
ALONG = NORMALIZATION.clause(
    "A list of integers, along which to reduce.",
    note="The text does not define negative axes, repeated axes or an empty list.",
)
DEFAULT = NORMALIZATION.clause(
    "The default is to calculate along axes [0,2,3] for calculating mean and variance along each channel."
)
SAME = NORMALIZATION.clause("Two variables with the same C-coordinate are associated with the same mean and variance.")


@NORMALIZATION.oracle()
def standardized(v: Version, X: Array, axes: Ints) -> Array:
    """Return the value of the formula, with mean and variance along the axes."""
    given = [int(axis) for axis in axes or ()]
    v.require(ALONG, all(axis < X.ndim for axis in given))
    v.silent(ALONG, not given or min(given) < 0 or len(set(given)) < len(given))
    v.silent(FORMULA, X.size == 0)
    with np.errstate(all="ignore"):
        x = X.astype(np.float64)
        v.silent(FORMULA, bool((moments(x, tuple(given))[1] == 0).any()))
        return _standardized(x, tuple(given))


case = NORMALIZATION.case
CUBE = waves(2, 3, 4)
IMAGE = waves(2, 3, 4, 5) * np.array([1, 2, 5]).reshape(3, 1, 1) + np.array([0, 1, -2]).reshape(3, 1, 1)

case("default", X=IMAGE, cites=(FORMULA, EXPRESSION, DEFAULT, SAME))
case("channels", X=IMAGE, axes=[0, 2, 3], cites=(DEFAULT, SAME))
case("one_image", X=IMAGE[:1], cites=DEFAULT)
case("one_channel", X=IMAGE[:, 1:2], cites=SAME)
for name, axes in {
    "batch": [0],
    "across_channels": [1],
    "height": [2],
    "width": [3],
    "plane": [2, 3],
    "all_but_batch": [1, 2, 3],
    "all": [0, 1, 2, 3],
    "other_order": [3, 0, 2],
    "two_apart": [0, 3],
}.items():
    case(f"along_{name}", Tag.AXIS, X=IMAGE, axes=axes, cites=(ALONG, EXPRESSION))
case("line", X=[1, -2, 4, 0.5], axes=[0], cites=EXPRESSION)
case("matrix_rows", X=CUBE[0], axes=[1], cites=EXPRESSION)
case("matrix_columns", X=CUBE[0], axes=[0], cites=EXPRESSION)
case("cube", X=CUBE, axes=[0, 2], cites=ALONG)
case("space", X=waves(2, 3, 2, 4, 3), axes=[0, 2, 3, 4], cites=ALONG)
case("default_beyond_rank3", Tag.EDGE, X=CUBE, rejects=ALONG)
case("default_beyond_rank0", Tag.EDGE, X=2.5, rejects=ALONG)
case("default_leaves_axis_4", X=waves(2, 3, 2, 3, 2), cites=DEFAULT)
case("axis_rank", Tag.AXIS, X=CUBE, axes=[3], rejects=ALONG)
case("axis_beyond_beside_another", Tag.AXIS, X=CUBE, axes=[0, 5], rejects=ALONG)
case("axis_negative", Tag.AXIS, X=CUBE, axes=[-1], unspecified=ALONG)
case("axis_negative_beside_another", Tag.AXIS, X=CUBE, axes=[0, -1], unspecified=ALONG)
case("axis_twice", Tag.AXIS, X=CUBE, axes=[1, 1], unspecified=ALONG)
case("no_axes", Tag.EDGE, X=CUBE, axes=[], unspecified=ALONG)

case("constant", Tag.EDGE, X=[[3, 3, 3], [1, 2, 4]], axes=[1], unspecified=FORMULA)
case("size_one", Tag.EDGE, X=[[3], [1]], axes=[1], unspecified=FORMULA)
case("no_rows", Tag.EDGE, X=ramp(0, 3), axes=[1], unspecified=FORMULA)
case("no_columns", Tag.EDGE, X=ramp(3, 0), axes=[1], unspecified=FORMULA)
case("two_elements", Tag.EDGE, X=[[3, 5], [-2, 6]], axes=[1], cites=EXPRESSION)
infinite = [[np.inf, 1, 2], [4, 5, 7], [1, -np.inf, np.inf]]
case("infinity", Tag.EDGE, X=infinite, axes=[1], cites=EXPRESSION)
case("nan", Tag.EDGE, X=[[np.nan, 1, 2], [4, 5, 7], [3, 1, np.nan]], axes=[1], cites=EXPRESSION)
case("far_from_zero", Tag.EDGE, X=[[100, 101, 103, 104]], axes=[1], cites=EXPRESSION)
case("long", X=np.cos(np.arange(300.0)).reshape(2, 150), axes=[1], cites=EXPRESSION)
case("each_type", Tag.DTYPE, each="T", X=CUBE, axes=[0, 2], cites=EXPRESSION)

for name in ("channels", "plane", "large"):
    dims, sizes = MAPS[name]
    NORMALIZATION.sized(name, sizes, each="T", cites=(EXPRESSION, DEFAULT), arguments={"X": filled(*dims)})
