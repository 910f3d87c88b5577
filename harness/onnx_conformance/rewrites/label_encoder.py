# SPDX-License-Identifier: Apache-2.0
"""Rewrites of label encoders: two successive ones become one."""

from __future__ import annotations

import numpy as np

from onnx_conformance.rewrites.rewrite import Array, Model, Rewrite, integers, listed

WORDS = np.array([["b", "a"], ["z", "c"], ["", "a"]], dtype=object)
NUMBERS = integers(3, 1, 7, -1, 2)


def _of(name: str, x: Array, *maps: str, last: str = "") -> Model:
    """Return successive label encoders, each defined by its attributes."""
    names = ["x", *"abcd"[: len(maps) - (not last)], *([] if last else ["y"])]
    nodes = [
        f"{result} = ai.onnx.ml.LabelEncoder<{attributes}>({taken})"
        for attributes, taken, result in zip(maps, names, names[1:], strict=False)
    ]
    return Model(name, "\n".join([*nodes, *([last] if last else [])]), {"x": x})


LETTERS = 'keys_strings = ["a", "b", "c"], values_int64s = [3, 1, 2]'
BACK = 'keys_int64s = [1, 2, 3], values_strings = ["one", "two", "three"]'
IN_A_ROW = Rewrite(
    "label_encoders_in_a_row",
    "ai.onnx.ml/LabelEncoder",
    ("onnxruntime: LabelEncoderFusion",),
    (
        _of("words_to_words", WORDS, LETTERS, BACK),
        _of("default_is_a_key", WORDS, LETTERS + ", default_int64 = 2", BACK),
        _of("default_of_both", WORDS, LETTERS + ", default_int64 = 9", BACK + ', default_string = "none"'),
        _of(
            "some_values_are_no_keys",
            WORDS,
            LETTERS,
            'keys_int64s = [1, 5], values_strings = ["one", "five"], default_string = "none"',
        ),
        _of("default_minus_one_is_a_key", WORDS, LETTERS, 'keys_int64s = [1, -1], values_strings = ["one", "other"]'),
        _of(
            "keys_of_the_second_only",
            NUMBERS,
            "keys_int64s = [1, 2], values_int64s = [2, 1]",
            "keys_int64s = [1, 2, 3], values_int64s = [10, 20, 30]",
        ),
        _of(
            "swap_twice",
            NUMBERS,
            "keys_int64s = [1, 2], values_int64s = [2, 1]",
            "keys_int64s = [1, 2], values_int64s = [2, 1]",
        ),
        _of(
            "thrice",
            WORDS,
            LETTERS,
            "keys_int64s = [1, 2, 3], values_floats = [0.5, 1.5, 2.5]",
            "keys_floats = [0.5, 2.5], values_int64s = [7, 8], default_int64 = 5",
        ),
        _of(
            "numbers_by_nan",
            listed(1, float("nan"), 2),
            "keys_floats = [1.0, 2.0], values_floats = [4.0, 5.0], default_float = 0.25",
            "keys_floats = [4.0, 0.25], values_int64s = [6, 7]",
        ),
        _of(
            "number_between",
            NUMBERS,
            "keys_int64s = [1, 2, 3], values_int64s = [4, 5, 6], default_int64 = 4",
            "keys_int64s = [4, 5], values_int64s = [1, 2], default_int64 = 0",
            last="y = Neg(b)",
        ),
        _of("one", NUMBERS, "keys_int64s = [1, 2, 3], values_int64s = [1, 2, 3]", last="y = Neg(a)"),
        _of(
            "one_that_loses_others",
            NUMBERS,
            "keys_int64s = [1, 2, 3], values_int64s = [1, 2, 3], default_int64 = 0",
            last="y = Neg(a)",
        ),
    ),
)
