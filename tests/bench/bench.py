# SPDX-License-Identifier: Apache-2.0
"""The figures that the harness is held to: ratios within one run on one machine, and three figures of a core run.

    python tests/bench/bench.py [--rounds N] [--results N] [--core]

Prints a table and exits with 1 if a figure is missed. Needs onnxruntime. Nothing here is a test: machines are
noisy, so nobody's pull request should depend on it.

The figures of a core run are seconds, because users wait for seconds. They are CPU time, and the minimum of all rounds,
because other load on the machine only adds to them. `--core` measures them alone.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import gc
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnxruntime
from tabulate import tabulate

from onnx_conformance.environments.backend_names import resolve
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.processes.asker import Asker
from onnx_conformance.processes.case_times import cores
from onnx_conformance.processes.replies import Died
from onnx_conformance.results.stream import Run as Results
from onnx_conformance.run.options import Options
from onnx_conformance.run.run import Run
from onnx_conformance.run.scheduler import Scheduler
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.official import Official
from onnx_conformance.suites.selection import Selection
from onnx_conformance.suites.slices import Slice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onnx_conformance.case.case import Case

HERE = Path(__file__).parent


def seconds(command: list[str]) -> float:
    """Return how long a command takes, whatever it makes of its cases."""
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, check=False, cwd=HERE)
    elapsed = time.perf_counter() - started
    if done.returncode not in {0, 1}:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr.decode()[-2000:]}")
    return elapsed


def whole_command(rounds: int) -> tuple[float, str]:
    """Return the time of `run --suite official` over that of onnx's own runner, by turns."""
    ours = [sys.executable, "-m", "onnx_conformance", "run", "--suite", "official", "--backend", "onnxruntime"]
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore"]
    theirs = [*pytest, str(HERE / "onnx_runner.py")]
    seconds(ours)  # Collects the suite, once.
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(rounds)]
    mine, other = (statistics.median(column) for column in zip(*pairs, strict=True))
    return statistics.median(a / b for a, b in pairs), f"{mine:.1f} s against {other:.1f} s"


def bare_loop(cases: list[Case]) -> float:
    """Return the time of creating every session and running it once, and nothing else."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    gc.collect()
    started = time.perf_counter()
    for case in cases:
        try:
            session = onnxruntime.InferenceSession(case.model, options, providers=["CPUExecutionProvider"])
            session.run(None, case.inputs)
        except Exception:  # noqa: BLE001 - it refuses some; that takes its time too
            pass
    return time.perf_counter() - started


def harness_loop(cases: list[Case]) -> float:
    """Return the time from the first case sent to the last verdict, processes started beforehand."""
    with Scheduler([resolve("onnxruntime")], Limits(), jobs=1) as scheduler:
        scheduler.start()
        gc.collect()
        started = time.perf_counter()
        count = sum(1 for _ in scheduler.run(cases))
        elapsed = time.perf_counter() - started
    if count != len(cases):
        raise SystemExit(f"{count} results for {len(cases)} cases")
    return elapsed


def own_cost(rounds: int) -> tuple[float, str]:
    """Return the harness's time over the bare loop's, by turns, collection left out."""
    cases = list(Official().cases(Selection()))
    bare_loop(cases)  # The first round pays for what the operating system has not read yet.
    pairs = [(harness_loop(cases), bare_loop(cases)) for _ in range(rounds)]
    mine, other = (statistics.median(column) * 1000 / len(cases) for column in zip(*pairs, strict=True))
    return statistics.median(a / b for a, b in pairs), f"{mine:.3f} ms a case against {other:.3f} ms, one lane"


def crash(rounds: int) -> tuple[float, str]:
    """Return the time of a crash and of the next answer, over that of a start, once the next process is ready."""
    split = {case.name: case for case in Generated().cases(Selection(ops=("Split/18",), forms=("plain",)))}
    deadly, harmless = split["outputs_beyond_num_outputs"], split["lengths"]
    ends, starts = [], []
    for _ in range(rounds):
        started = time.perf_counter()
        with Asker(resolve("onnxruntime"), Limits()) as asker:
            asker.ask(harmless)
            starts.append(time.perf_counter() - started)
            for case in (deadly, harmless, deadly, harmless):
                asker.ask(case)
                time.sleep(1 if case is harmless else 0)  # Meanwhile its successor starts.
            before = time.perf_counter()
            died = asker.ask(deadly)
            asker.ask(harmless)
            ends.append(time.perf_counter() - before)
            if not isinstance(died, Died):
                raise SystemExit(f"{deadly.id} no longer ends onnxruntime; take another case")
    end, start = statistics.median(ends), statistics.median(starts)
    return end / start, f"{end:.3f} s against {start:.3f} s"


OPERATORS = ("H*", "Me*", "N*", "P*")
"""Some in which onnxruntime 1.31.1 never ends its process: 15,127 cases."""


def run_command(*words: str) -> list[str]:
    """Return a run on onnxruntime; the second one reads its cases from the cache."""
    command = [sys.executable, "-m", "onnx_conformance", "run", "--backend", "onnxruntime", "--table", "none"]
    return [*command, *(f"--op={name}" for name in OPERATORS), *words]


def cpu(command: list[str]) -> float:
    """Return the CPU time of a command and everything that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def bare_cpu(path: str) -> float:
    """Return the CPU time of the runtime alone, over the cases of a results file.

    Raises:
        SystemExit: one of them ended the process, which costs more than the case.
    """
    if deadly := [item.case for item in Results(Path(path)).results() if item.signal]:
        raise SystemExit(f"onnxruntime ends its process in {deadly[0]}; take other operators")
    suite, selection = Generated(), Selection(ops=OPERATORS)
    cases = [case for part in suite.slices(selection) for case in suite.cases(selection.within(part))]
    for case in cases:
        dict(case.inputs)
    before = time.process_time()
    bare_loop(cases)
    return time.process_time() - before


