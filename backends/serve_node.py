"""Puts Node.js in the place of this process: `python serve_node.py NODE ADAPTER.mjs FOLDER`.

A program in JavaScript cannot move its descriptors, and native code beneath it prints to descriptor 1. So they are
moved before it starts: requests and answers are on descriptors whose numbers it is told, and standard output is
standard error. The process stays the same one, so that the signal which ends the runtime is seen as it is.
"""

from __future__ import annotations

import os
import sys

PR_SET_PDEATHSIG = 1


def _end_with_the_harness() -> None:
    """Ask Linux to end this process with the one that started it, as serve.py does; exec() keeps that."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - only here
        import signal  # noqa: PLC0415

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def main() -> None:
    """Become Node.js; the adapter's arguments are the folder of its packages and the two descriptors."""
    if len(sys.argv) != 4:  # noqa: PLR2004 - the command and its three arguments
        raise SystemExit(f"usage: {sys.argv[0]} NODE ADAPTER.mjs FOLDER; got {sys.argv[1:]}")
    node, adapter, folder = sys.argv[1:]
    _end_with_the_harness()
    requests, answers = os.dup(0), os.dup(1)
    for descriptor in (requests, answers):
        os.set_inheritable(descriptor, True)  # noqa: FBT003 - its only argument
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # A runtime that reads its standard input must not eat requests.
    os.execv(node, [node, adapter, folder, str(requests), str(answers)])  # noqa: S606 - the point of this file


if __name__ == "__main__":
    main()
