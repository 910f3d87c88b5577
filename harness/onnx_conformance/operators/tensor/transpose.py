# SPDX-License-Identifier: Apache-2.0
"""Transpose: put the axes of a tensor in another order.

    transposed = Transpose(data, perm=None)

Versions: 1, 13 (bfloat16), 21 (types; repeats the length of perm), 23 and 24 (types), 25 (types; repeats the range of
perm).
"""

from __future__ import annotations

from itertools import permutations

from onnx_conformance.declare import EXACT, Array, Ints, Op, Tag, Version, extremes, ramp, vary
from onnx_conformance.declare.sizes import filled, grid

TRANSPOSE = Op("Transpose", versions=(1, 13, 21, 23, 24, 25), compare=EXACT, rank="data", widens=False)
TRANSPOSE.example(data=ramp(2, 3, 4), perm=[2, 0, 1])

LIKE_NUMPY = TRANSPOSE.clause("Returns a transpose of the input tensor. (Similar to `numpy.transpose`).")
PERM = TRANSPOSE.clause("The optional attribute `perm` specifies the permutation of the axes of the input tensor.")
ONCE = TRANSPOSE.clause(
    "`perm` must contain each axis index in `[0, n-1]` exactly once, so its length is equal to the rank `n` of the "
    "input tensor.",
    note="No axis counts from the back, but onnx.reference accepts negative axes. A perm that is present and empty is "
    "not omitted: it fits only rank 0, but onnx.reference treats it as omitted.",
    see=("https://github.com/onnx/onnx/issues/5481", "https://github.com/onnx/onnx/pull/5857"),
)
CORRESPONDS = TRANSPOSE.clause(
    "Axis `i` of the output tensor corresponds to axis `perm[i]` of the input tensor.",
    note="The opposite mapping is wrong: the second example of the text distinguishes the two.",
    see=("https://github.com/onnx/onnx/issues/4611", "https://github.com/onnx/onnx/pull/8197"),
)
OMITTED = TRANSPOSE.clause(
    "If the attribute is omitted, its default value is `(n-1, ..., 0)`, where `n` is the rank of the input tensor "
    "(that is, the dimensions are reversed)."
)
EXAMPLE_SWAP = TRANSPOSE.clause(
    "For example, when perm=(1, 0, 2), given an input tensor of shape (1, 2, 3), the output shape will be (2, 1, 3)."
)
EXAMPLE_TURN = TRANSPOSE.clause(
    "When perm=(1, 2, 0), given an input tensor of shape (1, 2, 3), the output shape will be (2, 3, 1)."
)
LOW_RANK = TRANSPOSE.clause("A 0-D or 1-D input is valid; in those cases the output has the same shape as the input.")
BY_DEFAULT = TRANSPOSE.clause("A list of integers. By default, reverse the dimensions; otherwise").reworded(
    before=25, text="A list of integers. By default, reverse the dimensions, otherwise"
)
ACCORDING = TRANSPOSE.clause("otherwise permute the axes according to the values given.")
LENGTH = TRANSPOSE.clause("Its length must be equal to the rank of the input", since=21)
VALUES = TRANSPOSE.clause("and each value must be in the range `[0, rank-1]`.", since=25)
INPUT = TRANSPOSE.clause("An input tensor.")
OUTPUT = TRANSPOSE.clause("Transposed output.")


@TRANSPOSE.oracle()
def transposed(v: Version, data: Array, perm: Ints) -> Array:
    """Return `data` with axis perm[i] as axis i. perm is None if it is omitted."""
    rank = data.ndim
    order = list(range(rank))[::-1] if perm is None else list(perm)
    v.require(LENGTH if LENGTH.in_force(v.since) else ONCE, len(order) == rank)
    v.require(VALUES if VALUES.in_force(v.since) else ONCE, all(0 <= axis < rank for axis in order))
    v.require(ONCE, len(set(order)) == rank)
    return data.transpose(order)


case = TRANSPOSE.case

