# SPDX-License-Identifier: Apache-2.0
"""Finds out in which precision and in which order a runtime adds, from the results of sums.

The precision: the terms are M, -M and 1, with zeros between them. If M + 1 rounds to M in the accumulator, the 1 is
lost in some places. The largest M with which no 1 is lost shows the bits of the accumulator.

The order: M is so large that each 1 that is added to a partial sum with M is lost. The terms are M at i, -M at j, and 1
elsewhere. The 1s that are lost are those that are added before M and -M meet. Their number is the size of the smallest
subtree of the tree of additions that contains i and j. The sizes for all pairs determine the tree. (Xie, Gao and Wang,
"FPRev: Revealing the order of floating-point summations", USENIX ATC 2025.)
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.verification.accuracy.measured import Accumulator
from onnx_conformance.verification.accuracy.truth import Format

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Sums = Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]
    """Returns the sum of each row of a matrix as the runtime computes it, as float64."""

Array = np.ndarray[Any, Any]

WIDTH = 64
"""The number of terms of the probe of the precision."""
PLACES = (0, 1, 17, 40, 63)
"""The places of its terms that are not zero: neighbours, and parts of different vectors and blocks."""
UNIT = -14
"""The exponent of the 1 above: the smallest normal number of float16, in which the sum may be."""
MOST_POWER, LEAST_POWER = 6, 3
"""The probe of the order has 2**MOST_POWER terms, or fewer if the range of the type is small."""
MOST_BITS = 66
"""The largest precision that the probe looks for; the formats of processors have at most 64 bits."""
NAMES: Mapping[int, str] = {8: "bfloat16", 11: "float16", 24: "float", 53: "double", 64: "80 bits"}
"""Formats by the bits of their significand."""


def probed(sums: Sums, dtype: np.dtype[Any]) -> Accumulator | None:
    """Return how a runtime adds; None if its sums contradict each other.

    Args:
        sums: computes sums on the runtime.
        dtype: the element type.
    """
    bits = precision(sums, dtype)
    if bits is None:
        return Accumulator(bits, "", 0, 0)
    power = min(MOST_POWER, _most(dtype) - UNIT - bits - 1)
    if power < LEAST_POWER:
        return Accumulator(bits, "", 0, 0)
    count = 1 << power
    sizes = subtrees(sums, dtype, count, bits)
    if sizes is None:
        return Accumulator(bits, "unordered", 0, count)
    depth = _depth(sizes, list(range(count)))
    return Accumulator(bits, _order(depth, count), depth, count)


def _most(dtype: np.dtype[Any]) -> int:
    """Return the largest exponent of M: a few Ms have a finite sum."""
    return min(Format.of(dtype).greatest - 1, UNIT + MOST_BITS)


def precision(sums: Sums, dtype: np.dtype[Any]) -> int | None:
    """Return the bits of the accumulator's significand; None if it has more than the type's range can show."""
    most = _most(dtype) - UNIT
    arrangements = list(itertools.permutations(PLACES, 3))
    rows, kept = [], 0
    for distance in range(1, most + 1):
        for large, small, other in arrangements:
            row = np.zeros(WIDTH)
            row[[large, small, other]] = 2.0 ** (UNIT + distance), 2.0**UNIT, -(2.0 ** (UNIT + distance))
            rows.append(row)
    found = sums(np.array(rows).astype(dtype)).reshape(most, len(arrangements))
    intact = (found == 2.0**UNIT).all(1)
    kept = most if intact.all() else int(np.argmin(intact))
    return None if kept == most else kept + 1


def subtrees(sums: Sums, dtype: np.dtype[Any], count: int, bits: int) -> Array | None:
    """Return for each pair of terms the size of the smallest partial sum that contains both; None without a tree.

    Args:
        sums: computes sums on the runtime.
        dtype: the element type.
        count: the number of terms, a power of 2.
        bits: the bits of the accumulator.
    """
    large = 2.0 ** (UNIT + bits + count.bit_length())  # Half a unit of its last place is more than all 1s.
    pairs = list(itertools.combinations(range(count), 2))
    rows = np.full((len(pairs), count), 2.0**UNIT)
    for row, (one, other) in zip(rows, pairs, strict=True):
        row[one], row[other] = large, -large
    left = sums(rows.astype(dtype)) / 2.0**UNIT
    if not (np.isfinite(left).all() and (left == np.rint(left)).all() and (left >= 0).all() and (left < count).all()):
        return None
    sizes = np.zeros((count, count), int)
    for (one, other), number in zip(pairs, left, strict=True):
        sizes[one, other] = sizes[other, one] = count - int(number)
    return sizes if _is_tree(sizes, list(range(count))) else None


def _parts(sizes: Array, terms: list[int]) -> list[list[int]]:
    """Return the terms of the partial sums in a partial sum."""
    left, parts = list(terms), []
    while left:
        first, *others = left
        part = [first, *(item for item in others if sizes[first, item] < len(terms))]
        parts.append(part)
        left = [item for item in left if item not in part]
    return parts


def _is_tree(sizes: Array, terms: list[int]) -> bool:
    """Return whether sizes of subtrees belong to one tree."""
    if len(terms) == 1:
        return True
    parts = _parts(sizes, terms)
    across = all(
        sizes[one, other] == len(terms)
        for first, second in itertools.combinations(parts, 2)
        for one in first
        for other in second
    )
    return len(parts) > 1 and across and all(_is_tree(sizes, part) for part in parts)


def _depth(sizes: Array, terms: list[int]) -> int:
    """Return the largest number of additions through which a term passes. A sum of several parts at once is one."""
    if len(terms) == 1:
        return 0
    return 1 + max(_depth(sizes, part) for part in _parts(sizes, terms))


def _order(depth: int, count: int) -> str:
    if depth == count - 1:
        return "sequential"
    return "pairwise" if depth <= math.ceil(math.log2(count)) else "blocked"
