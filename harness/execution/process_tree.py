"""One adapter process under its supervisor: how it is started, and how it and everything that it started is ended."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import backends
from harness.execution import environment_variables

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.execution.backend_names import Target

CHUNK = 1 << 18
IDLE_END = 2.0
"""Seconds that an adapter whose input has ended has to end by itself."""
LAST_DESCENDANT = 6.0
"""Seconds until everything that a process started is gone; a little more than its supervisor takes at most."""
PROC = Path("/proc")
SUPERVISOR = Path(backends.__file__).with_name("supervisor.py")


class ProcessTree:
    """An adapter, and the supervisor that started it; see backends/supervisor.py.

    Attributes:
        stdin, stdout, stderr: descriptors of the adapter's standard streams; none of them blocks.
        supervisor: a socket on which the supervisor tells how the adapter ended; its end is that of everything.
    """

    def __init__(self, target: Target, memory: int | None) -> None:
        """Start both.

        Args:
            target: what to start.
            memory: bytes of address space of the adapter, and of each process that it starts; None: any number.

        Raises:
            OSError: the supervisor cannot be run. What becomes of the adapter is told later.
        """
        self.supervisor, theirs = socket.socketpair()
        # -I and -S: it takes nothing from the environment, and needs no site-packages.
        words = [sys.executable, "-I", "-S", str(SUPERVISOR), str(theirs.fileno()), str(memory or 0)]
        try:
            with theirs:
                self._process = subprocess.Popen(  # noqa: S603 - running what the user names is the purpose
                    [*target.sandbox, *words, *target.command],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    bufsize=0,
                    start_new_session=True,  # SIGINT is for us.
                    pass_fds=(theirs.fileno(),),
                    env={
                        **environment_variables.variables(target.passes),
                        "PYTHONUNBUFFERED": "1",
                        **target.environment,
                    },
                )
        except OSError:
            self.supervisor.close()
            raise
        streams = [self._process.stdin, self._process.stdout, self._process.stderr]
        self._streams = [stream for stream in streams if stream is not None]
        self.stdin, self.stdout, self.stderr = (stream.fileno() for stream in self._streams)
        for descriptor in (self.stdin, self.stdout, self.stderr, self.supervisor.fileno()):
            os.set_blocking(descriptor, False)
        self._closed = False

    def watch(self, selector: selectors.BaseSelector, *reactions: Callable[[], None]) -> None:
        """Register what to do when there is something to read: in stdout, in stderr, from the supervisor."""
        for descriptor, react in zip((self.stdout, self.stderr, self.supervisor.fileno()), reactions, strict=True):
            selector.register(descriptor, selectors.EVENT_READ, react)

    def cpu_seconds(self) -> float | None:
        """Return the CPU time of everything that was started and still runs; None where the system does not say."""
        if not (PROC / "self" / "task").is_dir():
            return None
        ticks, asked = 0, [self._process.pid]
        while asked:
            process = PROC / str(asked.pop())
            with contextlib.suppress(OSError, IndexError, ValueError):  # It may end while it is read.
                spent = (process / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
                ticks += int(spent[11]) + int(spent[12])
                for children in process.glob("task/*/children"):
                    asked += map(int, children.read_text().split())
        return ticks / os.sysconf("SC_CLK_TCK")

    def close(self, selector: selectors.BaseSelector) -> None:
        """Close the standard streams: the adapter is asked nothing more, and what it still writes is not wanted."""
        if self._closed:
            return
        self._closed = True
        for descriptor in (self.stdin, self.stdout, self.stderr):
            with contextlib.suppress(KeyError):
                selector.unregister(descriptor)
        for stream in self._streams:
            with contextlib.suppress(OSError):
                stream.close()

    def kill(self) -> None:
        """Have the supervisor end everything; waits for nothing: the supervisor's socket ends when that is done."""
        with contextlib.suppress(OSError):
            self.supervisor.shutdown(socket.SHUT_WR)

    def end(self, selector: selectors.BaseSelector, patience: float, forced: float = LAST_DESCENDANT) -> None:
        """Wait for the end of everything.

        Args:
            selector: that it was registered with.
            patience: seconds until it is killed.
            forced: seconds from then until its supervisor is.
        """
        self.close(selector)
        with contextlib.suppress(KeyError):
            selector.unregister(self.supervisor)
        if not self._ends_within(patience):
            self.kill()
            if not self._ends_within(forced):
                self._process.kill()
        self.supervisor.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)

    def _ends_within(self, seconds: float) -> bool:
        """Wait for the end of the supervisor's socket; its process's own would have to be polled."""
        latest = time.monotonic() + seconds
        with contextlib.suppress(TimeoutError, BlockingIOError):
            while True:
                self.supervisor.settimeout(max(0.0, latest - time.monotonic()))
                if not self.supervisor.recv(CHUNK):
                    return True
        return False

    def status(self, told: bytes) -> int:
        """Return how the adapter ended, as subprocess has it.

        Args:
            told: what the supervisor said of it; nothing where it was itself ended, by the system's lack of memory say.
        """
        try:
            return int(told)
        except ValueError:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return self._process.wait(1)
            return -signal.SIGKILL


def read(descriptor: int) -> bytes | None:
    """Return what can be read now; empty at the end, None if there is nothing yet."""
    try:
        return os.read(descriptor, CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def signal_name(status: int) -> str:
    """Return the name of the signal that ended a process; empty where none did."""
    if status >= 0:
        return ""
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"
