# SPDX-License-Identifier: Apache-2.0
"""Products of many factors: the cases in which partial products may leave the range of the type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from onnx_conformance.declare.partly_open import PartlyOpen

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_conformance.base.values import Array


def but_where_order_decides(
    factors: Array, dtype: np.dtype[Any], total: Callable[[Array], Array], values: Array
) -> Array | PartlyOpen:
    """Return products. A product is open if it depends on the order of factors, which no text defines.

    It depends on the order in two cases: if the factors above 1 alone overflow and the factors below 1, or a zero,
    bring the product back into range; or if the factors below 1 alone vanish.

    Args:
        factors: the factors, as doubles.
        dtype: the type of the operands.
        total: a function that returns the sum of an array over the factors of each product.
        values: the exact products.
    """
    limits = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    most, least = np.log2(float(limits.max)), np.log2(float(limits.smallest_normal))
    with np.errstate(all="ignore"):
        logarithms = np.log2(np.abs(factors))
    powers = np.where(np.isfinite(logarithms), logarithms, 0)
    up, down = total(np.maximum(powers, 0)), total(np.minimum(powers, 0))
    zeros, infinities = total((factors == 0).astype(float)) > 0, total(np.isinf(factors).astype(float)) > 0
    overflows = (up > most) & ((up + down <= most) | zeros)
    vanishes = (down < least) & ((up > 0) | infinities)
    is_open = overflows | vanishes
    return PartlyOpen(values, is_open) if is_open.any() else values
