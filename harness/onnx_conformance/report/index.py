# SPDX-License-Identifier: Apache-2.0
"""The index of a folder of published reports: one row for each suite and backend."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tabulate import tabulate

from onnx_conformance.base import under_test
from onnx_conformance.base.under_test import Subject
from onnx_conformance.report import profile_rows, provenance
from onnx_conformance.report.backend_kinds import KINDS, BackendKind
from onnx_conformance.report.badge import LEGEND
from onnx_conformance.report.markup import plain
from onnx_conformance.report.provenance import Shown
from onnx_conformance.results.scope import Scope
from onnx_conformance.results.summary import FEW_CASES, rate, rates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onnx_conformance.findings.finding import Findings
    from onnx_conformance.report.report_data import ReportData

HEAD = """\
# Published reports

`onnx-conformance publish` wrote these results. It also writes `site/index.html`, a web site with the same results: a
ranking, and a page for each operator, finding, case, and runtime or tool. The site opens from disk and loads nothing
from the network. If it is not in this folder, see the project's GitHub Pages or its latest release.

Runtimes are in the order of passed of specified: the share of all cases that the specification decides, including those
that the runtime does not support. Complete runs precede samples, and older versions of a runtime follow its newest
one. The runs may have different cases, so small differences mean nothing; the ranking of the site compares common cases
only.

