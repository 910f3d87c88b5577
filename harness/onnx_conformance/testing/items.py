# SPDX-License-Identifier: Apache-2.0
"""Cases as test items: for the pytest plugin, and for test modules of a runtime's author.

    from onnx_conformance.testing import conformance

    test_onnx = conformance("my_runtime.backend", op="Split*", expectations="my_runtime.toml")

An item passes, fails, or is skipped if the case is unsupported or unspecified. An adapter error is an error in the
setup of the item, not a failed case. A failure that the expectations file accepts is a strict xfail. The item
`expectations` fails if the file itself has problems.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.printing import neutral
from onnx_conformance.base.selection_options import OPTIONS
from onnx_conformance.base.verdict import Result, Verdict, line
from onnx_conformance.environments import backend_names
from onnx_conformance.gate import expectations as files
from onnx_conformance.gate.gate import Gate, GateStatus, status_of
from onnx_conformance.judging.ask import ask_and_judge
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.processes.asker import Asker
from onnx_conformance.report import case as case_report
from onnx_conformance.results.stream import from_record, header, identity
from onnx_conformance.suites.chosen import selection_of
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.lookup import check_all_matched, check_selection, open_suite
from onnx_conformance.suites.selection import SelectionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Unpack

    from onnx_conformance.base.selection_options import Choice
    from onnx_conformance.case.case import Case
    from onnx_conformance.gate.expectations import Entry, Expectations
    from onnx_conformance.suites.selection import Selection
    from onnx_conformance.suites.suite import Suite


GATES = pytest.StashKey[dict[tuple[Path, str], Gate]]()
EXPECTATIONS = "expectations"
"""The name of the item for problems of a file itself."""
ENTRY_SEES = ("case", "operator", "backend", "verdict", "form", "clauses", "tags")
"""The members of a result that an entry can match."""
MOST_ID = 1000
"""Maximum number of characters of a case id, and of a reason, in the output of pytest."""


class ExpectedFailure(pytest.fail.Exception):  # type: ignore[misc,name-defined] # pytest has no other name for it
    """A failure that an entry of the expectations accepts."""


@dataclass(frozen=True)
class Accepted:
    """An expectations file, and the cases that are compared with it.

    Attributes:
        expected: the file.
        suite: name and digest of the suite.
        cases: the selected cases.
        whole: whether they are the selection that the file was written for; an entry without matches is then stale.
    """

    expected: Expectations
    suite: Mapping[str, str]
    cases: list[Case] = field(repr=False)
    whole: bool

    def gate(self, hello: Mapping[str, Any]) -> Gate:
        """Return a gate for a backend with this description.

        Raises:
            ExpectationsError: the file is for another backend or suite.
        """
        return _gate(self.expected, self.suite, hello)


def _gate(expected: Expectations, suite: Mapping[str, str], hello: Mapping[str, Any]) -> Gate:
    # A part of the file's selection is compared as well: developers run a part while they fix a bug.
    return Gate(expected, header(suite, {expected.backend: hello}, {"selection": expected.selection}))


@dataclass(frozen=True)
class BackendOptions:
    """A backend and the options of its process.

    Attributes:
        backend: as in `onnx-conformance run`.
        timeout: time limit of one case, in seconds.
        passes: names of environment variables that it gets in addition to those that every backend gets.
    """

    backend: str
    timeout: float
    passes: tuple[str, ...] = ()


ASKERS = pytest.StashKey[dict[BackendOptions, Asker]]()


@dataclass(frozen=True)
class Task:
    """The task of a test item.

    Attributes:
        case: the case to run; None: check the expectations file itself.
        options: the backend and the options of its process.
        accepted: the expectations that apply.
    """

    case: Case | None
    options: BackendOptions
    accepted: Accepted | None = None


@dataclass(frozen=True)
class Answer:
    """The result of a case, with the expectation that applies to it.

    Attributes:
        case: the case.
        result: the backend's result.
        entry: the entry of the expectations that applies.
        expired: whether the entry's last day is over.
        path: the expectations file.
    """

    case: Case
    result: Result
    entry: Entry | None = None
    expired: bool = False
    path: Path | None = None

    def end(self) -> None:
        """End the test according to the verdict and the expectations."""
        status = status_of(self.entry, self.result)
        if not self.result.verdict.scored and status is not GateStatus.REGRESSED:
            pytest.skip(line(f"{self.result.verdict}: {self.result.message or self.result.actual}", MOST_ID))
        if not self.result.verdict.failed and status is not GateStatus.REGRESSED:
            return  # If a failure was expected, the strict xfail reports it.
        explanation = _explain(self.case, self.result)
        if self.entry is None and self.result.excluded:
            raise ExpectedFailure(f"excluded: {self.result.excluded}\n{explanation}", pytrace=False)
        if self.entry is None:
            pytest.fail(explanation, pytrace=False)
        if status is GateStatus.MET and not self.expired:
            raise ExpectedFailure(explanation, pytrace=False)
        until = f", which expired on {self.entry.expires}" if self.expired else ""
        pytest.fail(f"expected {_why(self.entry, self.path)}{until}\n{explanation}", pytrace=False)


@dataclass(frozen=True)
class FileProblems:
    """Problems of an expectations file itself, one line each."""

    problems: tuple[str, ...]

    def end(self) -> None:
        """End the test."""
        if self.problems:
            pytest.fail(neutral("\n".join(self.problems)), pytrace=False)


def _why(entry: Entry, path: Path | None) -> str:
    places = ", ".join(filter(None, (entry.finding, entry.link)))
    link = f" ({line(places)})" if places else ""
    return f"{entry.verdict}: {line(entry.reason)}{link} [{path}, line {entry.line}]"


def _asker(config: pytest.Config, options: BackendOptions) -> Asker:
    """Return the process of a backend, which is shared by all items of this pytest process."""
    askers = config.stash.setdefault(ASKERS, {})
    if options not in askers:
        target = backend_names.resolve(options.backend, passes=options.passes)
        askers[options] = asker = Asker(target, Limits(timeout=options.timeout))
        config.add_cleanup(asker.close)
    return askers[options]


def result_of(config: pytest.Config, case: Case, options: BackendOptions) -> Result:
    """Run a case and return its result; an adapter error fails the setup of the test."""
    try:
        result = ask_and_judge(_asker(config, options), case).result
    except HarnessError as error:
        why = neutral(error.labelled)
    else:
        why = ""
        if result.verdict is Verdict.ADAPTER_ERROR:
            why = neutral(f"{case.id}: {result.message}")
    if why:  # After the handler; inside it, pytest would also show the original error, unescaped.
        pytest.fail(why, pytrace=False)
    return result


def answer(item: pytest.Item, task: Task) -> Answer | FileProblems:
    """Run the task of an item, and mark the item as an xfail if a failure is expected."""
    try:
        if task.case is None:
            return _file_problems(item.config, task)
        result = result_of(item.config, task.case, task.options)
        if result.excluded:
            reason = f"excluded: {line(result.excluded)}"
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True, raises=ExpectedFailure))
        if task.accepted is None:
            return Answer(task.case, result)
        return _compared(item, task.case, result, task.accepted, _gate_of(item.config, task))
    except HarnessError as error:
        pytest.fail(neutral(error.labelled), pytrace=False)


def _gate_of(config: pytest.Config, task: Task) -> Gate:
    """Return the gate of a file, which is shared by all items of this pytest process."""
    assert task.accepted is not None  # noqa: S101 - only called with expectations
    gates = config.stash.setdefault(GATES, {})
    key = task.accepted.expected.path, task.options.backend
    if key not in gates:
        gates[key] = task.accepted.gate(_asker(config, task.options).process.hello)
    return gates[key]


def _compared(item: pytest.Item, case: Case, result: Result, accepted: Accepted, gate: Gate) -> Answer:
    entry, path = gate.entry(result), accepted.expected.path
    expired = entry is not None and entry.expired(gate.today)
    if entry is not None and entry.verdict is not Verdict.PASS and not expired:
        reason = _why(entry, path)
        item.add_marker(pytest.mark.xfail(reason=reason, strict=not entry.flaky, raises=ExpectedFailure))
    if accepted.whole:
        vars(item)["onnx_conformance"] = {  # The plugin adds it to the report of the item.
            "path": str(path.absolute()),
            "suite": dict(accepted.suite),
            "hello": identity(gate.hello),
            "cases": len(accepted.cases),
            "result": {key: getattr(result, key) for key in ENTRY_SEES} | {"verdict": str(result.verdict)},
        }
    return Answer(case, result, entry, expired, path)


def _file_problems(config: pytest.Config, task: Task) -> FileProblems:
    """Return the problems of a file that do not depend on results."""
    assert task.accepted is not None  # noqa: S101 - only called with expectations
    gate = task.accepted.gate(_asker(config, task.options).process.hello)
    if not task.accepted.whole:
        return FileProblems(tuple(gate.expired()))
    for case in task.accepted.cases:
        gate.add(
            Result(
                case.id, case.operator, task.options.backend, Verdict.PASS, str(case.outcome), case.form,
                clauses=case.clauses, tags=tuple(sorted(case.tags)),
            )
        )  # fmt: skip
    gate.finish(complete=True)
    return FileProblems(tuple(gate.problems))


class Tally:
    """The results of all processes, compared with their expectations."""

    def __init__(self) -> None:
        """Start empty."""
        self._gates: dict[str, Gate] = {}
        self._results: dict[str, set[str]] = {}
        self._cases: dict[str, int] = {}

    def add(self, record: Mapping[str, Any]) -> None:
        """Add the record of an item."""
        path, result = record["path"], from_record(record["result"])
        if path not in self._gates:
            self._gates[path] = _gate(files.read(Path(path)), record["suite"], record["hello"])
            self._cases[path] = record["cases"]
        ids = self._results.setdefault(path, set())
        if result.case not in ids:
            ids.add(result.case)
            self._gates[path].add(result)

    def problems(self) -> list[str]:
        """Return problems of the gates other than failed cases, only for files whose cases all ran."""
        problems = []
        for path, gate in self._gates.items():
            if len(self._results[path]) == self._cases[path]:
                gate.finish(complete=True)
                problems += gate.problems
        return problems


def _explain(case: Case, result: Result) -> str:
    summary = f"{result.backend}: {result.verdict}: {result.message}"
    shown = [f"got {result.actual}"] if result.actual else []
    printed = [f"end of its output: {result.stderr}"] if result.stderr else []
    return neutral("\n".join([summary, *shown, *printed, "", *case_report.lines(case)]))


class CaseItem(pytest.Item):
    """One case on one backend, or the expectations of one backend."""

    def __init__(self, *, task: Task, **options: Any) -> None:  # noqa: ANN401 - pytest's own
        """Take the task."""
        super().__init__(**options)
        self.task = task
        self.answer: Answer | FileProblems | None = None
        self.extra_keyword_matches.update(task.case.tags if task.case else ())

    def setup(self) -> None:
        """Run the case."""
        self.answer = answer(self, self.task)

    def runtest(self) -> None:
        """Report the result."""
        assert self.answer is not None  # noqa: S101 - setup runs first
        self.answer.end()

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Return the place and name that pytest prints for the item."""
        return self.path, None, self.name


