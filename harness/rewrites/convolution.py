"""What is fused into a convolution: a normalization, an addition, a factor, a pad, an activation."""

from __future__ import annotations

from typing import Any

from harness.rewrites.rewrite import Model, Rewrite, integers, numbers, positive, scalar

X, W = numbers(2, 3, 5, 5, seed=1), numbers(4, 3, 3, 3, seed=2)
NORMALIZATION = {
    "scale": positive(4, seed=3), "bias": numbers(4, seed=4), "mean": numbers(4, seed=5), "var": positive(4, seed=6),
}  # fmt: skip
OF_THREE = {name: value[:3] for name, value in NORMALIZATION.items()}


def _conv(name: str, nodes: str, **constants: Any) -> Model:  # noqa: ANN401 - arrays by name
    return Model(name, nodes, {"x": X}, {"w": W, **constants})


CONV_BATCH_NORMALIZATION = Rewrite(
    "conv_batch_normalization",
    "Conv",
    ("onnxoptimizer: fuse_bn_into_conv", "onnxruntime: ConvBNFusion", "onnxslim: FusionConvBN"),
    (
        _conv("plain", "c = Conv(x, w)\ny = BatchNormalization(c, scale, bias, mean, var)", **NORMALIZATION),
        _conv(
            "with_bias", "c = Conv(x, w, b)\ny = BatchNormalization<epsilon=0.5>(c, scale, bias, mean, var)",
            b=numbers(4, seed=7), **NORMALIZATION,
        ),
        _conv("relu_between", "c = Conv(x, w)\nd = Relu(c)\ny = BatchNormalization(d, scale, bias, mean, var)",
              **NORMALIZATION),
        _conv("normalized_before", "n = BatchNormalization(x, scale, bias, mean, var)\ny = Conv<pads=[1,1,1,1]>(n, w)",
              **OF_THREE),
        Model(
            "groups", "c = Conv<group=2>(x, w)\ny = BatchNormalization(c, scale, bias, mean, var)",
            {"x": numbers(1, 4, 4, 4, seed=8)}, {"w": numbers(4, 2, 2, 2, seed=9), **NORMALIZATION},
        ),
        Model(
            "transposed_groups", "c = ConvTranspose<group=2>(x, w)\ny = BatchNormalization(c, scale, bias, mean, var)",
            {"x": numbers(1, 2, 3, 3, seed=8)}, {"w": numbers(2, 2, 2, 2, seed=9), **NORMALIZATION},
        ),
        Model(
            "transposed", "c = ConvTranspose(x, w)\ny = BatchNormalization(c, scale, bias, mean, var)",
            {"x": numbers(1, 2, 3, 3, seed=8)}, {"w": numbers(2, 4, 2, 2, seed=9), **NORMALIZATION},
        ),
    ),
)  # fmt: skip

CONV_ADD = Rewrite(
    "conv_add",
    "Conv",
    (
        "onnxoptimizer: fuse_add_bias_into_conv", "onnxruntime: ConvAddFusion", "onnxslim: FusionConvAdd",
        "onnxslim: FusionConvTransposeAdd",
    ),
    (
        _conv("by_channel", "c = Conv(x, w)\ny = Add(c, a)", a=numbers(4, 1, 1, seed=3)),
        _conv("by_channel_after_bias", "c = Conv(x, w, b)\ny = Add(a, c)", a=numbers(1, 4, 1, 1, seed=3),
              b=numbers(4, seed=4)),
        _conv("scalar", "c = Conv(x, w)\ny = Add(c, a)", a=scalar(1.5)),
        _conv("one_element", "c = Conv(x, w)\ny = Add(c, a)", a=numbers(1, seed=3)),
        _conv("along_the_width", "c = Conv(x, w)\ny = Add(c, a)", a=numbers(3, seed=3)),
        _conv("along_the_height", "c = Conv(x, w)\ny = Add(c, a)", a=numbers(3, 1, seed=3)),
        _conv("each_element", "c = Conv(x, w)\ny = Add(c, a)", a=numbers(2, 4, 3, 3, seed=3)),
        _conv("to_more_axes", "c = Conv(x, w)\ny = Add(c, a)", a=numbers(2, 1, 4, 1, 1, seed=3)),
        _conv("to_itself", "c = Conv(x, w)\ny = Add(c, c)"),
        Model("transposed", "c = ConvTranspose(x, w)\ny = Add(c, a)", {"x": numbers(1, 2, 3, 3, seed=8)},
              {"w": numbers(2, 4, 2, 2, seed=9), "a": numbers(4, 1, 1, seed=3)}),
        Model("transposed_along_the_width", "c = ConvTranspose(x, w)\ny = Add(c, a)",
              {"x": numbers(1, 2, 3, 3, seed=8)}, {"w": numbers(2, 4, 2, 2, seed=9), "a": numbers(4, seed=3)}),
        Model("width_of_the_channels", "c = Conv(x, w)\ny = Add(c, a)", {"x": numbers(1, 2, 4, 4, seed=8)},
              {"w": numbers(4, 2, 1, 1, seed=9), "a": numbers(4, seed=3)}),
    ),
)  # fmt: skip

CONV_PAD = Rewrite(
    "pad_conv",
    "Conv",
    ("onnxoptimizer: fuse_pad_into_conv", "onnxruntime: Pad_Fusion", "onnxslim: FusionPadConv"),
    (
        _conv("zeros", "p = Pad(x, pads)\ny = Conv(p, w)", pads=integers(0, 0, 1, 2, 0, 0, 2, 1)),
        _conv("zeros_and_pads", "p = Pad(x, pads)\ny = Conv<pads=[1,0,0,2]>(p, w)",
              pads=integers(0, 0, 1, 2, 0, 0, 2, 1)),
        _conv("value_zero", "p = Pad(x, pads, v)\ny = Conv(p, w)", pads=integers(0, 0, 1, 2, 0, 0, 2, 1), v=scalar(0)),
        _conv("value_one", "p = Pad(x, pads, v)\ny = Conv(p, w)", pads=integers(0, 0, 1, 2, 0, 0, 2, 1), v=scalar(1)),
        _conv("reflected", 'p = Pad<mode="reflect">(x, pads)\ny = Conv(p, w)', pads=integers(0, 0, 1, 1, 0, 0, 1, 1)),
        _conv("edge", 'p = Pad<mode="edge">(x, pads)\ny = Conv(p, w)', pads=integers(0, 0, 1, 1, 0, 0, 1, 1)),
        _conv("negative", "p = Pad(x, pads)\ny = Conv(p, w)", pads=integers(0, 0, -1, 1, 0, 0, 1, -1)),
        _conv("batch", "p = Pad(x, pads)\ny = Conv(p, w)", pads=integers(1, 0, 0, 0, 0, 0, 1, 1)),
        _conv("same_upper", 'p = Pad(x, pads)\ny = Conv<auto_pad="SAME_UPPER", strides=[2,2]>(p, w)',
              pads=integers(0, 0, 1, 0, 0, 0, 0, 1)),
        Model("channels", "p = Pad(x, pads)\ny = Conv(p, w)", {"x": X[:, :2]},
              {"w": W, "pads": integers(0, 1, 0, 0, 0, 0, 0, 0)}),
        Model("axes", "p = Pad(x, pads, , axes)\ny = Conv(p, w)", {"x": X},
              {"w": W, "pads": integers(1, 2), "axes": integers(-1)}, since=18),
    ),
)  # fmt: skip
