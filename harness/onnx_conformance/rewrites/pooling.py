# SPDX-License-Identifier: Apache-2.0
"""Rewrites of poolings: fusion with a pad before it, with another pooling, and windows that cover everything."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.rewrites.rewrite import Array, Model, Rewrite, distinct, integers, numbers, scalar

X = numbers(2, 3, 5, 6, seed=1)
NEGATIVE = distinct(2, 3, 4, 5, seed=1) - 20
"""Negative numbers, so a pad of zeros is larger than all of them."""
FLOOR = scalar(float("-inf"))


def _of(
    x: Array, name: str, nodes: str, *outputs: str, since: int = 13, before: int | None = None, **constants: Any
) -> Model:
    return Model(name, nodes, {"x": x}, constants, outputs or ("y",), since, before)


PAD = Rewrite(
    "pad_pool",
    "AveragePool",
    ("onnxoptimizer: fuse_pad_into_pool", "onnxruntime: Pad_Fusion"),
    (
        _of(
            X,
            "counts_the_pad",
            "p = Pad(x, s)\ny = AveragePool<kernel_shape = [2, 3], count_include_pad = 1>(p)",
            s=integers(0, 0, 1, 2, 0, 0, 0, 1),
        ),
        _of(
            X,
            "does_not_count_its_own",
            "p = Pad(x, s)\ny = AveragePool<kernel_shape = [2, 3]>(p)",
            s=integers(0, 0, 1, 2, 0, 0, 0, 1),
        ),
        _of(
            X,
            "and_its_own",
            "p = Pad(x, s)\ny = AveragePool<kernel_shape = [2, 3], pads = [1, 0, 0, 1]>(p)",
            s=integers(0, 0, 1, 1, 0, 0, 0, 1),
        ),
        _of(
            X,
            "and_its_own_counted",
            "p = Pad(x, s)\ny = AveragePool<kernel_shape = [2, 3], pads = [1, 0, 0, 1], count_include_pad = 1>(p)",
            s=integers(0, 0, 1, 1, 0, 0, 0, 1),
        ),
        _of(
            X,
            "value_is_not_zero",
            "p = Pad(x, s, v)\ny = AveragePool<kernel_shape = [2, 3], count_include_pad = 1>(p)",
            s=integers(0, 0, 1, 1, 0, 0, 0, 1),
            v=scalar(3),
        ),
        _of(
            X,
            "value_zero",
            "p = Pad(x, s, v)\ny = AveragePool<kernel_shape = [2, 3], count_include_pad = 1>(p)",
            s=integers(0, 0, 1, 1, 0, 0, 0, 1),
            v=scalar(0),
        ),
        _of(
            X,
            "strides",
            "p = Pad(x, s)\ny = AveragePool<kernel_shape = [2, 3], strides = [2, 2], count_include_pad = 1>(p)",
            s=integers(0, 0, 0, 1, 0, 0, 1, 1),
        ),
        _of(
            X,
            "ceil",
            "p = Pad(x, s)\ny = AveragePool<kernel_shape = [3, 3], strides = [2, 2], ceil_mode = 1>(p)",
            s=integers(0, 0, 0, 1, 0, 0, 1, 0),
        ),
        _of(
            X,
            "negative",
            "p = Pad(x, s)\ny = AveragePool<kernel_shape = [2, 3], count_include_pad = 1>(p)",
            s=integers(0, 0, -1, 1, 0, 0, 0, 0),
        ),
        _of(
            X,
            "reflected",
            'p = Pad<mode = "reflect">(x, s)\ny = AveragePool<kernel_shape = [2, 3], count_include_pad = 1>(p)',
            s=integers(0, 0, 1, 1, 0, 0, 1, 0),
        ),
        _of(
            X,
            "channels",
            "p = Pad(x, s)\ny = AveragePool<kernel_shape = [2, 3], count_include_pad = 1>(p)",
            s=integers(0, 1, 1, 0, 0, 0, 0, 0),
        ),
        _of(
            X,
            "same_upper",
            'p = Pad(x, s)\ny = AveragePool<kernel_shape = [2, 3], auto_pad = "SAME_UPPER", count_include_pad = 1>(p)',
            s=integers(0, 0, 1, 0, 0, 0, 0, 0),
        ),
        _of(
            NEGATIVE,
            "maximum_of_zeros",
            "p = Pad(x, s)\ny = MaxPool<kernel_shape = [2, 2]>(p)",
            s=integers(0, 0, 1, 0, 0, 0, 0, 1),
        ),
        _of(
            NEGATIVE,
            "maximum_of_a_floor",
            "p = Pad(x, s, v)\ny = MaxPool<kernel_shape = [2, 2]>(p)",
            s=integers(0, 0, 1, 0, 0, 0, 0, 1),
            v=FLOOR,
        ),
        _of(
            NEGATIVE,
            "maximum_of_a_finite_floor",
            "p = Pad(x, s, v)\ny = MaxPool<kernel_shape = [2, 2]>(p)",
            s=integers(0, 0, 1, 0, 0, 0, 0, 1),
            v=scalar(-10),
        ),
        _of(
            NEGATIVE,
            "indices",
            "p = Pad(x, s, v)\ny, i = MaxPool<kernel_shape = [2, 2]>(p)",
            "y",
            "i",
            s=integers(0, 0, 1, 0, 0, 0, 0, 1),
            v=FLOOR,
        ),
        _of(
            np.abs(NEGATIVE),
            "maximum_above_zero",
            "p = Pad(x, s)\ny = MaxPool<kernel_shape = [2, 2], pads = [0, 1, 0, 0]>(p)",
            s=integers(0, 0, 1, 0, 0, 0, 0, 1),
        ),
        _of(
            NEGATIVE,
            "dilated_maximum",
            "p = Pad(x, s, v)\ny = MaxPool<kernel_shape = [2, 2], dilations = [1, 2]>(p)",
            s=integers(0, 0, 0, 1, 0, 0, 1, 0),
            v=FLOOR,
        ),
        _of(
            X,
            "norm",
            "p = Pad(x, s)\ny = LpPool<kernel_shape = [2, 3]>(p)",
            since=18,
            s=integers(0, 0, 1, 1, 0, 0, 0, 1),
        ),
    ),
)

WINDOWS = Rewrite(
    "pooling_of_everything_or_one",
    "MaxPool",
    (),
    (
        _of(X, "window_of_one", "a = MaxPool<kernel_shape = [1, 1]>(x)\ny = Neg(a)"),
        _of(X, "window_of_one_by_steps", "a = MaxPool<kernel_shape = [1, 1], strides = [2, 2]>(x)\ny = Neg(a)"),
        _of(X, "average_of_one", "a = AveragePool<kernel_shape = [1, 1]>(x)\ny = Neg(a)"),
        _of(
            X,
            "window_of_everything",
            "a = MaxPool<kernel_shape = [5, 6]>(x)\nb = GlobalMaxPool(x)\ny = Sub(a, b)\nz = Neg(a)",
            "y",
            "z",
        ),
        _of(X, "average_of_everything", "a = AveragePool<kernel_shape = [5, 6]>(x)\ny = Flatten(a)"),
        _of(X, "maximum_of_maximum", "a = MaxPool<kernel_shape = [2, 2]>(x)\ny = MaxPool<kernel_shape = [2, 2]>(a)"),
        _of(
            X,
            "maximum_of_maximum_by_steps",
            "a = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x)\ny = MaxPool<kernel_shape = [2, 2]>(a)",
        ),
        _of(X, "relu_before", "a = Relu(x)\ny = MaxPool<kernel_shape = [2, 2], pads = [1, 0, 0, 1]>(a)"),
        _of(NEGATIVE, "relu_after", "a = MaxPool<kernel_shape = [2, 2]>(x)\ny = Relu(a)"),
        _of(NEGATIVE, "negated_before", "a = Neg(x)\ny = MaxPool<kernel_shape = [2, 2]>(a)"),
    ),
)
