# SPDX-License-Identifier: Apache-2.0
"""Cases that are derived from the usage of an operator: one for each call of real models that no declared case makes.

`specification.usage` knows the calls. A derived case takes the arguments of the declared case that needs the fewest
changes: other types and ranks of its inputs, attributes with their defaults or with the values of another case. If the
oracle has no answer for the result, the case does not exist, and the call stays without a case.
"""

from __future__ import annotations

import functools
import hashlib
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from onnx_conformance.case.case import PLAIN
from onnx_conformance.declare import CaseSpec, Data, Graph, NoAnswer, Tag, typed
from onnx_conformance.declare.arguments import ElementType, Typed, element_type
from onnx_conformance.declare.op import OF_CALL, USED
from onnx_conformance.generation import binding
from onnx_conformance.specification import evaluator, registry
from onnx_conformance.specification.signature import gather
from onnx_conformance.specification.usage import calls
from onnx_conformance.specification.usage.pattern import UNKNOWN, Words, of_model

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from onnx_conformance.base.values import Array
    from onnx_conformance.case.case import Case
    from onnx_conformance.declare import Op
    from onnx_conformance.specification.schema import OperatorVersion
    from onnx_conformance.specification.usage.pattern import Pattern

_SIZES = (3, 2, 4, 5, 2, 3)
"""Sizes of added dimensions, from the last one, where no other input of the declared case has a dimension."""
_TRIED = 12
"""The number of declared cases that are tried for a call, until the oracle has an answer."""
_LONGEST = 120
"""The length of a name beyond which it has a digest of the attributes."""
_PLAIN = re.compile(r"\w+")
"""The text of an element type; the types of containers have parentheses."""
_VARIABLE = re.compile(r"\{(\w+)\}")
"""A type variable in the type of an argument."""


def represented(op: Op) -> dict[str, tuple[OperatorVersion, OperatorVersion]]:
    """Return each version of an operator, by name, and the newest version with the same oracle."""
    versions = [item for item in registry.versions(op) if not item.deprecated]
    newest = {op.oracle_for(item.since): item for item in versions}
    return {str(item): (item, newest[op.oracle_for(item.since)]) for item in versions}


def wanted(op: Op) -> dict[Pattern, int]:
    """Return the calls of an operator in real models -> the least number of models; see `usage.calls`."""
    return calls.wanted(str(op), represented(op))


class Matches:
    """The cases of an operator that make the calls of real models.

    Only plain cases with values count: in another form, the runtime may fail before it runs the operator. Sized cases
    do not count, because derived cases have the ranks of declared ones.
    """

    def __init__(self, op: Op) -> None:
        """Start without cases."""
        self.wanted = wanted(op)
        self._versions = {call.operator for call in self.wanted}
        self._made: list[Pattern] = []
        self._places: list[int] = []
        self._count = 0

    def add(self, case: Case) -> None:
        """Add the next case."""
        counts = case.expected is not None and case.form == PLAIN and Tag.SIZE not in case.tags
        if counts and case.operator in self._versions:
            for pattern in of_model(onnx.load_from_string(case.model)):
                if pattern.operator == case.operator:
                    self._made.append(calls.of_pattern(pattern))
                    self._places.append(self._count)
        self._count += 1

    def places(self) -> dict[Pattern, list[int]]:
        """Return the places of the cases that make each call; none if there is no such case."""
        found = calls.matching(self.wanted, self._made)
        return {call: [self._places[index] for index in made] for call, made in found.items()}

    def missing(self) -> dict[Pattern, int]:
        """Return the calls that no case makes -> the least number of models that make them."""
        return {call: self.wanted[call] for call, places in self.places().items() if not places}


