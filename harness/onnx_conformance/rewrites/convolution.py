# SPDX-License-Identifier: Apache-2.0
"""Fusions into a convolution: of a normalization, an addition, a factor, a pad, an activation."""

from __future__ import annotations

from typing import Any

from onnx_conformance.rewrites.rewrite import Model, Rewrite, integers, numbers, positive, scalar

X, W = numbers(2, 3, 5, 5, seed=1), numbers(4, 3, 3, 3, seed=2)
NORMALIZATION = {
    "scale": positive(4, seed=3),
    "bias": numbers(4, seed=4),
    "mean": numbers(4, seed=5),
    "var": positive(4, seed=6),
}
OF_THREE = {name: value[:3] for name, value in NORMALIZATION.items()}


def _conv(name: str, nodes: str, **constants: Any) -> Model:
    return Model(name, nodes, {"x": X}, {"w": W, **constants})


CONV_BATCH_NORMALIZATION = Rewrite(
    "conv_batch_normalization",
    "Conv",
    (
        "onnxoptimizer: fuse_bn_into_conv",
        "onnxruntime: ConvBNFusion",
        "onnxslim: FusionConvBN",
        "onnxslim: FusionConvTransposeBN",
        "onnxscript: fuse_batchnorm_into_conv_rule",
        "onnxscript: fuse_batchnorm_into_conv_transpose_rule",
    ),
    (
        _conv("plain", "c = Conv(x, w)\ny = BatchNormalization(c, scale, bias, mean, var)", **NORMALIZATION),
        Model(
            "that_share",
            "c = Conv(x, w)\ny = BatchNormalization(c, scale, bias, mean, var)\n"
            "d = Conv(v, w)\nz = BatchNormalization(d, scale, bias, mean, var)",
            {"x": X, "v": numbers(*X.shape, seed=9)},
            {"w": W, **NORMALIZATION},
            ("y", "z"),
        ),
        _conv(
            "with_bias",
            "c = Conv(x, w, b)\ny = BatchNormalization<epsilon=0.5>(c, scale, bias, mean, var)",
            b=numbers(4, seed=7),
            **NORMALIZATION,
        ),
        _conv(
            "relu_between",
            "c = Conv(x, w)\nd = Relu(c)\ny = BatchNormalization(d, scale, bias, mean, var)",
            **NORMALIZATION,
        ),
        _conv(
            "normalized_before",
            "n = BatchNormalization(x, scale, bias, mean, var)\ny = Conv<pads=[1,1,1,1]>(n, w)",
            **OF_THREE,
        ),
        Model(
            "groups",
            "c = Conv<group=2>(x, w)\ny = BatchNormalization(c, scale, bias, mean, var)",
            {"x": numbers(1, 4, 4, 4, seed=8)},
            {"w": numbers(4, 2, 2, 2, seed=9), **NORMALIZATION},
        ),
        Model(
            "transposed_groups",
            "c = ConvTranspose<group=2>(x, w)\ny = BatchNormalization(c, scale, bias, mean, var)",
            {"x": numbers(1, 2, 3, 3, seed=8)},
            {"w": numbers(2, 2, 2, 2, seed=9), **NORMALIZATION},
        ),
        Model(
            "transposed",
            "c = ConvTranspose(x, w)\ny = BatchNormalization(c, scale, bias, mean, var)",
            {"x": numbers(1, 2, 3, 3, seed=8)},
            {"w": numbers(2, 4, 2, 2, seed=9), **NORMALIZATION},
        ),
    ),
)