case("default", data=ramp(2, 3), cites=(LIKE_NUMPY, OMITTED, INPUT, OUTPUT))
case("default_rank3", data=ramp(2, 3, 4), before=25, cites=(OMITTED, BY_DEFAULT))
case("default_rank3_since_25", data=ramp(2, 3, 4), since=25, cites=(OMITTED, BY_DEFAULT))
case("default_rank5", data=ramp(2, 1, 3, 5, 2), cites=OMITTED)
case("default_scalar", Tag.EDGE, data=3, cites=LOW_RANK)
case("default_vector", Tag.EDGE, data=ramp(5), cites=LOW_RANK)
case("default_zero_size", Tag.EDGE, data=ramp(2, 0, 3), cites=OMITTED)
case("scalar_empty_perm", Tag.EDGE, data=3, perm=[], cites=(LOW_RANK, ONCE))
case("vector", Tag.EDGE, data=ramp(5), perm=[0], cites=LOW_RANK)
case("vector_zero_size", Tag.EDGE, data=ramp(0), perm=[0], cites=LOW_RANK)
case("example_swap", data=ramp(1, 2, 3), perm=[1, 0, 2], cites=EXAMPLE_SWAP)
case("example_turn", data=ramp(1, 2, 3), perm=[1, 2, 0], cites=(EXAMPLE_TURN, CORRESPONDS))
case("matrix", data=ramp(2, 3), perm=[1, 0], cites=PERM)
case("matrix_same", data=ramp(2, 3), perm=[0, 1], cites=(PERM, ACCORDING))
for order in permutations(range(3)):
    case(f"perm_{''.join(map(str, order))}", Tag.AXIS, data=ramp(2, 3, 4), perm=order, cites=CORRESPONDS)
for order in permutations(range(4)):
    # Runtimes have separate kernels for permutations that move one axis, or only the last ones.
    since = 1 if order in {(0, 3, 1, 2), (0, 2, 3, 1), (3, 0, 2, 1), (1, 3, 0, 2)} else 25
    name = f"perm_{''.join(map(str, order))}"
    case(name, Tag.AXIS, data=ramp(2, 3, 4, 5), perm=order, since=since, cites=CORRESPONDS)
case("perm_of_five", data=ramp(2, 3, 1, 4, 2), perm=[3, 0, 4, 1, 2], cites=CORRESPONDS)
case("perm_of_seven", data=ramp(2, 1, 3, 1, 2, 1, 2), perm=[6, 4, 5, 0, 2, 1, 3], cites=CORRESPONDS)
case("only_ones_move", Tag.EDGE, data=ramp(1, 3, 1, 4), perm=[1, 0, 3, 2], cites=CORRESPONDS)
case("all_ones", Tag.EDGE, data=ramp(1, 1, 1), perm=[2, 0, 1], cites=CORRESPONDS)
# After whole blocks of four, eight and sixteen, a remainder is left over in both dimensions.
case("blocks_and_tail", data=ramp(19, 17), perm=[1, 0], cites=CORRESPONDS)
case("blocks_and_tail_rank3", data=ramp(2, 9, 17), perm=[0, 2, 1], cites=CORRESPONDS)
for place in range(3):
    shape = [2, 3, 4]
    shape[place] = 0
    case(f"zero_size_{place}", Tag.EDGE, data=ramp(*shape), perm=[1, 2, 0], cites=CORRESPONDS)

OTHER_LENGTH = vary(short=[1, 0], long=[1, 0, 2, 3], empty=[])
case("too", data=ramp(2, 3, 4), perm=OTHER_LENGTH, rejects=LENGTH)
case("length_before_21", data=ramp(2, 3, 4), perm=OTHER_LENGTH, before=21, rejects=ONCE)
NO_AXIS = vary(high=[0, 3, 1], low=[0, -4, 1], negative=[0, -1, 1], all_negative=[-1, -2, -3])
case("axis", Tag.AXIS, data=ramp(2, 3, 4), perm=NO_AXIS, rejects=VALUES)
case("axis_before_25", Tag.AXIS, data=ramp(2, 3, 4), perm=NO_AXIS, before=25, rejects=ONCE)
case("scalar_axis_before_21", Tag.EDGE, data=3, perm=[0], before=21, rejects=ONCE)
case("scalar_axis", Tag.EDGE, data=3, perm=[0], rejects=LENGTH)
case("vector_axis_before_25", Tag.EDGE, data=ramp(5), perm=[1], before=25, rejects=ONCE)
case("vector_axis", Tag.EDGE, data=ramp(5), perm=[1], rejects=VALUES)
case("twice", data=ramp(2, 3, 4), perm=[0, 1, 1], rejects=ONCE)
case("twice_equal_dimensions", Tag.EDGE, data=ramp(2, 2), perm=[0, 0], rejects=ONCE)

