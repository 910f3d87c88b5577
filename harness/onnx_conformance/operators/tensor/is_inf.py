# SPDX-License-Identifier: Apache-2.0
"""IsInf: which elements are infinite.

    Y = IsInf(X)

Versions: 10, 20 (16-bit and 8-bit floats).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, every_value, extremes, ramp, typed, vary
from onnx_conformance.declare.data import FLOATS as LIMITS
from onnx_conformance.declare.families.elementwise import bit_patterns
from onnx_conformance.declare.sizes import LENGTHS, among, grid

IS_INF = Op("IsInf", versions=(10, 20), compare=EXACT, rank="X")
IS_INF.example(X=[[1, np.inf, 2], [0, 3, -np.inf]], detect_positive=1, detect_negative=1)

MAPS = IS_INF.clause("Map infinity to true and other values to false.")
NEGATIVE_SET = IS_INF.clause("Default to 1 so that negative infinity induces true.")
NEGATIVE_UNSET = IS_INF.clause("Set this attribute to 0 if negative infinity should be mapped to false.", result=True)
WHETHER_NEGATIVE = IS_INF.clause(
    "Whether map negative infinity to true.", note="The text does not define a value other than 0 and 1."
)
POSITIVE_SET = IS_INF.clause("Default to 1 so that positive infinity induces true.")
POSITIVE_UNSET = IS_INF.clause("Set this attribute to 0 if positive infinity should be mapped to false.", result=True)
WHETHER_POSITIVE = IS_INF.clause(
    "Whether map positive infinity to true.", note="The text does not define a value other than 0 and 1."
)
FLOATS = IS_INF.clause("Constrain input types to float tensors.")
BOOLEAN = IS_INF.clause("Constrain output types to boolean tensors.")


@IS_INF.oracle()
def is_infinite(v: Version, X: Array, detect_negative: int, detect_positive: int) -> Array:
    """Return where X is an infinity of a selected sign."""
    v.silent(WHETHER_NEGATIVE, detect_negative not in {0, 1})
    v.silent(WHETHER_POSITIVE, detect_positive not in {0, 1})
    return np.asarray((np.isneginf(X) & (detect_negative == 1)) | (np.isposinf(X) & (detect_positive == 1)))


case = IS_INF.case
inf, nan = np.inf, np.nan
MIXED = [-1.25, nan, inf, 3.5, -inf, 0, inf, -0.0]
case("defaults", X=MIXED, cites=(MAPS, NEGATIVE_SET, POSITIVE_SET, BOOLEAN))
case("both", X=MIXED, detect_negative=1, detect_positive=1, cites=MAPS)
case("positive", X=MIXED, detect_negative=0, cites=NEGATIVE_UNSET)
case("positive_both_set", X=MIXED, detect_negative=0, detect_positive=1, cites=(NEGATIVE_UNSET, WHETHER_POSITIVE))
case("negative", X=MIXED, detect_positive=0, cites=POSITIVE_UNSET)
case("negative_both_set", X=MIXED, detect_negative=1, detect_positive=0, cites=(POSITIVE_UNSET, WHETHER_NEGATIVE))
case("neither", Tag.EDGE, X=MIXED, detect_negative=0, detect_positive=0, cites=(NEGATIVE_UNSET, POSITIVE_UNSET))
case("none", Tag.EDGE, X=[nan, 1, -1, 3.4e38, -3.4e38, 1e-45], cites=MAPS)
case(
    "shape",
    Tag.EDGE,
    X=vary(scalar=inf, scalar_number=3.0, zero_size=ramp(2, 0, 3), rank4=ramp(2, 3, 4, 5)),
    cites=MAPS,
)
case("one_in_many", Tag.EDGE, X=[*range(41), -inf, *range(25)], cites=MAPS)
case("dtypes", Tag.DTYPE, each="T1", X=extremes(12), cites=MAPS)
case("dtypes_positive", Tag.DTYPE, each="T1", X=extremes(12), detect_negative=0, cites=NEGATIVE_UNSET)
for type_ in ("float", "double"):
    largest = LIMITS[type_].largest
    case(f"largest_{type_}", Tag.EDGE, X=typed(type_, [largest, -largest, inf, -inf]), cites=MAPS)
case("two", Tag.EDGE, X=MIXED, detect_negative=2, unspecified=WHETHER_NEGATIVE)
case("minus_one", Tag.EDGE, X=MIXED, detect_positive=-1, unspecified=WHETHER_POSITIVE)
case("outside", Tag.DTYPE, outside="T1", X=ramp(3), rejects=FLOATS)
IS_INF.every("every", each="T1", cites=MAPS, X=every_value())
for type_, numbers in bit_patterns():
    every = typed(type_, numbers)
    case(f"every_{type_}", Tag.EDGE, X=every, since=20, cites=MAPS)
    case(f"every_positive_{type_}", Tag.EDGE, X=every, detect_negative=0, since=20, cites=NEGATIVE_UNSET)
    case(f"every_negative_{type_}", Tag.EDGE, X=every, detect_positive=0, since=20, cites=POSITIVE_UNSET)

IS_INF.sized(
    "length", grid(n=LENGTHS[::2]), each="T1", cites=MAPS, arguments={"X": among([-inf, -1.5, 0, 2, nan, inf], "n")}
)
for name, signs in {"positive": {"detect_negative": 0}, "negative": {"detect_positive": 0}}.items():
    IS_INF.sized(
        name, grid(n=(7, 64, 1025)), cites=MAPS, arguments={"X": among([-inf, -1.5, 0, nan, inf], "n"), **signs}
    )
