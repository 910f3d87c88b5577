# SPDX-License-Identifier: Apache-2.0
"""Imputer: replace one value by other values.

    Y = Imputer(X, imputed_value_floats=[1.5], replaced_value_float=0.0)
    Y = Imputer(X, imputed_value_int64s=[1], replaced_value_int64=0)

Versions: 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, ramp, typed
from onnx_conformance.declare.sizes import FEW_LENGTHS, among, grid

if TYPE_CHECKING:
    from onnx_conformance.declare import Clause

MATRIX = 2
IMPUTER = Op("Imputer", versions=(1,), compare=EXACT, domain="ai.onnx.ml", rank="X")
IMPUTER.example(X=[[1, 5, 2], [0, 3, 4]], imputed_value_floats=[7.5, -1.0, 0.25], replaced_value_float=5.0)

REPLACES = IMPUTER.clause("Replaces inputs that equal one value with another, leaving all other elements alone.")
CANONICAL = IMPUTER.clause(
    "This operator is typically used to replace missing values in situations where they have a canonical "
    "representation, such as -1, 0, NaN, or some extreme value.",
    note="Therefore NaN equals NaN here.",
)
ONE_IMPUTED = IMPUTER.clause(
    "One and only one of imputed_value_floats or imputed_value_int64s should be defined -- floats if the input tensor "
    "holds floats, integers if the input tensor holds integers."
)
FIT = IMPUTER.clause("The imputed values must all fit within the width of the tensor element type.")
ONE_REPLACED = IMPUTER.clause(
    "One and only one of the replaced_value_float or replaced_value_int64 should be defined, which one depends on "
    "whether floats or integers are being processed.",
    result=True,
    note="Both attributes have a default. The result for a model that sets neither or both is left open. The attribute "
    "for the other type makes no difference.",
)
LENGTH = IMPUTER.clause(
    "The imputed_value attribute length can be 1 element, or it can have one element per input feature."
)
LAST = IMPUTER.clause(
    "In other words, if the input tensor has the shape [*,F], then the length of the attribute array may be 1 or F. If "
    "it is 1, then it is broadcast along the last dimension and applied to each feature."
)
SHAPE = IMPUTER.clause(
    "The input type must be a tensor of a numeric type, either [N,C] or [C].",
    note="The text has any number of dimensions before the features. Numbers of dimensions other than these two are "
    "left open.",
)
SAME = IMPUTER.clause("The output type will be of the same tensor type and shape.")


@IMPUTER.oracle()
def imputed(
    v: Version,
    X: Array,
    imputed_value_floats: list[float] | None,
    imputed_value_int64s: list[int] | None,
    replaced_value_float: float,
    replaced_value_int64: int,
) -> Array:
    """Return X. Elements equal to the replaced value become the imputed value of their feature."""
    of_floats = X.dtype.kind == "f"
    values: Any = imputed_value_floats if of_floats else imputed_value_int64s
    others: Any = imputed_value_int64s if of_floats else imputed_value_floats
    v.require(ONE_IMPUTED, values is not None and others is None)
    v.silent(SHAPE, X.ndim not in {1, MATRIX})
    v.require(LENGTH, len(values) in {1, X.shape[-1]})
    if not of_floats:
        limits = np.iinfo(X.dtype)
        v.require(FIT, all(limits.min <= value <= limits.max for value in values))
    replaced: Any = replaced_value_float if of_floats else replaced_value_int64
    equal = np.isnan(X) if of_floats and np.isnan(replaced) else replaced == X
    return np.where(equal, np.array(values, X.dtype), X)


case = IMPUTER.case
ROWS = [[1, 5, 2], [0, 5, 5], [5, 3, -0.5]]
nan, inf = np.nan, np.inf

case("one_value", X=ROWS, imputed_value_floats=[7.5], replaced_value_float=5.0, cites=(REPLACES, LENGTH, LAST, SAME))
by_feature: dict[str, Any] = {"imputed_value_floats": [7.5, -1.0, 0.25], "replaced_value_float": 5.0}
case("by_feature", X=ROWS, **by_feature, cites=(REPLACES, LENGTH, LAST))
case("by_feature_vector", X=[5, 5, 1], **by_feature, cites=(LAST, SHAPE))
case("square", X=[[5, 5, 5], [1, 5, 2], [5, 4, 5]], **by_feature, cites=LAST)
case("default_replaced", X=[[0, 1, -0.0], [2, 0, 3]], imputed_value_floats=[7.5], cites=(REPLACES, ONE_REPLACED))
case("none_equal", X=ROWS, imputed_value_floats=[7.5], replaced_value_float=99.0, cites=REPLACES)
case("all_equal", X=[[5, 5], [5, 5]], imputed_value_floats=[1.0, 2.0], replaced_value_float=5.0, cites=REPLACES)
case("by_itself", Tag.EDGE, X=ROWS, imputed_value_floats=[5.0], replaced_value_float=5.0, cites=REPLACES)
# An imputed value is not replaced again.
case(
    "not_again", Tag.EDGE, X=[[1, 2], [2, 1]], imputed_value_floats=[2.0, 1.0], replaced_value_float=1.0, cites=REPLACES
)
case("no_rows", Tag.EDGE, X=ramp(0, 3), **by_feature, cites=SAME)
case("no_elements", Tag.EDGE, X=ramp(0), imputed_value_floats=[1.0], cites=SAME)
case("one_element", Tag.EDGE, X=[0], imputed_value_floats=[1.5], cites=REPLACES)
for type_ in ("float", "double"):
    numbers = typed(type_, [[1, nan, 2], [nan, 0, nan]])
    case(f"nan_{type_}", X=numbers, imputed_value_floats=[7.5], replaced_value_float=nan, cites=CANONICAL)
    case(
        f"nan_stays_{type_}", Tag.EDGE, X=numbers, imputed_value_floats=[7.5], replaced_value_float=2.0, cites=REPLACES
    )
    call: dict[str, Any] = {"X": typed(type_, [1, inf, -inf]), "imputed_value_floats": [7.5]}
    case(f"infinity_{type_}", Tag.EDGE, **call, replaced_value_float=inf, cites=CANONICAL)
    case(f"minus_infinity_{type_}", Tag.EDGE, **call, replaced_value_float=-inf, cites=CANONICAL)
    zeros = typed(type_, [0.0, -0.0, 1])
    case(f"zeros_{type_}", Tag.EDGE, X=zeros, imputed_value_floats=[3.0], replaced_value_float=-0.0, cites=REPLACES)
    case(f"to_nan_{type_}", Tag.EDGE, X=zeros, imputed_value_floats=[nan], replaced_value_float=1.0, cites=REPLACES)
# Not equal to the float nearest to 0.1.
tenth: dict[str, Any] = {"imputed_value_floats": [3.0], "replaced_value_float": 0.1}
case("double_beside_float", Tag.EDGE, X=typed("double", [0.1, 0.5]), **tenth, cites=REPLACES)
for type_ in ("int64", "int32"):
    integers = typed(type_, [[1, 5, 2], [0, 5, 5]])
    case(
        f"one_value_{type_}",
        X=integers,
        imputed_value_int64s=[7],
        replaced_value_int64=5,
        cites=(REPLACES, ONE_IMPUTED),
    )
    case(f"by_feature_{type_}", X=integers, imputed_value_int64s=[7, -1, 0], replaced_value_int64=5, cites=LAST)
    case(f"default_{type_}", X=integers, imputed_value_int64s=[7], cites=(REPLACES, ONE_REPLACED))
    limits = np.iinfo(type_)
    ends = typed(type_, np.array([limits.max, limits.min, -1], type_))
    extreme: dict[str, Any] = {"X": ends, "replaced_value_int64": int(limits.min)}
    case(f"limits_{type_}", Tag.EDGE, **extreme, imputed_value_int64s=[int(limits.max)], cites=(CANONICAL, FIT))
    case(f"floats_of_{type_}", X=integers, imputed_value_floats=[7.0], rejects=ONE_IMPUTED)
large = typed("int64", [2**53 + 1, 2**53])
case("int64_beyond_double", Tag.EDGE, X=large, imputed_value_int64s=[7], replaced_value_int64=2**53 + 1, cites=REPLACES)
OTHERS: dict[str, tuple[dict[str, Any], Clause]] = {
    "both_imputed": ({"imputed_value_floats": [1.0], "imputed_value_int64s": [1]}, ONE_IMPUTED),
    "none_imputed": ({}, ONE_IMPUTED),
    "integers_of_floats": ({"imputed_value_int64s": [1]}, ONE_IMPUTED),
    "fewer_than_features": ({"imputed_value_floats": [1.0, 2.0]}, LENGTH),
    "more_than_features": ({"imputed_value_floats": [1.0] * 4}, LENGTH),
}
for name, (attributes, clause) in OTHERS.items():
    case(name, X=ROWS, **attributes, rejects=clause)
case("too_wide", Tag.EDGE, X=typed("int32", [0, 1]), imputed_value_int64s=[2**40], rejects=FIT)
case("cube", Tag.EDGE, X=ramp(2, 2, 3), imputed_value_floats=[7.5], unspecified=SHAPE)
case("scalar", Tag.EDGE, X=0, imputed_value_floats=[7.5], unspecified=SHAPE)
case("outside", Tag.DTYPE, outside="T", X=ramp(3), imputed_value_floats=[7.5], rejects=SHAPE)

IMPUTER.sized(
    "one_value",
    grid(m=(7,), n=FEW_LENGTHS),
    cites=(REPLACES, LENGTH),
    arguments={"X": among([1, 5, 2.5, -3], "m", "n"), "imputed_value_floats": [7.5], "replaced_value_float": 5.0},
)
IMPUTER.sized(
    "by_feature",
    grid(m=(17, 1025), n=(9, 64)),
    cites=(REPLACES, LAST),
    arguments={
        "X": typed("int64", among([1, 5, 2, -3], "m", "n")),
        "imputed_value_int64s": lambda sizes: list(range(100, 100 + sizes["n"])),
        "replaced_value_int64": 5,
    },
)
