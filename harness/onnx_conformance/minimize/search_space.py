# SPDX-License-Identifier: Apache-2.0
"""The search space of a reduction, of declared cases or whole models: candidates with values and size, moves, cause."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

import numpy as np
import onnx

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from onnx_conformance.base.verdict import Result
    from onnx_conformance.case.case import Case

Path = tuple[str | int, ...]
"""Address of a value: its kind, its name, then indices."""
Array = np.ndarray[Any, Any]

MOST_EXPECTED = 1 << 16
"""Maximum number of expected elements of a smaller case, unless the first has more: outputs may be larger than inputs.
"""
RANKED = re.compile(
    r"[(\[]\s*\w+(?:\s*(?:,|\bx\b|\*)\s*[\w.\u2026*+/-]+)+\s*[)\]]"
    r"|\b\d-?D\b|\brank[ -]?\d|\b(?:matrix|matrices|scalar)\b",
    re.IGNORECASE,
)
"""The notations for the rank of an input in the texts: (N x C x H x W), [seq_length, batch_size, input_size], 1-D, a
matrix.

An oracle may accept fewer dimensions, but the maintainers of a runtime would reject such a report.
"""


@dataclass(frozen=True)
class Leaf:
    """Numbers or strings at one path.

    Attributes:
        array: the values; a single number has rank 0.
        tensor: whether they are a tensor (an input or an attribute); otherwise they are plain numbers of an attribute.
    """

    path: Path
    array: Array
    tensor: bool

    @property
    def name(self) -> str:
        """The name of the argument, or of the value in a graph."""
        return str(self.path[1])


class Candidate(Protocol):
    """A case that moves can change."""

    def leaves(self) -> list[Leaf]:
        """Return all values, by path."""

    def with_values(self, changes: Mapping[Path, Any]) -> Self:
        """Return a copy with other values at some paths."""


C = TypeVar("C", bound=Candidate)


@dataclass(frozen=True)
class Move(Generic[C]):
    """A candidate that may be a smaller case, and a description of the change."""

    candidate: C
    description: str


@dataclass(frozen=True, order=True)
class Size:
    """The size of a candidate, compared field by field in this order. Every accepted move reduces it.

    Attributes:
        nodes: number of nodes.
        parts: number of inputs, initializers, attributes and outputs.
        elements: number of elements of all inputs and of attributes that are lists.
        rank: sum of the ranks of all inputs.
        values: distance of the values from zero.
        strangeness: distance of types and form from the most common ones.
    """

    nodes: int
    parts: int
    elements: int
    rank: int
    values: int
    strangeness: int


@dataclass(frozen=True)
class Built(Generic[C]):
    """A candidate with its case and its size.

    Attributes:
        inputs, attributes: the numbers of its inputs and attributes.
    """

    candidate: C
    case: Case
    size: Size
    inputs: int
    attributes: int

    @property
    def counts(self) -> dict[str, int]:
        """The counts that `minimize` prints before and after."""
        return {
            "nodes": self.size.nodes,
            "inputs": self.inputs,
            "attributes": self.attributes,
            "outputs": len(self.case.outputs),
            "elements": self.size.elements,
            "rank": self.size.rank,
        }


class SearchSpace(Protocol[C]):
    """The candidates that a reduction explores, and the moves between them."""

    @property
    def first(self) -> Built[C]:
        """Return the first candidate of the search."""

    @property
    def passes(self) -> Sequence[Callable[[C], Iterator[Move[C]]]]:
        """Return the kinds of moves, in the order of their trial. They are repeated until none of them helps."""

    @property
    def halves(self) -> Callable[[C], Iterator[Move[C]]]:
        """Return the moves that are tried first, again from the beginning after each one that helps.

        They find a few elements among thousands in a few steps.
        """

    @property
    def structure(self) -> Sequence[Callable[[C], Iterator[Move[C]]]]:
        """Return the kinds of moves that are tried in pairs if single moves do not help."""

    def built(self, candidate: C) -> Built[C] | None:
        """Return a candidate with its case; None if it is not a case of the same kind as the first."""

    def settled(self, built: Built[C]) -> Built[C] | None:
        """Return the final form of a smaller candidate; None if it is not a case."""

    def cause(self, case: Case, result: Result) -> tuple[str, ...]:
        """Return a signature that is equal for two failures with one cause."""


def nodes(graph: onnx.GraphProto) -> int:
    """Return the number of nodes of a graph, including those of its subgraphs."""
    inner = (item.g for node in graph.node for item in node.attribute if item.type == onnx.AttributeProto.GRAPH)
    return len(graph.node) + sum(map(nodes, inner))


def distance(value: Any) -> int:  # noqa: ANN401 - any element
    """Return a distance of a value from the simplest one of its kind: 0, or the empty string."""
    if isinstance(value, bytes):
        value = value.decode(errors="surrogateescape")
    if isinstance(value, str):
        return sum(1 if letter.isascii() and letter.isprintable() else 4 for letter in value)
    if isinstance(value, complex):
        return distance(value.real) + distance(value.imag)
    if isinstance(value, bool):
        return int(value)
    number = value if isinstance(value, int) else float(value)
    if number != number or number in (float("inf"), float("-inf")):  # noqa: PLR0124 - NaN
        return 2000
    if number != int(number):
        return 500 + len(repr(number))
    whole = int(number)
    negative = whole < 0 or (whole == 0 and str(number).startswith("-"))
    return (abs(whole) if abs(whole) <= 64 else 64 + 4 * whole.bit_length()) + negative  # noqa: PLR2004 - see above


def elements(values: Any) -> int:  # noqa: ANN401 - values, nested or not
    """Return the total number of elements of values."""
    if isinstance(values, list | tuple):
        return sum(map(elements, values))
    return values.size if isinstance(values, np.ndarray) else 1


def is_empty(value: Any) -> bool:  # noqa: ANN401 - any value
    """Return whether a value is empty, or contains an empty one."""
    if isinstance(value, list):
        return not value or any(map(is_empty, value))
    return isinstance(value, np.ndarray) and not value.size
