# SPDX-License-Identifier: Apache-2.0
"""Rewrites of transpositions: removed, joined, moved past other nodes, turned into a reshape."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.rewrites.rewrite import Array, Model, Rewrite, integers, listed, numbers, positive

X = numbers(2, 3, 4, seed=1)
PICTURE = numbers(2, 3, 4, 5, seed=1)
TO_LAST, TO_FIRST = "perm = [0, 2, 3, 1]", "perm = [0, 3, 1, 2]"


def _of(
    x: Array, name: str, nodes: str, *outputs: str, since: int = 13, before: int | None = None, **constants: Any
) -> Model:
    return Model(name, nodes, {"x": x}, constants, outputs or ("y",), since, before)


def _pushed(name: str, nodes: str, *outputs: str, x: Array = PICTURE, since: int = 13, **constants: Any) -> Model:
    """Return nodes between a transposition to NHWC (from x to t) and the inverse one (from r to y)."""
    return _of(
        x,
        name,
        f"t = Transpose<{TO_LAST}>(x)\n{nodes}\ny = Transpose<{TO_FIRST}>(r)",
        "y",
        *outputs,
        since=since,
        **constants,
    )


NO_OP = Rewrite(
    "transpose_to_the_same",
    "Transpose",
    ("onnxoptimizer: eliminate_nop_transpose", "onnxscript: no_op_transpose_rule", "onnxslim: EliminationTranspose"),
    (
        _of(X, "identity", "a = Transpose<perm = [0, 1, 2]>(x)\ny = Neg(a)"),
        _of(X, "identity_as_output", "y = Transpose<perm = [0, 1, 2]>(x)"),
        _of(X, "default", "a = Transpose(x)\ny = Neg(a)"),
        _of(numbers(3, seed=1), "default_of_one_axis", "a = Transpose(x)\ny = Neg(a)"),
        _of(numbers(seed=1), "of_a_scalar", "a = Transpose(x)\ny = Neg(a)"),
        _of(numbers(3, 3, seed=1), "square", "a = Transpose<perm = [1, 0]>(x)\ny = Neg(a)"),
        _of(numbers(1, 3, 1, 4, seed=1), "moves_only_ones", "a = Transpose<perm = [2, 1, 0, 3]>(x)\ny = Neg(a)"),
        _of(numbers(1, 3, 1, 4, seed=1), "moves_a_one", "a = Transpose<perm = [1, 0, 2, 3]>(x)\ny = Neg(a)"),
        _of(numbers(0, 3, seed=1), "nothing", "a = Transpose<perm = [1, 0]>(x)\ny = Neg(a)"),
        _of(integers(1, 2, 3, 4, 5, 6).reshape(2, 3), "int64", "a = Transpose<perm = [0, 1]>(x)\ny = Neg(a)"),
    ),
)

IN_A_ROW = Rewrite(
    "transposes_in_a_row",
    "Transpose",
    (
        "onnxoptimizer: fuse_consecutive_transposes",
        "onnxscript: transpose_transpose_rule",
        "onnxruntime: TransposeOptimizer",
        "onnxslim: EliminationTranspose",
    ),
    (
        _of(X, "cancel", "a = Transpose<perm = [2, 0, 1]>(x)\nb = Transpose<perm = [1, 2, 0]>(a)\ny = Neg(b)"),
        _of(X, "do_not_cancel", "a = Transpose<perm = [2, 0, 1]>(x)\nb = Transpose<perm = [2, 0, 1]>(a)\ny = Neg(b)"),
        _of(X, "cancel_to_output", "a = Transpose<perm = [1, 0, 2]>(x)\ny = Transpose<perm = [1, 0, 2]>(a)"),
        _of(X, "defaults_cancel", "a = Transpose(x)\nb = Transpose(a)\ny = Neg(b)"),
        _of(X, "default_and_other", "a = Transpose(x)\nb = Transpose<perm = [0, 2, 1]>(a)\ny = Neg(b)"),
        _of(
            X,
            "thrice",
            "a = Transpose<perm = [2, 0, 1]>(x)\nb = Transpose<perm = [2, 0, 1]>(a)\nd = Transpose<perm = [2, 0, 1]>(b)\ny = Neg(d)",
        ),
        _of(
            numbers(3, 3, 3, seed=1),
            "cube",
            "a = Transpose<perm = [2, 0, 1]>(x)\nb = Transpose<perm = [0, 2, 1]>(a)\ny = Neg(b)",
        ),
        _of(
            PICTURE,
            "four_axes",
            "a = Transpose<perm = [3, 1, 0, 2]>(x)\nb = Transpose<perm = [1, 3, 2, 0]>(a)\ny = Neg(b)",
        ),
        _of(
            X,
            "first_taken_too",
            "a = Transpose<perm = [2, 0, 1]>(x)\ny = Transpose<perm = [1, 2, 0]>(a)\nz = Neg(a)",
            "y",
            "z",
        ),
        _of(
            X,
            "two_after_one",
            "a = Transpose<perm = [2, 0, 1]>(x)\nb = Transpose<perm = [1, 2, 0]>(a)\nd = Transpose<perm = [2, 0, 1]>(a)\ny = Neg(b)\nz = Neg(d)",
            "y",
            "z",
        ),
    ),
)

PAST_ELEMENTWISE = Rewrite(
    "transpose_past_elementwise",
    "Transpose",
    ("onnxruntime: TransposeOptimizer",),
    (
        _pushed("relu", "r = Relu(t)"),
        _pushed(
            "several",
            "a = Neg(t)\nb = Abs(a)\nr = Clip(b, l, h)",
            l=np.array(0.25, np.float32),
            h=np.array(1, np.float32),
        ),
        _pushed("add_by_channel", "r = Add(t, c)", c=numbers(3, seed=2)),
        _pushed("add_by_width", "r = Add(t, c)", c=numbers(5, 1, seed=2)),
        _pushed("add_each", "r = Sub(c, t)", c=numbers(4, 5, 3, seed=2)),
        _pushed(
            "add_more_axes",
            "a = Mul(t, c)\nb = Shape(a)\nr = Squeeze(a, s)",
            "b",
            c=numbers(1, 1, 4, 1, 1, seed=2),
            s=integers(0),
        ),
        _pushed("square", "r = Add(t, c)", x=numbers(3, 3, 3, 3, seed=1), c=numbers(3, seed=2)),
        _pushed("scalar", "r = Mul(t, c)", c=np.array(3, np.float32)),
        _pushed("two_of_one", "a = Relu(t)\nr = Sub(a, t)"),
        _pushed("prelu_by_channel", "r = PRelu(t, c)", c=numbers(3, seed=2), since=16),
        _pushed("where", "m = Greater(t, c)\nr = Where(m, t, d)", c=numbers(3, seed=2), d=numbers(5, 1, seed=3)),
        _pushed("taken_too", "r = Relu(t)\nz = Neg(r)", "z"),
        _pushed("cast", "a = Cast<to = 11>(t)\nb = Neg(a)\nr = Cast<to = 1>(b)"),
        Model(
            "both_operands",
            "t = Transpose<perm = [0, 2, 3, 1]>(x)\nu = Transpose<perm = [0, 2, 3, 1]>(v)\nr = Sub(t, u)\ny = Transpose<perm = [0, 3, 1, 2]>(r)",
            {"x": PICTURE, "v": numbers(2, 3, 4, 5, seed=7)},
        ),
        Model(
            "other_permutations",
            "t = Transpose<perm = [0, 2, 1]>(x)\nu = Transpose<perm = [2, 1, 0]>(v)\ny = Sub(t, u)",
            {"x": X, "v": numbers(3, 4, 2, seed=7)},
        ),
        Model(
            "operands_of_other_rank",
            "t = Transpose<perm = [1, 0, 2]>(x)\nu = Transpose<perm = [1, 0]>(v)\ny = Sub(t, u)",
            {"x": numbers(3, 2, 3, seed=1), "v": numbers(3, 3, seed=7)},
        ),
    ),
)

PAST_AXES = Rewrite(
    "transpose_past_axes",
    "Transpose",
    ("onnxruntime: TransposeOptimizer",),
    (
        _pushed("softmax", "r = Softmax<axis = 3>(t)"),
        _pushed("softmax_from_the_end", "r = Softmax<axis = -2>(t)"),
        _pushed("log_softmax_default", "r = LogSoftmax(t)"),
        _of(
            PICTURE,
            "mean_attribute",
            f"t = Transpose<{TO_LAST}>(x)\nr = ReduceMean<axes = [1, 2]>(t)\ny = Transpose<{TO_FIRST}>(r)",
            before=18,
        ),
        _pushed("mean_input", "r = ReduceMean(t, a)", a=integers(1, -1), since=18),
        _pushed("sum", "r = ReduceSum(t, a)", a=integers(-1)),
        _pushed("sum_of_no_axes", "r = ReduceSum<noop_with_empty_axes = 1>(t, a)", a=integers()),
        _pushed("sum_of_all_axes", "r = ReduceSum(t, a)", a=integers()),
        _of(
            PICTURE,
            "sum_drops_axes",
            f"t = Transpose<{TO_LAST}>(x)\nr = ReduceSum<keepdims = 0>(t, a)\ny = Transpose<perm = [2, 0, 1]>(r)",
            a=integers(1),
        ),
        _of(PICTURE, "maximum_drops_all", f"t = Transpose<{TO_LAST}>(x)\nr = ReduceMax<keepdims = 0>(t)\ny = Neg(r)"),
        _pushed("argmax", "i = ArgMax<axis = 3>(t)\nr = Neg(i)"),
        _of(PICTURE, "argmax_drops_an_axis", f"t = Transpose<{TO_LAST}>(x)\ny = ArgMax<axis = -1, keepdims = 0>(t)"),
        _pushed("pad", "r = Pad(t, p)", p=integers(0, 1, 0, 2, 0, 0, 3, 1)),
        _pushed("pad_axes", "r = Pad(t, p, , a)", p=integers(1, 2), a=integers(-1), since=18),
        _pushed("slice", "r = Slice(t, s, e, a)", s=integers(1, 0), e=integers(3, 2), a=integers(1, -1)),
        _pushed("slice_without_axes", "r = Slice(t, s, e)", s=integers(0, 1, 2, 0), e=integers(1, 4, 9, 2)),
        _pushed(
            "slice_backwards", "r = Slice(t, s, e, a, p)", s=integers(-1), e=integers(-9), a=integers(3), p=integers(-1)
        ),
        _pushed("tile", "r = Tile(t, n)", n=integers(1, 2, 1, 3)),
        _pushed("concat", "a = Neg(t)\nr = Concat<axis = -1>(t, a)"),
        _pushed("concat_constant", "r = Concat<axis = 1>(t, c)", c=numbers(2, 1, 5, 3, seed=3)),
        _pushed("split", "a, b = Split<axis = 3>(t, n)\nd = Relu(b)\nr = Concat<axis = 3>(d, a)", n=integers(1, 2)),
        _pushed("gather", "r = Gather<axis = 3>(t, i)", i=integers(2, 0, -1, 1)),
        _of(
            PICTURE,
            "gather_drops_an_axis",
            f"t = Transpose<{TO_LAST}>(x)\nr = Gather<axis = 2>(t, i)\ny = Transpose<perm = [0, 2, 1]>(r)",
            i=np.array(1),
        ),
        _of(PICTURE, "shape", f"t = Transpose<{TO_LAST}>(x)\ny = Shape(t)"),
        _of(PICTURE, "part_of_shape", f"t = Transpose<{TO_LAST}>(x)\ny = Shape<start = 1, end = -1>(t)", since=15),
        _of(
            PICTURE,
            "unsqueeze",
            f"t = Transpose<{TO_LAST}>(x)\nu = Unsqueeze(t, a)\ny = Transpose<perm = [0, 1, 4, 2, 3]>(u)",
            a=integers(1),
        ),
        _of(
            PICTURE,
            "unsqueeze_last",
            f"t = Transpose<{TO_LAST}>(x)\nu = Unsqueeze(t, a)\ny = Neg(u)",
            a=integers(-1, 0),
        ),
        _of(
            numbers(2, 3, 1, 5, seed=1),
            "squeeze",
            f"t = Transpose<{TO_LAST}>(x)\nu = Squeeze(t, a)\ny = Transpose<perm = [0, 2, 1]>(u)",
            a=integers(1),
        ),
        _of(
            numbers(1, 3, 1, 5, seed=1),
            "squeeze_all",
            f"t = Transpose<{TO_LAST}>(x)\nu = Squeeze(t)\ny = Transpose<perm = [1, 0]>(u)",
        ),
        _of(PICTURE, "flatten", f"t = Transpose<{TO_LAST}>(x)\nu = Flatten<axis = 2>(t)\ny = Neg(u)"),
        _of(
            PICTURE,
            "resize",
            f'r = Resize<mode = "nearest">(x, , s)\nt = Transpose<{TO_LAST}>(r)\ny = Neg(t)',
            s=listed(1, 1, 2, 1),
        ),
        _pushed("cumulative_sum", "r = CumSum(t, a)", a=np.array(3)),
        _pushed("top_k", "v, i = TopK<axis = 3>(t, k)\nr = Neg(v)", "i", k=integers(2)),
    ),
)

PAST_MATMUL = Rewrite(
    "transpose_past_matmul",
    "Transpose",
    ("onnxruntime: TransposeOptimizer", "onnxruntime: MatmulTransposeFusion"),
    (
        _of(X, "left", "t = Transpose<perm = [0, 2, 1]>(x)\ny = MatMul(t, w)", w=numbers(3, 5, seed=2)),
        _of(
            numbers(4, 4, 4, seed=1),
            "left_other_axes",
            "t = Transpose<perm = [1, 0, 2]>(x)\ny = MatMul(t, w)",
            w=numbers(4, 4, seed=2),
        ),
        _of(X, "left_moves_the_batch", "t = Transpose<perm = [1, 2, 0]>(x)\ny = MatMul(t, w)", w=numbers(2, 5, seed=2)),
        _of(X, "right", "t = Transpose<perm = [0, 2, 1]>(x)\ny = MatMul(w, t)", w=numbers(5, 4, seed=2)),
        _of(
            X, "right_moves_the_batch", "t = Transpose<perm = [2, 0, 1]>(x)\ny = MatMul(w, t)", w=numbers(5, 2, seed=2)
        ),
        _of(X, "constant", "t = Transpose(w)\ny = MatMul(x, t)", w=numbers(5, 4, seed=2)),
        _of(X, "product", "m = MatMul(x, w)\ny = Transpose<perm = [0, 2, 1]>(m)", w=numbers(4, 5, seed=2)),
        _of(X, "vector", "t = Transpose<perm = [0, 2, 1]>(x)\ny = MatMul(t, w)", w=numbers(3, seed=2)),
        _of(X, "with_itself", "t = Transpose<perm = [0, 2, 1]>(x)\ny = MatMul(x, t)"),
        _of(
            X, "both", "t = Transpose<perm = [0, 2, 1]>(x)\nu = Transpose(w)\ny = MatMul(t, u)", w=numbers(5, 3, seed=2)
        ),
    ),
)

AS_RESHAPE = Rewrite(
    "transpose_as_reshape",
    "Transpose",
    (
        "onnxslim: EliminationTransposeAsReshape",
        "onnxslim: EliminationTransposeViewTranspose",
        "onnxruntime: TransposeOptimizer",
    ),
    (
        _of(numbers(1, 3, 4, 5, seed=1), "a_one_moves", "a = Transpose<perm = [1, 0, 2, 3]>(x)\ny = Neg(a)"),
        _of(numbers(3, 1, 1, 5, seed=1), "ones_move", "a = Transpose<perm = [1, 3, 0, 2]>(x)\ny = Neg(a)"),
        _of(numbers(2, 3, 1, 1, seed=1), "to_last_of_pooled", f"a = Transpose<{TO_LAST}>(x)\ny = Neg(a)"),
        _of(
            numbers(2, 3, 1, 1, seed=1),
            "then_reshaped",
            f"a = Transpose<{TO_LAST}>(x)\nb = Reshape(a, s)\ny = Neg(b)",
            s=integers(2, 3),
        ),
        _of(
            PICTURE,
            "reshape_between",
            f"a = Transpose<{TO_LAST}>(x)\nb = Reshape(a, s)\ny = Transpose<perm = [0, 2, 1]>(b)",
            s=integers(2, -1, 3),
        ),
        _of(
            PICTURE,
            "reshape_joins_channels",
            f"a = Transpose<{TO_LAST}>(x)\nb = Reshape(a, s)\ny = Transpose<perm = [0, 2, 1]>(b)",
            s=integers(2, 4, -1),
        ),
        _of(
            PICTURE,
            "reshape_there_and_back",
            f"a = Transpose<{TO_LAST}>(x)\nb = Reshape(a, s)\nd = Neg(b)\ne = Reshape(d, r)\ny = Transpose<{TO_FIRST}>(e)",
            s=integers(2, 20, 3),
            r=integers(2, 4, 5, 3),
        ),
        _of(
            numbers(4, 4, 4, seed=1),
            "reshape_to_the_same",
            "a = Transpose<perm = [2, 0, 1]>(x)\nb = Reshape(a, s)\ny = Transpose<perm = [1, 2, 0]>(b)",
            s=integers(4, 4, 4),
        ),
        _of(
            numbers(4, 4, 4, seed=1),
            "reshape_to_the_same_no_inverse",
            "a = Transpose<perm = [2, 0, 1]>(x)\nb = Reshape(a, s)\ny = Transpose<perm = [2, 0, 1]>(b)",
            s=integers(4, 4, 4),
        ),
        _of(
            numbers(2, 6, 4, seed=1),
            "shuffled_channels",
            "a = Reshape(x, s)\nb = Transpose<perm = [0, 2, 1, 3]>(a)\ny = Reshape(b, r)",
            s=integers(2, 2, 3, 4),
            r=integers(2, 6, 4),
        ),
        _of(
            numbers(2, 1, 6, 4, seed=1),
            "squeeze_between",
            "a = Transpose<perm = [0, 2, 1, 3]>(x)\nb = Squeeze(a, s)\ny = Transpose<perm = [0, 2, 1]>(b)",
            s=integers(2),
        ),
    ),
)

AROUND_WINDOWS = Rewrite(
    "transpose_around_windows",
    "Transpose",
    ("onnxruntime: TransposeOptimizer", "onnxruntime: NhwcTransformer", "onnxruntime: NchwcTransformer"),
    (
        _of(
            numbers(2, 5, 5, 3, seed=1),
            "conv",
            f"t = Transpose<{TO_FIRST}>(x)\nc = Conv(t, w)\ny = Transpose<{TO_LAST}>(c)",
            w=numbers(4, 3, 2, 3, seed=2),
        ),
        _of(
            numbers(2, 5, 5, 3, seed=1),
            "conv_conv",
            f"t = Transpose<{TO_FIRST}>(x)\nc = Conv(t, w)\nu = Transpose<{TO_LAST}>(c)\nr = Relu(u)\nv = Transpose<{TO_FIRST}>(r)\nd = Conv(v, k)\ny = Transpose<{TO_LAST}>(d)",
            w=numbers(4, 3, 2, 2, seed=2),
            k=numbers(3, 4, 2, 2, seed=3),
        ),
        _of(
            numbers(2, 3, 3, 3, seed=1),
            "axes_alike",
            f"t = Transpose<perm = [0, 3, 2, 1]>(x)\nc = Conv(t, w)\ny = Transpose<{TO_LAST}>(c)",
            w=numbers(3, 3, 2, 2, seed=2),
        ),
        _of(
            numbers(2, 5, 4, 3, seed=1),
            "max_pool",
            f"t = Transpose<{TO_FIRST}>(x)\nc = MaxPool<kernel_shape = [2, 3]>(t)\ny = Transpose<{TO_LAST}>(c)",
        ),
        _of(
            numbers(2, 5, 4, 3, seed=1),
            "global_pool",
            f"t = Transpose<{TO_FIRST}>(x)\nc = GlobalAveragePool(t)\nd = Flatten(c)\ny = Neg(d)",
        ),
        _of(
            numbers(2, 5, 4, 3, seed=1),
            "normalization",
            f"t = Transpose<{TO_FIRST}>(x)\nc = BatchNormalization(t, s, b, m, v)\ny = Transpose<{TO_LAST}>(c)",
            s=positive(3, seed=3),
            b=numbers(3, seed=4),
            m=numbers(3, seed=5),
            v=positive(3, seed=6),
            since=15,
        ),
        _of(
            numbers(2, 5, 4, 4, seed=1),
            "depth_to_space",
            f"t = Transpose<{TO_FIRST}>(x)\nc = DepthToSpace<blocksize = 2>(t)\ny = Transpose<{TO_LAST}>(c)",
        ),
        _of(
            numbers(2, 5, 4, 3, seed=1),
            "instance_normalization",
            f"t = Transpose<{TO_FIRST}>(x)\nc = InstanceNormalization(t, s, b)\ny = Transpose<{TO_LAST}>(c)",
            s=positive(3, seed=3),
            b=numbers(3, seed=4),
        ),
    ),
)
