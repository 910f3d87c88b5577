# SPDX-License-Identifier: Apache-2.0
"""Replies: all possible replies of an adapter process for one case."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.backends import protocol
from onnx_conformance.base.under_test import Subject
from onnx_conformance.base.values import Drawn
from onnx_conformance.base.verdict import MAX_MESSAGE, clean
from onnx_conformance.processes.messages import ANY, Room
from onnx_conformance.processes.program_requests import ProgramNames

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_conformance.base.values import Value
    from onnx_conformance.case.case import Case
    from onnx_conformance.processes.messages import Incoming


MOST_SECONDS = 1e9
"""Seconds that an adapter may report; JSON has larger numbers, and infinities."""


@dataclass(frozen=True)
class Assigned:
    """Which execution provider runs which node of a model.

    Attributes:
        target: the provider under test.
        nodes: of each node, the operator, such as ai.onnx/Add, and its provider.
    """

    target: str
    nodes: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Answered:
    """The adapter returned the values of the outputs; `assigned` is set if it reports the provider of each node."""

    outputs: tuple[Value, ...]
    seconds: float | None
    assigned: Assigned | None = None


class AsExpected(Answered):
    """The runtime returned exactly the expected bytes."""

    def __init__(self, case: Case, seconds: float | None, assigned: Assigned | None = None) -> None:
        """Take the case, whose expected values are decoded if somebody asks for them."""
        object.__setattr__(self, "case", case)
        object.__setattr__(self, "seconds", seconds)
        object.__setattr__(self, "assigned", assigned)

    @property
    def outputs(self) -> tuple[Value, ...]:
        """The values."""
        return self.case.expected  # type: ignore[attr-defined,no-any-return]


@dataclass(frozen=True)
class ReturnedModel:
    """A tool returned a model.

    Attributes:
        model: serialized; None where it has far more bytes than one that the case can need.
        size: bytes.
        subject: kind of the tool: a transformer, an inferencer, or a quantizer.
        seconds: as the adapter measured them.
        precision: the element type in which the returned model computes floats; empty: the original type.
    """

    model: bytes | None
    size: int
    subject: str
    seconds: float | None
    precision: str = ""


@dataclass(frozen=True)
class Programs:
    """The names of the programs of a producer."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class ProgramRun:
    """One run of a program in its framework.

    Attributes:
        inputs: the values of the graph's inputs of the exported model, by name.
        outputs: the results of the framework, in the order of the graph's outputs.
        reference: the same results, computed in double precision; None if the program does not run so.
    """

    inputs: Mapping[str, Value]
    outputs: tuple[Value, ...]
    reference: tuple[Value, ...] | None


@dataclass(frozen=True)
class Product:
    """A producer exported a program.

    Attributes:
        model: serialized.
        runs: runs of the program in its framework; the first has the sizes with which the program was exported.
        seconds: as the adapter measured them.
    """

    model: bytes
    runs: tuple[ProgramRun, ...]
    seconds: float | None


@dataclass(frozen=True)
class Accepted:
    """A checker raised no error.

    Attributes:
        phases: of refusals that it is there for: signature, static.
        seconds: as the adapter measured them.
    """

    phases: tuple[str, ...]
    seconds: float | None


@dataclass(frozen=True)
class Oversized:
    """An answer with far more bytes than the case needs; only its types and shapes were read.

    Attributes:
        outputs: read by backends.protocol.Outline: types and shapes are the adapter's, elements are not.
        size: bytes.
        seconds: as the adapter measured them.
        assigned: as in Answered.
    """

    outputs: tuple[Value, ...]
    size: int
    seconds: float | None
    assigned: Assigned | None = None


@dataclass(frozen=True)
class Refused:
    """The runtime raised an error; `reason` is set where the adapter declares it an opt-out.

    `phase` is load or run, if the adapter distinguishes them; `assigned` is as in Answered.
    """

    error: str
    message: str
    reason: str | None
    seconds: float | None
    phase: str = ""
    assigned: Assigned | None = None


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


Reply = Answered | ReturnedModel | Programs | Product | Accepted | Oversized | Refused | Died | Late | Broken

PHASES = ("load", "run")
"""In which a runtime may refuse a model."""

SLACK = 16
"""How many times as large as inputs and expected outputs together an answer may be to be read as a whole."""
_DESCRIBED = 128
"""About how many bytes of a header describe a tensor."""
_CHARACTER = 12
"""Bytes that a character of a string takes in JSON at most: two surrogates as escapes."""


def room(case: Case) -> Room:
    """Return how large a reply to a case may be."""
    header, payload = map(sum, zip(*map(_sizes, case.expected or (None,)), strict=True))
    return Room(ANY.header + SLACK * (header + case.size), ANY.payload + SLACK * (payload + case.size))


