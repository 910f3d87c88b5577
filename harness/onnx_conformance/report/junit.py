# SPDX-License-Identifier: Apache-2.0
"""JUnit XML: a testsuite is an operator version on a backend, a testcase is a case.

The rendered cases stay in a temporary file until their suite is written. So memory contains only one piece of text and
the positions of the cases, whatever their number.
"""

from __future__ import annotations

import codecs
import re
import tempfile
from array import array
from collections import Counter
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from onnx_conformance.base.printing import quoted
from onnx_conformance.base.verdict import Verdict, clean, line
from onnx_conformance.report import profile_rows
from onnx_conformance.report.report_data import moment, seconds
from onnx_conformance.results.sampling import in_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from junitparser.junitparser import Element, FinalResult

    from onnx_conformance.report.report_data import CheckedResult, ReportData

OUTCOMES: Mapping[Verdict, type[FinalResult] | None] = {
    Verdict.PASS: None,
    Verdict.WRONG_VALUE: Failure,
    Verdict.WRONG_SHAPE: Failure,
    Verdict.WRONG_TYPE: Failure,
    Verdict.WRONG_COUNT: Failure,
    Verdict.INVALID_MODEL: Failure,
    Verdict.REFUSED: Failure,
    Verdict.DECLINED: Failure,
    Verdict.FALLBACK: Failure,
    Verdict.ACCEPTED_INVALID: Failure,
    Verdict.LENIENT: Skipped,
    Verdict.KNOWS_LESS: Skipped,
    Verdict.CRASH: Error,
    Verdict.TIMEOUT: Error,
    Verdict.FLAKY: Failure,
    Verdict.UNSUPPORTED: Skipped,
    Verdict.UNSPECIFIED: Skipped,
    Verdict.ADAPTER_ERROR: Error,
}
COUNTED: Mapping[type[FinalResult], str] = {Failure: "failures", Error: "errors", Skipped: "skipped"}
MOST_LISTED = 100
"""Maximum number of faults of the run, or problems of the gate, that are listed one by one."""

_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PIECE = 1 << 20


@dataclass
class _Suite:
    """A suite while it is collected: its counts, and the positions of its cases in the temporary file."""

    name: str
    counts: Counter[str] = field(default_factory=Counter)
    time: float = 0.0
    places: array[int] = field(default_factory=lambda: array("Q"))

    def add(self, outcome: FinalResult | None, time: float, begin: int, end: int) -> None:
        self.counts["tests"] += 1
        self.time += time
        if outcome is not None:
            self.counts[COUNTED[type(outcome)]] += 1
        if self.places and self.places[-1] == begin:
            self.places[-1] = end
        else:
            self.places.extend((begin, end))


def report(data: ReportData) -> Iterator[str]:
    """Yield the document."""
    suites: dict[tuple[str, str], _Suite] = {}
    with tempfile.TemporaryFile() as waiting:
        for checked in data.checked_results():
            key = (checked.result.operator, checked.result.backend)
            if key not in suites:
                suites[key] = _Suite(
                    _xml(line(f"{checked.result.operator or 'no operator'} on {checked.result.backend}"))
                )
            _wait(waiting, suites[key], checked)
        run = list(_run(data, waiting))
        whole = _Suite(_xml(f"onnx-conformance: {data.title}"))
        for suite in (*run, *suites.values()):
            whole.counts.update(suite.counts)
            whole.time += suite.time
        head, end = _open(JUnitXml(), whole)
        yield f"<?xml version='1.0' encoding='utf-8'?>\n{head}\n"
        for suite in run:
            yield from _written(TestSuite(), suite, waiting)
        for (operator, backend), suite in sorted(suites.items()):
            yield from _written(_headed(data, operator, backend), suite, waiting)
        yield f"{end}\n"


def _wait(waiting: IO[bytes], suite: _Suite, checked: CheckedResult) -> None:
    outcome = _outcome(checked)
    case = TestCase(name=_xml(line(checked.result.case)), classname=suite.name, time=round(seconds(checked.result), 6))
    if outcome is not None:
        case.result = [outcome]
    if checked.result.stderr:
        case.system_err = _xml(clean(checked.result.stderr))
    _keep(waiting, suite, case, outcome, seconds(checked.result))


def _keep(waiting: IO[bytes], suite: _Suite, case: TestCase, outcome: FinalResult | None, time: float) -> None:
    begin = waiting.tell()
    waiting.write(_written_out(case) + b"\n")
    suite.add(outcome, time, begin, waiting.tell())


