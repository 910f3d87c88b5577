# SPDX-License-Identifier: Apache-2.0
"""Fusions into a matrix product (of transpositions, factors, additions), and rewrites of nodes to a matrix product."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.rewrites.rewrite import Array, Model, Rewrite, integers, listed, numbers, positive, scalar

X, W = numbers(3, 4, seed=1), numbers(4, 5, seed=2)
STACK = numbers(2, 3, 4, seed=1)


def _of(x: Array, name: str, nodes: str, *outputs: str, since: int = 13, **constants: Any) -> Model:
    return Model(name, nodes, {"x": x}, constants, outputs or ("y",), since)


BIAS = Rewrite(
    "matmul_then_add",
    "MatMul",
    (
        "onnxoptimizer: fuse_matmul_add_bias_into_gemm",
        "onnxruntime: MatMulAddFusion",
        "onnxslim: FusionGemm",
        "onnxscript: matmul_add_to_gemm_rule",
        "onnxscript: transpose_a_matmul_add_to_gemm_rule",
        "onnxscript: transpose_b_matmul_add_to_gemm_rule",
        "onnxscript: transpose_ab_matmul_add_to_gemm_rule",
    ),
    (
        _of(X, "by_column", "m = MatMul(x, w)\ny = Add(m, b)", w=W, b=numbers(5, seed=3)),
        _of(X, "by_column_first", "m = MatMul(x, w)\ny = Add(b, m)", w=W, b=numbers(1, 5, seed=3)),
        _of(X, "by_row", "m = MatMul(x, w)\ny = Add(m, b)", w=W, b=numbers(3, 1, seed=3)),
        _of(X, "scalar", "m = MatMul(x, w)\ny = Add(m, b)", w=W, b=scalar(1.5)),
        _of(X, "one_element", "m = MatMul(x, w)\ny = Add(m, b)", w=W, b=listed(1.5)),
        _of(X, "each_element", "m = MatMul(x, w)\ny = Add(m, b)", w=W, b=numbers(3, 5, seed=3)),
        _of(X, "more_axes", "m = MatMul(x, w)\ny = Add(m, b)", w=W, b=numbers(1, 1, 5, seed=3)),
        _of(X, "more_axes_that_repeat", "m = MatMul(x, w)\ny = Add(m, b)", w=W, b=numbers(2, 1, 5, seed=3)),
        _of(numbers(1, 4, seed=1), "row_that_repeats", "m = MatMul(x, w)\ny = Add(m, b)", w=W, b=numbers(3, 5, seed=3)),
        _of(X, "column_that_repeats", "m = MatMul(x, w)\ny = Add(m, b)", w=numbers(4, 1, seed=2), b=numbers(5, seed=3)),
        _of(STACK, "stack", "m = MatMul(x, w)\ny = Add(m, b)", w=W, b=numbers(5, seed=3)),
        _of(STACK, "stacks", "m = MatMul(x, w)\ny = Add(m, b)", w=numbers(2, 4, 5, seed=2), b=numbers(5, seed=3)),
        _of(STACK, "stack_each_element", "m = MatMul(x, w)\ny = Add(m, b)", w=W, b=numbers(2, 3, 5, seed=3)),
        _of(numbers(4, seed=1), "vector", "m = MatMul(x, w)\ny = Add(m, b)", w=W, b=numbers(5, seed=3)),
        _of(X, "by_a_vector", "m = MatMul(x, w)\ny = Add(m, b)", w=numbers(4, seed=2), b=numbers(3, seed=3)),
        _of(X, "square", "m = MatMul(x, w)\ny = Add(m, b)", w=numbers(4, 3, seed=2), b=numbers(3, seed=3)),
        _of(
            numbers(4, 3, seed=1),
            "first_transposed",
            "t = Transpose(x)\nm = MatMul(t, w)\ny = Add(m, b)",
            w=W,
            b=numbers(5, seed=3),
        ),
        _of(
            X,
            "second_transposed",
            "t = Transpose<perm = [1, 0]>(w)\nm = MatMul(x, t)\ny = Add(m, b)",
            w=numbers(5, 4, seed=2),
            b=numbers(5, seed=3),
        ),
        _of(
            numbers(4, 3, seed=1),
            "both_transposed",
            "t = Transpose(x)\nu = Transpose(w)\nm = MatMul(t, u)\ny = Add(m, b)",
            w=numbers(5, 4, seed=2),
            b=numbers(5, seed=3),
        ),
        _of(X, "added_to_itself", "m = MatMul(x, w)\ny = Add(m, m)", w=W),
        _of(X, "subtracted", "m = MatMul(x, w)\ny = Sub(b, m)", w=W, b=numbers(5, seed=3)),
        _of(
            integers(*range(-6, 6), dtype="int32").reshape(3, 4),
            "int32",
            "m = MatMul(x, w)\ny = Add(m, b)",
            w=integers(*range(20), dtype="int32").reshape(4, 5),
            b=integers(1, 2, 3, 4, 5, dtype="int32"),
            since=14,
        ),
        _of(
            X.astype("float64"),
            "double",
            "m = MatMul(x, w)\ny = Add(m, b)",
            w=W.astype("float64"),
            b=numbers(5, seed=3, dtype="float64"),
        ),
        _of(np.zeros((0, 4), np.float32), "no_rows", "m = MatMul(x, w)\ny = Add(m, b)", w=W, b=numbers(5, seed=3)),
        _of(
            np.zeros((3, 0), np.float32),
            "nothing_to_add_up",
            "m = MatMul(x, w)\ny = Add(m, b)",
            w=np.zeros((0, 5), np.float32),
            b=numbers(5, seed=3),
        ),
    ),
)

GEMM = Rewrite(
    "gemm_and_additions",
    "Gemm",
    (
        "onnxruntime: GemmSumFusion",
        "onnxslim: FusionGemmAdd",
        "onnxslim: FusionGemmMul",
        "onnxscript: gemm_to_matmul_add_rule",
        "onnxscript: remove_optional_bias_from_gemm_rule",
    ),
    (
        _of(X, "then_sum", "g = Gemm(x, w)\ny = Sum(g, b)", w=W, b=numbers(5, seed=3)),
        _of(X, "then_sum_each", "g = Gemm(x, w)\ny = Sum(g, b)", w=W, b=numbers(3, 5, seed=3)),
        _of(X, "then_sum_first", "g = Gemm<alpha = 2.0>(x, w)\ny = Sum(b, g)", w=W, b=numbers(3, 1, seed=3)),
        _of(X, "then_sum_of_beta", "g = Gemm<beta = 0.5>(x, w)\ny = Sum(g, b)", w=W, b=numbers(5, seed=3)),
        _of(X, "then_sum_of_three", "g = Gemm(x, w)\ny = Sum(g, b, g)", w=W, b=numbers(5, seed=3)),
        _of(X, "biased_then_sum", "g = Gemm(x, w, c)\ny = Sum(g, b)", w=W, b=numbers(5, seed=3), c=numbers(5, seed=4)),
        _of(X, "sum_of_more_axes", "g = Gemm(x, w)\ny = Sum(g, b)", w=W, b=numbers(2, 1, 5, seed=3)),
        _of(numbers(1, 4, seed=1), "sum_that_repeats", "g = Gemm(x, w)\ny = Sum(g, b)", w=W, b=numbers(3, 5, seed=3)),
        _of(X, "then_add", "g = Gemm(x, w, c)\ny = Add(g, b)", w=W, b=numbers(5, seed=3), c=numbers(5, seed=4)),
        _of(
            X,
            "then_add_of_beta",
            "g = Gemm<alpha = 0.5, beta = 2.0>(x, w, c)\ny = Add(g, b)",
            w=W,
            b=numbers(5, seed=3),
            c=numbers(5, seed=4),
        ),
        _of(
            X,
            "reshaped_then_add",
            "g = Gemm(x, w, c)\nr = Reshape(g, s)\ny = Add(r, b)",
            w=W,
            b=numbers(5, seed=3),
            c=numbers(5, seed=4),
            s=integers(1, 3, 5),
        ),
        _of(
            X, "then_add_by_row", "g = Gemm(x, w, c)\ny = Add(g, b)", w=W, b=numbers(3, 1, seed=3), c=numbers(5, seed=4)
        ),
        _of(X, "then_mul", "g = Gemm(x, w, c)\ny = Mul(g, b)", w=W, b=numbers(5, seed=3), c=numbers(5, seed=4)),
        _of(
            X,
            "then_mul_transposed",
            "g = Gemm<transB = 1>(x, w, c)\ny = Mul(g, b)",
            w=numbers(5, 4, seed=2),
            b=numbers(5, seed=3),
            c=numbers(3, 1, seed=4),
        ),
        _of(
            X, "then_mul_by_row", "g = Gemm(x, w, c)\ny = Mul(g, b)", w=W, b=numbers(3, 1, seed=3), c=numbers(5, seed=4)
        ),
        _of(
            X,
            "then_mul_scalar_of_beta",
            "g = Gemm<beta = 0.5>(x, w, c)\ny = Mul(g, b)",
            w=W,
            b=scalar(3),
            c=numbers(5, seed=4),
        ),
        _of(X, "bias_of_zeros", "g = Gemm(x, w, c)\ny = Neg(g)", w=W, c=np.zeros(5, np.float32)),
        _of(X, "bias_of_some_zeros", "g = Gemm(x, w, c)\ny = Neg(g)", w=W, c=listed(0, 0, 0, 0, 1)),
        _of(X, "beta_zero", "g = Gemm<beta = 0.0>(x, w, c)\ny = Neg(g)", w=W, c=numbers(5, seed=4)),
        _of(
            X,
            "two_in_a_row",
            "g = Gemm<transB = 1>(x, w, c)\ny = Gemm(g, v)",
            w=numbers(5, 4, seed=2),
            c=numbers(5, seed=4),
            v=numbers(5, 2, seed=5),
        ),
    ),
)

GEMM_TRANSPOSE = Rewrite(
    "transpose_and_gemm",
    "Gemm",
    ("onnxoptimizer: fuse_transpose_into_gemm", "onnxruntime: GemmTransposeFusion", "onnxslim: FusionGemm"),
    (
        _of(numbers(4, 3, seed=1), "first", "t = Transpose(x)\ny = Gemm(t, w, c)", w=W, c=numbers(5, seed=3)),
        _of(
            X,
            "second",
            "t = Transpose<perm = [1, 0]>(w)\ny = Gemm(x, t, c)",
            w=numbers(5, 4, seed=2),
            c=numbers(5, seed=3),
        ),
        _of(X, "first_twice", "t = Transpose(x)\ny = Gemm<transA = 1>(t, w, c)", w=W, c=numbers(5, seed=3)),
        _of(
            X, "second_twice", "t = Transpose(w)\ny = Gemm<transB = 1, alpha = 2.0>(x, t, c)", w=W, c=numbers(5, seed=3)
        ),
        _of(
            numbers(4, 3, seed=1), "both", "t = Transpose(x)\nu = Transpose(w)\ny = Gemm(t, u)", w=numbers(5, 4, seed=2)
        ),
        _of(numbers(4, 4, seed=1), "with_itself", "t = Transpose(x)\ny = Gemm(t, x)"),
        _of(X, "not_transposed", "t = Transpose<perm = [0, 1]>(x)\ny = Gemm(t, w)", w=W),
        _of(X, "bias", "t = Transpose(c)\ny = Gemm(x, w, t)", w=W, c=numbers(5, 3, seed=3)),
        _of(X, "product", "g = Gemm(x, w)\ny = Transpose(g)", w=W),
        _of(X, "product_with_bias", "g = Gemm<alpha = 0.5>(x, w, c)\ny = Transpose(g)", w=W, c=numbers(5, seed=3)),
        _of(
            numbers(4, 3, seed=1),
            "product_of_transposed",
            "g = Gemm<transA = 1, transB = 1>(x, w)\ny = Transpose(g)",
            w=numbers(5, 4, seed=2),
        ),
        _of(numbers(4, 3, seed=1), "taken_too", "t = Transpose(x)\ny = Gemm(t, w)\nz = Neg(t)", "y", "z", w=W),
    ),
)

SCALE = Rewrite(
    "matmul_and_factors",
    "MatMul",
    ("onnxruntime: MatMulScaleFusion",),
    (
        _of(STACK, "first_divided", "a = Div(x, s)\ny = MatMul(a, w)", w=W, s=scalar(8)),
        _of(
            STACK, "both_multiplied", "a = Mul(x, s)\nb = Mul(r, w)\ny = MatMul(a, b)", w=W, s=scalar(0.5), r=scalar(3)
        ),
        _of(STACK, "product_multiplied", "m = MatMul(x, w)\ny = Mul(m, s)", w=W, s=scalar(0.125)),
        _of(STACK, "product_divided_by_one_element", "m = MatMul(x, w)\ny = Div(m, s)", w=W, s=listed(4)),
        _of(
            STACK,
            "divided_by_the_product",
            "m = MatMul(x, w)\na = Abs(m)\nb = Add(a, s)\ny = Div(s, b)",
            w=W,
            s=scalar(4),
        ),
        _of(positive(2, 3, 4), "scale_divided_by_the_first", "a = Div(s, x)\ny = MatMul(a, w)", w=W, s=scalar(2)),
        _of(STACK, "by_column", "m = MatMul(x, w)\ny = Mul(m, s)", w=W, s=listed(1, 2, 3, 4, 5)),
        _of(STACK, "by_inner", "a = Mul(x, s)\ny = MatMul(a, w)", w=W, s=listed(1, 2, 3, 4)),
        _of(
            STACK, "scale_of_more_axes", "m = MatMul(x, w)\ny = Mul(m, s)", w=W, s=np.full((1, 1, 1, 1), 3, np.float32)
        ),
        _of(
            STACK,
            "scale_of_more_axes_before",
            "a = Mul(x, s)\ny = MatMul(a, w)",
            w=W,
            s=np.full((1, 1, 1, 1), 3, np.float32),
        ),
        _of(
            listed(1, -2, 3, 0.5),
            "vector_scaled_to_a_matrix",
            "a = Mul(x, s)\ny = MatMul(a, w)",
            w=W,
            s=listed(3).reshape(1, 1),
        ),
        _of(
            STACK,
            "transposed_and_scaled",
            "t = Transpose<perm = [0, 2, 1]>(x)\na = Mul(t, s)\ny = MatMul(a, w)",
            w=numbers(3, 5, seed=2),
            s=scalar(2),
        ),
        _of(STACK, "taken_too", "a = Mul(x, s)\ny = MatMul(a, w)\nz = Neg(a)", "y", "z", w=W, s=scalar(2)),
        _of(STACK, "zero", "m = MatMul(x, w)\ny = Mul(m, s)", w=W, s=scalar(0)),
    ),
)

NORMALIZED = Rewrite(
    "matmul_batch_normalization",
    "MatMul",
    ("onnxruntime: MatMul_BatchNormalization_Fusion", "onnxscript: fuse_batchnorm_into_gemm_rule"),
    tuple(
        _of(
            x,
            name,
            nodes,
            since=15,
            w=W,
            s=positive(size, seed=3),
            b=numbers(size, seed=4),
            m=numbers(size, seed=5),
            v=positive(size, seed=6),
            **more,
        )
        for name, x, nodes, size, more in (
            ("plain", X, "p = MatMul(x, w)\ny = BatchNormalization(p, s, b, m, v)", 5, {}),
            ("gemm", X, "p = Gemm(x, w, c)\ny = BatchNormalization(p, s, b, m, v)", 5, {"c": numbers(5, seed=7)}),
            (
                "gemm_without_bias",
                X,
                "p = Gemm<alpha = 2.0>(x, w)\ny = BatchNormalization<epsilon = 0.5>(p, s, b, m, v)",
                5,
                {},
            ),
            (
                "gemm_with_beta",
                X,
                "p = Gemm<alpha = 2.0, beta = 0.5>(x, w, c)\ny = BatchNormalization(p, s, b, m, v)",
                5,
                {"c": numbers(5, seed=7)},
            ),
            (
                "gemm_bias_by_row",
                X,
                "p = Gemm(x, w, c)\ny = BatchNormalization(p, s, b, m, v)",
                5,
                {"c": numbers(3, 1, seed=7)},
            ),
            (
                "gemm_transposed",
                numbers(4, 3),
                "u = Transpose(w)\np = Gemm<transA = 1, transB = 1>(x, u, c)\ny = BatchNormalization(p, s, b, m, v)",
                5,
                {"c": numbers(5, seed=7)},
            ),
            ("stack", STACK, "p = MatMul(x, w)\ny = BatchNormalization(p, s, b, m, v)", 3, {}),
            (
                "reshape_between",
                X,
                "p = MatMul(x, w)\nq = Reshape(p, r)\ny = BatchNormalization(q, s, b, m, v)",
                5,
                {"r": integers(0, 5, 1, 1)},
            ),
            (
                "transpose_between",
                STACK,
                "p = MatMul(x, w)\nq = Transpose<perm = [0, 2, 1]>(p)\ny = BatchNormalization(q, s, b, m, v)",
                5,
                {},
            ),
            (
                "transpose_and_reshape_between",
                STACK,
                "p = MatMul(x, w)\nq = Transpose<perm = [0, 2, 1]>(p)\nt = Reshape(q, r)\ny = BatchNormalization(t, s, b, m, v)",
                5,
                {"r": integers(0, 0, 3, 1)},
            ),
            (
                "another_reshape_between",
                numbers(6, 4),
                "p = MatMul(x, w)\nq = Reshape(p, r)\ny = BatchNormalization(q, s, b, m, v)",
                3,
                {"r": integers(2, 3, 5)},
            ),
        )
    ),
)

EINSUM = Rewrite(
    "einsum_as_matmul",
    "Einsum",
    ("onnxoptimizer: replace_einsum_with_matmul",),
    (
        Model(
            "shape_taken_alone",
            'e = Einsum<equation = "ij,kj->ik">(x, w)\ny = Shape(e)',
            {"x": numbers(2, 3, seed=1)},
            {"w": numbers(4, 3, seed=2)},
        ),
        *(
            Model(
                name,
                f'y = Einsum<equation = "{equation}">(x, w)',
                {"x": numbers(*left, seed=1)},
                {"w": numbers(*right, seed=2)},
            )
            for name, equation, left, right in (
                ("matrices", "ij,jk->ik", (3, 4), (4, 5)),
                ("second_transposed", "ij,kj->ik", (3, 4), (5, 4)),
                ("first_transposed", "ji,jk->ik", (4, 3), (4, 5)),
                ("product_transposed", "ij,jk->ki", (3, 4), (4, 5)),
                ("square_matrices", "ij,kj->ik", (4, 4), (4, 4)),
                ("stacks", "bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
                ("heads", "bhid,bhjd->bhij", (2, 3, 4, 5), (2, 3, 2, 5)),
                ("heads_in_the_middle", "bihd,bjhd->bhij", (2, 4, 3, 5), (2, 2, 3, 5)),
                ("values", "bhij,bhjd->bhid", (2, 3, 4, 2), (2, 3, 2, 5)),
                ("stack_by_matrix", "bij,jk->bik", (2, 3, 4), (4, 5)),
                ("elementwise", "ij,ij->ij", (3, 4), (3, 4)),
                ("outer", "i,j->ij", (3,), (4,)),
                ("inner", "i,i->", (4,), (4,)),
                ("without_result", "ij,jk", (3, 4), (4, 5)),
                ("without_result_sorted", "bj,ja", (3, 4), (4, 5)),
                ("ellipsis", "...ij,...jk->...ik", (2, 3, 4), (2, 4, 5)),
                ("sums_more", "bij,jk->ik", (2, 3, 4), (4, 5)),
                ("batch_of_one", "bij,bjk->bik", (1, 4, 4), (1, 4, 4)),
            )
        ),
    ),
)

BROADCAST = Rewrite(
    "reshapes_around_matmul",
    "MatMul",
    ("onnxscript: two_reshapes_matmul_reshape_rule", "onnxscript: one_reshape_matmul_reshape_rule"),
    (
        _of(
            numbers(1, 2, 3, 4, seed=1),
            "two",
            "a = Reshape(x, s)\nb = Reshape(w, r)\nm = MatMul(a, b)\ny = Reshape(m, t)",
            w=numbers(2, 4, 5, seed=2),
            s=integers(2, 3, 4),
            r=integers(2, 4, 5),
            t=integers(1, 2, 3, 5),
        ),
        _of(
            numbers(1, 2, 3, 4, seed=1),
            "one",
            "a = Reshape(x, s)\nm = MatMul(a, w)\ny = Reshape(m, t)",
            w=numbers(4, 5, seed=2),
            s=integers(6, 4),
            t=integers(1, 2, 3, 5),
        ),
        _of(
            numbers(2, 3, 4, seed=1),
            "joins_rows_and_columns",
            "a = Reshape(x, s)\nm = MatMul(a, w)\ny = Reshape(m, t)",
            w=numbers(12, 5, seed=2),
            s=integers(2, 12),
            t=integers(2, 1, 5),
        ),
        _of(
            numbers(2, 4, 4, seed=1),
            "rows_are_not_rows",
            "a = Reshape(x, s)\nm = MatMul(a, w)\ny = Reshape(m, t)",
            w=numbers(4, 4, seed=2),
            s=integers(4, 2, 4),
            t=integers(2, 4, 4),
        ),
        _of(
            numbers(4, 2, 4, seed=1),
            "rows_swap",
            "a = Reshape(x, s)\nb = Reshape(w, r)\nm = MatMul(a, b)\ny = Reshape(m, t)",
            w=numbers(2, 4, 4, seed=2),
            s=integers(2, 4, 4),
            r=integers(2, 4, 4),
            t=integers(4, 2, 4),
        ),
        _of(
            numbers(4, 4, seed=1),
            "vector_from_a_row",
            "a = Reshape(x, s)\nm = MatMul(a, w)\ny = Reshape(m, t)",
            w=numbers(4, seed=2),
            s=integers(2, 2, 4),
            t=integers(4, 1),
        ),
        _of(
            numbers(3, 4, seed=1),
            "result_of_another_order",
            "a = Reshape(x, s)\nb = Reshape(w, r)\nm = MatMul(a, b)\ny = Reshape(m, t)",
            w=numbers(4, 5, seed=2),
            s=integers(1, 3, 4),
            r=integers(1, 4, 5),
            t=integers(5, 3),
        ),
    ),
)

ACTIVATION = Rewrite(
    "gemm_then_activation",
    "Gemm",
    ("onnxruntime: GemmActivationFusion", "onnxruntime: MatMulActivationFusion"),
    tuple(
        _of(X, name, f"g = Gemm(x, w, c)\n{node}", *outputs, w=W, c=numbers(5, seed=3), since=since, **more)
        for name, node, outputs, since, more in (
            ("relu", "y = Relu(g)", (), 14, {}),
            ("leaky_relu", "y = LeakyRelu<alpha = 0.5>(g)", (), 16, {}),
            ("leaky_relu_default", "y = LeakyRelu(g)", (), 16, {}),
            ("leaky_relu_negative", "y = LeakyRelu<alpha = -0.5>(g)", (), 16, {}),
            ("sigmoid", "y = Sigmoid(g)", (), 13, {}),
            ("tanh", "y = Tanh(g)", (), 13, {}),
            ("elu", "y = Elu<alpha = 0.25>(g)", (), 13, {}),
            ("selu", "y = Selu(g)", (), 13, {}),
            ("softplus", "y = Softplus(g)", (), 13, {}),
            ("softsign", "y = Softsign(g)", (), 13, {}),
            ("hard_sigmoid", "y = HardSigmoid<alpha = 0.125, beta = 0.375>(g)", (), 13, {}),
            ("thresholded_relu", "y = ThresholdedRelu<alpha = 1.1>(g)", (), 13, {}),
            ("relu_of_a_sum", "h = Add(g, k)\ny = Relu(h)", (), 14, {"k": numbers(3, 1, seed=4)}),
            ("two_activations", "y = Relu(g)\nz = Tanh(g)", ("y", "z"), 14, {}),
            ("clip", "y = Clip(g, l, h)", (), 13, {"l": scalar(-1.3), "h": scalar(2.7)}),
        )
    ),
)
