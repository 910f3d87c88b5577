"""The published report of a run, as Markdown: the table, the failures, and how it was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.report import explanation, terminal
from harness.verdict import line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.report.summary import Summary
    from harness.results import Run
    from harness.statement import Statement


MEASURED = """\
onnx {onnx}, numpy {numpy}, Python {python}, {machine[system]} {machine[processor]}; suite digest `{suite[digest]}`."""
LEGEND = """\
A case that the text leaves open is shown as `unspecified` and never scored. `accepted_invalid` is a column of its
own: ONNX obliges no runtime to refuse. Rates are floored."""


def report(
    run: Run,
    summary: Summary,
    references: Mapping[str, str],
    groups: int = 0,
    statements: Sequence[Statement] = (),
    note: str = "",
) -> str:
    """Return the report of a finished run.

    Args:
        run: the results.
        summary: what was counted of them.
        references: case id -> what onnx.reference gave for it, for the examples.
        groups: how many groups of failures of each backend are shown; 0: all.
        statements: what failures share, by backend and operator.
        note: why less than could be is known of what they share.
    """
    head = run.header
    backends = ", ".join(f"{name} {said.get('version', '')}".strip() for name, said in head["backends"].items())
    lines = [
        line(f"# {backends}: suite {head['suite']['name']}"),
        "",
        MEASURED.format(**head),
        "",
        LEGEND,
        "",
        terminal.table(summary, "github"),
        "",
        *explanation.section(statements, note),
        "## Failures, by sentence and message",
        "",
    ]
    if not run.complete:
        lines.insert(2, "**This run was cut off; cases are missing.**\n")
    for block in terminal.groups(summary, references, groups, head["arguments"].get("reference", "")):
        lines += ["```text", block.replace("```", "'''"), "```", ""]
    if not summary.groups:
        lines += ["None.", ""]
    return "\n".join(lines)