def _sizes(value: Value | Drawn) -> tuple[int, int]:
    """Return about how many bytes a value takes in a header, and in a payload."""
    if isinstance(value, Drawn):
        return _sizes(value.example)
    if isinstance(value, np.ndarray):
        texts = [len(str(item)) for item in value.reshape(-1)] if value.dtype == object else ()
        return _DESCRIBED + sum(_CHARACTER * length + 3 for length in texts), value.nbytes
    inner: list[Value] = list(value.values()) if isinstance(value, dict) else value or []
    sizes = [_sizes(item) for item in inner]
    if isinstance(value, dict):
        sizes.append(_sizes(np.array(list(value), dtype=object)))
    return _DESCRIBED + sum(header for header, _ in sizes), sum(payload for _, payload in sizes)


def reason(reply: Died | Late | Broken) -> str:
    """Return why the process ended, as in "its process was ended by SIGSEGV"."""
    if isinstance(reply, Broken):
        return reply.message
    if isinstance(reply, Died):
        return "its process " + (f"was ended by {reply.signal}" if reply.signal else f"exited with {reply.status}")
    return "it sent no answer in time"


def sentence(name: str, event: str, reply: Died | Late | Broken) -> str:
    """Return a line that names the backend, unless that is empty, the event, and the last line that was printed."""
    last = reply.stderr.splitlines()[-1:]
    text = event if event.startswith(name) else f"{name}: {event}"
    return text + (f"; its last output: {last[0]}" if last else "")


KINDS: Mapping[str, str] = {
    Subject.RUNTIME: "answer",
    Subject.TRANSFORMER: "model",
    Subject.INFERENCER: "model",
    Subject.CHECKER: "accepted",
    Subject.PRODUCER: "product",
    Subject.QUANTIZER: "model",
}
"""By subject, the kind of the message that it answers with, where it raises no error."""

_RUNTIME: Mapping[str, Any] = MappingProxyType({})


def parse(
    header: Mapping[str, Any], payload: bytes | None, case: Case | None = None, hello: Mapping[str, Any] = _RUNTIME
) -> Reply:
    """Return the reply that a message contains.

    Args:
        header: its fields.
        payload: its bytes, or None where they are too many to be read.
        case: that it answers, if that is known.
        hello: description of the backend; default: a runtime.

    Raises:
        ProtocolError: the message does not follow the wire format.
    """
    seconds = _seconds(header.get("seconds"))
    kind, subject = header["kind"], str(hello.get("subject", Subject.RUNTIME))
    if kind in {*KINDS.values(), PROGRAMS} and kind != _awaited(subject, case):
        raise protocol.HeaderError(f"kind {kind!r}, which is not an answer of a {clean(subject, 40)}")
    if kind == "model":
        return ReturnedModel(payload, header["payload"], subject, seconds, str(hello.get("precision", "")))
    if kind == PROGRAMS:
        return _programs(header)
    if kind == "product":
        return _product(header, payload, seconds)
    if kind == "accepted":
        phases = hello.get("phases", ("signature", "static"))
        return Accepted(tuple(map(str, phases)) if isinstance(phases, list | tuple) else (), seconds)
    return _of_runtime(header, payload, case, subject)


def _of_runtime(header: Mapping[str, Any], payload: bytes | None, case: Case | None, subject: str) -> Reply:
    """Return the reply of a runtime, or an error of any backend.

    Raises:
        ProtocolError: the message does not follow the wire format.
    """
    kind, seconds = header["kind"], _seconds(header.get("seconds"))
    if kind == "answer":
        if case is not None and payload is not None and case.is_answer(header.get("outputs"), payload):
            return AsExpected(case, seconds, _assigned(header))
        size = header["payload"]
        reader = protocol.Outline(size) if payload is None else protocol.Payload(payload)
        described = header.get("outputs")
        if not isinstance(described, list):
            raise protocol.HeaderError('an answer has a list of "outputs"')
        outputs = tuple(reader.decode(item) for item in described)
        reader.end()
        assigned = _assigned(header)
        return Oversized(outputs, size, seconds, assigned) if payload is None else Answered(outputs, seconds, assigned)
    if kind in {"refused", "unsupported"}:
        reason = (text_of(header, "reason") or "unsupported") if kind == "unsupported" else None
        error, message = text_of(header, "error", limit=200), text_of(header, "message")
        return Refused(error, message, reason, seconds, _phase(header), _assigned(header))
    if kind == "fault":
        return Broken(f"the adapter is at fault: {text_of(header, 'message', 'no reason reported')}", "")
    raise protocol.HeaderError(
        f"kind {clean(kind, 40)!r}: expected {_awaited(subject, case)}, refused, unsupported or fault"
    )


PROGRAMS = "programs"
"""The kind of the message with which a producer answers a request for the names of its programs."""


