"""Equal: whether two tensors are equal, element by element.

Versions: 1 (limited broadcasting by attribute), 7 (multidirectional broadcasting, no attributes), 11 (all numbers),
13 (bfloat16), 19 (strings).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.declare import EXACT, Op, Tag, extremes, typed
from harness.declare.families.elementwise import rank_of_two
from harness.declare.families.logical import Comparison, numbers

EQUAL = Op("Equal", versions=(1, 7, 11, 13, 19), compare=EXACT, rank=rank_of_two)

COMPARISON = Comparison(
    EQUAL,
    "equal",
    np.equal,
    {**numbers(floats=11, integers=11, bfloat16=13), "int32": None, "int64": None},
    types=("int32", "int64"),
    distinct=3,
    note="IEEE 754 settles that a NaN equals nothing, itself included, and that both zeros are equal. Strings are "
    "equal that are the same: nothing is said of folding case or of leaving out white space.",
)
COMPARISON.cases(
    integral=EQUAL.clause("Constrain input to integral tensors.", before=11),
    numeric=EQUAL.clause("Constrain input types to all numeric tensors.", since=11, before=19),
    all=EQUAL.clause("Constrain input types to all (non-complex) tensors.", since=19),
)

case, told = EQUAL.case, (COMPARISON.performs,)
case("dtypes_extremes", Tag.DTYPE, Tag.EDGE, each="T", A=extremes(12), B=extremes(12), cites=told)
broadcast = (COMPARISON.numpy.clause,)
case("dtypes_extremes_pairs", Tag.DTYPE, Tag.EDGE, each="T", A=extremes(9, 1), B=extremes(9), cites=broadcast)
bools: dict[str, Any] = {"A": typed("bool", [False, False, True, True]), "B": typed("bool", [False, True, False, True])}
case("booleans", **bools, cites=told)
STRINGS = {
    "prefix": (["ab", "a", "", "abc"], ["a", "ab", "a", "abc"]),
    "case": (["a", "A", "\u00e4"], ["A", "A", "\u00c4"]),
    "white_space": (["a", " a", "a\n", "a"], ["a ", "a", "a", "a"]),
    "beyond_ascii": (["\u00e4", "\u65e5\u672c", "\U0001d11e"], ["a", "\u65e5\u672c", "\U0001d11e"]),
    "numerals": (["1", "01", "1.0"], ["1", "1", "1"]),
    "long": (["a" * 99 + "b", "a" * 99 + "c"], ["a" * 99 + "b", "a" * 99 + "b"]),
    "rank0": ("ab", "ab"),
    "broadcast": ([["a"], ["b"]], ["b", "", "a"]),
    "none": ([], []),
}
for name, (one, other) in STRINGS.items():
    sides: dict[str, Any] = {"A": typed("string", one), "B": typed("string", other)}
    case(f"strings_{name}", Tag.EDGE, **sides, since=19, cites=told)
