# SPDX-License-Identifier: Apache-2.0
"""The two kinds of broadcasting in ONNX's texts: limited (by attributes) and multidirectional.

Both classes declare the sentences that operators share, implement their meaning, and declare the cases that test them.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from onnx_conformance.declare.op import Op, Tag
from onnx_conformance.declare.sizes import BROADCAST, up_to

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_conformance.base.values import Array
    from onnx_conformance.declare.clause import Clause, Version
    from onnx_conformance.declare.sizes import Dims

    Shape = tuple[int, ...]
    Operands = Callable[[Shape, Shape], dict[str, Any]]
    """The two inputs of an operator by name, for two shapes."""


def have_one_shape(*tensors: Array) -> bool:
    """Return whether numpy broadcasts the tensors to one shape."""
    dims = zip_longest(*(item.shape[::-1] for item in tensors), fillvalue=1)
    return all(len({*sizes} - {1}) <= 1 for sizes in dims)


class Limited:
    """Limited broadcasting: the rules of operators with two tensors before they use numpy's broadcasting."""

    def __init__(self, op: Op, before: int = 7) -> None:
        """Declare the sentences on `op`."""
        self.op, self.before = op, before
        self.match_left = self._clause("will be broadcasted to match the shape of left-hand-side argument.")
        self.enable = self._clause("Attribute `broadcast=1` needs to be passed to enable broadcasting.")
        self.pass_one = self._clause(
            "Pass 1 to enable broadcasting", "The text does not define values other than 0 and 1."
        )
        self.one_element = self._clause(
            "of element size 1 (including a scalar tensor and any tensor with rank equal to or smaller than the first "
            "tensor)",
            "The text does not define one element with a higher rank, or an axis together with one element.",
        )
        self.contiguous = self._clause("or having its shape as a contiguous subset of the first tensor's shape.")
        self.start = self._clause(
            'The starting of the mutually equal shape is specified by the argument "axis"',
            "onnx.reference ignores it and broadcasts as numpy does.",
        )
        self.suffix = self._clause("if it is not set, suffix matching is assumed.")
        self.no_expansion = self._clause("1-dim expansion doesn't work yet.")
        self.dimensions = self._clause(
            "If set, defines the broadcast dimensions.",
            "The text does not define an axis if broadcasting is disabled, or a negative axis.",
        )

    def _clause(self, text: str, note: str = "") -> Clause:
        return self.op.clause(text, before=self.before, note=note)

    def second(self, v: Version, left: Array, right: Array, axis: int | None, broadcast: int, equal: Clause) -> Array:
        """Return the second operand in a shape that numpy broadcasts to that of the first.

        Raises:
            Rejected: for `equal`, if broadcasting is disabled and the shapes differ.
        """
        v.silent(self.pass_one, broadcast not in {0, 1})
        if not broadcast:
            v.silent(self.dimensions, axis is not None)
            v.require(equal, left.shape == right.shape)
        if right.size == 1:
            v.silent(self.one_element, right.ndim > left.ndim or axis is not None)
            return right.reshape(())
        v.silent(self.dimensions, axis is not None and axis < 0)
        start = left.ndim - right.ndim if axis is None else axis
        end = start + right.ndim
        matched = left.shape[start:end]  # Shorter than the shape of `right` if that does not fit inside `left`.
        v.require(self._forbidding(matched, right.shape), matched == right.shape)
        return right.reshape(right.shape + (1,) * (left.ndim - end))

    def _forbidding(self, left: Shape, right: Shape) -> Clause:
        """Return the sentence that forbids a second operand of this shape for these dimensions of the first operand."""
        expands = len(left) == len(right) and all(size in {1, other} for size, other in zip(right, left, strict=True))
        return self.no_expansion if expands else self.contiguous

    def cases(self, operands: Operands, equal: Clause) -> None:
        """Declare the cases of limited broadcasting. `equal` is the sentence that forbids it if it is disabled."""
        case = self.op.case
        whole, cube, table = (2, 3, 4, 5), (2, 3, 4), (2, 3)
        matched: list[tuple[str, Shape, Shape, Clause]] = [
            ("scalar", whole, (), self.one_element),
            ("one_element", whole, (1, 1), self.match_left),
            ("one_element_vector", whole, (1,), self.one_element),
            ("one_element_full_rank", whole, (1, 1, 1, 1), self.one_element),
            ("suffix_one", whole, (5,), self.suffix),
            ("suffix_two", whole, (4, 5), self.suffix),
            ("suffix_three", whole, (3, 4, 5), self.contiguous),
            ("whole", whole, whole, self.enable),
            ("rank0", (), (), self.one_element),
            ("zero_size", (2, 0, 3), (0, 3), self.suffix),
        ]
        for name, left, right, clause in matched:
            case(f"limited_{name}", Tag.CHANGE, **operands(left, right), broadcast=1, cites=clause)
        by_axis: list[tuple[str, Shape, Shape, int, Clause]] = [
            ("axis_zero", whole, (2,), 0, self.start),
            ("axis_one", whole, (3,), 1, self.start),
            ("axis_zero_two", whole, (2, 3), 0, self.contiguous),
            ("axis_one_two", whole, (3, 4), 1, self.contiguous),
            ("equal_dimensions", (3, 3), (3,), 0, self.dimensions),
        ]
        for name, left, right, axis, clause in by_axis:
            case(f"limited_{name}", Tag.CHANGE, **operands(left, right), axis=axis, broadcast=1, cites=clause)
        case("broadcast_zero", **operands(table, table), broadcast=0, cites=self.pass_one)
        case("broadcast_needed", Tag.CHANGE, **operands(table, (3,)), broadcast=1, cites=(self.enable, self.suffix))

        higher_rank, one_element = operands((3,), (1, 1)), operands(cube, (1,))
        case("limited_one_element_higher_rank", Tag.EDGE, **higher_rank, broadcast=1, unspecified=self.one_element)
        case("limited_one_element_axis", Tag.EDGE, **one_element, broadcast=1, axis=1, unspecified=self.one_element)
        case(
            "limited_axis_negative", Tag.EDGE, **operands(cube, (4,)), broadcast=1, axis=-1, unspecified=self.dimensions
        )
        case("broadcast_two", Tag.EDGE, **operands(table, (3,)), broadcast=2, unspecified=self.pass_one)
        case("axis_without_broadcast", Tag.EDGE, **operands(table, table), axis=0, unspecified=self.dimensions)

        case(
            "limited_axis_too_high", Tag.CHANGE, **operands(cube, (3, 4)), axis=2, broadcast=1, rejects=self.contiguous
        )
        case("limited_axis_wrong", Tag.CHANGE, **operands(cube, (3,)), axis=0, broadcast=1, rejects=self.contiguous)
        case("limited_expansion", Tag.CHANGE, **operands(cube, (3, 1)), broadcast=1, rejects=self.no_expansion)
        case("limited_expansion_beside_other", Tag.EDGE, **operands(cube, (5, 1)), broadcast=1, rejects=self.contiguous)
        case("limited_left", Tag.CHANGE, **operands((4,), (3, 4)), broadcast=1, rejects=self.contiguous)
        case("limited_left_one", Tag.EDGE, **operands((4,), (1, 4)), broadcast=1, rejects=self.contiguous)
        case("broadcast_unset", Tag.CHANGE, **operands(table, (3,)), before=self.before, rejects=equal)
        case("broadcast_unset_scalar", Tag.CHANGE, **operands(table, ()), before=self.before, rejects=equal)


