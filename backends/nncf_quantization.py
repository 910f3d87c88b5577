# SPDX-License-Identifier: Apache-2.0
"""NNCF: nncf.quantize for ONNX models. The option is the preset, or the kind of a compression of the weights.

The bias correction is switched off, because it changes constants by more than rounding: it adds the mean error of the
outputs to the bias.
"""

from __future__ import annotations

import logging
from importlib import metadata
from typing import Any

import nncf
import onnx

from onnx_conformance.backends.option import option

logging.getLogger("nncf").setLevel(logging.ERROR)
PRESETS = {"performance": nncf.QuantizationPreset.PERFORMANCE, "mixed": nncf.QuantizationPreset.MIXED}
COMPRESSIONS = {
    "weights_int8": nncf.CompressWeightsMode.INT8_ASYM,
    "weights_int8_symmetric": nncf.CompressWeightsMode.INT8_SYM,
    "weights_int4": nncf.CompressWeightsMode.INT4_ASYM,
    "weights_int4_symmetric": nncf.CompressWeightsMode.INT4_SYM,
}
OPT_OUTS = (("UnsupportedModelError", r"", "this model"), ("ValidationError", r"opset|Opset", "this opset"))
QUANTIZE = """\
data = nncf.Dataset([dict(inputs)])
model = nncf.quantize(model, data, preset=nncf.{preset}, subset_size=1, advanced_parameters=parameters)"""
REPRO = """\
import nncf

{call}
"""


def _chosen() -> str:
    return option((*PRESETS, *COMPRESSIONS))


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    chosen = _chosen()
    call = (
        f"parameters = nncf.AdvancedQuantizationParameters(disable_bias_correction=True)\n{QUANTIZE}".format(
            preset=PRESETS[chosen]
        )
        if chosen in PRESETS
        else f"model = nncf.compress_weights(model, mode=nncf.{COMPRESSIONS[chosen]})"
    )
    return {
        "runtime": "nncf",
        "version": metadata.version("nncf"),
        "onnx": onnx.__version__,
        "repro": REPRO.format(call=call),
    }


def quantize(model: bytes, inputs: dict[str, Any]) -> bytes:
    """Return the quantized model."""
    proto, chosen = onnx.load_from_string(model), _chosen()
    if chosen in PRESETS:
        parameters = nncf.AdvancedQuantizationParameters(disable_bias_correction=True)
        data = nncf.Dataset([dict(inputs)])
        made = nncf.quantize(proto, data, preset=PRESETS[chosen], subset_size=1, advanced_parameters=parameters)
    else:
        made = nncf.compress_weights(proto, mode=COMPRESSIONS[chosen])
    return bytes(made.SerializeToString())
