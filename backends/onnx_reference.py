"""onnx.reference.ReferenceEvaluator, the evaluator that ships with onnx."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import onnx
import onnx.helper
from onnx.reference import ReferenceEvaluator

from backends import protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

OPT_OUTS = (
    ("ImportError", r"must be installed", "an optional package is missing"),
    ("Exception", r"No (registered )?implementation for operator", "no kernel"),
)

REPRO = """\
import onnx.reference

outputs = onnx.reference.ReferenceEvaluator(model).run(None, inputs)
"""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {
        "runtime": "onnx.reference",
        "version": onnx.__version__,
        "onnx": onnx.__version__,
        "repro": REPRO,
        "opset": max(row[2] for row in onnx.helper.VERSION_TABLE),
        "ir_version": int(onnx.IR_VERSION),
        "types": [row.name for row in protocol.ELEMENT_TYPES],
        "containers": ["sequence", "optional", "map"],
    }


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the values of `outputs`, in that order."""
    return list(ReferenceEvaluator(onnx.load_from_string(model)).run(list(outputs), inputs))
