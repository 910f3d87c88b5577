"""Element by element: what the texts of operators of one tensor, and of two numeric ones, share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.declare.arguments import typed
from harness.declare.clause import Rule
from harness.declare.data import Array, Data, extremes, ramp
from harness.declare.families.broadcasting import Limited, Multidirectional
from harness.declare.op import Op, Tag
from harness.declare.tolerance import Tolerance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from harness.declare.clause import Clause, Version

    Filled = Callable[..., Data | Array]
    """Values for a shape."""
    Second = Callable[[Version, Array, Array, int | None, int], Array]
    """The second operand in a shape that numpy broadcasts, from both, axis and broadcast."""
    Meaning = Callable[[Version, Array, Array], Array]
    """The result of two operands that numpy broadcasts."""


SHAPES: dict[str, tuple[int, ...]] = {
    "rank1": (5,), "rank2": (2, 3), "rank3": (4, 2, 3), "rank4": (1, 3, 2, 4), "rank5": (2, 1, 3, 1, 2),
    "scalar": (), "one_element": (1,), "one_element_rank3": (1, 1, 1),
    "zero_size": (2, 0, 3), "zero_size_vector": (0,),
    "vector_and_tail": (67,),
}  # fmt: skip
"""Of one tensor, by the name of the case."""
_LARGEST = {"float16": [65504], "float": [3.4028235e38], "bfloat16": [3.38e38], "double": [1.7976931348623157e308]}
_SMALLEST = {"float16": [2**-14], "float": [2**-126], "bfloat16": [2**-126], "double": [2**-1022]}
SUBNORMAL = {
    "float16": [2**-24, 2**-15, 3 * 2**-20],
    "float": [2**-149, 2**-127, 3 * 2**-140],
    "bfloat16": [2**-133, 2**-127, 3 * 2**-131],
    "double": [2**-1074, 2**-1023, 3 * 2**-1060],
}
"""Of each floating type, numbers below its normal ones."""
LIMITS = {"largest": _LARGEST, "smallest_normal": _SMALLEST, "subnormal_inputs": SUBNORMAL}
"""Numbers above 0 at the ends of each floating type, by the name of the case."""


def rounded_once(result: str) -> Tolerance:
    """Allow nothing: IEEE 754 has one answer."""
    reason = f"IEEE 754 rounds a {result} once; made in float32, that of a smaller type is the same"
    return Tolerance(reason, signed_zero=True)


def float_types(bfloat16: int) -> dict[str, int | None]:
    """Return the floating types and the version since which they are allowed."""
    return {"float16": None, "float": None, "double": None, "bfloat16": bfloat16}


def rank_of_two(given: Mapping[str, Any]) -> int:
    """Return the rank of the result of A and B."""
    return max(np.ndim(given.get(name, 0)) for name in "AB")


def counted(start: int) -> Callable[..., Array]:
    """Return what fills a shape with start, start + 1, ..."""
    return lambda *shape: np.arange(start, start + math.prod(shape)).reshape(shape)


def declare_meaning(op: Op, second: Second | None, numpy: Multidirectional, meaning: Meaning) -> None:
    """Declare what `op` makes of A and B: in the shape of A before version 7, in that of both broadcast since then.

    Args:
        op: the operator.
        second: fits B to A by the attributes; None where no version has them.
        numpy: the sentence of multidirectional broadcasting.
        meaning: the result of the two, which only differ in shape as far as numpy broadcasts them.
    """
    if second:

        @op.oracle(before=7)
        def limited(v: Version, A: Array, B: Array, axis: int | None, broadcast: int) -> Array:  # noqa: N803 - the text's
            return meaning(v, A, second(v, A, B, axis, broadcast))

    @op.oracle(since=7)
    def multidirectional(v: Version, A: Array, B: Array) -> Array:  # noqa: N803
        numpy.require(v, A, B)
        return meaning(v, A, B)


class Unary:
    """One floating tensor in, one of its type and shape out."""

    def __init__(
        self, op: Op, computes: Clause, *, bfloat16: int = 13, wider: tuple[int, str] | None = None,
        flat: Clause | None = None,
    ) -> None:  # fmt: skip
        """Declare the sentences on `op`, made with `rank=` the name of its input.

        Args:
            op: the operator.
            computes: says what is computed.
            bfloat16: the version since which that type is allowed.
            wider: the version since which others than floating types are allowed, and the sentence that says so.
            flat: speaks of rank 1 only: while it is in force, other ranks are left open.
        """
        self.op, self.computes, self.input, self.flat = op, computes, str(op.rank), flat
        self.types = float_types(bfloat16)
        self.floats = op.clause(
            "Constrain input and output types to float tensors.", before=wider[0] if wider else None
        )
        self.wider = op.clause(wider[1], since=wider[0]) if wider else None

    def _given(self, value: object) -> dict[str, Any]:
        return {self.input: value}

    def each_type(self, numbers: Mapping[str, Any], *, cites: tuple[Clause, ...] = ()) -> None:
        """Declare cases in every floating type, of numbers that are a list, or one for each type."""
        for type_, since in self.types.items():
            for name, values in numbers.items():
                chosen = typed(type_, list(values[type_] if isinstance(values, Mapping) else values))
                told = (self.computes, *cites)
                self.op.case(f"{name}_{type_}", Tag.EDGE, **self._given(chosen), since=since, cites=told)

    def cases(self, values: Sequence[float], *, result: tuple[Clause, ...] = ()) -> None:
        """Declare the cases that do not depend on what is computed; there is an answer for all `values`."""
        case, cites = self.op.case, (self.computes, *result)
        since = self.flat.before if self.flat else None
        for name, shape in SHAPES.items():
            filled = self._given(np.resize(values, shape))
            case(name, Tag.EDGE, **filled, since=None if len(shape) == 1 else since, cites=cites)
            if self.flat and len(shape) != 1:
                case(f"{name}_old", Tag.EDGE, **filled, before=since, unspecified=self.flat)
        given = self._given(list(values))
        case("dtypes", Tag.DTYPE, each="T", **given, cites=(self.floats,))
        case("dtypes_scalar", Tag.DTYPE, each="T", **self._given(values[0]), since=since, cites=(self.floats,))
        if self.wider:
            case("dtypes_wider", Tag.DTYPE, each="T", **given, cites=(self.wider,))
            case("dtypes_wider_scalar", Tag.DTYPE, each="T", **self._given(values[0]), cites=(self.wider,))
        case("outside", Tag.DTYPE, outside="T", **self._given(ramp(3)), rejects=Rule.TYPES)
        if self.op.versions[0] < _CONSUMED_BEFORE:
            legacy = self.op.clause("legacy optimization attribute.", before=_CONSUMED_BEFORE)
            case("consumed_inputs", **given, consumed_inputs=[0], cites=(legacy,))
        stray: dict[str, Any] = {"stray": {"consumed_inputs": [0]}, "since": _CONSUMED_BEFORE}
        case("attribute_consumed_inputs", Tag.CHANGE, **given, **stray, rejects=Rule.ATTRIBUTES)
        case("attribute_axis", **given, stray={"axis": 0}, rejects=Rule.ATTRIBUTES)
        case("no_input", rejects=Rule.ARITY)
        case("no_outputs", **given, n=0, rejects=Rule.ARITY)
        case("two_outputs", **given, n=2, rejects=Rule.ARITY)


class Arithmetic:
    """Add, Sub, Mul and Div: limited broadcasting before version 7, integers since 6, all of them since 14."""

    types = float_types(13)

    def __init__(self, op: Op, computes: Clause) -> None:
        """Declare the sentences on `op`; `computes` says what is computed."""
        self.op, self.computes = op, computes
        self.support = op.clause("(with limited broadcast support)", before=7)
        self.limited = Limited(op)
        self.disabled = op.clause(
            "If broadcasting is disabled it should be of the same size.",
            before=7,
            note="Does not say whether another shape of as many elements has the same size. onnx.reference broadcasts.",
        )
        self.smaller = op.clause("With broadcasting can be of smaller size than A.", before=7)
        self.legacy = op.clause("legacy optimization attribute.", before=_CONSUMED_BEFORE)
        self.share = op.clause("First operand, should share the type with the second operand.", before=7)
        self.same_dimensions = op.clause("Result, has same dimensions and type as A", before=7)
        self.numpy = Multidirectional(op)
        self.same_type = op.clause("Result, has same element type as two inputs", since=7)
        self.floats = op.clause("Constrain input and output types to float tensors.", before=6)
        self.high_precision = op.clause(
            "Constrain input and output types to high-precision numeric tensors.", since=6, before=14
        )
        self.small_integers = op.clause("Extend supported types to include uint8, int8, uint16, and int16.", since=14)
        self.all_numeric = op.clause("Constrain input and output types to all numeric tensors.", since=14)

    def second(self, v: Version, left: Array, right: Array, axis: int | None, broadcast: int) -> Array:
        """Return the second operand in a shape that numpy broadcasts to that of the first."""
        v.silent(self.disabled, not broadcast and left.shape != right.shape and left.size == right.size)
        return self.limited.second(v, left, right, axis, broadcast, self.disabled)

    def oracle(self, meaning: Meaning) -> Meaning:
        """Declare what the operator makes of its operands; see declare_meaning."""
        declare_meaning(self.op, self.second, self.numpy, meaning)
        return meaning

    def exactly(self, v: Version, operation: Callable[[Any, Any], Any], left: Array, right: Array) -> Array:
        """Return the result; that of integers has to lie in the range of their type."""
        with np.errstate(all="ignore"):
            result = np.asarray(operation(left, right))
        if result.dtype.kind in "iu":
            exact = operation(left.astype(object), right.astype(object))
            v.silent(self.computes, bool(np.any(result != exact)))
        return result

    def cases(self, left: Filled = ramp, right: Filled = ramp) -> None:
        """Declare the cases that need no thought of what is computed.

        Args:
            left: fills a shape; of the first three, and 3, 2, 1, there is a result in every integer type.
            right: fills a shape.
        """
        case, computes = self.op.case, (self.computes,)
        case("same_shape", A=left(2, 3), B=[[30, 20, 10], [3, 2, 1]], cites=computes)
        case("rank0", Tag.EDGE, A=3, B=4, cites=computes)
        case("size_one", Tag.EDGE, A=[3], B=[4], cites=computes)
        case("zero_size", Tag.EDGE, A=ramp(2, 0, 3), B=ramp(2, 0, 3), cites=computes)

        def operands(one: tuple[int, ...], other: tuple[int, ...]) -> dict[str, Any]:
            return {"A": left(*one), "B": right(*other)}

        self.limited.cases(operands, self.disabled)
        self.numpy.cases(operands)
        for index, (said, (shape, given)) in enumerate(_EXAMPLES.items()):
            example = self.op.clause(f"shape(A) = (2, 3, 4, 5), shape(B) = {said}", before=7)
            sides = operands((2, 3, 4, 5), shape)
            cites = (example, self.same_dimensions)
            case(f"example_{index}", Tag.CHANGE, **sides, broadcast=1, cites=cites, **given)
        case("smaller", **operands((2, 3), (3,)), broadcast=1, cites=(self.smaller, self.support))
        other_shape = operands((2, 3), (3, 2))
        case("same_count_other_shape", Tag.EDGE, **other_shape, before=7, unspecified=self.disabled)
        case("consumed_inputs", **operands((2, 3), (2, 3)), consumed_inputs=[0, 0], cites=(self.legacy,))
        self._types(left)

    def _types(self, left: Filled) -> None:
        case, three = self.op.case, [3, 2, 1]
        case("dtypes_floats", Tag.DTYPE, each="T", A=left(3), B=three, cites=(self.floats,))
        broadcast = (self.numpy.clause, self.same_type)
        case("dtypes_broadcast", Tag.DTYPE, each="T", A=left(2, 1), B=three, cites=broadcast)
        case("dtypes_high_precision", Tag.DTYPE, each="T", A=left(3), B=three, cites=(self.high_precision,))
        small = (self.small_integers, self.all_numeric)
        case("dtypes_small_integers", Tag.DTYPE, each="T", A=left(3), B=three, cites=small)
        case("outside", Tag.DTYPE, outside="T", A=ramp(3), B=ramp(3), rejects=Rule.TYPES)
        case("two_types", Tag.DTYPE, A=ramp(3), B=typed("double", ramp(3)), rejects=self.share)
        case("two_types_now", Tag.DTYPE, A=ramp(3), B=typed("double", ramp(3)), since=7, rejects=Rule.TYPES)
        for type_, since in self.types.items():
            hard, tenths = (typed(type_, item) for item in (extremes(11), [0.1, 0.7, -1 / 3, 1e-3, 2049, 257]))
            turned = typed(type_, [0.2, -0.1, 2 / 3, 1, 1, 1])
            case(f"fractions_{type_}", Tag.EDGE, A=tenths, B=turned, since=since, cites=(self.computes,))
            case(f"extremes_{type_}", Tag.EDGE, A=hard, B=hard, since=since, cites=(self.computes,))
            pairs: dict[str, Any] = {"A": typed(type_, extremes(11, 1)), "B": typed(type_, extremes(1, 11))}
            case(f"extremes_pairs_{type_}", Tag.EDGE, **pairs, since=since, cites=(self.numpy.clause,))

    def integers(self) -> Iterator[tuple[str, int, int, int]]:
        """Yield each integer type, the version since which it is allowed, its least and its greatest number."""
        for since, types in {
            6: ("int32", "int64", "uint32", "uint64"),
            14: ("int8", "int16", "uint8", "uint16"),
        }.items():
            for type_ in types:
                yield type_, since, int(np.iinfo(type_).min), int(np.iinfo(type_).max)

    def of_integers(
        self, name: str, type_: str, since: int, pairs: Sequence[tuple[int, int]], open_: Clause | None = None
    ) -> None:
        """Declare a case of pairs of integers."""
        left, right = (typed(type_, np.array(side, type_)) for side in zip(*pairs, strict=True))
        cites = () if open_ else (self.computes,)
        self.op.case(f"{name}_{type_}", Tag.EDGE, A=left, B=right, since=since, unspecified=open_, cites=cites)

    def misfits(self) -> None:
        """Declare the models that the signature forbids."""
        case = self.op.case
        fits: dict[str, Any] = {"A": ramp(2, 3), "B": ramp(3)}
        consumed: dict[str, Any] = {"stray": {"consumed_inputs": [0, 0]}, "since": _CONSUMED_BEFORE}
        case("attribute_broadcast", Tag.CHANGE, **fits, stray={"broadcast": 1}, since=7, rejects=Rule.ATTRIBUTES)
        case("attribute_axis", Tag.CHANGE, **fits, stray={"axis": 1}, since=7, rejects=Rule.ATTRIBUTES)
        case("attribute_consumed_inputs", **fits, **consumed, rejects=Rule.ATTRIBUTES)
        case("no_second", A=ramp(3), rejects=Rule.ARITY)
        case("no_outputs", A=ramp(3), B=ramp(3), n=0, rejects=Rule.ARITY)
        case("two_outputs", A=ramp(3), B=ramp(3), n=2, rejects=Rule.ARITY)


_CONSUMED_BEFORE = 6
"""The version that drops the attribute consumed_inputs."""
_EXAMPLES: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
    "(,), i.e. B is a scalar tensor": ((), {}),
    "(1, 1), i.e. B is an 1-element tensor": ((1, 1), {}),
    "(5,)": ((5,), {}),
    "(4, 5)": ((4, 5), {}),
    "(3, 4), with axis=1": ((3, 4), {"axis": 1}),
    "(2), with axis=0": ((2,), {"axis": 0}),
}
