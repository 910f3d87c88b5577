# SPDX-License-Identifier: Apache-2.0
"""Transforms of scores. The texts of the operators of ai.onnx.ml name them but do not define them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from onnx_conformance.declare import Array
    from onnx_conformance.declare.clause import Clause, Version

TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
DEFINED = ("NONE", "SOFTMAX", "LOGISTIC")
UNDEFINED = (
    "Softmax and the logistic function are known by their names. No text defines the effect of SOFTMAX_ZERO on zeros, "
    "or the direction of PROBIT."
)
LIMITED = ("SOFTMAX", "LOGISTIC")
"""The transforms that return probabilities."""
SLACK = 16
"""The epsilons that a transform adds to a result of at most 1.

The result changes no faster than the scores. The errors are those of exp in numerator and denominator, the sum and the
quotient.
"""


def probabilities(post_transform: str | int) -> bool:
    """Return whether a transform, by its name or its number, returns probabilities, which are between 0 and 1."""
    return _name(post_transform) in LIMITED


def _name(post_transform: str | int) -> str:
    return post_transform if isinstance(post_transform, str) else TRANSFORMS[post_transform]


def normalized(post_transform: str | int) -> tuple[int, ...]:
    """Return the axis along which the values after a transform add up to 1; none for transforms without this sum."""
    return (1,) if _name(post_transform) == "SOFTMAX" else ()


def transformed(v: Version, clause: Clause, scores: Array, name: str) -> Array:
    """Return the scores (N, targets) after a transform. `clause` is the sentence that lists the transforms."""
    v.silent(clause, name not in DEFINED)
    with np.errstate(all="ignore"):
        if name == "LOGISTIC":
            return np.asarray(1 / (1 + np.exp(-scores)))
        if name == "SOFTMAX":
            exponential = np.exp(scores - scores.max(1, keepdims=True))
            return np.asarray(exponential / exponential.sum(1, keepdims=True))
    return scores
