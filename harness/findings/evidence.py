"""From a candidate to a finding that can be confirmed: its smallest case, the answer to that, a title and a script."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import onnx

from harness.analysis.sentences import leading
from harness.case.case import Outcome
from harness.case.expected_text import expected_rows
from harness.case.model_text import model_text
from harness.case.value_text import one
from harness.findings import script, smallest
from harness.findings.finding import MOST_IDS, Example, Finding
from harness.minimize import search
from harness.repro.bug_report import public
from harness.spec import links
from harness.verdict import Verdict, clean, line, natural

if TYPE_CHECKING:
    from harness.case.case import Case
    from harness.declare.data import Value
    from harness.findings.candidates import Candidate
    from harness.findings.smallest import Budget, Smallest
    from harness.verdict import Result

MOST_MODEL, MOST_VALUE, MOST_SHOWN, MOST_MESSAGE = 6000, 600, 70, 110
"""Characters of a model and of a value, and of a value and a message in a title."""
UNTOLD = ("the text ", "the case cites ", "tag is ")
"""How conditions begin that a title does not need, because its other words say as much."""


@dataclass(frozen=True)
class Evidence:
    """What shows a fault.

    Attributes:
        finding: not confirmed yet.
        script: the text that shows it.
        case: the smallest one.
    """

    finding: Finding
    script: str
    case: Case


def evidence(candidate: Candidate, budget: Budget) -> Evidence | None:
    """Return the evidence of a candidate; None where no case of it fails again as it did.

    Raises:
        HarnessError: the backend does not start.
    """
    found = smallest.smallest(candidate, budget)
    return None if found is None else _made(candidate, found)


def _made(candidate: Candidate, found: Smallest) -> Evidence:
    case, result, hello = found.case, found.result, found.hello
    backend = candidate.backend.partition("==")[0]
    names = [*case.outputs, *("?" for _ in found.given[len(case.outputs) :])]
    example = Example(
        case=case.id,
        model=model_text(case.model, MOST_MODEL),
        inputs={line(name): clean(one(value), MOST_VALUE) for name, value in case.inputs.items()},
        expected={line(name): clean(value, MOST_VALUE) for name, value in expected_rows(case)},
        given={line(name): clean(value, MOST_VALUE) for name, value in zip(names, found.given, strict=False)},
        message=line(public(result.message), MOST_VALUE),
    )
    clauses = leading(case, result)
    clause = clauses[0] if clauses else ""
    cause = _cause(candidate, found, clause)
    operators = sorted({item.operator for item in candidate.results}, key=natural)
    title = _title(candidate, case, result)
    finding = Finding(
        id=f"{backend}-{candidate.operator.rpartition('/')[2].lower()}-{candidate.kind}-{cause[:6]}",
        backend=backend,
        runtime=str(hello.get("runtime", backend)),
        version=str(hello.get("version", "")),
        operator=candidate.operator,
        kind=candidate.kind,
        title=title,
        conditions=candidate.conditions,
        clause=clause,
        force=case.force,
        link=links.place(operators[-1]),
        versions=tuple(int(version) for name in operators if (version := name.rpartition("/")[2]).isdigit()),
        types=tuple(sorted({item.element_type for item in candidate.results} - {""})),
        forms=tuple(sorted({item.form for item in candidate.results})),
        count=len(candidate.results),
        ids=tuple(item.case for item in candidate.results[:MOST_IDS]),
        example=example,
        cause=cause,
        script="",
        apart=candidate.apart,
    )
    return Evidence(finding, script.text(case, candidate.backend, hello, title), case)


def _cause(candidate: Candidate, found: Smallest, clause: str) -> str:
    """Return a digest that two candidates of one cause share.

    A refusal says its cause, and a forbidden model has it in its sentence. Otherwise it is what cannot be taken away
    from the smallest case, nodes, attributes, inputs, what is special in their values, and how the answer differs.
    """
    case, result = found.case, found.result
    parts: list[object] = [candidate.backend.partition("==")[0], candidate.operator, str(candidate.kind)]
    if candidate.kind is Verdict.REFUSED and result.message.strip():
        parts.append(search.masked(public(result.message)))
    else:
        graph = onnx.load_from_string(case.model).graph
        parts += [
            clause if candidate.kind is Verdict.ACCEPTED_INVALID else "",
            [
                (node.op_type, sorted(map(_outline_of, node.attribute)), [bool(name) for name in node.input])
                for node in graph.node
            ],
            [_outline(value) for value in case.inputs.values()],
            search.cause(case, result)[2:],
        ]
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _outline_of(attribute: onnx.AttributeProto) -> tuple[str, object]:
    """Return the name of an attribute, and what tells another fault: a word, or the sign of a number."""
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, int | float):
        return attribute.name, str(np.sign(value))
    if isinstance(value, bytes):
        return attribute.name, repr(value)
    if attribute.type == onnx.AttributeProto.STRINGS:
        return attribute.name, repr(sorted(set(value)))
    return attribute.name, ""


def _outline(value: Value) -> object:
    """Return what is special in a value: a scalar, an empty tensor, NaN or infinity among its elements."""
    if not isinstance(value, np.ndarray):
        return [_outline(item) for item in value] if isinstance(value, list) else type(value).__name__
    special = []
    if np.issubdtype(value.dtype, np.inexact):
        special = [name for name, is_it in (("nan", np.isnan), ("inf", np.isinf)) if is_it(value).any()]
    return [value.ndim == 0, value.size == 0, *special]


def _title(candidate: Candidate, case: Case, result: Result) -> str:
    """Return what is expected and what came."""
    name = candidate.operator.removeprefix("ai.onnx/")
    told = [text for text in candidate.conditions if not text.startswith(UNTOLD)]
    when = f" with {' and '.join(told)}" if 0 < len(told) <= 2 else ""  # noqa: PLR2004 - a title is short
    subject = f"{name}{when}"
    expected = _short("; ".join(value for _, value in expected_rows(case)))
    wanted = "a refusal" if case.outcome is Outcome.REJECTS else expected or "an answer"
    if candidate.kind is Verdict.CRASH:
        how = f"ends by {result.signal}" if result.signal else "ends"
        return line(f"{subject}: the process {how}, {wanted} expected")
    if candidate.kind is Verdict.TIMEOUT:
        return line(f"{subject}: no answer, {wanted} expected")
    if candidate.kind is Verdict.REFUSED:
        return line(f"{subject}: refused ({_end(public(result.message or result.error))}), {wanted} expected")
    if candidate.kind is Verdict.ACCEPTED_INVALID:
        return line(f"{subject}: {_short(result.actual) or 'an answer'} where the text demands a refusal")
    mismatch = result.mismatch
    if {"expected", "actual"} <= set(mismatch):
        where = str(mismatch.get("where", ""))
        place = f"{where}: " if where not in {"", "outputs[0]"} else ""
        return line(f"{subject}: {place}{_short(mismatch['expected'])} expected, {_short(mismatch['actual'])} came")
    return line(f"{subject}: {wanted} expected, {_short(result.actual)} came")


def _end(message: str) -> str:
    """Return the end of a message: what is wrong stands behind where."""
    shown = line(message, 2000)
    return shown if len(shown) <= MOST_MESSAGE else f"...{shown[-MOST_MESSAGE:].partition(' ')[2]}"


def _short(text: object) -> str:
    shown = line(text, 2000)
    return shown if len(shown) <= MOST_SHOWN else f"{shown[:MOST_SHOWN].rstrip()}..."
