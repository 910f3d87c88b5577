# SPDX-License-Identifier: Apache-2.0
"""TreeEnsembleClassifier: the class with the most votes of the leaves of trees, and the votes of each class.

    Y, Z = TreeEnsembleClassifier(X, classlabels_int64s=[7, -3], post_transform="NONE", base_values=None,
                                  nodes_treeids=[0, 0, 0], nodes_nodeids=[0, 1, 2], nodes_featureids=[1, 0, 0],
                                  nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"], nodes_values=[0.5, 0, 0],
                                  nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0],
                                  class_treeids=[0, 0], class_nodeids=[1, 2], class_ids=[0, 1], class_weights=[1, 2])

Versions: 1, 3 (tensors of doubles), and 5, in which it is deprecated in favour of TreeEnsemble.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Clause, Op, Tag, Version, bounded, ramp, typed
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
    from collections.abc import Mapping, Sequence

    from onnx_conformance.declare.sizes import Sizes


def _type(_: Mapping[str, str], attributes: Mapping[str, Any]) -> str:
    """Return the type of the labels that are set."""
    return "tensor(int64)" if attributes["classlabels_int64s"] is not None else "tensor(string)"


def _rounding(
    *,
    class_treeids: list[int],
    class_nodeids: list[int],
    class_weights: Floats,
    class_weights_as_tensor: Array | None,
    base_values: Floats,
    **_: object,
) -> list[Array]:
    """Return half a rounding for each vote that one row can collect, plus the error of a transform."""
    weights = np.asarray(class_weights or class_weights_as_tensor, float).tolist()
    number, total = most_of_votes(class_treeids, class_nodeids, weights)
    return [np.zeros(()), np.asarray((total + np.abs(base_values or [0.0]).max()) * (number + 1) / 2 + SLACK)]


CLASSIFIER = Op(
    "TreeEnsembleClassifier",
    versions=(1, 3, 5),
    compare=bounded(_rounding, "one addition for each vote, in any order, and a transform")
    .limited(0, 1, probabilities)
    .summing_to(1, normalized, output=1),
    domain="ai.onnx.ml",
    derives={"T2": _type},
)
# If feature 2 is at most 3, the first two classes get votes, otherwise the others.
CLASSIFIER.example(
    X=ramp(2, 3),
    classlabels_int64s=[7, -3, 2**40, 0],
    post_transform="LOGISTIC",
    base_values=[0.125, 0.0, 0.0625, 0.25],
    nodes_treeids=[1, 1, 1],
    nodes_nodeids=[0, 1, 2],
    nodes_featureids=[2, 0, 0],
    nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
    nodes_values=[3.0, 0.0, 0.0],
    nodes_truenodeids=[1, 0, 0],
    nodes_falsenodeids=[2, 0, 0],
    nodes_missing_value_tracks_true=[1, 0, 0],
    nodes_hitrates=[1.0, 0.5, 0.5],
    class_treeids=[1, 1, 1, 1],
    class_nodeids=[1, 1, 2, 2],
    class_ids=[0, 1, 2, 3],
    class_weights=[0.5, 0.25, 2.0, 1.0],
)
for part in ("nodeids", "treeids", "featureids", "values", "falsenodeids", "truenodeids", "modes"):
    CLASSIFIER.excuse(f"attribute nodes_{part} unset", "nothing says what an ensemble without nodes is")
for part in ("ids", "weights", "treeids", "nodeids"):
    CLASSIFIER.excuse(f"attribute class_{part} unset", "nothing says what an ensemble without votes is")

DEPRECATED = CLASSIFIER.clause("This operator is DEPRECATED.", since=5)
TOP = CLASSIFIER.clause(
    "Returns the top class for each of N inputs.",
    note="The text does not define the class for equal scores, or for scores that are equal as floats (the type of the "
    "second output). For two classes, onnxruntime returns the second if its score is above 0 or 0.5.",
)
NODES = CLASSIFIER.clause(
    "form a sequence of tuples, associated by index into the sequences, which must all be of equal",
    note="The text does not define the root: it is the node that is not a child. It does not define missing or "
    "repeated ids.",
)
VOTES = CLASSIFIER.clause("Similarly, all fields prefixed with 'class_' are tuples of votes at the leaves.")
WEIGHTED = CLASSIFIER.clause(
    "where each vote is weighted by the associated class_weights index.",
    note="A score is the sum of its votes. The text does not define a class without votes in the ensemble.",
)
ONE_LABELS = CLASSIFIER.clause("One and only one of classlabels_strings or classlabels_int64s will be defined.")
INDICES = CLASSIFIER.clause("The class_ids are indices into this list.")
TENSORS = CLASSIFIER.clause(
    "instead of the same parameter without the suffix if the element type is double and not float.", since=3
)
SHAPE = CLASSIFIER.clause("Input of shape [N,F]")
TRANSFORM = CLASSIFIER.clause("Indicates the transform to apply to the score.", note=UNDEFINED)
ONE_OF = CLASSIFIER.clause("One of 'NONE,' 'SOFTMAX,' 'LOGISTIC,' 'SOFTMAX_ZERO,' or 'PROBIT.'")
DEFINED_ONE = CLASSIFIER.clause("One and only one of the 'classlabels_*' attributes must be defined.")
IDS = CLASSIFIER.clause(
    "Ids may restart at zero for each tree, but it not required to.",
    note="onnxruntime rejects ids that exceed the number of nodes.",
)
THRESHOLDS = CLASSIFIER.clause(
    "Thresholds to do the splitting on for each node.",
    note="For an integer that is not a float value, the text does not define whether it is compared directly or as the "
    "nearest float. The thresholds are floats. If this makes a difference, the result is left open.",
)
POPULARITY = CLASSIFIER.clause("Popularity of each node, used for performance and may be omitted.")
BASE = CLASSIFIER.clause(
    "added to final class score; the size must be the same as the classes or can be left unassigned (assumed 0)"
)
MISSING = CLASSIFIER.clause(
    "use the 'true' or 'false' branch based on the value in this array.",
    note="This applies to every comparison. onnxruntime and onnx.reference follow the true branch of BRANCH_NEQ.",
)
MISSING_UNSET = CLASSIFIER.clause("the default value is false (0) for all nodes.")
KINDS = CLASSIFIER.clause(
    "One of 'BRANCH_LEQ', 'BRANCH_LT', 'BRANCH_GTE', 'BRANCH_GT', 'BRANCH_EQ', 'BRANCH_NEQ', 'LEAF'"
)
NUMERIC = CLASSIFIER.clause("The input type must be a tensor of a numeric type.")
SCORES = CLASSIFIER.clause("The class score for each class, for each point, a tensor of shape [N,E].")


@CLASSIFIER.oracle(before=5)
def classified(  # noqa: PLR0913 - the attributes of the text
    v: Version,
    *,
    X: Array,
    post_transform: str,
    classlabels_int64s: list[int] | None,
    classlabels_strings: list[str] | None,
    base_values: Floats,
    base_values_as_tensor: Array | None,
    class_ids: list[int],
    class_treeids: list[int],
    class_nodeids: list[int],
    class_weights: Floats,
    class_weights_as_tensor: Array | None,
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
) -> tuple[Array, Array]:
    """Return the label with the highest score for each row, and the scores."""
    v.require(SHAPE, X.ndim == 2)  # noqa: PLR2004 - rows and features
    v.require(DEFINED_ONE, classlabels_int64s is not None or classlabels_strings is not None)
    v.require(ONE_LABELS, classlabels_int64s is None or classlabels_strings is None)
    labels: Any = classlabels_int64s if classlabels_strings is None else classlabels_strings
    v.require(ONE_OF, post_transform in TRANSFORMS)

    splits = either(v, TENSORS, nodes_values, nodes_values_as_tensor)
    branches = [nodes_truenodeids, nodes_falsenodeids]
    count = of_equal_length(v, NODES, [nodes_treeids, nodes_nodeids, nodes_featureids, nodes_modes, splits, *branches])
    hitrates = either(v, TENSORS, nodes_hitrates, nodes_hitrates_as_tensor)
    tracks = nodes_missing_value_tracks_true or [0] * count
    v.require(NODES, len(tracks) == count and (hitrates is None or len(hitrates) == count))
    v.require(KINDS, all(mode in NODE_KINDS for mode in nodes_modes))
    weights = either(v, TENSORS, class_weights, class_weights_as_tensor)
    of_equal_length(v, VOTES, [class_ids, class_treeids, class_nodeids, weights])
    v.require(INDICES, all(0 <= class_ < len(labels) for class_ in class_ids))
    base = either(v, TENSORS, base_values, base_values_as_tensor) or [0.0] * len(labels)
    v.require(BASE, len(base) == len(labels))
    v.silent(WEIGHTED, len({*class_ids}) < len(labels))

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
    votes = votes_of_leaves(class_treeids, class_nodeids, class_ids, weights or ())
    scores = np.zeros((len(X), len(labels))) + base
    for row, reached in enumerate(leaves(v, X, nodes, NODES, THRESHOLDS)):
        for leaf in reached:
            for _, class_, weight in votes.get(leaf, ()):
                scores[row, class_] += weight
    ordered = np.sort(scores.astype(np.float32), 1)
    v.silent(TOP, len(labels) > 1 and bool((ordered[:, -1] == ordered[:, -2]).any()))
    top = np.array(labels, np.int64 if classlabels_strings is None else object)[scores.argmax(1)]
    return top, transformed(v, TRANSFORM, scores, post_transform)


def ensemble(*trees: Tree, labels: Sequence[int] | Sequence[str] = (7, -3, 2**40), first: int = 0) -> dict[str, Any]:
    """Return the attributes of an ensemble with labels that are not indices."""
    name = "classlabels_strings" if isinstance(labels[0], str) else "classlabels_int64s"
    return {name: [*labels], **nodes_and_votes(*trees, votes_of="class", first=first)}


case = CLASSIFIER.case

ROWS = [[1, 5, -2], [2, -5, 0], [3, 0.5, 2], [-1, 1, 10]]
FOR_0, FOR_1, FOR_2 = Leaf(0.5, 0), Leaf(2, 1), Leaf(1.75, 2)
FOR_ALL = [Leaf(0.1, 2), Leaf(0.7, 0), Leaf(0.3, 1)]
STUMP = Node(1, "LEQ", 0.5, [Leaf(0.5, 0), Leaf(0.25, 2)], FOR_1)
DEEP = Node(
    0,
    "LT",
    2,
    Node(2, "GT", -1, FOR_0, Node(1, "GTE", 3, FOR_1, FOR_2)),
    Node(1, "EQ", 0.5, FOR_ALL, Node(2, "NEQ", 0, FOR_2, FOR_0)),
)
PLAIN = ensemble(STUMP)
THREE_TREES = ensemble(DEEP, STUMP, Node(2, "GTE", 0, FOR_2, FOR_1))
TEXTS = ("b", "a", "ä")
case("stump", X=ROWS, **PLAIN, cites=(TOP, WEIGHTED, INDICES, SCORES, THRESHOLDS))
case("deep", X=ROWS, **ensemble(DEEP), cites=(TOP, NODES, VOTES, KINDS))
case("several", X=ROWS, **THREE_TREES, cites=(TOP, IDS))
case("ids_not_from_zero", X=ROWS, **ensemble(DEEP, STUMP, first=10), cites=IDS)
case("several_strings", X=ROWS, **ensemble(DEEP, STUMP, labels=TEXTS), cites=(DEFINED_ONE, ONE_LABELS))
case("base_values", X=ROWS, **THREE_TREES, base_values=[0.25, -1.0, 3.0], cites=BASE)
case("hitrates", X=ROWS, **PLAIN, nodes_hitrates=[1.0, 0.3, 0.7], cites=POPULARITY)
BELOW = Node(0, "LT", 2, FOR_0, Node(2, "LT", 0, FOR_1, FOR_2))
OF_TRAINERS: dict[str, Any] = {"nodes_missing_value_tracks_true": [1, 0, 0, 1, 0], "base_values": [0.25, -1.0, 3.0]}
case("base_values_tracks", X=ROWS, **ensemble(BELOW), **OF_TRAINERS, post_transform="SOFTMAX", cites=(BASE, TRANSFORM))
OF_FORESTS: dict[str, Any] = {
    "nodes_missing_value_tracks_true": [1, 0, 0],
    "nodes_hitrates": [1.0, 0.3, 0.7],
    "post_transform": "NONE",
}
case("hitrates_tracks", X=ROWS, **ensemble(STUMP, labels=TEXTS), **OF_FORESTS, cites=(POPULARITY, MISSING))
case("no_rows", Tag.EDGE, X=ramp(0, 3), **PLAIN, cites=SHAPE)
case("leaf_alone", Tag.EDGE, X=ROWS, **ensemble(FOR_ALL), cites=TOP)
case("one_class", Tag.EDGE, X=ROWS, **ensemble(Node(0, "LT", 2, FOR_0, Leaf(0.7, 0)), labels=[7]), cites=TOP)
TWO_TREES = (Node(0, "LT", 2, FOR_0, FOR_1), Node(1, "LEQ", 0.5, Leaf(-1, 0), Leaf(0.1, 1)))
TWO_CLASSES = ensemble(*TWO_TREES, labels=[7, -3])
case("two_classes", X=ROWS, **TWO_CLASSES, cites=(TOP, WEIGHTED))
case("two_classes_strings", X=ROWS, **ensemble(*TWO_TREES, labels=["b", "a"]), cites=(TOP, WEIGHTED))
EDGES = [[0.5], [0.25], [0.75], [-0.0], [np.inf], [-np.inf], [np.nan]]
for mode in MODES[:-1]:
    for missing_true in (0, 1):
        tree = Node(0, mode, 0.5, [Leaf(3, 0), Leaf(1, 2)], FOR_1, missing_true)
        case(f"{mode.lower()}_missing_{missing_true}", Tag.EDGE, X=EDGES, **ensemble(tree), cites=(KINDS, MISSING))
    tree = Node(0, mode, 0, FOR_ALL, FOR_1)
    case(f"{mode.lower()}_zero", Tag.EDGE, X=EDGES, **ensemble(tree), cites=MISSING_UNSET)
    minus = Node(0, mode, -0.0, [Leaf(3, 0), Leaf(1, 2)], FOR_1)
    case(f"{mode.lower()}_minus_zero", Tag.EDGE, X=[[0.0], [-0.0], [1], [-1]], **ensemble(minus), cites=THRESHOLDS)
    # Floats represent these integers, but int32 does not contain them.
    large = Node(0, mode, 2.0**40, [Leaf(3, 0), Leaf(1, 2)], FOR_1)
    integers = typed("int64", [[2**40], [2**40 + 2**17], [2**40 - 2**16], [2**24 + 2], [2**62], [-(2**63)]])
    case(f"{mode.lower()}_large", Tag.EDGE, X=integers, **ensemble(large), cites=(THRESHOLDS, NUMERIC))
# The nearest floats of these numbers are the thresholds.
BESIDE_FLOATS: dict[str, tuple[str, int]] = {"leq": ("LEQ", 1), "eq": ("EQ", 1), "lt": ("LT", -1), "neq": ("NEQ", 1)}
for name, (mode, off) in BESIDE_FLOATS.items():
    beside = ensemble(Node(0, mode, 2.0**25, [Leaf(3, 0), Leaf(1, 2)], FOR_1))
    numbers = [[1], [2**25 + off]]
    case(f"{name}_beside_float_int64", Tag.EDGE, X=typed("int64", numbers), **beside, unspecified=THRESHOLDS)
    case(f"{name}_beside_float_double", Tag.EDGE, X=typed("double", numbers), **beside, cites=THRESHOLDS)
case(
    "leq_beside_float_int32",
    Tag.EDGE,
    X=typed("int32", [[2**25 + 1]]),
    **ensemble(Node(0, "LEQ", 2.0**25, [Leaf(3, 0), Leaf(1, 2)], FOR_1)),
    unspecified=THRESHOLDS,
)
FAR_APART = ensemble(Node(0, "LT", 2, Leaf(500, 0), Leaf(1000, 1)), labels=[7, -3])
case("transform_softmax_far_apart", Tag.EDGE, X=ROWS, **FAR_APART, post_transform="SOFTMAX", cites=TRANSFORM)
for name in TRANSFORMS:
    outcome: dict[str, Any] = {"cites": (ONE_OF, TRANSFORM)} if name in DEFINED else {"unspecified": TRANSFORM}
    case(f"transform_{name.lower()}", X=ROWS, **THREE_TREES, post_transform=name, **outcome)
    case(f"transform_{name.lower()}_two_classes", X=ROWS, **TWO_CLASSES, post_transform=name, **outcome)
case("dtypes", Tag.DTYPE, each="T1", X=[[1, 5, 2], [2, 0, 0], [3, 1, 2]], **THREE_TREES, cites=NUMERIC)
OF_TEXTS = ensemble(DEEP, labels=TEXTS)
case("dtypes_strings", Tag.DTYPE, each="T1", X=[[1, 5, 2], [2, 0, 0]], **OF_TEXTS, cites=NUMERIC)
case("outside", Tag.DTYPE, outside="T1", X=ramp(2, 3), **PLAIN, rejects=NUMERIC)

OF_DOUBLES = {name: value for name, value in PLAIN.items() if name not in {"class_weights", "nodes_values"}}
WEIGHTS = typed("double", PLAIN["class_weights"])
case(
    "doubles",
    Tag.CHANGE,
    X=typed("double", ROWS),
    **OF_DOUBLES,
    nodes_values_as_tensor=typed("double", PLAIN["nodes_values"]),
    class_weights_as_tensor=WEIGHTS,
    base_values_as_tensor=typed("double", [1 / 3, 0, -1 / 3]),
    nodes_hitrates_as_tensor=typed("double", [1, 0.3, 0.7]),
    cites=TENSORS,
)
case(
    "doubles_near_threshold",
    Tag.EDGE,
    X=typed("double", [[1, 0.1 + 1e-12, 0], [1, 0.1, 0]]),
    **OF_DOUBLES,
    nodes_values_as_tensor=typed("double", [0.1, 0, 0]),
    class_weights_as_tensor=WEIGHTS,
    cites=TENSORS,
)

TIED = Node(0, "LT", 2, [Leaf(1, 0), Leaf(1, 1), Leaf(0.5, 2)], FOR_2)
case("ties", Tag.EDGE, X=ROWS, **ensemble(TIED), unspecified=TOP)
TIED = Node(0, "LT", 2, FOR_0, [Leaf(1, 0), Leaf(1, 1)])
case("ties_two_classes", Tag.EDGE, X=ROWS, **ensemble(TIED, labels=[7, -3]), unspecified=TOP)
# 2^24 + 1 is more than 2^24, but as floats they are equal.
TIED_SUMS = ensemble(Leaf(2**24, 0), Leaf(2**24, 1), [Leaf(1, 0), Leaf(0.5, 1)], labels=[7, -3])
case("ties_of_sums", Tag.EDGE, X=ROWS, **TIED_SUMS, unspecified=TOP)
case("class_without_votes", Tag.EDGE, X=ROWS, **ensemble(Node(0, "LT", 2, FOR_0, FOR_1)), unspecified=WEIGHTED)
ONE_OF_TWO = ensemble(Node(0, "LT", 2, FOR_0, Leaf(0.7, 0)), labels=[7, -3])
case("one_class_of_two", Tag.EDGE, X=ROWS, **ONE_OF_TWO, unspecified=WEIGHTED)
case("child_beyond", Tag.EDGE, X=ROWS, **{**PLAIN, "nodes_truenodeids": [99, 0, 0]}, unspecified=NODES)
TWICE = {**PLAIN, "nodes_nodeids": [0, 1, 1], "nodes_falsenodeids": [1, 0, 0]}
case("node_twice", Tag.EDGE, X=ROWS, **TWICE, unspecified=NODES)
TWO_NODES = {name: value[:2] if name.startswith("nodes_") else value for name, value in PLAIN.items()}
case("child_missing", Tag.EDGE, X=ROWS, **TWO_NODES, unspecified=NODES)
case("no_root", Tag.EDGE, X=ROWS, **{**TWO_NODES, "nodes_falsenodeids": [0, 0]}, unspecified=NODES)
case("two_roots", Tag.EDGE, X=ROWS, **{**PLAIN, "nodes_falsenodeids": [1, 0, 0]}, unspecified=NODES)
for name, cycle in CYCLES.items():
    case(f"cycle_{name}", Tag.EDGE, X=ROWS, **{**PLAIN, **cycle}, unspecified=NODES)
case("weights_twice", X=ROWS, **PLAIN, class_weights_as_tensor=WEIGHTS, unspecified=TENSORS)
VOTES_ALONE = {name: value for name, value in PLAIN.items() if not name.startswith("nodes_")}
NODES_ALONE = {name: value for name, value in PLAIN.items() if not name.startswith("class_")}
case("no_nodes", X=ROWS, **VOTES_ALONE, unspecified=NODES)
case("no_votes", X=ROWS, **NODES_ALONE, unspecified=VOTES)

STUMP_BUT: dict[str, tuple[Clause, dict[str, Any]]] = {
    "rank1": (SHAPE, {"X": ramp(3)}),
    "transform_unknown": (ONE_OF, {"post_transform": "softmax"}),
    "mode_unknown": (KINDS, {"nodes_modes": ["BRANCH_MEMBER", "LEAF", "LEAF"]}),
    "nodes_of_other_length": (NODES, {"nodes_featureids": [1]}),
    "hitrates_of_other_length": (NODES, {"nodes_hitrates": [1.0]}),
    "votes_of_other_length": (VOTES, {"class_ids": [0, 1]}),
    "class_beyond": (INDICES, {"class_ids": [0, 3, 1]}),
    "class_below": (INDICES, {"class_ids": [0, -1, 1]}),
    "base_values_too_few": (BASE, {"base_values": [1.0, 2.0]}),
    "two_labels": (ONE_LABELS, {"classlabels_strings": ["a", "b", "c"]}),
    "tensor_of_floats": (TENSORS, {"base_values_as_tensor": typed("float", [1, 2, 3])}),
}
for name, (clause, changed) in STUMP_BUT.items():
    case(name, **{"X": ROWS, **PLAIN, **changed}, rejects=clause)
case("no_labels", X=ROWS, **nodes_and_votes(DEEP, votes_of="class"), rejects=DEFINED_ONE)
case("deprecated", Tag.CHANGE, deprecated=True, X=ROWS, **THREE_TREES, rejects=DEPRECATED)


def _forest(sizes: Sizes) -> dict[str, Any]:
    """Return the attributes of drawn trees with three classes."""
    key = f"{CLASSIFIER} {sizes}"
    trees = forest(key, trees=sizes["trees"], depth=sizes["depth"], features=sizes["features"], targets=3)
    return ensemble(*trees)


for transform in ("NONE", "SOFTMAX"):
    CLASSIFIER.sized(
        f"forest_{transform.lower()}",
        FORESTS[:: 1 if transform == "NONE" else 3],
        n=2,
        cites=(TOP, WEIGHTED, SCORES),
        arguments={"X": filled("rows", "features"), "post_transform": transform, **together(_forest, *PLAIN)},
    )
