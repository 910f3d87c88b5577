# SPDX-License-Identifier: Apache-2.0
"""Equal: whether two tensors are equal, element by element.

    C = Equal(A, B)
    C = Equal(A, B, axis=None, broadcast=0)    # before version 7

Versions: 1 (limited broadcasting by attribute), 7 (multidirectional broadcasting, no attributes), 11 (all numbers),
13 (bfloat16), 19 (strings).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import EXACT, Array, Int, Op, Tag, Version, extremes, ramp, typed
from onnx_conformance.declare.families.broadcasting import LimitedAsAdd, Multidirectional
from onnx_conformance.declare.families.elementwise import rank_of_two
from onnx_conformance.declare.families.logical import Comparison, numbers

EQUAL = Op("Equal", versions=(1, 7, 11, 13, 19), compare=EXACT, rank=rank_of_two)
EQUAL.example(A=ramp(2, 3), B=ramp(3), axis=1, broadcast=1)

PERFORMS = EQUAL.clause(
    "Returns the tensor resulted from performing the `equal` logical operation elementwise on the input "
    "tensors `A` and `B`",
    note="According to IEEE 754, NaN is not equal to any value including itself, and the two zeros are equal. Strings "
    "are equal only if they are identical: the text does not mention case folding or removal of white space.",
)
INTEGRAL = EQUAL.clause("Constrain input to integral tensors.", before=11)
LIMITED = LimitedAsAdd(EQUAL)
NUMPY = Multidirectional(EQUAL)


@EQUAL.oracle(before=7)
def equal_before_7(v: Version, A: Array, B: Array, axis: Int, broadcast: int) -> Array:
    """Return where A equals B, in the shape of A."""
    return v.compared(np.equal, A, LIMITED.to_left(v, A, B, axis, broadcast))


@EQUAL.oracle(since=7)
def equal_since_7(v: Version, A: Array, B: Array) -> Array:
    """Return where A equals B, in the shape to which both inputs are broadcast."""
    NUMPY.require_one_shape(v, A, B)
    return v.compared(np.equal, A, B)


case = EQUAL.case
Comparison(EQUAL, PERFORMS, LIMITED, NUMPY, plain="int32", distinct=3).cases(
    {**numbers(floats=11, integers=11, bfloat16=13), "int32": None, "int64": None}
)
case("extremes", Tag.DTYPE, Tag.EDGE, each="T", A=extremes(12), B=extremes(12), cites=PERFORMS)
case("extremes_pairs", Tag.DTYPE, Tag.EDGE, each="T", A=extremes(9, 1), B=extremes(9), cites=NUMPY.clause)
case(
    "booleans", A=typed("bool", [False, False, True, True]), B=typed("bool", [False, True, False, True]), cites=PERFORMS
)
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
for name, (left, right) in STRINGS.items():
    case(f"strings_{name}", Tag.EDGE, A=typed("string", left), B=typed("string", right), since=19, cites=PERFORMS)
case("outside_before_11", Tag.DTYPE, outside="T", A=ramp(3), B=ramp(3), rejects=INTEGRAL)
