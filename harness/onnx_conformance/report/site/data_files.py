# SPDX-License-Identifier: Apache-2.0
"""The data of a site: scripts that pass one block each to the page, because a page opened from disk may not fetch."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib import parse

import numpy as np

from onnx_conformance.base.verdict import clean
from onnx_conformance.report import provenance
from onnx_conformance.report.html import blocks, page_data
from onnx_conformance.report.html.case_data import PIECES
from onnx_conformance.report.html.verdict_styles import ABSENT, ORDER, STYLES
from onnx_conformance.report.site.finding_data import FINDING_KINDS, shown
from onnx_conformance.report.site.scores import GRADES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onnx_conformance.findings.finding import Finding
    from onnx_conformance.report.html.table import Table
    from onnx_conformance.report.site.results import Operator, Results

LETTERS = {number: STYLES[verdict].letter for number, verdict in enumerate(ORDER)} | {ABSENT: "."}
CASES = blocks.CASES
FINDINGS = 64
"""Number of findings in a file."""
MOST_MESSAGE, MOST_STDERR = 400, 600
"""Maximum number of characters of a runtime's message and error output; the results contain the full text."""


def file(name: str, packed: str) -> str:
    """Return the content of a data file: a call of the function that a page registers before it loads the file."""
    return f"onnxConformance({json.dumps(name)},{json.dumps(packed)});\n"


def front(results: Results, findings: Sequence[Finding]) -> dict[str, Any]:
    """Return the data that the filters of the front page need in addition to the verdicts."""
    operators = results.operators
    by_name = {operator.name: number for number, operator in enumerate(operators)}
    names = {runtime.name: number for number, runtime in enumerate(results.comparable)}
    types = list(results.table.types)
    return {
        "absent": ABSENT,
        "styles": page_data.styles(),
        "grades": [[grade.name, grade.sign, grade.words, grade.least] for grade in GRADES],
        "kinds": list(FINDING_KINDS),
        "families": list(results.families),
        "operators": [[item.name, item.slug, results.families.index(item.family)] for item in operators],
        "versions": [
            [number, version.since, version.until, int(version.newest)]
            for number, operator in enumerate(operators)
            for version in operator.versions
        ],
        "runtimes": [[runtime.label, runtime.slug] for runtime in results.comparable],
        "ranked": len(results.ranked),
        "types": types,
        "findings": [
            [
                names[owner],
                FINDING_KINDS.index(finding.identity.kind),
                by_name.get(finding.identity.operator, -1),
                list(finding.cases.versions),
                list(finding.cases.types),
            ]
            for finding in findings
            if finding.counted and (owner := results.owner(finding)) in names
        ],
    }  # fmt: skip


def numbers(results: Results) -> tuple[str, list[list[Any]]]:
    """Return the numbers of the common cases as one block, and its layout: name, type, first byte, length."""
    chosen = results.common
    arrays: list[tuple[str, np.ndarray[Any, Any]]] = [
        ("version", results.version_numbers[chosen].astype("<i4")),
        ("type", np.asarray(results.table.type, "<i4")[chosen]),
    ]
    arrays += [(f"verdicts{place}", row[chosen]) for place, row in enumerate(results.comparable_rows)]
    layout, first = [], 0
    for name, values in arrays:
        layout.append([name, str(values.dtype), first, len(values)])
        first += values.nbytes
    return blocks.packed(b"".join(values.tobytes() for _, values in arrays)), layout


def search(results: Results, findings: Sequence[Finding]) -> dict[str, Any]:
    """Return the searchable names: operators with their cases, runtimes, tools, findings."""
    ids = results.table.ids
    return {
        "operators": [
            [operator.name, operator.slug, [ids[case].removeprefix(f"{operator.name}/") for case in operator.cases]]
            for operator in results.operators
        ],
        "runtimes": [[runtime.label, runtime.slug] for runtime in results.runtimes],
        "tools": [
            [option.label, tool.page(option), tool.kind.one.removeprefix("a ")]
            for tool in results.tools
            for option in tool.options
        ],
        "findings": [
            [
                finding.id,
                finding.title,
                finding.identity.kind,
                finding.identity.operator,
                results.owner(finding) or finding.identity.backend,
                finding.history.state,
                finding.cases.count,
                int(bool(finding.identity.apart)),
                str(finding.severity.nature),
                min((finding.id, *finding.related)),
                finding.cases.versions,
                int(finding.known),
            ]
            for finding in findings
        ],
    }


