# SPDX-License-Identifier: Apache-2.0
"""Results files made by hand, and texts that a runtime, a model or a folder might say to do harm."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.gate import expectations
from onnx_conformance.report import report_data
from onnx_conformance.results.stream import Run, Writer, header, to_record

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from onnx_conformance.report.report_data import ReportData

SPLIT = "ai.onnx/Split/18"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
HOSTILE = "\x1b[2J\x1b[31mred\x1b[0m\x07 \x00back\x08\r\u202eevil\u2028line\x9b0m ``` | end"
HOSTILE_TEXTS = {
    "terminal": HOSTILE,
    "xml": "evil ]]> b </testcase></testsuite> <!-- & \" ' \ufffe \uffff \x0b \x00",
    "command": "evil\n::error title=x::y\r\n::stop-commands::z %0A %25 a:b,c",
    "markdown": "evil | cell\n```\n# head\n[link](http://evil) @everyone <script>alert(1)</script> ~~~ `code` ![i](j)",
    "json": 'evil "}]}\\ \u2028 {0} {{1}} [text](1)',
    "surrogate": "evil \ud800 \udfff lone",
    "braces": "evil " + "{" * 3000,
    "endless": "evil " * 60_000,
    "expression": "evil ${{ github.token }} $(touch pwned) `touch pwned` ; rm -rf x",
}


def result(
    name: str = "even",
    verdict: Verdict = Verdict.PASS,
    *,
    operator: str = SPLIT,
    backend: str = "mine",
    **fields: object,
) -> Result:
    blank = Result(f"{operator}/{name}", operator, backend, verdict, "values")
    return dataclasses.replace(blank, **fields)  # type: ignore[arg-type]


def hostile(text: str, verdict: Verdict = Verdict.WRONG_VALUE) -> Result:
    """Return a result of which a runtime, a model or a folder wrote every text."""
    return Result(
        case=f"folder/{text}", operator=f"ai.onnx/{text}/18", backend="mine", verdict=verdict, outcome="values",
        message=text, error=text, signal="", expected=text, actual=text, clauses=(text,), stderr=text, form=text,
        tags=(text,),
    )  # fmt: skip


def run_of(
    path: Path,
    *results: Result,
    finish: bool = True,
    backends: tuple[str, ...] = ("mine",),
    hellos: Mapping[str, Mapping[str, Any]] | None = None,
    suite: str = "generated",
    digest: str = "0123abcd",
    reference: str = "",
    isolate: bool = True,
    threads: int | None = None,
) -> Run:
    """Return a run with these results; `hellos` has the hello of each backend, instead of a name and a version."""
    writer = Writer(path)
    known = {name: {"runtime": name, "version": "1.0"} for name in backends} if hellos is None else hellos
    options = {
        "reference": reference,
        **({"isolate": True} if isolate else {}),
        **({"threads": threads} if threads else {}),
    }
    writer.open(header({"name": suite, "digest": digest}, known, options))
    for item in results:
        writer.add(item)
    if finish:
        writer.finish(1)
    writer.close()
    return Run(path)


TOOLS: Mapping[str, Mapping[str, str]] = {
    "mine": {"runtime": "mine", "version": "1.0"},
    "conv[21]": {"runtime": "conv to 21", "version": "2.0", "subject": "transformer"},
    "conv[9]": {"runtime": "conv to 9", "version": "2.0", "subject": "transformer"},
    "slim": {"runtime": "slim", "version": "3.0", "subject": "transformer"},
    "infer": {"runtime": "infer", "version": "4.0", "subject": "inferencer"},
    "check": {"runtime": "check", "version": "5.0", "subject": "checker"},
}
"""The hellos of a runtime and of tools of every kind, of which one has two options."""


def results_of_tools() -> list[Result]:
    """Return results of two operator versions on all of them; the converters differ in what they do."""
    verdicts = {
        "mine": (Verdict.PASS, Verdict.WRONG_VALUE, Verdict.ACCEPTED_INVALID),
        "conv[21]": (Verdict.PASS, Verdict.INVALID_MODEL, Verdict.CRASH),
        "conv[9]": (Verdict.PASS, Verdict.UNSUPPORTED, Verdict.UNSUPPORTED),
        "slim": (Verdict.PASS, Verdict.REFUSED, Verdict.PASS),
        "infer": (Verdict.PASS, Verdict.KNOWS_LESS, Verdict.PASS),
        "check": (Verdict.PASS, Verdict.PASS, Verdict.ACCEPTED_INVALID),
    }
    return [
        result(name, verdict, operator=operator, backend=backend)
        for backend, row in verdicts.items()
        for name, operator, verdict in zip(
            ("even", "uneven", "axis"), (SPLIT, SPLIT, "ai.onnx/Split/2"), row, strict=True
        )
    ]


def foreign(path: Path, *results: Result, backends: tuple[str, ...] = ("mine",), **more: Any) -> Run:
    """Return a run that another program wrote: nothing in it was made clean."""
    first = header({"name": "generated", "digest": "0"}, {name: {"version": "1"} for name in backends}, {}) | more
    footer = {"kind": "footer", "counts": {}, "faults": [], "finished": "2026-01-01T00:00:00+00:00", "seconds": 1}
    records = [first, *map(to_record, results), footer]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return Run(path)


def data_of(
    path: Path, *results: Result, expect: str = "", finish: bool = True, backends: tuple[str, ...] = ("mine",)
) -> ReportData:
    """Return the report data of a run of these results, compared with the entries of `expect`, if any."""
    run = run_of(path, *results, finish=finish, backends=backends)
    expected = expectations.parse(f'backend = "mine"\n{expect}', path.with_name("e.toml")) if expect else None
    return report_data.read(run, expected)


def entry(case: str, verdict: str, reason: str = "known", more: str = "") -> str:
    return f'[[expect]]\ncase = "{case}"\nverdict = "{verdict}"\nreason = "{reason}"\n{more}\n'
