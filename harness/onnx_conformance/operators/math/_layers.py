# SPDX-License-Identifier: Apache-2.0
"""LogSoftmax and Hardmax: the sentences on axes. Before version 13, the input is coerced into a matrix."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from onnx_conformance.declare.data import axes, axes_outside, ramp, waves
from onnx_conformance.declare.op import Op, Tag
from onnx_conformance.declare.partly_open import reshaped

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_conformance.declare import Array
    from onnx_conformance.declare.clause import Version
    from onnx_conformance.declare.partly_open import Result


class Layers:
    """The sentences on the axis, and the cases that test them."""

    def __init__(self, op: Op) -> None:
        """Declare the sentences.

        Args:
            op: the operator, created with `rank="input"`.
        """
        self.op = op
        self.layer = op.clause("values for each layer in the batch of the given input", before=13)
        self.coerced = op.clause(
            "For an arbitrary n-dimensional tensor input \\in [a_0, a_1, ..., a_{k-1}, a_k, ..., a_{n-1}] and k is the "
            "axis provided, then input will be coerced into a 2-dimensional tensor with dimensions [a_0 * ... * "
            "a_{k-1}, a_k * ... * a_{n-1}].",
            before=13,
            note="For axis 0 the product of dimensions is empty, so the whole input is one layer. The text does not "
            "define whether axis = n makes layers of one element. onnx.reference uses one dimension in every version, "
            "but only version 13 defines that.",
        )
        self.default = op.clause(
            "For the default case where axis=1, this means the input tensor will be coerced into a 2D tensor of "
            "dimensions [a_0, a_1 * ... * a_{n-1}], where a_0 is often the batch size.",
            before=13,
        )
        self.matched = op.clause(
            "In this situation, we must have a_0 = N and a_1 * ... * a_{n-1} = D. Each of these dimensions must be "
            "matched correctly, or else the operator will throw errors.",
            before=13,
            note="An input of rank 0 has no a_0.",
        )
        self.original = op.clause(
            "The output values with the same shape as input tensor (the original size without coercion).", before=13
        )
        self.back = op.clause("Negative value means counting dimensions from the back.", since=11)
        self.range = op.clause(
            "Accepted range is [-r, r-1] where r = rank(input).",
            since=11,
            see=("https://github.com/onnx/onnx/issues/7155", "https://github.com/onnx/onnx/pull/7625"),
        )
        self.along = op.clause(f'The "axis" attribute indicates the dimension along which {op.name} will', since=13)
        self.rank = op.clause(
            "The input tensor of rank >= axis.",
            since=13,
            note="The accepted range is narrower: axis = rank is outside it.",
        )
        self.same_shape = op.clause("The output values with the same shape as the input tensor.", since=13)

    def rows(self, v: Version, data: Array, axis: int, values: Callable[[Array, int], Result]) -> Result:
        """Return the values for each row of the matrix whose columns start at `axis`. Used before version 13."""
        v.require(self.matched, data.ndim > 0)
        v.permit(self.back, axis < 0)
        if self.range.in_force(v.since):
            v.require(self.range, -data.ndim <= axis < data.ndim)
        else:
            v.require(self.coerced, axis <= data.ndim)
            v.silent(self.coerced, axis == data.ndim)
        k = axis % data.ndim
        matrix = data.reshape(math.prod(data.shape[:k]), math.prod(data.shape[k:]))
        return reshaped(values(matrix, 1), data.shape)

    def lanes(self, v: Version, data: Array, axis: int, values: Callable[[Array, int], Result]) -> Result:
        """Return the values along one dimension. Used since version 13."""
        v.require(self.range, -data.ndim <= axis < data.ndim)
        return values(data, axis)

    def cases(self) -> None:
        """Declare the cases for axes and shapes."""
        case, cube = self.op.case, waves(2, 3, 4)
        case("default_axis_before_13", Tag.CHANGE, input=cube, cites=(self.default, self.original))
        case("default_axis_since_13", Tag.CHANGE, input=cube, cites=(self.along, self.same_shape))
        for axis in range(3):
            case(f"axis_{axis}_before_13", Tag.CHANGE, input=cube, axis=axis, cites=(self.coerced, self.layer))
            case(f"axis_{axis}_since_13", Tag.CHANGE, input=cube, axis=axis, cites=self.along)
            name = f"axis_minus_{axis + 1}"
            case(f"{name}_before_13", Tag.CHANGE, input=cube, axis=axis - 3, before=13, cites=(self.coerced, self.back))
            case(f"{name}_since_13", Tag.CHANGE, input=cube, axis=axis - 3, cites=(self.along, self.back))
        case("axis_zero_size", Tag.EDGE, input=ramp(3, 0), axis=1, cites=())
        case("other_zero_size", Tag.EDGE, input=ramp(0, 3), axis=1, cites=())
        case("inner_zero_size", Tag.EDGE, input=ramp(2, 3, 0), axis=1, cites=())
        case("rank0", Tag.EDGE, input=ramp(), axis=0, rejects=self.matched)
        case("rank0_default", Tag.EDGE, input=ramp(), rejects=self.matched)
        case("rank0_default_since_13", Tag.EDGE, input=ramp(), since=13, rejects=self.range)
        case("rank1_default_before_11", Tag.CHANGE, input=cube[0, 0], before=11, unspecified=self.coerced)
        case("rank1_default_since_11", Tag.CHANGE, input=cube[0, 0], before=13, rejects=self.range)
        case("rank1_default_since_13", Tag.CHANGE, input=cube[0, 0], since=13, cites=self.along)
        case("axis_from_back_before_11", Tag.AXIS, input=cube, axis=-1, before=11, unspecified=self.back)
        case("axis_too_low_before_11", Tag.AXIS, input=cube, axis=-4, before=11, unspecified=self.back)
        case("axis_rank_before_11", Tag.AXIS, input=cube, axis=3, before=11, unspecified=self.coerced)
        case("axis_too_high_before_11", Tag.AXIS, input=cube, axis=4, before=11, rejects=self.coerced)
        case("axis_rank", Tag.AXIS, input=cube, axis=3, cites=self.rank, rejects=self.range)
        for name, shape, axis in axes():
            case(name, Tag.AXIS, input=waves(*shape), axis=axis, cites=(self.back, self.range) if axis < 0 else ())
        for name, shape, axis in axes_outside():
            case(name, Tag.AXIS, input=ramp(*shape), axis=axis, since=None if shape else 13, rejects=self.range)
