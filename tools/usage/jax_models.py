# SPDX-License-Identifier: Apache-2.0
"""Small jax functions, and their export by jax2onnx: `python -m tools.usage.jax_models FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
import onnx
from jax import lax
from jax2onnx import to_onnx

if TYPE_CHECKING:
    from collections.abc import Callable

RANDOM = np.random.RandomState(0)
W = RANDOM.rand(16, 16).astype(np.float32)
KERNEL = RANDOM.rand(3, 3, 4, 8).astype(np.float32)


def perceptron(x: Any) -> Any:
    """Two dense layers with normalization."""
    x = jax.nn.gelu(x @ W)
    x = (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-6)
    return jax.nn.softmax(x @ W, axis=-1)


def convolution(x: Any) -> Any:
    """A convolution in the layout of jax, and a pooling."""
    x = lax.conv_general_dilated(x, KERNEL, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return lax.reduce_window(jax.nn.relu(x), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def attention(q: Any, k: Any, v: Any) -> Any:
    """A causal attention."""
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / np.float32(8) ** 0.5
    scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e9)
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, -1), v)


def recurrence(x: Any) -> Any:
    """A recurrence over time."""
    return lax.scan(lambda h, row: (jnp.tanh(h @ W + row),) * 2, jnp.zeros(16), x)[1]


def choice(x: Any) -> Any:
    """Indices, sorting and comparisons."""
    order = jnp.argsort(x, axis=-1)
    best = jnp.take_along_axis(x, order, axis=-1)[:, -3:]
    return jnp.concatenate(
        [jnp.clip(best, 0.1, 0.9), jnp.cumsum(best, axis=-1), jnp.where(best > 0.5, best, -best)], -1
    )


FUNCTIONS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "perceptron": (perceptron, [(5, 16)]),
    "convolution": (convolution, [(1, 8, 8, 4)]),
    "attention": (attention, [(1, 2, 6, 8)] * 3),
    "recurrence": (recurrence, [(7, 16)]),
    "choice": (choice, [(3, 9)]),
}
"""The functions with the shapes of their inputs."""


if __name__ == "__main__":
    for name, (function, shapes) in FUNCTIONS.items():
        try:
            model = to_onnx(function, inputs=shapes)
            onnx.save(model, Path(sys.argv[1]) / f"jax.{name}.onnx")
        except Exception as error:  # noqa: BLE001 - the exporter lacks some primitives
            sys.stderr.write(f"jax.{name}: {type(error).__name__}: {str(error).strip().splitlines()[0][:150]}\n")
