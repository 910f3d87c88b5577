"""TreeEnsemble: the weights of the leaves that a row of features comes to, gathered for each target.

Versions: 5.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.declare import Array, Op, Rule, Tag, Version, bounded, ramp, typed
from harness.operators.traditionalml._post_transform import DEFINED, SLACK, TRANSFORMS, UNDEFINED, transformed
from harness.operators.traditionalml._trees import MODES, follows_true, nodes_and_leaves

AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")


def _rounding(*, X: Array, leaf_weights: Array, tree_roots: list[int], n_targets: int, **_: object) -> list[Array]:  # noqa: N803
    """Return half a rounding for each addition and the average, and what a transform adds."""
    magnitude = np.abs(leaf_weights.astype(float)).max(initial=0)
    return [np.full((len(X), n_targets), len(tree_roots) ** 2 * magnitude / 2 + SLACK)]


ENSEMBLE = Op(
    "TreeEnsemble",
    versions=(5,),
    compare=bounded(_rounding, "one addition for each tree, in any order, an average, and a transform"),
    domain="ai.onnx.ml",
    rank="X",
)
ENSEMBLE.excuse("attribute n_targets unset", "nothing says how many targets there are where this is not set")

said = ENSEMBLE.clause
INPUTS = said("Inputs have dimensions `[N, F]` where `N` is the input batch size")
OUTPUTS = said("Outputs have dimensions `[N, num_targets]`")
NODES_LENGTH = said("The attributes `nodes_*` must all have the same length and encode a sequence of tuples")
LEAVES_LENGTH = said("similarly define tuples of leaves and must have identical length.")
HOW = "Not what an average, least or greatest of no leaf is, nor whether trees without a leaf of the target count."
AGGREGATE = said("Defines how to aggregate leaf values within a target.", note=HOW)
AGGREGATED = said("One of 'AVERAGE' (0) 'SUM' (1) 'MIN' (2) 'MAX (3) defaults to 'SUM' (1)")
SWAPPED = f"{UNDEFINED} onnxruntime takes 1 for LOGISTIC and 2 for SOFTMAX; onnx.reference transforms nothing."
TRANSFORM = said("Indicates the transform to apply to the score.", note=SWAPPED)
ONE_OF = said(
    "One of 'NONE' (0), 'SOFTMAX' (1), 'LOGISTIC' (2), 'SOFTMAX_ZERO' (3) or 'PROBIT' (4), defaults to 'NONE'"
)
ROOTS = said("Index into `nodes_*` for the root of each tree.", note="Says nothing of an index that is not there.")
HITRATES = said("Popularity of each node, used for performance and may be omitted.")
WHICH = "Of every comparison: NaN differs from a number, and onnxruntime follows the true branch of BRANCH_NEQ."
MISSING = said("whether to follow the true branch (if attribute value is 1) or false branch (if attribute", note=WHICH)
MISSING_UNSET = said("the default value is false (0) for all nodes.")
COMPARISON = said(
    "The comparison operation performed by the node. This is encoded as an enumeration of 0 ('BRANCH_LEQ')"
)
UINT8 = said("Note this is a tensor of type uint8.")
WEIGHT = said("The weight for each leaf.")
TARGET = said("The index of the target that this leaf contributes to (this must be in range `[0, n_targets)`).")
TARGETS = said("The total number of targets.")
TYPO = "Says false of both; that 1 is a leaf is said of nodes_trueleafs and nodes_falseleafs."
FALSE_BRANCH = said("this represents the position of the false branch node.", note=TYPO)
TRUE_BRANCH = said("this represents the position of the true branch node.", note=TYPO)
TRUE_LEAF = said("1 if true branch is leaf for each node and 0 an interior node.")
FALSE_LEAF = said("1 if false branch is leaf for each node and 0 if an interior node.")
ONE_NODE = said("a single `nodes_*` entry with true and false branches referencing the same `leaf_*` entry")
FEATURE = said("Feature id for each node.", note="Says nothing of a feature that the input does not have.")
SPLITS = said("Thresholds to do the splitting on for each node with mode that is not 'BRANCH_MEMBER'.")
ENDS = "The official case, onnxruntime and onnx.reference have a NaN behind the last set; without, it is left open."
MEMBERS = said("in the order that the 'BRANCH_MEMBER' mode appears in `node_modes`, delimited by `NaN`s.", note=ENDS)
AS_MANY = said("Will have the same number of sets of values as nodes with mode 'BRANCH_MEMBER'.")
NO_MEMBERS = said("This may be omitted if the node doesn't contain any 'BRANCH_MEMBER' nodes.")
NUMERIC = said("The input type must be a tensor of a numeric type.")
INPUT_SHAPE = said("Input of shape [Batch Size, Number of Features]")


def _sets(v: Version, modes: list[int], membership_values: Array | None) -> dict[int, list[float]]:
    """Return the members of each node that tests membership."""
    nodes = [node for node, mode in enumerate(modes) if MODES[mode] == "MEMBER"]
    v.require(NO_MEMBERS, membership_values is not None or not nodes)
    found: list[list[float]] = [[]]
    for value in [] if membership_values is None else membership_values.astype(float):
        found = [*found, []] if np.isnan(value) else [*found[:-1], [*found[-1], value]]
    v.silent(MEMBERS, bool(found[-1]) and len(found) == len(nodes))
    v.require(AS_MANY, not found[-1] and len(found) - 1 == len(nodes))
    return dict(zip(nodes, found, strict=False))


@ENSEMBLE.oracle()
def gathered(  # noqa: PLR0913, PLR0917 - the text's own attributes
    v: Version, X: Array, aggregate_function: int, post_transform: int, n_targets: int | None, tree_roots: list[int],  # noqa: N803
    nodes_modes: Array, nodes_featureids: list[int], nodes_splits: Array, nodes_hitrates: Array | None,
    nodes_truenodeids: list[int], nodes_trueleafs: list[int],
    nodes_falsenodeids: list[int], nodes_falseleafs: list[int],
    nodes_missing_value_tracks_true: list[int] | None, leaf_weights: Array, leaf_targetids: list[int],
    membership_values: Array | None,
) -> Array:  # fmt: skip
    """Return for each row and target what becomes of the leaves that the row comes to."""
    v.require(INPUT_SHAPE, X.ndim == 2)  # noqa: PLR2004 - rows and features
    v.require(AGGREGATED, 0 <= aggregate_function < len(AGGREGATES))
    v.require(ONE_OF, 0 <= post_transform < len(TRANSFORMS))
    v.silent(TARGETS, n_targets is None)
    targets, count = int(n_targets or 0), len(nodes_featureids)
    given = (nodes_modes, nodes_splits, nodes_truenodeids, nodes_trueleafs, nodes_falsenodeids, nodes_falseleafs)
    optional = [item for item in (nodes_hitrates, nodes_missing_value_tracks_true) if item is not None]
    v.require(NODES_LENGTH, all(len(item) == count for item in (*given, *optional)))
    v.require(LEAVES_LENGTH, len(leaf_weights) == len(leaf_targetids))
    v.require(UINT8, nodes_modes.dtype == np.uint8)
    v.require(COMPARISON, bool((nodes_modes < len(MODES)).all()))
    v.require(TARGET, all(0 <= target < targets for target in leaf_targetids))
    v.silent(FEATURE, not all(0 <= feature < X.shape[1] for feature in nodes_featureids))
    v.silent(ROOTS, not all(0 <= root < count for root in tree_roots))
    sets, splits = _sets(v, nodes_modes.tolist(), membership_values), nodes_splits.astype(float)
    tracks, weights = nodes_missing_value_tracks_true or [0] * count, leaf_weights.astype(float)
    scores = np.zeros((len(X), targets))
    for row, features in enumerate(X):
        held: list[list[float]] = [[] for _ in range(targets)]
        for root in tree_roots:
            at, leaf = root, 0
            while not leaf:
                x, mode = features[nodes_featureids[at]], MODES[nodes_modes[at]]
                follow = follows_true(mode, x, splits[at], sets.get(at, []), tracks[at])
                leaf = nodes_trueleafs[at] if follow else nodes_falseleafs[at]
                at = nodes_truenodeids[at] if follow else nodes_falsenodeids[at]
            held[leaf_targetids[at]].append(float(weights[at]))
        aggregate = AGGREGATES[aggregate_function]
        v.silent(AGGREGATE, aggregate != "SUM" and any(not values for values in held))
        v.silent(AGGREGATE, aggregate == "AVERAGE" and any(len(values) != len(tree_roots) for values in held))
        function: Any = {"AVERAGE": np.mean, "SUM": np.sum, "MIN": np.min, "MAX": np.max}[aggregate]
        scores[row] = [function(values) for values in held]
    return transformed(v, TRANSFORM, scores, TRANSFORMS[post_transform])


case = ENSEMBLE.case

A, B, C, D = (0.5, 0), (-2, 0), (7.25, 0), (0.1, 0)
ROWS = [[1, 5, -2], [2, -5, 0], [3, 0.5, 2], [-1, 1, 1e5]]
STUMP = (1, "LEQ", 0.5, A, B)
DEEP = (0, "LT", 2, (2, "GT", -1, A, (1, "GTE", 3, B, C)), (1, "EQ", 0.5, D, (2, "NEQ", 0, C, A)))
PLAIN = nodes_and_leaves(STUMP)
case("stump", X=ROWS, **PLAIN, cites=(INPUTS, OUTPUTS, AGGREGATED, ONE_OF, TRUE_BRANCH, FALSE_BRANCH, WEIGHT))
case(
    "deep", X=ROWS, **nodes_and_leaves(DEEP), cites=(TRUE_BRANCH, FALSE_BRANCH, TRUE_LEAF, FALSE_LEAF, FEATURE, SPLITS)
)
EDGES = [[x] for x in (0.5, 0.25, 0.75, -0.0, np.inf, -np.inf, np.nan)]
for mode in MODES[:-1]:
    for track in (0, 1):
        tree = (0, mode, 0.5, A, B, track)
        case(
            f"{mode.lower()}_missing_{track}", Tag.EDGE, X=EDGES, **nodes_and_leaves(tree), cites=(COMPARISON, MISSING)
        )
    case(f"{mode.lower()}_infinity", Tag.EDGE, X=EDGES, **nodes_and_leaves((0, mode, np.inf, A, B)), cites=(SPLITS,))
    case(f"{mode.lower()}_zero", Tag.EDGE, X=EDGES, **nodes_and_leaves((0, mode, 0, A, B)), cites=(MISSING_UNSET,))
IN = (0, "MEMBER", [0.25, 4, np.inf], A, (1, "MEMBER", [-5], (1, "LT", 3, B, A), (2, "MEMBER", [2, 0], C, D)), 1)
MORE = [*ROWS, [0.25, 0, 0], [np.inf, 1, 1], [np.nan, 0, 0]]
case("members", X=MORE, **nodes_and_leaves(IN), cites=(MEMBERS, AS_MANY, NO_MEMBERS))
case("leaf_alone", Tag.EDGE, X=ROWS, **nodes_and_leaves((0, "LEQ", 0, C, C), STUMP), cites=(ONE_NODE, ROOTS))
case("hitrates", X=ROWS, **PLAIN, nodes_hitrates=typed("{T}", [0.3]), cites=(HITRATES,))
E, F = (1.5, 1), (-0.3, 2)
TWO = nodes_and_leaves((0, "GT", 1, E, F), STUMP, (2, "LEQ", 0, F, A), (1, "GTE", 0, E, A), n_targets=3)
case("targets", X=ROWS, **TWO, aggregate_function=1, cites=(TARGETS, TARGET, AGGREGATE, ROOTS))
FULL = nodes_and_leaves(DEEP, STUMP, (2, "GTE", 0, C, B), (0, "GT", 1, D, C))
for number, name in enumerate(AGGREGATES):
    case(f"aggregate_{name.lower()}", X=ROWS, **FULL, aggregate_function=number, cites=(AGGREGATE, AGGREGATED))
    case(f"dtypes_{name.lower()}", Tag.DTYPE, each="T", X=ROWS, **FULL, aggregate_function=number, cites=(NUMERIC,))
for number, name in ((0, "average"), (2, "min"), (3, "max")):
    case(f"aggregate_{name}_of_none", X=ROWS, **TWO, aggregate_function=number, unspecified=AGGREGATE)
for number, name in enumerate(TRANSFORMS):
    given: dict[str, Any] = {"cites": (ONE_OF, TRANSFORM)} if name in DEFINED else {"unspecified": TRANSFORM}
    case(f"transform_{name.lower()}", X=ROWS, **TWO, post_transform=number, **given)
    case(f"transform_{name.lower()}_one_target", X=ROWS, **FULL, post_transform=number, **given)
case("no_rows", Tag.EDGE, X=ramp(0, 3), **PLAIN, cites=(INPUT_SHAPE,))
WRONG: dict[str, tuple[Any, dict[str, Any]]] = {
    "rank1": (INPUT_SHAPE, {"X": ramp(3)}),
    "aggregate_unknown": (AGGREGATED, {"aggregate_function": 4}),
    "transform_unknown": (ONE_OF, {"post_transform": 5}),
    "nodes_of_other_length": (NODES_LENGTH, {"nodes_featureids": [1, 0]}),
    "hitrates_of_other_length": (NODES_LENGTH, {"nodes_hitrates": typed("float", [1, 2])}),
    "leaves_of_other_length": (LEAVES_LENGTH, {"leaf_targetids": [0, 0, 0]}),
    "modes_of_other_type": (UINT8, {"nodes_modes": typed("int64", [0])}),
    "mode_unknown": (COMPARISON, {"nodes_modes": typed("uint8", [7])}),
    "target_too_high": (TARGET, {"leaf_targetids": [0, 1]}),
    "target_too_low": (TARGET, {"leaf_targetids": [-1, 0]}),
    "members_missing": (NO_MEMBERS, {"nodes_modes": typed("uint8", [6])}),
    "members_of_none": (AS_MANY, {"membership_values": typed("float", [1])}),
}
for name, (clause, changed) in WRONG.items():
    case(name, **{"X": ROWS, **PLAIN, **changed}, rejects=clause)
OPEN: dict[str, tuple[Any, dict[str, Any]]] = {
    "feature_beyond": (FEATURE, {"nodes_featureids": [3]}),
    "root_beyond": (ROOTS, {"tree_roots": [1]}),
    "members_not_ended": (MEMBERS, {"nodes_modes": typed("uint8", [6]), "membership_values": typed("float", [1])}),
}
for name, (clause, changed) in OPEN.items():
    case(name, Tag.EDGE, **{"X": ROWS, **PLAIN, **changed}, unspecified=clause)
FIXED: dict[str, Any] = {**PLAIN, "nodes_splits": typed("float", [0]), "leaf_weights": typed("float", [1, 2])}
case("outside", Tag.DTYPE, outside="T", X=ramp(2, 3), **FIXED, rejects=NUMERIC)
case("no_input", **PLAIN, rejects=Rule.ARITY)
case("no_outputs", X=ROWS, **PLAIN, n=0, rejects=Rule.ARITY)
case("two_outputs", X=ROWS, **PLAIN, n=2, rejects=Rule.ARITY)
case("attribute_base_values", X=ROWS, **PLAIN, stray={"base_values": [1.0]}, rejects=Rule.ATTRIBUTES)
del FIXED["n_targets"]
case("targets_unset", X=ROWS, **FIXED, unspecified=TARGETS)
del FIXED["tree_roots"]
case("no_roots", X=ROWS, **FIXED, rejects=Rule.ATTRIBUTES)
