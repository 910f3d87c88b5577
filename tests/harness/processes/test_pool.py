# SPDX-License-Identifier: Apache-2.0
"""Slow cases: others run meanwhile, in another process, and no verdict changes for that."""

from __future__ import annotations

import dataclasses
import shlex
import sys
import threading
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.environments import backend_names
from onnx_conformance.processes import case_times
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.processes.case_times import CaseTimes
from onnx_conformance.run.scheduler import Scheduler
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.selection import Selection
from paths import WRONG

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_conformance.case.case import Case

SLOW, QUICK = "lengths_sum", "even"
pytestmark = pytest.mark.usefixtures("ends")


@pytest.fixture(scope="module")
def pair() -> dict[str, Case]:
    ids = tuple(f"ai.onnx/Split/13/{name}" for name in (SLOW, QUICK))
    return {case.name: case for case in Generated().cases(Selection(cases=ids))}


def mixed(pair: dict[str, Case], count: int, slow: int, first: int = 10) -> list[Case]:
    """Return so many cases, of which so many, one in four from the `first` on, are those that take long."""
    places = range(first, first + 4 * slow, 4)
    chosen = [pair[SLOW if number in places else QUICK] for number in range(count)]
    cases = [dataclasses.replace(case, id=f"{case.id}-{number}") for number, case in enumerate(chosen)]
    assert sum(SLOW in case.id for case in cases) == slow
    return cases


class Ran:
    """One run on an adapter that keeps a record."""

    def __init__(self, folder: Path, kind: str, cases: list[Case], *more: str, **limits: int) -> None:
        """Run; `limits` are those of an adapter, and `jobs` and `repeat`."""
        self.record = folder / "record"
        words = [sys.executable, "-S", str(WRONG), kind, SLOW, str(self.record), *more]
        target = backend_names.resolve("cmd:" + shlex.join(words))
        jobs, repeat = limits.pop("jobs", 1), limits.pop("repeat", 0)
        self.results: list[Result] = []
        self.waits: list[case_times.Wait] = []
        self.hangs_before_the_first_verdict = 0
        with Scheduler([target], Limits(**limits), jobs, repeat=repeat) as scheduler:  # type: ignore[arg-type]
            scheduler.start()

            def on_wait() -> None:
                wait = scheduler.status()[target.name].wait
                self.waits += [wait] if wait is not None else []

            for result in scheduler.run(cases, on_wait=on_wait):
                if result.verdict is Verdict.TIMEOUT and not self.hangs_before_the_first_verdict:
                    self.hangs_before_the_first_verdict = self.count("hangs")
                self.results.append(result)
            self.status = scheduler.status().get(target.name)
        self.faults = scheduler.faults

    def count(self, what: str) -> int:
        """Return how often processes did this."""
        return sum(line.endswith(f" {what}") for line in self.record.read_text().splitlines())

    def check(self, cases: list[Case], slow: Verdict) -> None:
        """Each case has one result; that of those that take long is `slow`, the others pass."""
        assert sorted(r.case for r in self.results) == sorted(case.id for case in cases), self.faults
        verdicts = {(SLOW in r.case, r.verdict) for r in self.results}
        assert verdicts == {(True, slow), (False, Verdict.PASS)}, Counter((r.case, r.verdict) for r in self.results)
        assert self.faults == []


HANGING: dict[str, tuple[str, tuple[int, int], dict[str, int]]] = {
    "side by side": ("hangs_on_record", (60, 5), {"timeout": 3}),
    "two jobs": ("hangs_on_record", (60, 4), {"timeout": 3, "jobs": 2}),
    "again": ("hangs_on_record", (30, 2), {"timeout": 2, "repeat": 1}),
    "one device": ("hangs_on_one_device", (30, 2), {"timeout": 3}),
    "restarts": ("hangs_on_record", (40, 4), {"timeout": 2, "restarts": 1}),
}
"""Runs of which almost all time is waited: adapter, number of cases and of slow ones, limits."""


