# SPDX-License-Identifier: Apache-2.0
"""NonZero: the indices of the elements that are not zero.

    Y = NonZero(X)

Versions: 9, 13 (bfloat16).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, ramp, typed
from onnx_conformance.declare.sizes import among, grid

NON_ZERO = Op("NonZero", versions=(9, 13), compare=EXACT, rank=lambda _: 2)
NON_ZERO.example(X=[[0, 3, 0], [5, 0, 7]])

RETURNS = NON_ZERO.clause(
    "Returns the indices of the elements that are non-zero (in row-major order - by dimension).",
    note="The text does not define which strings are zero.",
)
LIKE_NUMPY = NON_ZERO.clause(
    "NonZero behaves similar to numpy.nonzero:", note="In numpy, NaN is not zero, and -0 is zero."
)
SCALAR = NON_ZERO.clause(
    "but for scalar input, NonZero produces output shape (0, N) instead of (1, N), which is different from Numpy's "
    "behavior."
)
ALL_TYPES = NON_ZERO.clause("Constrain to all tensor types.")


@NON_ZERO.oracle()
def places(v: Version, X: Array) -> Array:
    """Return a column of indices for each element that is not zero, in row-major order."""
    v.silent(RETURNS, X.dtype.kind == "O" and X.size > 0)
    return np.argwhere(X != 0).T


case = NON_ZERO.case

case("matrix", X=[[0, 3, 0], [5, 0, 7]], cites=(RETURNS, LIKE_NUMPY))
case("vector", X=[0, 0, 4, 0, -1, 2], cites=RETURNS)
case("cube", X=np.arange(24).reshape(2, 3, 4) % 5 // 2, cites=RETURNS)
case("rank5", X=np.arange(48).reshape(2, 3, 1, 4, 2) % 7 // 4, cites=RETURNS)
case("one_row", X=[[0, 1, 0, 2]], cites=RETURNS)
case("one_column", X=[[0], [1], [0], [2]], cites=RETURNS)
case("all", X=[[1, 2], [3, 4], [5, 6]], cites=RETURNS)
case("first", Tag.EDGE, X=[9, 0, 0], cites=RETURNS)
case("last", Tag.EDGE, X=[0, 0, 9], cites=RETURNS)
case("one_element", Tag.EDGE, X=[3], cites=RETURNS)
case("one_zero", Tag.EDGE, X=[0], cites=RETURNS)
case("only_zeros", Tag.EDGE, X=[[0, 0, 0], [0, 0, 0]], cites=RETURNS)
case("long", X=np.arange(200) * 7 % 3, cites=RETURNS)
for name, shape in {"nothing": (0,), "no_rows": (0, 3), "no_columns": (2, 0), "rank3": (2, 0, 3)}.items():
    case(f"zero_size_{name}", Tag.EDGE, X=ramp(*shape), cites=RETURNS)
case("scalar", Tag.EDGE, X=3, cites=SCALAR)
case("scalar_zero", Tag.EDGE, X=0, cites=SCALAR)
case("special", Tag.EDGE, X=[0.0, -0.0, np.nan, np.inf, -np.inf, 1], cites=LIKE_NUMPY)
TINY: dict[str, float] = {"float16": 2**-24, "float": 2**-149, "double": 2**-1074}
for type_, least in TINY.items():
    case(f"subnormal_{type_}", Tag.EDGE, X=typed(type_, [least, 0, -least]), cites=RETURNS)
case("subnormal_bfloat16", Tag.EDGE, X=typed("bfloat16", [2.0**-133, 0, -(2.0**-133)]), since=13, cites=RETURNS)
for type_ in (f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)):
    limits = np.iinfo(type_)
    ends = typed(type_, np.array([limits.min, 0, limits.max, limits.max // 2 + 1], type_))
    case(f"limits_{type_}", Tag.EDGE, X=ends, cites=RETURNS)
# The lower halves of these numbers are zero.
HIGH: dict[str, Any] = {"int64": [2**32, 0, 2**63 - 2**32], "uint64": np.array([2**32, 0, 2**63], np.uint64)}
for type_, numbers in HIGH.items():
    case(f"high_bits_{type_}", Tag.EDGE, X=typed(type_, numbers), cites=RETURNS)
case("imaginary", Tag.DTYPE, X=typed("complex64", [0, 1j, 1, 1 + 1j, -0.0]), cites=LIKE_NUMPY)
case("truths", Tag.DTYPE, X=typed("bool", [[True, False], [False, True], [True, True]]), cites=RETURNS)
case("dtypes", Tag.DTYPE, each="T", but=("string",), X=[[0, 1, 0], [1, 0, 1]], cites=(RETURNS, ALL_TYPES))
case("no_strings", Tag.DTYPE, X=typed("string", []), cites=ALL_TYPES)
case("strings", Tag.DTYPE, X=typed("string", ["", "a", "0"]), unspecified=RETURNS)
case("one_string", Tag.DTYPE, X=typed("string", ["a"]), unspecified=RETURNS)

for name, dims in {"vector": ("n",), "matrix": (7, "n"), "cube": (2, 5, "n")}.items():
    NON_ZERO.sized(
        name,
        grid(n=(1, 7, 16, 33, 64, 129, 1025, 4097)),
        each="T" if name == "matrix" else None,
        but="string",
        cites=RETURNS,
        arguments={"X": among([0, 0, 0, 1, 3], *dims)},
    )
NON_ZERO.sized("large", grid(n=(65_537,)), cites=RETURNS, arguments={"X": among([0, 1, 3], "n")})
