"""Programs that an adapter starts for its runtime: one that a signal ends, ends the adapter by the same signal.

So a case is told as the crash that it is, wherever it happened, and no program outlives the adapter that started it,
as no adapter outlives the harness.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from typing import Any

PR_SET_PDEATHSIG = 1

_PRCTL = ctypes.CDLL(None).prctl if sys.platform == "linux" else None


class KilledError(BaseException):
    """A program died; no Exception, so that a runtime cannot take it for one of its own."""

    def __init__(self, program: str, number: int) -> None:
        """Keep the signal's number."""
        super().__init__(f"{program} was ended by {signal.Signals(number).name}")
        self.number = number


def end_with_its_parent() -> None:
    """Ask Linux to end this process with the one that started it: what hangs would never see the end of its input.

    exec() keeps that. Elsewhere nothing does it; what ends in an orderly way ends what it started itself.
    """
    if _PRCTL is not None:
        _PRCTL(PR_SET_PDEATHSIG, signal.SIGKILL)


def run(words: Any, *more: Any, **options: Any) -> subprocess.CompletedProcess[Any]:  # noqa: ANN401 - as subprocess.run()
    """Run a program as subprocess.run() does.

    Raises:
        KilledError: a signal ended it; what it said is on standard error.
    """
    if _PRCTL is not None:
        options.setdefault("preexec_fn", end_with_its_parent)
    done = subprocess.run(words, *more, **options)  # noqa: PLW1510, S603 - the runtime's own command, in its own way
    if done.returncode < 0:
        if done.stderr:
            said = done.stderr if isinstance(done.stderr, bytes) else done.stderr.encode("utf-8", "replace")
            sys.stderr.flush()
            os.write(2, said[-8192:])
        raise KilledError(os.path.basename(words[0]), -done.returncode)  # noqa: PTH119 - a name, no path
    return done


def end_by(number: int) -> AssertionError:
    """End this process by the signal that ended a program; return what to raise if that is survived."""
    os.kill(os.getpid(), number)
    return AssertionError("a signal that ended one process ends another")
