# SPDX-License-Identifier: Apache-2.0
"""The sized cases of operators: calls at the sizes of real models, in their types.

All of them are the suite `kernels`. The first type of each call has all sizes. Each other type has one size in SPREAD,
chosen by a digest of the case's id: kernels of other types differ less than kernels of other sizes. If a call has every
value of its types, all types have it.

A few of them are also in the generated suite, and in its core.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import zlib
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from onnx_conformance.generation.cover import cover
from onnx_conformance.generation.expansion import bindings, familiar, id_of
from onnx_conformance.specification import registry

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from onnx_conformance.declare import CaseSpec, Op
    from onnx_conformance.specification.schema import OperatorVersion

SPREAD = 8
"""Other types than the first have one size in so many."""
IN_CORE = 11
"""Number of sized cases of each operator that are in the core."""


class Sized(NamedTuple):
    """A sized case, whose values are not drawn yet.

    Attributes:
        stem: the id of its plain form.
        spec: the declaration.
        types: the type of each variable.
        suffix: the types as text.
    """

    stem: str
    spec: CaseSpec
    types: dict[str, str]
    suffix: str


def version_of(op: Op) -> OperatorVersion | None:
    """Return the newest version of an operator that is not deprecated; None if it has none, or no sized call."""
    current = [version for version in registry.versions(op) if not version.deprecated]
    return current[-1] if current and op.calls else None


def cases(op: Op, version: OperatorVersion) -> Iterator[Sized]:
    """Yield the sized cases of an operator; `version` is its newest version."""
    for spec in op.sized_cases():
        first = familiar(version, spec)
        for types, suffix in bindings(version, spec):
            stem = id_of(version, spec, suffix)
            if spec.exhaustive or suffix == first or zlib.crc32(stem.encode()) % SPREAD == 0:
                yield Sized(stem, spec, types, suffix)


def of_core(op: Op, version: OperatorVersion) -> tuple[CaseSpec, ...]:
    """Return the declarations of the sized cases that are in the core, only for the types in which they are.

    They are for the newest version of an operator, so for any other version the result is empty.
    """
    return _of_core(op) if version == version_of(op) else ()


@functools.cache
def _of_core(op: Op) -> tuple[CaseSpec, ...]:
    version = version_of(op)
    types: dict[str, set[str]] = defaultdict(set)
    specs: dict[str, CaseSpec] = {}
    for item in spread(list(cases(op, version)) if version is not None else [], IN_CORE):
        types[item.spec.name].add(item.suffix)
        specs[item.spec.name] = item.spec
    return tuple(dataclasses.replace(spec, only=frozenset(types[name] - {""})) for name, spec in specs.items())


def spread(items: list[Sized], most: int) -> list[Sized]:
    """Return some sized cases. Each adds the most calls, sizes and types that the former do not have.

    Args:
        items: the cases; of equal ones the largest is chosen.
        most: how many to return.
    """
    left = sorted(items, key=lambda item: -math.prod((item.spec.sizes or {}).values()))
    chosen: list[Sized] = []
    while left and len(chosen) < most:
        places = cover([_reached(item) for item in left], [0] * len(left))
        chosen += [left[place] for place in places]
        left = [item for place, item in enumerate(left) if place not in set(places)]
    return chosen[:most]


def _reached(item: Sized) -> frozenset[Hashable]:
    """Return the call, the sizes and the types of a sized case."""
    sizes = item.spec.sizes or {}
    return frozenset({item.spec.name.partition("_")[0], *sizes.items(), ("types", item.suffix)})
