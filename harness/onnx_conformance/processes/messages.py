# SPDX-License-Identifier: Apache-2.0
"""Reads an adapter's messages in bounded memory: a payload larger than its case can need is not kept."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onnx_conformance.backends import protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Message = tuple[Mapping[str, Any], bytes | None]


@dataclass(frozen=True)
class Room:
    """The largest size of a message.

    Attributes:
        header: bytes of its header line; a longer one breaks the wire format. Parsed, it takes some 25 times as much
            memory.
        payload: bytes of its payload that are kept; a larger one is skipped, up to the maximum of the wire format.
    """

    header: int
    payload: int


ANY = Room(header=4 << 20, payload=8 << 20)
"""The size that every message may have, whatever its case."""


_SECONDS = re.compile(rb"(0|[1-9][0-9]{0,8})(\.[0-9]+)?(e-?[0-9]{1,2})?")
"""A number in JSON, as adapters write seconds."""
_MOST_DIGITS = 32
"""Characters of such a number; a longer one is parsed as every other message is."""


class Incoming:
    """Splits the output of one adapter process into messages."""

    def __init__(self) -> None:
        """Start without any bytes."""
        self._data = bytearray()
        self._scanned = 0
        self._header: Mapping[str, Any] | None = None
        self._kept = True
        self._left = 0

    @property
    def begun(self) -> bool:
        """Whether a part of the next message was received."""
        return bool(self._data) or self._header is not None

    def add(self, data: bytes) -> None:
        """Add bytes that were read."""
        self._data += data

    def take_answer(self, begin: bytes, end: bytes) -> float | None:
        """Remove the next message if it consists of these bytes with a number of seconds between them.

        Most answers are the expected ones, and to compare them takes a fraction of the time to parse them.

        Args:
            begin: of the header, up to the seconds.
            end: the rest of the message.

        Returns:
            The seconds; None if the message is another one, or is not complete.
        """
        if self._header is not None or not self._data.startswith(begin):
            return None
        stop = self._data.find(b",", len(begin), len(begin) + _MOST_DIGITS)
        if stop < 0 or not self._data.startswith(end, stop):
            return None
        seconds = bytes(self._data[len(begin) : stop])
        if not _SECONDS.fullmatch(seconds):
            return None
        del self._data[: stop + len(end)]
        self._scanned = 0
        return float(seconds)

    def next(self, room: Callable[[], Room]) -> Message | None:
        """Return the next message, or None while it is incomplete; its payload is None where that was not kept.

        Args:
            room: returns its largest size; called only where it is larger than every message may be.

        Raises:
            HeaderError: its header is invalid, or too long.
        """
        if self._header is None and not self._read_header(room):
            return None
        if not self._kept:
            skipped = min(self._left, len(self._data))
            del self._data[:skipped]
            self._left -= skipped
            if self._left:
                return None
        elif len(self._data) < self._left:
            return None
        header, payload = self._header, None
        if self._kept:
            with memoryview(self._data) as view:
                payload = bytes(view[: self._left])
            del self._data[: self._left]
        self._header = None
        assert header is not None  # noqa: S101 - _read_header() did
        return header, payload

    def _read_header(self, room: Callable[[], Room]) -> bool:
        end = self._data.find(b"\n", self._scanned)
        length = self._scanned = end if end >= 0 else len(self._data)
        if length > ANY.header and length > (most := room().header):
            raise protocol.HeaderError(f"a header line of over {most} bytes, where the case needs far fewer")
        if end < 0:
            return False
        with memoryview(self._data) as view:
            header = protocol.parse_header(bytes(view[:end]))
        del self._data[: end + 1]
        self._scanned = 0
        self._header, self._left = header, header["payload"]
        self._kept = self._left <= ANY.payload or self._left <= room().payload
        return True
