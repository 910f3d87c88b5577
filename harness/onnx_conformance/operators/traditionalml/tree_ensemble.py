# SPDX-License-Identifier: Apache-2.0
"""TreeEnsemble: the weights of the leaves that a row of features reaches, aggregated for each target.

    Y = TreeEnsemble(X, aggregate_function=1, post_transform=0, n_targets=1, tree_roots=[0],
                     nodes_featureids=[1], nodes_modes=[0], nodes_splits=[0.5],
                     nodes_truenodeids=[0], nodes_trueleafs=[1], nodes_falsenodeids=[1], nodes_falseleafs=[1],
                     leaf_weights=[0.5, -2], leaf_targetids=[0, 0])

Versions: 5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Clause, Op, Tag, Version, bounded, ramp, typed, vary
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
    FORESTS,
    MODES,
    OF_TEN_TARGETS,
    Leaf,
    Node,
    Tree,
    follows_true,
    forest,
)

if TYPE_CHECKING:
    from onnx_conformance.declare.sizes import Sizes

AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")


def _rounding(*, X: Array, leaf_weights: Array, tree_roots: list[int], n_targets: int, **_: object) -> list[Array]:
    """Return half a rounding for each addition and for the average, plus the error of a transform."""
    magnitude = np.abs(leaf_weights.astype(float)).max(initial=0)
    return [np.full((len(X), n_targets), len(tree_roots) ** 2 * magnitude / 2 + SLACK)]


ENSEMBLE = Op(
    "TreeEnsemble",
    versions=(5,),
    compare=bounded(_rounding, "one addition for each tree, in any order, an average, and a transform")
    .limited(0, 1, probabilities)
    .summing_to(1, normalized),
    domain="ai.onnx.ml",
    rank="X",
)
# If feature 2 is at least 3, leaf 0 or 1, depending on whether feature 0 is 4 or 6; otherwise leaf 2.
ENSEMBLE.example(
    X=ramp(2, 3),
    aggregate_function=1,
    post_transform=0,
    n_targets=4,
    tree_roots=[0],
    nodes_featureids=[2, 0],
    nodes_modes=typed("uint8", [2, 6]),
    nodes_splits=typed("{T}", [3, 0]),
    membership_values=typed("{T}", [4, 6, np.nan]),
    nodes_truenodeids=[1, 0],
    nodes_trueleafs=[0, 1],
    nodes_falsenodeids=[2, 1],
    nodes_falseleafs=[1, 1],
    nodes_missing_value_tracks_true=[0, 1],
    nodes_hitrates=typed("float", [1.0, 0.5]),
    leaf_weights=typed("{T}", [0.5, -2, 7.25]),
    leaf_targetids=[3, 0, 1],
)
ENSEMBLE.excuse("attribute n_targets unset", "nothing says how many targets there are where this is not set")

INPUTS = ENSEMBLE.clause("Inputs have dimensions `[N, F]` where `N` is the input batch size")
OUTPUTS = ENSEMBLE.clause("Outputs have dimensions `[N, num_targets]`")
NODES_LENGTH = ENSEMBLE.clause("The attributes `nodes_*` must all have the same length and encode a sequence of tuples")
LEAVES_LENGTH = ENSEMBLE.clause("similarly define tuples of leaves and must have identical length.")
AGGREGATE = ENSEMBLE.clause(
    "Defines how to aggregate leaf values within a target.",
    note="The text does not define the average, least or greatest value without leaves, or whether trees without a "
    "leaf of the target are counted.",
)
AGGREGATED = ENSEMBLE.clause("One of 'AVERAGE' (0) 'SUM' (1) 'MIN' (2) 'MAX (3) defaults to 'SUM' (1)")
TRANSFORM = ENSEMBLE.clause(
    "Indicates the transform to apply to the score.",
    note=f"{UNDEFINED} In onnxruntime 1 is LOGISTIC and 2 is SOFTMAX; onnx.reference applies no transform.",
)
ONE_OF = ENSEMBLE.clause(
    "One of 'NONE' (0), 'SOFTMAX' (1), 'LOGISTIC' (2), 'SOFTMAX_ZERO' (3) or 'PROBIT' (4), defaults to 'NONE'"
)
ROOTS = ENSEMBLE.clause(
    "Index into `nodes_*` for the root of each tree.", note="The text does not define an index out of range."
)
HITRATES = ENSEMBLE.clause("Popularity of each node, used for performance and may be omitted.")
MISSING = ENSEMBLE.clause(
    "whether to follow the true branch (if attribute value is 1) or false branch (if attribute",
    note="This applies to every comparison. onnxruntime follows the true branch of BRANCH_NEQ, because NaN differs "
    "from every number.",
)
MISSING_UNSET = ENSEMBLE.clause("the default value is false (0) for all nodes.")
COMPARISON = ENSEMBLE.clause(
    "The comparison operation performed by the node. This is encoded as an enumeration of 0 ('BRANCH_LEQ')"
)
UINT8 = ENSEMBLE.clause("Note this is a tensor of type uint8.")
WEIGHT = ENSEMBLE.clause("The weight for each leaf.")
TARGET = ENSEMBLE.clause(
    "The index of the target that this leaf contributes to (this must be in range `[0, n_targets)`)."
)
TARGETS = ENSEMBLE.clause("The total number of targets.")
FALSE_BRANCH = ENSEMBLE.clause(
    "this represents the position of the false branch node.",
    note='The text has the condition "false" for a node and for a leaf. The text of nodes_trueleafs and '
    "nodes_falseleafs defines that 1 is a leaf.",
)
TRUE_BRANCH = ENSEMBLE.clause(
    "this represents the position of the true branch node.",
    note='The text has the condition "false" for a node and for a leaf. The text of nodes_trueleafs and '
    "nodes_falseleafs defines that 1 is a leaf. The text does not define a position out of range, or a node below "
    "itself.",
)
TRUE_LEAF = ENSEMBLE.clause("1 if true branch is leaf for each node and 0 an interior node.")
FALSE_LEAF = ENSEMBLE.clause("1 if false branch is leaf for each node and 0 if an interior node.")
ONE_NODE = ENSEMBLE.clause("a single `nodes_*` entry with true and false branches referencing the same `leaf_*` entry")
FEATURE = ENSEMBLE.clause(
    "Feature id for each node.", note="The text does not define a feature that the input does not have."
)
SPLITS = ENSEMBLE.clause("Thresholds to do the splitting on for each node with mode that is not 'BRANCH_MEMBER'.")
MEMBERS = ENSEMBLE.clause(
    "in the order that the 'BRANCH_MEMBER' mode appears in `node_modes`, delimited by `NaN`s.",
    note="The official case, onnxruntime and onnx.reference have a NaN after the last set. A list without it is left "
    "open.",
)
AS_MANY = ENSEMBLE.clause("Will have the same number of sets of values as nodes with mode 'BRANCH_MEMBER'.")
NO_MEMBERS = ENSEMBLE.clause("This may be omitted if the node doesn't contain any 'BRANCH_MEMBER' nodes.")
NUMERIC = ENSEMBLE.clause("The input type must be a tensor of a numeric type.")
INPUT_SHAPE = ENSEMBLE.clause("Input of shape [Batch Size, Number of Features]")


def _sets(v: Version, modes: list[int], membership_values: Array | None) -> dict[int, list[float]]:
    """Return the members of each node that tests membership."""
    nodes = [node for node, mode in enumerate(modes) if MODES[mode] == "MEMBER"]
    v.require(NO_MEMBERS, membership_values is not None or not nodes)
    sets: list[list[float]] = [[]]
    for value in [] if membership_values is None else membership_values.astype(float):
        if np.isnan(value):
            sets.append([])
        else:
            sets[-1].append(float(value))
    v.silent(MEMBERS, bool(sets[-1]) and len(sets) == len(nodes))
    v.require(AS_MANY, not sets[-1] and len(sets) - 1 == len(nodes))
    return dict(zip(nodes, sets, strict=False))


@ENSEMBLE.oracle()
def gathered(  # noqa: PLR0913 - the attributes of the text
    v: Version,
    *,
    X: Array,
    aggregate_function: int,
    post_transform: int,
    n_targets: int,
    tree_roots: list[int],
    nodes_modes: Array,
    nodes_featureids: list[int],
    nodes_splits: Array,
    nodes_hitrates: Array | None,
    nodes_truenodeids: list[int],
    nodes_trueleafs: list[int],
    nodes_falsenodeids: list[int],
    nodes_falseleafs: list[int],
    nodes_missing_value_tracks_true: list[int] | None,
    leaf_weights: Array,
    leaf_targetids: list[int],
    membership_values: Array | None,
) -> Array:
    """Return for each row and target the aggregate of the leaves that the row reaches."""
    v.require(INPUT_SHAPE, X.ndim == 2)  # noqa: PLR2004 - rows and features
    v.require(AGGREGATED, 0 <= aggregate_function < len(AGGREGATES))
    v.require(ONE_OF, 0 <= post_transform < len(TRANSFORMS))
    v.silent(TARGETS, n_targets is None)
    count = len(nodes_featureids)
    lists = (nodes_modes, nodes_splits, nodes_truenodeids, nodes_trueleafs, nodes_falsenodeids, nodes_falseleafs)
    optional = [item for item in (nodes_hitrates, nodes_missing_value_tracks_true) if item is not None]
    v.require(NODES_LENGTH, all(len(item) == count for item in (*lists, *optional)))
    v.require(LEAVES_LENGTH, len(leaf_weights) == len(leaf_targetids))
    v.require(UINT8, nodes_modes.dtype == np.uint8)
    v.require(COMPARISON, bool((nodes_modes < len(MODES)).all()))
    v.require(TARGET, all(0 <= target < n_targets for target in leaf_targetids))
    v.silent(FEATURE, not all(0 <= feature < X.shape[1] for feature in nodes_featureids))
    v.silent(ROOTS, not all(0 <= root < count for root in tree_roots))
    for clause, children, of_leaves in (
        (TRUE_BRANCH, nodes_truenodeids, nodes_trueleafs), (FALSE_BRANCH, nodes_falsenodeids, nodes_falseleafs),
    ):  # fmt: skip
        sizes = [len(leaf_weights) if is_leaf else count for is_leaf in of_leaves]
        v.silent(clause, not all(0 <= child < size for child, size in zip(children, sizes, strict=True)))
    sets, splits = _sets(v, nodes_modes.tolist(), membership_values), nodes_splits.astype(float)
    tracks, weights = nodes_missing_value_tracks_true or [False] * count, leaf_weights.astype(float)
    scores = np.empty((len(X), n_targets))
    for row, features in enumerate(X):
        values: list[list[float]] = [[] for _ in range(n_targets)]
        for root in tree_roots:
            at, leaf, passed = root, 0, 0
            while not leaf:
                v.silent(TRUE_BRANCH, passed == count)  # A node is below itself.
                passed += 1
                x, mode = features[nodes_featureids[at]], MODES[nodes_modes[at]]
                follow = follows_true(mode, x, splits[at], sets.get(at, []), tracks[at])
                leaf = nodes_trueleafs[at] if follow else nodes_falseleafs[at]
                at = nodes_truenodeids[at] if follow else nodes_falsenodeids[at]
            values[leaf_targetids[at]].append(float(weights[at]))
        aggregate = AGGREGATES[aggregate_function]
        v.silent(AGGREGATE, aggregate != "SUM" and any(not items for items in values))
        v.silent(AGGREGATE, aggregate == "AVERAGE" and n_targets > 1)  # No target has a leaf in every tree.
        function: Any = {"AVERAGE": np.mean, "SUM": np.sum, "MIN": np.min, "MAX": np.max}[aggregate]
        scores[row] = [function(items) for items in values]
    return transformed(v, TRANSFORM, scores, TRANSFORMS[post_transform])


def attributes(*trees: Tree, n_targets: int = 1) -> dict[str, Any]:
    """Return the attributes that contain trees. Tensors have type T."""
    nodes: list[list[Any]] = []
    leaves: list[Leaf] = []

    def add(tree: Tree) -> tuple[int, int]:
        """Return the index of a tree, and 1 if the tree is a leaf."""
        if not isinstance(tree, Node):
            (leaf,) = [tree] if isinstance(tree, Leaf) else tree
            leaves.append(leaf)
            return len(leaves) - 1, 1
        place = len(nodes)
        nodes.append([])
        true = add(tree.true)
        false = true if tree.false is tree.true else add(tree.false)
        nodes[place] = [tree.feature, tree.mode, tree.split, *true, *false, tree.missing_true]
        return place, 0

    roots = [add(tree)[0] for tree in trees]
    features, modes, splits, true, true_leaf, false, false_leaf, missing_true = map(list, zip(*nodes, strict=True))
    members = [value for split in splits if isinstance(split, list) for value in (*split, np.nan)]
    values: dict[str, Any] = {
        "tree_roots": roots,
        "n_targets": n_targets,
        "nodes_featureids": features,
        "nodes_modes": typed("uint8", [MODES.index(mode) for mode in modes]),
        "nodes_splits": typed("{T}", [0 if isinstance(split, list) else split for split in splits]),
        "nodes_truenodeids": true,
        "nodes_trueleafs": true_leaf,
        "nodes_falsenodeids": false,
        "nodes_falseleafs": false_leaf,
        "leaf_weights": typed("{T}", [leaf.weight for leaf in leaves]),
        "leaf_targetids": [leaf.target for leaf in leaves],
    }
    if members:
        values["membership_values"] = typed("{T}", members)
    if any(missing_true):
        values["nodes_missing_value_tracks_true"] = missing_true
    return values


case = ENSEMBLE.case

HALF, MINUS_TWO, SEVEN, TENTH = Leaf(0.5, 0), Leaf(-2, 0), Leaf(7.25, 0), Leaf(0.1, 0)
ROWS = [[1, 5, -2], [2, -5, 0], [3, 0.5, 2], [-1, 1, 1e5]]
STUMP = Node(1, "LEQ", 0.5, HALF, MINUS_TWO)
DEEP = Node(
    0,
    "LT",
    2,
    Node(2, "GT", -1, HALF, Node(1, "GTE", 3, MINUS_TWO, SEVEN)),
    Node(1, "EQ", 0.5, TENTH, Node(2, "NEQ", 0, SEVEN, HALF)),
)
PLAIN = attributes(STUMP)
case("stump", X=ROWS, **PLAIN, cites=(INPUTS, OUTPUTS, AGGREGATED, ONE_OF, TRUE_BRANCH, FALSE_BRANCH, WEIGHT))
case("deep", X=ROWS, **attributes(DEEP), cites=(TRUE_BRANCH, FALSE_BRANCH, TRUE_LEAF, FALSE_LEAF, FEATURE, SPLITS))
EDGES = [[0.5], [0.25], [0.75], [-0.0], [np.inf], [-np.inf], [np.nan]]
for mode in MODES[:-1]:
    for missing_true in (0, 1):
        tree = Node(0, mode, 0.5, HALF, MINUS_TWO, missing_true)
        name = f"{mode.lower()}_missing_{missing_true}"
        case(name, Tag.EDGE, X=EDGES, **attributes(tree), cites=(COMPARISON, MISSING))
    infinite, zero = Node(0, mode, np.inf, HALF, MINUS_TWO), Node(0, mode, 0, HALF, MINUS_TWO)
    case(f"{mode.lower()}_infinity", Tag.EDGE, X=EDGES, **attributes(infinite), cites=SPLITS)
    case(f"{mode.lower()}_zero", Tag.EDGE, X=EDGES, **attributes(zero), cites=MISSING_UNSET)
    minus = Node(0, mode, -0.0, HALF, MINUS_TWO)
    case(f"{mode.lower()}_minus_zero", Tag.EDGE, X=[[0.0], [-0.0], [1], [-1]], **attributes(minus), cites=SPLITS)
ZEROS = attributes(Node(0, "MEMBER", [0.0, 4], HALF, MINUS_TWO), Node(0, "MEMBER", [3, -0.0], SEVEN, TENTH))
case("members_zeros", Tag.EDGE, X=[[0.0], [-0.0], [3], [4], [5]], **ZEROS, cites=(MEMBERS, AS_MANY))
case(
    "members",
    X=[*ROWS, [0.25, 0, 0], [np.inf, 1, 1], [np.nan, 0, 0]],
    **attributes(
        Node(
            0,
            "MEMBER",
            [0.25, 4, np.inf],
            HALF,
            Node(1, "MEMBER", [-5], Node(1, "LT", 3, MINUS_TWO, HALF), Node(2, "MEMBER", [2, 0], SEVEN, TENTH)),
            missing_true=1,
        )
    ),
    cites=(MEMBERS, AS_MANY, NO_MEMBERS),
)
case("leaf_alone", Tag.EDGE, X=ROWS, **attributes(Node(0, "LEQ", 0, SEVEN, SEVEN), STUMP), cites=(ONE_NODE, ROOTS))
case("hitrates", X=ROWS, **PLAIN, nodes_hitrates=typed("float", [0.3]), cites=HITRATES)
FIRST, SECOND = Leaf(1.5, 1), Leaf(-0.3, 2)
THREE_TARGETS = attributes(
    Node(0, "GT", 1, FIRST, SECOND), STUMP, Node(2, "LEQ", 0, SECOND, HALF), Node(1, "GTE", 0, FIRST, HALF), n_targets=3
)
case("targets", X=ROWS, **THREE_TARGETS, aggregate_function=1, cites=(TARGETS, TARGET, AGGREGATE, ROOTS))
FOUR_TREES = attributes(DEEP, STUMP, Node(2, "GTE", 0, SEVEN, MINUS_TWO), Node(0, "GT", 1, TENTH, SEVEN))
for number, name in enumerate(AGGREGATES):
    gathering: dict[str, Any] = {"X": ROWS, **FOUR_TREES, "aggregate_function": number}
    case(f"aggregate_{name.lower()}", **gathering, cites=(AGGREGATE, AGGREGATED))
    case(f"dtypes_{name.lower()}", Tag.DTYPE, each="T", **gathering, cites=NUMERIC)
for number, name in ((0, "average"), (2, "min"), (3, "max")):
    case(f"aggregate_{name}_of_none", X=ROWS, **THREE_TARGETS, aggregate_function=number, unspecified=AGGREGATE)
FULL_TARGETS = attributes(Node(0, "GT", 1, HALF, SEVEN), Node(0, "GT", 1, FIRST, FIRST), n_targets=2)
case("aggregate_average_of_one_tree_each", X=ROWS, **FULL_TARGETS, aggregate_function=0, unspecified=AGGREGATE)
FAR_APART = attributes(Node(0, "GT", 1, Leaf(500, 0), Leaf(1000, 1)), n_targets=2)
case("transform_softmax_far_apart", Tag.EDGE, X=ROWS, **FAR_APART, post_transform=1, cites=TRANSFORM)
for number, name in enumerate(TRANSFORMS):
    outcome: dict[str, Any] = {"cites": (ONE_OF, TRANSFORM)} if name in DEFINED else {"unspecified": TRANSFORM}
    case(f"transform_{name.lower()}", X=ROWS, **THREE_TARGETS, post_transform=number, **outcome)
    case(f"transform_{name.lower()}_one_target", X=ROWS, **FOUR_TREES, post_transform=number, **outcome)
case("no_rows", Tag.EDGE, X=ramp(0, 3), **PLAIN, cites=INPUT_SHAPE)

STUMP_BUT: dict[str, tuple[Clause, dict[str, Any]]] = {
    "rank1": (INPUT_SHAPE, {"X": ramp(3)}),
    "aggregate_unknown": (AGGREGATED, {"aggregate_function": 4}),
    "aggregate_negative": (AGGREGATED, {"aggregate_function": -1}),
    "transform_unknown": (ONE_OF, {"post_transform": 5}),
    "transform_negative": (ONE_OF, {"post_transform": -1}),
    "nodes_of_other_length": (NODES_LENGTH, {"nodes_featureids": [1, 0]}),
    "hitrates_of_other_length": (NODES_LENGTH, {"nodes_hitrates": typed("float", [1, 2])}),
    "leaves_of_other_length": (LEAVES_LENGTH, {"leaf_targetids": [0, 0, 0]}),
    "modes_of_other_type": (UINT8, {"nodes_modes": typed("int64", [0])}),
    "mode_unknown": (COMPARISON, {"nodes_modes": typed("uint8", [7])}),
    "mode_unknown_among_others": (COMPARISON, {**attributes(DEEP), "nodes_modes": typed("uint8", [1, 3, 2, 4, 7])}),
    "target_too_high": (TARGET, {"leaf_targetids": [0, 1]}),
    "target_too_low": (TARGET, {"leaf_targetids": [-1, 0]}),
    "members_missing": (NO_MEMBERS, {"nodes_modes": typed("uint8", [6])}),
    "members_of_none": (AS_MANY, {"membership_values": typed("float", [1])}),
}
for name, (clause, changed) in STUMP_BUT.items():
    case(name, **{"X": ROWS, **PLAIN, **changed}, rejects=clause)
OTHER_FEATURES = vary(beyond=[0, 2, 1, 1, 3], below=[0, 2, 1, 1, -1])
case("feature", Tag.EDGE, X=ROWS, **{**attributes(DEEP), "nodes_featureids": OTHER_FEATURES}, unspecified=FEATURE)
OTHER_ROOTS = vary(beyond=[0, 1], below=[0, -1])
case("root", Tag.EDGE, X=ROWS, **{**PLAIN, "tree_roots": OTHER_ROOTS}, unspecified=ROOTS)
for side, clause in (("true", TRUE_BRANCH), ("false", FALSE_BRANCH)):
    ids, are_leaves = f"nodes_{side}nodeids", f"nodes_{side}leafs"
    case(f"{side}_leaf_beyond", Tag.EDGE, X=ROWS, **{**PLAIN, ids: [2]}, unspecified=clause)
    case(f"{side}_leaf_below", Tag.EDGE, X=ROWS, **{**PLAIN, ids: [-1]}, unspecified=clause)
    case(f"{side}_node_beyond", Tag.EDGE, X=ROWS, **{**PLAIN, ids: [1], are_leaves: [0]}, unspecified=clause)
CYCLE = {"nodes_truenodeids": [0], "nodes_trueleafs": [0], "nodes_falsenodeids": [0], "nodes_falseleafs": [0]}
case("cycle", Tag.EDGE, X=ROWS, **{**PLAIN, **CYCLE}, unspecified=TRUE_BRANCH)
case(
    "members_not_ended",
    Tag.EDGE,
    X=ROWS,
    **{**PLAIN, "nodes_modes": typed("uint8", [6])},
    membership_values=typed("float", [1]),
    unspecified=MEMBERS,
)
TWO_SETS = Node(0, "MEMBER", [1], HALF, Node(1, "MEMBER", [2], MINUS_TWO, SEVEN))
NOT_ENDED = {**attributes(TWO_SETS), "membership_values": typed("float", [np.nan, 1])}
case("members_of_two_not_ended", Tag.EDGE, X=ROWS, **NOT_ENDED, unspecified=MEMBERS)
# Tensors of a separate type, so that only X has another type.
OF_FLOATS = {**PLAIN, "nodes_splits": typed("float", [0]), "leaf_weights": typed("float", [1, 2])}
case("outside", Tag.DTYPE, outside="T", X=ramp(2, 3), **OF_FLOATS, rejects=NUMERIC)
del OF_FLOATS["n_targets"]
case("targets_unset", X=ROWS, **OF_FLOATS, unspecified=TARGETS)


def _forest(sizes: Sizes) -> dict[str, Any]:
    """Return the attributes of drawn trees."""
    key, targets = f"{ENSEMBLE} {sizes}", sizes.get("targets", 3)
    trees = forest(key, trees=sizes["trees"], depth=sizes["depth"], features=sizes["features"], targets=targets)
    return attributes(*trees, n_targets=targets)


ENSEMBLE.sized(
    "forest",
    [*FORESTS, *OF_TEN_TARGETS],
    each="T",
    cites=(AGGREGATED, TRUE_BRANCH, FALSE_BRANCH, WEIGHT),
    arguments={"X": filled("rows", "features"), **together(_forest, *PLAIN)},
)
