# SPDX-License-Identifier: Apache-2.0
"""Elementwise operators with one tensor, or with two numeric tensors: their shared sentences and their cases."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from onnx_conformance.declare.arguments import Typed, typed
from onnx_conformance.declare.data import FLOATS, Data, every_pair, every_two, every_value, extremes, ramp
from onnx_conformance.declare.families.broadcasting import Limited, Multidirectional
from onnx_conformance.declare.op import Op, Tag
from onnx_conformance.declare.sizes import LARGE, LENGTHS, filled, grid
from onnx_conformance.declare.tolerance import Tolerance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from onnx_conformance.base.values import Array
    from onnx_conformance.declare.clause import Clause, Version
    from onnx_conformance.declare.partly_open import Result

    Fill = Callable[..., Data | Array]
    """Values for a shape."""


SHAPES: dict[str, tuple[int, ...]] = {
    "rank1": (5,),
    "rank2": (2, 3),
    "rank3": (4, 2, 3),
    "rank4": (1, 3, 2, 4),
    "rank5": (2, 1, 3, 1, 2),
    "scalar": (),
    "one_element": (1,),
    "one_element_rank3": (1, 1, 1),
    "zero_size": (2, 0, 3),
    "zero_size_vector": (0,),
    "vector_and_tail": (67,),
}
"""Shapes of one tensor, by the name of the case."""
SUBNORMAL = {
    "float16": [2**-24, 2**-15, 3 * 2**-20],
    "float": [2**-149, 2**-127, 3 * 2**-140],
    "bfloat16": [2**-133, 2**-127, 3 * 2**-131],
    "double": [2**-1074, 2**-1023, 3 * 2**-1060],
}
"""For each floating type, numbers below its normal numbers."""
LIMITS = {
    "largest": {type_: [limits.largest] for type_, limits in FLOATS.items()},
    "smallest_normal": {type_: [limits.smallest_normal] for type_, limits in FLOATS.items()},
    "subnormal_inputs": SUBNORMAL,
}
"""For each floating type, numbers above 0 at the ends of its range, by the name of the case."""


SIXTEEN_BITS: dict[str, Any] = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
"""The floating types for which all values are tested."""

FLOATS_OF_EIGHT_BITS: dict[str, Any] = {
    "float8e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8e5m2": ml_dtypes.float8_e5m2,
    "float8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
}
"""The smaller floating types, by the names in ONNX's signatures."""

EIGHT_BITS = ("int8", "uint8")
"""The integer types for which all pairs are tested."""


def rounded_once(result: str) -> Tolerance:
    """Return a tolerance of 0, because IEEE 754 defines a single result."""
    reason = f"IEEE 754 rounds a {result} once; computing in float32 has the same result for smaller types"
    return Tolerance(reason, signed_zero=True)


def float_types(bfloat16: int) -> dict[str, int | None]:
    """Return the floating types and the version since which they are allowed."""
    return {"float16": None, "float": None, "double": None, "bfloat16": bfloat16}


def rank_of_two(arguments: Mapping[str, Any]) -> int:
    """Return the rank of the result of A and B."""
    return max(np.ndim(arguments.get(name, 0)) for name in "AB")


def counted(start: int) -> Callable[..., Array]:
    """Return a function that fills a shape with start, start + 1, ..."""
    return lambda *shape: np.arange(start, start + math.prod(shape)).reshape(shape)


def bit_patterns() -> Iterator[tuple[str, Array]]:
    """Yield each floating type of 8 and 16 bits with all its bit patterns, including NaN with every payload."""
    for type_, dtype in {**FLOATS_OF_EIGHT_BITS, **SIXTEEN_BITS}.items():
        unsigned = np.dtype(f"u{np.dtype(dtype).itemsize}")
        yield type_, np.arange(2 ** (8 * unsigned.itemsize), dtype=unsigned).view(dtype)


def typed_pairs(type_: str, *, divided: bool = False) -> tuple[Typed, Typed]:
    """Return the first and the second numbers of all pairs of an 8-bit type; see `every_two`."""
    first, second = every_two(divided=divided)
    return typed(type_, first), typed(type_, second)


