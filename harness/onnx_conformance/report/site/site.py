# SPDX-License-Identifier: Apache-2.0
"""Writes a site: data files, then the pages that load them; then obsolete files of an earlier site are removed."""

from __future__ import annotations

import hashlib
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from onnx_conformance.report import bounds as bounds_text
from onnx_conformance.report.html import blocks
from onnx_conformance.report.html.case_data import Describer
from onnx_conformance.report.site import data_files, pages, runtimes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from onnx_conformance.case.case import Case
    from onnx_conformance.findings.finding import Finding
    from onnx_conformance.report.site.folder import SiteFolder
    from onnx_conformance.report.site.results import Results

SHELLS = (("case", "Case"), ("finding", "Finding"), ("findings", "Findings"))
"""Pages that their script fills: file, and initial title."""


def write(
    folder: SiteFolder,
    results: Results,
    findings: Sequence[Finding] | None = None,
    scripts: Mapping[str, str] = MappingProxyType({}),
    cases: Iterable[Case] = (),
    missing: str = "",
    advance: Callable[[int, int], None] = lambda _done, _all: None,
    findings_differ: Mapping[str, str] = MappingProxyType({}),
    more: pages.More | None = None,
) -> int:
    """Write a site into a folder, and return its size in bytes.

    Args:
        folder: folder of the site; files of an earlier site are replaced or removed, other files are not changed.
        results: results of the runs.
        findings: most severe first; None: there is no list of findings.
        scripts: scripts of the findings, by id.
        cases: cases of the suite, for models, inputs and scripts; cases that no runtime fails are skipped.
        missing: why there are no cases, as a sentence; empty: there are cases.
        advance: called with the number of described cases, and the total number to describe.
        findings_differ: by backend, how its findings differ from its results in version or suite.
        more: the data of other pages.

    Raises:
        SiteFolderError: a file of another program has the same name.
        ReportError: a file cannot be written.
    """
    described = _described(results, cases, advance)
    digest = hashlib.sha256()

    def data(name: str, packed: str) -> None:
        text = data_files.file(name, packed)
        digest.update(text.encode())
        folder.write(f"data/{name}.js", [text])

    shown = findings or ()
    numbers, layout = data_files.numbers(results)
    data("front", blocks.packed_json({**data_files.front(results, shown), "layout": layout}))
    data("numbers", numbers)
    data("search", blocks.packed_json(data_files.search(results, shown)))
    files = _findings(results, shown, scripts, findings_differ, data)
    data("site", blocks.packed_json(data_files.site(results, files)))
    places = [tested.main.place for tested in results.tested]
    for operator in results.operators:
        data(
            f"operator/{operator.slug}",
            blocks.packed_json(data_files.operator(results.table, operator, places, described)),
        )
        for number, block in enumerate(data_files.case_blocks(results.table, operator, places, described)):
            data(f"case/{operator.slug}-{number}", block)
    code, style = pages.script(), pages.style()
    for text in (code, style):
        digest.update(text.encode())
    more = more or pages.More()
    site = pages.Site(results, findings, missing, digest.hexdigest()[:12], findings_differ, more)
    folder.write("site.css", [style])
    folder.write("site.js", [code])
    _pages(folder, site)
    folder.finish()
    return folder.size


def _pages(folder: SiteFolder, site: pages.Site) -> None:
    by_owner = pages.by_owner(site)
    by_operator: dict[str, list[Finding]] = {}
    for finding in site.findings or ():
        by_operator.setdefault(finding.identity.operator, []).append(finding)
    for operator in site.results.operators:
        page = pages.operator(site, operator, by_operator.get(operator.name, []))
        folder.write(f"operator/{operator.slug}.html", [page])
    for runtime in site.results.runtimes:
        folder.write(f"runtime/{runtime.slug}.html", [pages.runtime(site, runtime, by_owner.get(runtime.name, []))])
    for tool in site.results.tools:
        folder.write(f"tool/{tool.slug}.html", [pages.tool(site, tool, by_owner)])
    for name, title in SHELLS:
        folder.write(f"{name}.html", [pages.shell(site, name, title)])
    folder.write("operators.html", [pages.operators(site)])
    if site.points:
        folder.write("open.html", [pages.open_points(site)])
    if site.more.bounds:
        folder.write("bounds.html", [pages.bounds(site)])
        folder.write("bounds.json", bounds_text.as_json(site.more.bounds))
    if site.more.accuracy:
        folder.write("accuracy.html", [pages.accuracy(site)])
    folder.write("index.html", [pages.front(site)])  # Written last: until then the index of an earlier site remains.


def _described(
    results: Results, cases: Iterable[Case], advance: Callable[[int, int], None]
) -> Mapping[str, Mapping[str, Any]]:
    """Return the descriptions of the cases that some runtime fails, by their ids in the table."""
    wanted = results.failing()
    describer = Describer()
    described: dict[str, Mapping[str, Any]] = {}
    for case in cases:
        number = results.table.number_of(case.id) if case.id in wanted else None
        if number is not None and results.table.ids[number] not in described:
            described[results.table.ids[number]] = describer.of(case)
            advance(len(described), len(wanted))
    return described


def _findings(
    results: Results,
    findings: Sequence[Finding],
    scripts: Mapping[str, str],
    differ: Mapping[str, str],
    data: Callable[[str, str], None],
) -> dict[str, str]:
    """Write the findings by operator; return the name of the file of each finding, by its id."""
    by_operator: dict[str, list[Finding]] = {}
    for finding in findings:
        by_operator.setdefault(finding.identity.operator, []).append(finding)
    slugs = runtimes.slugs(by_operator)
    files: dict[str, str] = {}
    for name, own in by_operator.items():
        for file, ids, packed in data_files.finding_blocks(results.table, own, scripts, slugs[name], differ):
            data(file, packed)
            files |= dict.fromkeys(ids, file)
    return files
