"""The words of operator files: Op, clause, oracle, case, tags, tolerances and data. No input or output.

An operator file declares one `Op` per operator, the clauses of its text, an oracle that says what the
clauses mean in plain numpy, and the cases that try them. See `operators/split.py` for a whole one and
CONTRIBUTING.md for the steps.
"""

from __future__ import annotations

import enum
import inspect
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import ml_dtypes
import numpy as np

from harness.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Array = np.ndarray[Any, Any]
Ints = Array | list[int] | tuple[int, ...] | None
Int = int | None
_Function = TypeVar("_Function", bound="Callable[..., Any]")


class DeclarationError(HarnessError):
    """An operator file contradicts itself, another one, or onnx.defs; the text names the place."""


class Tag(enum.StrEnum):
    """What a case is about; `run --tag` selects by these."""

    BASIC = "basic"
    DTYPE = "dtype"
    """Every allowed type of a constraint in turn."""
    CHANGE = "change"
    """A meaning that differs between versions."""
    EDGE = "edge"
    """Zero sizes, rank 0, one element, limits of a range."""
    AXIS = "axis"


@dataclass(frozen=True)
class Clause:
    """A verbatim quote of an operator's text, in force from one version until another.

    Attributes:
        operator: ai.onnx/Split; empty for a rule that the schema itself sets for every operator.
        text: the quote, white space folded.
        since: first version whose text has it; None: from the first on.
        before: first version whose text no longer has it; None: to this day.
        note: how a dispute about it was decided, if there is one.
        see: where that was discussed.
    """

    operator: str
    text: str
    since: int | None = None
    before: int | None = None
    note: str = ""
    see: tuple[str, ...] = ()

    def in_force(self, version: int) -> bool:
        """Tell whether the operator version that came with opset `version` has this sentence."""
        return (self.since is None or version >= self.since) and (self.before is None or version < self.before)


class Rule:
    """What every signature demands; clauses that need no sentence of an operator's own text."""

    TYPES = Clause("", "Signature: the type of each input is one that the operator allows.")
    ARITY = Clause("", "Signature: a node has the inputs and outputs that the operator asks for.")
    ATTRIBUTES = Clause("", "Signature: a node has the attributes that the operator asks for, and no others.")


class NoAnswer(Exception):  # noqa: N818 - an outcome, not an error
    """The oracle gives no values, and says because of which clause."""

    def __init__(self, clause: Clause, detail: str = "") -> None:
        """Take the clause, and what of this case it speaks of."""
        super().__init__(f"«{clause.text}»" + (f" ({detail})" if detail else ""))
        self.clause, self.detail = clause, detail


class Rejected(NoAnswer):
    """The text forbids this model or these inputs."""


class Unspecified(NoAnswer):
    """The text is silent or contradicts itself."""


@dataclass(frozen=True)
class Version:
    """What an oracle may ask of the operator version it speaks for."""

    since: int

    def permit(self, clause: Clause, used: bool = True) -> None:  # noqa: FBT001, FBT002 - reads as the sentence
        """Raise Unspecified if something was `used` that only `clause` gives leave to, where it is not in force."""
        if used and not clause.in_force(self.since):
            raise Unspecified(clause, f"not said in version {self.since}")

    def require(self, clause: Clause, holds: bool) -> None:  # noqa: FBT001
        """Raise Rejected if what `clause` demands does not hold; Unspecified where it is not in force."""
        if not holds:
            self.permit(clause)
            raise Rejected(clause)

    def silent(self, clause: Clause, when: bool = True) -> None:  # noqa: FBT001, FBT002
        """Raise Unspecified if `when`: the nearest sentence, `clause`, leaves open what happens."""
        if when:
            raise Unspecified(clause)


@dataclass(frozen=True)
class Tolerance:
    """How far from the expected value an answer may lie, and why.

    An element passes when it is within `ulp` units in the last place of its own type, or within
    `atol + rtol * |expected|`, or within what `bound` allows. All zero means: the very same value.

    Attributes:
        reason: why this much, in one line.
        ulp: units in the last place.
        rtol: relative to the expected value.
        atol: absolute.
        signed_zero: +0 and -0 differ.
        bound: from the arguments of the oracle, by name, the absolute error allowed for each element of
            each output, in epsilons of the output's type (for integers: none); for sums and products, where
            the error grows with the terms.
    """

    reason: str
    ulp: float = 0
    rtol: float = 0
    atol: float = 0
    signed_zero: bool = False
    bound: Callable[..., list[Array]] | None = None


EXACT = Tolerance("the operator only moves or selects data", signed_zero=True)


def ulp(count: float, reason: str) -> Tolerance:
    """Allow `count` units in the last place."""
    return Tolerance(reason, ulp=count)


def bounded(bound: Callable[..., list[Array]], reason: str) -> Tolerance:
    """Allow each element the absolute error that `bound` returns, in epsilons; see Tolerance."""
    return Tolerance(reason, bound=bound)


