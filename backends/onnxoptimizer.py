"""onnxoptimizer.optimize: all fusions and eliminations, or one pass, as in onnxoptimizer[fuse_bn_into_conv]."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import onnx
import onnxoptimizer

from backends.option import option

FORK = True
OPTIONS = ("all", *onnxoptimizer.get_available_passes())
REPRO = """\
import onnxoptimizer

model = onnxoptimizer.optimize(model{passes})
"""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    chosen = option(OPTIONS)
    return {
        "runtime": "onnxoptimizer" if chosen == "all" else f"onnxoptimizer, {chosen}",
        "version": metadata.version("onnxoptimizer"),
        "onnx": onnx.__version__,
        "repro": REPRO.format(passes="" if chosen == "all" else f', ["{chosen}"]'),
    }


def transform(model: bytes) -> bytes:
    """Return the optimized model."""
    chosen = option(OPTIONS)
    passes = None if chosen == "all" else [chosen]
    return bytes(onnxoptimizer.optimize(onnx.load_from_string(model), passes).SerializeToString())
