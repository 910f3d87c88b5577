"""From a candidate to a finding that can be confirmed: its smallest case, the answer to that, a title and a script."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import onnx

from harness.analysis.sentences import leading
from harness.case.case import Outcome
from harness.case.expected_text import expected_rows
from harness.case.model_text import model_text
from harness.case.value_text import one
from harness.errors import HarnessError
from harness.execution import backend_names
from harness.execution.adapter_process import Limits
from harness.execution.ask import Asker, ask_and_judge
from harness.findings import script
from harness.findings.finding import MOST_IDS, Example, Finding
from harness.minimize import search
from harness.repro.bug_report import public
from harness.spec import links
from harness.suites.lookup import find_case, open_suite, plan_of
from harness.verdict import Verdict, clean, line, natural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.case.case import Case
    from harness.declare.data import Value
    from harness.findings.candidates import Candidate
    from harness.verdict import Result

MOST_MODEL, MOST_VALUE, MOST_SHOWN, MOST_MESSAGE = 6000, 600, 70, 110
"""Characters of a model and of a value, and of a value and a message in a title."""
UNTOLD = ("the text ", "the case cites ", "tag is ")
"""How conditions begin that a title does not need, because its other words say as much."""
TRIES = 3
"""Cases of a candidate that are tried until one fails again."""
STEPS = 400
"""Cases that a backend may run while one is cut down."""


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


def evidence(candidate: Candidate, suite: str, seconds: float, timeout: float) -> Evidence | None:
    """Return the evidence of a candidate; None where no case of it fails again as it did.

    Args:
        candidate: the failures.
        suite: the name of their suite.
        seconds: how long a case may be cut down.
        timeout: seconds that a case may take.

    Raises:
        HarnessError: the backend does not start.
    """
    target = backend_names.resolve(candidate.backend)
    limits = Limits(timeout=timeout)
    source = open_suite(suite)
    for first in candidate.results[:TRIES]:
        case = find_case(first.case, (source,))
        try:
            small = search.minimize(case, plan_of(case), target, limits, STEPS, seconds)
            case, result, outputs, hello = small.case, small.result, small.answer.outputs, small.answer.hello
        except HarnessError:  # Some cases cannot be made smaller; this one may show the fault as it is.
            with Asker(target, limits) as asker:
                hello = dict(asker.process.hello)
                result, outputs = ask_and_judge(asker, case)
        if result.verdict is candidate.kind:
            return _made(candidate, case, result, outputs, hello)
    return None


def _made(
    candidate: Candidate, case: Case, result: Result, outputs: Sequence[Value], hello: Mapping[str, Any]
) -> Evidence:
    backend = candidate.backend.partition("==")[0]
    names = [*case.outputs, *("?" for _ in outputs[len(case.outputs) :])]
    example = Example(
        case=case.id,
        model=model_text(case.model, MOST_MODEL),
        inputs={line(name): clean(one(value), MOST_VALUE) for name, value in case.inputs.items()},
        expected={line(name): clean(value, MOST_VALUE) for name, value in expected_rows(case)},
        given={line(name): clean(one(value), MOST_VALUE) for name, value in zip(names, outputs, strict=False)},
        message=line(public(result.message), MOST_VALUE),
    )
    cause = _cause(candidate, case, result)
    clauses = leading(case, result)
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
        clause=clauses[0] if clauses else "",
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


_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def _cause(candidate: Candidate, case: Case, result: Result) -> str:
    """Return a digest that two candidates of one cause share: the graph but for names and opset, and the difference."""
    graph = onnx.load_from_string(case.model).graph
    nodes = [
        (
            node.op_type,
            sorted(
                (item.name, item.type, item.SerializeToString()) for item in node.attribute if not item.HasField("g")
            ),
            [bool(name) for name in node.input],
            len(node.output),
        )
        for node in graph.node
    ]
    inputs = [_outline(value) for value in case.inputs.values()]
    difference = search.cause(case, result)[2:]
    text = repr(
        (candidate.backend.partition("==")[0], candidate.operator, str(candidate.kind), nodes, inputs, difference)
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _outline(value: Any) -> object:  # noqa: ANN401 - any value
    """Return the shape of a value."""
    if isinstance(value, list):
        return [_outline(item) for item in value]
    return tuple(value.shape) if hasattr(value, "shape") else type(value).__name__


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
