# SPDX-License-Identifier: Apache-2.0
"""Processes whose parent was killed, for tests that none is left."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

STARTS = """
import subprocess, sys, time
adapter = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
adapter.stdout.readline()
print(adapter.pid, flush=True)
adapter.stdin.write(sys.stdin.buffer.read())
adapter.stdin.flush()
time.sleep(60)
"""


def harness(adapter: Sequence[str]) -> list[str]:
    """Return the command of a program that starts an adapter, prints its pid, passes its own input on, and waits."""
    return [sys.executable, "-c", STARTS, *adapter]


def runs(pid: int) -> bool:
    """Tell whether a process is there and no zombie that nobody has waited for."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
