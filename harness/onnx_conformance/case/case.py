# SPDX-License-Identifier: Apache-2.0
"""A case: one model, its inputs, and the expected outcome."""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onnx_conformance.backends import protocol
from onnx_conformance.base.printing import quoted
from onnx_conformance.base.values import Drawn
from onnx_conformance.base.verdict import parts
from onnx_conformance.case import encoding, properties

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_conformance.base.values import Value
    from onnx_conformance.case.allowance import Allowance

PLAIN = "plain"
"""The form of a case as it is declared; see `forms.table`."""
OVERRIDDEN = "overridden"
"""The form in which the caller overrides the default of an input, which is an initializer of the same name."""
OVERRIDES = "overrides"
"""The optional feature of an adapter that this form needs; see "accepts" in backends/README.md."""
DATA_FILE = "model.onnx.data"
"""The name that exporters use for the file with the external data of a model."""
_OBJECTS = 2048
"""The measured size of the Python objects of a small case, in bytes."""


class Outcome(enum.StrEnum):
    """The outcome that the text expects of a case."""

    VALUES = "values"
    PROPERTY = "property"
    """Properties of values that are not known: for random operators, and if several values are right."""
    REJECTS = "rejects"
    UNSPECIFIED = "unspecified"


@dataclass(frozen=True)
class Case:
    """One model, its inputs, and the expected outcome.

    Attributes:
        id: `ai.onnx/Split/18/uneven/float16@symbolic`; never depends on order.
        operator: the operator version that it tests, `ai.onnx/Split/18`.
        model: a serialized ModelProto.
        inputs: the inputs by the name of the graph's input, in the graph's order.
        outputs: the names of the graph's outputs.
        outcome: the outcome that the text requires.
        expected: the values of `outputs`, or the properties of random values; None if the text expects no answer.
        allowance: how far an answer may be from `expected`.
        clauses: the sentences that it tests.
        tags: its topics.
        form: how it is delivered; see `forms.table`.
        detail: the part of the case that the deciding clause applies to.
        reworded: the latest release of onnx that reworded one of the sentences in place; empty if none was reworded.
        readings: the numbers of the readings that the outcome rests on; see `onnx_conformance.declare.readings`.
        earlier: inputs with which the same session runs the model first; None if the model runs once.
        files: the contents of the files next to the model, by name: external data of its initializers.
        force: the `declare.Force` of the clause that forbids it, or permits some runtimes to reject it; empty if no
            clause does.
    """

    id: str
    operator: str
    model: bytes
    inputs: Mapping[str, Value]
    outputs: tuple[str, ...]
    outcome: Outcome
    expected: tuple[Value | Drawn, ...] | None
    allowance: Allowance
    clauses: tuple[str, ...] = ()
    tags: frozenset[str] = frozenset()
    form: str = PLAIN
    detail: str = ""
    force: str = ""
    reworded: str = ""
    readings: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False)
    earlier: Mapping[str, Value] | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The declared name, without operator version, element type and form."""
        return parts(self.id, self.operator)[0]

    @property
    def element_type(self) -> str:
        """The element type it was expanded to, or the empty string."""
        return parts(self.id, self.operator)[1]

    @property
    def decided(self) -> str:
        """The clause that decides an outcome without values, and the part of the case that it applies to."""
        sentence = quoted(self.clauses[-1]) if self.clauses else ""
        return f"{sentence} ({self.detail})".strip() if self.detail else sentence

    def request(self, number: int) -> bytes:
        """Return the message that sends this case to an adapter; see backends/README.md."""
        return b'{"id":%d,' % number + self.frame[1:]

    @functools.cached_property
    def frame(self) -> bytes:
        """The message without its number: the same for every backend."""
        buffers = [self.model, *self.files.values()]

        def described(values: Mapping[str, Value]) -> list[dict[str, Any]]:
            return [{"name": name, "value": protocol.encode(value, buffers)} for name, value in values.items()]

        header: dict[str, Any] = {"kind": "run", "model": len(self.model)}
        if self.files:
            header["files"] = [{"name": name, "size": len(data)} for name, data in self.files.items()]
        if self.earlier is not None:
            header["earlier"] = described(self.earlier)
        return protocol.message({**header, "inputs": described(self.inputs), "outputs": list(self.outputs)}, buffers)

    @property
    def has_outputs(self) -> bool:
        """Whether the case has expected outputs."""
        return self.expected is not None

    def is_answer(self, outputs: object, payload: bytes) -> bool:  # noqa: ARG002 - see packs.PackedCase
        """Return whether an answer in the wire format is known to equal the expected one, byte for byte."""
        return False

    @property
    def answer(self) -> tuple[bytes, bytes] | None:
        """The value of "outputs" and the payload of an answer that equals the expected one byte for byte.

        None if they are not known, or too large to be compared at once.
        """
        return None

    @functools.cached_property
    def needs(self) -> frozenset[str]:
        """The optional features of its request. Only adapters that accept them run it; see backends/README.md."""
        overrides = self.form.partition("_then_")[0] == OVERRIDDEN
        present = {"earlier": self.earlier is not None, "files": bool(self.files), OVERRIDES: overrides}
        return frozenset(name for name, there in present.items() if there)

    @property
    def size(self) -> int:
        """Approximate size in memory, in bytes. It assumes that expected values are about as large as inputs."""
        return len(self.frame) + _OBJECTS

    def described(self) -> tuple[dict[str, Any], list[bytes]]:
        """Return the description of the case in a pack, without its bounds, and the bytes of its expected values."""
        item = {
            "id": self.id,
            "frame": len(self.frame),
            "model": len(self.model),
            "outputs": list(self.outputs),
            "form": self.form,
            "needs": sorted(self.needs),
        }
        answer, buffers = encoding.described_answer(self.expected, self.allowance)
        return {**item, **answer}, buffers

    def digests(self) -> tuple[str, str, str]:
        """Return short digests of the model, the inputs, and the expected outcome.

        They are the same on every processor; see `encoding`. They contain no phrase of ours except `Allowance.limits`.
        """
        item, buffers = encoding.described_answer(self.expected, self.allowance)
        bounded = self.allowance.bounds is not None
        pieces = encoding.portable(item, b"".join(buffers), self.allowance, bounded=bounded)
        expected = [f"{self.outcome} {self.allowance.limits} {item}".encode(), *pieces]
        fed = dict(self.inputs) if self.earlier is None else [dict(self.earlier), dict(self.inputs)]
        of_inputs = digest_values(fed)
        return _digest(b"".join([self.model, *self.files.values()])), of_inputs, _digest(b"\0".join(expected))

    def digest(self) -> str:
        """Return one digest of everything that a verdict depends on; see `encoding.digest`."""
        item, buffers = self.described()
        terms = encoding.terms(self.operator, str(self.outcome), self.force, self.allowance)
        bounded = self.allowance.bounds is not None
        return encoding.digest(item, terms, self.allowance, self.frame, b"".join(buffers), bounded=bounded)


def by_itself(case: Case) -> Case:
    """Return a case that does not need its pack. Its bounds are stored as values, as they cannot be computed later."""
    case = Case(**{item.name: getattr(case, item.name) for item in dataclasses.fields(Case) if item.init})
    if case.allowance.bounds is None:
        return case
    return dataclasses.replace(case, allowance=dataclasses.replace(case.allowance, bounds=tuple(case.allowance.bounds)))


def delivered_id(stem: str, form: str) -> str:
    """Return the id of a case in a form: the plain form has the id of the declared case."""
    return stem if form == PLAIN else f"{stem}@{form}"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def digest_values(values: object) -> str:
    """Return a short digest of values, their types and shapes."""
    return _digest(_bytes(values))


def _bytes(value: object) -> bytes:
    buffers: list[bytes] = []
    plain: Any = value
    if isinstance(value, tuple):
        drawn = [repr(properties.describe(item)) for item in value if isinstance(item, Drawn)]
        if drawn:
            return "\0".join(drawn).encode() + _bytes(tuple(item for item in value if not isinstance(item, Drawn)))
        plain = list(value)
    described = repr(protocol.encode(plain, buffers)).encode()
    return b"\0".join([described, *buffers])
