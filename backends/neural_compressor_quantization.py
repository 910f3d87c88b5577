# SPDX-License-Identifier: Apache-2.0
"""Neural Compressor for ONNX models: onnx_neural_compressor.quantization. The option is the format.

This package contains the functions for ONNX that neural-compressor had up to version 2.6. Newer versions of
neural-compressor quantize only models of PyTorch, TensorFlow and JAX: https://github.com/onnx/neural-compressor.

`quantize` first lets ONNX Runtime optimize the model, which is its default. It gets a file, because it cannot optimize
a model in memory.
"""

from __future__ import annotations

import logging
import tempfile
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnx
from onnx_neural_compressor import data_reader, quantization
from onnx_neural_compressor.quantization import QuantFormat, config, matmul_4bits_quantizer

from onnx_conformance.backends import calibration
from onnx_conformance.backends.option import option

if TYPE_CHECKING:
    from collections.abc import Mapping

logging.disable(logging.WARNING)  # It prints a table for each model, and advice for each configuration.
STATIC = {
    "qdq": {"quant_format": QuantFormat.QDQ},
    "qdq_per_channel": {"quant_format": QuantFormat.QDQ, "per_channel": True},
    "qoperator": {"quant_format": QuantFormat.QOperator},
    "qoperator_per_channel": {"quant_format": QuantFormat.QOperator, "per_channel": True},
}
"""By option, the arguments of a static quantization; the first option is the default."""
OPTIONS = (*STATIC, "smooth", "dynamic", "matmul_4bits")
OPT_OUTS = (calibration.NO_KERNEL, calibration.OLD_OPSET)
REPRO = """\
import onnx
from onnx_neural_compressor import data_reader, quantization
from onnx_neural_compressor.quantization import QuantFormat, config


class Reader(data_reader.CalibrationDataReader):
    def __init__(self):
        self.rewind()

    def rewind(self):
        self.rows = [dict(inputs)]

    def get_next(self):
        return self.rows.pop() if self.rows else None


onnx.save(model, "original.onnx")
quantization.quantize("original.onnx", "quantized.onnx", {config})
model = onnx.load("quantized.onnx")
"""
REPRO_4BITS = """\
from onnx_neural_compressor.quantization.matmul_4bits_quantizer import MatMul4BitsQuantizer

quantizer = MatMul4BitsQuantizer(model)
quantizer.process()
model = quantizer.model
"""


class _Reader(calibration.OneRow, data_reader.CalibrationDataReader):  # type: ignore[misc, unused-ignore]
    """Reads one set of inputs."""


def _config(chosen: str, inputs: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a configuration
    if chosen == "dynamic":
        return config.DynamicQuantConfig()
    if chosen == "smooth":
        return config.SmoothQuantConfig(calibration_data_reader=_Reader(inputs))
    return config.StaticQuantConfig(calibration_data_reader=_Reader(inputs), **STATIC[chosen])


def _call(chosen: str) -> str:
    """Return the lines of Python that quantize `model`."""
    if chosen == "matmul_4bits":
        return REPRO_4BITS
    if chosen == "dynamic":
        return REPRO.format(config="config.DynamicQuantConfig()")
    name = "SmoothQuantConfig" if chosen == "smooth" else "StaticQuantConfig"
    words = "".join(f", {key}={value}" for key, value in STATIC.get(chosen, {}).items())
    return REPRO.format(config=f"config.{name}(Reader(){words})")


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {
        "runtime": "onnx-neural-compressor",
        "version": metadata.version("onnx-neural-compressor"),
        "onnx": onnx.__version__,
        "repro": _call(option(OPTIONS)),
    }


def quantize(model: bytes, inputs: dict[str, Any]) -> bytes:
    """Return the quantized model.

    Raises:
        OldOpsetError: the model has an opset without the operators of quantized models.
    """
    proto, chosen = calibration.loaded(model), option(OPTIONS)
    if chosen == "matmul_4bits":
        quantizer = matmul_4bits_quantizer.MatMul4BitsQuantizer(proto)
        quantizer.process()
        made = quantizer.model
        return bytes(getattr(made, "model", made).SerializeToString())
    with tempfile.TemporaryDirectory() as folder:
        original, quantized = Path(folder, "original.onnx"), Path(folder, "quantized.onnx")
        original.write_bytes(model)
        quantization.quantize(str(original), str(quantized), _config(chosen, inputs))
        return bytes(onnx.load(quantized).SerializeToString())  # Its constants are in another file.
