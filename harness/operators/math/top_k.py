"""TopK: the largest or smallest elements along an axis, and where they stood.

Versions: 1 (k as attribute), 10 (as input), 11 (smallest, unsorted, negative axes, integers), 24 (bfloat16).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.declare import EXACT, Array, Int, Op, Rule, Tag, Version, axes, axes_outside, ramp, typed

TOP_K = Op("TopK", versions=(1, 10, 11, 24), compare=EXACT, rank="X")

RETRIEVE = TOP_K.clause(
    "Retrieve the top-K elements along a specified axis.",
    before=11,
    note="More elements than there are cannot be retrieved. That the largest comes first follows from top and sort. "
    "Says not where NaN stands in the order.",
)
LARGEST_SMALLEST = TOP_K.clause(
    "Retrieve the top-K largest or smallest elements along a specified axis.",
    since=11,
    note="More elements than there are cannot be retrieved. Says not where NaN stands in the order.",
)
VALUES = TOP_K.clause("contains the values of the top k elements along the specified axis")
INDICES = TOP_K.clause("contains the indices of the top k elements (original indices from the input tensor).")
TIE_OLD = TOP_K.clause("this operator uses the indices along the axis as a tiebreaker.")
TIE = TOP_K.clause(
    "That is, the element with the lower index will appear first.",
    note="Of the largest as of the smallest; +0 and -0 are equivalent, and each keeps its sign.",
)
NUMBER = TOP_K.clause("Number of top elements to retrieve", before=10, note="Says nothing of 0; below it is no number.")
POSITIVE = TOP_K.clause(
    "A 1-D tensor containing a single positive value corresponding to the number of top elements to retrieve",
    since=10,
    note="0 is not positive. onnxruntime takes it and answers with no elements.",
)
WHICH_AXIS = TOP_K.clause(
    "Dimension on which to do the sort.",
    note="The default of -1 can only be the last dimension; before version 11 no other axis below 0 is spoken of.",
)
BACK = TOP_K.clause("Negative value means counting dimensions from the back.", since=11)
RANGE = TOP_K.clause("Accepted range is [-r, r-1] where r = rank(input).", since=11)
LARGEST = TOP_K.clause('If "largest" is 1 (the default value) then the k largest elements are returned.', since=11)
OR_SMALLEST = TOP_K.clause(
    "Whether to return the top-K largest or smallest elements.", since=11, note="Says nothing beside 0 and 1."
)
SORTED = TOP_K.clause(
    'If "sorted" is 1 (the default value) then the resulting k elements will be sorted.',
    since=11,
    note="As they are chosen: the largest from the largest down, the smallest from the smallest up.",
)
UNDEFINED = TOP_K.clause(
    "If \"sorted\" is 0, order of returned 'Values' and 'Indices' are undefined.",
    since=11,
    note="A single element has but one order.",
)
WHETHER_SORTED = TOP_K.clause(
    "Whether to return the elements in sorted order.", since=11, note="Says nothing beside 0 and 1."
)
FLOATS = TOP_K.clause("Constrain input and output types to float tensors.", before=11)
NUMERIC = TOP_K.clause("Constrain input and output types to numeric tensors.", since=11)
INDEX_TYPE = TOP_K.clause("Constrain index tensor to int64")


def _axis(v: Version, X: Array, axis: int) -> int:  # noqa: N803 - the text's own name
    v.permit(BACK, axis < -1)
    v.require(RANGE if RANGE.in_force(v.since) else WHICH_AXIS, -X.ndim <= axis < X.ndim)
    return axis % X.ndim


def _top(v: Version, X: Array, count: int, axis: int, *, largest: bool) -> tuple[Array, Array]:  # noqa: N803
    """Return the first `count` of the order in which the lower index goes first among equals."""
    retrieve = RETRIEVE if RETRIEVE.in_force(v.since) else LARGEST_SMALLEST
    v.require(retrieve, count <= X.shape[axis])
    v.silent(retrieve, X.dtype.kind == "f" and bool(np.isnan(X).any()))
    place = np.unique(X, return_inverse=True)[1].reshape(X.shape)  # How many smaller values there are.
    order = np.argsort(-place if largest else place, axis, kind="stable")
    indices = np.take(order, range(count), axis)
    return np.take_along_axis(X, indices, axis), indices


@TOP_K.oracle(before=10)
def by_attribute(v: Version, X: Array, k: int, axis: int) -> tuple[Array, Array]:  # noqa: N803 - the text's own name
    """Return values and indices of the k largest, k an attribute."""
    at = _axis(v, X, axis)
    v.silent(NUMBER, k == 0)
    v.require(NUMBER, k > 0)
    return _top(v, X, k, at, largest=True)


@TOP_K.oracle(since=10)
def by_input(v: Version, X: Array, K: Array, axis: int, largest: Int, sorted: Int) -> tuple[Array, Array]:  # noqa: A002, N803
    """Return values and indices of the k largest or smallest; both are None before version 11."""
    at = _axis(v, X, axis)
    v.require(POSITIVE, K.shape == (1,) and int(K[0]) > 0)
    count = int(K[0])
    v.silent(OR_SMALLEST, largest not in {None, 0, 1})
    v.silent(WHETHER_SORTED, sorted not in {None, 0, 1})
    result = _top(v, X, count, at, largest=largest != 0)
    v.silent(UNDEFINED, sorted == 0 and count > 1)
    return result


def case(name: str, *tags: Tag, k: int, **declared: Any) -> None:  # noqa: ANN401 - whatever a case takes
    """Declare a case twice: with k as the input, and as the attribute of version 1 where that has the rest of it."""
    TOP_K.case(name, *tags, K=[k], **declared)
    clauses = (*declared.get("cites", ()), declared.get("rejects", RETRIEVE), declared.get("unspecified", RETRIEVE))
    if not {"largest", "sorted", "since"} & set(declared) and all(clause.in_force(1) for clause in clauses):
        TOP_K.case(f"{name}_attribute", *tags, k=k, **declared)


MIXED = [[3, 9, 1, 7, 5], [8, 2, 6, 0, 4], [10, 14, 12, 11, 13]]
CUBE = (np.arange(60) * 23 % 60).reshape(3, 4, 5)
"""All different, in no order along any axis."""

case("rows", X=MIXED, k=3, cites=(VALUES, INDICES))
case("columns", X=MIXED, k=2, axis=0, cites=(VALUES, INDICES))
case("retrieve", X=MIXED, k=2, axis=1, cites=(RETRIEVE, WHICH_AXIS))
case("one", Tag.EDGE, X=MIXED, k=1, cites=(VALUES,))
case("all", Tag.EDGE, X=MIXED, k=5, cites=(VALUES,))
case("all_columns", Tag.EDGE, X=MIXED, k=3, axis=0, cites=(VALUES,))
case("default_last", Tag.AXIS, X=CUBE, k=2, cites=(WHICH_AXIS,))
case("vector", X=[4, 8, 6], k=2, cites=(VALUES,))
case("one_element", Tag.EDGE, X=[7], k=1, cites=(VALUES,))
case("size_one", Tag.EDGE, X=[[7], [3]], k=1, cites=(VALUES,))
case("descending", X=[9, 7, 5, 3], k=4, cites=(INDICES,))
case("ascending", X=[3, 5, 7, 9], k=4, cites=(INDICES,))
case("long", X=np.arange(300) * 7 % 300, k=40, cites=(VALUES,))
case("other_zero_size", Tag.EDGE, X=ramp(0, 3), k=2, cites=(VALUES,))
case("inner_zero_size", Tag.EDGE, X=ramp(2, 3, 0), k=2, axis=1, cites=(VALUES,))
case("ties", Tag.EDGE, X=[2, 5, 5, 1, 5, 2], k=5, cites=(TIE, TIE_OLD))
case("ties_all", Tag.EDGE, X=[[4, 4, 4, 4], [0, 0, 0, 0]], k=3, cites=(TIE,))
case("ties_at_the_end", Tag.EDGE, X=[1, 3, 3, 3, 9], k=2, cites=(TIE,))
case("ties_columns", Tag.EDGE, X=[[1, 2], [3, 2], [3, 1], [3, 2]], k=2, axis=0, cites=(TIE,))
case("ties_long", Tag.EDGE, X=np.arange(200) * 7 % 5, k=90, cites=(TIE,))
case("infinities", Tag.EDGE, X=[0, -np.inf, np.inf, 3e38, -3e38, np.inf], k=6, cites=(VALUES,))
case("two_zeros", Tag.EDGE, X=[-0.0, 0.0, -1, -0.0], k=3, cites=(TIE,))
case("subnormals", Tag.EDGE, X=[1e-45, 0, 3e-45, -1e-45, 1e-40], k=4, cites=(VALUES,))
case("nan", Tag.EDGE, X=[1, np.nan, 3], k=2, before=11, unspecified=RETRIEVE)
case("nan_now", Tag.EDGE, X=[1, np.nan, 3], k=2, since=11, unspecified=LARGEST_SMALLEST)
case("smallest_nan", Tag.EDGE, X=[1, np.nan, 3], k=2, largest=0, unspecified=LARGEST_SMALLEST)

for name, given, cited in (
    ("largest", {"largest": 1}, LARGEST),
    ("smallest", {"largest": 0}, OR_SMALLEST),
    ("sorted", {"sorted": 1}, SORTED),
    ("smallest_sorted", {"largest": 0, "sorted": 1}, WHETHER_SORTED),
):
    case(name, Tag.CHANGE, X=MIXED, k=3, cites=(cited, LARGEST_SMALLEST), **given)
    case(f"{name}_columns", Tag.AXIS, X=CUBE, k=3, axis=1, cites=(cited, SORTED), **given)
    case(f"{name}_ties", Tag.EDGE, X=[2, 5, 5, 1, 5, 2, 1], k=6, cites=(cited, TIE), **given)
    case(f"{name}_two_zeros", Tag.EDGE, X=[-0.0, 0.0, 0.0, -0.0], k=3, cites=(cited, TIE), **given)
    case(f"{name}_infinities", Tag.EDGE, X=[0, np.inf, -np.inf, np.inf], k=4, cites=(cited,), **given)
case("unsorted_one", Tag.EDGE, X=MIXED, k=1, sorted=0, cites=(UNDEFINED,))
case("unsorted_smallest_one", Tag.EDGE, X=MIXED, k=1, sorted=0, largest=0, cites=(UNDEFINED,))
case("unsorted_ties_one", Tag.EDGE, X=[2, 5, 5], k=1, sorted=0, cites=(TIE,))
case("unsorted", Tag.CHANGE, X=MIXED, k=3, sorted=0, unspecified=UNDEFINED)
case("unsorted_smallest", Tag.CHANGE, X=MIXED, k=3, sorted=0, largest=0, unspecified=UNDEFINED)
case("sorted_two", Tag.EDGE, X=MIXED, k=3, sorted=2, unspecified=WHETHER_SORTED)
case("largest_two", Tag.EDGE, X=MIXED, k=3, largest=2, unspecified=OR_SMALLEST)

TOP_K.case("k_zero_attribute", Tag.EDGE, X=MIXED, k=0, unspecified=NUMBER)
TOP_K.case("k_negative_attribute", Tag.EDGE, X=MIXED, k=-1, rejects=NUMBER)
for name, wrong in (("zero", [0]), ("negative", [-1]), ("scalar", 2), ("two", [2, 1]), ("none", []), ("matrix", [[2]])):
    TOP_K.case(f"k_{name}", Tag.EDGE, X=MIXED, K=wrong, rejects=POSITIVE)
for name, vain in (("k_too_high", MIXED), ("k_of_zero_size", ramp(2, 0))):
    case(name, Tag.EDGE, X=vain, k=6, before=11, rejects=RETRIEVE)
    case(f"{name}_now", Tag.EDGE, X=vain, k=6, since=11, rejects=LARGEST_SMALLEST)

case("dtypes", Tag.DTYPE, each="T", X=MIXED, k=3, cites=(FLOATS, INDEX_TYPE))
case("dtypes_now", Tag.DTYPE, each="T", X=MIXED, k=3, cites=(NUMERIC, INDEX_TYPE))
case("dtypes_smallest", Tag.DTYPE, each="T", X=CUBE, axis=1, k=2, largest=0, cites=(OR_SMALLEST,))
case("outside", Tag.DTYPE, outside="T", X=ramp(5), k=2, rejects=Rule.TYPES)
for type_ in (f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)):
    low, high = int(np.iinfo(type_).min), int(np.iinfo(type_).max)
    hard = typed(type_, np.array([high - 1, low, high, low + 1, high], type_))
    case(f"limits_{type_}", Tag.EDGE, X=hard, k=4, since=11, cites=(VALUES,))
    case(f"limits_smallest_{type_}", Tag.EDGE, X=hard, k=4, largest=0, cites=(VALUES,))
TOP_K.case("k_int32", X=MIXED, K=typed("int32", [2]), rejects=Rule.TYPES)
TOP_K.case("k_float", X=MIXED, K=typed("float", [2]), rejects=Rule.TYPES)
TOP_K.case("k_stray", Tag.CHANGE, X=MIXED, K=[2], stray={"k": 2}, rejects=Rule.ATTRIBUTES)
TOP_K.case("no_k", X=MIXED, rejects=Rule.ARITY, since=10)
TOP_K.case("no_k_attribute", X=MIXED, rejects=Rule.ATTRIBUTES, before=10)
for stray in ("largest", "sorted"):
    case(f"stray_{stray}", Tag.CHANGE, X=MIXED, k=2, stray={stray: 1}, before=11, rejects=Rule.ATTRIBUTES)
case("one_output", X=MIXED, k=2, n=1, rejects=Rule.ARITY)
case("three_outputs", X=MIXED, k=2, n=3, rejects=Rule.ARITY)

for name, shape, axis in axes():
    turned = (np.arange(np.prod(shape)) * 7 % np.prod(shape)).reshape(shape)
    back: dict[str, Any] = {"cites": (BACK, RANGE)} if axis < -1 else {"cites": (WHICH_AXIS,)}
    case(name, Tag.AXIS, X=turned, k=2, axis=axis, **back)
for name, shape, axis in axes_outside():
    case(name, Tag.AXIS, X=ramp(*shape), k=1, axis=axis, rejects=RANGE)
case("axis_from_back_old", Tag.AXIS, X=MIXED, k=2, axis=-2, before=11, unspecified=BACK)
case("axis_too_low_old", Tag.AXIS, X=MIXED, k=2, axis=-3, before=11, unspecified=BACK)
case("axis_too_high_old", Tag.AXIS, X=MIXED, k=2, axis=2, before=11, rejects=WHICH_AXIS)
case("rank0_old", Tag.EDGE, X=ramp(), k=1, before=11, rejects=WHICH_AXIS)
