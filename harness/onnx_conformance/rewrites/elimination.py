# SPDX-License-Identifier: Apache-2.0
"""Rewrites that remove nodes: those without an effect, those without users, and duplicates."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.rewrites.rewrite import Model, Rewrite, integers, listed, numbers, positive, scalar

X = numbers(2, 3, 4, seed=1)
INFINITE = listed(float("inf"), float("-inf"), -0.0, 0.0, 1.5, -2.5, 0.5)
SPECIAL = np.append(INFINITE, np.float32("nan"))


def _of_x(name: str, nodes: str, *outputs: str, since: int = 13, before: int | None = None, **constants: Any) -> Model:
    return Model(name, nodes, {"x": X}, constants, outputs or ("y",), since, before)


def _of_special(name: str, nodes: str) -> Model:
    of_nan = not any(word in nodes for word in ("Relu", "Sign"))  # Their texts do not define NaN.
    return Model(name, nodes, {"x": SPECIAL if of_nan else INFINITE})


IDENTITY = Rewrite(
    "identity",
    "Identity",
    ("onnxoptimizer: eliminate_identity", "onnxruntime: EliminateIdentity"),
    (
        _of_x("between", "a = Relu(x)\nb = Identity(a)\ny = Neg(b)"),
        _of_x("to_output", "a = Relu(x)\ny = Identity(a)"),
        _of_x("from_input_to_output", "y = Identity(x)"),
        _of_x("two_outputs", "a = Relu(x)\ny = Identity(a)\nz = Identity(a)", "y", "z"),
        _of_x("output_taken_too", "y = Identity(x)\nz = Neg(y)", "z", "y"),
        _of_x("of_a_constant", "y = Identity(c)\nz = Add(x, y)", "y", "z", c=numbers(3, 1, seed=2)),
        _of_x(
            "several_in_a_row",
            "a = Identity(x)\nb = Identity(a)\nd = Identity(b)\ny = Sub(a, d)\nz = Identity(d)",
            "y",
            "z",
        ),
        _of_x("value_and_copy_are_outputs", "y = Neg(x)\nz = Identity(y)", "y", "z"),
        Model(
            "taken_in_a_branch",
            "a = Identity(x)\ny = If(c) <then_branch = then () => (float[] t) { t = Neg(a) }, "
            "else_branch = other () => (float[] e) { e = Identity(a) }>",
            {"x": X, "c": np.array(True)},
        ),
    ),
)

DROPOUT = Rewrite(
    "dropout_without_training",
    "Dropout",
    (
        "onnxoptimizer: eliminate_nop_dropout",
        "onnxruntime: EliminateDropout",
        "onnxscript: dropout_zero_rule",
        "onnxscript: dropout_inference_rule",
    ),
    (
        _of_x("alone", "a = Dropout(x)\ny = Neg(a)"),
        _of_x("ratio", "a = Dropout(x, r)\ny = Neg(a)", r=scalar(0.75)),
        _of_x("ratio_zero", "a = Dropout(x, r)\ny = Neg(a)", r=scalar(0)),
        _of_x("no_training", "a = Dropout(x, r, t)\ny = Neg(a)", r=scalar(0.75), t=np.array(False)),
        _of_x("training_with_ratio_zero", "a = Dropout(x, r, t)\ny = Neg(a)", r=scalar(0), t=np.array(True)),
        _of_x("mask_taken", "y, m = Dropout(x, r)", "y", "m", r=scalar(0.5)),
        _of_x("mask_used", "a, m = Dropout(x)\ny = Where(m, a, b)", b=scalar(9)),
        _of_x("attribute", "a = Dropout<ratio = 0.5>(x)\ny = Neg(a)", since=7, before=12),
        Model("float16", "a = Dropout(x, r)\ny = Neg(a)", {"x": numbers(3, 4, dtype="float16")}, {"r": scalar(0.25)}),
    ),
)

DEAD_ENDS = Rewrite(
    "dead_end",
    "Neg",
    (
        "onnxoptimizer: eliminate_deadend",
        "onnxoptimizer: eliminate_unused_initializer",
        "onnxslim: dead_node_elimination",
    ),
    (
        _of_x("nodes_without_use", "a = Relu(x)\nb = Neg(a)\ny = Abs(x)"),
        _of_x("initializers_without_use", "y = Neg(x)", c=numbers(3, seed=2), i=integers(1, 2, 3)),
        _of_x("of_constants", "a = Neg(c)\ny = Abs(x)", c=numbers(3, seed=2)),
        _of_x("one_output_of_two", "a, b = Split<axis = 2, num_outputs = 2>(x)\ny = Neg(b)", since=18),
        _of_x("second_output", "v, i = TopK<axis = 1>(x, k)\ny = Neg(i)", k=integers(2)),
        _of_x(
            "only_in_a_branch",
            "a = Neg(x)\ny = If(c) <then_branch = then () => (float[] t) { t = Mul(a, d) }, "
            "else_branch = other () => (float[] e) { e = Abs(x) }>",
            c=np.array(True),
            d=numbers(4, seed=5),
        ),
        _of_x("input_without_use", "a = Neg(x)\ny = Identity(c)", c=numbers(3, seed=2)),
        _of_x(
            "loop_without_use",
            "b = Identity(x)\na = Loop(n, , b) <body = body (int64 i, bool go, float[] s) => (bool more, float[] t) "
            "{ more = Identity(go) t = Add(s, s) }>\ny = Neg(x)",
            n=scalar(2, "int64"),
        ),
    ),
)

DUPLICATE_INITIALIZERS = Rewrite(
    "duplicate_initializers",
    "Add",
    ("onnxoptimizer: eliminate_duplicate_initializer", "onnxruntime: ConstantSharing"),
    (
        _of_x("alike", "a = Add(x, c)\ny = Mul(a, d)", c=numbers(4, seed=2), d=numbers(4, seed=2)),
        _of_x("scalars", "a = Add(x, c)\nb = Mul(a, d)\ny = Sub(b, e)", c=scalar(3), d=scalar(3), e=scalar(3)),
        _of_x("one_differs", "a = Add(x, c)\ny = Mul(a, d)", c=listed(1, 2, 3, 4), d=listed(1, 2, 3, 5)),
        _of_x(
            "other_shape",
            "a = Add(x, c)\ny = Add(a, d)",
            c=numbers(3, 4, seed=2),
            d=numbers(4, 3, seed=2)[None].reshape(1, 3, 4),
        ),
        _of_x(
            "vector_and_column",
            "a = Add(x, c)\ny = Mul(a, d)",
            c=listed(2, 3, 5).reshape(3, 1),
            d=listed(2, 3, 5).reshape(1, 3, 1),
        ),
        _of_x(
            "scalar_and_one_element",
            "a = Add(c, c)\nb = Add(d, d)\ny = Shape(a)\nz = Shape(b)\nw = Add(x, a)",
            "y",
            "z",
            "w",
            c=scalar(2),
            d=listed(2),
        ),
        _of_x(
            "zeros_of_both_signs",
            "a = Div(x, c)\nb = Div(x, d)\ny = Add(a, x)\nz = Add(b, x)",
            "y",
            "z",
            c=scalar(0.0),
            d=scalar(-0.0),
        ),
        _of_x(
            "zeros_of_both_signs_in_lists",
            "y = Div(x, c)\nz = Div(x, d)",
            "y",
            "z",
            c=listed(0.0, 0.0, 1, 2),
            d=listed(0.0, -0.0, 1, 2),
        ),
        Model(
            "same_bytes_other_type",
            "a = BitwiseNot(x)\nb = Mul(a, c)\ne = Cast<to = 12>(b)\nz = Div(e, d)\ny = Div(b, c)",
            {"x": integers(1, 7, -9, dtype="int32")},
            {"c": integers(-3, dtype="int32"), "d": integers(4294967293, dtype="uint32")},
            ("y", "z"),
            since=18,
        ),
        Model(
            "output_is_an_initializer_too",
            "y = Add(x, c)\nz = Identity(d)\nw = Identity(c)",
            {"x": X},
            {"c": numbers(4, seed=2), "d": numbers(4, seed=2)},
            ("y", "z", "w"),
        ),
        Model(
            "number_and_bits",
            "y = Add(x, c)\nz = Add(i, d)",
            {"x": listed(1, 2, 3), "i": integers(1, 2, 3, dtype="int32")},
            {"c": listed(1), "d": integers(1065353216, dtype="int32")},
            ("y", "z"),
            since=14,
        ),
    ),
)

COMMON_SUBEXPRESSIONS = Rewrite(
    "common_subexpression",
    "Softmax",
    (
        "onnxoptimizer: eliminate_common_subexpression",
        "onnxruntime: CommonSubexpressionElimination",
        "onnxslim: SubexpressionElimination",
    ),
    (
        _of_x("alike", "a = Softmax<axis = 1>(x)\nb = Softmax<axis = 1>(x)\ny = Add(a, b)"),
        _of_x("outputs_alike", "y = Softmax<axis = 1>(x)\nz = Softmax<axis = 1>(x)", "y", "z"),
        _of_x("one_is_an_output", "y = Softmax<axis = 1>(x)\na = Softmax<axis = 1>(x)\nz = Neg(a)", "y", "z"),
        _of_x("later_one_is_an_output", "a = Softmax<axis = 1>(x)\ny = Softmax<axis = 1>(x)\nz = Neg(a)", "z", "y"),
        _of_x("other_axis", "a = Softmax<axis = 1>(x)\nb = Softmax<axis = 2>(x)\ny = Sub(a, b)"),
        _of_x(
            "default_axis",
            "a = Softmax(x)\nb = Softmax<axis = -1>(x)\nd = Softmax<axis = 2>(x)\ny = Add(a, b)\nz = Add(y, d)",
            "y",
            "z",
        ),
        _of_x(
            "operands_swapped",
            "a = Sub(x, c)\nb = Sub(c, x)\ny = Softmax(a)\nz = Softmax(b)",
            "y",
            "z",
            c=numbers(3, 1),
        ),
        _of_x("in_a_row", "a = Softmax(x)\nb = Softmax(a)\nd = Softmax(b)\ny = Sub(d, b)"),
        _of_x(
            "chains_alike",
            "a = Neg(x)\nb = Softmax(a)\nd = Neg(x)\ne = Softmax(d)\ny = Mul(b, e)\nz = Identity(e)",
            "y",
            "z",
        ),
        _of_x(
            "optional_input_omitted",
            "a = Clip(x, l)\nb = Clip(x, , l)\ne = Clip(x, l, l)\ny = Sub(a, b)\nz = Softmax(y)\nw = Softmax(e)",
            "z",
            "w",
            l=scalar(0.5),
        ),
        _of_x(
            "text_attribute",
            'a = Pad<mode = "edge">(x, p)\nb = Pad<mode = "reflect">(x, p)\nd = Softmax(a)\ne = Softmax(b)\ny = Sub(d, e)',
            p=integers(0, 0, 1, 0, 0, 2),
        ),
        _of_x(
            "cast_to_other_types",
            "a = Cast<to = 10>(x)\nb = Cast<to = 11>(x)\nd = Cast<to = 11>(a)\ny = Softmax(b)\nz = Softmax(d)",
            "y",
            "z",
        ),
        _of_x(
            "as_many_outputs",
            "v, i = TopK<axis = 1>(x, k)\nw, j = TopK<axis = 1, largest = 0>(x, k)\ny = Softmax(v)\nz = Softmax(w)",
            "y",
            "z",
            "i",
            "j",
            k=integers(2),
        ),
        _of_x(
            "one_of_two_outputs",
            "v, i = TopK<axis = 1>(x, k)\nw, j = TopK<axis = 1>(x, k)\ny = Softmax(v)",
            "y",
            "j",
            k=integers(2),
        ),
        _of_x(
            "tensor_attributes",
            "s = Shape(x)\na = ConstantOfShape<value = float[1] {2.0}>(s)\nb = ConstantOfShape<value = float[1] {3.0}>(s)\n"
            "d = Mul(x, a)\ne = Mul(x, b)\ny = Softmax(d)\nz = Softmax(e)",
            "y",
            "z",
        ),
        _of_x(
            "branches_differ",
            "a = If(c) <then_branch = t () => (float[] u) { u = Neg(x) }, else_branch = e () => (float[] v) { v = Abs(x) }>\n"
            "b = If(c) <then_branch = t () => (float[] w) { w = Relu(x) }, else_branch = e () => (float[] q) { q = Abs(x) }>\n"
            "y = Softmax(a)\nz = Softmax(b)",
            "y",
            "z",
            c=np.array(True),
        ),
    ),
)


def _if(
    name: str, then: str, other: str, *, prefix: str = "", suffix: str = "", outputs: int = 1, **constants: Any
) -> Model:
    names = "y" if outputs == 1 else "y, z"
    types = "float[] t" if outputs == 1 else "float[] t, float[] u"
    types_of_other = "float[] e" if outputs == 1 else "float[] e, float[] f"
    nodes = (
        f"{prefix}\n{names} = If(c) <then_branch = then () => ({types}) {{ {then} }}, "
        f"else_branch = other () => ({types_of_other}) {{ {other} }}>\n{suffix}"
    )
    constants = {key: np.asarray(value) for key, value in constants.items()}
    return Model(name, nodes, {"x": X}, constants, tuple(names.split(", ")))


CONSTANT_CONDITION = Rewrite(
    "if_of_a_constant",
    "If",
    ("onnxoptimizer: eliminate_if_with_const_cond", "onnxruntime: ConstantFolding"),
    (
        _if("true", "t = Neg(x)", "e = Abs(x)", c=True),
        _if("false", "t = Neg(x)", "e = Abs(x)", c=False),
        _if("one_element", "t = Neg(x)", "e = Abs(x)", c=[False]),
        _if("computed", "t = Neg(x)", "e = Abs(x)", prefix="c = Not(b)", b=False),
        _if(
            "of_the_rank",
            "t = Neg(x)",
            "e = Abs(x)",
            prefix="s = Shape(x)\nr = Size(s)\nc = Greater(r, two)",
            two=np.array(2),
        ),
        _if(
            "two_outputs",
            "t = Neg(x) u = Mul(x, k)",
            "e = Abs(x) f = Identity(x)",
            outputs=2,
            c=True,
            k=numbers(4, seed=3),
        ),
        _if(
            "two_outputs_swapped",
            "u = Neg(x) t = Mul(x, k)",
            "f = Abs(x) e = Identity(x)",
            outputs=2,
            c=False,
            k=numbers(4, seed=3),
        ),
        _if("shapes_differ", "t = Transpose<perm = [2, 0, 1]>(x)", "e = Identity(x)", c=True),
        _if("passes_on", "t = Identity(a)", "e = Neg(a)", prefix="a = Relu(x)", c=True),
        _if("same_names_inside", "m = Neg(x) t = Exp(m)", "m = Abs(x) e = Log(m)", c=True),
        Model(
            "initializers_as_outputs",
            "y = If(c) <then_branch = then () => (float[2] t) <float[2] t = {0.5, 1.0}> { }, "
            "else_branch = other () => (float[2] e) <float[2] e = {-0.5, -1.0}> { }>\nz = Neg(x)",
            {"x": X},
            {"c": np.asarray(True)},
            ("y", "z"),
        ),
        _if(
            "nested",
            "t = If(d) <then_branch = g () => (float[] a) { a = Neg(x) }, "
            "else_branch = h () => (float[] b) { b = Abs(x) }>",
            "e = Exp(x)",
            c=True,
            d=False,
        ),
        _if(
            "constants_inside",
            "k = Constant<value = float[4] {1.0, -2.0, 3.0, 5.0}>() t = Mul(x, k)",
            "e = Abs(x)",
            c=True,
        ),
    ),
)

IDEMPOTENT = Rewrite(
    "idempotent_in_a_row",
    "Relu",
    ("onnxoptimizer: eliminate_consecutive_idempotent_ops", "onnxscript: successive_relu_rule"),
    (
        _of_special("relu", "a = Relu(x)\ny = Relu(a)"),
        _of_special("relu_thrice", "a = Relu(x)\nb = Relu(a)\ny = Relu(b)"),
        _of_special("ceil", "a = Ceil(x)\ny = Ceil(a)"),
        _of_special("floor", "a = Floor(x)\ny = Floor(a)"),
        _of_special("round", "a = Round(x)\ny = Round(a)"),
        _of_special("absolute", "a = Abs(x)\ny = Abs(a)"),
        _of_special("sign", "a = Sign(x)\ny = Sign(a)"),
        _of_special("negated_twice", "a = Neg(x)\ny = Neg(a)"),
        _of_special("negated_thrice", "a = Neg(x)\nb = Neg(a)\ny = Neg(b)"),
        _of_special("ceil_of_floor", "a = Floor(x)\ny = Ceil(a)"),
        _of_special("floor_of_round", "a = Round(x)\ny = Floor(a)"),
        _of_special("relu_of_negated_relu", "a = Relu(x)\nb = Neg(a)\ny = Relu(b)"),
        _of_x("exp_twice", "a = Exp(x)\ny = Exp(a)"),
        _of_x("leaky_relu", "a = LeakyRelu<alpha = 0.5>(x)\ny = LeakyRelu<alpha = 0.5>(a)", since=16),
        _of_x("elu", "a = Elu(x)\ny = Elu(a)"),
        Model("least_integer", "a = Abs(x)\nb = Abs(a)\ny = Neg(b)", {"x": integers(-127, 127, -3, 0, dtype="int8")}),
        Model("sqrt", "a = Sqrt(x)\ny = Sqrt(a)", {"x": positive(3, 4)}),
    ),
)


def _scatter(name: str, nodes: str, indices: list[Any], *, since: int = 13, **constants: Any) -> Model:
    inputs = {"x": numbers(3, 4, seed=1), "u": numbers(np.shape(indices)[0], 4, seed=2)}
    return Model(name, nodes, inputs, {"i": np.array(indices, np.int64), **constants}, since=since)


REDUNDANT_SCATTER = Rewrite(
    "scatter_of_everything",
    "ScatterND",
    ("onnxscript: no_op_dynamic_scatter_nd_rule", "onnxscript: no_op_static_scatter_nd_rule"),
    (
        _scatter("every_row", "y = ScatterND(x, i, u)", [[0], [1], [2]]),
        _scatter("rows_swapped", "y = ScatterND(x, i, u)", [[1], [0], [2]]),
        _scatter("a_row_left_out", "y = ScatterND(x, i, u)", [[0], [2]]),
        _scatter("rows_from_the_end", "y = ScatterND(x, i, u)", [[-3], [-2], [-1]]),
        _scatter("added", 'y = ScatterND<reduction = "add">(x, i, u)', [[0], [1], [2]], since=16),
        Model(
            "every_row_by_range",
            "s = Shape(x)\nn = Gather(s, zero)\nr = Range(zero, n, one)\ni = Unsqueeze(r, last)\ny = ScatterND(x, i, u)",
            {"x": numbers(3, 4, seed=1), "u": numbers(3, 4, seed=2)},
            {"zero": scalar(0, "int64"), "one": scalar(1, "int64"), "last": integers(-1)},
        ),
        Model(
            "range_of_the_other_axis",
            "s = Shape(x)\nn = Gather(s, axis)\nr = Range(zero, n, one)\ni = Unsqueeze(r, last)\ny = ScatterND(x, i, u)",
            {"x": numbers(4, 3, seed=1), "u": numbers(3, 3, seed=2)},
            {"zero": scalar(0, "int64"), "axis": scalar(1, "int64"), "one": scalar(1, "int64"), "last": integers(-1)},
        ),
    ),
)
