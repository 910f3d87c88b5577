# SPDX-License-Identifier: Apache-2.0
"""Supervises one adapter process for the harness: `supervisor.py SOCKET MEMORY COMMAND...`.

It starts the command, waits for its end, kills the processes that it left behind, and writes its exit status to the
socket. When the other end of the socket is closed, because the harness ends the adapter or has itself ended, even by
SIGKILL, it kills the command and every process that the command started.

On Linux, that includes processes that left the command's process group and session, or whose parent has exited: they
become children of this process (PR_SET_CHILD_SUBREAPER). Elsewhere it is the process group. It imports very little,
because every start of an adapter waits for it. A fork server (`serve.py`) calls `supervise` in a fork of itself.
"""

from __future__ import annotations

import ctypes
import os
import resource
import select
import signal
import sys
import time

TYPE_CHECKING = False  # typing takes time to import
if TYPE_CHECKING:
    from collections.abc import Callable

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
KILL_SECONDS = 5.0
"""Seconds to wait for killed processes; one that waits for a device may not end at all."""
NOT_STARTED = 127
MOST_DESCRIPTORS = 1 << 16

_PRCTL = ctypes.CDLL(None).prctl if sys.platform == "linux" else None


def main() -> None:
    """Run the command until it ends."""
    if len(sys.argv) < 4:  # noqa: PLR2004 - the three arguments
        raise SystemExit(f"usage: {sys.argv[0]} SOCKET MEMORY COMMAND...; got {sys.argv[1:]}")
    harness, memory, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    supervise(harness, lambda: _exec_command(command, memory))


def supervise(harness: int, adapter_main: Callable[[], object]) -> None:
    """Run a function in a child process until that ends; does not return.

    Args:
        harness: descriptor of the socket.
        adapter_main: is the adapter, on this process's standard streams.
    """
    os.set_inheritable(harness, False)  # noqa: FBT003 - its only argument
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if _PRCTL is not None:
        _PRCTL(PR_SET_CHILD_SUBREAPER, 1)
    wakes, wakened = os.pipe()
    for end in (wakes, wakened):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wakened)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    this = os.getpid()
    adapter = os.fork()
    if not adapter:
        signal.set_wakeup_fd(-1)
        try:
            for end in (harness, wakes, wakened):
                os.close(end)
            _isolate(this)
            adapter_main()
        finally:
            os._exit(NOT_STARTED)
    _release_descriptors(harness, wakes, wakened)
    status = _wait(harness, wakes, adapter)
    _kill(-adapter)
    _end_descendants()
    if status is not None:
        try:  # noqa: SIM105 - contextlib takes time to import
            os.write(harness, b"%d\n" % os.waitstatus_to_exitcode(status))
        except BrokenPipeError:  # The harness has ended.
            pass
    os._exit(0)  # Python's own shutdown takes longer.


def _isolate(parent: int) -> None:
    """Move this process to a new process group, which can be killed separately, and let it end with its parent."""
    os.setsid()
    for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):  # Python changed them.
        signal.signal(number, signal.SIG_DFL)
    if _PRCTL is not None:
        _PRCTL(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(NOT_STARTED)


def _exec_command(command: list[str], memory: int) -> None:
    """Replace this process by the command."""
    try:
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        os.execvp(command[0], command)  # noqa: S606 - it runs the user's command
    except OSError as error:
        import json  # noqa: PLC0415 - only a start that fails needs it

        failed = {"kind": "failed", "message": f"cannot run {command[0]!r}: {error.strerror}", "payload": 0}
        os.write(1, json.dumps(failed).encode() + b"\n")


def _release_descriptors(*kept: int) -> None:
    """Close the pipes and sockets of the adapter here, so that they end when it ends."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    ends = [2, *sorted(kept), most if 0 < most < MOST_DESCRIPTORS else MOST_DESCRIPTORS]
    for below, above in zip(ends, ends[1:]):  # noqa: B905, RUF007 - itertools takes time to import
        os.closerange(below + 1, above)


def _wait(harness: int, wakes: int, adapter: int) -> int | None:
    """Return the wait status of the adapter, or None when the harness has closed the socket."""
    while True:
        ready, _, _ = select.select([harness, wakes], [], [])
        if wakes in ready:
            os.read(wakes, 1 << 12)
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == adapter:
                    return ended[1]
        if harness in ready:
            return None


def _end_descendants() -> None:
    """Kill every process below this one, including new ones, until there are no more."""
    pause, latest = 0.001, time.monotonic() + KILL_SECONDS
    while time.monotonic() < latest:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return  # Orphaned processes become our children, so none is left.
        for pid in _descendants():
            _kill(pid)
        time.sleep(pause)
        pause = min(2 * pause, 0.1)


def _kill(pid: int) -> None:
    """Kill a process, or the group of -pid, unless it has ended or belongs to another user."""
    try:  # noqa: SIM105 - as above
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _descendants() -> list[int]:
    """Return every descendant of this process that the system shows."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc") if sys.platform == "linux" else ():  # noqa: PTH208 - pathlib takes time to import
        if name.isdecimal():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123 - as above
                    parent = int(file.read().rpartition(b")")[2].split()[1])  # The name before it may contain anything.
            except OSError:  # It has ended meanwhile.
                continue
            children.setdefault(parent, []).append(int(name))
    below = children.get(os.getpid(), [])
    for pid in below:
        below += children.get(pid, [])
    return below


if __name__ == "__main__":
    main()
