# SPDX-License-Identifier: Apache-2.0
"""Claims: the operator versions, types and conditions that a runtime supports according to its author.

They are tables of a TOML file, [[claims]]:

    [[claims]]
    operator = "ai.onnx/Conv"             # as in --op; globs and comparisons, Conv/>=11, are possible
    versions = [11, 22]                   # only these; absent: all
    types = { T = ["float", "float16"] }  # by type variable of the text; a variable that is absent may have any type
    ranks = { X = [3, 4] }                # by input
    attributes = { auto_pad = ["NOTSET"] }  # the values that an attribute may have; omitted, it has its default
    forms = ["plain", "initializer*"]     # globs over forms
    but = ["ai.onnx/Conv/11/empty*"]      # globs over cases that are not claimed

A case is claimed if one table covers it. A condition that cannot be checked, such as the rank of a tensor that another
node computes, does not cover the case.
"""

from __future__ import annotations

import contextlib
import fnmatch
import functools
import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from onnx_conformance.base.verdict import line, split_operator
from onnx_conformance.case.case import PLAIN
from onnx_conformance.declare.type import Type, TypeTextError
from onnx_conformance.forms.table import EXPANDED
from onnx_conformance.specification import model_use, nodes, schema
from onnx_conformance.specification.model_use import Use, attribute_value, comparable
from onnx_conformance.suites import profile_file
from onnx_conformance.suites.operator_versions import Pattern
from onnx_conformance.suites.profile_file import ProfileError, TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from onnx_conformance.case.case import Case
    from onnx_conformance.specification.model_use import AttributeValue
    from onnx_conformance.specification.schema import OperatorVersion

TABLE = "claims"
"""The name of the tables in a file."""


@dataclass(frozen=True)
class Claim:
    """One table of claims.

    Attributes:
        operator: a value of --op.
        versions: the operator versions; empty: all.
        types: the allowed types by type variable.
        ranks: the allowed ranks by the name of an input.
        attributes: the allowed values by the name of an attribute.
        forms: globs over forms; empty: all.
        but: globs over the ids of cases that are not claimed.
    """

    operator: str
    versions: tuple[int, ...] = ()
    types: Mapping[str, frozenset[Type]] = field(default_factory=dict)
    ranks: Mapping[str, frozenset[int]] = field(default_factory=dict)
    attributes: Mapping[str, frozenset[AttributeValue]] = field(default_factory=dict)
    forms: tuple[str, ...] = ()
    but: tuple[str, ...] = ()

    def has(self, operator: str) -> bool:
        """Return whether an operator version, such as ai.onnx/Conv/11, is claimed for some calls."""
        since = split_operator(operator)[1]
        return Pattern.parse(self.operator).matches(operator) and (not self.versions or since in self.versions)

    def takes(self, use: Use) -> bool:
        """Return whether the claim covers such a use of the operator, in some form."""
        return (
            self.has(str(use))
            and all(_within(use.bound.get(key), allowed) for key, allowed in self.types.items())
            and all(_within(use.ranks.get(name), allowed) for name, allowed in self.ranks.items())
            and all(_attribute_within(use, name, allowed) for name, allowed in self.attributes.items())
        )

    def takes_named(self, case_id: str, form: str) -> bool:
        """Return whether the claim covers a case, judged by its id and its form.

        The function body of an operator has other operators, so only a claim that names its form covers it.
        """
        in_form = any(fnmatch.fnmatchcase(form, glob) for glob in self.forms) if self.forms else form != EXPANDED
        return in_form and not any(fnmatch.fnmatchcase(case_id, glob) for glob in self.but)


def _within(known: Iterable[Any] | None, allowed: frozenset[Any]) -> bool:
    """Return whether all the known types or ranks are allowed; without any, the condition is not met."""
    return bool(known) and allowed.issuperset(known or ())


def _attribute_within(use: Use, name: str, allowed: frozenset[AttributeValue]) -> bool:
    """Return whether an attribute has an allowed value; one that is omitted has its default, if there is any."""
    if name in use.attributes:
        return _within(use.values.get(name), allowed)
    version = version_of(use)
    attribute = version.attributes.get(name) if version is not None else None
    default = comparable(attribute.default) if attribute is not None else None
    return default is None or default in allowed


@dataclass(frozen=True)
class Claims:
    """All claims of a file.

    Attributes:
        name: the name of the file.
        every: its tables.
    """

    name: str = ""
    every: tuple[Claim, ...] = ()

    def has(self, operator: str) -> bool:
        """Return whether an operator version is claimed for some calls."""
        return bool(self._of_operator(operator))

    def of(self, use: Use) -> tuple[Claim, ...]:
        """Return the claims that cover a use of an operator in some form."""
        return tuple(claim for claim in self._of_operator(str(use)) if claim.takes(use))

    def _of_operator(self, operator: str) -> tuple[Claim, ...]:
        """Return the claims for some calls of an operator version; kept, because every unsupported case needs them."""
        if operator not in self._kept:
            self._kept[operator] = tuple(claim for claim in self.every if claim.has(operator))
        return self._kept[operator]

    @functools.cached_property
    def _kept(self) -> dict[str, tuple[Claim, ...]]:
        return {}

    def cover(self, case: Case) -> bool:
        """Return whether a case is claimed; its model is read only if its operator version may be."""
        if not self.has(case.operator):
            return False
        return any(claim.takes_named(case.id, case.form) for claim in self.of(use_in(case)))

    @functools.cached_property
    def digest(self) -> str:
        """A digest of everything that the selection depends on."""
        rows = [
            (claim.operator, sorted(claim.versions), _in_order(claim.types), _in_order(claim.ranks),
             _in_order(claim.attributes), claim.forms, claim.but)
            for claim in self.every
        ]  # fmt: skip
        return hashlib.sha256(repr(rows).encode()).hexdigest()[:8]


