"""Arguments of cases with a class of their own: types, subgraphs, empty optionals, sparse tensors."""

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
        values: for a tensor anything numpy takes, or Data; for a sequence a list of these; for a map a dict.
    """

    type: str
    values: Any


def typed(type_: str, values: object) -> Typed:
    """Return an argument with a type of its own."""
    return Typed(type_, values)


@dataclass(frozen=True)
class ElementType:
    """The number of TensorProto.DataType for an element type: float16, or that of a type variable: {T2}.

    An attribute that is a text, as in version 1 of Cast, gets the name of that number: FLOAT16.
    """

    name: str


def element_type(name: str) -> ElementType:
    """Return the number of an element type: float16, or that of a type variable: {T2}."""
    return ElementType(name)


@dataclass(frozen=True)
class Graph:
    """A subgraph in ONNX's text syntax; {T} stands for the type of variable T, of unknown shape."""

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
    """A node of the outer graph, as an oracle gets it.

    Attributes:
        operator: such as ai.onnx/Add.
        inputs: their names; empty for one left out.
        outputs: likewise.
        attributes: the attributes of the node, as oracles get them.
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
    """Return a sparse tensor with its zeros, or empty strings (onnx.proto); indices are linear, or coordinates."""
    values, indices = np.asarray(sparse.values), np.asarray(sparse.indices)
    full = np.full(sparse.shape, "" if values.dtype.kind == "O" else 0, values.dtype)
    where = (indices,) if indices.ndim == 1 else tuple(indices.T)
    (full.reshape(-1) if indices.ndim == 1 else full)[where] = values
    return full


@dataclass(frozen=True)
class Empty:
    """An empty optional, which is not the same as an input left out."""


EMPTY = Empty()


class Subgraph(Protocol):
    """A subgraph, as an oracle gets it.

    Attributes:
        inputs: the names of its inputs.
        outputs: the types of its outputs, such as tensor(float); empty where it does not declare one.
        shadows: its own names that values of the outer graph have, too.
    """

    inputs: Sequence[str]
    outputs: Sequence[str]
    shadows: Sequence[str]

    def __call__(self, *values: Any) -> list[Any]:  # noqa: ANN401 - whatever ONNX has
        """Evaluate it on one value for each input; names that are not its own are values of the outer graph."""


@dataclass(frozen=True)
class Vary:
    """Values of one argument, each for a case of its own; see `vary`."""

    values: Mapping[str, Any]


def vary(**values: Any) -> Vary:  # noqa: ANN401 - whatever an argument may be
    """Declare a case for each of these values of an argument; the value's name follows the case's.

    `case("default", data=vary(vector=ramp(3), scalar=ramp()))` declares default_vector and default_scalar.
    """
    return Vary(values)
