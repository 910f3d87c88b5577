"""TreeEnsembleClassifier: the class that the leaves of trees give the most votes, and the votes of each.

Versions: 1, 3 (tensors of doubles), and 5, in which it is deprecated in favour of TreeEnsemble.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.declare import Array, Op, Rule, Tag, Version, bounded, ramp, typed
from harness.operators.traditionalml._post_transform import DEFINED, SLACK, TRANSFORMS, UNDEFINED, transformed
from harness.operators.traditionalml._trees import MODES, follows_true, tuples

if TYPE_CHECKING:
    from collections.abc import Mapping

Floats = list[float] | None
NODE_KINDS = ("LEAF", *(f"BRANCH_{mode}" for mode in MODES if mode != "MEMBER"))


def _type(_: Mapping[str, str], attributes: Mapping[str, Any]) -> str:
    """Return the type of the labels set."""
    return "tensor(int64)" if attributes["classlabels_int64s"] is not None else "tensor(string)"


def _rounding(
    *, class_weights: Floats, class_weights_as_tensor: Array | None, base_values: Floats, **_: object
) -> list[Array]:
    """Return half a rounding for each vote that is added, and what a transform adds."""
    votes = np.abs(np.asarray(class_weights or class_weights_as_tensor, float))
    total = votes.sum() + np.abs(base_values or [0.0]).max()
    return [np.zeros(()), np.asarray(total * len(votes) / 2 + SLACK)]


CLASSIFIER = Op(
    "TreeEnsembleClassifier",
    versions=(1, 3, 5),
    compare=bounded(_rounding, "one addition for each vote, in any order, and a transform"),
    domain="ai.onnx.ml",
    derives={"T2": _type},
)
for part in ("nodeids", "treeids", "featureids", "values", "falsenodeids", "truenodeids", "modes"):
    CLASSIFIER.excuse(f"attribute nodes_{part} unset", "nothing says what an ensemble without nodes is")
for part in ("ids", "weights", "treeids", "nodeids"):
    CLASSIFIER.excuse(f"attribute class_{part} unset", "nothing says what an ensemble without votes is")

said = CLASSIFIER.clause
DEPRECATED = said("This operator is DEPRECATED.", since=5)
TIES = "Not which of equal scores. Of two classes onnxruntime gives the second wherever its score is above 0 or 0.5."
TOP = said("Returns the top class for each of N inputs.", note=TIES)
WHOLE = "Not which node is the root: the one that is no child; nor what holds where an id is not there, or there twice."
NODES = said(
    "form a sequence of tuples, associated by index into the sequences, which must all be of equal", note=WHOLE
)
VOTES = said("Similarly, all fields prefixed with 'class_' are tuples of votes at the leaves.")
NO_VOTES = "A score is the sum of its votes; nothing is said of a class that no leaf of the ensemble votes for."
WEIGHTED = said("where each vote is weighted by the associated class_weights index.", note=NO_VOTES)
ONE_LABELS = said("One and only one of classlabels_strings or classlabels_int64s will be defined.")
INDICES = said("The class_ids are indices into this list.")
TENSORS = said("instead of the same parameter without the suffix if the element type is double and not float.", since=3)
SHAPE = said("Input of shape [N,F]")
TRANSFORM = said("Indicates the transform to apply to the score.", note=UNDEFINED)
ONE_OF = said("One of 'NONE,' 'SOFTMAX,' 'LOGISTIC,' 'SOFTMAX_ZERO,' or 'PROBIT.'")
DEFINED_ONE = said("One and only one of the 'classlabels_*' attributes must be defined.")
ONLY = "onnxruntime takes no ids beyond the number of nodes."
IDS = said("Ids may restart at zero for each tree, but it not required to.", note=ONLY)
THRESHOLDS = said("Thresholds to do the splitting on for each node.")
POPULARITY = said("Popularity of each node, used for performance and may be omitted.")
BASE = said(
    "added to final class score; the size must be the same as the classes or can be left unassigned (assumed 0)"
)
EVERY = "Of every comparison: onnxruntime and onnx.reference follow the true branch of BRANCH_NEQ."
MISSING = said("use the 'true' or 'false' branch based on the value in this array.", note=EVERY)
MISSING_UNSET = said("the default value is false (0) for all nodes.")
KINDS = said("One of 'BRANCH_LEQ', 'BRANCH_LT', 'BRANCH_GTE', 'BRANCH_GT', 'BRANCH_EQ', 'BRANCH_NEQ', 'LEAF'")
NUMERIC = said("The input type must be a tensor of a numeric type.")
SCORES = said("The class score for each class, for each point, a tensor of shape [N,E].")


def _either(v: Version, floats: Floats, doubles: Array | None) -> list[float]:
    """Return a list of numbers, or the tensor of doubles that is used instead."""
    v.silent(TENSORS, floats is not None and doubles is not None)
    v.require(TENSORS, doubles is None or doubles.dtype == np.float64)
    return list(floats or ()) if doubles is None else doubles.tolist()


@CLASSIFIER.oracle(before=5)
def classified(  # noqa: PLR0913, PLR0917 - the text's own attributes
    v: Version, X: Array, post_transform: str, classlabels_int64s: list[int] | None,  # noqa: N803
    classlabels_strings: list[str] | None, base_values: Floats, base_values_as_tensor: Array | None,
    class_ids: list[int], class_treeids: list[int], class_nodeids: list[int],
    class_weights: Floats, class_weights_as_tensor: Array | None,
    nodes_treeids: list[int], nodes_nodeids: list[int], nodes_featureids: list[int], nodes_modes: list[str],
    nodes_values: Floats, nodes_values_as_tensor: Array | None,
    nodes_hitrates: Floats, nodes_hitrates_as_tensor: Array | None,
    nodes_truenodeids: list[int], nodes_falsenodeids: list[int], nodes_missing_value_tracks_true: list[int] | None,
) -> tuple[Array, Array]:  # fmt: skip
    """Return the label with the highest score for each row, and the scores."""
    v.require(SHAPE, X.ndim == 2)  # noqa: PLR2004 - rows and features
    v.require(DEFINED_ONE, classlabels_int64s is not None or classlabels_strings is not None)
    v.require(ONE_LABELS, classlabels_int64s is None or classlabels_strings is None)
    labels: Any = classlabels_int64s if classlabels_strings is None else classlabels_strings
    v.require(ONE_OF, post_transform in TRANSFORMS)
    count, values = len(nodes_nodeids), _either(v, nodes_values, nodes_values_as_tensor)
    lists: list[Any] = [nodes_treeids, nodes_featureids, nodes_modes, values, nodes_truenodeids, nodes_falsenodeids]
    rates = _either(v, nodes_hitrates, nodes_hitrates_as_tensor)
    tracks = nodes_missing_value_tracks_true or [0] * count
    v.require(NODES, all(len(item) == count for item in (*lists, tracks, rates or tracks)))
    weights = _either(v, class_weights, class_weights_as_tensor)
    v.require(VOTES, len(class_ids) == len(class_treeids) == len(class_nodeids) == len(weights))
    v.require(KINDS, all(mode in NODE_KINDS for mode in nodes_modes))
    v.require(INDICES, all(0 <= item < len(labels) for item in class_ids))
    base = _either(v, base_values, base_values_as_tensor) or [0.0] * len(labels)
    v.require(BASE, len(base) == len(labels))
    v.silent(WEIGHTED, len({*class_ids}) < len(labels))
    ids = list(zip(nodes_treeids, nodes_nodeids, strict=True))
    place = {id_: index for index, id_ in enumerate(ids)}
    v.silent(NODES, len(place) != count)
    inner = [index for index, mode in enumerate(nodes_modes) if mode != "LEAF"]
    children = {(nodes_treeids[at], both[at]) for both in (nodes_truenodeids, nodes_falsenodeids) for at in inner}
    v.silent(NODES, not children <= {*ids})
    scores = np.zeros((len(X), len(labels))) + base
    for row, features in enumerate(X):
        for root in (index for id_, index in place.items() if id_ not in children):
            at = root
            while nodes_modes[at] != "LEAF":
                mode, x = nodes_modes[at].removeprefix("BRANCH_"), float(features[nodes_featureids[at]])
                follow = follows_true(mode, x, values[at], [], tracks[at])
                at = place[nodes_treeids[at], (nodes_truenodeids if follow else nodes_falsenodeids)[at]]
            for tree, node, class_, weight in zip(class_treeids, class_nodeids, class_ids, weights, strict=True):
                scores[row, class_] += weight if (tree, node) == ids[at] else 0
    ordered = np.sort(scores, 1)
    v.silent(TOP, len(labels) > 1 and bool((ordered[:, -1] == ordered[:, -2]).any()))
    top = np.array(labels, np.int64 if classlabels_strings is None else object)[scores.argmax(1)]
    return top, transformed(v, TRANSFORM, scores, post_transform)


def _ensemble(*trees: Any, labels: Any = (7, -3, 2**40), first: int = 0) -> dict[str, Any]:  # noqa: ANN401 - see Tree
    """Return the attributes of an ensemble with labels that are no indices."""
    made = tuples(*trees, first=first)
    votes = {f"class_{name}": made.pop(name) for name in ("treeids", "nodeids", "weights", "ids")}
    kind = "strings" if isinstance(labels[0], str) else "int64s"
    return {f"classlabels_{kind}": [*labels], "n": 2, **made, **votes}


case = CLASSIFIER.case

A, B, C, D = (0.5, 0), (2, 1), (1.75, 2), ([(0.1, 2), (0.7, 0), (0.3, 1)], None)
ROWS = [[1, 5, -2], [2, -5, 0], [3, 0.5, 2], [-1, 1, 10]]
STUMP = (1, "LEQ", 0.5, ([(0.5, 0), (0.25, 2)], None), B)
DEEP = (0, "LT", 2, (2, "GT", -1, A, (1, "GTE", 3, B, C)), (1, "EQ", 0.5, D, (2, "NEQ", 0, C, A)))
PLAIN = _ensemble(STUMP)
MANY = _ensemble(DEEP, STUMP, (2, "GTE", 0, C, B))
TEXTS = ("b", "a", "ä")
case("stump", X=ROWS, **PLAIN, cites=(TOP, WEIGHTED, INDICES, SCORES, THRESHOLDS))
case("deep", X=ROWS, **_ensemble(DEEP), cites=(TOP, NODES, VOTES, KINDS))
case("several", X=ROWS, **MANY, cites=(TOP, IDS))
case("ids_not_from_zero", X=ROWS, **_ensemble(DEEP, STUMP, first=10), cites=(IDS,))
case("several_strings", X=ROWS, **_ensemble(DEEP, STUMP, labels=TEXTS), cites=(DEFINED_ONE, ONE_LABELS))
case("base_values", X=ROWS, **MANY, base_values=[0.25, -1.0, 3.0], cites=(BASE,))
case("hitrates", X=ROWS, **PLAIN, nodes_hitrates=[1.0, 0.3, 0.7], cites=(POPULARITY,))
case("no_rows", Tag.EDGE, X=ramp(0, 3), **PLAIN, cites=(SHAPE,))
case("leaf_alone", Tag.EDGE, X=ROWS, **_ensemble(D), cites=(TOP,))
case("one_class", Tag.EDGE, X=ROWS, **_ensemble((0, "LT", 2, A, (0.7, 0)), labels=(7,)), cites=(TOP,))
TWO = ((0, "LT", 2, A, (2, 1)), (1, "LEQ", 0.5, (-1, 0), (0.1, 1)))
case("two_classes", X=ROWS, **_ensemble(*TWO, labels=(7, -3)), cites=(TOP, WEIGHTED))
case("two_classes_strings", X=ROWS, **_ensemble(*TWO, labels=("b", "a")), cites=(TOP, WEIGHTED))
EDGES = [[x] for x in (0.5, 0.25, 0.75, -0.0, np.inf, -np.inf, np.nan)]
for mode in MODES[:-1]:
    for track in (0, 1):
        tree = (0, mode, 0.5, ([(3, 0), (1, 2)], None), B, track)
        case(f"{mode.lower()}_missing_{track}", Tag.EDGE, X=EDGES, **_ensemble(tree), cites=(KINDS, MISSING))
    case(f"{mode.lower()}_zero", Tag.EDGE, X=EDGES, **_ensemble((0, mode, 0, D, B)), cites=(MISSING_UNSET,))
for name in TRANSFORMS:
    given: dict[str, Any] = {"cites": (ONE_OF, TRANSFORM)} if name in DEFINED else {"unspecified": TRANSFORM}
    case(f"transform_{name.lower()}", X=ROWS, **MANY, post_transform=name, **given)
    case(
        f"transform_{name.lower()}_two_classes", X=ROWS, **_ensemble(*TWO, labels=(7, -3)), post_transform=name, **given
    )
case("dtypes", Tag.DTYPE, each="T1", X=[[1, 5, 2], [2, 0, 0], [3, 1, 2]], **MANY, cites=(NUMERIC,))
NAMED = _ensemble(DEEP, labels=TEXTS)
case("dtypes_strings", Tag.DTYPE, each="T1", X=[[1, 5, 2], [2, 0, 0]], **NAMED, cites=(NUMERIC,))
case("outside", Tag.DTYPE, outside="T1", X=ramp(2, 3), **PLAIN, rejects=NUMERIC)
DOUBLES = dict(PLAIN)
WEIGHTS, VALUES = (typed("double", DOUBLES.pop(name)) for name in ("class_weights", "nodes_values"))
DOUBLES |= {"class_weights_as_tensor": WEIGHTS, "nodes_values_as_tensor": VALUES, "X": typed("double", ROWS)}
THIRDS, RATES = typed("double", [1 / 3, 0, -1 / 3]), typed("double", [1, 0.3, 0.7])
case("doubles", Tag.CHANGE, **DOUBLES, base_values_as_tensor=THIRDS, nodes_hitrates_as_tensor=RATES, cites=(TENSORS,))
NEAR = typed("double", [[1, 0.1 + 1e-12, 0], [1, 0.1, 0]])
DOUBLES |= {"X": NEAR, "nodes_values_as_tensor": typed("double", [0.1, 0, 0])}
case("doubles_near_threshold", Tag.EDGE, **DOUBLES, cites=(TENSORS,))
case("ties", Tag.EDGE, X=ROWS, **_ensemble((0, "LT", 2, ([(1, 0), (1, 1), (0.5, 2)], None), C)), unspecified=TOP)
case("class_without_votes", Tag.EDGE, X=ROWS, **_ensemble((0, "LT", 2, A, B)), unspecified=WEIGHTED)
case("one_class_of_two", Tag.EDGE, X=ROWS, **_ensemble((0, "LT", 2, A, (0.7, 0)), labels=(7, -3)), unspecified=WEIGHTED)
case("child_beyond", Tag.EDGE, X=ROWS, **{**PLAIN, "nodes_truenodeids": [99, 0, 0]}, unspecified=NODES)
case("node_twice", Tag.EDGE, X=ROWS, **{**PLAIN, "nodes_nodeids": [0, 1, 1]}, unspecified=NODES)
case("weights_twice", X=ROWS, **PLAIN, class_weights_as_tensor=WEIGHTS, unspecified=TENSORS)
WRONG: dict[str, tuple[Any, dict[str, Any]]] = {
    "rank1": (SHAPE, {"X": ramp(3)}),
    "transform_unknown": (ONE_OF, {"post_transform": "softmax"}),
    "mode_unknown": (KINDS, {"nodes_modes": ["BRANCH_MEMBER", "LEAF", "LEAF"]}),
    "nodes_of_other_length": (NODES, {"nodes_featureids": [1]}),
    "hitrates_of_other_length": (NODES, {"nodes_hitrates": [1.0]}),
    "votes_of_other_length": (VOTES, {"class_ids": [0, 1]}),
    "class_beyond": (INDICES, {"class_ids": [0, 3, 1]}),
    "base_values_too_few": (BASE, {"base_values": [1.0, 2.0]}),
    "two_labels": (ONE_LABELS, {"classlabels_strings": ["a", "b", "c"]}),
    "tensor_of_floats": (TENSORS, {"base_values_as_tensor": typed("float", [1, 2, 3])}),
}
for name, (clause, changed) in WRONG.items():
    case(name, **{"X": ROWS, **PLAIN, **changed}, rejects=clause)
del NAMED["classlabels_strings"]
case("no_labels", X=ROWS, **NAMED, rejects=DEFINED_ONE)
case("no_input", **PLAIN, rejects=Rule.ARITY)
case("one_output", X=ROWS, **{**PLAIN, "n": 1}, rejects=Rule.ARITY)
case("attribute_n_targets", X=ROWS, **PLAIN, stray={"n_targets": 3}, rejects=Rule.ATTRIBUTES)
case("deprecated", Tag.CHANGE, deprecated=True, X=ROWS, **MANY, rejects=DEPRECATED)
