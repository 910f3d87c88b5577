"""The words of the files beside: a rewrite, its models, and numbers for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

Array = np.ndarray[Any, Any]

USUAL = 18
"""The opset of ai.onnx that exporters write by default today (torch.onnx 2.9)."""


@dataclass(frozen=True)
class Model:
    """A model that has the pattern of a rewrite, or only resembles it.

    Attributes:
        name: says in what it differs from the others.
        nodes: in ONNX's text syntax, a line each.
        inputs: of the graph, by name.
        constants: what exporters write as initializers, by name.
        outputs: of the graph.
        since: the first opset in which the nodes are written so.
        before: the first opset in which they no longer are; None: they still are.
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
        """The opset in which it is delivered: the usual one, if the nodes are written so there."""
        return max(self.since, USUAL if self.before is None else min(USUAL, self.before - 1))


@dataclass(frozen=True)
class Rewrite:
    """A rewrite that optimizers make.

    Attributes:
        name: of the rewrite.
        operator: the operator in whose slice its models are: `Conv`, or with its domain `ai.onnx.ml/LabelEncoder`.
        known_to: tools that make it, each with its own name of it: `onnxoptimizer: fuse_bn_into_conv`.
        models: those that have the pattern, and those that only resemble it.
    """

    name: str
    operator: str
    known_to: tuple[str, ...]
    models: tuple[Model, ...]


def numbers(*shape: int, seed: int = 0, dtype: str = "float32") -> Array:
    """Return numbers from -2 to 2 in eighths, in no order, that every floating type holds."""
    return np.asarray((_mixed(shape, seed) % 33 - 16) / 8).astype(dtype)


def distinct(*shape: int, seed: int = 0, dtype: str = "float32") -> Array:
    """Return different numbers in eighths, around zero, in no order: no two of them are the largest."""
    mixed = _mixed(shape, seed)
    return ((mixed.reshape(-1).argsort().argsort().reshape(shape) - mixed.size // 2) / 8).astype(dtype)


def _mixed(shape: tuple[int, ...], seed: int) -> Array:
    """Return large integers in no order: rows are no multiples or shifts of each other."""
    places = (np.arange(int(np.prod(shape)), dtype=np.int64) + seed * 1009 + 1) * 2654435761 % 2**32
    return (places ^ places >> 15).reshape(shape) * 40503 % 2**31 >> 7


def positive(*shape: int, seed: int = 0, dtype: str = "float32") -> Array:
    """Return numbers from 0.25 to 4."""
    return np.asarray(np.abs(numbers(*shape, seed=seed)) * 1.875 + 0.25).astype(dtype)


def integers(*values: int, dtype: str = "int64") -> Array:
    """Return a list of integers, as axes, shapes and indices are."""
    return np.array(values, dtype)


def scalar(value: float, dtype: str = "float32") -> Array:
    """Return a tensor without axes."""
    return np.array(value, dtype)


def listed(*values: float, dtype: str = "float32") -> Array:
    """Return a list of numbers, as they are written: for infinities, NaN, and both zeros."""
    return np.array(values, dtype)