def all_pairs(op: Op, computes: Clause, *, divided: bool = False) -> None:
    """Declare the sized calls with all pairs of numbers of 8-bit types, including those without a result.

    Args:
        op: the operator; its inputs are A and B.
        computes: the sentence on the computed values.
        divided: whether B contains divisors, which are not 0.
    """
    for type_ in EIGHT_BITS:
        left, right = typed_pairs(type_, divided=divided)
        op.every(f"pairs_{type_}", cites=computes, A=left, B=right)


class Unary:
    """The cases of operators with one floating tensor as input and an output of its type and shape."""

    def __init__(self, op: Op, computes: Clause, *, bfloat16: int = 13, flat: Clause | None = None) -> None:
        """Store the sentences.

        Args:
            op: the operator, created with `rank=` the name of its input.
            computes: the sentence on the computed values.
            bfloat16: the first version that allows this type.
            flat: a sentence that defines only rank 1. In versions with it, other ranks are left open.
        """
        self.op, self.computes, self.input, self.flat = op, computes, str(op.rank), flat
        self.types = float_types(bfloat16)

    def each_type(self, numbers: Mapping[str, Any], *, cites: tuple[Clause, ...] = ()) -> None:
        """Declare cases in every floating type. `numbers` contains lists, or one list for each type."""
        for type_, since in self.types.items():
            for name, values in numbers.items():
                of_type = values[type_] if isinstance(values, Mapping) else values
                argument: dict[str, Any] = {self.input: typed(type_, list(of_type))}
                self.op.case(f"{name}_{type_}", Tag.EDGE, **argument, since=since, cites=(self.computes, *cites))

    def every_value(self, *, nan: bool = True, up_to: float = math.inf, subnormal: bool = True) -> None:
        """Declare cases with all values of each 16-bit type, with separate cases for subnormal numbers.

        Args:
            nan: whether they include NaN. One NaN is enough.
            up_to: the greatest magnitude among them, as a part of the type's greatest number.
            subnormal: whether subnormal numbers are tested. If errors are measured, every result for them could pass.
        """
        for type_, dtype in SIXTEEN_BITS.items():
            bits = np.arange(2**16, dtype=np.uint16)
            of_type = FLOATS[type_]
            most, normal = np.array([up_to * of_type.largest, of_type.smallest_normal], dtype).view(np.uint16)
            magnitude = bits & np.uint16(0x7FFF)
            tiny = (magnitude > 0) & (magnitude < normal)
            others = np.append(bits[~tiny & (magnitude <= most)].view(dtype), np.array([np.nan] * nan, dtype))
            kinds = {"every": others, **({"every_subnormal": bits[tiny].view(dtype)} if subnormal else {})}
            for name, some in kinds.items():
                argument: dict[str, Any] = {self.input: typed(type_, some)}
                since = self.types[type_]
                self.op.case(f"{name}_{type_}", Tag.EDGE, **argument, since=since, cites=self.computes)

    def cases(self, values: Sequence[float], *, result: Clause, consumed: bool = True) -> None:
        """Declare the cases that do not depend on the computation.

        Args:
            values: the values that fill the shapes. The result must be defined for each of them.
            result: the sentence that describes the output.
            consumed: whether versions below 6 have the attribute consumed_inputs.
        """
        case = self.op.case
        for name, shape in SHAPES.items():
            argument: dict[str, Any] = {self.input: np.resize(values, shape)}
            since = self.flat.before if self.flat and len(shape) != 1 else None
            case(name, Tag.EDGE, since=since, cites=(self.computes, result), **argument)
            if self.flat and len(shape) != 1:
                before = self.flat.before
                case(f"{name}_before_{before}", Tag.EDGE, before=before, unspecified=self.flat, **argument)
        self.op.sized(
            "length",
            grid(n=(*LENGTHS, *LARGE)),
            each="T",
            cites=(self.computes, result),
            arguments={self.input: filled("n", floats=(min(values), max(values)))},
        )
        everything: dict[str, Any] = {self.input: every_value()}
        self.op.every("every", each="T", cites=self.computes, **everything)
        if consumed and self.op.versions[0] < CONSUMED_BEFORE:
            legacy = self.op.clause("legacy optimization attribute.", before=CONSUMED_BEFORE)
            vector: dict[str, Any] = {self.input: list(values)}
            case("consumed_inputs", **vector, consumed_inputs=[0], cites=(self.computes, legacy))


