# SPDX-License-Identifier: Apache-2.0
"""onnx.version_converter: onnx_version_converter[18] converts to opset 18; without an option, to the newest one."""

from __future__ import annotations

from typing import Any

import onnx
import onnx.helper
import onnx.version_converter

from onnx_conformance.backends.option import option

FORK = True
OPTIONS = tuple(map(str, range(max(row[2] for row in onnx.helper.VERSION_TABLE), 0, -1)))
OPT_OUTS = (("Exception", r"", "no conversion"),)  # A converter may refuse.
REPRO = """\
import onnx.version_converter

model = onnx.version_converter.convert_version(model, {target})
"""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    target = option(OPTIONS)
    return {
        "runtime": f"onnx.version_converter to {target}",
        "version": onnx.__version__,
        "onnx": onnx.__version__,
        "repro": REPRO.format(target=target),
    }


def transform(model: bytes) -> bytes:
    """Return the model in the opset of the option."""
    made = onnx.version_converter.convert_version(onnx.load_from_string(model), int(option(OPTIONS)))
    return bytes(made.SerializeToString())
