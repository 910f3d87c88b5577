# SPDX-License-Identifier: Apache-2.0
"""Programs of an adapter: the signal that ends one is reported, and none is left running."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import orphans
from onnx_conformance import backends
from onnx_conformance.backends import child
from onnx_conformance.base.signature import place_of
from onnx_conformance.base.verdict import Result, Verdict

ABORT = [sys.executable, "-c", "import os, sys; print('the last words', file=sys.stderr, flush=True); os.abort()"]


@pytest.mark.parametrize("text", [False, True])
def test_a_program_that_dies_is_no_exception_of_the_runtimes(capfd: pytest.CaptureFixture[str], *, text: bool) -> None:
    with pytest.raises(child.KilledError, match=r"ended by SIGABRT") as error:
        child.run(ABORT, capture_output=True, text=text)
    assert not isinstance(error.value, Exception)
    assert error.value.number == signal.SIGABRT
    assert "the last words" in capfd.readouterr().err


def test_a_program_that_fails_is_left_to_the_runtime() -> None:
    done = child.run([sys.executable, "-c", "import sys; sys.exit(3)"], capture_output=True)
    assert done.returncode == 3


def test_the_adapter_ends_as_its_program_ended() -> None:
    script = f"""
import sys
sys.path.insert(0, {str(Path(backends.__file__).parents[2])!r})
from backends import child
try:
    child.run({ABORT!r})
except child.KilledError as error:
    raise child.end_by(error.number, "step 2")
"""
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
    assert done.returncode == -signal.SIGABRT
    crash = Result("a", "a/Op/1", "mine", Verdict.CRASH, "values", stderr=done.stderr)
    assert place_of(crash) == "step 2"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with the one that started it")
def test_a_program_that_hangs_does_not_outlive_the_adapter(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    hang = f"import os, time; open({str(pid_file)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    script = f"""
import sys
sys.path.insert(0, {str(Path(backends.__file__).parents[2])!r})
from backends import child
child.run([sys.executable, "-c", {hang!r}])
"""
    adapter = subprocess.Popen([sys.executable, "-c", script])
    deadline = time.monotonic() + 30
    while not (pid_file.is_file() and pid_file.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    number = int(pid_file.read_text())
    adapter.kill()
    adapter.wait()
    while orphans.runs(number):
        assert time.monotonic() < deadline, "the program is still there"
        time.sleep(0.02)


def test_it_runs_the_same_programs_as_subprocess(capfd: pytest.CaptureFixture[str]) -> None:
    assert (
        child.run([sys.executable, "-c", "print(input())"], input="x", text=True, capture_output=True).stdout == "x\n"
    )
    child.run([sys.executable, "-c", "import os; os.write(1, b'here')"])
    assert capfd.readouterr().out == "here"