Unspecified cases are not scored. `accepted invalid` counts accepted invalid models; it is separate, because ONNX does
not require runtimes to reject them. Rates are rounded down.
"""
COMPARISON = "For comparison"
COMPARED = """\
An evaluator of the specification shows how well a direct implementation in Python does. It is not a runtime for
production, and it has no place in the order of the runtimes.
"""
HEADS = ("suite", "backend", "findings", "passed of specified", "passed of attempted")


def report(
    published: Sequence[tuple[ReportData, str]], found: Findings | None = None, place: str = "", support: str = ""
) -> Iterator[str]:
    """Yield the index as Markdown.

    Args:
        published: the data of each results file, and the file of its badge.
        found: the findings; None if they do not exist.
        place: the file that lists them; empty: it is not in the folder.
        support: the file with the support of each runtime; empty: no such file.
    """
    yield f"{HEAD}\n"
    if found is not None and place:
        there = sum(item.counted for item in found.findings)
        yield (
            f"[{place}]({place}) contains {there:,} distinct faults, each with its smallest case and a script.\n"
            "`onnx-conformance scripts` writes a list and the scripts into the folder of the file.\n\n"
        )
    if support:
        yield (
            f"[{support}]({support}) contains the support of each runtime by operator version, type and "
            "attribute.\n`onnx-conformance check-model` compares a model with it.\n\n"
        )
    shown = [Shown(backend, version, *_suite(data)) for data, _ in published for backend, version in _backends(data)]
    sentences = [
        *provenance.of_suites(shown),
        *provenance.of_versions(
            (under_test.unversioned(item.backend), item.version, f"suite {item.suite}") for item in shown
        ),
        *(provenance.about_findings(provenance.of_findings(found, shown)) if found is not None else ()),
        *(
            f"{name}: {text}"
            for data, _ in published
            for name, use in data.summary.profiles.items()
            for text in profile_rows.sentences(use)
        ),
    ]
    if sentences:
        yield "".join(f"- {plain(sentence, 2000)}\n" for sentence in sentences) + "\n"
    by_kind: dict[BackendKind, list[_Row]] = {}
    evaluators: list[_Row] = []
    for data, badge in published:
        for backend, version in _backends(data):
            kind = KINDS[data.summary.subject(backend)]
            is_evaluator = under_test.is_evaluator(backend, data.run.header["backends"].get(backend, {}))
            rows = evaluators if is_evaluator else by_kind.setdefault(kind, [])
            rows.append(
                _row(data, backend, version, kind, _findings(found, data.run.header["suite"], backend, version), badge)
            )
    kinds = [kind for kind in KINDS.values() if kind in by_kind] or ([] if evaluators else [KINDS[Subject.RUNTIME]])
    headings = len(kinds) + bool(evaluators) > 1
    parts = []
    for kind in kinds:
        heading = f"## {kind.heading}\n\n" if headings else ""
        parts.append(f"{heading}{_table(kind, by_kind.get(kind, []))}")
        if kind is KINDS[Subject.RUNTIME] and evaluators:
            parts.append(_comparison(evaluators))
    if evaluators and KINDS[Subject.RUNTIME] not in kinds:
        parts.insert(0, _comparison(evaluators))
    yield "\n".join(parts)
    colours = "; ".join(f"{color}: {meaning}" for color, meaning in LEGEND)
    yield f"\nA badge shows the passed and the specified cases. Its colour is that of the share: {colours}.\n"
    suites = {(*_suite(data), data.run.header.get("onnx", "?")) for data, _ in published}
    for name, digest, onnx in sorted(suites):
        yield f"\nSuite {plain(name)}: digest `{plain(digest)}`, onnx {plain(onnx)}.\n"


@dataclass(frozen=True)
class _Row:
    """A row of a table: its cells, and its place in the order of runtimes."""

    cells: list[str]
    suite: str
    backend: str
    version: str
    sample: int
    passed: float


def _row(data: ReportData, backend: str, version: str, kind: BackendKind, findings: str, badge: str) -> _Row:
    head, counts, sample = data.run.header, data.counts[backend], data.samples.get(backend, 1)
    shares = rates(counts)
    suite = f"{head['suite'].get('name', '')}"
    cells = [
        plain(f"{Scope.of(head).text(counts.total(), backend)}{'' if data.run.complete else ', cut off'}", 500),
        plain(f"{backend} {version}" if f"=={version}" not in backend else backend),
        findings,
        *(
            f"{shares.passed} of {whole}, {share}" if whole >= FEW_CASES else share
            for whole in (shares.specified, shares.attempted)
            for share in [rate(shares.passed, whole)]
        ),
        *(str(counts[verdict]) for verdict in kind.counted),
        plain(head.get("started", "?")[:10]),
        f"[badge]({badge})",
    ]
    return _Row(cells, suite, backend, version, sample, shares.passed / max(1, shares.specified))


def _backends(data: ReportData) -> list[tuple[str, str]]:
    """Return the backends of a run with their versions."""
    hellos = data.run.header["backends"]
    return [(backend, hellos.get(backend, {}).get("version", "")) for backend in sorted(data.counts)]


def _suite(data: ReportData) -> tuple[str, str]:
    suite = data.run.header["suite"]
    return suite.get("name", ""), suite.get("digest", "")


def _comparison(rows: list[_Row]) -> str:
    return f"## {COMPARISON}\n\n{COMPARED}\n{_table(KINDS[Subject.RUNTIME], rows)}"


def _table(kind: BackendKind, rows: list[_Row]) -> str:
    if kind is KINDS[Subject.RUNTIME]:
        rows = _ranked(rows)
    else:
        rows = sorted(rows, key=lambda row: (row.suite, _by_number(row.cells[1])))
    heads = [*HEADS, *(str(verdict).replace("_", " ") for verdict in kind.counted), "date", ""]
    align = ["left", "left", *["right"] * (len(heads) - 3), "left"]
    return tabulate([row.cells for row in rows], heads, tablefmt="github", disable_numparse=True, colalign=align) + "\n"


def _ranked(rows: list[_Row]) -> list[_Row]:
    """Return the rows of runtimes: by passed of specified, complete runs before samples, older versions after newer."""
    newest: dict[tuple[str, str], _Row] = {}
    for row in sorted(rows, key=lambda row: provenance.age(row.version)):
        newest[row.suite, under_test.unversioned(row.backend)] = row
    by_age = sorted(rows, key=lambda row: provenance.age(row.version), reverse=True)

    def rank(row: _Row) -> tuple[str, bool, float, str]:
        first = newest[row.suite, under_test.unversioned(row.backend)]
        return row.suite, first.sample > 1, -first.passed, under_test.unversioned(row.backend)

    return sorted(by_age, key=rank)


def _by_number(text: str) -> str:
    """Return the sort key of a name that orders its numbers by value: [9] precedes [21]."""
    return re.sub(r"\d+", lambda match: match[0].zfill(12), text)


def _findings(found: Findings | None, suite: Mapping[str, str], backend: str, version: str) -> str:
    """Return the number of findings of a backend; empty if they belong to another suite or version."""
    name = under_test.unversioned(backend)
    if found is None or found.suite.get("name") != suite.get("name"):
        return ""
    if found.runtimes.get(name, {}).get("version") != version:
        return ""
    return str(sum(item.counted for item in found.of(name)))