case("extremes", Tag.DTYPE, Tag.EDGE, each="T", data=extremes(2, 3, 5), perm=[2, 0, 1], cites=CORRESPONDS)

for order in [*permutations(range(3))][1:]:
    TRANSPOSE.sized(
        f"axes_{''.join(map(str, order))}",
        [{"a": 7, "b": 16, "c": 33}, {"a": 3, "b": 65, "c": 64}, {"a": 32, "b": 8, "c": 5}],
        cites=CORRESPONDS,
        arguments={"data": filled("a", "b", "c"), "perm": order},
    )
for order in [*permutations(range(4))][1:]:
    TRANSPOSE.sized(
        f"axes_{''.join(map(str, order))}",
        grid(a=(3,), b=(16,), c=(9,), d=(32,)),
        cites=CORRESPONDS,
        arguments={"data": filled("a", "b", "c", "d"), "perm": order},
    )
for name, order in {
    "groups_of_channels": (0, 2, 1, 3, 4),
    "planes_of_volumes": (0, 2, 3, 4, 1),
    "reversed_volumes": (4, 3, 2, 1, 0),
    "videos": (0, 2, 3, 1, 4),
    "rows_before_batch": (3, 0, 1, 2, 4),
}.items():
    TRANSPOSE.sized(
        name,
        [{"a": 2, "b": 5, "c": 8, "d": 7, "e": 16}, {"a": 3, "b": 16, "c": 4, "d": 9, "e": 17}],
        cites=CORRESPONDS,
        arguments={"data": filled("a", "b", "c", "d", "e"), "perm": order},
    )
for name, order in {
    "windows": (0, 1, 3, 2, 4, 5),
    "into_blocks": (0, 3, 4, 1, 5, 2),
    "into_depth": (0, 1, 3, 5, 2, 4),
    "reversed_windows": (5, 4, 3, 2, 1, 0),
    "turned_windows": (2, 4, 0, 5, 1, 3),
}.items():
    TRANSPOSE.sized(
        name,
        [{"a": 2, "b": 3, "c": 8, "d": 4, "e": 7, "f": 16}],
        cites=CORRESPONDS,
        arguments={"data": filled("a", "b", "c", "d", "e", "f"), "perm": order},
    )
TRANSPOSE.sized(
    "matrix",
    grid(m=(3, 16, 129), n=(4, 17, 64, 257)),
    each="T",
    cites=(OMITTED, CORRESPONDS),
    arguments={"data": filled("m", "n")},
)
TRANSPOSE.sized(
    "heads",
    grid(b=(2,), s=(7, 33), h=(4, 12), d=(8, 64)),
    each="T",
    cites=CORRESPONDS,
    arguments={"data": filled("b", "s", "h", "d"), "perm": [0, 2, 1, 3]},
)
TRANSPOSE.sized(
    "channels_last",
    grid(b=(2,), c=(3, 17), h=(7,), w=(9, 32)),
    each="T",
    cites=CORRESPONDS,
    arguments={"data": filled("b", "c", "h", "w"), "perm": [0, 2, 3, 1]},
)
TRANSPOSE.sized(
    "channels_first",
    grid(b=(2,), h=(7,), w=(9, 32), c=(3, 17)),
    cites=CORRESPONDS,
    arguments={"data": filled("b", "h", "w", "c"), "perm": [0, 3, 1, 2]},
)
TRANSPOSE.sized("large", grid(m=(257,), n=(513,)), cites=(OMITTED, CORRESPONDS), arguments={"data": filled("m", "n")})
TRANSPOSE.sized(
    "large_heads",
    grid(b=(2,), s=(129,), h=(12,), d=(64,)),
    cites=CORRESPONDS,
    arguments={"data": filled("b", "s", "h", "d"), "perm": [0, 2, 1, 3]},
)
