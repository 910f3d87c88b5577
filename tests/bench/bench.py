"""The figures that the harness is held to, each a ratio within one run on one machine.

    python tests/bench/bench.py [--rounds N] [--results N]

Prints a table and exits with 1 if a figure is missed. Needs onnxruntime. Nothing here is a test: machines are
noisy, so nobody's pull request should depend on it.
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
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

from harness.execution.adapter_process import Limits
from harness.execution.ask import Asker
from harness.execution.backend_names import Target, resolve
from harness.execution.replies import Died
from harness.generation import plans
from harness.run.options import Options
from harness.run.run import Run
from harness.run.scheduler import Scheduler
from harness.spec import registry
from harness.suites.generated import Generated
from harness.suites.official import Official
from harness.suites.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from harness.case.case import Case

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
    ours = [sys.executable, "-m", "harness.cli", "run", "--suite", "official", "--backend", "onnxruntime"]
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore"]
    theirs = [*pytest, str(HERE / "onnx_runner.py")]
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


def generation() -> tuple[float, str]:
    """Return generated cases a second on one core, over all of them once: they are many enough to be steady."""
    started = time.perf_counter()
    count = sum(1 for op in registry.load() for _ in plans.cases(op))
    elapsed = time.perf_counter() - started
    return count / elapsed, f"{count:,} cases in {elapsed:.0f} s"


class Endless(Generated):
    """The generated cases again and again under new ids, up to a number."""

    def __init__(self, count: int) -> None:
        """Take how many."""
        super().__init__()
        self.count = count

    def cases(self, selection: Selection) -> Iterator[Case]:  # noqa: ARG002 - a Suite's signature
        """Yield `count` cases of one family, so that memory measured is the harness's own."""
        known = list(super().cases(Selection(ops=("Split*",))))
        for index in range(self.count):
            case = known[index % len(known)]
            yield dataclasses.replace(case, id=f"{case.id}#{index}")


def memory(count: int) -> tuple[float, str]:
    """Return the growth of the peak memory from a tenth of `count` results to all of them."""
    quick = Target("quick", (sys.executable, str(HERE / "quick_adapter.py")))
    peaks: dict[int, int] = {}
    written = 0

    def on_result(_: Any) -> None:
        nonlocal written
        written += 1
        if written in {count // 10, count}:
            peaks[written] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.ndjson"
        options = Options(("onnx_reference",), "generated", Selection(), Limits(), results=path)
        run = Run(options, Endless(count))
        run.targets = [quick]
        started = time.perf_counter()
        run.run(on_result)
        elapsed = time.perf_counter() - started
        size = path.stat().st_size
    low, high = peaks[count // 10], peaks[count]
    note = f"{low / 1024:.0f} MiB after {count // 10:,}, {high / 1024:.0f} after {count:,}; "
    return high / low, note + f"{count / elapsed:,.0f} results a second, a file of {size / 1e6:,.0f} MB"


def alone(measure: Callable[[int], tuple[float, str]], count: int) -> tuple[float, str]:
    """Measure in a process of its own: a peak is that of all that a process did before."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, count).result()


def main() -> int:
    """Measure everything; return 1 if a figure is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="how often each pair is measured")
    parser.add_argument("--results", type=int, default=1_000_000, help="how many results are streamed")
    options = parser.parse_args()
    figures = [
        (
            "run --suite official on onnxruntime / onnx's runner under pytest",
            whole_command(options.rounds),
            0.067,
            "<=",
        ),
        ("a crash of onnxruntime / a start of it", crash(options.rounds), 0.25, "<="),
        ("harness / bare loop over the same sessions", own_cost(options.rounds), 1.5, "<="),
        ("generated cases a second and core", generation(), 2000.0, ">="),
        ("peak memory of all results / of a tenth", alone(memory, options.results), 1.1, "<="),
    ]
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
