"""A case: one model, its inputs, and the expected outcome."""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.backends import protocol
from onnx_conformance.base.verdict import parts
from onnx_conformance.case import properties
from onnx_conformance.case.elements import is_float
from onnx_conformance.declare import Drawn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx_conformance.declare import AnyOf, Order
    from onnx_conformance.declare.data import Value

PLAIN = "plain"
"""The form of a case as it is declared; see `forms.table`."""
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


class Bounds(Sequence["np.ndarray[Any, Any]"]):
    """The absolute errors that the elements of the outputs may have, computed at the first access.

    Most answers do not need them: they are equal to the expected values, or the runtime raised an error.
    """

    def __init__(self, compute: Callable[[], tuple[np.ndarray[Any, Any], ...]]) -> None:
        """Store the function that returns the errors of each output."""
        self._compute: Callable[[], tuple[np.ndarray[Any, Any], ...]] | None = compute
        self._values: tuple[np.ndarray[Any, Any], ...] = ()

    def _all(self) -> tuple[np.ndarray[Any, Any], ...]:
        if self._compute is not None:
            self._values, self._compute = self._compute(), None
        return self._values

    @property
    def computed(self) -> tuple[np.ndarray[Any, Any], ...] | None:
        """The errors, if they were computed already."""
        return self._values if self._compute is None else None

    def __len__(self) -> int:
        """Return the number of outputs."""
        return len(self._all())

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - an index or a slice, as in every sequence
        """Return the errors of one output."""
        return self._all()[index]

    def __reduce__(self) -> tuple[type[tuple[Any, ...]], tuple[tuple[Any, ...]]]:
        """Pickle only the errors, because only this process has the oracle that computes them."""
        return tuple, (self._all(),)


@dataclass(frozen=True)
class Allowance:
    """How an answer may differ from the expected one. If all fields are zero, it must be equal.

    Attributes:
        reason: the reason for this tolerance.
        ulp: units in the last place of the element's own type.
        rtol: relative to the expected value.
        atol: absolute.
        signed_zero: whether +0 and -0 differ.
        bounds: for each output, the absolute error allowed for each element.
        any_of: for each output, the values that it may have, the expected one first; None if there is only one.
        any_order: the other permitted orders of the outputs, if there are any.
    """

    reason: str
    ulp: float = 0
    rtol: float = 0
    atol: float = 0
    signed_zero: bool = False
    bounds: Sequence[np.ndarray[Any, Any]] | None = None
    any_of: tuple[AnyOf | None, ...] = ()
    any_order: Order | None = None

    def bound(self, index: int) -> np.ndarray[Any, Any] | None:
        """Return the bounds of an output; None if it has none, or has several allowed values, which are exact."""
        several = bool(self.any_of) and self.any_of[index] is not None
        return None if self.bounds is None or several else self.bounds[index]

    def __str__(self) -> str:
        """Return a phrase such as "exact: the operator only moves data"."""
        return f"{self.limits}: {self.reason}"

    @property
    def limits(self) -> str:
        """The phrase without its reason, such as "exact" or "2 ULP"."""
        parts = [f"{self.ulp:g} ULP"] if self.ulp else []
        parts += [f"rtol {self.rtol:g}"] if self.rtol else []
        parts += [f"atol {self.atol:g}"] if self.atol else []
        parts += ["a bound by element"] if self.bounds is not None else []
        parts = parts or ["exact"]
        several = [item for item in self.any_of if item is not None]
        parts += ["any of several values"] if any(not item.elementwise for item in several) else []
        parts += ["each element any of several"] if any(item.elementwise for item in several) else []
        parts += [str(self.any_order)] if self.any_order else []
        return ", ".join(parts)


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
        force: the `declare.Force` of the clause that forbids it; empty if no clause forbids it.
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
        """The optional fields of its request. Only adapters that accept them run it; see backends/README.md."""
        present = {"earlier": self.earlier is not None, "files": bool(self.files)}
        return frozenset(name for name, there in present.items() if there)

    @property
    def size(self) -> int:
        """Approximate size in memory, in bytes. It assumes that expected values are about as large as inputs."""
        return len(self.frame) + _OBJECTS

    def digests(self) -> tuple[str, str, str]:
        """Return short digests of the model, the inputs, and the expected outcome.

        They are the same on every processor. The last bits of expected values differ between processors, because numpy
        and the C library choose code for the processor. They contain no phrase of ours except `Allowance.limits`.
        """
        outcome = f"{self.outcome} {self.allowance.limits}".encode()
        values = [self.expected, *(item.values for item in self.allowance.any_of if item is not None)]
        expected = b"".join([outcome, *(_bytes(_portable(item, self.allowance)) for item in values)])
        fed = dict(self.inputs) if self.earlier is None else [dict(self.earlier), dict(self.inputs)]
        of_inputs = digest_values(fed)
        return _digest(b"".join([self.model, *self.files.values()])), of_inputs, _digest(expected)


