# SPDX-License-Identifier: Apache-2.0
"""One run from beginning to end: suite, processes, result stream."""

from __future__ import annotations

import array
import contextlib
import dataclasses
import hashlib
import math
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import Result, Unreadable, Verdict, line
from onnx_conformance.gate import expectations
from onnx_conformance.gate.gate import Gate
from onnx_conformance.gate.profile_checks import ProfileChecks
from onnx_conformance.judging import profile
from onnx_conformance.processes.case_times import cores
from onnx_conformance.results import sampling
from onnx_conformance.results.files import Streams
from onnx_conformance.results.older_versions import OlderVersions
from onnx_conformance.results.scope import Scope
from onnx_conformance.results.stream import header
from onnx_conformance.results.summary import Summary
from onnx_conformance.run import costs, cpu_time, progress
from onnx_conformance.run.cluster import Cluster
from onnx_conformance.run.crew import Alone
from onnx_conformance.run.processes import Processes
from onnx_conformance.run.reference_answers import REFERENCE
from onnx_conformance.suites import of_package
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.lookup import check_selection, open_suite, without_match

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from onnx_conformance.base.target import Target
    from onnx_conformance.processes.case_times import Status
    from onnx_conformance.run.crew import Crew
    from onnx_conformance.run.options import Options
    from onnx_conformance.suites.selection import Selection
    from onnx_conformance.suites.slices import Slice
    from onnx_conformance.suites.suite import Outlook, Suite

MOST_FAULTS = 1000
"""Results that are an adapter's fault and listed in the footer; more of them are only counted."""
CASES_OF_A_WORKER = 250
"""Another worker has to have so many cases, or starting its adapters takes longer than it saves."""
ENDING_SECONDS = 2.0
"""Seconds that the adapters of ended workers may take to end."""
EXIT_PASSED, EXIT_FAILED, EXIT_BROKEN = 0, 1, 2


class StoppedError(HarnessError):
    """The run was stopped early, as --max-fail asks."""


@dataclasses.dataclass
class _Ended:
    """The missing results at the end of a part of a run; as in Crew."""

    given_up: set[str] = dataclasses.field(default_factory=set)
    unfinished: list[Slice] = dataclasses.field(default_factory=list)


class Skipped:
    """The cases that are not to run on a backend: it has a result of them already, or its sample leaves them out.

    A result takes eight bytes, for there may be a million.
    """

    def __init__(self, samples: Mapping[str, int]) -> None:
        """Start without results.

        Args:
            samples: as in Options.
        """
        self._samples = samples
        self._hashes = array.array("q")
        self._sorted: npt.NDArray[np.int64] | None = None

    def add(self, result: Result) -> None:
        """Add an earlier result."""
        self._hashes.append(_hash(result.backend, result.case))
        self._sorted = None

    def __contains__(self, pair: object) -> bool:
        """Whether a pair of (backend name, case id) is not to run."""
        if not isinstance(pair, tuple):
            return False
        backend, case = pair
        if not self._hashes and not self._samples:
            return False
        if self._sorted is None:
            self._sorted = np.sort(np.frombuffer(self._hashes, np.int64))
        place = int(np.searchsorted(self._sorted, key := _hash(backend, case)))
        has_result = place < len(self._sorted) and int(self._sorted[place]) == key
        return has_result or not sampling.includes(self._samples, backend, case)


def _hash(backend: str, case: str) -> int:
    """Return a number that is the same in every process, unlike that of Python."""
    return int.from_bytes(hashlib.blake2b(f"{backend}\0{case}".encode(), digest_size=8).digest(), "big", signed=True)


