# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime's quantizers: onnxruntime.quantization. The option is the format and the types."""

from __future__ import annotations

import enum
import logging
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnx
import onnxruntime
from onnxruntime import quantization
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType

from onnx_conformance.backends import calibration
from onnx_conformance.backends.option import option

if TYPE_CHECKING:
    from collections.abc import Mapping

logging.disable(logging.WARNING)  # It advises to preprocess each model.


@dataclass(frozen=True)
class Setting:
    """The call that an option selects.

    Attributes:
        call: the lines that quantize `model`.
        arguments: of quantize_static or quantize_dynamic.
        bits: of the numbers of a weight-only quantization; 0: it is another one.
    """

    call: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    bits: int = 0


def _text(value: object) -> str:
    """Return the Python text of an argument."""
    return f"{type(value).__name__}.{value.name}" if isinstance(value, enum.Enum) else repr(value)


def _static(format_: QuantFormat, activations: QuantType, weights: QuantType, **more: Any) -> Setting:  # noqa: ANN401
    arguments = {"quant_format": format_, "activation_type": activations, "weight_type": weights, **more}
    words = "".join(f", {name}={_text(value)}" for name, value in arguments.items())
    return Setting(STATIC.format(arguments=words), arguments)


def _dynamic(**arguments: Any) -> Setting:  # noqa: ANN401 - arguments of quantize_dynamic
    words = "".join(f", {name}={_text(value)}" for name, value in arguments.items())
    return Setting(DYNAMIC.format(arguments=words), arguments)


IMPORTS = """\
import onnx
from onnxruntime import quantization
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType
"""
STATIC = f"""{IMPORTS}

class Reader(CalibrationDataReader):
    rows = [dict(inputs)]

    def get_next(self):
        return self.rows.pop() if self.rows else None


quantization.quantize_static(model, "quantized.onnx", Reader(){{arguments}})
model = onnx.load("quantized.onnx")
"""
DYNAMIC = f"""{IMPORTS}
quantization.quantize_dynamic(model, "quantized.onnx"{{arguments}})
model = onnx.load("quantized.onnx")
"""
N_BITS = """\
from onnxruntime.quantization.matmul_nbits_quantizer import DefaultWeightOnlyQuantConfig, MatMulNBitsQuantizer

config = DefaultWeightOnlyQuantConfig(block_size=32, bits={bits})
quantizer = MatMulNBitsQuantizer(model, bits={bits}, algo_config=config)
quantizer.process()
model = quantizer.model.model
"""
S8, U8, S16, U16, F8 = QuantType.QInt8, QuantType.QUInt8, QuantType.QInt16, QuantType.QUInt16, QuantType.QFLOAT8E4M3FN
SETTINGS = {
    "qdq": _static(QuantFormat.QDQ, S8, S8),
    "qdq_uint8": _static(QuantFormat.QDQ, U8, U8),
    "qdq_per_channel": _static(QuantFormat.QDQ, U8, S8, per_channel=True),
    "qdq_int16": _static(QuantFormat.QDQ, S16, S8),
    "qdq_uint16": _static(QuantFormat.QDQ, U16, S8),
    "qdq_int4": _static(QuantFormat.QDQ, U8, QuantType.QInt4),
    "qdq_float8": _static(QuantFormat.QDQ, F8, F8, calibrate_method=quantization.CalibrationMethod.Distribution),
    "qoperator": _static(QuantFormat.QOperator, U8, S8),
    "qoperator_uint8": _static(QuantFormat.QOperator, U8, U8),
    "qoperator_per_channel": _static(QuantFormat.QOperator, U8, S8, per_channel=True),
    "dynamic": _dynamic(),
    "dynamic_uint8": _dynamic(weight_type=U8),
    "dynamic_per_channel": _dynamic(per_channel=True),
    "matmul_4bits": Setting(N_BITS.format(bits=4), bits=4),
    "matmul_8bits": Setting(N_BITS.format(bits=8), bits=8),
}
"""By option; the default is first."""
OPT_OUTS = (
    calibration.NO_KERNEL,
    calibration.OLD_OPSET,
    ("ValueError", r"[Oo]pset|opset_version", "opset below 10"),
    ("ValueError", r"Failed to find proper ai.onnx domain", "no opset of ai.onnx"),
)


class _Reader(calibration.OneRow, CalibrationDataReader):  # type: ignore[misc, unused-ignore]
    """Reads one set of inputs."""


def _setting() -> Setting:
    return SETTINGS[option(tuple(SETTINGS))]


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {
        "runtime": "onnxruntime.quantization",
        "version": onnxruntime.__version__,
        "onnx": onnx.__version__,
        "repro": _setting().call,
    }


def quantize(model: bytes, inputs: dict[str, Any]) -> bytes:
    """Return the quantized model.

    Raises:
        OldOpsetError: the model has an opset without the operators of quantized models.
    """
    proto, setting = calibration.loaded(model), _setting()
    if setting.bits:
        return _in_blocks(proto, setting.bits)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "quantized.onnx")
        if "quant_format" in setting.arguments:
            quantization.quantize_static(proto, str(path), _Reader(inputs), **setting.arguments)
        else:
            quantization.quantize_dynamic(proto, str(path), **setting.arguments)
        return path.read_bytes()


def _in_blocks(proto: onnx.ModelProto, bits: int) -> bytes:
    """Return the model with the constant matrices of its products in blocks of 32 short numbers."""
    from onnxruntime.quantization import matmul_nbits_quantizer as of_blocks  # noqa: PLC0415 - not in old releases

    config = of_blocks.DefaultWeightOnlyQuantConfig(block_size=32, bits=bits)
    quantizer = of_blocks.MatMulNBitsQuantizer(proto, bits=bits, algo_config=config)
    quantizer.process()
    return bytes(quantizer.model.model.SerializeToString())
