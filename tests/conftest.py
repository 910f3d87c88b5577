"""What more than one test module needs."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

HANGS = 60
"""Seconds after which a test that waits for what never comes is ended."""


@pytest.fixture
def ends() -> Iterator[None]:
    """End a test that hangs: a harness that waits forever must fail a test, not stop the run."""

    def late(*_: object) -> None:
        raise AssertionError(f"still waiting after {HANGS} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(HANGS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