class CaseCollector(pytest.Collector):
    """The cases of one backend."""

    def __init__(self, *, tasks: list[Task], **options: Any) -> None:  # noqa: ANN401 - pytest's own
        """Take the tasks for the backend."""
        super().__init__(**options)
        self.tasks = tasks

    def collect(self) -> Iterator[CaseItem]:
        """Yield one item per case."""
        for task in self.tasks:
            yield CaseItem.from_parent(self, name=_name(task), task=task)


def items(session: pytest.Session) -> list[pytest.Item]:
    """Return the items of every --onnx-backend.

    Raises:
        HarnessError: a backend or the suite is not available, or nothing is selected.
    """
    option = session.config.getoption
    backends = list(dict.fromkeys(option("--onnx-backend")))
    passes = tuple(option("--onnx-env"))
    for name in backends:
        backend_names.resolve(name, passes=passes)  # Before the cases are generated, which takes longer.
    values = {row.key: option(f"--onnx-{row.name}") for row in OPTIONS}
    selection = selection_of(cast("Choice", {key: value for key, value in values.items() if value}))
    path = option("--onnx-expectations")
    expected = files.read(Path(path)) if path else None
    if expected is not None:
        _check(expected, backends, whole=not str(selection))
    if option("collectonly") and not str(selection) and option("--onnx-suite") == Generated.name:
        raise SelectionError(
            "collects-too-much",
            "--collect-only would generate all cases, which takes minutes; select some with --onnx-op, --onnx-case or "
            "--onnx-at-most, or list them with: onnx-conformance list",
        )
    chosen = _selected(option("--onnx-suite"), selection)
    accepted = {expected.backend: _accepted(expected, chosen)} if expected is not None else {}
    items: list[pytest.Item] = []
    for name in backends:
        tasks = _tasks(chosen, BackendOptions(name, option("--onnx-timeout"), passes), accepted.get(name))
        collector = CaseCollector.from_parent(session, name=line(name), nodeid=f"onnx::{line(name)}", tasks=tasks)
        items.extend(collector.collect())
    return items


