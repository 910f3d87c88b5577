# SPDX-License-Identifier: Apache-2.0
"""onnx's own runner over onnxruntime: what `bench.py` measures the harness against.

Run by `pytest tests/bench/onnx_runner.py`; not collected otherwise.
"""

import warnings

import onnxruntime.backend

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # onnx's case files divide by zero on purpose.
    import onnx.backend.test

    TESTS = onnx.backend.test.BackendTest(onnxruntime.backend, __name__)

OnnxBackendNodeModelTest = TESTS.include(r"_cpu$").test_cases["OnnxBackendNodeModelTest"]
