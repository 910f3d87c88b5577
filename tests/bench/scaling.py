# SPDX-License-Identifier: Apache-2.0
"""How far a run of the whole suite on many backends scales: a simulation from measured times.

    python tests/bench/scaling.py RESULTS... [--core]

RESULTS are files of `run`, of samples too: they say how long the cases of an operator take a backend, and how long its
cases take on average where an operator is missing. From that follow the slices of the whole generated suite (or its
core) on all these backends, which are handed to 16, 64 and 256 workers, the longest first, each slice with all backends
or each backend by itself. Prints the efficiency (the time of one worker, divided by the number of workers and the time
that they take) by the size of slices, and what bounds it.
"""

from __future__ import annotations

import argparse
import heapq
import statistics
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from tabulate import tabulate

from onnx_conformance.results.stream import Run
from onnx_conformance.suites import slices
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WORKERS = (16, 64, 256)
SIZES = (50, 100, 200, 400, 800, 10**9)
HARNESS = 0.0003
"""Seconds of a worker for a case beside those of the runtime: the second run of `nox -s bench`."""
PARENT = 0.00005
"""Seconds of the command for a result."""
START = 2.0
"""Seconds that an adapter takes to start, on each worker that needs it."""


def measured(paths: Sequence[str]) -> dict[str, tuple[dict[str, float], float]]:
    """Return by backend the seconds of a case by operator version, and of any case."""
    times: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for path in map(Path, paths):
        for result in Run(path).results():
            times[result.backend][result.operator].append(result.seconds or 0.0)
    return {
        backend: (
            {name: statistics.fmean(each) for name, each in of.items()},
            statistics.fmean([item for each in of.values() for item in each]),
        )
        for backend, of in times.items()
    }


def makespan(costs: Iterable[float], workers: int, *, start: float) -> float:
    """Return when the last of some workers ends, each of which takes the next slice when it has ended one."""
    ends = [start] * workers
    heapq.heapify(ends)
    for cost in costs:
        heapq.heapreplace(ends, ends[0] + cost)
    return max(ends)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+")
    parser.add_argument("--core", action="store_true")
    options = parser.parse_args()
    backends = measured(options.results)
    suite, selection, rows = Generated(), Selection(core=options.core), []
    print(f"{len(backends)} backends: {', '.join(sorted(backends))}")
    for size in SIZES:
        slices.MOST_CASES = size
        parts = suite.slices(selection)
        results = sum(part.cases for part in parts) * len(backends)
        each = {
            part: [part.cases * (of.get(part.operator, usual) + HARNESS) for of, usual in backends.values()]
            for part in parts
        }
        together = sorted((sum(costs) for costs in each.values()), reverse=True)
        apart = sorted((cost for costs in each.values() for cost in costs), reverse=True)
        for how, costs, adapters in (("all backends", together, len(backends)), ("one backend", apart, len(backends))):
            whole = sum(costs)
            row: list[object] = ["whole" if size == SIZES[-1] else size, how, len(costs), f"{costs[0]:.0f} s"]
            for workers in WORKERS:
                start = START * adapters if how == "all backends" else START * min(adapters, len(costs) / workers)
                span = max(makespan(costs, workers, start=start), results * PARENT)
                ideal = whole / workers
                bounds = {"the longest slice": costs[0], "starts": start, "the command": results * PARENT}
                bound = max(bounds, key=lambda name: bounds[name]) if span > 1.1 * ideal else ""
                row.append(f"{ideal / span:.0%} {f'({bound})' if bound else ''}".strip())
            rows.append(row)
    print(f"one worker takes {whole / 3600:.1f} hours for {results:,.0f} results")
    head = ["cases a slice", "a slice is of", "slices", "longest", *(f"{workers} workers" for workers in WORKERS)]
    print(tabulate(rows, head, tablefmt="github"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
