"""LabelEncoder: each element looked up in a list, and what belongs to it there.

Versions: 1 (strings and their indices), 2 (two parallel lists), 4 (lists as tensors, the last of equal keys).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.declare import EXACT, Array, Clause, Op, Rule, Tag, Version, ramp, typed

if TYPE_CHECKING:
    from collections.abc import Mapping

NAMES = {"int64s": "int64", "floats": "float", "strings": "string"}


def _type(bound: Mapping[str, str], attributes: Mapping[str, Any]) -> Any:  # noqa: ANN401 - see Op.derives
    """Return the type of the values set; where there are none, the one of strings and integers that X is not."""
    if attributes.get("values_tensor") is not None:
        return attributes["values_tensor"].dtype
    found = [f"tensor({name})" for key, name in NAMES.items() if attributes.get(f"values_{key}") is not None]
    old = "tensor(int64)" if bound["T1"] == "tensor(string)" else "tensor(string)"
    return old if "classes_strings" in attributes else (found or ["tensor(int64)"])[0]


PLACE: dict[str, Any] = {"domain": "ai.onnx.ml", "rank": "X", "derives": {"T2": _type}, "widens": False}
ENCODER = Op("LabelEncoder", versions=(1, 2, 4), compare=EXACT, **PLACE)
ENCODER.excuse("attribute classes_strings unset", "version 1 does not say what is found where there is no list")

said = ENCODER.clause
DIRECTION = said("If the string default value is set, it will convert integers to strings.", before=2)
TO_INTEGERS = said("If the int default value is set, it will convert strings to integers.", before=2)
ONE_DEFAULT = said("Only one default value attribute should be defined.", before=2)
OPEN = "Both have a default: what this demands of a model in which none is set, or only to its default, is open."
ONE_AND_ONLY = said("One and only one of the 'default_*' attributes must be defined.", before=2, note=OPEN)
INDEXING = said("by simple indexing.", before=2, note="An index below 0 is not found: nothing counts from the back.")
LOOKED_UP = said("the index at which it is found is used", before=2, note="Not which where it is found twice.")
NO_INTEGER = said("A string to use when an input integer value is not found in the map.", before=2)
NO_STRING = said("An integer to use when an input string value is not found in the map.", before=2)
LABELS = said("A list of labels.", before=2, note="Does not say what is found where there is none.")
ANY_SHAPE = said("The input type must be a tensor of integers or strings, of any shape.", before=2)
SAME_SHAPE = said("will have the same shape as the input.", before=2)
PARALLEL = said("would be mapped to the i-th value in the specified 'values_*' attribute.", since=2)
IDENTICAL = said("input's element type and the element type of the specified 'keys_*' should be identical", since=2)
LENGTH = said("Note that the 'keys_*' and 'values_*' attributes must have the same length.", since=4)
NOT_FOUND = said("may be used as its output value.", since=2, note="Nothing else is said to be used.")
OPEN = "Not which of default_tensor and another that match counts. One set to its default is as if unset."
MATCHES = said("The type of the 'default_*' attribute must match the 'values_*'", since=4, note=OPEN)
EXAMPLE = said('["Dori", "Amy", "Amy", "Sally", "Sally"] would be mapped to [-1, 5, 5, 6, 6].', since=2)
SHAPES = said("its input and output shapes are the same.", since=2)
ONLY_ONE = said("Notice that only one of 'keys_*'/'values_*' can be set.", since=2)
ONE_VALUES = said("One and only one of 'value_*'s should be set.", since=2, before=4)
ONE_KEYS = said("One and only one of 'keys_*'s should be set.", since=2)
ONE_VALUES_NOW = said("One and only one of 'values_*'s should be set.", since=4)
OPEN = "So neither zero is the other, nor one NaN another of other bits; onnxruntime finds no NaN and takes -0 for 0."
BITS = said("bit-wise comparison is used so even a float NaN can be mapped", since=2, before=4, note=OPEN)
NAN = said("'NaN' match any input 'NaN' value", since=4, note="Whether the two zeros match is no longer said.")
LAST = said("If a key is repeated, the last key takes precedence.", since=4, note="In onnxruntime the first does.")
DEFAULTS = said("A default tensor.", since=4, note="Does not say what one of other than one element in a row means.")
UNSET = said('{"_Unused"} if values_* has string type, {-1} if values_* has integral type, and {-0.f}', since=4)
ONE_D_KEYS = said("Keys encoded as a 1D tensor.", since=4)
ONE_D_VALUES = said("Values encoded as a 1D tensor.", since=4)
SAME_TYPE = said("It must have the same element type as the keys_* attribute set.", since=4)


@ENCODER.oracle(before=2)
def indexed(v: Version, X: Array, default_string: str, default_int64: int, classes_strings: list[str] | None) -> Array:  # noqa: N803
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
    found = [labels[x] if 0 <= x < len(labels) else default_string for x in X.flat]
    return np.array(found, object).reshape(X.shape)


def _one(v: Version, clause: Clause, given: list[Array | None]) -> Array:
    chosen = [item for item in given if item is not None]
    v.require(ONLY_ONE, len(chosen) <= 1)
    v.require(clause, len(chosen) == 1)
    return chosen[0]


def _list(values: list[Any] | None, dtype: Any) -> Array | None:  # noqa: ANN401 - whatever numpy takes for a dtype
    return None if values is None else np.array(values, dtype)


def _key(v: Version, value: Any) -> Any:  # noqa: ANN401 - any element
    """Return what equal keys have in common: before version 4 the bits of a float."""
    if not isinstance(value, np.floating):
        return value
    if BITS.in_force(v.since):
        return value.tobytes()
    return "NaN" if np.isnan(value) else float(value)


@ENCODER.oracle(since=2)
def mapped(
    v: Version, X: Array, keys_tensor: Array | None, values_tensor: Array | None, default_tensor: Array | None,  # noqa: N803
    keys_int64s: list[int] | None, keys_floats: list[float] | None, keys_strings: list[str] | None,
    values_int64s: list[int] | None, values_floats: list[float] | None, values_strings: list[str] | None,
    default_int64: int, default_float: float, default_string: str,
) -> Array:  # fmt: skip
    """Return the value of each element's key, or the default."""
    several = _list(keys_int64s, np.int64), _list(keys_floats, np.float32), _list(keys_strings, object)
    keys = _one(v, ONE_KEYS, [*several, keys_tensor])
    several = _list(values_int64s, np.int64), _list(values_floats, np.float32), _list(values_strings, object)
    values = _one(v, ONE_VALUES_NOW if ONE_VALUES_NOW.in_force(v.since) else ONE_VALUES, [*several, values_tensor])
    v.require(ONE_D_KEYS, keys.ndim == 1)
    v.require(ONE_D_VALUES, values.ndim == 1)
    v.require(IDENTICAL if X.dtype.kind == "O" or BITS.in_force(v.since) else SAME_TYPE, keys.dtype == X.dtype)
    v.require(LENGTH, len(keys) == len(values))
    scalars = {"i": (default_int64, -1), "f": (default_float, 0.0), "O": (default_string, "_Unused")}
    default, unset = scalars[values.dtype.kind]
    others = any(given != usual for kind, (given, usual) in scalars.items() if kind != values.dtype.kind)
    v.require(MATCHES, not (others and MATCHES.in_force(v.since)))
    if default_tensor is not None:
        v.require(MATCHES, default_tensor.dtype == values.dtype)
        v.silent(MATCHES, default != unset)
        v.silent(DEFAULTS, default_tensor.shape != (1,))
        default = default_tensor.reshape(-1)[0]
    table = {_key(v, key): value for key, value in zip(keys, values, strict=True)}
    v.permit(LAST, len(table) != len(keys))
    wanted = [_key(v, x) for x in X.reshape(-1)]
    zeros = {np.signbit(x) for x in (*X.reshape(-1), *keys) if isinstance(x, np.floating) and x == 0}
    v.silent(NAN, NAN.in_force(v.since) and len(zeros) > 1)
    return np.array([table.get(key, default) for key in wanted], values.dtype).reshape(X.shape)


