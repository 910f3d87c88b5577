"""Dimensions of one, taken from a shape or put into it, and the list of axes that says which: Squeeze and Unsqueeze."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.declare.arguments import typed
from harness.declare.clause import Rule
from harness.declare.op import Op, Tag

if TYPE_CHECKING:
    from harness.declare.clause import Version


class Axes:
    """What the text says of the list of axes: an attribute before version 13, then an input."""

    def __init__(self, op: Op, purpose: str, ranked: str) -> None:
        """Declare the sentences on `op`.

        Args:
            op: the operator.
            purpose: what the text says that the dimensions are to do.
            ranked: the tensor whose rank bounds the axes.
        """
        self.op = op
        self.not_negative = op.clause(f"List of non-negative integers, indicate the dimensions to {purpose}", before=11)
        self.list = op.clause(
            f"List of integers indicating the dimensions to {purpose}.",
            since=11,
            before=23,
            note="Does not say that the list is 1-D.",
        )
        self.one_d = op.clause(f"1D tensor of integers indicating the dimensions to {purpose}.", since=23)
        self.back = op.clause("Negative value means counting dimensions from the back.", since=11)
        self.range = op.clause(f"Accepted range is [-r, r-1] where r = rank({ranked}).", since=11)
        self.same_data = op.clause("Reshaped tensor with same data as input.")
        self.all_types = op.clause("Constrain input and output types to all tensor types")

    def given(self, v: Version, axes: Any) -> list[int]:  # noqa: ANN401 - an attribute or an input
        """Return the axes as they are given.

        Raises:
            Rejected: they are no list.
        """
        if self.one_d.in_force(v.since):
            v.require(self.one_d, np.ndim(axes) == 1)
        v.silent(self.list, np.ndim(axes) != 1)
        return [int(axis) for axis in axes]

    def cases(self, data: Any) -> None:  # noqa: ANN401 - whatever numpy takes, or Data
        """Declare the cases of how axes are given; 0 and 2 are axes of `data`."""
        case = self.op.case
        case("list", data=data, axes=[0, 2], cites=(self.list,))
        case("one_d", Tag.CHANGE, data=data, axes=[0, 2], cites=(self.one_d,))
        case("axes_scalar_old", Tag.EDGE, data=data, axes=2, since=13, before=23, unspecified=self.list)
        case("axes_matrix_old", Tag.EDGE, data=data, axes=[[0, 2]], since=13, before=23, unspecified=self.list)
        case("axes_scalar", Tag.EDGE, data=data, axes=2, rejects=self.one_d)
        case("axes_matrix", Tag.EDGE, data=data, axes=[[0, 2]], rejects=self.one_d)
        case("axes_int32", data=data, axes=typed("int32", [2]), since=13, rejects=Rule.TYPES)
        case("axes_float", data=data, axes=typed("float", [2]), since=13, rejects=Rule.TYPES)