class Arithmetic:
    """Add, Sub, Mul and Div: limited broadcasting before version 7, integers since 6, all integer types since 14."""

    types = float_types(13)

    def __init__(self, op: Op, computes: Clause) -> None:
        """Declare the sentences on operands, result and broadcasting, which all four share.

        Args:
            op: the operator, created with `rank=rank_of_two`.
            computes: the sentence on the computed values.
        """
        self.op, self.computes = op, computes
        self.support = op.clause("(with limited broadcast support)", before=7)
        self.limited = Limited(op)
        self.disabled = op.clause(
            "If broadcasting is disabled it should be of the same size.",
            before=7,
            note="The text does not define whether another shape with the same number of elements has the same size. "
            "onnx.reference broadcasts.",
        )
        self.smaller = op.clause("With broadcasting can be of smaller size than A.", before=7)
        self.legacy = op.clause("legacy optimization attribute.", before=CONSUMED_BEFORE)
        self.share = op.clause("First operand, should share the type with the second operand.", before=7)
        self.same_dimensions = op.clause("Result, has same dimensions and type as A", before=7)
        self.numpy = Multidirectional(op)
        self.same_type = op.clause("Result, has same element type as two inputs", since=7)
        self.small_integers = op.clause("Extend supported types to include uint8, int8, uint16, and int16.", since=14)

    def second(self, v: Version, left: Array, right: Array, axis: int | None, broadcast: int) -> Array:
        """Return the second operand in a shape that numpy broadcasts to that of the first."""
        v.silent(self.disabled, not broadcast and left.shape != right.shape and left.size == right.size)
        return self.limited.second(v, left, right, axis, broadcast, self.disabled)

    def exactly(self, v: Version, operation: Callable[[Any, Any], Any], left: Array, right: Array) -> Result:
        """Return the result. Integers outside the range of their type are open."""
        with np.errstate(all="ignore"):
            result = np.asarray(operation(left, right))
        if result.dtype.kind not in "iu":
            return result
        wide = np.int64 if result.dtype.itemsize <= SHORTER else object  # These products have less than 64 bits.
        exact = operation(left.astype(wide), right.astype(wide))
        return v.leave_open(self.computes, np.asarray(result != exact, bool), result)

    def cases(self, left: Fill = ramp, right: Fill = ramp) -> None:
        """Declare the cases that do not depend on the computation.

        Args:
            left: a function that fills a shape. Its first three values combined with 3, 2, 1 must have a result in
                every integer type.
            right: a function that fills a shape.
        """
        case = self.op.case
        self.numpy.sized(
            self.computes,
            lambda one, other: {
                "A": filled(*one, integers=(8, 11)),
                "B": filled(*other, floats=(0.5, 2), integers=(1, 8)),
            },
        )

        def operands(one: tuple[int, ...], other: tuple[int, ...]) -> dict[str, Any]:
            return {"A": left(*one), "B": right(*other)}

        case("same_shape", A=left(2, 3), B=[[30, 20, 10], [3, 2, 1]], cites=self.computes)
        case("rank0", Tag.EDGE, A=3, B=4, cites=self.computes)
        case("size_one", Tag.EDGE, A=[3], B=[4], cites=self.computes)
        for name, number in {"zero": 0.0, "one": 1.0, "infinity": np.inf}.items():  # Tools simplify such constants.
            case(f"scalar_{name}", Tag.EDGE, A=[[1.5], [-2]], B=number, since=14, cites=self.computes)
        case("zero_size", Tag.EDGE, A=ramp(2, 0, 3), B=ramp(2, 0, 3), cites=self.computes)
        self.limited.cases(operands, self.disabled)
        self.numpy.cases(operands)
        for index, (text, shape, axis) in enumerate(_EXAMPLES):
            example = self.op.clause(text, before=7)
            starts: dict[str, Any] = {} if axis is None else {"axis": axis}
            sides = operands((2, 3, 4, 5), shape)
            cites = (example, self.same_dimensions)
            case(f"example_{index}", Tag.CHANGE, **sides, **starts, broadcast=1, cites=cites)
        case("smaller", **operands((2, 3), (3,)), broadcast=1, cites=(self.smaller, self.support))
        different = operands((2, 3), (3, 2))
        case("same_count_other_shape", Tag.EDGE, **different, before=7, unspecified=self.disabled)
        case("consumed_inputs", **operands((2, 3), (2, 3)), consumed_inputs=[0, 0], cites=self.legacy)
        broadcast = (self.numpy.clause, self.same_type)
        case("dtypes_broadcast", Tag.DTYPE, each="T", A=left(2, 1), B=[3, 2, 1], cites=broadcast)
        case("two_types_before_7", Tag.DTYPE, A=ramp(3), B=typed("double", ramp(3)), rejects=self.share)
        for type_, since in self.types.items():
            self._floats(type_, since)

    def _floats(self, type_: str, since: int | None) -> None:
        case = self.op.case
        tenths = typed(type_, [0.1, 0.7, -1 / 3, 1e-3, 2049, 257])
        others = typed(type_, [0.2, -0.1, 2 / 3, 1, 1, 1])
        every, column, row = (typed(type_, extremes(*shape)) for shape in ((11,), (11, 1), (1, 11)))
        case(f"fractions_{type_}", Tag.EDGE, A=tenths, B=others, since=since, cites=self.computes)
        case(f"extremes_{type_}", Tag.EDGE, A=every, B=every, since=since, cites=self.computes)
        case(f"extremes_pairs_{type_}", Tag.EDGE, A=column, B=row, since=since, cites=self.numpy.clause)

    def every_pair(self, exact: Callable[[Array, Array], Array], *, divided: bool = False) -> None:
        """Declare a case with all pairs of each 8-bit type whose result is in the range of the type.

        Args:
            exact: a function that returns the results of pairs; NaN or infinity means that there is no result.
            divided: whether B contains divisors. The sized calls, which have all other pairs, have none with 0.
        """
        for type_ in EIGHT_BITS:
            low, high = np.iinfo(type_).min, np.iinfo(type_).max
            left, right = every_pair(type_, lambda a, b: (exact(a, b) >= low) & (exact(a, b) <= high))  # noqa: B023
            since = _INTEGERS_SINCE[type_]
            sides: dict[str, Any] = {"A": typed(type_, left), "B": typed(type_, right)}
            self.op.case(f"every_{type_}", Tag.EDGE, **sides, since=since, cites=self.computes)
        all_pairs(self.op, self.computes, divided=divided)

    def integers(self) -> Iterator[tuple[str, int, int]]:
        """Yield each integer type, its least and its greatest number."""
        for type_ in _INTEGERS_SINCE:
            yield type_, int(np.iinfo(type_).min), int(np.iinfo(type_).max)

    def of_integers(
        self, name: str, type_: str, pairs: Sequence[tuple[int, int]], *, unspecified: Clause | None = None
    ) -> None:
        """Declare a case with pairs of integers, in the versions that allow the type."""
        left, right = (typed(type_, np.array(side, type_)) for side in zip(*pairs, strict=True))
        since = _INTEGERS_SINCE[type_]
        types = (self.small_integers,) if self.small_integers.since == since else ()
        cites = () if unspecified else (self.computes, *types)
        self.op.case(f"{name}_{type_}", Tag.EDGE, A=left, B=right, since=since, unspecified=unspecified, cites=cites)


