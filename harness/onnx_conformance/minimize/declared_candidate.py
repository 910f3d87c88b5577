# SPDX-License-Identifier: Apache-2.0
"""A declared case whose arguments are concrete values, so that each value can be removed or simplified.

A declared argument may be data for any type, a list or a number. In a candidate, every input is the array that the
model receives, and every number of an attribute has a path.
"""

from __future__ import annotations

import dataclasses
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.case.case import PLAIN
from onnx_conformance.declare import Empty, Typed, ValueOf
from onnx_conformance.generation import binding, deliveries, from_model, plans
from onnx_conformance.minimize.limits import within
from onnx_conformance.minimize.search_space import Leaf

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import onnx

    from onnx_conformance.base.values import Value
    from onnx_conformance.case.case import Case
    from onnx_conformance.declare import CaseSpec, Op
    from onnx_conformance.generation.deliveries import Plan
    from onnx_conformance.minimize.search_space import Path
    from onnx_conformance.specification.schema import OperatorVersion
    from onnx_conformance.specification.signature import TypedValue

PLANNING_SECONDS, PLANNING_BYTES = 0.3, 1 << 30
"""Limits for planning one candidate, in seconds and bytes: a hundred times the need of a declared case."""


@dataclass(frozen=True)
class DeclaredCandidate:
    """A case that moves can change: a declaration in one version, with one binding of types, in one form."""

    op: Op
    version: OperatorVersion
    spec: CaseSpec
    types: Mapping[str, str]
    form: str = PLAIN
    earlier: Mapping[str, TypedValue] | None = None

    def with_spec(self, **changed: Any) -> DeclaredCandidate:  # noqa: ANN401 - the fields of CaseSpec
        """Return a copy with other fields of its declaration."""
        return dataclasses.replace(self, spec=dataclasses.replace(self.spec, **changed))

    def leaves(self) -> list[Leaf]:
        """Return all values. A path is "arguments" or "around", the argument's name, then indices."""
        return [leaf for path, value in _arguments(self) for leaf in _leaves(value, path)]

    def with_values(self, changes: Mapping[Path, Any]) -> DeclaredCandidate:
        """Return a copy with other values at some paths."""
        fields: dict[str, dict[str, Any]] = {"arguments": dict(self.spec.arguments), "around": dict(self.spec.around)}
        for (kind, name, *rest), value in changes.items():
            values = fields[str(kind)]
            values[str(name)] = _replaced(values[str(name)], tuple(rest), value)
        return self.with_spec(**fields)


NUMBER = (bool, int, float, np.generic)


def value_groups(candidate: DeclaredCandidate) -> list[tuple[Path, int]]:
    """Return the paths of variadic inputs and sequences, with their numbers of values."""
    return [group for path, value in _arguments(candidate) for group in _groups(value, path)]


def typed_arguments(candidate: DeclaredCandidate) -> list[tuple[tuple[str, str], Typed]]:
    """Return the tensor arguments that declare their own type, by path."""
    typed = [((str(path[0]), str(path[1])), value) for path, value in _arguments(candidate) if isinstance(value, Typed)]
    return [(path, value) for path, value in typed if isinstance(value.values, np.ndarray) and "{" not in value.type]


def _arguments(candidate: DeclaredCandidate) -> Iterator[tuple[Path, Any]]:
    for kind in ("arguments", "around"):
        for name, value in sorted(getattr(candidate.spec, kind).items()):
            yield (kind, name), value


def _flat(value: list[Any] | tuple[Any, ...]) -> bool:
    """Return whether a list contains only numbers or only strings, like the list of an attribute."""
    return bool(value) and (all(isinstance(item, NUMBER) for item in value) or all(isinstance(i, str) for i in value))


def _leaves(value: Any, path: Path) -> Iterator[Leaf]:  # noqa: ANN401 - any argument
    if isinstance(value, Typed):
        yield from _leaves(value.values, path)
    elif isinstance(value, np.ndarray):
        yield Leaf(path, value, tensor=True)
    elif isinstance(value, NUMBER):
        yield Leaf(path, np.asarray(value), tensor=False)
    elif isinstance(value, list | tuple) and _flat(value):
        texts = isinstance(value[0], str)
        yield Leaf(path, np.array(value, dtype=object if texts else None), tensor=False)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _leaves(item, (*path, index))


def _groups(value: Any, path: Path) -> Iterator[tuple[Path, int]]:  # noqa: ANN401
    if isinstance(value, Typed):
        yield from _groups(value.values, path)
    elif isinstance(value, list | tuple) and not _flat(value):
        yield path, len(value)