def whole_run(rounds: int) -> tuple[float, str]:
    """Return the CPU time of a second run, from the command to its report, over that of the runtime alone."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "results.ndjson")
        command = run_command("--results", path, "--overwrite", "--jobs", "1")
        seconds(command)
        pairs = [(cpu(command), alone(bare_cpu, path)) for _ in range(rounds)]
    mine, other = (statistics.median(column) for column in zip(*pairs, strict=True))
    return statistics.median(a / b for a, b in pairs), f"{mine:.1f} s against {other:.1f} s, the report included"


@dataclasses.dataclass(frozen=True)
class CoreRun:
    """The cost of one run of the core on two backends, from the command to its report.

    Attributes:
        results: how many.
        wall: seconds until it ended.
        cpu: seconds of CPU time of all its processes.
        harness: seconds of CPU time of the harness for the cases, without imports and the report.
        adapters: seconds of CPU time of the adapters.
        late: how many cases had no answer within the time limit; each may use a processor until then.
    """

    results: int
    wall: float
    cpu: float
    harness: float
    adapters: float
    late: int

    @property
    def others(self) -> float:
        """Seconds of CPU time of imports and of the report, which asks onnx.reference about some cases."""
        return self.cpu - self.harness - self.adapters


def core_run(folder: str) -> CoreRun:
    """Run the core with the cache in a folder, and the default number of jobs.

    Raises:
        SystemExit: the run is incomplete.
    """
    path = Path(folder) / "results.ndjson"
    command = [sys.executable, "-m", "onnx_conformance", "run", "--core", "--results", str(path), "--overwrite"]
    command += ["--backend", "onnxruntime", "--backend", "onnx_reference", "--table", "none"]
    os.environ["ONNX_CONFORMANCE_CACHE"] = folder
    started = time.perf_counter()
    spent = cpu(command)
    wall = time.perf_counter() - started
    footer = Results(path).footer
    if footer is None:
        raise SystemExit("the run of the core is incomplete")
    results = sum(sum(counts.values()) for counts in footer["counts"].values())
    late = sum(counts.get("timeout", 0) for counts in footer["counts"].values())
    return CoreRun(results, wall, spent, footer["cpu"]["harness"], footer["cpu"]["adapters"], late)


@functools.cache
def core_runs(rounds: int) -> tuple[list[CoreRun], list[CoreRun]]:
    """Return first runs, each with an empty cache, and the second runs after them."""
    first, second = [], []
    cache = os.environ["ONNX_CONFORMANCE_CACHE"]
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            first.append(core_run(folder))
            second.append(core_run(folder))
    os.environ["ONNX_CONFORMANCE_CACHE"] = cache
    return first, second


def core_case(rounds: int) -> tuple[float, str]:
    """Return the milliseconds of CPU time that the harness spends on a result of a second run of the core."""
    best = min(core_runs(rounds)[1], key=lambda run: run.harness)
    return best.harness / best.results * 1000, f"{best.harness:.1f} s for {best.results:,} results of two backends"


def core_wall(rounds: int) -> tuple[float, str]:
    """Return the time of a second run of the core, times the processors, over its CPU time."""
    best = min(core_runs(rounds)[1], key=lambda run: run.wall / run.cpu)
    return best.wall * cores() / best.cpu, f"{best.wall:.1f} s on {cores()} processors, {best.cpu:.1f} s of CPU time"


def core_first(rounds: int) -> tuple[float, str]:
    """Return the seconds of CPU time of a first run of the core."""
    best = min(core_runs(rounds)[0], key=lambda run: run.cpu)
    parts = (best.harness, "for cases in the harness"), (best.adapters, "in adapters"), (best.others, "else")
    note = ", ".join(f"{seconds:.1f} s {what}" for seconds, what in parts)
    return best.cpu, f"{note}; {best.late} cases exceeded the time limit"


def workers(rounds: int) -> tuple[float, str]:
    """Return how much sooner a second run ends with two workers than with one."""
    one, two = run_command("--jobs", "1"), run_command("--jobs", "2")
    seconds(two)
    pairs = [(seconds(one), seconds(two)) for _ in range(rounds)]
    first, second = (statistics.median(column) for column in zip(*pairs, strict=True))
    return statistics.median(a / b for a, b in pairs), f"{first:.1f} s with one, {second:.1f} s with two"


def dask(rounds: int) -> tuple[float, str]:
    """Return the time of a second run with two workers over that with two Dask workers, both started for it."""
    plain, of_dask = run_command("--jobs", "2"), run_command("--cluster", "local:2")
    pairs = [(seconds(plain), seconds(of_dask)) for _ in range(rounds)]
    first, second = (statistics.median(column) for column in zip(*pairs, strict=True))
    return statistics.median(
        a / b for a, b in pairs
    ), f"{first:.1f} s against {second:.1f} s, Dask's own start included"


def first_case(rounds: int) -> tuple[float, str]:
    """Return the time from the start of a command to its first result, second run, over that of `--version`."""
    waits, starts = [], []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds + 1):
            path = Path(folder) / f"{number}.ndjson"
            started = time.perf_counter()
            process = subprocess.Popen(
                run_command("--results", str(path)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            while not path.exists() or path.read_bytes().count(b"\n") < 2:
                time.sleep(0.005)
            waits.append(time.perf_counter() - started)
            process.terminate()
            process.wait()
            starts.append(seconds([sys.executable, "-m", "onnx_conformance", "--version"]))
    wait = statistics.median(waits[1:])
    return wait, f"{wait:.2f} s, of which Python and its imports take {statistics.median(starts):.2f}"


class Endless(Generated):
    """The generated cases again and again under new ids, up to a number."""

    def __init__(self, count: int) -> None:
        """Take how many."""
        super().__init__()
        self.count = count
        self._known = list(super().cases(Selection(ops=("Split*",))))

    def slices(self, selection: Selection) -> list[Slice]:  # noqa: ARG002 - a Suite's signature
        """Return parts of a thousand cases."""
        return [Slice("", (number + 1, self.count // 1000), 1000) for number in range(self.count // 1000)]

    def cases(self, selection: Selection) -> Iterator[Case]:
        """Yield the cases of a slice, of one family, so that memory measured is the harness's own."""
        assert selection.slice is not None
        first = (selection.slice.part[0] - 1) * 1000
        for index in range(first, first + 1000):
            case = self._known[index % len(self._known)]
            yield dataclasses.replace(case, id=f"{case.id}#{index}")


