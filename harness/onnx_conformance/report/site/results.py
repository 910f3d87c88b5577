# SPDX-License-Identifier: Apache-2.0
"""The results as data for the pages: runtimes, operators with versions and families, and common cases."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.base import under_test
from onnx_conformance.base.suite_names import MAIN
from onnx_conformance.base.under_test import Subject
from onnx_conformance.base.verdict import line, natural, split_operator
from onnx_conformance.report import options_table, provenance
from onnx_conformance.report.backend_kinds import KINDS, BackendKind
from onnx_conformance.report.html.table import Table
from onnx_conformance.report.html.verdict_styles import ORDER
from onnx_conformance.report.provenance import Shown
from onnx_conformance.report.site import runtimes, scores
from onnx_conformance.results.stream import completeness
from onnx_conformance.specification import schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onnx_conformance.base.verdict import Result
    from onnx_conformance.findings.finding import Finding
    from onnx_conformance.report.site.runtimes import Bools, Bytes, Runtime, Tested
    from onnx_conformance.report.site.scores import Numbers, Score
    from onnx_conformance.results.stream import Run

OTHER = "other"
"""The family of operators that ONNX does not define."""
FAILED = bytes(number < len(ORDER) and ORDER[number].failed for number in range(256))
"""By number of a verdict, whether it is a failure."""


@dataclass(frozen=True)
class Version:
    """An operator version.

    Attributes:
        number: its number in the table of results.
        since: the opset that introduced it; 0: it has no number.
        until: the last opset that it applies to; 0: there is no later version.
        newest: whether no later version has results.
    """

    number: int
    since: int
    until: int
    newest: bool


@dataclass(frozen=True)
class Operator:
    """An operator, without a version.

    Attributes:
        name: such as ai.onnx/Split.
        slug: for the names of its files; unique.
        family: the folder of onnx/defs that defines it.
        versions: newest first.
        cases: numbers of its cases in the table, newest version first.
    """

    name: str
    slug: str
    family: str
    versions: tuple[Version, ...]
    cases: tuple[int, ...] = field(repr=False)

    @property
    def short(self) -> str:
        """Its name without ONNX's default domain."""
        return self.name.removeprefix("ai.onnx/")


@dataclass(frozen=True)
class Tool:
    """A tool that is not a runtime.

    Attributes:
        name: name of its adapter.
        slug: for the name of its file; unique.
        subject: its kind.
        options: the options that were run; a single one if it has no options.
        heads: heads of their columns, if there are several.
        by: meaning of these columns: target opset, or option.
    """

    name: str
    slug: str
    subject: Subject
    options: tuple[Runtime, ...]
    heads: tuple[str, ...] = ()
    by: str = ""

    @property
    def kind(self) -> BackendKind:
        """The properties of its table."""
        return KINDS[self.subject]

    @property
    def label(self) -> str:
        """Its name and version."""
        return " ".join(filter(None, (self.name, self.options[-1].main.version)))

    def page(self, option: Runtime) -> str:
        """Return the page of an option, with the fragment."""
        return f"tool/{self.slug}.html" + (f"#{option.slug}" if len(self.options) > 1 else "")