case = ENCODER.case

WORDS: dict[str, Any] = {"X": typed("string", ["b", "zz", "a", "c", "b", "A", ""]), "default_int64": 2**40}
CLASSES = ["a", "b", "c"]
INDICES: dict[str, Any] = {"X": typed("int64", [[2, 0, 1], [3, -1, 2**32]]), "default_string": "none"}
case("strings_to_indices", **WORDS, classes_strings=CLASSES, cites=(TO_INTEGERS, LOOKED_UP, NO_STRING, ONE_AND_ONLY))
case("indices_to_strings", **INDICES, classes_strings=CLASSES, cites=(DIRECTION, INDEXING, NO_INTEGER, LABELS))
for name, shape in {"rank0": (), "size_one": (1,), "zero_size": (2, 0), "cube": (2, 3, 4)}.items():
    text, whole = typed("string", ramp(*shape)), typed("int64", ramp(*shape))
    case(f"{name}_strings", Tag.EDGE, X=text, classes_strings=["s2", "s0"], default_int64=7, cites=(ANY_SHAPE,))
    case(f"{name}_indices", Tag.EDGE, X=whole, classes_strings=CLASSES, default_string="x", cites=(SAME_SHAPE,))
    case(name, Tag.EDGE, X=whole, keys_int64s=[2, 0], values_int64s=[5, 6], cites=(SHAPES,))
    case(f"{name}_text", Tag.EDGE, X=text, keys_strings=["s2", "s0"], values_strings=["x", "y"], cites=(SHAPES,))
