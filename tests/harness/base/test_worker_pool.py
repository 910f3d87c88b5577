# SPDX-License-Identifier: Apache-2.0
"""Processes of a pool, which end with their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from onnx_conformance.base.worker_pool import worker_pool
from orphans import runs

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import os, time
from onnx_conformance.base.worker_pool import worker_pool

if __name__ == "__main__":
    with worker_pool(1) as pool:
        print(pool.submit(os.getpid).result(), flush=True)
        for _ in range(100):
            pool.submit(time.sleep, 1)
"""


@pytest.mark.slow
@pytest.mark.usefixtures("ends")
def test_a_process_of_a_pool_ends_with_a_killed_parent(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    with subprocess.Popen([sys.executable, tmp_path / "program.py"], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        assert runs(worker)
        parent.send_signal(signal.SIGKILL)
    while runs(worker):
        time.sleep(0.01)


def test_the_first_call_is_made_in_each_process() -> None:
    with worker_pool(1, _mark) as pool:
        assert pool.submit(os.getenv, "MARKED").result() == "yes"


def _mark() -> None:
    os.environ["MARKED"] = "yes"
