# SPDX-License-Identifier: Apache-2.0
"""Op: one operator with its clauses, oracles and cases."""

from __future__ import annotations

import dataclasses
import enum
import fnmatch
import inspect
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from onnx_conformance.declare.arguments import Vary
from onnx_conformance.declare.clause import Clause, DeclarationError, Force, in_range
from onnx_conformance.declare.sizes import ONCE, SizedCall

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.declare.sizes import Choice
    from onnx_conformance.declare.tolerance import Tolerance

_Function = TypeVar("_Function", bound="Callable[..., Any]")


class Tag(enum.StrEnum):
    """The topic of a case; `run --tag` selects by it."""

    BASIC = "basic"
    DTYPE = "dtype"
    """Every allowed type of a type constraint."""
    CHANGE = "change"
    """A meaning that differs between versions."""
    SIGNATURE = "signature"
    """Derived from the operator's signature; see `onnx_conformance.generation.derived`."""
    EDGE = "edge"
    """Zero sizes, rank 0, one element, limits of a range."""
    AXIS = "axis"
    SIZE = "size"
    """A size of real models; see `onnx_conformance.declare.sizes`."""
    USAGE = "usage"
    """A call of real models; see `onnx_conformance.generation.used`."""


def length_of(name: str) -> Callable[[Mapping[str, Any]], int | None]:
    """Derive the rank of the outputs as the number of elements of an argument."""

    def rank(arguments: Mapping[str, Any]) -> int | None:
        return np.size(arguments[name]) if arguments.get(name) is not None else None

    return rank


class Bindings(dict[str, str]):
    """The type of each type variable. Variables that no input binds have a default.

    Attributes:
        bound_by_inputs: the variables that an input binds.
        several: variable -> the types of all inputs with this variable.
    """

    def __init__(self, defaults: Mapping[str, str], several: Mapping[str, list[str]]) -> None:
        """Store the default of each variable, and the types of its inputs."""
        super().__init__({**defaults, **{variable: types[0] for variable, types in several.items()}})
        self.bound_by_inputs, self.several = frozenset(several), several


Dimensions = Callable[[Mapping[str, tuple[int, ...]], Mapping[str, Any]], Mapping[str, Sequence[str]]]
"""A function of shapes and attributes that returns names of dimensions; see Op.dimensions."""


Derivation = Callable[[Bindings, Mapping[str, Any]], Any]
"""A function of bindings and attributes that returns a type such as seq(tensor(float)), the number of an element type,
or a dtype; or a list of these, one for each output of the variable."""


def sequence_of(variable: str) -> Derivation:
    """Derive an output's type as the sequence of the type of `variable`."""
    return lambda types, _: f"seq({types[variable]})"


def attribute(name: str, *otherwise: str) -> Derivation:
    """Derive an output's type from an attribute with its number.

    Args:
        name: the name of the attribute.
        otherwise: variables and types. If the attribute is omitted or 0, the first type or bound variable is used.
    """

    def derive(types: Bindings, attributes: Mapping[str, Any]) -> Any:  # noqa: ANN401 - see Derivation
        candidates = (types.get(word, word) for word in otherwise if word in types.bound_by_inputs or "(" in word)
        return attributes.get(name) or next(candidates, "")

    return derive


