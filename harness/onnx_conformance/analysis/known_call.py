# SPDX-License-Identifier: Apache-2.0
"""A node of a user's model: its traits, and which conditions on a case they decide.

The values of most inputs, and often their shapes, are known only when the model runs. So a condition is true, false, or
undecided.
"""

from __future__ import annotations

import functools
import math
import operator as comparisons
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import onnx

from onnx_conformance.analysis import model_traits
from onnx_conformance.analysis.traits import ALLOWED, FORBIDDEN, OPSET, TYPE, VERSION, TraitKind
from onnx_conformance.base.verdict import split_operator
from onnx_conformance.case.external_data import decoded
from onnx_conformance.specification import schema

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np

    from onnx_conformance.analysis.traits import Traits
    from onnx_conformance.case.case import Case
    from onnx_conformance.specification.model_use import Call
    from onnx_conformance.specification.schema import OperatorVersion

OF_ATTRIBUTE = re.compile(r"^(?:length of |smallest of |largest of |rank of |type of )?(?P<name>\w+)$")
OF_INPUT = re.compile(r"^(?P<kind>rank of |length of |number of keys of |value of |type of )(?P<name>.+)$")
FORMS = re.compile(r"@[\w-]+|\bplain\b")
_FACTS = (
    r"(?:not )?set", "given", "omitted", r'named ""', "a sequence", "a map", "an empty optional",
    r"(?:false|true|mixed) throughout", r"(?:not )?the (?:last|first) dimension", r"(?:not )?asked for",
)  # fmt: skip
FACT = re.compile(
    r"^(?:values of )?(?P<name>.+?)(?P<about>"
    rf" is (?:{'|'.join(_FACTS)})"
    r"| are all equal| differ| contains \w+| has dimensions but one element| has (?:a|an|NaN|the|text)\b.*|=\[.*\])$"
)
"""The facts that `model_traits` yields about one argument."""
_NUMBER = r"-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|inf)"


def _is_bounded(parts: Mapping[str, str], value: object) -> bool:
    """Return whether a number is on the side of a bound that a condition names."""
    signs = {"<=": comparisons.le, ">=": comparisons.ge, "<": comparisons.lt, ">": comparisons.gt}
    return isinstance(value, int | float) and bool(signs[parts["sign"]](value, float(parts["limit"])))


_TESTS: tuple[tuple[re.Pattern[str], Callable[[Mapping[str, str], object], bool]], ...] = (
    (
        re.compile(rf"^(?P<low>{_NUMBER}) <= (?P<name>.+?) (?P<sign><=|<) (?P<limit>{_NUMBER})$"),
        lambda parts, value: _is_bounded(parts, value) and _is_bounded({"sign": ">=", "limit": parts["low"]}, value),
    ),
    (re.compile(rf"^(?P<name>.+?) (?P<sign><=|>=|<|>) (?P<limit>{_NUMBER})$"), _is_bounded),
    (
        re.compile(r"^(?P<name>.+?) is (?P<sign>not negative|at least 0)$"),
        lambda _, value: _is_bounded({"sign": ">=", "limit": "0"}, value),
    ),
    (
        re.compile(r"^(?P<name>.+?) is (?P<sign>negative)$"),
        lambda _, value: _is_bounded({"sign": "<", "limit": "0"}, value),
    ),
    (
        re.compile(r"^(?P<name>.+?) is (?P<what>one|none) of (?P<values>.+)$"),
        lambda parts, value: (_written(value) in parts["values"].split(", ")) is (parts["what"] == "one"),
    ),
    (re.compile(r"^(?P<name>.+?) is (?P<sign>a scalar|empty)$"), lambda _, value: value == 0),
    (re.compile(r"^(?P<name>.+?) is not (?P<value>.+)$"), lambda parts, value: _written(value) != parts["value"]),
    (re.compile(r"^(?P<name>.+?)(?: = |=| is )(?P<value>.+)$"), lambda parts, value: _written(value) == parts["value"]),
)
"""The ways in which `conditions` writes a condition on the value of a trait, and how the value meets each."""


def _trait(name: str, sign: str) -> str:
    """Return the name of the trait that a condition is about."""
    if sign in {"a scalar", "empty"}:
        return f"{'rank' if sign == 'a scalar' else 'length'} of {name}"
    below = sign in {"<", "<=", "negative"}
    for word, trait in (("a value of ", below), ("every value of ", not below)):
        if name.startswith(word):
            return f"{'smallest' if trait else 'largest'} of {name.removeprefix(word)}"
    return name.removeprefix("the ")


