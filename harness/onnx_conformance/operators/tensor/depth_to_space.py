# SPDX-License-Identifier: Apache-2.0
"""DepthToSpace: the channels become blocks of height and width.

    output = DepthToSpace(input, blocksize, mode="DCR")

Versions: 1, 11 (mode), 13 (bfloat16), 28 (a function body).
"""

from __future__ import annotations

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, ramp
from onnx_conformance.declare.sizes import filled
from onnx_conformance.operators.tensor._blocks import Blocks, into_blocks

DEPTH_TO_SPACE = Op("DepthToSpace", versions=(1, 11, 13, 28), compare=EXACT, rank="input", widens=False)
DEPTH_TO_SPACE.example(input=ramp(1, 8, 2, 3), blocksize=2, mode="CRD")

REARRANGES = DEPTH_TO_SPACE.clause(
    "DepthToSpace rearranges (permutes) data from depth into blocks of spatial data.",
    note="On the order, version 1 only states that it is the reverse of SpaceToDepth, whose text does not define it "
    "either. Version 11 calls the order of both DCR.",
)
REVERSE = DEPTH_TO_SPACE.clause("This is the reverse transformation of SpaceToDepth.")
COPY = DEPTH_TO_SPACE.clause(
    "this op outputs a copy of the input tensor where values from the depth dimension are moved in spatial blocks to "
    "the height and width dimensions."
)
DEFAULT = DEPTH_TO_SPACE.clause("By default, `mode` = `DCR`.", since=11)
DCR = DEPTH_TO_SPACE.clause(
    "In the DCR mode, elements along the depth dimension from the input tensor are rearranged in the following order: "
    "depth, column, and then row.",
    since=11,
)
DCR_CODE = DEPTH_TO_SPACE.clause(
    "tmp = np.reshape(x, [b, blocksize, blocksize, c // (blocksize**2), h, w]) tmp = np.transpose(tmp, [0, 3, 4, 1, 5, "
    "2]) y = np.reshape(tmp, [b, c // (blocksize**2), h * blocksize, w * blocksize])",
    since=11,
)
CRD = DEPTH_TO_SPACE.clause(
    "In the CRD mode, elements along the depth dimension from the input tensor are rearranged in the following order: "
    "column, row, and the depth.",
    since=11,
)
CRD_CODE = DEPTH_TO_SPACE.clause(
    "tmp = np.reshape(x, [b, c // (blocksize ** 2), blocksize, blocksize, h, w]) tmp = np.transpose(tmp, [0, 1, 4, 2, "
    "5, 3]) y = np.reshape(tmp, [b, c // (blocksize ** 2), h * blocksize, w * blocksize])",
    since=11,
)
BLOCKS = Blocks(
    DEPTH_TO_SPACE,
    modes_since=11,
    output="Output tensor of [N, C/(blocksize * blocksize), H * blocksize, W * blocksize].",
)


@DEPTH_TO_SPACE.oracle()
def spaces(v: Version, input: Array, blocksize: int, mode: str | None) -> Array:
    """Return the input with its channels in blocks. mode is None before version 11."""
    BLOCKS.check(v, input, blocksize, mode)
    v.require(BLOCKS.output, input.shape[1] % blocksize**2 == 0)
    return into_blocks(input, blocksize, mode or "DCR")


def _shape(n: int, c: int, h: int, w: int, size: int) -> tuple[int, ...]:
    return n, c * size**2, h, w


case = DEPTH_TO_SPACE.case
BLOCKS.cases(_shape, {"": (REARRANGES, REVERSE, COPY), "DCR": (DCR, DCR_CODE), "CRD": (CRD, CRD_CODE, BLOCKS.mode)})
case("default", input=ramp(1, 8, 2, 3), blocksize=2, cites=DEFAULT)
case("channels_left_over", Tag.EDGE, input=ramp(1, 6, 2, 3), blocksize=2, rejects=BLOCKS.output)
case("fewer_channels_than_block", Tag.EDGE, input=ramp(1, 2, 2, 3), blocksize=2, rejects=BLOCKS.output)

for mode, rearranged in {"DCR": DCR, "CRD": CRD}.items():
    DEPTH_TO_SPACE.sized(
        mode.lower(),
        [
            {"b": 2, "c": channels * block**2, "h": 7, "w": w, "block": block}
            for channels in (1, 3, 8)
            for block in (2, 3, 4)
            for w in (5, 16, 37)
        ],
        each="T" if mode == "DCR" else None,
        cites=rearranged,
        arguments={"input": filled("b", "c", "h", "w"), "blocksize": lambda sizes: sizes["block"], "mode": mode},
    )
