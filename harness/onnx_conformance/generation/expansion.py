# SPDX-License-Identifier: Apache-2.0
"""The expansion of a declared case: the types and the id that it has in a version of its operator."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from onnx_conformance.declare.type import Type
from onnx_conformance.specification import schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onnx_conformance.declare import CaseSpec
    from onnx_conformance.specification.schema import OperatorVersion


def bindings(version: OperatorVersion, spec: CaseSpec) -> Iterator[tuple[dict[str, str], str]]:
    """Yield the types to which a case is expanded in a version, with their text; none if the version lacks the case."""
    if fits(version, spec):
        yield from _bindings(version, spec)


def _bindings(version: OperatorVersion, spec: CaseSpec) -> Iterator[tuple[dict[str, str], str]]:
    names = variables(spec)
    lists = [allowed(version, spec, variable) for variable in names]
    if spec.outside:
        lists = [tuple(type_ for type_ in schema.ALL_TENSOR_TYPES if type_ not in few) for few in lists]
    for chosen in itertools.product(*lists):
        suffix = "-to-".join(_suffix(Type.parse(type_)) for type_ in chosen)
        if not spec.only or suffix in spec.only:
            yield dict(zip(names, chosen, strict=True)), suffix


def allowed(version: OperatorVersion, spec: CaseSpec, variable: str) -> tuple[str, ...]:
    """Return the types to which a case is expanded."""
    return tuple(item for item in version.types[variable] if not _left_out(spec, item))


def _left_out(spec: CaseSpec, type_: str) -> bool:
    return type_ in spec.but or Type.parse(type_).short in spec.but


def variables(spec: CaseSpec) -> tuple[str, ...]:
    """Return the type variables over which a case is expanded."""
    each = (spec.each,) if isinstance(spec.each, str) else (spec.each or ())
    return (spec.outside,) if spec.outside else each


def fits(version: OperatorVersion, spec: CaseSpec) -> bool:
    """Return whether a version has the arguments, type variables and sentences of a case."""
    return (
        spec.deprecated is version.deprecated
        and spec.meant_for(version.meaning)
        and all(name in version.arguments for name in spec.arguments)
        and all(name in version.types for name in variables(spec))
    )


def id_of(version: OperatorVersion, spec: CaseSpec, suffix: str) -> str:
    """Return the id of a case in the plain form; `suffix` is the text of its types."""
    return f"{version}/{spec.name}" + (f"/{suffix}" if suffix else "")


def _suffix(type_: Type) -> str:
    """Return a type in the notation of ids: float for tensor(float), seq-float, map-int64-float."""
    if type_.inner is None:
        return type_.element
    return "-".join(filter(None, (type_.kind, type_.element, _suffix(type_.inner))))


def familiar(version: OperatorVersion, spec: CaseSpec) -> str:
    """Return the suffix of a case's binding to the default types, or of its first one."""
    default = {variable: version.default_type(variable) for variable in variables(spec)}
    bindings = list(_bindings(version, spec))
    return next((suffix for types, suffix in bindings if types == default), bindings[0][1] if bindings else "")


def stems(version: OperatorVersion, specs: Iterable[CaseSpec]) -> Iterator[str]:
    """Yield the ids (without forms) of the cases that are declared for a version, without generating the cases."""
    for spec in specs:
        if fits(version, spec):
            for _, suffix in _bindings(version, spec):
                yield id_of(version, spec, suffix)
