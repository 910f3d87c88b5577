# SPDX-License-Identifier: Apache-2.0
"""A channel between the command and a worker process: whole Python objects, over a socket.

Either end may die at any moment. So data is read when it arrives, without waiting for the rest of an object, and an
incomplete object is dropped.
"""

from __future__ import annotations

import pickle
import select
import socket
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_SIZE = struct.Struct("<Q")
CHUNK = 1 << 18
"""Bytes that are read at once."""


class ClosedError(Exception):
    """The other end is closed."""


class Channel:
    """One end of a channel."""

    def __init__(self, end: socket.socket) -> None:
        """Take one of a pair of sockets."""
        self._socket = end
        self._arrived = bytearray()

    def fileno(self) -> int:
        """Return the descriptor, to wait for."""
        return self._socket.fileno()

    def close(self) -> None:
        """Close this end."""
        self._socket.close()

    def send(self, item: object) -> None:
        """Send an object; wait until all of it is on its way.

        Raises:
            ClosedError: the other end is gone.
        """
        data = pickle.dumps(item, protocol=pickle.HIGHEST_PROTOCOL)
        try:
            self._socket.sendall(_SIZE.pack(len(data)) + data)
        except OSError as error:
            raise ClosedError from error

    def receive(self, seconds: float | None = 0.0) -> Iterator[Any]:
        """Yield the objects that have arrived; wait for the first one at most so long, or for ever if None.

        Raises:
            ClosedError: the other end is gone, and everything that it sent was yielded.
        """
        while not self._whole and self._readable(seconds):
            self._read()
            seconds = 0.0 if seconds is not None else None
        while self._whole:
            end = _SIZE.size + _SIZE.unpack_from(self._arrived)[0]
            data = bytes(self._arrived[_SIZE.size : end])
            del self._arrived[:end]
            yield pickle.loads(data)  # noqa: S301 - from a process that this one has started

    @property
    def _whole(self) -> bool:
        have = len(self._arrived)
        return have >= _SIZE.size and have >= _SIZE.size + _SIZE.unpack_from(self._arrived)[0]

    def _readable(self, seconds: float | None) -> bool:
        return bool(select.select([self._socket], [], [], seconds)[0])

    def _read(self) -> None:
        try:
            data = self._socket.recv(CHUNK)
        except OSError as error:
            raise ClosedError from error
        if not data:
            raise ClosedError
        self._arrived += data


def pair() -> tuple[Channel, Channel]:
    """Return both ends of a channel."""
    ours, theirs = socket.socketpair()
    return Channel(ours), Channel(theirs)
