# SPDX-License-Identifier: Apache-2.0
"""Decision trees: how cases and attributes represent them, comparisons in nodes, and the leaves that rows reach."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from onnx_conformance.declare.readings import DOUBLE
from onnx_conformance.declare.sizes import fractions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx_conformance.declare import Array
    from onnx_conformance.declare.clause import Clause, Version

Floats = list[float] | None
MODES = ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ", "MEMBER")
"""The comparisons, without the prefix BRANCH_ of their names."""
NODE_KINDS = ("LEAF", *(f"BRANCH_{mode}" for mode in MODES if mode != "MEMBER"))
"""The values of nodes_modes."""


FORESTS = [
    {"rows": rows, "features": features, "trees": trees, "depth": depth}
    for rows, features, trees, depth in (
        (33, 5, 1, 8),
        (16, 20, 10, 3),
        (7, 20, 10, 6),
        (257, 4, 3, 3),
        (65, 7, 33, 3),
        (5, 20, 50, 6),
        (1, 9, 100, 3),
        (4, 20, 100, 8),
        (4097, 16, 2, 3),
    )
]
"""The sizes of sized calls: numbers of rows, features, trees, and comparisons on each path."""
OF_TEN_TARGETS = [{"rows": 33, "features": 16, "trees": 20, "depth": 4, "targets": 10}]
"""The same with more targets than a vector has elements."""


CYCLES: dict[str, dict[str, Any]] = {
    "beside_root": {"nodes_truenodeids": [0, 0, 0], "nodes_falsenodeids": [2, 0, 0]},
    "below_root": {
        "nodes_modes": ["BRANCH_LT", "BRANCH_LT", "LEAF"],
        "nodes_truenodeids": [1, 1, 0],
        "nodes_falsenodeids": [2, 2, 0],
    },
}
"""Changes of a tree of three nodes. With each, a node is below itself."""


class Leaf(NamedTuple):
    """A leaf, or one of several votes of a leaf."""

    weight: float
    target: int


class Node(NamedTuple):
    """A node that compares a feature.

    Attributes:
        feature: the index of the feature.
        mode: one of MODES.
        split: the threshold, or the members of MEMBER.
        true: the tree if the comparison is true. If it is the same object as `false`, both branches lead to one leaf.
        false: the tree if the comparison is false.
        missing_true: 1 if NaN goes to `true`.
    """

    feature: int
    mode: str
    split: float | list[float]
    true: Tree
    false: Tree
    missing_true: int = 0


Tree = Leaf | list[Leaf] | Node


def forest(key: str, *, trees: int, depth: int, features: int, targets: int) -> list[Tree]:
    """Return trees with drawn features, thresholds from -2 to 2, weights from 0.1 to 1.1, and targets.

    Args:
        key: the text that determines the drawn numbers.
        trees: the number of trees.
        depth: the number of comparisons on each path from a root to a leaf.
        features: the number of features.
        targets: the number of targets.
    """
    first_leaf = 2**depth - 1

    def of(drawn: Array, place: int) -> Tree:
        """Return the tree at a place: the children of place n are at 2 n + 1 and at 2 n + 2."""
        which, number = drawn[place]
        if place >= first_leaf:
            return Leaf(float(np.float32(0.1 + number)), int(which * targets))
        split = float(np.float32(4 * number - 2))
        return Node(int(which * features), "LEQ", split, of(drawn, 2 * place + 1), of(drawn, 2 * place + 2))

    numbers = fractions(key, trees * (2 * first_leaf + 1) * 2).reshape(trees, 2 * first_leaf + 1, 2)
    return [of(drawn, 0) for drawn in numbers]


def follows_true(mode: str, x: float, threshold: float, members: list[float], missing_true: int) -> bool:
    """Return whether a feature goes to the true branch. For NaN `missing_true` decides, whatever the comparison."""
    if np.isnan(x):
        return missing_true == 1
    compared = {
        "LEQ": x <= threshold,
        "LT": x < threshold,
        "GTE": x >= threshold,
        "GT": x > threshold,
        "EQ": x == threshold,
        "NEQ": x != threshold,
        "MEMBER": x in members,
    }
    return compared[mode]


def nodes_and_votes(*trees: Tree, votes_of: str, first: int = 0) -> dict[str, Any]:
    """Return the attributes that contain trees. Leaves are nodes and have votes.

    Args:
        trees: the trees.
        votes_of: the prefix of the attributes of votes: "class" or "target".
        first: the first id of the nodes of each tree. Nodes are listed from the root, the true branch first.
    """
    nodes: list[list[Any]] = []
    votes: list[tuple[int, int, float, int]] = []
    sizes: Counter[int] = Counter()

    def add(tree: Tree, number: int) -> int:
        """Return the id of a node."""
        place, id_ = len(nodes), first + sizes[number]
        sizes[number] += 1
        nodes.append([number, id_, 0, "LEAF", 0.0, 0, 0, 0])
        if isinstance(tree, Node):
            true, false = add(tree.true, number), add(tree.false, number)
            mode = f"BRANCH_{tree.mode}"
            nodes[place] = [number, id_, tree.feature, mode, tree.split, true, false, tree.missing_true]
        else:
            leaves = [tree] if isinstance(tree, Leaf) else tree
            votes.extend((number, id_, float(leaf.weight), leaf.target) for leaf in leaves)
        return id_

    for number, tree in enumerate(trees):
        add(tree, number)
    names = ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids")
    *columns, missing_true = map(list, zip(*nodes, strict=True))
    values: dict[str, Any] = {f"nodes_{name}": column for name, column in zip(names, columns, strict=True)}
    values["nodes_values"] = [float(split) for split in values["nodes_values"]]
    if any(missing_true):
        values["nodes_missing_value_tracks_true"] = missing_true
    for name, column in zip(("treeids", "nodeids", "weights", "ids"), zip(*votes, strict=True), strict=True):
        values[f"{votes_of}_{name}"] = list(column)
    return values


def either(v: Version, tensors: Clause, floats: Floats, doubles: Array | None) -> list[float] | None:
    """Return a list of numbers, or the tensor of doubles that the clause `tensors` allows instead."""
    v.silent(tensors, floats is not None and doubles is not None)
    v.require(tensors, doubles is None or doubles.dtype == np.float64)
    return floats if doubles is None else doubles.tolist()


def of_equal_length(v: Version, clause: Clause, lists: list[Sequence[Any] | None]) -> int:
    """Return the common length of lists that are the columns of tuples."""
    lengths = {-1 if item is None else len(item) for item in lists}
    v.silent(clause, -1 in lengths)
    v.require(clause, len(lengths) == 1)
    return lengths.pop()


Vote = tuple[int, int, float]
"""The place of a vote in the lists of votes, its target or class, and its weight."""


def votes_of_leaves(
    treeids: list[int], nodeids: list[int], ids: list[int], weights: Sequence[float]
) -> dict[tuple[int, int], list[Vote]]:
    """Return the votes of each leaf in their order, by the ids of tree and node."""
    votes: dict[tuple[int, int], list[Vote]] = {}
    for place, (tree, node, id_, weight) in enumerate(zip(treeids, nodeids, ids, weights, strict=True)):
        votes.setdefault((tree, node), []).append((place, id_, weight))
    return votes


def most_of_votes(treeids: list[int], nodeids: list[int], weights: Sequence[float]) -> tuple[int, float]:
    """Return the most votes that a row can collect, and their greatest sum of magnitudes: one leaf of each tree."""
    number: dict[int, int] = {}
    total: dict[int, float] = {}
    for (tree, _), votes in votes_of_leaves(treeids, nodeids, [0] * len(treeids), weights).items():
        number[tree] = max(number.get(tree, 0), len(votes))
        total[tree] = max(total.get(tree, 0.0), sum(abs(weight) for *_, weight in votes))
    return sum(number.values()), sum(total.values())


class Nodes(NamedTuple):
    """The attributes of nodes. Each is a list with one item for every node; `splits` is nodes_values."""

    treeids: list[int]
    nodeids: list[int]
    featureids: list[int]
    modes: list[str]
    splits: list[float]
    truenodeids: list[int]
    falsenodeids: list[int]
    tracks: list[int]


def leaves(v: Version, X: Array, nodes: Nodes, about: Clause, thresholds: Clause) -> list[list[tuple[int, int]]]:
    """Return for each row the leaves that it reaches, one in each tree, by the ids of tree and node.

    Args:
        v: the version.
        X: the rows.
        nodes: the trees.
        about: the sentence on nodes. It does not define ids that do not form trees.
        thresholds: the sentence on the compared values.
    """
    count, branches = len(nodes.nodeids), (nodes.truenodeids, nodes.falsenodeids)
    ids = list(zip(nodes.treeids, nodes.nodeids, strict=True))
    place = {id_: node for node, id_ in enumerate(ids)}
    v.silent(about, len(place) != count)
    inner = [node for node in range(count) if nodes.modes[node] != "LEAF"]
    children = {(nodes.treeids[node], branch[node]) for branch in branches for node in inner}
    v.silent(about, any(child not in place for child in children))
    roots = [node for id_, node in place.items() if id_ not in children]
    v.silent(about, sorted(nodes.treeids[node] for node in roots) != sorted({*nodes.treeids}))
    v.silent(about, _has_cycle(nodes, place))
    rows = []
    for features in X:
        reached = []
        for root in roots:
            at = root
            while nodes.modes[at] != "LEAF":
                mode, x = nodes.modes[at].removeprefix("BRANCH_"), features[nodes.featureids[at]]
                follow = follows_true(mode, x.item(), nodes.splits[at], [], nodes.tracks[at])
                as_float = follows_true(mode, float(np.float32(x)), nodes.splits[at], [], nodes.tracks[at])
                v.silent(thresholds, X.dtype.kind == "i" and as_float != follow)
                v.reads(DOUBLE, as_float != follow)
                at = place[nodes.treeids[at], branches[0 if follow else 1][at]]
            reached.append(ids[at])
        rows.append(reached)
    return rows


def _has_cycle(nodes: Nodes, place: dict[tuple[int, int], int]) -> bool:
    """Return whether a node is below itself.

    Args:
        nodes: the nodes.
        place: the place of each node in the lists, by the ids of tree and node.
    """
    below = {
        at: {place[tree, true], place[tree, false]}
        for at, (tree, mode, true, false) in enumerate(
            zip(nodes.treeids, nodes.modes, nodes.truenodeids, nodes.falsenodeids, strict=True)
        )
        if mode != "LEAF"
    }
    while lowest := [at for at, children in below.items() if children.isdisjoint(below)]:
        for at in lowest:
            del below[at]
    return bool(below)
