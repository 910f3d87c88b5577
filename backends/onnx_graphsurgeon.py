# SPDX-License-Identifier: Apache-2.0
"""ONNX GraphSurgeon: imports a model, folds its constants, removes unused parts, sorts the nodes, and exports it."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import onnx
import onnx_graphsurgeon

FORK = True
REPRO = """\
import onnx_graphsurgeon

graph = onnx_graphsurgeon.import_onnx(model)
model = onnx_graphsurgeon.export_onnx(graph.fold_constants().cleanup().toposort())
"""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {
        "runtime": "onnx-graphsurgeon",
        "version": metadata.version("onnx-graphsurgeon"),
        "onnx": onnx.__version__,
        "repro": REPRO,
    }


def transform(model: bytes) -> bytes:
    """Return the model with folded constants."""
    graph = onnx_graphsurgeon.import_onnx(onnx.load_from_string(model))
    made = onnx_graphsurgeon.export_onnx(graph.fold_constants().cleanup().toposort())
    return bytes(made.SerializeToString())
