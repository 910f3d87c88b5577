# SPDX-License-Identifier: Apache-2.0
"""The layout of OpenCV's ONNX conformance test: ONNX's test data, a table of cases, and deny lists.

The rules of the reader, from opencv/opencv, commit 6d335fda55309315d1efc411a7902632e8c80aaf,
modules/dnn/test/test_onnx_conformance.cpp:

- It reads `dnn/onnx/conformance/node/NAME/` below the folder in `OPENCV_TEST_DATA_PATH`: model.onnx, and in
  test_data_set_0 the files input_N.pb and output_N.pb.
- The table `testConformanceConfig` has a row for each case: its name, and the numbers of inputs and outputs. NAME
  becomes a part of the name of a test in GoogleTest.
- A deny list is the content of an initializer of strings, which a `#include` inserts. It must exist, and may be empty.
  A case on the list of the parser is skipped on every backend.
- `normAssert` compares each output: the mean of the absolute differences is at most 1e-5, and the largest one at most
  1e-4. An output without elements has no mean, and NaN and infinities have no difference.
- `getMatFromTensor` (modules/dnn/src/onnx/onnx_graph_simplifier.cpp) reads the element types of `TYPES`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onnx_conformance.layouts import expressible
from onnx_conformance.layouts.layout import Layout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx_conformance.case.case import Case
    from onnx_conformance.layouts.layout import Files, Written

TYPES = ("float", "double", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool")
"""Element types that the reader reads."""
MEAN, LARGEST = 1e-5, 1e-4
"""The mean and the largest absolute difference that the reader permits."""
NODE = "testdata/dnn/onnx/conformance/node"
CASES = "modules/dnn/test/test_onnx_conformance_cases.inl.hpp"
PARSER = "modules/dnn/test/test_onnx_conformance_layer_parser_denylist.inl.hpp"
OTHER_LISTS = tuple(
    f"modules/dnn/test/test_onnx_conformance_layer_filter_{name}_denylist.inl.hpp"
    for name in (
        "opencv_all", "opencv", "opencv_cpu", "opencv_ocl_fp16", "opencv_ocl_fp32", "_halide", "_vulkan", "_cuda",
        "_cuda_fp16",
    )
)  # fmt: skip
"""Deny lists of backends, which are empty: a case is known to fail on all of them or on none."""
HEAD = "// onnx-conformance wrote this file: generate --layout opencv\n"


def _left_out(case: Case) -> str:
    if why := expressible.reason(case, TYPES):
        return why
    for index, value in enumerate(expressible.tensors(case) or ()):
        if not value.size:
            return "an output has no elements"
        if not np.isfinite(value.astype(np.float64)).all():
            return "an expected value is NaN or infinite"
        allowed = expressible.permitted(case, index)
        if allowed.mean() > MEAN or allowed.max() > LARGEST:
            return "its tolerance is wider than that of the reader"
    return ""


def _folder(case: Case) -> str:
    return f"{NODE}/{expressible.identifier(case.id)}"


def _lists(written: Sequence[Written]) -> Files:
    """Return the rows of the table, the deny list with the known failures, and the empty deny lists."""
    rows = "".join(f'{{"{item.name}", {item.inputs}, {item.outputs}}},\n' for item in written)
    denied = "".join(f'"{item.name}",\n' for item in written if item.known_failure)
    return {CASES: (HEAD + rows).encode(), PARSER: (HEAD + denied).encode()} | dict.fromkeys(OTHER_LISTS, HEAD.encode())


LAYOUT = Layout(
    "ONNX's test data with deny lists, for OpenCV's conformance test",
    "opencv",
    _left_out,
    _folder,
    expressible.test_data,
    _lists,
)