case("labels_empty", Tag.EDGE, **WORDS, classes_strings=[], unspecified=LABELS)
case("label_twice", Tag.EDGE, **WORDS, classes_strings=["a", "b", "b"], unspecified=LOOKED_UP)
BOTH: dict[str, Any] = {**WORDS, "default_string": "x", "classes_strings": CLASSES}
case("no_default", X=WORDS["X"], classes_strings=CLASSES, unspecified=ONE_AND_ONLY)
case("two_defaults", **BOTH, rejects=ONE_DEFAULT)
case("two_defaults_of_one", **{**BOTH, **INDICES}, rejects=ONE_AND_ONLY)
case("strings_with_string_default", X=WORDS["X"], classes_strings=CLASSES, default_string="x", rejects=DIRECTION)
case("indices_with_integer_default", X=INDICES["X"], classes_strings=CLASSES, default_int64=7, rejects=TO_INTEGERS)
case("outside", Tag.DTYPE, outside="T1", X=ramp(3), classes_strings=CLASSES, default_int64=7, rejects=ANY_SHAPE)

NAMED = typed("string", ["Dori", "Amy", "Amy", "Sally", "Sally"])
case("example", X=NAMED, keys_strings=["Amy", "Sally"], values_int64s=[5, 6], default_int64=-1, cites=(EXAMPLE,))
TABLES: dict[str, list[Any]] = {"strings": ["b", "a", ""], "int64s": [5, -7, 2**40], "floats": [0.1, -2.5, 3e38]}
ASKED: dict[str, list[Any]] = {"strings": ["a", "", "x", "B"], "int64s": [2**40, 5, 0, -7], "floats": [3e38, 1, 0.1]}
DEFAULT: dict[str, Any] = {"strings": "none", "int64s": 99, "floats": 0.7}
for keys, asked in ASKED.items():
    for values, held in TABLES.items():
        given: dict[str, Any] = {"X": typed(NAMES[keys], asked), f"keys_{keys}": TABLES[keys], f"values_{values}": held}
        name, default = f"{keys}_to_{values}", {f"default_{values.rstrip('s')}": DEFAULT[values]}
        case(name, Tag.DTYPE, **given, cites=(PARALLEL, IDENTICAL))
        case(f"{name}_default", Tag.DTYPE, **given, **default, cites=(NOT_FOUND, ONE_KEYS))
        tensor = typed(NAMES[values], [DEFAULT[values]])
        case(f"{name}_default_tensor", **given, default_tensor=tensor, cites=(MATCHES,))
