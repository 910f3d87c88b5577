"""Every case one test item: what the pytest plugin collects, and what a runtime's author puts in a module.

    from harness.testing import conformance

    test_onnx = conformance("my_runtime.backend", op="Split*", expectations="my_runtime.toml")

An item passes, fails, or is skipped where the backend opts out or the text leaves the case open. A fault of
the adapter is an error of the item's setup, not a failed case. A failure that the expectations have an entry for is a
strict xfail; an item `expectations` fails for what is wrong with the file itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness.errors import HarnessError
from harness.execution import backend_names
from harness.execution.adapter_process import Limits
from harness.execution.ask import Asker
from harness.execution.judge import judge
from harness.gate import expectations as files
from harness.gate.gate import Gate, GateStatus, status_of
from harness.printing import neutral
from harness.report import case as case_report
from harness.results.stream import from_record, header, identity
from harness.suites.lookup import check_selection, open_suite
from harness.suites.selection import Selection, SelectionError
from harness.suites.suite import Suite, SuiteError
from harness.verdict import Result, Verdict, line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from harness.case.case import Case
    from harness.gate.expectations import Entry, Expectations


GATES = pytest.StashKey[dict[tuple[Path, str], Gate]]()
EXPECTATIONS = "expectations"
"""The name of the item for what is wrong with a file itself."""
ENTRY_SEES = ("case", "operator", "backend", "verdict", "form", "clauses", "tags")
"""What an entry can look at in a result."""
MOST_ID = 1000
"""Characters of the id of a case, and of a reason, in what pytest prints."""


class ExpectedFailure(pytest.fail.Exception):  # type: ignore[misc,name-defined] # pytest gives it no other name
    """A failure as an entry of the expectations has it."""


@dataclass(frozen=True)
class Accepted:
    """An expectations file, and the cases that are held against it.

    Attributes:
        expected: the file.
        suite: name and digest of the suite.
        cases: those that were selected.
        whole: they are the selection that the file was written for: what they do not match is stale.
    """

    expected: Expectations
    suite: Mapping[str, str]
    cases: list[Case] = field(repr=False)
    whole: bool

    def gate(self, hello: Mapping[str, Any]) -> Gate:
        """Return a gate for a backend that says this of itself.

        Raises:
            ExpectationsError: the file is of another backend or suite.
        """
        return _gate(self.expected, self.suite, hello)


def _gate(expected: Expectations, suite: Mapping[str, str], hello: Mapping[str, Any]) -> Gate:
    # A part of what the file was written for is held as well: that is what one looks at while one mends something.
    return Gate(expected, header(suite, {expected.backend: hello}, {"selection": expected.selection}))


@dataclass(frozen=True)
class Asking:
    """How a backend is asked.

    Attributes:
        backend: as in `onnx-conformance run`.
        timeout: seconds that one case may take.
        passes: names of environment variables that it is given beside those that every backend is.
    """

    backend: str
    timeout: float
    passes: tuple[str, ...] = ()


LANES = pytest.StashKey[dict[Asking, Asker]]()


@dataclass(frozen=True)
class Ask:
    """What a test item asks.

    Attributes:
        case: None: whether the expectations themselves hold.
        asking: how the backend is asked.
        accepted: what is expected for now.
    """

    case: Case | None
    asking: Asking
    accepted: Accepted | None = None


@dataclass(frozen=True)
class Answer:
    """What became of a case.

    Attributes:
        result: what became of it.
        entry: of the expectations, that decides on it.
        expired: that the entry's last day is over.
    """

    case: Case
    result: Result
    entry: Entry | None = None
    expired: bool = False
    path: Path | None = None

    def end(self) -> None:
        """End the test as the verdict and the expectations say."""
        status = status_of(self.entry, self.result)
        if not self.result.verdict.scored and status is not GateStatus.REGRESSED:
            pytest.skip(line(f"{self.result.verdict}: {self.result.message or self.result.actual}", MOST_ID))
        if not self.result.verdict.failed and status is not GateStatus.REGRESSED:
            return  # Where a failure was expected, the strict xfail says so.
        explanation = _explain(self.case, self.result)
        if self.entry is None:
            pytest.fail(explanation, pytrace=False)
        if status is GateStatus.MET and not self.expired:
            raise ExpectedFailure(explanation, pytrace=False)
        until = f", which expired on {self.entry.expires}" if self.expired else ""
        pytest.fail(f"expected {_why(self.entry, self.path)}{until}\n{explanation}", pytrace=False)


@dataclass(frozen=True)
class Stale:
    """What is wrong with an expectations file itself, a line each."""

    problems: tuple[str, ...]

    def end(self) -> None:
        """End the test."""
        if self.problems:
            pytest.fail(neutral("\n".join(self.problems)), pytrace=False)


def _why(entry: Entry, path: Path | None) -> str:
    link = f" ({line(entry.link)})" if entry.link else ""
    return f"{entry.verdict}: {line(entry.reason)}{link} [{path}, line {entry.line}]"


def _lane(config: pytest.Config, asking: Asking) -> Asker:
    """Return the lane of a backend, which all items of this pytest process share."""
    lanes = config.stash.setdefault(LANES, {})
    if asking not in lanes:
        target = backend_names.resolve(asking.backend, passes=asking.passes)
        lanes[asking] = lane = Asker(target, Limits(timeout=asking.timeout))
        config.add_cleanup(lane.close)
    return lanes[asking]


def asked(config: pytest.Config, case: Case, asking: Asking) -> Result:
    """Return what becomes of a case; a fault of the adapter ends the setup of the test that needs it."""
    try:
        result = judge(case, asking.backend, _lane(config, asking).ask(case))
    except HarnessError as error:
        why = neutral(error)
    else:
        why = ""
        if result.verdict is Verdict.ADAPTER_ERROR:
            why = neutral(f"{case.id}: {result.message}")
    if why:  # Behind the handler, or pytest shows the error itself as well, as it came.
        pytest.fail(why, pytrace=False)
    return result


def answer(item: pytest.Item, ask: Ask) -> Answer | Stale:
    """Return what becomes of what an item asks, and mark it as an xfail where a failure is expected."""
    try:
        if ask.case is None:
            return _stale(item.config, ask)
        result = asked(item.config, ask.case, ask.asking)
        if ask.accepted is None:
            return Answer(ask.case, result)
        return _held(item, ask.case, result, ask.accepted, _gate_of(item.config, ask))
    except HarnessError as error:
        pytest.fail(neutral(error), pytrace=False)


def _gate_of(config: pytest.Config, ask: Ask) -> Gate:
    """Return the gate of a file, which all items of this pytest process share."""
    assert ask.accepted is not None  # noqa: S101 - nobody asks without
    gates = config.stash.setdefault(GATES, {})
    key = ask.accepted.expected.path, ask.asking.backend
    if key not in gates:
        gates[key] = ask.accepted.gate(_lane(config, ask.asking).process.hello)
    return gates[key]


def _held(item: pytest.Item, case: Case, result: Result, accepted: Accepted, gate: Gate) -> Answer:
    entry, path = gate.entry(result), accepted.expected.path
    expired = entry is not None and entry.expired(gate.today)
    if entry is not None and entry.verdict is not Verdict.PASS and not expired:
        reason = _why(entry, path)
        item.add_marker(pytest.mark.xfail(reason=reason, strict=not entry.flaky, raises=ExpectedFailure))
    if accepted.whole:
        vars(item)["onnx_conformance"] = {  # The plugin puts it into the item's report.
            "path": str(path.absolute()),
            "suite": dict(accepted.suite),
            "hello": identity(gate.hello),
            "cases": len(accepted.cases),
            "result": {key: getattr(result, key) for key in ENTRY_SEES} | {"verdict": str(result.verdict)},
        }
    return Answer(case, result, entry, expired, path)


def _stale(config: pytest.Config, ask: Ask) -> Stale:
    """Return what is known to be wrong with a file, however the cases come out."""
    assert ask.accepted is not None  # noqa: S101 - nobody asks without
    gate = ask.accepted.gate(_lane(config, ask.asking).process.hello)
    if not ask.accepted.whole:
        return Stale(tuple(gate.expired()))
    for case in ask.accepted.cases:
        gate.add(
            Result(
                case.id, case.operator, ask.asking.backend, Verdict.PASS, str(case.outcome), case.form,
                clauses=case.clauses, tags=tuple(sorted(case.tags)),
            )
        )  # fmt: skip
    gate.finish(complete=True)
    return Stale(tuple(gate.problems))


class Tally:
    """What came of the items of all processes, held against their expectations."""

    def __init__(self) -> None:
        """Start empty."""
        self._gates: dict[str, Gate] = {}
        self._seen: dict[str, set[str]] = {}
        self._cases: dict[str, int] = {}

    def add(self, seen: Mapping[str, Any]) -> None:
        """Take what an item left behind."""
        path, result = seen["path"], from_record(seen["result"])
        if path not in self._gates:
            self._gates[path] = _gate(files.read(Path(path)), seen["suite"], seen["hello"])
            self._cases[path] = seen["cases"]
        of_file = self._seen.setdefault(path, set())
        if result.case not in of_file:
            of_file.add(result.case)
            self._gates[path].add(result)

    def problems(self) -> list[str]:
        """Return what closes the gates beside the cases; nothing where some of a file's cases did not run."""
        problems = []
        for path, gate in self._gates.items():
            if len(self._seen[path]) == self._cases[path]:
                gate.finish(complete=True)
                problems += gate.problems
        return problems


