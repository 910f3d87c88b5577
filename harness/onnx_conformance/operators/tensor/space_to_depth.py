# SPDX-License-Identifier: Apache-2.0
"""SpaceToDepth: blocks of height and width become channels.

    output = SpaceToDepth(input, blocksize, mode="DCR")

Versions: 1, 13 (bfloat16), 28 (mode).
"""

from __future__ import annotations

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, ramp
from onnx_conformance.declare.sizes import filled
from onnx_conformance.operators.tensor._blocks import Blocks, into_depth

SPACE_TO_DEPTH = Op("SpaceToDepth", versions=(1, 13, 28), compare=EXACT, rank="input", widens=False)
SPACE_TO_DEPTH.example(input=ramp(1, 2, 4, 6), blocksize=2, mode="CRD")

REARRANGES = SPACE_TO_DEPTH.clause(
    "SpaceToDepth rearranges blocks of spatial data into depth.",
    note="This text does not define the order. Since version 11, the text of DepthToSpace defines itself as the "
    "reverse of this operator: DCR.",
)
COPY = SPACE_TO_DEPTH.clause(
    "this op outputs a copy of the input tensor where values from the height and width dimensions are moved to the "
    "depth dimension."
)
ORDERED = SPACE_TO_DEPTH.clause(
    "`mode` determines whether blocks are ordered depth-column-row (`DCR`, the default) or column-row-depth (`CRD`).",
    since=28,
)
BLOCKS = Blocks(
    SPACE_TO_DEPTH, modes_since=28, output="Output tensor of [N, C * blocksize * blocksize, H/blocksize, W/blocksize]."
)


@SPACE_TO_DEPTH.oracle()
def depths(v: Version, input: Array, blocksize: int, mode: str | None) -> Array:
    """Return the input with its blocks as channels. mode is None before version 28."""
    BLOCKS.check(v, input, blocksize, mode)
    v.require(BLOCKS.output, all(size % blocksize == 0 for size in input.shape[2:]))
    return into_depth(input, blocksize, mode or "DCR")


def _shape(n: int, c: int, h: int, w: int, size: int) -> tuple[int, ...]:
    return n, c, h * size, w * size


case = SPACE_TO_DEPTH.case
BLOCKS.cases(_shape, {"": (REARRANGES, COPY), "DCR": (ORDERED, BLOCKS.mode), "CRD": (ORDERED, BLOCKS.mode)})
case("default", input=ramp(1, 2, 4, 6), blocksize=2, cites=ORDERED)
case("rows_left_over", Tag.EDGE, input=ramp(1, 2, 5, 4), blocksize=2, rejects=BLOCKS.output)
case("columns_left_over", Tag.EDGE, input=ramp(1, 2, 4, 5), blocksize=2, rejects=BLOCKS.output)
case("smaller_than_block", Tag.EDGE, input=ramp(1, 2, 2, 3), blocksize=3, rejects=BLOCKS.output)

for mode in ("DCR", "CRD"):
    SPACE_TO_DEPTH.sized(
        mode.lower(),
        [
            {"b": 2, "c": channels, "h": 5 * block, "w": w * block, "block": block}
            for channels in (1, 3, 8)
            for block in (2, 3, 4)
            for w in (5, 16, 65)
        ],
        each="T" if mode == "DCR" else None,
        cites=(REARRANGES, ORDERED),
        arguments={"input": filled("b", "c", "h", "w"), "blocksize": lambda sizes: sizes["block"], "mode": mode},
    )
