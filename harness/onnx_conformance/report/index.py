"""The index of a folder of published reports: one row for each suite and backend."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tabulate import tabulate

from onnx_conformance.base import under_test
from onnx_conformance.base.under_test import Subject
from onnx_conformance.report.backend_kinds import KINDS, BackendKind
from onnx_conformance.report.markup import plain
from onnx_conformance.results.sampling import in_words
from onnx_conformance.results.summary import rate, rates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onnx_conformance.findings.finding import Findings
    from onnx_conformance.report.report_data import ReportData

HEAD = """\
# Published reports

`onnx-conformance publish` wrote these results. It also writes `site/index.html`, a web site with the same results: a
ranking, and a page for each operator, finding, case, and runtime or tool. The site opens from disk and loads nothing
from the network. If it is not in this folder, see the project's GitHub Pages or its latest release.

Unspecified cases are not scored. `accepted invalid` counts accepted invalid models; it is separate, because ONNX does
not require runtimes to reject them. Rates are rounded down.
"""
HEADS = ("suite", "backend", "findings", "passed of specified", "passed of attempted")


def report(
    published: Sequence[tuple[ReportData, str]], found: Findings | None = None, place: str = ""
) -> Iterator[str]:
    """Yield the index as Markdown.

    Args:
        published: the data of each results file, and the file of its badge.
        found: the findings; None: there are none.
        place: the file that lists them; empty: it is not in the folder.
    """
    yield f"{HEAD}\n"
    if found is not None and place:
        there = sum(item.counted for item in found.findings)
        yield (
            f"[{place}]({place}) contains {there:,} distinct faults, each with its smallest case and a script.\n"
            "`onnx-conformance scripts` writes a list and the scripts into the folder of the file.\n\n"
        )
    by_kind: dict[BackendKind, list[list[str]]] = {}
    for data, badge in published:
        head = data.run.header
        cut = "" if data.run.complete else ", cut off"
        sampled = data.samples
        for backend, counts in sorted(data.counts.items()):
            shares = rates(counts)
            version = head["backends"].get(backend, {}).get("version", "")
            part = f", {in_words(sampled[backend])}" if backend in sampled else ""
            kind = KINDS[data.summary.subject(backend)]
            by_kind.setdefault(kind, []).append(
                [
                    plain(f"{head['suite'].get('name', '')}{part}{cut}"),
                    plain(f"{backend} {version}" if f"=={version}" not in backend else backend),
                    _findings(found, head["suite"], backend, version),
                    *(
                        f"{shares.passed} of {whole}, {rate(shares.passed, whole)}"
                        for whole in (shares.specified, shares.attempted)
                    ),
                    *(str(counts[verdict]) for verdict in kind.counted),
                    plain(head.get("started", "?")[:10]),
                    f"[badge]({badge})",
                ]
            )
    if not by_kind:
        yield _table(KINDS[Subject.RUNTIME], [])
    elif len(by_kind) < 2:  # noqa: PLR2004 - one kind needs no heading
        yield from (_table(kind, rows) for kind, rows in by_kind.items())
    else:
        shown = [f"## {kind.heading}\n\n{_table(kind, by_kind[kind])}" for kind in KINDS.values() if kind in by_kind]
        yield "\n".join(shown)
    suites = {
        (head["suite"].get("name", ""), head["suite"].get("digest", ""), head.get("onnx", "?"))
        for data, _ in published
        for head in (data.run.header,)
    }
    for name, digest, onnx in sorted(suites):
        yield f"\nSuite {plain(name)}: digest `{plain(digest)}`, onnx {plain(onnx)}.\n"


def _table(kind: BackendKind, rows: list[list[str]]) -> str:
    rows.sort(key=lambda row: (row[0].partition(",")[0], _by_number(row[1])))
    heads = [*HEADS, *(str(verdict).replace("_", " ") for verdict in kind.counted), "date", ""]
    align = ["left", "left", *["right"] * (len(heads) - 3), "left"]
    return tabulate(rows, heads, tablefmt="github", disable_numparse=True, colalign=align) + "\n"


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
