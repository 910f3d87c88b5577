# SPDX-License-Identifier: Apache-2.0
"""Evaluates models that an exporter made: as `examiner` does, and strict shape inference must accept them, too.

A tool that changes models keeps the types and shapes that the model declares. An exporter writes them itself, and a
declaration that contradicts the nodes is its fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import onnx.checker

from onnx_conformance.specification import examiner
from onnx_conformance.specification.examiner import OPT_OUTS, info

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["OPT_OUTS", "info", "run"]


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the values of `outputs`, in that order.

    Raises:
        ValidationError, InferenceError: the model checker refuses the model, or a type or shape that it declares.
        Rejected, Unspecified, UndeclaredError: as in `examiner.run`.
    """
    onnx.checker.check_model(model, full_check=True)
    return examiner.run(model, inputs, outputs)
