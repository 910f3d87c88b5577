# SPDX-License-Identifier: Apache-2.0
"""Cases that are derived from an operator's signature and one valid call of it.

Valid cases reach the schema points: each allowed type, each attribute set and omitted, each optional input and output
present and omitted, one and several values of a variadic parameter. If the oracle has no answer for one of them, the
case does not exist, and `coverage` shows the point as missing. Invalid cases violate the signature in one place.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from onnx_conformance.declare import CaseSpec, Clause, Graph, Rule, Tag, ramp, typed
from onnx_conformance.declare.arguments import ElementType, Typed
from onnx_conformance.declare.op import DERIVED, OF_CALL
from onnx_conformance.declare.type import Type
from onnx_conformance.generation import used
from onnx_conformance.specification import evaluator, schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx_conformance.declare import Op
    from onnx_conformance.specification.schema import OperatorVersion, Parameter

EXAMPLE = f"{DERIVED}example"
"""The name of the case that is the operator's example itself."""
_TWO = 2


def cases(op: Op, version: OperatorVersion) -> tuple[CaseSpec, ...]:
    """Return the cases of a version that are derived from its signature and the operator's example, and from usage.

    Those of the signature do not exist if the operator needs an example and does not declare one; see `needs_example`.
    """
    if version.since not in op.derived:
        lacks = op.call is None and needs_example(version)
        of_signature = () if lacks else tuple(_Derivation(op, version).cases())
        op.derived[version.since] = (*of_signature, *used.cases(op, version))
    return op.derived[version.since]


def needs_example(version: OperatorVersion) -> str:
    """Return the first required argument of a valid call for which the signature implies no value, or an empty text."""
    for name, item in version.arguments.items():
        if isinstance(item, schema.Attribute):
            if item.required:
                return name
        elif not item.optional and not any(Type.parse(text).is_tensor for text in version.allowed(item.type)):
            return name
    return ""


