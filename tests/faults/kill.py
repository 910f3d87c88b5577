# SPDX-License-Identifier: Apache-2.0
"""Kills what takes part in a run, at random moments, and sees that nothing is lost and nothing is doubled.

    python tests/faults/kill.py [--tries N] [--seed N] [worker] [command] [dask-worker] [dask-scheduler]

Each try starts a run with two workers, kills one process with SIGKILL, goes on with --resume until the results are
whole, and compares them with those of a run that nothing disturbed. Nothing may be left running. Prints a line for each
kind; exits with 1 where one try is wrong. Needs onnxruntime, and Dask for the last two.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Verdicts = dict[tuple[str, str], str]
OPERATORS = ("Scatter*", "Shape", "Size", "Slice", "Softmax*", "Split*", "Squeeze", "Sum")
"""They answer alike each time, unlike some that read memory which nobody has written."""
COMMAND = [sys.executable, "-m", "onnx_conformance", "run", "--core", "--table", "none", "--backend", "onnxruntime"]
RUN = [*COMMAND, *(f"--op={name}" for name in OPERATORS)]
MOST_RESUMES = 5
PROC = Path("/proc")


def children(pid: int) -> list[int]:
    """Return the processes that one has started and that still run."""
    found: list[int] = []
    for task in (PROC / str(pid) / "task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, task.read_text().split())
    return found


def below(pid: int) -> set[int]:
    """Return a process and everything that it has started, directly or not."""
    return {pid}.union(*map(below, children(pid)))


def runs(pid: int) -> bool:
    """Return whether a process is there, and more than the memory of one."""
    try:
        return "\nState:\tZ" not in (PROC / str(pid) / "status").read_text()
    except OSError:
        return False


def is_worker(pid: int) -> bool:
    """Return whether a process is a fork of the command, and not a supervisor of an adapter."""
    with contextlib.suppress(OSError):
        words = (PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
        return b"onnx_conformance" in words
    return False


def verdicts(path: Path) -> Verdicts:
    """Return the verdicts of a results file.

    Raises:
        AssertionError: a case has two.
    """
    found: Verdicts = {}
    for text in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if text.endswith("\n") and '"kind":"result"' in text:
            item = json.loads(text)
            key = item["backend"], item["case"]
            assert key not in found, f"{key} is doubled"
            found[key] = item["verdict"]
    return found


def is_whole(path: Path) -> bool:
    """Return whether a results file has its footer."""
    return path.exists() and b'\n{"kind":"footer"' in path.read_bytes()


def start(path: Path, *words: str) -> subprocess.Popen[bytes]:
    """Start a run."""
    return subprocess.Popen([*RUN, "--results", str(path), *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def finished(path: Path, process: subprocess.Popen[bytes], *words: str) -> int:
    """Wait for a run, and go on with it until its results are whole; return how often it had to."""
    resumes = 0
    _, err = process.communicate(timeout=300)
    while not is_whole(path):
        assert resumes < MOST_RESUMES, err.decode()
        resumes += 1
        more = ["--resume"] if path.exists() and path.stat().st_size else []
        _, err = start(path, *words, *more).communicate(timeout=300)
    assert b"Traceback" not in err, err.decode()
    return resumes


def quiet(pids: set[int]) -> None:
    """Wait until none of some processes runs."""
    latest = time.monotonic() + 20
    while any(map(runs, pids)):
        assert time.monotonic() < latest, f"still running: {[pid for pid in pids if runs(pid)]}"
        time.sleep(0.05)


def on_this_machine(victims: Callable[[int], list[int]], moment: float, path: Path) -> int:
    """Kill a process of a run with --jobs 2; return how often it had to be resumed, or -1: it was over before."""
    process = start(path, "--jobs", "2")
    time.sleep(moment)
    everything, chosen = below(process.pid), victims(process.pid)
    if process.poll() is not None or not chosen:
        process.communicate()
        return -1
    os.kill(random.choice(chosen), signal.SIGKILL)
    resumes = finished(path, process, "--jobs", "2")
    quiet(everything - {process.pid})
    return resumes


def workers(command: int) -> list[int]:
    """Return the worker processes of a command."""
    return list(filter(is_worker, children(command)))


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], subprocess.Popen[bytes], str]]:
    """Start a scheduler and two workers of Dask; give both processes, and the address."""
    with contextlib.ExitStack() as stack:
        file = folder / f"scheduler-{time.time_ns()}.json"
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        scheduler = subprocess.Popen(
            ["dask", "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)], **silent
        )
        stack.callback(scheduler.wait)
        stack.callback(scheduler.kill)
        while not file.exists() or not file.read_text().endswith("}"):
            time.sleep(0.05)
        address = json.loads(file.read_text())["address"]
        of_workers = subprocess.Popen(
            ["dask", "worker", address, "--nworkers", "2", "--nthreads", "1", "--no-dashboard", "--death-timeout", "5"],
            cwd=folder,
            **silent,
        )
        stack.callback(of_workers.wait)
        stack.callback(of_workers.terminate)
        yield scheduler, of_workers, address


def dask_worker(moment: float, path: Path) -> int:
    """Kill a Dask worker in the middle of a run."""
    with cluster(path.parent) as (_, of_workers, address):
        words = ("--cluster", address)
        process = start(path, *words)
        time.sleep(1.5 + moment)
        # The nannies are children of the command, and each has a worker below it, beside a helper of Python's.
        chosen = [pid for nanny in children(of_workers.pid) for pid in [nanny, *children(nanny)] if adapters(pid)]
        if process.poll() is not None or not chosen:
            process.communicate()
            return -1
        os.kill(random.choice(chosen), signal.SIGKILL)
        return finished(path, process, *words)


def adapters(pid: int) -> bool:
    """Return whether a process is the one that starts adapters."""
    return any(b"supervisor.py" in (PROC / str(child) / "cmdline").read_bytes() for child in children(pid))


def dask_scheduler(moment: float, path: Path) -> int:
    """Kill the scheduler in the middle of a run, and go on with another cluster."""
    with cluster(path.parent) as (scheduler, of_workers, address):
        process = start(path, "--cluster", address)
        time.sleep(1.5 + moment)
        everything = below(of_workers.pid)
        if process.poll() is not None:
            process.communicate()
            return -1
        scheduler.kill()
        process.communicate(timeout=300)
    resumes = 0
    if not is_whole(path):
        with cluster(path.parent) as (_, _, address):
            more = ["--resume"] if path.exists() and path.stat().st_size else []
            resumes = 1 + finished(path, start(path, "--cluster", address, *more), "--cluster", address)
    quiet(everything)
    return resumes


def compare(measured: Verdicts, right: Verdicts) -> None:
    """Raise AssertionError if results are lost, new or others than those of an undisturbed run."""
    lost, more = right.keys() - measured.keys(), measured.keys() - right.keys()
    other = [key for key in right if measured.get(key, right[key]) != right[key]]
    wrong = [*lost, *more, *other]
    assert not wrong, f"lost {len(lost)}, new {len(more)}, other {other[:3]}"


KINDS: dict[str, Callable[[float, Path], int]] = {
    "worker": lambda moment, path: on_this_machine(workers, moment, path),
    "command": lambda moment, path: on_this_machine(lambda pid: [pid], moment, path),
    "dask-worker": dask_worker,
    "dask-scheduler": dask_scheduler,
}


def main() -> int:
    """Try everything; return 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=50, help="of each kind that hit a run in the middle")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"{', '.join(KINDS)}; default: all")
    options = parser.parse_args()
    random.seed(options.seed)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        usual = []
        for number in range(2):  # The first one fills the cache.
            path = folder / f"whole{number}.ndjson"
            begun = time.monotonic()
            finished(path, start(path, "--jobs", "2"))
            usual.append(time.monotonic() - begun)
        right = verdicts(path)
        print(f"{len(right)} results; a run takes {usual[-1]:.1f} s")
        for kind in options.kinds or KINDS:
            seen: Counter[int] = Counter()
            late = number = 0
            while sum(seen.values()) < options.tries:
                number += 1
                path = folder / f"{kind}{number}.ndjson"
                moment = random.uniform(0.6, usual[-1] + 0.2)
                try:
                    resumes = KINDS[kind](moment, path)
                    late += resumes < 0
                    if resumes < 0:
                        continue
                    measured = verdicts(path)
                    compare(measured, right)
                except AssertionError as error:
                    wrong += 1
                    resumes = -2
                    print(f"{kind}, killed after {moment:.3f} s: {error}")
                seen[resumes] += 1
                path.unlink(missing_ok=True)
            told = ", ".join(
                f"{count} with {resumes} resumed" for resumes, count in sorted(seen.items()) if resumes >= 0
            )
            print(f"{kind}: {sum(seen.values())} kills, {seen[-2]} wrong; {told}; {late} more came after the end")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
