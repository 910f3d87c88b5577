# SPDX-License-Identifier: Apache-2.0
"""onnxoptimizer.optimize: all fusions and eliminations, or some, as in onnxoptimizer[only:fuse_bn_into_conv]."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import onnx
import onnxoptimizer

from onnx_conformance.backends.option import Passes, passes

FORK = True
REPRO = """\
import onnxoptimizer

model = onnxoptimizer.optimize(model{passes})
"""


def _chosen() -> Passes:
    return passes(onnxoptimizer.get_fuse_and_elimination_passes(), onnxoptimizer.get_available_passes())


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    chosen = _chosen()
    return {
        "runtime": "onnxoptimizer",
        "version": metadata.version("onnxoptimizer"),
        "onnx": onnx.__version__,
        "passes": list(chosen.chosen),
        "repro": REPRO.format(passes="" if chosen.by_default else f", {list(chosen.chosen)}"),
    }


def transform(model: bytes) -> bytes:
    """Return the optimized model."""
    chosen = _chosen()
    names = None if chosen.by_default else list(chosen.chosen)
    return bytes(onnxoptimizer.optimize(onnx.load_from_string(model), names).SerializeToString())
