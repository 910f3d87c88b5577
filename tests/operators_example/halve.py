# SPDX-License-Identifier: Apache-2.0
"""Halve: half of each element.

    Y = Halve(X)

Versions: 1.
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, measured, ramp

HALVE = Op("Halve", versions=(1,), compare=measured("the quotient rounds"), domain="com.example", rank="X")
HALVE.example(X=[1, 2, 3])

DIVIDES = HALVE.clause("Divides each element by 2.")


@HALVE.oracle()
def halve(v: Version, X: Array) -> Array:
    """Return the halves."""
    return np.asarray(X / 2)


case = HALVE.case
case("plain", X=[1, -2, 0.5], cites=DIVIDES)
case("matrix", X=ramp(2, 3), cites=DIVIDES)
case("scalar", Tag.EDGE, X=3.0, cites=DIVIDES)
case("empty", Tag.EDGE, X=ramp(0, 3), cites=DIVIDES)
case("specials", Tag.EDGE, X=[np.inf, -np.inf, np.nan, -0.0], cites=DIVIDES)
case("dtypes", Tag.DTYPE, each="T", X=[1, 2, 3], cites=DIVIDES)
