# SPDX-License-Identifier: Apache-2.0
"""Integers of a few bits that are packed into bytes, the low-order bits first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from onnx_conformance.declare import Array

BYTE = 8


def unpacked(packed: Array, bits: int) -> Array:
    """Return the integers that bytes contain along the last axis, as doubles.

    Args:
        packed: the bytes.
        bits: the number of bits of an integer. It may cross the limit of a byte.
    """
    in_bits = np.unpackbits(packed.astype(np.uint8), axis=-1, bitorder="little")
    count = packed.shape[-1] * BYTE // bits
    each = in_bits[..., : count * bits].reshape(*packed.shape[:-1], count, bits)
    return np.asarray(each @ (2.0 ** np.arange(bits)))


def packed(integers: Array, bits: int) -> Array:
    """Return bytes that contain integers along the last axis; the rest of the last byte is 0.

    Args:
        integers: the integers, from 0 to 2**bits - 1.
        bits: the number of bits of an integer.
    """
    each = (integers[..., None].astype(np.int64) >> np.arange(bits)) & 1
    in_bits = each.reshape(*integers.shape[:-1], -1).astype(np.uint8)
    return np.packbits(in_bits, axis=-1, bitorder="little")