class _Derivation:
    def __init__(self, op: Op, version: OperatorVersion) -> None:
        self.op, self.version = op, version
        example = _ramps(version) if op.call is None else op.call
        self.call = {name: example[name] for name in OF_CALL if name in example}
        own = {name: value for name, value in example.items() if name in version.arguments}
        self.limited = {name: value for name, value in own.items() if name in op.applies}
        self.arguments = {name: value for name, value in own.items() if name not in op.applies}
        self.inputs = _inputs(version)

    def cases(self) -> Iterator[CaseSpec]:
        if self.version.deprecated:
            yield self._case("deprecated", deprecated=True, rejects=Rule.DEPRECATED)
            return
        yield self._case("example")
        yield from self._types()
        yield from self._attributes()
        yield from self._inputs()
        yield from self._outputs()

    def _case(self, name: str, arguments: Mapping[str, Any] | None = None, **words: Any) -> CaseSpec:  # noqa: ANN401
        return CaseSpec(
            name=DERIVED + re.sub(r"\W+", "_", name.lower()),
            arguments=self.arguments if arguments is None else arguments,
            tags=frozenset({Tag.SIGNATURE}),
            derived=True,
            **{**self.call, **words},
        )

    def _without(self, *names: str) -> dict[str, Any]:
        return {name: value for name, value in self.arguments.items() if name not in names}

    def _types(self) -> Iterator[CaseSpec]:
        """Yield cases with each allowed type of the variables that the example binds, and with each other type."""
        for variable in self.version.types:
            if not self._binds(variable):
                continue
            text = self.version.constraints.get(variable)
            cites = (Clause(str(self.op), text),) if text else ()
            yield self._case(f"types_{variable}", each=variable, cites=cites)
            yield self._case(f"types_outside_{variable}", outside=variable, rejects=Rule.TYPES)
            yield from self._two_types(variable)
        for name, parameter in self.inputs.items():
            value = self.arguments.get(name)
            if value is None or parameter.type in self.version.types or parameter.variadic:
                continue
            plain = value.values if isinstance(value, Typed) else value
            for other in _LIKELY:
                if parameter.type != f"tensor({other})":
                    broken = {**self.arguments, name: typed(other, plain)}
                    yield self._case(f"{name}_of_{other}", broken, rejects=Rule.TYPES)

    def _binds(self, variable: str) -> bool:
        """Return whether the example has a value whose type is that of a type variable."""
        for name, parameter in self.inputs.items():
            value = self.arguments.get(name)
            values = value if parameter.variadic and isinstance(value, tuple) else (value,)
            if parameter.type == variable and any(_follows(item, variable) for item in values):
                return True
        texts = [_type_text(value) for value in self.arguments.values()]
        return any("{" + variable + "}" in text for text in texts)

    def _two_types(self, variable: str) -> Iterator[CaseSpec]:
        """Yield cases in which two inputs of one type variable have two types."""
        allowed = self.version.types[variable]
        usual = self.version.default_type(variable)
        other = next((item for item in allowed if item != usual and Type.parse(item).is_tensor), None)
        if other is None or not Type.parse(usual).is_tensor:
            return
        sharing = [
            name
            for name, item in self.inputs.items()
            if item.type == variable and item.homogeneous and _follows(self.arguments.get(name), variable)
        ]
        for place, name in enumerate(sharing):
            value = self.arguments[name]
            broken: Any
            if place:
                broken = typed(other, value)
            elif isinstance(value, tuple) and len(value) >= _TWO:  # A variadic input may have values of two types.
                broken = (*value[:-1], typed(other, value[-1]))
            else:
                continue
            yield self._case(f"two_types_{name}", {**self.arguments, name: broken}, rejects=Rule.TYPES)

    def _attributes(self) -> Iterator[CaseSpec]:
        """Yield cases with each attribute set and omitted, with missing required attributes, and with unknown ones."""
        for name, default in evaluator.known(self.version, {}).items():
            if name in self.op.applies:
                yield from self._limited(name, self.limited.get(name, default))
            elif name in self.arguments:
                required = self.version.attributes[name].required
                state, rejects = ("missing", Rule.ATTRIBUTES) if required else ("unset", None)
                yield self._case(f"{name}_{state}", self._without(name), rejects=rejects)
            elif default is not None:
                yield self._case(f"{name}_set", {**self.arguments, name: default})
        yield self._case("attribute_unknown", stray={"unknown": 1}, rejects=Rule.ATTRIBUTES)
        for name, value in self._of_other_versions().items():
            left = self._without(name) if name in self.inputs and self.inputs[name].optional else self.arguments
            yield self._case(f"attribute_{name}", left, stray={name: value}, rejects=Rule.ATTRIBUTES)

    def _limited(self, name: str, value: Any) -> Iterator[CaseSpec]:  # noqa: ANN401 - any attribute
        """Yield a case with an attribute that the text limits to some types, for the first of these types."""
        variable = self.version.outputs[0].type
        allowed = self.version.types[variable]
        first = next((item for item in allowed if Type.parse(item).short in self.op.applies[name]), None)
        if first is not None:
            others = tuple(item for item in allowed if item != first)
            yield self._case(f"{name}_set", {**self.arguments, name: value}, each=variable, but=others)

    def _of_other_versions(self) -> dict[str, Any]:
        """Return attributes that other versions have and this one lacks, each with a valid value."""
        values = {}
        for other in schema.versions(self.op.domain, self.op.name):
            for name, default in evaluator.known(other, {}).items():
                value, type_ = (self.op.call or {}).get(name, default), other.attributes[name].type
                if name in self.version.attributes:
                    continue
                if isinstance(value, int | float | str | list):
                    values[name] = value
                elif type_ in VALUES:
                    values[name] = VALUES[type_]
        return values

    def _inputs(self) -> Iterator[CaseSpec]:
        """Yield cases with omitted optional, missing required, variadic and too many inputs."""
        for name, parameter in self.inputs.items():
            value = self.arguments.get(name)
            if parameter.variadic:
                if isinstance(value, tuple) and value:
                    yield from self._numbers_of(name, value, parameter.least)
            elif parameter.optional:
                if value is not None:
                    yield self._case(f"{name}_omitted", self._without(name))
            else:
                yield self._case(f"no_{name}", self._without(name), rejects=Rule.ARITY)
        if not self.version.inputs or not self.version.inputs[-1].variadic:
            yield self._case("inputs_too_many", stray_inputs=1, rejects=Rule.ARITY)

    def _numbers_of(self, name: str, values: tuple[Any, ...], least: int) -> Iterator[CaseSpec]:
        for count, word in ((0, "none"), (1, "one"), (_TWO, "two")):
            repeated = {**self.arguments, name: (values * count)[:count]}
            yield self._case(f"{word}_of_{name}", repeated, rejects=Rule.ARITY if count < least else None)

    def _outputs(self) -> Iterator[CaseSpec]:
        """Yield cases with every number of outputs, with omitted optional outputs in between, too few and too many."""
        least, most = self.version.outputs_least, len(self.version.outputs)
        if least:
            yield self._case("outputs_too_few", n=least - 1, omits=(), rejects=Rule.ARITY)
        if self.version.outputs[-1].variadic:
            return
        yield self._case("outputs_too_many", n=most + 1, omits=(), rejects=Rule.ARITY)
        for n in range(max(least, 1), most + 1):
            if n != self.call.get("n", least):
                yield self._case(f"outputs_{n}", n=n, omits=())
        for place, output in enumerate(self.version.outputs[:-1]):
            if output.optional:
                yield self._case(f"{output.name}_omitted_of_outputs", n=max(place + _TWO, least), omits=(output.name,))


_LIKELY = ("int32", "int64", "float", "double")
"""Element types that are often confused."""
VALUES: Mapping[str, Any] = {"INT": 1, "FLOAT": 1.0, "STRING": "a", "INTS": [1], "FLOATS": [1.0], "STRINGS": ["a"]}
"""Values for attributes without a default, by type."""


def _ramps(version: OperatorVersion) -> dict[str, Any]:
    """Return a call for an operator without an example."""
    return {
        name: (ramp(2, 3), ramp(2, 3)) if item.variadic else ramp(2, 3)
        for name, item in _inputs(version).items()
        if not item.optional
    }


def _inputs(version: OperatorVersion) -> dict[str, Parameter]:
    return {name: item for name, item in version.arguments.items() if isinstance(item, schema.Parameter)}


def _follows(value: Any, variable: str) -> bool:  # noqa: ANN401 - any input
    """Return whether a declared input has the type of a type variable instead of its own type."""
    if value is None:
        return False
    return "{" + variable + "}" in value.type if isinstance(value, Typed) else True


def _type_text(value: Any) -> str:  # noqa: ANN401 - any argument
    if isinstance(value, Typed):
        return value.type
    if isinstance(value, ElementType):
        return value.name
    if isinstance(value, Graph):
        return value.text
    return value if isinstance(value, str) else ""
