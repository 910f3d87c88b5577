# SPDX-License-Identifier: Apache-2.0
"""Whether a smaller model is still valid.

A smaller case may lack an input that the oracle does not evaluate, because a branch is not taken. It may also pass an
attribute to a version in which the attribute has another type. A runtime may refuse such models.
"""

from __future__ import annotations

import onnx
import onnx.checker


def is_valid(model: onnx.ModelProto | bytes, *, full: bool = False) -> bool:
    """Return whether onnx's model checker accepts a model.

    Args:
        model: the model, or its bytes.
        full: whether shape inference must accept it, too.
    """
    try:
        onnx.checker.check_model(model, full_check=full)
    except Exception:  # noqa: BLE001 - it raises its own errors, and those of shape inference
        return False
    return True