def _explain(case: Case, result: Result) -> str:
    head = f"{result.backend}: {result.verdict}: {result.message}"
    shown = [f"got {result.actual}"] if result.actual else []
    printed = [f"the last it printed: {result.stderr}"] if result.stderr else []
    return neutral("\n".join([head, *shown, *printed, "", *case_report.lines(case)]))


class CaseItem(pytest.Item):
    """One case on one backend, or the expectations of one backend."""

    def __init__(self, *, ask: Ask, **options: Any) -> None:  # noqa: ANN401 - pytest's own
        """Take what is asked."""
        super().__init__(**options)
        self.ask = ask
        self.answer: Answer | Stale | None = None
        self.extra_keyword_matches.update(ask.case.tags if ask.case else ())

    def setup(self) -> None:
        """Run the case."""
        self.answer = answer(self, self.ask)

    def runtest(self) -> None:
        """Say what became of it."""
        assert self.answer is not None  # noqa: S101 - setup comes first
        self.answer.end()

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Return what pytest prints for the item."""
        return self.path, None, self.name


class CaseCollector(pytest.Collector):
    """The cases of one backend."""

    def __init__(self, *, asks: list[Ask], **options: Any) -> None:  # noqa: ANN401 - pytest's own
        """Take what is asked of the backend."""
        super().__init__(**options)
        self.asks = asks

    def collect(self) -> Iterator[CaseItem]:
        """Yield one item a case."""
        for ask in self.asks:
            yield CaseItem.from_parent(self, name=_name(ask), ask=ask)


def items(session: pytest.Session) -> list[pytest.Item]:
    """Return the items of every --onnx-backend.

    Raises:
        HarnessError: a backend or the suite is not to be had, or nothing is selected.
    """
    option = session.config.getoption
    backends = list(dict.fromkeys(option("--onnx-backend")))
    passes = tuple(option("--onnx-env"))
    for name in backends:
        backend_names.resolve(name, passes=passes)  # Before the cases are made, which takes longer.
    chosen = _selected(
        option("--onnx-suite"), tuple(option("--onnx-op")), tuple(option("--onnx-case")), tuple(option("--onnx-tag"))
    )
    accepted: dict[str, Accepted] = {}
    if path := option("--onnx-expectations"):
        expected = files.read(Path(path))
        accepted[expected.backend] = _accepted(expected, backends, chosen)
    items: list[pytest.Item] = []
    for name in backends:
        asks = _asks(chosen, Asking(name, option("--onnx-timeout"), passes), accepted.get(name))
        collector = CaseCollector.from_parent(session, name=line(name), nodeid=f"onnx::{line(name)}", asks=asks)
        items.extend(collector.collect())
    return items


@dataclass(frozen=True)
class _Chosen:
    suite: Suite
    selection: Selection
    cases: list[Case]


def _name(ask: Ask) -> str:
    return line(ask.case.id, MOST_ID) if ask.case else EXPECTATIONS


def _asks(chosen: _Chosen, asking: Asking, accepted: Accepted | None) -> list[Ask]:
    """Return what is asked of a backend: every case, and at last whether its expectations hold."""
    asks = [Ask(case, asking, accepted) for case in chosen.cases]
    return [*asks, Ask(None, asking, accepted)] if accepted else asks


def _accepted(expected: Expectations, backends: list[str], chosen: _Chosen) -> Accepted:
    """Return a file together with the cases.

    Raises:
        ExpectationsError: it is of another backend or suite.
    """
    if expected.backend not in backends:
        raise files.ExpectationsError(
            f"{expected.path} speaks of {line(expected.backend)}, the run is of {', '.join(backends)}; name the other "
            "file"
        )
    suite = {"name": chosen.suite.name, "digest": chosen.suite.digest() if expected.digest else ""}
    accepted = Accepted(expected, suite, chosen.cases, expected.selection == str(chosen.selection))
    accepted.gate({})
    return accepted


def _selected(suite_name: str, ops: tuple[str, ...], cases: tuple[str, ...], tags: tuple[str, ...]) -> _Chosen:
    suite, selection = open_suite(suite_name), Selection(ops, cases, tags)
    check_selection(suite, selection)
    chosen = list(suite.cases(selection))
    if suite.unreadable:
        raise SuiteError("\n".join(item.message for item in suite.unreadable))
    for option, glob in sorted(selection.idle):
        raise SelectionError(f"{option} {glob!r} matches no case of suite {suite_name}")
    if not chosen:
        raise SelectionError(f"suite {suite_name} has no case for {str(selection) or 'anything'}")
    return _Chosen(suite, selection, chosen)


def conformance(
    backend: str,
    *,
    suite: str = "generated",
    op: str | tuple[str, ...] = (),
    case: str | tuple[str, ...] = (),
    tag: str | tuple[str, ...] = (),
    timeout: float = 20.0,
    expectations: str | Path | None = None,
    env: tuple[str, ...] = (),
) -> Callable[..., None]:
    """Return a test function with one item a case, for a test module to keep under a name test_*.

    Args:
        backend: as in `onnx-conformance run`.
        suite: generated, official, or a folder.
        op: globs over operators; empty means all.
        case: globs over case ids.
        tag: globs over tags.
        timeout: seconds that one case may take.
        expectations: a file of what is accepted for now: what it expects is a strict xfail, with the entry's reason.
        env: names of environment variables that the backend is given beside those that every backend is.

    Raises:
        HarnessError: the backend, the suite or the file is not to be had, or nothing is selected.
    """
    backend_names.resolve(backend, passes=env)
    expected = files.read(Path(expectations)) if expectations is not None else None
    chosen = _selected(suite, _globs(op), _globs(case), _globs(tag))
    accepted = _accepted(expected, [backend], chosen) if expected else None
    requests = [
        pytest.param(ask, id=_name(ask)) for ask in _asks(chosen, Asking(backend, timeout, tuple(env)), accepted)
    ]

    @pytest.mark.parametrize("onnx_result", requests, indirect=True)
    def test_conformance(onnx_result: Answer | Stale) -> None:
        onnx_result.end()

    return test_conformance


def _globs(globs: str | tuple[str, ...]) -> tuple[str, ...]:
    return (globs,) if isinstance(globs, str) else globs
