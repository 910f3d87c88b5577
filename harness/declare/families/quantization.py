"""How the scales and zero points of a quantized tensor belong to its elements: all, along an axis, or in blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from harness.declare.rounding import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.declare.clause import Clause, Version

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Granularity:
    """The sentences of an operator that say so; of each kind those of its versions, one in force at most.

    Attributes:
        scalar: scale and zero point are scalars, in the versions that know nothing else.
        same_shape: scale and zero point have one shape.
        ranks: which ranks a scale may have.
        length: of the scale along an axis; a single element for more is left open unless it is `explicit`.
        explicit: the sentences among those of `length` that say it in so many words.
        axis: its accepted range.
        rank_one: an input of rank 1 is quantized per tensor.
        blocks: the shape of a scale in blocks.
        block_size: its accepted range.
    """

    scalar: tuple[Clause, ...]
    same_shape: tuple[Clause, ...]
    ranks: tuple[Clause, ...]
    length: tuple[Clause, ...]
    explicit: tuple[Clause, ...]
    axis: tuple[Clause, ...]
    rank_one: tuple[Clause, ...]
    blocks: tuple[Clause, ...]
    block_size: tuple[Clause, ...]

    def spread(
        self, v: Version, shape: tuple[int, ...], scale: Array, zero: Array | None, axis: int | None, size: int | None
    ) -> tuple[Array, Array | None]:
        """Return scale and zero point in a shape that numpy broadcasts to `shape`.

        Args:
            v: the version that speaks.
            shape: of the quantized tensor.
            scale: of any shape.
            zero: the zero point, if there is one.
            axis: as given; None before there was one.
            size: of a block; 0 or None for no blocks.
        """
        if only := _now(v, self.scalar):
            for item in (scale, zero):
                v.silent(only, item is not None and item.ndim > 0 and item.size == 1)
                v.require(only, item is None or item.ndim == 0)
            return scale, zero
        same = zero is None or zero.shape == scale.shape
        v.require(_some(v, self.same_shape), same)
        rank, along = len(shape), 0 if axis is None else axis
        single = _now(v, self.rank_one)
        if scale.ndim == 0 or (single and rank == scale.ndim == scale.size == 1):
            return scale, zero
        v.require(_some(v, self.ranks), scale.ndim == 1 or (bool(_now(v, self.blocks)) and scale.ndim == rank))
        if single:
            v.silent(single, rank == 1)
        inside = -rank <= along < rank
        length = _some(v, self.length)
        if scale.ndim > 1 or (rank == 1 and size):
            v.require(_some(v, self.axis), inside)
            return self._in_blocks(v, shape, scale, zero, along % rank, size or 0)
        v.silent(length, scale.size == 1 and length not in self.explicit and not (inside and shape[along] == 1))
        v.require(_some(v, self.axis), inside)
        v.require(length, scale.size == shape[along])
        column = (-1,) + (1,) * (rank - 1 - along % rank)
        return scale.reshape(column), None if zero is None else zero.reshape(column)

    def _in_blocks(
        self, v: Version, shape: tuple[int, ...], scale: Array, zero: Array | None, axis: int, size: int
    ) -> tuple[Array, Array | None]:
        others = [dim for dim in range(len(shape)) if dim != axis]
        v.require(_some(v, self.blocks), all(scale.shape[dim] == shape[dim] for dim in others))
        whole, parts = shape[axis], scale.shape[axis]
        v.silent(_some(v, self.block_size), whole == 0)
        v.require(_some(v, self.blocks), 0 < parts <= whole)
        highest = -(-whole // (parts - 1)) - 1 if parts > 1 else size
        v.require(_some(v, self.block_size), size > 0 and -(-whole // parts) <= size <= highest)
        element = np.arange(whole) // size
        return scale.take(element, axis), None if zero is None else zero.take(element, axis)


def _now(v: Version, clauses: tuple[Clause, ...]) -> Clause | None:
    return next((clause for clause in clauses if clause.in_force(v.since)), None)


def _some(v: Version, clauses: tuple[Clause, ...]) -> Clause:
    return _now(v, clauses) or clauses[0]


def saturated(
    v: Version, formula: Clause, quotient: Array, zero: Array | float, dtype: np.dtype[Any], *, clips: bool = True
) -> Array:
    """Return saturate(round(quotient) + zero) as the type holds it: rounded to nearest, ties to even.

    A float8 that does not clip is NaN, or infinite where the type has infinities, for what is out of its range.

    Left open by `formula`: NaN in a type that has none, and whether the sum with the zero point of a floating type
    is rounded once more.
    """
    if "float" not in dtype.name:
        v.silent(formula, bool(np.isnan(quotient).any()))
        limits = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]
        return np.asarray(np.clip(np.rint(quotient) + zero, int(limits.min), int(limits.max)))
    v.silent(formula, "float8" not in dtype.name and bool(np.isnan(quotient).any()))
    most = float(ml_dtypes.finfo(dtype).max) if clips else np.inf  # type: ignore[no-untyped-call]
    first = nearest(np.clip(quotient, -most, most), dtype).astype(np.float64)
    once, twice = (nearest(np.clip(value + zero, -most, most), dtype) for value in (quotient, first))
    v.silent(formula, not np.array_equal(once.astype(np.float64), twice.astype(np.float64), equal_nan=True))
    return np.asarray(once)


INTEGERS = {"int8": 10, "uint8": 10, "int16": 21, "uint16": 21, "int4": 21, "uint4": 21, "int2": 25, "uint2": 25}
FLOATS = {"float8e4m3fn": 19, "float8e4m3fnuz": 19, "float8e5m2": 19, "float8e5m2fnuz": 19, "float4e2m1": 23}
FLOATS |= {"float6e2m3": 28, "float6e3m2": 28}
"""Quantized types, and the version of QuantizeLinear and DequantizeLinear that brought each."""

NUMBERS = {"uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "float8_e4m3fn": 17, "float8_e4m3fnuz": 18}
NUMBERS |= {"float8_e5m2": 19, "float8_e5m2fnuz": 20, "uint4": 21, "int4": 22, "float4_e2m1fn": 23, "uint2": 25}
NUMBERS |= {"int2": 26, "float6_e2m3fn": 27, "float6_e3m2fn": 28}
"""Of quantized types in TensorProto.DataType, by the names of their dtypes."""

SHAPE = (2, 3, 4)
"""Of the tensor that `by_axis` and `by_blocks` speak of."""


def _scales(*shape: int) -> Array:
    return (np.arange(1, int(np.prod(shape)) + 1) / 4).reshape(shape)


def by_axis() -> Iterator[tuple[str, Array, int]]:
    """Yield a case name, scales and the axis of SHAPE along which they lie, from the front and from the back."""
    for axis, size in enumerate(SHAPE):
        yield f"axis_{axis}", _scales(size), axis
        yield f"axis_minus_{3 - axis}", _scales(size), axis - 3


def by_blocks() -> Iterator[tuple[str, Array, dict[str, Any]]]:
    """Yield a case name, scales, and the arguments that make them blocks of SHAPE: whole, cut off, longer than it."""
    for axis, size in ((0, 1), (0, 2), (1, 2), (1, 3), (2, 2), (2, 3), (2, 4), (2, 9), (-1, 2), (-2, 2)):
        shape = list(SHAPE)
        shape[axis] = -(-shape[axis] // size)
        yield f"blocks_{size}_axis_{axis}".replace("-", "minus_"), _scales(*shape), {"axis": axis, "block_size": size}


ESSENTIAL = ("length", "axis_too_high", "block_size_left_out", "blocks_broadcast", "scale_of_other_rank")


def misfits() -> Iterator[tuple[str, tuple[int, ...], Array, dict[str, Any], str]]:
    """Yield a case name, the shape of a tensor, scales and arguments that do not fit it, and the sentence they break.

    The sentence is named by the attribute of Granularity. One name of each sentence is ESSENTIAL.
    """
    rows: list[tuple[str, tuple[int, ...], tuple[int, ...], dict[str, Any], str]] = [
        ("length", (2, 3, 4), (3,), {"axis": 2}, "length"),
        ("length_multiple", (3, 4), (2,), {"axis": 1}, "length"),
        ("axis_too_high", (2, 3, 4), (4,), {"axis": 3}, "axis"),
        ("axis_too_low", (2, 3, 4), (2,), {"axis": -4}, "axis"),
        ("block_size_too_low", (3, 7), (3, 3), {"block_size": 2}, "block_size"),
        ("block_size_too_high", (3, 7), (3, 3), {"block_size": 4}, "block_size"),
        ("block_size_zero", (3, 7), (3, 3), {"block_size": 0}, "block_size"),
        ("block_size_negative", (3, 7), (3, 3), {"block_size": -3}, "block_size"),
        ("block_size_left_out", (3, 7), (3, 3), {}, "block_size"),
        ("blocks_axis_too_high", (3, 7), (3, 3), {"axis": 2, "block_size": 3}, "axis"),
        ("blocks_axis_too_low", (3, 7), (3, 3), {"axis": -3, "block_size": 3}, "axis"),
        ("blocks_on_two_axes", (4, 6), (2, 3), {"block_size": 2}, "blocks"),
        ("blocks_broadcast", (4, 6), (1, 3), {"block_size": 2}, "blocks"),
        ("blocks_too_many", (3, 2), (3, 4), {"block_size": 1}, "blocks"),
        ("scale_of_other_rank", (2, 3, 4), (2, 3), {"axis": 0}, "ranks"),
    ]
    for name, shape, scales, given, kind in rows:
        yield name, shape, _scales(*scales), given, kind


def misfits_by_version() -> Iterator[tuple[str, tuple[int, ...], Array, dict[str, Any], str]]:
    """Yield the same; what no one of ESSENTIAL says is not tried again in the versions that change types only."""
    for name, shape, scales, given, kind in misfits():
        yield name, shape, scales, given if name in ESSENTIAL else {**given, "before": 23}, kind