@pytest.fixture(scope="module")
def hanging(pair: dict[str, Case], tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[list[Case], Ran]]:
    """Return the runs of HANGING, and their cases; all run at the same time."""
    cases = {name: mixed(pair, *counts) for name, (_, counts, _) in HANGING.items()}
    ran: dict[str, tuple[list[Case], Ran]] = {}

    def run(name: str, folder: Path) -> None:
        kind, _, limits = HANGING[name]
        ran[name] = cases[name], Ran(folder, kind, cases[name], **limits)

    threads = [
        threading.Thread(target=run, args=(name, tmp_path_factory.mktemp("ran")), daemon=True) for name in HANGING
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)  # One that hangs fails the test that needs its run.
    return ran


# Other cases run beside a slow one


@pytest.mark.slow
def test_hangs_are_waited_for_side_by_side(hanging: dict[str, tuple[list[Case], Ran]]) -> None:
    cases, ran = hanging["side by side"]
    ran.check(cases, Verdict.TIMEOUT)
    assert ran.hangs_before_the_first_verdict > 1, "the second began before the first was over"
    assert ran.count("starts") == 1 + 5, "one process for each hang, and one that goes on"
    assert ran.count("hangs") == 5, "no case is run twice"
    assert ran.count("answers") == 55, "nor is any that was sent behind one that hangs"
    assert ran.status is not None
    assert ran.status.restarts == 5, ran.status
    longest = max(ran.waits, key=lambda wait: wait.seconds)
    assert SLOW in longest.case
    assert longest.seconds > 1, longest
    assert longest.limit == 3, longest


