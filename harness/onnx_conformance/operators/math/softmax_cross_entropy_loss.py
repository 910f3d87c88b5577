# SPDX-License-Identifier: Apache-2.0
"""SoftmaxCrossEntropyLoss: minus the logarithm of softmax of the correct class, weighted, averaged or summed.

    output, log_prob = SoftmaxCrossEntropyLoss(scores, labels, weights=None, ignore_index=..., reduction="mean")

Versions: 12, 13 (bfloat16).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Int, Op, Tag, Version, bounded, ramp, vary
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.families.sums import roundings
from onnx_conformance.declare.readings import REAL_NUMBERS
from onnx_conformance.declare.rounding import exponential_leaves_range
from onnx_conformance.declare.sizes import filled
from onnx_conformance.operators.math._losses import EMPTY, SHAPES, answer, picks, rounding, samples, weighting
from onnx_conformance.operators.math._sizes import CLASSES

if TYPE_CHECKING:
    from collections.abc import Mapping


def _logarithms(scores: Array) -> Array:
    """Return the logarithm of softmax over classes. The largest score is first subtracted, which changes nothing."""
    with np.errstate(all="ignore"):
        apart = scores - scores.max(1, keepdims=True)
        return np.asarray(apart - np.log(np.exp(apart).sum(1, keepdims=True)))


def _rounding(scores: Array, labels: Array, weights: Array | None, ignore_index: Int, reduction: str) -> list[Array]:
    """Return the errors of a careful logarithm of softmax, and of the reduced losses."""
    classes = scores.shape[1]
    with np.errstate(all="ignore"):
        magnitudes = np.nan_to_num(np.abs(scores), posinf=0)
        largest = magnitudes.max(1, keepdims=True, initial=0)
        of_logarithm = magnitudes + largest + roundings(classes) / 2 + np.log(max(1, classes)) + 4
        size = None if weights is None else np.abs(weights)
        before = np.abs(samples(of_logarithm, labels, size, ignore_index).losses)
    of = samples(_logarithms(scores), labels, weights, ignore_index)
    return [rounding(of, before, reduction), of_logarithm]


def _rank(arguments: Mapping[str, Any]) -> int:
    """Return the rank of the loss."""
    return np.ndim(arguments.get("labels", 0)) if arguments.get("reduction") == "none" else 0


CROSS_ENTROPY = Op(
    "SoftmaxCrossEntropyLoss",
    versions=(12, 13),
    compare=bounded(_rounding, "exponentials, logarithm and differences round a few times, each addition rounds once"),
    rank=_rank,
)
CROSS_ENTROPY.example(
    scores=waves(2, 3, 4), labels=picks(2, 3, 4), weights=weighting(3), ignore_index=7, reduction="none"
)

FIRST = CROSS_ENTROPY.clause("This operator first computes a loss tensor whose shape is identical to the labels input.")
SCORES = CROSS_ENTROPY.clause(
    "shape(scores): (N, C) where C is the number of classes, or (N, C, D1, D2,..., Dk), with K >= 1 in case of "
    "K-dimensional loss."
)
PREDICTED = CROSS_ENTROPY.clause(
    "The predicted outputs with shape [batch_size, class_size], or [batch_size, class_size, D1, D2 , ..., Dk], where K "
    "is the number of dimensions."
)
EACH_LABEL = CROSS_ENTROPY.clause(
    "shape(labels): (N) where each value is 0 <= labels[i] <= C-1, or (N, D1, D2,..., Dk), with K >= 1 in case of "
    "K-dimensional loss."
)
PLAIN = CROSS_ENTROPY.clause("l[i][d1][d2]...[dk] = -y[i][c][d1][d2]..[dk], where i is the index of classes.")
WEIGHTED = CROSS_ENTROPY.clause("l[i][d1][d2]...[dk] = -y[i][c][d1][d2]..[dk] * weights[c], if 'weights' is provided.")
IGNORED = CROSS_ENTROPY.clause(
    "loss is zero for the case when label-value equals ignore_index.", note="This applies to all scores there."
)
ZERO = CROSS_ENTROPY.clause("l[i][d1][d2]...[dk] = 0, when labels[n][d1][d2]...[dk] = ignore_index")
WHERE = CROSS_ENTROPY.clause(
    "p = Softmax(scores) y = Log(p) c = labels[i][d1][d2]...[dk]",
    note="The formula is one of real numbers, over classes. exp(inf) / exp(inf) has no value, and the text does not "
    "define the values of the other elements then.",
)
NONE = CROSS_ENTROPY.clause("If reduction = 'none', the output is L with shape (N, D1, D2, ..., Dk).")
SUM = CROSS_ENTROPY.clause("If reduction = 'sum', the output is scalar: Sum(L).")
MEAN = CROSS_ENTROPY.clause(
    "If reduction = 'mean', the output is scalar: ReduceMean(L), or if weight is provided: `ReduceSum(L) / "
    "ReduceSum(W)`, where tensor W is of shape `(N, D1, D2, ..., Dk)` and `W[n][d1][d2]...[dk] = "
    "weights[labels[i][d1][d2]...[dk]]`."
).reworded(
    before=13,
    text="If reduction = 'mean', the output is scalar: ReduceMean(L), or if weight is provided: ReduceSum(L) / "
    "ReduceSum(W), where tensor W is of shape (N, D1, D2, ..., Dk) and W[n][d1][d2]...[dk] = "
    "weights[labels[i][d1][d2]...[dk]].",
)
DIVIDED = CROSS_ENTROPY.clause(
    "'mean': the sum of the output will be divided by the number of elements in the output.",
    note="Without weights. ReduceMean counts ignored elements, and W contains their weights; the function body and the "
    "official cases exclude both. A mean with ignored elements is therefore left open. A mean with weights that add up "
    "to 0 is also left open.",
    against=("test_sce_mean*_ii*", "test_sce_NCd1_mean_weight_negative_ii*"),
)
REDUCTIONS = CROSS_ENTROPY.clause("Type of reduction to apply to loss: none, sum, mean(default).")
FORGOTTEN = CROSS_ENTROPY.clause(
    "Specifies a target value that is ignored and does not contribute to the input gradient."
)
OPTIONAL = CROSS_ENTROPY.clause("It's an optional value.")
LABELS = CROSS_ENTROPY.clause(
    "The ground truth output tensor, with shape [batch_size], or [batch_size, D1, D2, ..., Dk], where K is the number "
    "of dimensions."
)
IN_RANGE = CROSS_ENTROPY.clause("Labels element value shall be in range of [0, C).")
OR_IGNORED = CROSS_ENTROPY.clause(
    "If ignore_index is specified, it may have a value outside [0, C) and the label values should either be in the "
    "range [0, C) or have the value ignore_index."
)
ONE_EACH = CROSS_ENTROPY.clause("If given, it has to be a 1D Tensor assigning weight to each of the classes.")
ONES = CROSS_ENTROPY.clause("Otherwise, it is treated as if having all ones.")
SCALAR = CROSS_ENTROPY.clause("Otherwise, it is a scalar.")
LOG_PROB = CROSS_ENTROPY.clause("If the output of softmax is prob, its value is log(prob).")
FLOATS = CROSS_ENTROPY.clause("Constrain input and output types to float tensors.")
INTEGERS = CROSS_ENTROPY.clause("Constrain target to integer types")


@CROSS_ENTROPY.oracle()
def loss(
    v: Version, *, scores: Array, labels: Array, weights: Array | None, ignore_index: Int, reduction: str
) -> tuple[Array, Array]:
    """Return the losses or their reduction, and the logarithms of softmax."""
    v.require(REDUCTIONS, reduction in {"none", "sum", "mean"})
    v.require(SCORES, scores.ndim > 1)
    v.require(LABELS, labels.shape == (scores.shape[0], *scores.shape[2:]))
    v.require(ONE_EACH, weights is None or weights.shape == scores.shape[1:2])
    ignored = np.asarray(labels == ignore_index)
    in_range = bool((ignored | ((labels >= 0) & (labels < scores.shape[1]))).all())
    v.require(IN_RANGE if ignore_index is None else OR_IGNORED, in_range)
    v.silent(WHERE, bool(np.isposinf(scores).any()))
    v.silent(DIVIDED, reduction == "mean" and bool(ignored.any()))
    v.reads(REAL_NUMBERS, exponential_leaves_range(scores, v.dtypes["T"]))
    y = _logarithms(scores)
    return answer(v, samples(y, labels, weights, ignore_index), reduction, DIVIDED), y


case = CROSS_ENTROPY.case
CROSS_ENTROPY.dispute(
    "The function body of onnx contains a NegativeLogLikelihoodLoss, which allows bfloat16 only since version 22.",
    "dtypes*",
)
NEWEST = 13
"""The version in which edge cases are tested. Both versions have the same text."""

X, Y, W = waves(3, 5, 4), picks(3, 5, 4), weighting(5)
CALL: dict[str, Any] = {"scores": X, "labels": Y}
NEW: dict[str, Any] = {**CALL, "since": NEWEST}
EDGE: dict[str, Any] = {"since": NEWEST}
case("default_before_13", **CALL, n=2, before=13, cites=(MEAN, DIVIDED, WHERE, ONES, SCALAR))
case("default_since_13", **CALL, n=2, since=13, cites=(MEAN, DIVIDED, WHERE, ONES, SCALAR))
case("default_weighted_before_13", **CALL, weights=W, before=13, cites=MEAN)
case("default_weighted_since_13", **CALL, weights=W, since=13, cites=MEAN)
case("none", **CALL, reduction="none", cites=(FIRST, SCORES, PREDICTED, EACH_LABEL, NONE, PLAIN))
case("none_weighted", **CALL, weights=W, reduction="none", n=2, cites=(WEIGHTED, LOG_PROB))
case("sum", **CALL, weights=W, reduction="sum", cites=SUM)
case("ignored", **CALL, ignore_index=2, reduction="none", cites=(IGNORED, ZERO, FORGOTTEN))
case("ignored_weighted", **NEW, ignore_index=3, weights=W, reduction="sum", cites=(IGNORED, ZERO))
for name, (shape, reduction) in SHAPES.items():
    case(name, scores=waves(*shape), labels=picks(*shape), reduction=reduction, n=2, **EDGE, cites=(SCORES, PLAIN))
case("ignored_0", **NEW, ignore_index=0, reduction="sum", cites=IGNORED)
CLASS = 2
OUTSIDE = {"minus_1": -1, "5": 5, "beyond_int32": 2**32}
for name, index in OUTSIDE.items():
    marked: dict[str, Any] = {
        "scores": X,
        "labels": np.where(Y == CLASS, index, Y),
        "reduction": "sum",
        "since": NEWEST,
    }
    case(f"ignored_{name}", Tag.EDGE, **marked, weights=W, ignore_index=index, cites=OR_IGNORED)
    if index > 0:
        case(f"outside_{name}", Tag.EDGE, **marked, rejects=IN_RANGE)
marked = {"scores": X, "labels": np.where(Y == CLASS, -1, Y)}
case("outside", **marked, rejects=IN_RANGE)
case("outside_not_ignored", **marked, ignore_index=2, rejects=OR_IGNORED)
case("ignored_mean", Tag.EDGE, **NEW, ignore_index=2, unspecified=DIVIDED)
case("ignored_mean_weighted", Tag.EDGE, **NEW, weights=W, ignore_index=2, unspecified=DIVIDED)
case("ignored_absent", **NEW, weights=W, ignore_index=-1, cites=OPTIONAL)
NAN = np.where(np.expand_dims(Y, 1) == CLASS, np.nan, X)
case("ignored_nan", Tag.EDGE, scores=NAN, labels=Y, ignore_index=2, reduction="none", **EDGE, cites=IGNORED)
case("nan", Tag.EDGE, scores=[[np.nan, 2], [3, 1]], labels=[1, 0], reduction="none", n=2, **EDGE, cites=WHERE)
case("large", Tag.EDGE, scores=[[1000, 999], [-1000, -1001]], labels=[1, 0], reduction="none", n=2, **EDGE, cites=WHERE)
case("far_apart", Tag.EDGE, scores=[[0, -1000, 500]], labels=[1], n=2, **EDGE, cites=WHERE)
UNLIKELY: dict[str, Any] = {"scores": [[-np.inf, 2, 1], [3, -np.inf, 2]], "reduction": "none", "n": 2, "since": NEWEST}
case("minus_infinity", Tag.EDGE, **UNLIKELY, labels=[0, 2], cites=WHERE)
case("infinity", Tag.EDGE, scores=[[np.inf, 2], [3, 1]], labels=[1, 0], **EDGE, unspecified=WHERE)
ALL: dict[str, Any] = {"scores": waves(3, 2), "labels": [1, 1, 1], "ignore_index": 1, "since": NEWEST}
case("ignored_all", Tag.EDGE, **ALL, reduction=vary(none="none", sum="sum"), cites=IGNORED)
case("ignored_all_mean", Tag.EDGE, **ALL, unspecified=DIVIDED)
ZEROS: dict[str, Any] = {"scores": waves(3, 2), "labels": [1, 1, 0], "weights": [0, 0], "since": NEWEST}
case("weights_zero", Tag.EDGE, **ZEROS, unspecified=DIVIDED)
case("one_class", Tag.EDGE, scores=[[0.5], [-1.5]], labels=[0, 0], reduction="none", n=2, **EDGE, cites=WHERE)
for name, (nothing, none) in EMPTY.items():
    case(f"empty_{name}", Tag.EDGE, scores=nothing, labels=none, reduction="none", n=2, **EDGE, cites=WHERE)
    case(f"empty_{name}_mean", Tag.EDGE, scores=nothing, labels=none, **EDGE, unspecified=DIVIDED)
case("dtypes", Tag.DTYPE, each="T", **NEW, weights=W, n=2, cites=FLOATS)
case("dtypes_none", Tag.DTYPE, each="T", **NEW, reduction="none", cites=FLOATS)
case("label_dtypes", Tag.DTYPE, each="Tind", **NEW, cites=INTEGERS)

case("scores_of_rank_0", Tag.EDGE, scores=ramp(), labels=0, **EDGE, rejects=SCORES)
case("scores_of_rank_1", Tag.EDGE, scores=ramp(3), labels=[0], rejects=SCORES)
OTHERS = vary(of_classes=ramp(3, 5), flat=ramp(12), turned=ramp(4, 3))
case("labels", scores=X, labels=OTHERS, rejects=LABELS)
case("weights_few", **CALL, weights=ramp(4), rejects=ONE_EACH)
case("weights", **NEW, weights=vary(one=[2], scalar=2, matrix=[[1, 2, 3, 4, 5]]), rejects=ONE_EACH)
case("reduction_unknown", **CALL, reduction="max", rejects=REDUCTIONS)
case("reduction", **NEW, reduction=vary(upper_case="SUM", empty=""), rejects=REDUCTIONS)

for name, (dims, sizes) in CLASSES.items():
    of_samples: dict[str, Any] = {
        "scores": filled(*dims, floats=(-6, 6)),
        "labels": filled(*dims[:1], *dims[2:], below="c", type_="int64"),
    }
    of_classes = {"weights": filled("c", floats=(0.5, 2))}
    CROSS_ENTROPY.sized(name, sizes, each="T", cites=(WHERE, MEAN), arguments=of_samples)
    each = {**of_samples, "reduction": "none"}
    CROSS_ENTROPY.sized(f"{name}_each", sizes[::3], n=2, each="T", cites=NONE, arguments=each)
    weighted = {**of_samples, **of_classes}
    CROSS_ENTROPY.sized(f"{name}_weighted", sizes[1::3], each="T", cites=(WEIGHTED, MEAN), arguments=weighted)