class Data:
    """Values that take the form of whatever element type a case is expanded to."""

    def __init__(self, fill: Callable[[np.dtype[Any], int], Array], shape: tuple[int, ...]) -> None:
        """Take a function of dtype and element count, and the shape."""
        self.fill, self.shape = fill, shape

    def of(self, dtype: np.dtype[Any]) -> Array:
        """Return the array for one element type."""
        return self.fill(dtype, int(np.prod(self.shape, dtype=np.int64))).astype(dtype).reshape(self.shape)


@dataclass(frozen=True)
class Typed:
    """Values of one element type, named as in tensor(...), whatever the signature says."""

    type: str
    values: Any


def typed(type_: str, values: object) -> Typed:
    """Give an argument an element type of its own, for cases that the signature forbids."""
    return Typed(type_, values)


def ramp(*shape: int) -> Data:
    """Return 0, 1, 2, ... in row-major order: neighbours differ in every type."""
    return Data(_ramp, shape)


def extremes(*shape: int) -> Data:
    """Return the hardest values of each type in turn: limits, signed zeros, NaN, subnormals, odd strings."""
    return Data(_extremes, shape)


def _ramp(dtype: np.dtype[Any], count: int) -> Array:
    index = np.arange(count)
    if dtype.kind == "O":
        return np.array([f"s{i}" for i in index], dtype=object)
    if dtype.kind == "b":
        return np.array(index % 3 == 0)
    if dtype.kind == "c":
        return np.array(index - 0.5j * index)
    if dtype.kind == "f" or "float" in dtype.name:
        with np.errstate(all="ignore"):
            return index.astype(np.float32).astype(dtype)
    info = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]
    return np.array(index % min(int(info.max) + 1, 1 << 30))


_STRINGS = ("", "a", "ä", "日本語", "𝄞", " \t\n", "A" * 64, "0")


def _extremes(dtype: np.dtype[Any], count: int) -> Array:
    values: Array
    if dtype.kind == "O":
        values = np.array(_STRINGS, dtype=object)
    elif dtype.kind == "b":
        values = np.array([True, False, False])
    elif dtype.kind == "c":
        part = _extremes(np.dtype(f"f{dtype.itemsize // 2}"), 11)
        values = part.astype(dtype)
        values.imag = part[::-1]
    elif dtype.kind in "iu" or "int" in dtype.name:
        info = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]
        low, high = int(info.min), int(info.max)
        wide = np.uint64 if low == 0 else np.int64
        values = np.array([low, high, 0, 1, high - 1, low + 1], dtype=wide).astype(dtype)
    else:
        limits = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
        small = [limits.smallest_subnormal, limits.tiny, limits.eps]
        values = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, *small, limits.max, limits.min, 1], dtype=dtype)
    return np.resize(values, count)


SIZES = (3, 4, 5, 6)
"""No two dimensions are equal, so that no axis can be taken for another."""


def axes() -> Iterator[tuple[str, tuple[int, ...], int]]:
    """Yield a case name, a shape and an axis, for every axis of ranks 1 to 4, from the front and the back."""
    for rank in range(1, len(SIZES) + 1):
        for axis in range(-rank, rank):
            yield f"rank{rank}_axis{axis}".replace("-", "_minus"), SIZES[:rank], axis


def axes_outside() -> Iterator[tuple[str, tuple[int, ...], int]]:
    """Yield a case name, a shape and an axis just out of range on either side, for ranks 0 to 4."""
    for rank in range(len(SIZES) + 1):
        yield f"rank{rank}_axis_too_high", SIZES[:rank], rank
        yield f"rank{rank}_axis_too_low", SIZES[:rank], -rank - 1


def length_of(name: str) -> Callable[[Mapping[str, Any]], int | None]:
    """Derive the rank of the outputs as the number of elements of an argument."""

    def rank(arguments: Mapping[str, Any]) -> int | None:
        return np.size(arguments[name]) if arguments.get(name) is not None else None

    return rank


def sequence_of(variable: str) -> Callable[[Mapping[str, str]], str]:
    """Derive an output's type as the sequence of what `variable` is bound to."""
    return lambda types: f"seq({types[variable]})"


@dataclass(frozen=True)
class CaseSpec:
    """A declared case, not yet expanded over versions, types and forms.

    Attributes:
        name: lower-case words joined by single underscores; part of the case id.
        arguments: by the names that the operator's text uses; see OperatorVersion.arguments. Those of a
            variadic input are a tuple.
        n: how many outputs the node declares; None: as few as the signature allows.
        since, before: the versions it is meant for, beside those that have its arguments and clauses.
        each: a type variable; the case is expanded over every type it allows.
        outside: a type variable; the case is expanded over every tensor type it does not allow.
        stray: attributes that the signature does not have.
        cites: clauses that the case tries; it runs where all of them are in force.
        rejects: the clause that forbids it.
        unspecified: the clause that leaves it open.
    """

    name: str
    arguments: Mapping[str, Any]
    tags: frozenset[str]
    n: int | None = None
    since: int | None = None
    before: int | None = None
    each: str | None = None
    outside: str | None = None
    stray: Mapping[str, Any] = field(default_factory=dict)
    cites: tuple[Clause, ...] = ()
    rejects: Clause | None = None
    unspecified: Clause | None = None

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """Every clause that the case bears on."""
        return (*self.cites, *(clause for clause in (self.rejects, self.unspecified) if clause))

    def meant_for(self, version: int) -> bool:
        """Tell whether the declaration, arguments left aside, holds for an operator version."""
        wanted = (*self.cites, *((self.rejects,) if self.rejects else ()))
        return Clause("", "", self.since, self.before).in_force(version) and all(
            clause.in_force(version) for clause in wanted
        )


