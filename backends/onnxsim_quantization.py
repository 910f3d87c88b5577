# SPDX-License-Identifier: Apache-2.0
"""The quantizers of onnxsim. The option is the name of its function without `quantize_`."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import onnx
import onnxsim

from onnx_conformance.backends.option import option

CALIBRATED = ("static", "static_int16", "qoperator", "qoperator_gemm", "qoperator_elementwise", "qoperator_pool")
"""Functions that get data for the calibration."""
OTHERS = (
    "dynamic", "weight_only", "weight_only_int16", "weight_only_int4", "weight_only_int8_block",
    "weight_only_matmul_nbits",
)  # fmt: skip
OPT_OUTS = ()


def _call() -> tuple[str, bool]:
    """Return the name of the function, and whether it calibrates."""
    chosen = option((*CALIBRATED, *OTHERS))
    return f"quantize_{chosen}", chosen in CALIBRATED


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    name, calibrates = _call()
    data = ", calibration_data=[dict(inputs)]" if calibrates else ""
    return {
        "runtime": "onnxsim's quantizers",
        "version": metadata.version("onnxsim"),
        "onnx": onnx.__version__,
        "repro": f"import onnxsim\n\nmodel = onnxsim.{name}(model{data})\n",
    }


def quantize(model: bytes, inputs: dict[str, Any]) -> bytes:
    """Return the quantized model."""
    name, calibrates = _call()
    data = {"calibration_data": [dict(inputs)]} if calibrates else {}
    return bytes(getattr(onnxsim, name)(onnx.load_from_string(model), **data).SerializeToString())