@dataclass(frozen=True)
class CaseSpec:
    """A declared case, not yet expanded over versions, types and forms.

    Attributes:
        name: lower-case words joined by single underscores; part of the case id.
        arguments: the arguments by their names in the operator's text; see OperatorVersion.arguments. The values of a
            variadic input are a tuple.
        n: the number of outputs that the node declares; None for the fewest that the signature allows.
        omits: the outputs that the node names "".
        around: values of the outer graph, to which subgraphs and `beside` may refer.
        beside: nodes of the outer graph before the operator's node, in ONNX's text syntax.
        since, before: the range of its versions, which must also have its arguments and clauses.
        each: one or more type variables. The case is expanded over every type that the variable allows, or over all
            combinations.
        but: the types that this expansion skips: tensor(string), or only the element type.
        only: the types to which the case is expanded, as the text in ids; empty for all.
        outside: a type variable. The case is expanded over every tensor type that the variable does not allow.
        stray: attributes that the signature does not have.
        stray_inputs: the number of inputs in excess of the signature.
        deprecated: whether it is for versions in which the operator is deprecated; all other cases skip these.
        cites: the clauses that the case tests. It exists only in versions in which all of them are in force.
        rejects: the clause that forbids the model.
        unspecified: the clause that does not define the result, or some of its elements.
        derived: whether it is derived from the signature or from usage. A derived case exists only if the oracle has
            an answer. It is delivered only in the plain form and at the highest opset.
        sizes: the number of each named dimension, if it is a case of a sized call; see `declare.sizes`. None otherwise.
        exhaustive: whether it is sized and has every value of small types. It is then delivered only plainly, in every
            type.
    """

    name: str
    arguments: Mapping[str, Any]
    tags: frozenset[str]
    n: int | None = None
    omits: tuple[str, ...] = ()
    around: Mapping[str, Any] = field(default_factory=dict)
    beside: str = ""
    since: int | None = None
    before: int | None = None
    each: str | tuple[str, ...] | None = None
    but: tuple[str, ...] = ()
    only: frozenset[str] = frozenset()
    outside: str | None = None
    stray: Mapping[str, Any] = field(default_factory=dict)
    stray_inputs: int = 0
    deprecated: bool = False
    cites: tuple[Clause, ...] = ()
    rejects: Clause | None = None
    unspecified: Clause | None = None
    derived: bool = False
    sizes: Mapping[str, int] | None = None
    exhaustive: bool = False

    @property
    def sized(self) -> bool:
        """Whether it is a case of a sized call."""
        return self.sizes is not None

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """Every clause of the case."""
        return (*self.cites, *(clause for clause in (self.rejects, self.unspecified) if clause))

    def at(self, version: int) -> CaseSpec:
        """Return the case with the wordings of its clauses in a version."""
        return dataclasses.replace(
            self,
            cites=tuple(clause.at(version) for clause in self.cites),
            rejects=self.rejects and self.rejects.at(version),
            unspecified=self.unspecified and self.unspecified.at(version),
        )

    def meant_for(self, version: int) -> bool:
        """Return whether the declaration applies to an operator version, without checking the arguments."""
        clauses = (*self.cites, *((self.rejects,) if self.rejects else ()))
        return in_range(version, self.since, self.before) and all(clause.in_force(version) for clause in clauses)


_NAME = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*")
DERIVED, USED = "signature_", "usage_"
"""Prefixes of the names of derived cases: of those from the signature, and of those from the calls of real models."""


def _varied(spec: CaseSpec) -> Iterator[CaseSpec]:
    """Yield a case for each value of the argument with a `vary`, or the case itself if there is no such argument."""
    varied = [name for name, value in spec.arguments.items() if isinstance(value, Vary)]
    if not varied:
        yield spec
        return
    for names in itertools.product(*(spec.arguments[name].values for name in varied)):
        own = {name: spec.arguments[name].values[key] for name, key in zip(varied, names, strict=True)}
        words = [word for word in (spec.name, *names) if word]
        yield dataclasses.replace(spec, name="_".join(words), arguments={**spec.arguments, **own})


OF_CALL = ("n", "omits", "around", "beside")
"""Members of an example that are not arguments."""
OF_NODE = frozenset({"n", "nodes", "omits"})
"""Parameters of an oracle that are not arguments of the operator: the number of outputs of the node (`n`), the outputs
among them that the node does not name (`omits`), and the nodes of the graph as Calls (`nodes`)."""


@dataclass(frozen=True)
class Oracle:
    """A function that implements an operator in the versions from `since` until `before`.

    Attributes:
        parameters: the operator's arguments that it has as parameters.
        of_node: its other parameters; see OF_NODE.
    """

    function: Callable[..., Any]
    since: int | None
    before: int | None
    parameters: tuple[str, ...]
    of_node: frozenset[str]


