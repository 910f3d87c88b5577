# SPDX-License-Identifier: Apache-2.0
"""Cases that are whole models, which nobody declared: written in ONNX's text syntax, evaluated by the oracle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx.parser

from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import Case, Outcome
from onnx_conformance.specification.evaluator import Evaluator

if TYPE_CHECKING:
    from collections.abc import Mapping

HEAD = '<ir_version: 8, opset_import: ["" : 18, "own" : 1]>\n'
X = np.arange(6, dtype=np.float32).reshape(2, 3) + 2
W = np.arange(6, dtype=np.float32).reshape(3, 2) - 1


def case_of(text: str, inputs: Mapping[str, Any], allowance: Allowance | None = None) -> Case:
    """Return a case of a model that nobody declared."""
    model = onnx.parser.parse_model(HEAD + text)
    values = Evaluator().model(model, inputs)
    return Case(
        id="folder/composed",
        operator="model",
        model=model.SerializeToString(),
        inputs=dict(inputs),
        outputs=tuple(values),
        outcome=Outcome.VALUES,
        expected=tuple(values.values()),
        allowance=allowance or Allowance("as a folder has it", rtol=1e-3, atol=1e-6),
    )
