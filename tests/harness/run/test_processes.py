# SPDX-License-Identifier: Apache-2.0
"""Workers in processes of their own: the results of one worker, whatever becomes of a worker."""

from __future__ import annotations

import dataclasses
import os
import re
import signal
from typing import TYPE_CHECKING, Any

import pytest

from commands import adapter, command
from onnx_conformance.judging import judge as judging
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.results.stream import Run as Stream
from onnx_conformance.run import processes, worker, worker_process
from onnx_conformance.run.options import Options
from onnx_conformance.run.processes import WorkerFaultError
from onnx_conformance.run.run import Run, StoppedError
from onnx_conformance.suites import slices
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.selection import Selection
from refusals import refuses

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from onnx_conformance.base.verdict import Result
    from onnx_conformance.case.case import Case

pytestmark = pytest.mark.usefixtures("ends", "few_operators")

SELECTED = ("--core", "--op", "Split*", "--op", "Reshape")


@pytest.fixture(autouse=True)
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make slices so small that each worker takes many."""
    monkeypatch.setattr(slices, "MOST_CASES", 10)


def selection() -> Selection:
    return Selection(ops=("Split*", "Reshape"), core=True)


def options(path: Path | None = None, kind: str = "good", **others: Any) -> Options:
    backends = (adapter(kind),)
    return Options(backends, "generated", selection(), Limits(), results=path, **{"jobs": 2, **others})


def told(results: Iterator[Result]) -> dict[str, Result]:
    """Return results by case, without times."""
    found: dict[str, Result] = {}
    for result in results:
        assert result.case not in found, f"{result.case} is doubled"
        found[result.case] = dataclasses.replace(result, seconds=None)
    return found


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    """The results of one worker."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slices, "MOST_CASES", 10)
        path = tmp_path_factory.mktemp("alone") / "results.ndjson"
        Run(options(path, "dies_by_segv", jobs=1)).run()
        results = told(Stream(path).results())
    assert len(results) > 100
    return results


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [2, 3])
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_several_workers_give_the_results_of_one(
    jobs: int, method: str, tmp_path: Path, alone: dict[str, Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "METHOD", method)
    path = tmp_path / "results.ndjson"
    run = Run(options(path, "dies_by_segv", jobs=jobs))
    run.run()
    stream = Stream(path)
    assert told(stream.results()) == alone
    assert stream.complete
    assert stream.header["arguments"]["jobs"] == jobs
    assert run.taken == len(alone)
    assert not run.faults
    assert run.cost is not None
    assert run.cost.adapters > 0


def test_no_more_workers_than_slices_and_one_needs_no_process(tmp_path: Path) -> None:
    path = tmp_path / "results.ndjson"
    case = "ai.onnx/Split/13/even"  # One of about forty slices of its operator version.
    done = command("run", "--jobs", "8", "--case", case, "--backend", adapter("good"), "--results", path)
    assert done.status == 0, done.text
    assert Stream(path).header["arguments"]["jobs"] == 1


@pytest.mark.slow
def test_a_run_that_stops_early_keeps_what_every_worker_knows(tmp_path: Path, alone: dict[str, Result]) -> None:
    path = tmp_path / "results.ndjson"
    run = Run(options(path, "gives_an_output_less", max_fail=1, repeat=1))
    with refuses("too-many-failures", kind=StoppedError):
        run.run()
    failed = [item.case for item in Stream(path).results() if item.verdict.failed]
    assert failed, "the first one stopped the run"
    assert not Stream(path).complete
    resumed = Run(dataclasses.replace(options(path, "gives_an_output_less", repeat=1), resume=True))
    resumed.run()
    assert told(Stream(path).results()).keys() == alone.keys()


class Deadly(Generated):
    """The generated cases, one of which kills the worker that makes it, so often."""

    def __init__(self, counter: Path, times: int) -> None:
        super().__init__()
        self._counter, self._times = counter, times

    def cases(self, selection: Selection) -> Iterator[Case]:
        """Yield the cases."""
        for case in super().cases(selection):
            if case.id == "ai.onnx/Split/13/even_columns/int32" or case.name == "even_columns":
                deaths = len(self._counter.read_bytes()) if self._counter.exists() else 0
                if deaths < self._times:
                    with self._counter.open("ab") as file:
                        file.write(b"x")
                    os.kill(os.getpid(), signal.SIGKILL)
            yield case


@pytest.mark.slow
def test_another_worker_runs_the_rest_of_what_a_dead_one_had(
    tmp_path: Path, alone: dict[str, Result], capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "results.ndjson"
    run = Run(options(path, "dies_by_segv"), Deadly(tmp_path / "deaths", 2))
    run.run()
    assert told(Stream(path).results()) == alone
    assert Stream(path).complete
    assert not run.faults
    assert capfd.readouterr().err.count("[worker-lost]") == 2


@pytest.mark.slow
def test_a_slice_that_kills_every_worker_is_given_up_and_named(tmp_path: Path, alone: dict[str, Result]) -> None:
    path = tmp_path / "results.ndjson"
    run = Run(options(path, "dies_by_segv"), Deadly(tmp_path / "deaths", 1000))
    run.run()
    results = told(Stream(path).results())
    assert results.items() < alone.items()
    assert len(results) > len(alone) / 2, "all other slices"
    assert not Stream(path).complete
    [fault] = run.faults
    assert fault.startswith("ai.onnx/Split/"), "and no other slice is blamed"
    assert f"the worker that ran it died {processes.MOST_DEATHS + 1} times, the last time ended by SIGKILL" in fault
    assert run.exit_status() == 2


@pytest.mark.slow
def test_a_fault_of_the_harness_in_a_worker_is_one_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("in the judge")

    monkeypatch.setattr(judging, "_judged", broken)
    with pytest.raises(WorkerFaultError, match="ZeroDivisionError"):
        Run(options(tmp_path / "results.ndjson")).run()


def test_bad_input_that_only_a_worker_meets_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise judging_error

    from onnx_conformance.declare import DeclarationError  # noqa: PLC0415 - for this test alone

    judging_error = DeclarationError("clause-missing", "split.py, line 7: no such clause")
    monkeypatch.setattr(worker.Worker, "_cases", broken)
    done = command("run", *SELECTED, "--backend", adapter("good"), "--jobs", "2")
    assert done.refused("clause-missing", "split.py, line 7"), done.text


@pytest.mark.slow
def test_a_backend_that_does_not_start_is_one_line() -> None:
    done = command("run", *SELECTED, "--backend", adapter("dies_at_start"), "--jobs", "2")
    assert done.status == 2
    assert done.err.count("before it sent hello") == 1, done.text


@pytest.mark.slow
@pytest.mark.parametrize(("jobs", "apart"), [("1", False), ("2", True)])
def test_the_others_run_where_one_backend_does_not_start(jobs: str, *, apart: bool, tmp_path: Path) -> None:
    bad, good = adapter("dies_at_start"), adapter("good")
    results = tmp_path / "r" if apart else tmp_path / "r.ndjson"
    place = f"{results}/" if apart else results
    done = command("run", *SELECTED, "--backend", bad, "--backend", good, "--jobs", jobs, "--results", place)
    assert done.status == 2, done.text
    assert done.err.count("[ended-before-hello]") == 1, done.text
    [path] = results.iterdir() if apart else [results]
    run = Stream(path)
    assert [*run.header["backends"]] == [good]
    assert run.complete
    assert len([*run.results()]) > 100
    assert any("[ended-before-hello]" in fault for fault in run.footer["faults"])


@pytest.mark.slow
def test_a_run_to_resume_needs_every_backend(tmp_path: Path) -> None:
    path = tmp_path / "r.ndjson"
    words = ("run", *SELECTED, "--backend", adapter("dies_at_start"), "--backend", adapter("good"), "--results", path)
    assert command(*words, "--resume").refused("ended-before-hello")
    assert not path.exists() or not path.read_bytes()


@pytest.mark.slow
def test_a_worker_whose_adapter_finds_no_device_leaves_the_work_to_the_others(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Its adapters start only where no other has the device."""
    path = tmp_path / "results.ndjson"
    backend = adapter("hangs_on_one_device", "no/such/case", str(tmp_path / "record"))
    chosen = Selection(ops=("Split/13", "Split/18"))
    run = Run(dataclasses.replace(options(path), backends=(backend,), selection=chosen))
    run.run()
    assert Stream(path).complete, (run.faults, run.taken, capfd.readouterr().err)
    assert run.taken == len(told(Stream(path).results())) > 100
    # On a busy machine, the first may have ended before the second starts.
    said = capfd.readouterr().err.strip()
    assert not said or re.match(r"onnx-conformance: note: .*: cmd:.*\[worker-not-started\]", said), said


@pytest.mark.slow
def test_workers_send_results_before_a_slice_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slice of a slow backend may take hours."""
    monkeypatch.setattr(slices, "MOST_CASES", 400)
    monkeypatch.setattr(worker_process, "MOST_SECONDS", 0.05)
    arrived = 0

    def on_result(_: Result) -> None:
        nonlocal arrived
        arrived += 1
        if arrived == 3:
            raise KeyboardInterrupt

    path = tmp_path / "results.ndjson"
    with pytest.raises(KeyboardInterrupt):
        Run(options(path, "is_slow")).run(on_result)
    results = told(Stream(path).results())
    assert 3 <= len(results) < 60
    assert not Stream(path).complete
