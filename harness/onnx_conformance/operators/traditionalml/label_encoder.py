# SPDX-License-Identifier: Apache-2.0
"""LabelEncoder: look up each element in a list and return the corresponding value.

    Y = LabelEncoder(X, keys_int64s=[1, 2], values_strings=["b", "a"], default_string="_Unused")
    Y = LabelEncoder(X, classes_strings=["b", "a"], default_int64=-1)    # before version 2

Versions: 1 (strings and their indices), 2 (two parallel lists), 4 (lists as tensors, the last of equal keys).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Clause, Op, Tag, Version, ramp, typed, vary
from onnx_conformance.declare.clause import Force
from onnx_conformance.declare.sizes import among, grid

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx_conformance.declare.sizes import Sizes

LISTS = {"int64s": "int64", "floats": "float", "strings": "string"}
"""The suffixes of the names of lists, and the element type of each."""


def _type(bound: Mapping[str, str], attributes: Mapping[str, Any]) -> Any:  # noqa: ANN401 - see Op.derives
    """Return the type of the values that are set. Without values: string for integers, integer for strings."""
    if "classes_strings" in attributes:
        return "tensor(int64)" if bound["T1"] == "tensor(string)" else "tensor(string)"
    if attributes.get("values_tensor") is not None:
        return attributes["values_tensor"].dtype
    types = [f"tensor({type_})" for name, type_ in LISTS.items() if attributes.get(f"values_{name}") is not None]
    return types[0] if types else "tensor(int64)"


ENCODER = Op(
    "LabelEncoder",
    versions=(1, 2, 4),
    compare=EXACT,
    domain="ai.onnx.ml",
    rank="X",
    derives={"T2": _type},
    widens=False,
)
# X has the usual type of each version: an index before version 2, later a float.
ENCODER.example(
    X=[[3, 0, 1], [2, 2, 0]],
    classes_strings=["b", "a", ""],
    keys_floats=[2.0, 0.0, 5.0],
    values_strings=["b", "a", ""],
    default_string="none",
)
ENCODER.excuse("attribute classes_strings unset", "version 1 does not say what is found where there is no list")

DIRECTION = ENCODER.clause("If the string default value is set, it will convert integers to strings.", before=2)
TO_INTEGERS = ENCODER.clause("If the int default value is set, it will convert strings to integers.", before=2)
ONE_DEFAULT = ENCODER.clause("Only one default value attribute should be defined.", before=2)
ONE_AND_ONLY = ENCODER.clause(
    "One and only one of the 'default_*' attributes must be defined.",
    before=2,
    note="Both attributes have a default. The result for a model that sets neither, or one to its default value, is "
    "left open.",
)
INDEXING = ENCODER.clause(
    "by simple indexing.", before=2, note="A negative index is not found: nothing counts from the back."
)
LOOKED_UP = ENCODER.clause(
    "the index at which it is found is used",
    before=2,
    note="The text does not define which index if it is found twice.",
)
NO_INTEGER = ENCODER.clause("A string to use when an input integer value is not found in the map.", before=2)
NO_STRING = ENCODER.clause("An integer to use when an input string value is not found in the map.", before=2)
LABELS = ENCODER.clause(
    "A list of labels.", before=2, note="The text does not define the result if the attribute is missing."
)
ANY_SHAPE = ENCODER.clause("The input type must be a tensor of integers or strings, of any shape.", before=2)
SAME_SHAPE = ENCODER.clause("will have the same shape as the input.", before=2)
PARALLEL = ENCODER.clause("would be mapped to the i-th value in the specified 'values_*' attribute.", since=2)
IDENTICAL = ENCODER.clause(
    "input's element type and the element type of the specified 'keys_*' should be identical", since=2
)
LENGTH = ENCODER.clause("Note that the 'keys_*' and 'values_*' attributes must have the same length.", since=4)
NOT_FOUND = ENCODER.clause("may be used as its output value.", since=2, note="No other default is defined.")
MATCHES = ENCODER.clause(
    "The type of the 'default_*' attribute must match the 'values_*'",
    since=4,
    note="The text does not define whether default_tensor matches a list of values, or another default matches "
    "values_tensor: the types match, the names do not. It does not define whether an unused default of another type "
    "may be set. A default that is set to its default value counts as not set.",
)
EXAMPLE = ENCODER.clause('["Dori", "Amy", "Amy", "Sally", "Sally"] would be mapped to [-1, 5, 5, 6, 6].', since=2)
SHAPES = ENCODER.clause("its input and output shapes are the same.", since=2)
ONLY_ONE = ENCODER.clause("Notice that only one of 'keys_*'/'values_*' can be set.", since=2)
ONE_KEYS = ENCODER.clause("One and only one of 'keys_*'s should be set.", since=2, force=Force.SHOULD)
ONE_VALUES = ENCODER.clause("One and only one of 'values_*'s should be set.", force=Force.SHOULD).reworded(
    before=4, text="One and only one of 'value_*'s should be set.", since=2, force=Force.SHOULD
)
BITS = ENCODER.clause(
    "bit-wise comparison is used so even a float NaN can be mapped",
    since=2,
    before=4,
    note="Therefore +0 and -0 do not match each other, and a NaN does not match a NaN with other bits. onnxruntime "
    "never finds NaN, and treats -0 as 0.",
)
NAN = ENCODER.clause(
    "'NaN' match any input 'NaN' value", since=4, note="The text no longer defines whether the two zeros match."
)
LAST = ENCODER.clause(
    "If a key is repeated, the last key takes precedence.",
    since=4,
    note="In onnxruntime the first key takes precedence.",
)
DEFAULTS = ENCODER.clause(
    "A default tensor.", since=4, note="The text does not define a tensor that is not one row with one element."
)
UNSET = ENCODER.clause(
    '{"_Unused"} if values_* has string type, {-1} if values_* has integral type, and {-0.f}', since=4
)
ONE_D_KEYS = ENCODER.clause("Keys encoded as a 1D tensor.", since=4)
ONE_D_VALUES = ENCODER.clause("Values encoded as a 1D tensor.", since=4)
SAME_TYPE = ENCODER.clause("It must have the same element type as the keys_* attribute set.", since=4)


@ENCODER.oracle(before=2)
def indexed(v: Version, X: Array, default_string: str, default_int64: int, classes_strings: list[str] | None) -> Array:
    """Return the index of each string, or the string at each index."""
    text, number = default_string != "_Unused", default_int64 != -1
    v.silent(ONE_AND_ONLY, not (text or number))
    v.require(ONE_DEFAULT if X.dtype.kind == "O" else ONE_AND_ONLY, not (text and number))
    v.require(DIRECTION if text else TO_INTEGERS, text == (X.dtype.kind == "i"))
    v.silent(LABELS, not classes_strings)
    labels = list(classes_strings or ())
    if number:
        v.silent(LOOKED_UP, any(labels.count(text) > 1 for text in X.flat))
        return np.array([labels.index(x) if x in labels else default_int64 for x in X.flat], np.int64).reshape(X.shape)
    texts = [labels[x] if 0 <= x < len(labels) else default_string for x in X.flat]
    return np.array(texts, object).reshape(X.shape)


def _only_one(v: Version, clause: Clause, lists: tuple[Any, Any, Any], tensor: Array | None) -> Array:
    """Return the only list or tensor that is set, from lists of integers, floats and strings."""
    types: tuple[Any, ...] = (np.int64, np.float32, object)
    arrays = [np.array(items, type_) for items, type_ in zip(lists, types, strict=True) if items is not None]
    arrays += [] if tensor is None else [tensor]
    v.require(ONLY_ONE, len(arrays) <= 1)
    v.require(clause, len(arrays) == 1)
    (array,) = arrays
    return array


def _key(v: Version, value: Any) -> Any:  # noqa: ANN401 - any element
    """Return a value that is equal for equal keys: before version 4, the bits of a float."""
    if not isinstance(value, np.floating):
        return value
    if BITS.in_force(v.since):
        return value.tobytes()
    return "NaN" if np.isnan(value) else float(value)


@ENCODER.oracle(since=2)
def mapped(
    v: Version,
    *,
    X: Array,
    keys_tensor: Array | None,
    keys_int64s: list[int] | None,
    keys_floats: list[float] | None,
    keys_strings: list[str] | None,
    values_tensor: Array | None,
    values_int64s: list[int] | None,
    values_floats: list[float] | None,
    values_strings: list[str] | None,
    default_tensor: Array | None,
    default_int64: int,
    default_float: float,
    default_string: str,
) -> Array:
    """Return the value of each element's key, or the default."""
    keys = _only_one(v, ONE_KEYS, (keys_int64s, keys_floats, keys_strings), keys_tensor)
    values = _only_one(v, ONE_VALUES, (values_int64s, values_floats, values_strings), values_tensor)
    v.require(ONE_D_KEYS, keys.ndim == 1)
    v.require(ONE_D_VALUES, values.ndim == 1)
    v.require(IDENTICAL if X.dtype.kind == "O" or BITS.in_force(v.since) else SAME_TYPE, keys.dtype == X.dtype)
    v.require(LENGTH, len(keys) == len(values))
    defaults = {"i": (default_int64, -1), "f": (default_float, 0.0), "O": (default_string, "_Unused")}
    default, unset = defaults[values.dtype.kind]
    others = any(value != usual for kind, (value, usual) in defaults.items() if kind != values.dtype.kind)
    v.silent(MATCHES, others and MATCHES.in_force(v.since))
    v.silent(MATCHES, values_tensor is not None and default != unset)
    if default_tensor is not None:
        v.silent(MATCHES, values_tensor is None)
        v.require(MATCHES, default_tensor.dtype == values.dtype)
        v.silent(DEFAULTS, default_tensor.shape != (1,))
        default = default_tensor.item()
    table = {_key(v, key): value for key, value in zip(keys, values, strict=True)}
    v.permit(LAST, len(table) != len(keys))
    zeros = {np.signbit(x) for x in (*X.flat, *keys) if isinstance(x, np.floating) and x == 0}
    v.silent(NAN, NAN.in_force(v.since) and len(zeros) > 1)
    return np.array([table.get(_key(v, x), default) for x in X.flat], values.dtype).reshape(X.shape)


