# SPDX-License-Identifier: Apache-2.0
"""Rewrites of reductions: joined with nodes that remove or add axes, removed, merged."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.rewrites.rewrite import Array, Model, Rewrite, integers, numbers, positive, scalar

X = numbers(2, 3, 4, seed=1)


def _of(
    x: Array, name: str, nodes: str, *outputs: str, since: int = 13, before: int | None = None, **constants: Any
) -> Model:
    return Model(name, nodes, {"x": x}, constants, outputs or ("y",), since, before)


UNSQUEEZED = Rewrite(
    "reduction_then_unsqueeze",
    "ReduceSum",
    ("onnxoptimizer: fuse_consecutive_reduce_unsqueeze", "onnxslim: FusionReduce"),
    (
        _of(X, "the_same_axis", "a = ReduceSum<keepdims = 0>(x, s)\ny = Unsqueeze(a, s)", s=integers(1)),
        _of(X, "another_axis", "a = ReduceSum<keepdims = 0>(x, s)\ny = Unsqueeze(a, u)", s=integers(1), u=integers(0)),
        _of(
            X,
            "the_same_axis_from_the_back",
            "a = ReduceSum<keepdims = 0>(x, s)\ny = Unsqueeze(a, u)",
            s=integers(-1),
            u=integers(2),
        ),
        _of(
            X,
            "from_the_back_of_two_ranks",
            "a = ReduceSum<keepdims = 0>(x, s)\ny = Unsqueeze(a, u)",
            s=integers(-2),
            u=integers(-2),
        ),
        _of(X, "two_axes", "a = ReduceSum<keepdims = 0>(x, s)\ny = Unsqueeze(a, s)", s=integers(0, 2)),
        _of(
            X,
            "two_axes_in_another_order",
            "a = ReduceSum<keepdims = 0>(x, s)\ny = Unsqueeze(a, u)",
            s=integers(2, 0),
            u=integers(0, 2),
        ),
        _of(
            X,
            "one_of_two_axes",
            "a = ReduceSum<keepdims = 0>(x, s)\ny = Unsqueeze(a, u)",
            s=integers(0, 2),
            u=integers(0),
        ),
        _of(X, "all_axes", "a = ReduceSum<keepdims = 0>(x)\ny = Unsqueeze(a, u)", u=integers(0, 1, 2)),
        _of(X, "all_axes_kept", "a = ReduceSum(x)\ny = Unsqueeze(a, u)", u=integers(0)),
        _of(X, "axes_kept", "a = ReduceSum(x, s)\ny = Unsqueeze(a, s)", s=integers(1)),
        _of(X, "axes_kept_then_squeezed", "a = ReduceSum(x, s)\ny = Squeeze(a, s)", s=integers(1)),
        _of(
            numbers(1, 3, 4, seed=1),
            "axes_kept_then_others_squeezed",
            "a = ReduceSum(x, s)\ny = Squeeze(a, u)",
            s=integers(1),
            u=integers(0),
        ),
        _of(
            numbers(1, 3, 4, seed=1),
            "axes_kept_then_all_squeezed",
            "a = ReduceSum(x, s)\ny = Squeeze(a)",
            s=integers(1),
        ),
        _of(
            X,
            "mean_by_attribute",
            "a = ReduceMean<axes = [1], keepdims = 0>(x)\ny = Unsqueeze(a, u)",
            before=18,
            u=integers(1),
        ),
        _of(X, "maximum", "a = ReduceMax<keepdims = 0>(x, s)\ny = Unsqueeze(a, s)", since=18, s=integers(-1)),
        _of(
            X,
            "taken_too",
            "a = ReduceSum<keepdims = 0>(x, s)\ny = Unsqueeze(a, s)\nz = Neg(a)",
            "y",
            "z",
            s=integers(1),
        ),
    ),
)

OF_ONE = Rewrite(
    "reduction_of_one_or_none",
    "ReduceSum",
    ("onnxruntime: NoopElimination",),
    (
        _of(numbers(2, 1, 4, seed=1), "an_axis_of_one", "a = ReduceSum(x, s)\ny = Neg(a)", s=integers(1)),
        _of(
            numbers(2, 1, 4, seed=1),
            "an_axis_of_one_dropped",
            "a = ReduceSum<keepdims = 0>(x, s)\ny = Neg(a)",
            s=integers(1),
        ),
        _of(numbers(2, 1, 4, seed=1), "absolute_of_one", "a = ReduceL1(x, s)\ny = Neg(a)", since=18, s=integers(1)),
        _of(
            numbers(2, 1, 4, seed=1), "square_of_one", "a = ReduceSumSquare(x, s)\ny = Neg(a)", since=18, s=integers(1)
        ),
        _of(
            positive(2, 1, 4, seed=1), "logarithm_of_one", "a = ReduceLogSum(x, s)\ny = Neg(a)", since=18, s=integers(1)
        ),
        _of(X, "no_axes_are_all", "a = ReduceSum(x, s)\ny = Neg(a)", s=integers()),
        _of(X, "no_axes_are_none", "a = ReduceSum<noop_with_empty_axes = 1>(x, s)\ny = Neg(a)", s=integers()),
        _of(X, "omitted_axes_are_none", "a = ReduceSum<noop_with_empty_axes = 1>(x)\ny = Neg(a)"),
        _of(X, "maximum_of_no_axes", "a = ReduceMax<noop_with_empty_axes = 1>(x)\ny = Neg(a)", since=18),
        _of(np.zeros((2, 0, 4), np.float32), "of_nothing", "a = ReduceSum(x, s)\ny = Neg(a)", s=integers(1)),
        _of(
            np.zeros((2, 0, 4), np.float32),
            "product_of_nothing",
            "a = ReduceProd(x, s)\ny = Neg(a)",
            since=18,
            s=integers(1),
        ),
    ),
)

IN_A_ROW = Rewrite(
    "reductions_in_a_row",
    "ReduceMean",
    ("onnxslim: FusionReduce",),
    (
        _of(X, "sums", "a = ReduceSum(x, s)\ny = ReduceSum(a, t)", s=integers(1), t=integers(2)),
        _of(
            X,
            "sums_that_drop",
            "a = ReduceSum<keepdims = 0>(x, s)\ny = ReduceSum<keepdims = 0>(a, t)",
            s=integers(1),
            t=integers(1),
        ),
        _of(X, "means", "a = ReduceMean(x, s)\ny = ReduceMean(a, t)", since=18, s=integers(1), t=integers(2)),
        _of(X, "mean_of_the_kept_axis", "a = ReduceMean(x, s)\ny = ReduceMean(a, s)", since=18, s=integers(1)),
        _of(X, "sum_then_mean", "a = ReduceSum(x, s)\ny = ReduceMean(a, t)", since=18, s=integers(1), t=integers(-1)),
        _of(
            X,
            "maximum_then_minimum",
            "a = ReduceMax(x, s)\ny = ReduceMin(a, t)",
            since=18,
            s=integers(1),
            t=integers(2),
        ),
        _of(X, "maxima", "a = ReduceMax(x, s)\ny = ReduceMax(a, t)", since=18, s=integers(0), t=integers(2)),
        _of(X, "mean_as_sum_and_quotient", "a = ReduceSum(x, s)\ny = Div(a, n)", s=integers(1), n=scalar(3)),
        _of(X, "quotient_of_another_size", "a = ReduceSum(x, s)\ny = Div(a, n)", s=integers(1), n=scalar(4)),
        _of(X, "root_of_sum_of_squares", "a = Mul(x, x)\nb = ReduceSum(a, s)\ny = Sqrt(b)", s=integers(1)),
        _of(
            X,
            "logarithm_of_sum_of_exponentials",
            "a = Exp(x)\nb = ReduceSum(a, s)\nd = Abs(b)\ny = Log(d)",
            s=integers(1),
        ),
        _of(
            X,
            "difference_of_the_largest",
            "m = ReduceMax(x, s)\na = Sub(x, m)\nb = Exp(a)\nd = ReduceSum(b, s)\ny = Div(b, d)",
            since=18,
            s=integers(-1),
        ),
        _of(
            X,
            "difference_of_the_largest_of_other_axes",
            "m = ReduceMax(x, s)\na = Sub(x, m)\nb = Exp(a)\nd = ReduceSum(b, t)\ny = Div(b, d)",
            since=18,
            s=integers(-1),
            t=integers(1),
        ),
        _of(X, "global_pool", "p = GlobalAveragePool(x)\ny = ReduceMean(p, s)", since=18, s=integers(1)),
    ),
)

LOG_SOFTMAX = Rewrite(
    "logarithm_of_softmax",
    "Softmax",
    ("onnxoptimizer: fuse_consecutive_log_softmax",),
    (
        _of(X, "default", "a = Softmax(x)\ny = Log(a)"),
        _of(X, "axis", "a = Softmax<axis = 1>(x)\ny = Log(a)"),
        _of(X, "axis_from_the_back", "a = Softmax<axis = -2>(x)\ny = Log(a)"),
        _of(X, "softmax_taken_too", "a = Softmax<axis = 0>(x)\ny = Log(a)\nz = Neg(a)", "y", "z"),
        _of(X, "softmax_of_logarithm", "b = Abs(x)\nc = Add(b, k)\na = Log(c)\ny = Softmax<axis = 1>(a)", k=scalar(1)),
        _of(X, "logarithm_twice", "a = Softmax<axis = 1>(x)\nb = Log(a)\nd = Abs(b)\ny = Log(d)"),
        _of(X, "two_dimensions_of_old", "a = Softmax<axis = 1>(x)\ny = Log(a)", since=11, before=13),
        _of(X, "default_of_old", "a = Softmax(x)\ny = Log(a)", since=11, before=13),
        _of(X, "exponential_of_log_softmax", "a = LogSoftmax<axis = 1>(x)\ny = Exp(a)"),
    ),
)
