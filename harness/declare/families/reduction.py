"""Reduction along axes, as the texts of ReduceSum and its like say it: the sentences, their meaning, their cases."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.declare.arguments import typed
from harness.declare.clause import Rule
from harness.declare.data import Array, axes_outside, ramp
from harness.declare.op import Op, Tag

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from harness.declare.clause import Clause, Version

    Ints = Array | list[int] | tuple[int, ...] | None

WAVES = np.sin(np.arange(24.0) * 1.7).reshape(2, 3, 4)
LONG = np.cos(np.arange(3000.0))


def reduced_axes(data: Array, axes: Ints, noop_with_empty_axes: int | None) -> tuple[int, ...]:
    """Return the axes to reduce, counted from the front; axes that do not exist are left out."""
    given = [] if axes is None else [int(axis) for axis in np.ravel(axes)]
    if not given:
        return () if noop_with_empty_axes else tuple(range(data.ndim))
    return tuple(sorted({axis % data.ndim for axis in given if -data.ndim <= axis < data.ndim}))


def reduced_rank(arguments: Mapping[str, Any]) -> int | None:
    """Return the rank of the output, as far as a model that has no answer can have one."""
    data = arguments.get("data")
    if data is None:
        return None
    gone = reduced_axes(data, arguments.get("axes"), arguments.get("noop_with_empty_axes"))
    return int(data.ndim) - (0 if arguments.get("keepdims", 1) else len(gone))


def terms_of(data: Array, gone: tuple[int, ...]) -> int:
    """Return how many elements are reduced to one."""
    return math.prod(data.shape[axis] for axis in gone)


def exact_sum(data: Array, gone: tuple[int, ...], *, keepdims: bool) -> Array:
    """Return the sum of real numbers, or that of integers as Python has them, which do not overflow."""
    wide = data if data.dtype.kind == "f" else data.astype(object)
    with np.errstate(all="ignore"):
        return np.asarray(wide.sum(gone, keepdims=keepdims), wide.dtype)


def summing(share: Callable[[int], float]) -> Callable[..., list[Array]]:
    """Return the rounding of a sum, for `bounded`: a share of all magnitudes; none for a single term.

    Args:
        share: of how many terms there are.
    """

    def rounding(data: Array, axes: Ints, keepdims: int, noop_with_empty_axes: int | None) -> list[Array]:
        gone = reduced_axes(data, axes, noop_with_empty_axes)
        terms = terms_of(data, gone)
        magnitudes = np.abs(data.astype(np.float64)).sum(gone, keepdims=bool(keepdims))
        return [magnitudes * share(terms) if terms > 1 else np.zeros_like(magnitudes)]

    return rounding


class Reduction:
    """What all reducing operators say of axes, of kept dimensions and of empty sets."""

    def __init__(self, op: Op, *, yields: str, silent: int, by_input: int) -> None:
        """Declare the sentences on `op`.

        Args:
            op: the operator, made with `rank=reduced_rank`.
            yields: the end of the sentence that begins with: Reduction over an empty set of values.
            silent: the version that stopped to speak of rank 0 and of empty sets; 13 speaks of them again.
            by_input: the version in which the axes became an input.
        """
        self.op, self.silent, self.by_input = op, silent, by_input
        self.undefined = yields == "yields undefined."
        self.along = op.clause("along the provided axes.", note="Says not what an axis named twice means.")
        self.rank_old = op.clause(
            "has the same rank as the input if keepdims equals 1. If keepdims equal 0, then the resulted tensor",
            before=_RANK_AGAIN,
        )
        self.rank = op.clause(
            "has the same rank as the input if `keepdims` equals 1. If `keepdims` equals 0, then the resulting tensor",
            since=_RANK_AGAIN,
        )
        self.keep = op.clause("Keep the reduced dimension or not, default 1 means keep reduced dimension.")
        said = f"the reduced dimension pruned. Input tensors of rank zero are valid. {_EMPTY} {yields}"
        self.empty_first = op.clause(f"have {said}", before=silent)
        self.empty = op.clause(f"has {said}", since=_RANK_AGAIN, note=f"Version {silent} says neither.")
        self.list = op.clause(
            "A list of integers, along which to reduce. The default is to reduce over all the dimensions of the input "
            "tensor.",
            before=by_input,
            note="Says not whether an empty list is the default or names no dimension.",
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
        )
        self.range = op.clause("Accepted range is [-r, r-1] where r = rank(data).", since=11)

    def axes(
        self, v: Version, data: Array, axes: Ints, keepdims: int | None, noop_with_empty_axes: int | None
    ) -> tuple[int, ...]:
        """Return the axes to reduce; noop_with_empty_axes is None where the version has none."""
        given = np.asarray([] if axes is None else axes)
        ranged = self.range if self.range.in_force(v.since) else self.list
        v.silent(self.empty_axes, given.ndim != 1)
        v.permit(self.range, bool((given < 0).any()))
        v.require(ranged, bool(((given >= -data.ndim) & (given < data.ndim)).all()))
        v.silent(self.list, self.list.in_force(v.since) and axes is not None and given.size == 0)
        gone = reduced_axes(data, axes, noop_with_empty_axes)
        v.silent(self.along, given.size > len(gone))
        v.silent(self.keep, keepdims not in {0, 1})
        v.silent(self.noop, noop_with_empty_axes not in {0, 1, None})
        spoken = self.empty.in_force(v.since) or self.empty_first.in_force(v.since)
        terms = terms_of(data, gone)
        v.silent(self.empty, not spoken and (data.ndim == 0 or terms == 0))
        v.silent(self.empty if self.empty.in_force(v.since) else self.empty_first, self.undefined and terms == 0)
        return gone

    def cases(self, computes: Clause) -> None:
        """Declare the cases that all reducing operators share; `computes` says what is computed."""
        self._axes_cases()
        self._noop_cases()
        self._empty_cases()
        case = self.op.case
        case("long", Tag.EDGE, data=LONG.reshape(3, 1000), axes=[1], cites=(computes,))
        case("long_columns", Tag.EDGE, data=LONG.reshape(1000, 3), axes=[0], cites=(computes,))
        case("outside", Tag.DTYPE, outside="T", data=ramp(2, 3), rejects=Rule.TYPES)
        case("axes_int32", data=ramp(2, 3), axes=typed("int32", [1]), since=self.by_input, rejects=Rule.TYPES)
        stray: dict[str, tuple[Any, dict[str, int]]] = {
            "axes": ([1], {"since": self.by_input}),
            "noop_with_empty_axes": (1, {"before": self.by_input}),
            "axis": (1, {}),
        }
        for name, (value, when) in stray.items():
            given: dict[str, Any] = {"stray": {name: value}, **when}
            case(f"attribute_{name}", Tag.CHANGE, data=ramp(2, 3), **given, rejects=Rule.ATTRIBUTES)
        case("no_data", keepdims=1, rejects=Rule.ARITY)
        case("no_outputs", data=ramp(2, 3), n=0, rejects=Rule.ARITY)
        case("two_outputs", data=ramp(2, 3), n=2, rejects=Rule.ARITY)

    def _axes_cases(self) -> None:
        case, along, table, cube = self.op.case, (self.along, self.keep), ramp(2, 3), ramp(2, 3, 4)
        for chosen in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (2, 0), (0, 1, 2), (1, 2, 0)):
            named = "_".join(map(str, chosen))
            case(f"axes_{named}_kept", Tag.AXIS, data=cube, axes=chosen, keepdims=1, cites=along)
            case(f"axes_{named}_pruned", Tag.AXIS, data=WAVES, axes=chosen, keepdims=0, cites=along)
            back = [axis - 3 for axis in chosen]
            case(f"axes_{named}_from_back", Tag.AXIS, data=cube, axes=back, keepdims=0, cites=(self.range,))
        case("axes_from_both_ends", Tag.AXIS, data=cube, axes=[-1, 0], cites=(self.range, self.rank))
        case("axes_from_both_ends_old", Tag.AXIS, data=cube, axes=[-1, 0], since=11, cites=(self.rank_old,))
        case("rank5", Tag.AXIS, data=ramp(2, 3, 1, 4, 5), axes=[0, 2, 3], keepdims=0, cites=(self.along,))
        case("size_one", Tag.EDGE, data=WAVES[:, :1], axes=[1], cites=(self.along,))
        case("axis_from_back_old", Tag.AXIS, data=table, axes=[-1], before=11, unspecified=self.range)
        case("axis_too_high_old", Tag.AXIS, data=table, axes=[2], before=11, rejects=self.list)
        case("rank0_old", Tag.AXIS, data=ramp(), axes=[0], before=11, rejects=self.list)
        for name, shape, axis in axes_outside():
            case(name, Tag.AXIS, data=ramp(*shape), axes=[axis], rejects=self.range)
        case("keepdims_two", Tag.EDGE, data=table, keepdims=2, unspecified=self.keep)
        case("twice", Tag.EDGE, data=table, axes=[1, 1], unspecified=self.along)
        case("twice_from_both_ends", Tag.EDGE, data=table, axes=[1, -1], since=11, unspecified=self.along)
        case("axes_scalar", Tag.EDGE, data=table, axes=1, since=self.by_input, unspecified=self.empty_axes)
        case("axes_matrix", Tag.EDGE, data=table, axes=[[0, 1]], since=self.by_input, unspecified=self.empty_axes)

    def _noop_cases(self) -> None:
        case = self.op.case
        noop: dict[str, Any] = {"noop_with_empty_axes": 1}
        case("default_kept", Tag.CHANGE, data=WAVES, noop_with_empty_axes=0, cites=(self.empty_axes, self.keep))
        case("default_kept_old", Tag.CHANGE, data=WAVES, cites=(self.list, self.rank_old, self.keep))
        if self.by_input > _RANK_AGAIN:
            case("default_kept_later", Tag.CHANGE, data=WAVES, cites=(self.list, self.rank, self.keep))
        case("default_pruned", Tag.CHANGE, data=ramp(2, 3, 4), keepdims=0, cites=(self.along,))
        case("noop", Tag.CHANGE, data=WAVES, **noop, cites=(self.noop, self.empty_axes))
        case("noop_pruned", Tag.CHANGE, data=WAVES, **noop, keepdims=0, cites=(self.noop,))
        case("noop_empty_axes", Tag.CHANGE, data=WAVES, axes=[], **noop, cites=(self.noop, self.empty_axes))
        case("noop_with_axes", data=ramp(2, 3, 4), axes=[1], **noop, cites=(self.empty_axes,))
        case("noop_dim_zero", Tag.EDGE, data=ramp(2, 0), **noop, cites=(self.noop,))
        case("noop_scalar", Tag.EDGE, data=3, **noop, cites=(self.noop,))
        case("noop_two", Tag.EDGE, data=ramp(2, 3), noop_with_empty_axes=2, unspecified=self.noop)
        case("noop_axis_too_high", Tag.AXIS, data=ramp(2, 3), axes=[2], **noop, rejects=self.range)
        case("empty_axes", Tag.CHANGE, data=ramp(2, 3, 4), axes=[], cites=(self.empty_axes, self.noop))
        case("empty_axes_old", Tag.CHANGE, data=ramp(2, 3), axes=[], before=self.by_input, unspecified=self.list)

    def _empty_cases(self) -> None:
        case = self.op.case
        for suffix, clause in (("", self.empty), ("_first", self.empty_first)):
            case(f"scalar{suffix}", Tag.EDGE, data=3, cites=(clause,))
            said: dict[str, Any] = {"cites": (clause,), "unspecified": clause if self.undefined else None}
            case(f"empty_set{suffix}", Tag.EDGE, data=ramp(2, 0, 4), axes=[1], **said)
            case(f"empty_set_pruned{suffix}", Tag.EDGE, data=ramp(2, 0, 4), axes=[1], keepdims=0, **said)
            case(f"empty_set_all{suffix}", Tag.EDGE, data=ramp(0, 3), keepdims=0, **said)
        between: dict[str, Any] = {"since": self.silent, "before": _RANK_AGAIN, "unspecified": self.empty}
        case("scalar_silent", Tag.CHANGE, data=3, **between)
        case("empty_set_silent", Tag.CHANGE, data=ramp(2, 0), axes=[1], **between)
        case("other_zero", Tag.EDGE, data=ramp(0, 3), axes=[1], cites=(self.along,))
        case("other_zero_pruned", Tag.EDGE, data=ramp(2, 3, 0), axes=[1], keepdims=0, cites=(self.along,))


_RANK_AGAIN = 13
"""The version that writes what it says of ranks anew."""
_EMPTY = "Reduction over an empty set of values"
