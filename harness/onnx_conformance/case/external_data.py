"""Initializers whose data are in a file next to the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx

if TYPE_CHECKING:
    from collections.abc import Mapping


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