class LimitedAsAdd(Limited):
    """Limited broadcasting of operators whose texts refer to Add for the rules: logical operators and comparisons."""

    def __init__(self, op: Op, before: int = 7) -> None:
        """Declare the sentences on `op`."""
        self.op, self.before = op, before
        self.match_left = self._clause(
            "If broadcasting is enabled, the right-hand-side argument will be broadcasted to match the shape of "
            "left-hand-side argument.",
            "Only the condition implies that both have one shape without broadcasting.",
        )
        self.one_element = self.contiguous = self.start = self.suffix = self.no_expansion = self.rules = self._clause(
            "See the doc of `Add` for a detailed description of the broadcasting rules.",
            "The text of Add does not define one element with a higher rank, or an axis together with one element. "
            "onnx.reference broadcasts as numpy does.",
        )
        self.enable = self.pass_one = self._clause(
            "Enable broadcasting", "The text does not define values other than 0 and 1."
        )
        self.dimensions = self._clause(
            "If set, defines the broadcast dimensions.",
            "The text does not define an axis if broadcasting is disabled, or a negative axis.",
        )

    def _forbidding(self, _left: Shape, _right: Shape) -> Clause:
        return self.rules

    def to_left(self, v: Version, left: Array, right: Array, axis: int | None, broadcast: int) -> Array:
        """Return the second operand in a shape that numpy broadcasts to that of the first; see Limited.second."""
        return self.second(v, left, right, axis, broadcast, self.match_left)


