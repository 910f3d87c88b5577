# SPDX-License-Identifier: Apache-2.0
"""IsNaN: which elements are not a number.

    Y = IsNaN(X)

Versions: 9, 13 (bfloat16), 20 (float8).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, every_value, extremes, ramp, typed, vary
from onnx_conformance.declare.families.elementwise import bit_patterns, float_types
from onnx_conformance.declare.sizes import LENGTHS, among, grid

IS_NAN = Op("IsNaN", versions=(9, 13, 20), compare=EXACT, rank="X")
IS_NAN.example(X=[[1, np.nan, 2], [0, 3, -10]])

WHICH = IS_NAN.clause(
    "Returns which elements of the input are NaN.", note="This includes NaN of either sign and with any payload."
)
BOOLEAN = IS_NAN.clause("Constrain output types to boolean tensors.")
FLOATS = IS_NAN.clause("Constrain input types to float tensors.")


@IS_NAN.oracle()
def is_nan(_: Version, X: Array) -> Array:
    """Return where X is NaN."""
    return np.isnan(X)


case = IS_NAN.case
nan, inf = np.nan, np.inf
case("some", X=[nan, 1, -nan, 0, 2.5, -3, nan], cites=(WHICH, BOOLEAN))
case("none", X=[1, 0, -0.0, inf, -inf, 1e-45], cites=WHICH)
case("all", Tag.EDGE, X=[nan, nan], cites=WHICH)
case(
    "shape",
    Tag.EDGE,
    X=vary(scalar=nan, scalar_number=3.0, zero_size=ramp(2, 0, 3), rank4=ramp(2, 3, 4, 5)),
    cites=WHICH,
)
case("one_in_many", Tag.EDGE, X=[*range(41), nan, *range(25)], cites=WHICH)
case("dtypes", Tag.DTYPE, each="T1", X=extremes(12), cites=WHICH)
case("outside", Tag.DTYPE, outside="T1", X=ramp(3), rejects=FLOATS)
PAYLOADS = {
    "float16": np.array([0x7E00, 0xFE00, 0x7E01, 0x7FFF, 0xFFFF, 0x7C00, 0xFC00, 0x7BFF], np.uint16).view(np.float16),
    "float": np.array([0x7FC00000, 0xFFC00000, 0x7FC00001, 0x7FFFFFFF, 0x7F800000, 0x7F7FFFFF], np.uint32).view(
        np.float32
    ),
    "double": np.array([0x7FF8 << 48, 0xFFF8 << 48, (0x7FF8 << 48) + 1, 0x7FF0 << 48], np.uint64).view(np.float64),
}
for type_, numbers in PAYLOADS.items():
    case(f"payloads_{type_}", Tag.EDGE, X=typed(type_, numbers), since=float_types(13)[type_], cites=WHICH)
for type_, numbers in bit_patterns():
    since = 20 if "float8" in type_ else float_types(13)[type_]
    case(f"every_{type_}", Tag.EDGE, X=typed(type_, numbers), since=since, cites=WHICH)

IS_NAN.sized(
    "length", grid(n=LENGTHS[::2]), each="T1", cites=WHICH, arguments={"X": among([-inf, -1.5, 0, 2, nan, inf], "n")}
)
IS_NAN.every("every", each="T1", cites=WHICH, X=every_value())
