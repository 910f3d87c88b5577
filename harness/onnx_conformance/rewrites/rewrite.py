# SPDX-License-Identifier: Apache-2.0
"""The classes and functions for the other files of this package: a rewrite, its models, and numbers for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

Array = np.ndarray[Any, Any]

USUAL = 18
"""The opset of ai.onnx that exporters use by default today (torch.onnx 2.9)."""


@dataclass(frozen=True)
class Model:
    """A model that has the pattern of a rewrite, or only resembles it.

    Attributes:
        name: the name, which describes the difference from the other models.
        nodes: the nodes in ONNX's text syntax, one per line.
        inputs: the inputs of the graph, by name.
        constants: the values that exporters write as initializers, by name.
        outputs: the outputs of the graph.
        since: the first opset in which the nodes have this syntax.
        before: the first opset in which they no longer have it; None if they still have it.
    """

    name: str
    nodes: str
    inputs: Mapping[str, Array]
    constants: Mapping[str, Array] = field(default_factory=dict)
    outputs: tuple[str, ...] = ("y",)
    since: int = 13
    before: int | None = None

    @property
    def opset(self) -> int:
        """The opset in which it is delivered: the usual one, if the nodes have this syntax there."""
        return max(self.since, USUAL if self.before is None else min(USUAL, self.before - 1))


@dataclass(frozen=True)
class Rewrite:
    """A rewrite that optimizers make.

    Attributes:
        name: the name of the rewrite.
        operator: the operator to whose slice its models belong: `Conv`, or with its domain `ai.onnx.ml/LabelEncoder`.
        known_to: the tools that make it, with their names for it: `onnxoptimizer: fuse_bn_into_conv`.
        models: models with the pattern, and models that only resemble it.
    """

    name: str
    operator: str
    known_to: tuple[str, ...]
    models: tuple[Model, ...]


def changed(nodes: str, *changes: str) -> str:
    """Return nodes with texts replaced by others: each text is followed by its replacement."""
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        assert old in nodes  # noqa: S101 - a change without an effect is a mistake here
        nodes = nodes.replace(old, new)
    return nodes


def taken(nodes: str, known: Mapping[str, Array]) -> dict[str, Array]:
    """Return those of some values that nodes take, by name."""
    words = nodes.replace("(", " ").replace(")", " ").replace(",", " ").split()
    return {name: value for name, value in known.items() if name in words}


def numbers(*shape: int, seed: int = 0, dtype: str = "float32") -> Array:
    """Return unordered multiples of 1/8 from -2 to 2, which every floating type can represent."""
    return np.asarray((_mixed(shape, seed) % 33 - 16) / 8).astype(dtype)


def distinct(*shape: int, seed: int = 0, dtype: str = "float32") -> Array:
    """Return unordered distinct multiples of 1/8 around zero, so only one of them is the largest."""
    mixed = _mixed(shape, seed)
    return ((mixed.reshape(-1).argsort().argsort().reshape(shape) - mixed.size // 2) / 8).astype(dtype)


def _mixed(shape: tuple[int, ...], seed: int) -> Array:
    """Return unordered large integers, in which rows are not multiples or shifts of each other."""
    places = (np.arange(int(np.prod(shape)), dtype=np.int64) + seed * 1009 + 1) * 2654435761 % 2**32
    return (places ^ places >> 15).reshape(shape) * 40503 % 2**31 >> 7


def positive(*shape: int, seed: int = 0, dtype: str = "float32") -> Array:
    """Return numbers from 0.25 to 4."""
    return np.asarray(np.abs(numbers(*shape, seed=seed)) * 1.875 + 0.25).astype(dtype)


def integers(*values: int, dtype: str = "int64") -> Array:
    """Return a list of integers, for axes, shapes and indices."""
    return np.array(values, dtype)


def scalar(value: float, dtype: str = "float32") -> Array:
    """Return a tensor without axes."""
    return np.array(value, dtype)


def listed(*values: float, dtype: str = "float32") -> Array:
    """Return a list of exactly these numbers, for infinities, NaN, and both zeros."""
    return np.array(values, dtype)
