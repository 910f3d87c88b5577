# SPDX-License-Identifier: Apache-2.0
"""TopK: the largest or smallest elements along an axis, and their indices.

    Values, Indices = TopK(X, K, axis=-1, largest=1, sorted=1)
    Values, Indices = TopK(X, K, axis=-1)    # version 10
    Values, Indices = TopK(X, k, axis=-1)    # version 1

Versions: 1 (k as attribute), 10 (as input), 11 (smallest, unsorted, negative axes, integers), 24 (bfloat16).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import (
    EXACT,
    AnyOrder,
    Array,
    Clause,
    Op,
    Tag,
    Version,
    axes,
    axes_outside,
    ramp,
    typed,
    vary,
)
from onnx_conformance.declare.sizes import Dims, among, filled

Pair = tuple[Array, Array]

TOP_K = Op("TopK", versions=(1, 10, 11, 24), compare=EXACT, rank="X")
TOP_K.example(X=[[3, 9, 1, 7], [8, 2, 6, 0], [10, 5, 12, 11]], k=2, K=[2], axis=0, largest=1, sorted=1, n=2)

RETRIEVE = TOP_K.clause(
    "Retrieve the top-K elements along a specified axis.",
    before=11,
    note="It is not possible to retrieve more elements than there are. The words top and sort imply that the largest "
    "comes first. The text does not define the position of NaN in the order.",
    see=("https://github.com/onnx/onnx/issues/4716", "https://github.com/onnx/onnx/pull/7754"),
)
LARGEST_SMALLEST = TOP_K.clause(
    "Retrieve the top-K largest or smallest elements along a specified axis.",
    since=11,
    note="It is not possible to retrieve more elements than there are. The text does not define the position of NaN in "
    "the order.",
    see=("https://github.com/onnx/onnx/issues/4716", "https://github.com/onnx/onnx/pull/7754"),
)
VALUES = TOP_K.clause("contains the values of the top k elements along the specified axis")
INDICES = TOP_K.clause("contains the indices of the top k elements (original indices from the input tensor).")
TIEBREAKER = TOP_K.clause("this operator uses the indices along the axis as a tiebreaker.")
TIE = TOP_K.clause(
    "That is, the element with the lower index will appear first.",
    note="This applies to the largest and to the smallest elements. +0 and -0 are equivalent, and each keeps its sign.",
)
NUMBER = TOP_K.clause(
    "Number of top elements to retrieve", before=10, note="The text does not define 0. A negative number is not valid."
)
POSITIVE = TOP_K.clause(
    "A 1-D tensor containing a single positive value corresponding to the number of top elements to retrieve",
    since=10,
    note="0 is not positive. onnxruntime accepts it and returns no elements.",
)
WHICH_AXIS = TOP_K.clause(
    "Dimension on which to do the sort.",
    note="The default of -1 can only mean the last dimension. Before version 11 the text does not define other "
    "negative axes.",
)
BACK = TOP_K.clause("Negative value means counting dimensions from the back.", since=11)
RANGE = TOP_K.clause("Accepted range is [-r, r-1] where r = rank(input).", since=11)
LARGEST = TOP_K.clause('If "largest" is 1 (the default value) then the k largest elements are returned.', since=11)
OR_SMALLEST = TOP_K.clause(
    "Whether to return the top-K largest or smallest elements.",
    since=11,
    note="The text does not define values other than 0 and 1.",
)
SORTED = TOP_K.clause(
    'If "sorted" is 1 (the default value) then the resulting k elements will be sorted.',
    since=11,
    note="The order follows the selection: the largest elements in descending order, the smallest in ascending order.",
)
UNDEFINED = TOP_K.clause(
    "If \"sorted\" is 0, order of returned 'Values' and 'Indices' are undefined.",
    since=11,
    note="Only the order is undefined. The selected elements are the largest or smallest, and among equal elements "
    "those with the lowest indices. Each value keeps its index. The order may differ from lane to lane.",
)
WHETHER_SORTED = TOP_K.clause(
    "Whether to return the elements in sorted order.",
    since=11,
    note="The text does not define values other than 0 and 1.",
)
INDEX_TYPE = TOP_K.clause("Constrain index tensor to int64")


def _top(v: Version, retrieve: Clause, X: Array, k: int, axis: int, *, largest: bool) -> tuple[Array, Array]:
    """Return values and indices of the first k. Among equal elements, the lower index goes first."""
    v.require(retrieve, k <= X.shape[axis])
    v.ordered(retrieve, X)
    smaller = np.unique(X, return_inverse=True)[1].reshape(X.shape)  # The number of smaller values.
    order = np.argsort(-smaller if largest else smaller, axis, kind="stable")
    indices = np.take(order, range(k), axis)
    return np.take_along_axis(X, indices, axis), indices


def _require_axis_before_11(v: Version, X: Array, axis: int) -> None:
    v.permit(BACK, axis < -1)
    v.require(WHICH_AXIS, -X.ndim <= axis < X.ndim)


@TOP_K.oracle(before=10)
def top_before_10(v: Version, X: Array, k: int, axis: int) -> tuple[Array, Array]:
    """Return values and indices of the k largest. k is an attribute."""
    _require_axis_before_11(v, X, axis)
    v.require(NUMBER, k >= 0)
    v.silent(NUMBER, k == 0)
    return _top(v, RETRIEVE, X, k, axis, largest=True)


@TOP_K.oracle(since=10, before=11)
def top_since_10(v: Version, X: Array, K: Array, axis: int) -> tuple[Array, Array]:
    """Return values and indices of the k largest. k is an input."""
    _require_axis_before_11(v, X, axis)
    v.require(POSITIVE, K.shape == (1,) and K.item() > 0)
    return _top(v, RETRIEVE, X, K.item(), axis, largest=True)


@TOP_K.oracle(since=11)
def top_since_11(v: Version, X: Array, K: Array, axis: int, largest: int, sorted: int) -> Pair | AnyOrder:
    """Return values and indices of the k largest or smallest, in any order unless `sorted`."""
    v.require(RANGE, -X.ndim <= axis < X.ndim)
    v.require(POSITIVE, K.shape == (1,) and K.item() > 0)
    v.silent(OR_SMALLEST, largest not in {0, 1})
    v.silent(WHETHER_SORTED, sorted not in {0, 1})
    values_indices = _top(v, LARGEST_SMALLEST, X, K.item(), axis, largest=largest == 1)
    return values_indices if sorted else AnyOrder(*values_indices, axis=axis, lanewise=True)


case = TOP_K.case


def in_every_version(name: str, *tags: Tag, k: int, **words: Any) -> None:  # noqa: ANN401 - every argument of a case
    """Declare a case with k as the input, and one with k as the attribute of version 1."""
    case(name, *tags, K=[k], **words)
    case(f"{name}_before_10", *tags, k=k, **words)


MIXED = [[3, 9, 1, 7, 5], [8, 2, 6, 0, 4], [10, 14, 12, 11, 13]]
CUBE = (np.arange(60) * 23 % 60).reshape(3, 4, 5)
"""All elements are different. They are in no order along any axis."""

in_every_version("rows", X=MIXED, k=3, cites=(VALUES, INDICES, INDEX_TYPE))
in_every_version("columns", X=MIXED, k=2, axis=0, cites=(VALUES, INDICES))
in_every_version("retrieve", X=MIXED, k=2, axis=1, cites=(RETRIEVE, WHICH_AXIS))
in_every_version("one", Tag.EDGE, X=MIXED, k=1, cites=VALUES)
in_every_version("all", Tag.EDGE, X=MIXED, k=5, cites=VALUES)
in_every_version("all_columns", Tag.EDGE, X=MIXED, k=3, axis=0, cites=VALUES)
in_every_version("default_last", Tag.AXIS, X=CUBE, k=2, cites=WHICH_AXIS)
in_every_version("vector", X=[4, 8, 6], k=2, cites=VALUES)
in_every_version("one_element", Tag.EDGE, X=[7], k=1, cites=VALUES)
in_every_version("size_one", Tag.EDGE, X=[[7], [3]], k=1, cites=VALUES)
in_every_version("descending", X=[9, 7, 5, 3], k=4, cites=INDICES)
in_every_version("ascending", X=[3, 5, 7, 9], k=4, cites=INDICES)
in_every_version("long", X=np.arange(300) * 7 % 300, k=40, cites=VALUES)
in_every_version("other_zero_size", Tag.EDGE, X=ramp(0, 3), k=2, cites=VALUES)
in_every_version("inner_zero_size", Tag.EDGE, X=ramp(2, 3, 0), k=2, axis=1, cites=VALUES)
in_every_version("ties", Tag.EDGE, X=[2, 5, 5, 1, 5, 2], k=5, cites=(TIE, TIEBREAKER))
in_every_version("ties_all", Tag.EDGE, X=[[4, 4, 4, 4], [0, 0, 0, 0]], k=3, cites=TIE)
in_every_version("ties_at_the_end", Tag.EDGE, X=[1, 3, 3, 3, 9], k=2, cites=TIE)
in_every_version("ties_columns", Tag.EDGE, X=[[1, 2], [3, 2], [3, 1], [3, 2]], k=2, axis=0, cites=TIE)
in_every_version("ties_long", Tag.EDGE, X=np.arange(200) * 7 % 5, k=90, cites=TIE)
in_every_version("infinities", Tag.EDGE, X=[0, -np.inf, np.inf, 3e38, -3e38, np.inf], k=6, cites=VALUES)
in_every_version("two_zeros", Tag.EDGE, X=[-0.0, 0.0, -1, -0.0], k=3, cites=TIE)
in_every_version("subnormals", Tag.EDGE, X=[1e-45, 0, 3e-45, -1e-45, 1e-40], k=4, cites=VALUES)
case("nan_before_10", Tag.EDGE, X=[1, np.nan, 3], k=2, unspecified=RETRIEVE)
case("nan_before_11", Tag.EDGE, X=[1, np.nan, 3], K=[2], before=11, unspecified=RETRIEVE)
case("nan_since_11", Tag.EDGE, X=[1, np.nan, 3], K=[2], since=11, unspecified=LARGEST_SMALLEST)
case("smallest_nan", Tag.EDGE, X=[1, np.nan, 3], K=[2], largest=0, unspecified=LARGEST_SMALLEST)

ORDERS: dict[str, tuple[dict[str, Any], Clause]] = {
    "largest": ({"largest": 1}, LARGEST),
    "smallest": ({"largest": 0}, OR_SMALLEST),
    "sorted": ({"sorted": 1}, SORTED),
    "smallest_sorted": ({"largest": 0, "sorted": 1}, WHETHER_SORTED),
}
for name, (order, clause) in ORDERS.items():
    case(name, Tag.CHANGE, X=MIXED, K=[3], **order, cites=(clause, LARGEST_SMALLEST))
    case(f"{name}_columns", Tag.AXIS, X=CUBE, K=[3], axis=1, **order, cites=(clause, SORTED))
    case(f"{name}_ties", Tag.EDGE, X=[2, 5, 5, 1, 5, 2, 1], K=[6], **order, cites=(clause, TIE))
    case(f"{name}_two_zeros", Tag.EDGE, X=[-0.0, 0.0, 0.0, -0.0], K=[3], **order, cites=(clause, TIE))
    case(f"{name}_infinities", Tag.EDGE, X=[0, np.inf, -np.inf, np.inf], K=[4], **order, cites=clause)
case("unsorted_one", Tag.EDGE, X=MIXED, K=[1], sorted=0, cites=UNDEFINED)
case("unsorted_smallest_one", Tag.EDGE, X=MIXED, K=[1], sorted=0, largest=0, cites=UNDEFINED)
case("unsorted_ties_one", Tag.EDGE, X=[2, 5, 5], K=[1], sorted=0, cites=TIE)
case("unsorted", Tag.CHANGE, X=MIXED, K=[3], sorted=0, cites=UNDEFINED)
case("unsorted_smallest", Tag.CHANGE, X=MIXED, K=[2], sorted=0, largest=0, cites=UNDEFINED)
case("unsorted_all", Tag.EDGE, X=MIXED, K=[5], sorted=0, cites=UNDEFINED)
case("unsorted_columns", Tag.AXIS, X=CUBE, K=[3], axis=vary(front=1, back=-2), sorted=0, cites=UNDEFINED)
case("unsorted_ties", Tag.EDGE, X=[2, 5, 5, 1, 5, 2, 1], K=[4], sorted=0, cites=(UNDEFINED, TIE))
case("unsorted_ties_at_the_end", Tag.EDGE, X=[1, 3, 3, 3, 9], K=[2], sorted=0, cites=TIE)
case("unsorted_smallest_ties", Tag.EDGE, X=[4, 3, 3, 3, 9], K=[2], sorted=0, largest=0, cites=TIE)
case("unsorted_long", X=np.arange(300) * 7 % 300, K=[40], sorted=0, cites=UNDEFINED)
case("sorted_two", Tag.EDGE, X=MIXED, K=[3], sorted=2, unspecified=WHETHER_SORTED)
case("largest_two", Tag.EDGE, X=MIXED, K=[3], largest=2, unspecified=OR_SMALLEST)

case("k_zero_before_10", Tag.EDGE, X=MIXED, k=0, unspecified=NUMBER)
case("k_negative_before_10", Tag.EDGE, X=MIXED, k=-1, rejects=NUMBER)
NOT_ONE_POSITIVE = vary(zero=[0], negative=[-1], scalar=2, two=[2, 1], none=[], matrix=[[2]])
case("k", Tag.EDGE, X=MIXED, K=NOT_ONE_POSITIVE, rejects=POSITIVE)
FEWER = vary(too_high=MIXED, of_zero_size=ramp(2, 0))
case("k_before_10", Tag.EDGE, X=FEWER, k=6, rejects=RETRIEVE)
case("k_before_11", Tag.EDGE, X=FEWER, K=[6], before=11, rejects=RETRIEVE)
case("k_since_11", Tag.EDGE, X=FEWER, K=[6], since=11, rejects=LARGEST_SMALLEST)

case("dtypes_smallest", Tag.DTYPE, each="T", X=CUBE, axis=1, K=[2], largest=0, cites=OR_SMALLEST)
for type_ in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
    limits = np.iinfo(type_)
    low, high = int(limits.min), int(limits.max)
    ends = typed(type_, np.array([high - 1, low, high, low + 1, high], type_))
    case(f"limits_{type_}", Tag.EDGE, X=ends, K=[4], since=11, cites=VALUES)
    case(f"limits_smallest_{type_}", Tag.EDGE, X=ends, K=[4], largest=0, cites=VALUES)

for name, shape, axis in axes():
    size = np.prod(shape)
    turned = (np.arange(size) * 7 % size).reshape(shape)
    if axis < -1:
        case(name, Tag.AXIS, X=turned, K=[2], axis=axis, cites=(BACK, RANGE))
    else:
        in_every_version(name, Tag.AXIS, X=turned, k=2, axis=axis, cites=WHICH_AXIS)
for name, shape, axis in axes_outside():
    case(name, Tag.AXIS, X=ramp(*shape), K=[1], axis=axis, rejects=RANGE)
NEGATIVE = vary(from_back=-2, too_low=-3)
case("axis_before_10", Tag.AXIS, X=MIXED, k=2, axis=NEGATIVE, unspecified=BACK)
case("axis_before_11", Tag.AXIS, X=MIXED, K=[2], axis=NEGATIVE, before=11, unspecified=BACK)
case("axis_too_high_before_10", Tag.AXIS, X=MIXED, k=2, axis=2, rejects=WHICH_AXIS)
case("axis_too_high_before_11", Tag.AXIS, X=MIXED, K=[2], axis=2, before=11, rejects=WHICH_AXIS)
case("rank0_before_10", Tag.EDGE, X=ramp(), k=1, rejects=WHICH_AXIS)
case("rank0_before_11", Tag.EDGE, X=ramp(), K=[1], before=11, rejects=WHICH_AXIS)

FIRST_OF: dict[str, tuple[Dims, int, list[dict[str, int]]]] = {
    "vector": (
        ("n",),
        0,
        [
            {"n": n, "k": k}
            for n, k in ((7, 1), (64, 5), (1000, 5), (1025, 33), (4097, 1000), (4097, 4097), (65_537, 100))
        ],
    ),
    "last": (
        ("m", "n"),
        -1,
        [{"m": 7, "n": n, "k": k} for n, k in ((9, 1), (33, 4), (129, 16), (1000, 50), (1025, 1025))],
    ),
    "first": (("n", "m"), 0, [{"n": n, "m": 16, "k": k} for n, k in ((9, 1), (33, 4), (129, 16), (1000, 50))]),
    "middle": (("b", "n", "m"), 1, [{"b": 3, "n": n, "m": 5, "k": k} for n, k in ((9, 1), (33, 16), (129, 129))]),
}
"""The dimensions of the input, the axis, and the sizes."""
for name, (dims, axis, sizes) in FIRST_OF.items():
    for kind, values, largest in (
        ("largest", filled(*dims), 1),
        ("smallest", filled(*dims), 0),
        ("ties", among(range(1, 9), *dims), 1),
        ("smallest_ties", among(range(1, 9), *dims), 0),
    ):
        TOP_K.sized(
            f"{name}_{kind}",
            sizes[:: 1 if kind in {"largest", "ties"} else 2],
            n=2,
            each="T" if (name, kind) in {("last", "largest"), ("vector", "ties")} else None,
            cites=(LARGEST_SMALLEST, VALUES, TIEBREAKER),
            arguments={"X": values, "K": lambda sizes: [sizes["k"]], "axis": axis, "largest": largest},
        )
    TOP_K.sized(
        f"{name}_unsorted",
        sizes[::2],
        n=2,
        cites=UNDEFINED,
        arguments={"X": filled(*dims), "K": lambda sizes: [sizes["k"]], "axis": axis, "sorted": 0},
    )
