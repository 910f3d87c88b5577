# SPDX-License-Identifier: Apache-2.0
"""onnxsim.simplify, without its own check by a runtime; or some passes, as in onnxsim[only:constant_folding].

The option `every` adds the passes that onnxsim does not run by default. Each of them can be chosen: onnxsim[only:NAME].

It takes an initializer that is an input too for a constant, and says so: what cases @overridden show of it is known.
Its `mutable_initializer` does not keep it from that (0.8.1), `initializers_as_constants=False` does, with all weights.
"""

from __future__ import annotations

from importlib import metadata
from typing import Any

import onnx
import onnxsim

from onnx_conformance.backends.option import Passes, passes

try:
    from onnxsim.onnxsim_cpp2py_export import _list_optimizers

    OPTIMIZERS = tuple(_list_optimizers())
except ImportError:  # An older release does not list them.
    OPTIMIZERS = ()
try:
    from onnxsim.onnxsim_cpp2py_export import _list_other_optimizers

    OTHERS = tuple(_list_other_optimizers())
except ImportError:
    OTHERS = ()
EVERY = "every"
WORDS = ("", EVERY)
FOLDING, INFERENCE = "constant_folding", "shape_inference"
REPRO = """\
import onnxsim

model, _ = onnxsim.simplify(model{arguments})
"""


def _passes() -> Passes:
    """Return the passes that the option chooses."""
    default = (INFERENCE, FOLDING, *OPTIMIZERS)
    every = passes(default, OTHERS, WORDS).word == EVERY
    return passes((*default, *OTHERS) if every else default, OTHERS, WORDS)


def _arguments() -> dict[str, Any]:
    """Return the arguments that leave out the passes that are not chosen."""
    selected = _passes()
    left_out = selected.left_out
    skipped = [name for name in left_out if name in OPTIMIZERS]
    said = {
        "skip_shape_inference": INFERENCE in left_out,
        "skip_constant_folding": FOLDING in left_out,
        "skipped_optimizers": skipped,
        "extra_optimizers": [name for name in selected.chosen if name in OTHERS],
    }
    return {name: value for name, value in said.items() if value}


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    arguments = "".join(f", {name}={value!r}" for name, value in _arguments().items())
    return {
        "runtime": "onnxsim",
        "version": metadata.version("onnxsim"),
        "onnx": onnx.__version__,
        "passes": list(_passes().chosen),
        "repro": REPRO.format(arguments=arguments),
    }


def transform(model: bytes) -> bytes:
    """Return the optimized model."""
    return bytes(onnxsim.simplify(onnx.load_from_string(model), **_arguments())[0].SerializeToString())
