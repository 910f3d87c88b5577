"""ZipMap: the values of each row under the keys of their columns.

Versions: 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.declare import EXACT, Array, Op, Rule, Tag, Version, ramp, typed

if TYPE_CHECKING:
    from collections.abc import Mapping


def _type(_: Mapping[str, str], attributes: Mapping[str, Any]) -> str:
    """Return the type of the output, whose keys are those set."""
    return f"seq(map({'string' if attributes['classlabels_strings'] is not None else 'int64'}, float))"


ZIP = Op("ZipMap", versions=(1,), compare=EXACT, domain="ai.onnx.ml", derives={"T": _type})

MAP = ZIP.clause(
    "Creates a map from the input and the attributes.", note="A map holds a key once: twice the same is left open."
)
SPECIFIED = ZIP.clause("The values are provided by the input tensor, while the keys are specified by the attributes.")
PROVIDE = ZIP.clause("Must provide keys in either classlabels_strings or classlabels_int64s (but not both).")
COLUMNS = ZIP.clause(
    "The columns of the tensor correspond one-by-one to the keys specified by the attributes.",
    note="Each row is a map: the output is a sequence. What the columns of other than a matrix are is not said; "
    "onnxruntime takes a vector for one row.",
)
AS_MANY = ZIP.clause("There must be as many columns as keys.")
INT_KEYS = ZIP.clause("The keys when using int keys.")
STRING_KEYS = ZIP.clause("The keys when using string keys.")
ONE_AND_ONLY = ZIP.clause("One and only one of the 'classlabels_*' attributes must be defined.")
SEQUENCE = ZIP.clause("The output will be a sequence of string or integer maps to float.")


@ZIP.oracle()
def zipped(
    v: Version,
    X: Array,  # noqa: N803 - the text's own name
    classlabels_int64s: list[int] | None,
    classlabels_strings: list[str] | None,
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
HARD = [np.nan, np.inf, -np.inf, -0.0, 1e-45, 3.4e38, 0.1, -2.5]

KINDS: dict[str, tuple[str, list[Any], Any]] = {
    "strings": ("classlabels_strings", STRINGS, STRING_KEYS),
    "int64s": ("classlabels_int64s", WHOLE, INT_KEYS),
}
for name, (kind, keys, said) in KINDS.items():
    given: dict[str, Any] = {kind: keys}
    two: dict[str, Any] = {kind: keys[:2]}
    one: dict[str, Any] = {kind: keys[2:3]}
    twice: dict[str, Any] = {kind: [keys[0], keys[1], keys[0]]}
    case(f"{name}_rows", X=ramp(3, 4), **given, cites=(MAP, SPECIFIED, COLUMNS, SEQUENCE, said))
    case(f"{name}_two_columns", X=[[5, 6], [7, 8], [9, 10]], **two, cites=(COLUMNS, said))
    case(f"{name}_one_row", Tag.EDGE, X=ramp(1, 4), **given, cites=(COLUMNS, said))
    case(f"{name}_one_column", Tag.EDGE, X=ramp(3, 1), **one, cites=(AS_MANY, said))
    case(f"{name}_no_rows", Tag.EDGE, X=ramp(0, 4), **given, cites=(SEQUENCE, said))
    case(f"{name}_hard_values", Tag.EDGE, X=np.reshape(HARD, (2, 4)), **given, cites=(SPECIFIED, said))
    case(f"{name}_equal_values", Tag.EDGE, X=[[1, 1, 2, 1]], **given, cites=(COLUMNS, said))
    case(f"{name}_columns_too_few", X=ramp(2, 3), **given, rejects=AS_MANY)
    case(f"{name}_columns_too_many", X=ramp(2, 5), **given, rejects=AS_MANY)
    case(f"{name}_rows_as_columns", Tag.EDGE, X=ramp(4, 2), **given, rejects=AS_MANY)
    case(f"{name}_no_columns", Tag.EDGE, X=ramp(2, 0), **given, rejects=AS_MANY)
    case(f"{name}_twice", Tag.EDGE, X=ramp(2, 3), **twice, unspecified=MAP)
    case(f"{name}_vector", Tag.EDGE, X=ramp(4), **given, unspecified=COLUMNS)
    case(f"{name}_rank0", Tag.EDGE, X=1, **one, unspecified=COLUMNS)
    case(f"{name}_rank3", Tag.EDGE, X=ramp(2, 3, 4), **given, unspecified=COLUMNS)
    for type_ in ("double", "float16", "int64", "string"):
        case(f"{name}_of_{type_}", Tag.DTYPE, X=typed(type_, ramp(2, 4)), **given, rejects=Rule.TYPES)
    case(f"{name}_no_input", **given, rejects=Rule.ARITY)
    case(f"{name}_no_outputs", X=ramp(2, 4), **given, n=0, rejects=Rule.ARITY)
    case(f"{name}_two_outputs", X=ramp(2, 4), **given, n=2, rejects=Rule.ARITY)
case("int64s_limits", Tag.EDGE, X=ramp(1, 2), classlabels_int64s=[2**63 - 1, -(2**63)], cites=(INT_KEYS,))
case("strings_alike", Tag.EDGE, X=ramp(2, 3), classlabels_strings=["é", "e\u0301", "É"], cites=(STRING_KEYS,))
case("no_keys", X=ramp(2, 4), rejects=PROVIDE)
case("two_keys", X=ramp(2, 4), classlabels_strings=STRINGS, classlabels_int64s=WHOLE, rejects=ONE_AND_ONLY)
case("attribute_keys", X=ramp(2, 4), classlabels_int64s=WHOLE, stray={"keys": [1]}, rejects=Rule.ATTRIBUTES)
