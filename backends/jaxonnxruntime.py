# SPDX-License-Identifier: Apache-2.0
"""jaxonnxruntime, which runs the nodes of a graph as JAX functions, on the CPU.

It distinguishes the versions of its operators and raises an error where it lacks one. By default it takes shapes, axes
and the like from initializers only, because a graph compiled by `jax.jit` would be wrong for other values; here every
graph runs once, so its own switch for that (`jaxort_only_allow_initializers_as_static_args`) is off. 64-bit types are
on in JAX.

XLA may start threads that no flag prevents; `jaxonnxruntime.toml` keeps its work on one.

Failures and their causes (each is the runtime's):

- Clip calls a function of JAX with an argument that JAX has removed.
- ReduceSum widens 32-bit integers to 64 bits, as JAX does where 64-bit types are on; without them 64-bit ones are lost.
- XLA takes subnormal numbers for zero.
- Cast to float8 returns NaN or an infinity, where the text saturates.
- Softmax below opset 13 works along one axis; Div of integers rounds down; Add-1 and Add-6 ignore `axis`; Sum does not
  broadcast; NonZero needs a size that ONNX does not have.
- Subgraphs of If and Loop do not get their inputs ("Fail to get the input tensor"); an input left out is an
  AttributeError of None; forbidden types and attributes are not looked at.
"""

from __future__ import annotations

import itertools
from importlib import metadata
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
import onnx
from jaxonnxruntime import backend, config

from onnx_conformance.backends import protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

OPT_OUTS = (
    ("NotImplementedError", r"^\S* is not implemented\.$", "no such operator"),
    ("NotImplementedError", r" version \d+ is not implemented\. Only have those versions", "no such operator version"),
    ("NotImplementedError", r"(was|is) not implemented|do not support STRING", "no kernel"),
    ("ValueError", r"ceil_mode = 1 is not implement yet|only support ceil_mode = 0", "no kernel"),
    ("ValueError", r"^onnx_cast cannot support from_type", "no kernel"),
    ("NoTypeError", r"", "no way to pass this type"),
)

REPRO = """\
import jax
import jaxonnxruntime.backend

jax.config.update("jax_enable_x64", True)
jaxonnxruntime.config.update("jaxort_only_allow_initializers_as_static_args", False)
outputs = jaxonnxruntime.backend.prepare(model).run(inputs)
"""

KEPT = 500
"""Cases after which JAX's caches of compiled functions are emptied; they would grow as long as the process lasts."""

jax.config.update("jax_enable_x64", True)  # noqa: FBT003 - JAX's own signature
jax.config.update("jax_platforms", "cpu")
config.update("jaxort_only_allow_initializers_as_static_args", False)  # noqa: FBT003 - the same
jax.devices()  # Opened here, so that this takes no time of a case.

CASES = itertools.count(1)


class NoTypeError(Exception):
    """JAX has no arrays of this type."""


def _takes(row: protocol.ElementType) -> bool:
    """Tell whether JAX has arrays of an element type."""
    try:
        array = np.zeros(1, protocol.numpy_dtype(row.number))
        return bool(jax.numpy.asarray(array).dtype == array.dtype)
    except (TypeError, ValueError, RuntimeError, protocol.ElementTypeError):
        return False


TYPES = tuple(row.name for row in protocol.ELEMENT_TYPES if _takes(row))


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {
        "runtime": "jaxonnxruntime",
        "version": metadata.version("jaxonnxruntime"),
        "repro": REPRO,
        "types": list(TYPES),
        "containers": ["sequence", "optional"],
    }


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the values of `outputs`, in that order."""
    if next(CASES) % KEPT == 0:
        jax.clear_caches()
    for value in inputs.values():
        _check(value)
    proto = onnx.load_from_string(model)
    answers = backend.prepare(proto).run(inputs)
    named = dict(zip((value.name for value in proto.graph.output), answers, strict=True))
    return [_to_numpy(named[name]) for name in outputs]


def _check(value: Any) -> None:  # noqa: ANN401 - any value
    if isinstance(value, np.ndarray):
        row = protocol.element_type(value.dtype)
        if row.name not in TYPES:
            raise NoTypeError(f"JAX has no arrays of {row.name}")
    elif value is not None:
        for item in value.values() if isinstance(value, dict) else value:
            _check(item)


def _to_numpy(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, list | tuple):
        return [_to_numpy(item) for item in value]
    return value if value is None else np.asarray(value)
