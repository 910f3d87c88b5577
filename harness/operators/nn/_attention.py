"""Scaled dot products of queries and keys, and what attention makes of them; and how far answers may lie from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


FOUR = 4
"""The rank that has a dimension of heads."""


def heads(data: Array, count: int | None) -> Array:
    """Return (batch, heads, sequence, size) of data that may have the heads in its last dimension."""
    if data.ndim == FOUR or not count:
        return data
    return data.reshape(*data.shape[:2], count, -1).swapaxes(1, 2)


def joined(y: Array, q: Array) -> Array:
    """Return what has a dimension of heads without it where Q has none."""
    return y if q.ndim == FOUR else y.swapaxes(1, 2).reshape(y.shape[0], y.shape[2], -1)


@dataclass(frozen=True)
class Attended:
    """What attention computes on the way, each with its errors in epsilons.

    Attributes:
        stages: after the product, softcap, bias and softmax.
        off: of each of them.
        y: the output, (batch, heads, sequence, size), and `off_y` its error.
    """

    stages: tuple[Array, ...]
    off: tuple[Array, ...]
    y: Array
    off_y: Array


def attended(q: Array, k: Array, v: Array, bias: Array, scale: float, softcap: float) -> Attended:
    """Return softmax(softcap(q k^T scale) + bias) v; a row whose bias is -inf alone gives zeros.

    Of an error in a score the weights take its own and their mean's; sums round in any order.
    """
    groups = q.shape[1] // max(1, k.shape[1])
    k, v = k.repeat(groups, 1), v.repeat(groups, 1)
    turned = k.swapaxes(2, 3)
    with np.errstate(all="ignore"):
        product = q @ turned * scale
        off_product = np.abs(q) @ np.abs(turned) * scale * (q.shape[-1] / 2 + 5)
        capped = softcap * np.tanh(product / softcap) if softcap else product
        off_capped = off_product + 4 * np.abs(capped) if softcap else off_product
        scores = capped + bias
        off_scores = off_capped + np.where(np.isfinite(bias), np.abs(bias) + np.abs(capped), 0)
        open_ = bias.max(-1, keepdims=True, initial=-np.inf) > -np.inf
        largest = np.where(open_, scores.max(-1, keepdims=True, initial=-np.inf), 0)
        powers = np.exp(np.where(open_, scores - largest, -np.inf))
        weights = powers / np.where(open_, powers.sum(-1, keepdims=True), 1)
        off_powers = off_scores + np.where(powers > 0, np.abs(scores - largest), 0)
        relative = off_powers + (weights * off_powers).sum(-1, keepdims=True) + weights.shape[-1] / 2 + 6
        off_weights = weights * relative
        off_y = off_weights @ np.abs(v) + weights @ np.abs(v) * (weights.shape[-1] / 2 + 2)
        stages, off = (product, capped, scores, weights), (off_product, off_capped, off_scores, off_weights)
        return Attended(stages, off, weights @ v, off_y)


def bias(
    shape: tuple[int, ...], mask: Array | None, offset: Array, *, nonpad: Array | None, causal: bool,
    left: int, right: int,
) -> Array:  # fmt: skip
    """Return what is added to scores of a shape: the mask, and -inf for every key that a query does not attend.

    Args:
        shape: (batch, heads, queries, keys).
        mask: True where a key takes part, or what is added; a last dimension that is shorter ends in -inf.
        offset: keys before the first query, of each batch.
        nonpad: keys that count, of each batch.
        causal: no query attends a key behind it.
        left: how far before it a query attends keys; -1 if it does not matter.
        right: how far behind it.
    """
    added: Any = 0.0
    if mask is not None:
        added = np.where(mask, 0.0, -np.inf) if mask.dtype.kind == "b" else mask
        if mask.ndim and 1 < mask.shape[-1] < shape[3]:
            short = [(0, 0)] * (mask.ndim - 1) + [(0, shape[3] - mask.shape[-1])]
            added = np.pad(added, short, constant_values=-np.inf)
    i, j = offset[:, None, None, None] + np.arange(shape[2])[:, None], np.arange(shape[3])
    attends = np.ones(shape, bool)
    if nonpad is not None:
        attends = attends & (j < nonpad[:, None, None, None])
    if causal:
        attends = attends & (j <= i)
    if left >= 0:
        attends = attends & (i - left <= j)
    if right >= 0:
        attends = attends & (j <= i + right)
    return np.where(attends, np.broadcast_to(added, shape), -np.inf)
