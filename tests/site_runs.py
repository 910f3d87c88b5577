# SPDX-License-Identifier: Apache-2.0
"""Results of a few runtimes and findings, made by hand, for tests of the static web site."""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.findings import findings_file
from onnx_conformance.results.stream import Writer, header

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from onnx_conformance.case.case import Case
    from onnx_conformance.findings.finding import Finding
    from onnx_conformance.report.site.results import Results

HOSTILE = (
    "<script>alert(1)</script> </script><img src=x onerror=alert(3)> javascript:alert(4) \u202e {{ 7*7 }} ' \" &lt;"
)
REPRO = "outputs = run(model, inputs)\n"


TOOLS: dict[str, dict[str, Any]] = {
    "conv[21]": {"runtime": "conv to 21", "version": "2.0", "subject": "transformer", "repro": REPRO},
    "conv[9]": {"runtime": "conv to 9", "version": "2.0", "subject": "transformer", "repro": REPRO},
    "infer": {"runtime": "infer", "version": "4.0", "subject": "inferencer", "repro": REPRO},
    "check": {"runtime": "check", "version": "5.0", "subject": "checker", "repro": REPRO},
}
"""Tools of every kind; one has two options."""


@dataclass(frozen=True)
class Written:
    """A site, and what it was made of.

    Attributes:
        folder: of the site.
        results: that it shows.
        cases: of the suite, by id.
        findings: that it shows.
    """

    folder: Path
    results: Results
    cases: dict[str, Case]
    findings: tuple[Finding, ...]


def write(
    path: Path,
    results: Sequence[Result],
    backends: dict[str, dict[str, Any]],
    *,
    suite: str = "generated",
    digest: str = "x",
    finish: bool = True,
    samples: dict[str, int] | None = None,
    started: str = "2026-11-20T08:00:00+00:00",
) -> Path:
    """Write a results file."""
    first = header(
        {"name": suite, "digest": digest},
        backends,
        {"selection": "", "reference": "", "samples": samples or {}},
        {"operators": 2, "of_operators": 4, "versions": 3, "of_versions": 12},
    )
    writer = Writer(path)
    writer.open({**first, "started": started})
    for result in results:
        writer.add(result)
    if finish:
        writer.finish(1.0)
    writer.close()
    return path


def result(case: Case, backend: str, verdict: Verdict, **fields: Any) -> Result:
    """Return a result of a case."""
    return Result(
        case.id, case.operator, backend, verdict, str(case.outcome), form=case.form, clauses=case.clauses,
        tags=tuple(sorted(case.tags)), **fields,
    )  # fmt: skip


def verdict_of(name: str, number: int) -> Verdict:
    """Return what becomes of a case on one of the runtimes: the same every time, and for each something else."""
    rows: dict[str, Callable[[int], Verdict]] = {
        "alpha": lambda n: Verdict.WRONG_VALUE if n % 5 == 0 else Verdict.PASS,
        "alpha==1.0": lambda n: Verdict.WRONG_VALUE if n % 5 == 0 or n % 2 == 0 else Verdict.PASS,
        "beta": lambda n: Verdict.UNSUPPORTED if n % 3 == 0 else Verdict.CRASH if n % 7 == 0 else Verdict.PASS,
        "gamma": lambda _: Verdict.PASS,
        "conv[9]": lambda n: Verdict.UNSUPPORTED if n % 2 else Verdict.PASS,
        "conv[21]": lambda n: Verdict.INVALID_MODEL if n % 4 == 1 else Verdict.CRASH if n == 2 else Verdict.PASS,
        "infer": lambda n: Verdict.KNOWS_LESS if n % 3 == 0 else Verdict.PASS,
        "check": lambda n: Verdict.ACCEPTED_INVALID if n % 5 == 0 else Verdict.PASS,
    }
    return rows[name](number)


TEXTS: dict[Verdict, dict[str, Any]] = {
    Verdict.WRONG_VALUE: {"message": f"outputs[0] differs {HOSTILE}", "expected": "float[2] [1, 2]", "actual": HOSTILE},
    Verdict.UNSUPPORTED: {"error": "NotImplemented", "message": f"no kernel for node 7 {HOSTILE}"},
    Verdict.INVALID_MODEL: {"message": HOSTILE},
    Verdict.KNOWS_LESS: {"message": HOSTILE},
    Verdict.ACCEPTED_INVALID: {"force": "must"},
    Verdict.CRASH: {"message": "SIGSEGV", "signal": "SIGSEGV", "stderr": HOSTILE},
    Verdict.PASS: {},
}


def results_of(name: str, cases: Sequence[Case], every: int = 1) -> list[Result]:
    """Return the results of a runtime on 1 in so many cases."""
    return [
        result(case, name, verdict := verdict_of(name, number), **TEXTS[verdict])
        for number, case in enumerate(cases)
        if number % every == 0
    ]


def finding(number: int = 1, **members: Any) -> dict[str, Any]:
    """Return a finding as findings.json has it."""
    return {
        "id": f"alpha-split-{number}", "backend": "alpha", "runtime": "alpha", "version": "2.0",
        "operator": "ai.onnx/Split", "kind": "wrong_value", "title": f"Finding {number} {HOSTILE}",
        "conditions": ["axis=1"], "clause": f"The sentence. {HOSTILE}", "force": "must",
        "versions": [13, 18], "types": ["float"],
        "forms": ["plain"], "cases": {"count": 3, "ids": ["ai.onnx/Split/18/uneven"]},
        "example": {
            "case": "ai.onnx/Split/18/uneven", "model": f"model {HOSTILE}", "inputs": {"input": "float[2] [1, 2]"},
            "expected": {"a": "float[1] [1]"}, "given": {"a": HOSTILE}, "message": HOSTILE,
        },
        "script": [f'print("""{HOSTILE}""")\n'],
        "confirmed": {"date": "2026-11-24", "version": "2.0", "exit": 1, "said": HOSTILE},
        "others": {"beta 1": "pass float[1] [1]"},
        "since": {"failing": ["1.0", "2.0"], "passing": ["0.9"]}, "state": "open",
        "history": [{"version": "2.0", "date": "2026-11-24", "state": "open"}], "issue": "",
        **members,
    }  # fmt: skip


def write_findings(
    folder: Path,
    listed: Sequence[dict[str, Any]],
    apart: Sequence[dict[str, Any]] = (),
    runtimes: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
) -> Path:
    """Write a folder of findings."""
    folder.mkdir(parents=True, exist_ok=True)
    suite = {"name": "generated", "digest": "x"}
    data = {
        "format": findings_file.FORMAT,
        "suite": suite,
        "runtimes": dict(runtimes),
        "findings": listed,
        "apart": apart,
    }
    (folder / "findings.json").write_text(json.dumps(data))
    return folder