CONV_ADD = Rewrite(
    "conv_add",
    "Conv",
    (
        "onnxoptimizer: fuse_add_bias_into_conv",
        "onnxruntime: ConvAddFusion",
        "onnxslim: FusionConvAdd",
        "onnxslim: FusionConvTransposeAdd",
    ),
    (
        _conv("by_channel", "c = Conv(x, w)\ny = Add(c, a)", a=numbers(4, 1, 1, seed=3)),
        _conv(
            "by_channel_after_bias",
            "c = Conv(x, w, b)\ny = Add(a, c)",
            a=numbers(1, 4, 1, 1, seed=3),
            b=numbers(4, seed=4),
        ),
        _conv("scalar", "c = Conv(x, w)\ny = Add(c, a)", a=scalar(1.5)),
        _conv("one_element", "c = Conv(x, w)\ny = Add(c, a)", a=numbers(1, seed=3)),
        _conv("along_the_width", "c = Conv(x, w)\ny = Add(c, a)", a=numbers(3, seed=3)),
        _conv("along_the_height", "c = Conv(x, w)\ny = Add(c, a)", a=numbers(3, 1, seed=3)),
        _conv("each_element", "c = Conv(x, w)\ny = Add(c, a)", a=numbers(2, 4, 3, 3, seed=3)),
        _conv("to_more_axes", "c = Conv(x, w)\ny = Add(c, a)", a=numbers(2, 1, 4, 1, 1, seed=3)),
        _conv("to_itself", "c = Conv(x, w)\ny = Add(c, c)"),
        Model(
            "transposed",
            "c = ConvTranspose(x, w)\ny = Add(c, a)",
            {"x": numbers(1, 2, 3, 3, seed=8)},
            {"w": numbers(2, 4, 2, 2, seed=9), "a": numbers(4, 1, 1, seed=3)},
        ),
        Model(
            "transposed_along_the_width",
            "c = ConvTranspose(x, w)\ny = Add(c, a)",
            {"x": numbers(1, 2, 3, 3, seed=8)},
            {"w": numbers(2, 4, 2, 2, seed=9), "a": numbers(4, seed=3)},
        ),
        Model(
            "width_of_the_channels",
            "c = Conv(x, w)\ny = Add(c, a)",
            {"x": numbers(1, 2, 4, 4, seed=8)},
            {"w": numbers(4, 2, 1, 1, seed=9), "a": numbers(4, seed=3)},
        ),
    ),
)

CONV_PAD = Rewrite(
    "pad_conv",
    "Conv",
    (
        "onnxoptimizer: fuse_pad_into_conv",
        "onnxruntime: Pad_Fusion",
        "onnxslim: FusionPadConv",
        "onnxscript: fuse_pad_into_conv_rule",
        "onnxscript: normalize_pad_format_conv_rule",
    ),
    (
        _conv("zeros", "p = Pad(x, pads)\ny = Conv(p, w)", pads=integers(0, 0, 1, 2, 0, 0, 2, 1)),
        _conv(
            "zeros_and_pads", "p = Pad(x, pads)\ny = Conv<pads=[1,0,0,2]>(p, w)", pads=integers(0, 0, 1, 2, 0, 0, 2, 1)
        ),
        _conv("value_zero", "p = Pad(x, pads, v)\ny = Conv(p, w)", pads=integers(0, 0, 1, 2, 0, 0, 2, 1), v=scalar(0)),
        _conv("value_one", "p = Pad(x, pads, v)\ny = Conv(p, w)", pads=integers(0, 0, 1, 2, 0, 0, 2, 1), v=scalar(1)),
        _conv("reflected", 'p = Pad<mode="reflect">(x, pads)\ny = Conv(p, w)', pads=integers(0, 0, 1, 1, 0, 0, 1, 1)),
        _conv("edge", 'p = Pad<mode="edge">(x, pads)\ny = Conv(p, w)', pads=integers(0, 0, 1, 1, 0, 0, 1, 1)),
        _conv("negative", "p = Pad(x, pads)\ny = Conv(p, w)", pads=integers(0, 0, -1, 1, 0, 0, 1, -1)),
        _conv("batch", "p = Pad(x, pads)\ny = Conv(p, w)", pads=integers(1, 0, 0, 0, 0, 0, 1, 1)),
        _conv(
            "same_upper",
            'p = Pad(x, pads)\ny = Conv<auto_pad="SAME_UPPER", strides=[2,2]>(p, w)',
            pads=integers(0, 0, 1, 0, 0, 0, 0, 1),
        ),
        Model(
            "channels",
            "p = Pad(x, pads)\ny = Conv(p, w)",
            {"x": X[:, :2]},
            {"w": W, "pads": integers(0, 1, 0, 0, 0, 0, 0, 0)},
        ),
        Model(
            "axes",
            "p = Pad(x, pads, , axes)\ny = Conv(p, w)",
            {"x": X},
            {"w": W, "pads": integers(1, 2), "axes": integers(-1)},
            since=18,
        ),
    ),
)


