# SPDX-License-Identifier: Apache-2.0
"""Code of a results file counts as this project's only if it is in the file of the adapter."""

from __future__ import annotations

import pytest

from onnx_conformance.backends import onnx_reference, onnx_version_converter
from onnx_conformance.repro.own_calls import is_own

CONVERTER = onnx_version_converter.REPRO.format(target=20)
SPOILT = onnx_version_converter.REPRO.format(target="__import__('os').system('x')")


@pytest.mark.parametrize(
    ("backend", "field", "text", "own"),
    [
        ("onnx_reference", "repro", onnx_reference.REPRO, True),
        ("onnx_reference==1.20.0", "repro", onnx_reference.REPRO, True),
        ("onnx_reference", "repro_files", onnx_reference.REPRO_FILES, True),
        ("onnx_version_converter[20]", "repro", CONVERTER, True),
        ("onnx_version_converter[20]", "repro", SPOILT, False),
        ("onnx_reference", "repro", f"import os\n{onnx_reference.REPRO}", False),
        ("onnx_reference", "repro", f"{onnx_reference.REPRO}\nimport os", False),
        ("onnx_reference", "repro", "", False),
        ("onnx_reference", "repro", None, False),
        ("onnx_checker", "repro", onnx_reference.REPRO, False),
        ("./onnx_reference.py", "repro", onnx_reference.REPRO, False),
        ("cmd:onnx_reference", "repro", onnx_reference.REPRO, False),
        ("../../etc/x", "repro", onnx_reference.REPRO, False),
    ],
)
def test_only_the_text_of_the_adapter_is_own(backend: str, field: str, text: object, own: object) -> None:
    assert is_own(backend, {field: text}, field) is own
