# SPDX-License-Identifier: Apache-2.0
"""The operators whose results have no size at which a fault appears, and the reasons."""

from __future__ import annotations

_SCALAR = {"ai.onnx/SequenceLength": "The result is a scalar, and no tensor is read."}
_OPEN = {"ai.onnx.ml/SVMRegressor": "The text defines no kernel, so it defines no score."}
_ANY_LABEL = {"ai.onnx.ml/SVMClassifier": "The text allows each of the labels for every row, so no element matters."}
EXEMPT: dict[str, dict[str, str]] = {
    "the last n % 8 elements of the innermost dimension": {
        **_SCALAR,
        **_OPEN,
        "ai.onnx/AffineGrid": "The innermost dimension is the number of coordinates, 2 or 3.",
        "ai.onnx/DFT": "The innermost dimension is the two parts of a complex number.",
        "ai.onnx/GlobalAveragePool": "The innermost dimension is 1.",
        "ai.onnx/GlobalLpPool": "The innermost dimension is 1.",
        "ai.onnx/GlobalMaxPool": "The innermost dimension is 1.",
        "ai.onnx/NonMaxSuppression": "The innermost dimension is the three indices of a box.",
        "ai.onnx/STFT": "The innermost dimension is the two parts of a complex number.",
    },
    "everything after element 65,535": {**_SCALAR, **_OPEN, **_ANY_LABEL},
    "the last row of the part of a thread": {**_SCALAR, **_OPEN},
    "one wrong value of 65,536": {"ai.onnx/Not": "A boolean has two values."},
}
"""By the name of a fault: operators and reasons."""
