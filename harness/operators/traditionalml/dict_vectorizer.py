"""DictVectorizer: the values of a map in the order of a vocabulary.

Versions: 1.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.declare import EXACT, Array, Op, Rule, Tag, Version, ramp, typed

if TYPE_CHECKING:
    from collections.abc import Mapping


def _type(bound: Mapping[str, str], _: Mapping[str, Any]) -> str:
    """Return the tensor of the input's values."""
    found = re.fullmatch(r"map\(\w+, (\w+)\)", bound["T1"])
    return f"tensor({found[1] if found else 'float'})"


VECTORIZER = Op("DictVectorizer", versions=(1,), compare=EXACT, domain="ai.onnx.ml", derives={"T2": _type})

CONVERTS = VECTORIZER.clause("Uses an index mapping to convert a dictionary to an array.")
INSERTS = VECTORIZER.clause(
    "The index into the vocabulary array at which the key is found is then used to index the output 1-D tensor 'Y' and "
    "insert into it the value found in the dictionary 'X'.",
    note="Does not say at which index where it is found twice.",
)
KEY_TYPE = VECTORIZER.clause(
    "The key type of the input map must correspond to the element type of the defined vocabulary attribute."
)
LENGTH = VECTORIZER.clause("the output array will be equal in length to the index mapping vector parameter.")
PRESENT = VECTORIZER.clause("All keys in the input dictionary must be present in the index mapping vector.")
EACH = VECTORIZER.clause("For each item in the input dictionary, insert its value in the output array.")
ZERO = VECTORIZER.clause(
    "Any keys not present in the input dictionary, will be zero in the output array.",
    note="Does not say which string is zero.",
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
    note="Contradicted by the description of the output, by the text (a 1-D tensor of the vocabulary's length) and by "
    "its example, in which the dictionary has two items and the output four elements: these decide. onnxruntime gives "
    "[1, C], where C is the length of the vocabulary.",
)


@VECTORIZER.oracle()
def vector(
    v: Version,
    X: dict[Any, Any],  # noqa: N803 - the text's own name
    int64_vocabulary: list[int] | None,
    string_vocabulary: list[str] | None,
) -> Array:
    """Return for each key of the vocabulary its value, or zero."""
    v.require(ONE_AND_ONLY, (int64_vocabulary is None) is not (string_vocabulary is None))
    vocabulary: list[Any] = [*(int64_vocabulary or ()), *(string_vocabulary or ())]
    kind = int if string_vocabulary is None else str
    v.require(KEY_TYPE, all(isinstance(key, kind) for key in X))
    v.require(PRESENT, all(key in vocabulary for key in X))
    v.silent(INSERTS, any(vocabulary.count(key) > 1 for key in X))
    dtype = v.dtypes["T2"]
    v.silent(ZERO, dtype.kind == "O" and len(X) < len(vocabulary))
    return np.array([np.asarray(X.get(key, 0)).item() for key in vocabulary], dtype)  # Text in an array is no text.


case = VECTORIZER.case

TEXTS, WHOLE = ["a", "c", "b", "z", ""], [7, -3, 2**40, 0, 5]
HARD = [np.nan, np.inf, -0.0, 1e-45, 0.1]
LIMITS = [2**63 - 1, -(2**63), 2**53 + 1, 0, -1]

TYPES: list[tuple[str, str]] = [("string", "int64"), ("int64", "string"), ("int64", "float"), ("int64", "double")]
TYPES += [("string", "float"), ("string", "double")]
for key, held in TYPES:
    keys: list[Any] = TEXTS if key == "string" else WHOLE
    vocabulary: dict[str, Any] = {f"{key}_vocabulary": keys}
    type_, name = f"map({key}, {held})", f"{key}_to_{held}"
    values: list[Any] = ["x", "", "ä", "y", "0"] if held == "string" else LIMITS if held == "int64" else HARD
    turned = {keys[place]: values[place] for place in (3, 0, 4, 2, 1)}
    given = typed(type_, turned)
    case(f"{name}_all", Tag.DTYPE, X=given, **vocabulary, cites=(CONVERTS, INSERTS, VALUE_TYPE, VECTOR, SHAPE, LENGTH))
    one = {keys[0]: values[1]}
    single: dict[str, Any] = {f"{key}_vocabulary": keys[:1]}
    case(f"{name}_one", Tag.EDGE, X=typed(type_, one), **single, cites=(EACH, LENGTH))
    few = {keys[3]: values[0], keys[1]: values[2]}
    if held == "string":
        case(f"{name}_few", X=typed(type_, few), **vocabulary, unspecified=ZERO)
    else:
        case(f"{name}_few", X=typed(type_, few), **vocabulary, cites=(ZERO, EACH, LENGTH))
        case(f"{name}_first", X=typed(type_, one), **vocabulary, cites=(ZERO, INSERTS))
        case(f"{name}_last", X=typed(type_, {keys[4]: values[0]}), **vocabulary, cites=(ZERO, INSERTS))
        case(f"{name}_none", Tag.EDGE, X=typed(type_, {}), **vocabulary, cites=(ZERO, LENGTH))
    unknown = "x" if key == "string" else 99
    case(f"{name}_unknown", X=typed(type_, {**turned, unknown: values[0]}), **vocabulary, rejects=PRESENT)
    case(f"{name}_unknown_alone", X=typed(type_, {unknown: values[0]}), **vocabulary, rejects=PRESENT)
    twice: dict[str, Any] = {f"{key}_vocabulary": [keys[0], keys[1], keys[0]]}
    both = {keys[0]: values[0], keys[1]: values[1]}
    case(f"{name}_twice", Tag.EDGE, X=typed(type_, both), **twice, unspecified=INSERTS)
    other: dict[str, Any] = {"int64_vocabulary": [7, -3]} if key == "string" else {"string_vocabulary": ["7", "-3"]}
    case(f"{name}_other_vocabulary", X=typed(type_, both), **other, rejects=KEY_TYPE)
    case(f"{name}_two_vocabularies", X=given, **vocabulary, **other, rejects=ONE_AND_ONLY)
    case(f"{name}_no_vocabulary", X=given, rejects=ONE_AND_ONLY)
EXAMPLE_OF_TEXT = typed("map(string, int64)", {"a": 4, "c": 8})
case("text_example", X=EXAMPLE_OF_TEXT, string_vocabulary=["a", "c", "b", "z"], cites=(EXAMPLE, ZERO))
NUMBERS, NAMES = typed("map(int64, int64)", {7: 1}), typed("map(string, string)", {"a": "x"})
case("int64_to_int64", Tag.DTYPE, X=NUMBERS, int64_vocabulary=WHOLE, rejects=DIFFERENT)
case("string_to_string", Tag.DTYPE, X=NAMES, string_vocabulary=TEXTS, rejects=DIFFERENT)
case("tensor", Tag.DTYPE, X=typed("float", ramp(3)), string_vocabulary=TEXTS, rejects=MAP)
case("no_input", string_vocabulary=TEXTS, rejects=Rule.ARITY)
case("no_outputs", X=EXAMPLE_OF_TEXT, string_vocabulary=TEXTS, n=0, rejects=Rule.ARITY)
case("two_outputs", X=EXAMPLE_OF_TEXT, string_vocabulary=TEXTS, n=2, rejects=Rule.ARITY)
case("attribute_sparse", X=EXAMPLE_OF_TEXT, string_vocabulary=TEXTS, stray={"sparse": 1}, rejects=Rule.ATTRIBUTES)
