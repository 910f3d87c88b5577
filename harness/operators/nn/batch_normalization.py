"""BatchNormalization: each channel scaled to a mean and a variance, given or its own.

Versions: 1 (modes by is_test, 4-D), 6 (any number of dimensions), 7 (modes by the number of outputs; spatial by
shapes), 9 (no spatial; a single dimension), 14 (training_mode, formulas), 15 (types; statistics in float).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.declare import Array, Clause, Int, Op, Rule, Tag, Version, bounded, ramp, typed
from harness.operators.nn._normalization import normalized, off_normalized, off_statistics, per_channel


def _axes(X: Array) -> tuple[int, ...]:  # noqa: N803 - the text's own name
    """Return all axes but that of the channel, which an input of one dimension lacks."""
    return tuple(axis for axis in range(X.ndim) if axis != 1)


def _statistics(X: Array) -> list[Array]:  # noqa: N803
    """Return mean and population variance of each channel."""
    return [np.atleast_1d(X.mean(_axes(X))), np.atleast_1d(X.var(_axes(X)))]


def _allowed(
    X: Array, scale: Array, B: Array, epsilon: float, training_mode: Int, is_test: Int, **given: Any,  # noqa: N803, ANN401
) -> list[Array]:  # fmt: skip
    """Return the allowance of all outputs; where no batch counts, its statistics are exact."""
    old = [np.asarray(given[name] if given[name] is not None else given[f"input_{name}"]) for name in ("mean", "var")]
    trains = bool(training_mode) or is_test == 0
    errors = list(off_statistics(X, _axes(X))) if trains else [np.zeros(1), np.zeros(1)]
    now = _statistics(X) if trains else old
    mean, variance, factor, bias = (per_channel(X, values) for values in (*now, scale, B))
    y = off_normalized(X, mean, variance, epsilon, factor, bias, *errors)
    pairs = zip(old, now, errors, strict=True)
    running = [2 * (np.abs(before) + np.abs(after)) + error.max(initial=0) for before, after, error in pairs]
    return [y, *running, *running]


NORMALIZATION = Op(
    "BatchNormalization",
    versions=(1, 6, 7, 9, 14, 15),
    compare=bounded(_allowed, "a few roundings of each term, and half a one of each element summed over a batch"),
    rank="X",
)

PAPER = NORMALIZATION.clause("batch normalization as described in the paper https://arxiv.org/abs/1502.03167.")
LISTED = NORMALIZATION.clause(
    "multiple cases for the number of outputs, which we list below",
    note="Y alone is listed for test mode; in training mode it is left open. onnxruntime crashes where some of the "
    "outputs of training are named as left out.",
)
TRAINING_OLD = NORMALIZATION.clause(
    "Output case #1: Y, mean, var, saved_mean, saved_var (training mode)",
    before=14,
    note="Which variance var and saved_var hold is not said, unless it is 0. The paper normalizes by the population's.",
)
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


def _check(v: Version, X: Array, by_channel: tuple[Array, ...], spatial: Int) -> None:  # noqa: N803
    """Raise unless X and what belongs to its channels have the shapes that the version asks for."""
    for clause, holds in ((FOUR_D, X.ndim == len("NCHW")), (DIMENSIONS, X.ndim > 1), (CHANNELS, X.ndim > 0)):
        v.require(clause, holds or not clause.in_force(v.since))
    channels = X.shape[1] if X.ndim > 1 else 1
    wanted: tuple[int, ...] = X.shape[1:] if spatial == 0 and IF_SPATIAL.in_force(v.since) else (channels,)
    shapes = next(item for item in (SIZE_C, IF_SPATIAL, SHAPE_C) if item.in_force(v.since))
    v.require(shapes, all(item.shape == wanted for item in by_channel))


@NORMALIZATION.oracle()
def normalized_batch(
    v: Version, n: int, X: Array, scale: Array, B: Array, epsilon: float, momentum: float, training_mode: Int,  # noqa: N803
    is_test: Int, spatial: Int, mean: Array | None, var: Array | None, input_mean: Array | None,
    input_var: Array | None,
) -> tuple[Array, ...]:  # fmt: skip
    """Return Y, in training mode the running statistics, and before version 14 the saved ones.

    The mode is told by training_mode, before version 14 by is_test, and in versions 7 and 9 by the outputs.
    """
    given = [values for values in (mean, var, input_mean, input_var) if values is not None]
    _check(v, X, (scale, B, *given), spatial)
    v.require(LISTED, n in {1, 5 if training_mode is None else 3})
    trains = n > 1 if is_test is None else not is_test
    trains = trains if training_mode is None else bool(training_mode)
    v.require(NOT_FOR_TESTING if training_mode is None else EXTRA, trains or n == 1)
    if trains:
        v.silent(LISTED, n == 1)
        v.silent(ACROSS if SIZE_C.in_force(v.since) else IF_SPATIAL, spatial == 0)
        v.silent(POPULATION, X.size == 0)
    now = _statistics(X) if trains else given
    v.silent(TRAINING_OLD, trains and training_mode is None and bool(now[1].any()))
    running = (before * momentum + after * (1 - momentum) for before, after in zip(given, now, strict=True))
    center, spread, factor, bias = (per_channel(X, values) for values in (*now, scale, B))
    return (normalized(X, center, spread, epsilon, factor, bias), *running, *now)


case = NORMALIZATION.case
WAVES = np.sin(np.arange(24.0) * 1.7) * 2
X4, PLANES = WAVES.reshape(2, 3, 1, 4), np.repeat([3.0, -2.0, 5.0], 4).reshape(1, 3, 1, 4)
FACTORS: dict[str, Any] = {"scale": [1.5, -0.5, 2], "B": [0.25, 1, -3]}
GIVEN: dict[str, Any] = {"mean": [0.1, -0.7, 0.4], "var": [0.5, 2, 1.25]}
NEW: dict[str, Any] = {**FACTORS, "input_mean": GIVEN["mean"], "input_var": GIVEN["var"]}
for name in GIVEN:
    NORMALIZATION.excuse(f"output {name} given", "wanted in place of an input; no graph assigns a name twice")

FIRST: dict[str, Any] = {"consumed_inputs": [0, 0, 0, 1, 1]}
FLAGGED: dict[str, Any] = {"since": 6, "before": 7}
SPATIAL: dict[str, Any] = {"since": 7, "before": 9}
COUNTED: dict[str, Any] = {"since": 9}
DIALECTS: list[tuple[str, dict[str, Any], Clause, Clause, range]] = [
    ("_1", {**FIRST, "is_test": 1}, SIZE_C, FOUR_D, range(4, 5)),
    ("_6", {**FLAGGED, "is_test": 1}, SIZE_C, DIMENSIONS, range(2, 9)),
    ("_7", SPATIAL, IF_SPATIAL, DIMENSIONS, range(2, 9)),
    ("_9", COUNTED, SHAPE_C, CHANNELS, range(1, 9)),
    ("", {}, SHAPE_C, CHANNELS, range(1, 9)),
]
"""From a version on: what makes a node run in test mode, the clauses of shapes and of ranks, the ranks."""


def given_statistics(name: str, *, wrong: bool, **arguments: Any) -> None:  # noqa: ANN401 - as cases
    """Declare a case of test mode in every version; a `wrong` one breaks the clause of shapes."""
    for suffix, given, shapes, ranks, allowed in DIALECTS:
        values = {**FACTORS, **GIVEN, **arguments, **given}
        if not suffix:
            values |= {"input_mean": values.pop("mean"), "input_var": values.pop("var")}
        fits = len(arguments["X"].shape) in allowed
        broken = (shapes if wrong else arguments.get("rejects")) if fits else ranks
        values |= {"rejects": broken} if broken else {"cites": (PAPER, shapes, ranks)}
        case(name + suffix, **values)


ONE: dict[str, Any] = {"scale": [2], "B": [1], "mean": [0.5], "var": [3]}
NONE: dict[str, Any] = dict.fromkeys(ONE, ramp(0))
SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 1e38, -1e38]).reshape(1, 3, 1, 2)
STATED: list[tuple[str, dict[str, Any]]] = [
    ("plain", {"X": X4}), ("rank0", {"X": np.array(3.0), **ONE}), ("rank1", {"X": WAVES[:5], **ONE}),
    ("rank2", {"X": WAVES[:12].reshape(4, 3)}), ("rank3", {"X": WAVES.reshape(2, 3, 4)}),
    ("rank5", {"X": WAVES.reshape(1, 3, 2, 1, 4)}), ("one_channel", {"X": WAVES.reshape(2, 1, 3, 4), **ONE}),
    ("momentum", {"X": X4, "momentum": 0.5}), ("epsilon", {"X": X4, "epsilon": 0.75}),
    ("var_zero", {"X": X4, "var": [0, 1, 0], "epsilon": 0.125}), ("no_batch", {"X": ramp(0, 3, 2, 1)}),
    ("no_channels", {"X": ramp(2, 0, 3, 1), **NONE}), ("special", {"X": SPECIAL, "scale": [1, 1, 1]}),
    ("no_outputs", {"X": X4, "n": 0, "rejects": Rule.ARITY}),
    ("two_types", {"X": X4, "B": typed("double", [1, 2, 3]), "rejects": Rule.TYPES}),
    ("attribute_axis", {"X": X4, "stray": {"axis": 1}, "rejects": Rule.ATTRIBUTES}),
    ("scale_size", {"X": X4, "scale": [1, 2, 3, 4], "wrong": True}), ("b_size", {"X": X4, "B": [1, 2], "wrong": True}),
    ("mean_size", {"X": X4, "mean": [1, 2], "wrong": True}), ("var_size", {"X": X4, "var": [1, 2], "wrong": True}),
    ("scale_of_one", {"X": X4, "scale": [2], "wrong": True}), ("scale_scalar", {"X": X4, "scale": 2, "wrong": True}),
    ("scale_column", {"X": X4, "scale": [[1], [2], [3]], "wrong": True}),
]  # fmt: skip
for name, given in STATED:
    given_statistics(name, **{"wrong": False, **given})
case("rank1_of_channels", Tag.EDGE, X=WAVES[:3], **NEW, rejects=SHAPE_C)

OLD: dict[str, Any] = {"X": X4, **FACTORS, **GIVEN}
EACH = {name: np.arange(1, 13).reshape(3, 1, 4) / 4 for name in (*FACTORS, *GIVEN)}
for spatial in (0, 1):
    case(f"spatial_{spatial}_1", **OLD, **FIRST, is_test=1, spatial=spatial, cites=(ACROSS,))
    case(f"spatial_{spatial}_6", Tag.CHANGE, **OLD, **FLAGGED, is_test=1, spatial=spatial, cites=(ACROSS,))
case("spatial_0_7", Tag.CHANGE, **{**OLD, **EACH}, **SPATIAL, spatial=0, cites=(IF_SPATIAL,))
case("spatial_1_by_feature", Tag.CHANGE, **{**OLD, **EACH}, **SPATIAL, rejects=IF_SPATIAL)

FIVE: dict[str, Any] = {"n": 5, "omits": ("mean", "var")}
for suffix, given in (("_1", FIRST), ("_6", FLAGGED)):
    flat: dict[str, Any] = {**OLD, "X": PLANES, **given, **FIVE}
    case(f"test_outputs{suffix}", **OLD, **given, is_test=1, **FIVE, rejects=NOT_FOR_TESTING)
    case(f"training_constant{suffix}", Tag.CHANGE, **flat, is_test=0, cites=(TRAINING_OLD, IN_PLACE))
    case(f"training_default{suffix}", Tag.CHANGE, **flat, cites=(IS_TEST, MOMENTUM, EPSILON))
    case(f"training_of_features{suffix}", Tag.EDGE, **flat, spatial=0, unspecified=ACROSS)
for suffix, given in (("_1", FIRST), ("_6", FLAGGED), ("_7", SPATIAL), ("_9", COUNTED)):
    case(f"training{suffix}", Tag.CHANGE, **OLD, **given, **FIVE, unspecified=TRAINING_OLD)
    case(f"four_outputs{suffix}", **OLD, **given, n=4, omits=("mean", "var"), rejects=LISTED)
case("training_constant_7", Tag.CHANGE, **{**OLD, "X": PLANES}, **FIVE, since=7, cites=(TRAINING_OLD,))

TRAIN: dict[str, Any] = {"X": X4, **NEW, "training_mode": 1}
ONE_NEW: dict[str, Any] = {**TRAIN, "scale": [2], "B": [1], "input_mean": [0.5], "input_var": [3]}
case("training", Tag.CHANGE, **TRAIN, n=3, cites=(RUNNING, Y_TRAINING, POPULATION))
case("training_y", **TRAIN, unspecified=LISTED)
case("two_outputs", **TRAIN, n=2, rejects=LISTED)
case("training_var", **TRAIN, n=3, omits=("running_mean",), cites=(RUNNING,))
case("training_momentum", **TRAIN, momentum=0.25, epsilon=0.75, n=3, cites=(RUNNING,))
case("training_rank1", Tag.EDGE, **{**ONE_NEW, "X": WAVES[:5]}, n=3, cites=(ONE_DIMENSION,))
case("inference", X=X4, **NEW, training_mode=0, cites=(Y_INFERENCE, ESTIMATED))
case("inference_outputs", X=X4, **NEW, n=3, rejects=EXTRA)
HALVES = {**{name: typed("float16", item) for name, item in FACTORS.items()}, "X": typed("float16", X4 * 300)}
FLOATS = {name: typed("float", NEW[name]) for name in ("input_mean", "input_var")}
case("training_float16_overflows", Tag.EDGE, **{**TRAIN, **HALVES, **FLOATS}, n=3, cites=(IN_FLOAT,))
for suffix, given, *_ in DIALECTS[:4]:
    case(f"dtypes{suffix}", Tag.DTYPE, each="T", **OLD, **given)
for type_ in ("float", "float16", "double", "bfloat16"):  # The text does not say in which of two types to compute.
    alike: dict[str, Any] = {name: typed(type_, item) for name, item in {"X": X4, **NEW}.items()}
    case(f"inference_{type_}", Tag.DTYPE, **alike, cites=(Y_INFERENCE,))
    case(f"training_{type_}", Tag.DTYPE, **alike, training_mode=1, n=3, cites=(Y_TRAINING,))
case("dtypes_statistics_14", Tag.DTYPE, each="U", **TRAIN, n=3, before=15)
case("dtypes_statistics", Tag.DTYPE, each="T2", **TRAIN, n=3, since=15)
case("dtypes_factors", Tag.DTYPE, each="T1", X=X4, **NEW, since=15, cites=(Y_INFERENCE,))
case("outside", Tag.DTYPE, outside="T", X=X4, **NEW, since=15, rejects=Rule.TYPES)
case("no_variance", X=X4, **{**NEW, "input_var": None}, rejects=REQUIRED)
