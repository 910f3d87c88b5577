# SPDX-License-Identifier: Apache-2.0
"""A right runtime without kernels of 16 bits: it computes in float32, and rounds only the values that are outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto

from onnx_conformance.specification.evaluator import Evaluator, info

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["info", "run"]


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the values of `outputs`, in that order."""
    proto = onnx.load_from_string(model)
    for item in (*proto.graph.input, *proto.graph.output, *proto.graph.value_info):
        if item.type.tensor_type.elem_type == TensorProto.FLOAT16:
            item.type.tensor_type.elem_type = TensorProto.FLOAT
    wide = {name: value.astype(np.float32) if value.dtype == np.float16 else value for name, value in inputs.items()}
    answers = Evaluator().model(proto, wide)
    return [np.asarray(answers[name]).astype(np.float16) for name in outputs]
