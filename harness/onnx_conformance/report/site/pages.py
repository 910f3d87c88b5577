# SPDX-License-Identifier: Apache-2.0
"""The HTML of a site's pages: templates filled with scores, with a policy that allows only the site's script."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from onnx_conformance.analysis.open_points import Kind
from onnx_conformance.base import under_test
from onnx_conformance.base.package import REPOSITORY, VERSION
from onnx_conformance.base.verdict import line, split_operator
from onnx_conformance.findings.finding import TEN, by_cause
from onnx_conformance.report import bounds as bounds_text
from onnx_conformance.report import open_points as open_points_text
from onnx_conformance.report import options_table, provenance
from onnx_conformance.report.backend_kinds import KINDS
from onnx_conformance.report.html import accuracy_page
from onnx_conformance.report.html.page import profiles, scopes
from onnx_conformance.report.html.table import versioned
from onnx_conformance.report.html.verdict_styles import ABSENT, ORDER, STYLES
from onnx_conformance.report.site import data_files, history, opt_outs, runtimes, scores
from onnx_conformance.report.site.finding_data import FINDING_KINDS
from onnx_conformance.report.site.scores import GRADES, Score
from onnx_conformance.results.sampling import in_words
from onnx_conformance.results.scope import Scope
from onnx_conformance.results.summary import FEW_CASES
from onnx_conformance.specification import links, meanings, schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from onnx_conformance.analysis.bounds import Bound
    from onnx_conformance.analysis.open_points import OpenPoint
    from onnx_conformance.findings.finding import Finding
    from onnx_conformance.report.backend_kinds import BackendKind
    from onnx_conformance.report.html.table import Table
    from onnx_conformance.report.html.verdict_styles import VerdictStyle
    from onnx_conformance.report.site.results import Operator, Results, Tool
    from onnx_conformance.report.site.runtimes import Runtime
    from onnx_conformance.verification.accuracy.measured import Accuracy

POLICY = (
    "default-src 'none'; style-src 'self' file:; script-src 'self' file:; img-src data:; base-uri 'none'; "
    "form-action 'none'; require-trusted-types-for 'script'; trusted-types data-files"
)
"""`file:` is for a site that is opened from disk, because browsers interpret 'self' differently there."""
SHARED_SCRIPTS = ("unpack", "dom", "bars", "repro", "case_page", "theme", "frames")
"""Script files of the one-page report that the site uses, in order; SCRIPTS follow them."""
SCRIPTS = ("data", "search", "front", "model_file", "operator", "case", "findings", "main")
SHARED = "onnx_conformance.report.html"
LEGEND = (
    ("pass", "pass"), ("wrong", "wrong answer"), ("refused", "refused"), ("accepted", "accepted invalid"),
    ("crash", "crash"), ("timeout", "timeout"), ("flaky", "flaky"), ("unsupported", "unsupported"),
)  # fmt: skip
"""Families of verdicts in a bar of the specified cases, and their words."""
OPERATORS_IN_ROW = 6
"""Maximum number of operators in the row of a family."""
MOST_OPSETS = 200
"""Maximum number of opsets in the filter, whatever a results file contains."""
MOST_CONTESTED = 40
"""Maximum number of points in which runtimes return different values, on the page of open points."""
MOST_FAILING = 200
"""Maximum number of listed cases of another suite."""


@dataclass(frozen=True)
class More:
    """The data of all pages except those of results and findings.

    Attributes:
        points: the points that the specification leaves open, with the answers of the results.
        bounds: the allowed errors, with the errors of the results.
        accuracy: the measured accuracy of runtimes.
    """

    points: Sequence[OpenPoint] = ()
    bounds: Sequence[Bound] = ()
    accuracy: Sequence[Accuracy] = ()


@dataclass(frozen=True)
class Site:
    """The data that every page needs.

    Attributes:
        results: results of the main suite, and of other suites.
        findings: most severe first; None: there is no folder of findings.
        findings_differ: by backend, how its findings differ from its results in version or suite.
        more: the data of other pages.
        points: the points that the specification leaves open, by operator.
        missing: why models are not shown, as a sentence; empty: they are shown.
        stamp: digest of the data, which prevents a browser from showing old data on a new page.
    """

    results: Results
    findings: Sequence[Finding] | None
    missing: str
    stamp: str
    findings_differ: Mapping[str, str] = field(default_factory=dict)
    more: More = field(default_factory=More)
    points: Mapping[str, Sequence[OpenPoint]] = field(init=False, default_factory=dict)
    environment: Environment = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Read the templates, and group the open points by operator."""
        object.__setattr__(self, "environment", _environment())
        known = {operator.name for operator in self.results.operators}
        points: dict[str, list[OpenPoint]] = {}
        for point in self.more.points:
            if point.operator in known:
                points.setdefault(point.operator, []).append(point)
        object.__setattr__(self, "points", points)

    def notes(self, backends: Iterable[str] | None = None) -> list[str]:
        """Return sentences on findings of another version or suite than the results: of some backends, or of all."""
        return [] if self.findings is None else provenance.about_findings(self.findings_differ, backends)

    def render(self, template: str, page: str, depth: int = 0, **values: Any) -> str:  # noqa: ANN401 - a template's
        """Return a page.

        Args:
            template: name of the template.
            page: name of the page for the script.
            depth: number of folders above the page.
            values: variables of the template.
        """
        return self.environment.get_template(f"{template}.html.jinja").render(
            policy=POLICY,
            root="../" * depth,
            page=page,
            stamp=self.stamp,
            site=self,
            version=VERSION,
            repository=REPOSITORY,
            **values,
        )


