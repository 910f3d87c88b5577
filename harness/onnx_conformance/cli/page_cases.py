# SPDX-License-Identifier: Apache-2.0
"""The cases that an HTML page of several runs describes, from the suite of the runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import Verdict, split_operator
from onnx_conformance.report.html import blocks
from onnx_conformance.report.html.verdict_styles import ABSENT, NUMBER
from onnx_conformance.suites.lookup import open_suite
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onnx_conformance.case.case import Case
    from onnx_conformance.report.html.table import Table
    from onnx_conformance.results.stream import Run
    from onnx_conformance.suites.suite import Suite

MOST_CASES = 60_000
"""With more cases than this, the page describes only those that at least one backend does not pass."""


@dataclass(frozen=True)
class PageCases:
    """The source of the descriptions of a page's cases: watchers of generated plans, or cases that are read.

    Attributes:
        watchers: by operator, the watcher that describes its cases, for a suite that generates them.
        cases: the cases of a suite that reads them from files.
        missing: why there are no cases, as a sentence; empty: there are cases.
    """

    watchers: Mapping[str, blocks.Watcher] = field(default_factory=dict)
    cases: Iterable[Case] = ()
    missing: str = ""


def of_page(runs: Sequence[Run], table: Table) -> PageCases:
    """Return the source of the cases for the page of some runs with this table."""
    suite, missing = suite_of_runs(runs)
    if suite is None:
        return PageCases(missing=missing)
    wanted = _wanted(table)
    if suite.planned:
        return PageCases(_watchers(wanted))
    return PageCases(cases=(case for case in suite.cases(Selection(ids=frozenset(wanted))) if case.id in wanted))


def suite_of_runs(runs: Sequence[Run]) -> tuple[Suite | None, str]:
    """Return the suite of the runs, or the reason why it is not available."""
    names = {str(run.header["suite"].get("name")) for run in runs}
    if len(names) > 1:
        return None, f"The runs have different suites ({', '.join(sorted(names))}), so no models are shown."
    try:
        suite = open_suite(names.pop())
        now = suite.digest()
    except HarnessError as error:
        return None, f"The models and inputs of the cases are not available: {error}."
    then = {str(run.header["suite"].get("digest")) for run in runs}
    if then != {now}:
        return None, (
            f"The models and inputs of the cases are not available: suite {suite.name} has digest {now} here and had "
            f"{', '.join(sorted(then))} in the run. Use the version of the run for the report, or run again."
        )
    return suite, ""


def _wanted(table: Table) -> Mapping[str, str]:
    """Return the ids of the cases to describe, with their operators: all, or those that some backend does not pass."""
    operators = list(table.operators)
    passed = bytes(NUMBER[Verdict.PASS] == number or number == ABSENT for number in range(256))
    everywhere = [column.verdicts.translate(passed) for column in table.columns]
    all_of_them = len(table) <= MOST_CASES
    return {
        case_id: operators[table.operator[case]]
        for case, case_id in enumerate(table.cases)
        if all_of_them or not all(column[case] for column in everywhere)
    }


def _watchers(wanted: Mapping[str, str]) -> dict[str, blocks.Watcher]:
    ids: dict[str, list[str]] = {}
    versions: dict[str, set[int]] = {}
    for case_id, operator in wanted.items():
        name, version = split_operator(operator)
        if version is not None:
            ids.setdefault(name, []).append(case_id)
            versions.setdefault(name, set()).add(version)
    return {name: blocks.Watcher(frozenset(of_name), frozenset(versions[name])) for name, of_name in ids.items()}