_NAME = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*")


@dataclass(frozen=True)
class Oracle:
    """A function that gives the meaning of an operator in the versions from `since` until `before`."""

    function: Callable[..., Any]
    since: int | None
    before: int | None
    parameters: tuple[str, ...]
    takes_count: bool


@dataclass(eq=False)
class Op:
    """One operator: its versions, clauses, oracles and cases.

    Attributes:
        versions: the since_version of each, as onnx.defs has them (the registry compares).
        compare: how far an answer may lie from the oracle's.
        derives: output type variable -> its type, from what the inputs bind.
        rank: the rank of the output tensors: the input that shares it, or a function of the arguments by
            name. A graph must state the rank of its outputs even in a model that has no answer.
    """

    name: str
    versions: tuple[int, ...]
    compare: Tolerance
    domain: str = "ai.onnx"
    rank: str | Callable[[Mapping[str, Any]], int | None] | None = None
    derives: Mapping[str, Callable[[Mapping[str, str]], str]] = field(default_factory=dict)
    clauses: list[Clause] = field(default_factory=list)
    oracles: list[Oracle] = field(default_factory=list)
    cases: list[CaseSpec] = field(default_factory=list)

    def __str__(self) -> str:
        """Return domain and name: ai.onnx/Split."""
        return f"{self.domain}/{self.name}"

    def clause(
        self,
        text: str,
        *,
        since: int | None = None,
        before: int | None = None,
        note: str = "",
        see: tuple[str, ...] = (),
    ) -> Clause:
        """Declare a verbatim quote and the versions that have it."""
        made = Clause(str(self), " ".join(text.split()), since, before, note, see)
        self.clauses.append(made)
        return made

    def oracle(self, *, since: int | None = None, before: int | None = None) -> Callable[[_Function], _Function]:
        """Declare the meaning of the versions from `since` until `before`.

        The function takes a Version, then by name the arguments it needs, defaults filled in and None for
        what was left out, and `n`, the number of outputs that the node declares. It returns an array, a
        list of arrays (variadic outputs, or one sequence), or a tuple of the outputs.
        """

        def register(function: _Function) -> _Function:
            parameters = tuple(inspect.signature(function).parameters)[1:]
            wanted = tuple(name for name in parameters if name != "n")
            self.oracles.append(Oracle(function, since, before, wanted, "n" in parameters))
            return function

        return register

    def case(
        self,
        name: str,
        *tags: Tag,
        n: int | None = None,
        since: int | None = None,
        before: int | None = None,
        each: str | None = None,
        outside: str | None = None,
        stray: Mapping[str, Any] | None = None,
        cites: tuple[Clause, ...] = (),
        rejects: Clause | None = None,
        unspecified: Clause | None = None,
        **arguments: Any,  # noqa: ANN401 - whatever the operator takes
    ) -> None:
        """Declare a case; see CaseSpec for the words.

        Raises:
            DeclarationError: the name is malformed or taken, or two outcomes are declared.
        """
        where = f"{self} case {name!r}"
        if not _NAME.fullmatch(name):
            raise DeclarationError(f"{where}: a name is lower-case words joined by single underscores")
        if any(spec.name == name for spec in self.cases):
            raise DeclarationError(f"{where}: declared twice")
        if rejects and unspecified:
            raise DeclarationError(f"{where}: either rejects or unspecified, not both")
        if (outside or stray) and not rejects:
            raise DeclarationError(f"{where}: what lies outside the signature needs rejects=")
        self.cases.append(
            CaseSpec(
                name=name,
                arguments=arguments,
                tags=frozenset(tags or (Tag.BASIC,)),
                n=n,
                since=since,
                before=before,
                each=each,
                outside=outside,
                stray=stray or {},
                cites=cites,
                rejects=rejects,
                unspecified=unspecified,
            )
        )

    def oracle_for(self, version: int) -> Oracle:
        """Return the one oracle of a version.

        Raises:
            DeclarationError: there is none, or more than one.
        """
        found = [item for item in self.oracles if Clause("", "", item.since, item.before).in_force(version)]
        if len(found) != 1:
            raise DeclarationError(f"{self}/{version} has {len(found)} oracles; it needs one")
        return found[0]

    def __iter__(self) -> Iterator[CaseSpec]:
        """Iterate over the declared cases."""
        return iter(self.cases)
