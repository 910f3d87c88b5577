# SPDX-License-Identifier: Apache-2.0
"""Compress: the slices along an axis for which a condition is true.

    output = Compress(input, condition, axis=None)

Versions: 9, 11 (range of axis), 28 (bfloat16).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import (
    EXACT,
    Array,
    Int,
    Op,
    Tag,
    Version,
    axes,
    axes_outside,
    extremes,
    ramp,
    typed,
    vary,
)
from onnx_conformance.declare.sizes import filled, grid

if TYPE_CHECKING:
    from collections.abc import Mapping


def _rank(arguments: Mapping[str, Any]) -> int:
    """Return the rank of the output.

    Models without an expected output must state one too.
    """
    return 1 if arguments.get("axis") is None else np.ndim(arguments.get("input", 0))


def truths(*values: int) -> Any:  # noqa: ANN401 - see typed
    """Return booleans."""
    return typed("bool", [bool(value) for value in values])


COMPRESS = Op("Compress", versions=(9, 11, 28), compare=EXACT, rank=_rank, widens=False)
COMPRESS.example(input=ramp(2, 3), condition=truths(1, 0, 1), axis=1)

SELECTS = COMPRESS.clause(
    "Selects slices from an input tensor along a given axis where condition evaluates to True for each axis index."
)
FLAT = COMPRESS.clause("In case axis is not provided, input is flattened before elements are selected.")
LIKE_NUMPY = COMPRESS.clause("Compress behaves like numpy.compress")
ALONG = COMPRESS.clause("Axis along which to take slices.")
BACK = COMPRESS.clause("Negative value means counting dimensions from the back.", since=11)
RANGE = COMPRESS.clause("Accepted range is [-r, r-1] where r = rank(input).", since=11)
RANK = COMPRESS.clause("Tensor of rank r >= 1.")
RANK_ONE = COMPRESS.clause(
    "Rank 1 tensor of booleans to indicate which slices or data elements to be selected.",
    note="The text does not define a condition with more elements than slices.",
)
SHORTER = COMPRESS.clause(
    "Its length can be less than the input length along the axis or the flattened input size if axis is not "
    "specified. In such cases data slices or elements exceeding the condition length are discarded."
).reworded(
    before=11,
    text="Its length can be less than the input length alone the axis or the flattened input size if axis is not "
    "specified. In such cases data slices or elements exceeding the condition length are discarded.",
)
OUTPUT = COMPRESS.clause("Tensor of rank r if axis is specified. Otherwise output is a Tensor of rank 1.")
BOOLEANS = COMPRESS.clause("Constrain to boolean tensors.")


@COMPRESS.oracle()
def compressed(v: Version, input: Array, condition: Array, axis: Int) -> Array:
    """Return the slices whose index has a true condition. axis is None if it is omitted."""
    v.require(RANK, input.ndim >= 1)
    v.require(RANK_ONE, condition.ndim == 1)
    data, along = (input.reshape(-1), 0) if axis is None else (input, axis)
    v.permit(BACK, along < 0)
    v.require(RANGE if RANGE.in_force(v.since) else ALONG, -data.ndim <= along < data.ndim)
    v.silent(RANK_ONE, len(condition) > data.shape[along])
    return data.take(np.flatnonzero(condition), along)


case = COMPRESS.case
CUBE = ramp(3, 4, 5)
BY_AXIS: dict[int, Any] = {0: truths(1, 0, 1), 1: truths(0, 1, 1, 0), 2: truths(1, 0, 0, 1, 1)}
FLAT_CONDITION = truths(*(number * 7 % 3 == 1 for number in range(60)))

for axis, condition in BY_AXIS.items():
    case(f"axis_{axis}", input=CUBE, condition=condition, axis=axis, cites=(SELECTS, ALONG, LIKE_NUMPY, OUTPUT))
    case(f"axis_{axis - 3}".replace("-", "minus_"), input=CUBE, condition=condition, axis=axis - 3, cites=(BACK, RANGE))
case("flat", input=CUBE, condition=FLAT_CONDITION, cites=(FLAT, OUTPUT))
case("flat_matrix", input=ramp(2, 3), condition=truths(0, 1, 0, 1, 1, 0), cites=FLAT)
case("flat_vector", input=ramp(4), condition=truths(0, 1, 1, 0), cites=FLAT)
case("vector", input=ramp(4), condition=truths(0, 1, 1, 0), axis=0, cites=SELECTS)
LENGTHS: dict[str, tuple[dict[str, Any], Any]] = {
    "axis": ({"input": CUBE, "axis": 1}, truths(0, 1, 1)),
    "one": ({"input": CUBE, "axis": 2}, truths(1)),
    "none": ({"input": CUBE, "axis": 2}, truths()),
    "flat": ({"input": ramp(3, 4)}, truths(0, 1, 0, 1, 1)),
    "flat_none": ({"input": ramp(3, 4)}, truths()),
}
for name, (call, condition) in LENGTHS.items():
    case(f"shorter_{name}", Tag.EDGE, **call, condition=condition, cites=SHORTER)
case("all", Tag.EDGE, input=CUBE, condition=truths(1, 1, 1, 1), axis=1, cites=SELECTS)
case("no_slice", Tag.EDGE, input=CUBE, condition=truths(0, 0, 0, 0), axis=1, cites=SELECTS)
case("no_element", Tag.EDGE, input=ramp(2, 3), condition=truths(0, 0, 0, 0, 0, 0), cites=FLAT)
case("one_slice", Tag.EDGE, input=ramp(2, 1), condition=truths(1), axis=1, cites=SELECTS)
case("of_nothing", Tag.EDGE, input=ramp(2, 0), condition=truths(), axis=1, cites=SELECTS)
case("of_nothing_flat", Tag.EDGE, input=ramp(2, 0), condition=truths(), cites=FLAT)
case("nothing_beside", Tag.EDGE, input=ramp(0, 3), condition=truths(1, 0, 1), axis=1, cites=SELECTS)
case("long", input=ramp(200, 2), condition=truths(*(number % 3 for number in range(200))), axis=0, cites=SELECTS)
case(
    "extremes",
    Tag.DTYPE,
    Tag.EDGE,
    each="T",
    input=extremes(2, 6),
    condition=truths(1, 1, 0, 1, 1, 1),
    axis=1,
    cites=SELECTS,
)
case("extremes_flat", Tag.DTYPE, Tag.EDGE, each="T", input=extremes(2, 6), condition=truths(*[0, 1] * 6), cites=FLAT)
for name, shape, axis in axes():
    if len(shape) != 3:  # noqa: PLR2004 - see the cases above
        some = truths(*(number != 1 for number in range(shape[axis])))
        case(name, Tag.AXIS, input=ramp(*shape), condition=some, axis=axis, cites=(BACK, RANGE) if axis < 0 else ALONG)
for name, shape, axis in axes_outside():
    case(name, Tag.AXIS, input=ramp(*shape), condition=truths(1), axis=axis, rejects=RANGE if shape else RANK)
case("axis_from_back_before_11", Tag.AXIS, input=CUBE, condition=truths(1, 0), axis=-1, before=11, unspecified=BACK)
case("axis_too_high_before_11", Tag.AXIS, input=CUBE, condition=truths(1, 0), axis=3, before=11, rejects=ALONG)
case("rank0", Tag.EDGE, input=3, condition=truths(1), rejects=RANK)
OTHER_RANKS = vary(scalar=typed("bool", True), matrix=typed("bool", [[True, False]]))  # noqa: FBT003 - a value
case("condition", Tag.EDGE, input=ramp(2, 3), condition=OTHER_RANKS, axis=1, rejects=RANK_ONE)
case("longer", Tag.EDGE, input=ramp(2, 3), condition=truths(1, 0, 1, 0), axis=1, unspecified=RANK_ONE)
case("longer_flat", Tag.EDGE, input=ramp(2), condition=truths(1, 0, 1), unspecified=RANK_ONE)
case("condition_type", Tag.DTYPE, input=ramp(3), condition=typed("bool", [True, False, True]), cites=BOOLEANS)
case("condition_outside", Tag.DTYPE, outside="T1", input=ramp(3), condition=[1, 0, 1], rejects=BOOLEANS)

for name, (dims, axis) in {"first": (("c", "n"), 0), "middle": (("b", "c", "n"), 1), "last": (("b", "c"), -1)}.items():
    COMPRESS.sized(
        name,
        grid(b=(3,), c=(7, 33, 129), n=(5, 16)),
        each="T" if name == "first" else None,
        cites=(SELECTS, ALONG),
        arguments={"input": filled(*dims), "condition": filled("c"), "axis": axis},
    )
COMPRESS.sized(
    "flat",
    grid(m=(7,), n=(9, 64, 1025), c=(60,)),
    cites=(SELECTS, FLAT),
    arguments={"input": filled("m", "n"), "condition": filled("c")},
)
COMPRESS.sized(
    "large",
    grid(n=(1025,), w=(129,)),
    cites=(SELECTS, ALONG),
    arguments={"input": filled("n", "w"), "condition": filled("n"), "axis": 0},
)
