# SPDX-License-Identifier: Apache-2.0
"""The parts of attention that several operators share: heads, masks, and the softmax of scaled dot products."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from onnx_conformance.declare import Array

LARGEST_FILTER = -1000.0
"""The largest mask_filter_value for which a masked key has a weight of 0, whether the text adds or replaces a score."""


def heads(data: Array, count: int) -> Array:
    """Return (batch_size, num_heads, sequence_length, head_size) of (batch_size, sequence_length, hidden_size)."""
    return data.reshape(*data.shape[:2], count, data.shape[2] // count).transpose(0, 2, 1, 3)


def joined(data: Array) -> Array:
    """Return (batch_size, sequence_length, hidden_size) of (batch_size, num_heads, sequence_length, head_size)."""
    rows = data.transpose(0, 2, 1, 3)
    return rows.reshape(*rows.shape[:2], math.prod(rows.shape[2:]))


def scores(q: Array, k: Array, scale: float | None, bias: Array | None) -> Array:
    """Return q k^T scale + bias.

    Args:
        q: queries of shape (batch_size, num_heads, sequence_length, head_size).
        k: keys of shape (batch_size, num_heads, total_sequence_length, head_size).
        scale: the factor; None for 1 / sqrt(head_size).
        bias: a summand that broadcasts to the scores, or None.
    """
    product = q @ k.transpose(0, 1, 3, 2) * (1 / math.sqrt(q.shape[3]) if scale is None else scale)
    return product if bias is None else product + bias


def softmax(scored: Array, attends: Array) -> Array:
    """Return the softmax of scores over the keys that each query attends. If there are any, it is at least one."""
    with np.errstate(all="ignore"):
        open_ = np.where(attends, scored, -np.inf)
        powers = np.exp(open_ - open_.max(-1, keepdims=True, initial=-np.inf))
        shares: Array = powers / powers.sum(-1, keepdims=True)
    return shares


def causal(queries: int, keys: int, past: int) -> Array:
    """Return a mask of (queries, keys): True for each key up to the position of the query, which is after the past."""
    return np.asarray(np.arange(keys) <= past + np.arange(queries)[:, None])


def within(keys: int, starts: Array, ends: Array) -> Array:
    """Return a mask of (batch_size, 1, 1, keys): True for the keys from a start, inclusive, to an end, exclusive."""
    index = np.arange(keys)
    inside = (starts[:, None] <= index) & (index < ends[:, None])
    return np.asarray(inside[:, None, None])


def is_bias(shape: tuple[int, ...], whole: tuple[int, int, int, int]) -> bool:
    """Return whether a shape is (batch_size or 1, num_heads or 1, sequence_length, total_sequence_length)."""
    return (
        len(shape) == len(whole)
        and all(size in {1, most} for size, most in zip(shape[:2], whole, strict=False))
        and shape[2:] == whole[2:]
    )
