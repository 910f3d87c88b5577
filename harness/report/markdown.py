"""The published report of a run, as Markdown: the table, the failures, and how it was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.report import terminal
from harness.verdict import line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.report.summary import Summary
    from harness.results import Run


MEASURED = """\
onnx {onnx}, numpy {numpy}, Python {python}, {machine[system]} {machine[processor]}; suite digest `{suite[digest]}`."""
LEGEND = """\
A case that the text leaves open is shown as `unspecified` and never scored. `accepted_invalid` is a column of its
own: ONNX obliges no runtime to refuse. Rates are floored."""


def report(run: Run, summary: Summary, references: Mapping[str, str], groups: int = 0) -> str:
    """Return the report of a finished run, with so many groups of failures of each backend; 0: all."""
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
        "## Failures, by what they share",
        "",
    ]
    if not run.complete:
        lines.insert(2, "**This run was cut off; cases are missing.**\n")
    for block in terminal.groups(summary, references, groups, head["arguments"].get("reference", "")):
        lines += ["```text", block.replace("```", "'''"), "```", ""]
    if not summary.groups:
        lines += ["None.", ""]
    return "\n".join(lines)
