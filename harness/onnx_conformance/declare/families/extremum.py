# SPDX-License-Identifier: Apache-2.0
"""The greatest and the least: of several tensors element by element, and along axes."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare.arguments import typed
from onnx_conformance.declare.data import every_pair, extremes, ramp
from onnx_conformance.declare.families.elementwise import EIGHT_BITS, float_types, typed_pairs
from onnx_conformance.declare.families.variadic import Variadic
from onnx_conformance.declare.op import Tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx_conformance.base.values import Array
    from onnx_conformance.declare.clause import Clause, Version
    from onnx_conformance.declare.families.reduction import Reduction
    from onnx_conformance.declare.partly_open import Result


def undefined_order(v: Version, computes: Clause, tensors: Sequence[Array], result: Result) -> Result:
    """Return the greatest or least of tensors. An element is open if no text defines it.

    That is so where one of the tensors has NaN, and where the result is one of two zeros of different signs.

    Args:
        v: the version.
        computes: the sentence closest to a definition.
        tensors: the tensors, of shapes that broadcast.
        result: the values, for which NaN is compared in any way.
    """
    if tensors[0].dtype.kind != "f":
        return result
    ordered = v.unordered(computes, functools.reduce(np.logical_or, map(np.isnan, tensors)), result)
    if all(tensor.all() for tensor in tensors):  # There is no zero.
        return ordered
    positive, negative = (
        functools.reduce(np.logical_or, map(condition, tensors)) for condition in (_plus_zero, _minus_zero)
    )
    return v.leave_open(computes, positive & negative & (result == 0), ordered)


def _plus_zero(values: Array) -> Array:
    return np.asarray((values == 0) & ~np.signbit(values))


def _minus_zero(values: Array) -> Array:
    return np.asarray((values == 0) & np.signbit(values))


def undefined_order_in(v: Version, computes: Clause, data: Array, removed: tuple[int, ...], result: Array) -> Result:
    """Return the greatest or least elements along axes. Elements are open as in `undefined_order`.

    Args:
        v: the version.
        computes: the sentence closest to a definition.
        data: the elements.
        removed: the axes.
        result: the values.
    """
    if not removed or data.dtype.kind != "f":
        return result
    positive, negative = (
        np.asarray(of_sign(data).any(removed)).reshape(result.shape) for of_sign in (_plus_zero, _minus_zero)
    )
    is_open = positive & negative & (result == 0)
    return v.leave_open(computes, is_open, v.unordered(computes, np.isnan(result), result))


def require_order(v: Version, computes: Clause, left: Array, right: Array) -> None:
    """Raise Unspecified for NaN, and for two zeros of different signs, because no text defines the result.

    Args:
        v: the version.
        computes: the sentence closest to a definition.
        left: the numbers.
        right: numbers of a shape that broadcasts with them.
    """
    v.ordered(computes, np.maximum(left, right))
    if left.dtype.kind == "f":
        v.silent(computes, bool(((left == 0) & (right == 0) & (np.signbit(left) != np.signbit(right))).any()))


class Extremum(Variadic):
    """The cases of Max and Min, which support integers since version 12."""

    def cases(self, of_tensors: Clause) -> None:
        """Declare the cases. The clause describes the list of tensors."""
        super().cases(of_tensors)
        for type_, since in float_types(13).items():
            self._floats(type_, since)
        for type_ in EIGHT_BITS:
            self.op.every(f"pairs_{type_}", cites=self.computes, data_0=typed_pairs(type_))
        zeros = ([-1.0, 1.0, 2.0], [0.0, 0.0, 3.0], [-0.0, -0.0, 4.0])
        self.op.case("zeros_of_two_tensors", Tag.EDGE, data_0=zeros, cites=self.computes)
        for bits in (8, 16, 32, 64):
            self._limits(f"int{bits}")
            self._limits(f"uint{bits}")

    def _floats(self, type_: str, since: int | None) -> None:
        inf, nan = np.inf, np.nan
        for name, left, right in (
            ("infinities", [inf, 1, inf, -inf], [1, -inf, -inf, -inf]),
            ("fractions", [0.1, -0.1, 1e-7, -0.0], [0.2, -0.2, 2e-7, -1]),
            ("negative_zero", [-0.0, -0.0, 0.0], [-0.0, -1, 0.0]),
        ):
            sides = (typed(type_, left), typed(type_, right))
            self.op.case(f"{name}_{type_}", Tag.EDGE, data_0=sides, since=since, cites=self.computes)
        for name, left, right in (
            ("two_zeros", [-0.0, 0.0], [0.0, -0.0]),
            ("nan", [nan, 1, nan], [1, nan, nan]),
            ("nan_inf", [nan, -inf], [inf, nan]),
        ):
            sides = (typed(type_, left), typed(type_, right))
            self.op.case(f"{name}_{type_}", Tag.EDGE, data_0=sides, since=since, unspecified=self.computes)

    def _limits(self, type_: str) -> None:
        low, high = int(np.iinfo(type_).min), int(np.iinfo(type_).max)
        left = typed(type_, np.array([low, high, high - 1, low], type_))
        right = typed(type_, np.array([high, low, high, low + 1], type_))
        self.op.case(f"limits_{type_}", Tag.EDGE, data_0=(left, right), since=12, cites=self.computes)
        if type_ in EIGHT_BITS:
            left, right = (typed(type_, side) for side in every_pair(type_))
            self.op.case(f"every_{type_}", Tag.EDGE, data_0=(left, right), since=12, cites=self.computes)


def lowest(dtype: np.dtype[Any]) -> Any:  # noqa: ANN401 - a value of the type
    """Return minus infinity, or the least value of a type without infinity."""
    return -np.inf if dtype.kind == "f" else False if dtype.kind == "b" else np.iinfo(dtype).min


def highest(dtype: np.dtype[Any]) -> Any:  # noqa: ANN401 - a value of the type
    """Return plus infinity, or the greatest value of a type without infinity."""
    return np.inf if dtype.kind == "f" else True if dtype.kind == "b" else np.iinfo(dtype).max


def reduced_extremum_cases(reduction: Reduction, computes: Clause, boolean: Clause) -> None:
    """Declare the cases of ReduceMax and ReduceMin.

    Args:
        reduction: the common part of all reducing operators.
        computes: the sentence on the computed values.
        boolean: the sentence on the comparison of booleans.
    """
    case = reduction.op.case
    reduction.cases(computes)
    case("dtypes_empty_set", Tag.DTYPE, Tag.EDGE, each="T", data=ramp(0, 3), axes=[0], cites=reduction.empty)
    inf, nan = np.inf, np.nan
    case("negative", Tag.EDGE, data=[[-3, -1, -2], [-5, -7, -6]], axes=[1], cites=computes)
    case("infinities", Tag.EDGE, data=[[inf, 1], [-inf, 2], [-inf, -inf]], axes=[1], cites=computes)
    case("subnormal", Tag.EDGE, data=[[1e-45, 3e-45], [-1e-40, -1e-45]], axes=[1], cites=computes)
    case("minus_zeros", Tag.EDGE, data=[[-0.0, -0.0], [-1.0, -0.0]], axes=[1], cites=computes)
    case("both_zeros", Tag.EDGE, data=[[-0.0, 0.0], [0.0, -0.0]], axes=[1], unspecified=computes)
    case("both_zeros_beside_others", Tag.EDGE, data=[[-0.0, 0.0], [2, 2], [-3, -3]], axes=[1], unspecified=computes)
    case("nan", Tag.EDGE, data=[[nan, 1, 2], [3, nan, inf], [5, 6, nan]], axes=[1], unspecified=computes)
    case("nan_all", Tag.EDGE, data=[nan, nan], unspecified=computes)
    case("int64_neighbours", Tag.EDGE, data=typed("int64", [2**60, 2**60 + 1, 2**60 - 1]), cites=computes)
    case("uint64_high", Tag.EDGE, data=typed("uint64", np.array([1, 2**63 + 1, 2**63], np.uint64)), cites=computes)
    case("dtypes_extremes_noop", Tag.EDGE, each="T", data=extremes(12), noop_with_empty_axes=1, cites=reduction.noop)
    truths = typed("bool", [[False, True, False], [False, False, False], [True, True, True]])
    case("boolean", Tag.CHANGE, data=truths, axes=[1], cites=boolean)
    case("boolean_columns", Tag.CHANGE, data=truths, axes=[0], keepdims=0, cites=boolean)
    case("boolean_all", Tag.CHANGE, data=truths, keepdims=0, cites=boolean)
