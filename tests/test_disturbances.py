# SPDX-License-Identifier: Apache-2.0
"""What disturbs a run from outside: it ends with a sentence or quietly, and what was measured is whole."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from typing import IO, TYPE_CHECKING, Any

import pytest

from commands import adapter
from onnx_conformance.results.stream import Run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("ends")

SPLIT = "ai.onnx/Split/13"
NAMES = ("lengths", "lengths_equal", "lengths_one", "lengths_all", "even", "even_columns", "even_one")
CASES = [word for name in NAMES for word in ("--case", f"{SPLIT}/{name}")]
FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")  # noqa: PTH110


def words(file: Path | str, *more: str, kind: str = "good") -> list[str]:
    return ["run", "--backend", adapter(kind), *CASES, "--results", str(file), *more]


def start(
    arguments: list[str],
    *,
    stdout: int | IO[bytes] = subprocess.PIPE,
    stderr: int | IO[bytes] = subprocess.PIPE,
    before: Callable[[], object] = lambda: None,
    **environment: str,
) -> subprocess.Popen[bytes]:
    """Start the command; `before` is called in its process."""

    def prepare() -> None:
        signal.signal(
            signal.SIGINT, signal.default_int_handler
        )  # A shell in the background lets its children ignore it.
        before()

    return subprocess.Popen(
        [sys.executable, "-m", "onnx_conformance", *arguments],
        stdout=stdout,
        stderr=stderr,
        env={**os.environ, **environment},
        preexec_fn=prepare,  # noqa: PLW1509 - there are no threads yet
    )


def end(process: subprocess.Popen[bytes]) -> tuple[int, str, str]:
    """Wait for a command; return its status and its output."""
    out, err = process.communicate()
    text = ((out or b"").decode(), (err or b"").decode())
    assert "Traceback" not in "".join(text), text
    assert "Exception ignored" not in "".join(text), text
    return process.returncode, *text


def lines(file: Path) -> int:
    return file.read_bytes().count(b"\n") if file.exists() else 0


def begun(process: subprocess.Popen[bytes], file: Path) -> None:
    """Wait until a run has written results."""
    while lines(file) < 4:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def measured(file: Path) -> dict[str, str]:
    return {item.case: str(item.verdict) for item in Run(file).results()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The results of a run that nothing disturbed."""
    file = tmp_path_factory.mktemp("whole") / "results.ndjson"
    status, out, err = end(start(words(file, kind="good")))
    assert status == 0, out + err
    verdicts = measured(file)
    assert len(verdicts) == len(NAMES), verdicts
    return verdicts