class Run:
    """A run in progress.

    Attributes:
        summary: the counts so far.
        faults: lines on faults that are no case's result.
        gate: compares the results with the expectations, once the run has begun.
        problems: without a gate, lines on stale exclusions and exceeded bounds of profiles, once the run has ended.
        streams: the results files.
        cost: CPU time, once the run has ended.
        versions: by backend, the version that it reports.
        taken: how many cases the selection has so far, earlier results included.
        without_outputs: cases that have no outputs to compare with, each with the reason.
        by_oracle: the number of cases without stored outputs, which are compared with the oracle's.
        too_large: number of cases that were left out because of --max-elements.
        older: by backend, the number of cases in older versions that it ran instead of versions that it lacks.
    """

    def __init__(self, options: Options, suite: Suite | None = None) -> None:
        """Take options; `suite` overrides the named one.

        Raises:
            HarnessError: a backend, the suite, an operator or the results file cannot be used.
        """
        self.options = options
        self._work = options.work()
        self.targets = list(self._work.targets)
        self.reference = self._work.reference
        self.suite = suite or open_suite(options.suite)
        check_selection(self.suite, options.selection)
        self.expected = expectations.read(options.expectations) if options.expectations else None
        self.gate: Gate | None = None
        self.problems: list[str] = []
        self._profiles = {target.name: ProfileChecks(profile.described(target, {})) for target in self.targets}
        names = [target.name for target in self.targets]
        self.streams = Streams(
            options.results, names, options.reference or "", apart=options.apart, overwrite=options.overwrite
        )
        self.cost: cpu_time.Cost | None = None
        self.summary = Summary()
        self.faults: list[str] = []
        self._given_up: set[str] = set()
        self._blamed: dict[str, str] = {}
        self._unlisted: Counter[str] = Counter()
        self.taken = 0
        self._made: Counter[str] = Counter()
        self._last = False
        self._unreadable: list[Unreadable] = []
        self._outlook: Outlook | None = None
        self._outlook_read = False
        self.without_outputs: list[str] = []
        self.by_oracle = 0
        self.too_large = 0
        self.versions: dict[str, str] = {}
        self.older: Counter[str] = Counter()
        chosen = options.selection
        whole = chosen.core and not (chosen.opsets or chosen.newest or chosen.by_name or chosen.at_most)
        self._older = {name: OlderVersions() for name in names} if whole else {}
        self._crew: Crew | None = None
        self._costs = costs.Costs()
        self._jobs = options.jobs or 1

    def run(
        self, on_result: Callable[[Result], None] = lambda _: None, on_wait: Callable[[], None] = lambda: None
    ) -> None:
        """Run everything and write the stream; only an exception ends it early.

        Args:
            on_result: called with each result.
            on_wait: called a few times a second while there is no result.

        Raises:
            HarnessError: no backend starts, or the run was stopped by --max-fail.
        """
        started = time.monotonic()
        source = self._source()
        complete = False
        try:
            if self.options.resume:
                self.streams.resume(source, self._arguments())
            self.streams.check()
            if self.expected is not None and (earlier := self.streams.header_of(self.expected.backend)):
                self._begin_gate(earlier)
            skipped = self._read_earlier_results()
            slices = self.suite.slices(self.options.selection)
            with contextlib.ExitStack() as stack:
                crew, hellos = self._started(stack, slices, skipped)
                self._crew = crew
                hellos = self._described(hellos)
                part = of_package.covers(self.suite)
                first = header(source, hellos, self._arguments(), part)
                if self.gate is None:
                    self._begin_gate(first)
                self.summary.know(first["backends"])
                self.versions = {name: str(item.get("version", "")) for name, item in first["backends"].items()}
                self.streams.begin(first, hellos)
                if not isinstance(crew, Alone):  # Alone, it keeps the order of the suite.
                    slices = costs.longest_first(slices, self.suite.name, self.options.backends)
                self._take_results(crew, slices, self.options.selection, on_result, on_wait)
                ended = _Ended(set(crew.given_up), list(crew.unfinished))
            self.cost = crew.cost
            for target in self.targets:
                if target.name not in ended.given_up:
                    self._run_older(target, ended, on_result, on_wait)
            given_up, unfinished = ended.given_up, ended.unfinished
            self._costs.write(self.suite.name, self.options.backends)
            self._add_final_faults()
            unreadable = {item.message for item in self._unreadable}  # The streams have separate records for these.
            faults = [(self._backend_of(fault), fault) for fault in self.faults if fault not in unreadable]
            if not unfinished:
                self.streams.finish(time.monotonic() - started, faults, given_up, self.cost.members)
            complete = not given_up and not unfinished
        finally:
            self.streams.close()
            self._finish_gate(complete=complete)

    def _started(
        self, stack: contextlib.ExitStack, slices: Sequence[Slice], skipped: Skipped
    ) -> tuple[Crew, Mapping[str, Mapping[str, Any]]]:
        """Start the workers; return them and the hello of each backend.

        A backend that does not start is a fault of the run, and the others go on.

        Args:
            stack: closes the workers.
            slices: that they are for.
            skipped: the cases that are not to run on a backend.

        Raises:
            HarnessError: no backend is left, or something else went wrong.
        """
        while True:
            if not self.options.cluster:
                self._jobs = _jobs_for(slices, self.options, self.targets)
            try:
                return self._start(stack, slices, skipped, self.options, self.targets)
            except HarnessError as error:
                name = self._backend_of(error.text)
                others = [target for target in self.targets if target.name != name]
                if len(others) in {0, len(self.targets)} or self.options.resume or self.options.cluster:
                    raise
                self.faults.append(error.labelled)
                self.targets = others
                self._profiles.pop(name)
                self.streams.leave_out(name)

    def _start(
        self,
        stack: contextlib.ExitStack,
        slices: Sequence[Slice],
        skipped: Skipped,
        options: Options,
        targets: Sequence[Target],
    ) -> tuple[Crew, Mapping[str, Mapping[str, Any]]]:
        """Start the workers for some slices; return them and the hello of each backend.

        Args:
            stack: closes the workers.
            slices: that they are for.
            skipped: the cases that are not to run on a backend.
            options: with the selection that the slices are of.
            targets: the backends.

        Raises:
            HarnessError: a backend does not start, or something else went wrong.
        """
        with contextlib.ExitStack() as own:
            crew = own.enter_context(self._crew_for(slices, skipped, options, targets))
            hellos = crew.start()
            stack.push(own.pop_all())
            return crew, hellos

    def _take_results(
        self,
        crew: Crew,
        slices: Sequence[Slice],
        selection: Selection,
        on_result: Callable[[Result], None],
        on_wait: Callable[[], None],
    ) -> None:
        """Add the results of a crew's slices.

        Raises:
            StoppedError: because of --max-fail.
        """
        self._crew = crew
        try:
            for result, text in crew.run(slices, selection, on_wait):
                self._add(result, text)
                self._read_reports()
                self._check_max_fail()
                on_result(result)
            self._last = True
        finally:
            for result, text in crew.rest():
                self._add(result, text)
            self._read_reports()
            self.faults += crew.faults

    def _run_older(
        self, target: Target, ended: _Ended, on_result: Callable[[Result], None], on_wait: Callable[[], None]
    ) -> None:
        """Run cases in older versions of a backend instead of those in versions that it lacks.

        Args:
            target: the backend.
            ended: gets the missing results.
            on_result: as in `run`.
            on_wait: as in `run`.

        Raises:
            StoppedError: because of --max-fail.
        """
        older, before = self._older.get(target.name), self._results_of(target.name)
        while older is not None and (ids := older.wanted()):
            chosen = dataclasses.replace(self.options.selection, core=False, ids=ids, shard=None, sample=1)
            slices = self.suite.slices(chosen)
            if not slices:  # The selection has no such version.
                continue
            options = dataclasses.replace(self.options, backends=(target.name,), selection=chosen, jobs=1)
            with contextlib.ExitStack() as stack:
                words = (stack, slices, Skipped({}), options, (target,))
                try:
                    try:
                        crew, _ = self._start(*words)
                    except HarnessError:  # Its adapters may still be ending, and a device may allow only one process.
                        time.sleep(ENDING_SECONDS)
                        crew, _ = self._start(*words)
                except HarnessError as error:
                    self.faults.append(error.labelled)
                    return
                self._take_results(crew, slices, chosen, on_result, on_wait)
                ended.given_up |= crew.given_up
                ended.unfinished += crew.unfinished
            self.cost = crew.cost if self.cost is None else self.cost + crew.cost
            self.older[target.name] = self._results_of(target.name) - before

    def _results_of(self, backend: str) -> int:
        return sum(self.streams.counts.get(backend, {}).values())

    def _described(self, hellos: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
        """Return the hello of each backend with its profile."""
        return {**hellos, **{target.name: profile.described(target, hellos[target.name]) for target in self.targets}}

    def _finish_gate(self, *, complete: bool) -> None:
        """Finish the gate; without one, find the problems of the profiles."""
        if self.gate is not None:
            self.gate.finish(complete=complete, unreadable=self._unreadable)
            return
        arguments = {"arguments": self._arguments()}
        for name, checks in self._profiles.items():
            selection = sampling.selected(arguments, name)
            self.problems += (f"{name}: {text}" for text in checks.problems(selection, complete=complete))

    @property
    def scope(self) -> Scope:
        """The part of the suite that is run."""
        options = self.options
        return Scope(line(self.suite.name, 200), self._size, str(options.selection), options.samples, self.older)

    @property
    def _size(self) -> int | None:
        """The number of all cases of the suite, if it is known."""
        return self.suite.index.total if isinstance(self.suite, Generated) else None

    def _source(self) -> dict[str, object]:
        """Return the suite as the header of the results has it."""
        known: dict[str, object] = {"name": self.suite.name, "digest": self.suite.digest()}
        return known if self._size is None else {**known, "cases": self._size}

    def _begin_gate(self, first: Mapping[str, Any]) -> None:
        """Begin to compare results with the expectations of the run that has this header."""
        if self.expected is not None:
            self.gate = Gate(self.expected, first)

    def _arguments(self) -> dict[str, object]:
        options = self.options
        return {
            "selection": str(options.selection),
            **({"samples": dict(options.samples)} if options.samples else {}),
            "reference": options.reference or "",
            "jobs": self._jobs,
            **({"cluster": options.cluster} if options.cluster else {}),
            "repeat": options.repeat,
            "timeout": options.limits.timeout,
            "memory": options.limits.memory,
            **({"isolate": True} if options.isolate is not None else {}),
            **({"locale": options.locale} if options.locale else {}),
            **({"threads": options.threads} if options.threads else {}),
            **({"without_readings": sorted(options.without_readings)} if options.without_readings else {}),
        }

    def _read_earlier_results(self) -> Skipped:
        skipped = Skipped(self.options.samples)
        for result in self.streams.results():
            self._count(result)
            self.taken += 1
            skipped.add(result)
        return skipped

    def _crew_for(self, slices: Sequence[Slice], skipped: Skipped, options: Options, targets: Sequence[Target]) -> Crew:
        """Return the workers for some slices; none is started yet."""
        work = dataclasses.replace(
            self._work, targets=tuple(targets), suite=self.suite.name, selection=options.selection
        )
        encode = options.results is not None
        if options.cluster:
            return Cluster(options, self.suite.digest(), skipped, encode=encode)
        count = _jobs_for(slices, options, targets)
        if count == 1:
            return Alone(work, self.suite, skipped)
        share = dataclasses.replace(options.limits, cores=max(1.0, cores() / count))
        work = dataclasses.replace(work, limits=share)
        return Processes(work, self.suite, skipped, count, self.streams.close, encode=encode)

    def _read_reports(self) -> None:
        """Add the reports of slices with complete results."""
        for report in self._crew.take_reports() if self._crew is not None else ():
            self.taken += sum(report.made.values())
            self._costs.add(report)
            self._made += report.made
            self.without_outputs += report.without_outputs
            self.by_oracle += report.by_oracle
            self.too_large += report.too_large
            for item in report.unreadable:
                if item not in self._unreadable:
                    self._unreadable.append(item)
                    self.faults.append(item.message)
                    self.streams.add_unreadable(item)

    def watch(self) -> progress.Watch:
        """Return the progress of this run."""
        samples, widest = self.options.samples, self.options.selection.sample
        shares = {target.name: widest / samples.get(target.name, 1) for target in self.targets}
        return progress.Watch(self.streams.counts, shares, self._total, status=self._status)

    def _status(self) -> Mapping[str, Status]:
        return self._crew.status() if self._crew is not None else {}

    def _total(self) -> progress.Total | None:
        if not self._outlook_read and not self._last:  # Takes half a second, so only where progress is shown.
            self._outlook, self._outlook_read = self.suite.outlook(self.options.selection), True
        return progress.total(self._outlook, self._made, last=self._last)

    def _add(self, result: Result, text: bytes | None) -> None:
        self.streams.add(result, text)
        self._count(result)

    def _check_max_fail(self) -> None:
        most = self.options.max_fail
        if most is not None and self.summary.failed_openly >= most:
            raise StoppedError(
                "too-many-failures",
                f"stopped after {self.summary.failed_openly} failures, because of --max-fail {most}",
            )

    def _count(self, result: Result) -> None:
        """Add a result to the summary and the gate; one that is the adapter's fault is a fault of the run."""
        self.summary.add(result)
        if result.backend in self._older:
            self._older[result.backend].add(result)
        if self.gate is not None:
            self.gate.add(result)
        elif result.backend in self._profiles:
            self._profiles[result.backend].add(result)
        if result.verdict is not Verdict.ADAPTER_ERROR:
            return
        if len(self._blamed) >= MOST_FAULTS:
            self._unlisted[result.backend] += 1
        else:
            self.faults.append(f"{result.case}: {result.message}")
            self._blamed[self.faults[-1]] = result.backend

    def _backend_of(self, fault: str) -> str:
        """Return the backend of a fault: that of the result, or the one that the sentence begins with; "" for none."""
        names = [target.name for target in [*self.targets, *([self.reference] if self.reference else [])]]
        return self._blamed.get(fault) or next((name for name in names if fault.startswith(f"{name}: ")), "")

    def _add_final_faults(self) -> None:
        """Add faults that show only at the end, such as options without effect."""
        for backend, count in self._unlisted.items():
            self.faults.append(f"{backend}: {count} more results are adapter_error")
        if self.without_outputs:
            self.faults.append(
                f"{len(self.without_outputs)} cases of suite {self.suite.name} contain no expected outputs, such as "
                f"{self.without_outputs[0]}; use the outputs of a backend instead: --reference {REFERENCE}"
            )
        # One part of a small selection may well be empty; the runs of the other parts show whether all are.
        empty = not self.taken and not self.faults
        self.faults += without_match(self.suite, self.options.selection, empty=empty)

    @property
    def idle(self) -> dict[str, int]:
        """The number of unsupported cases of each backend without other cases, except unspecified ones."""
        total: dict[str, Counter[Verdict]] = {}
        for (_, backend), counts in self.summary.counts.items():
            total.setdefault(backend, Counter()).update(counts)
        return {
            backend: counts[Verdict.UNSUPPORTED]
            for backend, counts in total.items()
            if set(counts) <= {Verdict.UNSUPPORTED, Verdict.UNSPECIFIED} and counts[Verdict.UNSUPPORTED]
        }

    def exit_status(self) -> int:
        """Return 0 if all scored cases pass, 1 if some do not or there are no scored cases, 2 if something else failed.

        A failure that an exclusion accepts is no reason for 1, but a stale exclusion and an exceeded bound are.

        With expectations: 0 if the gate is open, 1 if it is closed.
        """
        if self.faults:
            return EXIT_BROKEN
        if self.gate is not None:
            return EXIT_PASSED if self.gate.opened else EXIT_FAILED
        return EXIT_FAILED if self.summary.failed_openly or self.idle or self.problems else EXIT_PASSED


def _jobs_for(slices: Sequence[Slice], options: Options, targets: Sequence[Target]) -> int:
    """Return the number of workers: as asked for, or as many as slices are worth on the processors that there are."""
    worth = math.ceil(sum(part.cases for part in slices) / CASES_OF_A_WORKER)
    wanted = options.jobs or max(1, min(cores() // len(targets), worth))
    return min(wanted, max(1, len(slices)))
