"""JUnit XML: a testsuite is an operator version on a backend, a testcase a case.

The rendered cases wait in a temporary file until their suite is written, so that memory holds no more than one piece
of text and the places of the cases, however many there are.
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

from harness.case.case import quoted
from harness.report.subject import moment, seconds
from harness.results.sampling import in_words
from harness.verdict import Verdict, clean, line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from junitparser.junitparser import Element, FinalResult

    from harness.report.subject import Held, Subject

OUTCOMES: Mapping[Verdict, type[FinalResult] | None] = {
    Verdict.PASS: None,
    Verdict.WRONG_VALUE: Failure,
    Verdict.WRONG_SHAPE: Failure,
    Verdict.WRONG_TYPE: Failure,
    Verdict.WRONG_COUNT: Failure,
    Verdict.REFUSED: Failure,
    Verdict.ACCEPTED_INVALID: Failure,
    Verdict.CRASH: Error,
    Verdict.TIMEOUT: Error,
    Verdict.FLAKY: Failure,
    Verdict.UNSUPPORTED: Skipped,
    Verdict.UNSPECIFIED: Skipped,
    Verdict.ADAPTER_ERROR: Error,
}
COUNTED: Mapping[type[FinalResult], str] = {Failure: "failures", Error: "errors", Skipped: "skipped"}
MOST_TOLD = 100
"""Faults of the run, or problems of the gate, that are shown one by one."""

_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PIECE = 1 << 20


@dataclass
class _Suite:
    """A suite in the making: what it counts, and where its cases wait."""

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


def report(subject: Subject) -> Iterator[str]:
    """Yield the document."""
    suites: dict[tuple[str, str], _Suite] = {}
    with tempfile.TemporaryFile() as waiting:
        for held in subject.held():
            key = (held.result.operator, held.result.backend)
            if key not in suites:
                suites[key] = _Suite(_xml(line(f"{held.result.operator or 'no operator'} on {held.result.backend}")))
            _wait(waiting, suites[key], held)
        run = list(_run(subject, waiting))
        whole = _Suite(_xml(f"onnx-conformance: {subject.title}"))
        for suite in (*run, *suites.values()):
            whole.counts.update(suite.counts)
            whole.time += suite.time
        head, end = _open(JUnitXml(), whole)
        yield f"<?xml version='1.0' encoding='utf-8'?>\n{head}\n"
        for suite in run:
            yield from _written(TestSuite(), suite, waiting)
        for (operator, backend), suite in sorted(suites.items()):
            yield from _written(_headed(subject, operator, backend), suite, waiting)
        yield f"{end}\n"


def _wait(waiting: IO[bytes], suite: _Suite, held: Held) -> None:
    outcome = _outcome(held)
    case = TestCase(name=_xml(line(held.result.case)), classname=suite.name, time=round(seconds(held.result), 6))
    if outcome is not None:
        case.result = [outcome]
    if held.result.stderr:
        case.system_err = _xml(clean(held.result.stderr))
    _keep(waiting, suite, case, outcome, seconds(held.result))


def _keep(waiting: IO[bytes], suite: _Suite, case: TestCase, outcome: FinalResult | None, time: float) -> None:
    begin = waiting.tell()
    waiting.write(_written_out(case) + b"\n")
    suite.add(outcome, time, begin, waiting.tell())


def _outcome(held: Held) -> FinalResult | None:
    """Return what a reader of the format sees of a result; None: it passed."""
    result = held.result
    if held.accepted:
        return Skipped(_xml(held.said), "expected")
    kind = OUTCOMES[result.verdict]
    if held.wrong and kind in {None, Skipped}:  # A pass where a failure was expected: the file is no longer true.
        return Failure(_xml(f"{held.said}; renew the file with `expectations update`"), str(held.standing))
    if kind is None:
        return None
    said = line(result.message or result.error or result.verdict, 1000)
    outcome = kind(_xml(f"{held.said}: {said}" if held.said else said), str(result.verdict))
    outcome.text = _xml("\n".join(_body(held)))
    return outcome


def _body(held: Held) -> Iterator[str]:
    result = held.result
    yield clean(result.message)
    yield from (quoted(line(clause, 1000)) for clause in result.clauses)
    for name, text in (("expected", result.expected), ("actual", result.actual), ("error", result.error)):
        if text:
            yield f"{name}: {clean(text)}"
    if result.attempts:
        yield "attempts: " + ", ".join(
            line(f"{attempt.get('verdict')} ({attempt.get('process', '')})", 80) for attempt in result.attempts
        )


def _run(subject: Subject, waiting: IO[bytes]) -> Iterator[_Suite]:
    """Yield suites of what no case tells: faults of the run, and problems of the gate."""
    problems = subject.gate.problems if subject.gate else []
    told = (("the run", "fault", Error, subject.faults), ("the expectations", "problem", Failure, problems))
    for name, kind, element, lines in told:
        suite = _Suite(name)
        shown = [*lines[:MOST_TOLD], *([f"and {len(lines) - MOST_TOLD} more"] if len(lines) > MOST_TOLD else [])]
        for number, text in enumerate(shown, 1):
            outcome = element(_xml(line(text, 1000)), kind)
            case = TestCase(name=f"{kind} {number}", classname=name)
            case.result = [outcome]
            _keep(waiting, suite, case, outcome, 0.0)
        if suite.counts:
            yield suite


def _headed(subject: Subject, operator: str, backend: str) -> TestSuite:
    head = subject.run.header
    made, said = TestSuite(), head["backends"].get(backend, {})
    started = moment(head.get("started"))
    if started is not None:
        made.timestamp = started.strftime("%Y-%m-%dT%H:%M:%S")  # The format knows no time zones.
    for name, value in (
        ("backend", backend),
        ("runtime", said.get("runtime", "")),
        ("version", said.get("version", "")),
        ("onnx", head.get("onnx", "")),
        ("suite", head["suite"].get("name", "")),
        ("digest", head["suite"].get("digest", "")),
        *([("sample", in_words(subject.samples[backend]))] if backend in subject.samples else []),
    ):
        made.add_property(name, _xml(line(value)))
    for shared in subject.shared(backend, operator.rpartition("/")[0] or operator):
        made.add_property("failures share", _xml(shared))
    return made


def _written(made: TestSuite, suite: _Suite, waiting: IO[bytes]) -> Iterator[str]:
    """Yield a suite, its cases from where they wait."""
    head, end = _open(made, suite)
    yield f"{head}\n"
    for begin, stop in zip(suite.places[::2], suite.places[1::2], strict=True):
        waiting.seek(begin)
        sizes = (min(_PIECE, stop - place) for place in range(begin, stop, _PIECE))
        yield from codecs.iterdecode(map(waiting.read, sizes), "utf-8")
    yield f"{end}\n"


def _open(element: JUnitXml | TestSuite, suite: _Suite) -> tuple[str, str]:
    """Return an element's first tag, which counts what will stand in it, and its last."""
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
    """Return a text without the characters that XML forbids; the library writes the others as they must be."""
    return _FORBIDDEN.sub("", text)
