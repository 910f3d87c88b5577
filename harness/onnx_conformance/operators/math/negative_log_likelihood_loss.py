# SPDX-License-Identifier: Apache-2.0
"""NegativeLogLikelihoodLoss: minus the log-probability of the correct class, weighted, averaged or summed.

    loss = NegativeLogLikelihoodLoss(input, target, weight=None, ignore_index=..., reduction="mean")

Versions: 12, 13 (wording), 22 (bfloat16).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Int, Op, Tag, Version, bounded, ramp, vary
from onnx_conformance.declare.data import FLOATS as LIMITS
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.families.sums import largest
from onnx_conformance.declare.readings import REAL_NUMBERS
from onnx_conformance.declare.sizes import filled
from onnx_conformance.operators.math._losses import EMPTY, SHAPES, answer, picks, rounding, samples, weighting
from onnx_conformance.operators.math._sizes import CLASSES

if TYPE_CHECKING:
    from collections.abc import Mapping


def _rounding(input: Array, target: Array, weight: Array | None, ignore_index: Int, reduction: str) -> list[Array]:
    """Return the errors of a product, of sums in any order, and of a quotient."""
    of = samples(input, target, weight, ignore_index)
    return [rounding(of, np.zeros(of.losses.shape), reduction)]


def _rank(arguments: Mapping[str, Any]) -> int:
    """Return the rank of the loss."""
    return np.ndim(arguments.get("target", 0)) if arguments.get("reduction") == "none" else 0


NLL = Op(
    "NegativeLogLikelihoodLoss",
    versions=(12, 13, 22),
    compare=bounded(_rounding, "a product, each addition and a quotient round by half an epsilon"),
    rank=_rank,
)
NLL.example(input=waves(2, 3, 4), target=picks(2, 3, 4), weight=weighting(3), ignore_index=1, reduction="mean")

NEWEST = 22
"""The version in which edge cases are tested. All three versions have the same text."""

COMPUTES = NLL.clause("A NegativeLogLikelihoodLoss operator computes (weighted) negative log likelihood loss.")
SHAPE = NLL.clause('Its "input" tensor has the shape of (N, C, d1, d2, ..., dk) where k >= 0.')
TARGET = NLL.clause('The operator\'s "target" input tensor has the shape of (N, d1, d2, ..., dk).')
LOSS = NLL.clause("loss[n][d_1][d_2]...[d_k] = -input[n][c][d_1][d_2]...[d_k].")
WEIGHTED = NLL.clause("loss[n][d_1][d_2]...[d_k] = -input[n][c][d_1][d_2]...[d_k] * weight[c].")
IGNORED = NLL.clause(
    "loss is zero for the case when target-value equals ignore_index.",
    note="This applies to every value of the input there.",
)
ZERO = NLL.clause("loss[n][d_1][d_2]...[d_k] = 0, when target[n][d_1][d_2]...[d_k] = ignore_index")
NONE = NLL.clause(
    'If "reduction" attribute is set to "none", the operator\'s output will be the above loss with shape (N, d1, d2, '
    "..., dk)."
)
MEAN = NLL.clause(
    'mean(loss), if "weight" is not provided,',
    note="If samples are ignored, the sentence on applied weights decides: ignored samples have no applied weight.",
)
WEIGHTED_MEAN = NLL.clause(
    "sum(loss) / sum(weight[target[n][d_1][d_2]...[d_k]]]), for all samples.",
    note="If samples are ignored, the note on the mean without weights applies. The text does not define weights that "
    "add up to 0.",
)
APPLIED = NLL.clause(
    "'mean': the sum of the output will be divided by the sum of applied weights.",
    note="Ignored samples have no applied weight, as official cases show. The text does not define a sum of 0.",
)
SUM = NLL.clause('If "reduction" attribute is set to "sum", the output is a scalar: `sum(loss)`.').reworded(
    before=13, text='If "reduction" attribute is set to "sum", the output is a scalar: sum(loss).'
)
EXAMPLES = (
    NLL.clause('negative log likelihood loss, "none" reduction'),
    NLL.clause("weighted negative log likelihood loss, sum reduction"),
    NLL.clause("weighted negative log likelihood loss, mean reduction"),
)
REDUCTIONS = NLL.clause("Type of reduction to apply to loss: none, sum, mean (default).")
OPTIONAL = NLL.clause("It's an optional value.")
FORGOTTEN = NLL.clause("Specifies a target value that is ignored and does not contribute to the input gradient.")
IN_RANGE = NLL.clause("Target element value shall be in range of [0, C).")
OR_IGNORED = NLL.clause(
    "If ignore_index is specified, it may have a value outside [0, C) and the target values should either be in the "
    "range [0, C) or have the value ignore_index."
)
ONE_EACH = NLL.clause(
    "If given, it has to be a tensor of size C.",
    note="The text does not define its rank. Rank 1 follows from weight[c].",
)
ONES = NLL.clause("Otherwise, it is treated as if having all ones.")
FLOATS = NLL.clause("Constrain input, weight, and output types to floating-point tensors.")
INTEGERS = NLL.clause("Constrain target to integer types")


@NLL.oracle()
def loss(v: Version, input: Array, target: Array, weight: Array | None, ignore_index: Int, reduction: str) -> Array:
    """Return the losses, or their reduction."""
    v.require(REDUCTIONS, reduction in {"none", "sum", "mean"})
    v.require(SHAPE, input.ndim > 1)
    v.require(TARGET, target.shape == (input.shape[0], *input.shape[2:]))
    classes = input.shape[1]
    if weight is not None:
        v.require(ONE_EACH, weight.size == classes)
        v.silent(ONE_EACH, weight.ndim != 1)
    in_range = bool(((target == ignore_index) | ((target >= 0) & (target < classes))).all())
    v.require(IN_RANGE if ignore_index is None else OR_IGNORED, in_range)
    of = samples(input, target, weight, ignore_index)
    with np.errstate(all="ignore"):
        overflows = largest(v.dtypes["T"]) < np.abs(of.losses).sum() < np.inf
    v.reads(REAL_NUMBERS, reduction == "mean" and overflows)
    return answer(v, of, reduction, APPLIED)


case = NLL.case

X, Y = [[[1.0, 2], [2, 2], [3, 2]], [[0, 1], [2, 2], [1, 2]]], [[2, 1], [0, 2]]
case("example_1", input=X, target=Y, reduction="none", cites=(EXAMPLES[0], NONE, LOSS))
case("example_2", input=X, target=Y, weight=[0.2, 0.3, 0.1], reduction="sum", cites=(EXAMPLES[1], WEIGHTED, COMPUTES))
case("example_3", input=X, target=Y, weight=[0.2, 0.3, 0.1], reduction="mean", cites=(EXAMPLES[2], WEIGHTED_MEAN))

INPUT, TARGETS, WEIGHT = -np.abs(waves(3, 5, 4)), picks(3, 5, 4), weighting(5)
PLAIN: dict[str, Any] = {"input": INPUT, "target": TARGETS}
NEW: dict[str, Any] = {**PLAIN, "since": NEWEST}
EDGE: dict[str, Any] = {"since": NEWEST}
case("default", **PLAIN, cites=(SHAPE, TARGET, LOSS, MEAN, ONES))
case("default_weighted", **NEW, weight=WEIGHT, cites=WEIGHTED_MEAN)
case("none_weighted", **NEW, weight=WEIGHT, reduction="none", cites=(NONE, WEIGHTED))
case("sum_before_13", **PLAIN, reduction="sum", before=13, cites=SUM)
case("sum_since_13", **PLAIN, reduction="sum", since=13, cites=SUM)
case("ignored_weighted", **PLAIN, weight=WEIGHT, ignore_index=3, cites=(IGNORED, ZERO, FORGOTTEN, APPLIED))
for name, (shape, reduction) in SHAPES.items():
    log_probability, target = waves(*shape), picks(*shape)
    case(name, input=log_probability, target=target, reduction=reduction, since=NEWEST, cites=(SHAPE, TARGET, LOSS))
case("ignored_0", **NEW, ignore_index=0, cites=(IGNORED, ZERO))
case("ignored_last", **NEW, ignore_index=4, reduction="none", cites=(IGNORED, ZERO))
OUTSIDE = {"minus_1": -1, "5": 5, "beyond_int32": 2**32}
CLASS = 2
for name, index in OUTSIDE.items():
    marked: dict[str, Any] = {"input": INPUT, "target": np.where(TARGETS == CLASS, index, TARGETS), "since": NEWEST}
    case(f"ignored_{name}", Tag.EDGE, **marked, ignore_index=index, cites=OR_IGNORED)
    if index > 0:
        case(f"outside_{name}", Tag.EDGE, **marked, reduction="none", rejects=IN_RANGE)
marked = {"input": INPUT, "target": np.where(TARGETS == CLASS, -1, TARGETS)}
case("outside", **marked, rejects=IN_RANGE)
case("outside_not_ignored", **marked, ignore_index=2, rejects=OR_IGNORED)
case("ignored_outside_weighted", **marked, ignore_index=-1, weight=WEIGHT, since=NEWEST, cites=(OR_IGNORED, APPLIED))
case("ignored_absent", **NEW, weight=WEIGHT, ignore_index=-1, cites=OPTIONAL)
OF_2 = np.expand_dims(TARGETS, 1) == CLASS
case(
    "ignored_nan", Tag.EDGE, input=np.where(OF_2, np.nan, INPUT), target=TARGETS, ignore_index=2, **EDGE, cites=IGNORED
)
case("ignored_nan_weight", Tag.EDGE, **NEW, weight=[1, 2, np.nan, 3, 4], ignore_index=2, cites=IGNORED)
case("nan_not_of_the_class", Tag.EDGE, input=[[np.nan, 2], [3, np.nan]], target=[1, 0], **EDGE, cites=LOSS)
case("nan", Tag.EDGE, input=[[np.nan, 2], [3, 1]], target=[0, 0], reduction="none", **EDGE, cites=LOSS)
case("infinities", Tag.EDGE, input=[[-np.inf, 2], [3, np.inf]], target=[0, 1], reduction="none", **EDGE, cites=LOSS)
ALL: dict[str, Any] = {"input": ramp(3, 2), "target": [1, 1, 1], "ignore_index": 1, "since": NEWEST}
case("ignored_all", Tag.EDGE, **ALL, reduction=vary(none="none", sum="sum"), cites=IGNORED)
case("ignored_all_mean", Tag.EDGE, **ALL, unspecified=APPLIED)
ZEROS: dict[str, Any] = {"input": ramp(3, 2), "target": [1, 1, 0], "weight": [0, 0], "since": NEWEST}
case("weights_zero", Tag.EDGE, **ZEROS, unspecified=APPLIED)
OF_SIGNS = [0.5, -2, 0.25]
case("weights_negative", Tag.EDGE, input=waves(4, 3), target=[0, 1, 1, 2], weight=OF_SIGNS, **EDGE, cites=WEIGHTED)
for name, (nothing, none) in EMPTY.items():
    some = vary(none="none", sum="sum")
    case(f"empty_{name}", Tag.EDGE, input=nothing, target=none, reduction=some, **EDGE, cites=LOSS)
    case(f"empty_{name}_mean", Tag.EDGE, input=nothing, target=none, **EDGE, unspecified=APPLIED)
case("dtypes", Tag.DTYPE, each="T", **NEW, weight=WEIGHT, cites=FLOATS)
case("target_dtypes", Tag.DTYPE, each="Tind", **NEW, ignore_index=3, cites=INTEGERS)
case("mean_large", Tag.EDGE, input=[[3e38, 1], [2, 3e38], [0, 1]], target=[0, 1, 0], **EDGE, cites=MEAN)
case("mean_largest", Tag.EDGE, input=[[LIMITS["float"].largest]], target=[0], **EDGE, cites=MEAN)
case("mean_infinite", Tag.EDGE, input=[[-np.inf, 1], [2, 1]], target=[0, 1], **EDGE, cites=MEAN)
case("sum_large", Tag.EDGE, input=np.full((4, 2), 3e38), target=[0, 1, 1, 0], reduction="sum", **EDGE, cites=SUM)

case("input_of_rank_0", Tag.EDGE, input=ramp(), target=0, **EDGE, rejects=SHAPE)
case("input_of_rank_1", Tag.EDGE, input=ramp(3), target=[0], rejects=SHAPE)
OTHERS = vary(of_classes=ramp(3, 5), flat=ramp(12), turned=ramp(4, 3))
case("target", input=INPUT, target=OTHERS, **EDGE, rejects=TARGET)
case("target_of_rank_0", input=ramp(1, 3), target=0, rejects=TARGET)
case("weight_few", **PLAIN, weight=ramp(4), rejects=ONE_EACH)
case("weight", **NEW, weight=vary(one=[2], scalar=2), rejects=ONE_EACH)
case("weight_matrix", Tag.EDGE, **NEW, weight=[[1, 2, 3, 4, 5]], unspecified=ONE_EACH)
case("reduction_unknown", **PLAIN, reduction="max", rejects=REDUCTIONS)
case("reduction", **NEW, reduction=vary(upper_case="SUM", empty=""), rejects=REDUCTIONS)

for name, (dims, sizes) in CLASSES.items():
    of_samples: dict[str, Any] = {
        "input": filled(*dims, floats=(-6, 0)),
        "target": filled(*dims[:1], *dims[2:], below="c", type_="int64"),
    }
    WEIGHTS = {"weight": filled("c", floats=(0.5, 2))}
    NLL.sized(name, sizes, each="T", cites=(LOSS, MEAN), arguments=of_samples)
    NLL.sized(f"{name}_each", sizes[::3], each="T", cites=LOSS, arguments={**of_samples, "reduction": "none"})
    NLL.sized(f"{name}_weighted", sizes[1::3], each="T", cites=(WEIGHTED, APPLIED), arguments={**of_samples, **WEIGHTS})
