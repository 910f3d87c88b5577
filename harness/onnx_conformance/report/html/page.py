# SPDX-License-Identifier: Apache-2.0
"""Builds the page from template, style, script, matrix and data, with a policy that allows no other script."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from onnx_conformance.base import under_test
from onnx_conformance.base.package import REPOSITORY, VERSION
from onnx_conformance.base.verdict import line
from onnx_conformance.report import profile_rows, provenance
from onnx_conformance.report.html import blocks, matrix, page_data
from onnx_conformance.report.html.case_data import PIECES
from onnx_conformance.report.html.table import Table, versioned
from onnx_conformance.report.html.verdict_styles import ABSENT, ORDER, STYLES
from onnx_conformance.report.provenance import Shown
from onnx_conformance.results.scope import Scope
from onnx_conformance.results.stream import completeness

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onnx_conformance.analysis.statement import Statement
    from onnx_conformance.case.case import Case
    from onnx_conformance.results.stream import Run


@dataclass(frozen=True)
class Contents:
    """Parts of a page that exist already.

    Attributes:
        table: the results of the runs.
        described: blocks with described cases.
    """

    table: Table
    described: tuple[blocks.Block, ...] = ()


SCRIPTS = (
    "unpack", "data", "filter", "dom", "bars", "matrix", "cases", "repro", "case_page", "case", "groups",
    "theme", "frames", "main",
)  # fmt: skip
"""The files of script/, in the order of concatenation."""


def report(
    runs: Sequence[Run],
    cases: Iterable[Case] = (),
    statements: Sequence[Statement] = (),
    missing: str = "",
    contents: Contents | None = None,
) -> str:
    """Return the report of one or several runs as one HTML file.

    Args:
        runs: the runs, shown side by side; changes are shown for exactly two runs that share a backend.
        cases: cases of their suite, for models, inputs and scripts; cases that no run has are skipped.
        statements: conditions that failures share.
        missing: why there are no cases, as a sentence; empty: there are cases.
        contents: parts that exist already; None: none.

    Raises:
        ResultsError: a results file is damaged.
    """
    table = contents.table if contents else Table(runs)
    order = table.order()
    described = contents.described if contents else ()
    described = (*described, *blocks.described(cases, table.cases))
    numbers, layout = blocks.columns(table, order, blocks.places(table, described))
    sections = matrix.sections(table)
    style, code = _style(len(table.columns), sections), _script()
    environment = Environment(
        loader=PackageLoader("onnx_conformance.report.html", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.jinja").render(
        policy=_policy(style, code),
        style=Markup(style),  # noqa: S704 - a file of this package
        script=Markup(code),  # noqa: S704 - the same
        title=f"ONNX conformance: {', '.join(column.label for column in table.columns) or 'no backend'}",
        runs=[_run(run, number, table) for number, run in enumerate(runs)],
        differences=_differences(table, runs),
        missing=missing,
        sections=sections,
        total=len(table),
        legend=_legend(table),
        verdict_styles=[STYLES[verdict] for verdict in ORDER],
        pairs=table.pairs(),
        version=VERSION,
        repository=REPOSITORY,
        blocks={
            "index": [blocks.packed_json(_index(table, order, layout, statements))],
            "numbers": [numbers],
            "messages": [blocks.packed_json(list(table.message_texts))],
            "details": blocks.details(table, order),
            "described": [block.packed for block in described],
        },
    )


def _differences(table: Table, runs: Sequence[Run]) -> list[str]:
    """Return sentences on columns that are of different suites, versions of a suite, or versions of a runtime."""
    shown = []
    for column in table.columns:
        suite, version = runs[column.run].header["suite"], line(column.hello.get("version", ""), 40)
        name, digest = (line(suite.get(key, ""), 80) for key in ("name", "digest"))
        shown.append(Shown(column.backend, version, name, digest, column.label))
    versions = [(under_test.unversioned(item.backend), item.version, item.label) for item in shown]
    return [*provenance.of_names(shown), *provenance.of_suites(shown), *provenance.of_versions(versions)]


def _legend(table: Table) -> list[tuple[str, str]]:
    """Return the families that occur, in the order of a bar, each with its verdicts."""
    numbers = {number for column in table.columns for number in set(column.verdicts) - {ABSENT}}
    words: dict[str, list[str]] = {}
    for number in sorted(numbers):
        style = STYLES[ORDER[number]]
        words.setdefault(style.family, []).append(style.words)
    return [(family, ", ".join(names)) for family, names in words.items()]


def _index(table: Table, order: list[int], layout: list[list[Any]], statements: Sequence[Statement]) -> dict[str, Any]:
    """Return the data that the page needs at the start."""
    rank = {case: place for place, case in enumerate(order)}
    groups = table.groups(statements)
    for group in groups:
        group["cases"] = sorted(rank[case] for case in group["cases"])
    return {
        "size": blocks.CASES,
        "absent": ABSENT,
        "least": matrix.NARROWEST,
        "layout": layout,
        "styles": page_data.styles(),
        "ids": [table.ids[case] for case in order],
        "operators": list(table.operators),
        "types": list(table.types),
        "forms": list(table.forms),
        "outcomes": list(table.outcomes),
        "tags": list(table.tag_names),
        "tagSets": list(table.tag_sets),
        "clauses": list(table.sentences),
        "clauseSets": list(table.clause_sets),
        "groups": groups,
        "pairs": table.pairs(),
        "pieces": PIECES,
        "columns": [page_data.column(table, column) for column in table.columns],
    }


def _run(run: Run, number: int, table: Table) -> dict[str, Any]:
    """Return the description of a run above and below the matrix."""
    head, footer = run.header, run.footer or {}
    machine = head.get("machine")
    machine = machine if isinstance(machine, dict) else {}
    faults = footer.get("faults", [])
    return {
        "name": line(run.path.name, 200),
        "columns": [column.label for column in table.columns if column.run == number],
        "runtimes": [versioned(column) for column in table.columns if column.run == number],
        "suite": line(head["suite"].get("name", ""), 200),
        "digest": line(head["suite"].get("digest", ""), 40),
        "scopes": scopes(run, number, table),
        "reference": line(head["arguments"].get("reference", ""), 100),
        "onnx": line(head.get("onnx", "?"), 40),
        "started": line(head.get("started", "?"), 40),
        "date": line(head.get("started", "?"), 40)[:10],
        "machine": line(f"{machine.get('system', '?')} {machine.get('processor', '')}", 80),
        "complete": run.complete,
        "covers": completeness(head),
        "profiles": profiles(number, table),
        "faults": [
            *(line(item.message, 300) for item in run.unreadable[:20]),
            *(line(fault, 300) for fault in (faults[:20] if isinstance(faults, list) else ())),
        ][:20],
    }


def profiles(number: int, table: Table) -> list[str]:
    """Return sentences on the results of a run that depend on the profiles of its backends."""
    return [
        line(f"{column.label}: {text}", 4000)
        for column in table.columns
        if column.run == number
        for text in profile_rows.sentences(column.profile)
    ]


def scopes(run: Run, number: int, table: Table) -> list[str]:
    """Return the scope of a run: one text, or one for each number of cases with its backends."""
    scope = Scope.of(run.header)
    by_text: dict[str, list[str]] = {}
    for column in table.columns:
        if column.run == number:
            counted = sum(verdict != ABSENT for verdict in column.verdicts)
            by_text.setdefault(scope.text(counted, column.backend), []).append(column.label)
    if len(by_text) < 2:  # noqa: PLR2004 - the same for all
        return list(by_text)
    return [f"{', '.join(labels)}: {text}" for text, labels in by_text.items()]


def _own(name: str) -> str:
    return resources.files(__package__ or "").joinpath(name).read_text(encoding="utf-8")


def _style(columns: int, sections: Sequence[matrix.Section]) -> str:
    widths = sorted({len(it.columns) for section in sections for it in section.matrices} - {columns})
    own = "".join(f".columns-{count} {{ --columns: {count}; }}\n" for count in widths)
    return f"{_own('style.css')}:root {{ --columns: {max(1, columns)}; }}\n{own}"


def _script() -> str:
    parts = "\n".join(_own(f"script/{name}.js") for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}\n}})();\n'


def _policy(style: str, code: str) -> str:
    """Return the Content-Security-Policy: it allows only this style and this script, whatever the data contains."""
    return "; ".join(
        (
            "default-src 'none'",
            f"style-src '{_hashed(style)}'",
            f"script-src '{_hashed(code)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _hashed(text: str) -> str:
    """Return the digest of an inline element, in the notation of a policy."""
    if re.search(r"</|<!--", text):  # It would end early, or be parsed differently.
        raise AssertionError("an inline element must not contain markup")
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
