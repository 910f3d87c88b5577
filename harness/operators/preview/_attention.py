"""Attention: probabilities of scores, and which heads of keys and values go with a head of queries."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def probabilities(scores: Array) -> Array:
    """Return Softmax over the last axis; the largest score is taken out of both sides, which changes neither."""
    with np.errstate(all="ignore"):
        exponential = np.exp(scores - scores.max(-1, keepdims=True, initial=-np.inf))
        return np.asarray(exponential / exponential.sum(-1, keepdims=True))


def by_query_head(values: Array, heads: int) -> Array:
    """Return K or V with the head that query head h uses in place h: floor(h / group_size)."""
    group_size = heads // max(values.shape[1], 1)
    return np.asarray(values[:, np.arange(heads) // max(group_size, 1)])


def factor(head_size: int, scale: float | None) -> float:
    """Return the factor of the scores: 1/sqrt(head_size) unless it is given."""
    return (1 / math.sqrt(head_size) if head_size else 0.0) if scale is None else scale


def off_scores(queries: Array, keys: Array, scale: float) -> Array:
    """Return the error of Q @ K^T * scale, kept by row, in epsilons: head_size products and sums, and the scaling."""
    magnitudes = np.abs(queries) @ np.abs(keys).swapaxes(-2, -1) * abs(scale)
    return np.asarray(((queries.shape[-1] / 2 + 4) * magnitudes).max(-1, keepdims=True, initial=0.0))
