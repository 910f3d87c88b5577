"""Arguments of cases that need a word of their own: types, subgraphs, empty optionals, sparse tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class Typed:
    """Values of one type, whatever their place says.

    Attributes:
        type: tensor(float16), seq(tensor(float16)) and so on, or the element type alone: float16. {T} is what the type
            variable T stands for: seq({T}).
        values: of a tensor: anything numpy takes, or Data; of a sequence: a list of such; of a map: a dict.
    """

    type: str
    values: Any


def typed(type_: str, values: object) -> Typed:
    """Give an argument a type of its own."""
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
    """Write a subgraph: `body (float x) => (float y) { y = Neg(x) }`."""
    return Graph(text)


@dataclass(frozen=True)
class ValueOf:
    """The value that has this name in the graph around."""

    name: str


def value_of(name: str) -> ValueOf:
    """Give an input the value of that name in the graph around, and the name with it."""
    return ValueOf(name)


class Call(NamedTuple):
    """A node of the graph around, as an oracle sees it.

    Attributes:
        operator: such as ai.onnx/Add.
        inputs: by name; empty for one left out.
        outputs: likewise.
        attributes: those that the node has, as oracles see them.
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
    """An optional that holds nothing, which is not the same as an input left out."""


EMPTY = Empty()


class Subgraph(Protocol):
    """What an oracle gets for a subgraph.

    Attributes:
        inputs: the names of its inputs.
        outputs: the types of its outputs, such as tensor(float); empty where it does not declare one.
    """

    inputs: Sequence[str]
    outputs: Sequence[str]

    def __call__(self, *values: Any) -> list[Any]:  # noqa: ANN401 - whatever ONNX has
        """Evaluate it on one value for each input; names that are not its own come from around it."""


@dataclass(frozen=True)
class Vary:
    """Values of one argument, each of which makes a case of its own; see `vary`."""

    values: Mapping[str, Any]


def vary(**values: Any) -> Vary:  # noqa: ANN401 - whatever an argument may be
    """Give an argument each of these values in turn; a value's name follows the case's.

    `case("default", data=vary(vector=ramp(3), scalar=ramp()))` declares default_vector and default_scalar.
    """
    return Vary(values)
