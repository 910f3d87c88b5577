# SPDX-License-Identifier: Apache-2.0
"""A runtime that is one unit in the last place off: of floats that is rounding, of integers it is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from onnx_conformance.specification.evaluator import Evaluator, info

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["info", "run"]


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the values of `outputs`, in that order."""
    answers = Evaluator().model(onnx.load_from_string(model), inputs)
    return [_off(np.asarray(answers[name])) for name in outputs]


def _off(value: Any) -> Any:
    if value.dtype.kind != "f":
        return value + np.asarray(1, value.dtype)
    return np.where(value == 0, 0, np.nextafter(value, value.dtype.type(np.inf))).astype(value.dtype)
