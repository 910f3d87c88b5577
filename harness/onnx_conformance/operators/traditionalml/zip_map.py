# SPDX-License-Identifier: Apache-2.0
"""ZipMap: map the keys of the columns to the values of each row.

    Z = ZipMap(X, classlabels_int64s=[7, -3, 0])
    Z = ZipMap(X, classlabels_strings=["b", "a", ""])

Versions: 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Clause, Op, Rule, Tag, Version, ramp, typed, vary

if TYPE_CHECKING:
    from collections.abc import Mapping


def _type(_: Mapping[str, str], attributes: Mapping[str, Any]) -> str:
    """Return the type of the output. Its key type is that of the keys that are set."""
    return f"seq(map({'string' if attributes['classlabels_strings'] is not None else 'int64'}, float))"


ZIP = Op("ZipMap", versions=(1,), compare=EXACT, domain="ai.onnx.ml", derives={"T": _type})
ZIP.example(X=ramp(2, 3), classlabels_int64s=[7, -3, 2**40])

MAP = ZIP.clause(
    "Creates a map from the input and the attributes.",
    note="A map contains a key only once, so repeated keys are left open.",
)
SPECIFIED = ZIP.clause("The values are provided by the input tensor, while the keys are specified by the attributes.")
PROVIDE = ZIP.clause("Must provide keys in either classlabels_strings or classlabels_int64s (but not both).")
COLUMNS = ZIP.clause(
    "The columns of the tensor correspond one-by-one to the keys specified by the attributes.",
    note="Each row is a map, so the output is a sequence. The text does not define the columns of a tensor that is not "
    "a matrix; onnxruntime treats a vector as one row.",
)
AS_MANY = ZIP.clause("There must be as many columns as keys.")
INT_KEYS = ZIP.clause("The keys when using int keys.")
STRING_KEYS = ZIP.clause("The keys when using string keys.")
ONE_AND_ONLY = ZIP.clause("One and only one of the 'classlabels_*' attributes must be defined.")
SEQUENCE = ZIP.clause("The output will be a sequence of string or integer maps to float.")


@ZIP.oracle()
def zipped(
    v: Version, X: Array, classlabels_int64s: list[int] | None, classlabels_strings: list[str] | None
) -> list[dict[Any, Any]]:
    """Return a map for each row."""
    v.require(PROVIDE, classlabels_int64s is not None or classlabels_strings is not None)
    v.require(ONE_AND_ONLY, classlabels_int64s is None or classlabels_strings is None)
    keys: list[Any] = [*(classlabels_int64s or ()), *(classlabels_strings or ())]
    v.silent(COLUMNS, X.ndim != 2)  # noqa: PLR2004 - rows and columns
    v.require(AS_MANY, X.shape[1] == len(keys))
    v.silent(MAP, len({*keys}) != len(keys))
    return [dict(zip(keys, row, strict=True)) for row in X]


case = ZIP.case

STRINGS, WHOLE = ["b", "a", "", "日本"], [7, -3, 2**40, 0]
HARD = [[np.nan, np.inf, -np.inf, -0.0], [1e-45, 3.4e38, 0.1, -2.5]]

LISTS: dict[str, tuple[list[Any], Clause]] = {"strings": (STRINGS, STRING_KEYS), "int64s": (WHOLE, INT_KEYS)}
for name, (keys, clause) in LISTS.items():
    four: dict[str, Any] = {f"classlabels_{name}": keys}
    two: dict[str, Any] = {f"classlabels_{name}": keys[:2]}
    one: dict[str, Any] = {f"classlabels_{name}": keys[2:3]}
    twice: dict[str, Any] = {f"classlabels_{name}": [keys[0], keys[1], keys[0]]}
    case(f"{name}_rows", X=ramp(3, 4), **four, cites=(MAP, SPECIFIED, COLUMNS, SEQUENCE, clause))
    case(f"{name}_two_columns", X=[[5, 6], [7, 8], [9, 10]], **two, cites=(COLUMNS, clause))
    case(f"{name}_one_row", Tag.EDGE, X=ramp(1, 4), **four, cites=(COLUMNS, clause))
    case(f"{name}_one_column", Tag.EDGE, X=ramp(3, 1), **one, cites=(AS_MANY, clause))
    case(f"{name}_no_rows", Tag.EDGE, X=ramp(0, 4), **four, cites=(SEQUENCE, clause))
    case(f"{name}_hard_values", Tag.EDGE, X=HARD, **four, cites=(SPECIFIED, clause))
    case(f"{name}_equal_values", Tag.EDGE, X=[[1, 1, 2, 1]], **four, cites=(COLUMNS, clause))
    case(f"{name}_columns_too_few", X=ramp(2, 3), **four, rejects=AS_MANY)
    case(f"{name}_columns_too_many", X=ramp(2, 5), **four, rejects=AS_MANY)
    case(f"{name}_rows_as_columns", Tag.EDGE, X=ramp(4, 2), **four, rejects=AS_MANY)
    case(f"{name}_no_columns", Tag.EDGE, X=ramp(2, 0), **four, rejects=AS_MANY)
    case(f"{name}_twice", Tag.EDGE, X=ramp(2, 3), **twice, unspecified=MAP)
    case(f"{name}_vector", Tag.EDGE, X=ramp(4), **four, unspecified=COLUMNS)
    case(f"{name}_rank0", Tag.EDGE, X=1, **one, unspecified=COLUMNS)
    case(f"{name}_rank3", Tag.EDGE, X=ramp(2, 3, 4), **four, unspecified=COLUMNS)
case("int64s_limits", Tag.EDGE, X=ramp(1, 2), classlabels_int64s=[2**63 - 1, -(2**63)], cites=INT_KEYS)
case("strings_alike", Tag.EDGE, X=ramp(2, 3), classlabels_strings=["é", "e\u0301", "É"], cites=STRING_KEYS)
case("no_keys", X=ramp(2, 4), rejects=PROVIDE)
case("two_keys", X=ramp(2, 4), classlabels_strings=STRINGS, classlabels_int64s=WHOLE, rejects=ONE_AND_ONLY)
OTHER_TYPES = vary(float16=typed("float16", ramp(2, 4)), string=typed("string", ramp(2, 4)))
case("of", Tag.DTYPE, X=OTHER_TYPES, classlabels_int64s=WHOLE, rejects=Rule.TYPES)
