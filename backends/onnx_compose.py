# SPDX-License-Identifier: Apache-2.0
"""onnx.compose.add_prefix: every name of a model but those of inputs and outputs gets a prefix.

Programs that merge models call it first, so that the names of the models differ.
"""

from __future__ import annotations

from typing import Any

import onnx
import onnx.compose

FORK = True
REPRO = """\
import onnx.compose

model = onnx.compose.add_prefix(model, "a/", rename_inputs=False, rename_outputs=False)
"""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {"runtime": "onnx.compose.add_prefix", "version": onnx.__version__, "onnx": onnx.__version__, "repro": REPRO}


def transform(model: bytes) -> bytes:
    """Return the model with a prefix in its names."""
    made = onnx.compose.add_prefix(onnx.load_from_string(model), "a/", rename_inputs=False, rename_outputs=False)
    return bytes(made.SerializeToString())
