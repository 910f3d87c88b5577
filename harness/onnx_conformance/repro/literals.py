# SPDX-License-Identifier: Apache-2.0
"""Values and texts as Python expressions of a script."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.base.values import Drawn
from onnx_conformance.case import properties
from onnx_conformance.specification.element_types import element_type

if TYPE_CHECKING:
    from onnx_conformance.base.values import Value

PLAIN_TYPES = 13
"""Numpy itself has the element types up to this number (uint64); ml_dtypes has the others."""

_NAMED = {"nan": "np.nan", "inf": "np.inf", "-inf": "-np.inf"}


def literal(value: Value | Drawn) -> str:  # noqa: PLR0911 - one for each kind of value
    """Return a Python expression for a value; for a random value, an expression for its required properties."""
    if isinstance(value, Drawn):
        return f"('drawn', {properties.describe(value)!r})"
    if isinstance(value, np.ndarray):
        row = element_type(value.dtype)
        if value.dtype.kind == "O":
            return f"np.array({value.reshape(-1).tolist()!r}, dtype=object).reshape({value.shape})"
        dtype = _dtype(value)
        elements = value.reshape(-1).tolist()  # Nested lists of a shape such as (2**60, 0) would fill the memory.
        if row.number <= PLAIN_TYPES and np.array(elements, value.dtype).tobytes() == value.tobytes():
            items = repr(elements)[1:-1]
            if value.dtype.kind == "f" and not np.isfinite(value).all():
                items = ", ".join(_NAMED.get(text, text) for text in map(repr, elements))
            return f"np.array([{items}], dtype={dtype}).reshape({value.shape})"
        return of_bytes(f"bytes.fromhex({value.tobytes().hex()!r})", value)
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {literal(item)}" for key, item in value.items()) + "}"
    return "None"


def of_bytes(data: str, value: np.ndarray[Any, Any]) -> str:
    """Return a Python expression for an array from the expression of its bytes."""
    return f"np.frombuffer({data}, dtype={_dtype(value)}).reshape({value.shape})"


def _dtype(value: np.ndarray[Any, Any]) -> str:
    row = element_type(value.dtype)
    return f"np.dtype({row.dtype!r})" if row.number <= PLAIN_TYPES + 2 else f"ml_dtypes.{row.dtype}"


def inside_quotes(text: str) -> str:
    """Return a text for a triple-quoted string, with escapes for characters that a terminal or reader may misread."""
    plain = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    plain = re.sub(r"^(\s*):(?=:)", r"\1\\x3a", plain, flags=re.MULTILINE)  # A workflow command of GitHub.
    if plain.replace("\n", "").isprintable():
        return plain
    return "".join(item if item == "\n" or item.isprintable() else repr(item)[1:-1] for item in plain)
