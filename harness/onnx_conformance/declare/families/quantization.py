# SPDX-License-Identifier: Apache-2.0
"""Quantization: which elements share a scale and a zero point (all, those of an axis, blocks), and saturation."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from onnx_conformance.declare.readings import ONE_ELEMENT
from onnx_conformance.declare.rounding import nearest
from onnx_conformance.declare.sizes import BITS, FEW_LENGTHS, LARGE, LENGTHS, filled, grid

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onnx_conformance.declare.clause import Clause, Version
    from onnx_conformance.declare.op import Op
    from onnx_conformance.declare.partly_open import Result
    from onnx_conformance.declare.sizes import Dims, Sizes

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Granularity:
    """The sentences of an operator on the elements that share a scale. Each version has at most one of each kind.

    Attributes:
        scalar: scale and zero point are scalars, in the versions without an axis.
        same_shape: scale and zero point have the same shape.
        ranks: the ranks that a scale may have.
        length: the length of a scale along an axis. It is open whether one element may apply to the whole axis.
        axis: the accepted range of the axis.
        unused_axis: the sentences of `axis` for a scalar scale, which does not use the axis. It is open whether the
            range then applies, except for the default.
        rank_one: an input of rank 1 is quantized per tensor.
        blocks: the shape of a scale for blocks.
        block_size: the accepted range of the block size.
        only_blocked: a block size is used only for blocks. It is open whether it may be set in other cases.
    """

    scalar: tuple[Clause, ...]
    same_shape: tuple[Clause, ...]
    ranks: tuple[Clause, ...]
    length: tuple[Clause, ...]
    axis: tuple[Clause, ...]
    unused_axis: tuple[Clause, ...]
    rank_one: tuple[Clause, ...]
    blocks: tuple[Clause, ...]
    block_size: tuple[Clause, ...]
    only_blocked: tuple[Clause, ...]

    def spread(
        self, v: Version, shape: tuple[int, ...], scale: Array, zero: Array | None, axis: int | None, size: int | None
    ) -> tuple[Array, Array | None]:
        """Return scale and zero point in a shape that numpy broadcasts to `shape`.

        Args:
            v: the version.
            shape: the shape of the quantized tensor.
            scale: the scale, of any shape.
            zero: the zero point, or None for none.
            axis: the attribute; None in versions without an axis.
            size: the block size; 0 or None for no blocks.

        Raises:
            Rejected, Unspecified: scale and zero point do not fit the tensor, or a sentence leaves this open.
        """
        if scalar := _in_force(v, self.scalar):
            return v.scalar(scalar, scale), None if zero is None else v.scalar(scalar, zero)
        v.require(_the_one_in_force(v, self.same_shape), zero is None or zero.shape == scale.shape)
        assert axis is not None  # noqa: S101 - versions without an axis have only scalar scales
        rank = len(shape)
        rank_one = _in_force(v, self.rank_one)
        per_tensor = scale.ndim == 0 or (rank_one is not None and rank == scale.ndim == scale.size == 1)
        if per_tensor or (scale.ndim == 1 and rank > 1):
            for clause in self.only_blocked:
                v.silent(clause, bool(size))
        inside = -rank <= axis < rank
        if scale.ndim == 0 and (unused_axis := _in_force(v, self.unused_axis)):
            v.silent(unused_axis, not inside and axis != DEFAULT_AXIS)
        if per_tensor:
            v.reads(ONE_ELEMENT, scale.ndim == 1)
            return scale, zero
        blocks = _in_force(v, self.blocks)
        v.require(_the_one_in_force(v, self.ranks), scale.ndim == 1 or (blocks is not None and scale.ndim == rank))
        if rank_one:
            v.silent(rank_one, rank == 1)
        length = _the_one_in_force(v, self.length)
        if scale.ndim > 1 or (rank == 1 and size):
            v.require(_the_one_in_force(v, self.axis), inside)
            assert size is not None  # noqa: S101 - no version has blocks without a size
            return self._in_blocks(v, shape, scale, zero, axis % rank, size)
        v.silent(length, scale.size == 1 and not (inside and shape[axis] == 1))
        v.require(_the_one_in_force(v, self.axis), inside)
        v.require(length, scale.size == shape[axis])
        along = [extent if dim == axis % rank else 1 for dim, extent in enumerate(shape)]
        return scale.reshape(along), None if zero is None else zero.reshape(along)

    def _in_blocks(
        self, v: Version, shape: tuple[int, ...], scale: Array, zero: Array | None, axis: int, size: int
    ) -> tuple[Array, Array | None]:
        """Return scale and zero point, each repeated `size` times along the axis."""
        blocks, block_size = _the_one_in_force(v, self.blocks), _the_one_in_force(v, self.block_size)
        v.require(blocks, all(scale.shape[dim] == shape[dim] for dim in range(len(shape)) if dim != axis))
        whole, parts = shape[axis], scale.shape[axis]
        v.silent(block_size, whole == 0)
        v.require(blocks, 0 < parts <= whole)
        lowest = math.ceil(whole / parts)
        highest = math.ceil(whole / (parts - 1)) - 1 if parts > 1 else math.inf
        v.require(block_size, lowest <= size <= highest)
        block = np.arange(whole) // size
        return scale.take(block, axis), None if zero is None else zero.take(block, axis)


def _in_force(v: Version, clauses: tuple[Clause, ...]) -> Clause | None:
    return next((clause for clause in clauses if clause.in_force(v.since)), None)


def _the_one_in_force(v: Version, clauses: tuple[Clause, ...]) -> Clause:
    return next(clause for clause in clauses if clause.in_force(v.since))


def quantized(
    v: Version,
    formula: Clause,
    quotients: Sequence[Array],
    zero: Array | float,
    dtype: np.dtype[Any],
    *,
    clips: bool = True,
) -> Result:
    """Return saturate(round(quotient) + zero) in the type, rounded to nearest, ties to even.

    Each element may be that of any quotient, or an integer between two of them. If the type is a floating-point type,
    the sum with the zero point may be rounded once or twice. NaN in a type without NaN is open. `formula` defines
    none of these.

    Args:
        v: the version.
        formula: the sentence.
        quotients: quotients of different roundings. The first one is the value that other nodes get.
        zero: the zero point, of a shape that broadcasts.
        dtype: the type.
        clips: whether values outside the range of a float8 are limited to it. Otherwise they become NaN, or infinity in
            a type with infinities.

    Raises:
        Unspecified: all elements are NaN, and the type has no NaN.
    """
    lacks_nan = "float8" not in dtype.name
    nan = functools.reduce(np.logical_or, map(np.isnan, quotients)) & lacks_nan
    numbers = [np.where(nan, 0, quotient) for quotient in quotients] if nan.any() else quotients
    values = [item for quotient in numbers for item in _saturated(quotient, zero, dtype, clips=clips)]
    if "float" not in dtype.name:
        low, high = functools.reduce(np.minimum, values), functools.reduce(np.maximum, values)
        values += [np.minimum(low + more, high) for more in range(1, int((high - low).max(initial=0)))]
    return v.leave_open(formula, nan, v.choose(formula, *values))


def _saturated(quotient: Array, zero: Array | float, dtype: np.dtype[Any], *, clips: bool) -> Iterator[Array]:
    """Yield the sum with the zero point, rounded once and, in a floating-point type, rounded twice."""
    if "float" not in dtype.name:
        limits = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]
        yield np.asarray(np.clip(np.rint(quotient) + zero, int(limits.min), int(limits.max)))
        return
    most = float(ml_dtypes.finfo(dtype).max) if clips else np.inf  # type: ignore[no-untyped-call]
    yield nearest(np.clip(quotient + zero, -most, most), dtype)
    first = nearest(np.clip(quotient, -most, most), dtype).astype(np.float64)
    yield nearest(np.clip(first + zero, -most, most), dtype)


INTEGERS = {"int8": 10, "uint8": 10, "int16": 21, "uint16": 21, "int4": 21, "uint4": 21, "int2": 25, "uint2": 25}
FLOATS = {
    "float8e4m3fn": 19,
    "float8e4m3fnuz": 19,
    "float8e5m2": 19,
    "float8e5m2fnuz": 19,
    "float4e2m1": 23,
    "float6e2m3": 28,
    "float6e3m2": 28,
}
"""Quantized types, and the version of QuantizeLinear and DequantizeLinear that added each."""

NUMBERS = {
    "uint8": 2,
    "int8": 3,
    "uint16": 4,
    "int16": 5,
    "float8_e4m3fn": 17,
    "float8_e4m3fnuz": 18,
    "float8_e5m2": 19,
    "float8_e5m2fnuz": 20,
    "uint4": 21,
    "int4": 22,
    "float4_e2m1fn": 23,
    "uint2": 25,
    "int2": 26,
    "float6_e2m3fn": 27,
    "float6_e3m2fn": 28,
}
"""The numbers of quantized types in TensorProto.DataType, by the names of their dtypes."""

SHAPE = (2, 3, 4)
"""The shape of the tensor of `by_axis` and `by_blocks`."""


def _scales(*shape: int) -> Array:
    return (np.arange(1, math.prod(shape) + 1) / 4).reshape(shape)


def by_axis() -> Iterator[tuple[str, Array, int]]:
    """Yield a case name, scales and their axis of SHAPE, counted from the front and from the back."""
    for axis, size in enumerate(SHAPE):
        yield f"axis_{axis}", _scales(size), axis
        yield f"axis_minus_{3 - axis}", _scales(size), axis - 3


def by_blocks() -> Iterator[tuple[str, Array, int, int]]:
    """Yield a case name, scales, the axis of SHAPE and the block size.

    There are whole blocks, a shorter last block, and a block longer than the axis.
    """
    for axis, size in ((0, 1), (0, 2), (1, 2), (1, 3), (2, 2), (2, 3), (2, 4), (2, 9), (-1, 2), (-2, 2)):
        shape = list(SHAPE)
        shape[axis] = math.ceil(shape[axis] / size)
        yield f"blocks_{size}_axis_{axis}".replace("-", "minus_"), _scales(*shape), axis, size


@dataclass(frozen=True)
class Misfit:
    """Scales that do not fit a tensor.

    Attributes:
        name: the name of the case.
        shape: the shape of the tensor.
        scales: the scales.
        attributes: axis and block_size, if they are set.
        clause: the violated sentence.
        since, before: the range of its versions. None means that it has no limit.
    """

    name: str
    shape: tuple[int, ...]
    scales: Array
    attributes: Mapping[str, Any]
    clause: Clause
    since: int | None
    before: int | None


DEFAULT_AXIS = 1
"""The axis of both operators if the attribute is omitted. It may be out of range for a scalar."""

BLOCKS_SINCE = 21
REPEATED_SINCE = 23
"""Since this version the sentences on granularity are those of version 21."""


def misfits(grains: Granularity) -> Iterator[Misfit]:
    """Yield scales that do not fit, for every sentence that they violate in some version.

    One violation of each kind is tested in every version, the others before REPEATED_SINCE.
    """
    rows: list[tuple[str, tuple[Clause, ...], tuple[int, ...], tuple[int, ...], dict[str, int]]] = [
        ("length", grains.length, (2, 3, 4), (3,), {"axis": 2}),
        ("length_multiple", grains.length, (3, 4), (2,), {"axis": 1}),
        ("axis_too_high", grains.axis, (2, 3, 4), (4,), {"axis": 3}),
        ("axis_too_low", grains.axis, (2, 3, 4), (2,), {"axis": -4}),
        ("block_size_too_low", grains.block_size, (3, 7), (3, 3), {"block_size": 2}),
        ("block_size_too_high", grains.block_size, (3, 7), (3, 3), {"block_size": 4}),
        ("block_size_too_high_of_two", grains.block_size, (2, 7), (2, 2), {"block_size": 7}),
        ("block_size_zero", grains.block_size, (3, 7), (3, 3), {"block_size": 0}),
        ("block_size_negative", grains.block_size, (3, 7), (3, 3), {"block_size": -3}),
        ("block_size_left_out", grains.block_size, (3, 7), (3, 3), {}),
        ("blocks_axis_too_high", grains.axis, (3, 7), (3, 3), {"axis": 2, "block_size": 3}),
        ("blocks_axis_too_low", grains.axis, (3, 7), (3, 3), {"axis": -3, "block_size": 3}),
        ("blocks_on_two_axes", grains.blocks, (4, 6, 5), (2, 3, 5), {"block_size": 2}),
        ("blocks_broadcast", grains.blocks, (4, 6), (1, 3), {"block_size": 2}),
        ("blocks_none", grains.blocks, (3, 7), (3, 0), {"block_size": 3}),
        ("blocks_too_many", grains.blocks, (3, 2), (3, 4), {"block_size": 1}),
        ("scale_of_other_rank", grains.ranks, (2, 3, 4), (2, 3), {"axis": 0}),
    ]
    always = {"length", "axis_too_high", "block_size_left_out", "blocks_broadcast", "scale_of_other_rank"}
    for name, clauses, shape, scales, attributes in rows:
        for clause in clauses:
            since = BLOCKS_SINCE if "block_size" in attributes else None
            if since and not clause.in_force(since):
                continue
            full = f"{name}_before_{clause.before}" if clause.before else name
            before = None if name in always else REPEATED_SINCE
            yield Misfit(full, shape, _scales(*scales), attributes, clause, since, before)


BLOCK_SIZES = (16, 32, 64, 128)
ZERO_POINT = (0, 3)
"""Limits of the integers that are zero points of sized calls. The zero point of a floating-point type is 0."""


def sized_calls(op: Op, real: str, quantized: str, scale: str, each: str, *, by_axis: Clause, blocks: Clause) -> None:
    """Declare the sized calls: one scale for all elements, one for each element of an axis, one for each block.

    Args:
        op: QuantizeLinear or DequantizeLinear.
        real: the name of the first input.
        quantized: the name of the zero point.
        scale: the name of the scale.
        each: the type variable of the quantized elements.
        by_axis: the sentence on scales along an axis.
        blocks: the sentence on scales of blocks.
    """

    def call(name: str, sizes: Sequence[Sizes], data: Dims, scales: Dims, cites: Clause, **attributes: int) -> None:
        arguments = {
            real: filled(*data, floats=(-8, 8), integers=BITS),
            scale: filled(*scales, floats=(0.02, 1)),
            quantized: filled(*scales, floats=(0, 0), integers=ZERO_POINT),
            **attributes,
        }
        # Only 32-bit sums have no zero point.
        op.sized(name, sizes, each=each, but="int32", cites=cites, arguments=arguments)

    call("tensor", grid(n=(*LENGTHS, *LARGE)), ("n",), (), by_axis)
    call("last", grid(m=(17,), n=FEW_LENGTHS), ("m", "n"), ("n",), by_axis, axis=-1)
    call("first", grid(m=FEW_LENGTHS, n=(5, 33)), ("m", "n"), ("m",), by_axis, axis=0)
    call("channels", grid(b=(2,), c=(3, 17, 64), h=(7,), w=(5, 16)), ("b", "c", "h", "w"), ("c",), by_axis, axis=1)
    for size in BLOCK_SIZES:
        lengths = (size, size + 1, 3 * size - 1, 4 * size, 5 * size + 3)
        along = [
            {"m": m, "k": k, "blocks": math.ceil(k / size)} for m, k in zip((17, 3, 5, 8, 33), lengths, strict=True)
        ]
        call(f"blocks_{size}", along, ("m", "k"), ("m", "blocks"), blocks, axis=1, block_size=size)
        call(f"blocks_{size}_first", along[::2], ("k", "m"), ("blocks", "m"), blocks, axis=0, block_size=size)
