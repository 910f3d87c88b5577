# SPDX-License-Identifier: Apache-2.0
"""`show` of an operator: its versions, the sentences that cases cite, and how many cases there are."""

from __future__ import annotations

import textwrap
from collections import Counter
from typing import TYPE_CHECKING

from tabulate import tabulate

from onnx_conformance.case.case import PLAIN, Outcome
from onnx_conformance.specification.links import page

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from onnx_conformance.declare import Clause, Op
    from onnx_conformance.specification.schema import OperatorVersion
    from onnx_conformance.suites.selection import Listed

NAMES_SHOWN = 12


def lines(op: Op, versions: Sequence[OperatorVersion], cases: Iterable[Listed], path: str) -> Iterator[str]:
    """Yield the description of an operator.

    Args:
        op: the operator.
        versions: the versions to show.
        cases: the cases of these versions.
        path: the file that declares the operator.
    """
    counts: dict[str, Counter[str]] = {}
    names: dict[str, None] = {}
    for case in cases:
        counts.setdefault(case.operator, Counter())[case.outcome] += 1
        if case.form == PLAIN:
            names.setdefault(case.id.removeprefix(f"{case.operator}/").partition("/")[0])
    yield f"{op}  {page(f'{op}/1')}"
    yield f"  declared in {path}"
    yield f"  compared: {op.compare.reason}"
    yield ""
    outcomes = [outcome for outcome in map(str, Outcome) if any(count[outcome] for count in counts.values())]
    rows = [
        [str(version), _opsets(version), _counted(counts, version), *_row(counts, version, outcomes)]
        for version in versions
    ]
    yield tabulate(rows, ["version", "opsets", "cases", *outcomes], tablefmt="simple", disable_numparse=True)
    yield ""
    yield "sentences of the specification that its cases cite"
    for clause in op.clauses:
        if any(clause.in_force(version.since) for version in versions):
            yield from _paragraph(f"{_range(clause, op)}«{clause.text}»", "  ")
            if clause.note:
                yield from _paragraph(clause.note, "      ")
    yield ""
    some = ", ".join([*names][:NAMES_SHOWN]) + (", ..." if len(names) > NAMES_SHOWN else "")
    yield from _paragraph(f"{len(names)} declared cases: {some}", "")
    if versions and names:
        newest = f"{versions[-1].name}/{versions[-1].since}"
        yield f"`onnx-conformance list --op {newest}` lists all ids; `show ID` shows one case."


def _opsets(version: OperatorVersion) -> str:
    if version.deprecated:
        return f"{version.since}, deprecated"
    return f"{version.since} to {version.top}" if version.top > version.since else str(version.since)


def _counted(counts: dict[str, Counter[str]], version: OperatorVersion) -> str:
    return str(counts.get(str(version), Counter()).total())


def _row(counts: dict[str, Counter[str]], version: OperatorVersion, outcomes: Sequence[str]) -> list[str]:
    return [str(counts.get(str(version), Counter())[outcome] or "") for outcome in outcomes]


def _range(clause: Clause, op: Op) -> str:
    """Return the versions that have a sentence, in parentheses; empty if all have it."""
    having = [since for since in op.versions if clause.in_force(since)]
    return "" if len(having) == len(op.versions) else f"({', '.join(map(str, having))}) "


def _paragraph(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, 110, initial_indent=indent, subsequent_indent=f"{indent}  ", break_on_hyphens=False)
