# SPDX-License-Identifier: Apache-2.0
"""Trilu: the part of matrices above a diagonal, or the part below.

    output = Trilu(input, k=0, upper=1)

Version: 14.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, ramp, typed, vary
from onnx_conformance.declare.sizes import filled, grid

TRILU = Op("Trilu", versions=(14,), compare=EXACT, rank="input", widens=False)
TRILU.example(input=1 + np.arange(12).reshape(3, 4), k=1, upper=0)

RETURNS = TRILU.clause(
    "Given a 2-D matrix or batches of 2-D matrices, returns the upper or lower triangular part of the tensor(s)."
)
DETERMINES = TRILU.clause(
    'The attribute "upper" determines whether the upper or lower part is retained. If set to true, the upper '
    "triangular matrix is retained. Lower triangular matrix is retained otherwise.",
    note="The text does not define values other than 0 and 1.",
)
TRUE = TRILU.clause("Indicates whether upper or lower part of matrix is retained. Default is true.")
DEFAULT = TRILU.clause('Default value for the "upper" attribute is true.')
BATCHES = TRILU.clause("Trilu takes one input tensor of shape [*, N, M], where * is zero or more batch dimensions.")
UPPER_PART = TRILU.clause("The upper triangular part consists of the elements on and above the given diagonal (k).")
LOWER_PART = TRILU.clause("The lower triangular part consists of elements on and below the diagonal.")
ZERO = TRILU.clause(
    "All other elements in the matrix are set to zero.", note="The text does not define which string is zero."
)
MAIN = TRILU.clause("If k = 0, the triangular part on and above/below the main diagonal is retained.")
UPPER_ABOVE = TRILU.clause(
    "If upper is set to true, a positive k retains the upper triangular matrix excluding the main diagonal and (k-1) "
    "diagonals above it."
)
UPPER_BELOW = TRILU.clause("A negative k value retains the main diagonal and |k| diagonals below it.")
LOWER_ABOVE = TRILU.clause(
    "If upper is set to false, a positive k retains the lower triangular matrix including the main diagonal and k "
    "diagonals above it."
)
LOWER_BELOW = TRILU.clause("A negative k value excludes the main diagonal and (|k|-1) diagonals below it.")
RANK = TRILU.clause("Input tensor of rank 2 or higher.")
ZERO_D = TRILU.clause(
    "A 0-D tensor containing a single value corresponding to the number diagonals above or below the main diagonal to "
    "exclude or include."
)
UNSET = TRILU.clause("Default value is 0 if it's not specified.")
SAME = TRILU.clause("Output tensor of the same type and shape as the input tensor.")


@TRILU.oracle()
def part(v: Version, input: Array, k: Array | None, upper: int) -> Array:
    """Return the input on the k-th diagonal and on the retained side, and 0 elsewhere."""
    v.require(RANK, input.ndim >= 2)  # noqa: PLR2004 - the text's own number
    v.require(ZERO_D, k is None or k.ndim == 0)
    v.silent(DETERMINES, upper not in {0, 1})
    rows, columns = np.indices(input.shape[-2:])
    diagonal = rows + (0 if k is None else int(k))
    kept = np.broadcast_to(columns >= diagonal if upper else columns <= diagonal, input.shape)
    v.silent(ZERO, input.dtype.kind == "O" and not kept.all())
    return np.where(kept, input, np.zeros((), input.dtype))


case = TRILU.case
SIDES: dict[str, tuple[dict[str, Any], Any, Any, Any]] = {
    "unset": ({}, (UPPER_PART, DEFAULT, TRUE), UPPER_ABOVE, UPPER_BELOW),
    "upper": ({"upper": 1}, (UPPER_PART, DETERMINES), UPPER_ABOVE, UPPER_BELOW),
    "lower": ({"upper": 0}, (LOWER_PART, DETERMINES), LOWER_ABOVE, LOWER_BELOW),
}
SHAPES = {"wide": (3, 5), "tall": (5, 3), "batches": (2, 3, 4), "more_batches": (2, 3, 4, 2)}
for side, (attributes, plain, above, below) in SIDES.items():
    for name, shape in SHAPES.items():
        numbers = 1 + np.arange(np.prod(shape)).reshape(shape)
        case(f"{side}_{name}", input=numbers, **attributes, cites=(*plain, MAIN, ZERO, UNSET, RETURNS, BATCHES))
        if side != "unset":
            for k in (0, 1, 2, -1, -2):
                clause = {0: MAIN, 1: above, -1: below}[int(np.sign(k))]
                word = f"{side}_{name}_k_{k}".replace("-", "minus_")
                case(word, input=numbers, k=k, **attributes, cites=(clause, ZERO_D))
    numbers = 1 + np.arange(15).reshape(3, 5)
    for name, k in {
        "last_column": 4,
        "beyond_columns": 5,
        "last_row": -2,
        "beyond_rows": -3,
        "beyond_int32": 2**32,
        "below_int32": -(2**32),
    }.items():
        case(f"{side}_{name}", Tag.EDGE, input=numbers, k=k, **attributes, cites=above if k > 0 else below)
    for name, shape in {"row": (1, 4), "column": (4, 1), "one": (1, 1)}.items():
        numbers = 1 + np.arange(np.prod(shape)).reshape(shape)
        case(f"{side}_{name}", Tag.EDGE, input=numbers, **attributes, cites=plain)
    for name, shape in {"no_rows": (2, 0, 3), "no_columns": (2, 3, 0), "no_matrices": (0, 2, 3)}.items():
        case(f"{side}_{name}", Tag.EDGE, input=ramp(*shape), k=1, **attributes, cites=SAME)
    hard = [[np.nan, np.inf, -0.0], [-np.inf, -0.0, np.nan], [np.inf, np.nan, 1]]
    case(f"{side}_special", Tag.EDGE, input=hard, **attributes, cites=(*plain, ZERO))
for side, k in {"upper": 0, "lower": -1}.items():
    ones: dict[str, Any] = {"input": [[1, 1, 1]] * 2, "k": k, **SIDES[side][0]}
    case(f"{side}_dtypes", Tag.DTYPE, each="T", but=("string",), **ones, cites=(*SIDES[side][1], ZERO))
WIDE = typed("int64", [[2**40 + 3, -(2**40)], [2**53 + 1, 7]])
case("beyond_32_bits", Tag.DTYPE, input=WIDE, cites=UPPER_PART)
case("strings_kept", Tag.DTYPE, input=typed("string", [["a", "b"], ["c", "d"]]), k=-1, cites=UPPER_BELOW)
case("strings_set_to_zero", Tag.EDGE, input=typed("string", [["a", "b"], ["c", "d"]]), unspecified=ZERO)
case("k", Tag.EDGE, input=ramp(2, 3), k=vary(vector=[1], matrix=[[1]], two=[0, 1]), rejects=ZERO_D)
case("rank", Tag.EDGE, input=vary(vector=ramp(3), scalar=3), rejects=RANK)
case("upper_two", Tag.EDGE, input=ramp(2, 3), upper=2, unspecified=DETERMINES)
case("upper_negative", Tag.EDGE, input=ramp(2, 3), upper=-1, unspecified=DETERMINES)

extents: dict[str, int | None] = {"main": None, "above": 1, "far_above": 17, "below": -3}
for upper in (0, 1):
    for name, number in extents.items():
        TRILU.sized(
            f"{'upper' if upper else 'lower'}_{name}",
            grid(m=(7, 33), n=(9, 33, 65) if name == "main" else (64,)),
            each="T" if name == "main" else None,
            but="string",
            cites=UPPER_PART if upper else LOWER_PART,
            arguments={"input": filled("m", "n"), "upper": upper, "k": number},
        )
TRILU.sized(
    "masks",
    grid(b=(2,), h=(3,), s=(7, 16, 33)),
    cites=BATCHES,
    arguments={"input": filled("b", "h", "s", "s"), "upper": 0},
)
TRILU.sized("large", grid(m=(257,), n=(513,)), cites=UPPER_PART, arguments={"input": filled("m", "n")})
