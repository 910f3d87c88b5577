# SPDX-License-Identifier: Apache-2.0
"""Evaluates models that an exporter made: as `examiner` does, and strict shape inference must accept them, too.

A tool that changes models keeps the types and shapes that the model declares. An exporter writes them itself, and a
declaration that contradicts the nodes is its fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import onnx
import onnx.checker
import onnx.shape_inference

from onnx_conformance.specification.examiner import OPT_OUTS, Examiner, info

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
    answers = Examiner().model(with_types(model), inputs)
    return [answers[name] for name in outputs]


def with_types(model: bytes) -> onnx.ModelProto:
    """Return a model whose subgraphs declare the types of their outputs, which ONNX lets a model omit.

    The oracles of If and SequenceMap need them.
    """
    return onnx.shape_inference.infer_shapes(onnx.load_from_string(model))
