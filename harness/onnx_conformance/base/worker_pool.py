# SPDX-License-Identifier: Apache-2.0
"""A pool of processes that end with the process that started them, also if that is killed."""

from __future__ import annotations

import multiprocessing
import os
import threading
from concurrent.futures import ProcessPoolExecutor  # noqa: TID251 - the one place
from multiprocessing import connection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def worker_pool(jobs: int, first: Callable[[], None] | None = None) -> ProcessPoolExecutor:
    """Return a pool of new processes.

    The processes of ProcessPoolExecutor outlive a killed parent: they compute everything that is queued, and then wait
    for more without an end.

    Args:
        jobs: the maximum number of processes.
        first: called once in each process, at its start.
    """
    return ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _start, (first,))


def _start(first: Callable[[], None] | None) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if first is not None:
        first()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None  # noqa: S101 - it is a process of a pool
    connection.wait([parent.sentinel])
    os._exit(1)