CONV_MUL = Rewrite(
    "conv_mul",
    "Conv",
    (
        "onnxruntime: ConvMulFusion",
        "onnxslim: FusionConvMul",
        "onnxslim: FusionConvTransposeMul",
        "onnxscript: affine_conv_fusion_rule",
        "onnxscript: conv_affine_fusion_rule",
    ),
    (
        _conv("by_channel", "c = Conv(x, w)\ny = Mul(c, a)", a=numbers(4, 1, 1, seed=3)),
        _conv(
            "by_channel_after_bias",
            "c = Conv(x, w, b)\ny = Mul(a, c)",
            a=numbers(1, 4, 1, 1, seed=3),
            b=numbers(4, seed=4),
        ),
        _conv("scalar", "c = Conv(x, w, b)\ny = Mul(c, a)", a=scalar(1.5), b=numbers(4, seed=4)),
        _conv("one_element", "c = Conv(x, w)\ny = Mul(c, a)", a=numbers(1, seed=3)),
        _conv("along_the_width", "c = Conv(x, w)\ny = Mul(c, a)", a=numbers(3, seed=3)),
        _conv("along_the_height", "c = Conv(x, w)\ny = Mul(c, a)", a=numbers(3, 1, seed=3)),
        _conv("each_element", "c = Conv(x, w)\ny = Mul(c, a)", a=numbers(2, 4, 3, 3, seed=3)),
        _conv("to_more_axes", "c = Conv(x, w)\ny = Mul(c, a)", a=numbers(2, 1, 4, 1, 1, seed=3)),
        _conv("ones_of_more_axes", "c = Conv(x, w)\ny = Mul(c, a)", a=numbers(1, 1, 4, 1, 1, seed=3)),
        _conv("divided", "c = Conv(x, w)\ny = Div(c, a)", a=positive(4, 1, 1, seed=3)),
        _conv("scaled_then_added", "c = Conv(x, w)\nd = Mul(c, a)\ny = Add(d, b)", a=scalar(0.5), b=scalar(1.25)),
        _conv(
            "scaled_then_added_by_channel",
            "c = Conv(x, w)\nd = Mul(c, a)\ny = Add(d, b)",
            a=numbers(4, 1, 1, seed=3),
            b=numbers(4, 1, 1, seed=4),
        ),
        _conv("scaled_before", "d = Mul(x, a)\nf = Add(d, b)\ny = Conv(f, w)", a=scalar(0.5), b=scalar(1.25)),
        _conv(
            "scaled_before_with_pads",
            "d = Mul(x, a)\nf = Add(d, b)\ny = Conv<pads = [1, 1, 1, 1]>(f, w)",
            a=scalar(0.5),
            b=scalar(1.25),
        ),
        _conv(
            "scaled_before_by_channel", "d = Mul(x, a)\ny = Conv<pads = [0, 1, 0, 1]>(d, w)", a=numbers(3, 1, 1, seed=3)
        ),
        _conv(
            "scaled_before_along_the_width", "d = Mul(x, a)\ny = Conv<pads = [0, 1, 0, 1]>(d, w)", a=numbers(5, seed=3)
        ),
        Model(
            "transposed",
            "c = ConvTranspose(x, w, b)\ny = Mul(c, a)",
            {"x": numbers(1, 2, 3, 3, seed=8)},
            {"w": numbers(2, 4, 2, 2, seed=9), "a": numbers(4, 1, 1, seed=3), "b": numbers(4, seed=5)},
        ),
        Model(
            "transposed_groups",
            "c = ConvTranspose<group = 2>(x, w)\ny = Mul(c, a)",
            {"x": numbers(1, 4, 3, 3, seed=8)},
            {"w": numbers(4, 2, 2, 2, seed=9), "a": numbers(4, 1, 1, seed=3)},
        ),
        Model(
            "width_of_the_channels",
            "c = Conv(x, w)\ny = Mul(c, a)",
            {"x": numbers(1, 2, 4, 4, seed=8)},
            {"w": numbers(4, 2, 1, 1, seed=9), "a": numbers(4, seed=3)},
        ),
    ),
)

