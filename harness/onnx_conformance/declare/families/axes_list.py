# SPDX-License-Identifier: Apache-2.0
"""Lists of axes in the form that Squeeze and Unsqueeze share: an attribute before version 13, then an input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare.arguments import vary
from onnx_conformance.declare.op import Op, Tag

if TYPE_CHECKING:
    from onnx_conformance.declare.clause import Clause, Version


@dataclass(frozen=True)
class AxesList:
    """The sentences on a list of axes, and the cases that test the form of the list.

    Attributes:
        op: the operator.
        one_d: the sentence that requires a 1-D tensor.
        any_list: the sentence on the list in earlier versions.
    """

    op: Op
    one_d: Clause
    any_list: Clause

    def resolve(self, v: Version, axes: Any) -> list[int]:  # noqa: ANN401 - an attribute or an input
        """Return the axes as written.

        Raises:
            Rejected, Unspecified: the axes are not a list.
        """
        if self.one_d.in_force(v.since):
            v.require(self.one_d, np.ndim(axes) == 1)
        v.silent(self.any_list, np.ndim(axes) != 1)
        return [int(axis) for axis in axes]

    def cases(self, data: Any) -> None:  # noqa: ANN401 - anything that numpy accepts, or Data
        """Declare the cases. 0 and 2 must be axes of `data`."""
        case, no_list = self.op.case, vary(scalar=2, matrix=[[0, 2]])
        case("list", data=data, axes=[0, 2], cites=self.any_list)
        case("one_d", Tag.CHANGE, data=data, axes=[0, 2], cites=self.one_d)
        case("axes_before_23", Tag.EDGE, data=data, axes=no_list, since=13, before=23, unspecified=self.any_list)
        case("axes", Tag.EDGE, data=data, axes=no_list, rejects=self.one_d)
