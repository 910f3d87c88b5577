"""CTRF, the Common Test Report Format (ctrf.io): JSON that dashboards and chat bots read.

Written piece by piece: what it counts stands behind what it counted.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from harness.report import json_text
from harness.report.subject import moment, seconds
from harness.verdict import Verdict, clean, line

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator, Mapping

    from harness.report.subject import Held, Subject

SPECIFICATION = "0.0.0"
PASSED, FAILED, SKIPPED, PENDING, OTHER = "passed", "failed", "skipped", "pending", "other"
STATUSES: Mapping[Verdict, str] = {
    Verdict.PASS: PASSED,
    Verdict.WRONG_VALUE: FAILED,
    Verdict.WRONG_SHAPE: FAILED,
    Verdict.WRONG_TYPE: FAILED,
    Verdict.WRONG_COUNT: FAILED,
    Verdict.REFUSED: FAILED,
    Verdict.ACCEPTED_INVALID: FAILED,
    Verdict.CRASH: FAILED,
    Verdict.TIMEOUT: FAILED,
    Verdict.FLAKY: FAILED,
    Verdict.UNSUPPORTED: SKIPPED,
    Verdict.UNSPECIFIED: OTHER,
    Verdict.ADAPTER_ERROR: FAILED,
}
"""The format has no word for an adapter's fault; `rawStatus` has the verdict itself."""


def report(subject: Subject) -> Iterator[str]:
    """Yield the document."""
    head = subject.run.header
    counts: Counter[str] = Counter()
    suites: set[tuple[str, str]] = set()
    top = {"reportFormat": "CTRF", "specVersion": SPECIFICATION, "generatedBy": "onnx-conformance"}
    tool = {"name": "onnx-conformance", "version": str(head.get("harness", ""))}
    yield f'{json_text.text(top)[:-1]},"results":{{"tool":{json_text.text(tool)},"tests":'

    def tests() -> Iterator[str]:
        for held in subject.held():
            told = _test(held)
            counts[told["status"]] += 1
            counts["flaky"] += told.get("flaky", False)
            suites.add((held.result.operator, held.result.backend))
            yield json_text.text(told)

    yield from json_text.array(tests())
    yield f',\n"summary":{json_text.text(_summary(subject, counts, len(suites)))}'
    yield f',"environment":{json_text.text(_environment(subject))}}}}}\n'


def status(held: Held) -> str:
    """Return what the format calls a result: an expected failure is no red one, a pass that is news is."""
    if held.accepted:
        return SKIPPED
    found = STATUSES[held.result.verdict]
    return FAILED if held.wrong else found


def _test(held: Held) -> dict[str, Any]:
    result = held.result
    told: dict[str, Any] = {
        "name": line(result.case) or "no name",
        "testId": line(f"{result.case} on {result.backend}"),
        "status": status(held),
        "duration": round(seconds(result) * 1000),
        "suite": [line(result.backend), line(result.operator) or "no operator"],
        "rawStatus": str(result.verdict),
        "tags": [line(tag) for tag in result.tags],
    }
    message = ": ".join(part for part in (held.said, line(result.message, 1000)) if part)
    trace = "\n".join(clean(text) for text in (*result.clauses, result.stderr) if text)
    told |= {"message": message} if message else {}
    told |= {"trace": trace} if trace else {}
    if result.attempts:
        *earlier, _ = result.attempts
        told["flaky"] = len({attempt.get("verdict") for attempt in result.attempts}) > 1
        told["retries"] = len(earlier)
        told |= {"retryAttempts": [_attempt(*item) for item in enumerate(earlier, 1)]} if earlier else {}
    told["extra"] = {
        key: text
        for key, text in (
            ("form", result.form),
            ("outcome", result.outcome),
            ("error", result.error),
            ("signal", result.signal),
            ("expected", result.expected),
            ("actual", result.actual),
            ("standing", str(held.standing or "")),
        )
        if text
    }
    return told


def _attempt(number: int, attempt: Mapping[str, Any]) -> dict[str, Any]:
    verdict = Verdict(attempt["verdict"])
    process = str(attempt.get("process", ""))
    told = {"attempt": number, "status": STATUSES[verdict], "extra": {"verdict": str(verdict), "process": process}}
    return told | ({"message": line(attempt["message"], 1000)} if attempt.get("message") else {})


def _summary(subject: Subject, counts: Mapping[str, int], suites: int) -> dict[str, Any]:
    footer = subject.run.footer or {}
    start = moment(subject.run.header.get("started"))
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
            "complete": subject.run.complete,
            "faults": subject.faults,
            "expected": subject.accepted.total(),
            "problems": [line(problem) for problem in subject.gate.problems] if subject.gate else [],
        },
    }


def _environment(subject: Subject) -> dict[str, Any]:
    head = subject.run.header
    machine = head.get("machine", {})
    shared = {backend: subject.shared(backend) for backend in head["backends"]} if subject.statements else {}
    return {
        "reportName": subject.title,
        "appName": subject.backends,
        "osPlatform": str(machine.get("system", "")).lower(),
        "healthy": subject.run.complete and not subject.faults,
        "extra": {"onnx": head.get("onnx", ""), "suite": head["suite"], "backends": head["backends"], "shared": shared},
    }


def _milliseconds(when: dt.datetime | None) -> int:
    return round(when.timestamp() * 1000) if when else 0
