"""The cases that a page of several runs describes, from the suite that the runs are of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.errors import HarnessError
from harness.suites.lookup import open_suite
from harness.suites.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from harness.case.case import Case
    from harness.results.stream import Run
    from harness.suites.suite import Suite

MOST_CASES = 60_000
"""Up to so many cases, those that pass everywhere have their models on the page too."""


def described(runs: Sequence[Run]) -> tuple[Iterable[Case], str]:
    """Return the cases that a page of some runs is to describe, or none and why."""
    source, missing = _source(runs)
    return (_cases(runs, source) if source else ()), missing


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


def _cases(runs: Iterable[Run], source: Suite) -> Iterator[Case]:
    """Yield the cases that the page is to describe: all, or of very many those that did not pass everywhere."""
    every: set[str] = set()
    others: set[str] = set()
    for run in runs:
        for result in run.results():
            every.add(result.case)
            if result.verdict != "pass":
                others.add(result.case)
    wanted = every if len(every) <= MOST_CASES else others
    yield from (case for case in source.cases(Selection(ids=frozenset(wanted))) if case.id in wanted)
