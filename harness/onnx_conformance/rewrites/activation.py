# SPDX-License-Identifier: Apache-2.0
"""Rewrites of nodes to one activation: Gelu and its approximations, Swish, Mish, Softplus, Softmax with a bias."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.rewrites.rewrite import Array, Model, Rewrite, integers, listed, numbers, scalar

X = numbers(2, 3, 4, seed=1) * 1.5
ROOT = scalar(2**0.5)
KNOWN = {"one": scalar(1), "half": scalar(0.5), "root": ROOT}


def _of(name: str, nodes: str, *outputs: str, x: Array = X, since: int = 13, **constants: Any) -> Model:
    return Model(name, nodes, {"x": x}, constants, outputs or ("y",), since)


def _gelu(name: str, nodes: str, *outputs: str, x: Array = X, **constants: Any) -> Model:
    known = {**KNOWN, **constants}
    return _of(
        name, nodes, *outputs, x=x, **{key: value for key, value in known.items() if key in nodes or key in constants}
    )


def _biased(nodes: str) -> str:
    """Return nodes in which a sum replaces x."""
    return "v = Add(x, bias)\n" + nodes.replace("(x, ", "(v, ")


FIRST = "d = Div(x, root)\ne = Erf(d)\na = Add(e, one)\n"
GELU = Rewrite(
    "gelu",
    "Erf",
    ("onnxruntime: GeluFusion", "onnxruntime.transformers: gelu"),
    (
        _gelu("x_times_sum_times_half", FIRST + "m = Mul(x, a)\ny = Mul(m, half)"),
        _gelu("half_times_x_sum", FIRST + "m = Mul(a, x)\ny = Mul(half, m)"),
        _gelu("half_x_times_sum", "h = Mul(x, half)\n" + FIRST + "y = Mul(h, a)"),
        _gelu("sum_times_half_x", "h = Mul(half, x)\n" + FIRST + "y = Mul(a, h)"),
        _gelu("half_of_the_sum", FIRST + "h = Mul(a, half)\ny = Mul(x, h)"),
        _gelu(
            "times_reciprocal_root",
            FIRST.replace("Div(x, root)", "Mul(x, root)") + "m = Mul(x, a)\ny = Mul(m, half)",
            root=scalar(0.5**0.5),
        ),
        _gelu("times_root", FIRST.replace("Div(x, root)", "Mul(x, root)") + "m = Mul(x, a)\ny = Mul(m, half)"),
        _gelu("root_is_rounded", FIRST + "m = Mul(x, a)\ny = Mul(m, half)", root=scalar(1.41)),
        _gelu("root_of_three", FIRST + "m = Mul(x, a)\ny = Mul(m, half)", root=scalar(3**0.5)),
        _gelu("one_and_a_half", FIRST + "m = Mul(x, a)\ny = Mul(m, half)", one=scalar(1.5)),
        _gelu("half_is_more", FIRST + "m = Mul(x, a)\ny = Mul(m, half)", half=scalar(0.5625)),
        _gelu("halves_of_a_list", FIRST + "m = Mul(x, a)\ny = Mul(m, half)", half=listed(0.5, 0.5, 0.5, 2)),
        _gelu("one_of_more_axes", FIRST + "m = Mul(x, a)\ny = Mul(m, half)", one=np.ones((1, 1, 1, 1), np.float32)),
        _gelu(
            "lists_of_one",
            FIRST + "m = Mul(x, a)\ny = Mul(m, half)",
            one=listed(1),
            half=listed(0.5),
            root=listed(2**0.5),
        ),
        _gelu("difference", FIRST.replace("Add(e, one)", "Sub(one, e)") + "m = Mul(x, a)\ny = Mul(m, half)"),
        _gelu("another_factor", FIRST + "v = Abs(x)\nm = Mul(v, a)\ny = Mul(m, half)"),
        _gelu("divided_by_two", FIRST + "m = Mul(x, a)\ny = Div(m, half)"),
        _gelu(
            "root_divided_by_x",
            "v = Abs(x)\nw = Add(v, one)\n"
            + FIRST.replace("Div(x, root)", "Div(root, w)")
            + "m = Mul(x, a)\ny = Mul(m, half)",
        ),
        _gelu("erf_taken_too", FIRST + "m = Mul(x, a)\ny = Mul(m, half)\nz = Neg(e)", "y", "z"),
        _gelu("scalar", FIRST + "m = Mul(x, a)\ny = Mul(m, half)", x=scalar(0.5)),
        _gelu("of_a_bias", _biased(FIRST + "m = Mul(x, a)\ny = Mul(m, half)"), bias=numbers(4, seed=3)),
        _gelu(
            "double",
            FIRST + "m = Mul(x, a)\ny = Mul(m, half)",
            x=X.astype("float64"),
            **{key: value.astype("float64") for key, value in KNOWN.items()},
        ),
    ),
)

BIAS_GELU = Rewrite(
    "bias_gelu",
    "Gelu",
    ("onnxruntime: BiasGeluFusion",),
    (
        _of("bias", "a = Add(x, b)\ny = Gelu(a)", since=20, b=numbers(4, seed=3)),
        _of("bias_first", "a = Add(b, x)\ny = Gelu(a)", since=20, b=numbers(4, seed=3)),
        _of("bias_by_row", "a = Add(x, b)\ny = Gelu(a)", since=20, b=numbers(3, 1, seed=3)),
        _of("bias_each", "a = Add(x, b)\ny = Gelu(a)", since=20, b=numbers(2, 3, 4, seed=3)),
        _of("bias_of_one", "a = Add(x, b)\ny = Gelu(a)", since=20, b=listed(0.75)),
        _of("bias_of_more_axes", "a = Add(x, b)\ny = Gelu(a)", since=20, b=numbers(1, 1, 1, 4, seed=3)),
        _of("bias_that_repeats", "a = Add(x, b)\ny = Gelu(a)", since=20, x=numbers(3, 1, seed=1), b=numbers(4, seed=3)),
        _of("approximate", 'a = Add(x, b)\ny = Gelu<approximate = "tanh">(a)', since=20, b=numbers(4, seed=3)),
        _of("sum_taken_too", "a = Add(x, b)\ny = Gelu(a)\nz = Neg(a)", "y", "z", since=20, b=numbers(4, seed=3)),
        _of(
            "of_a_matmul",
            "m = MatMul(x, w)\na = Add(m, b)\ny = Gelu(a)",
            since=20,
            w=numbers(4, 5, seed=4),
            b=numbers(5, seed=3),
        ),
    ),
)

TANH = {
    "three": scalar(3),
    "cubic": scalar(0.044715),
    "slope": scalar((2 / np.pi) ** 0.5),
    "one": scalar(1),
    "half": scalar(0.5),
}
APPROXIMATE = "c = Pow(x, three)\nk = Mul(c, cubic)\ns = Add(x, k)\nt = Mul(s, slope)\nh = Tanh(t)\na = Add(h, one)\nm = Mul(x, a)\ny = Mul(m, half)"


def _tanh(name: str, nodes: str = APPROXIMATE, **constants: Any) -> Model:
    known = {**TANH, **constants}
    return _of(name, nodes, **{key: value for key, value in known.items() if key in nodes})


FAST_GELU = Rewrite(
    "gelu_by_tanh",
    "Tanh",
    ("onnxruntime: FastGeluFusion", "onnxruntime: GeluApproximation", "onnxruntime.transformers: gelu_approximation"),
    (
        _tanh("power"),
        _tanh(
            "half_x_first", APPROXIMATE.replace("m = Mul(x, a)\ny = Mul(m, half)", "m = Mul(x, half)\ny = Mul(m, a)")
        ),
        _tanh(
            "factored",
            "q = Mul(x, cubic)\nr = Mul(q, x)\ns = Add(r, one)\nu = Mul(x, slope)\nt = Mul(s, u)\nh = Tanh(t)\na = Add(h, one)\nm = Mul(x, half)\ny = Mul(m, a)",
        ),
        _tanh("square", three=scalar(2)),
        _tanh("other_cubic", cubic=scalar(0.054715)),
        _tanh("other_slope", slope=scalar(0.8125)),
        _tanh("other_half", half=scalar(0.25)),
        _tanh("other_one", one=scalar(2)),
        _tanh("list_of_slopes", slope=listed(0.7978846, 0.7978846, 0.5, 0.7978846)),
        _tanh("difference", APPROXIMATE.replace("Add(x, k)", "Sub(x, k)")),
        _tanh("another_factor", APPROXIMATE.replace("m = Mul(x, a)", "v = Neg(x)\nw = Abs(v)\nm = Mul(w, a)")),
        _tanh("of_a_bias", _biased(APPROXIMATE), bias=numbers(4, seed=3)),
        _tanh("of_a_bias_by_row", _biased(APPROXIMATE), bias=numbers(3, 1, seed=3)),
    ),
)

SIGMOID = Rewrite(
    "x_times_sigmoid",
    "Sigmoid",
    ("onnxruntime: QuickGeluFusion", "onnxruntime: SwiGluFusion"),
    (
        _of("quick_gelu", "a = Mul(x, k)\ns = Sigmoid(a)\ny = Mul(x, s)", k=scalar(1.702)),
        _of("quick_gelu_swapped", "a = Mul(k, x)\ns = Sigmoid(a)\ny = Mul(s, x)", k=scalar(1.702)),
        _of("other_slope", "a = Mul(x, k)\ns = Sigmoid(a)\ny = Mul(x, s)", k=scalar(-0.75)),
        _of("slope_of_a_list", "a = Mul(x, k)\ns = Sigmoid(a)\ny = Mul(x, s)", k=listed(1.702)),
        _of("slopes", "a = Mul(x, k)\ns = Sigmoid(a)\ny = Mul(x, s)", k=listed(1, 2, 1.702, 0.5)),
        _of(
            "slope_of_more_axes",
            "a = Mul(x, k)\ns = Sigmoid(a)\ny = Mul(x, s)",
            k=np.full((1, 1, 1, 1), 1.702, np.float32),
        ),
        _of("swish", "s = Sigmoid(x)\ny = Mul(x, s)"),
        _of("swish_of_another", "s = Sigmoid(x)\nn = Neg(x)\ny = Mul(n, s)"),
        _of("divided", "s = Sigmoid(x)\ny = Div(x, s)"),
        _of("scaled_twice", "a = Mul(x, k)\ns = Sigmoid(a)\ny = Mul(a, s)", k=scalar(1.702)),
        _of("sigmoid_taken_too", "a = Mul(x, k)\ns = Sigmoid(a)\ny = Mul(x, s)\nz = Neg(s)", "y", "z", k=scalar(1.702)),
        _of("sigmoid_by_hand", "n = Neg(x)\ne = Exp(n)\na = Add(e, k)\ny = Div(x, a)", k=scalar(1)),
        _of(
            "gated",
            "g = MatMul(x, v)\nu = MatMul(x, w)\ns = Sigmoid(g)\na = Mul(g, s)\ny = Mul(a, u)",
            v=numbers(4, 5, seed=3),
            w=numbers(4, 5, seed=4),
        ),
        _of(
            "gated_by_the_other",
            "g = MatMul(x, v)\nu = MatMul(x, w)\ns = Sigmoid(g)\na = Mul(u, s)\ny = Mul(a, u)",
            v=numbers(4, 5, seed=3),
            w=numbers(4, 5, seed=4),
        ),
        _of(
            "gated_halves",
            "g, u = Split<axis = -1>(x, n)\ns = Sigmoid(g)\na = Mul(g, s)\ny = Mul(a, u)",
            n=integers(2, 2),
        ),
        _of(
            "gated_second_half",
            "u, g = Split<axis = -1>(x, n)\ns = Sigmoid(g)\na = Mul(g, s)\ny = Mul(u, a)",
            n=integers(2, 2),
        ),
        _of("gated_without_swish", "g, u = Split<axis = -1>(x, n)\ns = Sigmoid(g)\ny = Mul(u, s)", n=integers(2, 2)),
    ),
)

HARD = {"three": scalar(3), "zero": scalar(0), "six": scalar(6)}


def _hard(name: str, nodes: str, *outputs: str, x: Array = X * 2, **constants: Any) -> Model:
    known = {**HARD, **constants}
    return _of(name, nodes, *outputs, x=x, **{key: value for key, value in known.items() if key in nodes})


HARD_SWISH = Rewrite(
    "hard_swish",
    "Clip",
    ("onnxscript: HardSwishFusion", "onnxscript: HardSigmoidFusion", "onnxscript: HardSwishFusionFromHardSigmoid"),
    (
        _hard("swish", "a = Add(x, three)\nc = Clip(a, zero, six)\nm = Mul(c, x)\ny = Div(m, six)"),
        _hard("swish_swapped", "a = Add(three, x)\nc = Clip(a, zero, six)\nm = Mul(x, c)\ny = Div(m, six)"),
        _hard("sigmoid", "a = Add(x, three)\nc = Clip(a, zero, six)\ny = Div(c, six)"),
        _hard("sigmoid_then_factor", "a = Add(x, three)\nc = Clip(a, zero, six)\nd = Div(c, six)\ny = Mul(x, d)"),
        _hard(
            "other_offset",
            "a = Add(x, three)\nc = Clip(a, zero, six)\nm = Mul(c, x)\ny = Div(m, six)",
            three=scalar(2.5),
        ),
        _hard(
            "other_divisor",
            "a = Add(x, three)\nc = Clip(a, zero, six)\nm = Mul(c, x)\ny = Div(m, five)",
            five=scalar(5),
        ),
        _hard(
            "other_low", "a = Add(x, three)\nc = Clip(a, zero, six)\nm = Mul(c, x)\ny = Div(m, six)", zero=scalar(0.5)
        ),
        _hard(
            "offsets",
            "a = Add(x, three)\nc = Clip(a, zero, six)\nm = Mul(c, x)\ny = Div(m, six)",
            three=listed(3, 3, 3, 1),
        ),
        _hard(
            "offset_of_more_axes",
            "a = Add(x, three)\nc = Clip(a, zero, six)\ny = Div(c, six)",
            three=np.full((1, 1, 1, 1), 3, np.float32),
        ),
        _hard("divides", "a = Add(x, three)\nc = Clip(a, zero, six)\nd = Add(c, six)\ny = Div(six, d)"),
        _hard("from_hard_sigmoid", "s = HardSigmoid<alpha = 0.1666666716337204, beta = 0.5>(x)\ny = Mul(x, s)"),
        _hard("from_default_hard_sigmoid", "s = HardSigmoid(x)\ny = Mul(x, s)"),
        _hard("from_other_hard_sigmoid", "s = HardSigmoid<alpha = 0.25, beta = 0.25>(x)\ny = Mul(s, x)"),
        _hard(
            "from_hard_sigmoid_of_another",
            "n = Neg(x)\ns = HardSigmoid<alpha = 0.1666666716337204, beta = 0.5>(n)\ny = Mul(x, s)",
        ),
        _hard(
            "by_a_factor",
            "a = Add(x, three)\nc = Clip(a, zero, six)\nm = Mul(x, c)\ny = Mul(m, sixth)",
            sixth=scalar(1 / 6),
        ),
        _hard("relu6", "a = Relu(x)\nc = Clip(a, zero, six)\ny = Neg(c)"),
    ),
)

BY_HAND = Rewrite(
    "activation_by_hand",
    "Softplus",
    (),
    (
        _of("mish", "s = Softplus(x)\nt = Tanh(s)\ny = Mul(x, t)"),
        _of("mish_of_another", "s = Softplus(x)\nt = Tanh(s)\nn = Neg(x)\ny = Mul(n, t)"),
        _of("softplus", "e = Exp(x)\na = Add(e, k)\ny = Log(a)", k=scalar(1)),
        _of("softplus_overflows", "e = Exp(x)\na = Add(e, k)\ny = Log(a)", x=listed(-200, 0, 50, 100), k=scalar(1)),
        _of("softplus_of_two", "e = Exp(x)\na = Add(e, k)\ny = Log(a)", k=scalar(2)),
        _of("softsign", "b = Abs(x)\na = Add(b, k)\ny = Div(x, a)", k=scalar(1)),
        _of("softsign_of_two", "b = Abs(x)\na = Add(b, k)\ny = Div(x, a)", k=scalar(2)),
        _of("relu", "m = Max(x, k)\ny = Neg(m)", k=scalar(0)),
        _of("relu_by_mask", "m = Greater(x, k)\nf = Cast<to = 1>(m)\ny = Mul(x, f)", k=scalar(0)),
        _of("leaky_relu", "a = Mul(x, k)\ny = Max(a, x)", k=scalar(0.25)),
        _of("leaky_relu_above_one", "a = Mul(x, k)\ny = Max(a, x)", k=scalar(2)),
        _of("prelu", "a = Relu(x)\nn = Neg(x)\nr = Relu(n)\nm = Mul(r, k)\ny = Add(a, m)", k=listed(-0.25, 0.5, -1, 0)),
        _of("log_sigmoid", "s = Sigmoid(x)\ny = Log(s)"),
        _of("tanh_by_sigmoid", "a = Mul(x, k)\ns = Sigmoid(a)\nb = Mul(s, k)\ny = Sub(b, o)", k=scalar(2), o=scalar(1)),
    ),
)

BIAS_SOFTMAX = Rewrite(
    "softmax_of_a_sum",
    "Softmax",
    ("onnxruntime: BiasSoftmaxFusion",),
    (
        _of("each", "a = Add(x, b)\ny = Softmax(a)", b=numbers(2, 3, 4, seed=3)),
        _of("by_column", "a = Add(x, b)\ny = Softmax<axis = -1>(a)", b=numbers(4, seed=3)),
        _of("mask_by_batch", "a = Add(x, b)\ny = Softmax<axis = 2>(a)", b=numbers(2, 1, 4, seed=3)),
        _of("by_row", "a = Add(b, x)\ny = Softmax<axis = 2>(a)", b=numbers(3, 1, seed=3)),
        _of("middle_axis", "a = Add(x, b)\ny = Softmax<axis = 1>(a)", b=numbers(4, seed=3)),
        _of("first_axis", "a = Add(x, b)\ny = Softmax<axis = 0>(a)", b=numbers(2, 1, 4, seed=3)),
        _of("both_repeat", "a = Add(x, b)\ny = Softmax(a)", x=numbers(2, 1, 4, seed=1), b=numbers(1, 3, 4, seed=3)),
        _of("more_axes", "a = Add(x, b)\ny = Softmax(a)", b=numbers(2, 1, 1, 4, seed=3)),
        _of(
            "heads",
            "a = Add(x, b)\ny = Softmax<axis = 3>(a)",
            x=numbers(2, 3, 4, 5, seed=1),
            b=numbers(2, 1, 1, 5, seed=3),
        ),
        _of(
            "heads_by_row",
            "a = Add(x, b)\ny = Softmax<axis = 3>(a)",
            x=numbers(2, 3, 4, 5, seed=1),
            b=numbers(2, 1, 4, 5, seed=3),
        ),
        _of(
            "heads_outer",
            "a = Add(x, b)\ny = Softmax<axis = 3>(a)",
            x=numbers(2, 3, 4, 5, seed=1),
            b=numbers(3, 4, 5, seed=3),
        ),
        _of(
            "heads_in_the_middle",
            "a = Add(x, b)\ny = Softmax<axis = -1>(a)",
            x=numbers(2, 3, 4, 5, seed=1),
            b=numbers(2, 3, 1, 5, seed=3),
        ),
        _of(
            "heads_two_axes",
            "a = Add(x, b)\ny = Softmax<axis = 2>(a)",
            x=numbers(2, 3, 4, 5, seed=1),
            b=numbers(2, 1, 4, 5, seed=3),
        ),
        _of("of_infinities", "a = Add(x, b)\ny = Softmax(a)", b=listed(0, float("-inf"), 0, -1e4)),
        _of(
            "masked_by_where",
            "a = Where(m, x, b)\ny = Softmax(a)",
            m=np.array([True, False, True, True]),
            b=scalar(float("-inf")),
        ),
        _of("difference", "a = Sub(x, b)\ny = Softmax(a)", b=numbers(2, 3, 4, seed=3)),
    ),
)

BIAS_DROPOUT = Rewrite(
    "dropout_amid_additions",
    "Dropout",
    ("onnxruntime: BiasDropoutFusion",),
    (
        _of("bias", "a = Add(x, b)\ny = Dropout(a)", b=numbers(4, seed=3)),
        _of(
            "bias_and_residual",
            "a = Add(x, b)\nd = Dropout(a, r)\ny = Add(d, k)",
            b=numbers(4, seed=3),
            r=scalar(0.5),
            k=numbers(2, 3, 4, seed=4),
        ),
        _of(
            "residual_that_repeats",
            "a = Add(x, b)\nd = Dropout(a)\ny = Add(k, d)",
            b=numbers(4, seed=3),
            k=numbers(2, 1, 3, 4, seed=4),
        ),
        _of(
            "mask_taken",
            "a = Add(x, b)\nd, m = Dropout(a)\ny = Add(d, k)",
            "y",
            "m",
            b=numbers(4, seed=3),
            k=numbers(4, seed=4),
        ),
        _of("bias_by_row", "a = Add(x, b)\nd = Dropout(a)\ny = Add(d, x)", b=numbers(3, 1, seed=3)),
        _of(
            "training_with_ratio_zero",
            "a = Add(x, b)\nd = Dropout(a, r, t)\ny = Add(d, x)",
            b=numbers(4, seed=3),
            r=scalar(0),
            t=np.array(True),
        ),
    ),
)
