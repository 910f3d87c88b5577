# SPDX-License-Identifier: Apache-2.0
"""Runs programs for a runtime, such as compilers: a signal that ends one ends the adapter too.

So a crash is reported as a crash, wherever it happened, and no program outlives the adapter that started it, as no
adapter outlives the harness.
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
    """A signal ended a program; not an Exception, so that a runtime does not catch it.

    Attributes:
        number: the signal.
        place: where the program ended, for end_by(), if the adapter knows it.
    """

    place = ""

    def __init__(self, program: str, number: int) -> None:
        """Take the program and the signal's number."""
        super().__init__(f"{program} was ended by {signal.Signals(number).name}")
        self.number = number


def end_with_its_parent() -> None:
    """Have Linux end this process when its parent ends: a process that hangs does not notice the end of its input.

    It persists across exec(). Other systems have no such call; there a process has to end its children itself.
    """
    if _PRCTL is not None:
        _PRCTL(PR_SET_PDEATHSIG, signal.SIGKILL)


def run(words: Any, *more: Any, **options: Any) -> subprocess.CompletedProcess[Any]:  # noqa: ANN401 - as subprocess.run()
    """Run a program as subprocess.run() does.

    Raises:
        KilledError: a signal ended it; its messages are on standard error.
    """
    if _PRCTL is not None:
        options.setdefault("preexec_fn", end_with_its_parent)
    done = subprocess.run(words, *more, **options)  # noqa: PLW1510, S603 - the runtime's own command, in its own way
    if done.returncode < 0:
        if done.stderr:
            text = done.stderr if isinstance(done.stderr, bytes) else done.stderr.encode("utf-8", "replace")
            sys.stderr.flush()
            os.write(2, text[-8192:])
        raise KilledError(os.path.basename(words[0]), -done.returncode)  # noqa: PTH119 - a name, no path
    return done


def end_by(number: int, place: str = "") -> AssertionError:
    """End this process by the signal that ended a program; return the error to raise should it survive.

    Args:
        number: the signal.
        place: where the program ended, in words that are the same for all crashes with one cause. Findings name it.
    """
    if place:
        sys.stderr.flush()
        os.write(2, f"\nended at: {place}\n".encode())
    os.kill(os.getpid(), number)
    return AssertionError("a signal that ended one process did not end another")