def _in_order(conditions: Mapping[str, frozenset[Any]]) -> list[tuple[str, list[str]]]:
    return [(key, sorted(map(repr, values))) for key, values in sorted(conditions.items())]


def version_of(use: Use) -> OperatorVersion | None:
    """Return the version of a use; None if the installed onnx does not have it."""
    domain, _, name = use.operator.partition("/")
    if f"{use}" not in schema.every().get(use.operator, ()):
        return None
    return next(version for version in schema.versions(domain, name) if version.since == use.version)


def use_in(case: Case) -> Use:
    """Return how the model of a case uses the operator that it tests.

    Without such a node, as in an expanded function body, the inputs and outputs of the model are those of the operator.
    """
    model = onnx.load_from_string(case.model)
    # Onnx's shape inference may end the process if a model is invalid, as those of many cases are.
    found = {str(use): use for use in model_use.uses(model, infer=False)}
    use = found.get(case.operator) or model_use.by_position(model, case.operator)
    use.contains = any(item.contains for item in found.values()) or use.contains
    domain, _, name = use.operator.partition("/")
    node = nodes.of_operator(model, domain, name)
    inputs = [item.name for item in model.graph.input] if node is None else list(node.input)
    for attribute in node.attribute if node is not None else ():
        if (value := attribute_value(attribute)) is not None:
            use.values.setdefault(attribute.name, set()).add(value)
    _add_ranks(use, case, inputs, {item.name: len(item.dims) for item in model.graph.initializer})
    return use


def _add_ranks(use: Use, case: Case, names: Iterable[str], baked: Mapping[str, int]) -> None:
    """Add the ranks of the inputs that the case or an initializer has; `baked`: the ranks of initializers."""
    version = version_of(use)
    for index, name in enumerate(names):
        if version is None or not version.inputs:
            return
        parameter = version.inputs[min(index, len(version.inputs) - 1)]
        value = case.inputs.get(name)
        rank = value.ndim if isinstance(value, np.ndarray) else baked.get(name)
        if rank is not None:
            use.ranks.setdefault(parameter.name, set()).add(rank)


def read(path: Path) -> Claims:
    """Return the claims of a file, which must have some.

    Raises:
        ProfileError: it cannot be read, or is malformed.
    """
    claims = parse(profile_file.text_of(path), path.name)
    if not claims.every:
        raise ProfileError("claims-missing", f"{line(path)} has no [[{TABLE}]]; add one, or write them with `claims`")
    return claims


@functools.lru_cache(maxsize=16)
def parse(text: str, name: str) -> Claims:
    """Return the claims of a TOML text; `name` is that of its file.

    Raises:
        ProfileError: it is malformed.
    """
    return of_tables(profile_file.parsed(text, name).get(TABLE, []), name)


def of_tables(tables: object, name: str) -> Claims:
    """Return the claims of parsed tables.

    Raises:
        ProfileError: one is malformed.
    """
    try:
        rows = profile_file.tables(tables, TABLE, name)
        return Claims(name, tuple(_claim(table, where) for where, table in rows))
    except TableError as error:
        raise ProfileError("claims-invalid", str(error)) from None


def _claim(table: object, where: str) -> Claim:
    return Claim(**profile_file.fields(table, where, _KEYS, {"operator": '"ai.onnx/Conv"'}))


def operator_pattern(value: object) -> str:
    """Return a text that is a valid value of --op.

    Raises:
        ValueError: it is something else.
    """
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            Pattern.parse(value)
            return value
    raise ValueError("expected a name and comparisons, such as Conv/>=11")


def _numbers(value: object) -> tuple[int, ...]:
    if not isinstance(value, list) or not value or not all(type(item) is int and item >= 0 for item in value):
        raise ValueError("expected a list of whole numbers, such as [11, 13]")
    return tuple(value)


def _by_name(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"expected a table, such as {what}")  # noqa: TRY004 - the caller adds the place
    return value


def _types(value: object) -> dict[str, frozenset[Type]]:
    try:
        return {
            key: frozenset(map(Type.parse_short, profile_file.texts(names)))
            for key, names in _by_name(value, '{ T = ["float"] }').items()
        }
    except TypeTextError as error:
        raise ValueError(f"{error}; write element types such as float, or seq(tensor(float))") from None


def _ranks(value: object) -> dict[str, frozenset[int]]:
    return {key: frozenset(_numbers(several)) for key, several in _by_name(value, "{ X = [3, 4] }").items()}


def _attributes(value: object) -> dict[str, frozenset[AttributeValue]]:
    allowed = {}
    for key, several in _by_name(value, '{ mode = ["constant"] }').items():
        items = [comparable(item) for item in several] if isinstance(several, list) else [None]
        if None in items:
            raise ValueError('expected a list of values for each attribute, such as { mode = ["constant"] }')
        allowed[key] = frozenset(item for item in items if item is not None)
    return allowed


_KEYS: Mapping[str, Callable[[Any], Any]] = {
    "operator": operator_pattern, "versions": _numbers, "types": _types, "ranks": _ranks, "attributes": _attributes,
    "forms": profile_file.texts, "but": profile_file.texts,
}  # fmt: skip
"""The keys of a table, each with the function that converts its value; its ValueError has the correction."""


def form_of(case_id: str) -> str:
    """Return the form that the id of a generated case has."""
    return case_id.partition("@")[2] or PLAIN
