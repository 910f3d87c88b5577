# SPDX-License-Identifier: Apache-2.0
"""How far an answer to a model may be from the oracle's, computed in a separate process.

`run` and `info` are the functions of an adapter: an exported model may be arbitrary, so the harness limits the time of
this evaluation. Instead of the outputs, `run` returns the allowed absolute error of each element of each output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.specification.evaluator import info
from onnx_conformance.specification.strict_examiner import with_types
from onnx_conformance.tolerance import several_nodes

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["OPT_OUTS", "info", "run"]
OPT_OUTS = (("UndecidedError", r"", "more than one right answer"),)


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the bounds of the outputs, each with the shape of its output; of a sequence, one number for all tensors.

    Raises:
        UndecidedError: there is more than one right answer.
    """
    allowance = several_nodes.of_model(with_types(model), inputs)
    if allowance.bounds is None:
        return [np.zeros(()) for _ in outputs]
    return [np.asarray(bound, np.float64) for bound in allowance.bounds]