case = ENCODER.case

WORDS = typed("string", ["b", "zz", "a", "c", "b", "A", ""])
INDICES = typed("int64", [[2, 0, 1], [3, -1, 2**32]])
CLASSES = ["a", "b", "c"]
case(
    "strings_to_indices",
    X=WORDS,
    default_int64=2**40,
    classes_strings=CLASSES,
    cites=(TO_INTEGERS, LOOKED_UP, NO_STRING, ONE_AND_ONLY),
)
case(
    "indices_to_strings",
    X=INDICES,
    default_string="none",
    classes_strings=CLASSES,
    cites=(DIRECTION, INDEXING, NO_INTEGER, LABELS),
)
for name, shape in {"rank0": (), "size_one": (1,), "zero_size": (2, 0), "cube": (2, 3, 4)}.items():
    text, whole = typed("string", ramp(*shape)), typed("int64", ramp(*shape))
    case(f"{name}_strings", Tag.EDGE, X=text, classes_strings=["s2", "s0"], default_int64=7, cites=ANY_SHAPE)
    case(f"{name}_indices", Tag.EDGE, X=whole, classes_strings=CLASSES, default_string="x", cites=SAME_SHAPE)
    case(name, Tag.EDGE, X=whole, keys_int64s=[2, 0], values_int64s=[5, 6], cites=SHAPES)
    case(f"{name}_text", Tag.EDGE, X=text, keys_strings=["s2", "s0"], values_strings=["x", "y"], cites=SHAPES)
