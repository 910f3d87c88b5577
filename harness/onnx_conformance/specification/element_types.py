# SPDX-License-Identifier: Apache-2.0
"""The element types of ONNX: number, name, numpy type and width of each, and functions that find one.

The table is part of the wire protocol, because adapters need it in environments without this package. The rest of the
harness takes it from here and depends on the specification instead of the protocol.
"""

from onnx_conformance.backends.protocol import (
    ELEMENT_TYPES,
    ElementType,
    ElementTypeError,
    element_type,
    element_type_named,
    numpy_dtype,
)

__all__ = ["ELEMENT_TYPES", "ElementType", "ElementTypeError", "element_type", "element_type_named", "numpy_dtype"]
