# SPDX-License-Identifier: Apache-2.0
"""Provisional cases, for operator versions that the installed onnx has and that no operator file declares yet.

A case of the former version still applies if the new text contains every sentence that it cites, word by word, and if
the signature allows it. Its expected values are those of the former version. New parts of the signature (a type, an
attribute, an input, an output, or the whole operator) have cases that are derived from the signature. These expect only
the type and shape that onnx infers. Until somebody has reviewed the text, provisional cases prove nothing, and gates do
not accept them.
"""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnx.shape_inference

from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import Outcome
from onnx_conformance.declare import EXACT, Clause, DeclarationError, Op, Unspecified
from onnx_conformance.declare.op import Oracle
from onnx_conformance.declare.type import Type
from onnx_conformance.forms.table import TWICE
from onnx_conformance.generation import core, derived, expansion, plans
from onnx_conformance.generation.cover import cover
from onnx_conformance.generation.deliveries import LEADS, plain
from onnx_conformance.specification import evaluator, registry, schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from onnx_conformance.case.case import Case
    from onnx_conformance.declare import CaseSpec, Version
    from onnx_conformance.generation.deliveries import Plan
    from onnx_conformance.specification.schema import OperatorVersion

TAG = "provisional"
_UNREAD = Clause("", "No operator file declares this version yet.")
_OUTLINE = Allowance("only the type and the shape are expected")


@dataclass(frozen=True, eq=False)
class Undeclared:
    """An operator version that no operator file declares.

    Attributes:
        op: the declared operator. If no file declares any of its versions, it has no cases and no oracles.
        version: the version, with the meaning of `former`.
        former: the last declared version before it; None if it does not exist.
    """

    op: Op
    version: OperatorVersion
    former: OperatorVersion | None


def undeclared(op: Op) -> Iterator[Undeclared]:
    """Yield the versions of an operator that its file does not declare and the installed onnx has, oldest first."""
    current = [item for item in registry.versions(op) if not item.deprecated]
    for version in schema.versions(op.domain, op.name):
        if version.since in registry.undeclared(op):
            former = next((item for item in reversed(current) if item.since < version.since), None)
            yield Undeclared(op, with_meaning(version, former.since if former else 0), former)


def with_meaning(version: OperatorVersion, former: int) -> OperatorVersion:
    """Return a version with the meaning of a former one; 0 if it has no meaning yet."""
    return dataclasses.replace(version, of_version=former)


def every() -> Iterator[Undeclared]:
    """Yield every operator version that the installed onnx has and no operator file declares."""
    for path in schema.every():
        domain, name = path.split("/")
        op = registry.load().find(domain, name) or Op(name, (), EXACT, domain)
        yield from undeclared(op)


def cases(of: Undeclared, wanted: Callable[[str], bool] | None = None) -> Iterator[Case]:
    """Yield the provisional cases of a version.

    Args:
        of: the version.
        wanted: a predicate on case ids; None: all.
    """

    def in_forms(case_id: str) -> bool:
        return not case_id.endswith(f"@{TWICE}") and (wanted is None or wanted(case_id))

    for planned in holding(of, in_forms):
        yield from map(_marked, _delivered(planned, in_forms))
    for spec in derived.cases(of.op, of.version):
        for types, suffix in expansion.bindings(of.version, spec):
            if not spec.rejects and _is_new(of, spec, types):
                planned_outline = _outline(of, spec, types, suffix)
                if planned_outline and in_forms(planned_outline.id):
                    yield _marked(plain(planned_outline))


def holding(of: Undeclared, wanted: Callable[[str], bool] | None = None) -> Iterator[Plan]:
    """Yield the plans of the declared and derived cases that still apply; `wanted` as in `cases`."""
    return plans.plans_of_version(of.op, of.version, None, wanted, functools.partial(_planned, of))


def _delivered(planned: Plan, wanted: Callable[[str], bool]) -> Iterator[Case]:
    try:
        yield from plans.delivered(planned, wanted)
    except (DeclarationError, evaluator.UndeclaredError, evaluator.OracleError):
        return  # The function body changed, or a form needs an operator version without a meaning.


def _marked(case: Case) -> Case:
    return dataclasses.replace(case, tags=case.tags | {TAG})


