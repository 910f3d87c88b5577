# SPDX-License-Identifier: Apache-2.0
"""The runs of a few runtimes, and the site that is made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.cli.site import about_texts
from onnx_conformance.findings import findings_file
from onnx_conformance.generation import plans
from onnx_conformance.report.site import site
from onnx_conformance.report.site.folder import SiteFolder
from onnx_conformance.report.site.pages import More
from onnx_conformance.report.site.results import Results
from onnx_conformance.results.stream import Run
from onnx_conformance.specification import registry
from site_runs import REPRO, TOOLS, Written, finding, results_of, write, write_findings

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_conformance.case.case import Case


@pytest.fixture(scope="session")
def cases() -> list[Case]:
    """A few real cases of three operators."""
    chosen: list[Case] = []
    for name, version in (("Split", 13), ("Split", 18), ("SplitToSequence", 11), ("ReduceSum", 13)):
        generated = list(plans.cases(registry.load().named(name), (version,)))
        chosen += [case for case in generated if case.id != "ai.onnx/Split/18/uneven"][:: max(1, len(generated) // 20)]
        chosen += [case for case in generated if case.id == "ai.onnx/Split/18/uneven"]
    return chosen


@pytest.fixture(scope="session")
def runs(cases: list[Case], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Whole runs of two runtimes, of which one has a case more; an older version; a sample; tools; another suite."""
    folder = tmp_path_factory.mktemp("runs")
    alpha = {"runtime": "alpha", "version": "2.0", "repro": REPRO}
    beta = {"runtime": "beta", "version": "0.3", "repro": REPRO}
    official = [
        Result(f"official/test_{n}", "ai.onnx/Split/18", "alpha", Verdict.PASS if n else Verdict.REFUSED, "values")
        for n in range(9)
    ]
    return [
        write(
            folder / "whole.ndjson",
            [*results_of("alpha", cases), *results_of("beta", cases[:-1])],
            {"alpha": alpha, "beta": beta},
        ),
        write(folder / "older.ndjson", results_of("alpha==1.0", cases), {"alpha==1.0": {**alpha, "version": "1.0"}}),
        write(
            folder / "sample.ndjson", results_of("gamma", cases, 4), {"gamma": {"version": "9"}}, samples={"gamma": 4}
        ),
        write(folder / "tools.ndjson", [item for name in TOOLS for item in results_of(name, cases)], TOOLS),
        write(folder / "official.ndjson", official, {"alpha": alpha}, suite="official", digest="y"),
    ]


@pytest.fixture(scope="session")
def written(runs: list[Path], cases: list[Case], tmp_path_factory: pytest.TempPathFactory) -> Written:
    """The site of these runs, with findings."""
    folder = tmp_path_factory.mktemp("site")
    listed = [
        finding(1),
        finding(2, id="beta-crash", backend="beta", kind="crash", title="Crash of beta", state="back", script=[]),
        finding(
            3,
            id="alpha-fixed",
            state="fixed",
            title="Fixed of alpha",
            cases={"count": 1, "ids": ["ai.onnx/Split/18/none"]},
        ),
        finding(5, id="conv-crash", backend="conv[21]", runtime="conv to 21", kind="crash", title="Crash of conv"),
    ]
    source = write_findings(folder / "findings", listed, [finding(4, id="alpha-apart", title="Apart of alpha")])
    shown = sorted(findings_file.read(source).findings, key=lambda item: item.rank)
    scripts = dict(findings_file.read(source).scripts)
    results = Results([Run(path) for path in runs])
    site.write(SiteFolder(folder / "out"), results, shown, scripts, cases, more=More(*about_texts(results)))
    return Written(folder / "out", results, {case.id: case for case in cases}, tuple(shown))
