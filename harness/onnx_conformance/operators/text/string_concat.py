# SPDX-License-Identifier: Apache-2.0
"""StringConcat: strings joined, element by element.

    Z = StringConcat(X, Y)

Versions: 20.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Multidirectional, Op, Tag, Version, ramp
from onnx_conformance.declare.families.elementwise import rank_of_two
from onnx_conformance.declare.sizes import filled, grid

CONCAT = Op("StringConcat", versions=(20,), compare=EXACT, rank=rank_of_two)
CONCAT.example(X=ramp(2, 3), Y=ramp(3))

CONCATENATES = CONCAT.clause(
    "StringConcat concatenates string tensors elementwise (with NumPy-style broadcasting support)"
)
PREPEND = CONCAT.clause("Tensor to prepend in concatenation")
APPEND = CONCAT.clause("Tensor to append in concatenation")
CONCATENATED = CONCAT.clause("Concatenated string tensor")
UTF8 = CONCAT.clause("Inputs and outputs must be UTF-8 strings")
NUMPY = Multidirectional(CONCAT, clause=CONCATENATES)


@CONCAT.oracle()
def joined(v: Version, X: Array, Y: Array) -> Array:
    """Return each string of X followed by the string of Y."""
    NUMPY.require_one_shape(v, X, Y)
    return np.asarray(X.astype(object) + Y.astype(object), object)


def _operands(left: tuple[int, ...], right: tuple[int, ...]) -> dict[str, Any]:
    """Return strings of these shapes that are all different."""

    def numbered(letter: str, shape: tuple[int, ...]) -> Array:
        strings = [letter + str(number) for number in range(int(np.prod(shape)))]
        return np.array(strings, object).reshape(shape)

    return {"X": numbered("a", left), "Y": numbered("b", right)}


case = CONCAT.case
case("strings", X=["abc", "I love", "x"], Y=["def", " ONNX", "y"], cites=(CONCATENATES, PREPEND, APPEND, CONCATENATED))
case("same", X=["ab", "c"], Y=["ab", "c"], cites=CONCATENATES)
case("empty_strings", Tag.EDGE, X=["", "a", ""], Y=["b", "", ""], cites=CONCATENATES)
case("blanks_stay", Tag.EDGE, X=[" a ", "\tb\n", " "], Y=[" c", "\r\n", " "], cites=CONCATENATES)
case("digits_stay_strings", Tag.EDGE, X=["1", "-2", "0x"], Y=["2", "3.5", "10"], cites=CONCATENATES)
case("quotes_and_percent", Tag.EDGE, X=['"a"', "%s", "{}"], Y=["'b'", "%d", "\\n"], cites=CONCATENATES)
case("utf8", X=["日本", "é", "ß", "𝄞"], Y=["語", "è", "ss", "𝄢"], cites=UTF8)
# No normalization: the letter and the accent after it stay two characters.
case("utf8_combining", Tag.EDGE, X=["e", "\u00e9", "A"], Y=["\u0301", "\u0301", "\u030a"], cites=(UTF8, CONCATENATES))
case("utf8_of_four_lengths", Tag.EDGE, X=["a\u00df", "\u20ac"], Y=["\u20ac\U0001f600", "\U0001f600a"], cites=UTF8)
case("long", Tag.EDGE, X=["ab" * 2000, "c"], Y=["d" * 3001, "ef" * 500], cites=CONCATENATES)
case(
    "longer_than_small_strings",
    Tag.EDGE,
    X=["a" * 15, "b" * 8, "c" * 22],
    Y=["d" * 8, "e" * 8, "f"],
    cites=CONCATENATES,
)
case("rank0", Tag.EDGE, X="a", Y="bc", cites=CONCATENATES)
case("one", Tag.EDGE, X=["a"], Y=["bc"], cites=CONCATENATES)
case("none", Tag.EDGE, X=ramp(0), Y=ramp(0), cites=CONCATENATES)
case("zero_size", Tag.EDGE, X=ramp(2, 0, 3), Y=ramp(2, 0, 3), cites=CONCATENATES)
case("cube", **_operands((2, 3, 4), (2, 3, 4)), cites=CONCATENATES)
NUMPY.cases(_operands)
case("outside", Tag.DTYPE, outside="T", X=ramp(3), Y=ramp(3), rejects=UTF8)

CONCAT_LONG: dict[str, Any] = {"X": filled("n", integers=(0, 10_000)), "Y": filled("n", integers=(0, 10_000))}
CONCAT.sized("long", grid(n=(65_537,)), cites=CONCATENATES, arguments=CONCAT_LONG)
NUMPY.sized(
    CONCATENATES,
    lambda one, other: {"X": filled(*one, integers=(0, 10_000)), "Y": filled(*other, integers=(0, 99))},
    step=4,
    most=10_000,
)
