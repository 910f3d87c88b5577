# SPDX-License-Identifier: Apache-2.0
"""A Python process that is forked into the programs and adapters of tests, with all their imports; see warm.py.

`python warm_process.py DESCRIPTOR SCRIPT MODULE...`, DESCRIPTOR being a socket, and SCRIPT the main module of
adapters or empty. Each request is JSON, with the standard streams of the new process and a socket for its end; the
answer is its number.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

MOST = 1 << 20
STREAMS = (0, 1, 2)


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    if not sys.flags.isolated:
        del sys.path[0]  # This folder.
    if sys.argv[2]:
        sys.path.insert(0, str(Path(sys.argv[2]).parent))
        importlib.import_module("as_package").register(sys.argv[2])
        del sys.path[0]
    for name in sys.argv[3:]:
        importlib.import_module(name)
    gc.freeze()
    while True:
        request, descriptors, _, _ = socket.recv_fds(control, MOST, len(STREAMS) + 1)
        if not request:
            break
        pid = os.fork()
        if not pid:
            control.close()
            try:
                become(json.loads(request), descriptors)
            finally:
                os._exit(127)
        for descriptor in descriptors:
            os.close(descriptor)
        control.send(b"%d" % pid)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, 0)[0]:
            pass


def become(request: dict[str, Any], descriptors: list[int]) -> None:
    """Be the process of a request; does not return."""
    os.setsid()
    for number, descriptor in zip(STREAMS, descriptors, strict=False):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    if request["kind"] == "adapter":
        adapter(request["arguments"], descriptors[-1])
    else:
        program(request["arguments"], descriptors[-1])


def adapter(arguments: list[str], harness: int) -> None:
    """Be the supervisor of an adapter, as after the start of its command."""
    from onnx_conformance.backends import serve, supervisor  # noqa: PLC0415 - only where it was imported before

    sys.argv[:] = arguments
    folders = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:0] = [path for path in folders if path and path not in sys.path]
    supervisor.supervise(harness, lambda: os._exit(serve.main()))


def program(arguments: list[str], end: int) -> None:
    """Run a script or a module, and write its exit status to a socket."""
    pid = os.fork()
    if not pid:
        os.close(end)
        ended(arguments)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.write(end, b"%d" % status)
    os._exit(0)


def ended(arguments: list[str]) -> None:
    """Be a program until it ends, as the interpreter would."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    status = 1
    try:
        run(arguments)
        status = 0
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        else:
            status = int(end.code or 0)
    except BaseException:  # noqa: BLE001 - a program may raise anything
        traceback.print_exc()
    with contextlib.suppress(BaseException):
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


def run(arguments: list[str]) -> None:
    """Run `-m MODULE ARGUMENTS`, or `SCRIPT ARGUMENTS`."""
    if arguments[0] == "-m":
        sys.path.insert(0, str(Path.cwd()))
        sys.argv[:] = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    if not sys.flags.isolated:
        sys.path.insert(0, str(Path(arguments[0]).parent))
    sys.argv[:] = arguments
    runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main()