def _awaited(subject: str, case: Case | None) -> str | None:
    """Return the kind of the message that answers a case."""
    return PROGRAMS if isinstance(case, ProgramNames) else KINDS.get(subject)


def _programs(header: Mapping[str, Any]) -> Programs:
    names = header.get("programs")
    if not isinstance(names, list) or not all(isinstance(item, str) for item in names):
        raise protocol.HeaderError('"programs" is a list of names')
    return Programs(tuple(clean(item, MOST_NAME) for item in names))


MOST_NAME = 200
"""Characters of the name of a program that are kept."""


def _product(header: Mapping[str, Any], payload: bytes | None, seconds: float | None) -> Product:
    """Return an exported program.

    Raises:
        ProtocolError: the message does not follow the wire format, or is too large to be read.
    """
    if payload is None:
        raise protocol.PayloadError(f"a product of {header['payload']:,} bytes, which is too large to be read")
    size, runs = header.get("model"), header.get("runs")
    if type(size) is not int or not 0 <= size <= len(payload) or not isinstance(runs, list) or not runs:
        raise protocol.HeaderError('a product has the size of its "model", and a list of "runs" that is not empty')
    reader = protocol.Payload(memoryview(payload)[size:])
    found = tuple(_program_run(reader, run) for run in runs)
    reader.end()
    return Product(payload[:size], found, seconds)


def _program_run(reader: protocol.Payload, run: object) -> ProgramRun:
    listed = [run.get(key) for key in ("inputs", "outputs")] if isinstance(run, dict) else []
    if not isinstance(run, dict) or not all(isinstance(item, list) for item in listed):
        raise protocol.HeaderError('a run has lists "inputs" and "outputs"')
    inputs = {}
    for item in run["inputs"]:
        if not isinstance(item, dict) or not isinstance(item.get("name"), str):
            raise protocol.HeaderError('an input of a run has a "name" and a "value"')
        inputs[item["name"]] = reader.decode(item.get("value", {}))
    outputs = tuple(reader.decode(item) for item in run["outputs"])
    wide = run.get("reference")
    if wide is not None and not isinstance(wide, list):
        raise protocol.HeaderError('the "reference" of a run is a list of values, or null')
    return ProgramRun(inputs, outputs, None if wide is None else tuple(reader.decode(item) for item in wide))


def _seconds(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and 0 <= value < MOST_SECONDS else None


def read_expected(incoming: Incoming, request: int, case: Case, hello: Mapping[str, Any]) -> AsExpected | None:
    """Return the next reply if it is exactly the answer that a case expects, without parsing it; otherwise None.

    Args:
        incoming: the messages of the process.
        request: the number of the request that is to be answered.
        case: that it asked for.
        hello: description of the backend.
    """
    if case.answer is None or hello.get("subject", Subject.RUNTIME) != Subject.RUNTIME:
        return None
    outputs, payload = case.answer
    begin = b'{"kind":"answer","id":%d,"outputs":%b,"seconds":' % (request, outputs)
    seconds = incoming.take_answer(begin, b',"payload":%d}\n%b' % (len(payload), payload))
    return None if seconds is None else AsExpected(case, _seconds(seconds))


def text_of(header: Mapping[str, Any], key: str, absent: str = "", limit: int = MAX_MESSAGE) -> str:
    """Return a text of a header, safe for a terminal and a file; a value of another type is shown, clipped."""
    value = header.get(key)
    if value is None:
        return absent
    return clean(value if isinstance(value, str) else protocol.clip(value, limit), limit)


def _assigned(header: Mapping[str, Any]) -> Assigned | None:
    """Return which provider runs which node; None if the adapter does not report it.

    Raises:
        ProtocolError: the member does not follow the wire format.
    """
    if (value := header.get("assigned")) is None:
        return None
    rows = value.get("nodes") if isinstance(value, dict) else None
    if not isinstance(rows, list) or not isinstance(value.get("target"), str):
        raise protocol.HeaderError('"assigned" has a text "target" and a list "nodes"')
    if not all(
        isinstance(row, list) and len(row) == _ROW and all(isinstance(item, str) for item in row) for row in rows
    ):
        raise protocol.HeaderError('"nodes" has rows of three texts: domain, operator, provider')
    nodes = tuple((f"{clean(row[0], 80) or 'ai.onnx'}/{clean(row[1], 80)}", clean(row[2], 80)) for row in rows)
    return Assigned(clean(value["target"], 80), nodes)


_ROW = 3
"""Members of a row of nodes: domain, operator, provider."""


def _phase(header: Mapping[str, Any]) -> str:
    """Return the phase in which a runtime refused; empty if the adapter reports no valid phase."""
    phase = header.get("phase")
    return phase if phase in PHASES else ""
