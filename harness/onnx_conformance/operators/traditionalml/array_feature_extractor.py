# SPDX-License-Identifier: Apache-2.0
"""ArrayFeatureExtractor: the elements along the last axis that indices select.

    Z = ArrayFeatureExtractor(X, Y)

Versions: 1.
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, extremes, ramp, typed, vary
from onnx_conformance.declare.sizes import filled, grid, indices_of

MATRIX = 2
EXTRACTOR = Op("ArrayFeatureExtractor", versions=(1,), compare=EXACT, domain="ai.onnx.ml", widens=False)
EXTRACTOR.example(X=ramp(2, 3), Y=[2, 0])

SELECT = EXTRACTOR.clause(
    "Select elements of the input tensor based on the indices passed.",
    note="The text does not define the shape of the result if the input has a lower rank than a matrix, or if the "
    "indices are not a list. Only existing indices are valid.",
)
LAST = EXTRACTOR.clause("The indices are applied to the last axes of the tensor.")
FIRST = EXTRACTOR.clause(
    "The indices, based on 0 as the first index of any dimension.", note="The text does not define negative indices."
)
ARRAY = EXTRACTOR.clause("Selected output data as an array")
SAME_TYPE = EXTRACTOR.clause("The output will be of the same tensor type.")
NUMERIC = EXTRACTOR.clause("The input must be a tensor of a numeric type or string.")


@EXTRACTOR.oracle()
def extracted(v: Version, X: Array, Y: Array) -> Array:
    """Return the elements of the last axis at the indices, in their order."""
    v.silent(SELECT, X.ndim < MATRIX or Y.ndim != 1)
    v.silent(FIRST, bool((Y < 0).any()))
    v.require(SELECT, bool((X.shape[-1] > Y).all()))
    return X[..., Y]


case = EXTRACTOR.case

case("matrix", X=ramp(3, 4), Y=[0, 1], cites=(SELECT, LAST, FIRST, ARRAY))
case("in_their_order", X=ramp(3, 4), Y=[3, 0, 2], cites=SELECT)
case("repeated", X=ramp(3, 4), Y=[1, 1, 3, 1], cites=SELECT)
case("more_than_there_are", X=ramp(3, 2), Y=[1, 0, 1, 0, 1], cites=SELECT)
case("all", X=ramp(3, 4), Y=[0, 1, 2, 3], cites=SELECT)
case("one", X=ramp(3, 4), Y=[2], cites=SELECT)
case("one_row", Tag.EDGE, X=ramp(1, 4), Y=[3, 1], cites=SELECT)
case("one_column", Tag.EDGE, X=ramp(4, 1), Y=[0, 0], cites=SELECT)
case("cube", X=ramp(2, 3, 4), Y=[3, 1], cites=LAST)
case("rank4", X=ramp(2, 3, 1, 4), Y=[2, 0, 3], cites=LAST)
case("no_rows", Tag.EDGE, X=ramp(0, 3), Y=[2, 0], cites=SELECT)
case("no_indices", Tag.EDGE, X=ramp(2, 3), Y=[], cites=SELECT)
case("long", X=ramp(3, 100), Y=np.arange(67) * 11 % 100, cites=SELECT)
case("dtypes", Tag.DTYPE, Tag.EDGE, each="T", X=extremes(2, 5), Y=[4, 0, 3], cites=(SAME_TYPE, NUMERIC))
case("too_high", Tag.EDGE, X=ramp(2, 3), Y=vary(one=[3], beside=[0, 3], far=[2**32]), rejects=SELECT)
case("negative", Tag.EDGE, X=ramp(2, 3), Y=[-1], unspecified=FIRST)
case("vector", Tag.EDGE, X=ramp(4), Y=[3, 1], unspecified=SELECT)
case("scalar", Tag.EDGE, X=ramp(), Y=[0], unspecified=SELECT)
case("indices", Tag.EDGE, X=ramp(2, 3), Y=vary(scalar=1, matrix=[[0, 2]]), unspecified=SELECT)
case("outside", Tag.DTYPE, outside="T", X=ramp(2, 3), Y=[1], rejects=NUMERIC)
case("signed_zeros", Tag.EDGE, X=typed("double", [[0.0, -0.0, np.nan]]), Y=[1, 2, 0], cites=SELECT)

EXTRACTOR.sized(
    "columns",
    grid(m=(1, 17, 1025), n=(33, 257), k=(1, 16, 65)),
    each="T",
    cites=(SELECT, LAST),
    arguments={"X": filled("m", "n"), "Y": indices_of("n", "k")},
)