def memory(count: int) -> tuple[float, str]:
    """Return the growth of the command's peak memory from a tenth of `count` results to all of them."""
    peaks, _, note = streamed(count)
    low, high = peaks[count // 10], peaks[count]
    return high / low, f"{low / 1024:.0f} MiB after {count // 10:,}, {high / 1024:.0f} after {count:,}; {note}"


def command_cost(count: int) -> tuple[float, str]:
    """Return the milliseconds of CPU time that the command itself spends on a result that a worker sends."""
    _, spent, note = streamed(count)
    return spent / count * 1000, f"{spent:.1f} s for {count:,} results; {note}"


def streamed(count: int) -> tuple[dict[int, int], float, str]:
    """Stream results from two workers into a file; return peaks of memory, and seconds of CPU, of the command."""
    quick = f"cmd:{sys.executable} {HERE / 'quick_adapter.py'}"
    peaks: dict[int, int] = {}
    written = 0

    def on_result(_: Any) -> None:
        nonlocal written
        written += 1
        if written in {count // 10, count}:
            peaks[written] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.ndjson"
        options = Options((quick,), "generated", Selection(), Limits(), results=path, jobs=2)
        run = Run(options, Endless(count))
        started, before = time.perf_counter(), time.process_time()
        run.run(on_result)
        elapsed, spent = time.perf_counter() - started, time.process_time() - before
        size = path.stat().st_size
    return peaks, spent, f"{count / elapsed:,.0f} results a second, a file of {size / 1e6:,.0f} MB"


def alone(measure: Callable[[Any], Any], count: object) -> Any:
    """Measure in a process of its own: a peak is that of all that a process did before."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, count).result()


def main() -> int:
    """Measure everything; return 1 if a figure is missed."""
    with tempfile.TemporaryDirectory() as folder:  # The first run of each kind fills it.
        os.environ["ONNX_CONFORMANCE_CACHE"] = folder
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # An installed package has its bytecode, too.
        return measured()


def measured() -> int:
    """Measure everything that is asked for; return 1 if a figure is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2, help="how often each pair is measured")
    parser.add_argument("--results", type=int, default=100_000, help="how many results are streamed")
    parser.add_argument("--core", action="store_true", help="measure only the runs of the core")
    options = parser.parse_args()
    rounds, results = options.rounds, options.results
    figures = [
        ("CPU milliseconds of the harness for a result, second core run", core_case(rounds), 0.1, "<="),
        ("time x processors / CPU time, second core run", core_wall(rounds), 1.15, "<="),
        ("CPU seconds of a first core run", core_first(rounds), 50, "<="),
    ]
    if not options.core:
        figures += ratios(rounds, results)
    return table(figures)


Figure = tuple[str, tuple[float, str], float, str]
"""What it is, its value and a note, the limit, and on which side of that it has to be."""


def ratios(rounds: int, results: int) -> list[Figure]:
    """Measure the other figures."""
    return [
        ("CPU of a second run / of the runtime in a bare loop", whole_run(rounds), 1.4, "<="),
        ("--jobs 1 / --jobs 2, second run", workers(rounds), 1.8, ">="),
        ("run --suite official / onnx's runner under pytest", whole_command(1), 0.067, "<="),
        ("seconds to the first result, second run", first_case(rounds), 1.5, "<="),
        ("a crash of onnxruntime / a start of it", crash(rounds), 0.25, "<="),
        ("CPU milliseconds of the command for a result", alone(command_cost, min(results, 50_000)), 0.05, "<="),
        ("--jobs 2 / --cluster local:2, second run", dask(rounds), 0.9, ">="),
        ("harness / bare loop over the same sessions", own_cost(rounds), 1.5, "<="),
        ("peak memory of all results / of a tenth", alone(memory, results), 1.1, "<="),
    ]


def table(figures: list[Figure]) -> int:
    """Print the figures; return 1 if one is missed."""
    rows, missed = [], 0
    for name, (value, note), limit, way in figures:
        met = value <= limit if way == "<=" else value >= limit
        missed += not met
        rows.append(
            [
                name,
                f"{value:,.3g}" if value < 1000 else f"{value:,.0f}",
                f"{way} {limit:g}",
                "met" if met else "MISSED",
                note,
            ]
        )
    print(tabulate(rows, ["figure", "measured", "wanted", "", "seen"], tablefmt="simple", disable_numparse=True))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