case("labels_empty", Tag.EDGE, X=WORDS, default_int64=2**40, classes_strings=[], unspecified=LABELS)
case("label_twice", Tag.EDGE, X=WORDS, default_int64=2**40, classes_strings=["a", "b", "b"], unspecified=LOOKED_UP)
case("no_default", X=WORDS, classes_strings=CLASSES, unspecified=ONE_AND_ONLY)
BOTH_DEFAULTS: dict[str, Any] = {"default_int64": 2**40, "default_string": "x"}
case("two_defaults", X=WORDS, **BOTH_DEFAULTS, classes_strings=CLASSES, rejects=ONE_DEFAULT)
case("two_defaults_of_one", X=INDICES, **BOTH_DEFAULTS, classes_strings=CLASSES, rejects=ONE_AND_ONLY)
case("strings_with_string_default", X=WORDS, classes_strings=CLASSES, default_string="x", rejects=DIRECTION)
case("indices_with_integer_default", X=INDICES, classes_strings=CLASSES, default_int64=7, rejects=TO_INTEGERS)
case("outside", Tag.DTYPE, outside="T1", X=ramp(3), classes_strings=CLASSES, default_int64=7, rejects=ANY_SHAPE)

NAMES = typed("string", ["Dori", "Amy", "Amy", "Sally", "Sally"])
case("example", X=NAMES, keys_strings=["Amy", "Sally"], values_int64s=[5, 6], default_int64=-1, cites=EXAMPLE)
TABLES: dict[str, list[Any]] = {"strings": ["b", "a", ""], "int64s": [5, -7, 2**40], "floats": [0.1, -2.5, 3e38]}
QUERIES: dict[str, list[Any]] = {"strings": ["a", "", "x", "B"], "int64s": [2**40, 5, 0, -7], "floats": [3e38, 1, 0.1]}
DEFAULT: dict[str, Any] = {"strings": "none", "int64s": 99, "floats": 0.7}
for keys, query in QUERIES.items():
    for values, table in TABLES.items():
        lists: dict[str, Any] = {f"keys_{keys}": TABLES[keys], f"values_{values}": table}
        name, x, default = f"{keys}_to_{values}", typed(LISTS[keys], query), DEFAULT[values]
        case(name, Tag.DTYPE, X=x, **lists, cites=(PARALLEL, IDENTICAL))
        named_default = {f"default_{values.removesuffix('s')}": default}
        case(f"{name}_default", Tag.DTYPE, X=x, **lists, **named_default, cites=(NOT_FOUND, ONE_KEYS))
        tensors: dict[str, Any] = {
            f"keys_{keys}": TABLES[keys],
            "values_tensor": typed(LISTS[values], table),
            "default_tensor": typed(LISTS[values], [default]),
        }
        case(f"{name}_default_tensor", X=x, **tensors, cites=MATCHES)