CONV_ACTIVATION = Rewrite(
    "conv_activation",
    "Conv",
    ("onnxruntime: ConvActivationFusion",),
    (
        _conv("relu", "c = Conv(x, w)\ny = Relu(c)"),
        _conv("relu_after_bias", "c = Conv(x, w, b)\ny = Relu(c)", b=numbers(4, seed=3)),
        Model("relu_beside_another", "c = Conv(x, w)\ny = Relu(c)\nz = Neg(c)", {"x": X}, {"w": W}, ("y", "z")),
        _conv("clip", "c = Conv(x, w)\ny = Clip(c, l, h)", l=scalar(-1.3), h=scalar(2.7)),
        _conv("clip_only_low", "c = Conv(x, w)\ny = Clip(c, l)", l=scalar(-1.3)),
        _conv("clip_only_high", "c = Conv(x, w)\ny = Clip(c, , h)", h=scalar(2.7)),
        _conv("clip_crossed", "c = Conv(x, w)\ny = Clip(c, l, h)", l=scalar(2.7), h=scalar(-1.3)),
        Model(
            "clip_by_attributes",
            "c = Conv(x, w)\ny = Clip<min = -1.25, max = 2.5>(c)",
            {"x": X},
            {"w": W},
            since=7,
            before=11,
        ),
        _conv("relu_then_clip", "c = Conv(x, w)\nd = Relu(c)\ny = Clip(d, l, h)", l=scalar(-1.3), h=scalar(2.7)),
        _conv("leaky_relu", "c = Conv(x, w)\ny = LeakyRelu<alpha = 0.25>(c)"),
        _conv("leaky_relu_default", "c = Conv(x, w)\ny = LeakyRelu(c)"),
        _conv("leaky_relu_above_one", "c = Conv(x, w)\ny = LeakyRelu<alpha = -1.5>(c)"),
        _conv("sigmoid", "c = Conv(x, w)\ny = Sigmoid(c)"),
        _conv("tanh", "c = Conv(x, w)\ny = Tanh(c)"),
        _conv("hard_sigmoid", "c = Conv(x, w)\ny = HardSigmoid<alpha = 0.125, beta = 0.375>(c)"),
        _conv("hard_sigmoid_default", "c = Conv(x, w)\ny = HardSigmoid(c)"),
        _conv("swish", "c = Conv(x, w)\nd = Sigmoid(c)\ny = Mul(c, d)"),
        Model("hard_swish", "c = Conv(x, w)\ny = HardSwish(c)", {"x": X}, {"w": W}, since=14),
        _conv("softmax_by_channel", "c = Conv(x, w)\ny = Softmax<axis = 1>(c)"),
        _conv(
            "conv_conv",
            "c = Conv<pads = [1, 1, 1, 1]>(x, w)\nd = Relu(c)\ny = Conv(d, v)",
            v=numbers(3, 4, 3, 3, seed=5),
        ),
        Model(
            "one_axis", "c = Conv(x, w)\ny = Relu(c)", {"x": numbers(2, 3, 7, seed=1)}, {"w": numbers(4, 3, 3, seed=2)}
        ),
        Model("by_depth", "c = Conv<group = 3>(x, w)\ny = Relu(c)", {"x": X}, {"w": numbers(3, 1, 3, 3, seed=2)}),
    ),
)

