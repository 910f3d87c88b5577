# SPDX-License-Identifier: Apache-2.0
"""Rewrites that remove conversions: to the same type, there and back, one after another, of constants."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.rewrites.rewrite import Array, Model, Rewrite, integers, listed, numbers, scalar

NAN, INF = float("nan"), float("inf")
FLOATS = listed(0.5, -0.5, 1.75, -2.5, 3.0, 0.0, -0.0, 100.25)
WHOLE = listed(3, -7, 100, 0.0, -0.0, 300)
"""Numbers for conversions to integers. They are whole, because the text does not define the rounding of fractions."""
SPECIAL = listed(NAN, INF, -INF, -0.0, 65504, 65520, 1e-8, 1.00048828125)
HALVES = listed(NAN, INF, -INF, -0.0, 65504, 6e-8, 1.5, dtype="float16")
LARGE = integers(2**24 + 1, -(2**24) - 1, 2**31 - 1, 7)
WIDE = integers(2**53 + 1, -(2**62) - 1, 2**40 + 3, -1)
NUMBER = {
    "float": 1,
    "uint8": 2,
    "int8": 3,
    "uint16": 4,
    "int16": 5,
    "int32": 6,
    "int64": 7,
    "string": 8,
    "bool": 9,
    "float16": 10,
    "double": 11,
    "uint32": 12,
    "uint64": 13,
    "bfloat16": 16,
}


def _cast(name: str, x: Array, *types: str, after: str = "", since: int = 13) -> Model:
    """Return a chain of conversions."""
    names = ["x", *"abcdef"[: len(types) - (not after)], *([] if after else ["y"])]
    nodes = [
        f"{result} = Cast<to = {NUMBER[type_]}>({taken})"
        for taken, result, type_ in zip(names, names[1:], types, strict=False)
    ]
    return Model(name, "\n".join([*nodes, *([after] if after else [])]), {"x": x}, since=since)


def _of(x: Array, name: str, nodes: str, *outputs: str, since: int = 13, **constants: Any) -> Model:
    return Model(name, nodes, {"x": x}, constants, outputs or ("y",), since)


SAME_TYPE = Rewrite(
    "cast_to_the_same_type",
    "Cast",
    ("onnxoptimizer: eliminate_nop_cast", "onnxruntime: CastElimination", "onnxscript: no_op_cast_rule"),
    (
        _cast("float", FLOATS, "float", after="y = Neg(a)"),
        _cast("float16", FLOATS.astype("float16"), "float16", after="y = Neg(a)"),
        _cast("double", FLOATS.astype("float64"), "double", after="y = Neg(a)"),
        _cast("int64", integers(-1, 5), "int64", after="y = Neg(a)"),
        _cast("bool", FLOATS > 0, "bool", after="y = Not(a)"),
        _cast("output", FLOATS, "float"),
        _cast("float_to_double", FLOATS, "double", after="y = Neg(a)"),
        _cast("int32_to_int64", integers(-1, 5, dtype="int32"), "int64", after="y = Neg(a)"),
        _cast("uint8_to_int8", integers(200, 5, dtype="uint8"), "int8", after="y = Neg(a)"),
        _cast("int32_to_uint32", integers(-1, 5, dtype="int32"), "uint32"),
        _cast("float_to_bfloat16", SPECIAL, "bfloat16"),
        Model("like_the_same_type", "a = CastLike(x, z)\ny = Neg(a)", {"x": FLOATS, "z": listed(1)}, since=15),
        Model("like_another_type", "a = CastLike(x, z)\ny = Neg(a)", {"x": WHOLE, "z": integers(1)}, since=15),
    ),
)

CHAINS = Rewrite(
    "casts_in_a_row",
    "Cast",
    ("onnxruntime: CastChainElimination", "onnxscript: cast_cast_rule", "onnxruntime: PropagateCastOps"),
    (
        _cast("float_int32_float", WHOLE, "int32", "float"),
        _cast("float_float16_float", SPECIAL, "float16", "float"),
        _cast("float_bfloat16_float", SPECIAL, "bfloat16", "float"),
        _cast("float_double_float", SPECIAL, "double", "float"),
        _cast("float16_float_float16", HALVES, "float", "float16"),
        _cast("double_float_double", listed(0.1, 1e40, -1e-50, dtype="float64"), "float", "double"),
        _cast("double_float_float16", listed(1.00048828126, 65519.9999, dtype="float64"), "float", "float16"),
        _cast("float_bool_float", FLOATS, "bool", "float"),
        _cast("int32_bool_int32", integers(-3, 0, 1, 256, dtype="int32"), "bool", "int32"),
        _cast("int64_int32_int64", WIDE, "int32", "int64"),
        _cast("int64_int8_int64", integers(127, 128, -129, 300), "int8", "int64"),
        _cast("int64_float_int64", integers(2**24 + 1, -(2**30) - 1, 7), "float", "int64"),
        _cast("int32_int64_int32", LARGE.astype("int32"), "int64", "int32"),
        _cast("int32_float_int32", integers(2**24 + 1, 7, -9, dtype="int32"), "float", "int32"),
        _cast("uint8_int8_int32", integers(0, 127, 128, 255, dtype="uint8"), "int8", "int32"),
        _cast("int8_uint8_int32", integers(-1, 127, -128, dtype="int8"), "uint8", "int32"),
        _cast("float_int64_int32", WHOLE, "int64", "int32"),
        _cast("bool_int32_float", FLOATS > 0, "int32", "float"),
        _cast("float_bool_int64_float", FLOATS, "bool", "int64", "float"),
        _cast("float_float16_double", SPECIAL, "float16", "double"),
        _cast("float_int32_bool", WHOLE, "int32", "bool"),
        _cast("float_double_float_double_float", FLOATS, "double", "float", "double", "float"),
        _of(WHOLE, "first_taken_too", "a = Cast<to = 6>(x)\nb = Cast<to = 1>(a)\ny = Sub(x, b)\nz = Neg(a)", "y", "z"),
    ),
)

DUPLICATES = Rewrite(
    "casts_of_one_value",
    "Cast",
    ("onnxruntime: RemoveDuplicateCastTransformer", "onnxruntime: InsertCastTransformer"),
    (
        _of(SPECIAL, "alike", "a = Cast<to = 10>(x)\nb = Cast<to = 10>(x)\ny = Neg(a)\nz = Abs(b)", "y", "z"),
        _of(
            SPECIAL,
            "there_and_back_beside",
            "a = Cast<to = 10>(x)\nb = Cast<to = 1>(a)\ny = Neg(b)\nz = Neg(x)",
            "y",
            "z",
        ),
        _of(
            FLOATS.astype("float16"),
            "half_added_in_float",
            "a = Cast<to = 1>(x)\nb = Add(a, c)\nd = Cast<to = 10>(b)\ne = Cast<to = 1>(d)\ny = Mul(e, a)",
            c=scalar(0.0009765625),
        ),
        _of(
            listed(1, 2048, 60000, dtype="float16"),
            "half_added_in_half",
            "a = Add(x, c)\nb = Cast<to = 1>(a)\nd = Add(b, e)\ny = Cast<to = 10>(d)",
            c=scalar(1, "float16"),
            e=scalar(0.5),
        ),
        _of(
            SPECIAL,
            "two_types",
            "a = Cast<to = 10>(x)\nb = Cast<to = 11>(x)\nd = Cast<to = 11>(a)\ny = Neg(b)\nz = Neg(d)",
            "y",
            "z",
        ),
        _of(
            WHOLE,
            "to_the_same_from_two",
            "a = Cast<to = 6>(x)\nb = Cast<to = 7>(x)\nd = Cast<to = 7>(a)\ny = Add(b, d)",
        ),
    ),
)


def _filled(name: str, nodes: str, shape: tuple[int, ...] = (2, 3), *, since: int = 13) -> Model:
    """Return a model whose input is a shape, or the tensor x with this shape."""
    inputs = {"x": numbers(*shape)} if "(x)" in nodes else {"s": integers(*shape)}
    return Model(name, nodes, inputs, since=since)


CONSTANT_OF_SHAPE = Rewrite(
    "cast_of_constant_of_shape",
    "ConstantOfShape",
    ("onnxscript: cast_constant_of_shape_rule", "onnxscript: cast_constant_of_shape_without_value_rule"),
    (
        _filled("without_value", "a = ConstantOfShape(s)\ny = Cast<to = 7>(a)"),
        _filled("value", "a = ConstantOfShape<value = float[1] {2.0}>(s)\nb = Cast<to = 6>(a)\ny = Neg(b)"),
        _filled("value_negative", "a = ConstantOfShape<value = float[1] {-2.0}>(s)\ny = Cast<to = 7>(a)"),
        _filled(
            "value_rounds",
            "a = ConstantOfShape<value = float[1] {1.00048828125}>(s)\nb = Cast<to = 10>(a)\ny = Cast<to = 1>(b)",
        ),
        _filled("to_bool", "a = ConstantOfShape<value = float[1] {0.5}>(s)\nb = Cast<to = 9>(a)\ny = Not(b)"),
        _filled("of_bool", "a = ConstantOfShape<value = bool[1] {1}>(s)\ny = Cast<to = 1>(a)"),
        _filled("wraps", "a = ConstantOfShape<value = int64[1] {300}>(s)\ny = Cast<to = 2>(a)"),
        _filled(
            "of_shape",
            "q = Shape(x)\na = ConstantOfShape<value = int32[1] {-3}>(q)\nb = Cast<to = 1>(a)\ny = Mul(b, x)",
        ),
        _filled("nothing", "a = ConstantOfShape<value = int32[1] {-3}>(s)\ny = Cast<to = 1>(a)", (0, 3)),
        _filled("scalar", "a = ConstantOfShape<value = int32[1] {-3}>(s)\ny = Cast<to = 1>(a)", ()),
        _filled(
            "taken_too",
            "a = ConstantOfShape<value = float[1] {2.0}>(s)\nb = Cast<to = 6>(a)\nd = Cast<to = 1>(b)\ny = Sub(a, d)",
        ),
    ),
)

BOOLEANS = Rewrite(
    "cast_of_booleans",
    "Cast",
    ("onnxruntime: CastElimination",),
    (
        _of(FLOATS, "mask_as_factor", "m = Greater(x, c)\nf = Cast<to = 1>(m)\ny = Mul(x, f)", c=scalar(0)),
        _of(SPECIAL, "nan_as_truth", "b = Cast<to = 9>(x)\ny = Not(b)"),
        _of(
            FLOATS,
            "fractions_as_truth",
            "b = Cast<to = 9>(x)\nf = Cast<to = 6>(b)\nr = ReduceSum<keepdims = 0>(f)\ny = Neg(r)",
        ),
        _of(
            np.array([True, False]),
            "not_as_one_less",
            "f = Cast<to = 1>(x)\ny = Sub(one, f)\nz = Not(x)",
            "y",
            "z",
            one=scalar(1),
        ),
    ),
)
