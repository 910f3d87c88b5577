# SPDX-License-Identifier: Apache-2.0
"""A bundle for the authors of a runtime: everything about one root cause, in one Markdown file that can be sent."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from onnx_conformance.base.package import REPOSITORY
from onnx_conformance.base.verdict import line
from onnx_conformance.findings.finding import FIXED, by_cause
from onnx_conformance.repro.bug_report import code, fenced, prose

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onnx_conformance.findings.finding import Finding, Findings

MOST = 60
"""The number of causes that get a bundle."""
_PLACE = re.compile(r"[\w./-]+\.(?:rs|cc|cpp|cxx|c|h|hpp|py|td|ts):\d+")
_CHECKED = (
    f"Found by running the cases of [onnx-conformance]({REPOSITORY}), which are derived from the text of the ONNX "
    "specification. The expected result follows from the quoted sentence by a computation in numpy, not from another "
    "runtime. The script below needs only onnx, numpy and the runtime. It was run in a fresh environment"
)


def gravest(findings: Findings, most: int = MOST) -> list[list[Finding]]:
    """Return the gravest causes without a report, each with its findings, the most severe one first."""
    groups = by_cause(item for item in findings.counted if item.history.state != FIXED)
    new = [group for group in groups if not any(item.history.reported or item.history.answered for item in group)]
    return new[:most]


def name_of(number: int, group: Sequence[Finding]) -> str:
    """Return the file name of a bundle: its place by gravity, and the id of its finding."""
    return f"{number:02}-{group[0].id}.md"


def markdown(group: Sequence[Finding], scripts: Mapping[str, str]) -> str:
    """Return the bundle of one cause.

    Args:
        group: its findings, the most severe one first.
        scripts: the text of the script of each finding, by id.
    """
    return "\n\n".join(_parts(group, scripts)) + "\n"


def _parts(group: Sequence[Finding], scripts: Mapping[str, str]) -> Iterator[str]:
    first, history, example = group[0], group[0].history, group[0].example
    yield f"# {prose(first.title)}"
    if first.cases.clause:
        link = f" ([text of the operator]({first.link}))" if first.link else ""
        yield f"> {prose(first.cases.clause)}\n>\n> {prose(first.identity.operator)}{link}"
    yield f"Runtime: {code(f'{history.runtime} {history.version}')}. {prose(first.severity.sentence().capitalize())}."
    yield fenced(example.model, "")
    rows = [(f"input {name}", text) for name, text in example.inputs.items()]
    rows += [(f"expected {name}", text) for name, text in example.expected.items()]
    rows += [(f"actual {name}", text) for name, text in example.given.items()]
    rows += [("message", example.message)] if example.message else []
    yield "\n".join(["| | |", "|---|---|", *(f"| {prose(name)} | {code(text, 400)} |" for name, text in rows)])
    yield from _context(group)
    confirmed = history.confirmed
    when = f" on {confirmed['date']}, with exit status {confirmed.get('exit')}" if confirmed.get("date") else ""
    yield f"{_CHECKED}{when}."
    if scripts.get(first.id):
        yield f"## Script\n\n{fenced(scripts[first.id], 'python')}"


def _context(group: Sequence[Finding]) -> Iterator[str]:
    """Yield the context: other runtimes and versions, the place in the source, and the other findings."""
    first = group[0]
    since = first.history.since
    if since.get("failing") or since.get("passing"):
        failing, passing = (", ".join(since.get(name, ())) or "none" for name in ("failing", "passing"))
        yield f"Versions with the fault: {code(failing)}; without it: {code(passing)}."
    if first.example.others:
        rows = [
            f"| {prose(name)} | {prose(item['verdict'])} | {code(item['given'], 200)} |"
            for item in first.example.others
            if (name := f"{item['backend']} {item['version']}")
        ]
        yield "\n".join(["| other runtime | verdict | answer |", "|---|---|---|", *rows])
    places = sorted({place for item in group for place in _PLACE.findall(item.example.message)})
    if places:
        yield f"Suspected place in the source: {', '.join(map(code, places[:3]))} (named by the runtime itself)."
    if len(group) > 1:
        others = "\n".join(f"- {prose(line(item.title, 200))}" for item in group[1:])
        yield f"Probably of the same cause:\n\n{others}"
