# SPDX-License-Identifier: Apache-2.0
"""Initializers of models from outside: their data may be in a file next to the model, or may not fit their shape."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import onnx
from onnx import numpy_helper

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np


def loaded(tensor: onnx.TensorProto, files: Mapping[str, bytes]) -> onnx.TensorProto | None:
    """Return an initializer with its data, which may be in a separate file; None if that is missing."""
    if tensor.data_location != onnx.TensorProto.EXTERNAL:
        return tensor
    entry = {item.key: item.value for item in tensor.external_data}
    data = files.get(entry.get("location", ""))
    if data is None or not {"offset", "length"} <= set(entry):
        return None
    begin = int(entry["offset"])
    raw = data[begin : begin + int(entry["length"])]
    return onnx.TensorProto(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims, raw_data=raw)


def decoded(tensor: onnx.TensorProto, files: Mapping[str, bytes] | None = None) -> np.ndarray[Any, Any] | None:
    """Return the array of an initializer; None if its data are missing or do not fit its type and shape.

    A model from outside may contain anything: data of another size, a shape of 2**60 elements, a type of the future.

    Args:
        tensor: the initializer, or the value of an attribute.
        files: the contents of the files next to the model, by name.
    """
    stored = max(len(tensor.raw_data), *(len(getattr(tensor, name)) for name in _FIELDS))
    if (
        not tensor.external_data and math.prod(tensor.dims) > 8 * stored
    ):  # The smallest types have 4 elements in a byte.
        return None
    try:
        held = loaded(tensor, files or {})
        return None if held is None else numpy_helper.to_array(held)
    except Exception:  # noqa: BLE001 - onnx raises errors of many kinds
        return None


_FIELDS = ("float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data")
"""The fields in which a tensor may store its elements."""
