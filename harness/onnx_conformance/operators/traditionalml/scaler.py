# SPDX-License-Identifier: Apache-2.0
"""Scaler: subtract an offset from each feature and multiply the difference by a scale.

    Y = Scaler(X, offset=[3.0], scale=[0.5])

Versions: 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, bounded, ramp, typed
from onnx_conformance.declare.sizes import FEW_LENGTHS, filled, grid, listed

if TYPE_CHECKING:
    from onnx_conformance.declare import Clause

MATRIX = 2


def _rounding(X: Array, offset: list[float] | None, scale: list[float] | None) -> list[Array]:
    """Return half a rounding for each of: the element as a float, the difference, and the product."""
    wide, first, second = np.abs(X.astype(np.float64)), np.abs(offset or [0.0]), np.abs(scale or [1.0])
    with np.errstate(all="ignore"):
        error = np.asarray((wide + first) * second * 1.5)
    return [np.where(np.isfinite(error), error, 0)]


SCALER = Op(
    "Scaler",
    versions=(1,),
    compare=bounded(_rounding, "conversion to float, difference and product round once each"),
    domain="ai.onnx.ml",
    rank="X",
)
SCALER.example(X=[[1, 5, 2], [0, 3, 4]], offset=[0.5, 1.0, -2.0], scale=[2.0, 0.25, -1.0])
SCALER.excuse("attribute offset unset", "nothing says what is done where there is none")
SCALER.excuse("attribute scale unset", "nothing says what is done where there is none")

RESCALE = SCALER.clause(
    "Rescale input data, for example to standardize features by removing the mean and scaling to unit variance.",
    note="Therefore the offset is subtracted, and the difference is multiplied. The text does not define an omitted "
    "attribute.",
)
FIRST = SCALER.clause("First, offset by this.")
SECOND = SCALER.clause("Second, multiply by this.")
FEATURES = SCALER.clause(
    "Can be length of features in an [N,F] tensor or length 1, in which case it applies to all features, regardless of "
    "dimension count.",
    note="The text does not define features in tensors of other ranks.",
)
SAME_LENGTH = SCALER.clause("Must be same length as 'offset'")
NUMERIC = SCALER.clause("The input must be a tensor of a numeric type.")


@SCALER.oracle()
def scaled(v: Version, X: Array, offset: list[float] | None, scale: list[float] | None) -> Array:
    """Return X minus the offset, times the scale."""
    v.silent(RESCALE, offset is None or scale is None)
    v.require(SAME_LENGTH, len(offset or ()) == len(scale or ()))
    length = len(offset or ())
    v.silent(FEATURES, length != 1 and X.ndim != MATRIX)
    v.require(FEATURES, length == 1 or X.shape[-1] == length)
    with np.errstate(all="ignore"):
        return np.asarray((X.astype(np.float64) - np.asarray(offset)) * np.asarray(scale)).astype(np.float32)


case = SCALER.case
ROWS = [[1, 5, 2, -7], [0, 3, -4, 0.5], [0.1, 1 / 3, -2 / 3, 1e3]]
BY_FEATURE: dict[str, Any] = {"offset": [0.5, 1.0, -2.0, 3.0], "scale": [2.0, 0.25, -1.0, 0.1]}
BY_ONE: dict[str, Any] = {"offset": [1.5], "scale": [-0.3]}

case("features", X=ROWS, **BY_FEATURE, cites=(RESCALE, FIRST, SECOND, FEATURES))
case("one", X=ROWS, **BY_ONE, cites=(RESCALE, FEATURES))
case("offset_alone", X=ROWS, offset=[0.5, 1.0, -2.0, 3.0], scale=[1.0] * 4, cites=FIRST)
case("scale_alone", X=ROWS, offset=[0.0] * 4, scale=[2.0, 0.25, -1.0, 0.1], cites=SECOND)
case("scale_zero", Tag.EDGE, X=ROWS, offset=[1.0], scale=[0.0], cites=SECOND)
for name, shape in {"scalar": (), "vector": (4,), "one_element": (1,), "empty": (0,), "cube": (2, 3, 4)}.items():
    case(f"one_of_{name}", Tag.EDGE, X=np.resize([1, -1.25, 0.5, 3, -4], shape), **BY_ONE, cites=FEATURES)
case("no_rows", Tag.EDGE, X=ramp(0, 4), **BY_FEATURE, cites=FEATURES)
case("one_feature", Tag.EDGE, X=[[1], [2], [3]], **BY_ONE, cites=FEATURES)
case("one_row", Tag.EDGE, X=[[1, 2, 3, 4]], **BY_FEATURE, cites=FEATURES)
case("square", X=np.arange(16).reshape(4, 4), **BY_FEATURE, cites=FEATURES)
case("dtypes", Tag.DTYPE, each="T", X=[[1, 5, 2, 7], [0, 3, 4, 9]], **BY_FEATURE, cites=(NUMERIC, SECOND))
case("dtypes_one", Tag.DTYPE, each="T", X=[[1, 5, 2, 7], [0, 3, 4, 9]], **BY_ONE, cites=NUMERIC)
case("infinities", Tag.EDGE, X=[np.inf, -np.inf, 1], offset=[1.0], scale=[-2.0], cites=RESCALE)
case("nan", Tag.EDGE, X=[np.nan, 1], offset=[1.0], scale=[2.0], cites=RESCALE)
case("int64_large", Tag.EDGE, X=typed("int64", [2**40, -(2**62), 2**31]), offset=[1.0], scale=[0.5], cites=NUMERIC)
case("vector_of_features", Tag.EDGE, X=[1, 2, 3, 4], **BY_FEATURE, unspecified=FEATURES)
case("cube_of_features", Tag.EDGE, X=ramp(2, 3, 4), **BY_FEATURE, unspecified=FEATURES)
case("offset_unset", Tag.EDGE, X=ROWS, scale=[2.0], unspecified=RESCALE)
case("scale_unset", Tag.EDGE, X=ROWS, offset=[2.0], unspecified=RESCALE)
case("both_unset", Tag.EDGE, X=ROWS, unspecified=RESCALE)
OTHERS: dict[str, tuple[dict[str, Any], Clause]] = {
    "scale_of_one": ({"offset": [0.5, 1.0, -2.0, 3.0], "scale": [2.0]}, SAME_LENGTH),
    "offset_of_one": ({"offset": [0.5], "scale": [2.0, 0.25, -1.0, 0.1]}, SAME_LENGTH),
    "fewer_than_features": ({"offset": [0.5, 1.0], "scale": [2.0, 3.0]}, FEATURES),
    "more_than_features": ({"offset": [0.5] * 5, "scale": [2.0] * 5}, FEATURES),
}
for name, (attributes, clause) in OTHERS.items():
    case(name, X=ROWS, **attributes, rejects=clause)
case("outside", Tag.DTYPE, outside="T", X=ramp(2, 3), **BY_ONE, rejects=NUMERIC)

SCALER.sized(
    "features",
    grid(m=(17, 700), n=FEW_LENGTHS),
    each="T",
    cites=(RESCALE, FIRST, SECOND),
    arguments={
        "X": filled("m", "n"),
        "offset": listed(filled("n"), np.float32),
        "scale": listed(filled("n", floats=(0.5, 2)), np.float32),
    },
)
