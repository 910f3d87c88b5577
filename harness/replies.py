"""What can come back from an adapter process for one case."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backends import protocol
from harness.verdict import clean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.case import Value


@dataclass(frozen=True)
class Answered:
    """The adapter gave the values of the outputs."""

    outputs: tuple[Value, ...]
    seconds: float | None


@dataclass(frozen=True)
class Refused:
    """The runtime raised an error; `reason` is set where the adapter knows it for an opt-out."""

    error: str
    message: str
    reason: str | None
    seconds: float | None


@dataclass(frozen=True)
class Died:
    """The process ended before it answered; `signal` is its name, or empty after a plain exit."""

    signal: str
    status: int
    stderr: str


@dataclass(frozen=True)
class Late:
    """No answer by the deadline."""

    seconds: float
    stderr: str


@dataclass(frozen=True)
class Broken:
    """The adapter does not follow the wire format."""

    message: str
    stderr: str


Reply = Answered | Refused | Died | Late | Broken


def parse(header: Mapping[str, Any], payload: bytes) -> Reply:
    """Return the reply that a message holds.

    Raises:
        ProtocolError: it is none of the wire format.
    """
    seconds = header.get("seconds")
    seconds = float(seconds) if isinstance(seconds, int | float) and 0 <= seconds < math.inf else None
    kind = header["kind"]
    if kind == "answer":
        reader = protocol.Payload(payload)
        described = header.get("outputs")
        if not isinstance(described, list):
            raise protocol.HeaderError('an answer has a list of "outputs"')
        outputs = tuple(reader.decode(item) for item in described)
        reader.end()
        return Answered(outputs, seconds)
    if kind in {"refused", "unsupported"}:
        reason = clean(header.get("reason") or "unsupported") if kind == "unsupported" else None
        return Refused(clean(header.get("error", ""), 200), clean(header.get("message", "")), reason, seconds)
    raise protocol.HeaderError(f"kind {clean(kind, 40)!r}: expected answer, refused or unsupported")
