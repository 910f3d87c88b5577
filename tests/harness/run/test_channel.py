# SPDX-License-Identifier: Apache-2.0
"""The channel to a worker: whole objects, whatever becomes of the other end."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import TYPE_CHECKING

import pytest

from onnx_conformance.run import channel
from onnx_conformance.run.channel import Channel, ClosedError

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.usefixtures("ends")


@pytest.fixture
def ends_of_one() -> Iterator[tuple[Channel, Channel]]:
    """Both ends of a channel, closed afterwards."""
    ours, theirs = channel.pair()
    yield ours, theirs
    ours.close()
    theirs.close()


def until_closed(end: Channel) -> list[object]:
    """Return everything that arrives before the other end is gone."""
    arrived: list[object] = []
    with contextlib.suppress(ClosedError):
        while True:
            arrived += end.receive(None)
    return arrived


def test_objects_arrive_whole_and_in_order(ends_of_one: tuple[Channel, Channel]) -> None:
    ours, theirs = ends_of_one
    sent = [{"number": number, "text": "x" * number * 1000} for number in range(40)]
    child = os.fork()
    if not child:
        for item in sent:
            theirs.send(item)
        os._exit(0)
    theirs.close()
    arrived = until_closed(ours)
    os.waitpid(child, 0)
    assert arrived == sent


def test_nothing_to_receive_is_no_wait(ends_of_one: tuple[Channel, Channel]) -> None:
    ours, _ = ends_of_one
    assert list(ours.receive()) == []


def test_what_was_sent_before_the_end_arrives_and_half_an_object_does_not(ends_of_one: tuple[Channel, Channel]) -> None:
    ours, theirs = ends_of_one
    child = os.fork()
    if not child:
        theirs.send("whole")
        theirs.send(b"x" * (64 << 20))  # More than the system takes at once.
        os._exit(0)
    theirs.close()
    time.sleep(0.2)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert until_closed(ours) == ["whole"]


def test_who_sends_to_nobody_is_told(ends_of_one: tuple[Channel, Channel]) -> None:
    ours, theirs = ends_of_one
    theirs.close()
    with pytest.raises(ClosedError):
        ours.send("anything")
