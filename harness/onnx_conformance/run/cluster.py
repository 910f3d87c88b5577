# SPDX-License-Identifier: Apache-2.0
"""Workers on other machines: slices are tasks of Dask, and its workers are ours.

A task runs some slices and returns their results. A Dask worker keeps our worker, and so the adapters, from one task to
the next. A crash of a runtime is a verdict: it happens in a process below the adapter's supervisor, which Dask does
not notice. If a Dask worker itself dies, its tasks run again elsewhere, and the run reports it.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import pickle
import queue
import resource
import threading
import time
from collections import Counter, deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from onnx_conformance.base import printing
from onnx_conformance.base.errors import HarnessError, Note
from onnx_conformance.base.verdict import line
from onnx_conformance.results.stream import encoded
from onnx_conformance.run import cpu_time
from onnx_conformance.run.costs import seconds
from onnx_conformance.run.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping, Sequence

    from onnx_conformance.processes.case_times import Status
    from onnx_conformance.run.crew import Arrived
    from onnx_conformance.run.options import Options
    from onnx_conformance.run.worker import SliceReport
    from onnx_conformance.suites.selection import Selection
    from onnx_conformance.suites.slices import Slice

LOCAL = "local:"
TASK_SECONDS, TASK_SLICES = 2.0, 16
"""A task has slices for about so many seconds, by earlier runs, and at most so many of them."""
CONNECT_SECONDS, WORKER_SECONDS = 20.0, 60.0
"""How long to wait for the scheduler, and for the first worker."""
LOST_SECONDS = 15.0
"""How long the scheduler may be out of reach."""
POLL_SECONDS = 0.05
LOOK_SECONDS = 1.0
"""Seconds between two looks at which Dask workers there are."""
WARM_SECONDS = 60.0
"""How long adapters wait on a Dask worker for the next task of their run."""
MOST_DEATHS = 3
"""Dask workers that may die over one task before it is not begun again."""
MOST_WITH_A_TASK = 64 << 10
"""Maximum size of the list of skipped cases that is sent with each task; a larger list is distributed once."""
HINT = "pip install distributed"


class TaskLostError(Exception):
    """A task can no longer run, because the workers with its resources are lost."""


@dataclass(frozen=True)
class Task:
    """A task for a Dask worker.

    Attributes:
        run: name of the run, which separates its adapters from those of other runs.
        options: options of the run, except those that only the command needs.
        digest: digest of the suite, which must be the same there.
        slices: to run; none: the adapters are only started.
        idle: globs of the selection that have matched nothing so far.
        encode: whether results are returned with their lines of the results file.
    """

    run: str
    options: Options
    digest: str
    slices: tuple[Slice, ...] = ()
    idle: frozenset[tuple[str, str]] = frozenset()
    encode: bool = True


@dataclass
class Outcome:
    """The outcome of a task.

    Attributes:
        hellos: hellos of the adapters, by backend.
        results: results, each with its line of the results file.
        reports: reports of the slices with complete results.
        faults, given_up: as in `Crew`.
        error: why nothing could be run; None: no error.
        seconds: CPU time in the harness.
    """

    hellos: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    results: list[Arrived] = field(default_factory=list)
    reports: list[SliceReport] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    given_up: set[str] = field(default_factory=set)
    error: HarnessError | None = None
    seconds: float = 0.0


# On a Dask worker


@dataclass
class _Warm:
    """One of our workers on a Dask worker, with its adapters."""

    worker: Worker
    hellos: Mapping[str, Mapping[str, Any]]
    until: float = 0.0


_LOCK = threading.Lock()
_WARM: dict[str, list[_Warm]] = {}
"""By run, the workers that no task uses at the moment."""


def run_task(task: Task, skipped: Container[tuple[str, str]]) -> Outcome:
    """Run some slices; the function that Dask calls.

    Args:
        task: the task.
        skipped: (backend name, case id) of each case that is not to run.
    """
    before = time.thread_time()
    try:
        warm = _taken(task)
    except HarnessError as error:
        return Outcome(error=error.alone)
    outcome = Outcome(warm.hellos)
    selection = replace(task.options.selection)
    selection.idle = set(task.idle)
    worker = warm.worker
    try:
        for result, _ in worker.run([(part, selection) for part in task.slices], skipped):
            outcome.results.append((result, encoded(result) if task.encode else None))
    except HarnessError as error:
        worker.scheduler.close()
        return Outcome(error=error.alone)
    except BaseException:
        worker.scheduler.close()
        raise
    outcome.reports, worker.reports = worker.reports, []
    outcome.faults, worker.scheduler.faults = worker.scheduler.faults, []
    outcome.given_up = worker.scheduler.given_up
    outcome.seconds = time.thread_time() - before
    if outcome.given_up:
        worker.scheduler.close()
    else:
        _put_back(task.run, warm)
    return outcome


def _taken(task: Task) -> _Warm:
    """Return a worker of a run, with its adapters started.

    Raises:
        HarnessError: there is no such suite, or another one, or an adapter does not start.
    """
    with _LOCK:
        idle = _WARM.get(task.run)
        if idle:
            return idle.pop()
    worker = Worker(task.options.work())
    if worker.suite.digest() != task.digest:
        raise HarnessError(
            "worker-has-another-suite",
            f"suite {line(task.options.suite)} has digest {worker.suite.digest()} on {os.uname().nodename}, but "
            f"{task.digest} on the machine of the command; use the same onnx-conformance, onnx and folders on both",
        )
    try:
        return _Warm(worker, worker.start())
    except BaseException:
        worker.scheduler.close()
        raise


def _put_back(run: str, warm: _Warm) -> None:
    warm.until = time.monotonic() + WARM_SECONDS
    with _LOCK:
        _WARM.setdefault(run, []).append(warm)
    timer = threading.Timer(WARM_SECONDS + 1, end_warm, (run,), {"all_": False})
    timer.daemon = True
    timer.start()


def end_warm(run: str, *, all_: bool = True) -> float:
    """End the adapters of a run; return the CPU time of all adapters that this process has ended so far.

    Args:
        run: which.
        all_: even those that were in use a moment ago.
    """
    with _LOCK:
        idle = _WARM.pop(run, [])
        kept = [] if all_ else [warm for warm in idle if warm.until > time.monotonic()]
        if kept:
            _WARM[run] = kept
    for warm in idle:
        if warm not in kept:
            warm.worker.scheduler.close()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# In the command


class Cluster:
    """The workers of a Dask cluster."""

    def __init__(self, options: Options, digest: str, skipped: Container[tuple[str, str]], *, encode: bool) -> None:
        """Prepare a run; nothing is connected yet.

        Args:
            options: of the run.
            digest: of the suite.
            skipped: (backend name, case id) of each case that is not to run.
            encode: whether workers write the lines of the results file.
        """
        self.faults: list[str] = []
        self.given_up: set[str] = set()
        self.unfinished: list[Slice] = []
        self._options, self._digest, self._skipped, self._encode = options, digest, skipped, encode
        self._run = f"{os.uname().nodename} {os.getpid()} {time.time_ns()}"
        self._handed_out: Any = skipped
        self._client: Any = None
        self._local: Any = None
        self._before = cpu_time.so_far()
        self._of_workers = cpu_time.Cost(0.0, 0.0)
        self._ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._tasks: dict[str, tuple[Any, Task]] = {}
        """By key, the tasks without results so far, with their futures."""
        self._deaths: Counter[tuple[Slice, ...]] = Counter()
        self._arrived: deque[Arrived] = deque()
        self._reports: list[SliceReport] = []
        self._since_lost: float | None = None
        self._since_alone: float | None = None
        """Since when there is no worker."""
        self._processing: Mapping[str, Sequence[str]] = {}
        """By address of a Dask worker, the keys of tasks that it had when somebody last looked."""
        self._next_look = 0.0

    def __enter__(self) -> Self:
        """Return the crew."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the cluster; one that was started here ends."""
        for item in (self._client, self._local):
            if item is not None:
                with contextlib.suppress(Exception):  # Whatever it is, the run is over.
                    item.close(timeout=5)

    @property
    def cost(self) -> cpu_time.Cost:
        """CPU time of this process, and of tasks that have ended."""
        own = (cpu_time.so_far() - self._before).harness
        return cpu_time.Cost(round(own + self._of_workers.harness, 3), round(self._of_workers.adapters, 3))

    def start(self) -> Mapping[str, Mapping[str, Any]]:
        """Connect, and start the adapters on one worker of each kind; return their hellos.

        Raises:
            HarnessError: Dask is not installed, no scheduler or worker is within reach, or an adapter does not start.
        """
        try:
            distributed = _dask()
        except ImportError as error:
            raise HarnessError("dask-missing", f"--cluster needs Dask: {HINT}") from error
        logging.getLogger("distributed").setLevel(logging.CRITICAL + 1)  # The run reports the relevant errors itself.
        address = self._options.cluster
        try:
            if address.startswith(LOCAL):
                self._local = distributed.LocalCluster(
                    n_workers=int(address.removeprefix(LOCAL)),
                    threads_per_worker=1,
                    dashboard_address=":0",
                    silence_logs=logging.CRITICAL,
                )
            self._client = distributed.Client(self._local or address, timeout=CONNECT_SECONDS, set_as_default=False)
            self._client.wait_for_workers(1, timeout=WORKER_SECONDS)
        except (OSError, ValueError, RuntimeError, TimeoutError) as error:
            raise HarnessError(
                "scheduler-out-of-reach",
                f"--cluster {line(address)}: {line(error)}; check that the scheduler is running and has workers. Start "
                "them with `dask scheduler` and `dask worker ADDRESS`, or use local:2 to start both on this machine",
            ) from error
        futures = {
            names: self._client.submit(
                run_task, self._task(names), (), key=f"hello {self._run} {names}", resources=needs, pure=False
            )
            for names, needs in self._kinds.items()
        }
        hellos: dict[str, Mapping[str, Any]] = {}
        latest = time.monotonic() + WORKER_SECONDS
        for names, future in futures.items():
            while not future.done():
                time.sleep(POLL_SECONDS)
                self._check_connection()
                self._look_at_workers()
                if time.monotonic() > latest and not any(future.key in keys for keys in self._processing.values()):
                    raise self._nowhere(names)
            try:
                hellos |= self._checked(self._result(future)).hellos
            except (_dask().KilledWorker, TaskLostError) as error:
                raise HarnessError(
                    "workers-die",
                    f"--cluster {line(address)}: the Dask workers that start {line(', '.join(names))} die",
                ) from error
        return hellos

    def _nowhere(self, names: tuple[str, ...]) -> HarnessError:
        """Return the error for backends whose task no worker accepts."""
        needs = " ".join(f"{key}={number:g}" for key, number in self._kinds[names].items())
        started = f" with {needs}; start one with --resources '{needs}'" if needs else "; start one"
        return HarnessError(
            "no-worker-with-resource",
            f"--cluster {line(self._options.cluster)}: there is no worker for {line(names[0])}{started}",
        )

    @property
    def _kinds(self) -> dict[tuple[str, ...], Mapping[str, float]]:
        """The groups of backends that can run on the same workers, with the required resources."""
        names, needing = tuple(dict.fromkeys(self._options.backends)), self._options.resources
        plain = tuple(name for name in names if name not in needing)
        return {**({plain: {}} if plain else {}), **{(name,): needing[name] for name in names if name in needing}}

    def _task(self, backends: tuple[str, ...], slices: Sequence[Slice] = ()) -> Task:
        options = replace(self._options, backends=backends, results=None, expectations=None)
        idle = frozenset(self._options.selection.idle)
        return Task(f"{self._run} {backends}", options, self._digest, tuple(slices), idle, self._encode)

    def _result(self, future: Any) -> Outcome:  # noqa: ANN401 - Dask's
        """Return the outcome of a task.

        Raises:
            HarnessError: the scheduler is gone, or all workers are.
            TaskLostError: the workers with its resources are lost.
        """
        try:
            while True:
                try:
                    outcome: Outcome = future.result(timeout=5 * POLL_SECONDS)
                    break
                except TimeoutError:  # Its worker is gone with its results, so another one must repeat it.
                    self._check_connection()
                    self._look_at_workers()
        except (_dask().CancelledError, OSError) as error:  # An OSError where the connection closes meanwhile.
            if self._client.status == "running":
                raise TaskLostError from error
            raise self._gone() from error
        return outcome

    def _gone(self) -> HarnessError:
        return HarnessError(
            "scheduler-lost", f"--cluster {line(self._options.cluster)}: the connection to the scheduler is lost"
        )

    @staticmethod
    def _checked(outcome: Outcome) -> Outcome:
        if outcome.error is not None:
            raise outcome.error
        return outcome

    def run(self, slices: Sequence[Slice], selection: Selection, on_wait: Callable[[], None]) -> Iterator[Arrived]:
        """Yield results as soon as they are available."""
        self._hand_out()
        known = seconds(slices, self._options.suite, self._options.backends)
        for names, needs in self._kinds.items():
            for number, some in enumerate(_gathered(slices, known)):
                self._submit(self._task(names, some), needs, -number)
        while self._tasks:
            try:
                key = self._ended.get(timeout=5 * POLL_SECONDS)
            except queue.Empty:
                on_wait()
                self._check_connection()
                self._look_at_workers()
                continue
            self._look_at_workers()
            if key in self._tasks:
                self._take(key, selection)
            while self._arrived:
                yield self._arrived.popleft()

    def _hand_out(self) -> None:
        """Send the list of skipped cases to the workers: once if it is large, otherwise with each task."""
        self._handed_out = self._skipped
        if len(pickle.dumps(self._skipped)) > MOST_WITH_A_TASK:
            self._handed_out = self._client.scatter(self._skipped, broadcast=True, hash=False)

    def _submit(self, task: Task, needs: Mapping[str, float], priority: int) -> None:
        # No retries: a crash is a verdict, and an error would be raised again.
        future = self._client.submit(
            run_task, task, self._handed_out, pure=False, retries=0, resources=dict(needs), priority=priority
        )
        self._tasks[future.key] = future, task
        future.add_done_callback(lambda done: self._ended.put(done.key))

    def _take(self, key: str, selection: Selection) -> None:
        future, task = self._tasks[key]
        try:
            outcome = self._checked(self._result(future))
        except _dask().KilledWorker:
            del self._tasks[key]
            self._again(task)
            return
        except TaskLostError:
            del self._tasks[key]
            self._processing, self._next_look = {}, 0.0
            while not self._processing:
                time.sleep(POLL_SECONDS)
                self._check_connection()
                self._look_at_workers()
            self._hand_out()
            self._submit(task, self._kinds[task.options.backends], 1)
            return
        del self._tasks[key]
        self._arrived += outcome.results
        self._reports += outcome.reports
        for report in outcome.reports:
            selection.idle &= report.idle
        self.faults += [fault for fault in outcome.faults if fault not in self.faults]
        self.given_up |= outcome.given_up
        self._of_workers += cpu_time.Cost(outcome.seconds, 0.0)

    def _again(self, task: Task) -> None:
        """Submit a task again whose worker died."""
        self._deaths[task.slices] += 1
        if self._deaths[task.slices] >= MOST_DEATHS:
            self.unfinished += task.slices
            died = f"the Dask worker that ran it died {MOST_DEATHS} times"
            self.faults.append(
                f"{_few(task.slices)}: {died}; the rest is not run. The machine may have too little memory."
            )
            return
        self._submit(task, self._kinds[task.options.backends], 1)

    def _look_at_workers(self) -> None:
        """Say that a worker has gone, with work that runs again elsewhere; Dask itself begins that again.

        Raises:
            HarnessError: there is no worker any more.
        """
        if time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + LOOK_SECONDS
        with contextlib.suppress(OSError):  # `_check_connection` reports it.
            now: Mapping[str, Sequence[str]] = self._client.processing()
            self._check_workers(now)
            for worker in self._processing.keys() - now.keys():
                lost = [self._tasks[key][1] for key in self._processing[worker] if key in self._tasks]
                if lost:
                    names = _few([part for task in lost for part in task.slices])
                    text = f"Dask worker {line(worker)} is gone; another one runs {names}"
                    printing.warn(Note("dask-worker-lost", text))
            self._processing = now

    def _check_workers(self, now: Mapping[str, Sequence[str]]) -> None:
        """Raise HarnessError if there was no worker for too long: workers of a queue may start later."""
        if now:
            self._since_alone = None
            return
        self._since_alone = self._since_alone or time.monotonic()
        if time.monotonic() - self._since_alone > WORKER_SECONDS:
            raise HarnessError(
                "no-worker",
                f"--cluster {line(self._options.cluster)}: there was no worker for {WORKER_SECONDS:g} s; start one, "
                "such as `dask worker ADDRESS`",
            )

    def _check_connection(self) -> None:
        """Raise HarnessError where the scheduler has been out of reach for too long."""
        if self._client.status == "running":
            self._since_lost = None
            return
        self._since_lost = self._since_lost or time.monotonic()
        if self._client.status == "closed" or time.monotonic() - self._since_lost > LOST_SECONDS:
            raise self._gone()

    def rest(self) -> Iterator[Arrived]:
        """Cancel waiting tasks, end the adapters, and yield the received results."""
        client = self._client
        if client is not None and client.status == "running":
            with contextlib.suppress(Exception):  # The scheduler may go at any moment.
                client.cancel([future for future, _ in self._tasks.values()], force=True)
                for names in self._kinds:
                    times = client.run(end_warm, f"{self._run} {names}", on_error="ignore")
                self._of_workers += cpu_time.Cost(0.0, sum(times.values()) if self._local is not None else 0.0)
        while self._arrived:
            yield self._arrived.popleft()

    def take_reports(self) -> list[SliceReport]:
        """Return the reports of slices since the last call."""
        taken, self._reports = self._reports, []
        return taken

    def status(self) -> Mapping[str, Status]:
        """Return nothing: the work of a worker is known only afterwards."""
        return {}


def _few(slices: Sequence[Slice]) -> str:
    return line(", ".join(map(str, slices[:3])) + (", ..." if len(slices) > 3 else ""))  # noqa: PLR2004


def _dask() -> Any:  # noqa: ANN401 - it has few types
    """Return Dask's package for clusters, which takes half a second to import and is an extra.

    Raises:
        ImportError: it is not installed.
    """
    return importlib.import_module("distributed")


def _gathered(slices: Sequence[Slice], known: Mapping[Slice, float]) -> Iterator[list[Slice]]:
    """Yield the slices of a task: several short ones, to keep the overhead of sending small."""
    some: list[Slice] = []
    for part in slices:
        some.append(part)
        if sum(known[item] for item in some) >= TASK_SECONDS or len(some) >= TASK_SLICES:
            yield some
            some = []
    if some:
        yield some
