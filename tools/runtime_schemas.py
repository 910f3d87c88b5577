# SPDX-License-Identifier: Apache-2.0
"""Writes the schemas of com.microsoft, as the installed ONNX Runtime lists them: `python -m tools.runtime_schemas`.

A change in the file is a change of the specification. `onnx-conformance check --suite microsoft` then names the
operator files whose sentences it no longer contains.
"""

from __future__ import annotations

import sys
from pathlib import Path

from onnxruntime.capi import onnxruntime_pybind11_state  # type: ignore[import-untyped] # It has no types.

from onnx_conformance.base import atomic_file, printing
from onnx_conformance.specification import schema_file

FILE = Path(__file__).parents[1] / "harness/onnx_conformance/operators_microsoft/schemas.json"
DOMAIN = "com.microsoft"
OF_ONNX = frozenset({"SimplifiedLayerNormalization"})
"""Operators that ONNX Runtime adds to the domain ai.onnx."""


def main() -> int:
    """Write the file, and return the exit status."""
    every = onnxruntime_pybind11_state.get_all_operator_schema()
    chosen = [item for item in every if item.domain == DOMAIN or (not item.domain and item.name in OF_ONNX)]
    atomic_file.write(FILE, "".join(schema_file.lines(chosen)))
    printing.show(f"{FILE}: {len(chosen)} schemas")
    return 0


if __name__ == "__main__":
    sys.exit(main())
