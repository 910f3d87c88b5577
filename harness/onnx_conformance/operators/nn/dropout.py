# SPDX-License-Identifier: Apache-2.0
"""Dropout: a copy, or in training a scaled copy in which some elements are zero.

    output, mask = Dropout(data, ratio=0.5, training_mode=False, seed=...)

Versions: 1 and 6 (is_test), 7 (only test mode), 10 (a Boolean mask), 12 (ratio and training_mode as inputs), 13 and 22
(types).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Drawn, Op, Tag, Version, extremes, ramp, vary
from onnx_conformance.declare.sizes import LARGE, filled, grid

DROPOUT = Op("Dropout", versions=(1, 6, 7, 10, 12, 13, 22), compare=EXACT, rank="data")
DROPOUT.example(data=ramp(2, 3, 4), ratio=0.5, is_test=1, consumed_inputs=[0], training_mode=False, seed=7)

MODES = DROPOUT.clause(
    "Depending on whether it is in test mode or not, the output Y will either be a random dropout, or a simple copy of "
    "the input.",
    before=12,
    note="Versions 7 and 10 have no argument that selects the mode; runtimes use test mode.",
)
SCALING = DROPOUT.clause(
    "Note that our implementation of Dropout does scaling in the training phase, so during testing nothing needs to be "
    "done.",
    before=12,
    note="The text does not define the scale.",
)
TEST = DROPOUT.clause(
    "(int, default 0) if nonzero, run dropout in test mode where the output is simply Y = X.", before=7
)
NOT_FILLED = DROPOUT.clause("If is_test is nonzero, this output is not filled.", before=7)
RATIO = DROPOUT.clause("(float, default 0.5) the ratio of random dropout", before=7)
LEGACY = DROPOUT.clause("legacy optimization attribute.", before=6)
TRAINING = DROPOUT.clause(
    "If `training_mode` is true then the output Y will be a random dropout;",
    since=12,
    note="The official cases of training expect the values of one generator, numpy's. The text does not require this "
    "generator.",
    against=("test_training_dropout", "test_training_dropout_mask", "test_training_dropout_default*"),
)
FORMULA = DROPOUT.clause("output = scale * data * mask, ``` where ``` scale = 1. / (1. - ratio).", since=12)
RANGE = DROPOUT.clause("The ratio of random dropout, with value in [0, 1).", since=12)
NO_RATIO = DROPOUT.clause(
    "If this input was not set, or if it was set to 0, the output would be a simple copy of the input.",
    since=12,
    before=22,
    note="Two sentences later, an omitted ratio defaults to 0.5. The two sentences contradict each other for training "
    "without a ratio.",
    contradicts="It is an optional value, if not specified it will default to 0.5.",
)
ZERO_RATIO = DROPOUT.clause("If set to 0, the output would be a simple copy of the input.", since=22)
DEFAULT_RATIO = DROPOUT.clause(
    "It is an optional value, if not specified it will default to 0.5.",
    since=12,
    see=("https://github.com/onnx/onnx/pull/7032",),
)
INFERENCE = DROPOUT.clause(
    "It is an optional value hence unless specified explicitly, it is false. If it is false, ratio is ignored and the "
    "operation mimics inference mode where nothing will be dropped from the input data and if mask is requested as "
    "output it will contain all ones.",
    since=12,
)
SCALARS = DROPOUT.clause(
    "an optional input ratio (floating-point scalar) and an optional input training_mode (boolean scalar)",
    since=12,
    note="ONNX's shape inference rejects a tensor of shape [1], although it accepts one in other operators.",
)
SEED = DROPOUT.clause("(Optional) Seed to the random generator, if not specified we will auto generate one.", since=12)
MASK = DROPOUT.clause("The output mask.", note="Version 7 does not define its values if nothing is dropped.")
DROPOUT.excuse("attribute is_test unset", "That is training, of which version 1 does not say how far it scales.")
for point in ("output mask given", "type T1 tensor(bool)"):
    DROPOUT.excuse(
        point, "Before version 12 nothing says what the mask holds in test mode, nor how training is asked for."
    )


@DROPOUT.oracle(before=7)
def by_test(v: Version, n: int, data: Array, is_test: int) -> tuple[Array]:
    """Return the copy of test mode. Training is left open; so is a mask that is not filled."""
    v.silent(SCALING, not is_test)
    v.silent(NOT_FILLED, n > 1)
    return (data,)


@DROPOUT.oracle(since=7, before=12)
def copied(v: Version, n: int, data: Array) -> tuple[Array, ...]:
    """Return the copy of test mode. No argument can select training."""
    v.silent(MASK, n > 1)
    return (data,)


@DROPOUT.oracle(since=12)
def by_mode(v: Version, data: Array, ratio: Array | None, training_mode: Array | None) -> tuple[Any, Any]:
    """Return a copy and a mask of ones; for training, a description that any valid dropout satisfies."""
    for value in (ratio, training_mode):
        v.silent(SCALARS, value is not None and value.shape == (1,))
    share = 0.5 if ratio is None else float(v.scalar(SCALARS, ratio))
    if training_mode is None or not v.scalar(SCALARS, training_mode):
        return data, np.ones(data.shape, bool)
    v.silent(NO_RATIO, ratio is None and NO_RATIO.in_force(v.since))
    v.require(RANGE, 0 <= share < 1)
    if share == 0:
        return data, np.ones(data.shape, bool)
    v.silent(FORMULA, not np.isfinite(data).all())
    chosen = np.asarray(np.random.default_rng(0).random(data.shape) >= share)
    scaled = data / (1 - share)
    mask = Drawn(chosen, mean=1 - share, deviation=float(np.sqrt(share * (1 - share))))
    spread = np.abs(scaled) * np.sqrt(share * (1 - share))
    zero = np.zeros(data.shape)
    return Drawn(np.where(chosen, scaled, 0), choices=(zero, scaled), chosen_by=1, mean=data, deviation=spread), mask


case = DROPOUT.case
HALVES = np.arange(1, 1001).reshape(20, 50) / 8

case("test", data=ramp(2, 3), is_test=1, cites=(MODES, SCALING, TEST))
case("test_ratio", data=ramp(2, 3), is_test=1, ratio=0.9, cites=(TEST, RATIO))
case("test_two", Tag.EDGE, data=ramp(2, 3), is_test=2, cites=TEST)
case("test_consumed", data=ramp(2, 3), is_test=1, consumed_inputs=[0], cites=LEGACY)
case("test_mask", data=ramp(2, 3), is_test=1, n=2, unspecified=NOT_FILLED)
case("training_before_7", data=ramp(2, 3), ratio=0.25, before=7, unspecified=SCALING)
case("copy", Tag.CHANGE, data=ramp(2, 3), since=7, cites=MODES)
case("copy_ratio", data=ramp(2, 3), ratio=0.9, since=7, before=12, cites=SCALING)
case("copy_mask", Tag.CHANGE, data=ramp(2, 3), n=2, since=7, before=12, unspecified=MASK)
case("copy_extremes", Tag.DTYPE, Tag.EDGE, each="T", data=extremes(11), since=7)

case("inference", Tag.CHANGE, data=ramp(2, 3), n=2, since=12, cites=(INFERENCE, MASK))
case("inference_ratio", data=ramp(2, 3), ratio=0.75, n=2, since=12, cites=INFERENCE)
case("inference_explicit", data=ramp(2, 3), ratio=0.75, training_mode=False, n=2, since=12, cites=INFERENCE)
case("inference_ratio_of_one", Tag.EDGE, data=ramp(2, 3), ratio=1.0, training_mode=False, cites=INFERENCE)
case("inference_extremes", Tag.EDGE, data=extremes(11), training_mode=False, n=2, since=12, cites=INFERENCE)
case("inference_rank0", Tag.EDGE, data=3, n=2, since=12, cites=INFERENCE)
case("inference_zero_size", Tag.EDGE, data=ramp(2, 0), n=2, since=12, cites=INFERENCE)
for percent in (10, 25, 50, 75):
    training: dict[str, Any] = {"data": HALVES, "ratio": percent / 100, "training_mode": True, "since": 12}
    case(f"training_{percent}", Tag.CHANGE, **training, n=2, cites=(TRAINING, FORMULA, RANGE))
    case(f"training_{percent}_seed", **training, seed=7, n=2, cites=SEED)
case("training_without_mask", data=HALVES, ratio=0.5, training_mode=True, n=2, omits=("mask",), cites=FORMULA)
case("training_one_output", data=HALVES, ratio=0.5, training_mode=True, cites=FORMULA)
case("training_ratio_zero_before_22", Tag.EDGE, data=extremes(11), ratio=0.0, training_mode=True, n=2, cites=NO_RATIO)
case("training_ratio_zero", Tag.EDGE, data=extremes(11), ratio=0.0, training_mode=True, n=2, cites=ZERO_RATIO)
case("training_zero_size", Tag.EDGE, data=ramp(0, 3), ratio=0.5, training_mode=True, n=2, cites=TRAINING)
case("training_default", Tag.CHANGE, data=HALVES, training_mode=True, n=2, since=22, cites=DEFAULT_RATIO)
case(
    "training_default_before_22",
    Tag.CHANGE,
    data=HALVES,
    training_mode=True,
    n=2,
    before=22,
    cites=DEFAULT_RATIO,
    unspecified=NO_RATIO,
)
case("training_infinity", Tag.EDGE, data=[np.inf, 1], ratio=0.5, training_mode=True, n=2, unspecified=FORMULA)
RATIOS = vary(one=1.0, negative=-0.5, nan=np.nan)
case("ratio", Tag.EDGE, data=ramp(3), ratio=RATIOS, training_mode=True, rejects=RANGE)
case("ratio_vector", Tag.EDGE, data=ramp(3), ratio=[0.5], since=12, unspecified=SCALARS)
case("training_mode_vector", Tag.EDGE, data=ramp(3), training_mode=[False], unspecified=SCALARS)
case("ratio_of_two", Tag.EDGE, data=ramp(3), ratio=[0.5, 0.25], since=12, rejects=SCALARS)
case("training_mode_of_two", Tag.EDGE, data=ramp(3), training_mode=[False, False], rejects=SCALARS)
case("training_each_type", Tag.DTYPE, each="T1", data=HALVES, ratio=0.5, training_mode=True, n=2, cites=TRAINING)

LONG: dict[str, Any] = {"data": filled("n"), "ratio": 0.25, "training_mode": False}
DROPOUT.sized("length", grid(n=(1, 17, 64, 1025, *LARGE)), n=2, each="T", cites=INFERENCE, arguments=LONG)
