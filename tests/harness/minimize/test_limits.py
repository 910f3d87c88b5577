# SPDX-License-Identifier: Apache-2.0
"""Work that takes too long or too much is ended, and leaves nothing behind."""

from __future__ import annotations

import gc
import resource
import signal
import sys
import threading
import time

import numpy as np
import pytest

from onnx_conformance.minimize.limits import STATM, OverdueError, within


def too_long(after: int = 0) -> None:
    """Compute for much longer than the limits of the tests, but not without an end."""
    del after
    end = time.monotonic() + 30
    while time.monotonic() < end:
        pass


def test_a_computation_that_takes_too_long_is_stopped() -> None:
    with pytest.raises(OverdueError, match=r"0\.05"), within(0.05, 1 << 30):
        too_long()


class Slow:
    def __del__(self) -> None:
        time.sleep(0.05)


def test_a_computation_is_stopped_too_where_the_time_ends_in_a_finalizer(capsys: pytest.CaptureFixture[str]) -> None:
    """Python cannot raise an exception of a finalizer. Usually it prints a warning, which pytest takes as a failure."""
    with pytest.raises(OverdueError), within(0.02, 1 << 30):
        too_long(after=id(Slow()))
    assert not capsys.readouterr().err


def test_other_exceptions_of_a_finalizer_are_still_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong:
        def __del__(self) -> None:
            raise ValueError

    printed = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: printed.append(lost.exc_type))
    hook = sys.unraisablehook
    with within(5, 1 << 30):
        del Wrong().__dict__
    assert printed == [ValueError]
    assert sys.unraisablehook is hook


@pytest.mark.slow
def test_a_computation_is_stopped_too_where_the_time_ends_in_a_callback_of_the_collector() -> None:
    """Python prints an exception of such a callback, and goes on."""
    ran = []

    def callback(phase: str, info: dict[str, int]) -> None:  # noqa: ARG001 - gc's
        time.sleep(0.05)
        ran.append(phase)

    gc.callbacks.append(callback)
    try:
        with pytest.raises(OverdueError), within(0.02, 1 << 30):
            too_long(after=gc.collect())
    finally:
        gc.callbacks.remove(callback)
    assert ran[:2] == ["start", "stop"]


@pytest.mark.skipif(not STATM.exists(), reason="only Linux tells how much memory is taken")
def test_a_computation_that_takes_too_much_memory_is_stopped() -> None:
    with pytest.raises(MemoryError), within(10, 1 << 28):
        np.ones(1 << 30, np.uint8)
    assert np.empty(1 << 29, np.uint8).size == 1 << 29, "it may again"


def test_limits_are_reset_after_a_computation_within_bounds() -> None:
    before = (signal.getsignal(signal.SIGALRM), resource.getrlimit(resource.RLIMIT_AS))
    with within(5, 1 << 30):
        pass
    assert (signal.getsignal(signal.SIGALRM), resource.getrlimit(resource.RLIMIT_AS)) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_a_timer_that_runs_goes_on() -> None:
    rung = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(True))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with within(0.2, 1 << 30):
            time.sleep(0.01)
        assert 0.1 < signal.getitimer(signal.ITIMER_REAL)[0] < 0.3
        time.sleep(0.35)
        assert rung
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_beside_the_main_thread_nothing_breaks() -> None:
    calls = []

    def work() -> None:
        with within(0.01, 1 << 30):
            time.sleep(0.05)
        calls.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert calls
