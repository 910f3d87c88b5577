# SPDX-License-Identifier: Apache-2.0
"""Hardmax: 1 for the first of the greatest values, 0 for all others.

    output = Hardmax(input, axis=-1)
    output = Hardmax(input, axis=1)    # before version 13

Versions: 1 (of the input coerced into a matrix at 'axis'), 11 (negative axes), 13 (along one dimension).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Tolerance, Version, typed
from onnx_conformance.declare.data import FLOATS, waves
from onnx_conformance.declare.families.elementwise import SUBNORMAL, float_types
from onnx_conformance.declare.sizes import filled
from onnx_conformance.operators.math._layers import Layers
from onnx_conformance.operators.math._sizes import LANES

HARDMAX = Op("Hardmax", versions=(1, 11, 13), compare=Tolerance("every type contains 1 and 0"), rank="input")
HARDMAX.example(input=waves(2, 3, 4), axis=1)

COMPUTED = HARDMAX.clause(
    "The operator computes the hardmax", note="The text does not define the order of NaN and numbers."
)
FIRST = HARDMAX.clause(
    "Hardmax(element in input, axis) = 1 if the element is the first maximum value along the specified axis, 0 "
    "otherwise"
).reworded(before=13, text="(1 for the first maximum value, and 0 for all others)")
LAYERS = Layers(HARDMAX)


def _first(v: Version, values: Array, axis: int) -> Result:
    """Return 1 at the first of the greatest values along an axis."""
    if values.size == 0:
        return values
    place = np.expand_dims(np.argmax(values, axis), axis)
    first = np.asarray(np.indices(values.shape)[axis] == place).astype(values.dtype)
    nan = np.isnan(values).any(axis, keepdims=True)
    return v.unordered(COMPUTED, np.broadcast_to(nan, values.shape), first)


@HARDMAX.oracle(before=13)
def first_before_13(v: Version, input: Array, axis: int) -> Result:
    """Return 1 at the first of the greatest in each row of the matrix whose columns start at `axis`."""
    return LAYERS.rows(v, input, axis, lambda matrix, columns: _first(v, matrix, columns))


@HARDMAX.oracle(since=13)
def first_since_13(v: Version, input: Array, axis: int) -> Result:
    """Return 1 at the first of the greatest along one dimension."""
    return LAYERS.lanes(v, input, axis, lambda data, dimension: _first(v, data, dimension))


case = HARDMAX.case
LAYERS.cases()
TIES = [[2, 5, 5, 1, 5], [7, 7, 0, 7, 3], [4, 4, 4, 4, 4], [1, 2, 3, 4, 4]]
inf = np.inf

case("ties", input=TIES, axis=1, cites=COMPUTED)
case("ties_before_13", input=TIES, before=13, cites=FIRST)
case("ties_since_13", input=TIES, since=13, cites=FIRST)
case("ties_first_axis_since_13", input=TIES, axis=0, since=13, cites=FIRST)
case("ties_across_rows_before_13", input=[[[1, 9], [9, 3]], [[4, 4], [4, 4]]], before=13, cites=FIRST)
case("below_zero", input=[[-3, -1, -2], [-9, -8, -7]], axis=1, cites=COMPUTED)
case("two_zeros", Tag.EDGE, input=[[-0.0, 0.0, -1], [0.0, -0.0, 0.0]], axis=1, cites=COMPUTED)
infinite = [[1, inf, inf], [-inf, -inf, -inf], [-inf, 3, -inf], [inf, -inf, 0]]
case("infinities", Tag.EDGE, input=infinite, axis=1, cites=COMPUTED)
case("nan", Tag.EDGE, input=[[1, np.nan, 2]], axis=1, unspecified=COMPUTED)
case("nan_first", Tag.EDGE, input=[[np.nan, 1, 2]], axis=1, unspecified=COMPUTED)
case("nan_beside_another_row", Tag.EDGE, input=[[1, 2], [np.nan, 2]], axis=1, unspecified=COMPUTED)
case("one_element", Tag.EDGE, input=[[7.5]], axis=1, cites=COMPUTED)
case("nan_alone", Tag.EDGE, input=[[np.nan], [2]], axis=1, unspecified=COMPUTED)
case("size_one", Tag.EDGE, input=[[7.5], [-3], [0]], axis=1, cites=COMPUTED)
case("long", input=np.cos(np.arange(600.0) + 1).reshape(2, 300), axis=1, cites=COMPUTED)
for place in range(5):
    case(f"at_{place}", input=[np.roll([9, -1, 3, -7, 2], place)], axis=1, cites=COMPUTED)
for type_, since in float_types(13).items():
    most, small = FLOATS[type_].largest, SUBNORMAL[type_]
    rows = [[-most, most, 1, most], [0, *small], [-most, -inf, -inf, -most], [-item for item in (*small, 1)]]
    case(f"ends_{type_}", Tag.EDGE, input=typed(type_, rows), axis=1, since=since, cites=COMPUTED)

for name, (dims, axis, sizes) in LANES.items():
    HARDMAX.sized(
        name,
        sizes,
        each="T",
        cites=(FIRST, LAYERS.along),
        arguments={"input": filled(*dims, floats=(-6, 6)), "axis": axis},
    )
