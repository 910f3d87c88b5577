"""Logical operations, as the texts call them: a truth value for each pair of elements of two tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.declare.arguments import typed
from harness.declare.clause import Rule
from harness.declare.data import Array, extremes, ramp
from harness.declare.families.broadcasting import LimitedAsAdd, Multidirectional
from harness.declare.families.elementwise import counted, declare_meaning, float_types
from harness.declare.op import Op, Tag

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from harness.declare.clause import Clause

    Shape = tuple[int, ...]


class Logical:
    """What comparisons and connectives share: limited broadcasting before version 7, numpy's since then."""

    def __init__(
        self, op: Op, word: str, holds: Callable[[Array, Array], Array], *, types: tuple[str, str], note: str = ""
    ) -> None:
        """Declare the sentences on `op`, made with `rank=rank_of_two`, and its meaning.

        Args:
            op: the operator.
            word: names the operation in them.
            holds: tells of which pairs it is true.
            types: the one of cases that ask for none, and another.
            note: to the sentence that says what is computed.
        """
        self.op, (self.plain, self.another) = op, types
        self.performs = op.clause(
            f"Returns the tensor resulted from performing the `{word}` logical operation elementwise on the input "
            "tensors `A` and `B`",
            note=note,
        )
        self.limited = LimitedAsAdd(op) if op.versions[0] < _NUMPY else None
        self.numpy = Multidirectional(op)
        if self.limited:
            self.left = op.clause("Left input tensor for the logical operator.", before=_NUMPY)
            self.right = op.clause("Right input tensor for the logical operator.", before=_NUMPY)
        self.first = op.clause("First input operand for the logical operator.", since=_NUMPY)
        self.second = op.clause("Second input operand for the logical operator.", since=_NUMPY)
        self.boolean = op.clause("Constrain output to boolean tensor.")
        second = self.limited.to_left if self.limited else None
        declare_meaning(op, second, self.numpy, lambda _, left, right: np.asarray(holds(left, right)))

    def pair(self, one: object, other: object) -> dict[str, Any]:
        """Return both inputs in the type of cases that ask for none."""
        return {"A": typed(self.plain, one), "B": typed(self.plain, other)}

    def sides(self, one: object, other: object) -> None:
        """Declare the cases of two tensors, of which what holds fails if they change sides, where it can."""
        if self.limited:
            self.op.case("old_sides", **self.pair(one, other), cites=(self.left, self.right, self.boolean))
        self.op.case("sides", **self.pair(one, other), cites=(self.first, self.second, self.boolean))

    def pairs(self, examples: Mapping[str, tuple[object, object]], *tags: Tag) -> None:
        """Declare a case for each two inputs."""
        for name, sides in examples.items():
            self.op.case(name, *tags, **self.pair(*sides), cites=(self.performs,))

    def operands(self, one: Shape, other: Shape) -> dict[str, Any]:
        """Return inputs of these shapes, of which neither always decides."""
        raise NotImplementedError

    def shapes(self) -> None:
        """Declare the cases of shapes."""
        self.pairs({"zero_size": (ramp(2, 0, 3), ramp(2, 0, 3))}, Tag.EDGE)
        if self.limited:
            equal = self.limited.match_left
            self.limited.cases(self.operands, equal)
            wrong = self.operands((2, 3), (3, 2))
            self.op.case("same_count_other_shape", Tag.EDGE, **wrong, before=_NUMPY, rejects=equal)
        self.numpy.cases(self.operands)

    def misfits(self) -> None:
        """Declare the models that the signature forbids."""
        case, fits, whole = self.op.case, self.operands((2, 3), (3,)), self.pair(ramp(3), ramp(3))
        case("two_types", Tag.DTYPE, A=whole["A"], B=typed(self.another, ramp(3)), rejects=Rule.TYPES)
        for name in ("broadcast", "axis"):
            case(f"attribute_{name}", Tag.CHANGE, **fits, stray={name: 1}, since=_NUMPY, rejects=Rule.ATTRIBUTES)
        case("no_second", A=whole["A"], rejects=Rule.ARITY)
        case("no_outputs", **whole, n=0, rejects=Rule.ARITY)
        case("two_outputs", **whole, n=2, rejects=Rule.ARITY)


