# SPDX-License-Identifier: Apache-2.0
"""One adapter process under its supervisor: starts it, and ends it with everything that it started."""

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
from typing import TYPE_CHECKING, Protocol, cast

from onnx_conformance.base.package import BACKENDS
from onnx_conformance.environments import environment_variables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import BinaryIO

    from onnx_conformance.base.target import Target

CHUNK = 1 << 18
"""Bytes that are read at once."""
IDLE_END = 2.0
"""Seconds that an idle adapter has to exit after its input ended."""
LAST_DESCENDANT = 6.0
"""Seconds until everything that a process started has ended; a little more than its supervisor takes at most."""
PROC = Path("/proc")
SUPERVISOR = BACKENDS / "supervisor.py"


class Process(Protocol):
    """The interface of a supervisor's process; subprocess.Popen has it."""

    @property
    def pid(self) -> int:
        """Its number; 0: not known yet."""

    def kill(self) -> None:
        """End it."""

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit status.

        Raises:
            subprocess.TimeoutExpired: it has not ended.
        """


def supervised(
    target: Target,
    memory: int | None,
    words: Sequence[str] = (),
    descriptors: Sequence[int] = (),
    streams: int = subprocess.PIPE,
) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start a supervisor and the command of an adapter; return it, and the socket of its messages.

    Args:
        target: whose command.
        memory: bytes of address space of the adapter, and of each process that it starts; None: no limit.
        words: after the command.
        descriptors: that it inherits.
        streams: its standard streams, as subprocess names them.

    Raises:
        OSError: the supervisor cannot be run.
    """
    ours, theirs = socket.socketpair()
    # -I and -S: it reads nothing from the environment, and needs no site-packages.
    # Not a link to it in an environment, which a sandbox may not show.
    supervisor = [os.path.realpath(sys.executable), "-I", "-S", str(SUPERVISOR), str(theirs.fileno()), str(memory or 0)]
    try:
        with theirs:
            process = subprocess.Popen(  # noqa: S603 - it runs the user's command
                [*target.sandbox, *supervisor, *target.command, *words],
                stdin=streams,
                stdout=streams,
                stderr=streams,
                bufsize=0,
                start_new_session=True,  # SIGINT is for the harness alone.
                pass_fds=(theirs.fileno(), *descriptors),
                env=variables(target),
            )
    except OSError:
        ours.close()
        raise
    return process, ours


def variables(target: Target) -> dict[str, str]:
    """Return all environment variables of an adapter."""
    return {**environment_variables.variables(target.passes), "PYTHONUNBUFFERED": "1", **target.environment}


class ProcessTree:
    """An adapter, and the supervisor that started it; see backends/supervisor.py.

    Attributes:
        stdin, stdout, stderr: descriptors of the adapter's standard streams; none of them blocks.
        supervisor: a socket to which the supervisor writes how the adapter ended; it closes when everything has ended.
    """

    def __init__(self, process: Process, supervisor: socket.socket, *streams: BinaryIO) -> None:
        """Use a supervisor and its connections; see `start`.

        Args:
            process: the supervisor's.
            supervisor: the end of its socket.
            streams: the ends of the adapter's standard input, output and error.
        """
        self._process, self.supervisor, self._streams = process, supervisor, streams
        self.stdin, self.stdout, self.stderr = (stream.fileno() for stream in streams)
        for descriptor in (self.stdin, self.stdout, self.stderr, self.supervisor.fileno()):
            os.set_blocking(descriptor, False)
        self._closed = False

    @classmethod
    def start(cls, target: Target, memory: int | None) -> ProcessTree:
        """Start both.

        Args:
            target: the backend to start.
            memory: bytes of address space of the adapter, and of each process that it starts; None: no limit.

        Raises:
            OSError: the supervisor cannot be run. It reports later how the adapter ends.
        """
        process, supervisor = supervised(target, memory)
        streams = (process.stdin, process.stdout, process.stderr)
        return cls(process, supervisor, *(cast("BinaryIO", stream) for stream in streams))

    def watch(self, selector: selectors.BaseSelector, *reactions: Callable[[], None]) -> None:
        """Register the callbacks for readable data from stdout, stderr, and the supervisor."""
        for descriptor, react in zip((self.stdout, self.stderr, self.supervisor.fileno()), reactions, strict=True):
            selector.register(descriptor, selectors.EVENT_READ, react)

    def cpu_seconds(self) -> float | None:
        """Return the CPU time of everything that was started and still runs; None where the system does not show it."""
        if not (PROC / "self" / "task").is_dir():
            return None
        ticks, numbers = 0, [self._process.pid] if self._process.pid else []
        while numbers:
            process = PROC / str(numbers.pop())
            with contextlib.suppress(OSError, IndexError, ValueError):  # It may end while it is read.
                fields = (process / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
                ticks += int(fields[11]) + int(fields[12])
                for children in process.glob("task/*/children"):
                    numbers += map(int, children.read_text().split())
        return ticks / os.sysconf("SC_CLK_TCK")

    def close(self, selector: selectors.BaseSelector) -> None:
        """Close the standard streams: the adapter gets no more requests, and its output is no longer read."""
        if self._closed:
            return
        self._closed = True
        for descriptor in (self.stdin, self.stdout, self.stderr):
            with contextlib.suppress(KeyError):
                selector.unregister(descriptor)
        for stream in self._streams:
            with contextlib.suppress(OSError):
                stream.close()

    def abandon(self) -> None:
        """Close everything, of a process that there is not."""
        for stream in self._streams:
            stream.close()
        self.supervisor.close()

    def kill(self) -> None:
        """Have the supervisor end everything, without waiting: the supervisor's socket closes when that is done."""
        with contextlib.suppress(OSError):
            self.supervisor.shutdown(socket.SHUT_WR)

    def end(self, selector: selectors.BaseSelector, grace: float, forced: float = LAST_DESCENDANT) -> None:
        """Wait for the end of everything.

        Args:
            selector: that it was registered with.
            grace: seconds until everything is killed.
            forced: seconds from then until the supervisor is killed.
        """
        self.close(selector)
        with contextlib.suppress(KeyError):
            selector.unregister(self.supervisor)
        if not self._ends_within(grace):
            self.kill()
            if not self._ends_within(forced):
                self._process.kill()
        self.supervisor.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)

    def _ends_within(self, seconds: float) -> bool:
        """Wait until the supervisor closes its socket; the end of its process would have to be polled."""
        latest = time.monotonic() + seconds
        with contextlib.suppress(TimeoutError, BlockingIOError):
            while True:
                self.supervisor.settimeout(max(0.0, latest - time.monotonic()))
                if not self.supervisor.recv(CHUNK):
                    return True
        return False

    def status(self, message: bytes) -> int:
        """Return the exit status of the adapter, with the values of subprocess.

        Args:
            message: from the supervisor; empty where the supervisor itself was killed, as for lack of memory.
        """
        try:
            return int(message)
        except ValueError:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return self._process.wait(1)
            return -signal.SIGKILL


def read(descriptor: int) -> bytes | None:
    """Return the bytes that are available now; empty at the end, None if more may follow."""
    try:
        return os.read(descriptor, CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def signal_name(status: int) -> str:
    """Return the name of the signal that ended a process; empty where it exited."""
    if status >= 0:
        return ""
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"
