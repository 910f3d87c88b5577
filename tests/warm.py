# SPDX-License-Identifier: Apache-2.0
"""Python processes that are forked from one with all their imports: a start takes as long as the imports.

A test of the start itself, or of what a process inherits, starts a process in the usual way.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnx_conformance.backends import cache
from onnx_conformance.backends.option import VARIABLE
from onnx_conformance.environments import environment_variables
from onnx_conformance.environments.backend_names import SERVE
from onnx_conformance.processes.process_tree import ProcessTree, variables
from paths import TESTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_conformance.base.target import Target

LINUX = sys.platform == "linux"
"""Elsewhere, programs and adapters are started."""
ADAPTERS = (
    "onnx", "onnx.reference", "onnx_conformance.backends.onnx_reference", "onnx_conformance.backends.serve",
    "onnx_conformance.specification.evaluator",
)  # fmt: skip
"""Modules that the process of the adapters imports: no runtime with threads."""


class Warm:
    """A process that is forked."""

    def __init__(
        self, modules: Sequence[str], flags: Sequence[str], environment: Mapping[str, str], script: str = ""
    ) -> None:
        self.environment = dict(environment)
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, *flags, str(TESTS / "warm_process.py"), str(theirs.fileno()), script, *modules],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env=self.environment,
                start_new_session=True,
            )
        _STARTED.append(self)

    def fork(self, request: Mapping[str, Any], descriptors: Sequence[int]) -> int:
        """Return the number of a new process."""
        socket.send_fds(self._control, [json.dumps(request).encode()], descriptors)
        answer = self._control.recv(64)
        assert answer, "the warm process has ended"
        return int(answer)

    def close(self) -> None:
        """End it."""
        self._control.close()
        self._process.kill()  # Another process may have inherited the socket, so it would not notice its end.
        self._process.wait()


_STARTED: list[Warm] = []


def close() -> None:
    """End the processes of this module."""
    while _STARTED:
        _STARTED.pop().close()


@functools.cache
def _programs(modules: tuple[str, ...], flags: tuple[str, ...]) -> Warm:
    return Warm(modules, flags, os.environ)


def run(
    arguments: Sequence[str], folder: Path, modules: Sequence[str] = (), flags: Sequence[str] = (), timeout: float = 100
) -> subprocess.CompletedProcess[str]:
    """Run a script, or `-m MODULE`, as `python FLAGS ARGUMENTS` does; its standard error is part of its output.

    Args:
        arguments: after the interpreter and its flags.
        folder: the current one.
        modules: those to import before the fork.
        flags: of the interpreter.
        timeout: seconds after which it is killed.

    Raises:
        subprocess.TimeoutExpired: it was.
    """
    if not LINUX:
        return subprocess.run(
            [sys.executable, *flags, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, check=False, timeout=timeout,
        )  # fmt: skip
    end, theirs = socket.socketpair()
    with end, Path(os.devnull).open() as nothing, tempfile.TemporaryFile() as output:
        with theirs:
            request = {"kind": "program", "folder": str(folder), "environment": dict(os.environ)}
            descriptors = (nothing.fileno(), output.fileno(), output.fileno(), theirs.fileno())
            warm = _programs(tuple(modules), tuple(flags))
            pid = warm.fork({**request, "arguments": list(arguments)}, descriptors)
        end.settimeout(timeout)
        try:
            status = end.recv(64)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
            raise subprocess.TimeoutExpired(list(arguments), timeout) from None
        output.seek(0)
        return subprocess.CompletedProcess(list(arguments), int(status), output.read().decode())


# Adapters


class _Supervisor:
    """The process of a supervisor, whose status another process receives."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        raise subprocess.TimeoutExpired("a forked supervisor", timeout or 0.0)


AT_START = dict(os.environ)
ENVIRONMENT = environment_variables.variables()
"""The variables of the process, before a test changes any."""


@functools.cache
def _adapters() -> Warm:
    return Warm(ADAPTERS, (), ENVIRONMENT, str(SERVE))


STARTED = ProcessTree.start
"""How an adapter is started by users."""


def start(target: Target, memory: int | None) -> ProcessTree:
    """Return an adapter as ProcessTree.start does, forked if nothing of it depends on the start of its interpreter."""
    command, path = target.command, ""
    if len(command) > 1 and command[0] == "env" and command[1].startswith("PYTHONPATH="):
        path, command = command[1], command[2:]
    if not LINUX or memory or target.sandbox or len(command) != 3 or command[:2] != (sys.executable, str(SERVE)):
        return STARTED(target, memory)
    environment, given = variables(target), ()
    if path:
        given = ("PYTHONPATH",)
        environment["PYTHONPATH"] = path.partition("=")[2]
    differ = {name for name, _ in environment.items() ^ _adapters().environment.items()}
    if differ - {VARIABLE, "PYTHONUNBUFFERED", cache.PROGRAMS, *given, *target.passes}:
        return STARTED(target, memory)
    supervisor, of_supervisor = socket.socketpair()
    of_stdin, stdin = os.pipe()
    stdout, of_stdout = os.pipe()
    stderr, of_stderr = os.pipe()
    request = {"kind": "adapter", "folder": str(Path.cwd()), "environment": environment, "arguments": command[1:]}
    theirs = (of_stdin, of_stdout, of_stderr, of_supervisor.fileno())
    pid = _adapters().fork(request, theirs)
    of_supervisor.close()
    for descriptor in theirs[:3]:
        os.close(descriptor)
    streams = (os.fdopen(end, mode, buffering=0) for end, mode in ((stdin, "wb"), (stdout, "rb"), (stderr, "rb")))
    return ProcessTree(_Supervisor(pid), supervisor, *streams)