def of_core(of: Undeclared) -> frozenset[str]:
    """Return the ids of a small subset of the provisional cases of a version; see `generation.core`."""
    every_case = list(cases(of))
    oracle = of.op.oracle_for(of.version.meaning) if of.former else None
    meanings = {str(of.version): (of.version, oracle)}
    sets = [core.reached(one, meanings) for one in every_case]
    return frozenset(every_case[place].id for place in cover(sets, [0] * len(sets)))


def falls(of: Undeclared, spec: CaseSpec) -> list[Clause]:
    """Return the clauses of a case that the version's text does not contain."""
    return [item for item in spec.clauses if item.operator and item.text not in of.version.text]


def _planned(
    of: Undeclared, op: Op, version: OperatorVersion, spec: CaseSpec, types: Mapping[str, str], suffix: str
) -> Plan:
    """Return the plan of a case that still applies.

    Raises:
        NotDerivedError: the case does not apply.
    """
    by_signature = spec.derived and spec.rejects is not None
    if falls(of, spec) or not (by_signature or of.former) or (not by_signature and _is_new(of, spec, types)):
        raise plans.NotDerivedError
    try:
        return plans.plan(op, version, spec, types, suffix)
    except (DeclarationError, evaluator.UndeclaredError, evaluator.OracleError) as error:
        raise plans.NotDerivedError from error
    except Exception as error:  # An oracle may raise anything for arguments that its version cannot have.
        raise plans.NotDerivedError from error


def _is_new(of: Undeclared, spec: CaseSpec, types: Mapping[str, str]) -> bool:
    """Return whether a case uses a type, an argument or an output that the former version lacks."""
    if of.former is None:
        return True
    outputs = {item.name for item in of.former.outputs}
    named = set(plans.output_names(of.version, spec.n or 0)) - set(spec.omits)
    fixed = {item.name for item in of.version.outputs if not item.variadic}
    return (
        any(type_ not in of.former.types.get(variable, ()) for variable, type_ in types.items() if not spec.outside)
        or any(name not in of.former.arguments for name in spec.arguments)
        or bool((named & fixed) - outputs)
    )


def _outline(of: Undeclared, spec: CaseSpec, types: Mapping[str, str], suffix: str) -> Plan | None:
    """Return the plan of a derived case that expects the outputs' type and shape; None if onnx infers none."""
    silent = dataclasses.replace(of.op, oracles=[Oracle(_unread, None, None, (), frozenset())])
    open_ = dataclasses.replace(spec, derived=False, unspecified=_UNREAD)
    try:
        planned = plans.plan(silent, of.version, open_, types, suffix)
        outputs = _inferred(plain(planned))
    except (DeclarationError, evaluator.UndeclaredError, onnx.shape_inference.InferenceError):
        return None
    if outputs is None:
        return None
    names = [name for name, _ in planned.outputs]
    values = tuple(np.zeros(shape, schema.dtype_of(Type.parse(type_))) for type_, shape in outputs)
    kinds = iter(type_ for type_, _ in outputs)
    return dataclasses.replace(
        planned,
        spec=dataclasses.replace(spec, tags=spec.tags | {TAG}),
        outputs=tuple((name, next(kinds) if name else "") for name in names),
        outcome=Outcome.VALUES,
        expected=values,
        allowance=dataclasses.replace(_OUTLINE, bounds=tuple(np.full(value.shape, np.inf) for value in values)),
        open=tuple(np.ones(value.shape, bool) for value in values),
        decided=None,
        detail="",
        leads=LEADS._replace(nodes=False, types=False, shapes=False),
    )


def _unread(v: Version) -> Any:  # noqa: ANN401, ARG001 - as an oracle
    raise Unspecified(_UNREAD)


def _inferred(case: Case) -> list[tuple[str, tuple[int, ...]]] | None:
    """Return the types and shapes that onnx infers for a model's outputs.

    Returns None if onnx does not infer all of them, or if an output contains strings, for which no element can be left
    undetermined.

    Raises:
        InferenceError: onnx considers the model invalid.
    """
    model = onnx.load_from_string(case.model)
    for info in model.graph.output:
        info.type.Clear()
    inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    found = []
    for info in inferred.graph.output:
        tensor = info.type.tensor_type
        known = tensor.HasField("shape") and tensor.elem_type != onnx.TensorProto.STRING
        if not known or not all(dim.HasField("dim_value") for dim in tensor.shape.dim):
            return None
        found.append((schema.type_text(info.type), tuple(dim.dim_value for dim in tensor.shape.dim)))
    return found