@pytest.mark.slow
def test_four_slow_cases_may_wait_until_all_others_are_answered(
    pair: dict[str, Case], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each answers only when every quick case was answered: one after the other, all would be late."""
    monkeypatch.setattr(case_times, "TIMEOUT_SHARE", 1000)
    cases = mixed(pair, 60, 4)
    ran = Ran(tmp_path, "waits_for_others", cases, str(56), timeout=30)
    ran.check(cases, Verdict.PASS)
    assert ran.status is not None
    assert ran.status.restarts == 0, "a case that is slow is no fault"
    assert ran.status.stalled > 2, f"{ran.status}: about a second for each"


@pytest.mark.slow
def test_no_more_slow_processes_run_than_are_allowed(
    pair: dict[str, Case], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("onnx_conformance.processes.pool.MOST_SLOW", 0)
    cases = mixed(pair, 30, 2)
    ran = Ran(tmp_path, "hangs_on_record", cases, timeout=2)
    ran.check(cases, Verdict.TIMEOUT)
    assert ran.hangs_before_the_first_verdict == 1, "one after the other"


@pytest.mark.slow
def test_two_jobs_go_on_beside_two_slow_cases(hanging: dict[str, tuple[list[Case], Ran]]) -> None:
    cases, ran = hanging["two jobs"]
    ran.check(cases, Verdict.TIMEOUT)
    assert ran.hangs_before_the_first_verdict > 2, "each of the two jobs went on"


@pytest.mark.slow
def test_a_failure_that_hangs_runs_again(hanging: dict[str, tuple[list[Case], Ran]]) -> None:
    cases, ran = hanging["again"]
    ran.check(cases, Verdict.TIMEOUT)
    assert ran.count("hangs") == 2 * 3, "first, again, and in a fresh process"


@pytest.mark.slow
def test_a_slow_failure_runs_again_in_another_process(
    pair: dict[str, Case], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(case_times, "TIMEOUT_SHARE", 1000)
    cases = mixed(pair, 30, 1)
    ran = Ran(tmp_path, "wrong_after_others_answered", cases, str(29), timeout=30, repeat=1)
    ran.check(cases, Verdict.FLAKY)
    slow = next(result for result in ran.results if result.verdict is Verdict.FLAKY)
    assert [attempt["process"] for attempt in slow.attempts] == ["first", "fresh", "fresh"], slow


# Where no other case runs beside a slow one


@pytest.mark.slow
def test_a_backend_that_is_slow_at_everything_has_one_process(
    pair: dict[str, Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each case takes longer than the least that counts, but none several times as long as usual."""
    monkeypatch.setattr(case_times, "LEAST_SECONDS", 0.2)
    monkeypatch.setattr(case_times, "TIMEOUT_SHARE", 1000)
    for module in ("processes.pool", "run.scheduler"):
        monkeypatch.setattr(f"onnx_conformance.{module}.SLOW_CHECK_SECONDS", 0.05)
    started: list[object] = []
    cases = mixed(pair, 12, 0)
    target = backend_names.resolve("cmd:" + shlex.join([sys.executable, "-S", str(WRONG), "is_very_slow"]))
    with Scheduler([target], Limits(), 1) as scheduler:
        scheduler.start()
        monkeypatch.setattr("onnx_conformance.processes.adapter_process.ProcessTree", started.append)
        results = list(scheduler.run(cases))
    assert [result.verdict for result in results] == [Verdict.PASS] * 12, scheduler.faults
    assert not started


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody can tell who keeps a processor busy")
@pytest.mark.parametrize(
    ("kind", "cores", "at_once"), [("hangs_on_record", 1, 2), ("spins_on_record", 1, 1), ("spins_on_record", 2, 2)]
)
def test_a_case_that_computes_has_a_processor_of_its_own_or_waits(
    kind: str, cores: int, at_once: int, pair: dict[str, Case], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would be late only because of those that run beside it."""
    monkeypatch.setattr(case_times, "cores", lambda: cores)
    cases = mixed(pair, 30, 2)
    ran = Ran(tmp_path, kind, cases, timeout=4)
    ran.check(cases, Verdict.TIMEOUT)
    assert ran.hangs_before_the_first_verdict == at_once, ran.record.read_text()


@pytest.mark.slow
def test_a_runtime_that_cannot_run_twice_at_once_is_waited_for(hanging: dict[str, tuple[list[Case], Ran]]) -> None:
    cases, ran = hanging["one device"]
    ran.check(cases, Verdict.TIMEOUT)
    assert ran.count("finds no device") == 2, "a second chance as always, and no other beside one that hangs"
    assert ran.hangs_before_the_first_verdict == 1, "one after the other"


@pytest.mark.slow
def test_hangs_that_end_in_time_out_are_within_the_restarts_that_are_allowed(
    hanging: dict[str, tuple[list[Case], Ran]],
) -> None:
    _, ran = hanging["restarts"]
    verdicts = Counter(result.verdict for result in ran.results)
    assert verdicts[Verdict.TIMEOUT] == 2, verdicts
    assert verdicts[Verdict.PASS] > 10, verdicts
    assert len(ran.faults) == 1, ran.faults
    assert "ended 2 times" in ran.faults[0], ran.faults
    assert "--restarts allows 1" in ran.faults[0], ran.faults


# When a case is slow

TIMES: list[tuple[str, float, list[float], float, float]] = [
    ("nothing is known", 20, [], 0, 5),
    ("quick", 20, [0.003] * 20, 0.3, 2),
    ("a short deadline", 3, [0.003] * 20, 0.3, 1),
    ("slow at everything", 20, [1.0, 2.0] * 10, 0.3, 10),
    ("slow since a while", 20, [*[0.003] * 20, *[3.0] * 5], 0.3, 15),
    ("one was slow", 20, [*[0.003] * 20, 9.0], 0.3, 2),
    ("slow to start", 20, [0.003] * 20, 6, 6),
]


@pytest.mark.parametrize(
    ("timeout", "times", "start", "seconds"), [row[1:] for row in TIMES], ids=[r[0] for r in TIMES]
)
def test_a_case_is_slow_after_several_times_the_usual_time(
    timeout: float, times: list[float], start: float, seconds: float
) -> None:
    known = CaseTimes(timeout, start)
    for measured in times:
        known.add(measured)
    assert known.slow_after == pytest.approx(seconds)
