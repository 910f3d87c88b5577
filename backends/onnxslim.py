# SPDX-License-Identifier: Apache-2.0
"""onnxslim.slim; its passes can be chosen, as in onnxslim[without:FusionGemm]."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import onnx
import onnxslim

from onnx_conformance.backends.option import passes

try:
    import onnxslim.core  # Registers the patterns.
    from onnxslim.core.pattern.registry import DEFAULT_FUSION_PATTERNS

    PATTERNS = tuple(DEFAULT_FUSION_PATTERNS)
except ImportError:  # An older release has them elsewhere.
    PATTERNS = ()
OPT_OUTS = (("OldOpsetError", r"", "opset below 7"),)
OLDEST = 7
INFERENCE = "shape_inference"
OPTIMIZATIONS = ("constant_folding", "dead_node_elimination", "subexpression_elimination", "weight_tying")
FUSION = "graph_fusion"
"""The optimization that has the patterns."""
REPRO = """\
import onnxslim

model = onnxslim.slim(model{arguments})
"""


class OldOpsetError(Exception):
    """It warns that it takes models of opset 7 and newer ones only, and fails."""


def _arguments() -> dict[str, Any]:
    """Return the arguments that leave out the passes that are not chosen."""
    left_out = passes((INFERENCE, *OPTIMIZATIONS, *PATTERNS)).left_out
    patterns = [name for name in PATTERNS if name in left_out]
    no_fusion = [FUSION] if patterns and len(patterns) == len(PATTERNS) else []
    said = {
        "no_shape_infer": INFERENCE in left_out,
        "skip_optimizations": [name for name in OPTIMIZATIONS if name in left_out] + no_fusion,
        "skip_fusion_patterns": [] if no_fusion else patterns,
    }
    return {name: value for name, value in said.items() if value}


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    arguments = "".join(f", {name}={value!r}" for name, value in _arguments().items())
    return {
        "runtime": "onnxslim",
        "version": metadata.version("onnxslim"),
        "onnx": onnx.__version__,
        "passes": list(passes((INFERENCE, *OPTIMIZATIONS, *PATTERNS)).chosen),
        "repro": REPRO.format(arguments=arguments),
    }


def transform(model: bytes) -> bytes:
    """Return the optimized model."""
    proto = onnx.load_from_string(model)
    try:
        return bytes(onnxslim.slim(proto, **_arguments()).SerializeToString())
    except AttributeError:
        if all(item.version < OLDEST for item in proto.opset_import if item.domain in {"", "ai.onnx"}):
            raise OldOpsetError from None
        raise
