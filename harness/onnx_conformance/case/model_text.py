# SPDX-License-Identifier: Apache-2.0
"""A model as text for people, in ONNX's text syntax if possible; the model may be invalid."""

from __future__ import annotations

import re

import onnx
import onnx.printer

from onnx_conformance.base.verdict import clean, line


def model_text(model: bytes, limit: int, printed: str = "") -> str:
    """Return a serialized ModelProto as text without control characters, of at most about `limit` characters.

    `printed` is the text of onnx.printer, if the caller has it already.

    If onnx.printer cannot write the model, the result is its protobuf text, after a line with the error.
    """
    if printed:
        return _harmless(printed, limit)
    try:
        proto = onnx.load_from_string(model)
        try:
            return _harmless(onnx.printer.to_text(proto), limit)
        except Exception as error:  # noqa: BLE001 - a foreign model may cause any error in the printer
            why = f"# onnx.printer cannot write this model: {type(error).__name__}: {line(error)}"
            return _harmless(f"{why}\n{proto}", limit)
    except Exception as error:  # noqa: BLE001 - names that are not UTF-8 break protobuf's text as well
        return f"# This model cannot be written as text: {type(error).__name__}: {line(error)}"


def _harmless(text: str, limit: int) -> str:
    """Return the text without control characters of terminals, and without GitHub runner commands (lines with ::)."""
    return re.sub(r"^(\s*):(?=:)", r"\1\\x3a", clean(text, limit), flags=re.MULTILINE)
