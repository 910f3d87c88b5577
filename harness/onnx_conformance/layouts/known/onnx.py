# SPDX-License-Identifier: Apache-2.0
"""ONNX's test-data layout, with case.json; see `suites.onnx_layout`. It expresses every case."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_conformance.layouts.layout import Layout
from onnx_conformance.suites import onnx_layout

if TYPE_CHECKING:
    from onnx_conformance.case.case import Case


def _left_out(case: Case) -> str:
    del case
    return ""


def _folder(case: Case) -> str:
    return onnx_layout.folder_name(case.id)


LAYOUT = Layout("ONNX's test-data layout, for all runners", "onnx", _left_out, _folder, onnx_layout.encoded)
