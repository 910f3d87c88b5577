# SPDX-License-Identifier: Apache-2.0
"""A Dask cluster: the results of one worker, and a line where something is out of reach."""

from __future__ import annotations

import dataclasses
import logging
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import distributed
import pytest

from commands import adapter, command
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.results.stream import Run as Stream
from onnx_conformance.run import cluster
from onnx_conformance.run.cluster import Task, end_warm, run_task
from onnx_conformance.run.options import Options
from onnx_conformance.run.run import Run
from onnx_conformance.suites import slices
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.selection import Selection
from onnx_conformance.suites.slices import Slice
from refusals import refuses

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from onnx_conformance.base.verdict import Result

pytestmark = pytest.mark.usefixtures("few_operators")

SPLIT = Slice("ai.onnx/Split/13")


def options(path: Path | None = None, kind: str = "good", *more: str, **others: Any) -> Options:
    selection = Selection(ops=("Split*", "Reshape"), core=True)
    return Options((adapter(kind, *more),), "generated", selection, Limits(), results=path, **others)


def told(results: Iterable[Result]) -> dict[str, Result]:
    """Return results by case, without times."""
    found: dict[str, Result] = {}
    for result in results:
        assert result.case not in found, f"{result.case} is doubled"
        found[result.case] = dataclasses.replace(result, seconds=None)
    return found


@pytest.mark.slow
def test_dask_gives_the_results_of_one_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "MOST_CASES", 20)
    one, two = tmp_path / "one.ndjson", tmp_path / "two.ndjson"
    Run(options(one, "dies_by_segv")).run()
    run = Run(options(two, "dies_by_segv", cluster="local:2"))
    run.run()
    stream = Stream(two)
    assert told(stream.results()) == told(Stream(one).results())
    assert stream.complete
    assert stream.header["arguments"]["cluster"] == "local:2"
    assert not run.faults
    assert not run.options.selection.idle
    assert run.cost is not None
    assert run.cost.adapters > 0


def task(of: Options, *, digest: str = "", parts: tuple[Slice, ...] = (SPLIT,)) -> Task:
    return Task("a run", of, digest or Generated().digest(), parts)


@pytest.mark.slow
def test_a_worker_keeps_its_adapters_for_the_next_task(tmp_path: Path) -> None:
    record = tmp_path / "record"
    of = options(None, "hangs_on_one_device", "no/such/case", str(record))  # A second process would find no device.
    try:
        first, second = run_task(task(of), ()), run_task(task(of, parts=(Slice("ai.onnx/Split/18"),)), ())
        assert (first.error, second.error) == (None, None)
        assert {result.operator for result, _ in first.results} == {"ai.onnx/Split/13"}
        assert {result.operator for result, _ in second.results} == {"ai.onnx/Split/18"}
        assert all(text is not None and text.endswith(b"\n") for _, text in first.results)
        assert [str(report.slice) for report in second.reports] == ["ai.onnx/Split/18"]
    finally:
        end_warm("a run")
    assert not cluster._WARM.get("a run")


@pytest.mark.slow
def test_what_is_to_be_skipped_is() -> None:
    of = options()
    name = of.backends[0]
    try:
        every = {result.case for result, _ in run_task(task(of), ()).results}
        some = {(name, case) for case in sorted(every)[:5]}
        rest = {result.case for result, _ in run_task(task(of), some).results}
    finally:
        end_warm("a run")
    assert len(every) > 10
    assert rest == every - {case for _, case in some}


def test_another_suite_on_a_worker_is_a_line_that_names_both() -> None:
    outcome = run_task(task(options(), digest="0123456789abcdef"), ())
    assert not outcome.results
    for part in ("0123456789abcdef", Generated().digest(), "use the same onnx-conformance, onnx and folders"):
        assert part in str(outcome.error), outcome.error


def test_adapters_that_do_not_start_are_a_line() -> None:
    error = run_task(task(options(None, "dies_at_start")), ()).error
    assert error is not None
    assert error.id == "ended-before-hello"


def refused(*words: str) -> str:
    done = command("run", "--op", "Split", "--backend", adapter("good"), *words)
    assert done.status == 2, done.text
    [said] = [line for line in done.err.splitlines() if "note: " not in line]
    return said


