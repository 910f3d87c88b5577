# SPDX-License-Identifier: Apache-2.0
"""Adapter processes that are forked from one that has loaded the runtime; see backends/fork_server.py.

A fork takes milliseconds where a start takes as long as the import of a runtime. Only adapters whose hello contains
`fork` have one, and none in a sandbox, where process numbers are others.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
from typing import TYPE_CHECKING

from onnx_conformance.backends.fork_server import REQUEST
from onnx_conformance.base.verdict import clean
from onnx_conformance.environments.backend_names import SERVE
from onnx_conformance.processes.process_tree import CHUNK, ProcessTree, supervised

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_conformance.base.target import Target

END_SECONDS = 8.0
"""Seconds that a fork server, whose forks have ended, may take to end."""


class _Forked:
    """The process of a supervisor that was forked elsewhere, whose status another process receives."""

    def __init__(self, server: ForkServer, index: int) -> None:
        self._server, self._index = server, index

    @property
    def pid(self) -> int:
        """Its number; 0: the fork server has not reported it yet."""
        return self._server.pid(self._index)

    def kill(self) -> None:
        """End it; only called while its socket is open, so that the number is still its own."""
        if self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        """Raise TimeoutExpired: its status cannot be received here."""
        raise subprocess.TimeoutExpired("a forked supervisor", timeout or 0.0)


class ForkServer:
    """A process that has loaded a runtime, and is forked into adapters; it is started when it is first prepared.

    Attributes:
        obstacle: why it cannot be forked, as reported by it; empty if it has not reported that.
    """

    def __init__(self, target: Target, memory: int | None) -> None:
        """Use the same arguments as ProcessTree.start."""
        self._target, self._memory = target, memory
        self._process: subprocess.Popen[bytes] | None = None
        self._gone = False
        """Whether it is not to be started any more."""
        self._pids: list[int] = []
        self._text = b""
        self._asked = 0
        self._ended = False
        self.obstacle = ""

    def prepare(self, hello: Mapping[str, object]) -> None:
        """Start it, unless it runs, or the hello of an adapter does not allow forks."""
        if self._gone or self._process is not None:
            return
        if hello.get("fork") is not True or str(SERVE) not in self._target.command or self._target.sandbox:
            self._gone = True
            return
        self._control, theirs = socket.socketpair()
        with theirs:
            words, inherited = ("--fork", str(theirs.fileno())), (theirs.fileno(),)
            try:
                self._process, self._supervisor = supervised(
                    self._target, self._memory, words, inherited, streams=subprocess.DEVNULL
                )
            except OSError:
                self._control.close()
                self._gone = True

    def fork(self) -> ProcessTree | None:
        """Return a new adapter, or None where the server does not run; one that still loads will fork it."""
        if self._process is None or self._gone:
            return None
        self._read()  # Otherwise its answers fill the socket after some 280 forks, and it waits forever.
        supervisor, of_supervisor = socket.socketpair()
        of_stdin, stdin = os.pipe()
        stdout, of_stdout = os.pipe()
        stderr, of_stderr = os.pipe()
        theirs = [of_stdin, of_stdout, of_stderr]
        outputs = [os.fdopen(end, "rb", buffering=0) for end in (stdout, stderr)]
        tree = ProcessTree(_Forked(self, self._asked), supervisor, os.fdopen(stdin, "wb", buffering=0), *outputs)
        try:
            self._control.settimeout(None)
            socket.send_fds(self._control, [REQUEST], [*theirs, of_supervisor.fileno()])
        except OSError:
            tree.abandon()
            self.give_up()
            return None
        finally:
            of_supervisor.close()
            for descriptor in theirs:
                os.close(descriptor)
        self._asked += 1
        return tree

    def pid(self, index: int) -> int:
        """Return the process number of a fork's supervisor; 0: it is not known yet."""
        self._read()
        return self._pids[index] if index < len(self._pids) else 0

    @property
    def ended(self) -> bool:
        """Whether it ran, and has ended."""
        self._read()
        return self._ended

    def _read(self) -> None:
        """Read all its messages, and whether it has ended."""
        if self._process is None:
            return
        self._control.settimeout(0)
        while not self._ended:
            try:
                data = self._control.recv(CHUNK)
            except BlockingIOError:
                break
            except OSError:
                data = b""
            self._ended = not data
            self._text += data
        *lines, self._text = self._text.split(b"\n")
        self._pids += [int(text) for text in lines if text.isdigit()]
        said = [clean(text.decode("utf-8", "replace")) for text in lines if not text.isdigit()]
        self.obstacle = self.obstacle or " ".join(said)

    def give_up(self) -> None:
        """Stop forking: a fork has not sent hello."""
        self._gone = True

    def close(self) -> None:
        """End it; its forks have ended before."""
        self._gone = True
        if self._process is None:
            return
        self._control.close()
        with contextlib.suppress(OSError):
            self._supervisor.shutdown(socket.SHUT_WR)
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._supervisor.close()
        self._process = None
