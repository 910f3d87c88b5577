"""The operators whose results have no size at which a fault appears, and the reasons."""

from __future__ import annotations

EXEMPT: dict[str, dict[str, str]] = {
    "the last n % 8 elements of the innermost dimension": {
        "ai.onnx/AffineGrid": "The innermost dimension is the number of coordinates, 2 or 3.",
        "ai.onnx/DFT": "The innermost dimension is the two parts of a complex number.",
        "ai.onnx/GlobalAveragePool": "The innermost dimension is 1.",
        "ai.onnx/GlobalLpPool": "The innermost dimension is 1.",
        "ai.onnx/GlobalMaxPool": "The innermost dimension is 1.",
        "ai.onnx/NonMaxSuppression": "The innermost dimension is the three indices of a box.",
        "ai.onnx/STFT": "The innermost dimension is the two parts of a complex number.",
        "ai.onnx/SequenceLength": "The result is a scalar.",
        "ai.onnx.ml/SVMRegressor": "The innermost dimension is 1.",
    },
    "everything after element 65,535": {"ai.onnx/SequenceLength": "The result is a scalar, and no tensor is read."},
    "the last row of the part of a thread": {"ai.onnx/SequenceLength": "The result is a scalar."},
    "one wrong value of 65,536": {"ai.onnx/Not": "A boolean has two values."},
}
"""By the name of a fault: operators and reasons."""
