# SPDX-License-Identifier: Apache-2.0
"""The oracle's results for models that a tool returned."""

from __future__ import annotations

import re

import numpy as np
import onnx
import onnx.parser
import pytest

from onnx_conformance.specification import examiner
from onnx_conformance.specification.evaluator import UndeclaredError

HEAD = '<ir_version: 10, opset_import: ["" : 20, "com.microsoft" : 1]>'


def run(text: str, **inputs: np.ndarray) -> list[np.ndarray]:
    return examiner.run(onnx.parser.parse_model(HEAD + text).SerializeToString(), inputs, ["y"])


def test_a_fused_operator_is_computed() -> None:
    text = " g (float[2,2] a, float[2,2] b) => (float[2,2] y) { y = com.microsoft.FusedMatMul<alpha = 0.5>(a, b) }"
    a, b = np.eye(2, dtype=np.float32), np.array([[1, 2], [3, 4]], np.float32)
    np.testing.assert_array_equal(run(text, a=a, b=b)[0], b / 2)


def test_an_operator_whose_text_permits_several_results_decides_nothing() -> None:
    text = """ g (float[1,2] a, uint8[2,2] b, float[1] s) => (float[1,2] y) {
        y = com.microsoft.DynamicQuantizeMatMul(a, b, s)
    }"""
    a, b, s = np.ones((1, 2), np.float32), np.ones((2, 2), np.uint8), np.ones(1, np.float32)
    with pytest.raises(UndeclaredError) as caught:
        run(text, a=a, b=b, s=s)
    (name, pattern, reason), *_ = examiner.OPT_OUTS
    assert name == UndeclaredError.__name__
    assert re.search(pattern, str(caught.value))
    assert reason == "several results"
