# SPDX-License-Identifier: Apache-2.0
"""Rewrites of nodes that only change shapes: reshape, squeeze, flatten, expand, and calculated shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.rewrites.rewrite import Array, Model, Rewrite, integers, listed, numbers, scalar

X = numbers(2, 3, 4, seed=1)
SQUARE = numbers(4, 4, seed=1)


def _of(
    x: Array, name: str, nodes: str, *outputs: str, since: int = 13, before: int | None = None, **constants: Any
) -> Model:
    return Model(name, nodes, {"x": x}, constants, outputs or ("y",), since, before)


def _of_two(name: str, nodes: str, second: Array, *outputs: str, **constants: Any) -> Model:
    return Model(name, nodes, {"x": X, "v": second}, constants, outputs or ("y",))


RESHAPE = Rewrite(
    "reshape_to_the_same",
    "Reshape",
    ("onnxoptimizer: eliminate_nop_reshape", "onnxslim: EliminationReshape", "onnxruntime: NoopElimination"),
    (
        _of(X, "sizes", "a = Reshape(x, s)\ny = Neg(a)", s=integers(2, 3, 4)),
        _of(X, "zeros", "a = Reshape(x, s)\ny = Neg(a)", s=integers(0, 0, 0)),
        _of(X, "minus_one_and_zeros", "a = Reshape(x, s)\ny = Neg(a)", s=integers(0, -1, 0)),
        _of(X, "minus_one_and_zero_of_other_axes", "a = Reshape(x, s)\ny = Neg(a)", s=integers(-1, 0, 2)),
        _of(X, "zero_adds_nothing", "a = Reshape(x, s)\ny = Neg(a)", s=integers(0, -1)),
        _of(SQUARE, "sizes_coincide", "a = Reshape(x, s)\ny = Neg(a)", s=integers(2, 8)),
        _of(numbers(6, seed=1), "list", "a = Reshape(x, s)\ny = Neg(a)", s=integers(-1)),
        _of(numbers(1, 6, seed=1), "becomes_a_list", "a = Reshape(x, s)\ny = Neg(a)", s=integers(-1)),
        _of(numbers(1, seed=1), "becomes_a_scalar", "a = Reshape(x, s)\ny = Neg(a)", s=integers()),
        _of(X, "own_shape", "q = Shape(x)\na = Reshape(x, q)\ny = Neg(a)"),
        _of(X, "shape_of_another", "r = Transpose(x)\nq = Shape(r)\na = Reshape(x, q)\ny = Neg(a)"),
        _of(
            np.zeros((0, 3), np.float32),
            "nothing_with_allowzero",
            "a = Reshape<allowzero = 1>(x, s)\ny = Neg(a)",
            since=14,
            s=integers(0, 3),
        ),
        _of(
            np.zeros((0, 3), np.float32),
            "nothing_to_other_sizes",
            "a = Reshape<allowzero = 1>(x, s)\ny = Neg(a)",
            since=14,
            s=integers(5, 0),
        ),
    ),
)

RESHAPES = Rewrite(
    "reshapes_in_a_row",
    "Reshape",
    (
        "onnxoptimizer: eliminate_consecutive_idempotent_ops",
        "onnxscript: reshape_reshape_rule",
        "onnxslim: EliminationReshape",
        "onnxscript: squeeze_reshape_1d_rule",
        "onnxscript: flatten_to_reshape_rule",
    ),
    (
        _of(X, "sizes", "a = Reshape(x, s)\ny = Reshape(a, r)", s=integers(6, 4), r=integers(3, 8)),
        _of(X, "minus_ones", "a = Reshape(x, s)\ny = Reshape(a, r)", s=integers(-1), r=integers(4, -1)),
        _of(X, "zero_of_the_first", "a = Reshape(x, s)\ny = Reshape(a, r)", s=integers(6, 4), r=integers(0, 2, 2)),
        _of(
            X, "zero_that_is_not_the_same", "a = Reshape(x, s)\ny = Reshape(a, r)", s=integers(4, 6), r=integers(0, -1)
        ),
        _of(X, "zeros_of_both", "a = Reshape(x, s)\ny = Reshape(a, r)", s=integers(0, 12), r=integers(0, 4, -1)),
        _of_two(
            "with_one_shape_for_two",
            "a = Reshape(x, s)\ny = Reshape(a, r)\nb = Reshape(v, t)\nz = Reshape(b, r)",
            numbers(3, 4, seed=2),
            "y",
            "z",
            s=integers(24, 1),
            t=integers(12, 1),
            r=integers(2, -1),
        ),
        _of(
            X,
            "there_and_back",
            "a = Reshape(x, s)\nb = Reshape(a, r)\ny = Neg(b)",
            s=integers(4, 6),
            r=integers(2, 3, 4),
        ),
        _of(
            X,
            "thrice",
            "a = Reshape(x, s)\nb = Reshape(a, r)\ny = Reshape(b, t)",
            s=integers(4, 6),
            r=integers(8, 3),
            t=integers(0, 3, 1),
        ),
        _of(
            X,
            "amid_relus",
            "a = Reshape(x, s)\nb = Relu(a)\nd = Reshape(b, r)\ny = Neg(d)",
            s=integers(4, 6),
            r=integers(2, 3, 4),
        ),
        _of(
            X,
            "first_taken_too",
            "a = Reshape(x, s)\ny = Reshape(a, r)\nz = ReduceSum(a, t)",
            "y",
            "z",
            s=integers(4, 6),
            r=integers(0, -1),
            t=integers(1),
        ),
        _of(numbers(6, seed=1), "squeezed_list", "a = Squeeze(x)\ny = Reshape(a, s)", s=integers(-1)),
        _of(numbers(1, seed=1), "squeezed_to_a_scalar", "a = Squeeze(x)\ny = Reshape(a, s)", s=integers(-1)),
        _of(numbers(1, 6, 1, seed=1), "squeezed_then_list", "a = Squeeze(x)\ny = Reshape(a, s)", s=integers(1, 1, -1)),
        _of(X, "flattened_then_reshaped", "a = Flatten<axis = 2>(x)\ny = Reshape(a, s)", s=integers(0, 2, 2)),
        _of(
            np.zeros((2, 0), np.float32),
            "nothing",
            "a = Reshape<allowzero = 1>(x, s)\ny = Reshape<allowzero = 1>(a, r)",
            since=14,
            s=integers(0, 7),
            r=integers(3, 0),
        ),
        _of(
            np.zeros((2, 0), np.float32),
            "nothing_zero_copies",
            "a = Reshape<allowzero = 1>(x, s)\ny = Reshape(a, r)",
            since=14,
            s=integers(3, 0),
            r=integers(0, 0),
        ),
    ),
)

RESHAPE_AS = Rewrite(
    "reshape_to_a_shape_calculated",
    "Reshape",
    (
        "onnxoptimizer: fuse_concat_into_reshape",
        "onnxslim: EliminationReshapeAs",
        "onnxslim: FusionConcatReshape",
        "onnxruntime: ReshapeFusion",
        "onnxscript: materialize_reshape_shape_rule",
    ),
    (
        _of(
            X,
            "first_size_kept",
            "q = Shape(x)\ng = Gather(q, i)\nu = Unsqueeze(g, z)\nc = Concat<axis = 0>(u, m)\ny = Reshape(x, c)",
            i=scalar(0, "int64"),
            z=integers(0),
            m=integers(-1),
        ),
        _of(
            X,
            "second_size_first",
            "q = Shape(x)\ng = Gather(q, i)\nu = Unsqueeze(g, z)\nc = Concat<axis = 0>(u, m)\ny = Reshape(x, c)",
            i=scalar(1, "int64"),
            z=integers(0),
            m=integers(-1),
        ),
        _of(
            X,
            "last_size_second",
            "q = Shape(x)\ng = Gather(q, i)\nu = Unsqueeze(g, z)\nc = Concat<axis = 0>(m, u)\ny = Reshape(x, c)",
            i=scalar(-1, "int64"),
            z=integers(0),
            m=integers(-1),
        ),
        _of(
            X,
            "two_sizes",
            "q = Shape(x)\ng = Gather(q, i)\nu = Unsqueeze(g, z)\nh = Gather(q, j)\nv = Unsqueeze(h, z)\nc = Concat<axis = 0>(u, v, m, n)\ny = Reshape(x, c)",
            i=scalar(0, "int64"),
            j=scalar(1, "int64"),
            z=integers(0),
            m=integers(2),
            n=integers(2),
        ),
        _of(
            X,
            "two_sizes_swapped",
            "q = Shape(x)\ng = Gather(q, i)\nu = Unsqueeze(g, z)\nh = Gather(q, j)\nv = Unsqueeze(h, z)\nc = Concat<axis = 0>(u, v, m)\ny = Reshape(x, c)",
            i=scalar(1, "int64"),
            j=scalar(0, "int64"),
            z=integers(0),
            m=integers(-1),
        ),
        _of(
            X,
            "shapes_of_another",
            "t = Transpose<perm = [2, 0, 1]>(x)\nq = Shape(t)\ng = Gather(q, i)\nu = Unsqueeze(g, z)\nc = Concat<axis = 0>(u, m)\ny = Reshape(x, c)",
            i=scalar(0, "int64"),
            z=integers(0),
            m=integers(-1),
        ),
        _of(
            X,
            "sizes_multiplied",
            "q = Shape(x)\ng = Gather(q, i)\nh = Gather(q, j)\np = Mul(g, h)\nu = Unsqueeze(p, z)\nc = Concat<axis = 0>(u, m)\ny = Reshape(x, c)",
            i=scalar(0, "int64"),
            j=scalar(1, "int64"),
            z=integers(0),
            m=integers(-1),
        ),
        _of(
            X,
            "sizes_sliced",
            "q = Shape(x)\ns = Slice(q, b, e)\nc = Concat<axis = 0>(s, m)\ny = Reshape(x, c)",
            b=integers(0),
            e=integers(1),
            m=integers(3, 4),
        ),
        _of(
            X,
            "sizes_sliced_from_the_second",
            "q = Shape(x)\ns = Slice(q, b, e)\nc = Concat<axis = 0>(m, s)\ny = Reshape(x, c)",
            b=integers(2),
            e=integers(9),
            m=integers(-1),
        ),
        _of(X, "shape_kept", "q = Shape(x)\nf = Reshape(x, m)\ng = Relu(f)\ny = Reshape(g, q)", m=integers(-1)),
        _of_two("from_an_input", "q = Reshape(v, m)\ny = Reshape(x, q)", integers(24).reshape(1, 1), m=integers(-1)),
        _of_two(
            "from_an_input_by_cast",
            "i = Cast<to = 7>(v)\nq = Reshape(i, m)\ny = Reshape(x, q)",
            listed(4, 6).reshape(2, 1),
            m=integers(-1),
        ),
        _of(X, "shape_of_the_same_size", "q = Shape(w)\ny = Reshape(x, q)", w=numbers(4, 6, seed=2)),
        _of(
            X,
            "list_of_gathered",
            "q = Shape(x)\ng = Gather(q, i)\nc = Concat<axis = 0>(g, m)\ny = Reshape(x, c)",
            i=integers(0),
            m=integers(-1),
        ),
        _of(
            X,
            "divided",
            "q = Shape(x)\ng = Gather(q, i)\nd = Div(g, k)\nu = Unsqueeze(d, z)\nc = Concat<axis = 0>(n, m, u)\ny = Reshape(x, c)",
            i=scalar(2, "int64"),
            k=scalar(2, "int64"),
            z=integers(0),
            n=integers(0),
            m=integers(-1),
        ),
        _of(
            np.zeros((0, 3, 4), np.float32),
            "nothing",
            "q = Shape(x)\ng = Gather(q, i)\nu = Unsqueeze(g, z)\nc = Concat<axis = 0>(u, m)\ny = Reshape<allowzero = 1>(x, c)",
            since=14,
            i=scalar(0, "int64"),
            z=integers(0),
            m=integers(12),
        ),
    ),
)

SQUEEZE = Rewrite(
    "squeezes_and_unsqueezes",
    "Squeeze",
    ("onnxoptimizer: fuse_consecutive_squeezes", "onnxruntime: TransposeOptimizer"),
    (
        _of(
            numbers(1, 3, 1, 4, seed=1),
            "in_a_row",
            "a = Squeeze(x, s)\ny = Squeeze(a, r)",
            s=integers(0),
            r=integers(1),
        ),
        _of(
            numbers(1, 3, 1, 4, 1, seed=1),
            "in_a_row_from_the_back",
            "a = Squeeze(x, s)\ny = Squeeze(a, r)",
            s=integers(2),
            r=integers(-1),
        ),
        _of(
            numbers(1, 1, 3, 1, seed=1),
            "axes_shift",
            "a = Squeeze(x, s)\ny = Squeeze(a, r)",
            s=integers(1),
            r=integers(0, 2),
        ),
        _of(numbers(1, 3, 1, 4, seed=1), "then_all", "a = Squeeze(x, s)\ny = Squeeze(a)", s=integers(2)),
        _of(
            numbers(1, 3, 1, 4, seed=1),
            "thrice",
            "a = Squeeze(x, s)\nb = Unsqueeze(a, r)\ny = Squeeze(b, t)",
            s=integers(0, 2),
            r=integers(1),
            t=integers(1),
        ),
        _of(
            numbers(1, 3, 1, 4, seed=1),
            "then_unsqueezed",
            "a = Squeeze(x, s)\nb = Unsqueeze(a, s)\ny = Neg(b)",
            s=integers(2),
        ),
        _of(
            numbers(1, 3, 1, 4, seed=1),
            "then_unsqueezed_elsewhere",
            "a = Squeeze(x, s)\nb = Unsqueeze(a, r)\ny = Neg(b)",
            s=integers(2),
            r=integers(1),
        ),
        _of(
            numbers(1, 1, 3, seed=1),
            "axes_as_attributes",
            "a = Squeeze<axes = [0]>(x)\nb = Squeeze<axes = [0]>(a)\ny = Neg(b)",
            since=11,
            before=13,
        ),
        _of(
            numbers(1, 3, 1, 4, seed=1),
            "of_a_cast",
            "a = Squeeze(x, s)\nb = Cast<to = 11>(a)\ny = Squeeze(b, r)",
            s=integers(0),
            r=integers(-2),
        ),
    ),
)

UNSQUEEZE = Rewrite(
    "unsqueezes_in_a_row",
    "Unsqueeze",
    (
        "onnxoptimizer: fuse_consecutive_unsqueezes",
        "onnxscript: unsqueeze_unsqueeze_rule",
        "onnxslim: EliminationUnsqueeze",
        "onnxruntime: UnsqueezeElimination",
    ),
    (
        _of(X, "one_after_the_other", "a = Unsqueeze(x, s)\ny = Unsqueeze(a, r)", s=integers(0), r=integers(1)),
        _of(X, "second_in_front", "a = Unsqueeze(x, s)\ny = Unsqueeze(a, r)", s=integers(1), r=integers(0)),
        _of(X, "the_same_axis", "a = Unsqueeze(x, s)\ny = Unsqueeze(a, s)", s=integers(2)),
        _of(X, "from_the_back", "a = Unsqueeze(x, s)\ny = Unsqueeze(a, r)", s=integers(-1), r=integers(-2)),
        _of(X, "from_the_back_and_front", "a = Unsqueeze(x, s)\ny = Unsqueeze(a, r)", s=integers(-2), r=integers(1)),
        _of(X, "lists", "a = Unsqueeze(x, s)\ny = Unsqueeze(a, r)", s=integers(0, 2), r=integers(1, 4)),
        _of(X, "list_out_of_order", "a = Unsqueeze(x, s)\ny = Unsqueeze(a, r)", s=integers(3, 0), r=integers(-1, 2)),
        _of(X, "then_squeezed", "a = Unsqueeze(x, s)\nb = Squeeze(a, s)\ny = Neg(b)", s=integers(1)),
        _of(
            numbers(1, 3, seed=1),
            "then_others_squeezed",
            "a = Unsqueeze(x, s)\nb = Squeeze(a, r)\ny = Neg(b)",
            s=integers(2),
            r=integers(0),
        ),
        _of(X, "of_a_constant", "a = Unsqueeze(c, s)\ny = Mul(x, a)", c=numbers(3, seed=2), s=integers(1)),
        _of(
            X,
            "of_a_scalar_constant",
            "a = Unsqueeze(c, s)\nb = Add(a, a)\nd = Mul(x, b)\ny = Neg(d)",
            c=scalar(1.5),
            s=integers(0, 1, 2, 3),
        ),
        _of(
            X,
            "axes_as_attributes",
            "a = Unsqueeze<axes = [0]>(x)\ny = Unsqueeze<axes = [0, 2]>(a)",
            since=11,
            before=13,
        ),
    ),
)

FLATTEN = Rewrite(
    "flatten_to_the_same",
    "Flatten",
    ("onnxoptimizer: eliminate_nop_flatten", "onnxscript: flatten_to_reshape_rule"),
    (
        _of(numbers(3, 4, seed=1), "matrix", "a = Flatten(x)\ny = Neg(a)"),
        _of(numbers(3, 4, seed=1), "matrix_from_the_back", "a = Flatten<axis = -1>(x)\ny = Neg(a)"),
        _of(numbers(3, 4, seed=1), "matrix_by_no_axis", "a = Flatten<axis = 0>(x)\ny = Neg(a)"),
        _of(numbers(3, 4, seed=1), "matrix_by_all_axes", "a = Flatten<axis = 2>(x)\ny = Neg(a)"),
        _of(X, "three_axes", "a = Flatten(x)\ny = Neg(a)"),
        _of(X, "three_axes_from_the_back", "a = Flatten<axis = -1>(x)\ny = Neg(a)"),
        _of(numbers(1, 4, seed=1), "row_by_no_axis", "a = Flatten<axis = 0>(x)\ny = Neg(a)"),
        _of(numbers(4, seed=1), "list", "a = Flatten<axis = 0>(x)\ny = Neg(a)"),
        _of(numbers(4, seed=1), "list_by_its_axis", "a = Flatten(x)\ny = Neg(a)"),
        _of(numbers(seed=1), "scalar", "a = Flatten<axis = 0>(x)\ny = Neg(a)"),
        _of(X, "flattened_twice", "a = Flatten<axis = 2>(x)\ny = Flatten<axis = 1>(a)"),
        _of(np.zeros((2, 0, 4), np.float32), "nothing", "a = Flatten(x)\ny = Neg(a)"),
        _of(np.zeros((0, 3, 4), np.float32), "nothing_in_front", "a = Flatten<axis = 2>(x)\ny = Neg(a)"),
    ),
)

EXPAND = Rewrite(
    "expand_to_the_same",
    "Expand",
    ("onnxoptimizer: eliminate_nop_expand", "onnxruntime: ExpandElimination", "onnxscript: no_op_expand_rule"),
    (
        _of(X, "own_sizes", "a = Expand(x, s)\ny = Neg(a)", s=integers(2, 3, 4)),
        _of(X, "ones", "a = Expand(x, s)\ny = Neg(a)", s=integers(1, 1, 1)),
        _of(X, "fewer_axes", "a = Expand(x, s)\ny = Neg(a)", s=integers(3, 1)),
        _of(X, "no_axes", "a = Expand(x, s)\ny = Neg(a)", s=integers()),
        _of(X, "more_axes_of_one", "a = Expand(x, s)\ny = Neg(a)", s=integers(1, 2, 3, 4)),
        _of(X, "more_axes", "a = Expand(x, s)\ny = Neg(a)", s=integers(2, 1, 1, 1)),
        _of(numbers(3, 1, seed=1), "repeats", "a = Expand(x, s)\ny = Neg(a)", s=integers(3, 3)),
        _of(X, "own_shape", "q = Shape(x)\na = Expand(x, q)\ny = Neg(a)"),
        _of(
            numbers(1, 3, seed=1),
            "shape_of_another",
            "q = Shape(w)\na = Expand(x, q)\ny = Neg(a)",
            w=numbers(2, 1, seed=2),
        ),
        _of(numbers(1, 3, seed=1), "to_nothing", "a = Expand(x, s)\ny = Neg(a)", s=integers(0, 3)),
        _of(numbers(seed=1), "scalar", "a = Expand(x, s)\ny = Neg(a)", s=integers()),
        _of(numbers(seed=1), "scalar_to_a_list", "a = Expand(x, s)\ny = Neg(a)", s=integers(1)),
    ),
)

EXPAND_BEFORE_BINARY = Rewrite(
    "expand_before_an_operator_that_repeats",
    "Expand",
    ("onnxscript: _ExpandFirstInput", "onnxscript: _ExpandSecondInput"),
    (
        Model(
            "first", "a = Expand(v, s)\ny = Add(a, x)", {"x": X, "v": numbers(3, 1, seed=2)}, {"s": integers(2, 3, 4)}
        ),
        Model(
            "second", "a = Expand(v, s)\ny = Sub(x, a)", {"x": X, "v": numbers(3, 1, seed=2)}, {"s": integers(2, 3, 4)}
        ),
        Model(
            "both",
            "a = Expand(v, s)\nb = Expand(x, s)\ny = Mul(b, a)",
            {"x": numbers(2, 1, 4), "v": numbers(3, 1, seed=2)},
            {"s": integers(2, 3, 4)},
        ),
        Model(
            "to_more_than_the_other",
            "a = Expand(v, s)\ny = Add(a, x)",
            {"x": numbers(1, 3, 4), "v": numbers(3, 1, seed=2)},
            {"s": integers(2, 3, 4)},
        ),
        Model(
            "adds_an_axis",
            "a = Expand(v, s)\ny = Mul(x, a)",
            {"x": X, "v": numbers(3, 1, seed=2)},
            {"s": integers(1, 1, 1, 1)},
        ),
        Model("partly", "a = Expand(v, s)\ny = Sub(a, x)", {"x": X, "v": numbers(1, 1, seed=2)}, {"s": integers(3, 1)}),
        Model(
            "to_its_shape",
            "q = Shape(x)\na = Expand(v, q)\ny = Div(a, x)",
            {"x": np.abs(X) + 1, "v": numbers(3, 1, seed=2)},
        ),
        Model(
            "compared",
            "a = Expand(v, s)\ny = Less(a, x)\nz = Equal(x, a)",
            {"x": X, "v": numbers(3, 1, seed=2)},
            {"s": integers(2, 3, 4)},
            ("y", "z"),
        ),
        Model(
            "before_pow",
            "a = Expand(v, s)\ny = Pow(x, a)",
            {"x": np.abs(X) + 1, "v": listed(1, 2).reshape(2, 1, 1)},
            {"s": integers(2, 3, 1)},
        ),
        Model(
            "taken_too",
            "a = Expand(v, s)\ny = Add(x, a)\nz = ReduceSum(a, t)",
            {"x": X, "v": numbers(3, 1, seed=2)},
            {"s": integers(2, 3, 4), "t": integers(0)},
            ("y", "z"),
        ),
    ),
)

SHAPE_ARITHMETIC = Rewrite(
    "shape_of_a_known_shape",
    "Shape",
    (
        "onnxoptimizer: eliminate_shape_op",
        "onnxoptimizer: eliminate_shape_gather",
        "onnxoptimizer: eliminate_slice_after_shape",
        "onnxruntime: PreShapeNodeElimination",
        "onnxruntime: ConstantFolding",
        "onnxruntime: ShapeInputMerge",
    ),
    (
        _of(X, "output", "y = Shape(x)"),
        _of(X, "from_an_axis", "y = Shape<start = 1>(x)", since=15),
        _of(X, "from_the_back", "y = Shape<start = -1>(x)", since=15),
        _of(X, "to_an_axis", "y = Shape<end = -1>(x)", since=15),
        _of(X, "of_no_axes", "y = Shape<start = 2, end = 1>(x)", since=15),
        _of(X, "beyond", "y = Shape<start = -9, end = 9>(x)", since=15),
        _of(X, "gathered", "s = Shape(x)\ny = Gather(s, i)", i=scalar(1, "int64")),
        _of(X, "gathered_from_the_back", "s = Shape(x)\ny = Gather(s, i)", i=scalar(-1, "int64")),
        _of(X, "gathered_list", "s = Shape(x)\ny = Gather(s, i)", i=integers(2, 0)),
        _of(X, "gathered_matrix", "s = Shape(x)\ny = Gather(s, i)", i=integers(2, 0, 1, 2).reshape(2, 2)),
        _of(X, "part_gathered", "s = Shape<start = 1>(x)\ny = Gather(s, i)", since=15, i=scalar(-1, "int64")),
        _of(X, "sliced", "s = Shape(x)\ny = Slice(s, b, e)", b=integers(1), e=integers(3)),
        _of(
            X,
            "sliced_from_the_back",
            "s = Shape(x)\ny = Slice(s, b, e, a)",
            b=integers(-2),
            e=integers(-1),
            a=integers(0),
        ),
        _of(
            X,
            "sliced_backwards",
            "s = Shape(x)\ny = Slice(s, b, e, a, p)",
            b=integers(-1),
            e=integers(-9),
            a=integers(0),
            p=integers(-1),
        ),
        _of(X, "part_sliced", "s = Shape<start = 1>(x)\ny = Slice(s, b, e)", since=15, b=integers(1), e=integers(9)),
        _of(X, "through_a_cast", "a = Cast<to = 11>(x)\ny = Shape(a)\nz = Size(a)", "y", "z"),
        _of(X, "through_a_transpose", "a = Transpose<perm = [2, 0, 1]>(x)\ny = Shape(a)"),
        _of(X, "multiplied", "s = Shape(x)\nm = Mul(s, k)\ny = Div(m, d)", k=integers(2, 1, 3), d=scalar(4, "int64")),
        _of(
            numbers(2, 3, seed=1), "as_k", "s = Shape(x)\nk = Gather(s, i)\ny, z = TopK(x, k)", "y", "z", i=integers(-1)
        ),
        _of(scalar(3), "scalar", "y = Shape(x)\nz = Size(x)", "y", "z"),
        _of(np.zeros((2, 0), np.float32), "nothing", "y = Shape(x)\nz = Size(x)", "y", "z"),
        _of(X, "rank", "s = Shape(x)\ny = Size(s)"),
    ),
)
