"""A case: one model, its inputs, and what is expected. The atom of everything."""

from __future__ import annotations

import enum
import functools
import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backends import protocol
from harness.case import properties
from harness.declare import Drawn
from harness.verdict import parts

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from harness.declare.data import Value

PLAIN, EXPANDED = "plain", "expanded"
_OBJECTS = 2048
"""Bytes of the Python objects that a small case is made of, as measured."""
FORMS = (PLAIN, "initializer", "omitted", "symbolic", "unranked", "top", "again", EXPANDED)
"""Ways to deliver a case; `initializer-NAME` is the one of a single input. See forms.Form."""


class Outcome(enum.StrEnum):
    """What the text expects of a case."""

    VALUES = "values"
    PROPERTY = "property"
    """Random operators: what is drawn is not known, but what holds of it."""
    REJECTS = "rejects"
    UNSPECIFIED = "unspecified"


@dataclass(frozen=True)
class Allowance:
    """How far each element of an answer may lie from the expected one; all zero: the very same value.

    Attributes:
        reason: why this much.
        ulp: units in the last place of the element's own type.
        rtol: relative to the expected value.
        atol: absolute.
        signed_zero: +0 and -0 differ.
        bounds: for each output the absolute error allowed, by element.
    """

    reason: str
    ulp: float = 0
    rtol: float = 0
    atol: float = 0
    signed_zero: bool = False
    bounds: tuple[np.ndarray[Any, Any], ...] | None = None

    def __str__(self) -> str:
        """Return it as a sentence part, such as "exact: the operator only moves data"."""
        parts = [f"{self.ulp:g} ULP"] if self.ulp else []
        parts += [f"rtol {self.rtol:g}"] if self.rtol else []
        parts += [f"atol {self.atol:g}"] if self.atol else []
        parts += ["a bound by element"] if self.bounds is not None else []
        return f"{', '.join(parts) or 'exact'}: {self.reason}"


@dataclass(frozen=True)
class Case:
    """One model, its inputs, and what is expected.

    Attributes:
        id: `ai.onnx/Split/18/uneven/float16@symbolic`; never depends on order.
        operator: the operator version it is about, `ai.onnx/Split/18`.
        model: a serialized ModelProto.
        inputs: by name of the graph's input, in the graph's order.
        outputs: the names of the graph's outputs.
        outcome: what the text expects.
        expected: the values of `outputs`, or what must hold of those that are drawn; None where the text expects no
            answer.
        allowance: how far an answer may lie from `expected`.
        clauses: the sentences it bears on.
        tags: what it is about.
        form: how it is delivered.
        detail: what of this case the deciding clause speaks of.
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
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def name(self) -> str:
        """The declared name, without operator version, element type and form."""
        return parts(self.id, self.operator)[0]

    @property
    def element_type(self) -> str:
        """The type it was expanded to, or the empty string."""
        return parts(self.id, self.operator)[1]

    @property
    def decided(self) -> str:
        """The clause that decides an outcome without values, and what of this case it speaks of."""
        sentence = quoted(self.clauses[-1]) if self.clauses else ""
        return f"{sentence} ({self.detail})".strip() if self.detail else sentence

    def request(self, number: int) -> bytes:
        """Return the message that asks an adapter for it; see backends/README.md."""
        return b'{"id":%d,' % number + self._request[1:]

    @functools.cached_property
    def _request(self) -> bytes:
        """The message without its number: every backend is asked the same."""
        buffers = [self.model]
        inputs = [{"name": name, "value": protocol.encode(value, buffers)} for name, value in self.inputs.items()]
        header = {"kind": "run", "model": len(self.model), "inputs": inputs, "outputs": list(self.outputs)}
        return protocol.message(header, buffers)

    @property
    def size(self) -> int:
        """Bytes that it takes while it waits to be asked, about; what is expected is of the order of what is given."""
        return len(self._request) + _OBJECTS

    def digests(self) -> tuple[str, str, str]:
        """Return short digests of the model, of the inputs, and of what is expected."""
        wanted = f"{self.outcome} {self.allowance}".encode()
        return _digest(self.model), digest_values(self.inputs), _digest(wanted + _bytes(self.expected))


def quoted(clause: str) -> str:
    """Return a clause as it is shown: a sentence of the text in quotes, a rule of the signature without."""
    return clause if clause.startswith("Signature: ") else f"«{clause}»"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def digest_values(values: object) -> str:
    """Return a short digest of values, their types and shapes."""
    return _digest(_bytes(values))


def _bytes(value: object) -> bytes:
    buffers: list[bytes] = []
    plain: Any = value
    if isinstance(value, tuple):
        said = [repr(properties.describe(item)) for item in value if isinstance(item, Drawn)]
        if said:
            return "\0".join(said).encode() + _bytes(tuple(item for item in value if not isinstance(item, Drawn)))
        plain = list(value)
    described = repr(protocol.encode(plain, buffers)).encode()
    return b"\0".join([described, *buffers])


def in_shard(case_id: str, shard: tuple[int, int]) -> bool:
    """Tell whether a case belongs to shard i of n (i from 1); depends on its id alone."""
    index, count = shard
    return int.from_bytes(hashlib.sha256(case_id.encode()).digest()[:8], "big") % count == index - 1


def in_sample(case_id: str, count: int) -> bool:
    """Tell whether a case is of a sample of 1 in n; depends on its id alone, and has nothing to do with its shard.

    A sample lies within every larger one, so that two runs share the cases of the smaller.
    """
    if count == 1:
        return True
    digest = hashlib.sha256(b"sample\0" + case_id.encode()).digest()
    return int.from_bytes(digest[:8], "big") * count < 1 << 64
