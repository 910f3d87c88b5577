# SPDX-License-Identifier: Apache-2.0
"""onnxscript.version_converter, which converts upwards; the option is the opset, without it the newest."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import onnx
import onnxscript.version_converter

from onnx_conformance.backends.option import option

OPTIONS = tuple(map(str, range(25, 17, -1)))
OPT_OUTS = (("Exception", r"", "no conversion"),)  # A converter may refuse.
REPRO = """\
import onnxscript.version_converter

onnxscript.version_converter.convert_version(model, {target})
"""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    target = option(OPTIONS)
    return {
        "runtime": f"onnxscript.version_converter to {target}",
        "version": metadata.version("onnxscript"),
        "onnx": onnx.__version__,
        "repro": REPRO.format(target=target),
    }


def transform(model: bytes) -> bytes:
    """Return the model in the opset of the option."""
    proto = onnx.load_from_string(model)
    onnxscript.version_converter.convert_version(proto, int(option(OPTIONS)))
    return bytes(proto.SerializeToString())
