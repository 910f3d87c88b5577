# SPDX-License-Identifier: Apache-2.0
"""A run that is terminated or killed: its results are kept, and no process of an adapter is left."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from onnx_conformance.run.signals import EndedError, in_order
from orphans import runs
from paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WRONG = ROOT / "tests" / "adapters" / "wrong.py"
pytestmark = [
    pytest.mark.usefixtures("ends"),
    pytest.mark.skipif(sys.platform != "linux", reason="what is left is looked for in /proc"),
]
CASES = ("--case", "ai.onnx/Split/13/lengths", "--case", "ai.onnx/Split/13/lengths_sum")
PATIENCE = 20.0
"""Seconds within which an expected event happens, on a busy machine."""


def until(holds: Callable[[], object], what: str) -> None:
    latest = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < latest, what
        time.sleep(0.05)


def speaking_of(text: str) -> list[int]:
    """Return the processes that have a text among their arguments, as an adapter has the file that it writes to."""
    pids = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if text.encode() in path.read_bytes():
                pids.append(int(path.parent.name))
        except OSError:
            continue
    return [pid for pid in pids if runs(pid)]


class Hung:
    """A run whose adapter answered one case, and then started two daemons and hangs."""

    def __init__(self, folder: Path) -> None:
        self.ids, self.results = folder / "ids", folder / "results.ndjson"
        adapter = shlex.join([sys.executable, "-S", str(WRONG), "hangs_leaving_daemons", "lengths_sum", str(self.ids)])
        words = ["run", "--backend", f"cmd:{adapter}", *CASES, "--timeout", "600", "--results", str(self.results)]
        self.process = subprocess.Popen(
            [sys.executable, "-c", "from onnx_conformance.cli import entry; entry()", *words],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def ended_by(self, number: int) -> tuple[int, str, str]:
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=PATIENCE)
        until(lambda: not speaking_of(str(self.ids)), f"still there: {speaking_of(str(self.ids))}")
        return self.process.returncode, out, err


@pytest.fixture
def hung(tmp_path: Path) -> Iterator[Hung]:
    run = Hung(tmp_path)
    try:
        until(lambda: run.ids.exists() and run.ids.read_text().count("\n") == 2, "the adapter does not hang")
        until(lambda: kinds(run.results) == ["header", "result"], "there is no result")
        assert len(speaking_of(str(run.ids))) >= 5, "the harness, a supervisor, an adapter and two daemons"
        yield run
    finally:
        run.process.kill()
        run.process.communicate()


def kinds(results: Path) -> list[str]:
    return [json.loads(line)["kind"] for line in results.read_text().splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "name"), [(signal.SIGTERM, "SIGTERM"), (signal.SIGHUP, "SIGHUP")])
def test_a_terminated_run_reports_it_and_keeps_its_results(number: int, name: str, hung: Hung) -> None:
    status, _, err = hung.ended_by(number)
    assert (status, err) == (
        128 + number,
        f"onnx-conformance: ended by {name}; continue with --resume --results {hung.results}\n",
    )
    assert kinds(hung.results) == ["header", "result"]


@pytest.mark.slow
def test_a_run_that_is_killed_leaves_no_process(hung: Hung) -> None:
    status, _, _ = hung.ended_by(signal.SIGKILL)
    assert status == -signal.SIGKILL


@pytest.mark.slow
def test_an_interrupted_run_leaves_no_process(hung: Hung) -> None:
    status, out, err = hung.ended_by(signal.SIGINT)
    assert status == 2, out + err
    assert "onnx-conformance: interrupted; the results so far are shown above" in err, err
    assert "Traceback" not in out + err, out + err


SLOW = """
import sys, time
class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "onnx_conformance.cli.commands":
            print("importing", flush=True)
            time.sleep(60)
sys.meta_path.insert(0, Slow())
from onnx_conformance.cli import entry
entry()
"""


def test_an_interrupt_while_the_command_is_imported_is_a_sentence() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SLOW], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "importing\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (2, "onnx-conformance: interrupted\n")


@pytest.mark.slow
def test_an_interrupt_while_an_adapter_is_imported_is_silent(tmp_path: Path) -> None:
    (tmp_path / "dawdling.py").write_text("import time\nprint('importing', flush=True)\ntime.sleep(60)\n")
    serve = ROOT / "backends" / "serve.py"
    with subprocess.Popen(
        [sys.executable, str(serve), "dawdling.adapter"],
        cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        assert process.stderr.readline() == "importing\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (-signal.SIGINT, "", "")


def test_a_second_signal_does_not_disturb_the_first() -> None:
    def told_twice() -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            os.kill(os.getpid(), signal.SIGHUP)

    with pytest.raises(EndedError) as caught, in_order():
        told_twice()
    assert (caught.value.number, caught.value.status) == (signal.SIGTERM, 143)
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL


def test_a_signal_that_is_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with in_order():
            os.kill(os.getpid(), signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
