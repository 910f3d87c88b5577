# SPDX-License-Identifier: Apache-2.0
"""onnxsim.simplify, without its own check by a runtime; or some passes, as in onnxsim[only:constant_folding].

It takes an initializer that is an input too for a constant, and says so: what cases @overridden show of it is known.
Its `mutable_initializer` does not keep it from that (0.8.1), `initializers_as_constants=False` does, with all weights.
"""

from __future__ import annotations

from importlib import metadata
from typing import Any

import onnx
import onnxsim

from onnx_conformance.backends.option import passes

try:
    from onnxsim.onnxsim_cpp2py_export import _list_optimizers

    OPTIMIZERS = tuple(_list_optimizers())
except ImportError:  # An older release does not list them.
    OPTIMIZERS = ()
FOLDING, INFERENCE = "constant_folding", "shape_inference"
REPRO = """\
import onnxsim

model, _ = onnxsim.simplify(model{arguments})
"""


def _arguments() -> dict[str, Any]:
    """Return the arguments that leave out the passes that are not chosen."""
    left_out = passes((INFERENCE, FOLDING, *OPTIMIZERS)).left_out
    skipped = [name for name in left_out if name in OPTIMIZERS]
    said = {
        "skip_shape_inference": INFERENCE in left_out,
        "skip_constant_folding": FOLDING in left_out,
        "skipped_optimizers": skipped,
    }
    return {name: value for name, value in said.items() if value}


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    arguments = "".join(f", {name}={value!r}" for name, value in _arguments().items())
    return {
        "runtime": "onnxsim",
        "version": metadata.version("onnxsim"),
        "onnx": onnx.__version__,
        "passes": list(passes((INFERENCE, FOLDING, *OPTIMIZERS)).chosen),
        "repro": REPRO.format(arguments=arguments),
    }


def transform(model: bytes) -> bytes:
    """Return the optimized model."""
    return bytes(onnxsim.simplify(onnx.load_from_string(model), **_arguments())[0].SerializeToString())
