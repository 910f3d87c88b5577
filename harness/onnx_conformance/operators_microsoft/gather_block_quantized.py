# SPDX-License-Identifier: Apache-2.0
"""GatherBlockQuantized: take slices of a tensor that is quantized in blocks, and dequantize them.

    output = GatherBlockQuantized(data, indices, scales, zero_points=None, bits=4, block_size=128, gather_axis=0,
                                  quantize_axis=1)

Versions: 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, extremes, ramp, typed, ulp, vary
from onnx_conformance.declare.sizes import EVERY_BYTE, filled, grid, indices_of
from onnx_conformance.operators_microsoft._packed_bits import unpacked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WIDTHS = (2, 4, 8)
"""The numbers of bits of a quantized number."""
BYTE = 8
LEAST_BLOCK = 16


def _rank(arguments: Mapping[str, Any]) -> int:
    """Return q + (r - 1), but at least 0."""
    return max(0, np.ndim(arguments.get("indices", 0)) + np.ndim(arguments.get("data", 0)) - 1)


def _dimensions(shapes: Mapping[str, tuple[int, ...]], _: Mapping[str, Any]) -> Mapping[str, Sequence[str]]:
    """Name the dimensions of the scales, which the zero points have, too."""
    if "zero_points" not in shapes or shapes.get("scales") != shapes["zero_points"]:
        return {}
    names = [f"scales_{axis}" for axis in range(len(shapes["scales"]))]
    return {"scales": names, "zero_points": names}


GATHER = Op(
    "GatherBlockQuantized",
    versions=(1,),
    compare=ulp(1, "the difference with the zero point is exact, and the product with the scale rounds once"),
    domain="com.microsoft",
    rank=_rank,
    dimensions=_dimensions,
    constants=("data", "scales", "zero_points"),
)
GATHER.example(data=ramp(3, 32), indices=[[2, 0]], scales=[[0.5], [1], [0.25]], block_size=64)

SIMILAR = GATHER.clause(
    "GatherBlockQuantized is a Gather with data quantized.",
    note="The dimensions of the indices take the place of the axis, as in Gather.",
)
CONSTANT = GATHER.clause("Input `data` is a constant.")
CONSTANTS = GATHER.clause("`scales` and `zero_points` are also constants.")
BLOCKWISE = GATHER.clause(
    "It is quantized block-wise along attribute `quantize_axis` with block size specified by attribute `block_size`.",
    note="So there are ceil(size / block_size) scales along this axis, and the last block may be shorter. Along all "
    "other axes, there is a scale for each element.",
)
BLOCK_SIZE = GATHER.clause("`block_size` must be a power of 2 and not smaller than 16, like 16, 32, 64, 128, ...")
WHOLE_AXIS = GATHER.clause(
    "For an FP8 or FP4 `data` type (see point 6 below), `block_size` may also be 0, meaning the entire "
    "`quantize_axis` dimension forms a single block (i.e. one scale per row)."
)
BLOCK_ATTRIBUTE = GATHER.clause("It needs to be a power of 2 and not smaller than 16, or 0.")
ZERO_BLOCK = GATHER.clause(
    "A value of 0 is only valid for an FP8 or FP4 `data` type and means the entire `quantize_axis` dimension forms a "
    "single block."
)
SPECIFIED = GATHER.clause(
    "Input `data`'s scale and zero point are specified by input `scales` and `zero_points`.",
    note="The text does not define the shape of the zero points; that of the scales has a meaning. It does not define "
    "whether zero points of 2 or 4 bits in uint8 are packed as the data are. Only if the last dimension is 1, and the "
    "upper bits are 0, both readings are the same.",
)
DEFAULT_ZERO = GATHER.clause(
    "If `zero_points` is not provided, the default value is 0 for int4/uint4, or 2^(bits-1) for uint8."
)
NO_ZERO = GATHER.clause(
    "`zero_points` must not be provided when `data` is an FP8 or FP4 type: FP8/FP4 quantization is symmetric."
)
NO_ZERO_INPUT = GATHER.clause("Must not be provided when `data` is an FP8 or FP4 type.")
DEQUANTIZE = GATHER.clause(
    "Then, `scales` and `zero_points` are used to dequantize the output.",
    note="The text has a formula for floating-point data only. Integers are dequantized as by DequantizeLinear.",
)
SAME_TYPE = GATHER.clause(
    "The `output` and `scales` have the same type. The `data` and `zero_points` have the same type."
)
UINT8_AXIS = GATHER.clause("For uint8 data, the `gather_axis` must be 0.")
UINT8_BITS = GATHER.clause("The supported `bits` values for uint8 data are 2, 4, and 8;")
PACKED = GATHER.clause(
    "for `bits` < 8 the values are packed along the last dimension (low-order bits first), and `gather_axis` and "
    "`quantize_axis` must differ.",
    note="If the quantize_axis is not the last one, the text does not define whether the packed values of a byte share "
    "a scale.",
)
FLOATS = GATHER.clause(
    "In that case `bits` is ignored, there is no `zero_points` input, and dequantization is simply `output[...] = "
    "float(data[...]) * scales[block_index(...)]`."
)
BROADCAST = GATHER.clause(
    "On any axis other than `quantize_axis`, the corresponding `scales` dimension must either equal `data`'s "
    "dimension, or be 1, in which case the scale is broadcast along that axis (e.g. a single scale shared by every "
    "row, as with a per-tensor scale applied to an entire embedding table)."
)
DATA_RANK = GATHER.clause("Tensor of rank r >= 1.")
INDICES = GATHER.clause("Tensor of int32/int64 indices, of any rank q.")
BACK = GATHER.clause("Values in [-s, s-1] select elements along an axis of size s.")
OUTSIDE = GATHER.clause(
    "Unlike ONNX Gather, an out-of-range index produces zeros for the corresponding output slice.", result=True
)
SAME_RANK = GATHER.clause("Same rank as data.")
ONLY_FLOATS = GATHER.clause(
    "On axes other than quantize_axis, a dimension of 1 broadcasts the scale along that axis (e.g. a single per-tensor "
    "scale for the whole table); only applicable when `data` is an FP8 or FP4 type."
)
OUTPUT = GATHER.clause("Dequantized output tensor of rank q + (r - 1).", result=True)
BITS = GATHER.clause(
    "Must be 2, 4 or 8. Ignored when `data` is an FP8 or FP4 type.",
    note="The text does not define 2 or 8 bits if the data are int4 or uint4.",
)
AXIS = GATHER.clause("Which axis to gather on.")
AXIS_BACK = GATHER.clause("Negative value means counting dimensions from the back.")
AXIS_RANGE = GATHER.clause("Accepted range is [-r, r-1] where r = rank(data).")
BLOCK_AXIS = GATHER.clause("Which axis to block-wise quantize.")


@GATHER.oracle()
def gathered(
    v: Version,
    data: Array,
    indices: Array,
    scales: Array,
    zero_points: Array | None,
    bits: int,
    block_size: int,
    gather_axis: int,
    quantize_axis: int,
) -> Array:
    """Return slices of the dequantized data; an index out of range returns zeros."""
    rank, type_ = data.ndim, v.dtypes["T1"].name
    is_float, in_bytes = "float" in type_, type_ == "uint8"
    v.require(DATA_RANK, rank > 0)
    v.require(AXIS_RANGE, all(-rank <= axis < rank for axis in (gather_axis, quantize_axis)))
    along, blocked = gather_axis % rank, quantize_axis % rank
    v.require(ZERO_BLOCK, block_size != 0 or is_float)
    v.require(BLOCK_SIZE, block_size == 0 or (block_size >= LEAST_BLOCK and block_size.bit_count() == 1))
    v.require(NO_ZERO, zero_points is None or not is_float)
    v.require(BITS, bits in WIDTHS or is_float)
    v.silent(BITS, "int4" in type_ and bits != WIDTHS[1])
    v.require(UINT8_AXIS, not in_bytes or along == 0)
    several = in_bytes and bits < BYTE
    v.require(PACKED, not several or along != blocked)
    v.silent(PACKED, several and blocked != rank - 1)
    values = unpacked(data, bits) if several else data.astype(np.float64)
    block = block_size or max(values.shape[blocked], 1)
    scale = _spread(v, scales, values.shape, blocked, block, is_float=is_float)
    zero: Array = np.asarray(2.0 ** (bits - 1) if in_bytes else 0.0)
    if zero_points is not None:
        v.silent(SPECIFIED, zero_points.shape != scales.shape)
        v.silent(SPECIFIED, several and (scales.shape[-1] != 1 or bool((zero_points >> bits).any())))
        zero = _each_element(zero_points.astype(np.float64), values.shape, blocked, block)
    with np.errstate(all="ignore"):
        real = (values - zero) * scale
    size = real.shape[along]
    inside = (-size <= indices) & (indices < size)
    slices = np.concatenate(
        [real, np.zeros_like(real, shape=(*real.shape[:along], 1, *real.shape[along + 1 :]))], along
    )
    return np.asarray(slices.take(np.where(inside, indices + size * (indices < 0), size), along))


def _spread(v: Version, scales: Array, shape: tuple[int, ...], blocked: int, block: int, *, is_float: bool) -> Array:
    """Return the scale of each element; along all axes except that of the blocks, a dimension may be 1."""
    v.require(SAME_RANK, scales.ndim == len(shape))
    v.require(BLOCKWISE, scales.shape[blocked] == -(-shape[blocked] // block))
    others = [
        (of_scales, size)
        for axis, (of_scales, size) in enumerate(zip(scales.shape, shape, strict=True))
        if axis != blocked
    ]
    if is_float:
        v.require(BROADCAST, all(of_scales in {1, size} for of_scales, size in others))
    else:
        v.require(BLOCKWISE, all(of_scales in {1, size} for of_scales, size in others))
        v.require(ONLY_FLOATS, all(of_scales == size for of_scales, size in others))
    return _each_element(scales, shape, blocked, block)


def _each_element(of_blocks: Array, shape: tuple[int, ...], blocked: int, block: int) -> Array:
    """Return the scale or the zero point of the block of each element."""
    return of_blocks.take(np.arange(shape[blocked]) // block, blocked)


case = GATHER.case


def codes(low: int, high: int, *shape: int) -> Array:
    """Return integers from `low` to `high`. Neighbouring rows and columns differ."""
    index = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    return np.asarray(low + (index * 7 + index // 5) % (high - low + 1))


def steps(*shape: int) -> Array:
    """Return scales that are all different."""
    return np.asarray(0.125 + np.arange(np.prod(shape, dtype=int)).reshape(shape) / 8)


INT4: dict[str, Any] = {"data": typed("int4", codes(-8, 7, 3, 32)), "scales": steps(3, 2), "block_size": 16}
UINT4: dict[str, Any] = {"data": typed("uint4", codes(0, 15, 3, 32)), "scales": steps(3, 2), "block_size": 16}
SOME = [[2, 0], [1, 2]]
case("int4", **INT4, indices=SOME, cites=(CONSTANT, SIMILAR, BLOCKWISE, DEQUANTIZE, DEFAULT_ZERO, OUTPUT, BLOCK_SIZE))
case("uint4", **UINT4, indices=SOME, cites=(SIMILAR, BLOCKWISE, DEFAULT_ZERO))
case(
    "int4_zero_points",
    **INT4,
    indices=SOME,
    zero_points=typed("int4", codes(-8, 7, 3, 2)),
    cites=(CONSTANTS, SPECIFIED, SAME_TYPE),
)
case("uint4_zero_points", **UINT4, indices=SOME, zero_points=typed("uint4", codes(0, 15, 3, 2)), cites=SPECIFIED)
case("int4_bits", **INT4, indices=SOME, bits=4, cites=BITS)
for bits in WIDTHS:
    shape = (3, 4 * bits)
    of_bytes: dict[str, Any] = {"data": typed("uint8", codes(0, 255, *shape)), "scales": steps(3, 2), "bits": bits}
    case(
        f"uint8_of_{bits}_bits", **of_bytes, indices=SOME, block_size=16, cites=(UINT8_BITS, PACKED, DEFAULT_ZERO, BITS)
    )
    one = {**of_bytes, "scales": steps(3, 1), "block_size": 32}
    below = 2**bits
    points = typed("uint8", [[0], [below // 3], [below - 1]])
    case(f"uint8_of_{bits}_bits_zero_points", **one, indices=SOME, zero_points=points, cites=SPECIFIED)
    case(f"uint8_of_{bits}_bits_other_axis", **one, gather_axis=1, indices=SOME, rejects=UINT8_AXIS)
    case(f"uint8_of_{bits}_bits_axis_from_back", **one, gather_axis=-2, indices=SOME, cites=(UINT8_AXIS, AXIS_BACK))
case(
    "uint8_default_bits",
    data=typed("uint8", codes(0, 255, 3, 16)),
    scales=steps(3, 2),
    block_size=16,
    indices=SOME,
    cites=BITS,
)
BYTES: dict[str, Any] = {
    "data": typed("uint8", codes(0, 255, 3, 32)),
    "scales": steps(3, 2),
    "bits": 8,
    "block_size": 16,
}
OF_BYTES = typed("uint8", codes(0, 255, 3, 2))
case("uint8_of_8_bits_zero_point_of_blocks", **BYTES, indices=SOME, zero_points=OF_BYTES, cites=SPECIFIED)
HALF_BYTES: dict[str, Any] = {"data": typed("uint8", codes(0, 255, 3, 16)), "scales": steps(3, 2), "block_size": 16}
case("packed_zero_points", **HALF_BYTES, indices=SOME, zero_points=typed("uint8", [[1]] * 3), unspecified=SPECIFIED)
case(
    "zero_points_in_bytes", **HALF_BYTES, indices=SOME, zero_points=typed("uint8", [[1, 2]] * 3), unspecified=SPECIFIED
)
UPPER: dict[str, Any] = {**HALF_BYTES, "scales": steps(3, 1), "block_size": 32}
case(
    "upper_bits_of_zero_points",
    **UPPER,
    indices=SOME,
    zero_points=typed("uint8", [[17], [1], [1]]),
    unspecified=SPECIFIED,
)
case("packed_along_other_axis", data=typed("uint8", codes(0, 255, 3, 32, 5)), scales=steps(3, 2, 10), block_size=16,
     indices=SOME, unspecified=PACKED)  # fmt: skip
CUBE = typed("uint8", codes(0, 255, 3, 32, 5))
case(
    "uint8_of_8_bits_other_axis_of_blocks",
    data=CUBE,
    scales=steps(3, 2, 5),
    bits=8,
    block_size=16,
    indices=SOME,
    cites=PACKED,
)
case("packed_last_of_three", data=typed("uint8", codes(0, 255, 3, 2, 16)), scales=steps(3, 2, 2), block_size=16,
     quantize_axis=2, indices=SOME, cites=PACKED)  # fmt: skip
case("packed_vector", data=typed("uint8", codes(0, 255, 16)), scales=steps(2), block_size=16, quantize_axis=0,
     indices=[1], rejects=PACKED)  # fmt: skip
case("vector_of_bytes", Tag.EDGE, data=typed("uint8", codes(0, 255, 32)), scales=steps(2), bits=8, block_size=16,
     quantize_axis=0, indices=[1, 17, -1], cites=PACKED)  # fmt: skip
case("vector", Tag.EDGE, data=typed("int4", codes(-8, 7, 40)), scales=steps(3), block_size=16, quantize_axis=0,
     indices=[[1, 17], [-1, 31]], cites=(DATA_RANK, BLOCKWISE))  # fmt: skip
for bits in (2, 8):
    case(f"int4_of_{bits}_bits", Tag.EDGE, **INT4, indices=SOME, bits=bits, unspecified=BITS)
for bits in (0, 1, 3, 5, 16):
    case(f"{bits}_bits", Tag.EDGE, **INT4, indices=SOME, bits=bits, rejects=BITS)
    case(f"uint8_of_{bits}_bits", Tag.EDGE, **{**BYTES, "bits": bits}, indices=SOME, rejects=BITS)
for size, blocks in {16: 3, 32: 2, 64: 1, 128: 1, 1024: 1}.items():
    of_size: dict[str, Any] = {
        "data": typed("int4", codes(-8, 7, 3, 40)),
        "scales": steps(3, blocks),
        "block_size": size,
    }
    case(f"blocks_of_{size}", Tag.EDGE, **of_size, indices=SOME, cites=(BLOCKWISE, BLOCK_ATTRIBUTE))
case(
    "default_block_size", data=typed("int4", codes(-8, 7, 2, 130)), scales=steps(2, 2), indices=[1, 0], cites=BLOCKWISE
)
for size in (-16, 1, 8, 24, 48, 100):
    case(
        f"blocks_of_{size}".replace("-", "minus_"),
        Tag.EDGE,
        **{**INT4, "block_size": size},
        indices=SOME,
        rejects=BLOCK_SIZE,
    )
case("blocks_of_zero", **{**INT4, "scales": steps(3, 1), "block_size": 0}, indices=SOME, rejects=ZERO_BLOCK)
case("blocks_of_zero_bytes", **{**BYTES, "scales": steps(3, 1), "block_size": 0}, indices=SOME, rejects=ZERO_BLOCK)

INDICES_OF: dict[str, Any] = {
    "scalar": 2,
    "vector": [2, 0],
    "matrix": SOME,
    "cube": np.arange(12).reshape(2, 1, 6) * 5 % 3,
}
for name, indices in INDICES_OF.items():
    case(f"{name}_of_indices", **INT4, indices=indices, cites=(INDICES, OUTPUT))
    case(f"{name}_of_indices_of_bytes", **BYTES, indices=indices, cites=(INDICES, OUTPUT))
case("index_types", Tag.DTYPE, each="Tind", **INT4, indices=[-3, 2, -1, 0], cites=(INDICES, BACK))
case("no_indices", Tag.EDGE, **INT4, indices=np.zeros((2, 0), int), cites=INDICES)
FAR = vary(above=[0, 3], below=[-4, 1], far=[2**31 - 1, -(2**31)])
case("out_of_range", Tag.EDGE, **INT4, indices=FAR, cites=OUTSIDE)
case("out_of_range_of_bytes", Tag.EDGE, **BYTES, indices=FAR, cites=OUTSIDE)
case("out_of_range_of_64_bits", Tag.EDGE, **INT4, indices=typed("int64", [2**32, 0, -(2**32), 2**62]), cites=OUTSIDE)
case("out_of_range_at_middle", Tag.EDGE, data=typed("int4", codes(-8, 7, 2, 3, 16)), scales=steps(2, 3, 1),
     block_size=16, gather_axis=1, quantize_axis=2, indices=[3, 1, -4], cites=OUTSIDE)  # fmt: skip
TURNED: dict[tuple[int, int], Any] = {
    (0, 1): ((3, 40, 5), (3, 3, 5)), (0, 2): ((3, 5, 40), (3, 5, 3)), (1, 0): ((40, 3, 5), (3, 3, 5)),
    (1, 2): ((5, 3, 40), (5, 3, 3)), (2, 0): ((40, 5, 3), (3, 5, 3)), (2, 1): ((5, 40, 3), (5, 3, 3)),
    (0, 0): ((40, 5, 3), (3, 5, 3)), (1, 1): ((5, 40, 3), (5, 3, 3)), (2, 2): ((5, 3, 40), (5, 3, 3)),
}  # fmt: skip
for (along, blocked), (shape, of_scales) in TURNED.items():
    turned: dict[str, Any] = {"data": typed("int4", codes(-8, 7, *shape)), "scales": steps(*of_scales), "indices": SOME}
    points = typed("int4", codes(-8, 7, *of_scales))
    front: dict[str, Any] = {"gather_axis": along, "quantize_axis": blocked, "block_size": 16}
    back: dict[str, Any] = {"gather_axis": along - 3, "quantize_axis": blocked - 3, "block_size": 16}
    case(f"along_{along}_in_blocks_of_{blocked}", Tag.AXIS, **turned, **front, cites=(AXIS, BLOCK_AXIS))
    case(
        f"along_{along}_in_blocks_of_{blocked}_from_back",
        Tag.AXIS,
        **turned,
        **back,
        zero_points=points,
        cites=AXIS_BACK,
    )
for name, axis in {"too_high": 2, "too_low": -3}.items():
    case(f"gather_axis_{name}", Tag.AXIS, **INT4, indices=SOME, gather_axis=axis, rejects=AXIS_RANGE)
    case(f"quantize_axis_{name}", Tag.AXIS, **INT4, indices=SOME, quantize_axis=axis, rejects=AXIS_RANGE)
case("scalar_data", Tag.EDGE, data=typed("int4", 3), scales=0.5, indices=[0], block_size=16, gather_axis=0,
     quantize_axis=0, rejects=DATA_RANK)  # fmt: skip
case("no_rows", Tag.EDGE, data=typed("int4", np.zeros((0, 32))), scales=np.zeros((0, 2)), block_size=16,
     indices=[0, -1], cites=OUTSIDE)  # fmt: skip
case("no_columns", Tag.EDGE, data=typed("int4", np.zeros((3, 0))), scales=np.zeros((3, 0)), block_size=16,
     indices=SOME, cites=BLOCKWISE)  # fmt: skip
MISFITS: dict[str, tuple[Any, Any]] = {
    "more_blocks": (steps(3, 3), BLOCKWISE), "fewer_blocks": (steps(3, 1), BLOCKWISE), "rows": (steps(2, 2), BLOCKWISE),
    "turned": (steps(2, 3), BLOCKWISE), "vector": (steps(2), SAME_RANK), "rank3": (steps(1, 3, 2), SAME_RANK),
    "one_row": (steps(1, 2), ONLY_FLOATS),
}  # fmt: skip
for name, (of_scales, clause) in MISFITS.items():
    case(f"scales_{name}", Tag.EDGE, **{**INT4, "scales": of_scales}, indices=SOME, rejects=clause)
    case(f"scales_{name}_of_bytes", Tag.EDGE, **{**BYTES, "scales": of_scales}, indices=SOME, rejects=clause)
OTHER_POINTS: dict[str, Any] = {"vector": [1, 2], "one_row": [[1, 2]], "turned": [[1, 2, 3], [1, 2, 3]]}
for name, other in OTHER_POINTS.items():
    case(f"zero_points_{name}", Tag.EDGE, **INT4, indices=SOME, zero_points=typed("int4", other), unspecified=SPECIFIED)
OTHER_TYPE = typed("uint4", codes(0, 7, 3, 2))
case("zero_points_of_other_type", Tag.DTYPE, **INT4, indices=SOME, zero_points=OTHER_TYPE, rejects=SAME_TYPE)
for type_ in ("float", "float16", "bfloat16"):
    thirds = typed(type_, steps(3, 2) / 3)
    case(f"scales_{type_}", Tag.DTYPE, **{**INT4, "scales": thirds}, indices=SOME, cites=SAME_TYPE)
    points = typed("uint8", codes(0, 255, 3, 2))
    case(f"scales_{type_}_of_bytes", Tag.DTYPE, **{**BYTES, "scales": thirds}, indices=SOME, zero_points=points)
    least = typed(type_, [[6e-8, 1e-7], [-3, 0], [2e4, 9e3]])
    case(f"limits_{type_}", Tag.EDGE, **{**INT4, "scales": least}, indices=SOME, cites=DEQUANTIZE)
EVERY = {"int4": np.arange(-8, 8), "uint4": np.arange(16)}
for type_, numbers in EVERY.items():
    every: dict[str, Any] = {"data": typed(type_, [numbers] * 16), "scales": np.full((16, 1), 0.3), "block_size": 16}
    case(f"every_{type_}", **every, zero_points=typed(type_, numbers[:, None]), indices=np.arange(16), cites=DEQUANTIZE)

FLOAT_TYPES = ("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "float4e2m1")
for type_ in FLOAT_TYPES:
    few = typed(type_, np.resize([0.5, -1.5, 2, 3, -4, 1, -0.5, 6, 0], (3, 32)))
    of_floats: dict[str, Any] = {"data": few, "scales": steps(3, 2) / 3, "block_size": 16}
    case(f"plain_{type_}", Tag.DTYPE, each="T2", **of_floats, indices=SOME, cites=FLOATS)
    case(f"ignores_bits_{type_}", Tag.EDGE, **of_floats, indices=SOME, bits=3, cites=(FLOATS, BITS))
    whole: dict[str, Any] = {"data": few, "indices": SOME, "block_size": 0}
    case(f"whole_axis_{type_}", **whole, scales=steps(3, 1), cites=(WHOLE_AXIS, ZERO_BLOCK, BLOCK_ATTRIBUTE))
    case(f"one_scale_{type_}", **whole, scales=[[0.3]], cites=(BROADCAST, ONLY_FLOATS))
    case(f"one_scale_for_rows_{type_}", **{**of_floats, "scales": steps(1, 2)}, indices=SOME, cites=BROADCAST)
    case(f"first_axis_{type_}", **whole, scales=steps(1, 32), quantize_axis=0, cites=WHOLE_AXIS)
    case(
        f"scale_of_other_rows_{type_}",
        Tag.EDGE,
        **{**of_floats, "scales": steps(2, 2)},
        indices=SOME,
        rejects=BROADCAST,
    )
    case(f"blocks_of_eight_{type_}", Tag.EDGE, **{**of_floats, "block_size": 8}, indices=SOME, rejects=BLOCK_SIZE)
    points = typed(type_, np.ones((3, 2)))
    case(f"zero_points_{type_}", Tag.EDGE, **of_floats, indices=SOME, zero_points=points, rejects=NO_ZERO)
    case(f"out_of_range_{type_}", Tag.EDGE, **of_floats, indices=[1, 3, -4], cites=OUTSIDE)
    case(f"extremes_{type_}", Tag.EDGE, data=typed(type_, extremes(3, 32)), scales=steps(3, 2), block_size=16,
         indices=SOME, cites=FLOATS)  # fmt: skip
OF_THREE: dict[str, Any] = {"data": typed("float8e4m3fn", np.ones((3, 5, 32))), "block_size": 16, "quantize_axis": 2}
case("one_scale_for_some_axes", **OF_THREE, scales=steps(3, 1, 2), indices=SOME, cites=BROADCAST)
case("scale_of_one_wrong_axis", Tag.EDGE, **OF_THREE, scales=steps(3, 2, 2), indices=SOME, rejects=BROADCAST)
STRANGE = [[np.nan, np.inf], [1, -np.inf], [0, 2]]
POSITIVE = typed("float8e4m3fn", np.full((3, 32), 1.5))
case("scales_not_finite", Tag.EDGE, data=POSITIVE, scales=STRANGE, block_size=16, indices=SOME, cites=FLOATS)
with_points: dict[str, Any] = {"data": POSITIVE, "scales": steps(3, 2), "block_size": 16, "indices": SOME}
case("zero_points_of_float8", **with_points, zero_points=typed("float8e4m3fn", np.zeros((3, 2))), cites=NO_ZERO_INPUT,
     rejects=NO_ZERO)  # fmt: skip

TABLE = grid(n=(33, 1000), k=(1, 3, 8), s=(5, 33))
for size in (16, 32, 128):
    for type_, per_byte in {"int4": 1, "uint4": 1, "uint8": 2}.items():
        of_sizes: dict[str, Any] = {
            "data": filled("n", ("k", size // per_byte), integers=EVERY_BYTE, type_=type_),
            "indices": indices_of("n", "s", back=True), "scales": filled("n", "k"), "block_size": size,
        }  # fmt: skip
        some = TABLE[:: 1 if size == 32 else 3]  # noqa: PLR2004 - the usual size of a block
        GATHER.sized(f"{type_}_in_blocks_of_{size}", some, each="T2", cites=(BLOCKWISE, DEQUANTIZE), arguments=of_sizes)
        if per_byte == 1:
            drawn = {"zero_points": filled("n", "k", integers=EVERY_BYTE, type_=type_)}
            GATHER.sized(f"{type_}_in_blocks_of_{size}_with_zero_points", some[::2], cites=SPECIFIED,
                         arguments={**of_sizes, **drawn})  # fmt: skip
WHOLE_BYTES: dict[str, Any] = {
    "data": filled("n", ("k", 32), integers=EVERY_BYTE, type_="uint8"), "indices": indices_of("n", "s"),
    "scales": filled("n", "k"), "zero_points": filled("n", "k", integers=EVERY_BYTE, type_="uint8"), "block_size": 32,
    "bits": 8,
}  # fmt: skip
GATHER.sized("bytes", TABLE, each="T2", cites=SPECIFIED, arguments=WHOLE_BYTES)
for type_ in FLOAT_TYPES:
    table: dict[str, Any] = {
        "data": filled("n", ("k", 32), type_=type_), "indices": indices_of("n", "s"), "scales": filled("n", "k"),
        "block_size": 32,
    }  # fmt: skip
    GATHER.sized(f"table_{type_}", TABLE[::3], cites=FLOATS, arguments=table)
