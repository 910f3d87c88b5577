# SPDX-License-Identifier: Apache-2.0
"""BatchNormalization: scale and shift each channel by the mean and variance of the inputs or of the batch.

    Y = BatchNormalization(X, scale, B, input_mean, input_var, epsilon=1e-5)
    Y, running_mean, running_var = BatchNormalization(X, ..., momentum=0.9, training_mode=1)

Versions: 1 (modes by is_test, 4-D), 6 (any number of dimensions), 7 (modes by the number of outputs; spatial by
shapes), 9 (no spatial; a single dimension), 14 (training_mode, formulas), 15 (types; statistics in float).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Clause, Int, Op, Tag, Version, bounded, ramp, typed
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.sizes import filled, grid
from onnx_conformance.operators.nn._normalization import normalized, normalized_error, per_channel, statistics_errors
from onnx_conformance.operators.nn._sizes import MAPS


def _axes(X: Array) -> tuple[int, ...]:
    """Return all axes except the channel axis. An input of one dimension has no channel axis."""
    return tuple(axis for axis in range(X.ndim) if axis != 1)


def _statistics(X: Array) -> list[Array]:
    """Return mean and population variance of each channel."""
    return [np.atleast_1d(X.mean(_axes(X))), np.atleast_1d(X.var(_axes(X)))]


def _errors(
    X: Array,
    scale: Array,
    B: Array,
    epsilon: float,
    *,
    mean: Array | None = None,
    var: Array | None = None,
    input_mean: Array | None = None,
    input_var: Array | None = None,
    training_mode: int = 0,
    is_test: Int = None,
    **_: Any,  # noqa: ANN401 - other arguments of the oracles
) -> list[Array]:
    """Return the errors of all outputs. In test mode the statistics are inputs and therefore exact."""
    inputs = [np.asarray(input_mean if mean is None else mean), np.asarray(input_var if var is None else var)]
    trains = bool(training_mode) or is_test == 0
    of_statistics = list(statistics_errors(X, _axes(X))) if trains else [np.zeros(1), np.zeros(1)]
    current = _statistics(X) if trains else inputs
    center, spread, factor, bias = (per_channel(X, values) for values in (*current, scale, B))
    y = normalized_error(X, center, spread, epsilon, factor, bias, *of_statistics)
    running = [
        2 * (np.abs(before) + np.abs(after)) + error.max(initial=0)
        for before, after, error in zip(inputs, current, of_statistics, strict=True)
    ]
    return [y, *running, *running]


NORMALIZATION = Op(
    "BatchNormalization",
    versions=(1, 6, 7, 9, 14, 15),
    compare=bounded(_errors, "each term has a few roundings, and half a rounding for each element summed over a batch"),
    rank="X",
)
NORMALIZATION.example(
    X=waves(2, 3, 4, 5),
    scale=ramp(3),
    B=ramp(3),
    mean=ramp(3),
    var=[2, 3, 1],
    input_mean=ramp(3),
    input_var=[2, 3, 1],
    consumed_inputs=[0, 0, 0, 1, 1],
    is_test=1,
    epsilon=0.5,
)
for name in ("mean", "var"):
    NORMALIZATION.excuse(f"output {name} given", "wanted in place of an input; no graph assigns a name twice")

PAPER = NORMALIZATION.clause("batch normalization as described in the paper https://arxiv.org/abs/1502.03167.")
LISTED = NORMALIZATION.clause(
    "multiple cases for the number of outputs, which we list below",
    note="Only for test mode does the text list Y alone; in training mode this is left open. onnxruntime crashes if "
    "some outputs of training are omitted by an empty name.",
)
TRAINING = NORMALIZATION.clause(
    "Output case #1: Y, mean, var, saved_mean, saved_var (training mode)",
    before=14,
    note="The text does not define the kind of variance in var and saved_var, which matters unless it is 0. The paper "
    "normalizes by the population variance.",
)
TEST_MODE = NORMALIZATION.clause("Output case #2: Y (test mode)", before=14)
MOMENTUM = NORMALIZATION.clause("default is 0.9f.", before=7)
EPSILON = NORMALIZATION.clause("default is 1e-5f.", before=7)
IS_TEST = NORMALIZATION.clause("run spatial batch normalization in test mode, default is 0.", before=7)
ACROSS = NORMALIZATION.clause("If false, compute the mean and variance across per feature.Default is 1.", before=7)
FOUR_D = NORMALIZATION.clause("The input 4-dimensional tensor of shape NCHW.", before=6)
IN_PLACE = NORMALIZATION.clause("Must be in-place with the input", before=7, result=True)
NOT_FOR_TESTING = NORMALIZATION.clause("Should not be used for testing.", before=7)
SIZE_C = NORMALIZATION.clause("as a 1-dimensional tensor of size C", before=7)
DIMENSIONS = NORMALIZATION.clause("the dimensions are in the form of (N x C x D1 x D2 ... Dn)", since=6, before=9)
IF_SPATIAL = NORMALIZATION.clause("If spatial is false, the dimensions of scale are (C x D1 x", since=7, before=9)
CHANNELS = NORMALIZATION.clause("Statistics are computed for every channel of C over N and D1 to Dn", since=9)
SHAPE_C = NORMALIZATION.clause("tensor of shape (C).", since=9)
ONE_DIMENSION = NORMALIZATION.clause("single dimension input of size N in which case C is assumed to be 1", since=9)
REQUIRED = NORMALIZATION.clause("There are five required inputs 'X', 'scale', 'B', 'input_mean' and", since=14)
ESTIMATED = NORMALIZATION.clause("statistics in inference mode (training_mode=False, default)", since=14)
EXTRA = NORMALIZATION.clause("When training_mode=False, extra outputs are invalid.", since=14)
RUNNING = NORMALIZATION.clause("running_mean = input_mean * momentum + current_mean * (1 - momentum)", since=14)
Y_TRAINING = NORMALIZATION.clause("Y = (X - current_mean) / sqrt(current_var + epsilon) * scale + B", since=14)
POPULATION = NORMALIZATION.clause("This op uses the population size (N) for calculating variance", since=14)
Y_INFERENCE = NORMALIZATION.clause("Y = (X - input_mean) / sqrt(input_var + epsilon) * scale + B", since=14)
IN_FLOAT = NORMALIZATION.clause("uses float to avoid overflow for float16 inputs.", since=15)


def _check(v: Version, X: Array, by_channel: tuple[Array, ...], spatial: Int) -> None:
    """Raise unless X and the values of its channels have the shapes that the version requires."""
    for clause, holds in ((FOUR_D, X.ndim == len("NCHW")), (DIMENSIONS, X.ndim > 1), (CHANNELS, X.ndim > 0)):
        v.require(clause, holds or not clause.in_force(v.since))
    channels = X.shape[1] if X.ndim > 1 else 1
    shape: tuple[int, ...] = X.shape[1:] if spatial == 0 and IF_SPATIAL.in_force(v.since) else (channels,)
    clause = next(item for item in (SIZE_C, IF_SPATIAL, SHAPE_C) if item.in_force(v.since))
    v.require(clause, all(item.shape == shape for item in by_channel))


def _training(v: Version, X: Array, mean: Array, var: Array, momentum: float) -> tuple[list[Array], list[Array]]:
    """Return mean and variance of the batch, and the running mean and variance."""
    v.silent(POPULATION, X.size == 0)
    current = _statistics(X)
    running = [before * momentum + now * (1 - momentum) for before, now in zip((mean, var), current, strict=True)]
    return current, running


@NORMALIZATION.oracle(before=14)
def normalized_before_14(
    v: Version,
    n: int,
    X: Array,
    scale: Array,
    B: Array,
    epsilon: float,
    momentum: float,
    is_test: Int,
    spatial: Int,
    mean: Array,
    var: Array,
) -> tuple[Array, ...]:
    """Return Y; in training mode, also the running statistics and the saved statistics.

    is_test selects the mode; in versions 7 and 9, the number of outputs does.
    """
    _check(v, X, (scale, B, mean, var), spatial)
    v.require(LISTED, n in {1, 5})
    trains = n != 1 if is_test is None else not is_test
    v.require(NOT_FOR_TESTING, trains or n == 1)
    if not trains:
        center, spread, factor, bias = (per_channel(X, values) for values in (mean, var, scale, B))
        return (normalized(X, center, spread, epsilon, factor, bias),)
    v.silent(LISTED, n == 1)
    v.silent(ACROSS if ACROSS.in_force(v.since) else IF_SPATIAL, spatial == 0)
    current, running = _training(v, X, mean, var, momentum)
    v.silent(TRAINING, bool(current[1].any()))
    center, spread, factor, bias = (per_channel(X, values) for values in (*current, scale, B))
    return (normalized(X, center, spread, epsilon, factor, bias), *running, *current)


@NORMALIZATION.oracle(since=14)
def normalized_batch(
    v: Version,
    n: int,
    X: Array,
    scale: Array,
    B: Array,
    input_mean: Array,
    input_var: Array,
    epsilon: float,
    momentum: float,
    training_mode: int,
) -> tuple[Array, ...]:
    """Return Y; in training mode, also the running statistics."""
    _check(v, X, (scale, B, input_mean, input_var), None)
    v.require(LISTED, n in {1, 3})
    v.require(EXTRA, bool(training_mode) or n == 1)
    v.silent(LISTED, bool(training_mode) and n == 1)
    statistics: list[Array] = [input_mean, input_var]
    running: list[Array] = []
    if training_mode:
        statistics, running = _training(v, X, input_mean, input_var, momentum)
    center, spread, factor, bias = (per_channel(X, values) for values in (*statistics, scale, B))
    return (normalized(X, center, spread, epsilon, factor, bias), *running)


@dataclass(frozen=True)
class Interface:
    """How a model selects test mode in some of the versions.

    Attributes:
        suffix: the suffix of the names of cases.
        shapes: the clause on the shapes of scale, B, mean and var.
        ranks: the clause on the rank of X; `least` and `most` are the ranks that it allows.
        words: additional arguments, and the versions.
    """

    suffix: str
    shapes: Clause
    ranks: Clause
    least: int
    most: int
    words: dict[str, Any] = field(default_factory=dict)


VERSION_1: dict[str, Any] = {"consumed_inputs": [0, 0, 0, 1, 1]}
VERSION_6: dict[str, Any] = {"since": 6, "before": 7}
VERSION_7: dict[str, Any] = {"since": 7, "before": 9}
SINCE_9: dict[str, Any] = {"since": 9}
ANY_RANK = 8
INTERFACES = (
    Interface("_before_6", SIZE_C, FOUR_D, 4, 4, {**VERSION_1, "is_test": 1}),
    Interface("_before_7", SIZE_C, DIMENSIONS, 2, ANY_RANK, {**VERSION_6, "is_test": 1}),
    Interface("_before_9", IF_SPATIAL, DIMENSIONS, 2, ANY_RANK, VERSION_7),
    Interface("_before_14", SHAPE_C, CHANNELS, 1, ANY_RANK, SINCE_9),
    Interface("", SHAPE_C, CHANNELS, 1, ANY_RANK),
)

case = NORMALIZATION.case
WAVES = np.sin(np.arange(24.0) * 1.7) * 2
IMAGES = WAVES.reshape(2, 3, 1, 4)
PLANES = np.repeat([3.0, -2.0, 5.0], 4).reshape(1, 3, 1, 4)
"""Every channel is constant, so its variance is 0."""
PARTLY_CONSTANT = PLANES + np.array([0, 0, 1, 0] + [0] * 8).reshape(PLANES.shape)
"""One of three variances is not 0."""
FACTORS: dict[str, Any] = {"scale": [1.5, -0.5, 2], "B": [0.25, 1, -3]}
STATISTICS: dict[str, Any] = {"mean": [0.1, -0.7, 0.4], "var": [0.5, 2, 1.25]}
INPUTS: dict[str, Any] = {**FACTORS, "input_mean": STATISTICS["mean"], "input_var": STATISTICS["var"]}


def in_test_mode(name: str, *, wrong_shape: bool = False, **arguments: Any) -> None:  # noqa: ANN401 - see `case`
    """Declare a case of test mode in every version. With a `wrong_shape` it violates the clause on shapes."""
    for interface in INTERFACES:
        call = {**FACTORS, **STATISTICS, **arguments, **interface.words}
        if interface is INTERFACES[-1]:
            call |= {"input_mean": call.pop("mean"), "input_var": call.pop("var")}
        if not interface.least <= np.ndim(arguments["X"]) <= interface.most:
            call["rejects"] = interface.ranks
        elif wrong_shape:
            call["rejects"] = interface.shapes
        else:
            computes = Y_INFERENCE if interface is INTERFACES[-1] else TEST_MODE
            call["cites"] = (computes, PAPER, interface.shapes, interface.ranks)
        case(name + interface.suffix, **call)


ONE: dict[str, Any] = {"scale": [2], "B": [1], "mean": [0.5], "var": [3]}
in_test_mode("plain", X=IMAGES)
in_test_mode("rank0", X=np.array(3.0), **ONE)
in_test_mode("rank1", X=WAVES[:5], **ONE)
in_test_mode("rank2", X=WAVES[:12].reshape(4, 3))
in_test_mode("rank3", X=WAVES.reshape(2, 3, 4))
in_test_mode("rank5", X=WAVES.reshape(1, 3, 2, 1, 4))
in_test_mode("one_channel", X=WAVES.reshape(2, 1, 3, 4), **ONE)
in_test_mode("momentum", X=IMAGES, momentum=0.5)
in_test_mode("epsilon", X=IMAGES, epsilon=0.75)
in_test_mode("var_zero", X=IMAGES, var=[0, 1, 0], epsilon=0.125)
in_test_mode("no_batch", X=np.zeros((0, 3, 2, 1)))
in_test_mode("no_channels", X=np.zeros((2, 0, 3, 1)), scale=ramp(0), B=ramp(0), mean=ramp(0), var=ramp(0))
SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 1e38, -1e38]).reshape(1, 3, 1, 2)
in_test_mode("special", X=SPECIAL, scale=[1, 1, 1])
in_test_mode("scale_size", X=IMAGES, scale=[1, 2, 3, 4], wrong_shape=True)
in_test_mode("b_size", X=IMAGES, B=[1, 2], wrong_shape=True)
in_test_mode("mean_size", X=IMAGES, mean=[1, 2], wrong_shape=True)
in_test_mode("var_size", X=IMAGES, var=[1, 2], wrong_shape=True)
in_test_mode("scale_of_one", X=IMAGES, scale=[2], wrong_shape=True)
in_test_mode("scale_scalar", X=IMAGES, scale=2, wrong_shape=True)
in_test_mode("scale_column", X=IMAGES, scale=[[1], [2], [3]], wrong_shape=True)
case("rank1_of_channels", Tag.EDGE, X=WAVES[:3], **INPUTS, rejects=SHAPE_C)

BEFORE_14: dict[str, Any] = {"X": IMAGES, **FACTORS, **STATISTICS}
BY_FEATURE: dict[str, Any] = {name: np.arange(1, 13).reshape(3, 1, 4) / 4 for name in (*FACTORS, *STATISTICS)}
for value in (0, 1):
    case(f"spatial_{value}_before_6", **BEFORE_14, **VERSION_1, is_test=1, spatial=value, cites=ACROSS)
    case(f"spatial_{value}_before_7", Tag.CHANGE, **BEFORE_14, **VERSION_6, is_test=1, spatial=value, cites=ACROSS)
case("spatial_0_before_9", Tag.CHANGE, X=IMAGES, **BY_FEATURE, **VERSION_7, spatial=0, cites=IF_SPATIAL)
case("spatial_1_by_feature", Tag.CHANGE, X=IMAGES, **BY_FEATURE, **VERSION_7, rejects=IF_SPATIAL)

FIVE: dict[str, Any] = {"n": 5, "omits": ("mean", "var")}
for suffix, words in (("_before_6", VERSION_1), ("_before_7", VERSION_6)):
    constant: dict[str, Any] = {**BEFORE_14, "X": PLANES, **words, **FIVE}
    case(f"test_outputs{suffix}", **BEFORE_14, **words, is_test=1, **FIVE, rejects=NOT_FOR_TESTING)
    case(f"training_constant{suffix}", Tag.CHANGE, **constant, is_test=0, cites=(TRAINING, IN_PLACE))
    case(f"training_default{suffix}", Tag.CHANGE, **constant, cites=(IS_TEST, MOMENTUM, EPSILON))
    case(f"training_y{suffix}", **BEFORE_14, **words, is_test=0, unspecified=LISTED)
    case(f"training_of_features{suffix}", Tag.EDGE, **constant, spatial=0, unspecified=ACROSS)
for suffix, words in (
    ("_before_6", VERSION_1),
    ("_before_7", VERSION_6),
    ("_before_9", VERSION_7),
    ("_before_14", SINCE_9),
):
    case(f"training{suffix}", Tag.CHANGE, **BEFORE_14, **words, **FIVE, unspecified=TRAINING)
    partly: dict[str, Any] = {**BEFORE_14, "X": PARTLY_CONSTANT}
    case(f"training_partly_constant{suffix}", Tag.EDGE, **partly, **words, **FIVE, unspecified=TRAINING)
    case(f"four_outputs{suffix}", **BEFORE_14, **words, n=4, omits=("mean", "var"), rejects=LISTED)
case("training_constant_before_14", Tag.CHANGE, X=PLANES, **FACTORS, **STATISTICS, **FIVE, since=7, cites=TRAINING)

case("training", Tag.CHANGE, X=IMAGES, **INPUTS, training_mode=1, n=3, cites=(RUNNING, Y_TRAINING, POPULATION))
case("training_no_batch", Tag.EDGE, X=ramp(0, 3, 1, 4), **INPUTS, training_mode=1, n=3, unspecified=POPULATION)
case("training_y", X=IMAGES, **INPUTS, training_mode=1, unspecified=LISTED)
case("two_outputs", X=IMAGES, **INPUTS, training_mode=1, n=2, rejects=LISTED)
case("training_var", X=IMAGES, **INPUTS, training_mode=1, n=3, omits=("running_mean",), cites=RUNNING)
case("training_momentum", X=IMAGES, **INPUTS, training_mode=1, momentum=0.25, epsilon=0.75, n=3, cites=RUNNING)
case(
    "training_rank1",
    Tag.EDGE,
    X=WAVES[:5],
    scale=[2],
    B=[1],
    input_mean=[0.5],
    input_var=[3],
    training_mode=1,
    n=3,
    cites=ONE_DIMENSION,
)
case("inference", X=IMAGES, **INPUTS, training_mode=0, cites=(Y_INFERENCE, ESTIMATED))
case("inference_outputs", X=IMAGES, **INPUTS, n=3, rejects=EXTRA)
case(
    "training_float16_overflows",
    Tag.EDGE,
    X=typed("float16", IMAGES * 300),
    scale=typed("float16", FACTORS["scale"]),
    B=typed("float16", FACTORS["B"]),
    input_mean=typed("float", INPUTS["input_mean"]),
    input_var=typed("float", INPUTS["input_var"]),
    training_mode=1,
    n=3,
    cites=IN_FLOAT,
)
for type_ in ("float", "float16", "double", "bfloat16"):  # The text does not define which of two types to compute in.
    alike: dict[str, Any] = {name: typed(type_, item) for name, item in {"X": IMAGES, **INPUTS}.items()}
    case(f"inference_{type_}", Tag.DTYPE, **alike, cites=Y_INFERENCE)
    case(f"training_{type_}", Tag.DTYPE, **alike, training_mode=1, n=3, cites=Y_TRAINING)
case("types_of_statistics_before_15", Tag.DTYPE, each="U", X=IMAGES, **INPUTS, training_mode=1, n=3, before=15)
case("types_of_statistics", Tag.DTYPE, each="T2", X=IMAGES, **INPUTS, training_mode=1, n=3, since=15)
case("types_of_factors", Tag.DTYPE, each="T1", X=IMAGES, **INPUTS, since=15, cites=Y_INFERENCE)
case("no_variance", X=IMAGES, **{**INPUTS, "input_var": None}, rejects=REQUIRED)

of_channels: dict[str, Any] = {
    "scale": filled("c"),
    "B": filled("c"),
    "input_mean": filled("c"),
    "input_var": filled("c", floats=(0.25, 4)),
}
for name, (dims, sizes) in MAPS.items():
    NORMALIZATION.sized(name, sizes, each="T", cites=Y_INFERENCE, arguments={"X": filled(*dims), **of_channels})
    trained = {"X": filled(*dims), **of_channels, "training_mode": 1}
    NORMALIZATION.sized(f"{name}_training", sizes[::3], n=3, cites=(Y_TRAINING, RUNNING), arguments=trained)
features = {"X": filled("b", "c"), **of_channels}
NORMALIZATION.sized("features", grid(b=(3, 17), c=(8, 33, 100)), each="T", cites=Y_INFERENCE, arguments=features)
