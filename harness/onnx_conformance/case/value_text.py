# SPDX-License-Identifier: Apache-2.0
"""Short forms of values for people: one line each, of limited length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.backends.protocol import element_type
from onnx_conformance.base.values import Drawn
from onnx_conformance.base.verdict import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx_conformance.base.values import Value

ELEMENTS = 12
"""How many elements of a tensor are shown."""
CHARACTERS = 60
"""How many characters of a string element are shown."""


def brief(values: Sequence[Value | Drawn], limit: int = 600) -> str:
    """Return values as in `float[3] 0 1 2; float[1] 6`."""
    if not values:
        return "no outputs"
    return clean("; ".join(one(value) for value in values[:16]) + ("; ..." if len(values) > 16 else ""), limit)  # noqa: PLR2004


def outline(values: Sequence[Value], limit: int = 600) -> str:
    """Return the types and shapes of values whose elements are not known."""
    shown = "; ".join(_outline(value) for value in values[:16]) + ("; ..." if len(values) > 16 else "")  # noqa: PLR2004
    return clean(shown or "no outputs", limit)


def _outline(value: Value) -> str:
    if isinstance(value, np.ndarray):
        return f"{element_type(value.dtype).name}[{','.join(map(str, value.shape))}]"
    if isinstance(value, list):
        more = ", ..." if len(value) > ELEMENTS else ""
        return f"sequence of {len(value)} ({', '.join(map(_outline, value[:ELEMENTS]))}{more})"
    return f"map of {len(value)}" if isinstance(value, dict) else "an empty optional"


def one(value: Value | Drawn) -> str:
    """Return one value, or the properties that it must have."""
    if isinstance(value, Drawn):
        name = element_type(value.example.dtype).name
        return f"{name}[{','.join(map(str, value.example.shape))}] {value}"
    if isinstance(value, np.ndarray):
        name = element_type(value.dtype).name
        first = value.reshape(-1)[:ELEMENTS]
        # Reading numpy scalars one by one costs ten times as much as Python's numbers, whose text is the same.
        items = first.tolist() if value.dtype.kind in "biuf" and value.dtype.isbuiltin == 1 else first
        shown = " ".join(map(_element, items))
        more = " ..." if value.size > ELEMENTS else ""
        return f"{name}[{','.join(map(str, value.shape))}] {shown}{more}".rstrip()
    if isinstance(value, list):
        more = ", ..." if len(value) > ELEMENTS else ""
        return f"sequence of {len(value)} ({', '.join(one(item) for item in value[:ELEMENTS])}{more})"
    if isinstance(value, dict):
        return "map {" + ", ".join(f"{key!r}: {one(item)}" for key, item in list(value.items())[:ELEMENTS]) + "}"
    return "an empty optional"


def element(item: Any) -> str:  # noqa: ANN401 - a numpy scalar or a str
    """Return one element unambiguously: with all digits, its sign, or quotes."""
    if isinstance(item, str):
        quoted = ascii(item) if clean(item) != item.strip() else repr(item)
        return clean(quoted if len(quoted) <= CHARACTERS else quoted[:CHARACTERS] + "...")
    return str(bool(item)).lower() if isinstance(item, bool | np.bool_) else str(item)


def _element(item: Any) -> str:  # noqa: ANN401 - a numpy scalar or a str
    if isinstance(item, str):
        return repr(item if len(item) <= ELEMENTS else item[:ELEMENTS] + "...")
    if isinstance(item, bool | np.bool_):
        return str(bool(item)).lower()
    return f"{item:g}" if isinstance(item, float | np.floating) else str(item)