class Results:
    """The results of the suite that runtimes are ranked by, and the results of other suites.

    Attributes:
        table: results of the main suite.
        suite: name of the main suite.
        runs: runs of the main suite, in the order of the arguments.
        apart: a table for each other suite, by its name.
        runtimes: ranked runtimes, best first, then those for comparison, then the others by name.
        tools: by kind, then by name; several options of a tool are one tool.
        operators: by name.
        families: in alphabetical order.
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        """Read the results of each run once.

        Raises:
            ResultsError: a file is damaged.
        """
        names = [line(run.header["suite"].get("name", ""), 80) for run in runs]
        self.suite = MAIN if MAIN in names else max(names, key=names.count)
        self.runs = [run for run, name in zip(runs, names, strict=True) if name == self.suite]
        self.table = Table(self.runs)
        self.apart = {
            name: Table([run for run, other in zip(runs, names, strict=True) if other == name])
            for name in dict.fromkeys(names)
            if name != self.suite
        }
        tested = runtimes.of_table(self.table)
        self.runtimes = tuple(item for item in tested if item.subject is Subject.RUNTIME)
        self.tools = _tools(self.table, [item for item in tested if item.subject is not Subject.RUNTIME])
        rest = [item for item in self.runtimes if not item.ranked and not item.compared]
        self.runtimes = (*self.ranked, *self.compared, *rest)
        self.operators = _operators(self.table)
        self.families = tuple(sorted({operator.family for operator in self.operators}))
        self._by_stem = {
            under_test.unversioned(self.table.columns[item.main.place].backend): item.name for item in self.tested
        }

    @cached_property
    def ranked(self) -> tuple[Runtime, ...]:
        """The runtimes with complete runs, best on the common cases first."""
        return self._by_rank([runtime for runtime in self.runtimes if runtime.ranked])

    @cached_property
    def compared(self) -> tuple[Runtime, ...]:
        """The evaluators of the specification with complete runs, which are not ranked."""
        return self._by_rank([runtime for runtime in self.runtimes if runtime.compared])

    def _by_rank(self, whole: Sequence[Runtime]) -> tuple[Runtime, ...]:
        rows = self._rows(whole)
        chosen = runtimes.common(rows)
        counts = scores.counted(np.zeros(len(self.table), np.int64), 1, rows, chosen)
        of = {runtime.name: scores.score(counts[0, place]) for place, runtime in enumerate(whole)}
        return tuple(sorted(whole, key=lambda runtime: (of[runtime.name].rank, runtime.name.lower())))

    @property
    def comparable(self) -> tuple[Runtime, ...]:
        """The ranked runtimes, then those for comparison."""
        return (*self.ranked, *self.compared)

    @cached_property
    def comparable_rows(self) -> Bytes:
        """The verdicts of the ranked runtimes and of those for comparison."""
        return self._rows(self.comparable)

    @cached_property
    def common(self) -> Bools:
        """Whether all ranked runtimes have a result, by case; without any, whether those for comparison have one."""
        return runtimes.common(self._rows(self.ranked or self.compared))

    @property
    def tested(self) -> tuple[Runtime, ...]:
        """The runtimes, then every option of every tool."""
        return (*self.runtimes, *(option for tool in self.tools for option in tool.options))

    @property
    def pages(self) -> dict[str, str]:
        """The page and fragment of each runtime and each option of a tool, by name."""
        of = {runtime.name: f"runtime/{runtime.slug}.html" for runtime in self.runtimes}
        for tool in self.tools:
            of |= {option.name: tool.page(option) for option in tool.options}
        return of

    @cached_property
    def main_rows(self) -> Bytes:
        """The verdicts of all runtimes, in their newest version."""
        return self._rows(self.runtimes)

    @cached_property
    def tested_rows(self) -> Bytes:
        """The verdicts of all runtimes and tools, in their newest version."""
        return self._rows(self.tested)

    @cached_property
    def version_numbers(self) -> Numbers:
        """By case, the index of its operator version among those of all operators, in order."""
        return self._by_case(lambda place, _operator, _version: place)

    def families_of(self, *, newest: bool) -> Numbers:
        """Return by case the number of its family; -1 for older versions if `newest` is set."""
        number = {family: place for place, family in enumerate(self.families)}
        return self._by_case(
            lambda _place, operator, version: number[operator.family] if version.newest or not newest else -1
        )

    def operators_of(self, *, newest: bool) -> Numbers:
        """Return by case the number of its operator; -1 as in `families_of`."""
        number = {operator.name: place for place, operator in enumerate(self.operators)}
        return self._by_case(
            lambda _place, operator, version: number[operator.name] if version.newest or not newest else -1
        )

    def totals(self) -> list[Score]:
        """Return the score of each of `comparable` on the common cases."""
        counts = scores.counted(np.zeros(len(self.table), np.int64), 1, self.comparable_rows, self.common)
        return [scores.score(counts[0, place]) for place in range(len(self.comparable))]

    def owner(self, finding: Finding) -> str | None:
        """Return the name of the runtime or tool of a finding; None: it has no results here."""
        return self._by_stem.get(under_test.unversioned(finding.identity.backend))

    def failing(self) -> Mapping[str, str]:
        """Return the ids of cases that fail in the newest version of some runtime or tool, with operator versions."""
        failed = np.frombuffer(FAILED, np.uint8)
        fails = [any(column) for column in failed[self.tested_rows].T.tolist()]
        names = list(self.table.operators)
        return {
            case: names[self.table.operator[number]] for number, case in enumerate(self.table.cases) if fails[number]
        }

    @property
    def covers(self) -> str:
        """How much of ONNX the suite covers, from the newest run that contains it; or empty."""
        newest = sorted(self.runs, key=lambda run: line(run.header.get("started", "")), reverse=True)
        return next(filter(None, (completeness(run.header) for run in newest)), "")

    def origin(self, runtime: Runtime, tested: Tested | None = None) -> Shown:
        """Return the origin of the results of a version of a runtime; without `tested`, of the newest one."""
        of = tested or runtime.main
        return Shown(self.table.columns[of.place].backend, of.version, self.suite, of.digest)

    @property
    def shown(self) -> list[Shown]:
        """The origins of the results that are shown together: those of the newest versions."""
        return [self.origin(item) for item in self.tested]

    def shown_results(self) -> Iterator[Result]:
        """Yield the results of the newest version of each runtime, from the files."""
        of_run: dict[int, set[str]] = {}
        for runtime in self.runtimes:
            column = self.table.columns[runtime.main.place]
            of_run.setdefault(column.run, set()).add(column.backend)
        for number, backends in of_run.items():
            yield from (result for result in self.table.runs[number].results() if result.backend in backends)

    @cached_property
    def differences(self) -> list[str]:
        """Sentences on results that are shown together, but are of several versions of the suite or of one runtime."""
        versions = [(item.runtime, item.main.version, item.name) for item in self.runtimes if item.runtime]
        return [*provenance.of_suites(self.shown), *provenance.of_versions(versions)]

    def differences_in_history(self, *runtimes: Runtime) -> list[str]:
        """Return sentences on runtimes whose versions ran different versions of the suite."""
        return [
            sentence
            for runtime in runtimes
            for sentence in provenance.of_suites(self.origin(runtime, tested) for tested in runtime.history)
        ]

    @cached_property
    def other_differences(self) -> list[str]:
        """Sentences on results of other suites that are of several versions of the suite or of one backend."""
        others = [
            Shown(
                column.backend,
                line(column.hello.get("version", ""), 40),
                name,
                line(table.runs[column.run].header["suite"].get("digest", ""), 80),
            )
            for name, table in self.apart.items()
            for column in table.columns
        ]
        backends = {under_test.unversioned(item.backend) for item in others}
        newest = [item for item in self.shown if under_test.unversioned(item.backend) in backends]
        versions = [
            (under_test.unversioned(item.backend), item.version, f"suite {item.suite}") for item in [*newest, *others]
        ]
        return [*provenance.of_suites(others), *provenance.of_versions(versions)]

    def _rows(self, of: Sequence[Runtime]) -> Bytes:
        return runtimes.verdicts(self.table, [runtime.main.place for runtime in of])

    def _by_case(self, number: Any) -> Numbers:  # noqa: ANN401 - a function of a place, an operator and a version
        by_version = np.full(len(self.table.operators), -1, np.int64)
        place = 0
        for operator in self.operators:
            for version in operator.versions:
                by_version[version.number] = number(place, operator, version)
                place += 1
        cases = np.asarray(self.table.operator, np.int64)
        return by_version[cases] if len(cases) else cases


def _tools(table: Table, options: Sequence[Runtime]) -> tuple[Tool, ...]:
    groups: dict[str, list[Runtime]] = {}
    for option in sorted(options, key=lambda option: option.main.place):
        groups.setdefault(under_test.stem(table.columns[option.main.place].backend), []).append(option)
    slugs = runtimes.slugs(groups)
    tools = []
    for name, group in groups.items():
        subject = group[-1].subject
        backends = [table.columns[option.main.place].backend for option in group]
        found = options_table.tables((backend, {"subject": subject}) for backend in backends)
        columns = list(found[0].columns) if found else []
        known = {place for _, place in columns}
        columns += [(option.name, place) for place, option in enumerate(group) if place not in known]
        tools.append(
            Tool(
                line(name, 80) or "?",
                slugs[name],
                subject,
                tuple(group[place] for _, place in columns),
                tuple(head for head, _ in columns) if len(columns) > 1 else (),
                found[0].by if found else "option",
            )
        )
    order = list(KINDS)
    return tuple(sorted(tools, key=lambda tool: (order.index(tool.subject), tool.name.lower())))


def _operators(table: Table) -> tuple[Operator, ...]:
    """Return the operators of a table by name, ONNX's default domain first."""
    names = list(table.operators)
    groups: dict[str, list[int]] = {}
    for number, name in enumerate(names):
        groups.setdefault(split_operator(name)[0], []).append(number)
    cases: dict[int, list[int]] = {}
    for case, number in enumerate(table.operator):
        cases.setdefault(number, []).append(case)
    slugs = runtimes.slugs(groups)
    operators = []
    for name in sorted(groups, key=lambda name: (not name.startswith("ai.onnx/"), name.lower(), name)):
        numbers = sorted(groups[name], key=lambda number: natural(names[number]), reverse=True)
        sinces = [split_operator(names[number])[1] or 0 for number in numbers]
        versions = tuple(
            Version(number, since, _until(name, since, sinces), newest=place == 0)
            for place, (number, since) in enumerate(zip(numbers, sinces, strict=True))
        )
        operators.append(
            Operator(
                name or "?",
                slugs[name],
                family(name),
                versions,
                tuple(case for number in numbers for case in cases.get(number, ())),
            )
        )
    return tuple(operators)


def _until(name: str, since: int, sinces: Sequence[int]) -> int:
    """Return the last opset that a version applies to; 0: there is no later version."""
    domain, _, rest = name.partition("/")
    known = [item.since for item in schema.versions(domain, rest)] if schema.known(domain, rest) else []
    later = [other for other in (*known, *sinces) if other > since]
    return min(later) - 1 if later else 0


def family(name: str) -> str:
    """Return the folder of onnx/defs that defines an operator, such as ai.onnx/Split; `other` if ONNX does not."""
    domain, _, rest = name.partition("/")
    return schema.folder(schema.versions(domain, rest)[-1]) if schema.known(domain, rest) else OTHER
