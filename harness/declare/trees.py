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
