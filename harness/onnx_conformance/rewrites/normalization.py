# SPDX-License-Identifier: Apache-2.0
"""Rewrites to one normalization: of mean and variance, of root mean square, with additions before and after."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.rewrites.rewrite import Array, Model, Rewrite, integers, listed, numbers, positive, scalar

X = numbers(2, 3, 8, seed=1)
SCALE, BIAS = positive(8, seed=2), numbers(8, seed=3)
EPSILON = scalar(0.015625)

LAYER = """m = ReduceMean(x, r)
d = Sub(x, m)
q = Pow(d, two)
v = ReduceMean(q, r)
e = Add(v, eps)
s = Sqrt(e)
n = Div(d, s)
g = Mul(n, scale)
y = Add(g, bias)"""
ROOT_MEAN_SQUARE = """q = Pow(x, two)
v = ReduceMean(q, r)
e = Add(v, eps)
s = Sqrt(e)
n = Div(x, s)
y = Mul(n, scale)"""


def _layer(
    name: str,
    nodes: str = LAYER,
    *outputs: str,
    x: Array = X,
    since: int = 18,
    before: int | None = None,
    **others: Any,
) -> Model:
    known = {"two": scalar(2), "eps": EPSILON, "scale": SCALE, "bias": BIAS, "r": integers(-1), **others}
    words = set(nodes.replace("(", " ").replace(")", " ").replace(",", " ").split())
    constants = {key: np.asarray(value) for key, value in known.items() if key in words}
    return Model(name, nodes, {"x": x}, constants, outputs or ("y",), since, before)


def _other(nodes: str, *changes: str) -> str:
    """Return nodes with one text replaced by another: old, new, old, new."""
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        assert old in nodes  # noqa: S101 - a change without an effect is a mistake here
        nodes = nodes.replace(old, new)
    return nodes


LAYER_NORMALIZATION = Rewrite(
    "layer_normalization",
    "ReduceMean",
    (
        "onnxruntime: LayerNormFusion",
        "onnxscript: LayerNormFusion",
        "onnxscript: LayerNormBiasFusion",
        "onnxruntime.transformers: layer_norm",
    ),
    (
        _layer("last_axis"),
        _layer("axis_from_the_front", r=integers(2)),
        _layer("two_axes", r=integers(1, 2), scale=positive(3, 8, seed=2), bias=numbers(3, 8, seed=3)),
        _layer("two_axes_scale_of_one", r=integers(1, 2)),
        _layer("middle_axis", r=integers(1)),
        _layer("axes_differ", _other(LAYER, "ReduceMean(q, r)", "ReduceMean(q, t)"), t=integers(1)),
        _layer("squared_by_product", _other(LAYER, "Pow(d, two)", "Mul(d, d)")),
        _layer(
            "cubed",
            _other(LAYER, "Pow(d, two)", "Pow(a, two)", "d = Sub(x, m)", "d = Sub(x, m)\na = Abs(d)"),
            two=scalar(3),
        ),
        _layer("square_of_x", _other(LAYER, "Pow(d, two)", "Pow(x, two)")),
        _layer("difference_swapped", _other(LAYER, "Sub(x, m)", "Sub(m, x)")),
        _layer(
            "difference_twice",
            _other(LAYER, "Pow(d, two)", "Pow(f, two)", "d = Sub(x, m)", "d = Sub(x, m)\nf = Sub(x, m)"),
        ),
        _layer("x_divided", _other(LAYER, "Div(d, s)", "Div(x, s)")),
        _layer("scale_by_row", scale=positive(3, 1, seed=2)),
        _layer("scale_is_a_scalar", scale=scalar(1.5), bias=scalar(0.25)),
        _layer("bias_of_more_axes", bias=numbers(1, 1, 1, 8, seed=3)),
        _layer("scale_that_repeats", x=numbers(1, 3, 8, seed=1), scale=positive(2, 1, 8, seed=2)),
        _layer("one_element_is_repeated", x=numbers(2, 3, 1, seed=1)),
        _layer("bias_each_element", bias=numbers(2, 3, 8, seed=3)),
        _layer("bias_by_row", bias=numbers(3, 1, seed=3)),
        _layer("without_bias", _other(LAYER, "g = Mul", "y = Mul", "\ny = Add(g, bias)", "")),
        _layer("without_scale", _other(LAYER, "\ng = Mul(n, scale)\ny = Add(g, bias)", "", "n = Div", "y = Div")),
        _layer("epsilon_large", eps=scalar(2)),
        _layer("epsilon_of_a_list", eps=listed(0.5)),
        _layer("epsilon_by_element", eps=positive(3, 1, seed=5)),
        _layer("epsilon_negative", eps=scalar(-0.0625)),
        _layer(
            "mean_dropped", _other(LAYER, "ReduceMean(x, r)", "ReduceMean<keepdims = 0>(x, r)"), x=numbers(8, 8, seed=1)
        ),
        _layer(
            "axes_as_attribute",
            _other(
                LAYER, "ReduceMean(x, r)", "ReduceMean<axes = [-1]>(x)", "ReduceMean(q, r)", "ReduceMean<axes = [2]>(q)"
            ),
            since=13,
            before=18,
        ),
        _layer(
            "casts_around_the_square",
            _other(
                LAYER,
                "q = Pow(d, two)",
                "c = Cast<to = 11>(d)\nq = Pow(c, two)",
                "e = Add",
                "w = Cast<to = 1>(v)\ne = Add",
                "Add(v, eps)",
                "Add(w, eps)",
            ),
        ),
        _layer(
            "float16_in_float",
            _other(
                LAYER,
                "m = Red",
                "c = Cast<to = 1>(x)\nm = Red",
                "ReduceMean(x, r)",
                "ReduceMean(c, r)",
                "Sub(x, m)",
                "Sub(c, m)",
                "y = Add(g, bias)",
                "f = Add(g, bias)\ny = Cast<to = 10>(f)",
            ),
            x=numbers(2, 3, 8, seed=1, dtype="float16"),
        ),
        _layer(
            "double",
            x=X.astype("float64"),
            two=scalar(2, "float64"),
            eps=scalar(0.5, "float64"),
            scale=SCALE.astype("float64"),
            bias=BIAS.astype("float64"),
        ),
        _layer("normalized_taken_too", LAYER + "\nz = Neg(n)", "y", "z"),
    ),
)

SIMPLIFIED = Rewrite(
    "root_mean_square_normalization",
    "ReduceMean",
    ("onnxruntime: SimplifiedLayerNormFusion", "onnxscript: RmsNormFusion1", "onnxscript: RmsNormFusion2"),
    (
        _layer("quotient", ROOT_MEAN_SQUARE),
        _layer("scale_first", _other(ROOT_MEAN_SQUARE, "Mul(n, scale)", "Mul(scale, n)")),
        _layer("reciprocal", _other(ROOT_MEAN_SQUARE, "n = Div(x, s)", "i = Reciprocal(s)\nn = Mul(x, i)")),
        _layer("one_by", _other(ROOT_MEAN_SQUARE, "n = Div(x, s)", "i = Div(one, s)\nn = Mul(i, x)"), one=scalar(1)),
        _layer("two_by", _other(ROOT_MEAN_SQUARE, "n = Div(x, s)", "i = Div(one, s)\nn = Mul(i, x)"), one=scalar(2)),
        _layer("middle_axis", ROOT_MEAN_SQUARE, r=integers(1)),
        _layer("two_axes", ROOT_MEAN_SQUARE, r=integers(1, 2), scale=positive(3, 8, seed=2)),
        _layer("two_axes_scale_of_one", ROOT_MEAN_SQUARE, r=integers(-2, -1)),
        _layer("scale_by_row", ROOT_MEAN_SQUARE, scale=positive(3, 1, seed=2)),
        _layer("scale_of_more_axes", ROOT_MEAN_SQUARE, scale=positive(1, 1, 1, 8, seed=2)),
        _layer("scale_is_a_scalar", ROOT_MEAN_SQUARE, scale=scalar(1.5)),
        _layer("sum_of_squares", _other(ROOT_MEAN_SQUARE, "ReduceMean", "ReduceSum")),
        _layer("product_as_square", _other(ROOT_MEAN_SQUARE, "Pow(x, two)", "Mul(x, x)")),
        _layer(
            "cube_of_absolute",
            _other(ROOT_MEAN_SQUARE, "q = Pow(x, two)", "a = Abs(x)\nq = Pow(a, two)"),
            two=scalar(3),
        ),
        _layer(
            "epsilon_after_the_root",
            _other(ROOT_MEAN_SQUARE, "e = Add(v, eps)\ns = Sqrt(e)", "e = Sqrt(v)\ns = Add(e, eps)"),
            eps=scalar(0.5),
        ),
        _layer("epsilon_by_element", ROOT_MEAN_SQUARE, eps=positive(3, 1, seed=5)),
        _layer("divides_another", _other(ROOT_MEAN_SQUARE, "n = Div(x, s)", "a = Relu(x)\nn = Div(a, s)")),
        _layer(
            "in_double",
            _other(
                ROOT_MEAN_SQUARE,
                "q = Pow(x, two)",
                "c = Cast<to = 11>(x)\nq = Pow(c, two)",
                "Div(x, s)",
                "Div(c, s)",
                "y = Mul(n, scale)",
                "f = Cast<to = 1>(n)\ny = Mul(f, scale)",
            ),
            two=scalar(2, "float64"),
            eps=scalar(0.015625, "float64"),
        ),
        _layer("root_taken_too", ROOT_MEAN_SQUARE + "\nz = Neg(s)", "y", "z"),
    ),
)


def _skip(name: str, nodes: str, *outputs: str, x: Array = X, k: Array | None = None, **constants: Any) -> Model:
    inputs = {"x": x, "k": numbers(2, 3, 8, seed=7) if k is None else k}
    return Model(name, nodes, inputs, {"scale": SCALE, "bias": BIAS, **constants}, outputs or ("y",), since=17)


SKIP = Rewrite(
    "skip_layer_normalization",
    "LayerNormalization",
    ("onnxruntime: SkipLayerNormFusion", "onnxruntime: BiasSkipLayerNormFusion"),
    (
        _skip("sum", "a = Add(x, k)\ny = LayerNormalization(a, scale, bias)"),
        _skip("sum_taken_too", "a = Add(x, k)\ny = LayerNormalization(a, scale, bias)\nz = Neg(a)", "y", "z"),
        _skip("sum_is_an_output", "z = Add(x, k)\ny = LayerNormalization(z, scale, bias)", "y", "z"),
        _skip(
            "bias_then_sum",
            "b = Add(x, c)\na = Add(b, k)\ny = LayerNormalization(a, scale, bias)",
            c=numbers(8, seed=5),
        ),
        _skip(
            "sum_then_bias",
            "b = Add(x, k)\na = Add(b, c)\ny = LayerNormalization(a, scale, bias)",
            c=numbers(8, seed=5),
        ),
        _skip(
            "bias_of_the_skip",
            "b = Add(k, c)\na = Add(x, b)\ny = LayerNormalization(a, scale, bias)",
            c=numbers(8, seed=5),
        ),
        _skip(
            "bias_by_row",
            "b = Add(x, c)\na = Add(b, k)\ny = LayerNormalization(a, scale, bias)",
            c=numbers(3, 1, seed=5),
        ),
        _skip("skip_that_repeats", "a = Add(x, k)\ny = LayerNormalization(a, scale, bias)", k=numbers(3, 8, seed=7)),
        _skip("x_that_repeats", "a = Add(x, k)\ny = LayerNormalization(a, scale, bias)", x=numbers(1, 3, 8, seed=7)),
        _skip("skip_by_element", "a = Add(x, k)\ny = LayerNormalization(a, scale, bias)", k=numbers(2, 3, 1, seed=7)),
        _skip(
            "skip_of_more_axes", "a = Add(x, k)\ny = LayerNormalization(a, scale, bias)", k=numbers(1, 2, 3, 8, seed=7)
        ),
        _skip(
            "another_axis",
            "a = Add(x, k)\nb = LayerNormalization<axis = 1>(a, wide, high)\ny = Add(b, bias)\nz = Mul(y, scale)",
            "z",
            wide=positive(3, 8, seed=2),
            high=numbers(3, 8, seed=3),
        ),
        _skip("axis_from_the_front", "a = Add(x, k)\ny = LayerNormalization<axis = 2, epsilon = 0.5>(a, scale, bias)"),
        _skip("without_bias", "a = Add(x, k)\ny = LayerNormalization(a, scale)\nz = Add(y, bias)", "y", "z"),
        _skip("mean_taken", "a = Add(x, k)\ny, m, i = LayerNormalization(a, scale, bias)", "y", "m", "i"),
        _skip("added_to_itself", "a = Add(x, x)\ny = LayerNormalization(a, scale, bias)\nz = Neg(k)", "y", "z"),
        _skip("added_twice", "b = Add(x, k)\na = Add(b, k)\ny = LayerNormalization(a, scale, bias)"),
        _skip("difference", "a = Sub(x, k)\ny = LayerNormalization(a, scale, bias)"),
    ),
)
