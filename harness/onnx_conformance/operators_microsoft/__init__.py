# SPDX-License-Identifier: Apache-2.0
"""The operators of com.microsoft, which exporters and optimizers for ONNX Runtime emit.

The only specification of these operators is the text of their schemas in ONNX Runtime. `schemas.json` is a copy of
them, made by `python -m tools.runtime_schemas`.
"""

from __future__ import annotations

import importlib
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from onnx_conformance.base.package import packed
from onnx_conformance.declare.package import OperatorPackage
from onnx_conformance.specification import schema_file

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = "onnxruntime 1.32.0"
"""The release whose schemas the file has."""
_FILE = packed(Path(__file__).with_name("schemas.json"))


def differences() -> Iterator[str]:
    """Yield a sentence for each schema that differs from that of the installed onnxruntime, if there is one."""
    try:
        state = importlib.import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    except ImportError:
        return
    installed = f"onnxruntime {metadata.version('onnxruntime')}"
    yield from schema_file.differences(_FILE, SOURCE, state.get_all_operator_schema(), installed)


PACKAGE = OperatorPackage(
    name="microsoft", module=__name__, source=SOURCE, schemas=lambda: schema_file.read(_FILE), differences=differences
)