def cases(op: Op, version: OperatorVersion) -> Iterator[CaseSpec]:
    """Yield the derived cases of a version: those of its calls, if it is the newest version of a meaning."""
    needed = [call for call in wanted(op) if call.operator == str(version)]
    known = [call for call in needed if _is_known(call)]
    needed = [*known, *(call for call, same in calls.matching(needed, known).items() if not same)]
    plain = (_Base(version, spec) for spec in (*op, *_example(op, version)) if _is_plain(version, spec))
    bases = [base for base in plain if not base.is_empty]
    highest: dict[str, int] = {}
    for name, ranks in ((name, ranks) for base in bases for name, ranks in base.ranks.items()):
        highest[name] = max(highest.get(name, 0), *(rank or 0 for rank in ranks))
    names = set()
    for call in (calls.capped(call, highest) for call in needed):
        if bases and _has_tensors(call) and not any(base.makes(call) for base in bases):
            ordered = sorted(bases, key=lambda base: base.cost(call))
            tried = (_derived(version, call, ordered[place:]) for place in range(min(len(ordered), _TRIED)))
            spec = next((item for item in tried if item is not None and _has_answer(op, version, item)), None)
            if spec is not None and spec.name not in names:
                names.add(spec.name)
                yield spec


def _example(op: Op, version: OperatorVersion) -> Iterator[CaseSpec]:
    """Yield the operator's example as a case, if there is one."""
    if op.call is not None:
        of_call = {name: value for name, value in op.call.items() if name in OF_CALL}
        arguments = {name: value for name, value in op.call.items() if name in version.arguments}
        yield CaseSpec("example", arguments, frozenset(), **of_call)


def _is_plain(version: OperatorVersion, spec: CaseSpec) -> bool:
    """Return whether a case has values in a version, without other nodes or a subgraph."""
    other = spec.rejects or spec.unspecified or spec.outside or spec.stray or spec.beside or spec.around
    return (
        not other
        and not any(isinstance(value, Graph) for value in spec.arguments.values())
        and not spec.deprecated
        and spec.meant_for(version.since)
        and all(name in version.arguments for name in spec.arguments)
    )


def _is_known(call: Pattern) -> bool:
    """Return whether all ranks of a call's inputs are known."""
    return not any(UNKNOWN in Words.of_input(word)[2] for word in call.inputs)


def _has_tensors(call: Pattern) -> bool:
    """Return whether the known types of a call are those of tensors."""
    return all(_PLAIN.fullmatch(word.partition("=")[2]) for word in call.types)


