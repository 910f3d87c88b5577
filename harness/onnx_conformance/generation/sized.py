"""The cases of the suite `kernels`: sized calls of operators, in their types and forms.

The first type of each call has all sizes. Each other type has one size in SPREAD, chosen by a digest of the case's id:
kernels of other types differ less than kernels of other sizes. If a call has every value of its types, all types have
it.
"""

from __future__ import annotations

import functools
import zlib
from typing import TYPE_CHECKING

from onnx_conformance.case.case import delivered_id
from onnx_conformance.generation import plans
from onnx_conformance.generation.deliveries import form_names, start_of
from onnx_conformance.specification import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onnx_conformance.case.case import Case
    from onnx_conformance.declare import CaseSpec, Op
    from onnx_conformance.forms.table import Start
    from onnx_conformance.specification.schema import OperatorVersion

SPREAD = 8
"""Other types than the first have one size in so many."""


def version_of(op: Op) -> OperatorVersion | None:
    """Return the newest version of an operator that is not deprecated; None if it has none, or no sized call."""
    current = [version for version in registry.versions(op) if not version.deprecated]
    return current[-1] if current and op.calls else None


def stems(op: Op, version: OperatorVersion) -> Iterator[tuple[str, CaseSpec, dict[str, str], str]]:
    """Yield the id, the declaration, the types and their text of each sized case, without drawing its values."""
    for spec in op.sized_cases():
        familiar = plans.familiar(version, spec)
        for types, suffix in plans.bindings(version, spec):
            stem = plans.id_of(version, spec, suffix)
            if spec.exhaustive or suffix == familiar or zlib.crc32(stem.encode()) % SPREAD == 0:
                yield stem, spec, types, suffix


def ids(op: Op, version: OperatorVersion) -> Iterator[str]:
    """Yield the ids that the sized cases of an operator may have."""
    names_of = _names_of(version)
    for stem, spec, *_ in stems(op, version):
        yield from (delivered_id(stem, name) for name in names_of(start_of(spec)))


def _names_of(version: OperatorVersion) -> Callable[[Start], tuple[str, ...]]:
    return functools.cache(lambda start: form_names(version, start=start))


def cases(op: Op, version: OperatorVersion, wanted: Callable[[str], bool]) -> Iterator[Case]:
    """Yield the sized cases of an operator in every suitable form.

    Args:
        op: the operator.
        version: its newest version.
        wanted: a predicate on case ids; the others are not generated.
    """
    names_of = _names_of(version)
    for stem, spec, types, suffix in stems(op, version):
        if any(wanted(delivered_id(stem, name)) for name in names_of(start_of(spec))):
            yield from plans.delivered(plans.plan(op, version, spec, types, suffix), wanted)
