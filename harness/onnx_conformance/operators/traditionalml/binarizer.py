# SPDX-License-Identifier: Apache-2.0
"""Binarizer: 1 for elements above a threshold, 0 for others.

    Y = Binarizer(X, threshold=0.0)

Versions: 1.
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, ramp, typed
from onnx_conformance.declare.sizes import FEW_LENGTHS, filled, grid

BINARIZER = Op("Binarizer", versions=(1,), compare=EXACT, domain="ai.onnx.ml", rank="X")
BINARIZER.example(X=[[1, 5, 2], [0, 3, 4]], threshold=2.0)

MAPS = BINARIZER.clause(
    "Maps the values of the input tensor to either 0 or 1, element-wise, based on the outcome of a comparison against "
    "a threshold value.",
    note="For an integer that is not a float value, the text does not define whether it is compared directly or as the "
    "nearest float. The threshold is a float.",
)
GREATER = BINARIZER.clause("Values greater than this are mapped to 1, others to 0.")
SAME_TYPE = BINARIZER.clause("The output will be of the same tensor type.")
NUMERIC = BINARIZER.clause("The input must be a tensor of a numeric type.")


@BINARIZER.oracle()
def binary(v: Version, X: Array, threshold: float) -> Array:
    """Return 1 where X is greater than the threshold, 0 elsewhere."""
    greater = threshold < X
    v.silent(MAPS, X.dtype.kind == "i" and bool((greater != (X.astype(np.float32) > threshold)).any()))
    return greater.astype(X.dtype)


case = BINARIZER.case
MIXED = [1, -1.25, 0.5, 3, -4, 0, 2.75, -7]

case("default", X=MIXED, cites=(MAPS, GREATER))
for name, threshold in {"zero": 0.0, "half": 0.5, "negative": -4.0, "above_all": 100.0, "below_all": -100.0}.items():
    case(f"threshold_{name}", X=MIXED, threshold=threshold, cites=(MAPS, GREATER))
for name, shape in {
    "scalar": (),
    "one": (1,),
    "empty": (0,),
    "dim_zero": (2, 0),
    "matrix": (3, 5),
    "cube": (2, 3, 4),
}.items():
    case(name, Tag.EDGE, X=np.resize(MIXED, shape), threshold=0.5, cites=MAPS)
case("dtypes", Tag.DTYPE, each="T", X=[[1, 5, 2], [0, 3, 4]], threshold=2.0, cites=(SAME_TYPE, NUMERIC, GREATER))
case("dtypes_fraction", Tag.DTYPE, each="T", X=[[1, 5, 2], [0, 3, 4]], threshold=2.5, cites=GREATER)
case("zeros", Tag.EDGE, X=[0.0, -0.0, 1e-45, -1e-45], cites=GREATER)
case("threshold_minus_zero", Tag.EDGE, X=[0.0, -0.0, 1, -1], threshold=-0.0, cites=GREATER)
case("infinities", Tag.EDGE, X=[np.inf, -np.inf, 1], threshold=1.0, cites=GREATER)
case("threshold_infinite", Tag.EDGE, X=[np.inf, -np.inf, 1], threshold=np.inf, cites=GREATER)
case("threshold_minus_infinite", Tag.EDGE, X=[np.inf, -np.inf, 1], threshold=-np.inf, cites=GREATER)
case("nan", Tag.EDGE, X=[np.nan, 1, -1], cites=GREATER)
case("threshold_nan", Tag.EDGE, X=[np.nan, 1, np.inf], threshold=np.nan, cites=GREATER)
# A double between the float nearest to 0.1 and 0.1 itself.
case("double_beside_float", Tag.EDGE, X=typed("double", [0.1, 0.1 + 2e-9]), threshold=0.1, cites=GREATER)
case("int64_limits", Tag.EDGE, X=typed("int64", [2**63 - 1, -(2**63), 2**40, 0]), threshold=1.0, cites=GREATER)
case("int32_limits", Tag.EDGE, X=typed("int32", [2**31 - 1, -(2**31), 0]), threshold=-1.0, cites=GREATER)
case("beside_float", Tag.EDGE, X=typed("int64", [2**24 + 1, 0]), threshold=2.0**24, unspecified=MAPS)
case("outside", Tag.DTYPE, outside="T", X=ramp(3), rejects=NUMERIC)

BINARIZER.sized(
    "rows",
    grid(m=(3, 700), n=FEW_LENGTHS),
    each="T",
    cites=(MAPS, GREATER),
    arguments={"X": filled("m", "n"), "threshold": 0.5},
)
