"""What can come back from an adapter process for one case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backends import protocol
from harness.verdict import clean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.case import Value


LONGEST = 1e9
"""Seconds that an adapter may claim; JSON has larger numbers, and infinities."""


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


def why(reply: Reply) -> str:
    """Return what ended the process, as in "its process was ended by SIGSEGV"."""
    if isinstance(reply, Broken):
        return reply.message
    if isinstance(reply, Died):
        return "its process " + (f"was ended by {reply.signal}" if reply.signal else f"exited with {reply.status}")
    return "it gave no answer in time"


def sentence(name: str, what: str, reply: Reply) -> str:
    """Return a line that names the backend, what it did, and what it printed last."""
    last = getattr(reply, "stderr", "").splitlines()[-1:]
    told = what if what.startswith(name) else f"{name}: {what}"
    return told + (f"; the last it printed: {last[0]}" if last else "")


def parse(header: Mapping[str, Any], payload: bytes) -> Reply:
    """Return the reply that a message holds.

    Raises:
        ProtocolError: it is none of the wire format.
    """
    seconds = header.get("seconds")
    seconds = float(seconds) if isinstance(seconds, int | float) and 0 <= seconds < LONGEST else None
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
    if kind == "fault":
        return Broken(f"the adapter is at fault: {clean(header.get('message', 'it does not say why'))}", "")
    raise protocol.HeaderError(f"kind {clean(kind, 40)!r}: expected answer, refused, unsupported or fault")
