# SPDX-License-Identifier: Apache-2.0
"""Calculations before a model runs: nodes of constants, shapes of constants, other notations of constants."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.rewrites.rewrite import Array, Model, Rewrite, integers, listed, numbers, scalar

X = numbers(2, 3, 4, seed=1)


def _of(
    name: str, nodes: str, *outputs: str, x: Array = X, since: int = 13, before: int | None = None, **constants: Any
) -> Model:
    return Model(name, nodes, {"x": x}, constants, outputs or ("y",), since, before)


WRITTEN = Rewrite(
    "constant_written",
    "Constant",
    ("onnxoptimizer: extract_constant_to_initializer", "onnxruntime: ConstantFolding"),
    (
        _of("tensor", "c = Constant<value = float[4] {1.0, -2.0, 3.5, 0.25}>()\ny = Mul(x, c)"),
        _of("scalar", "c = Constant<value = float {1.5}>()\ny = Mul(x, c)"),
        _of("list_of_one", "c = Constant<value = float[1] {1.5}>()\ny = Mul(x, c)"),
        _of("matrix", "c = Constant<value = float[3, 1] {1.5, -2.0, 0.5}>()\ny = Mul(x, c)"),
        _of("number", "c = Constant<value_float = 1.5>()\ny = Mul(x, c)"),
        _of("numbers", "c = Constant<value_floats = [1.5, 2.0, -1.0, 0.5]>()\ny = Mul(x, c)"),
        _of("integer", "c = Constant<value_int = 3>()\ny = Add(x, c)", x=integers(1, 2)),
        _of("integers", "c = Constant<value_ints = [4, 6]>()\ny = Reshape(x, c)"),
        _of("bytes", "c = Constant<value = uint8[2] {255, 3}>()\nd = Cast<to = 1>(c)\ny = Sub(x, d)", x=listed(1, 2)),
        _of("booleans", "c = Constant<value = bool[4] {1, 0, 0, 1}>()\nz = Neg(x)\ny = Where(c, x, z)"),
        _of(
            "double",
            "c = Constant<value = double[2] {1.5, -2.0}>()\nd = Cast<to = 1>(c)\ny = Mul(x, d)",
            x=listed(1, 2),
        ),
        _of("nothing", "c = Constant<value = float[0] {}>()\ny = Concat<axis = 0>(x, c)", x=listed(1, 2)),
        _of("output", "y = Constant<value = float[2] {1.0, 2.0}>()\nz = Neg(x)", "y", "z"),
        _of(
            "two_alike",
            "c = Constant<value = float[1] {2.0}>()\nd = Constant<value = float {2.0}>()\na = Mul(c, d)\ny = Mul(x, a)\nz = Shape(d)",
            "y",
            "z",
        ),
    ),
)

ARITHMETIC = Rewrite(
    "nodes_of_constants",
    "Add",
    ("onnxruntime: ConstantFolding", "onnxslim: constant_folding"),
    (
        _of("sum", "a = Add(c, d)\ny = Mul(x, a)", c=numbers(4, seed=2), d=numbers(3, 1, seed=3)),
        _of(
            "chain",
            "a = Add(c, d)\nb = Sqrt(a)\ne = Mul(b, d)\ny = Sub(x, e)",
            c=listed(1, 2, 3, 4),
            d=listed(0.5, 0.25, 1, 2),
        ),
        _of(
            "only_constants",
            "a = Add(c, d)\ny = Neg(a)\nz = Relu(x)",
            "y",
            "z",
            c=numbers(4, seed=2),
            d=numbers(4, seed=3),
        ),
        _of(
            "integer_division",
            "a = Div(c, d)\ny = Add(x, a)",
            x=integers(1, 2, 3, dtype="int32"),
            c=integers(-7, 7, -1, dtype="int32"),
            d=integers(2, -2, 2, dtype="int32"),
        ),
        _of(
            "remainders",
            "a = Mod(c, d)\ny = Add(x, a)",
            x=integers(1, 2, 3),
            c=integers(-7, 7, -1),
            d=integers(3, -3, 3),
        ),
        _of(
            "remainder_of_c",
            "a = Mod<fmod = 1>(c, d)\ny = Add(x, a)",
            x=listed(1, 2, 3),
            c=listed(-7, 7, -1),
            d=listed(3, -3, 3),
        ),
        _of(
            "ties", "a = Round(c)\ny = Add(x, a)", x=listed(1, 2, 3, 4, 5, 6), c=listed(0.5, 1.5, 2.5, -0.5, -1.5, -2.5)
        ),
        _of(
            "zeros_and_infinities",
            "a = Div(c, d)\ny = Max(x, a)\nz = Neg(a)",
            "y",
            "z",
            x=listed(1, 2, 3),
            c=listed(1, -1, 1),
            d=listed(0.0, 0.0, -0.0),
        ),
        _of("not_a_number", "a = Div(c, c)\ny = Add(x, a)", x=listed(1, 2), c=listed(0, 3)),
        _of(
            "half",
            "a = Mul(c, d)\nb = Cast<to = 1>(a)\ny = Add(x, b)",
            x=listed(1, 2),
            c=listed(0.1, 3, dtype="float16"),
            d=listed(0.3, 7, dtype="float16"),
        ),
        _of(
            "double",
            "a = Add(c, d)\nb = Cast<to = 1>(a)\ny = Mul(x, b)",
            x=listed(1, 2),
            c=listed(1e-9, 3, dtype="float64"),
            d=listed(1, 7, dtype="float64"),
        ),
        _of("powers", "a = Pow(c, d)\ny = Add(x, a)", x=integers(1, 2), c=integers(3, -2), d=integers(5, 3)),
        _of("transposed", "a = Transpose(c)\ny = MatMul(x, a)", c=numbers(5, 4, seed=2)),
        _of("gathered", "a = Gather<axis = 1>(c, i)\ny = Add(x, a)", c=numbers(3, 6, seed=2), i=integers(5, -6, 0, -1)),
        _of(
            "cumulative",
            "a = CumSum<exclusive = 1, reverse = 1>(c, i)\ny = Add(x, a)",
            c=numbers(3, 4, seed=2),
            i=scalar(-1, "int64"),
        ),
        _of(
            "bits",
            'a = BitShift<direction = "RIGHT">(c, d)\nb = Cast<to = 1>(a)\ny = Add(x, b)',
            x=listed(1, 2),
            c=integers(255, 16, dtype="uint8"),
            d=integers(3, 1, dtype="uint8"),
        ),
        _of(
            "where",
            "a = Where(m, c, d)\ny = Add(x, a)",
            m=np.array([True, False, True, False]),
            c=numbers(4, seed=2),
            d=numbers(3, 1, seed=3),
        ),
        _of(
            "texts",
            "m = Equal(c, d)\na = Where(m, x, e)\ny = Neg(a)",
            since=19,
            c=np.array(["p", "q", "", "p"], object),
            d=np.array(["p", "Q", "", "pp"], object),
            e=scalar(5),
        ),
        _of("reduced", "a = ReduceSum<keepdims = 0>(c, i)\ny = Mul(x, a)", c=numbers(3, 4, seed=2), i=integers(0)),
        _of(
            "quantized_weights",
            "a = DequantizeLinear<axis = 0>(c, s)\ny = MatMul(x, a)",
            c=integers(*range(-10, 10), dtype="int8").reshape(4, 5),
            s=listed(0.5, 0.25, 2, 1),
        ),
    ),
)

SHAPES = Rewrite(
    "arithmetic_of_shapes",
    "Shape",
    ("onnxruntime: ConstantFolding", "onnxruntime: ShapeInputMerge", "onnxslim: constant_folding"),
    (
        _of(
            "flattened_by_product",
            "s = Shape(x)\np = ReduceProd<keepdims = 0>(s)\nu = Unsqueeze(p, a)\ny = Reshape(x, u)",
            a=integers(0),
        ),
        _of("halved", "s = Shape(x)\nd = Div(s, k)\ny = Slice(x, z, d)", k=integers(2, 1, 3), z=integers(0, 0, 0)),
        _of(
            "scaled_by_a_half",
            "s = Shape(x)\nf = Cast<to = 1>(s)\nh = Mul(f, k)\ny = Cast<to = 7>(h)",
            x=numbers(4, 6, seed=1),
            k=scalar(0.5),
        ),
        _of("less_one", "s = Shape(x)\nd = Sub(s, k)\ny = Slice(x, z, d)", k=integers(1, 1, 1), z=integers(0, 0, 0)),
        _of(
            "range_over_an_axis",
            "s = Shape(x)\nn = Gather(s, i)\nr = Range(z, n, o)\ny = Gather<axis = 1>(x, r)",
            i=scalar(1, "int64"),
            z=scalar(0, "int64"),
            o=scalar(1, "int64"),
        ),
        _of("zeros_of_the_shape", "s = Shape(x)\nc = ConstantOfShape(s)\ny = Sub(c, x)"),
        _of(
            "fives_of_a_part",
            "s = Shape<start = 1>(x)\nc = ConstantOfShape<value = float[1] {5.0}>(s)\ny = Sub(c, x)",
            since=15,
        ),
        _of("expanded_to_the_shape", "s = Shape(x)\ne = Expand(c, s)\ny = Add(e, x)", c=numbers(3, 1, seed=2)),
        _of(
            "equal_sizes",
            "s = Shape(x)\ne = Equal(s, m)\nw = Where(e, o, s)\ny = Expand(x, w)",
            m=integers(-1, 3, 4),
            o=integers(1, 1, 1),
        ),
        _of(
            "scattered",
            "s = Shape(x)\nt = ScatterElements(s, i, u)\ny = Reshape(x, t)",
            i=integers(0, 2),
            u=integers(4, 2),
        ),
        _of(
            "of_a_conv",
            "c = Conv(x, w)\ns = Shape(c)\nf = Reshape(c, m)\ny = Reshape(f, s)",
            w=numbers(5, 3, 2, seed=2),
            m=integers(-1),
        ),
        _of("of_nonzero", "n = NonZero(x)\ns = Shape(n)\ny = Gather(s, i)", x=listed(0, 1, 0, 2), i=scalar(1, "int64")),
        _of(
            "pads_by_sizes",
            "s = Shape(x)\nm = Mod(s, k)\np = Concat<axis = 0>(z, m)\ny = Pad(x, p)",
            k=integers(4, 2, 3),
            z=integers(0, 0, 0),
        ),
        _of(
            "trilu_of_sizes",
            "s = Shape<start = 1>(x)\nc = ConstantOfShape<value = float[1] {1.0}>(s)\nt = Trilu<upper = 0>(c)\ny = Mul(t, x)",
            since=15,
        ),
        _of(
            "one_hot",
            "s = Shape(x)\nh = OneHot(s, d, v)\ny = ReduceSum<keepdims = 0>(h, a)",
            d=scalar(5, "int64"),
            v=listed(0, 1),
            a=integers(0),
        ),
    ),
)

LARGE = Rewrite(
    "large_constants",
    "ConstantOfShape",
    ("onnxruntime: ConstantFolding", "onnxslim: constant_folding"),
    (
        _of(
            "filled_then_summed",
            "c = ConstantOfShape<value = float[1] {0.5}>(s)\nr = ReduceSum<keepdims = 0>(c)\ny = Add(x, r)",
            s=integers(64, 96),
        ),
        _of(
            "filled_then_sliced",
            "c = ConstantOfShape<value = int64[1] {7}>(s)\nd = Slice(c, b, e)\nf = Cast<to = 1>(d)\ny = Add(x, f)",
            s=integers(5000),
            b=integers(4996),
            e=integers(5000),
        ),
        _of(
            "expanded",
            "c = Expand(k, s)\nr = ReduceMax<keepdims = 0>(c)\ny = Add(x, r)",
            k=listed(1, 3, 2).reshape(3, 1),
            s=integers(3, 2000),
        ),
        _of(
            "range",
            "r = Range(b, e, p)\ng = Gather(r, i)\nf = Cast<to = 1>(g)\ny = Add(x, f)",
            b=scalar(-5, "int64"),
            e=scalar(15000, "int64"),
            p=scalar(3, "int64"),
            i=integers(0, -1, 17, 4),
        ),
        _of(
            "tiled",
            "t = Tile(k, n)\nr = ReduceSum<keepdims = 0>(t)\ny = Mul(x, r)",
            k=listed(1, -0.5),
            n=integers(3000),
        ),
        _of(
            "filled_with_nothing",
            "c = ConstantOfShape<value = float[1] {0.5}>(s)\nr = ReduceSum<keepdims = 0>(c)\ny = Add(x, r)",
            s=integers(64, 0, 1024),
        ),
    ),
)

CONTROL = Rewrite(
    "loops_of_constants",
    "Loop",
    ("onnxruntime: ConstantFolding",),
    (
        _of(
            "counted",
            "b = Identity(x)\ny = Loop(n, , b) <body = body (int64 i, bool go, float[] s) => (bool more, float[] t) { more = Identity(go) t = Add(s, k) }>",
            n=scalar(3, "int64"),
            k=numbers(4, seed=2),
        ),
        _of(
            "never",
            "b = Neg(x)\ny = Loop(n, , b) <body = body (int64 i, bool go, float[] s) => (bool more, float[] t) { more = Identity(go) t = Add(s, s) }>",
            n=scalar(0, "int64"),
        ),
        _of(
            "condition_false",
            "b = Neg(x)\ny = Loop(n, c, b) <body = body (int64 i, bool go, float[] s) => (bool more, float[] t) { more = Identity(go) t = Add(s, s) }>",
            n=scalar(3, "int64"),
            c=np.array(False),
        ),
        _of(
            "once_by_its_condition",
            "b = Neg(x)\ny = Loop(n, c, b) <body = body (int64 i, bool go, float[] s) => (bool more, float[] t) { more = Not(go) t = Add(s, s) }>",
            n=scalar(3, "int64"),
            c=np.array(True),
        ),
        _of(
            "index_used",
            "b = Identity(x)\ny, z = Loop(n, , b) <body = body (int64 i, bool go, float[] s) => (bool more, float[] t, float[] u) "
            "{ more = Identity(go) f = Cast<to = 1>(i) t = Add(s, f) u = ReduceSum<keepdims = 0>(t) }>",
            "y",
            "z",
            n=scalar(3, "int64"),
        ),
        _of(
            "constant_inside",
            "b = Identity(x)\ny = Loop(n, , b) <body = body (int64 i, bool go, float[] s) => (bool more, float[] t) "
            "{ more = Identity(go) a = Add(k, k) t = Mul(s, a) }>",
            n=scalar(2, "int64"),
            k=listed(1, 0.5, -1, 2),
        ),
    ),
)
