# SPDX-License-Identifier: Apache-2.0
"""Containers: sequences and optionals, and their elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onnx_conformance.declare.arguments import typed, vary
from onnx_conformance.declare.clause import Rule
from onnx_conformance.declare.data import ramp
from onnx_conformance.declare.op import Op, Tag
from onnx_conformance.declare.type import Type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_conformance.base.values import Array
    from onnx_conformance.declare.clause import Clause, Version
    from onnx_conformance.declare.op import Derivation

THREE = [ramp(2), [[5, 6, 7]], 8]
"""Tensors with different shapes."""
NOT_HELD = ("bfloat16", "float8e4m3fn", "int4")
"""Some element types of tensors that are not allowed in sequences, and before version 28 not in optionals."""


def held_by(kind: str, variable: str) -> Derivation:
    """Derive the type of an output from the element type of a container.

    Args:
        kind: the kind of container: seq or optional. Types of other kinds are returned unchanged.
        variable: the type variable of the container.
    """

    def derive(types: Mapping[str, str], _: Mapping[str, Any]) -> str:
        type_ = Type.parse(types[variable])
        return str((type_.kind == kind and type_.inner) or type_)

    return derive


def of_types_not_held(op: Op, rejects: Clause = Rule.TYPES, **arguments: Any) -> None:  # noqa: ANN401 - see `Op.case`
    """Declare cases of an `input_sequence` whose tensors have a type that is not allowed in sequences."""
    for name in NOT_HELD:
        sequence = typed(f"seq(tensor({name}))", [ramp(2), ramp(3)])
        op.case(f"outside_{name}", Tag.DTYPE, input_sequence=sequence, **arguments, rejects=rejects)


@dataclass(frozen=True)
class Position:
    """The input `position`: the position of a tensor in `input_sequence`, counted from the front or from the back.

    Attributes:
        op: the operator.
        accepted, accepted_input: the sentences of the operator and of the input on the range. The first decides which
            positions are too high, the second decides which are too low.
        back: the sentence on negative positions.
        bounds: the sentence on positions that are out of range.
        scalar, scalar_type: the sentences on the rank of the input, in the texts of the input and of its type.
    """

    op: Op
    accepted: Clause
    accepted_input: Clause
    back: Clause
    bounds: Clause
    scalar: Clause
    scalar_type: Clause

    def place(self, v: Version, position: Array, n: int, last: int) -> int:
        """Return the position among n tensors, counted from the front. `last` is the greatest allowed position."""
        v.require(self.scalar, position.ndim == 0)
        place = int(position)
        v.require(self.accepted, place <= last)
        v.require(self.accepted_input, place >= -n)
        return place + n if place < 0 else place

    def inside(self, *cites: Clause, last: int, **arguments: Any) -> None:  # noqa: ANN401 - arguments of the operator
        """Declare a case for every position of THREE. The greatest position is `last`."""
        for place in range(last + 1):
            self.op.case(
                f"position_{place}",
                Tag.AXIS,
                input_sequence=THREE,
                **arguments,
                position=place,
                cites=(*cites, self.accepted_input),
            )
        for place in (-3, -2, -1):
            self.op.case(
                f"position_minus_{-place}",
                Tag.AXIS,
                input_sequence=THREE,
                **arguments,
                position=place,
                cites=(*cites, self.accepted_input, self.back),
            )

    def outside(self, *, last: int, **arguments: Any) -> None:  # noqa: ANN401 - arguments of the operator
        """Declare cases for positions that THREE does not have. The greatest position is `last`."""
        self.op.case(
            "position_too_high",
            Tag.AXIS,
            input_sequence=THREE,
            **arguments,
            position=last + 1,
            rejects=self.accepted,
            cites=self.bounds,
        )
        self.op.case(
            "position_too_low",
            Tag.AXIS,
            input_sequence=THREE,
            **arguments,
            position=-4,
            rejects=self.accepted_input,
            cites=self.bounds,
        )
        self.op.case(
            "position",
            Tag.EDGE,
            input_sequence=THREE,
            **arguments,
            position=vary(highest=2**63 - 1, beyond_int32=2**32 + 1),
            rejects=self.accepted,
        )
        self.op.case(
            "position_lowest",
            Tag.EDGE,
            input_sequence=THREE,
            **arguments,
            position=-(2**63),
            rejects=self.accepted_input,
        )

    def no_scalars(self, **arguments: Any) -> None:  # noqa: ANN401 - arguments of the operator
        """Declare cases for positions that are not scalars."""
        self.op.case(
            "position_vector",
            Tag.EDGE,
            input_sequence=THREE,
            **arguments,
            position=[1],
            rejects=self.scalar,
            cites=self.scalar_type,
        )
        self.op.case(
            "position",
            Tag.EDGE,
            input_sequence=THREE,
            **arguments,
            position=vary(matrix=[[1]], none=[]),
            rejects=self.scalar,
        )

    def of_each_type(self, place: int, **arguments: Any) -> None:  # noqa: ANN401 - arguments of the operator
        """Declare cases for a negative position in each integer type."""
        self.op.case(
            "position_dtypes_from_back",
            Tag.DTYPE,
            each="I",
            input_sequence=THREE,
            **arguments,
            position=place,
            cites=self.back,
        )
