# SPDX-License-Identifier: Apache-2.0
"""Replaces this process by Node.js: `python serve_node.py NODE ADAPTER.mjs FOLDER`.

A program in JavaScript cannot move its descriptors, and native code below it prints to descriptor 1. So they are moved
before it starts: the numbers of the descriptors for requests and answers are arguments, and standard output is standard
error. The process stays the same one, so that the signal which ends the runtime is visible.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    import as_package

    del sys.path[
        0
    ]  # Python put this folder first on the path, where adapters would hide the runtimes they are named after.
    as_package.register(__file__)

from onnx_conformance.backends import child


def main() -> None:
    """Run Node.js; the adapter's arguments are the folder of its packages and the two descriptors."""
    if len(sys.argv) != 4:  # noqa: PLR2004 - the command and its three arguments
        raise SystemExit(f"usage: {sys.argv[0]} NODE ADAPTER.mjs FOLDER; got {sys.argv[1:]}")
    node, adapter, folder = sys.argv[1:]
    child.end_with_its_parent()
    requests, answers = os.dup(0), os.dup(1)
    for descriptor in (requests, answers):
        os.set_inheritable(descriptor, True)  # noqa: FBT003 - its only argument
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # A runtime that reads its standard input must not read requests.
    os.execv(node, [node, adapter, folder, str(requests), str(answers)])  # noqa: S606 - the point of this file


if __name__ == "__main__":
    main()