SHORTER = 2
"""The size in bytes of integers whose products are exact in 64 bits."""
CONSUMED_BEFORE = 6
"""The version that removed the attribute consumed_inputs."""
_INTEGERS_SINCE = {"int32": 6, "int64": 6, "uint32": 6, "uint64": 6, "int8": 14, "int16": 14, "uint8": 14, "uint16": 14}
"""The first version of Add, Sub, Mul and Div that allows each integer type."""
_EXAMPLES: Sequence[tuple[str, tuple[int, ...], int | None]] = (
    ("shape(A) = (2, 3, 4, 5), shape(B) = (,), i.e. B is a scalar tensor", (), None),
    ("shape(A) = (2, 3, 4, 5), shape(B) = (1, 1), i.e. B is an 1-element tensor", (1, 1), None),
    ("shape(A) = (2, 3, 4, 5), shape(B) = (5,)", (5,), None),
    ("shape(A) = (2, 3, 4, 5), shape(B) = (4, 5)", (4, 5), None),
    ("shape(A) = (2, 3, 4, 5), shape(B) = (3, 4), with axis=1", (3, 4), 1),
    ("shape(A) = (2, 3, 4, 5), shape(B) = (2), with axis=0", (2,), 0),
)
"""The examples of limited broadcasting: the sentence, the shape of B, and the axis."""