@dataclass(frozen=True)
class KnownCall:
    """The known facts about a node.

    Attributes:
        version: the version of its operator.
        traits: its known traits.
        inputs: by the name of an input in the text: "" (nothing is known), "rank", "shape" or "value".
        typed: whether all its element types are known.
        other_forms: the forms of cases that the node does not have.
    """

    version: OperatorVersion
    traits: Traits
    inputs: Mapping[str, str]
    typed: bool
    other_forms: frozenset[str]

    @classmethod
    def of(cls, call: Call) -> KnownCall:
        """Return the known facts about a node of a model.

        Raises:
            ValueError: ONNX has no such operator.
        """
        if call.version is None:
            raise ValueError(call.operator)
        node, scope = call.node, call.scope
        names = [name for name in (*node.input, *node.output) if name]
        elements = {name: scope.types[name].innermost.element for name in names if name in scope.types}
        values = {name: value for name in node.input if (value := _constant(call, name)) is not None}
        traits = model_traits.of_call(node, call.version, elements, scope.shapes, values)
        traits[VERSION] = call.version.since
        if call.opset:
            traits[OPSET] = call.opset
        traits[ALLOWED] = True
        named = model_traits.parameters(node, call.version)
        known = {
            parameter: "value" if name in values else _of_shape(scope.shapes.get(name))
            for parameter, name in named.items()
        }
        outside = any(
            scope.constants[name].data_location == onnx.TensorProto.EXTERNAL
            for name in names
            if name in scope.constants
        )
        constant = [level == "value" for level in known.values()]
        forms = {
            "@expanded": True,
            "@external_data": not outside,
            "@omitted": "" not in node.input,
            "@initializer": not any(constant),
            **dict.fromkeys(("@symbolic", "@unranked"), all(level in {"shape", "value"} for level in known.values())),
        }
        return cls(
            call.version,
            traits,
            known,
            all(name in elements for name in names),
            frozenset(name for name, other in forms.items() if other),
        )

    @functools.cached_property
    def _values(self) -> dict[str, Any]:
        """The known values of traits that are no facts, by name."""
        return {trait.name: value for trait, value in self.traits.items() if trait.kind is not TraitKind.FACT}

    @functools.cached_property
    def _facts(self) -> frozenset[str]:
        return frozenset(trait.name for trait in self.traits if trait.kind is TraitKind.FACT)

    def meets(self, words: str) -> bool | None:
        """Return whether the node meets a condition, as `conditions` writes it; None if the model does not decide."""
        if words.startswith("form is "):
            named = set(FORMS.findall(words))
            other = named <= self.other_forms
            return ("form is not" in words) if other else None
        if words in self._facts or words == FORBIDDEN.name:
            return words != FORBIDDEN.name
        fact = FACT.match(words)
        return self._lacks(fact["name"], fact["about"]) if fact is not None else self._compared(words)

    def _lacks(self, name: str, about: str) -> bool | None:
        """Return False if a fact that is not among the known ones is false; None if it is unknown, or no fact."""
        if name in self.version.attributes and name not in self.inputs:
            decided = not about.endswith("dimension") or "axis counted from the front" in self._values
        elif about.endswith(("asked for", "given", "omitted")) or about == ' is named ""':
            decided = True
        elif about.startswith((" is a sequence", " is a map", " is an empty")):
            decided = bool(self.inputs.get(name))
        elif about.startswith((" has a dimension", " has dimensions")):
            decided = self.inputs.get(name) in {"shape", "value"}
        else:
            decided = self.inputs.get(name) == "value"
        return False if decided else None

    def _compared(self, words: str) -> bool | None:
        """Return whether the node meets a condition on the value of a trait."""
        for pattern, test in _TESTS:
            if match := pattern.match(words):
                parts = match.groupdict()
                value = self._value(_trait(parts["name"], parts.get("sign") or "="))
                return value if value is None or value is False else test(parts, value)
        return None

    def _value(self, name: str) -> Any:  # noqa: ANN401 - a number, a text, or one of these two
        """Return the value of a trait; False if the node does not have the trait; None if the value is unknown."""
        if name in self._values:
            return self._values[name]
        if (match := OF_INPUT.match(name)) and match["name"] in self.inputs:
            kind, known = match["kind"], self.inputs[match["name"]]
            enough = {"rank of ": ("rank", "shape", "value"), "length of ": ("shape", "value")}.get(kind, ("value",))
            decided = self.typed if kind == "type of " else known in enough
        elif (match := OF_ATTRIBUTE.match(name)) and match["name"] in self.version.attributes:
            decided = True
        else:
            decided = self.typed and (name == TYPE.name or name.startswith("type of "))
        return False if decided else None


def known_of_case(case: Case) -> KnownCall | None:
    """Return the facts about the tested node of a case, whose inputs are known; None if ONNX has no such operator."""
    name, since = split_operator(case.operator)
    domain, _, op_type = name.partition("/")
    if since is None or not schema.exists(domain, op_type, since):
        return None
    shared, own = model_traits.Reader().of_case(case)
    version = schema.in_force(domain, op_type, since)
    everything: Traits = {**shared, **own, VERSION: since, ALLOWED: True}
    return KnownCall(version, everything, {item.name: "value" for item in version.inputs}, True, frozenset())  # noqa: FBT003


def _written(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _constant(call: Call, name: str) -> np.ndarray[Any, Any] | None:
    """Return the value of a constant input that is not large, and is stored in the file of the model."""
    proto = call.scope.constants.get(name)
    if proto is None or math.prod(proto.dims) > model_traits.MOST_ELEMENTS:
        return None
    return decoded(proto, {})


def _of_shape(shape: tuple[int | None, ...] | None) -> str:
    if shape is None:
        return ""
    return "rank" if None in shape else "shape"
