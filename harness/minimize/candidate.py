"""A declared case with its arguments written out, so that each value can be taken away or made simpler.

Declared arguments are data that take the form of a type, lists, numbers. Here every input is the array that the model
is fed, and every number of an attribute has a place that can be named.
"""

from __future__ import annotations

import dataclasses
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.case.case import PLAIN
from harness.declare import Empty, Typed, ValueOf
from harness.generation import binding, forms, plans
from harness.minimize.limits import within

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from harness.case.case import Case
    from harness.declare import CaseSpec, Op
    from harness.generation.forms import Plan
    from harness.spec.schema import OperatorVersion

Path = tuple[str | int, ...]
"""Where a value stands: "arguments" or "around", the name, then places in tuples and lists."""
Array = np.ndarray[Any, Any]
SECONDS, ROOM = 0.3, 1 << 30
"""What planning one draft may take, in time and in bytes: a hundred times what a declared case takes."""


@dataclass(frozen=True)
class Draft:
    """A case that can still be changed: a declaration in one version, with one binding of types, in one form."""

    op: Op
    version: OperatorVersion
    spec: CaseSpec
    types: Mapping[str, str]
    form: str = PLAIN

    def with_spec(self, **changed: Any) -> Draft:  # noqa: ANN401 - the fields of CaseSpec
        """Return it with other fields of its declaration."""
        return dataclasses.replace(self, spec=dataclasses.replace(self.spec, **changed))

    def put(self, changes: Mapping[Path, Any]) -> Draft:
        """Return it with other values at some places."""
        given: dict[str, dict[str, Any]] = {"arguments": dict(self.spec.arguments), "around": dict(self.spec.around)}
        for (kind, name, *rest), value in changes.items():
            held = given[str(kind)]
            held[str(name)] = _put(held[str(name)], tuple(rest), value)
        return self.with_spec(**given)


@dataclass(frozen=True)
class Leaf:
    """Numbers or texts that stand at one place.

    Attributes:
        array: the values; a number alone is of rank 0.
        tensor: whether it is one that the model is fed, or that an attribute holds; else an attribute's numbers.
    """

    path: Path
    array: Array
    tensor: bool

    @property
    def name(self) -> str:
        """The argument's."""
        return str(self.path[1])


NUMBER = (bool, int, float, np.generic)


def leaves(draft: Draft) -> list[Leaf]:
    """Return all values of a draft, by place."""
    return [leaf for path, value in _tops(draft) for leaf in _leaves(value, path)]


def groups(draft: Draft) -> list[tuple[Path, int]]:
    """Return the places of what holds several values (variadic inputs, sequences), and how many."""
    return [group for path, value in _tops(draft) for group in _groups(value, path)]


def typed(draft: Draft) -> list[tuple[tuple[str, str], Typed]]:
    """Return the arguments that are tensors of a type of their own, by place."""
    tops = [((str(path[0]), str(path[1])), value) for path, value in _tops(draft) if isinstance(value, Typed)]
    return [(path, value) for path, value in tops if isinstance(value.values, np.ndarray) and "{" not in value.type]


def _tops(draft: Draft) -> Iterator[tuple[Path, Any]]:
    for kind in ("arguments", "around"):
        for name, value in sorted(getattr(draft.spec, kind).items()):
            yield (kind, name), value


def _flat(value: list[Any] | tuple[Any, ...]) -> bool:
    """Tell whether a list is an attribute's: numbers of one kind, or texts."""
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


def _put(old: Any, path: tuple[str | int, ...], new: Any) -> Any:  # noqa: ANN401
    if isinstance(old, Typed):
        return dataclasses.replace(old, values=_put(old.values, path, new))
    if path:
        index = int(path[0])
        items = [*old[:index], _put(old[index], path[1:], new), *old[index + 1 :]]
        return tuple(items) if isinstance(old, tuple) else items
    if isinstance(old, NUMBER) and isinstance(new, np.ndarray):
        return new.item()
    if isinstance(old, list | tuple) and isinstance(new, np.ndarray):
        return type(old)(new.tolist())
    return new


def without(draft: Draft, path: Path, index: int) -> Draft:
    """Return a draft without one of the values that stand together at a place."""
    value: Any = getattr(draft.spec, str(path[0]))[str(path[1])]
    held = value.values if isinstance(value, Typed) else value
    return draft.put({path: type(held)([*held[:index], *held[index + 1 :]])})


def begin(plan: Plan, form: str) -> Draft:
    """Return the draft of a plan in one form: the very same case, with its arguments written out."""
    spec, version = plan.spec, plan.version
    bound = {**{variable: version.default_type(variable) for variable in version.types}, **plan.types}
    given = dict(plan.inputs)
    written: dict[str, Any] = {}
    for name, argument in spec.arguments.items():
        place = version.arguments.get(name)
        if place is None or name in version.attributes:
            written[name] = _attribute(argument, bound)
        elif getattr(place, "variadic", False):
            items = [_input(item, given.get(f"{place.name}_{i}")) for i, item in enumerate(argument)]
            written[name] = tuple(items)
        else:
            written[name] = _input(argument, given.get(place.name))
    around = {name: _input(item, plan.around[name]) for name, item in spec.around.items()}
    spec = dataclasses.replace(spec, arguments=written, around=around)
    return Draft(plan.op, version, spec, plan.types, form)


def _attribute(argument: Any, bound: Mapping[str, str]) -> Any:  # noqa: ANN401
    if isinstance(argument, Typed):
        return dataclasses.replace(argument, values=np.asarray(binding.given(argument, "", bound).value))
    if isinstance(argument, np.ndarray):
        return argument.tolist()
    return argument


def _input(argument: Any, given: Any) -> Any:  # noqa: ANN401
    """Return an argument as the values that the model is fed."""
    if given is None or argument is None or isinstance(argument, ValueOf | Empty | dict):
        return argument
    if isinstance(argument, Typed):
        held = argument.values
        return argument if isinstance(held, dict | Empty) else dataclasses.replace(argument, values=given.value)
    return argument if given.value is None else given.value


def build(draft: Draft) -> tuple[Plan, Case] | None:
    """Return what a draft makes, as the oracle means it; None where it makes no case.

    What is taken away blindly may break the declaration, the signature, or what an oracle relies on: whatever is
    raised then says that this is no case.
    """
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"), within(SECONDS, ROOM):
            warnings.simplefilter("ignore")
            plan = plans.plan(draft.op, draft.version, draft.spec, draft.types)
            form = next((item for item in forms.forms(plan) if item.name == draft.form), None)
            case = plans.deliver(plan, form) if form else None
    except Exception:  # noqa: BLE001 - see above
        return None
    return None if case is None else (plan, case)