class _Base:
    """A declared case, as the start of a derived one."""

    def __init__(self, version: OperatorVersion, spec: CaseSpec) -> None:
        self.version, self.spec = version, spec
        self.arguments = {name: value for name, value in spec.arguments.items() if value is not None}

    @property
    def is_empty(self) -> bool:
        """Whether an input of the type of the first one has no elements."""
        first = self.version.inputs[:1]
        values = [self.arguments.get(item.name) for item in self.version.inputs if item.type == first[0].type]
        parts = [part for value in values for part in (value if isinstance(value, tuple) else (value,))]
        return any(0 in (_shape(part) or ()) for part in parts)

    @functools.cached_property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of added dimensions, from the last one, with which the inputs of the case still broadcast."""
        sizes = list(_SIZES)
        for item in self.version.inputs:
            value = self.arguments.get(item.name)
            for part in value if isinstance(value, tuple) else (value,):
                for place, size in enumerate(reversed(_shape(part) or ())):
                    if size != 1 and place < len(sizes):
                        sizes[place] = size
        return tuple(sizes)

    @functools.cached_property
    def ranks(self) -> dict[str, list[int | None]]:
        """The ranks of the inputs by name; a variadic input has several."""
        found = {}
        for item in self.version.inputs:
            if item.name in self.arguments:
                value = self.arguments[item.name]
                found[item.name] = [_rank(part) for part in (value if item.variadic else (value,))]
        return found

    def suits(self, name: str, ranks: Sequence[int]) -> bool:
        """Return whether the case has an input, and its tensors can get other ranks: those without elements cannot."""
        value = self.arguments.get(name)
        parts = value if isinstance(value, tuple) else (value,)
        return value is not None and all(
            not ranks or _rank(part) in ranks or 0 not in (_shape(part) or ()) for part in parts
        )

    def makes(self, call: Pattern) -> bool:
        """Return whether the case makes this very call in one of the types to which it is expanded."""
        return self.changes(call) == 0 and all(self._has_type(*word.partition("=")[::2]) for word in call.types)

    def _has_type(self, variable: str, type_: str) -> bool:
        spec = self.spec
        each = (spec.each,) if isinstance(spec.each, str) else (spec.each or ())
        if variable in each:
            return type_ not in spec.but and f"tensor({type_})" in self.version.types[variable]
        values = [self.arguments.get(item.name) for item in self.version.inputs if item.type == variable]
        own = [value.type for value in values if isinstance(value, Typed)]
        if own:
            return own[0] == type_
        given = [value.name for value in self.arguments.values() if isinstance(value, ElementType)]
        if given and not any(value is not None for value in values):
            return any(name == type_ or (name.strip("{}") in each and name.strip("{}") == variable) for name in given)
        return not values or self.version.default_type(variable) == f"tensor({type_})"

    def cost(self, call: Pattern) -> int:
        """Return the number of changes, and 1 for an edge case, because others are preferred."""
        return self.changes(call) + (Tag.EDGE in self.spec.tags)

    def changes(self, call: Pattern) -> int:
        """Return the number of changes that make this case a call, without those of types."""
        attributes = dict(word.partition("=")[::2] for word in call.attributes)
        count = 0
        for name in self.version.attributes:
            given = self.arguments.get(name)
            if (name in attributes) is not (given is not None):
                has_default = self.version.attributes[name].default is not None
                count += 2 if given is not None else 1 if has_default else 4  # The value of another case may not fit.
            elif given is not None and _text(given) != attributes[name] != "":
                count += 1
        words = {name: (several, ranks) for name, several, ranks in map(Words.of_input, call.inputs)}
        for item in self.version.inputs:
            own, (several, ranks) = self.ranks.get(item.name), words.get(item.name, ("", ""))
            if own is None or item.name not in words:
                count += 3 * ((own is None) is not (item.name not in words))
            elif item.variadic and (len(own) > 1) is not bool(several):
                count += 1
            elif UNKNOWN not in ranks and {str(rank) for rank in own} != set(ranks.split(",")):
                count += sum(abs((rank or 0) - int(ranks.split(",")[0])) for rank in own) or 1
        return count


def _has_answer(op: Op, version: OperatorVersion, spec: CaseSpec) -> bool:
    """Return whether the oracle has an answer for a case without subgraphs."""
    types = {variable: version.default_type(variable) for variable in version.types}
    inputs, protos = binding.arguments(version, spec, types, {})
    attributes = {name: evaluator.value_of(proto) for name, proto in protos.items()}
    n = version.outputs_least if spec.n is None else spec.n
    try:
        evaluator.apply(op, version, gather(version, [value for _, value in inputs]), attributes, n)
    except NoAnswer:
        return False
    return True


def _derived(version: OperatorVersion, call: Pattern, ordered: Sequence[_Base]) -> CaseSpec | None:
    """Return the case of a call, derived from the first of some declared cases; None if an argument has no value."""
    types = dict(word.partition("=")[::2] for word in call.types)
    defaults = evaluator.known(version, {})
    arguments: dict[str, Any] = {}
    for name, _, text in (word.partition("=") for word in call.attributes):
        of_bases = (base.arguments[name] for base in ordered if name in base.arguments)
        values = (ordered[0].arguments.get(name), defaults.get(name), *of_bases)
        if text and version.attributes[name].type == "STRING":
            values = (text,)
        value = next((item for item in values if item is not None and text in {"", _text(item)}), None)
        if isinstance(value, ElementType):
            value = element_type(types.get(version.outputs[0].type, value.name))
        if value is None:
            return None
        if isinstance(value, Typed):
            value = typed(_VARIABLE.sub(lambda match: types.get(match[1], match[0]), value.type), value.values)
        arguments[name] = value
    inputs = {item.name: item for item in version.inputs}
    for name, several, ranks in map(Words.of_input, call.inputs):
        each = [] if UNKNOWN in ranks else [int(rank) for rank in ranks.split(",")]
        value = next((base.arguments[name] for base in ordered if base.suits(name, each)), None)
        if value is None:
            return None
        each = each or [_rank(part) or 0 for part in (value if inputs[name].variadic else (value,))]
        type_ = types.get(inputs[name].type, "")
        if inputs[name].variadic:
            count = max(len(value), 2, len(each)) if several else 1
            arguments[name] = tuple(
                _changed(value[place % len(value)], each[place % len(each)], type_, ordered[0].sizes)
                for place in range(count)
            )
        else:
            arguments[name] = _changed(value, each[0], type_, ordered[0].sizes)
    return CaseSpec(
        name=_name(call),
        arguments=arguments,
        tags=frozenset({Tag.USAGE}),
        n=ordered[0].spec.n,
        omits=ordered[0].spec.omits,
        derived=True,
    )


def _name(call: Pattern) -> str:
    """Return the name of a call's case: its types, inputs and attributes, or a digest of its many attributes."""
    types = [word.partition("=")[2] for word in call.types]
    inputs = [word.replace("*", "s").replace("/", "") for word in call.inputs]
    name = _words([*types, *inputs, *call.attributes])
    if len(name) > _LONGEST:
        name = _words([*types, *inputs, hashlib.sha256(" ".join(call.attributes).encode()).hexdigest()[:8]])
    return USED + name


