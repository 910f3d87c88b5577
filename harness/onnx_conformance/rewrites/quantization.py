# SPDX-License-Identifier: Apache-2.0
"""Rewrites of quantized models: nodes between dequantization and quantization, bounds, pairs, integer products.

Numbers and scales are chosen so that no value is midway between two integers. The results therefore do not depend on
rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.rewrites.rewrite import Array, Model, Rewrite, integers, listed, numbers, positive, scalar

X = numbers(2, 3, 4, seed=1)
SX, SY, SW = scalar(0.0173), scalar(0.0371), scalar(0.0119)
ZX, ZY = scalar(131, "uint8"), scalar(117, "uint8")


def _bytes(*shape: int, seed: int = 0, dtype: str = "uint8") -> Array:
    """Return integers from the whole range of a type with 8 bits."""
    wide = numbers(*shape, seed=seed) * 56 + (128 if dtype == "uint8" else 0)
    return wide.astype(dtype)


def _taken(nodes: str) -> set[str]:
    """Return the names that nodes use and do not compute."""
    named: set[str] = set()
    computed: set[str] = set()
    for line in nodes.splitlines():
        results, _, call = line.partition(" = ")
        computed |= {item.strip() for item in results.split(",")}
        named |= {item.strip() for item in call.rpartition("(")[2].strip(")").split(",")}
    return named - computed


Q = _bytes(2, 3, 4, seed=1)


def _of(name: str, nodes: str, *outputs: str, x: Array = Q, since: int = 13, **constants: Any) -> Model:
    known = {"sx": SX, "sy": SY, "sw": SW, "zx": ZX, "zy": ZY, **constants}
    return Model(
        name,
        nodes,
        {"x": x},
        {key: value for key, value in known.items() if key in _taken(nodes)},
        outputs or ("y",),
        since,
    )


def _around(name: str, node: str, *outputs: str, x: Array = Q, since: int = 13, **constants: Any) -> Model:
    """Return a node with input d and output f, between a dequantization and a quantization."""
    nodes = f"d = DequantizeLinear(x, sx, zx)\n{node}\ny = QuantizeLinear(f, sy, zy)"
    return _of(name, nodes, "y", *outputs, x=x, since=since, **constants)


KEPT = Rewrite(
    "quantized_moves",
    "DequantizeLinear",
    (
        "onnxruntime: QDQPropagationTransformer",
        "onnxruntime: QDQSelectorActionTransformer",
        "onnxruntime: QDQFinalCleanupTransformer",
    ),
    (
        _of("nothing_between", "d = DequantizeLinear(x, sx, zx)\ny = QuantizeLinear(d, sx, zx)"),
        _of("other_scale", "d = DequantizeLinear(x, sx, zx)\ny = QuantizeLinear(d, sy, zx)"),
        _of("other_zero_point", "d = DequantizeLinear(x, sx, zx)\ny = QuantizeLinear(d, sx, zy)"),
        _of("other_type", "d = DequantizeLinear(x, sx, zx)\ny = QuantizeLinear(d, sx, zi)", zi=scalar(3, "int8")),
        _of(
            "reshape",
            "d = DequantizeLinear(x, sx, zx)\nr = Reshape(d, s)\ny = QuantizeLinear(r, sx, zx)",
            s=integers(4, -1),
        ),
        _of(
            "reshape_of_other_scale",
            "d = DequantizeLinear(x, sx, zx)\nr = Reshape(d, s)\ny = QuantizeLinear(r, sy, zx)",
            s=integers(4, -1),
        ),
        _of(
            "transpose",
            "d = DequantizeLinear(x, sx, zx)\nr = Transpose<perm = [2, 0, 1]>(d)\ny = QuantizeLinear(r, sx, zx)",
        ),
        _of("reshape_to_output", "d = DequantizeLinear(x, sx, zx)\ny = Reshape(d, s)", s=integers(4, 6)),
        _of("reshape_to_output_alone", "d = DequantizeLinear(x, sx)\ny = Reshape(d, s)", s=integers(-1)),
        _of("transpose_then_float", "d = DequantizeLinear(x, sx, zx)\nr = Transpose<perm = [2, 0, 1]>(d)\ny = Neg(r)"),
        _of(
            "maximum",
            "d = DequantizeLinear(x, sx, zx)\nr = MaxPool<kernel_shape = [2]>(d)\ny = QuantizeLinear(r, sx, zx)",
        ),
        _of(
            "gathered",
            "d = DequantizeLinear(x, sx, zx)\nr = Gather<axis = 2>(d, i)\ny = QuantizeLinear(r, sx, zx)",
            i=integers(3, 0),
        ),
        _of(
            "sliced_before",
            "s = Slice(x, b, e)\nd = DequantizeLinear(s, sx, zx)\ny = Neg(d)",
            b=integers(0, 1, 1),
            e=integers(2, 3, 4),
        ),
        _of(
            "by_axis_then_transposed",
            "d = DequantizeLinear<axis = 1>(x, sc, zc)\nr = Transpose<perm = [0, 2, 1]>(d)\ny = QuantizeLinear<axis = 2>(r, sc, zc)",
            sc=listed(0.0173, 0.0257, 0.0091),
            zc=integers(131, 7, 200, dtype="uint8"),
        ),
        _of(
            "by_axis_then_reshaped",
            "d = DequantizeLinear<axis = 1>(x, sc, zc)\nr = Reshape(d, s)\ny = Neg(r)",
            sc=listed(0.0173, 0.0257, 0.0091),
            zc=integers(131, 7, 200, dtype="uint8"),
            s=integers(6, 4),
        ),
        _of(
            "without_zero_point",
            "d = DequantizeLinear(x, sx)\nr = Transpose<perm = [2, 0, 1]>(d)\ny = QuantizeLinear(r, sx)",
        ),
        _of("saturates", "d = DequantizeLinear(x, sy, zx)\ny = QuantizeLinear(d, sx, zx)"),
        _of(
            "unequal_split",
            "d = DequantizeLinear(x, sx, zx)\na, b = Split<axis = 2>(d, s)\ny = QuantizeLinear(a, sx, zx)\nz = QuantizeLinear(b, sx, zy)",
            "y",
            "z",
            s=integers(1, 3),
        ),
        _of("argmax", "d = DequantizeLinear(x, sx, zx)\ny = ArgMax<axis = 2>(d)"),
    ),
)

PAIRS = Rewrite(
    "quantized_twice",
    "QuantizeLinear",
    ("onnxruntime: DoubleQDQPairsRemover", "onnxruntime: QDQPropagationTransformer"),
    (
        _of(
            "alike",
            "q = QuantizeLinear(x, sx, zx)\nd = DequantizeLinear(q, sx, zx)\nr = QuantizeLinear(d, sx, zx)\ny = DequantizeLinear(r, sx, zx)",
            x=X,
        ),
        _of(
            "other_scale",
            "q = QuantizeLinear(x, sx, zx)\nd = DequantizeLinear(q, sx, zx)\nr = QuantizeLinear(d, sy, zx)\ny = DequantizeLinear(r, sy, zx)",
            x=X,
        ),
        _of(
            "second_saturates",
            "q = QuantizeLinear(x, sy, zx)\nd = DequantizeLinear(q, sy, zx)\nr = QuantizeLinear(d, sn, zx)\ny = DequantizeLinear(r, sn, zx)",
            x=X,
            sn=scalar(0.0047),
        ),
        _of(
            "first_saturates",
            "q = QuantizeLinear(x, sn, zx)\nd = DequantizeLinear(q, sn, zx)\nr = QuantizeLinear(d, sy, zx)\ny = DequantizeLinear(r, sy, zx)",
            x=X,
            sn=scalar(0.0047),
        ),
        _of(
            "other_zero_point",
            "q = QuantizeLinear(x, sx, zx)\nd = DequantizeLinear(q, sx, zx)\nr = QuantizeLinear(d, sx, zy)\ny = DequantizeLinear(r, sx, zy)",
            x=X,
        ),
        _of(
            "other_zero_points_saturate",
            "q = QuantizeLinear(x, sx, zl)\nd = DequantizeLinear(q, sx, zl)\nr = QuantizeLinear(d, sx, zh)\ny = DequantizeLinear(r, sx, zh)",
            x=X,
            zl=scalar(20, "uint8"),
            zh=scalar(230, "uint8"),
        ),
        _of(
            "other_type",
            "q = QuantizeLinear(x, sx, zx)\nd = DequantizeLinear(q, sx, zx)\nr = QuantizeLinear(d, sx, zi)\ny = DequantizeLinear(r, sx, zi)",
            x=X,
            zi=scalar(-5, "int8"),
        ),
        _of(
            "four_alike",
            "q = QuantizeLinear(x, sy)\nd = DequantizeLinear(q, sy)\nr = QuantizeLinear(d, sy)\ne = DequantizeLinear(r, sy)\ns = QuantizeLinear(e, sy)\ny = DequantizeLinear(s, sy)",
            x=X,
        ),
        _of("pair_is_not_nothing", "q = QuantizeLinear(x, sy, zy)\nd = DequantizeLinear(q, sy, zy)\ny = Neg(d)", x=X),
        _of(
            "first_taken_too",
            "q = QuantizeLinear(x, sx, zx)\nd = DequantizeLinear(q, sx, zx)\nr = QuantizeLinear(d, sy, zy)\ny = DequantizeLinear(r, sy, zy)\nz = Neg(d)",
            "y",
            "z",
            x=X,
        ),
    ),
)

BOUNDS = Rewrite(
    "bound_before_quantization",
    "QuantizeLinear",
    ("onnxruntime: ClipQuantFusion", "onnxruntime: ReluQuantFusion"),
    (
        _of("relu_zero_point_lowest", "r = Relu(x)\ny = QuantizeLinear(r, sx, z)", x=X, z=scalar(0, "uint8")),
        _of("relu_zero_point_above", "r = Relu(x)\ny = QuantizeLinear(r, sx, zx)", x=X),
        _of("relu_without_zero_point", "r = Relu(x)\ny = QuantizeLinear(r, sx)", x=X),
        _of("relu_int8_zero", "r = Relu(x)\ny = QuantizeLinear(r, sx, z)", x=X, z=scalar(0, "int8")),
        _of("relu_int8_lowest", "r = Relu(x)\ny = QuantizeLinear(r, sx, z)", x=X, z=scalar(-128, "int8")),
        _of("clip_wider", "r = Clip(x, l, h)\ny = QuantizeLinear(r, sx, zx)", x=X, l=scalar(-9), h=scalar(9)),
        _of("clip_narrower", "r = Clip(x, l, h)\ny = QuantizeLinear(r, sx, zx)", x=X, l=scalar(-0.7), h=scalar(0.9)),
        _of(
            "clip_narrower_above",
            "r = Clip(x, l, h)\ny = QuantizeLinear(r, sx, z)",
            x=X,
            l=scalar(0),
            h=scalar(1.1),
            z=scalar(0, "uint8"),
        ),
        _of(
            "clip_as_wide_below",
            "r = Clip(x, l, h)\ny = QuantizeLinear(r, sx, z)",
            x=X,
            l=scalar(0),
            h=scalar(6),
            z=scalar(0, "uint8"),
        ),
        _of("clip_only_low", "r = Clip(x, l)\ny = QuantizeLinear(r, sx, zx)", x=X, l=scalar(-0.7)),
        _of(
            "relu_taken_too",
            "r = Relu(x)\ny = QuantizeLinear(r, sx, z)\nw = Neg(r)",
            "y",
            "w",
            x=X,
            z=scalar(0, "uint8"),
        ),
        _of(
            "relu_by_axis",
            "r = Relu(x)\ny = QuantizeLinear<axis = 1>(r, sc, zc)",
            x=X,
            sc=listed(0.0173, 0.0257, 0.0091),
            zc=integers(0, 7, 0, dtype="uint8"),
        ),
        _of("amid_pairs", "d = DequantizeLinear(x, sx, zx)\nr = Relu(d)\ny = QuantizeLinear(r, sx, zx)"),
    ),
)

NODES = Rewrite(
    "quantized_node",
    "QuantizeLinear",
    ("onnxruntime: QDQSelectorActionTransformer",),
    (
        _around("add", "e = DequantizeLinear(k, sw, zy)\nf = Add(d, e)", k=_bytes(2, 3, 4, seed=2)),
        _around("add_by_column", "e = DequantizeLinear(k, sw, zy)\nf = Add(e, d)", k=_bytes(4, seed=2)),
        _around("add_float", "f = Add(d, k)", k=numbers(3, 4, seed=2) + np.float32(0.011)),
        _around("multiply", "e = DequantizeLinear(k, sw, zy)\nf = Mul(d, e)", k=_bytes(2, 3, 4, seed=2)),
        _around("multiply_by_row", "e = DequantizeLinear(k, sw, zy)\nf = Mul(d, e)", k=_bytes(3, 1, seed=2)),
        _around("subtract", "e = DequantizeLinear(k, sw, zy)\nf = Sub(d, e)", k=_bytes(3, 4, seed=2)),
        _around("leaky_relu", "f = LeakyRelu<alpha = 0.37>(d)"),
        _around("sigmoid", "f = Sigmoid(d)", sy=scalar(0.00371)),
        _around("softmax", "f = Softmax(d)", sy=scalar(0.00371), zy=scalar(0, "uint8")),
        _around("average_pool", "f = AveragePool<kernel_shape = [3], pads = [1, 1]>(d)"),
        _around(
            "average_pool_counting", "f = AveragePool<kernel_shape = [3], pads = [1, 1], count_include_pad = 1>(d)"
        ),
        _around("global_average", "f = GlobalAveragePool(d)"),
        _around("mean", "f = ReduceMean(d, r)", since=18, r=integers(1)),
        _around("concat", "e = DequantizeLinear(k, sw, zy)\nf = Concat<axis = 1>(d, e)", k=_bytes(2, 2, 4, seed=2)),
        _around(
            "where",
            "e = DequantizeLinear(k, sw, zy)\nf = Where(c, d, e)",
            k=_bytes(4, seed=2),
            c=np.array([[True], [False], [True]]),
        ),
        _around("resize", 'f = Resize<mode = "nearest">(d, , s)', s=listed(1, 2, 1)),
        _around("resize_linear", 'f = Resize<mode = "linear">(d, , s)', s=listed(1, 2, 1)),
        _around(
            "resize_to_corners",
            'f = Resize<coordinate_transformation_mode = "align_corners", mode = "linear">(d, , s)',
            s=listed(1, 2, 1),
        ),
        _around("square", "f = Mul(d, d)"),
        _around("dequantized_taken_too", "f = Neg(d)\nw = Abs(d)", "w"),
    ),
)


def _matmul(name: str, node: str, *, x: Array, w: Array, since: int = 13, **constants: Any) -> Model:
    nodes = f"d = DequantizeLinear(x, sx, zx)\ne = DequantizeLinear(w, sw, zw)\n{node}\ny = QuantizeLinear(f, so, zy)"
    return _of(name, nodes, x=x, since=since, w=w, **{"zw": scalar(3, "int8"), "so": scalar(0.0913), **constants})


ROWS, COLUMNS = _bytes(3, 4, seed=1), _bytes(4, 5, seed=2, dtype="int8")
PICTURE, KERNEL = _bytes(1, 2, 4, 5, seed=1), _bytes(3, 2, 2, 3, seed=2, dtype="int8")
BIAS_SCALE = scalar(float(SX * SW))

PRODUCTS = Rewrite(
    "quantized_product",
    "QuantizeLinear",
    (
        "onnxruntime: QDQSelectorActionTransformer",
        "onnxruntime: WeightBiasQuantization",
        "onnxscript: remove_optional_bias_from_qlinear_conv_rule",
    ),
    (
        _matmul("matmul", "f = MatMul(d, e)", x=ROWS, w=COLUMNS),
        Model(
            "matmul_by_column",
            "d = DequantizeLinear(x, sx, zx)\ne = DequantizeLinear<axis = 1>(w, sw, zw)\nf = MatMul(d, e)\ny = QuantizeLinear(f, so, zy)",
            {"x": ROWS},
            {
                "w": COLUMNS,
                "sx": SX,
                "zx": ZX,
                "sw": listed(0.0119, 0.0071, 0.0173, 0.0037, 0.0211),
                "zw": integers(0, 0, 0, 0, 0, dtype="int8"),
                "so": scalar(0.0913),
                "zy": ZY,
            },
        ),
        Model(
            "matmul_by_row",
            "d = DequantizeLinear(x, sx, zx)\ne = DequantizeLinear<axis = 0>(w, sw, zw)\nf = MatMul(d, e)\ny = QuantizeLinear(f, so, zy)",
            {"x": ROWS},
            {
                "w": COLUMNS,
                "sx": SX,
                "zx": ZX,
                "sw": listed(0.0119, 0.0071, 0.0173, 0.0037),
                "zw": integers(0, 1, -2, 0, dtype="int8"),
                "so": scalar(0.0913),
                "zy": ZY,
            },
        ),
        _matmul(
            "gemm",
            "c = DequantizeLinear(b, sb)\nf = Gemm(d, e, c)",
            x=ROWS,
            w=COLUMNS,
            b=integers(900, -700, 0, 5000, -3, dtype="int32"),
            sb=BIAS_SCALE,
        ),
        _matmul(
            "gemm_transposed",
            "c = DequantizeLinear(b, sb)\nf = Gemm<transB = 1, alpha = 0.5>(d, e, c)",
            x=ROWS,
            w=_bytes(5, 4, seed=2, dtype="int8"),
            b=integers(900, -700, 0, 5000, -3, dtype="int32"),
            sb=BIAS_SCALE,
        ),
        _matmul(
            "gemm_bias_of_another_scale",
            "c = DequantizeLinear(b, sb)\nf = Gemm(d, e, c)",
            x=ROWS,
            w=COLUMNS,
            b=integers(900, -700, 0, 5000, -3, dtype="int32"),
            sb=scalar(0.00071),
        ),
        _matmul("gemm_float_bias", "f = Gemm(d, e, b)", x=ROWS, w=COLUMNS, b=numbers(5, seed=4) + np.float32(0.0137)),
        _matmul(
            "gemm_beta",
            "c = DequantizeLinear(b, sb)\nf = Gemm<beta = 2.0>(d, e, c)",
            x=ROWS,
            w=COLUMNS,
            b=integers(900, -700, 0, 5000, -3, dtype="int32"),
            sb=BIAS_SCALE,
        ),
        _matmul("conv", "f = Conv(d, e)", x=PICTURE, w=KERNEL),
        _matmul("conv_with_pads", "f = Conv<pads = [1, 0, 0, 2]>(d, e)", x=PICTURE, w=KERNEL),
        _matmul(
            "conv_with_bias",
            "c = DequantizeLinear(b, sb)\nf = Conv(d, e, c)",
            x=PICTURE,
            w=KERNEL,
            b=integers(900, -700, 5000, dtype="int32"),
            sb=BIAS_SCALE,
        ),
        _matmul(
            "conv_with_float_bias", "f = Conv(d, e, b)", x=PICTURE, w=KERNEL, b=numbers(3, seed=4) + np.float32(0.0137)
        ),
        _matmul(
            "conv_bias_of_zeros",
            "c = DequantizeLinear(b, sb)\nf = Conv(d, e, c)",
            x=PICTURE,
            w=KERNEL,
            b=integers(0, 0, 0, dtype="int32"),
            sb=BIAS_SCALE,
        ),
        _matmul("conv_relu", "g = Conv<pads = [1, 1, 1, 1]>(d, e)\nf = Relu(g)", x=PICTURE, w=KERNEL),
        _matmul(
            "conv_weights_of_uint8", "f = Conv(d, e)", x=PICTURE, w=_bytes(3, 2, 2, 3, seed=2), zw=scalar(140, "uint8")
        ),
        _matmul("conv_groups", "f = Conv<group = 2>(d, e)", x=PICTURE, w=_bytes(4, 1, 2, 3, seed=2, dtype="int8")),
    ),
)

FLOAT_PRODUCTS = Rewrite(
    "integer_product_to_float",
    "MatMulInteger",
    ("onnxruntime: MatMulIntegerToFloatFusion", "onnxruntime: DynamicQuantizeMatMulFusion"),
    tuple(
        Model(
            name,
            nodes,
            {"x": x},
            {
                key: value
                for key, value in {
                    "w": COLUMNS,
                    "zx": scalar(131, "uint8"),
                    "zw": scalar(3, "int8"),
                    "s": scalar(0.0173),
                    "r": scalar(0.25),
                    **more,
                }.items()
                if key in _taken(nodes)
            },
        )
        for name, nodes, x, more in (
            ("plain", "m = MatMulInteger(x, w, zx, zw)\nf = Cast<to = 1>(m)\ny = Mul(f, s)", ROWS, {}),
            (
                "product_of_scales",
                "p = Mul(s, r)\nm = MatMulInteger(x, w, zx, zw)\nf = Cast<to = 1>(m)\ny = Mul(f, p)",
                ROWS,
                {},
            ),
            (
                "scales_by_column",
                "p = Mul(s, r)\nm = MatMulInteger(x, w, zx, zw)\nf = Cast<to = 1>(m)\ny = Mul(f, p)",
                ROWS,
                {"r": listed(1, 0.5, 0.25, 2, 3), "zw": integers(3, 0, -5, 1, 2, dtype="int8")},
            ),
            (
                "scales_by_row",
                "p = Mul(s, r)\nm = MatMulInteger(x, w, zx, zw)\nf = Cast<to = 1>(m)\ny = Mul(f, p)",
                ROWS,
                {"r": listed(1, 0.5, 0.25).reshape(3, 1)},
            ),
            (
                "biased",
                "p = Mul(s, r)\nm = MatMulInteger(x, w, zx, zw)\nf = Cast<to = 1>(m)\ng = Mul(f, p)\ny = Add(g, b)",
                ROWS,
                {"b": numbers(5, seed=4)},
            ),
            (
                "biased_by_row",
                "p = Mul(s, r)\nm = MatMulInteger(x, w, zx, zw)\nf = Cast<to = 1>(m)\ng = Mul(f, p)\ny = Add(g, b)",
                ROWS,
                {"b": numbers(3, 1, seed=4)},
            ),
            (
                "without_zero_points",
                "p = Mul(s, r)\nm = MatMulInteger(x, w)\nf = Cast<to = 1>(m)\ny = Mul(f, p)",
                ROWS,
                {},
            ),
            (
                "dynamic",
                "q, s, z = DynamicQuantizeLinear(x)\nm = MatMulInteger(q, w, z, zw)\nf = Cast<to = 1>(m)\np = Mul(s, r)\ny = Mul(f, p)",
                numbers(3, 4, seed=3),
                {},
            ),
            (
                "dynamic_biased",
                "q, s, z = DynamicQuantizeLinear(x)\nm = MatMulInteger(q, w, z, zw)\nf = Cast<to = 1>(m)\np = Mul(s, r)\ng = Mul(f, p)\ny = Add(g, b)",
                numbers(3, 4, seed=3),
                {"b": numbers(5, seed=4)},
            ),
            (
                "dynamic_by_column",
                "q, s, z = DynamicQuantizeLinear(x)\nm = MatMulInteger(q, w, z, zw)\nf = Cast<to = 1>(m)\np = Mul(s, r)\ny = Mul(f, p)",
                numbers(3, 4, seed=3),
                {"r": positive(5, seed=4), "zw": integers(3, 0, -5, 1, 2, dtype="int8")},
            ),
            (
                "dynamic_without_zero_point",
                "q, s, z = DynamicQuantizeLinear(x)\nm = MatMulInteger(q, w)\nf = Cast<to = 1>(m)\np = Mul(s, r)\ny = Mul(f, p)",
                numbers(3, 4, seed=3),
                {},
            ),
            (
                "dynamic_of_a_stack",
                "q, s, z = DynamicQuantizeLinear(x)\nm = MatMulInteger(q, w, z)\nf = Cast<to = 1>(m)\np = Mul(s, r)\ny = Mul(f, p)",
                numbers(2, 3, 4, seed=1) + np.float32(0.3),
                {},
            ),
            (
                "dynamic_scale_is_another",
                "q, s, z = DynamicQuantizeLinear(x)\nm = MatMulInteger(q, w, z, zw)\nf = Cast<to = 1>(m)\np = Mul(r, r)\ny = Mul(f, p)",
                numbers(3, 4, seed=3),
                {},
            ),
            (
                "dynamic_conv",
                "q, s, z = DynamicQuantizeLinear(x)\nm = ConvInteger(q, w, z)\nf = Cast<to = 1>(m)\np = Mul(s, r)\ny = Mul(f, p)",
                numbers(1, 2, 4, 5, seed=3),
                {"w": _bytes(3, 2, 2, 3, seed=2)},
            ),
        )
    ),
)
