# SPDX-License-Identifier: Apache-2.0
"""TreeEnsembleRegressor: the votes of the leaves of trees for each target, aggregated.

    Y = TreeEnsembleRegressor(X, n_targets=1, aggregate_function="SUM", post_transform="NONE", base_values=None,
                              nodes_treeids=[0, 0, 0], nodes_nodeids=[0, 1, 2], nodes_featureids=[1, 0, 0],
                              nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"], nodes_values=[0.5, 0, 0],
                              nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0],
                              target_treeids=[0, 0], target_nodeids=[1, 2], target_ids=[0, 0], target_weights=[1, 2])

Versions: 1, 3 (tensors of doubles), and 5, in which it is deprecated in favour of TreeEnsemble.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, bounded, ramp, typed
from onnx_conformance.declare.sizes import filled, together
from onnx_conformance.operators.traditionalml._post_transform import (
    DEFINED,
    SLACK,
    TRANSFORMS,
    UNDEFINED,
    normalized,
    probabilities,
    transformed,
)
from onnx_conformance.operators.traditionalml._trees import (
    CYCLES,
    FORESTS,
    MODES,
    NODE_KINDS,
    OF_TEN_TARGETS,
    Floats,
    Leaf,
    Node,
    Nodes,
    Tree,
    either,
    forest,
    leaves,
    most_of_votes,
    nodes_and_votes,
    of_equal_length,
    votes_of_leaves,
)

if TYPE_CHECKING:
    from onnx_conformance.declare import Clause
    from onnx_conformance.declare.sizes import Sizes

MATRIX = 2
AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")


def _rounding(
    *,
    target_treeids: list[int],
    target_nodeids: list[int],
    target_weights: Floats,
    target_weights_as_tensor: Array | None,
    base_values: Floats,
    post_transform: str,
    **_: object,
) -> list[Array]:
    """Return half a rounding for each vote that one row can collect, one for a mean, plus the error of a transform."""
    weights = np.asarray(target_weights or target_weights_as_tensor, float).tolist()
    number, total = most_of_votes(target_treeids, target_nodeids, weights)
    total += np.abs(base_values or [0.0]).max()
    return [np.asarray(total * ((number + 1) / 2 + 1) + (0 if post_transform == "NONE" else SLACK))]


REGRESSOR = Op(
    "TreeEnsembleRegressor",
    versions=(1, 3, 5),
    compare=bounded(_rounding, "one addition for each vote, in any order, a quotient and a transform")
    .limited(0, 1, probabilities)
    .summing_to(1, normalized),
    domain="ai.onnx.ml",
    rank=lambda _: MATRIX,
)
# If feature 2 is at most 3, the first target gets 0.5 and the second 0.25, otherwise 2 and 1.
REGRESSOR.example(
    X=ramp(2, 3),
    n_targets=2,
    aggregate_function="AVERAGE",
    post_transform="LOGISTIC",
    base_values=[0.125, 0.0625],
    nodes_treeids=[1, 1, 1],
    nodes_nodeids=[0, 1, 2],
    nodes_featureids=[2, 0, 0],
    nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
    nodes_values=[3.0, 0.0, 0.0],
    nodes_truenodeids=[1, 0, 0],
    nodes_falsenodeids=[2, 0, 0],
    nodes_missing_value_tracks_true=[1, 0, 0],
    nodes_hitrates=[1.0, 0.5, 0.5],
    target_treeids=[1, 1, 1, 1],
    target_nodeids=[1, 1, 2, 2],
    target_ids=[0, 1, 0, 1],
    target_weights=[0.5, 0.25, 2.0, 1.0],
)
for part in ("nodeids", "treeids", "featureids", "values", "falsenodeids", "truenodeids", "modes"):
    REGRESSOR.excuse(f"attribute nodes_{part} unset", "nothing says what an ensemble without nodes is")
for part in ("ids", "weights", "treeids", "nodeids"):
    REGRESSOR.excuse(f"attribute target_{part} unset", "nothing says what an ensemble without votes is")
REGRESSOR.excuse("attribute n_targets unset", "nothing says how many targets there are where it is not given")

DEPRECATED = REGRESSOR.clause("This operator is DEPRECATED.", since=5)
RETURNS = REGRESSOR.clause(
    "Returns the regressed values for each input in N.",
    note="The output has one row for each input and one column for each target.",
)
NODES = REGRESSOR.clause(
    "All args with nodes_ are fields of a tuple of tree nodes, and it is assumed they are the same length, and an "
    "index i will decode the tuple across these inputs.",
    note="The text does not define the root: it is the node that is not a child. It does not define missing ids.",
)
ONCE = REGRESSOR.clause("Each node id can appear only once for each tree id.")
VOTES = REGRESSOR.clause(
    "All fields prefixed with target_ are tuples of votes at the leaves.",
    note="Lists of different lengths do not form tuples. The text does not define a target without votes.",
)
WEIGHTED = REGRESSOR.clause(
    "A leaf may have multiple votes, where each vote is weighted by the associated target_weights index."
)
TENSORS = REGRESSOR.clause(
    "can be used instead of the same parameter without the suffix if the element type is double and not float.", since=3
)
FROM_ZERO = REGRESSOR.clause("All trees must have their node ids start at 0 and increment by 1.")
AGGREGATE = REGRESSOR.clause(
    "Defines how to aggregate leaf values within a target.",
    note="The text does not define the divisor of a mean if a target has more or fewer votes than there are trees. It "
    "does not define the least or greatest value without votes.",
)
ONE_AGGREGATE = REGRESSOR.clause("One of 'AVERAGE,' 'SUM,' 'MIN,' 'MAX.'")
TRANSFORM = REGRESSOR.clause("Indicates the transform to apply to the score.", note=UNDEFINED)
ONE_OF = REGRESSOR.clause("One of 'NONE,' 'SOFTMAX,' 'LOGISTIC,' 'SOFTMAX_ZERO,' or 'PROBIT'")
TARGETS = REGRESSOR.clause("The total number of targets.")
RESTART = REGRESSOR.clause("Node ids must restart at zero for each tree and increase sequentially.")
THRESHOLDS = REGRESSOR.clause(
    "Thresholds to do the splitting on for each node.",
    note="For an integer that is not a float value, the text does not define whether it is compared directly or as the "
    "nearest float. The thresholds are floats. If this makes a difference, the result is left open.",
)
POPULARITY = REGRESSOR.clause("Popularity of each node, used for performance and may be omitted.")
BASE = REGRESSOR.clause(
    "added to final prediction after applying aggregate_function; the size must be the same as the classes or can be "
    "left unassigned (assumed 0)",
    note='"Classes" means targets here.',
).reworded(
    before=3,
    text="added to final class score; the size must be the same as the classes or can be left unassigned (assumed 0)",
    note='"Classes" means targets here.',
)
MISSING = REGRESSOR.clause(
    "use the 'true' (if the attribute value is 1) or 'false' (if the attribute value is 0) branch based on the value "
    "in this array.",
    note="This applies to every comparison. onnxruntime and onnx.reference follow the true branch of BRANCH_NEQ.",
)
MISSING_UNSET = REGRESSOR.clause(
    "This attribute may be left undefined and the default value is false (0) for all nodes."
)
KINDS = REGRESSOR.clause(
    "One of 'BRANCH_LEQ', 'BRANCH_LT', 'BRANCH_GTE', 'BRANCH_GT', 'BRANCH_EQ', 'BRANCH_NEQ', 'LEAF'"
)
TARGET_INDEX = REGRESSOR.clause("The index of the target that each weight is for")
SHAPE = REGRESSOR.clause("Input of shape [N,F]")
NUMERIC = REGRESSOR.clause("The input type must be a tensor of a numeric type.")


def _aggregated(v: Version, values: list[float], trees: int, function: str) -> float:
    """Return the aggregated votes of a target, for a number of trees."""
    v.silent(AGGREGATE, function in {"MIN", "MAX"} and not values)
    v.silent(AGGREGATE, function == "AVERAGE" and len(values) != trees)
    if function in {"MIN", "MAX"}:
        return min(values) if function == "MIN" else max(values)
    return sum(values) / (trees if function == "AVERAGE" else 1)


@REGRESSOR.oracle(before=5)
def regressed(  # noqa: PLR0913 - the attributes of the text
    v: Version,
    *,
    X: Array,
    aggregate_function: str,
    post_transform: str,
    n_targets: int | None,
    base_values: Floats,
    base_values_as_tensor: Array | None,
    target_ids: list[int],
    target_treeids: list[int],
    target_nodeids: list[int],
    target_weights: Floats,
    target_weights_as_tensor: Array | None,
    nodes_treeids: list[int],
    nodes_nodeids: list[int],
    nodes_featureids: list[int],
    nodes_modes: list[str],
    nodes_values: Floats,
    nodes_values_as_tensor: Array | None,
    nodes_hitrates: Floats,
    nodes_hitrates_as_tensor: Array | None,
    nodes_truenodeids: list[int],
    nodes_falsenodeids: list[int],
    nodes_missing_value_tracks_true: list[int] | None,
) -> Array:
    """Return for each row and target the aggregated votes of the leaves that it reaches, plus the base values."""
    v.require(SHAPE, X.ndim == MATRIX)
    v.require(ONE_OF, post_transform in TRANSFORMS)
    v.require(ONE_AGGREGATE, aggregate_function in AGGREGATES)
    v.silent(TARGETS, n_targets is None)
    targets = n_targets or 0
    splits = either(v, TENSORS, nodes_values, nodes_values_as_tensor)
    branches = [nodes_truenodeids, nodes_falsenodeids]
    count = of_equal_length(v, NODES, [nodes_treeids, nodes_nodeids, nodes_featureids, nodes_modes, splits, *branches])
    hitrates = either(v, TENSORS, nodes_hitrates, nodes_hitrates_as_tensor)
    tracks = nodes_missing_value_tracks_true or [0] * count
    v.require(NODES, len(tracks) == count and (hitrates is None or len(hitrates) == count))
    v.require(KINDS, all(mode in NODE_KINDS for mode in nodes_modes))
    ids = list(zip(nodes_treeids, nodes_nodeids, strict=True))
    v.require(ONCE, len({*ids}) == count)
    own: dict[int, list[int]] = {}
    for tree, node in ids:
        own.setdefault(tree, []).append(node)
    v.require(FROM_ZERO, all(0 in numbers for numbers in own.values()))
    v.require(RESTART, all(numbers == list(range(len(numbers))) for numbers in own.values()))
    weights = either(v, TENSORS, target_weights, target_weights_as_tensor)
    of_equal_length(v, VOTES, [target_ids, target_treeids, target_nodeids, weights])
    v.require(TARGET_INDEX, all(0 <= target < targets for target in target_ids))
    v.silent(VOTES, len({*target_ids}) < targets)
    base = either(v, TENSORS, base_values, base_values_as_tensor) or [0.0] * targets
    v.require(BASE, len(base) == targets)

    nodes = Nodes(
        nodes_treeids,
        nodes_nodeids,
        nodes_featureids,
        nodes_modes,
        splits or [],
        nodes_truenodeids,
        nodes_falsenodeids,
        tracks,
    )
    votes = votes_of_leaves(target_treeids, target_nodeids, target_ids, weights or ())
    scores = np.empty((len(X), targets))
    for row, reached in enumerate(leaves(v, X, nodes, NODES, THRESHOLDS)):
        collected = sorted(vote for leaf in reached for vote in votes.get(leaf, ()))
        for target, added in enumerate(base):
            values = [weight for _, of, weight in collected if of == target]
            scores[row, target] = _aggregated(v, values, len(reached), aggregate_function) + added
    return transformed(v, TRANSFORM, scores, post_transform).astype(np.float32)


def ensemble(*trees: Tree, targets: int = 2) -> dict[str, Any]:
    """Return the attributes of an ensemble."""
    return {"n_targets": targets, **nodes_and_votes(*trees, votes_of="target")}


case = REGRESSOR.case

ROWS = [[1, 5, -2], [2, -5, 0], [3, 0.5, 2], [-1, 1, 10]]
LOW, HIGH, MIDDLE = [Leaf(0.5, 0), Leaf(-0.25, 1)], [Leaf(2, 0), Leaf(3.5, 1)], [Leaf(0.1, 1), Leaf(0.7, 0)]
STUMP = Node(1, "LEQ", 0.5, LOW, HIGH)
DEEP = Node(
    0,
    "LT",
    2,
    Node(2, "GT", -1, LOW, Node(1, "GTE", 3, HIGH, MIDDLE)),
    Node(1, "EQ", 0.5, MIDDLE, Node(2, "NEQ", 0, HIGH, LOW)),
)
PLAIN = ensemble(STUMP)
THREE_TREES = ensemble(DEEP, STUMP, Node(2, "GTE", 0, MIDDLE, HIGH))
ONE_TARGET = ensemble(
    Node(0, "LT", 2, Leaf(0.5, 0), Leaf(-3, 0)), Node(1, "GT", 0.75, Leaf(7, 0), Leaf(1, 0)), targets=1
)

case("stump", X=ROWS, **PLAIN, cites=(RETURNS, WEIGHTED, TARGETS, TARGET_INDEX, THRESHOLDS))
case("deep", X=ROWS, **ensemble(DEEP), cites=(RETURNS, NODES, VOTES, KINDS))
case("several", X=ROWS, **THREE_TREES, cites=(RETURNS, FROM_ZERO, RESTART, ONCE))
case("one_target", X=ROWS, **ONE_TARGET, cites=RETURNS)
case("base_values", X=ROWS, **THREE_TREES, base_values=[0.25, -1.0], cites=BASE)
case("hitrates", X=ROWS, **PLAIN, nodes_hitrates=[1.0, 0.3, 0.7], cites=POPULARITY)
case("no_rows", Tag.EDGE, X=ramp(0, 3), **PLAIN, cites=SHAPE)
case("leaf_alone", Tag.EDGE, X=ROWS, **ensemble(MIDDLE), cites=RETURNS)
case("votes_of_one_leaf", X=ROWS, **ensemble([Leaf(1, 0), Leaf(2, 0), Leaf(5, 1)]), cites=WEIGHTED)
SOMETIMES = ensemble(Node(0, "LT", 2, Leaf(0.5, 0), Leaf(-3, 1)))
case("no_votes_for_some", Tag.EDGE, X=ROWS, **SOMETIMES, cites=VOTES)
for name in AGGREGATES:
    how: dict[str, Any] = {"aggregate_function": name}
    cites = (AGGREGATE, ONE_AGGREGATE)
    case(f"{name.lower()}", X=ROWS, **THREE_TREES, **how, cites=cites)
    case(f"{name.lower()}_one_target", X=ROWS, **ONE_TARGET, **how, cites=cites)
    case(f"{name.lower()}_one_tree", X=ROWS, **PLAIN, **how, cites=cites)
    case(f"{name.lower()}_base", X=ROWS, **THREE_TREES, **how, base_values=[0.25, -1.0], since=3, cites=BASE)
    below = ensemble(Node(0, "LT", 2, Leaf(-4, 0), Leaf(-3, 0)), Leaf(-7, 0), targets=1)
    case(f"{name.lower()}_below_zero", Tag.EDGE, X=ROWS, **below, **how, cites=cites)
    if name != "SUM":
        case(f"{name.lower()}_no_votes", Tag.EDGE, X=ROWS, **SOMETIMES, **how, unspecified=AGGREGATE)
two_votes = ensemble([Leaf(1, 0), Leaf(2, 0)], Leaf(3, 0), targets=1)
case("average_of_more_votes", Tag.EDGE, X=ROWS, **two_votes, aggregate_function="AVERAGE", unspecified=AGGREGATE)
EDGES = [[0.5], [0.25], [0.75], [-0.0], [np.inf], [-np.inf], [np.nan]]
for mode in MODES[:-1]:
    for missing_true in (0, 1):
        tree = Node(0, mode, 0.5, LOW, HIGH, missing_true)
        case(f"{mode.lower()}_missing_{missing_true}", Tag.EDGE, X=EDGES, **ensemble(tree), cites=(KINDS, MISSING))
    case(f"{mode.lower()}_zero", Tag.EDGE, X=EDGES, **ensemble(Node(0, mode, 0, LOW, HIGH)), cites=MISSING_UNSET)
    # Floats represent these integers, but int32 does not contain them.
    integers = typed("int64", [[2**40], [2**40 + 2**17], [2**40 - 2**16], [2**24 + 2], [2**62], [-(2**63)]])
    large = ensemble(Node(0, mode, 2.0**40, LOW, HIGH))
    case(f"{mode.lower()}_large", Tag.EDGE, X=integers, **large, cites=(THRESHOLDS, NUMERIC))
BESIDE = ensemble(Node(0, "LEQ", 2.0**25, LOW, HIGH))
case("beside_float_int64", Tag.EDGE, X=typed("int64", [[2**25 + 1]]), **BESIDE, unspecified=THRESHOLDS)
case("beside_float_double", Tag.EDGE, X=typed("double", [[2**25 + 1]]), **BESIDE, cites=THRESHOLDS)
for name in TRANSFORMS:
    outcome: dict[str, Any] = {"cites": (ONE_OF, TRANSFORM)} if name in DEFINED else {"unspecified": TRANSFORM}
    case(f"transform_{name.lower()}", X=ROWS, **THREE_TREES, post_transform=name, **outcome)
far = ensemble(Node(0, "LT", 2, [Leaf(500, 0), Leaf(-500, 1)], [Leaf(-1000, 0), Leaf(3, 1)]))
case("transform_softmax_far_apart", Tag.EDGE, X=ROWS, **far, post_transform="SOFTMAX", cites=TRANSFORM)
case("transform_logistic_one_target", X=ROWS, **ONE_TARGET, post_transform="LOGISTIC", cites=TRANSFORM)
case("dtypes", Tag.DTYPE, each="T", X=[[1, 5, 2], [2, 0, 0], [3, 1, 2]], **THREE_TREES, cites=NUMERIC)
case("outside", Tag.DTYPE, outside="T", X=ramp(2, 3), **PLAIN, rejects=NUMERIC)

OF_DOUBLES = {name: value for name, value in PLAIN.items() if name not in {"target_weights", "nodes_values"}}
WEIGHTS = typed("double", PLAIN["target_weights"])
doubles: dict[str, Any] = {
    "nodes_values_as_tensor": typed("double", PLAIN["nodes_values"]),
    "target_weights_as_tensor": WEIGHTS,
    "base_values_as_tensor": typed("double", [1 / 3, -1 / 3]),
    "nodes_hitrates_as_tensor": typed("double", [1, 0.3, 0.7]),
}
case("doubles", Tag.CHANGE, X=typed("double", ROWS), **OF_DOUBLES, **doubles, cites=TENSORS)
near: dict[str, Any] = {**doubles, "nodes_values_as_tensor": typed("double", [0.1, 0, 0])}
close = typed("double", [[1, 0.1 + 1e-12, 0], [1, 0.1, 0]])
case("doubles_near_threshold", Tag.EDGE, X=close, **OF_DOUBLES, **near, cites=TENSORS)
case("weights_twice", X=ROWS, **PLAIN, target_weights_as_tensor=WEIGHTS, unspecified=TENSORS)
case("targets_unset", X=ROWS, **nodes_and_votes(STUMP, votes_of="target"), unspecified=TARGETS)
case("target_without_votes", Tag.EDGE, X=ROWS, **{**PLAIN, "n_targets": 3}, unspecified=VOTES)
case("child_beyond", Tag.EDGE, X=ROWS, **{**PLAIN, "nodes_truenodeids": [99, 0, 0]}, unspecified=NODES)
TWO_NODES = {name: value[:2] if name.startswith("nodes_") else value for name, value in PLAIN.items()}
case("no_root", Tag.EDGE, X=ROWS, **{**TWO_NODES, "nodes_falsenodeids": [0, 0]}, unspecified=NODES)
case("two_roots", Tag.EDGE, X=ROWS, **{**PLAIN, "nodes_falsenodeids": [1, 0, 0]}, unspecified=NODES)
for name, cycle in CYCLES.items():
    case(f"cycle_{name}", Tag.EDGE, X=ROWS, **{**PLAIN, **cycle}, unspecified=NODES)
case(
    "no_nodes",
    X=ROWS,
    **{name: item for name, item in PLAIN.items() if not name.startswith("nodes_")},
    unspecified=NODES,
)
VOTELESS = {name: item for name, item in PLAIN.items() if not name.startswith("target_")}
case("no_votes", X=ROWS, **VOTELESS, unspecified=VOTES)
STUMP_BUT: dict[str, tuple[Clause, dict[str, Any]]] = {
    "rank1": (SHAPE, {"X": ramp(3)}),
    "transform_unknown": (ONE_OF, {"post_transform": "softmax"}),
    "aggregate_unknown": (ONE_AGGREGATE, {"aggregate_function": "MEDIAN"}),
    "mode_unknown": (KINDS, {"nodes_modes": ["BRANCH_MEMBER", "LEAF", "LEAF"]}),
    "nodes_of_other_length": (NODES, {"nodes_featureids": [1]}),
    "hitrates_of_other_length": (NODES, {"nodes_hitrates": [1.0]}),
    "node_twice": (ONCE, {"nodes_nodeids": [0, 1, 1]}),
    "ids_not_from_zero": (
        FROM_ZERO,
        {
            "nodes_nodeids": [1, 2, 3],
            "nodes_truenodeids": [2, 0, 0],
            "nodes_falsenodeids": [3, 0, 0],
            "target_nodeids": [2, 2, 3, 3],
        },
    ),
    "ids_with_a_gap": (
        RESTART,
        {"nodes_nodeids": [0, 1, 3], "nodes_falsenodeids": [3, 0, 0], "target_nodeids": [1, 1, 3, 3]},
    ),
    "votes_of_other_length": (VOTES, {"target_ids": [0, 1]}),
    "target_beyond": (TARGET_INDEX, {"target_ids": [0, 2, 1, 0]}),
    "target_below": (TARGET_INDEX, {"target_ids": [0, -1, 1, 0]}),
}
for name, (clause, changed) in STUMP_BUT.items():
    case(name, **{"X": ROWS, **PLAIN, **changed}, rejects=clause)
case("base_values_too_few", X=ROWS, **PLAIN, base_values=[1.0], rejects=BASE)
case("tensor_of_floats", X=ROWS, **PLAIN, base_values_as_tensor=typed("float", [1, 2]), rejects=TENSORS)
case("deprecated", Tag.CHANGE, deprecated=True, X=ROWS, **THREE_TREES, rejects=DEPRECATED)


def _forest(sizes: Sizes) -> dict[str, Any]:
    """Return the attributes of drawn trees."""
    key, targets = f"{REGRESSOR} {sizes}", sizes.get("targets", 2)
    trees = forest(key, trees=sizes["trees"], depth=sizes["depth"], features=sizes["features"], targets=targets)
    return ensemble(*trees, targets=targets)


REGRESSOR.sized(
    "forest",
    [*FORESTS, *OF_TEN_TARGETS],
    cites=(RETURNS, WEIGHTED),
    arguments={"X": filled("rows", "features"), **together(_forest, *PLAIN)},
)
