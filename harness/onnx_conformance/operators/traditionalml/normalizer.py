# SPDX-License-Identifier: Apache-2.0
"""Normalizer: divide each row by its greatest element, its sum, or the root of its sum of squares.

    Y = Normalizer(X, norm="MAX")

Versions: 1.
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, bounded, ramp, vary
from onnx_conformance.declare.families.sums import roundings
from onnx_conformance.declare.sizes import FEW_LENGTHS, filled, grid

MATRIX = 2


def _normalized(X: Array, norm: str) -> Array:
    """Return nonnegative numbers: each row divided by its divisor, or unchanged if the divisor is 0."""
    wide = X.astype(np.float64)
    divisors = {
        "MAX": wide.max(-1, keepdims=True, initial=-np.inf),
        "L1": wide.sum(-1, keepdims=True),
        "L2": np.sqrt(np.square(wide).sum(-1, keepdims=True)),
    }
    divisor = divisors[norm]
    return np.asarray(np.where(divisor == 0, wide, wide / divisor))


def _rounding(X: Array, norm: str) -> list[Array]:
    """Return the errors relative to the result, of conversion, sum, square, quotient and root."""
    with np.errstate(all="ignore"):
        result = np.abs(_normalized(X, norm if norm in {"MAX", "L1", "L2"} else "MAX"))
    terms = roundings(X.shape[-1]) if X.ndim else 1
    return [np.where(np.isfinite(result), result, 0) * (terms / 2 + 3)]


NORMALIZER = Op(
    "Normalizer",
    versions=(1,),
    compare=bounded(
        _rounding, "each addition rounds by half an epsilon; conversion, squares, quotient and root round once each"
    ).limited(-1, 1),
    domain="ai.onnx.ml",
    rank="X",
)
NORMALIZER.example(X=[[1, 5, 2], [0, 3, 4]], norm="L1")

NORMALIZES = NORMALIZER.clause(
    "There are three normalization modes, which have the corresponding formulas, defined using element-wise infix "
    "operators '/' and '^' and tensor-wide functions 'max' and 'sum'"
)
MAX = NORMALIZER.clause("Max: Y = X / max(X)")
L1 = NORMALIZER.clause(
    "L1: Y = X / sum(X)",
    note="The norms with these names use absolute values, and dividing a vector by its norm keeps its signs. The "
    "formulas contain no absolute values, and the formula of L2 loses signs. Rows with negative elements are therefore "
    "left open.",
)
L2 = NORMALIZER.clause("L2: Y = sqrt(X^2 / sum(X^2)}")
ZERO = NORMALIZER.clause("In all modes, if the divisor is zero, Y == X.")
BATCHES = NORMALIZER.clause("For batches, that is, [N,C] tensors, normalization is done along the C axis.")
ROWS = NORMALIZER.clause("In other words, each row of the batch is normalized independently.")
ONE_OF = NORMALIZER.clause("One of 'MAX,' 'L1,' 'L2'")
SHAPE = NORMALIZER.clause("Data to be encoded, a tensor of shape [N,C] or [C]")
NUMERIC = NORMALIZER.clause("The input must be a tensor of a numeric type.")


@NORMALIZER.oracle()
def normalized(v: Version, X: Array, norm: str) -> Array:
    """Return each row divided by its divisor, or unchanged if the divisor is 0."""
    v.require(ONE_OF, norm in {"MAX", "L1", "L2"})
    v.require(SHAPE, X.ndim in {1, MATRIX})
    v.silent(L1, bool((X < 0).any()))
    v.ordered(MAX, X)
    with np.errstate(all="ignore"):
        return _normalized(X, norm).astype(np.float32)


case = NORMALIZER.case
TABLE = [[1, 5, 2, 0], [0.1, 1 / 3, 2 / 3, 0.25], [7, 7, 7, 7]]
MODES = {"MAX": MAX, "L1": L1, "L2": L2}

case("default", X=TABLE, cites=(MAX, NORMALIZES))
for norm, clause in MODES.items():
    name = norm.lower()
    case(f"{name}_rows", X=TABLE, norm=norm, cites=(clause, BATCHES, ROWS, ONE_OF))
    case(f"{name}_vector", X=[1, 5, 2, 0.5], norm=norm, cites=(clause, SHAPE))
    case(f"{name}_zeros", Tag.EDGE, X=[[0, 0, 0], [1, 2, 0], [0.0, -0.0, 0]], norm=norm, cites=ZERO)
    case(f"{name}_one_column", Tag.EDGE, X=[[4], [0.5], [0]], norm=norm, cites=clause)
    case(f"{name}_one_row", Tag.EDGE, X=[[3, 4, 12]], norm=norm, cites=clause)
    case(f"{name}_one_element", Tag.EDGE, X=[3], norm=norm, cites=clause)
    case(f"{name}_no_rows", Tag.EDGE, X=ramp(0, 3), norm=norm, cites=BATCHES)
    case(f"{name}_no_columns", Tag.EDGE, X=ramp(3, 0), norm=norm, cites=BATCHES)
    case(f"{name}_long", X=1 + np.cos(np.arange(600.0)).reshape(2, 300), norm=norm, cites=clause)
    case(f"{name}_infinite", Tag.EDGE, X=[[np.inf, 1, 2], [3, 4, 5]], norm=norm, cites=clause)
    case(f"{name}_nan", Tag.EDGE, X=[[np.nan, 1, 2], [3, 4, 5]], norm=norm, unspecified=MAX)
    case(f"{name}_below_zero", Tag.EDGE, X=[[3, -4, 12], [-1, -2, -3]], norm=norm, unspecified=L1)
    case(f"{name}_little_below_zero", Tag.EDGE, X=[[3, -0.5, 12]], norm=norm, unspecified=L1)
    case(f"{name}_dtypes", Tag.DTYPE, each="T", X=[[3, 4, 12], [0, 5, 1]], norm=norm, cites=(clause, NUMERIC))
case("norm", Tag.EDGE, X=TABLE, norm=vary(lower="max", other="L3", empty=""), rejects=ONE_OF)
case("rank", Tag.EDGE, X=vary(scalar=3, cube=ramp(2, 3, 4)), rejects=SHAPE)
case("outside", Tag.DTYPE, outside="T", X=ramp(2, 3), rejects=NUMERIC)

for norm, formula in MODES.items():
    NORMALIZER.sized(
        norm.lower(),
        grid(m=(7, 700), n=FEW_LENGTHS),
        each="T" if norm == "L2" else None,
        cites=(formula, ROWS),
        arguments={"X": filled("m", "n", floats=(0.1, 2), integers=(1, 8)), "norm": norm},
    )
