# SPDX-License-Identifier: Apache-2.0
"""Blocks of two spatial dimensions, and the depth dimension that contains their elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, extremes, ramp, vary

if TYPE_CHECKING:
    from collections.abc import Callable


RANK = 4


def into_blocks(depth: Array, size: int, mode: str) -> Array:
    """Return [N, C / size**2, H * size, W * size] of [N, C, H, W].

    With mode CRD, the new C is outside the block dimensions of the depth; otherwise it is inside.
    """
    n, c, h, w = depth.shape
    if mode == "CRD":
        parts = depth.reshape(n, c // size**2, size, size, h, w).transpose(0, 1, 4, 2, 5, 3)
    else:
        parts = depth.reshape(n, size, size, c // size**2, h, w).transpose(0, 3, 4, 1, 5, 2)
    return parts.reshape(n, c // size**2, h * size, w * size)


def into_depth(blocks: Array, size: int, mode: str) -> Array:
    """Return [N, C * size**2, H / size, W / size] of [N, C, H, W]: the inverse of `into_blocks`."""
    n, c, h, w = blocks.shape
    parts = blocks.reshape(n, c, h // size, size, w // size, size)
    order = (0, 1, 3, 5, 2, 4) if mode == "CRD" else (0, 3, 5, 1, 2, 4)
    return parts.transpose(order).reshape(n, c * size**2, h // size, w // size)


class Blocks:
    """The sentences that DepthToSpace and SpaceToDepth share, and the cases that test them."""

    def __init__(self, op: Op, *, modes_since: int, output: str) -> None:
        """Declare the sentences.

        Args:
            op: the operator, created with `rank="input"`.
            modes_since: the first version with the attribute mode.
            output: the sentence that describes the output.
        """
        self.op, self.modes_since, clause = op, modes_since, op.clause
        self.moved = clause(
            "Blocks of [blocksize, blocksize] are moved.", note="The text does not define sizes below 1."
        )
        self.input = clause(
            "Input tensor of [N,C,H,W], where N is the batch axis, C is the channel or depth, H is the height and W is "
            "the width."
        )
        self.output = clause(output, note="Therefore the divided dimension must be a multiple of the divisor.")
        self.mode = clause(
            "DCR (default) for depth-column-row order re-arrangement. Use CRD for column-row-depth order.",
            since=modes_since,
            note="The text does not define other strings.",
        )

    def check(self, v: Version, input: Array, blocksize: int, mode: str | None) -> None:
        """Raise Rejected or Unspecified if the sentences forbid or do not cover the input or an attribute."""
        v.require(self.input, input.ndim == RANK)
        v.silent(self.moved, blocksize < 1)
        v.silent(self.mode, mode not in {None, "DCR", "CRD"})

    def cases(self, shape: Callable[[int, int, int, int, int], tuple[int, ...]], orders: dict[str, Any]) -> None:
        """Declare the cases.

        Args:
            shape: returns a shape of the input for N, C, H, W and a block size. Each of these is the smaller one of
                input and output.
            orders: the sentences on the order, by mode. The key "" means that mode is not set.
        """
        case = self.op.case
        for mode, clauses in orders.items():
            name, attributes = (f"_{mode.lower()}", {"mode": mode}) if mode else ("", {})
            call: dict[str, Any] = attributes
            for size in (1, 2, 3):
                numbers = self._numbers(shape(2, 3, 1, 4, size))
                case(f"block_{size}{name}", input=numbers, blocksize=size, **call, cites=(*clauses, self.moved))
            cites = (*clauses, self.output)
            case(f"one_channel{name}", input=self._numbers(shape(1, 1, 3, 2, 2)), blocksize=2, **call, cites=cites)
            case(f"channels{name}", input=self._numbers(shape(1, 5, 1, 1, 2)), blocksize=2, **call, cites=cites)
            case(
                f"one_column{name}",
                Tag.EDGE,
                input=self._numbers(shape(1, 2, 3, 1, 2)),
                blocksize=2,
                **call,
                cites=cites,
            )
            case(f"large{name}", input=self._numbers(shape(2, 3, 5, 7, 4)), blocksize=4, **call, cites=cites)
            for place, of in enumerate(("samples", "channels", "rows", "columns")):
                sizes = [2, 3, 4, 5]
                sizes[place] = 0
                none = ramp(*shape(sizes[0], sizes[1], sizes[2], sizes[3], 2))
                case(f"no_{of}{name}", Tag.EDGE, input=none, blocksize=2, **call, cites=self.output)
            case(
                f"extremes{name}",
                Tag.DTYPE,
                Tag.EDGE,
                each="T",
                input=extremes(*shape(1, 3, 1, 2, 2)),
                blocksize=2,
                **call,
                cites=clauses,
            )
        whole = shape(1, 3, 4, 5, 2)
        others = vary(three=ramp(*whole[1:]), five=ramp(*whole, 1), two=ramp(4, 4), none=ramp())
        case("rank", Tag.EDGE, input=others, blocksize=2, rejects=self.input)
        case("block", Tag.EDGE, input=ramp(*whole), blocksize=vary(zero=0, negative=-2), unspecified=self.moved)
        modes = vary(lower="crd", other="RCD", empty="")
        case("mode", Tag.EDGE, input=ramp(*whole), blocksize=2, mode=modes, unspecified=self.mode)

    @staticmethod
    def _numbers(shape: tuple[int, ...]) -> Array:
        return np.arange(np.prod(shape)).reshape(shape)