@pytest.mark.slow
def test_a_killed_run_leaves_no_lock_and_goes_on_to_the_same_results(whole: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "results.ndjson"
    process = start(words(file, kind="is_very_slow"))
    begun(process, file)
    process.kill()
    process.communicate()
    verdicts = measured(file)
    assert 0 < len(verdicts) < len(whole), "not in the middle of the run"
    status, out, err = end(start(words(file, kind="is_very_slow")))
    assert (status, "was cut off; continue it with --resume" in err) == (2, True), out + err
    status, out, err = end(start(words(file, "--resume", kind="is_very_slow")))
    assert status == 0, out + err
    assert measured(file) == whole
    assert Run(file).complete


@pytest.mark.slow
def test_a_second_run_on_the_same_file_is_refused(whole: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "results.ndjson"
    first = start(words(file, kind="is_very_slow"))
    begun(first, file)
    first.send_signal(signal.SIGSTOP)  # So that it is not over before.
    for more in ([], ["--resume"], ["--overwrite"]):
        status, out, err = end(start(words(file, *more)))
        assert (status, f"another run is writing to {file}" in err) == (2, True), out + err
    first.send_signal(signal.SIGCONT)
    assert end(first)[0] == 0
    assert measured(file) == whole


@pytest.mark.slow
def test_two_runs_that_begin_at_once_are_one(whole: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "results.ndjson"
    ended = [end(process) for process in [start(words(file, kind="is_slow")) for _ in range(3)]]
    assert sorted(status for status, _, _ in ended) == [0, 2, 2], ended
    assert measured(file) == whole


@pytest.mark.slow
@pytest.mark.parametrize("module", ["numpy", "click", "onnx"])
def test_an_interrupt_during_an_import_ends_with_one_line(module: str, tmp_path: Path) -> None:
    """A module of that name is interrupted while it is imported, and makes an error of it, as those in C do."""
    source = (
        "import os, signal\ntry:\n    os.kill(os.getpid(), signal.SIGINT)\n    {}\nexcept KeyboardInterrupt:\n    {}\n"
    )
    wait, fail = "__import__('time').sleep(30)", "raise ImportError('half of it')"
    (tmp_path / f"{module}.py").write_text(source.format(wait, fail))
    assert end(start(["list", "--op", "Split"], PYTHONPATH=str(tmp_path))) == (2, "", "onnx-conformance: interrupted\n")


@pytest.mark.slow
@FULL
def test_a_full_disk_behind_standard_output_is_reported(tmp_path: Path, whole: dict[str, str]) -> None:
    file = tmp_path / "results.ndjson"
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        status, _, err = end(start(words(file), stdout=full))
        assert (status, err.count("\n"), "[output-not-writable]" in err) == (2, 1, True), err
        assert measured(file) == whole
        assert Run(file).complete
        for arguments in (["--help"], ["run", "--help"], ["list", "--op", "Split"], ["report", str(file)]):
            status, _, err = end(start(arguments, stdout=full))
            assert (status, err.count("\n"), "[output-not-writable]" in err) == (2, 1, True), err


@pytest.mark.slow
@FULL
def test_a_full_disk_behind_standard_error_costs_no_result(tmp_path: Path, whole: dict[str, str]) -> None:
    file = tmp_path / "results.ndjson"
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        status, out, _ = end(start(words(file), stderr=full))
        assert status == 0, out
        assert measured(file) == whole
        assert end(start(["no such command"], stderr=full)) == (2, "", "")
        assert end(start(["report", "no such file"], stdout=full, stderr=full)) == (2, "", "")


def _reused(name: str) -> None:
    os.close({"stdin": 0, "stdout": 1, "stderr": 2}[name])


@pytest.mark.slow
@pytest.mark.parametrize("closed", [("stdout",), ("stderr",), ("stdin",), ("stdin", "stdout", "stderr")], ids=" ".join)
def test_a_closed_stream_costs_no_result(closed: tuple[str, ...], tmp_path: Path, whole: dict[str, str]) -> None:
    """The number of a closed stream is free: the results file must not take it, because prints would go into it."""
    file = tmp_path / "results.ndjson"
    status, out, err = end(start(words(file), before=lambda: [_reused(name) for name in closed]))
    assert status == 0, out + err
    assert measured(file) == whole
    status, out, err = end(start(["report", "no such file"], before=lambda: [_reused(name) for name in closed]))
    assert (status, err == "") == (2, "stderr" in closed), out + err


@pytest.mark.slow
def test_a_reader_that_has_enough_ends_the_command_without_a_word() -> None:
    process = start(["list", "--op", "Split"])
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b"ai.onnx/Split/")
    process.stdout.close()
    process.stdout = None
    status, _, err = end(process)
    assert (status, err) == (2, ""), err


@pytest.mark.slow
def test_results_go_into_a_pipe_that_somebody_reads(tmp_path: Path, whole: dict[str, str]) -> None:
    pipe, file = tmp_path / "pipe", tmp_path / "results.ndjson"
    os.mkfifo(pipe)
    status, out, err = end(start(words(pipe)))
    assert (status, f"cannot write {pipe}: this pipe has no reader" in err) == (2, True), out + err
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reader, True)
    process = start(words(pipe))
    received: list[bytes] = []

    def receive() -> None:
        while data := os.read(reader, 1 << 16):
            received.append(data)

    while not received:  # Without a writer, a read ends at once.
        time.sleep(0.01)
        receive()
    assert end(process)[0] == 0
    file.write_bytes(b"".join(received))
    assert measured(file) == whole
    os.close(reader)
    for arguments in (["report", str(pipe)], ["gate", str(pipe), "--expectations", str(pipe)]):
        status, out, err = end(start(arguments))
        assert (status, err.count("\n")) == (2, 1), out + err


@pytest.mark.slow
def test_a_closed_pipe_of_results_is_reported(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    process = start(words(pipe))
    while not _line(reader):
        time.sleep(0.01)
    os.close(reader)
    status, out, err = end(process)
    assert (status, f"cannot write {pipe}: Broken pipe" in err) == (2, True), out + err


def _line(reader: int) -> bytes:
    try:
        return os.read(reader, 1)
    except BlockingIOError:
        return b""


@pytest.mark.slow
def test_a_file_that_may_not_grow_keeps_its_results(tmp_path: Path, whole: dict[str, str]) -> None:
    file = tmp_path / "results.ndjson"
    room = 2000

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    status, out, err = end(start(words(file), before=limit))
    sentence = f"cannot write {file}: File too large; the existing results are valid"
    assert (status, sentence in err) == (2, True), out + err
    verdicts = measured(file)
    assert 0 < len(verdicts) < len(whole), verdicts
    status, out, err = end(start(words(file, "--resume")))
    assert (status, measured(file)) == (0, whole), out + err


@pytest.mark.slow
@pytest.mark.parametrize("most", [6, 8, 10, 12, 16])
def test_few_file_descriptors_end_with_a_sentence(most: int, tmp_path: Path, whole: dict[str, str]) -> None:
    file = tmp_path / "results.ndjson"
    limit: Any = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # noqa: E731
    status, out, err = end(start(words(file), before=limit))
    if status == 2:
        assert err.startswith("onnx-conformance: "), out + err
        assert "fault of the harness" not in err, out + err
    else:
        assert (status, measured(file)) == (0, whole), out + err


@pytest.mark.slow
def test_there_is_a_number_of_descriptors_that_is_enough(tmp_path: Path) -> None:
    limit: Any = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))  # noqa: E731
    status, out, err = end(start(words(tmp_path / "results.ndjson"), before=limit))
    assert status == 0, out + err