CONV_ADD_ACTIVATION = Rewrite(
    "conv_add_activation",
    "Conv",
    ("onnxruntime: ConvAddActivationFusion",),
    (
        Model(
            "residual",
            "c = Conv(x, w)\na = Add(c, r)\ny = Relu(a)",
            {"x": X, "r": numbers(2, 4, 3, 3, seed=5)},
            {"w": W},
        ),
        Model(
            "residual_first",
            "c = Conv(x, w, b)\na = Add(r, c)\ny = Relu(a)",
            {"x": X, "r": numbers(2, 4, 3, 3, seed=5)},
            {"w": W, "b": numbers(4, seed=6)},
        ),
        Model(
            "residual_that_repeats",
            "c = Conv(x, w)\na = Add(c, r)\ny = Relu(a)",
            {"x": X, "r": numbers(1, 4, 3, 3, seed=5)},
            {"w": W},
        ),
        Model(
            "residual_by_channel",
            "c = Conv(x, w)\na = Add(c, r)\ny = Relu(a)",
            {"x": X, "r": numbers(4, 1, 1, seed=5)},
            {"w": W},
        ),
        Model(
            "conv_that_repeats",
            "c = Conv(x, w)\na = Add(c, r)\ny = Relu(a)",
            {"x": X[:1], "r": numbers(2, 4, 3, 3, seed=5)},
            {"w": W},
        ),
        Model("of_x", "c = Conv<pads = [1, 1, 1, 1]>(x, w)\na = Add(c, x)\ny = Relu(a)", {"x": X}, {"w": W[:3]}),
        Model(
            "of_two_convs",
            "c = Conv(x, w)\nd = Conv(x, v)\na = Add(c, d)\ny = Relu(a)",
            {"x": X},
            {"w": W, "v": numbers(4, 3, 3, 3, seed=6)},
        ),
        Model(
            "of_two_convs_alike",
            "c = Conv(x, w)\nd = Conv(r, w)\na = Add(c, d)\ny = Relu(a)",
            {"x": X, "r": numbers(2, 3, 5, 5, seed=5)},
            {"w": W},
        ),
        Model("of_itself", "c = Conv(x, w)\na = Add(c, c)\ny = Relu(a)", {"x": X}, {"w": W}),
        Model(
            "sum_taken_too",
            "c = Conv(x, w)\na = Add(c, r)\ny = Relu(a)\nz = Neg(a)",
            {"x": X, "r": numbers(2, 4, 3, 3, seed=5)},
            {"w": W},
            ("y", "z"),
        ),
        Model(
            "residual_taken_later",
            "n = Neg(r)\nc = Conv(x, w)\na = Add(c, n)\ny = Relu(a)\nz = Mul(n, y)",
            {"x": X, "r": numbers(2, 4, 3, 3, seed=5)},
            {"w": W},
            ("y", "z"),
        ),
        Model(
            "without_activation",
            "n = Neg(r)\nc = Conv(x, w)\ny = Add(c, n)\nz = Sub(y, n)",
            {"x": X, "r": numbers(2, 4, 3, 3, seed=5)},
            {"w": W},
            ("y", "z"),
        ),
        Model(
            "clip",
            "c = Conv(x, w)\na = Add(c, r)\ny = Clip(a, l, h)",
            {"x": X, "r": numbers(2, 4, 3, 3, seed=5)},
            {"w": W, "l": scalar(-1.3), "h": scalar(2.7)},
        ),
    ),
)

