# SPDX-License-Identifier: Apache-2.0
"""Reshape: the same elements in the same order, under another shape.

    reshaped = Reshape(data, shape, allowzero=0)

Versions: 1 (shape as attribute), 5 (shape as input), 13 (types), 14 (allowzero), 19 to 25 (types).
"""

from __future__ import annotations

import math

import numpy as np

from onnx_conformance.declare import EXACT, Array, Int, Ints, Op, Tag, Version, extremes, length_of, ramp, vary
from onnx_conformance.declare.sizes import Dims, filled, grid

RESHAPE = Op(
    "Reshape",
    versions=(1, 5, 13, 14, 19, 21, 23, 24, 25),
    compare=EXACT,
    rank=length_of("shape"),
    widens=False,  # Moved elements keep the bits of a NaN.
)
RESHAPE.example(data=ramp(2, 3, 4), shape=[4, -1])
RESHAPE.excuse("attribute shape unset", "version 1 says nothing of reshaping to no shape")

LIKE_NUMPY = RESHAPE.clause("Reshape the input tensor similar to numpy.reshape.")
SHAPE_ARGUMENT = RESHAPE.clause("It takes a tensor as input and an argument `shape`.", before=5)
SHAPE_TENSOR = RESHAPE.clause("second input is a shape tensor which specifies the output shape.", since=5)
LEGACY = RESHAPE.clause("legacy optimization attribute.", before=5)
ONE_INFERRED = RESHAPE.clause("At most one dimension of the new shape can be -1.")
INFERRED = RESHAPE.clause(
    "In this case, the value is inferred from the size of the tensor and the remaining dimensions.",
    note="If the remaining dimensions include a zero, any value would match.",
)
UNCHANGED = RESHAPE.clause(
    "A dimension could also be 0, in which case the actual dimension value is unchanged (i.e. taken from the input "
    "tensor).",
    note="The text does not define a 0 after the last dimension of the input.",
)
SCALAR = RESHAPE.clause("Shape (second input) could be an empty shape, which means converting to a scalar.")
SAME_COUNT = RESHAPE.clause(
    "The input tensor's shape and the output tensor's shape are required to have the same number of elements."
)
EXPLICIT_ZERO = RESHAPE.clause(
    "If 'allowzero' is set, and the new shape includes 0, the dimension will be set explicitly to zero (i.e. not taken "
    "from input tensor).",
    since=14,
)
ZERO_AND_INFERRED = RESHAPE.clause(
    "If the attribute 'allowzero' is set, it is invalid for the specified shape to contain both a zero value and -1, "
    "as the value of the dimension corresponding to -1 cannot be determined uniquely.",
    since=14,
    see=("https://github.com/onnx/onnx/pull/4601",),
)
BY_DEFAULT = RESHAPE.clause(
    "By default, when any value in the 'shape' input is equal to zero the corresponding dimension value is copied from "
    "the input tensor dynamically.",
    since=14,
)


def _target(v: Version, data: Array, shape: Ints, allowzero: Int) -> list[int]:
    """Return the new shape, with zeros and -1 replaced."""
    target = np.asarray(shape)
    v.silent(SHAPE_TENSOR if SHAPE_TENSOR.in_force(v.since) else SHAPE_ARGUMENT, target.ndim != 1)
    sizes = [int(size) for size in target]
    v.require(ONE_INFERRED, sizes.count(-1) <= 1)
    v.silent(INFERRED, any(size < -1 for size in sizes))
    if allowzero:
        v.require(ZERO_AND_INFERRED, not (0 in sizes and -1 in sizes))
    else:
        v.silent(UNCHANGED, 0 in sizes[data.ndim :])
        sizes = [data.shape[axis] if size == 0 else size for axis, size in enumerate(sizes)]
    if -1 in sizes:
        remaining = math.prod(size for size in sizes if size != -1)
        v.silent(INFERRED, remaining == 0)
        sizes[sizes.index(-1)] = data.size // remaining
    return sizes


@RESHAPE.oracle()
def reshaped(v: Version, data: Array, shape: Ints, allowzero: Int) -> Array:
    """Return `data` with a new shape.

    The shape is an attribute before version 5. allowzero is None before version 14.
    """
    target = _target(v, data, shape, allowzero)
    v.require(SAME_COUNT, math.prod(target) == data.size)
    return data.reshape(target)


case = RESHAPE.case

case("flatten", data=ramp(2, 3, 4), shape=[24], cites=LIKE_NUMPY)
case("order", data=ramp(2, 3, 4), shape=[4, 6], cites=(LIKE_NUMPY, SAME_COUNT))
case("same_rank", data=ramp(2, 3, 4), shape=[4, 2, 3], cites=LIKE_NUMPY)
case("more_dimensions", data=ramp(2, 12), shape=[2, 3, 1, 4], cites=LIKE_NUMPY)
case("by_attribute", Tag.CHANGE, data=ramp(2, 6), shape=[3, 4], cites=SHAPE_ARGUMENT)
case("by_input", Tag.CHANGE, data=ramp(2, 6), shape=[3, 4], cites=SHAPE_TENSOR)
case("consumed_inputs", data=ramp(2, 6), shape=[3, 4], consumed_inputs=[0], cites=LEGACY)
case("no_shape", Tag.EDGE, data=ramp(2, 6), before=5, unspecified=SHAPE_ARGUMENT)
for axis, shape in enumerate(([-1, 3, 4], [2, -1, 4], [2, 3, -1])):
    case(f"inferred_{axis}", data=ramp(4, 6), shape=shape, cites=(ONE_INFERRED, INFERRED))
