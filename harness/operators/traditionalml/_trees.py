"""Trees of decisions: how cases write them, and what a node compares."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

MODES = ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ", "MEMBER")
"""The comparisons, without the BRANCH_ of their names."""


class Leaf(NamedTuple):
    """A leaf, or one of the votes of a leaf that has several."""

    weight: float
    target: int


class Node(NamedTuple):
    """A node that compares a feature.

    Attributes:
        feature: its index.
        mode: one of MODES.
        split: the threshold, or the members of MEMBER.
        true: the tree where the comparison is true; the same object as `false`: both are one leaf.
        false: the tree where it is not.
        missing_true: 1 where NaN goes to `true`.
    """

    feature: int
    mode: str
    split: float | list[float]
    true: Tree
    false: Tree
    missing_true: int = 0


Tree = Leaf | list[Leaf] | Node


def follows_true(mode: str, x: float, threshold: float, members: list[float], missing_true: int) -> bool:
    """Tell whether a feature goes to the true branch; of NaN `missing_true` decides, whatever the comparison."""
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
