# SPDX-License-Identifier: Apache-2.0
"""Classes for special arguments of cases: types, subgraphs, empty optionals, sparse tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class Typed:
    """Values of one type, whatever the type of their parameter.

    Attributes:
        type: tensor(float16), seq(tensor(float16)) and so on, or the element type alone: float16. {T} is the type of
            variable T: seq({T}).
        values: for a tensor, Data or anything that numpy converts; for a sequence, a list of these; for a map, a dict.
    """

    type: str
    values: Any


def typed(type_: str, values: object) -> Typed:
    """Return an argument with the type `type_`."""
    return Typed(type_, values)


@dataclass(frozen=True)
class ElementType:
    """The number in TensorProto.DataType of an element type (float16) or of a type variable ({T2}).

    A string attribute, as in version 1 of Cast, gets the name instead of the number: FLOAT16.
    """

    name: str


def element_type(name: str) -> ElementType:
    """Return the number of an element type (float16) or of a type variable ({T2})."""
    return ElementType(name)


@dataclass(frozen=True)
class Graph:
    """A subgraph in ONNX's text syntax; {T} is replaced by the type of variable T, with an unknown shape."""

    text: str


def graph(text: str) -> Graph:
    """Return a subgraph: `body (float x) => (float y) { y = Neg(x) }`."""
    return Graph(text)


@dataclass(frozen=True)
class ValueOf:
    """The value of this name in the outer graph."""

    name: str


def value_of(name: str) -> ValueOf:
    """Return an argument that is the value of this name in the outer graph; the input gets the name too."""
    return ValueOf(name)


class Call(NamedTuple):
    """A node of the outer graph, in the form in which oracles receive it.

    Attributes:
        operator: the operator, such as ai.onnx/Add.
        inputs: the names of the inputs; empty for an omitted input.
        outputs: the names of the outputs; empty for an omitted output.
        attributes: the attributes of the node, in the form in which oracles receive them.
    """

    operator: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    attributes: Mapping[str, Any]


@dataclass(frozen=True)
class Sparse:
    """A sparse tensor: its values, their indices (linear, or a row for each), and its shape."""

    values: Any
    indices: Any
    shape: tuple[int, ...]


def dense(sparse: Sparse) -> np.ndarray[Any, Any]:
    """Return the dense form of a sparse tensor, filled with zeros or empty strings (onnx.proto).

    The indices are linear, or coordinates.
    """
    values, indices = np.asarray(sparse.values), np.asarray(sparse.indices)
    full = np.full(sparse.shape, "" if values.dtype.kind == "O" else 0, values.dtype)
    where = (indices,) if indices.ndim == 1 else tuple(indices.T)
    (full.reshape(-1) if indices.ndim == 1 else full)[where] = values
    return full


@dataclass(frozen=True)
class Empty:
    """An empty optional, which differs from an omitted input."""


EMPTY = Empty()


class Subgraph(Protocol):
    """A subgraph, in the form in which oracles receive it.

    Attributes:
        inputs: the names of its inputs.
        outputs: the types of its outputs, such as tensor(float); empty for an undeclared type.
        shadows: the names in it that values of the outer graph have, too.
    """

    inputs: Sequence[str]
    outputs: Sequence[str]
    shadows: Sequence[str]

    def __call__(self, *values: Any) -> list[Any]:  # noqa: ANN401 - any ONNX value
        """Evaluate it on one value for each input. Other names refer to values of the outer graph."""


@dataclass(frozen=True)
class Vary:
    """Values of one argument, with one case for each value; see `vary`."""

    values: Mapping[str, Any]


def vary(**values: Any) -> Vary:  # noqa: ANN401 - any argument
    """Declare one case for each of these values of an argument. The name of the value is added to that of the case.

    `case("default", data=vary(vector=ramp(3), scalar=ramp()))` declares default_vector and default_scalar.
    """
    return Vary(values)