case("inferred_alone", data=ramp(2, 3, 4), shape=[-1], cites=INFERRED)
case("inferred_zero", Tag.EDGE, data=ramp(0, 3), shape=[3, -1], cites=INFERRED)
case("inferred_twice", data=ramp(2, 6), shape=[-1, -1], rejects=ONE_INFERRED)
case("inferred_uneven", data=ramp(2, 6), shape=[5, -1], rejects=SAME_COUNT)
case("inferred_any", Tag.EDGE, data=ramp(0, 3), shape=[0, -1], unspecified=INFERRED)
case("below_minus_one", Tag.EDGE, data=ramp(2, 6), shape=[-2, 6], unspecified=INFERRED)
case("zero_copies", data=ramp(2, 3, 4), shape=[0, 12], cites=UNCHANGED)
case("zero_copies_inside", data=ramp(2, 3, 4), shape=[1, 0, 8], cites=UNCHANGED)
case("zero_copies_inferred", data=ramp(2, 3, 4), shape=[-1, 0, 2, 2], cites=(UNCHANGED, INFERRED))
case("zero_copies_zero", Tag.EDGE, data=ramp(0, 3), shape=[0, 5], cites=UNCHANGED)
case("zero_behind_last", Tag.EDGE, data=ramp(2, 6), shape=[12, 1, 0], unspecified=UNCHANGED)
case("allowzero_off", Tag.CHANGE, data=ramp(2, 3, 4), shape=[0, 12], allowzero=0, cites=BY_DEFAULT)
case("allowzero", Tag.CHANGE, data=ramp(0, 3), shape=[4, 0, 5], allowzero=1, cites=EXPLICIT_ZERO)
case("allowzero_behind_last", Tag.CHANGE, data=ramp(0), shape=[2, 3, 0], allowzero=1, cites=EXPLICIT_ZERO)
case("allowzero_without_zero", data=ramp(2, 6), shape=[3, 4], allowzero=1, cites=EXPLICIT_ZERO)
case("allowzero_inferred", data=ramp(2, 6), shape=[-1, 4], allowzero=1, cites=EXPLICIT_ZERO)
case("allowzero_too_few", Tag.EDGE, data=ramp(2, 3), shape=[0, 3], allowzero=1, rejects=SAME_COUNT)
case("allowzero_and_inferred", Tag.EDGE, data=ramp(0, 3), shape=[0, -1], allowzero=1, rejects=ZERO_AND_INFERRED)
case("to_scalar", Tag.EDGE, data=ramp(1, 1), shape=[], cites=SCALAR)
case("from_scalar", Tag.EDGE, data=ramp(), shape=[1, 1], cites=LIKE_NUMPY)
case("scalar_to_scalar", Tag.EDGE, data=ramp(), shape=[], cites=SCALAR)
case("from_scalar_inferred", Tag.EDGE, data=ramp(), shape=[-1], cites=INFERRED)
case("to_scalar_too_many", Tag.EDGE, data=ramp(2), shape=[], rejects=SAME_COUNT)
case("too_few", data=ramp(2, 6), shape=[3, 3], rejects=SAME_COUNT)
case("too_many", data=ramp(2, 6), shape=[3, 5], rejects=SAME_COUNT)
case("shape", Tag.EDGE, data=ramp(2, 6), shape=vary(scalar=12, matrix=[[3, 4]]), since=5, unspecified=SHAPE_TENSOR)
case("extremes", Tag.DTYPE, Tag.EDGE, each="T", data=extremes(12), shape=[4, -1])

OTHER_SHAPES: dict[str, tuple[Dims, list[dict[str, int]], list[int]]] = {
    "flattened": (("b", "c", "h", "w"), grid(b=(2,), c=(3, 16), h=(7,), w=(7, 16)), [0, -1]),
    "heads": (("b", "s", "n"), grid(b=(2,), s=(7, 33), n=(64, 768)), [0, 0, 4, -1]),
    "joined": (("b", "s", "h", "d"), grid(b=(2,), s=(7, 33), h=(4,), d=(16, 64)), [0, 0, -1]),
    "vector": (("m", "n"), grid(m=(17,), n=(33, 4097)), [-1]),
}
"""The dimensions of the data, the sizes, and the new shape."""
for name, (dims, sizes, shape) in OTHER_SHAPES.items():
    RESHAPE.sized(
        name,
        sizes,
        each="T" if name == "heads" else None,
        cites=(LIKE_NUMPY, INFERRED),
        arguments={"data": filled(*dims), "shape": shape},
    )