SHARED_WEIGHTS = Rewrite(
    "convs_that_share",
    "Conv",
    ("onnxscript: remove_optional_bias_from_conv_rule", "onnxscript: remove_optional_bias_from_conv_transpose_rule"),
    (
        _conv(
            "weights",
            "c = Conv(x, w)\nd = Mul(c, a)\ne = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(x, w)\nf = Add(e, b)\ny = Add(d, f)",
            a=numbers(4, 1, 1, seed=3),
            b=numbers(4, 1, 1, seed=4),
        ),
        _conv(
            "bias",
            "c = Conv(x, w, b)\nd = Add(c, a)\ne = Conv(x, v, b)\ny = Sub(d, e)",
            a=numbers(4, 1, 1, seed=3),
            b=numbers(4, seed=4),
            v=numbers(4, 3, 3, 3, seed=5),
        ),
        _conv(
            "bias_and_factor",
            "c = Conv(x, w, b)\nd = Mul(c, a)\ne = Reshape(b, s)\ny = Add(d, e)",
            a=numbers(4, 1, 1, seed=3),
            b=numbers(4, seed=4),
            s=integers(4, 1, 1),
        ),
        _conv(
            "weights_taken_otherwise",
            "c = Conv(x, w)\nd = Mul(c, a)\ne = ReduceSum<keepdims = 0>(w)\ny = Add(d, e)",
            a=numbers(4, 1, 1, seed=3),
        ),
        _conv("bias_of_zeros", "c = Conv(x, w, b)\ny = Neg(c)", b=numbers(4) * 0),
        _conv("bias_of_some_zeros", "c = Conv(x, w, b)\ny = Neg(c)", b=integers(0, 0, 0, 1, dtype="float32")),
        Model(
            "transposed_bias_of_zeros",
            "c = ConvTranspose(x, w, b)\ny = Neg(c)",
            {"x": numbers(1, 2, 3, 3, seed=8)},
            {"w": numbers(2, 4, 2, 2, seed=9), "b": numbers(4) * 0},
        ),
    ),
)

PADDED_INTEGERS = Rewrite(
    "pad_conv_integer",
    "ConvInteger",
    ("onnxscript: fuse_pad_into_conv_integer_rule", "onnxscript: normalize_pad_format_conv_integer_rule"),
    tuple(
        Model(
            name,
            f"p = Pad(x, s{', v' if value is not None else ''})\ny = ConvInteger<{attributes}>(p, w{', z' if zero is not None else ''})",
            {"x": (numbers(1, 2, 4, 5, seed=1) * 8 + 20).astype("uint8")},
            {
                "w": (numbers(3, 2, 2, 3, seed=2) * 8).astype("int8"),
                "s": integers(*pads),
                **({} if value is None else {"v": scalar(value, "uint8")}),
                **({} if zero is None else {"z": scalar(zero, "uint8")}),
            },
        )
        for name, pads, value, zero, attributes in (
            ("zeros", (0, 0, 1, 0, 0, 0, 0, 2), None, None, "pads = [0, 0, 0, 0]"),
            ("zeros_and_pads", (0, 0, 1, 0, 0, 0, 0, 2), None, None, "pads = [1, 0, 0, 1]"),
            ("zeros_are_not_the_zero_point", (0, 0, 1, 0, 0, 0, 0, 2), None, 7, "pads = [0, 0, 0, 0]"),
            ("value_is_the_zero_point", (0, 0, 1, 0, 0, 0, 0, 2), 7, 7, "pads = [0, 0, 0, 0]"),
            ("value_of_another", (0, 0, 1, 0, 0, 0, 0, 2), 3, 7, "pads = [1, 0, 0, 1]"),
            ("same_upper", (0, 0, 1, 0, 0, 0, 0, 0), None, None, 'auto_pad = "SAME_UPPER"'),
            ("same_lower_by_steps", (0, 0, 0, 0, 0, 0, 1, 0), None, 5, 'auto_pad = "SAME_LOWER", strides = [2, 2]'),
        )
    ),
)
