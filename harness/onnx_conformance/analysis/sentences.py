# SPDX-License-Identifier: Apache-2.0
"""Choose the sentences of a case that a report shows: those that a failure violates, and the readings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.verdict import Verdict, split_operator
from onnx_conformance.case.case import Outcome
from onnx_conformance.declare import readings
from onnx_conformance.specification import schema

if TYPE_CHECKING:
    from onnx_conformance.base.verdict import Result
    from onnx_conformance.case.case import Case
    from onnx_conformance.specification.schema import OperatorVersion

_OUTPUT = re.compile(r"outputs\[(\d+)\]")
_NAMED_OUTPUT = re.compile(r"output (?P<name>\w+): inferred ")
"""A message of shape inference on the type or shape of an output."""
_SHAPE = re.compile(r"\b(?:shapes?|dimensions?|dims?|ranks?|sizes?|lengths?|number of|equal in)\b", re.IGNORECASE)


def readings_of(case: Case) -> tuple[str, ...]:
    """Return the question and the answer of each reading that the expected outcome of a case rests on."""
    return tuple(map(readings.sentence, case.readings))


def behaviour(case: Case) -> tuple[str, ...]:
    """Return the sentences about the behaviour of the operator; sentences about types only if the case cites no others.

    The clause that decides that a case is forbidden or left open is always among them.
    """
    decides = case.clauses[-1:] if case.outcome in {Outcome.REJECTS, Outcome.UNSPECIFIED} else ()
    clauses = tuple(clause for clause in case.clauses if clause in decides or not _on_types(case.operator, clause))
    return clauses or case.clauses


def leading(case: Case, result: Result) -> tuple[str, ...]:
    """Return the sentences of a case, the one that the failing part violates first."""
    clauses = case.clauses if result.verdict is Verdict.WRONG_TYPE else behaviour(case)
    if case.outcome in {Outcome.REJECTS, Outcome.UNSPECIFIED}:
        return (*clauses[-1:], *clauses[:-1])
    number = wrong_output(result)
    name = case.outputs[number] if number is not None and number < len(case.outputs) else ""

    def fits(clause: str) -> int:
        of_output = bool(name) and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", clause) is not None
        of_shape = result.verdict is Verdict.WRONG_SHAPE and _SHAPE.search(clause) is not None
        of_type = result.verdict is Verdict.WRONG_TYPE and _on_types(case.operator, clause)
        return -(2 * of_output + of_shape + of_type)

    return tuple(sorted(clauses, key=fits))


def wrong_output(result: Result) -> int | None:
    """Return the number of the output that differs from the expected one; None if the result names no output."""
    if (match := _OUTPUT.match(str(result.mismatch.get("where", "")))) is not None:
        return int(match[1])
    named, version = _NAMED_OUTPUT.match(result.message), version_of(result.operator)
    names = [output.name for output in version.outputs] if version is not None else []
    return names.index(named["name"]) if named is not None and named["name"] in names else None


def version_of(operator: str) -> OperatorVersion | None:
    """Return the schema of an operator version, such as ai.onnx/Split/18, or None for an unknown one."""
    try:
        return schema.in_force(*_named(operator))
    except schema.SchemaError:
        return None


def source_of(operator: str) -> Any:  # noqa: ANN401 - as `schema.source`
    """Return the source of the schema of an operator version, such as ai.onnx/Split/18, or None for an unknown one."""
    try:
        return schema.source(*_named(operator))
    except schema.SchemaError:
        return None


def _named(operator: str) -> tuple[str, str, int]:
    """Return the domain, the name and the version of an operator version; version 0 if it has none."""
    name, since = split_operator(operator)
    domain, _, name = name.rpartition("/")
    return domain, name, since or 0


def _on_types(operator: str, clause: str) -> bool:
    """Return whether a clause is part of the text on allowed types, or is a rule of the signature."""
    if clause.startswith("Signature: "):
        return True
    version = version_of(operator)
    return version is not None and any(clause in text for text in version.constraints.values())
