# SPDX-License-Identifier: Apache-2.0
"""Reduction along axes: the sentences that ReduceSum and similar operators share, their meaning, and their cases."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare.arguments import vary
from onnx_conformance.declare.data import axes_outside, ramp
from onnx_conformance.declare.op import Op, Tag
from onnx_conformance.declare.sizes import REDUCED, filled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx_conformance.base.values import Array
    from onnx_conformance.declare.clause import Clause, Version

    Ints = Array | list[int] | tuple[int, ...] | None

WAVES = np.sin(np.arange(24.0) * 1.7).reshape(2, 3, 4)
LONG = np.cos(np.arange(3000.0))


def reduced_axes(data: Array, axes: Ints, noop_with_empty_axes: int | None) -> tuple[int, ...]:
    """Return the axes to reduce, counted from the front. Axes that do not exist are omitted."""
    named = [] if axes is None else [int(axis) for axis in np.ravel(axes)]
    if not named:
        return () if noop_with_empty_axes else tuple(range(data.ndim))
    return tuple(sorted({axis % data.ndim for axis in named if -data.ndim <= axis < data.ndim}))


def reduced_rank(arguments: Mapping[str, Any]) -> int | None:
    """Return the rank of the output.

    Models without an expected output must state one too.
    """
    data = arguments.get("data")
    if data is None:
        return None
    removed = reduced_axes(data, arguments.get("axes"), arguments.get("noop_with_empty_axes"))
    return int(data.ndim) - (0 if arguments.get("keepdims", 1) else len(removed))


def terms_of(data: Array, removed: tuple[int, ...]) -> int:
    """Return the number of elements that are reduced to one."""
    return math.prod(data.shape[axis] for axis in removed)


def exact_sum(data: Array, removed: tuple[int, ...], *, keepdims: bool) -> Array:
    """Return the sum of real numbers; sums of integers are Python integers, which do not overflow."""
    wide = data if data.dtype.kind == "f" else data.astype(object)
    with np.errstate(all="ignore"):
        return np.asarray(wide.sum(removed, keepdims=keepdims), wide.dtype)


def summing(share: Callable[[int], float]) -> Callable[..., list[Array]]:
    """Return the rounding of a sum, for `bounded`: a share of all magnitudes, and 0 for a single term.

    Args:
        share: a function of the number of terms.
    """

    def rounding(data: Array, axes: Ints, keepdims: int, noop_with_empty_axes: int | None) -> list[Array]:
        removed = reduced_axes(data, axes, noop_with_empty_axes)
        terms = terms_of(data, removed)
        magnitudes = np.abs(data.astype(np.float64)).sum(removed, keepdims=bool(keepdims))
        return [magnitudes * share(terms) if terms > 1 else np.zeros_like(magnitudes)]

    return rounding


class Reduction:
    """The sentences of all reducing operators on axes, kept dimensions and empty sets."""

    def __init__(self, op: Op, *, empty: Clause, by_input: int) -> None:
        """Declare the sentences on axes, which all of them share.

        Args:
            op: the operator, created with `rank=reduced_rank`.
            empty: the sentence on rank 0 and empty sets.
            by_input: the version in which the axes became an input.
        """
        self.op, self.empty, self.by_input = op, empty, by_input
        self.along = op.clause("along the provided axes.", note="The text does not define repeated axes.")
        self.rank = op.clause(
            "has the same rank as the input if `keepdims` equals 1. If `keepdims` equals 0, then the resulting tensor"
        ).reworded(
            before=13,
            text="has the same rank as the input if keepdims equals 1. If keepdims equal 0, then the resulted tensor",
        )
        self.keep = op.clause("Keep the reduced dimension or not, default 1 means keep reduced dimension.")
        self.list = op.clause(
            "A list of integers, along which to reduce. The default is to reduce over all the dimensions of the input "
            "tensor.",
            before=by_input,
            note="The text does not define whether an empty list means the default or no dimension.",
        )
        self.empty_axes = op.clause(
            "Optional input list of integers, along which to reduce. The default is to reduce over empty axes. When "
            "axes is empty (either not provided or explicitly empty), behavior depends on 'noop_with_empty_axes': "
            "reduction over all axes if 'noop_with_empty_axes' is false, and reduction over the empty set of axes when "
            "'noop_with_empty_axes' is true.",
            since=by_input,
        )
        self.noop = op.clause(
            "If false (default), reduction happens over all axes (similar to the case when `axis=None` in numpy). If "
            "true, reduction happens over an empty set of axes (similar to the case when `axis=()` in numpy). Note "
            "that reduction over an empty set of axes means that the reduction step behaves like a no-op (identity "
            "function)",
            since=by_input,
            see=(
                "https://github.com/onnx/onnx/issues/6103",
                "https://github.com/onnx/onnx/pull/7394",
                "https://github.com/onnx/onnx/pull/7137",
            ),
        )
        self.range = op.clause("Accepted range is [-r, r-1] where r = rank(data).", since=11)

    def axes(
        self, v: Version, data: Array, axes: Ints, keepdims: int | None, noop_with_empty_axes: int | None
    ) -> tuple[int, ...]:
        """Return the axes to reduce. noop_with_empty_axes is None in versions without it."""
        named = np.asarray([] if axes is None else axes)
        ranged = self.range if self.range.in_force(v.since) else self.list
        v.silent(self.empty_axes, named.ndim != 1)
        v.permit(self.range, bool((named < 0).any()))
        v.require(ranged, bool(((named >= -data.ndim) & (named < data.ndim)).all()))
        v.silent(self.list, self.list.in_force(v.since) and axes is not None and named.size == 0)
        removed = reduced_axes(data, axes, noop_with_empty_axes)
        v.silent(self.along, named.size > len(removed))
        v.silent(self.keep, keepdims not in {0, 1})
        v.silent(self.noop, noop_with_empty_axes not in {0, 1, None})
        is_empty = data.ndim == 0 or terms_of(data, removed) == 0
        v.silent(self.empty, is_empty and not self.empty.in_force(v.since))
        return removed

    def cases(self, computes: Clause, *, undefined: bool = False) -> None:
        """Declare the cases that all reducing operators share.

        Args:
            computes: the sentence on the computed values.
            undefined: whether the result for an empty set is undefined.
        """
        for name, (dims, axes, sizes) in REDUCED.items():
            self.op.sized(
                name,
                sizes,
                each="T",
                cites=(self.along, computes),
                arguments={"data": filled(*dims, floats=(0.5, 1.5), integers=(0, 1)), "axes": axes, "keepdims": 0},
            )
        self._axes_cases()
        self._noop_cases()
        self._empty_cases(undefined=undefined)
        self.op.case("long", Tag.EDGE, data=LONG.reshape(3, 1000), axes=[1], cites=computes)
        self.op.case("long_columns", Tag.EDGE, data=LONG.reshape(1000, 3), axes=[0], cites=computes)

    def _axes_cases(self) -> None:
        case, table, cube = self.op.case, ramp(2, 3), ramp(2, 3, 4)
        for axes in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (2, 0), (0, 1, 2), (1, 2, 0)):
            name = "axes_" + "_".join(map(str, axes))
            from_back = [axis - 3 for axis in axes]
            case(f"{name}_kept", Tag.AXIS, data=cube, axes=axes, keepdims=1, cites=(self.along, self.keep))
            case(f"{name}_pruned", Tag.AXIS, data=WAVES, axes=axes, keepdims=0, cites=(self.along, self.keep))
            case(f"{name}_from_back", Tag.AXIS, data=cube, axes=from_back, keepdims=0, cites=self.range)
        both_ends = [-1, 0]
        case("axes_from_both_ends", Tag.AXIS, data=cube, axes=both_ends, since=13, cites=(self.range, self.rank))
        earlier: dict[str, Any] = {"since": 11, "before": 13}
        case("axes_from_both_ends_before_13", Tag.AXIS, data=cube, axes=both_ends, **earlier, cites=self.rank)
        case("rank5", Tag.AXIS, data=ramp(2, 3, 1, 4, 5), axes=[0, 2, 3], keepdims=0, cites=self.along)
        case("size_one", Tag.EDGE, data=WAVES[:, :1], axes=[1], cites=self.along)
        case("axis_from_back_before_11", Tag.AXIS, data=table, axes=[-1], before=11, unspecified=self.range)
        case("axis_too_high_before_11", Tag.AXIS, data=table, axes=[2], before=11, rejects=self.list)
        case("rank0_before_11", Tag.AXIS, data=ramp(), axes=[0], before=11, rejects=self.list)
        for name, shape, axis in axes_outside():
            case(name, Tag.AXIS, data=ramp(*shape), axes=[axis], rejects=self.range)
        case("keepdims_two", Tag.EDGE, data=table, keepdims=2, unspecified=self.keep)
        case("twice", Tag.EDGE, data=table, axes=[1, 1], unspecified=self.along)
        case("twice_from_both_ends", Tag.EDGE, data=table, axes=[1, -1], since=11, unspecified=self.along)
        case(
            "axes",
            Tag.EDGE,
            data=table,
            axes=vary(scalar=1, matrix=[[0, 1]]),
            since=self.by_input,
            unspecified=self.empty_axes,
        )

    def _noop_cases(self) -> None:
        case, cube = self.op.case, ramp(2, 3, 4)
        case("default_kept", Tag.CHANGE, data=WAVES, noop_with_empty_axes=0, cites=(self.empty_axes, self.keep))
        case("default_kept_before_13", Tag.CHANGE, data=WAVES, before=13, cites=(self.list, self.rank, self.keep))
        if self.list.in_force(13):
            case("default_kept_since_13", Tag.CHANGE, data=WAVES, since=13, cites=(self.list, self.rank, self.keep))
        case("default_pruned", Tag.CHANGE, data=cube, keepdims=0, cites=self.along)
        case("noop", Tag.CHANGE, data=WAVES, noop_with_empty_axes=1, cites=(self.noop, self.empty_axes))
        case("noop_pruned", Tag.CHANGE, data=WAVES, noop_with_empty_axes=1, keepdims=0, cites=self.noop)
        case(
            "noop_empty_axes",
            Tag.CHANGE,
            data=WAVES,
            axes=[],
            noop_with_empty_axes=1,
            cites=(self.noop, self.empty_axes),
        )
        case("noop_with_axes", data=cube, axes=[1], noop_with_empty_axes=1, cites=self.empty_axes)
        case("noop", Tag.EDGE, data=vary(dim_zero=ramp(2, 0), scalar=3), noop_with_empty_axes=1, cites=self.noop)
        case("noop_two", Tag.EDGE, data=ramp(2, 3), noop_with_empty_axes=2, unspecified=self.noop)
        case("noop_axis_too_high", Tag.AXIS, data=ramp(2, 3), axes=[2], noop_with_empty_axes=1, rejects=self.range)
        case("empty_axes", Tag.CHANGE, data=cube, axes=[], cites=(self.empty_axes, self.noop))
        case(
            f"empty_axes_before_{self.by_input}",
            Tag.CHANGE,
            data=ramp(2, 3),
            axes=[],
            before=self.by_input,
            unspecified=self.list,
        )

    def _empty_cases(self, *, undefined: bool) -> None:
        case, empty = self.op.case, self.empty
        unspecified = empty if undefined else None
        zero_size: dict[str, Any] = {"data": ramp(2, 0, 4), "axes": [1], "cites": empty, "unspecified": unspecified}
        case("scalar", Tag.EDGE, data=3, cites=empty)
        case("empty_set", Tag.EDGE, **zero_size)
        case("empty_set_pruned", Tag.EDGE, **zero_size, keepdims=0)
        case("empty_set_all", Tag.EDGE, data=ramp(0, 3), keepdims=0, cites=empty, unspecified=unspecified)
        silent_since = empty.wordings[-1].before
        case("scalar_silent", Tag.CHANGE, data=3, since=silent_since, before=13, unspecified=self.empty)
        case(
            "empty_set_silent",
            Tag.CHANGE,
            data=ramp(2, 0),
            axes=[1],
            since=silent_since,
            before=13,
            unspecified=self.empty,
        )
        case("other_zero", Tag.EDGE, data=ramp(0, 3), axes=[1], cites=self.along)
        case("other_zero_pruned", Tag.EDGE, data=ramp(2, 3, 0), axes=[1], keepdims=0, cites=self.along)
