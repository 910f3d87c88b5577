# SPDX-License-Identifier: Apache-2.0
"""Evaluates models that a tool returned: the model checker must accept them, and the oracle computes their values.

A tool may return any model. `run` and `info` are therefore the functions of an adapter, which the harness runs in a
separate process with limits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import onnx
import onnx.checker

from onnx_conformance.specification import evaluator
from onnx_conformance.specification.evaluator import OPT_OUTS, info

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["OPT_OUTS", "info", "run"]


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the values of `outputs`, in that order.

    Raises:
        ValidationError: the model checker refuses the model.
        Rejected: the text forbids it.
        Unspecified: the text does not define the result.
        UndeclaredError: an operator has no operator file and no function body.
    """
    onnx.checker.check_model(model)
    return evaluator.run(model, inputs, outputs)
