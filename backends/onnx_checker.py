# SPDX-License-Identifier: Apache-2.0
"""onnx.checker.check_model; onnx_checker[full] infers types and shapes, too, strictly."""

from __future__ import annotations

from typing import Any

import onnx
import onnx.checker

from onnx_conformance.backends.option import option

FORK = True
OPTIONS = ("plain", "full")
REPRO = """\
import onnx.checker

onnx.checker.check_model(model, full_check={full})
"""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    full = option(OPTIONS) == "full"
    return {
        "runtime": "onnx.checker, full" if full else "onnx.checker",
        "version": onnx.__version__,
        "onnx": onnx.__version__,
        "repro": REPRO.format(full=full),
        # Without types and shapes, it can detect only violations of the signature.
        "phases": ["signature", "static"] if full else ["signature"],
    }


def check(model: bytes) -> None:
    """Raise an error where the checker forbids the model."""
    onnx.checker.check_model(model, full_check=option(OPTIONS) == "full")
