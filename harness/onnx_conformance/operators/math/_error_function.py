"""The error function, which numpy lacks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from onnx_conformance.declare.rounding import rounding_as, saturated

if TYPE_CHECKING:
    from onnx_conformance.declare import Array


def erf(numbers: Array) -> Array:
    """Return the error function of each number."""
    values = np.vectorize(math.erf, otypes=[np.float64])(np.asarray(numbers))
    return saturated(rounding_as(values, numbers))
