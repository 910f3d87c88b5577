"""The report as JSON, of one size whatever the run: counts, groups of failures, statements, and the gate.

`report.schema.json` describes it; single results are in the result stream, which has a schema of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.report import json_text
from harness.results.summary import rates
from harness.verdict import Verdict, line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from harness.analysis.statement import Statement
    from harness.gate.gate import Gate
    from harness.report.subject import Subject
    from harness.results.summary import Group
    from harness.verdict import Result

FORMAT = 1
"""Raised when a member changes its meaning."""


def report(subject: Subject) -> Iterator[str]:
    """Yield the document."""
    groups = subject.summary.ordered_groups()
    members: dict[str, Any] = {
        "kind": "report",
        "format": FORMAT,
        "complete": subject.run.complete,
        "header": subject.run.header,
        "faults": subject.faults,
        "backends": _backends(subject),
        **({"gate": _gate(subject.gate)} if subject.gate else {}),
        "left_out": subject.summary.left_out,
        **({"note": line(subject.note, 600)} if subject.note else {}),
    }
    yield json_text.text(members)[:-1]
    for name, items in (
        ("counts", map(json_text.text, _rows(subject))),
        ("statements", (json_text.text(_statement(item)) for item in subject.statements)),
        ("groups", (json_text.text(_group(item, subject.references)) for item in groups)),
    ):
        yield f',\n"{name}":'
        yield from json_text.array(items)
    yield "}\n"


def _counts(counts: Mapping[Verdict, int]) -> dict[str, int]:
    return {str(verdict): counts[verdict] for verdict in Verdict if counts.get(verdict)}


def _rated(counts: Mapping[Verdict, int]) -> dict[str, Any]:
    found = rates(counts)
    return {
        "verdicts": _counts(counts),
        "passed": found.passed,
        "specified": found.specified,
        "attempted": found.attempted,
    }


def _backends(subject: Subject) -> dict[str, Any]:
    part = subject.samples
    return {
        name: _rated(counter) | ({"sample": part[name]} if name in part else {})
        for name, counter in subject.counts.items()
    }


def _rows(subject: Subject) -> Iterator[dict[str, Any]]:
    for (operator, backend), counter in sorted(subject.summary.counts.items()):
        expected = {"expected": subject.accepted[operator, backend]} if subject.gate else {}
        yield {"operator": operator, "backend": backend, **_rated(counter), **expected}


def _group(group: Group, references: Mapping[str, str]) -> dict[str, Any]:
    example = group.example
    reference = references.get(example.case)
    return {
        "backend": example.backend,
        "operator": example.operator.rpartition("/")[0] or example.operator,
        "verdict": str(example.verdict),
        "count": group.count,
        **{name: sorted(getattr(group, name)) for name in ("versions", "forms", "types")},
        "clauses": list(example.clauses),
        "example": _example(example) | ({"reference": reference} if reference else {}),
    }


def _example(result: Result) -> dict[str, Any]:
    names = ("case", "operator", "outcome", "form", "message", "error", "signal", "expected", "actual")
    return {name: getattr(result, name) for name in names if getattr(result, name)}


def _statement(statement: Statement) -> dict[str, Any]:
    return {
        "backend": statement.backend,
        "operator": statement.operator,
        "verdict": str(statement.verdict),
        "text": str(statement),
        "conditions": list(statement.conditions),
        "matched": statement.matched,
        "failing": statement.failing,
        "passing": statement.passing,
        "cases": list(statement.cases),
    }


def _gate(gate: Gate) -> dict[str, Any]:
    deviations = sorted(gate.deviations.values(), key=lambda item: (str(item.status), item.example.case))
    return {
        "backend": gate.expectations.backend,
        "expectations": str(gate.expectations.path),
        "open": gate.opened,
        "standings": {str(name): count for name, count in sorted(gate.statuses.items())},
        "problems": gate.problems,
        "news": [
            {
                "standing": str(item.status),
                "expected": str(item.expected),
                "actual": str(item.actual),
                "count": item.count,
                "example": _example(item.example),
            }
            for item in deviations
        ],
    }
