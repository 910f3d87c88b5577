# SPDX-License-Identifier: Apache-2.0
"""OneHotEncoder: a row of zeros for each element, with a one at its category.

    Y = OneHotEncoder(X, cats_int64s=[7, -3, 0], zeros=1)
    Y = OneHotEncoder(X, cats_strings=["b", "a"], zeros=1)

Versions: 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, ramp, typed
from onnx_conformance.declare.clause import Force
from onnx_conformance.declare.sizes import filled, grid

ENCODER = Op(
    "OneHotEncoder",
    versions=(1,),
    compare=EXACT,
    domain="ai.onnx.ml",
    rank=lambda arguments: np.ndim(arguments.get("X", 0)) + 1,
)
ENCODER.example(X=[[1, 3, 2], [0, 0, 3]], cats_int64s=[3, 1, 0, 2], zeros=1)

PLACED = ENCODER.clause(
    "Replace each input element with an array of ones and zeros, where a single one is placed at the index of the "
    "category that was passed in.",
    note="The text does not define the index if a category occurs twice.",
)
COUNT = ENCODER.clause("The total category count will determine the size of the extra dimension of the output array Y.")
EXAMPLE = ENCODER.clause(
    "if we pass a tensor with a single value of 4, and a category count of 8, the output will be a tensor with "
    "``[0,0,0,0,1,0,0,0]``."
)
SAME_SET = ENCODER.clause("This operator assumes every input feature is from the same set of categories.")
CAST = ENCODER.clause(
    "If the input is a tensor of float, int32, or double, the data will be cast to integers and the cats_int64s "
    "category list will be used for the lookups.",
    note="The text does not define the result for a number outside the integer range, or the list for int64 inputs.",
)
ZEROS = ENCODER.clause(
    "If true and category is not present, will return all zeros;",
    note="True means 1. The text does not define other values.",
)
FAILS = ENCODER.clause("if false and a category if not found, the operator will fail.", force=Force.MUST)
ONE_LIST = ENCODER.clause("One and only one of the 'cats_*' attributes must be defined.")
NUMERIC = ENCODER.clause("The input must be a tensor of a numeric type.", note="The signature also allows strings.")
STRINGS = ENCODER.clause("List of categories, strings.")
INTS = ENCODER.clause("List of categories, ints.")
OUTPUT = ENCODER.clause("Encoded output data, having one more dimension than X.")


@ENCODER.oracle()
def encoded(v: Version, X: Array, cats_int64s: list[int] | None, cats_strings: list[str] | None, zeros: int) -> Array:
    """Return a one at the index of each element's category, zeros elsewhere."""
    v.require(ONE_LIST, (cats_int64s is None) is not (cats_strings is None))
    of_text = X.dtype.kind == "O"
    v.silent(CAST, of_text is not (cats_int64s is None))
    v.silent(ZEROS, zeros not in {0, 1})
    v.silent(CAST, X.dtype.kind == "f" and not bool((np.abs(X) < 2.0**63).all()))
    categories: list[Any] = list((cats_strings if cats_int64s is None else cats_int64s) or ())
    elements = [item if of_text else int(item) for item in X.ravel()]
    v.silent(PLACED, any(categories.count(item) > 1 for item in elements))
    v.require(FAILS, zeros == 1 or all(item in categories for item in elements))
    rows = [[float(item == category) for category in categories] for item in elements]
    return np.array(rows, np.float32).reshape(*X.shape, len(categories))


case = ENCODER.case
NUMBERS: dict[str, Any] = {"cats_int64s": [7, -3, 0, 2**40]}
TEXTS: dict[str, Any] = {"cats_strings": ["b", "a", "", "ä"]}

case("example", X=[4], cats_int64s=list(range(8)), cites=(EXAMPLE, COUNT))
for name, shape in {"scalar": (), "vector": (5,), "matrix": (2, 3), "cube": (2, 3, 4), "one": (1,)}.items():
    texts = np.resize(np.array(["a", "", "b", "x"], object), shape)
    case(f"strings_{name}", X=typed("string", texts), **TEXTS, cites=(PLACED, STRINGS, OUTPUT))
    integers = typed("int64", np.resize(np.array([7, 0, -3, 5, 2**40]), shape))
    case(f"int64_{name}", X=integers, **NUMBERS, cites=(PLACED, INTS, OUTPUT, SAME_SET))
