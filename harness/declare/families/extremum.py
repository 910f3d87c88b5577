"""The greatest and the least: of several tensors element by element, and along axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.declare.arguments import typed
from harness.declare.data import Array, every_pair, extremes, ramp
from harness.declare.families.elementwise import EIGHT_BITS, float_types
from harness.declare.op import Op, Tag

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.declare.clause import Clause, Version
    from harness.declare.families.broadcasting import Multidirectional
    from harness.declare.families.reduction import Reduction


def rank_of_all(arguments: Mapping[str, Any]) -> int:
    """Return the rank of the result of all tensors."""
    return max((np.ndim(arguments[name]) for name in arguments if name.startswith("data_0_")), default=0)


def require_order(v: Version, computes: Clause, left: Array, right: Array) -> None:
    """Raise Unspecified where a NaN meets something, or a zero one of the other sign: no text says which of them it is.

    Args:
        v: the version.
        computes: the nearest sentence.
        left: numbers.
        right: numbers of a shape that broadcasts with them.
    """
    v.ordered(computes, np.maximum(left, right))
    if left.dtype.kind == "f":
        v.silent(computes, bool(((left == 0) & (right == 0) & (np.signbit(left) != np.signbit(right))).any()))


class Extremum:
    """The cases of Max and Min: tensors of one shape before version 8, integers since 12."""

    def __init__(
        self, op: Op, computes: Clause, *, same_shape_before_8: Clause, same_type: Clause, numpy: Multidirectional
    ) -> None:
        """Take the sentences.

        Args:
            op: the operator, made with `rank=rank_of_all`.
            computes: says what is computed.
            same_shape_before_8: says that all have one shape and type.
            same_type: says that all have one type, since version 8.
            numpy: the sentence on multidirectional broadcasting.
        """
        self.op, self.computes, self.numpy = op, computes, numpy
        self.same_shape, self.same_type = same_shape_before_8, same_type
        self.same_dimension = op.clause("Same dimension as inputs.", before=8)
        self.legacy = op.clause("legacy optimization attribute.", before=6)

    def cases(self, list_before_8: Clause, list_since_8: Clause) -> None:
        """Declare the cases; the two clauses describe the list of tensors."""
        case = self.op.case
        first, second, third = [1, 5, 3], [4, 2, 6], [7, 0, 4]
        case("one", Tag.EDGE, data_0=(ramp(2, 3),), cites=(self.computes, self.same_dimension))
        case("two", data_0=(first, second), cites=(self.computes, self.same_dimension))
        case("three_before_8", data_0=(first, second, third), cites=(self.computes, list_before_8))
        case("three", data_0=(first, second, third), cites=(self.computes, list_since_8))
        seven = tuple([(item * index) % 7 for item in range(6)] for index in range(1, 8))
        case("seven", data_0=seven, cites=self.computes)
        case("rank4", data_0=(ramp(2, 3, 4, 5), np.arange(120)[::-1].reshape(2, 3, 4, 5)), cites=self.computes)
        case("twice_the_same", Tag.EDGE, data_0=(first, first), cites=self.computes)
        case("negative", data_0=([-1, -5, 0], [-4, -2, -6]), cites=self.computes)
        case("rank0", Tag.EDGE, data_0=(3, 4), cites=self.computes)
        case("size_one", Tag.EDGE, data_0=([4], [3]), cites=self.computes)
        case("zero_size", Tag.EDGE, data_0=(ramp(2, 0, 3), ramp(2, 0, 3)), cites=self.computes)
        case("zero_size_one", Tag.EDGE, data_0=(ramp(0),), cites=self.computes)
        case("consumed_inputs", data_0=(first, second), consumed_inputs=[0, 0], cites=self.legacy)
        case("shapes_differ_before_8", Tag.CHANGE, data_0=(ramp(2, 3), ramp(3)), rejects=self.same_shape)
        case("scalar_second_before_8", Tag.CHANGE, data_0=(ramp(2, 3), 2), rejects=self.same_shape)
        case("shape_of_third_before_8", data_0=(ramp(2, 3), ramp(2, 3), ramp(1, 3)), rejects=self.same_shape)
        case("same_count_before_8", Tag.EDGE, data_0=(ramp(2, 3), ramp(3, 2)), rejects=self.same_shape)

        self.numpy.cases(_operands)
        for shapes in (
            ((2, 1, 1), (3, 1), (4,)),
            ((4,), (3, 1), (2, 1, 1)),
            ((), (3,), (1, 1), (2, 1)),
            ((1, 0), (), (2, 1)),
        ):
            name = "_and_".join("x".join(map(str, shape)) or "scalar" for shape in shapes)
            case(f"broadcast_{name}", Tag.CHANGE, **_operands(*shapes), cites=self.numpy.clause)
        case("mismatch_of_third", data_0=(ramp(2, 3), ramp(3), ramp(4)), rejects=self.numpy.clause)
        case("mismatch_first_and_third", Tag.EDGE, data_0=(ramp(2), 1, ramp(3)), rejects=self.numpy.clause)

        case("dtypes_one_extremes", Tag.DTYPE, Tag.EDGE, each="T", data_0=(extremes(11),), cites=self.computes)
        case("two_types_before_8", Tag.DTYPE, data_0=(first, typed("double", second)), rejects=self.same_shape)
        case("two_types", Tag.DTYPE, data_0=(first, typed("double", second)), rejects=self.same_type)
        case("third_type", Tag.DTYPE, data_0=(first, second, typed("float16", third)), rejects=self.same_type)
        for type_, since in float_types(13).items():
            self._floats(type_, since)
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


def _operands(*shapes: tuple[int, ...]) -> dict[str, Any]:
    """Return tensors whose ramps are turned against one another: no two of one shape have the same order."""
    return {"data_0": tuple(np.roll(ramp(*dims).of(np.dtype("int64")), index) for index, dims in enumerate(shapes))}


def lowest(dtype: np.dtype[Any]) -> Any:  # noqa: ANN401 - a value of the type
    """Return minus infinity, or the least value of a type that has none."""
    return -np.inf if dtype.kind == "f" else False if dtype.kind == "b" else np.iinfo(dtype).min


def highest(dtype: np.dtype[Any]) -> Any:  # noqa: ANN401 - a value of the type
    """Return plus infinity, or the greatest value of a type that has none."""
    return np.inf if dtype.kind == "f" else True if dtype.kind == "b" else np.iinfo(dtype).max


def open_zeros(data: Array, result: Array) -> bool:
    """Tell whether a result is a zero where there are zeros of both signs to choose from."""
    return bool((result == 0).any()) and len(set(np.signbit(data[data == 0]))) > 1


def reduced_extremum_cases(reduction: Reduction, computes: Clause, boolean: Clause) -> None:
    """Declare the cases of ReduceMax and ReduceMin.

    Args:
        reduction: what all reducing operators share.
        computes: says what is computed.
        boolean: says how truth values compare.
    """
    case = reduction.op.case
    reduction.cases(computes)
    for suffix, clause in (("", reduction.empty), ("_before_12", reduction.empty_before)):
        name = f"dtypes_empty_set{suffix}"
        case(name, Tag.DTYPE, Tag.EDGE, each="T", data=ramp(0, 3), axes=[0], cites=clause)
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
