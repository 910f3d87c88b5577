# SPDX-License-Identifier: Apache-2.0
"""CastMap: the values of a map with integer keys, as a tensor.

    Y = CastMap(X, cast_to="TO_FLOAT", map_form="DENSE")
    Y = CastMap(X, cast_to="TO_FLOAT", map_form="SPARSE", max_map=5)

Versions: 1.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, PartlyOpen, Tag, Version, ramp, typed, vary

if TYPE_CHECKING:
    from collections.abc import Mapping

TYPES = {"TO_FLOAT": "tensor(float)", "TO_STRING": "tensor(string)", "TO_INT64": "tensor(int64)"}


def _type(_: Mapping[str, str], attributes: Mapping[str, Any]) -> str:
    """Return the type that cast_to identifies."""
    return TYPES.get(attributes.get("cast_to") or "TO_FLOAT", "tensor(float)")


CAST_MAP = Op(
    "CastMap", versions=(1,), compare=EXACT, domain="ai.onnx.ml", rank=lambda _: 1, derives={"T2": _type}, widens=False
)
CAST_MAP.example(X=typed("map(int64, float)", {2: 4.0, 0: 8.0}), map_form="SPARSE", max_map=4)

CONVERTS = CAST_MAP.clause("Converts a map to a tensor.")
ASCENDING = CAST_MAP.clause(
    "The map key must be an int64 and the values will be ordered in ascending order based on this key."
)
PACKING = CAST_MAP.clause("The operator supports dense packing or sparse packing.")
EXCEED = CAST_MAP.clause(
    "If using sparse packing, the key cannot exceed the max_map-1 value.",
    note="The text does not define negative keys.",
)
LENGTH = CAST_MAP.clause(
    "If the value of map_form is 'SPARSE,' this attribute indicates the total length of the output tensor.",
    note="The text does not define the values at positions without a key, or lengths below 1.",
)
FORM = CAST_MAP.clause(
    "Indicates whether to only output as many values as are in the input (dense), or position the input based on using "
    "the key of the map as the index of the output (sparse)."
)
ONE_FORM = CAST_MAP.clause("One of 'DENSE', 'SPARSE'.")
DESIRED = CAST_MAP.clause(
    "A string indicating the desired element type of the output tensor, one of 'TO_FLOAT', 'TO_STRING', 'TO_INT64'.",
    note="The text does not define how a number is written, which numbers are recognized in strings, or the results "
    "for fractions and for numbers outside the integer range. Only whole numbers with a few digits have the same "
    "result in every interpretation.",
)
SAME_DATA = CAST_MAP.clause("A tensor representing the same data as the input map, ordered by their keys")
MAP = CAST_MAP.clause("The input must be an integer map to either string or float.")
VECTOR = CAST_MAP.clause("The output is a 1-D tensor of string, float, or integer.")


def _check(v: Version, value: Any, to: str) -> None:  # noqa: ANN401 - a string or a number
    """Raise Unspecified if a value can be converted to another type in several ways."""
    if to == "TO_STRING":
        v.silent(DESIRED, not isinstance(value, str))
    elif isinstance(value, str):
        v.silent(DESIRED, not re.fullmatch(r"-?\d{1,6}", value))
    elif to == "TO_INT64":
        v.silent(DESIRED, not (np.isfinite(value) and value == int(value) and abs(value) < 2**63))


@CAST_MAP.oracle()
def tensor(v: Version, X: dict[int, Any], cast_to: str, map_form: str, max_map: int) -> Array | PartlyOpen:
    """Return the values in the order of their keys, or each value at its key."""
    v.require(DESIRED, cast_to in TYPES)
    v.require(ONE_FORM, map_form in {"DENSE", "SPARSE"})
    values = {key: np.asarray(X[key]).item() for key in sorted(X)}
    for value in values.values():
        _check(v, value, cast_to)
    dtype = v.dtypes["T2"]
    if map_form == "DENSE":
        return np.array([*values.values()], dtype)
    v.silent(LENGTH, max_map < 1)
    v.silent(EXCEED, any(key < 0 for key in values))
    v.require(EXCEED, all(key < max_map for key in values))
    output = np.full(max_map, "" if dtype.kind == "O" else 0, dtype)
    output[[*values]] = [*values.values()]
    is_open = np.array([key not in values for key in range(max_map)])
    return PartlyOpen(output, is_open) if is_open.any() else output


case = CAST_MAP.case
FLOATS, TEXTS = "map(int64, float)", "map(int64, string)"
NUMBERS: dict[int, Any] = {5: 4.0, -3: 8.0, 0: -2.0, 2**40: 7.0}
WORDS: dict[int, Any] = {5: "b", -3: "a", 0: "", 2**40: "ä"}
DIGITS: dict[int, Any] = {5: "4", -3: "-8", 0: "0", 9: "123456"}
FULL: dict[int, Any] = {2: 4.0, 0: 8.0, 1: -2.0, 3: 0.5}

case("dense_float", X=typed(FLOATS, NUMBERS), cites=(CONVERTS, ASCENDING, SAME_DATA, VECTOR))
case("dense_set", X=typed(FLOATS, NUMBERS), map_form="DENSE", cast_to="TO_FLOAT", cites=(FORM, PACKING, ONE_FORM))
case("dense_strings", X=typed(TEXTS, WORDS), cast_to="TO_STRING", cites=(ASCENDING, DESIRED, VECTOR))
case("dense_to_int64", X=typed(FLOATS, NUMBERS), cast_to="TO_INT64", cites=DESIRED)
case("dense_texts_to_float", X=typed(TEXTS, DIGITS), cites=DESIRED)
case("dense_texts_to_int64", X=typed(TEXTS, DIGITS), cast_to="TO_INT64", cites=DESIRED)
case("dense_fractions", X=typed(FLOATS, {1: 0.1, 0: -2.5, 7: 1e30}), cites=SAME_DATA)
case("dense_special", Tag.EDGE, X=typed(FLOATS, {1: np.nan, 0: np.inf, 7: -0.0, 3: 1e-45}), cites=SAME_DATA)
case("dense_one", Tag.EDGE, X=typed(FLOATS, {9: 4.0}), cites=SAME_DATA)
case("dense_none", Tag.EDGE, X=typed(FLOATS, {}), cites=FORM)
case("dense_max_map", Tag.EDGE, X=typed(FLOATS, NUMBERS), max_map=2, cites=LENGTH)
# As strings, 10 would sort before 9.
case("dense_keys_of_two_digits", X=typed(FLOATS, {10: 1.0, 9: 2.0, 100: 3.0, -10: 4.0, -9: 5.0}), cites=ASCENDING)
case("sparse_full", X=typed(FLOATS, FULL), map_form="SPARSE", max_map=4, cites=(FORM, LENGTH, EXCEED))
case("sparse_gaps", X=typed(FLOATS, {3: 4.0, 1: 8.0}), map_form="SPARSE", max_map=6, cites=(FORM, LENGTH))
case("sparse_last", Tag.EDGE, X=typed(FLOATS, {5: 4.0}), map_form="SPARSE", max_map=6, cites=EXCEED)
case("sparse_one", Tag.EDGE, X=typed(FLOATS, {0: 4.0}), map_form="SPARSE", cites=LENGTH)
words = typed(TEXTS, {1: "b", 0: "a"})
case("sparse_strings", X=words, map_form="SPARSE", max_map=2, cast_to="TO_STRING", cites=FORM)
case("sparse_strings_gap", X=words, map_form="SPARSE", max_map=3, cast_to="TO_STRING", cites=FORM)
case("sparse_to_int64", X=typed(FLOATS, {2: 4.0, 0: 8.0}), map_form="SPARSE", max_map=3, cast_to="TO_INT64", cites=FORM)
case("key_beyond", X=typed(FLOATS, {4: 4.0, 0: 8.0}), map_form="SPARSE", max_map=4, rejects=EXCEED)
case("key_far_beyond", Tag.EDGE, X=typed(FLOATS, {2**40: 4.0}), map_form="SPARSE", max_map=4, rejects=EXCEED)
case("key_negative", Tag.EDGE, X=typed(FLOATS, {-1: 4.0}), map_form="SPARSE", max_map=4, unspecified=EXCEED)
case(
    "key_negative_beside",
    Tag.EDGE,
    X=typed(FLOATS, {-1: 4.0, 0: 1.0}),
    map_form="SPARSE",
    max_map=4,
    unspecified=EXCEED,
)
case("large_to_int64", Tag.EDGE, X=typed(FLOATS, {0: 2.0**62, 1: -(2.0**62)}), cast_to="TO_INT64", cites=DESIRED)
case("too_large_to_int64", Tag.EDGE, X=typed(FLOATS, {0: 2.0**63}), cast_to="TO_INT64", unspecified=DESIRED)
case("no_length", Tag.EDGE, X=typed(FLOATS, {}), map_form="SPARSE", max_map=0, unspecified=LENGTH)
case("float_to_string", X=typed(FLOATS, {0: 0.5}), cast_to="TO_STRING", unspecified=DESIRED)
case("fraction_to_int64", Tag.EDGE, X=typed(FLOATS, {0: 1.5}), cast_to="TO_INT64", unspecified=DESIRED)
case("nan_to_int64", Tag.EDGE, X=typed(FLOATS, {0: np.nan}), cast_to="TO_INT64", unspecified=DESIRED)
case("word_to_float", Tag.EDGE, X=typed(TEXTS, {0: "a"}), unspecified=DESIRED)
case("text_of_a_fraction", Tag.EDGE, X=typed(TEXTS, {0: "0.5"}), unspecified=DESIRED)
case("form", X=typed(FLOATS, FULL), map_form=vary(lower="dense", other="RAGGED", empty=""), rejects=ONE_FORM)
case("cast_to", X=typed(FLOATS, FULL), cast_to=vary(lower="to_float", double="TO_DOUBLE", empty=""), rejects=DESIRED)
case("keys_of_strings", Tag.DTYPE, X=typed("map(string, float)", {"a": 1.0}), rejects=ASCENDING)
case("values_of_int64", Tag.DTYPE, X=typed("map(int64, int64)", {0: 1}), rejects=MAP)
case("tensor", Tag.DTYPE, X=typed("float", ramp(3)), rejects=MAP)
