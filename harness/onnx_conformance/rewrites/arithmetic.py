# SPDX-License-Identifier: Apache-2.0
"""Rewrites to shorter calculations: neutral elements, successive constants, reciprocals, conditions, bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.rewrites.rewrite import (
    Array,
    Model,
    Rewrite,
    distinct,
    integers,
    listed,
    numbers,
    positive,
    scalar,
)

X = numbers(2, 3, 4, seed=1)
NAN, INF = float("nan"), float("inf")
INFINITE = listed(INF, -INF, -0.0, 0.0, 1.5, -2.5, 0.5, 3e38)
SPECIAL = np.append(INFINITE, np.float32("nan"))
BYTES = integers(0, 1, 100, 200, 255, dtype="uint8")
SIGNED = integers(-7, -1, 0, 5, 9, dtype="int32")


def _of(x: Array, name: str, nodes: str, *outputs: str, since: int = 13, **constants: Any) -> Model:
    return Model(name, nodes, {"x": x}, constants, outputs or ("y",), since)


UNITS = Rewrite(
    "unit",
    "Mul",
    (
        "onnxoptimizer: eliminate_nop_with_unit",
        "onnxruntime: NoopElimination",
        "onnxscript: mul_by_1_rule",
        "onnxscript: add_0_rule",
        "onnxscript: sub_0_rule",
        "onnxscript: div_by_1_rule",
    ),
    (
        _of(X, "times_one", "a = Mul(x, c)\ny = Neg(a)", c=scalar(1)),
        _of(X, "one_times", "a = Mul(c, x)\ny = Neg(a)", c=listed(1)),
        _of(X, "plus_zero", "a = Add(x, c)\ny = Neg(a)", c=scalar(0)),
        _of(X, "minus_zero", "a = Sub(x, c)\ny = Neg(a)", c=scalar(0)),
        _of(X, "zero_minus", "a = Sub(c, x)\ny = Neg(a)", c=scalar(0)),
        _of(X, "by_one", "a = Div(x, c)\ny = Neg(a)", c=scalar(1)),
        _of(X, "one_by", "a = Div(c, x)\ny = Neg(a)", c=scalar(1)),
        _of(X, "to_the_first", "a = Pow(x, c)\ny = Neg(a)", c=scalar(1)),
        _of(positive(3, 4), "to_the_zeroth", "a = Pow(x, c)\ny = Neg(a)", c=scalar(0)),
        _of(X, "one_to_the", "a = Pow(c, x)\ny = Neg(a)", c=scalar(1)),
        _of(X, "nearly_one", "a = Mul(x, c)\ny = Mul(a, d)", c=scalar(1.0078125), d=scalar(64)),
        _of(X, "some_ones", "a = Mul(x, c)\ny = Neg(a)", c=listed(1, 1, 1, 2)),
        _of(X, "first_is_one", "a = Mul(x, c)\ny = Neg(a)", c=listed(1, 2, 3, 4)),
        _of(X, "ones_of_the_shape", "a = Mul(x, c)\ny = Neg(a)", c=np.ones((2, 3, 4), np.float32)),
        _of(
            numbers(1, 3, 1, seed=2), "ones_that_repeat", "a = Mul(x, c)\ny = Neg(a)", c=np.ones((2, 1, 4), np.float32)
        ),
        _of(X, "ones_of_more_axes", "a = Mul(x, c)\ny = Neg(a)", c=np.ones((1, 1, 1, 1), np.float32)),
        _of(numbers(seed=3), "list_makes_an_axis", "a = Add(x, c)\ny = Neg(a)", c=listed(0)),
        _of(np.zeros((0, 3), np.float32), "nothing", "a = Mul(x, c)\ny = Neg(a)", c=listed(1, 1, 1)),
        _of(listed(-0.0, 0.0, 1), "zeros_plus_zero", "a = Add(x, c)\ny = Neg(a)", c=scalar(0)),
        _of(integers(-3, 5), "int64_times_one", "a = Mul(x, c)\ny = Add(a, x)", c=scalar(1, "int64")),
        _of(SIGNED, "int32_by_one", "a = Div(x, c)\ny = Add(a, x)", c=scalar(1, "int32")),
        _of(numbers(3, 4, dtype="float16"), "float16_plus_zero", "a = Add(x, c)\ny = Neg(a)", c=scalar(0, "float16")),
        _of(
            numbers(3, 4, dtype="float64"),
            "double_minus_zero",
            "a = Sub(x, c)\ny = Neg(a)",
            c=listed(0, dtype="float64"),
        ),
        _of(
            listed(1, 0, 1).astype(bool),
            "and_true",
            "a = And(x, c)\nb = Or(a, d)\nz = Xor(b, d)\ny = Not(z)",
            c=np.array(True),
            d=np.array(False),
        ),
        _of(
            listed(1, 0, 1).astype(bool),
            "and_false",
            "y = And(x, c)\nz = Or(x, d)\nw = Xor(x, d)",
            "y",
            "z",
            "w",
            c=np.array(False),
            d=np.array(True),
        ),
    ),
)

ANNIHILATORS = Rewrite(
    "zero_or_itself",
    "Sub",
    (),
    (
        _of(SPECIAL, "times_zero", "a = Mul(x, c)\ny = Sub(a, d)", c=scalar(0), d=scalar(1)),
        _of(SPECIAL, "itself_less_itself", "a = Sub(x, x)\ny = Add(a, d)", d=scalar(1)),
        _of(SPECIAL, "itself_by_itself", "a = Div(x, x)\ny = Sub(a, d)", d=scalar(3)),
        _of(SPECIAL, "equal_to_itself", "a = Equal(x, x)\nb = Not(a)\ny = Cast<to = 1>(b)"),
        _of(SPECIAL, "not_less_than_itself", "a = Less(x, x)\nb = LessOrEqual(x, x)\ny = Or(a, b)", since=16),
        _of(SPECIAL, "added_and_taken", "a = Add(x, c)\ny = Sub(a, c)", c=scalar(1)),
        _of(
            listed(1, 3e8, -7, 1e10),
            "large_added_and_taken",
            "a = Add(x, c)\nb = Sub(a, c)\ny = Round(b)",
            c=scalar(4294967296),
        ),
        _of(
            listed(0, -0.0, np.inf, -np.inf, np.nan, 3),
            "multiplied_and_divided",
            "a = Mul(x, c)\ny = Div(a, c)",
            c=scalar(4),
        ),
        _of(SPECIAL, "zero_by", "a = Div(c, x)\ny = Add(a, d)", c=scalar(0), d=scalar(1)),
        _of(SIGNED, "of_integers", "a = Sub(x, x)\nb = Mul(x, c)\ny = Add(a, b)", c=scalar(0, "int32")),
        _of(
            numbers(1, 3, seed=1),
            "zeros_of_a_larger_shape",
            "a = Mul(x, c)\ny = Sub(a, x)",
            c=np.zeros((2, 1), np.float32),
        ),
    ),
)

CONSTANTS_IN_A_ROW = Rewrite(
    "constants_in_a_row",
    "Add",
    ("onnxslim: FusionConvAdd", "onnxslim: FusionConvMul"),
    (
        _of(X, "added_twice", "a = Add(x, c)\ny = Add(a, d)", c=scalar(1.5), d=scalar(-0.25)),
        _of(X, "multiplied_twice", "a = Mul(x, c)\ny = Mul(d, a)", c=scalar(1.5), d=listed(1, -2, 3, 0.5)),
        _of(X, "added_then_multiplied", "a = Add(x, c)\ny = Mul(a, d)", c=listed(1, 2, 3, 4), d=numbers(3, 1, seed=2)),
        _of(X, "multiplied_then_added", "a = Mul(x, c)\ny = Add(a, d)", c=listed(1, 2, 3, 4), d=numbers(3, 1, seed=2)),
        _of(X, "taken_twice", "a = Sub(x, c)\ny = Sub(d, a)", c=scalar(1.5), d=listed(1, -2, 3, 0.5)),
        _of(X, "divided_twice", "a = Div(x, c)\ny = Div(d, a)", c=scalar(4), d=scalar(2)),
        _of(
            X, "axes_added_by_one", "a = Add(x, c)\ny = Add(a, d)", c=numbers(1, 1, 1, 1, seed=3), d=numbers(4, seed=2)
        ),
        _of(
            X,
            "shapes_of_constants_cross",
            "a = Mul(x, c)\ny = Mul(a, d)",
            c=numbers(2, 1, 1, seed=3),
            d=numbers(3, 1, seed=2),
        ),
        _of(
            integers(3, 100, 250, dtype="uint8"),
            "uint8",
            "a = Sub(x, c)\ny = Add(a, d)",
            c=scalar(3, "uint8"),
            d=scalar(5, "uint8"),
            since=14,
        ),
        _of(SIGNED, "int32_division", "a = Div(x, c)\ny = Mul(a, c)", c=scalar(2, "int32")),
        _of(SIGNED, "int32_divided_twice", "a = Div(x, c)\ny = Div(a, d)", c=scalar(2, "int32"), d=scalar(-2, "int32")),
        _of(integers(2**62, -5), "int64_multiplied_and_divided", "a = Mul(x, c)\ny = Div(a, c)", c=integers(1, 3)),
        _of(X, "both_orders", "a = Add(c, x)\nb = Mul(a, x)\ny = Add(b, c)", c=numbers(3, 4, seed=2)),
    ),
)

DIVIDED_FACTOR = Rewrite(
    "reciprocal_times",
    "Div",
    ("onnxruntime: DivMulFusion",),
    (
        _of(positive(3, 4), "one_by_times", "r = Div(c, x)\ny = Mul(r, z)", c=scalar(1), z=numbers(3, 4, seed=2)),
        _of(positive(3, 4), "times_one_by", "r = Div(c, x)\ny = Mul(z, r)", c=scalar(1), z=numbers(4, seed=2)),
        _of(positive(3, 4), "one_element", "r = Div(c, x)\ny = Mul(r, z)", c=listed(1), z=numbers(2, 1, 1, seed=2)),
        _of(
            positive(3, 4),
            "one_of_more_axes",
            "r = Div(c, x)\ny = Mul(r, z)",
            c=np.ones((1, 1, 1), np.float32),
            z=numbers(4, seed=2),
        ),
        _of(positive(3, 4), "ones", "r = Div(c, x)\ny = Mul(r, z)", c=np.ones(4, np.float32), z=numbers(3, 1, seed=2)),
        _of(
            positive(1, 4),
            "ones_that_repeat",
            "r = Div(c, x)\ny = Mul(r, z)",
            c=np.ones((3, 1), np.float32),
            z=scalar(2),
        ),
        _of(positive(3, 4), "two_by_times", "r = Div(c, x)\ny = Mul(r, z)", c=scalar(2), z=numbers(3, 4, seed=2)),
        _of(positive(3, 4), "by_one_times", "r = Div(x, c)\ny = Mul(r, z)", c=scalar(1), z=numbers(3, 4, seed=2)),
        _of(positive(3, 4), "times_itself", "r = Div(c, x)\ny = Mul(r, r)", c=scalar(1)),
        _of(positive(3, 4), "times_its_divisor", "r = Div(c, x)\ny = Mul(r, x)", c=scalar(1)),
        _of(positive(3, 4), "then_divided", "r = Div(c, x)\ny = Div(z, r)", c=scalar(1), z=numbers(3, 4, seed=2)),
        _of(
            integers(1, 2, 3, -1, dtype="int32"),
            "of_integers",
            "r = Div(c, x)\ny = Mul(r, z)",
            c=scalar(1, "int32"),
            z=integers(6, 7, 8, 9, dtype="int32"),
        ),
        _of(integers(1, 2, 3), "of_int64", "r = Div(c, x)\ny = Mul(r, z)", c=scalar(1, "int64"), z=scalar(10, "int64")),
        _of(
            INFINITE,
            "of_infinities_and_zeros",
            "r = Div(c, x)\ny = Mul(r, z)",
            c=scalar(1),
            z=listed(1, 2, INF, 0, 1, 1, 1, 4e9),
        ),
        _of(
            positive(3, 4, dtype="float16"),
            "float16",
            "r = Div(c, x)\ny = Mul(r, z)",
            c=scalar(1, "float16"),
            z=numbers(4, seed=2, dtype="float16"),
        ),
        _of(
            positive(3, 4, dtype="float64"),
            "double",
            "r = Div(c, x)\ny = Mul(r, z)",
            c=scalar(1, "float64"),
            z=numbers(4, seed=2, dtype="float64"),
        ),
    ),
)

MASK = np.array([[True, False, True, False], [False, False, True, True], [True, True, False, True]])


def _where(name: str, nodes: str, *outputs: str, c: Array = MASK, **constants: Any) -> Model:
    """Return a model with the condition c, the inputs a and b, and constants."""
    taken = nodes.replace("(", " ").replace(")", " ").replace(",", " ").split()
    values = {"c": c, "a": numbers(3, 4, seed=1), "b": numbers(3, 4, seed=2), **constants}
    inputs = {key: value for key, value in values.items() if key in "abc" and key in taken}
    return Model(
        name, nodes, inputs, {key: value for key, value in constants.items() if key not in "ab"}, outputs or ("y",)
    )


WHERE_NOT = Rewrite(
    "where_of_not",
    "Where",
    ("onnxoptimizer: rewrite_where", "onnxruntime: NotWhereFusion"),
    (
        _where("plain", "n = Not(c)\ny = Where(n, a, b)"),
        _where("not_not", "m = Not(c)\nn = Not(m)\ny = Where(n, a, b)"),
        _where("two", "n = Not(c)\ny = Where(n, a, b)\nz = Where(n, b, a)", "y", "z"),
        _where("two_of_condition_too", "n = Not(c)\ny = Where(n, a, b)\nz = Where(c, b, a)", "y", "z"),
        _where("used_otherwise", "n = Not(c)\nw = Where(n, a, b)\nf = Cast<to = 1>(n)\ny = Sub(w, f)"),
        _where("output", "n = Not(c)\ny = Where(n, a, b)", "y", "n"),
        _where("condition_repeats", "n = Not(c)\ny = Where(n, a, b)", c=MASK[:, 1:2]),
        _where("chosen_is_condition", "n = Not(c)\ny = Where(n, n, c)\nz = Cast<to = 1>(y)", "y", "z"),
        _where("constant", "n = Not(c)\ny = Where(n, a, k)", k=listed(-INF, 0, 5, NAN)),
        _where("constant_condition", "n = Not(k)\ny = Where(n, a, b)", k=np.array([True, False, False, True])),
        _where(
            "both_alike", "n = Not(c)\ny = Where(n, a, a)\nz = Where(k, b, b)", "y", "z", k=np.ones((2, 1, 1), bool)
        ),
        _where(
            "of_a_comparison",
            "l = Less(a, b)\nn = Not(l)\ny = Where(n, a, b)\nz = Where(c, y, a)",
            "z",
            a=listed(NAN, 1, 2, 3),
            b=listed(1, 1, 5, NAN),
        ),
        _where("mask_times", "f = Cast<to = 1>(c)\nm = Mul(a, f)\ny = Where(c, m, b)", a=listed(1, NAN, INF, -2)),
    ),
)

DOUBLE_NOT = Rewrite(
    "not_of_not",
    "Not",
    ("onnxoptimizer: eliminate_consecutive_idempotent_ops",),
    (
        Model("twice", "a = Not(c)\ny = Not(a)", {"c": MASK}),
        Model("thrice", "a = Not(c)\nb = Not(a)\ny = Not(b)", {"c": MASK}),
        Model(
            "of_less_with_nan",
            "a = Less(x, z)\ny = Not(a)\nw = GreaterOrEqual(x, z)",
            {"x": SPECIAL, "z": SPECIAL[::-1].copy()},
            {},
            ("y", "w"),
            since=16,
        ),
        Model("of_equal_with_nan", "a = Equal(x, x)\ny = Not(a)", {"x": SPECIAL}),
        Model("of_and", "a = Not(c)\nb = Not(d)\ne = And(a, b)\ny = Not(e)", {"c": MASK, "d": MASK[::-1].copy()}),
    ),
)


FINITE = listed(0.75, -0.0, 0.0, 1.5, -2.5, 0.5, -1.25)


def _bounds(
    name: str, nodes: str, x: Array = FINITE, *, since: int = 13, before: int | None = None, **bounds: float
) -> Model:
    """Return a model whose constants have the type of its input."""
    return Model(
        name, nodes, {"x": x}, {key: np.array(value, x.dtype) for key, value in bounds.items()}, ("y",), since, before
    )


RELU_CLIP = Rewrite(
    "relu_and_clip",
    "Relu",
    ("onnxruntime: FuseReluClip", "onnxscript: successive_clip_relu_rule", "onnxscript: successive_relu_clip_rule"),
    (
        _bounds("low_negative", "a = Relu(x)\ny = Clip(a, l, h)", INFINITE, l=-1, h=6),
        _bounds("low_positive", "a = Relu(x)\ny = Clip(a, l, h)", INFINITE, l=0.25, h=1),
        _bounds("high_negative", "a = Relu(x)\ny = Clip(a, l, h)", INFINITE, l=-3, h=-1),
        _bounds("only_low", "a = Relu(x)\ny = Clip(a, l)", l=-1),
        _bounds("only_high", "a = Relu(x)\ny = Clip(a, , h)", h=1),
        _bounds("only_high_negative", "a = Relu(x)\ny = Clip(a, , h)", h=-1),
        _bounds("no_bounds", "a = Relu(x)\ny = Clip(a)"),
        _bounds("clip_first", "a = Clip(x, l, h)\ny = Relu(a)", INFINITE, l=-2, h=1),
        _bounds("clip_first_high_negative", "a = Clip(x, l, h)\ny = Relu(a)", INFINITE, l=-2, h=-1),
        _bounds("clip_first_only_high", "a = Clip(x, , h)\ny = Relu(a)", h=1),
        _bounds("clip_first_only_low", "a = Clip(x, l)\ny = Relu(a)", l=-1),
        _bounds("clip_first_without_bounds", "a = Clip(x)\ny = Relu(a)"),
        _bounds("attributes", "a = Relu(x)\ny = Clip<min = -1.0, max = 1.0>(a)", since=7, before=11),
        _bounds("attribute_high", "a = Relu(x)\ny = Clip<max = 1.0>(a)", since=7, before=11),
        _bounds("float16", "a = Relu(x)\ny = Clip(a, l, h)", INFINITE[:7].astype("float16"), l=-1, h=6),
        _bounds("float16_low_positive", "a = Relu(x)\ny = Clip(a, l)", FINITE.astype("float16"), l=0.5),
        _bounds("double", "a = Relu(x)\ny = Clip(a, l, h)", INFINITE.astype("float64"), l=-1, h=6),
        _bounds("double_only_high", "a = Relu(x)\ny = Clip(a, , h)", FINITE.astype("float64"), h=1),
        _bounds("int8", "a = Relu(x)\ny = Clip(a, l, h)", integers(-9, 0, 3, 90, dtype="int8"), l=-1, h=6, since=14),
        Model("computed_low", "a = Relu(x)\nl = Neg(k)\ny = Clip(a, l, k)", {"x": X}, {"k": scalar(1)}),
    ),
)

CLIP_CLIP = Rewrite(
    "clip_of_clip",
    "Clip",
    ("onnxscript: successive_clip_rule",),
    (
        _bounds("narrower", "a = Clip(x, l, h)\ny = Clip(a, m, k)", INFINITE, l=-2, h=2, m=-1, k=1),
        _bounds("wider", "a = Clip(x, l, h)\ny = Clip(a, m, k)", INFINITE, l=-1, h=1, m=-2, k=2),
        _bounds("overlapping", "a = Clip(x, l, h)\ny = Clip(a, m, k)", INFINITE, l=-2, h=0.25, m=-1, k=2),
        _bounds("apart", "a = Clip(x, l, h)\ny = Clip(a, m, k)", INFINITE, l=-2, h=-1, m=1, k=2),
        _bounds("apart_below", "a = Clip(x, l, h)\ny = Clip(a, m, k)", INFINITE, l=1, h=2, m=-2, k=-1),
        _bounds("low_then_high", "a = Clip(x, l)\ny = Clip(a, , k)", l=-1, k=1),
        _bounds("high_then_low", "a = Clip(x, , h)\ny = Clip(a, m)", h=1, m=-1),
        _bounds("low_above_high", "a = Clip(x, l)\ny = Clip(a, , k)", l=1, k=-1),
        _bounds("high_below_low", "a = Clip(x, , h)\ny = Clip(a, m)", h=-1, m=1),
        _bounds("without_bounds", "a = Clip(x)\ny = Clip(a, m, k)", m=-1, k=1),
        _bounds("int32", "a = Clip(x, l, h)\ny = Clip(a, m, k)", SIGNED, l=-5, h=5, m=-3, k=7),
        _bounds("float16", "a = Clip(x, l, h)\ny = Clip(a, m)", FINITE.astype("float16"), l=-2, h=1, m=-1),
        _bounds("thrice", "a = Clip(x, l, h)\nb = Clip(a, m, k)\ny = Clip(b, , l)", l=-2, h=2, m=-1, k=1),
    ),
)


def _minmax(name: str, nodes: str, x: Array = X, **constants: Any) -> Model:
    return Model(name, nodes, {"x": x}, {key: np.asarray(value, x.dtype) for key, value in constants.items()})


MIN_MAX = Rewrite(
    "min_and_max",
    "Max",
    ("onnxscript: min_min_rule", "onnxscript: max_max_rule", "onnxscript: min_max_rule", "onnxscript: max_min_rule"),
    (
        _minmax("min_of_max", "a = Max(x, l)\ny = Min(a, h)", l=-1, h=1),
        _minmax("max_of_min", "a = Min(x, h)\ny = Max(a, l)", l=-1, h=1),
        _minmax("min_of_max_crossed", "a = Max(x, l)\ny = Min(a, h)", l=1, h=-1),
        _minmax("max_of_min_crossed", "a = Min(x, h)\ny = Max(a, l)", l=1, h=-1),
        _minmax("min_of_min", "a = Min(x, h)\ny = Min(a, k)", h=1, k=-0.5),
        _minmax("max_of_max", "a = Max(l, x)\ny = Max(m, a)", l=-1, m=0.5),
        _minmax("lists", "a = Max(x, l)\ny = Min(a, h)", l=[-1, -2, 0, 1], h=[1, 0.5, 2, 1.5]),
        _minmax("one_element", "a = Max(x, l)\ny = Min(a, h)", l=[-1], h=[1]),
        _minmax("bounds_of_more_axes", "a = Max(x, l)\ny = Min(a, h)", l=[[[[-1]]]], h=[[1]]),
        _minmax("bounds_by_row", "a = Max(x, l)\ny = Max(a, m)", l=[[-1], [0.5], [1]], m=[[[-0.5]], [[0.25]]]),
        _minmax("several_operands", "a = Max(x, l, m)\ny = Min(a, h, k)", l=-1, m=[-2, 0.5, 1, -1], h=1, k=0.75),
        _minmax("one_operand", "a = Max(x)\ny = Min(a)"),
        _minmax("of_itself", "a = Max(x, l)\ny = Min(a, x)", l=-1),
        _minmax("int32", "a = Max(x, l)\ny = Min(a, h)", SIGNED, l=-3, h=6),
        _minmax(
            "int64", "a = Min(x, h)\ny = Max(a, l)", integers(-(2**53) - 1, 2**53 + 1, 5), l=-(2**53) - 1, h=2**53 + 1
        ),
        _minmax("uint8", "a = Max(x, l)\ny = Min(a, h)", BYTES, l=50, h=201),
        _minmax("float16", "a = Max(x, l)\ny = Min(a, h)", numbers(3, 4, dtype="float16"), l=-1, h=1),
        _minmax("double", "a = Min(x, h)\ny = Min(a, k)", numbers(3, 4, dtype="float64"), h=1, k=-0.5),
    ),
)

POWERS = Rewrite(
    "power_as_product",
    "Pow",
    (),
    (
        _of(X, "square", "a = Pow(x, c)\ny = Neg(a)", c=scalar(2)),
        _of(X, "cube", "a = Pow(x, c)\ny = Neg(a)", c=scalar(3)),
        _of(positive(3, 4), "root", "a = Pow(x, c)\ny = Neg(a)", c=scalar(0.5)),
        _of(np.abs(FINITE), "root_of_zeros", "a = Pow(x, c)\ny = Neg(a)", c=scalar(0.5)),
        _of(positive(3, 4), "reciprocal", "a = Pow(x, c)\ny = Neg(a)", c=scalar(-1)),
        _of(X, "squares_of_a_list", "a = Pow(x, c)\ny = Neg(a)", c=listed(2, 2, 2, 3)),
        _of(X, "square_adds_axes", "a = Pow(x, c)\ny = Neg(a)", c=np.full((1, 1, 1, 1), 2, np.float32)),
        _of(X, "exponent_of_integers", "a = Pow(x, c)\ny = Neg(a)", c=scalar(2, "int64")),
        _of(SIGNED, "base_of_integers", "y = Pow(x, c)\nz = Neg(y)", "y", "z", c=scalar(2, "float32")),
        _of(X, "two_to_the", "a = Pow(c, x)\ny = Neg(a)", c=scalar(2)),
        _of(X, "power_of_power", "a = Pow(x, c)\ny = Pow(a, d)", c=scalar(2), d=scalar(0.5)),
        _of(X, "root_of_square", "a = Mul(x, x)\ny = Sqrt(a)"),
        _of(positive(3, 4), "square_of_root", "a = Sqrt(x)\ny = Mul(a, a)"),
        _of(positive(3, 4), "logarithm_of_exponential", "a = Log(x)\nb = Exp(a)\ny = Neg(b)"),
    ),
)

Y = distinct(2, 3, 4, seed=1)

MONOTONE = Rewrite(
    "argmax_of_monotone",
    "ArgMax",
    ("onnxoptimizer: eliminate_nop_monotone_argmax",),
    (
        _of(Y, "softmax", "a = Softmax<axis = 1>(x)\ny = ArgMax<axis = 1>(a)"),
        _of(Y, "softmax_of_other_axis", "a = Softmax<axis = 2>(x)\ny = ArgMax<axis = 1>(a)"),
        _of(Y, "log_softmax", "a = LogSoftmax<axis = -1>(x)\ny = ArgMax<axis = 2, keepdims = 0>(a)"),
        _of(Y, "log_softmax_of_other_axis", "a = LogSoftmax<axis = 0>(x)\ny = ArgMax<axis = 2, keepdims = 0>(a)"),
        _of(Y, "exponential", "a = Exp(x)\ny = ArgMax<axis = 1>(a)"),
        _of(Y + 10, "logarithm", "a = Log(x)\ny = ArgMax<axis = -1, select_last_index = 1>(a)"),
        _of(Y + 10, "root", "a = Sqrt(x)\ny = ArgMax(a)"),
        _of(Y + 10, "reciprocal", "a = Reciprocal(x)\ny = ArgMax(a)"),
        _of(Y, "negated", "a = Neg(x)\ny = ArgMax<axis = 1>(a)"),
        _of(Y, "absolute", "a = Abs(x)\ny = ArgMax<axis = 1, select_last_index = 1>(a)"),
        _of(listed(1, 200, 300, 100), "exponential_overflows", "a = Exp(x)\ny = ArgMax(a)"),
        _of(listed(-5, -1, -3), "relu_makes_all_equal", "a = Relu(x)\ny = ArgMax(a)"),
        _of(listed(1, 1.25, 1.5), "floor_makes_all_equal", "a = Floor(x)\ny = ArgMax(a)"),
    ),
)