for name, shape in {"no_elements": (0,), "no_columns": (2, 0)}.items():
    case(f"strings_{name}", Tag.EDGE, X=typed("string", np.empty(shape, object)), **TEXTS, cites=OUTPUT)
    case(f"int64_{name}", Tag.EDGE, X=typed("int64", np.empty(shape, np.int64)), **NUMBERS, cites=OUTPUT)
case("zeros_unset", X=typed("int64", [5, 7, 99]), **NUMBERS, cites=ZEROS)
case("zeros_set", X=typed("int64", [5, 7, 99]), **NUMBERS, zeros=1, cites=ZEROS)
case("zeros_set_strings", X=typed("string", ["x", "a", "A"]), **TEXTS, zeros=1, cites=ZEROS)
case("none_missing", X=typed("int64", [0, 7, -3]), **NUMBERS, zeros=0, cites=FAILS)
case("none_missing_strings", X=typed("string", ["", "a", "ä"]), **TEXTS, zeros=0, cites=FAILS)
case("missing", X=typed("int64", [0, 7, 5]), **NUMBERS, zeros=0, rejects=FAILS)
case("missing_strings", X=typed("string", ["a", "x"]), **TEXTS, zeros=0, rejects=FAILS)
case("one_category", Tag.EDGE, X=typed("int64", [0, 7]), cats_int64s=[7], cites=COUNT)
for type_ in ("float", "double", "int32", "int64"):
    case(
        f"cast_{type_}",
        Tag.DTYPE,
        X=typed(type_, [[1, 3, 2], [0, 0, 3]]),
        cats_int64s=[3, 1, 0, 2],
        cites=(CAST, PLACED),
    )
for type_ in ("float", "double"):
    fractions = typed(type_, [1.9, 0.5, -0.5, 2.99, -1.5])
    case(f"fractions_{type_}", Tag.EDGE, X=fractions, cats_int64s=[3, 1, 0, 2, -1], cites=CAST)
    large = typed(type_, [2.0**62, 1])
    case(f"large_{type_}", Tag.EDGE, X=large, cats_int64s=[2**62, 0], cites=CAST)
    case(f"too_large_{type_}", Tag.EDGE, X=typed(type_, [2.0**63, 1]), cats_int64s=[1, 0], unspecified=CAST)
    case(f"nan_{type_}", Tag.EDGE, X=typed(type_, [np.nan, 1]), cats_int64s=[1, 0], unspecified=CAST)
    case(f"infinite_{type_}", Tag.EDGE, X=typed(type_, [np.inf, 1]), cats_int64s=[1, 0], unspecified=CAST)
case("strings_of_ints", Tag.EDGE, X=typed("string", ["7", "0"]), **NUMBERS, unspecified=CAST)
case("ints_of_strings", Tag.EDGE, X=typed("int64", [7, 0]), cats_strings=["7", "0"], unspecified=CAST)
case("twice", Tag.EDGE, X=typed("int64", [7, 0]), cats_int64s=[7, 0, 7], unspecified=PLACED)
case("twice_and_not_asked", Tag.EDGE, X=typed("int64", [0]), cats_int64s=[7, 0, 7], cites=PLACED)
case("zeros_two", Tag.EDGE, X=typed("int64", [7, 5]), **NUMBERS, zeros=2, unspecified=ZEROS)
case("two_lists", X=typed("int64", [7, 0]), **NUMBERS, **TEXTS, rejects=ONE_LIST)
case("no_list", X=typed("int64", [7, 0]), rejects=ONE_LIST)
case("outside", Tag.DTYPE, outside="T", X=ramp(3), cats_int64s=[0, 1, 2], rejects=NUMERIC)

for type_ in ("int64", "string"):
    ENCODER.sized(
        type_,
        grid(m=(3, 33), n=(7, 64, 300), count=(5, 60)),
        cites=(PLACED, COUNT),
        arguments={
            "X": typed(type_, filled("m", "n", integers=(0, 69))),
            **(
                {"cats_int64s": lambda sizes: list(range(sizes["count"]))}
                if type_ == "int64"
                else {"cats_strings": lambda sizes: [f"s{number}" for number in range(sizes["count"])]}
            ),
        },
    )