@dataclass(frozen=True)
class Ranked:
    """A row of the ranking.

    Attributes:
        runtime: the runtime.
        score: score on the common cases, or on its own cases if it cannot be compared.
        sentence: its strengths and weaknesses.
        kinds: number of counted findings by kind.
    """

    runtime: Runtime
    score: Score
    sentence: str
    kinds: tuple[tuple[str, int], ...]


def style() -> str:
    """Return the style of all pages: that of the one-page report, then the additions of the site."""
    return _text(SHARED, "style.css") + _text(__package__ or "", "style.css")


def script() -> str:
    """Return the script of all pages."""
    parts = [_text(SHARED, f"script/{name}.js") for name in SHARED_SCRIPTS]
    parts += [_text(__package__ or "", f"script/{name}.js") for name in SCRIPTS]
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "\n})();\n"


def front(site: Site) -> str:
    """Return the front page: the ranking, runtimes for comparison, the heat map, tools, and other runtimes."""
    results = site.results
    whole = scores.counted(
        results.families_of(newest=False), len(results.families), results.comparable_rows, results.common
    )
    newest = scores.counted(
        results.families_of(newest=True), len(results.families), results.comparable_rows, results.common
    )
    comparable = [
        Ranked(runtime, total, _good_for(results, whole[:, place]), kinds(site, runtime))
        for place, (runtime, total) in enumerate(zip(results.comparable, results.totals(), strict=True))
    ]
    heat = [
        (family, _count(results, family), [scores.score(newest[number, place]) for place in range(len(comparable))])
        for number, family in enumerate(results.families)
    ]
    aside = [runtime for runtime in results.runtimes if runtime.left_out]
    own = scores.counted(np.zeros(len(results.table), np.int64), 1, results.main_rows, _every(results))
    by_name = dict(zip((runtime.name for runtime in results.runtimes), own[0], strict=True))
    return site.render(
        "front",
        "front",
        ranking=comparable[: len(results.ranked)],
        comparison=comparable[len(results.ranked) :],
        older=[runtime for runtime in results.comparable if len(runtime.history) > 1],
        heat=heat,
        aside=[Ranked(runtime, scores.score(by_name[runtime.name]), "", kinds(site, runtime)) for runtime in aside],
        others=[
            (name, versioned(column), column.label, _score_of(table, place), under_test.subject(column.hello))
            for name, table in results.apart.items()
            for place, column in enumerate(table.columns)
        ],
        common=int(results.common.sum()),
        scope=_scope(results),
        tools=_tools(site),
        types=sorted(filter(None, results.table.types)),
        opsets=_opsets(results),
        runs=[_run(results, number) for number in range(len(results.runs))],
    )


def _scope(results: Results) -> str:
    """Return the scope of the common cases, if all runs have the same part of the suite; otherwise nothing."""
    same = {(scope.suite, scope.total, scope.selection) for scope in (Scope.of(run.header) for run in results.runs)}
    return Scope(*same.pop()).text(int(results.common.sum())) if len(same) == 1 else ""


