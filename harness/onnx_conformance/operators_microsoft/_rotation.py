# SPDX-License-Identifier: Apache-2.0
"""The rotation of rotary position embeddings, which several operators apply to the elements of each head."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from onnx_conformance.declare import Array


def rotated(heads: Array, cos: Array, sin: Array, *, interleaved: bool) -> Array:
    """Return heads in which pairs of the first elements are rotated; the other elements of a head stay as they are.

    Args:
        heads: values of shape (batch_size, sequence_length, num_heads, head_size).
        cos: cosines of shape (batch_size, sequence_length, n), for the first 2 n elements of each head.
        sin: sines of the same shape.
        interleaved: whether neighbours are a pair. Otherwise, an element of the first half and one of the second are.
    """
    size = 2 * cos.shape[-1]
    turned, kept = heads[..., :size], heads[..., size:]
    real, imaginary = (turned[..., 0::2], turned[..., 1::2]) if interleaved else np.split(turned, 2, -1)
    c, s = cos[:, :, None], sin[:, :, None]
    parts = [c * real - s * imaginary, s * real + c * imaginary]
    joined = np.stack(parts, -1).reshape(turned.shape) if interleaved else np.concatenate(parts, -1)
    return np.concatenate([joined, kept], -1)


def magnitudes(heads: Array, cos: Array, sin: Array, *, interleaved: bool) -> Array:
    """Return the sums of the absolute products of `rotated`; 0 for the elements that stay as they are."""
    kept = np.arange(heads.shape[-1]) >= 2 * cos.shape[-1]
    # With the signs of an imaginary part reversed, every product is positive.
    real = rotated(np.abs(heads), np.abs(cos), -np.abs(sin), interleaved=interleaved)
    imaginary = rotated(np.abs(heads), np.abs(cos), np.abs(sin), interleaved=interleaved)
    return np.where(kept, 0, np.maximum(real, imaginary))