class Multidirectional:
    """Multidirectional broadcasting as in numpy."""

    def __init__(self, op: Op, since: int = 7, *, clause: Clause | None = None) -> None:
        """Declare the sentence on `op`, or use the `clause` of an operator with another wording."""
        self.op = op
        self.clause = clause or op.clause(
            "This operator supports **multidirectional (i.e., Numpy-style) broadcasting**", since=since
        )

    def require_one_shape(self, v: Version, *tensors: Array) -> None:
        """Raise Rejected if the shapes cannot be broadcast to one shape."""
        v.require(self.clause, have_one_shape(*tensors))

    def sized(
        self,
        computes: Clause,
        arguments: Callable[[Dims, Dims], dict[str, Any]],
        *,
        suffix: str = "",
        step: int = 1,
        most: int | None = None,
    ) -> None:
        """Declare the sized calls with tensors of two shapes.

        Args:
            computes: the sentence on the computed values.
            arguments: a function of the dimensions of both shapes.
            suffix: the end of the names of the calls, if the operator has several with these shapes.
            step: only one size in so many.
            most: the maximum number of elements; None for no limit.
        """
        for name, (one, other, sizes) in BROADCAST.items():
            cites = (computes, self.clause)
            self.op.sized(
                f"{name}{suffix}", up_to(most, sizes)[::step], each="T", cites=cites, arguments=arguments(one, other)
            )

    def cases(self, operands: Operands) -> None:
        """Declare the cases with two shapes."""
        pairs: list[tuple[Shape, Shape]] = [
            ((2, 3), (3,)),
            ((3,), (2, 3)),
            ((4, 1), (1, 3)),
            ((4, 3), (4, 1)),
            ((2, 1, 4), (3, 1)),
            ((2, 3, 4), ()),
            ((), (2, 3)),
            ((), (1,)),
            ((1,), ()),
            ((2, 3, 4, 5), (3, 1, 5)),
            ((1,), (2, 3)),
            ((1, 1, 1), (3,)),
            ((1, 2, 3), (2, 3)),
            ((2, 3), (1, 1, 2, 3)),
            ((5, 1), (6,)),
            ((2, 0), (2, 1)),
            ((3,), (0, 3)),
        ]
        for left, right in pairs:
            name = "_and_".join("x".join(map(str, shape)) or "scalar" for shape in (left, right))
            self.op.case(f"broadcast_{name}", Tag.CHANGE, **operands(left, right), cites=self.clause)
        mismatches: dict[str, tuple[Shape, Shape]] = {
            "mismatch": ((2, 3), (2, 4)),
            "mismatch_within": ((2, 3, 4), (2, 5, 4)),
            "mismatch_prefix": ((2, 3), (2,)),
            "mismatch_multiple": ((6,), (3,)),
            "mismatch_zero_size": ((0,), (2,)),
        }
        for name, (left, right) in mismatches.items():
            self.op.case(name, Tag.CHANGE, **operands(left, right), rejects=self.clause)
