"""Trees of decisions: what a node compares, and how the attributes of ensembles hold them.

Cases write a tree as a tuple: a leaf is (weight, target), a node (feature, mode, threshold or members, the tree where
the comparison is true, the one where it is false), and behind them 1 where NaN goes to the former.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.declare.arguments import typed

MODES = ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ", "MEMBER")
"""The comparisons, without the BRANCH_ of their names."""

Tree = tuple[Any, ...]


def follows_true(mode: str, x: float, threshold: float, members: list[float], track: int) -> bool:
    """Tell whether a feature goes to the true branch; of NaN `track` tells, whatever the comparison."""
    if np.isnan(x):
        return track == 1
    compared = {"LEQ": x <= threshold, "LT": x < threshold, "GTE": x >= threshold, "GT": x > threshold}
    return {**compared, "EQ": x == threshold, "NEQ": x != threshold, "MEMBER": x in members}[mode]


def is_leaf(tree: Tree) -> bool:
    """Tell a leaf, which is a weight and a target."""
    return len(tree) == 2  # noqa: PLR2004


def nodes_and_leaves(*trees: Tree, n_targets: int = 1) -> dict[str, Any]:
    """Return the attributes of TreeEnsemble, which holds leaves beside nodes; tensors are of type T."""
    nodes: list[list[Any]] = []
    leaves: list[Tree] = []

    def add(tree: Tree) -> tuple[int, int]:
        """Return where a tree stands, and whether that is a leaf."""
        if is_leaf(tree):
            leaves.append(tree)
            return len(leaves) - 1, 1
        place = len(nodes)
        nodes.append([])
        true = add(tree[3])
        false = true if tree[4] is tree[3] else add(tree[4])
        nodes[place] = [*tree[:3], *true, *false, *(tree[5:] or (0,))]
        return place, 0

    roots = [add(tree)[0] for tree in trees]
    feature, mode, split, true, trueleaf, false, falseleaf, track = map(list, zip(*nodes, strict=True))
    members = [value for item in split if isinstance(item, list) for value in (*item, np.nan)]
    given = {
        "tree_roots": roots,
        "n_targets": n_targets,
        "nodes_featureids": feature,
        "nodes_modes": typed("uint8", [MODES.index(item) for item in mode]),
        "nodes_splits": typed("{T}", [0 if isinstance(item, list) else item for item in split]),
        "nodes_truenodeids": true,
        "nodes_trueleafs": trueleaf,
        "nodes_falsenodeids": false,
        "nodes_falseleafs": falseleaf,
        "leaf_weights": typed("{T}", [weight for weight, _ in leaves]),
        "leaf_targetids": [target for _, target in leaves],
    }
    given |= {"membership_values": typed("{T}", members)} if members else {}
    return given | ({"nodes_missing_value_tracks_true": track} if any(track) else {})


def tuples(*trees: Tree, first: int = 0) -> dict[str, Any]:
    """Return the attributes nodes_* of the older ensembles, whose leaves are nodes, and the votes of the leaves.

    The ids of each tree's nodes begin at `first`; they are listed from the root on, the true branch first.
    """
    nodes: list[list[Any]] = []
    votes: list[tuple[int, int, float, int]] = []

    def add(tree: Tree, number: int) -> int:
        """Return the id of a node."""
        place, id_ = len(nodes), first + len([node for node in nodes if node[0] == number])
        nodes.append([number, id_, 0, "LEAF", 0.0, 0, 0, 0])
        if is_leaf(tree):
            pairs = tree[0] if isinstance(tree[0], list) else [tree]
            votes.extend((number, id_, weight, target) for weight, target in pairs)
        else:
            true, false = add(tree[3], number), add(tree[4], number)
            nodes[place] = [number, id_, tree[0], f"BRANCH_{tree[1]}", tree[2], true, false, *(tree[5:] or (0,))]
        return id_

    for number, tree in enumerate(trees):
        add(tree, number)
    names = ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids")
    columns = list(map(list, zip(*nodes, strict=True)))
    given = {f"nodes_{name}": column for name, column in zip(names, columns, strict=False)}
    given["nodes_values"] = [float(value) for value in given["nodes_values"]]
    given |= {"nodes_missing_value_tracks_true": columns[-1]} if any(columns[-1]) else {}
    treeids, nodeids, weights, targets = map(list, zip(*votes, strict=True))
    return {**given, "treeids": treeids, "nodeids": nodeids, "weights": [float(w) for w in weights], "ids": targets}
