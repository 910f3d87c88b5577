# SPDX-License-Identifier: Apache-2.0
"""A runtime of few operators, correctly rounded but for the fault that its option names.

`exp`: the exponential of a float near 1.5 is 5 ULP too large. `jump`: it is too small from 2 on, and falls there.
`nan`: the exponential of minus infinity is NaN. `flush`: subnormal results are zero.
`old`: it knows no opset from 13 on.
`limit`: the arc tangent of an infinity is some ULP too small.
`float16`: sums are added in float16, one after the other. `pairwise`: sums are added in their type, in pairs.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

if TYPE_CHECKING:
    from collections.abc import Sequence

    Array = np.ndarray[Any, Any]

OPT_OUTS = (("NotImplementedError", r"", "no such operator"),)
FAULT = os.environ.get("ONNX_CONFORMANCE_OPTION", "")
NEAR = np.float32(1.5)
NEW = 13


def info() -> dict[str, Any]:
    return {"runtime": "inaccurate", "version": "1.0"}


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    proto = onnx.load_from_string(model)
    if FAULT == "old" and proto.opset_import[0].version >= NEW:
        raise NotImplementedError("this opset is newer")
    (node,) = proto.graph.node
    values = [inputs[name] for name in node.input]
    with np.errstate(all="ignore"):
        if node.op_type == "Exp":
            return [_exp(values[0]) for _ in outputs]
        if node.op_type == "Atan":
            return [_atan(values[0]) for _ in outputs]
        if node.op_type == "MatMul":
            exact = values[0].astype(np.float64) @ values[1].astype(np.float64)
            return [exact.astype(values[0].dtype) for _ in outputs]
        if node.op_type == "ReduceSum":
            return [_sum(values[0]) for _ in outputs]
    raise NotImplementedError(node.op_type)


def _exp(x: Array) -> Array:
    result = np.exp(x.astype(np.float64)).astype(x.dtype)
    if x.dtype == np.float32:
        near = np.abs(x - NEAR) < 1e-2
        if FAULT == "exp":
            result = np.where(near, (result.view(np.int32) + 5).view(np.float32), result)
        if FAULT == "jump":
            result = np.where((x >= 2) & (x < 2.25), (result.view(np.int32) - 10).view(np.float32), result)
        if FAULT == "flush":
            result = np.where(result < np.finfo(np.float32).tiny, np.float32(0), result)
    if FAULT == "nan":
        result = np.where(np.isneginf(x), np.nan, result).astype(x.dtype)
    return result


def _atan(x: Array) -> Array:
    result = np.arctan(x.astype(np.float64)).astype(x.dtype)
    if FAULT == "limit":
        result = np.where(np.isinf(x), result * x.dtype.type(1 - 4 * np.finfo(x.dtype).eps), result)
    return np.asarray(result)


def _sum(x: Array) -> Array:
    dtype = np.dtype(np.float16 if FAULT == "float16" else x.dtype)
    terms = x.astype(dtype).T.copy()  # The terms are added along the last axis.
    if FAULT == "pairwise":
        while len(terms) > 1:
            terms = (terms[::2] + terms[1::2]).astype(dtype)
        return np.asarray(terms[0], x.dtype)
    total = terms[0]
    for term in terms[1:]:
        total = (total + term).astype(dtype)
    return np.asarray(total, x.dtype)
