# SPDX-License-Identifier: Apache-2.0
"""Interrupts during imports: there are no results to store yet, so the process ends with one line."""

from __future__ import annotations

import contextlib
import os
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

BROKEN = 2
"""The exit status of a command that could not do its work."""


@contextlib.contextmanager
def importing() -> Iterator[None]:
    """Let an interrupt end the process at once: raised inside an import, it could become any other exception."""
    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_default:
        signal.signal(signal.SIGINT, _exit_at_once)
    try:
        yield
    finally:
        if is_default:  # From now on there may be results to store.
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _exit_at_once(_number: int, _frame: FrameType | None) -> None:
    try:
        os.write(2, b"onnx-conformance: interrupted\n")
    finally:
        os._exit(BROKEN)
