# SPDX-License-Identifier: Apache-2.0
"""The report as JSON: counts, groups of failures, statements, the gate. Its size does not grow with the run.

The schema `report` describes it. Single results are in the result stream, which has a separate schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_conformance.base.under_test import Subject
from onnx_conformance.base.verdict import Verdict, line
from onnx_conformance.report import json_text
from onnx_conformance.results.summary import rates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx_conformance.analysis.statement import Statement
    from onnx_conformance.gate.gate import Gate
    from onnx_conformance.report.report_data import ReportData
    from onnx_conformance.results.summary import Group
from onnx_conformance.base.verdict import Result

FORMAT = 1
"""Increased when the meaning of a member changes."""


def report(data: ReportData) -> Iterator[str]:
    """Yield the document."""
    groups = data.summary.ordered_groups()
    members: dict[str, Any] = {
        "kind": "report",
        "format": FORMAT,
        "complete": data.run.complete,
        "header": data.run.header,
        "faults": data.faults,
        "backends": _backends(data),
        **({"gate": _gate(data.gate)} if data.gate else {}),
        "left_out": data.summary.left_out,
        **({"note": line(data.note, 600)} if data.note else {}),
    }
    yield json_text.text(members)[:-1]
    for name, items in (
        ("counts", map(json_text.text, _rows(data))),
        ("statements", (json_text.text(_statement(item)) for item in data.statements)),
        ("groups", (json_text.text(_group(item, data.references)) for item in groups)),
    ):
        yield f',\n"{name}":'
        yield from json_text.array(items)
    yield "}\n"


def _counts(counts: Mapping[Verdict, int]) -> dict[str, int]:
    return {str(verdict): counts[verdict] for verdict in Verdict if counts.get(verdict)}


def _rated(counts: Mapping[Verdict, int]) -> dict[str, Any]:
    shares = rates(counts)
    return {
        "verdicts": _counts(counts),
        "passed": shares.passed,
        "specified": shares.specified,
        "attempted": shares.attempted,
    }


def _backends(data: ReportData) -> dict[str, Any]:
    part = data.samples
    return {
        name: _rated(counter)
        | ({"sample": part[name]} if name in part else {})
        | data.summary.profile(name).numbers
        | ({"subject": subject} if (subject := data.summary.subject(name)) is not Subject.RUNTIME else {})
        for name, counter in data.counts.items()
    }


def _rows(data: ReportData) -> Iterator[dict[str, Any]]:
    for (operator, backend), counter in sorted(data.summary.counts.items()):
        expected = {"expected": data.accepted[operator, backend]} if data.gate else {}
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
    names = ("case", "operator", "outcome", "form", "message", "error", "signal", "phase", "expected", "actual")
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
