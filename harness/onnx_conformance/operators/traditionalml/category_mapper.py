# SPDX-License-Identifier: Apache-2.0
"""CategoryMapper: strings to integers, or integers to strings, by two lists.

    Y = CategoryMapper(X, cats_strings=["b", "a"], cats_int64s=[7, -3], default_int64=-1)
    Y = CategoryMapper(X, cats_strings=["b", "a"], cats_int64s=[7, -3], default_string="_Unused")

Versions: 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, ramp, typed

if TYPE_CHECKING:
    from collections.abc import Mapping

MATRIX = 2


def _type(bound: Mapping[str, str], _: Mapping[str, Any]) -> str:
    """Return the string type for integer inputs, and the integer type for string inputs."""
    return "tensor(int64)" if bound["T1"] == "tensor(string)" else "tensor(string)"


MAPPER = Op(
    "CategoryMapper", versions=(1,), compare=EXACT, domain="ai.onnx.ml", rank="X", derives={"T2": _type}, widens=False
)
MAPPER.example(X=ramp(2, 3), cats_int64s=[3, 0, 2], cats_strings=["b", "a", ""], default_string="none")
for part in ("int64s", "strings"):
    MAPPER.excuse(f"attribute cats_{part} unset", "nothing says what is found where there is no list")

CONVERTS = MAPPER.clause("Converts strings to integers and vice versa.")
EQUAL = MAPPER.clause(
    "Two sequences of equal length are used to map between integers and strings, with strings and integers at the same "
    "index detailing the mapping.",
    note="The text does not define which of several equal entries is found.",
)
EITHER = MAPPER.clause(
    "Each operator converts either integers to strings or strings to integers, depending on which default value "
    "attribute is provided."
)
ONE_DEFAULT = MAPPER.clause(
    "Only one default value attribute should be defined.",
    result=True,
    note="The result for a model that sets both is left open, and so is a default for the type of the input.",
)
TO_STRINGS = MAPPER.clause("If the string default value is set, it will convert integers to strings.")
TO_INTEGERS = MAPPER.clause("If the int default value is set, it will convert strings to integers.")
DEFAULT_INT = MAPPER.clause("An integer to use when an input string value is not found in the map.")
DEFAULT_STRING = MAPPER.clause("A string to use when an input integer value is not found in the map.")
ONE_AND_ONLY = MAPPER.clause(
    "One and only one of the 'default_*' attributes must be defined.",
    result=True,
    note="Both attributes have a default, so the result for a model that sets neither is left open. An explicit "
    "default that equals that of its attribute is no different.",
)
SAME_LENGTH_STRINGS = MAPPER.clause("This sequence must be the same length as the 'cats_strings' sequence.")
SAME_LENGTH_INTEGERS = MAPPER.clause("This sequence must be the same length as the 'cats_int64s' sequence")
SHAPE = MAPPER.clause("The input must be a tensor of strings or integers, either [N,C] or [C].")
VICE_VERSA = MAPPER.clause("If strings are input, the output values are integers, and vice versa.")
SAME_SHAPE = MAPPER.clause("Its shape will be the same as the input shape.")


@MAPPER.oracle()
def mapped(
    v: Version,
    X: Array,
    cats_int64s: list[int] | None,
    cats_strings: list[str] | None,
    default_int64: int,
    default_string: str,
) -> Array:
    """Return the entry of the other list at the index of each element, or the default."""
    v.silent(EQUAL, cats_int64s is None or cats_strings is None)
    integers, strings = list(cats_int64s or ()), list(cats_strings or ())
    v.require(
        SAME_LENGTH_INTEGERS if len(strings) < len(integers) else SAME_LENGTH_STRINGS, len(integers) == len(strings)
    )
    v.require(SHAPE, X.ndim in {1, MATRIX})
    of_text = X.dtype.kind == "O"
    v.silent(ONE_DEFAULT, default_string != "_Unused" if of_text else default_int64 != -1)
    v.silent(ONE_AND_ONLY, default_int64 == -1 if of_text else default_string == "_Unused")
    keys: list[Any] = [*strings] if of_text else [*integers]
    values: list[Any] = [*integers] if of_text else [*strings]
    elements = [item if of_text else int(item) for item in X.ravel()]
    v.silent(EQUAL, any(keys.count(item) > 1 for item in elements))
    default: Any = default_int64 if of_text else default_string
    found = [values[keys.index(item)] if item in keys else default for item in elements]
    return np.array(found, np.int64 if of_text else object).reshape(X.shape)


case = MAPPER.case
LISTS: dict[str, Any] = {"cats_int64s": [7, -3, 0, 2**40], "cats_strings": ["b", "a", "", "ä"]}
TEXTS = [["a", "b", "x"], ["", "ä", "A"]]
NUMBERS = [[7, 0, 5], [-3, 2**40, 2]]

texts, numbers = typed("string", TEXTS), typed("int64", NUMBERS)
case("strings", X=texts, **LISTS, default_int64=99,
     cites=(CONVERTS, TO_INTEGERS, DEFAULT_INT, VICE_VERSA, SAME_SHAPE, ONE_DEFAULT))  # fmt: skip
case("integers", X=numbers, **LISTS, default_string="none",
     cites=(CONVERTS, TO_STRINGS, DEFAULT_STRING, SAME_SHAPE, ONE_AND_ONLY))  # fmt: skip
case("strings_default", X=texts, **LISTS, unspecified=ONE_AND_ONLY)
case("integers_default", X=numbers, **LISTS, unspecified=ONE_AND_ONLY)
case("strings_vector", X=typed("string", ["ä", "b", "c", "a"]), **LISTS, default_int64=5, cites=(SHAPE, EITHER))
case("integers_vector", X=typed("int64", [2**40, 7, 8]), **LISTS, default_string="", cites=(SHAPE, EITHER))
case("default_is_a_category", Tag.EDGE, X=texts, **LISTS, default_int64=7, cites=DEFAULT_INT)
case("default_empty", Tag.EDGE, X=numbers, **LISTS, default_string="", cites=DEFAULT_STRING)
case("all_found", X=typed("string", ["", "ä", "a", "b"]), **LISTS, default_int64=99, cites=EQUAL)
case("none_found", X=typed("string", ["x", "y"]), **LISTS, default_int64=99, cites=DEFAULT_INT)
case("one_category", Tag.EDGE, X=typed("string", ["a", "b"]), cats_int64s=[4], cats_strings=["a"], default_int64=99,
     cites=EQUAL)  # fmt: skip
case("lowest_and_highest", Tag.EDGE, X=typed("string", ["a", "b"]), cats_int64s=[-(2**63), 2**63 - 1],
     cats_strings=["a", "b"], default_int64=0, cites=EQUAL)  # fmt: skip
case(
    "one_value_of_two",
    Tag.EDGE,
    X=typed("string", ["a", "b"]),
    cats_int64s=[4, 4],
    cats_strings=["a", "b"],
    default_int64=99,
    cites=EQUAL,
)
for name, shape in {"no_rows": (0, 3), "no_elements": (0,), "one": (1,)}.items():
    strings, integers = typed("string", np.full(shape, "a", object)), typed("int64", np.full(shape, 7))
    case(f"strings_{name}", Tag.EDGE, X=strings, **LISTS, default_int64=99, cites=SAME_SHAPE)
    case(f"integers_{name}", Tag.EDGE, X=integers, **LISTS, default_string="none", cites=SAME_SHAPE)
others: dict[str, Any] = {"cats_int64s": [4, 5, 6], "cats_strings": ["a", "a", "b"], "default_int64": 99}
case("key_twice", Tag.EDGE, X=typed("string", ["a"]), **others, unspecified=EQUAL)
case("key_twice_not_asked", Tag.EDGE, X=typed("string", ["b", "c"]), **others, cites=EQUAL)
case("strings_default_string", X=texts, **LISTS, default_string="none", unspecified=ONE_DEFAULT)
case("integers_default_int64", X=numbers, **LISTS, default_int64=99, unspecified=ONE_DEFAULT)
case("both_defaults", X=texts, **LISTS, default_int64=99, default_string="none", unspecified=ONE_DEFAULT)
case("no_integers", X=texts, cats_strings=["a", "b"], unspecified=EQUAL)
case("no_strings", X=texts, cats_int64s=[4, 5], unspecified=EQUAL)
case("fewer_integers", X=texts, cats_int64s=[4], cats_strings=["a", "b"], rejects=SAME_LENGTH_STRINGS)
case("fewer_strings", X=texts, cats_int64s=[4, 5], cats_strings=["a"], rejects=SAME_LENGTH_INTEGERS)
case("rank0", Tag.EDGE, X=typed("string", "a"), **LISTS, rejects=SHAPE)
case("rank3", Tag.EDGE, X=typed("string", [[["a"]]]), **LISTS, rejects=SHAPE)
case("outside", Tag.DTYPE, outside="T1", X=ramp(3), **LISTS, rejects=SHAPE)
