# SPDX-License-Identifier: Apache-2.0
"""OneHot: one value at each index and another value everywhere else, along a new dimension.

    output = OneHot(indices, depth, values, axis=-1)

Versions: 9, 11 (indices and axis from the back), 28 (bfloat16).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, extremes, ramp, typed, vary
from onnx_conformance.declare.sizes import grid, indices_of

ONE_HOT = Op(
    "OneHot",
    versions=(9, 11, 28),
    compare=EXACT,
    rank=lambda arguments: np.ndim(arguments.get("indices", 0)) + 1,
    widens=False,
)
ONE_HOT.example(indices=[[1, 0, 2]], depth=4, values=[2, 5], axis=1)

LOCATIONS = ONE_HOT.clause(
    "The locations represented by the index values in the 'indices' input tensor will have 'on_value' and the other "
    "locations will have 'off_value' in the output tensor, where 'on_value' and 'off_value' are specified as part of "
    "required input argument 'values', which is a two-element tensor of format [off_value, on_value]."
)
RANK = ONE_HOT.clause("The rank of the output tensor will be one greater than the rank of the input tensor.")
INSERTED = ONE_HOT.clause("The additional dimension will be inserted at the position specified by 'axis'.")
INNERMOST = ONE_HOT.clause(
    "If 'axis' is not specified then the additional dimension will be inserted as the innermost dimension, i.e. "
    "axis=-1."
).reworded(
    before=11,
    text="If 'axis' is not specified then then additional dimension will be inserted as the innermost dimension, i.e. "
    "axis=-1.",
)
SIZE = ONE_HOT.clause(
    "The size of the additional dimension is specified by required scalar input 'depth'.",
    note="The text does not define negative sizes.",
)
TYPE = ONE_HOT.clause("The type of the output tensor is the same as the type of the 'values' input.")
OUTSIDE = ONE_HOT.clause(
    "Any entries in the 'indices' input tensor with values outside the range [-depth, depth-1] will result in one-hot "
    "representation with all 'off_value' values in the output tensor.",
    note="Negative values in the range count from the back, as the range and the official case show.",
).reworded(
    before=11,
    text="Any entries in the 'indices' input tensor with values outside the range [0, depth) will result in one-hot "
    "representation with all 'off_value' values in the output tensor.",
)
FIRST = ONE_HOT.clause("when axis = 0: output[input[i, j, k], i, j, k] = 1 for all i, j, k and 0 otherwise.", since=11)
LAST = ONE_HOT.clause("when axis = -1: output[i, j, k, input[i, j, k]] = 1 for all i, j, k and 0 otherwise.", since=11)
DEFAULT = ONE_HOT.clause(
    "Axis along which one-hot representation in added. Default: axis=-1. axis=-1 means that the additional dimension "
    "will be inserted as the innermost/last dimension in the output tensor.",
    note="Version 9 does not define other negative axes.",
)
BACK = ONE_HOT.clause("Negative value means counting dimensions from the back.", since=11)
RANGE = ONE_HOT.clause("Accepted range is [-r-1, r] where r = rank(indices).", since=11)
NOT_NEGATIVE = ONE_HOT.clause(
    "The values must be non-negative integers.",
    before=11,
    result=True,
    note="Another sentence defines the result for any entries outside the range, so both are left open.",
)
CASTED = ONE_HOT.clause(
    "In case 'indices' is of non-integer type, the values will be casted to int64 before use.",
    note="A fraction is not an integer before version 11. The text of Cast does not define the result for NaN and "
    "infinity either.",
)
ONE_ELEMENT = ONE_HOT.clause(
    "Scalar or Rank 1 tensor containing exactly one element, specifying the number of classes in one-hot tensor."
).reworded(
    before=11,
    text="Scalar or rank 1 tensor containing exactly one element, specifying the number of classes in one-hot tensor.",
)
EXPECTED = ONE_HOT.clause(
    "The values in the 'indices' input tensor are expected to be in the range [-depth, depth-1].", result=True
).reworded(before=11, text="The values in the 'indices' input tensor are expected to be in the range [0, depth).")
DEPTH_CASTED = ONE_HOT.clause("In case 'depth' is of non-integer type, it will be casted to int64 before use.")
TWO = ONE_HOT.clause(
    "Rank 1 tensor containing exactly two elements, in the format [off_value, on_value], where 'on_value' is the value "
    "used for filling locations specified in 'indices' input tensor, and 'off_value' is the value used for filling "
    "locations other than those specified in 'indices' input tensor."
)
OUTPUT_RANK = ONE_HOT.clause(
    "Tensor of rank one greater than input tensor 'indices', i.e. rank(output) = rank(indices) + 1.",
    note="ONNX's shape inference rejects a scalar, although the output has rank 1 by the sentence.",
)


@ONE_HOT.oracle()
def one_hot(v: Version, indices: Array, depth: Array, values: Array, axis: int) -> Array:
    """Return on_value at each index along the new dimension, off_value elsewhere."""
    rank = indices.ndim + 1
    ranged = RANGE.in_force(v.since)
    v.silent(DEFAULT, not ranged and axis < -1)
    v.require(RANGE if ranged else INSERTED, -rank <= axis < rank)
    v.require(ONE_ELEMENT, depth.ndim <= 1 and depth.size == 1)
    v.require(TWO, values.shape == (2,))
    v.silent(CASTED, not np.isfinite(indices.astype(np.float64)).all())
    v.silent(DEPTH_CASTED, not np.isfinite(float(depth.item())))
    v.silent(NOT_NEGATIVE, not ranged and bool(((indices < 0) | (indices != np.trunc(indices))).any()))
    v.silent(OUTPUT_RANK, indices.ndim == 0)
    size = int(depth.item())
    v.silent(SIZE, size < 0)
    output = np.full((*indices.shape, size), values[0], values.dtype)
    for entry in np.ndindex(indices.shape):
        place = int(indices[entry])  # It truncates, as Cast does.
        if -size <= place < size:
            output[(*entry, place)] = values[1]
    return np.moveaxis(output, -1, axis)


case = ONE_HOT.case
TABLE = [[1, 0, 3], [2, 2, 4]]

DEFAULT_CALL: dict[str, Any] = {"indices": TABLE, "depth": 5, "values": [2, 7]}
OF_DEFAULT = (LOCATIONS, SIZE, RANK, TWO)
case("default_before_11", **DEFAULT_CALL, before=11, cites=(INNERMOST, EXPECTED, NOT_NEGATIVE, *OF_DEFAULT))
case("default", **DEFAULT_CALL, since=11, cites=(INNERMOST, EXPECTED, *OF_DEFAULT))
case("depth_vector", indices=TABLE, depth=[5], values=[2, 7], cites=ONE_ELEMENT)
case("depth_scalar", indices=[0, 2], depth=3, values=[0, 1], cites=ONE_ELEMENT)
NOT_ONE = vary(two=[5, 5], none=[], matrix=[[5]])
case("depth", Tag.EDGE, indices=[0, 2], depth=NOT_ONE, values=[0, 1], rejects=ONE_ELEMENT)
case("minus_one", indices=TABLE, depth=5, values=[2, 7], axis=-1, cites=(DEFAULT, OUTPUT_RANK))
case("last", indices=TABLE, depth=5, values=[0, 1], axis=-1, cites=LAST)
case("first", indices=TABLE, depth=5, values=[0, 1], axis=0, cites=FIRST)
for axis in (0, 1, 2):
    case(f"axis_{axis}", indices=TABLE, depth=5, values=[2, 7], axis=axis, cites=INSERTED)
    case(
        f"axis_{axis - 3}".replace("-", "minus_"),
        indices=TABLE,
        depth=5,
        values=[2, 7],
        axis=axis - 3,
        cites=(BACK, RANGE),
    )
CUBE = np.arange(24).reshape(2, 3, 4) * 5 % 7
for axis in (-4, -2, 1, 3):
    name, clause = f"cube_axis_{axis}".replace("-", "minus_"), BACK if axis < 0 else INSERTED
    case(name, indices=CUBE, depth=6, values=[-1, 3], axis=axis, cites=clause)
case("scalar", Tag.EDGE, indices=2, depth=4, values=[0, 1], unspecified=OUTPUT_RANK)
case("scalar_axis_0", Tag.EDGE, indices=2, depth=4, values=[0, 1], axis=0, unspecified=OUTPUT_RANK)
case("vector", indices=[3, 0, 1], depth=4, values=[0, 1], cites=LOCATIONS)
case("no_indices", Tag.EDGE, indices=ramp(0), depth=4, values=[0, 1], cites=OUTPUT_RANK)
case("no_indices_within", Tag.EDGE, indices=ramp(2, 0), depth=4, values=[0, 1], axis=1, cites=OUTPUT_RANK)
case("depth_one", Tag.EDGE, indices=[0, 0], depth=1, values=[3, 4], cites=SIZE)
case("depth_zero", Tag.EDGE, indices=[1, 2], depth=0, values=[3, 4], cites=SIZE)
case("values_alike", Tag.EDGE, indices=[0, 1], depth=3, values=[4, 4], cites=TWO)
case("on_below_off", Tag.EDGE, indices=[0, 1], depth=3, values=[4, -4], cites=TWO)
case("special_values", Tag.EDGE, indices=[0, 1], depth=3, values=[np.nan, -0.0], cites=TWO)
case("infinite_values", Tag.EDGE, indices=[0, 1], depth=3, values=[-np.inf, np.inf], cites=TWO)
BEYOND: dict[str, Any] = {
    "one": [3, 0],
    "far": [1000, 2],
    "all": [3, 4],
    "beyond_32_bits": typed("int64", [2**32 + 1, 0]),
}
for name, indices in BEYOND.items():
    case(f"too_high_{name}", Tag.EDGE, indices=indices, depth=3, values=[2, 7], cites=OUTSIDE)
BELOW: dict[str, Any] = {"far": [-1000, 2], "just": [-4, 0], "below_32_bits": typed("int64", [-(2**32) - 1, 0])}
for name, indices in BELOW.items():
    case(f"too_low_{name}", Tag.EDGE, indices=indices, depth=3, values=[2, 7], since=11, cites=OUTSIDE)
case("from_back", indices=[-1, -3, 0, -2], depth=3, values=[2, 7], since=11, cites=OUTSIDE)
case("from_back_first", indices=[-1, -3, 0, -2], depth=3, values=[2, 7], axis=0, since=11, cites=OUTSIDE)
case("from_back_int8", indices=typed("int8", [-1, -3, 0, -128]), depth=3, values=[2, 7], since=11, cites=OUTSIDE)
case("depth_beyond_int8", indices=typed("int8", [127, 0]), depth=typed("int64", 200), values=[2, 7], cites=LOCATIONS)
case("uint8_high", Tag.EDGE, indices=typed("uint8", [255, 128, 0]), depth=3, values=[2, 7], cites=LOCATIONS)
for type_ in ("float16", "float", "double"):
    case(
        f"fractions_{type_}",
        Tag.EDGE,
        indices=typed(type_, [1.9, 0.5, -0.5, -1.5]),
        depth=3,
        values=[2, 7],
        since=11,
        cites=CASTED,
    )
    case(f"whole_{type_}", indices=typed(type_, [1, 0, 2, 3]), depth=3, values=[2, 7], cites=CASTED)
    case(
        f"depth_fraction_{type_}", Tag.EDGE, indices=[1, 0], depth=typed(type_, 2.9), values=[2, 7], cites=DEPTH_CASTED
    )
case("indices_dtypes", Tag.DTYPE, each="T1", indices=TABLE, depth=5, values=[2, 7], cites=LOCATIONS)
case("depth_dtypes", Tag.DTYPE, each="T2", indices=TABLE, depth=5, values=[2, 7], cites=SIZE)
case("values_dtypes", Tag.DTYPE, each="T3", indices=TABLE, depth=5, values=extremes(2), cites=(TYPE, LOCATIONS))
case(
    "indices", Tag.EDGE, indices=vary(nan=[np.nan, 1], infinite=[np.inf, 1]), depth=3, values=[2, 7], unspecified=CASTED
)
case("depth_nan", Tag.EDGE, indices=[1, 0], depth=np.nan, values=[2, 7], unspecified=DEPTH_CASTED)
case("depth_negative", Tag.EDGE, indices=[1, 0], depth=-1, values=[2, 7], unspecified=SIZE)
case("negative_before_11", Tag.EDGE, indices=[-1, 0], depth=3, values=[2, 7], before=11, unspecified=NOT_NEGATIVE)
case("fraction_before_11", Tag.EDGE, indices=[1.5, 0], depth=3, values=[2, 7], before=11, unspecified=NOT_NEGATIVE)
case("axis_below_before_11", Tag.AXIS, indices=TABLE, depth=5, values=[2, 7], axis=-2, before=11, unspecified=DEFAULT)
case("axis_too_high_before_11", Tag.AXIS, indices=TABLE, depth=5, values=[2, 7], axis=3, before=11, rejects=INSERTED)
for name, axis in {"too_high": 3, "too_low": -4}.items():
    case(f"axis_{name}", Tag.AXIS, indices=TABLE, depth=5, values=[2, 7], axis=axis, rejects=RANGE)
case("scalar_axis_too_high", Tag.AXIS, indices=2, depth=5, values=[2, 7], axis=1, rejects=RANGE)
case(
    "values",
    Tag.EDGE,
    indices=[0, 1],
    depth=3,
    values=vary(one=[1], three=[0, 1, 2], scalar=1, matrix=[[0, 1]]),
    rejects=TWO,
)

for name, axis in {"last": -1, "first": 0, "middle": 1}.items():
    ONE_HOT.sized(
        name,
        grid(b=(3,), s=(7, 33), depth=(2, 16, 65, 1000)),
        each="T3" if name == "last" else None,
        cites=(LOCATIONS, INSERTED),
        arguments={
            "indices": indices_of("depth", "b", "s", back=name == "middle"),
            "depth": lambda sizes: sizes["depth"],
            "values": [2, 5],
            "axis": axis,
        },
    )
ONE_HOT.sized(
    "outside",
    grid(n=(64,), k=(33, 129), depth=(50,)),
    cites=OUTSIDE,
    arguments={"indices": indices_of("n", "k"), "depth": lambda sizes: sizes["depth"], "values": [0, 1]},
)
