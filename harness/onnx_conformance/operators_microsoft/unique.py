# SPDX-License-Identifier: Apache-2.0
"""Unique: the different elements of a vector, in the order in which they first occur.

    y, idx, counts = Unique(x)

Versions: 1.
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, extremes, ramp, typed, vary
from onnx_conformance.declare.sizes import among, filled, grid

UNIQUE = Op("Unique", versions=(1,), compare=EXACT, domain="com.microsoft", rank=lambda _: 1, widens=False)
UNIQUE.example(x=[2, 1, 1, 3, 4, 3], n=3)

FINDS = UNIQUE.clause("Finds all the unique values (deduped list) present in the given input tensor.")
THREE = UNIQUE.clause("This operator returns 3 outputs.")
UNIQUES = UNIQUE.clause(
    "The first output tensor 'uniques' contains all of the unique elements of the input, sorted in the same order that "
    "they occur in the input.",
    note="An element that occurs again has the place of its first occurrence, as the example shows. The text does not "
    "define whether several NaN are one value, or whether -0 and +0 are one value.",
)
INDICES = UNIQUE.clause(
    "The second output tensor 'idx' is the same size as the input and it contains the index of each value of the input "
    "in 'uniques'."
)
COUNTS = UNIQUE.clause("The third output tensor 'counts' contains the count of each element of 'uniques' in the input.")
EXAMPLE = UNIQUE.clause(
    "input_x = [2, 1, 1, 3, 4, 3] output_uniques = [2, 1, 3, 4] output_idx = [0, 1, 1, 2, 3, 2] output_counts = [1, 2, "
    "2, 1]"
)
ONE_D = UNIQUE.clause("A 1-D input tensor that is to be processed.")
SAME_TYPE = UNIQUE.clause("A 1-D tensor of the same type as 'x' containing all the unique values in 'x'")
OF_INDICES = UNIQUE.clause(
    "A 1-D INT64 tensor of the same size as 'x' containing the indices for each value in 'x' in the output 'uniques'"
)
OF_COUNTS = UNIQUE.clause("A 1-D INT64 tensor containing the the count of each element of 'uniques' in the input 'x'")
ANY_TYPE = UNIQUE.clause("Input can be of any tensor type.")


def _has_both_zeros(part: Array) -> bool:
    """Return whether both -0 and +0 occur."""
    signs = np.signbit(part[part == 0])
    return bool(signs.any()) and not signs.all()


@UNIQUE.oracle()
def unique(v: Version, x: Array) -> tuple[Array, Array, Array]:
    """Return the different elements, the place of each element among them, and how often each occurs."""
    v.require(ONE_D, x.ndim == 1)
    if x.dtype.kind in "fc":
        v.ordered(UNIQUES, x)
        v.silent(UNIQUES, _has_both_zeros(x.real) or _has_both_zeros(x.imag))
    elements = x.tolist()
    different = list(dict.fromkeys(elements))
    place = {item: index for index, item in enumerate(different)}
    indices = np.array([place[item] for item in elements], np.int64)
    firsts = [elements.index(item) for item in different]
    return x[np.array(firsts, np.int64)], indices, np.bincount(indices)


case = UNIQUE.case
case("example", x=[2, 1, 1, 3, 4, 3], n=3, cites=(EXAMPLE, THREE, UNIQUES, INDICES, COUNTS))
case("not_sorted", x=[7, -2, 7, 0, -2, 7, 3], n=3, cites=(FINDS, UNIQUES))
case("cycle", x=[30, 10, 20, 30, 10], n=3, cites=(INDICES, OF_INDICES))
case("all_equal", Tag.EDGE, x=[4, 4, 4, 4], n=3, cites=(COUNTS, OF_COUNTS))
case("all_different", Tag.EDGE, x=[4, 1, 3, 2, 0], n=3, cites=(COUNTS, SAME_TYPE))
case("one", Tag.EDGE, x=[3], n=3, cites=UNIQUES)
case("empty", Tag.EDGE, x=ramp(0), n=3, cites=(UNIQUES, INDICES))
case("infinities", Tag.EDGE, x=[np.inf, 0, -np.inf, np.inf, -1], n=3, cites=UNIQUES)
case("negative_zeros", Tag.EDGE, x=[-0.0, 1, -0.0], n=3, cites=UNIQUES)
case("near_neighbours", Tag.EDGE, x=typed("float", [1, np.nextafter(np.float32(1), np.float32(2)), 1]), n=3)
case("subnormals", Tag.EDGE, x=typed("float", [1e-45, 0, -1e-45, 1e-45]), n=3, cites=UNIQUES)
case("int64_neighbours", Tag.EDGE, x=typed("int64", [2**53 + 1, 2**53, 2**53 + 1]), n=3, cites=UNIQUES)
case("uint64_neighbours", Tag.EDGE, x=typed("uint64", [2**63 + 1, 2**63, 2**63 + 1]), n=3, cites=UNIQUES)
case("strings", Tag.DTYPE, x=typed("string", ["b", "a", "", "ab", "b", "aa", "B"]), n=3, cites=UNIQUES)
case("odd_strings", Tag.EDGE, x=typed("string", extremes(10)), n=3, cites=UNIQUES)
case("complex_parts", Tag.DTYPE, x=typed("complex64", [1 + 1j, 1 + 2j, 2 + 1j, 1 + 1j]), n=3, cites=UNIQUES)
case("dtypes", Tag.DTYPE, each="T", x=[1, 0, 0, 1, 1], n=3, cites=(ANY_TYPE, UNIQUES, INDICES, COUNTS))
for bits in (8, 16, 32, 64):
    for type_ in (f"int{bits}", f"uint{bits}"):
        case(f"limits_{type_}", Tag.EDGE, x=typed(type_, extremes(9)), n=3, cites=UNIQUES)
case("nan", Tag.EDGE, x=[1, np.nan, 2, np.nan], n=3, unspecified=UNIQUES)
case("nan_once", Tag.EDGE, x=[1, np.nan, 2], n=3, unspecified=UNIQUES)
case("two_zeros", Tag.EDGE, x=[0.0, -0.0, 1], n=3, unspecified=UNIQUES)
ZEROS = {"real": [complex(0.0, 1), complex(-0.0, 1)], "imaginary": [complex(1, 0.0), complex(1, -0.0)]}
for name, numbers in ZEROS.items():
    case(f"two_zeros_{name}", Tag.EDGE, x=typed("complex64", np.array(numbers)), n=3, unspecified=UNIQUES)
case("rank", Tag.EDGE, x=vary(scalar=3, matrix=ramp(2, 3), row=ramp(1, 3)), n=3, rejects=ONE_D)

UNIQUE.sized(
    "vector",
    grid(n=(7, 16, 65, 1025, 4097)),
    n=3,
    each="T",
    cites=(UNIQUES, INDICES, COUNTS),
    arguments={"x": among(range(1, 40), "n")},
)
UNIQUE.sized("all_different", grid(n=(64, 1025)), n=3, cites=UNIQUES, arguments={"x": filled("n")})
UNIQUE.sized("large", grid(n=(65_537,)), n=3, cites=(UNIQUES, COUNTS), arguments={"x": among(range(1000), "n")})