def _words(words: Iterable[str]) -> str:
    return re.sub(r"[\W_]+", "_", "_".join(words).lower()).strip("_")


def _text(value: object) -> str:
    """Return the names of enumerations in an attribute, as the words of a pattern have them."""
    if isinstance(value, list) and value and isinstance(value[0], str):
        return ",".join(sorted(set(value)))
    return value if isinstance(value, str) else ""


def _rank(value: object) -> int | None:
    """Return the rank of a declared tensor; None for other values."""
    shape = _shape(value)
    return None if shape is None else len(shape)


def _shape(value: object) -> tuple[int, ...] | None:
    """Return the shape of a declared tensor; None for other values."""
    if isinstance(value, Typed):
        return _shape(value.values) if _PLAIN.fullmatch(value.type.strip("{}")) else None
    if isinstance(value, Data):
        return value.shape
    try:
        return np.shape(np.asarray(value))
    except ValueError:
        return None


def _changed(value: Any, rank: int, type_: str, sizes: Sequence[int]) -> Any:  # noqa: ANN401 - any declared tensor
    """Return a declared tensor with another rank and element type.

    Added dimensions repeat an array, and continue a ramp. Dimensions are removed from the front; their last elements
    remain, because the first ones are often 0.
    """
    if isinstance(value, Typed):
        type_, value = type_ or value.type, value.values
    if isinstance(value, Data) and len(value.shape) <= rank:
        value = Data(value.fill, (*(sizes[place] for place in range(rank - 1, len(value.shape) - 1, -1)), *value.shape))
    elif isinstance(value, Data):
        value = Data(functools.partial(_last, value), value.shape[len(value.shape) - rank :])
    else:
        value = np.asarray(value)
        while value.ndim > rank:
            value = value[-1]
        while value.ndim < rank:
            value = np.repeat(value[None], sizes[value.ndim], axis=0)
    return typed(type_, value) if type_ else value


def _last(data: Data, dtype: np.dtype[Any], count: int) -> Array:
    """Return the last elements of some data."""
    elements = data.fill(dtype, math.prod(data.shape))
    return elements[len(elements) - count :]