def operators(site: Site) -> str:
    """Return the page with all operators by family, in their newest versions."""
    results = site.results
    counts = scores.counted(
        results.operators_of(newest=True), len(results.operators), results.main_rows, _every(results)
    )
    families: dict[str, list[tuple[Operator, list[Score]]]] = {name: [] for name in results.families}
    for number, operator in enumerate(results.operators):
        row = [scores.score(counts[number, place]) for place in range(len(results.runtimes))]
        families[operator.family].append((operator, row))
    return site.render("operators", "operators", families=families)


def open_points(site: Site) -> str:
    """Return the page of open points: the contested ones, then the numbers by operator."""
    every = [point for points in site.points.values() for point in points]
    contested = sorted(
        (point for point in every if point.differ), key=lambda point: (-len(point.votes), -point.differ, point.operator)
    )
    rows = [
        (name, Counter(point.kind for point in points), sum(bool(point.differ) for point in points))
        for name, points in sorted(site.points.items())
    ]
    return site.render(
        "open",
        "open",
        total=open_points_text.total(every),
        contested=contested[:MOST_CONTESTED],
        kinds=[*Kind],
        rows=rows,
        slugs={operator.name: operator.slug for operator in site.results.operators},
    )


def bounds(site: Site) -> str:
    """Return the page of allowed errors."""
    return site.render("bounds", "bounds")


def accuracy(site: Site) -> str:
    """Return the page with charts of the accuracy of runtimes."""
    return site.render(
        "accuracy",
        "accuracy",
        notes=[line(note, 600) for item in site.more.accuracy for note in item.notes],
        functions=accuracy_page.functions(site.more.accuracy),
        sums=accuracy_page.sums(site.more.accuracy),
    )


def operator(site: Site, of: Operator, findings: Sequence[Finding]) -> str:
    """Return the page of an operator."""
    results = site.results
    table = results.table
    cases = np.asarray(of.cases, np.int64)
    group_of = {version.number: place for place, version in enumerate(of.versions)}
    numbers = np.asarray(table.operator, np.int64)[cases]
    groups = np.asarray([group_of[number] for number in numbers.tolist()], np.int64)
    counts = scores.counted(groups, len(of.versions), results.main_rows[:, cases], np.ones(len(cases), np.bool_))
    rows = []
    for place, version in enumerate(of.versions):
        own = [case for case, group in zip(of.cases, groups.tolist(), strict=True) if group == place]
        cells = [
            (scores.score(counts[place, number]), history.since(table, runtime, own))
            for number, runtime in enumerate(results.runtimes)
        ]
        rows.append((version, len(own), cells))
    every = np.ones(len(cases), np.bool_)
    options = results.tested[len(results.runtimes) :]
    of_tools = scores.counted(groups, len(of.versions), results.tested_rows[len(results.runtimes) :, cases], every)
    tool_rows = [
        (version, [scores.score(of_tools[place, number]) for number in range(len(options))])
        for place, version in enumerate(of.versions)
    ]
    return site.render(
        "operator",
        "operator",
        1,
        stands_for=stands_for(results, of, {version.since: count for version, count, _ in rows}),
        tools=options,
        tool_rows=tool_rows,
        legend_of_options=_letters(row for _, row in tool_rows),
        operator=of,
        rows=rows,
        link=links.page(f"{of.name}/1"),
        findings=findings,
        points=site.points.get(of.name, ()),
        histories=any(len(item.history) > 1 for item in results.runtimes),
        differences=[*results.differences, *results.differences_in_history(*results.runtimes)],
        notes=site.notes(finding.identity.backend for finding in findings),
    )


def stands_for(results: Results, of: Operator, counts: Mapping[int, int]) -> dict[int, int]:
    """Return, by version with few cases, the newest version with the same meaning, whose cases represent it.

    This is so only if every run has only cases of the core.

    Args:
        results: the results of the site.
        of: the operator.
        counts: the number of its cases by version.
    """
    if not all(Scope.of(run.header).is_core for run in results.runs):
        return {}
    return {
        since: newest
        for since, newest in meanings.newest_of(of.name).items()
        if counts.get(newest, 0) > counts.get(since, 0)
    }


def runtime(site: Site, of: Runtime, findings: Sequence[Finding]) -> str:
    """Return the page of a runtime."""
    return site.render("runtime", "runtime", 1, it=_tested(site, of, findings))


