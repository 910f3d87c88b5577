# SPDX-License-Identifier: Apache-2.0
"""For adapters of quantizers: the inputs of a case as calibration data, and the check of the opset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import onnx

if TYPE_CHECKING:
    from collections.abc import Mapping

NO_KERNEL = ("NotImplemented", r"Could not find an implementation", "no kernel to calibrate with")
OLD_OPSET = ("OldOpsetError", r"", "opset below 10")
"""Rows of OPT_OUTS."""
OLDEST = 10
"""The opset that has QuantizeLinear."""


class OldOpsetError(Exception):
    """The model has an opset without QuantizeLinear."""


class OneRow:
    """Reads one set of inputs, with the methods of a CalibrationDataReader."""

    def __init__(self, inputs: Mapping[str, Any]) -> None:
        """Begin with the first row.

        Args:
            inputs: the inputs by name.
        """
        self._inputs = dict(inputs)
        self.rewind()

    def rewind(self) -> None:
        """Start again."""
        self._rows = [self._inputs]

    def get_next(self) -> dict[str, Any] | None:
        """Return the next set of inputs, or None."""
        return self._rows.pop() if self._rows else None


def loaded(model: bytes) -> onnx.ModelProto:
    """Return a model that can be quantized.

    Raises:
        OldOpsetError: the model has an opset without the operators of quantized models.
    """
    proto = onnx.load_from_string(model)
    if any(item.version < OLDEST for item in proto.opset_import if item.domain in {"", "ai.onnx"}):
        raise OldOpsetError
    return proto
