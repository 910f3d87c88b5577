# SPDX-License-Identifier: Apache-2.0
"""The index of the greatest or the least element along an axis: the sentences that ArgMax and ArgMin share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import AnyOf, Array, Int, Op, Tag, Version, any_place, axes, axes_outside, ramp, typed
from onnx_conformance.declare.sizes import among, filled
from onnx_conformance.operators.reduction._sizes import REDUCED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CUBE = (np.arange(60) * 23 % 60).reshape(3, 4, 5)
"""All elements are different. They are in no order along any axis."""
TIES = [[2, 5, 5, 1, 5], [7, 7, 0, 7, 3], [4, 4, 4, 4, 4]]


def rank(arguments: Mapping[str, Any]) -> int | None:
    """Return the rank of the output.

    Models without an expected output must state one too.
    """
    data = arguments.get("data")
    return None if data is None else max(0, int(data.ndim) - (0 if arguments.get("keepdims", 1) else 1))


def mirrored(data: Any) -> Array:  # noqa: ANN401 - anything that numpy converts to an array
    """Return numbers whose greatest elements are at the positions of the least elements of `data`."""
    numbers = np.asarray(data)
    if numbers.dtype.kind == "f":
        return -numbers
    exact = numbers.astype(object)
    return np.asarray(exact.max() + exact.min() - exact).astype(numbers.dtype)


class ArgExtremum:
    """The sentences of ArgMax and ArgMin, their meaning and their cases. The cases are written for the greatest."""

    def __init__(self, op: Op, word: str) -> None:
        """Declare the sentences.

        Args:
            op: the operator, created with `rank=rank`.
            word: "max" or "min".
        """
        self.op, clause = op, op.clause
        superlative = "greatest" if word == "max" else "least"
        self.computes = clause(
            f"Computes the indices of the {word} elements of the input tensor's element along the provided axis.",
            note=f"Without elements there is no {superlative}. No text defines the order of NaN. +0 and -0 are "
            f"equal. If several elements are the {superlative}, each of them is one of the {word} elements; before "
            "version 12 the index of any of them is correct.",
            see=(
                "https://github.com/onnx/onnx/issues/4716",
                "https://github.com/microsoft/onnxruntime/issues/10514",
                "https://github.com/apache/tvm/issues/19572",
            ),
        )
        self.same_rank = clause("The resulting tensor has the same rank as the input if keepdims equals 1.")
        self.pruned = (
            clause("If keepdims equals 0, then the resulting tensor has the reduced dimension pruned.")
            .reworded(
                before=13, text="If keepdims equal 0, then the resulting tensor has the reduced dimension pruned."
            )
            .reworded(
                before=11, text="If keepdims equal 0, then the resulted tensor have the reduced dimension pruned."
            )
        )
        self.keep = clause(
            "Keep the reduced dimension or not, default 1 means keep reduced dimension.",
            note="The text does not define values other than 0 and 1.",
        )
        self.not_empty = clause(
            "The input tensor must not be empty.",
            since=11,
            before=12,
            note="This applies even if the dimension of size 0 is not reduced.",
        )
        self.last = clause(
            f"If select_last_index is True (default False), the index of the last occurrence of the {word} is selected "
            f"if the {word} appears more than once in the input.",
            since=12,
        )
        self.first = clause("Otherwise the index of the first occurrence is selected.", since=12)
        self.whether = clause(
            "Whether to select the last index or the first index if the {name} appears in multiple indices, default is "
            "False (first index).",
            since=12,
            note="The text does not define values other than 0 and 1.",
        )
        self.which_axis = clause("The axis in which to compute the arg indices.")
        self.range = clause("Accepted range is [-r, r-1] where r = rank(data).", since=11)
        self.integer = clause("The type of the output tensor is integer.")
        self.integer_output = clause("Reduced output tensor with integer data type.")

    def places(
        self, v: Version, data: Array, extremum: Callable[..., Array], axis: int, keepdims: int, select_last_index: Int
    ) -> Array | AnyOf:
        """Return the index of the extremum along `axis`. select_last_index is None before version 12."""
        v.permit(self.range, axis < 0)
        v.require(self.range if self.range.in_force(v.since) else self.which_axis, -data.ndim <= axis < data.ndim)
        if self.not_empty.in_force(v.since):
            v.require(self.not_empty, data.size > 0)
        v.silent(self.computes, data.shape[axis] == 0)
        v.ordered(self.computes, data)
        v.silent(self.keep, keepdims not in {0, 1})
        v.silent(self.whether, select_last_index not in {None, 0, 1})
        chosen = data == extremum(data, axis, keepdims=True)
        place = np.indices(data.shape)[axis]
        if select_last_index is None:
            any_index = any_place(np.moveaxis(place, axis, -1), np.moveaxis(chosen, axis, -1))
            kept = (np.expand_dims(index, axis) if keepdims == 1 else index for index in any_index.values)
            return AnyOf(*kept, elementwise=True)
        if select_last_index == 1:
            return np.asarray(place.max(axis, keepdims=keepdims == 1, where=chosen, initial=0))
        return np.asarray(place.min(axis, keepdims=keepdims == 1, where=chosen, initial=data.shape[axis]))

    def cases(self, *, greatest: bool) -> None:
        """Declare the cases.

        Args:
            greatest: whether the cases look for the greatest. Otherwise the numbers are mirrored.
        """
        turned: Callable[[Any], Array] = np.asarray if greatest else mirrored
        self._basic_cases(turned, "greatest" if greatest else "least")
        self._ties(turned, "infinity" if greatest else "minus_infinity", "minus_infinity" if greatest else "infinity")
        self._empty_cases()
        self._axes_cases(turned)
        self.sized()
        for type_ in (f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)):
            low, high = int(np.iinfo(type_).min), int(np.iinfo(type_).max)
            hard = turned(np.array([[high - 1, low, high], [low + 1, low, 0], [low, 1, 0]], type_))
            self.op.case(f"limits_{type_}", Tag.EDGE, data=typed(type_, hard), axis=1, cites=self.computes)

    def sized(self) -> None:
        """Declare the sized calls."""
        for name, (dims, axis, sizes) in REDUCED.items():
            self.op.sized(
                name,
                sizes,
                each="T" if name == "first" else None,
                cites=self.computes,
                arguments={"data": filled(*dims), "axis": axis, "keepdims": 0},
            )
            for word, select, clause in (("first", 0, self.first), ("last", 1, self.last)):
                self.op.sized(
                    f"{name}_{word}_of_ties",
                    sizes[::2],
                    cites=clause,
                    arguments={"data": among(range(5), *dims), "axis": axis, "select_last_index": select},
                )

    def _basic_cases(self, turned: Callable[[Any], Array], superlative: str) -> None:
        case, computes, cube, inf = self.op.case, self.computes, turned(CUBE), np.inf
        case("default", data=cube, cites=(computes, self.same_rank, self.integer))
        case("kept", data=cube, axis=1, keepdims=1, cites=(self.same_rank, self.keep, self.integer_output))
        case("pruned", data=cube, axis=1, keepdims=0, cites=(self.pruned, self.keep))
        case("pruned_default_axis", data=cube, keepdims=0, cites=self.pruned)
        case("to_scalar", Tag.EDGE, data=turned([3, 8, 1]), keepdims=0, cites=computes)
        case("keepdims_two", Tag.EDGE, data=cube, keepdims=2, unspecified=self.keep)
        case(f"first_is_{superlative}", data=turned([9, 8, 1]), cites=computes)
        case(f"last_is_{superlative}", data=turned([1, 8, 9]), cites=computes)
        case("negative", data=turned([[-3, -1, -2], [-9, -8, -7]]), axis=1, cites=computes)
        case("size_one", Tag.EDGE, data=[[7], [3]], axis=1, cites=computes)
        case("one_element", Tag.EDGE, data=[7], cites=computes)
        case("long", data=turned(np.arange(600).reshape(2, 300) * 7 % 601), axis=1, cites=computes)
        case("long_columns", data=turned(np.arange(600).reshape(300, 2) * 7 % 601), axis=0, cites=computes)
        case("infinities", Tag.EDGE, data=turned([[-inf, 3e38, 1], [1, inf, 3e38]]), axis=1, cites=computes)
        case("subnormals", Tag.EDGE, data=turned([0, 1e-45, -1e-45, 3e-45]), cites=computes)
        name = "all_minus_infinity_but_one" if superlative == "greatest" else "all_infinity_but_one"
        case(name, Tag.EDGE, data=turned([-inf, -3e38]), cites=computes)
        case("nan", Tag.EDGE, data=[1, np.nan, 3], unspecified=computes)
        case("nan_last", Tag.EDGE, data=[1, 3, np.nan], keepdims=0, unspecified=computes)

    def _ties(self, turned: Callable[[Any], Array], far: str, near: str) -> None:
        case, inf = self.op.case, np.inf
        with_ties: dict[str, tuple[Tag, dict[str, Any]]] = {
            "rows": (Tag.CHANGE, {"data": turned(TIES), "axis": 1}),
            "pruned": (Tag.CHANGE, {"data": turned(TIES), "axis": -1, "keepdims": 0}),
            "columns": (Tag.CHANGE, {"data": turned(TIES).T, "axis": 0}),
            "middle": (Tag.CHANGE, {"data": turned(CUBE % 4), "axis": 1}),
            "zeros": (Tag.EDGE, {"data": [[-0.0, 0.0], [0.0, -0.0]], "axis": 1}),
            far: (Tag.EDGE, {"data": turned([1, inf, inf, 2])}),
            near: (Tag.EDGE, {"data": turned([-inf, -inf, -inf])}),
            "long": (Tag.EDGE, {"data": turned(np.arange(200) * 7 % 5)}),
            "none": (Tag.BASIC, {"data": turned(CUBE), "axis": 2}),
        }
        by_name = (self.first, self.whether)
        for name, (tag, call) in with_ties.items():
            case(f"ties_first_unset_{name}", tag, **call, cites=by_name)
            case(f"ties_first_{name}", tag, **call, select_last_index=0, cites=by_name)
            case(f"ties_last_{name}", tag, **call, select_last_index=1, cites=(self.last, self.whether))
        ones = turned([[1, 0, 1], [0, 1, 1]])
        case("ties_first_unset_dtypes", Tag.DTYPE, each="T", data=ones, axis=1, cites=by_name)
        case("ties_first_dtypes", Tag.DTYPE, each="T", data=ones, axis=1, select_last_index=0, cites=by_name)
        case(
            "ties_last_dtypes",
            Tag.DTYPE,
            each="T",
            data=ones,
            axis=1,
            select_last_index=1,
            cites=(self.last, self.whether),
        )
        for name in ("rows", "columns", "middle", "zeros", far, near, "long"):
            tag, call = with_ties[name]
            case(f"ties_any_{name}", tag, **call, before=12, cites=self.computes)
        case("ties_any_pruned", Tag.CHANGE, data=turned(TIES), axis=1, keepdims=0, before=12, cites=self.computes)
        case("ties_any_dtypes", Tag.DTYPE, each="T", data=ones, axis=1, before=12, cites=self.computes)
        case("select_two", Tag.EDGE, data=turned(TIES), axis=1, select_last_index=2, unspecified=self.whether)

    def _empty_cases(self) -> None:
        case, computes = self.op.case, self.computes
        case("empty", Tag.EDGE, data=ramp(0, 3), axis=0, rejects=self.not_empty)
        case("empty_elsewhere", Tag.EDGE, data=ramp(0, 3), axis=1, rejects=self.not_empty)
        for suffix, span in (("_before_11", {"before": 11}), ("_since_12", {"since": 12})):
            limits: dict[str, Any] = span
            case(f"empty{suffix}", Tag.EDGE, data=ramp(0, 3), axis=0, **limits, unspecified=computes)
            case(f"empty_elsewhere{suffix}", Tag.EDGE, data=ramp(0, 3), axis=1, **limits, cites=computes)
            case(
                f"empty_pruned{suffix}",
                Tag.EDGE,
                data=ramp(2, 3, 0),
                axis=1,
                keepdims=0,
                **limits,
                cites=self.same_rank,
            )

    def _axes_cases(self, turned: Callable[[Any], Array]) -> None:
        case = self.op.case
        for name, shape, axis in axes():
            numbers = turned((np.arange(np.prod(shape)) * 7 % np.prod(shape)).reshape(shape))
            case(name, Tag.AXIS, data=numbers, axis=axis, cites=self.range if axis < 0 else self.which_axis)
            if axis < 0:
                case(f"{name}_pruned", Tag.AXIS, data=numbers, axis=axis, keepdims=0, cites=self.range)
        for name, shape, axis in axes_outside():
            case(name, Tag.AXIS, data=ramp(*shape), axis=axis, rejects=self.range)
        case("axis_from_back_before_11", Tag.AXIS, data=turned(CUBE), axis=-1, before=11, unspecified=self.range)
        case("axis_too_high_before_11", Tag.AXIS, data=CUBE, axis=3, before=11, rejects=self.which_axis)
        case("rank0_before_11", Tag.AXIS, data=ramp(), axis=0, before=11, rejects=self.which_axis)
        case("rank0_default", Tag.AXIS, data=ramp(), since=11, rejects=self.range)