def tool(site: Site, of: Tool, findings: Mapping[str, Sequence[Finding]]) -> str:
    """Return the page of a tool.

    Args:
        site: the site.
        of: the tool.
        findings: by the name of an option, most severe first.
    """
    results = site.results
    rows = []
    if of.heads:
        columns = runtimes.verdicts(results.table, [option.main.place for option in of.options])
        versions = [(operator, version) for operator in results.operators for version in operator.versions]
        counts = scores.counted(results.version_numbers, len(versions), columns, _every(results))
        rows = [
            (operator, version, [scores.score(counts[number, place]) for place in range(len(of.options))])
            for number, (operator, version) in enumerate(versions)
            if counts[number].any()
        ]
    return site.render(
        "tool",
        "tool",
        1,
        tool=of,
        legend_of_options=_letters(row for _, _, row in rows),
        rows=rows,
        options=[_tested(site, option, findings.get(option.name, ())) for option in of.options],
    )


def _letters(rows: Iterable[Iterable[Score]]) -> str:
    return options_table.legend([score.counts for row in rows for score in row])


def _tools(site: Site) -> list[tuple[BackendKind, list[tuple[Ranked, str]]]]:
    """Return the rows of the front page's tables of tools by kind, each with the address of its page."""
    by_kind: dict[BackendKind, list[tuple[Ranked, str]]] = {}
    for of in site.results.tools:
        for option in of.options:
            score = _score_of(site.results.table, option.main.place)
            row = Ranked(option, score, option.left_out, kinds(site, option))
            by_kind.setdefault(of.kind, []).append((row, of.page(option)))
    return list(by_kind.items())


def _tested(site: Site, of: Runtime, findings: Sequence[Finding]) -> dict[str, Any]:
    """Return the data of a page about a runtime, or about an option of a tool."""
    results = site.results
    table = results.table
    column = table.columns[of.main.place]
    row = runtimes.verdicts(table, [of.main.place])
    every = _every(results)
    families = scores.counted(results.families_of(newest=False), len(results.families), row, every)[:, 0]
    newest = scores.counted(results.operators_of(newest=True), len(results.operators), row, every)[:, 0]
    by_operator = {operator.name: scores.score(newest[number]) for number, operator in enumerate(results.operators)}
    rows = []
    for number, family in enumerate(results.families):
        of_family = [item for item in results.operators if item.family == family and by_operator[item.name].attempted]
        worst = sorted(
            (item for item in of_family if by_operator[item.name].passed < by_operator[item.name].attempted),
            key=lambda item: by_operator[item.name].passed / by_operator[item.name].attempted,
        )
        rows.append(
            (
                family,
                scores.score(families[number]),
                [(item, by_operator[item.name]) for item in worst[:OPERATORS_IN_ROW]],
                len(worst) - min(len(worst), OPERATORS_IN_ROW),
            )
        )
    return {
        "runtime": of,
        "versioned": versioned(column),
        "total": scores.score(scores.counted(np.zeros(len(table), np.int64), 1, row, every)[0, 0]),
        "sample": in_words(of.main.sample),
        "sentence": _good_for(results, families),
        "families": rows,
        "chart": history.chart(table, of),
        "changes": history.changes(table, of, results.operators),
        "differences": results.differences_in_history(of),
        "notes": site.notes([column.backend]),
        "ten": [group[0] for group in by_cause(finding for finding in findings if finding.counted)[:TEN]],
        "counted": [finding for finding in findings if not finding.identity.apart],
        "apart": [finding for finding in findings if finding.identity.apart],
        "opt_outs": opt_outs.of_column(table, column, results.operators, ABSENT),
        "others": list(_other_suites(results, of)),
    }


def shell(site: Site, page: str, title: str) -> str:
    """Return a page that its script fills: a case, a finding, or the list of findings."""
    return site.render("shell", page, title=title)


def kinds(site: Site, of: Runtime) -> tuple[tuple[str, int], ...]:
    """Return the number of findings of each kind of a runtime or tool, without those that are fixed or not counted."""
    own = [
        str(finding.identity.kind)
        for finding in site.findings or ()
        if finding.counted and site.results.owner(finding) == of.name
    ]
    return tuple((kind, own.count(kind)) for kind in FINDING_KINDS if kind in own)


