# SPDX-License-Identifier: Apache-2.0
"""DictVectorizer: the values of a map in the order of a vocabulary.

    Y = DictVectorizer(X, string_vocabulary=["a", "c", "b", "z"])
    Y = DictVectorizer(X, int64_vocabulary=[7, -3, 0])

Versions: 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import EXACT, AnyOf, Op, Tag, Type, Version, ramp, typed

if TYPE_CHECKING:
    from collections.abc import Mapping


def _type(bound: Mapping[str, str], _: Mapping[str, Any]) -> str:
    """Return the tensor type of the values of the input."""
    return str(Type.parse(bound["T1"]).inner or Type.tensor("float"))


VECTORIZER = Op("DictVectorizer", versions=(1,), compare=EXACT, domain="ai.onnx.ml", derives={"T2": _type})
VECTORIZER.example(X=typed("map(string, int64)", {"a": 4, "c": 8}), string_vocabulary=["a", "c", "b"])

CONVERTS = VECTORIZER.clause("Uses an index mapping to convert a dictionary to an array.")
INSERTS = VECTORIZER.clause(
    "The index into the vocabulary array at which the key is found is then used to index the output 1-D tensor 'Y' and "
    "insert into it the value found in the dictionary 'X'.",
    note="The text does not define the index if a key occurs twice.",
)
KEY_TYPE = VECTORIZER.clause(
    "The key type of the input map must correspond to the element type of the defined vocabulary attribute."
)
LENGTH = VECTORIZER.clause("the output array will be equal in length to the index mapping vector parameter.")
PRESENT = VECTORIZER.clause("All keys in the input dictionary must be present in the index mapping vector.")
EACH = VECTORIZER.clause("For each item in the input dictionary, insert its value in the output array.")
ZERO = VECTORIZER.clause(
    "Any keys not present in the input dictionary, will be zero in the output array.",
    note="The text does not define which string is zero.",
)
EXAMPLE = VECTORIZER.clause(
    'if the ``string_vocabulary`` parameter is set to ``["a", "c", "b", "z"]``, then an input of ``{"a": 4, "c": 8}`` '
    "will produce an output of ``[4, 8, 0, 0]``."
)
ONE_AND_ONLY = VECTORIZER.clause("One and only one of the vocabularies must be defined.")
VECTOR = VECTORIZER.clause("A 1-D tensor holding values from the input dictionary.")
MAP = VECTORIZER.clause("The input must be a map from strings or integers to either strings or a numeric type.")
DIFFERENT = VECTORIZER.clause("The key and value types cannot be the same.")
VALUE_TYPE = VECTORIZER.clause("The output will be a tensor of the value type of the input map.")
SHAPE = VECTORIZER.clause(
    "It's shape will be [1,C], where C is the length of the input dictionary.",
    note="The text and the description of the output refer to a 1-D tensor, but this sentence refers to a row; both "
    "are accepted. The length is that of the vocabulary: the text requires this (equal in length to the index mapping "
    "vector), and in its example the dictionary has two items and the output has four elements.",
)


@VECTORIZER.oracle()
def vector(
    v: Version, X: dict[Any, Any], int64_vocabulary: list[int] | None, string_vocabulary: list[str] | None
) -> AnyOf:
    """Return for each key of the vocabulary its value, or zero, as a 1-D tensor or as one row."""
    v.require(ONE_AND_ONLY, (int64_vocabulary is None) is not (string_vocabulary is None))
    vocabulary: list[Any] = [*(int64_vocabulary or ()), *(string_vocabulary or ())]
    kind = int if string_vocabulary is None else str
    v.require(KEY_TYPE, all(isinstance(key, kind) for key in X))
    v.require(PRESENT, all(key in vocabulary for key in X))
    v.silent(INSERTS, any(vocabulary.count(key) > 1 for key in X))
    dtype = v.dtypes["T2"]
    v.silent(ZERO, dtype.kind == "O" and len(X) < len(vocabulary))
    elements = np.array(
        [np.asarray(X.get(key, 0)).item() for key in vocabulary], dtype
    )  # A string in an array must first be unwrapped.
    return AnyOf(elements, elements[np.newaxis])


case = VECTORIZER.case

VOCABULARIES: dict[str, list[Any]] = {"string": ["a", "c", "b", "z", ""], "int64": [7, -3, 2**40, 0, 5]}
VALUES: dict[str, list[Any]] = {
    "string": ["x", "", "ä", "y", "0"],
    "int64": [2**63 - 1, -(2**63), 2**53 + 1, 0, -1],
    "float": [np.nan, np.inf, -0.0, 1e-45, 0.1],
    "double": [np.nan, np.inf, -0.0, 1e-45, 0.1],
}
TYPES = [
    ("string", "int64"),
    ("string", "float"),
    ("string", "double"),
    ("int64", "string"),
    ("int64", "float"),
    ("int64", "double"),
]
for key, value in TYPES:
    keys, values = VOCABULARIES[key], VALUES[value]
    five: dict[str, Any] = {f"{key}_vocabulary": keys}
    one: dict[str, Any] = {f"{key}_vocabulary": keys[:1]}
    twice: dict[str, Any] = {f"{key}_vocabulary": [keys[0], keys[1], keys[0]]}
    other: dict[str, Any] = {"int64_vocabulary": [7, -3]} if key == "string" else {"string_vocabulary": ["7", "-3"]}
    type_, name = f"map({key}, {value})", f"{key}_to_{value}"
    turned = {keys[place]: values[place] for place in (3, 0, 4, 2, 1)}
    every = typed(type_, turned)
    first = typed(type_, {keys[0]: values[1]})
    two = typed(type_, {keys[0]: values[0], keys[1]: values[1]})
    turned_two = typed(type_, {keys[3]: values[0], keys[1]: values[2]})
    case(f"{name}_all", Tag.DTYPE, X=every, **five, cites=(CONVERTS, INSERTS, VALUE_TYPE, VECTOR, SHAPE, LENGTH))
    case(f"{name}_one", Tag.EDGE, X=first, **one, cites=(EACH, LENGTH))
    if value == "string":
        case(f"{name}_few", X=turned_two, **five, unspecified=ZERO)
    else:
        case(f"{name}_few", X=turned_two, **five, cites=(ZERO, EACH, LENGTH))
        case(f"{name}_first", X=first, **five, cites=(ZERO, INSERTS))
        case(f"{name}_last", X=typed(type_, {keys[4]: values[0]}), **five, cites=(ZERO, INSERTS))
        case(f"{name}_none", Tag.EDGE, X=typed(type_, {}), **five, cites=(ZERO, LENGTH))
    unknown = "x" if key == "string" else 99
    case(f"{name}_unknown", X=typed(type_, {**turned, unknown: values[0]}), **five, rejects=PRESENT)
    case(f"{name}_unknown_alone", X=typed(type_, {unknown: values[0]}), **five, rejects=PRESENT)
    case(f"{name}_twice", Tag.EDGE, X=two, **twice, unspecified=INSERTS)
    case(f"{name}_other_vocabulary", X=two, **other, rejects=KEY_TYPE)
    case(f"{name}_two_vocabularies", X=every, **five, **other, rejects=ONE_AND_ONLY)
    case(f"{name}_no_vocabulary", X=every, rejects=ONE_AND_ONLY)
FOUR_AND_EIGHT = typed("map(string, int64)", {"a": 4, "c": 8})
case("text_example", X=FOUR_AND_EIGHT, string_vocabulary=["a", "c", "b", "z"], cites=(EXAMPLE, ZERO))
case("int64_to_int64", Tag.DTYPE, X=typed("map(int64, int64)", {7: 1}), int64_vocabulary=[7, 5], rejects=DIFFERENT)
NAMES = typed("map(string, string)", {"a": "x"})
case("string_to_string", Tag.DTYPE, X=NAMES, string_vocabulary=["a", "b"], rejects=DIFFERENT)
case("tensor", Tag.DTYPE, X=typed("float", ramp(3)), string_vocabulary=["a", "b"], rejects=MAP)
