"""The cases that a page of several runs describes, from the suite that the runs are of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.errors import HarnessError
from harness.report.html import blocks
from harness.report.html.verdict_styles import ABSENT, NUMBER
from harness.suites.lookup import open_suite
from harness.suites.selection import Selection
from harness.verdict import Verdict, split_operator

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from harness.case.case import Case
    from harness.report.html.table import Table
    from harness.results.stream import Run
    from harness.suites.suite import Suite

MOST_CASES = 60_000
"""Up to so many cases, those that pass everywhere have their models on the page too."""


@dataclass(frozen=True)
class Described:
    """How the cases of a page are to be had: their plans are seen where they are made anyway, or they are read.

    Attributes:
        watchers: by operator, who describes its cases; of a suite that makes them.
        cases: of a suite that reads all that it has.
        missing: why there are none, for a person; empty where there are.
    """

    watchers: Mapping[str, blocks.Watcher] = field(default_factory=dict)
    cases: Iterable[Case] = ()
    missing: str = ""


def described(runs: Sequence[Run], table: Table) -> Described:
    """Return how the cases are to be had that the page of some runs describes, of which it has the table."""
    source, missing = _source(runs)
    if source is None:
        return Described(missing=missing)
    wanted = _wanted(table)
    if source.makes:
        return Described(_watchers(wanted))
    return Described(cases=(case for case in source.cases(Selection(ids=frozenset(wanted))) if case.id in wanted))


def _source(runs: Sequence[Run]) -> tuple[Suite | None, str]:
    """Return the suite that the runs are of, or why there is none at hand."""
    names = {str(run.header["suite"].get("name")) for run in runs}
    if len(names) > 1:
        return None, f"The runs are of different suites ({', '.join(sorted(names))}), so no models are shown."
    try:
        found = open_suite(names.pop())
        now = found.digest()
    except HarnessError as error:
        return None, f"The models and inputs of the cases are not at hand: {error}."
    then = {str(run.header["suite"].get("digest")) for run in runs}
    if then != {now}:
        return None, (
            f"The models and inputs of the cases are not at hand: suite {found.name} is {now} here and was "
            f"{', '.join(sorted(then))} in the run. Make the report with the version that ran, or run anew."
        )
    return found, ""


def _wanted(table: Table) -> Mapping[str, str]:
    """Return the ids of the cases to describe, with their operators: all, or of very many those not passed by all."""
    operators = list(table.operators)
    passed = bytes(NUMBER[Verdict.PASS] == number or number == ABSENT for number in range(256))
    everywhere = [column.verdicts.translate(passed) for column in table.columns]
    few = len(table) <= MOST_CASES
    return {
        case_id: operators[table.operator[case]]
        for case, case_id in enumerate(table.cases)
        if few or not all(column[case] for column in everywhere)
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