TENSORS: dict[str, Any] = {"keys_tensor": typed("{T1}", [4, 0, 2]), "values_tensor": typed("{T2}", [7, 3, 5])}
PAIR: dict[str, Any] = {"X": [0, 4, 9, 2, 0], **TENSORS}
case("dtypes", Tag.DTYPE, each=("T1", "T2"), **PAIR, cites=(UNSET, ONE_D_KEYS, ONE_D_VALUES, SAME_TYPE))
case("dtypes_default", Tag.DTYPE, each="T2", **PAIR, default_tensor=typed("{T2}", [6]), cites=(MATCHES,))
case("outside_now", Tag.DTYPE, outside="T1", X=ramp(3), keys_int64s=[1], values_int64s=[2], since=2, rejects=Rule.TYPES)
for type_ in ("float", "double"):
    pair: dict[str, Any] = {"keys_tensor": typed(type_, [1, np.nan, np.inf, -np.inf, 1e-45]), "since": 4}
    hard, found = typed(type_, [np.nan, -np.nan, -np.inf, 1, np.inf, 1e-45]), ["one", "nan", "high", "low", "small"]
    case(f"nan_{type_}", Tag.EDGE, X=hard, **pair, values_strings=found, cites=(NAN,))
    minus, zero = typed(type_, [-0.0, 2]), typed(type_, [0.0, 1])
    case(f"zeros_{type_}", Tag.EDGE, X=minus, keys_tensor=zero, values_int64s=[5, 6], unspecified=NAN)
MANY: dict[str, Any] = {"keys_floats": [1.0, np.nan, 0.0, np.inf], "values_strings": ["one", "nan", "zero", "high"]}
case("bits", Tag.EDGE, X=typed("float", [np.nan, 1, np.inf, 0.0, -0.0, -np.inf]), **MANY, cites=(BITS,))
case("bits_other_nan", Tag.EDGE, X=typed("float", [-np.nan, 2]), **MANY, cites=(BITS,))
ONE: dict[str, Any] = {"X": typed("int64", [3, 1]), "keys_int64s": [1, 2], "values_int64s": [5, 6]}
HELD = [typed("int64", [5, 6]), typed("int64", [[5, 6]]), typed("int32", [5, 6])]


def _but(name: str, *without: str, **changed: Any) -> None:  # noqa: ANN401 - whatever a case takes
    case(name, **{key: value for key, value in {**ONE, **changed}.items() if key not in without})


_but("repeated", X=typed("int64", [2, 1]), keys_int64s=[2, 2], since=4, cites=(LAST,))
_but("repeated_old", keys_int64s=[1, 1], before=4, unspecified=LAST)
_but("other_default_old", default_string="x", before=4, cites=(NOT_FOUND,))
_but("other_default", default_string="x", rejects=MATCHES)
_but("default_tensor_of_other_type", default_tensor=HELD[2], rejects=MATCHES)
_but("default_tensor_beside_default", default_tensor=typed("int64", [5]), default_int64=7, unspecified=MATCHES)
_but("default_tensor_of_two", default_tensor=HELD[0], unspecified=DEFAULTS)
_but("default_tensor_scalar", default_tensor=typed("int64", 5), unspecified=DEFAULTS)
_but("values_longer_old", values_int64s=[5, 6, 7], before=4, unspecified=LENGTH)
_but("values_longer", values_int64s=[5, 6, 7], rejects=LENGTH)
_but("keys_longer", keys_int64s=[1, 2, 3], rejects=LENGTH)
_but("no_keys", "keys_int64s", rejects=ONE_KEYS)
_but("no_values", "values_int64s", rejects=ONE_VALUES)
_but("no_values_now", "values_int64s", rejects=ONE_VALUES_NOW)
_but("two_keys", keys_floats=[1.0, 2.0], rejects=ONLY_ONE)
_but("two_values", values_floats=[1.0, 2.0], rejects=ONLY_ONE)
_but("keys_of_matrix", "keys_int64s", keys_tensor=HELD[1], rejects=ONE_D_KEYS)
_but("values_of_matrix", "values_int64s", values_tensor=HELD[1], rejects=ONE_D_VALUES)
_but("keys_of_other_type_old", X=typed("float", [1, 2]), before=4, rejects=IDENTICAL)
_but("keys_of_other_type", X=typed("int32", [1, 2]), rejects=SAME_TYPE)
_but("keys_of_other_type_too", X=typed("string", [1, 2]), since=4, rejects=IDENTICAL)
_but("no_input", "X", rejects=Rule.ARITY)
_but("two_outputs", n=2, rejects=Rule.ARITY)
_but("attribute_classes_strings", stray={"classes_strings": ["a"]}, rejects=Rule.ATTRIBUTES)
case("no_outputs", **WORDS, n=0, before=2, rejects=Rule.ARITY)
