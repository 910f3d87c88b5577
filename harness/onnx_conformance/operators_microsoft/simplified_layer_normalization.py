# SPDX-License-Identifier: Apache-2.0
"""SimplifiedLayerNormalization: divide the last dimensions of a tensor by their root mean square, then scale them.

    Y, inv_std_var = SimplifiedLayerNormalization(X, scale, axis=-1, epsilon=1e-5, stash_type=1)

Versions: 1. ONNX Runtime registers it in the domain of ONNX.
"""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, attribute, axes, axes_outside, bounded, ramp, typed, vary
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.sizes import filled, grid
from onnx_conformance.operators.nn._sizes import ROWS

STASHES: dict[int, np.dtype[Any]] = {1: np.dtype(np.float32), 11: np.dtype(np.float64)}
"""The types of inv_std_var, by the number of the type in stash_type."""


def _rows(X: Array, axis: int) -> Array:
    """Return a matrix of doubles, with a row for each part of X that is normalized."""
    first = axis % X.ndim
    return X.astype(np.float64).reshape(math.prod(X.shape[:first]), math.prod(X.shape[first:]))


def _inverse(rows: Array, epsilon: float) -> Array:
    """Return 1 divided by the root of the mean square of each row plus epsilon."""
    with np.errstate(all="ignore"):
        return np.asarray(1 / np.sqrt((rows**2).sum(1, keepdims=True) / rows.shape[1] + epsilon))


def _epsilon(dtype: np.dtype[Any]) -> float:
    return float(ml_dtypes.finfo(dtype).eps)  # type: ignore[no-untyped-call]


def _errors(X: Array, scale: Array, axis: int, epsilon: float, stash_type: int) -> list[Array]:
    """Return the allowed errors.

    The sum of squares rounds by half an epsilon for each square, which the root halves. It is computed in float32 at
    least, and the inverse may be saved in float32. The two products round to the coarser type of X and scale.
    """
    rows, single = _rows(X, axis), _epsilon(np.dtype(np.float32))
    inverse = _inverse(rows, epsilon)
    of_inverse = (rows.shape[1] / 4 + 3) * single
    of_products = 2 * max(_epsilon(X.dtype), _epsilon(scale.dtype))
    with np.errstate(all="ignore"):
        size = np.abs((rows * inverse).reshape(X.shape) * scale.astype(np.float64))
    saved = _shape_of_statistics(X, axis)
    return [
        size * (of_inverse + of_products) / _epsilon(scale.dtype),
        (inverse * of_inverse / _epsilon(STASHES[stash_type])).reshape(saved),
    ]


def _shape_of_statistics(X: Array, axis: int) -> tuple[int, ...]:
    first = axis % X.ndim
    return (*X.shape[:first], *[1] * (X.ndim - first))


SIMPLIFIED = Op(
    "SimplifiedLayerNormalization",
    versions=(1,),
    compare=bounded(_errors, "the sum rounds once for each square, the root and both products once each", steps=True),
    rank="X",
    derives={"U": attribute("stash_type")},
    widens=False,  # The allowed error depends on the type of X.
)
SIMPLIFIED.example(X=ramp(2, 3, 4), scale=typed("{T}", ramp(4)))

NAMED = SIMPLIFIED.clause(
    "SimplifiedLayerNormalization",
    note="The text has only this name. The paper on T5 (Raffel et al., 2020) calls layer normalization simplified if "
    "activations are only rescaled, and no bias is added: X / sqrt(mean(X * X) + epsilon) * scale. The text does not "
    "define the mean of no elements, the quotient of infinities, or squares beyond the range of float32.",
)
DATA = SIMPLIFIED.clause("Input data tensor from the previous layer.")
SCALE = SIMPLIFIED.clause(
    "Scale tensor.",
    note="The text does not define its shape. A scale with the shape of the normalized dimensions has one number for "
    "each element. All other shapes are left open.",
)
OUTPUT = SIMPLIFIED.clause("Output data tensor.")
SAVED = SIMPLIFIED.clause(
    "Saved inverse standard variance used during training to speed up gradient computation.",
    note="A gradient of this normalization needs 1 / sqrt(mean(X * X) + epsilon). The text does not define the shape. "
    "LayerNormalization of ONNX describes the same output, with the normalized dimensions as ones.",
)
AXIS = SIMPLIFIED.clause(
    "The first normalization dimension: normalization will be performed along dimensions axis : rank(inputs).",
    note="The default is -1, so a negative axis counts from the back. The text does not define an axis out of range.",
)
EPSILON = SIMPLIFIED.clause("The epsilon value to use to avoid division by zero.")
STASH = SIMPLIFIED.clause(
    "type used for stash mean/inv_std_var",
    note="The default, 1, is the number of float in TensorProto.DataType, and 11 that of double. The signature allows "
    "no other types.",
)
OUTPUT_TYPES = SIMPLIFIED.clause("Constrain output Y and scale type to float tensors.")
FLOATS = SIMPLIFIED.clause("Constrain mean and inv_std_var to be float tensors.")


@SIMPLIFIED.oracle()
def simplified(v: Version, X: Array, scale: Array, axis: int, epsilon: float, stash_type: int) -> tuple[Array, Array]:
    """Return X divided by its root mean square and scaled, and the inverse of the root."""
    v.silent(AXIS, not -X.ndim <= axis < X.ndim)
    v.silent(SCALE, scale.shape != X.shape[axis % X.ndim :])
    v.silent(STASH, stash_type not in STASHES)
    rows = _rows(X, axis)
    v.silent(NAMED, rows.shape[1] == 0)
    with np.errstate(all="ignore"):
        v.silent(NAMED, bool(np.isinf((rows**2).sum(1).astype(np.float32)).any()))
        inverse = _inverse(rows, epsilon)
        result = (rows * inverse).reshape(X.shape) * scale.astype(np.float64)
    return result, inverse.reshape(_shape_of_statistics(X, axis))