@dataclass(frozen=True)
class _Chosen:
    suite: Suite
    selection: Selection
    cases: list[Case]


def _name(task: Task) -> str:
    return line(task.case.id, MOST_ID) if task.case else EXPECTATIONS


def _tasks(chosen: _Chosen, options: BackendOptions, accepted: Accepted | None) -> list[Task]:
    """Return the tasks for a backend: every case, then the expectations file itself."""
    tasks = [Task(case, options, accepted) for case in chosen.cases]
    return [*tasks, Task(None, options, accepted)] if accepted else tasks


def _check(expected: Expectations, backends: list[str], *, whole: bool) -> None:
    """Check a file before the cases are generated, which takes minutes for the whole suite.

    A part of the file's selection is allowed, because developers run a part while they mend a fault.

    Args:
        expected: the file.
        backends: the backends of the run.
        whole: whether the run selects the whole suite.

    Raises:
        ExpectationsError: the file is for another backend, or only for a part of the cases.
    """
    if expected.backend not in backends:
        raise files.ExpectationsError(
            "plugin-expectations-of-another-backend",
            f"{expected.path} is for {line(expected.backend)}, but the run is of {', '.join(backends)}; name "
            "another file",
        )
    if whole and expected.selection:
        raise files.ExpectationsError(
            "plugin-expectations-of-another-selection",
            f"{expected.path} is for the cases {line(expected.selection)}, but the run selects all; select these with "
            "the options --onnx-op, --onnx-case, ... or with the arguments op, case, ... of conformance()",
        )