def test_without_dask_the_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise ImportError("No module named 'distributed'")

    monkeypatch.setattr(cluster, "_dask", missing)
    assert "needs Dask: pip install distributed" in refused("--cluster", "local:1")


@pytest.mark.slow
def test_a_scheduler_out_of_reach_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1.0)
    said = refused("--cluster", "tcp://127.0.0.1:9")
    assert said.startswith("onnx-conformance: --cluster tcp://127.0.0.1:9: "), said
    assert "check that the scheduler is running" in said, said


@pytest.mark.slow
def test_where_all_workers_go_the_run_ends_with_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "MOST_CASES", 5)
    monkeypatch.setattr(cluster, "TASK_SLICES", 1)
    path = tmp_path / "some.ndjson"
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
    ) as local:
        run = Run(options(path, cluster=local.scheduler_address))

        def on_result(_: Result) -> None:
            monkeypatch.setattr(cluster, "WORKER_SECONDS", 1.0)
            local.scale(0)

        with refuses("no-worker"):
            run.run(on_result)
    stream = Stream(path)
    assert not stream.complete
    assert list(stream.results())


def test_a_task_that_went_with_its_worker_is_not_waited_for_without_an_end() -> None:
    asked: list[float] = []

    class Future:
        def result(self, timeout: float) -> None:
            asked.append(timeout)
            raise TimeoutError

    def look() -> None:
        if len(asked) == 3:
            raise HarnessError("no-worker", "it has had no worker for 1 s; start some")

    run = SimpleNamespace(
        _check_connection=lambda: None, _look_at_workers=look, _client=SimpleNamespace(status="running")
    )
    with refuses("no-worker"):
        cluster.Cluster._result(run, Future())
    assert len(asked) == 3


@pytest.mark.slow
def test_a_device_that_no_worker_has_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "WORKER_SECONDS", 3.0)
    said = refused("--cluster", "local:1", "--resource", f"{adapter('good')}=GPU:1")
    assert f"no worker for {adapter('good')} with GPU=1; start one with --resources 'GPU=1'" in said, said


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--cluster", "local:0"), "'local:0' is not an address"),
        (("--cluster", "local:"), "is not an address"),
        (("--cluster", "10.0.0.1"), "'10.0.0.1' is not an address"),
        (("--cluster", "local:2", "--jobs", "2"), "use only one of them"),
        (("--resource", "other=GPU:1", "--cluster", "local:1"), "'other=GPU:1': expected BACKEND=KEY:N"),
        (("--resource", "GPU"), "--resource 'GPU': expected BACKEND=KEY:N"),
        (("--resource", f"{adapter('good')}=GPU:1"), "--resource needs --cluster"),
    ],
)
def test_options_that_make_no_sense_are_a_line(words: tuple[str, ...], part: str) -> None:
    assert part in refused(*words)


def test_backends_that_need_a_device_have_tasks_of_their_own() -> None:
    needing = {"b": {"GPU": 1.0}}
    of = Options(("a", "b", "c"), "generated", Selection(), Limits(), cluster="local:1", resources=needing)
    crew = cluster.Cluster(of, "", (), encode=False)
    assert crew._kinds == {("a", "c"): {}, ("b",): {"GPU": 1.0}}
    assert crew._task(("b",)).options.backends == ("b",)
    one = cluster.Cluster(dataclasses.replace(of, backends=("c",)), "", (), encode=False)
    assert one._kinds == {("c",): {}}, "a later part of a run, with one of its backends"


def test_short_slices_share_a_task_and_long_ones_do_not() -> None:
    long, short = [Slice(f"long{i}") for i in range(3)], [Slice(f"short{i}") for i in range(40)]
    known = {**dict.fromkeys(long, cluster.TASK_SECONDS), **dict.fromkeys(short, 0.01)}
    tasks = list(cluster._gathered([*long, *short], known))
    assert [len(task) for task in tasks] == [1, 1, 1, cluster.TASK_SLICES, cluster.TASK_SLICES, 8]
    assert [part for some in tasks for part in some] == [*long, *short]
