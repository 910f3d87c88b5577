# SPDX-License-Identifier: Apache-2.0
"""A fork server: an adapter process that has loaded its runtime and runs no model, but is forked into those that do.

`serve.py NAME --fork DESCRIPTOR`, DESCRIPTOR being a socket. Each request is one byte and four descriptors: the
standard input, output and error of a new adapter process, and the socket of its supervisor. The answer is the
supervisor's process number in a line. It ends when the harness closes the socket. Where it cannot be forked, it says
why in a line, and ends.

Only for adapters that declare FORK = True, whose runtime has no thread when it is loaded: a fork has none of the
threads of its parent, and whatever lock one of them held stays locked. Threads that a library ends before a fork, and
starts again when it needs them, are no obstacle: OpenBLAS, which numpy brings, does so.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import TYPE_CHECKING

from onnx_conformance.backends import supervisor

if TYPE_CHECKING:
    from collections.abc import Callable

REQUEST = b"f"
STREAMS = (0, 1, 2)


def obstacle() -> str:
    """Return why this process cannot be forked; empty: it can. Forks it once to see which threads outlive that."""
    if sys.platform != "linux":
        return "only Linux shows the threads of a process"
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.waitpid(pid, 0)
    threads = len(os.listdir("/proc/self/task")) - 1  # noqa: PTH208 - names suffice
    plural = "s" if threads > 1 else ""
    return f"its runtime starts {threads} thread{plural} when it is loaded" if threads else ""


def run(harness: socket.socket, adapter_main: Callable[[], int]) -> None:
    """Fork a supervised adapter for each request, until there are no more.

    Args:
        harness: the connection with the requests.
        adapter_main: serves on the standard streams; returns the exit status.
    """
    while True:
        try:
            request, descriptors, _, _ = socket.recv_fds(harness, len(REQUEST), len(STREAMS) + 1)
        except ConnectionError:
            return
        if not request:
            return
        pid = os.fork()
        if not pid:
            harness.close()
            _supervise(descriptors, adapter_main)
        for descriptor in descriptors:
            os.close(descriptor)
        try:
            harness.sendall(b"%d\n" % pid)
        except ConnectionError:
            return
        _reap()


def _supervise(descriptors: list[int], adapter_main: Callable[[], int]) -> None:
    """Be the supervisor of a new adapter; does not return."""
    try:
        os.setsid()
        for number, descriptor in zip(STREAMS, descriptors, strict=False):
            os.dup2(descriptor, number)
            os.close(descriptor)
        supervisor.supervise(descriptors[len(STREAMS)], lambda: os._exit(adapter_main()))
    finally:
        os._exit(supervisor.NOT_STARTED)


def _reap() -> None:
    """Take note of supervisors that have ended, so that nothing is left of them."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
