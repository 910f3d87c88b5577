# SPDX-License-Identifier: Apache-2.0
"""Arrays of numpy as tensors of PyTorch, and back: shared by the adapters of converters to PyTorch modules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from onnx_conformance.backends import protocol

if TYPE_CHECKING:
    from numpy.typing import NDArray

BITS = {8: (np.uint8, torch.uint8), 16: (np.uint16, torch.uint16)}
"""Types as which a tensor that numpy lacks passes through numpy, by the bits of one element."""

NATIVE = tuple(row.name for row in protocol.ELEMENT_TYPES if row.number != protocol.STRING and hasattr(np, row.dtype))
VIEWED = {
    row.name: dtype
    for row in protocol.ELEMENT_TYPES
    if row.name not in NATIVE and row.bits in BITS and isinstance(dtype := getattr(torch, row.dtype, None), torch.dtype)
}
"""PyTorch's types that numpy lacks."""
TYPES = [row.name for row in protocol.ELEMENT_TYPES if row.name in NATIVE or row.name in VIEWED]
"""The names of all element types that can be passed."""


class NoTypeError(Exception):
    """PyTorch has no tensors of this type."""


def use_one_thread() -> None:
    """Make PyTorch compute in one thread, so that results do not depend on the number of cores."""
    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)


def to_torch(array: NDArray[Any]) -> torch.Tensor:
    """Return the tensor with the elements of an array.

    Raises:
        NoTypeError: PyTorch has no tensors of the type.
    """
    row = protocol.element_type(array.dtype)
    if row.name in NATIVE:
        return torch.from_numpy(array)
    if row.name in VIEWED:
        return torch.from_numpy(array.view(BITS[row.bits][0])).view(VIEWED[row.name])
    raise NoTypeError(f"PyTorch has no tensors of {row.name}")


def from_torch(tensor: torch.Tensor) -> NDArray[Any]:
    """Return the array with the elements of a tensor."""
    for name, dtype in VIEWED.items():
        if tensor.dtype == dtype:
            row = protocol.element_type_named(name)
            bits: NDArray[Any] = tensor.contiguous().view(BITS[row.bits][1]).numpy()
            return bits.view(protocol.numpy_dtype(row.number))
    array: NDArray[Any] = tensor.resolve_conj().resolve_neg().numpy()
    return array