@dataclass(eq=False, repr=False)
class Op:
    """One operator: its versions, clauses, oracles and cases.

    Attributes:
        versions: the since_version of each version. The registry compares them with onnx.defs.
        compare: the tolerance of an answer.
        excuses: schema points that no valid model can reach, as printed by `coverage` -> the reason.
        disputes: globs of the names of cases in which ONNX's function body of the operator disagrees with its text
            -> the reason.
        derives: output type variable -> its type, for variables that no input binds.
        widens: whether the oracle receives floating inputs as float64 instead of their type.
        stated: input shape -> the axes whose lengths the text names. No form has symbols there, because a runtime may
            reject a model in which they are unknown.
        dimensions: a function that names dimensions whose sizes the text equates, for those that have no name in the
            descriptions of inputs and outputs: shapes of inputs and outputs by name, and attributes -> a name, or an
            empty text, for each dimension of some of them. Forms with symbols have one symbol for each name.
        applies: attribute -> the element types of the first output to which it applies, if the text limits it to some.
            Derived cases set it for these types only, because a runtime may reject it for others.
        rank: the rank of the output tensors: an input with the same rank, or a function of the arguments by name. A
            graph must declare the rank of its outputs even if the model has no answer.
        constants: the inputs that the text requires to be constants. Every form stores them as initializers or in
            Constant nodes, because a runtime may reject a model in which their values are unknown.
        approximate: whether the text permits results that differ by more than rounding. Then the oracle's result for a
            node decides nothing about a model with several nodes.
        calls: the calls at the sizes of real models, declared by `sized`.
        derived: a cache of the cases derived from its signature, by version.
        call: the call declared by `example`.
    """

    name: str
    versions: tuple[int, ...]
    compare: Tolerance
    domain: str = "ai.onnx"
    rank: str | Callable[[Mapping[str, Any]], int | None] | None = None
    derives: Mapping[str, Derivation] = field(default_factory=dict)
    widens: bool = True
    stated: Callable[[tuple[int, ...]], frozenset[int]] = lambda _: frozenset()
    applies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    dimensions: Dimensions = lambda _, __: {}
    constants: tuple[str, ...] = ()
    approximate: bool = False
    call: Mapping[str, Any] | None = None
    excuses: dict[str, str] = field(default_factory=dict)
    disputes: dict[str, str] = field(default_factory=dict)
    clauses: list[Clause] = field(default_factory=list)
    oracles: list[Oracle] = field(default_factory=list)
    cases: list[CaseSpec] = field(default_factory=list)
    calls: list[SizedCall] = field(default_factory=list)
    derived: dict[int, tuple[CaseSpec, ...]] = field(default_factory=dict)
    _names: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Raise DeclarationError if `versions` is not a tuple: (29) is a number, (29,) is a tuple."""
        if not isinstance(self.versions, tuple):
            raise DeclarationError(
                "versions-not-a-tuple",
                f"{self}: versions={self.versions!r} must be a tuple: versions=({self.versions},)",
            )

    def __str__(self) -> str:
        """Return domain and name: ai.onnx/Split."""
        return f"{self.domain}/{self.name}"

    def __repr__(self) -> str:
        """Return only domain and name, because all declarations would fill a screen."""
        return f"<Op {self}>"

    def clause(
        self,
        text: str,
        *,
        since: int | None = None,
        before: int | None = None,
        result: bool = False,
        note: str = "",
        see: tuple[str, ...] = (),
        contradicts: str = "",
        against: tuple[str, ...] = (),
        force: Force | None = None,
    ) -> Clause:
        """Declare a verbatim quote and the versions that contain it; see Clause for the parameters.

        Its force follows from its words, unless `force` is set. If earlier versions word it differently, call
        `reworded` of the result.
        """
        quote = " ".join(text.split())
        clause = Clause(
            str(self), quote, since, before, result, note, see, " ".join(contradicts.split()), against,
            force or Force.of(quote), declared=self.clauses,
        )  # fmt: skip
        self.clauses.append(clause)
        return clause

    def excuse(self, point: str, reason: str) -> None:
        """Declare the reason why no valid model can reach a schema point, such as `attribute axis unset`."""
        self.excuses[point] = reason

    def dispute(self, reason: str, *globs: str) -> None:
        """Declare the reason why ONNX's function body of the operator disagrees with its text in these cases.

        Globs that begin with test_ match official cases, as in Clause.against.
        """
        self.disputes.update(dict.fromkeys(globs, reason))

    def disputed(self, name: str) -> str | None:
        """Return the reason why the function body may disagree in a case; None if it must not disagree."""
        return next((why for glob, why in self.disputes.items() if fnmatch.fnmatchcase(name, glob)), None)

    def example(self, **call: Any) -> None:  # noqa: ANN401 - see `case`
        """Declare one valid call, with the parameters of `case`: arguments, n, omits, around, beside.

        Each version uses the arguments that it has. The cases of the signature are derived from this call, see
        `onnx_conformance.generation.derived`. Without an example, every required input is `ramp(2, 3)`.

        Raises:
            DeclarationError: there is an example already.
        """
        if self.call is not None:
            raise DeclarationError("second-example", f"{self}: a second example")
        self.call = call

    def oracle(self, *, since: int | None = None, before: int | None = None) -> Callable[[_Function], _Function]:
        """Declare the meaning of the versions from `since` until `before`.

        The first parameter of the function is a Version. The others are arguments of the operator and of OF_NODE, by
        name. Omitted arguments have their default, or None. The function returns an array, a list of arrays (variadic
        outputs, or one sequence), or a tuple of the outputs.
        """

        def register(function: _Function) -> _Function:
            parameters = tuple(inspect.signature(function).parameters)[1:]
            arguments = tuple(name for name in parameters if name not in OF_NODE)
            self.oracles.append(Oracle(function, since, before, arguments, OF_NODE & set(parameters)))
            return function

        return register

    def case(
        self,
        name: str,
        *tags: Tag,
        n: int | None = None,
        omits: tuple[str, ...] = (),
        around: Mapping[str, Any] | None = None,
        beside: str = "",
        since: int | None = None,
        before: int | None = None,
        each: str | tuple[str, ...] | None = None,
        but: str | tuple[str, ...] = (),
        outside: str | None = None,
        stray: Mapping[str, Any] | None = None,
        deprecated: bool = False,
        cites: Clause | tuple[Clause, ...] = (),
        rejects: Clause | None = None,
        unspecified: Clause | None = None,
        **arguments: Any,  # noqa: ANN401 - any arguments of the operator
    ) -> None:
        """Declare a case, or one for each value of a `vary` among the arguments. See CaseSpec for the parameters.

        If one of its clauses was reworded, the case has each wording in the versions of that wording. In the versions
        of the latest one it is called `name`, and in those of a wording before version n, `name_before_n`. The
        parameters `since` and `before` can restrict it to the versions of one wording; its name is `name` then.

        Raises:
            DeclarationError: the name is malformed or taken, or two outcomes are declared.
        """
        declared = CaseSpec(
            name=name,
            arguments=arguments,
            tags=frozenset(tags or (Tag.BASIC,)),
            n=n,
            omits=omits,
            around=around or {},
            beside=beside,
            since=since,
            before=before,
            each=each,
            but=(but,) if isinstance(but, str) else but,
            outside=outside,
            stray=stray or {},
            deprecated=deprecated,
            cites=(cites,) if isinstance(cites, Clause) else cites,
            rejects=rejects,
            unspecified=unspecified,
        )
        for worded in self._worded(declared):
            for spec in _varied(worded):
                self._check(spec)
                self._names.add(spec.name)
                self.cases.append(spec)

    def sized(
        self,
        name: str,
        sizes: Choice,
        *,
        cites: Clause | tuple[Clause, ...],
        n: int | str | None = None,
        each: str | tuple[str, ...] | None = None,
        but: str | tuple[str, ...] = (),
        exhaustive: bool = False,
        arguments: Mapping[str, Any],
    ) -> None:
        """Declare a typical call at several sizes; see `declare.sizes`, and CaseSpec for the other parameters.

        The number of outputs, `n`, may be the name of a dimension. The call is for the newest version of the operator.
        Its cases are in the suite `kernels`, and some of them in the core. If it is `exhaustive`, each type has all
        sizes.

        Raises:
            DeclarationError: the name is malformed or taken.
        """
        if not _NAME.fullmatch(name) or name in {call.name for call in self.calls}:
            raise DeclarationError(
                "sized-name-invalid",
                f"{self} sized call {name!r}: a name must be lower-case words joined by single underscores, and unique",
            )
        options = {
            "n": n,
            "each": each,
            "but": (but,) if isinstance(but, str) else but,
            "cites": (cites,) if isinstance(cites, Clause) else cites,
            "exhaustive": exhaustive,
        }
        self.calls.append(SizedCall(name, sizes, arguments, options))

    def every(
        self,
        name: str,
        *,
        cites: Clause | tuple[Clause, ...],
        each: str | tuple[str, ...] | None = None,
        but: str | tuple[str, ...] = (),
        **arguments: Any,  # noqa: ANN401 - any arguments of the operator
    ) -> None:
        """Declare a call with every value of small types: `every_value()`, `every_two()`; see `sized`.

        Raises:
            DeclarationError: the name is malformed or taken.
        """
        self.sized(name, ONCE, cites=cites, each=each, but=but, exhaustive=True, arguments=arguments)

    def sized_cases(self) -> Iterator[CaseSpec]:
        """Yield the cases of all sized calls. Their values are drawn when they are used."""
        for call in self.calls:
            for name, sizes in call.each():
                arguments, options = call.at(str(self), name, sizes), call.options_at(sizes)
                yield CaseSpec(name, arguments, frozenset({Tag.SIZE}), sizes=sizes, **options)

    def _worded(self, spec: CaseSpec) -> Iterator[CaseSpec]:
        """Yield a case for each range of versions in which its clauses have the same wording, the latest first."""
        if not any(clause.wordings for clause in spec.clauses):
            yield spec
            return
        spans: dict[tuple[Clause, ...], list[int]] = {}
        for version in self.versions:
            if spec.meant_for(version):
                spans.setdefault(spec.at(version).clauses, []).append(version)
        latest, *earlier = [*reversed(spans.values())] or [[self.versions[-1]]]
        since = latest[0] if earlier else spec.since
        yield dataclasses.replace(spec.at(latest[0]), since=since)
        for span in earlier:
            before = self.versions[self.versions.index(span[-1]) + 1]
            named = f"{spec.name}_before_{before}"
            yield dataclasses.replace(spec.at(span[0]), name=named, since=span[0], before=before)

    def _check(self, spec: CaseSpec) -> None:
        where = f"{self} case {spec.name!r}"
        if not _NAME.fullmatch(spec.name):
            raise DeclarationError(
                "case-name-invalid", f"{where}: a name must be lower-case words joined by single underscores"
            )
        if spec.name.startswith((DERIVED, USED)):
            raise DeclarationError(
                "case-name-of-derived", f"{where}: names that begin with {DERIVED} or {USED} are for derived cases"
            )
        if spec.name in self._names:
            raise DeclarationError("case-declared-twice", f"{where}: declared twice")
        if spec.rejects and spec.unspecified:
            raise DeclarationError("rejects-and-unspecified", f"{where}: either rejects or unspecified, not both")
        if (spec.outside or spec.stray) and not spec.rejects:
            raise DeclarationError("rejects-missing", f"{where}: a case outside the signature needs rejects=")

    def oracle_for(self, version: int) -> Oracle:
        """Return the one oracle of a version.

        Raises:
            DeclarationError: there is no oracle, or more than one.
        """
        oracles = [item for item in self.oracles if in_range(version, item.since, item.before)]
        if len(oracles) != 1:
            raise DeclarationError(
                "not-one-oracle", f"{self}/{version} has {len(oracles)} oracles; it needs exactly one"
            )
        return oracles[0]

    def __iter__(self) -> Iterator[CaseSpec]:
        """Iterate over the declared cases."""
        return iter(self.cases)
