# SPDX-License-Identifier: Apache-2.0
"""AMD Quark for ONNX models: quark.onnx.ModelQuantizer. The option is the name of a configuration, in small letters.

The options are the configurations of Quark whose ranges contain all numbers of the calibration, and those that need
none. The others find ranges with a percentile or an error, and the judge expects ranges that contain all numbers:
https://quark.docs.amd.com/latest/onnx/user_guide_config_description.html.

`QConfig.get_default_config` returns the same object each time, and the quantization of a float16 model changes it.
Then Quark fails on the next model of float. The adapter copies the object for each model.

Quark compiles its own operators when it is imported for the first time, which needs a compiler of C++.
"""

from __future__ import annotations

import contextlib
import copy
import logging
import tempfile
from importlib import metadata
from typing import Any

import onnx
from onnxruntime.quantization import CalibrationDataReader
from quark.onnx import ModelQuantizer, QConfig

from onnx_conformance.backends import calibration
from onnx_conformance.backends.option import option

logging.disable(logging.WARNING)  # It prints the configuration of each model.
OPTIONS = (
    "int8_cnn_default",
    "int8_transformer_default",
    "int16_cnn_default",
    "int16_transformer_default",
    "a8w8",
    "a16w8",
    "uint8_dynamic_quant",
    "matmul_nbits",
)
"""The first is the default."""
OPT_OUTS = (
    ("NotQuantizedError", r"Could not find an implementation", "no kernel to calibrate with"),
    ("ValueError", r"Could not find an implementation", "no kernel to calibrate with"),
    ("ValueError", r"Unsupported model IR version", "newer IR version than its ONNX Runtime knows"),
    calibration.OLD_OPSET,
)
REPRO = """\
from onnxruntime.quantization import CalibrationDataReader
from quark.onnx import ModelQuantizer, QConfig


class Reader(CalibrationDataReader):
    def __init__(self):
        self.rewind()

    def rewind(self):
        self.rows = [dict(inputs)]

    def get_next(self):
        return self.rows.pop() if self.rows else None


model = ModelQuantizer(QConfig.get_default_config("{name}")).quantize_model(model, None, Reader())
"""


class NotQuantizedError(Exception):
    """Quark has logged an error, and returned no model."""


class _Errors(logging.Handler):
    """Keeps the errors that Quark logs."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a message."""
        self.messages.append(record.getMessage())


LOGGED = _Errors()
logging.getLogger("quark.onnx.quantization.quantize_screen").addHandler(LOGGED)


class _Reader(calibration.OneRow, CalibrationDataReader):  # type: ignore[misc, unused-ignore]
    """Reads one set of inputs."""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {
        "runtime": "quark.onnx",
        "version": metadata.version("amd-quark"),
        "onnx": onnx.__version__,
        "repro": REPRO.format(name=option(OPTIONS).upper()),
    }


def quantize(model: bytes, inputs: dict[str, Any]) -> bytes:
    """Return the quantized model.

    Raises:
        OldOpsetError: the model has an opset without the operators of quantized models.
        NotQuantizedError: Quark returns none.
    """
    proto, chosen = calibration.loaded(model), option(OPTIONS)
    LOGGED.messages.clear()
    quantizer = ModelQuantizer(copy.deepcopy(QConfig.get_default_config(chosen.upper())))
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # It writes a table to the current folder.
        made = quantizer.quantize_model(proto, None, _Reader(inputs))
    if made is None:
        raise NotQuantizedError("; ".join(LOGGED.messages) or "no model, and no error")
    return bytes(made.SerializeToString())