def _opsets(results: Results) -> list[int]:
    """Return the opsets of ONNX's default domain that the installed onnx or the results contain."""
    own = [operator for operator in results.operators if operator.name.startswith("ai.onnx/")]
    known = [version.since for operator in own for version in operator.versions]
    return list(range(1, min(MOST_OPSETS, max((schema.newest_opset("ai.onnx"), *known))) + 1))


def _every(results: Results) -> runtimes.Bools:
    return np.ones(len(results.table), np.bool_)


def _count(results: Results, family: str) -> int:
    return sum(operator.family == family for operator in results.operators)


def _good_for(results: Results, counts: scores.Numbers) -> str:
    return scores.good_for({name: scores.score(counts[number]) for number, name in enumerate(results.families)})


def _score_of(table: Table, place: int) -> Score:
    row = runtimes.verdicts(table, [place])
    counts = scores.counted(np.zeros(len(table), np.int64), 1, row, np.ones(len(table), np.bool_))
    return scores.score(counts[0, 0])


def _other_suites(
    results: Results, of: Runtime
) -> Iterator[tuple[str, str, Score, list[tuple[str, VerdictStyle, str]], int]]:
    """Yield the results of a runtime in other suites: suite, label, score, failing cases, number of further ones."""
    stem = under_test.unversioned(results.table.columns[of.main.place].backend)
    failed = [number for number, verdict in enumerate(ORDER) if verdict.failed]
    for name, table in results.apart.items():
        texts = list(table.message_texts)
        for place, column in enumerate(table.columns):
            if under_test.unversioned(column.backend) != stem:
                continue
            failing = [case for case, verdict in enumerate(column.verdicts) if verdict in failed]
            shown = []
            for case in failing[:MOST_FAILING]:
                message = texts[column.messages[case]] if column.messages[case] >= 0 else ""
                shown.append((table.ids[case], STYLES[ORDER[column.verdicts[case]]], message))
            yield name, versioned(column), _score_of(table, place), shown, len(failing) - len(shown)


def _run(results: Results, number: int) -> dict[str, Any]:
    run = results.runs[number]
    head = run.header
    machine = head.get("machine")
    machine = machine if isinstance(machine, dict) else {}
    return {
        "name": line(run.path.name, 200),
        "columns": [column.label for column in results.table.columns if column.run == number],
        "digest": line(head["suite"].get("digest", ""), 40),
        "scopes": scopes(run, number, results.table),
        "profiles": profiles(number, results.table),
        "onnx": line(head.get("onnx", "?"), 40),
        "started": line(head.get("started", "?"), 40),
        "machine": line(f"{machine.get('system', '?')} {machine.get('processor', '')}", 80),
        "complete": run.complete,
    }


def _environment() -> Environment:
    environment = Environment(
        loader=ChoiceLoader([PackageLoader("onnx_conformance.report.site", "."), PackageLoader(SHARED, ".")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "marks": lambda score: options_table.marks(score.counts),
        "capital": lambda text: f"{text[:1].upper()}{text[1:]}",
        "number": lambda value: f"{value:,}",
        "cases": lambda value: f"{value:,} {'case' if value == 1 else 'cases'}",
        "whole": _whole,
        "address": data_files.quote,
        "version": lambda name: split_operator(name)[1] or "",
        "backends": lambda value: f"{value:,} {'backend' if value == 1 else 'backends'}",
        "tolerance": bounds_text.tolerance,
        "extremes": lambda bound: [line(text, 400) for text in bounds_text.extremes(bound)],
        "sentence": open_points_text.sentence,
        "opponent": open_points_text.opponent,
        "summary": lambda point: line(open_points_text.summary(point), 2000),
        "case_answers": lambda point: [line(text, 2000) for text in open_points_text.case_answers(point)],
    }
    environment.globals |= {"grades": GRADES, "styles": STYLES, "legend": LEGEND, "subject_kinds": KINDS}
    return environment


def _whole(part: int, of: int) -> str:
    """Return a percentage rounded down to an integer, only counts if there are few cases, or "no data"."""
    if not of:
        return "no data"
    return f"{part}/{of}" if of < FEW_CASES else f"{part * 100 // of} %"


def _text(package: str, name: str) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def by_owner(site: Site) -> Mapping[str, list[Finding]]:
    """Return the findings by the name of the runtime or option of a tool; only for those with results."""
    owners: dict[str, list[Finding]] = {}
    for finding in site.findings or ():
        name = site.results.owner(finding)
        if name is not None:
            owners.setdefault(name, []).append(finding)
    return owners
