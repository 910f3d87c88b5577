# SPDX-License-Identifier: Apache-2.0
"""Imports ONNX models into MLIR with IREE's importer; a script for the environment of the adapter `iree`.

It reads a model on each line of standard input, in base64, and writes a JSON object for each: `text`, or `error`. The
models are read as `iree-import-onnx` reads them.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from typing import Any


def text(model: bytes) -> str:
    """Return a serialized ModelProto as MLIR; any error of onnx or of the importer is raised."""
    import onnx  # noqa: PLC0415 - the environment of the adapter has these packages
    from iree.compiler import ir  # type: ignore[import-not-found]  # noqa: PLC0415
    from iree.compiler.extras import onnx_importer  # type: ignore[import-not-found]  # noqa: PLC0415

    proto = onnx.load_from_string(model)
    onnx.checker.check_model(proto)
    graph = onnx_importer.ModelInfo(onnx.shape_inference.infer_shapes(proto, data_prop=True))
    module: Any = graph.create_module(context=ir.Context()).operation
    onnx_importer.NodeImporter.define_function(graph.main_graph, module).import_all()
    module.verify()
    return str(module.get_asm(assume_verified=True))


def main() -> None:
    """Answer until the end of standard input."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # Output of the compiler must not be mistaken for an answer.
    for line in sys.stdin:
        try:
            reply = {"text": text(base64.b64decode(line))}
        except Exception as error:  # noqa: BLE001 - the caller counts models that cannot be imported
            reply = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(reply) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
