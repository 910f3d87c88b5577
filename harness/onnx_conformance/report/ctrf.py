# SPDX-License-Identifier: Apache-2.0
"""CTRF, the Common Test Report Format (ctrf.io): JSON that dashboards and chat bots read.

It is written in pieces: the counts follow the tests.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.verdict import Verdict, clean, line
from onnx_conformance.report import json_text, profile_rows
from onnx_conformance.report.report_data import moment, seconds

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator, Mapping

    from onnx_conformance.report.report_data import CheckedResult, ReportData

SPECIFICATION = "0.0.0"
PASSED, FAILED, SKIPPED, PENDING, OTHER = "passed", "failed", "skipped", "pending", "other"
STATUSES: Mapping[Verdict, str] = {
    Verdict.PASS: PASSED,
    Verdict.WRONG_VALUE: FAILED,
    Verdict.WRONG_SHAPE: FAILED,
    Verdict.WRONG_TYPE: FAILED,
    Verdict.WRONG_COUNT: FAILED,
    Verdict.INVALID_MODEL: FAILED,
    Verdict.REFUSED: FAILED,
    Verdict.DECLINED: FAILED,
    Verdict.FALLBACK: FAILED,
    Verdict.ACCEPTED_INVALID: FAILED,
    Verdict.LENIENT: OTHER,
    Verdict.KNOWS_LESS: OTHER,
    Verdict.CRASH: FAILED,
    Verdict.TIMEOUT: FAILED,
    Verdict.FLAKY: FAILED,
    Verdict.UNSUPPORTED: SKIPPED,
    Verdict.UNSPECIFIED: OTHER,
    Verdict.ADAPTER_ERROR: FAILED,
}
"""The format has no status for an adapter error; `rawStatus` contains the verdict."""


def report(data: ReportData) -> Iterator[str]:
    """Yield the document."""
    head = data.run.header
    counts: Counter[str] = Counter()
    suites: set[tuple[str, str]] = set()
    top = {"reportFormat": "CTRF", "specVersion": SPECIFICATION, "generatedBy": "onnx-conformance"}
    tool = {"name": "onnx-conformance", "version": str(head.get("harness", ""))}
    yield f'{json_text.text(top)[:-1]},"results":{{"tool":{json_text.text(tool)},"tests":'

    def tests() -> Iterator[str]:
        for checked in data.checked_results():
            test = _test(checked)
            counts[test["status"]] += 1
            counts["flaky"] += test.get("flaky", False)
            suites.add((checked.result.operator, checked.result.backend))
            yield json_text.text(test)

    yield from json_text.array(tests())
    yield f',\n"summary":{json_text.text(_summary(data, counts, len(suites)))}'
    yield f',"environment":{json_text.text(_environment(data))}}}}}\n'


def status(checked: CheckedResult) -> str:
    """Return the CTRF status of a result: an expected failure is skipped, an unexpected pass is failed."""
    if checked.accepted:
        return SKIPPED
    return FAILED if checked.wrong else STATUSES[checked.result.verdict]


def _test(checked: CheckedResult) -> dict[str, Any]:
    result = checked.result
    test: dict[str, Any] = {
        "name": line(result.case) or "no name",
        "testId": line(f"{result.case} on {result.backend}"),
        "status": status(checked),
        "duration": round(seconds(result) * 1000),
        "suite": [line(result.backend), line(result.operator) or "no operator"],
        "rawStatus": str(result.verdict),
        "tags": [line(tag) for tag in result.tags],
    }
    message = ": ".join(part for part in (checked.status_text, line(result.message, 1000)) if part)
    trace = "\n".join(clean(text) for text in (*result.clauses, result.stderr) if text)
    test |= {"message": message} if message else {}
    test |= {"trace": trace} if trace else {}
    if result.attempts:
        *earlier, _ = result.attempts
        test["flaky"] = len({attempt.get("verdict") for attempt in result.attempts}) > 1
        test["retries"] = len(earlier)
        test |= {"retryAttempts": [_attempt(*item) for item in enumerate(earlier, 1)]} if earlier else {}
    test["extra"] = {
        key: text
        for key, text in (
            ("form", result.form),
            ("outcome", result.outcome),
            ("error", result.error),
            ("signal", result.signal),
            ("phase", result.phase),
            ("expected", result.expected),
            ("actual", result.actual),
            ("unstable", result.unstable),
            ("standing", str(checked.status or "")),
        )
        if text
    }
    return test


def _attempt(number: int, attempt: Mapping[str, Any]) -> dict[str, Any]:
    verdict = Verdict(attempt["verdict"])
    process = str(attempt.get("process", ""))
    record = {"attempt": number, "status": STATUSES[verdict], "extra": {"verdict": str(verdict), "process": process}}
    return record | ({"message": line(attempt["message"], 1000)} if attempt.get("message") else {})


def _summary(data: ReportData, counts: Mapping[str, int], suites: int) -> dict[str, Any]:
    footer = data.run.footer or {}
    start = moment(data.run.header.get("started"))
    stop = moment(footer.get("finished")) or start
    statuses = (PASSED, FAILED, SKIPPED, PENDING, OTHER)
    return {
        "tests": sum(counts.get(name, 0) for name in statuses),
        **{name: counts.get(name, 0) for name in statuses},
        "flaky": counts.get("flaky", 0),
        "suites": suites,
        "start": _milliseconds(start),
        "stop": _milliseconds(stop),
        "extra": {
            "complete": data.run.complete,
            "faults": data.faults,
            "expected": data.accepted.total(),
            "profiles": {name: [*profile_rows.sentences(use)] for name, use in data.summary.profiles.items()},
            "problems": [line(problem) for problem in data.gate.problems] if data.gate else [],
        },
    }


def _environment(data: ReportData) -> dict[str, Any]:
    head = data.run.header
    machine = head.get("machine", {})
    shared = {backend: data.shared(backend) for backend in head["backends"]} if data.statements else {}
    return {
        "reportName": data.title,
        "appName": data.backends,
        "osPlatform": str(machine.get("system", "")).lower(),
        "healthy": data.run.complete and not data.faults,
        "extra": {"onnx": head.get("onnx", ""), "suite": head["suite"], "backends": head["backends"], "shared": shared},
    }


def _milliseconds(when: dt.datetime | None) -> int:
    return round(when.timestamp() * 1000) if when else 0