case = SIMPLIFIED.case
CUBE = waves(2, 3, 4)
FOUR = [1.5, -0.5, 2, 1]
PLANE = np.arange(12.0).reshape(3, 4) / 4 - 1.3
PLAIN: dict[str, Any] = {"X": typed("float", CUBE), "scale": typed("float", FOUR)}


def floats(X: object, scale: object) -> dict[str, Any]:
    """Return both inputs as float32."""
    return {"X": typed("float", X), "scale": typed("float", scale)}


case("plain", **PLAIN, n=2, cites=(NAMED, DATA, SCALE, OUTPUT, SAVED))
case("output_alone", **PLAIN, cites=NAMED)
case("one_row", **floats([3, -4, 12], [1, 2, -1]), n=2, cites=NAMED)
case("mean_is_not_taken_out", **floats([[5, 6, 7], [-7, -6, -5]], [1, 1, 1]), n=2, cites=(NAMED, SAVED))
for name, shape, axis in axes():
    case(name, Tag.AXIS, **floats(waves(*shape), waves(*shape[axis:])), axis=axis, n=2, cites=AXIS)
for name, shape, axis in axes_outside():
    case(name, Tag.AXIS, **floats(ramp(*shape), ramp(*shape[:1])), axis=axis, unspecified=AXIS)
case("rank0_default", Tag.EDGE, **floats(ramp(), 1), unspecified=AXIS)
SHAPES: list[tuple[int, ...]] = [(), (1,), (4,), (3, 1), (1, 4), (1, 3, 4), (12,), (3,)]
for shape in SHAPES:
    words = "x".join(map(str, shape)) or "scalar"
    case(f"scale_{words}", Tag.EDGE, **floats(CUBE, ramp(*shape)), axis=1, unspecified=SCALE)
case("scale_of_more_than_the_row", Tag.EDGE, **floats(CUBE, ramp(3, 4)), unspecified=SCALE)

case("epsilon", **PLAIN, epsilon=0.75, n=2, cites=EPSILON)
case("epsilon_zero", Tag.EDGE, **PLAIN, epsilon=0.0, n=2, cites=EPSILON)
case("epsilon_beside_little", Tag.EDGE, **floats([[1e-3, -2e-3, 3e-3, 5e-4]], FOUR), n=2, cites=EPSILON)
case("zeros", Tag.EDGE, **floats([[0, 0, 0, 0], [-0.0, 0, 1, 0]], FOUR), n=2, cites=EPSILON)
case("size_one", Tag.EDGE, **floats([[3], [-2], [0.5]], [2]), n=2, cites=NAMED)
case("long", **floats(np.cos(np.arange(300.0)).reshape(2, 150), waves(150)), n=2, cites=NAMED)
case("nan", Tag.EDGE, **floats([[np.nan, 1, 2, 3], [4, 5, 7, 6]], FOUR), n=2, cites=NAMED)
case("scale_not_finite", Tag.EDGE, **floats(CUBE, [np.inf, -np.inf, np.nan, 0]), cites=SCALE)
case("no_rows", Tag.EDGE, **floats(ramp(0, 4), FOUR), n=2, cites=OUTPUT)
case("no_elements", Tag.EDGE, **floats(ramp(3, 0), ramp(0)), n=2, unspecified=NAMED)
case("infinity", Tag.EDGE, **floats([[np.inf, 1, 2, 3], [4, 5, 7, 6]], FOUR), n=2, unspecified=NAMED)
case("squares_large", Tag.EDGE, **floats([[1e15, -2e15, 3e15]], [1, 2, 3]), n=2, cites=NAMED)
case("sum_of_squares_beyond_float", Tag.EDGE, **floats([[1.2e19] * 3], [1, 2, 3]), unspecified=NAMED)
case("squares_beyond_float", Tag.EDGE, **floats([[1e30, -1e30, 3]], [1, 2, 3]), unspecified=NAMED)

case("types", Tag.DTYPE, each=("T", "V"), X=CUBE, scale=FOUR, n=2, cites=(NAMED, OUTPUT_TYPES, FLOATS))
case("types_axis", Tag.DTYPE, each="T", X=CUBE, scale=typed("{T}", PLANE), axis=1, n=2, cites=AXIS)
for type_ in ("float16", "bfloat16", "float", "double"):
    tensors: dict[str, Any] = {"X": typed(type_, CUBE), "scale": typed(type_, FOUR)}
    case(f"stash_{type_}", Tag.DTYPE, **tensors, stash_type=vary(float=1, double=11), n=2, cites=(STASH, FLOATS))
case("float16_squares_beyond_its_range", Tag.EDGE, X=typed("float16", CUBE * 300), scale=typed("float16", FOUR), n=2)
case("stash", Tag.EDGE, **PLAIN, stash_type=vary(zero=0, int64=7, float16=10, bfloat16=16), unspecified=STASH)

for name, (dims, chosen) in ROWS.items():
    of_rows = {"X": filled(*dims), "scale": filled("n", type_="{T}")}
    SIMPLIFIED.sized(name, chosen, each="T", n=2, cites=NAMED, arguments=of_rows)
of_planes = {"X": filled("b", "c", "h"), "scale": filled("c", "h", type_="{T}"), "axis": 1}
SIMPLIFIED.sized("planes", grid(b=(3,), c=(5, 16), h=(7, 33)), each="T", cites=AXIS, arguments=of_planes)
