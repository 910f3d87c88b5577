"""Products of many factors: where the partial ones may leave the range of the type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from onnx_conformance.declare.partly_open import PartlyOpen

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_conformance.declare.data import Array


def but_where_order_decides(
    factors: Array, dtype: np.dtype[Any], total: Callable[[Array], Array], values: Array
) -> Array | PartlyOpen:
    """Return products, but anything where they depend on the order of the factors, of which no text speaks.

    They do where the factors above 1 overflow by themselves and those below 1, or a zero, bring the product back; and
    where those below 1 vanish by themselves.

    Args:
        factors: as doubles.
        dtype: of the operands.
        total: returns the sum of an array over the factors of each product.
        values: the products, exact.
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