def _outcome(checked: CheckedResult) -> FinalResult | None:
    """Return the outcome of a result in the format; None: it passed."""
    result = checked.result
    if checked.accepted:
        return Skipped(_xml(checked.status_text), "expected")
    kind = OUTCOMES[result.verdict]
    if checked.wrong and kind in {None, Skipped}:  # A pass although a failure was expected: the file is out of date.
        return Failure(_xml(f"{checked.status_text}; update the file with `expectations update`"), str(checked.status))
    if kind is None:
        return None
    message = line(result.message or result.error or result.verdict, 1000)
    text = f"{checked.status_text}: {message}" if checked.status_text else message
    outcome = kind(_xml(text), str(result.verdict))
    outcome.text = _xml("\n".join(_body(checked)))
    return outcome


def _body(checked: CheckedResult) -> Iterator[str]:
    result = checked.result
    yield clean(result.message)
    yield from (quoted(line(clause, 1000)) for clause in result.clauses)
    for name, text in (("expected", result.expected), ("actual", result.actual), ("error", result.error)):
        if text:
            yield f"{name}: {clean(text)}"
    if result.attempts:
        yield "attempts: " + ", ".join(
            line(f"{attempt.get('verdict')} ({attempt.get('process', '')})", 80) for attempt in result.attempts
        )


def _run(data: ReportData, waiting: IO[bytes]) -> Iterator[_Suite]:
    """Yield suites of problems without a case: faults of the run, and problems of the gate."""
    problems = data.gate.problems if data.gate else []
    for name, kind, element, lines in (
        ("the run", "fault", Error, data.faults), ("the expectations", "problem", Failure, problems)
    ):  # fmt: skip
        suite = _Suite(name)
        more = len(lines) - MOST_LISTED
        shown = [*lines[:MOST_LISTED], *([f"and {more} more"] if more > 0 else [])]
        for number, text in enumerate(shown, 1):
            outcome = element(_xml(line(text, 1000)), kind)
            case = TestCase(name=f"{kind} {number}", classname=name)
            case.result = [outcome]
            _keep(waiting, suite, case, outcome, 0.0)
        if suite.counts:
            yield suite


def _headed(data: ReportData, operator: str, backend: str) -> TestSuite:
    head = data.run.header
    element, hello = TestSuite(), head["backends"].get(backend, {})
    started = moment(head.get("started"))
    if started is not None:
        element.timestamp = started.strftime("%Y-%m-%dT%H:%M:%S")  # The format knows no time zones.
    for name, value in (
        ("backend", backend),
        ("runtime", hello.get("runtime", "")),
        ("version", hello.get("version", "")),
        ("onnx", head.get("onnx", "")),
        ("suite", head["suite"].get("name", "")),
        ("digest", head["suite"].get("digest", "")),
        *([("sample", in_words(data.samples[backend]))] if backend in data.samples else []),
    ):
        element.add_property(name, _xml(line(value)))
    for text in profile_rows.sentences(data.summary.profile(backend)):
        element.add_property("profile of the backend", _xml(line(text, 4000)))
    for shared in data.shared(backend, operator.rpartition("/")[0] or operator):
        element.add_property("failures share", _xml(shared))
    return element


def _written(element: TestSuite, suite: _Suite, waiting: IO[bytes]) -> Iterator[str]:
    """Yield a suite, with its cases from the temporary file."""
    head, end = _open(element, suite)
    yield f"{head}\n"
    for begin, stop in zip(suite.places[::2], suite.places[1::2], strict=True):
        waiting.seek(begin)
        sizes = (min(_PIECE, stop - place) for place in range(begin, stop, _PIECE))
        yield from codecs.iterdecode(map(waiting.read, sizes), "utf-8")
    yield f"{end}\n"


def _open(element: JUnitXml | TestSuite, suite: _Suite) -> tuple[str, str]:
    """Return an element's start tag, with the counts of its content, and its end tag."""
    element.name = suite.name
    element.tests, element.failures, element.errors, element.skipped = (
        suite.counts[name] for name in ("tests", "failures", "errors", "skipped")
    )
    element.time = round(suite.time, 6)
    whole, tag = _written_out(element).decode(), "testsuites" if isinstance(element, JUnitXml) else "testsuite"
    before, _, _ = whole.rpartition(f"</{tag}>")
    return before or f"{whole.rpartition('/>')[0].rstrip()}>", f"</{tag}>"


def _written_out(element: Element) -> bytes:
    return bytes(element.tostring())  # type: ignore[no-untyped-call] # a public method without types


def _xml(text: str) -> str:
    """Return a text without the characters that XML forbids; the library escapes markup."""
    return _FORBIDDEN.sub("", text)
