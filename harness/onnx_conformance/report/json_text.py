# SPDX-License-Identifier: Apache-2.0
"""JSON written in pieces: clean strings, null for NaN and infinities, and arrays that need not fit the memory."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.verdict import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def text(value: object) -> str:
    """Return a value as JSON on one line."""
    return json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def array(items: Iterable[str]) -> Iterator[str]:
    """Yield an array of items that are JSON already, one on each line."""
    between = "[\n"
    for item in items:
        yield between + item
        between = ",\n"
    yield "[]" if between == "[\n" else "\n]"


def _plain(value: object) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict):
        return {clean(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, int | bool) or value is None else clean(value)
