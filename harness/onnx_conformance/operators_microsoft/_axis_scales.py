# SPDX-License-Identifier: Apache-2.0
"""QuantizeLinear and DequantizeLinear: one scale for all elements, or one for each element of an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare.arguments import typed
from onnx_conformance.declare.data import ramp
from onnx_conformance.declare.op import Op, Tag
from onnx_conformance.declare.sizes import BITS, FEW_LENGTHS, LARGE, LENGTHS, filled, grid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_conformance.declare import Array, Clause, Version
    from onnx_conformance.declare.sizes import Dims, Sizes

INTEGERS = ("int8", "uint8", "int16", "uint16", "int4", "uint4")
"""The quantized types of both operators; DequantizeLinear has int32, too."""
SHAPE = (2, 3, 4)
"""The shape of the tensor in the cases on axes."""


class Granularity:
    """The sentences on the elements that share a scale, and their cases."""

    def __init__(self, op: Op, scale: str, matches: Clause) -> None:
        """Declare the sentences.

        Args:
            op: the operator; its first input is x.
            scale: the name of the scale, and the first letters of that of the zero point: x_scale.
            matches: the sentence on the shape of the zero point.
        """
        self.op, self.matches = op, matches
        self.scale, self.zero_point = scale, scale.replace("scale", "zero_point")
        self.same_shape = op.clause("Scale and zero point must have same shape.")
        self.either = op.clause("They must be either scalar (per tensor) or 1-D tensor (per 'axis').")
        self.per_tensor = op.clause(
            "If it's not specified, it means per-tensor quantization and input 'x_scale' and 'x_zero_point' must be "
            "scalars.",
            note="In both operators, these names mean the scale and the zero point. The text does not define whether "
            "a tensor of shape [1] counts as a scalar.",
        )
        self.per_axis = op.clause(
            "If it's specified, it means per 'axis' quantization and input 'x_scale' and 'x_zero_point' must be 1-D "
            "tensors.",
            note="The text does not define a scale of another length than that of the axis.",
        )
        self.axis = op.clause(
            "The axis along which same quantization parameters are applied. It's optional.",
            note="There is one scale for each element of the axis. The text does not define a negative axis, or one "
            "that the tensor does not have.",
        )

    def spread(
        self, v: Version, shape: tuple[int, ...], scale: Array, zero: Array | None, axis: int | None
    ) -> tuple[Array, Array]:
        """Return scale and zero point as doubles, in a shape that numpy broadcasts to `shape`.

        Args:
            v: the version.
            shape: the shape of x.
            scale: the scale, of any shape.
            zero: the zero point; None for 0.
            axis: the attribute; None if it is omitted.
        """
        wide = scale.astype(np.float64)
        zeros = np.zeros(scale.shape) if zero is None else zero.astype(np.float64)
        v.require(self.same_shape, zeros.ndim == scale.ndim)
        v.require(self.matches, zeros.shape == scale.shape)
        v.require(self.either, scale.ndim <= 1)
        if axis is None:
            v.silent(self.per_tensor, scale.shape == (1,))
            v.require(self.per_tensor, scale.ndim == 0)
            return wide, zeros
        v.require(self.per_axis, scale.ndim == 1)
        v.silent(self.axis, not 0 <= axis < len(shape))
        v.silent(self.per_axis, scale.size != shape[axis])
        along = [1] * len(shape)
        along[axis] = scale.size
        return wide.reshape(along), zeros.reshape(along)

    def cases(self, x: Array, x_type: str) -> None:
        """Declare the cases, with zero points of type uint8.

        Args:
            x: numbers of shape SHAPE.
            x_type: their type.
        """

        def case(
            name: str,
            scale: object,
            zero_point: object,
            data: object = x,
            **words: Any,  # noqa: ANN401 - see `Op.case`
        ) -> None:
            arguments: dict[str, Any] = {"x": typed(x_type, data), self.scale: scale}
            if zero_point is not None:
                arguments[self.zero_point] = typed("uint8", zero_point)
            self.op.case(name, Tag.AXIS, **arguments, **words)

        by_axis = (self.axis, self.per_axis, self.either)
        for axis, size in enumerate(SHAPE):
            scales, zeros = np.arange(1, size + 1) / 4, np.arange(size) * 3 + 1
            case(f"axis_{axis}", scales, zeros, axis=axis, cites=by_axis)
            case(f"axis_{axis}_without_zero_points", scales, None, axis=axis, cites=by_axis)
            case(f"axis_minus_{3 - axis}", scales, zeros, axis=axis - 3, unspecified=self.axis)
            case(f"axis_{axis}_left_out", scales, zeros, rejects=self.per_tensor)
            case(f"axis_{axis}_of_one_scale", [0.5], [1], axis=axis, unspecified=self.per_axis)
        case("axis_of_vector", np.arange(1, 5) / 4, np.arange(4), x[0, 0], axis=0, cites=by_axis)
        case("axis_of_length_one", [0.5], [1], x[:, :1], axis=1, cites=by_axis)
        case("axis_of_no_elements", np.ones(0), np.zeros(0), ramp(2, 0), axis=1, cites=by_axis)
        case("axis_too_high", [1, 2], [0, 1], axis=3, unspecified=self.axis)
        case("axis_too_low", [1, 2], [0, 1], axis=-4, unspecified=self.axis)
        case("axis_of_scalar", [0.5], [1], 7, axis=0, unspecified=self.axis)
        case("scales_too_few", [1, 2, 4], [0, 1, 2], axis=2, unspecified=self.per_axis)
        case("scales_too_many", [1, 2, 4], [0, 1, 2], axis=0, unspecified=self.per_axis)
        case("scalar", 0.5, 3, cites=(self.per_tensor, self.either, self.same_shape))
        case("scalar_without_zero_point", 0.5, None, cites=self.per_tensor)
        case("scalar_of_rank1", [0.5], [3], unspecified=self.per_tensor)
        case("scalar_with_axis", 0.5, 3, axis=1, rejects=self.per_axis)
        case("scalar_with_axis_without_zero_point", 0.5, None, axis=1, rejects=self.per_axis)
        case("scalar_and_vector", 0.5, [1, 2, 3], axis=1, rejects=self.same_shape)
        case("scalar_and_vector_of_one", 0.5, [1], rejects=self.same_shape)
        case("vector_and_scalar", [1, 2, 4], 1, axis=1, rejects=self.same_shape)
        case("vectors_of_two_lengths", [1, 2, 4], [1, 2], axis=1, rejects=self.matches)
        case("vectors_of_other_lengths", [1, 2], [1, 2, 3], axis=1, rejects=self.matches)
        case("matrix", [[1, 2, 4]], [[1, 2, 3]], axis=1, rejects=self.either)
        case("matrix_without_axis", [[1, 2, 4]], [[1, 2, 3]], rejects=self.either)
        case("matrix_of_one", [[1]], [[1]], rejects=self.either)

    def sized(self, each: str, formula: Clause, types: tuple[str, ...]) -> None:
        """Declare the sized calls.

        Args:
            each: the type variable of the quantized elements.
            formula: the sentence on the computed values.
            types: the types to leave out.
        """
        calls: dict[str, tuple[Dims, Dims, list[dict[str, int]], Mapping[str, int]]] = {
            "tensor": (("n",), (), grid(n=(*LENGTHS, *LARGE)), {}),
            "last": (("m", "n"), ("n",), grid(m=(17,), n=FEW_LENGTHS), {"axis": 1}),
            "first": (("m", "n"), ("m",), grid(m=FEW_LENGTHS, n=(5, 33)), {"axis": 0}),
            "channels": (("b", "c", "h", "w"), ("c",), grid(b=(2,), c=(3, 17, 64), h=(7,), w=(5, 16)), {"axis": 1}),
        }
        for name, (data, scales, sizes, attributes) in calls.items():
            of_sizes: dict[str, Any] = {
                "x": filled(*data, floats=(-8, 8), integers=BITS),
                self.scale: filled(*scales, floats=(0.02, 1)),
                self.zero_point: filled(*scales, integers=(0, 3)),
                **attributes,
            }
            chosen: list[Sizes] = list(sizes)
            self.op.sized(name, chosen, each=each, but=types, cites=formula, arguments=of_sizes)