TENSORS: dict[str, Any] = {"keys_tensor": typed("{T1}", [4, 0, 2]), "values_tensor": typed("{T2}", [7, 3, 5])}
case(
    "dtypes",
    Tag.DTYPE,
    each=("T1", "T2"),
    X=[0, 4, 9, 2, 0],
    **TENSORS,
    cites=(UNSET, ONE_D_KEYS, ONE_D_VALUES, SAME_TYPE),
)
OF_TYPE = typed("{T2}", [6])
case("dtypes_default", Tag.DTYPE, each="T2", X=[0, 4, 9, 2, 0], **TENSORS, default_tensor=OF_TYPE, cites=MATCHES)
for type_ in ("float", "double"):
    case(
        f"nan_{type_}",
        Tag.EDGE,
        X=typed(type_, [np.nan, -np.nan, -np.inf, 1, np.inf, 1e-45]),
        keys_tensor=typed(type_, [1, np.nan, np.inf, -np.inf, 1e-45]),
        values_strings=["one", "nan", "high", "low", "small"],
        since=4,
        cites=NAN,
    )
    minus, zero = typed(type_, [-0.0, 2]), typed(type_, [0.0, 1])
    case(f"zeros_{type_}", Tag.EDGE, X=minus, keys_tensor=zero, values_int64s=[5, 6], unspecified=NAN)
FLOATS: dict[str, Any] = {"keys_floats": [1.0, np.nan, 0.0, np.inf], "values_strings": ["one", "nan", "zero", "high"]}
case("bits", Tag.EDGE, X=typed("float", [np.nan, 1, np.inf, 0.0, -0.0, -np.inf]), **FLOATS, cites=BITS)
case("bits_other_nan", Tag.EDGE, X=typed("float", [-np.nan, 2]), **FLOATS, cites=BITS)

