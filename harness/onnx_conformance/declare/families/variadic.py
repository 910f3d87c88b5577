# SPDX-License-Identifier: Apache-2.0
"""Elementwise operators with any number of tensors: the common part of Max, Min, Sum and Mean, and their cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare.arguments import typed
from onnx_conformance.declare.data import extremes, ramp
from onnx_conformance.declare.op import Op, Tag
from onnx_conformance.declare.sizes import filled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_conformance.declare.clause import Clause
    from onnx_conformance.declare.families.broadcasting import Multidirectional


def rank_of_all(arguments: Mapping[str, Any]) -> int:
    """Return the rank of the result of all tensors."""
    return max((np.ndim(arguments[name]) for name in arguments if name.startswith("data_0_")), default=0)


class Variadic:
    """The cases of Max, Min, Sum and Mean: tensors of one shape before version 8, then broadcast shapes."""

    def __init__(
        self, op: Op, computes: Clause, *, same_shape_before_8: Clause, same_type: Clause, numpy: Multidirectional
    ) -> None:
        """Store the sentences.

        Args:
            op: the operator, created with `rank=rank_of_all`.
            computes: the sentence on the computed values.
            same_shape_before_8: the sentence that requires one shape and type for all tensors.
            same_type: the sentence that requires one type for all tensors, since version 8.
            numpy: the sentence on multidirectional broadcasting.
        """
        self.op, self.computes, self.numpy = op, computes, numpy
        self.same_shape, self.same_type = same_shape_before_8, same_type
        self.same_dimension = op.clause("Same dimension as inputs.", before=8)
        self.legacy = op.clause("legacy optimization attribute.", before=6)

    def cases(self, of_tensors: Clause) -> None:
        """Declare the cases. The clause describes the list of tensors."""
        case = self.op.case
        first, second, third = [1, 5, 3], [4, 2, 6], [7, 0, 4]
        case("one", Tag.EDGE, data_0=(ramp(2, 3),), cites=(self.computes, self.same_dimension))
        case("two", data_0=(first, second), cites=(self.computes, self.same_dimension))
        case("three", data_0=(first, second, third), cites=(self.computes, of_tensors))
        seven = tuple([(item * index) % 7 for item in range(6)] for index in range(1, 8))
        case("seven", data_0=seven, cites=self.computes)
        case("rank4", data_0=(ramp(2, 3, 4, 5), np.arange(120)[::-1].reshape(2, 3, 4, 5)), cites=self.computes)
        case("twice_the_same", Tag.EDGE, data_0=(first, first), cites=self.computes)
        case("negative", data_0=([-1, -5, 0], [-4, -2, -6]), cites=self.computes)
        case("rank0", Tag.EDGE, data_0=(3, 4), cites=self.computes)
        case("size_one", Tag.EDGE, data_0=([4], [3]), cites=self.computes)
        case("zero_size", Tag.EDGE, data_0=(ramp(2, 0, 3), ramp(2, 0, 3)), cites=self.computes)
        case("zero_size_one", Tag.EDGE, data_0=(ramp(0),), cites=self.computes)
        case("consumed_inputs", data_0=(first, second), consumed_inputs=[0, 0], cites=self.legacy)
        case("shapes_differ_before_8", Tag.CHANGE, data_0=(ramp(2, 3), ramp(3)), rejects=self.same_shape)
        case("scalar_second_before_8", Tag.CHANGE, data_0=(ramp(2, 3), 2), rejects=self.same_shape)
        case("shape_of_third_before_8", data_0=(ramp(2, 3), ramp(2, 3), ramp(1, 3)), rejects=self.same_shape)
        case("same_count_before_8", Tag.EDGE, data_0=(ramp(2, 3), ramp(3, 2)), rejects=self.same_shape)

        self.numpy.cases(_operands)
        self.numpy.sized(self.computes, lambda one, other: {"data_0": (filled(*one), filled(*other))}, suffix="_two")
        self.numpy.sized(
            self.computes,
            lambda one, other: {"data_0": (filled(*other), filled(*one), filled(*one))},
            suffix="_three",
            step=3,
        )
        for shapes in (
            ((2, 1, 1), (3, 1), (4,)),
            ((4,), (3, 1), (2, 1, 1)),
            ((), (3,), (1, 1), (2, 1)),
            ((1, 0), (), (2, 1)),
        ):
            name = "_and_".join("x".join(map(str, shape)) or "scalar" for shape in shapes)
            case(f"broadcast_{name}", Tag.CHANGE, **_operands(*shapes), cites=self.numpy.clause)
        case("mismatch_of_third", data_0=(ramp(2, 3), ramp(3), ramp(4)), rejects=self.numpy.clause)
        case("mismatch_first_and_third", Tag.EDGE, data_0=(ramp(2), 1, ramp(3)), rejects=self.numpy.clause)

        case("dtypes_one_extremes", Tag.DTYPE, Tag.EDGE, each="T", data_0=(extremes(11),), cites=self.computes)
        case("two_types_before_8", Tag.DTYPE, data_0=(first, typed("double", second)), rejects=self.same_shape)
        case("two_types", Tag.DTYPE, data_0=(first, typed("double", second)), rejects=self.same_type)
        case("third_type", Tag.DTYPE, data_0=(first, second, typed("float16", third)), rejects=self.same_type)


def _operands(*shapes: tuple[int, ...]) -> dict[str, Any]:
    """Return rotated ramps. Tensors of the same shape have different orders."""
    return {"data_0": tuple(np.roll(ramp(*dims).of(np.dtype("int64")), index) for index, dims in enumerate(shapes))}
