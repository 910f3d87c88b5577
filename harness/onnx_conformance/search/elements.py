# SPDX-License-Identifier: Apache-2.0
"""Drawing of elements of tensors and of attributes: plain values, and values at which programs often fail."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Sequence

Array = np.ndarray[Any, Any]

SMALL = st.integers(-3, 9)
"""Typical numbers of axes, sizes, indices and counts."""
TEXTS = ("", "a", "b", "ä", "日本語", "𝄞", " ", "\t\n", "A" * 64, "0", "-1", "nan")
WIDE = (2**31 - 1, -(2**31), 2**31, 2**63 - 1, -(2**63), 1 << 20)
"""Numbers at the limits of the types in which programs store attributes."""
REALS = (0.0, 1.0, -1.0, 0.5, 1e-5, 2.0, -0.0, 1e30, float("inf"), float("-inf"), float("nan"))


@functools.cache
def elements(dtype: np.dtype[Any]) -> st.SearchStrategy[Any]:
    """Return the strategy for elements of a type, as Python values with the simplest first."""
    if dtype.kind == "O":
        return st.sampled_from(TEXTS)
    if dtype.kind == "b":
        return st.booleans()
    if dtype.kind == "c":
        part = elements(np.dtype(f"f{dtype.itemsize // 2}"))
        return st.builds(complex, part, part)
    if dtype.kind in "iu" or "int" in dtype.name:
        info = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]
        low, high = int(info.min), int(info.max)
        limits = [low, high, high - 1, low + 1, high // 2]
        return st.one_of(st.integers(max(low, -3), min(high, 9)), st.sampled_from(limits))
    return st.one_of(
        st.integers(0, 6).map(float),
        st.integers(-12, 12).map(lambda halves: halves / 2),  # Including ties of rounding.
        st.integers(-64, 64).map(lambda steps: steps * 0.173),
        st.sampled_from(_special(dtype)),
    )


def _special(dtype: np.dtype[Any]) -> list[float]:
    """Return the numbers at the limits of a floating type. Numbers that the type lacks become others of the type."""
    info = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    limits = [info.max, info.min, info.tiny, info.smallest_subnormal, info.eps]
    return [-0.0, np.inf, -np.inf, np.nan, *map(float, limits), 1.0 + float(info.eps), -float(info.tiny)]


def array(values: Sequence[Any], dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """Return a tensor of a type in which some values repeat."""
    count = int(np.prod(shape, dtype=np.int64))
    with np.errstate(all="ignore"):
        if dtype.kind == "O" or dtype.kind in "iu" or "int" in dtype.name:
            flat = np.array(list(values), dtype=object).astype(dtype)
        else:
            flat = np.array(list(values)).astype(dtype)
    return np.resize(flat, count).reshape(shape)