def _accepted(expected: Expectations, chosen: _Chosen) -> Accepted:
    """Return a file together with the cases.

    Raises:
        ExpectationsError: the file is for another suite.
    """
    suite = {"name": chosen.suite.name, "digest": chosen.suite.digest() if expected.digest else ""}
    accepted = Accepted(expected, suite, chosen.cases, expected.selection == str(chosen.selection))
    accepted.gate({})
    return accepted


def _selected(suite_name: str, selection: Selection) -> _Chosen:
    suite = open_suite(suite_name)
    check_selection(suite, selection)
    chosen = list(suite.cases(selection))
    check_all_matched(suite, selection, empty=not chosen)
    return _Chosen(suite, selection, chosen)


def conformance(
    backend: str,
    *,
    suite: str = "generated",
    timeout: float = 20.0,
    expectations: str | Path | None = None,
    env: tuple[str, ...] = (),
    **choice: Unpack[Choice],
) -> Callable[..., None]:
    """Return a test function with one item per case; assign it to a name test_* in a test module.

    Args:
        backend: as in `onnx-conformance run`.
        suite: generated, official, or a folder.
        timeout: time limit of one case, in seconds.
        expectations: a file of accepted failures; each is a strict xfail with the reason of its entry.
        env: names of environment variables that the backend gets in addition to those that every backend gets.
        choice: the options of `run` that select cases, with the same values: op, opsets, version, model, case, tag,
            form, type, no_containers, core and at_most.

    Raises:
        HarnessError: the backend, the suite or the file is not available, or nothing is selected.
    """
    backend_names.resolve(backend, passes=env)
    selection = selection_of(choice)
    expected = files.read(Path(expectations)) if expectations is not None else None
    if expected is not None:
        _check(expected, [backend], whole=not str(selection))
    chosen = _selected(suite, selection)
    accepted = _accepted(expected, chosen) if expected else None
    tasks = [
        pytest.param(task, id=_name(task))
        for task in _tasks(chosen, BackendOptions(backend, timeout, tuple(env)), accepted)
    ]

    @pytest.mark.parametrize("onnx_result", tasks, indirect=True)
    def test_conformance(onnx_result: Answer | FileProblems) -> None:
        onnx_result.end()

    return test_conformance
