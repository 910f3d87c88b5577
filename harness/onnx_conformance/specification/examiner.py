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
from onnx_conformance.specification.evaluator import Evaluator, UndeclaredError, info

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx_conformance.declare import Op
    from onnx_conformance.specification.evaluator import Answer
    from onnx_conformance.specification.schema import OperatorVersion

__all__ = ["OPT_OUTS", "info", "run"]
OPT_OUTS = (("UndeclaredError", r"differ by more than rounding", "several results"), *evaluator.OPT_OUTS)


class Examiner(Evaluator):
    """An evaluator of models whose results are expected to be those of other models."""

    def applied(self, node: onnx.NodeProto, op: Op, version: OperatorVersion, *rest: Any) -> Answer:  # noqa: ANN401 - as in Evaluator
        """Return the oracle's answer to one node.

        Raises:
            UndeclaredError: the text permits results that differ from each other.
        """
        if op.approximate:
            raise UndeclaredError(f"the text of {version} permits results that differ by more than rounding")
        return super().applied(node, op, version, *rest)


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the values of `outputs`, in that order.

    Raises:
        ValidationError: the model checker refuses the model.
        Rejected: the text forbids it.
        Unspecified: the text does not define the result.
        UndeclaredError: an operator has no operator file and no function body, or its text permits several results.
    """
    onnx.checker.check_model(model)
    answers = Examiner().model(onnx.load_from_string(model), inputs)
    return [answers[name] for name in outputs]