def _replaced(old: Any, path: tuple[str | int, ...], new: Any) -> Any:  # noqa: ANN401
    if isinstance(old, Typed):
        return dataclasses.replace(old, values=_replaced(old.values, path, new))
    if path:
        index = int(path[0])
        items = [*old[:index], _replaced(old[index], path[1:], new), *old[index + 1 :]]
        return tuple(items) if isinstance(old, tuple) else items
    if isinstance(old, NUMBER) and isinstance(new, np.ndarray):
        return new.item()
    if isinstance(old, list | tuple) and isinstance(new, np.ndarray):
        return type(old)(new.tolist())
    return new


def without(candidate: DeclaredCandidate, path: Path, index: int) -> DeclaredCandidate:
    """Return a candidate without one value of the variadic input or sequence at a path."""
    argument: Any = getattr(candidate.spec, str(path[0]))[str(path[1])]
    values = argument.values if isinstance(argument, Typed) else argument
    return candidate.with_values({path: type(values)([*values[:index], *values[index + 1 :]])})


def candidate_from_plan(plan: Plan, form: str) -> DeclaredCandidate:
    """Return the candidate for a plan in one form: the same case, with concrete values as arguments."""
    spec, version = plan.spec, plan.version
    bound = {**{variable: version.default_type(variable) for variable in version.types}, **plan.types}
    inputs = dict(plan.inputs)
    arguments: dict[str, Any] = {}
    for name, argument in spec.arguments.items():
        place = version.arguments.get(name)
        if place is None or name in version.attributes:
            arguments[name] = _attribute(argument, bound)
        elif getattr(place, "variadic", False):
            items = [_input(item, inputs.get(f"{place.name}_{i}")) for i, item in enumerate(argument)]
            arguments[name] = tuple(items)
        else:
            arguments[name] = _input(argument, inputs.get(place.name))
    around = {name: _input(item, plan.around[name]) for name, item in spec.around.items()}
    spec = dataclasses.replace(spec, arguments=arguments, around=around)
    return DeclaredCandidate(plan.op, version, spec, plan.types, form, plan.earlier)


def candidate_from_model(
    first: DeclaredCandidate, model: onnx.ModelProto, inputs: Mapping[str, Value]
) -> DeclaredCandidate | None:
    """Return a candidate with the arguments of a model, and all else of another candidate.

    Args:
        first: the other candidate.
        model: a model with one node of the same operator version.
        inputs: the inputs of the graph, by name.

    Returns:
        None if the model cannot be written as a declaration, or has another operator version.
    """
    name = str(first.version)
    try:
        _, version, spec, types = from_model.declaration(name, model, inputs, name)
    except from_model.NotDeclarableError:
        return None
    if version != first.version:
        return None
    own = {key: getattr(spec, key) for key in ("arguments", "stray", "n", "omits")}
    bound = {**first.types, **{name: text for name, text in types.items() if name in first.types}}
    return dataclasses.replace(first.with_spec(**own), types=bound)


def _attribute(argument: Any, bound: Mapping[str, str]) -> Any:  # noqa: ANN401
    if isinstance(argument, Typed):
        return dataclasses.replace(argument, values=np.asarray(binding.typed(argument, "", bound).value))
    if isinstance(argument, np.ndarray):
        return argument.tolist()
    return argument


def _input(argument: Any, bound_input: Any) -> Any:  # noqa: ANN401
    """Return an argument as the values that the model receives."""
    if bound_input is None or argument is None or isinstance(argument, ValueOf | Empty | dict):
        return argument
    if isinstance(argument, Typed):
        if isinstance(argument.values, dict | Empty):
            return argument
        return dataclasses.replace(argument, values=bound_input.value)
    return argument if bound_input.value is None else bound_input.value


def build_case(candidate: DeclaredCandidate) -> tuple[Plan, Case] | None:
    """Return the plan and the case of a candidate, with the oracle's values; None if it is not a valid case.

    A move may break the declaration, the signature, or an assumption of the oracle. Any exception therefore means that
    the candidate is not a case.
    """
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"), within(PLANNING_SECONDS, PLANNING_BYTES):
            warnings.simplefilter("ignore")
            plan = plans.plan(candidate.op, candidate.version, candidate.spec, candidate.types)
            plan = dataclasses.replace(plan, earlier=plans.fitting(candidate.earlier, plan))
            made = deliveries.in_form(plan, candidate.form)
            case = plans.deliver(plan, candidate.form, made) if made else None
    except Exception:  # noqa: BLE001 - see above
        return None
    return None if case is None else (plan, case)