def numbers(*, integers: int | None, bfloat16: int, floats: int | None = None) -> dict[str, int | None]:
    """Return the numeric types and the version since which they are allowed."""
    whole = (f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u"))
    return {**dict.fromkeys(float_types(bfloat16), floats), "bfloat16": bfloat16, **dict.fromkeys(whole, integers)}


class Comparison(Logical):
    """Greater, Less, Equal and their like."""

    def __init__(
        self,
        op: Op,
        word: str,
        holds: Callable[[Array, Array], Array],
        allowed: Mapping[str, int | None],
        *,
        types: tuple[str, str] = ("float", "double"),
        distinct: int = 7,
        note: str = "IEEE 754 settles that a NaN is neither and that both zeros are equal.",
    ) -> None:
        """Declare the sentences on `op`, and its meaning; see Logical.

        Args:
            op: the operator.
            word: names the operation in them.
            holds: tells of which pairs it is true.
            allowed: every numeric type and the version since which it is.
            types: the one of cases that ask for none, and another.
            distinct: how many different numbers, at most, the cases of shapes hold.
            note: to the sentence that says what is computed.
        """
        super().__init__(op, word, holds, types=types, note=note)
        self.allowed, self.distinct = allowed, distinct

    def operands(self, one: Shape, other: Shape) -> dict[str, Any]:
        """Return numbers of which neither side is always the greater."""
        return self.pair(counted(0)(*one) * 5 % 7 % self.distinct, counted(1)(*other) * 3 % 7 % self.distinct)

    def cases(self, **said: Clause) -> None:
        """Declare the cases, in which A and B change sides: what holds of one comparison fails of the other.

        Args:
            said: what the versions in turn say of T. The first of several forbids every other type.
        """
        one, other = [1, 5, 3, -2, 0, 4], [4, 2, 3, -3, 1, 4]
        self.sides(one, other)
        self.pairs(
            {
                "rank4": (ramp(2, 3, 4, 5), counted(0)(2, 3, 4, 5)[::-1]),
                "vector_and_tail": (np.arange(67) % 5, np.arange(67) % 7),
            }
        )
        self.pairs(
            {"equal": (one, one), "rank0_0": (3, 4), "rank0_1": (4, 3), "rank0_2": (4, 4), "size_one": ([4], [3])},
            Tag.EDGE,
        )
        self.shapes()
        case = self.op.case
        for name, clause in said.items():
            case(f"dtypes_{name}", Tag.DTYPE, each="T", A=[1, 5, 3], B=[4, 2, 3], cites=(clause,))
        case("dtypes_broadcast", Tag.DTYPE, each="T", A=ramp(2, 1), B=[3, 1, 0], cites=(self.numpy.clause,))
        for type_, since in self.allowed.items():
            if "float" in type_ or type_ == "double":
                self._floats(type_, since)
            else:
                self._limits(type_, since)
        first, last = next(iter(said)), next(reversed(said))
        outside: dict[str, Any] = {"outside": "T", "A": ramp(3), "B": ramp(3)}
        if first != last:
            case(f"outside_{first}", Tag.DTYPE, **outside, rejects=said[first])
        case(f"outside_{last}", Tag.DTYPE, **outside, since=self.op.versions[-1], rejects=Rule.TYPES)
        self.misfits()

    def _floats(self, type_: str, since: int | None) -> None:
        examples: dict[str, tuple[object, object, Clause]] = {
            "extremes_pairs": (extremes(11, 1), extremes(1, 11), self.numpy.clause),
            "extremes": (extremes(11), extremes(11), self.performs),
            "neighbours": ([1, 1, 1.0078125, -1], [1.0078125, 0.9921875, 1, -1.0078125], self.performs),
        }
        for name, (one, other, clause) in examples.items():
            sides: dict[str, Any] = {"A": typed(type_, one), "B": typed(type_, other)}
            self.op.case(f"{name}_{type_}", Tag.EDGE, **sides, since=since, cites=(clause,))

    def _limits(self, type_: str, since: int | None) -> None:
        low, high = int(np.iinfo(type_).min), int(np.iinfo(type_).max)
        left, right = (
            typed(type_, np.array(side, type_))
            for side in ([low, high, high - 1, low, high], [high, low, high, low + 1, high - 1])
        )
        self.op.case(f"limits_{type_}", Tag.EDGE, A=left, B=right, since=since, cites=(self.performs,))


class Connective(Logical):
    """And, Or and Xor."""

    def __init__(self, op: Op, word: str, holds: Callable[[Array, Array], Array], *, neutral: bool) -> None:
        """Declare the sentences on `op`, and its meaning; see Logical.

        Args:
            op: the operator.
            word: names the operation in them.
            holds: tells of which pairs it is true.
            neutral: the truth value beside which the other one decides.
        """
        super().__init__(op, word, holds, types=("bool", "uint8"))
        self.neutral = neutral
        self.booleans = op.clause("Constrain input to boolean tensor.")

    def operands(self, one: Shape, other: Shape) -> dict[str, Any]:
        """Return truth values in no even change, of which the first one, that of a scalar, is neutral."""
        left, right = counted(0)(*one) * 5 % 7 % 2 == 0, counted(1)(*other) * 3 % 7 % 2 == 1
        return self.pair(left == self.neutral, right == self.neutral)

    def cases(self) -> None:
        """Declare the cases; each has all four pairs of truth values where it has so many."""
        case, table = self.op.case, ([False, False, True, True], [False, True, False, True])
        self.sides(*table)
        self.pairs(
            {
                "rank4": (counted(0)(2, 3, 4, 5) % 2 == 0, counted(0)(2, 3, 4, 5) % 3 == 0),
                "vector_and_tail": (np.arange(67) % 3 == 0, np.arange(67) % 2 == 0),
            }
        )
        same: dict[str, tuple[object, object]] = {"same": (table[0], table[0]), "size_one": ([True], [False])}
        truths = {f"rank0_{a}_{b}".lower(): (a, b) for a in (False, True) for b in (False, True)}
        self.pairs({**same, **truths}, Tag.EDGE)
        for truth in (False, True):
            named = str(truth).lower()
            cites = (self.numpy.clause,)
            case(f"scalar_second_{named}", Tag.EDGE, **self.pair([[True], [False]], truth), since=_NUMPY, cites=cites)
            case(f"scalar_first_{named}", Tag.EDGE, **self.pair(truth, [[True], [False]]), since=_NUMPY, cites=cites)
        self.shapes()
        case("booleans", **self.pair(*table), cites=(self.booleans,))
        case("outside", Tag.DTYPE, outside="T", A=ramp(3), B=ramp(3), since=self.op.versions[-1], rejects=self.booleans)
        self.misfits()


NO_NEGATION = (
    "IEEE 754 settles that a NaN is neither, so that this is not the negation of the other comparison, and that both "
    "zeros are equal."
)
"""The note of comparisons that an equal number passes."""
_NUMPY = 7
"""The version that broadcasts as numpy does."""
