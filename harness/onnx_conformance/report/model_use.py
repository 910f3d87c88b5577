# SPDX-License-Identifier: Apache-2.0
"""The verdicts on the calls of a user's model on a runtime, as lines on a terminal of 80 columns."""

from __future__ import annotations

import textwrap
from collections import Counter
from typing import TYPE_CHECKING

from tabulate import tabulate

from onnx_conformance.analysis.support import WORST, Standing
from onnx_conformance.base.printing import clipped, quoted
from onnx_conformance.base.verdict import line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from onnx_conformance.findings.model_use import Concern, JudgedCalls

WIDTH = 80
MOST_FINDINGS = 5
"""Maximum number of findings in one list."""
ROOM = {"operator": 34, "types": 13, "model": 40}


def lines(model: str, runtime: str, calls: Sequence[JudgedCalls], folder: Path | None) -> Iterator[str]:
    """Yield a summary, a table of the calls, the reasons of those that do not pass, and the excluded findings.

    Args:
        model: the name of the model.
        runtime: name and version of the runtime.
        calls: the calls of the model, the worst first.
        folder: of the findings; None: no findings.
    """
    nodes = Counter[Standing]()
    for item in calls:
        nodes[item.standing] += item.nodes
    total = sum(nodes.values())
    parts = ", ".join(f"{nodes[standing]} {standing}" for standing in WORST if nodes[standing])
    yield from _wrapped(
        f"{clipped(line(model, 200), ROOM['model'])} on {runtime}: {total} {'node' if total == 1 else 'nodes'}: {parts}"
    )
    yield ""
    counts: dict[tuple[str, str, str], int] = {}
    for item in calls:
        key = (
            str(item.standing),
            clipped(_named(item), ROOM["operator"]),
            clipped(", ".join(item.types), ROOM["types"]),
        )
        counts[key] = counts.get(key, 0) + item.nodes
    rows = [[standing, name, nodes, types] for (standing, name, types), nodes in counts.items()]
    yield tabulate(rows, ["verdict", "operator version", "nodes", "types"], tablefmt="simple", disable_numparse=True)
    for item in calls:
        if item.standing is not Standing.PASSES and (item.judged.reasons or item.concerns):
            yield ""
            yield from _why(item, folder)
    yield from _excluded(calls)


def _named(item: JudgedCalls) -> str:
    return line(f"{item.operator}/{item.since}" if item.since else item.operator, 80)


def _why(item: JudgedCalls, folder: Path | None) -> Iterator[str]:
    """Yield a call, and the reasons and findings that explain its verdict."""
    count = f"{item.nodes} {'node' if item.nodes == 1 else 'nodes'}"
    called = "; ".join(filter(None, (", ".join(item.types), ", ".join(item.attributes))))
    yield from _wrapped(f"{item.standing}: {_named(item)}, {count}{f' ({called})' if called else ''}", "", "  ")
    for reason in item.judged.reasons:
        yield from _wrapped(reason, "  ")
    for concern in item.concerns[:MOST_FINDINGS]:
        yield from _finding(concern, folder)
    if len(item.concerns) > MOST_FINDINGS:
        yield f"  and {len(item.concerns) - MOST_FINDINGS} more findings"


def _finding(concern: Concern, folder: Path | None) -> Iterator[str]:
    found = concern.finding
    may = "" if concern.meets else " may concern it"
    yield from _wrapped(f"finding {found.id}{may}: {line(found.title, 160)}", "  ", "    ")
    if concern.meets:
        yield from _wrapped(f"the model meets its condition: {line(' and '.join(found.cases.conditions), 200)}", "    ")
        if found.cases.clause:
            yield from _wrapped(f"text {quoted(line(found.cases.clause, 200))}", "    ")
    elif found.cases.conditions:
        yield from _wrapped(f"if {line(' and '.join(found.cases.conditions), 200)}", "    ")
    if folder is not None and (folder / found.script).is_file():
        yield f"    {folder / found.script}"


def _excluded(calls: Iterable[JudgedCalls]) -> Iterator[str]:
    """Yield the findings about operators of the model whose conditions it does not meet."""
    excluded = {concern.finding.id: concern for item in calls for concern in item.excluded}
    for item in calls:
        for concern in item.concerns:
            excluded.pop(concern.finding.id, None)
    if not excluded:
        return
    yield ""
    one = len(excluded) == 1
    yield from _wrapped(
        f"{len(excluded)} {'finding' if one else 'findings'} about these operator versions and types "
        f"{'does' if one else 'do'} not concern this model:"
    )
    for concern in [*excluded.values()][:MOST_FINDINGS]:
        yield from _wrapped(f"{concern.finding.id}: {concern.why}", "  ", "    ")
    if len(excluded) > MOST_FINDINGS:
        yield f"  and {len(excluded) - MOST_FINDINGS} more"


def _wrapped(text: str, indent: str = "", more: str | None = None) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent if more is None else more, break_on_hyphens=False
    )
