"""Evaluates models that a tool made: the model checker must accept them, and the oracle gives their values.

Its `run` and `info` are the functions of an adapter, so that it works in a process of its own, with limits: a model
that a tool made may be anything.
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
        Unspecified: the text leaves its meaning open.
        UndeclaredError: it has an operator of which no text says what it means.
    """
    onnx.checker.check_model(model)
    return evaluator.run(model, inputs, outputs)