def site(results: Results, slugs: Mapping[str, str]) -> dict[str, Any]:
    """Return the common data of the pages of cases and findings: columns, verdicts, and data files of findings.

    Args:
        results: the results of the site.
        slugs: by id of a finding, the name of its data file.
    """
    table, pages = results.table, results.pages
    return {
        "absent": ABSENT,
        "size": CASES,
        "styles": page_data.styles(),
        "pieces": PIECES,
        "columns": [
            page_data.column(table, table.columns[tested.main.place])
            | {"label": tested.label, "page": pages[tested.name], "sample": tested.main.sample}
            for tested in results.tested
        ],
        "operators": {operator.name: operator.slug for operator in results.operators},
        "findings": dict(slugs),
    }


def operator(table: Table, of: Operator, places: Sequence[int], described: Mapping[str, Any]) -> dict[str, Any]:
    """Return the cases of an operator: ids, sentences, verdicts by runtime.

    Args:
        table: the results.
        of: the operator.
        places: the columns of the runtimes.
        described: by id, the descriptions of its cases.
    """
    cases = of.cases
    clauses, tags, sentences, tag_names = (
        list(names) for names in (table.clause_sets, table.tag_sets, table.sentences, table.tag_names)
    )
    own_sentences = list(dict.fromkeys(number for case in cases for number in clauses[table.clauses[case]]))
    own_clauses = list(dict.fromkeys(table.clauses[case] for case in cases))
    own_tags = list(dict.fromkeys(table.tags[case] for case in cases))
    at = {number: place for place, number in enumerate(own_sentences)}
    columns: dict[str, Any] = {}
    for name, numbered, names in (
        ("operator", table.operator, table.operators), ("type", table.type, table.types),
        ("form", table.form, table.forms), ("outcome", table.outcome, table.outcomes),
    ):  # fmt: skip
        every = list(names)
        own = list(dict.fromkeys(numbered[case] for case in cases))
        columns[f"{name}s"] = [every[number] for number in own]
        columns[name] = [own.index(numbered[case]) for case in cases]
    return {
        "ids": [table.ids[case] for case in cases],
        **columns,
        "tags": [[tag_names[number] for number in tags[own]] for own in own_tags],
        "tag": [own_tags.index(table.tags[case]) for case in cases],
        "clauses": [sentences[number] for number in own_sentences],
        "clauseSets": [[at[number] for number in clauses[own]] for own in own_clauses],
        "clause": [own_clauses.index(table.clauses[case]) for case in cases],
        "verdicts": ["".join(LETTERS[table.columns[place].verdicts[case]] for place in places) for case in cases],
        "described": [int(table.ids[case] in described) for case in cases],
    }


def case_blocks(table: Table, of: Operator, places: Sequence[int], described: Mapping[str, Any]) -> Iterator[str]:
    """Yield blocks with the results of an operator's cases, in the order of `operator`; a block has each text once."""
    messages = list(table.message_texts)
    for first in range(0, len(of.cases), CASES):
        texts: dict[str, int] = {}
        rows, descriptions = [], []
        for case in of.cases[first : first + CASES]:
            row: dict[int, dict[str, Any]] = {}
            for number, place in enumerate(places):
                column = table.columns[place]
                details = dict(column.details.get(case, {}))
                if column.messages[case] >= 0:
                    details["message"] = clean(messages[column.messages[case]], MOST_MESSAGE)
                if "stderr" in details:
                    details["stderr"] = str(details["stderr"])[-MOST_STDERR:]
                if details:
                    row[number] = {
                        key: texts.setdefault(value, len(texts)) if isinstance(value, str) else value
                        for key, value in details.items()
                    }
            rows.append(row)
            descriptions.append(described.get(table.ids[case]))
        yield blocks.packed_json({"texts": list(texts), "rows": rows, "described": descriptions})


def finding_blocks(
    table: Table, findings: Sequence[Finding], scripts: Mapping[str, str], slug: str, differ: Mapping[str, str]
) -> Iterator[tuple[str, list[str], str]]:
    """Yield the blocks of an operator's findings: name, ids, data. The cases in `known` have a page.

    `differ`: by backend, how its findings differ from its results.
    """
    for number, first in enumerate(range(0, len(findings), FINDINGS)):
        part = findings[first : first + FINDINGS]
        data = {
            finding.id: {
                **shown(finding),
                "script": scripts.get(finding.id, ""),
                "notes": provenance.about_findings(differ, [finding.identity.backend]),
                "known": [
                    case
                    for case in dict.fromkeys((finding.example.case, *finding.cases.ids))
                    if table.number_of(case) is not None
                ],
            }
            for finding in part
        }
        yield f"finding/{slug}-{number}", [finding.id for finding in part], blocks.packed_json(data)


def quote(text: str) -> str:
    """Return a text quoted for the fragment of an address, in the encoding of the script."""
    return parse.quote(text, safe="/@")
