"""The operators of com.microsoft, which exporters and optimizers for ONNX Runtime emit.

The only specification of these operators is the text of their schemas in ONNX Runtime. `schemas.json` is a copy of
them, made by `python -m tools.runtime_schemas`.
"""

from __future__ import annotations

from pathlib import Path

from onnx_conformance.declare.package import OperatorPackage
from onnx_conformance.specification import schema_file

PACKAGE = OperatorPackage(
    name="microsoft",
    module=__name__,
    source="onnxruntime 1.32.0",
    schemas=lambda: schema_file.read(Path(__file__).with_name("schemas.json")),
)