def by_itself(case: Case) -> Case:
    """Return a case that does not need its pack. Its bounds are stored as values, as they cannot be computed later."""
    case = Case(**{item.name: getattr(case, item.name) for item in dataclasses.fields(Case) if item.init})
    if case.allowance.bounds is None:
        return case
    return dataclasses.replace(case, allowance=dataclasses.replace(case.allowance, bounds=tuple(case.allowance.bounds)))


def delivered_id(stem: str, form: str) -> str:
    """Return the id of a case in a form: the plain form has the id of the declared case."""
    return stem if form == PLAIN else f"{stem}@{form}"


def quoted(clause: str) -> str:
    """Return a clause for display: a sentence of the text in quotes, a rule of the signature without."""
    return clause if clause.startswith("Signature: ") else f"«{clause}»"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def digest_values(values: object) -> str:
    """Return a short digest of values, their types and shapes."""
    return _digest(_bytes(values))


def _portable(value: Any, allowance: Allowance) -> Any:  # noqa: ANN401 - any value
    """Return an expected value without the bits that depend on the processor: the sign of NaN, and those below 2**-22.

    If an error is allowed for each element, the bits are relative to the largest element of the tensor, because terms
    that cancel each other leave noise.
    """
    if isinstance(value, list | tuple):
        return type(value)(_portable(item, allowance) for item in value)
    if isinstance(value, dict):
        return {key: _portable(item, allowance) for key, item in value.items()}
    if not isinstance(value, np.ndarray | np.generic) or not is_float(np.asarray(value)):
        return value
    if value.dtype.kind == "c":
        return [_portable(np.ascontiguousarray(part), allowance) for part in (value.real, value.imag)]
    exact = not (allowance.ulp or allowance.rtol or allowance.atol) and allowance.bounds is None
    kind = np.array(protocol.element_type(value.dtype).number)
    wide = np.array(value, np.float64)
    wide[np.isnan(wide)] = np.nan
    if exact:
        return [kind, wide]
    largest = float(np.max(np.abs(wide), initial=0.0, where=np.isfinite(wide)))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # The largest number may become infinity.
        if allowance.bounds is not None and largest:
            # Just above the largest element, because that may be 1 on one processor and a little less on another.
            # At least the smallest float64, because the unit of smaller elements would be 0.
            unit = max(2.0 ** (np.frexp(largest * (1 + 2.0**-30))[1] - 22), 2.0**-1074)
            wide = np.round(wide / unit) * unit + 0.0  # Makes every zero positive.
        return [kind, wide.astype(np.float32)]


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


def in_shard(case_id: str, shard: tuple[int, int]) -> bool:
    """Return whether a case belongs to shard i of n (i from 1); depends only on its id."""
    index, count = shard
    return int.from_bytes(hashlib.sha256(case_id.encode()).digest()[:8], "big") % count == index - 1


def in_sample(case_id: str, count: int) -> bool:
    """Return whether a case belongs to the sample of 1 in n; depends only on its id, and is independent of its shard.

    A sample is a subset of every larger one, so that two runs share the cases of the smaller one.
    """
    if count == 1:
        return True
    digest = hashlib.sha256(b"sample\0" + case_id.encode()).digest()
    return int.from_bytes(digest[:8], "big") * count < 1 << 64
