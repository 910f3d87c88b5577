# SPDX-License-Identifier: Apache-2.0
"""onnx.reference.ReferenceEvaluator, the evaluator that ships with onnx."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnx
import onnx.helper
from onnx.reference import ReferenceEvaluator

from onnx_conformance.backends import protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FORK = True
OVERRIDES = True

OPT_OUTS = (
    ("ImportError", r"must be installed", "an optional package is missing"),
    ("Exception", r"No (registered )?implementation for operator", "no kernel"),
    ("Exception", r"(?i)\bnot implemented\b|\bis not supported (with|for)\b", "no kernel"),
)

REPRO = """\
import onnx.reference

outputs = onnx.reference.ReferenceEvaluator(model).run(None, inputs)
"""

REPRO_EARLIER = """\
import contextlib

import onnx.reference

evaluator = onnx.reference.ReferenceEvaluator(model)
with contextlib.suppress(Exception):
    evaluator.run(None, earlier)
outputs = evaluator.run(None, inputs)
"""

REPRO_FILES = """\
import onnx.reference

outputs = onnx.reference.ReferenceEvaluator(path).run(None, inputs)
"""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {
        "runtime": "onnx.reference",
        "version": onnx.__version__,
        "onnx": onnx.__version__,
        "repro": REPRO,
        "repro_earlier": REPRO_EARLIER,
        "repro_files": REPRO_FILES,
        "opset": max(row[2] for row in onnx.helper.VERSION_TABLE),
        "ir_version": int(onnx.IR_VERSION),
        "types": [row.name for row in protocol.ELEMENT_TYPES],
        "containers": ["sequence", "optional", "map"],
    }


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the values of `outputs`, in that order."""
    return session(model)(inputs, outputs)


def session(model: bytes, folder: str | None = None) -> Callable[[dict[str, Any], Sequence[str]], list[Any]]:
    """Load a model, from `folder` if it has additional files; return a function that runs it."""
    path = None if folder is None else str(Path(folder, "model.onnx"))
    evaluator = ReferenceEvaluator(path or onnx.load_from_string(model))
    return lambda inputs, outputs: list(evaluator.run(list(outputs), inputs))
