# SPDX-License-Identifier: Apache-2.0
"""The gate's report: the cases that deviate from the expectations, other problems, and a last line with the counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_conformance.base.verdict import line
from onnx_conformance.gate.gate import GateStatus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.gate.gate import Deviation, Gate

MEANINGS = {
    GateStatus.BROKEN: "the adapter failed; nothing was measured",
    GateStatus.REGRESSED: "worse than expected",
    GateStatus.DIFFERENT: "a different failure than expected",
    GateStatus.IMPROVED: "still a failure, but a less severe one",
    GateStatus.FIXED: "pass, although a failure was expected",
}
"""In the order of the report."""


def lines(gate: Gate) -> Iterator[str]:
    """Yield the report of a finished gate."""
    path = gate.expectations.path
    for status, meaning in MEANINGS.items():
        deviations = [item for item in gate.deviations.values() if item.status is status]
        if deviations:
            yield f"{status}: {gate.statuses[status]} cases: {meaning}"
            yield from (f"  {describe(item)}" for item in sorted(deviations, key=lambda item: item.example.case))
    for problem in gate.problems:
        yield f"problem: {problem}"
    total = sum(gate.statuses.values())
    if gate.opened:
        yield f"the gate is open: {total} cases of {line(gate.expectations.backend)} are as expected in {path}"
        return
    others = ", ".join(f"{gate.statuses[name]} {name}" for name in MEANINGS if gate.statuses[name])
    met = f"{gate.statuses[GateStatus.MET]} as expected"
    yield f"the gate is closed: of {total} cases, {met}{', ' if others else ''}{others}"


def describe(deviation: Deviation) -> str:
    """Return a deviation on one line: its first case, the number of cases, the verdicts and the message."""
    example = deviation.example
    more = f" and {deviation.count - 1} more of {line(example.operator)}" if deviation.count > 1 else ""
    message = f": {line(example.message, 160)}" if example.message else ""
    return f"{line(example.case)}{more}: expected {deviation.expected}, got {deviation.actual}{message}"
