# SPDX-License-Identifier: Apache-2.0
"""Global pools: the sentences that the texts of GlobalAveragePool, GlobalMaxPool and GlobalLpPool share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare.data import ramp
from onnx_conformance.declare.op import Op, Tag

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_conformance.declare import Array
    from onnx_conformance.declare.clause import Clause, Version


def spatial(X: Array) -> tuple[int, ...]:
    """Return the axes after N and C."""
    return tuple(range(2, X.ndim))


class GlobalPool:
    """The sentences on dimensions, and the cases that test them."""

    def __init__(self, op: Op, computes: Clause, equivalent: Clause, *, ranks_since: int = 1) -> None:
        """Declare the sentences.

        Args:
            op: the operator, created with `rank="X"`.
            computes: the sentence on the computed values.
            equivalent: the sentence on the equivalent pool operator.
            ranks_since: the first version that defines the rank of the output.
        """
        self.op, self.computes, self.equivalent = op, computes, equivalent
        self.image = op.clause("dimensions for image case are (N x C x H x W)")
        self.form = op.clause(
            "in the form of (N x C x D1 x D2 ... Dn)",
            note="The text does not define whether an input without D1 is allowed.",
        )
        since = ranks_since if ranks_since > op.versions[0] else None
        self.rank = op.clause("The output tensor has the same rank as the input.", since=since)
        self.ones = op.clause(
            "The first two dimensions of output shape are the same as the input (N x C), while the other dimensions "
            "are all 1.",
            since=since,
        )
        self.since = since

    def require(self, v: Version, X: Array) -> None:
        """Raise unless X has N, C and pixels. The text does not define channels without pixels."""
        v.require(self.form, X.ndim > 1)
        v.silent(self.form, X.ndim == 2)  # noqa: PLR2004 - N and C, and no D1
        v.silent(self.computes, 0 in X.shape and 0 not in X.shape[:2])

    def cases(self, data: Callable[..., Array]) -> None:
        """Declare the cases for dimensions.

        Args:
            data: returns an input of the given shape in which all values are different.
        """
        case, since = self.op.case, self.since
        case("image", X=data(2, 3, 4, 5), cites=(self.computes, self.equivalent, self.image))
        case("one_image", X=data(1, 2, 5, 3), cites=(self.computes, self.image))
        case("line", X=data(2, 3, 7), since=since, cites=(self.computes, self.form, self.rank))
        case("space", X=data(3, 2, 2, 4, 3), since=since, cites=(self.form, self.rank, self.ones))
        case("hyperspace", X=data(2, 3, 1, 2, 4, 3), since=since, cites=(self.form, self.ones))
        case("one_pixel", Tag.EDGE, X=data(2, 3, 1, 1), cites=self.equivalent)
        case("one_element", Tag.EDGE, X=data(1, 1, 1, 1), cites=self.computes)
        case("one_row", Tag.EDGE, X=data(2, 3, 1, 4), cites=self.computes)
        case("one_column", Tag.EDGE, X=data(2, 3, 4, 1), cites=self.computes)
        case("one_channel", Tag.EDGE, X=data(2, 1, 3, 4), cites=self.computes)
        case("many_channels", X=data(1, 19, 2, 2), cites=self.computes)
        case("no_batch", Tag.EDGE, X=ramp(0, 3, 4, 5), cites=self.image)
        case("no_channels", Tag.EDGE, X=ramp(2, 0, 4, 5), cites=self.image)
        case("no_batch_and_no_pixels", Tag.EDGE, X=ramp(0, 3, 0, 5), cites=self.image)
        case("no_channels_and_no_pixels", Tag.EDGE, X=ramp(2, 0, 4, 0), cites=self.image)
        case("no_pixels", Tag.EDGE, X=ramp(2, 3, 0, 5), unspecified=self.computes)
        case("no_columns", Tag.EDGE, X=ramp(2, 3, 4, 0), unspecified=self.computes)
        case("no_spatial_axes", Tag.EDGE, X=data(2, 3), unspecified=self.form)
        case("rank0", Tag.EDGE, X=data(), rejects=self.form)
        case("rank1", Tag.EDGE, X=data(3), rejects=self.form)
        case("image_each_type", Tag.DTYPE, each="T", X=data(2, 3, 3, 2), cites=(self.computes, self.image))

    def edges(self, **values: list[Any]) -> None:
        """Declare a case for each list of rows. Each row contains the pixels of one channel."""
        for name, rows in values.items():
            pixels = np.asarray(rows, float)
            self.op.case(name, Tag.EDGE, X=pixels.reshape(1, len(rows), 1, -1), cites=self.computes)
