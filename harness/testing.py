"""Every case one test item: what the pytest plugin collects, and what a runtime's author puts in a module.

    from harness.testing import conformance

    test_onnx = conformance("my_runtime.backend", op="Split*")

An item passes, fails, or is skipped where the backend opts out or the text leaves the case open. A fault of
the adapter is an error of the item's setup, not a failed case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from harness import suite as suites
from harness import targets
from harness.errors import HarnessError
from harness.lane import Lane
from harness.process import Limits
from harness.report import case as case_report
from harness.runner import judge
from harness.verdict import Result, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from harness.case import Case


LANES = pytest.StashKey[dict[tuple[str, float], Lane]]()


def _lane(config: pytest.Config, backend: str, timeout: float) -> Lane:
    """Return the lane of a backend, which all items of this pytest process share."""
    lanes = config.stash.setdefault(LANES, {})
    if (backend, timeout) not in lanes:
        lanes[backend, timeout] = lane = Lane(targets.resolve(backend), Limits(timeout=timeout))
        config.add_cleanup(lane.close)
    return lanes[backend, timeout]


def asked(config: pytest.Config, case: Case, backend: str, timeout: float) -> Result:
    """Return what becomes of a case; a fault of the adapter ends the setup of the test that needs it."""
    try:
        result = judge(case, backend, _lane(config, backend, timeout).ask(case))
    except HarnessError as error:
        pytest.fail(str(error), pytrace=False)
    if result.verdict is Verdict.ADAPTER_ERROR:
        pytest.fail(f"{case.id}: {result.message}", pytrace=False)
    return result


def _end(case: Case, result: Result) -> None:
    """End the test as the verdict says."""
    if not result.verdict.scored:
        pytest.skip(f"{result.verdict}: {result.message or result.actual}")
    if result.verdict.failed:
        pytest.fail(_explain(case, result), pytrace=False)


def _explain(case: Case, result: Result) -> str:
    head = f"{result.backend}: {result.verdict}: {result.message}"
    shown = [f"got {result.actual}"] if result.actual else []
    printed = [f"the last it printed: {result.stderr}"] if result.stderr else []
    return "\n".join([head, *shown, *printed, "", *case_report.lines(case)])


class CaseItem(pytest.Item):
    """One case on one backend."""

    def __init__(self, *, case: Case, backend: str, timeout: float, **given: Any) -> None:  # noqa: ANN401 - pytest's own
        """Take the case and where to run it."""
        super().__init__(**given)
        self.case, self.backend, self.timeout = case, backend, timeout
        self.result: Result | None = None
        self.extra_keyword_matches.update(case.tags)

    def setup(self) -> None:
        """Run the case."""
        self.result = asked(self.config, self.case, self.backend, self.timeout)

    def runtest(self) -> None:
        """Say what became of it."""
        assert self.result is not None  # noqa: S101 - setup comes first
        _end(self.case, self.result)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Return what pytest prints for the item."""
        return self.path, None, self.name


class CaseCollector(pytest.Collector):
    """The cases of one backend."""

    def __init__(self, *, backend: str, cases: list[Case], **given: Any) -> None:  # noqa: ANN401 - pytest's own
        """Take the backend and its cases."""
        super().__init__(**given)
        self.backend, self.cases = backend, cases

    def collect(self) -> Iterator[CaseItem]:
        """Yield one item a case."""
        timeout = self.config.getoption("--onnx-timeout")
        for case in self.cases:
            yield CaseItem.from_parent(self, name=case.id, case=case, backend=self.backend, timeout=timeout)


def items(session: pytest.Session) -> list[pytest.Item]:
    """Return the items of every --onnx-backend.

    Raises:
        HarnessError: a backend or the suite is not to be had, or nothing is selected.
    """
    option = session.config.getoption
    backends = list(dict.fromkeys(option("--onnx-backend")))
    for name in backends:
        targets.resolve(name)  # Before the cases are made, which takes longer.
    cases = _selected(
        option("--onnx-suite"), tuple(option("--onnx-op")), tuple(option("--onnx-case")), tuple(option("--onnx-tag"))
    )
    found: list[pytest.Item] = []
    for name in backends:
        collector = CaseCollector.from_parent(session, name=name, nodeid=f"onnx::{name}", backend=name, cases=cases)
        found.extend(collector.collect())
    return found


def _selected(suite_name: str, ops: tuple[str, ...], cases: tuple[str, ...], tags: tuple[str, ...]) -> list[Case]:
    suite, selection = suites.open_suite(suite_name), suites.Selection(ops, cases, tags)
    suites.check_selection(suite, selection)
    found = list(suite.cases(selection))
    if suite.faults:
        raise suites.SuiteError("\n".join(suite.faults))
    for option, glob in sorted(selection.idle):
        raise suites.SelectionError(f"{option} {glob!r} matches no case of suite {suite_name}")
    if not found:
        raise suites.SelectionError(f"suite {suite_name} has no case for {str(selection) or 'anything'}")
    return found


def conformance(
    backend: str,
    *,
    suite: str = "generated",
    op: str | tuple[str, ...] = (),
    case: str | tuple[str, ...] = (),
    tag: str | tuple[str, ...] = (),
    timeout: float = 20.0,
) -> Callable[..., None]:
    """Return a test function with one item a case, for a test module to keep under a name test_*.

    Args:
        backend: as in `onnx-conformance run`.
        suite: generated, official, or a folder.
        op: globs over operators; empty means all.
        case: globs over case ids.
        tag: globs over tags.
        timeout: seconds that one case may take.

    Raises:
        HarnessError: the backend or the suite is not to be had, or nothing is selected.
    """
    targets.resolve(backend)
    chosen = _selected(suite, _globs(op), _globs(case), _globs(tag))

    requests = [pytest.param((item, backend, timeout), id=item.id) for item in chosen]

    @pytest.mark.parametrize("onnx_result", requests, indirect=True)
    def test_conformance(onnx_result: tuple[Case, Result]) -> None:
        _end(*onnx_result)

    return test_conformance


def _globs(given: str | tuple[str, ...]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else given
