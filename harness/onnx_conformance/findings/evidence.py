# SPDX-License-Identifier: Apache-2.0
"""From a failure group to a finding that can be confirmed: the smallest case and its answer, a title and a script."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import onnx

from onnx_conformance.base import under_test
from onnx_conformance.base.signature import place_of
from onnx_conformance.base.verdict import WITH_MESSAGE, WRONG, Verdict, clean, line, natural, split_operator
from onnx_conformance.case.expected_text import expected_rows
from onnx_conformance.case.model_text import model_text
from onnx_conformance.case.value_text import one
from onnx_conformance.environments import backend_names
from onnx_conformance.findings import script, sentence, severity, smallest, titles
from onnx_conformance.findings.failure_groups import apart_of_smallest
from onnx_conformance.findings.finding import MOST_IDS, Example, FailingCases, Finding, History, Identity
from onnx_conformance.minimize.cause import difference, masked
from onnx_conformance.repro import tool_code
from onnx_conformance.repro.bug_report import public
from onnx_conformance.suites.lookup import open_suite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx_conformance.base.values import Value
    from onnx_conformance.case.case import Case
    from onnx_conformance.findings.earlier import Earlier
    from onnx_conformance.findings.failure_groups import FailureGroup
    from onnx_conformance.findings.smallest import Budget, Smallest
    from onnx_conformance.suites.suite import Suite

MOST_MODEL, MOST_VALUE = 6000, 600
"""Maximum numbers of characters of a model and of a value."""
_WORD = re.compile(r"[^\w.]+")
"""Characters that ids do not contain, such as the brackets of an option, because ids are names of files."""
Feature = tuple[str | int | bool, ...]


@dataclass(frozen=True)
class Outline:
    """The properties that distinguish one cause from another.

    Attributes:
        features: the parts that the smallest case needs: its nodes, attributes and inputs, and special properties of
            their values.
        difference: how the answer to it differs from the expected answer.
    """

    features: frozenset[Feature]
    difference: tuple[str, ...]

    def covers(self, other: Outline) -> bool:
        """Return whether the features of another case suffice for this cause, in spite of its additional features."""
        return self.difference == other.difference and self.features <= other.features

    def digest(self, *parts: str) -> str:
        """Return a digest that is equal for findings with the same cause."""
        text = repr((parts, sorted(map(repr, self.features)), self.difference))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Evidence:
    """The evidence for a fault.

    Attributes:
        finding: the finding, which is not confirmed yet.
        script: the text of the script that shows it.
        case: the smallest case.
        outline: the outline of its cause.
        title: the title of the finding, without its conditions.
        failing: the ids of all cases that fail in this way; the finding lists only some of them.
    """

    finding: Finding
    script: str
    case: Case
    outline: Outline
    title: str
    failing: frozenset[str] = frozenset()


def evidence(group: FailureGroup, budget: Budget, known: Sequence[Earlier] = ()) -> Evidence | None:
    """Return the evidence of a group of failures; None if no case of it fails again in the same way.

    Args:
        group: the failures.
        budget: the limits of the search for the smallest case.
        known: smallest cases of old findings that may have the same fault.

    Raises:
        HarnessError: the backend does not start.
    """
    found = smallest.smallest(group, budget, known)
    return None if found is None else _made(group, found, open_suite(budget.suite[0]))


def _made(group: FailureGroup, found: Smallest, source: Suite) -> Evidence:
    case, result, hello = found.case, found.result, found.hello
    backend = under_test.unversioned(group.backend)
    came = tool_code.made(case, found.model, hello)
    given = tuple(map(one, came.outputs)) if came.outputs is not None else found.given
    names = [*case.outputs, *("?" for _ in given[len(case.outputs) :])]
    example = Example(
        case=case.id,
        model=model_text(case.model, MOST_MODEL),
        inputs={line(name): clean(one(value), MOST_VALUE) for name, value in case.inputs.items()},
        expected={line(name): clean(value, MOST_VALUE) for name, value in expected_rows(case)},
        given={line(name): clean(value, MOST_VALUE) for name, value in zip(names, given, strict=False)},
        message=line(public(" at ".join(filter(None, (result.message, place_of(result))))), MOST_VALUE),
        made="" if found.model is None else model_text(found.model, MOST_MODEL),
        guilty=found.guilty,
    )
    clause = sentence.sentence(case, result, group)
    outline = _outline(found, clause)
    of_model = split_operator(case.operator)[0]  # If its operator is not needed, another operator has the fault.
    own = of_model in {"model", group.operator}
    operator = group.operator if own else of_model
    cause = outline.digest(backend_names.implementation_of(backend), operator, str(group.kind))
    operators = sorted({item.operator for item in group.results} if own else {case.operator}, key=natural)
    versions = [name.rpartition("/")[2] for name in operators]
    conditions = group.conditions if own else ()
    affected = tuple(sorted({*found.versions, *(int(last) for last in versions if last.isdigit())}))
    title = titles.title(operator, affected, group.kind, case, result, conditions)
    name = _WORD.sub("-", backend).strip("-")
    finding = Finding(
        id=f"{name}-{operator.rpartition('/')[2].lower()}-{group.kind}-{cause[:6]}",
        title=title,
        identity=Identity(backend, operator, group.kind, cause, group.apart or apart_of_smallest(result)),
        cases=FailingCases(
            count=len(group.results),
            ids=tuple(item.case for item in group.results[:MOST_IDS]),
            conditions=conditions,
            clause=clause,
            force=case.force,
            versions=affected,
            types=tuple(sorted({item.element_type for item in group.results} - {""})),
            forms=tuple(sorted({item.form for item in group.results})),
        ),
        example=example,
        history=History(runtime=str(hello.get("runtime", backend)), version=str(hello.get("version", ""))),
        severity=severity.of_cases(group.results, group.kind, affected, source, group.lacks),
    )
    text = script.text(case, group.backend, hello, title, came, clause)
    short = titles.title(operator, affected, group.kind, case, result, ())
    return Evidence(finding, text, case, outline, short, frozenset(item.case for item in group.results))


def _outline(found: Smallest, clause: str) -> Outline:
    """Return the properties that distinguish the cause of a smallest case within its backend, operator and kind.

    The message of a refusal names its cause. The sentence of a forbidden model is its cause. Models of one rewrite have
    the same nodes, but each shows another fault of the fusion.
    """
    case, result = found.case, found.result
    if result.verdict in WITH_MESSAGE and result.message.strip():
        return Outline(frozenset(), (*found.guilty, masked(public(result.message))))
    features: set[Feature] = set()
    for node in onnx.load_from_string(case.model).graph.node:
        features.add((node.op_type,))
        features.update((node.op_type, item.name, _kind_of(item)) for item in node.attribute)
        features.update((node.op_type, number, bool(name)) for number, name in enumerate(node.input))
    for number, value in enumerate(case.inputs.values()):
        features.update(("input", number, text) for text in _special(value))
    rewrite = titles.rewrite_of(case)
    return Outline(
        frozenset(features),
        (
            *found.guilty,
            *([rewrite] if rewrite and result.verdict in WRONG else []),
            clause if result.verdict is Verdict.ACCEPTED_INVALID else "",
            result.signal,
            place_of(result),
            str(result.mismatch.get("where", "")).partition("]")[0],
            *(difference(case, result) if result.verdict is Verdict.WRONG_VALUE else ()),
        ),
    )


def _kind_of(attribute: onnx.AttributeProto) -> str:
    """Return the part of an attribute's value that distinguishes faults: a word, or the sign of a number."""
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, int | float):
        return str(np.sign(value))
    if isinstance(value, bytes):
        return repr(value)
    return repr(sorted(set(value))) if attribute.type == onnx.AttributeProto.STRINGS else ""


def _special(value: Value) -> list[str]:
    """Return the special properties of a value: that it is a scalar, is empty, or contains NaN or infinity."""
    if isinstance(value, list):
        return sorted({text for item in value for text in _special(item)} | ({"empty"} if not value else set()))
    if not isinstance(value, np.ndarray):
        return [] if value is not None else ["absent"]
    special = [text for text, is_it in (("scalar", value.ndim == 0), ("empty", value.size == 0)) if is_it]
    if np.issubdtype(value.dtype, np.inexact):
        special += [text for text, is_it in (("nan", np.isnan), ("inf", np.isinf)) if is_it(value).any()]
    return special