X = typed("int64", [3, 1])
MAP: dict[str, Any] = {"keys_int64s": [1, 2], "values_int64s": [5, 6]}
KEYS: dict[str, Any] = {"keys_int64s": [1, 2]}
VALUES: dict[str, Any] = {"values_int64s": [5, 6]}
case("repeated", X=typed("int64", [2, 1]), keys_int64s=[2, 2], **VALUES, since=4, cites=LAST)
case("repeated_before_4", X=X, keys_int64s=[1, 1], **VALUES, before=4, unspecified=LAST)
case("other_default_before_4", X=X, **MAP, default_string="x", before=4, cites=NOT_FOUND)
case("other_default", X=X, **MAP, default_string="x", since=4, unspecified=MATCHES)
OF_TENSOR: dict[str, Any] = {**KEYS, "values_tensor": typed("int64", [5, 6])}
case("default_tensor_of_other_type", X=X, **OF_TENSOR, default_tensor=typed("int32", [5]), rejects=MATCHES)
DEFAULT_TENSOR = typed("int64", [5])
case("default_tensor_of_list", X=X, **MAP, default_tensor=DEFAULT_TENSOR, unspecified=MATCHES)
case("default_of_tensor", X=X, **OF_TENSOR, default_int64=7, since=4, unspecified=MATCHES)
case(
    "default_tensor_beside_default",
    X=X,
    **OF_TENSOR,
    default_tensor=DEFAULT_TENSOR,
    default_int64=7,
    unspecified=MATCHES,
)
NOT_ONE = vary(of_two=typed("int64", [5, 6]), scalar=typed("int64", 5))
case("default_tensor", X=X, **OF_TENSOR, default_tensor=NOT_ONE, unspecified=DEFAULTS)
case("values_longer_before_4", X=X, **KEYS, values_int64s=[5, 6, 7], before=4, unspecified=LENGTH)
case("values_longer", X=X, **KEYS, values_int64s=[5, 6, 7], rejects=LENGTH)
case("keys_longer", X=X, keys_int64s=[1, 2, 3], **VALUES, rejects=LENGTH)
case("no_keys", X=X, **VALUES, rejects=ONE_KEYS)
case("no_values", X=X, **KEYS, rejects=ONE_VALUES)
case("two_keys", X=X, **MAP, keys_floats=[1.0, 2.0], rejects=ONLY_ONE)
case("two_values", X=X, **MAP, values_floats=[1.0, 2.0], rejects=ONLY_ONE)
case("keys_of_matrix", X=X, **VALUES, keys_tensor=typed("int64", [[5, 6]]), rejects=ONE_D_KEYS)
case("values_of_matrix", X=X, **KEYS, values_tensor=typed("int64", [[5, 6]]), rejects=ONE_D_VALUES)
case("keys_of_other_type_before_4", X=typed("float", [1, 2]), **MAP, before=4, rejects=IDENTICAL)
case("keys_of_other_type", X=typed("int32", [1, 2]), **MAP, rejects=SAME_TYPE)
case("keys_of_other_type_too", X=typed("string", [1, 2]), **MAP, since=4, rejects=IDENTICAL)


def _listed(type_: str, factor: int) -> Callable[[Sizes], list[Any]]:
    """Return a function of the sizes that returns different keys, or values: multiples of a factor."""
    convert: dict[str, Callable[[int], Any]] = {"int64": int, "float": float, "string": lambda number: f"s{number}"}
    return lambda sizes: [convert[type_](number * factor) for number in range(sizes["count"])]


for keys, values in (("int64", "string"), ("string", "int64"), ("float", "float"), ("string", "float")):
    ENCODER.sized(
        f"{keys}_to_{values}",
        grid(m=(3, 65), n=(7, 65, 1025), count=(16, 1000)),
        cites=(PARALLEL, NOT_FOUND),
        arguments={
            "X": typed(keys, among(range(1200), "m", "n")),
            f"keys_{keys}s": _listed(keys, 1),
            f"values_{values}s": _listed(values, 3),
        },
    )
