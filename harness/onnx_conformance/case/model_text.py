"""A model as text for people, in ONNX's text syntax if possible; the model may be invalid."""

from __future__ import annotations

import re

import onnx
import onnx.printer

from onnx_conformance.base.verdict import clean, line


def model_text(model: bytes, limit: int, printed: str = "") -> str:
    """Return a serialized ModelProto as text without control characters, of at most about `limit` characters.

    `printed` is what onnx.printer has for it, where somebody asked it already.

    A model that onnx.printer cannot write is written as protobuf text, after a line that says so.
    """
    if printed:
        return _harmless(printed, limit)
    try:
        proto = onnx.load_from_string(model)
        try:
            return _harmless(onnx.printer.to_text(proto), limit)
        except Exception as error:  # noqa: BLE001 - whatever a model from outside breaks in the printer
            why = f"# onnx.printer has no text for this model: {type(error).__name__}: {line(error)}"
            return _harmless(f"{why}\n{proto}", limit)
    except Exception as error:  # noqa: BLE001 - names that are no UTF-8 break protobuf's text as well
        return f"# This model cannot be written as text: {type(error).__name__}: {line(error)}"


def _harmless(text: str, limit: int) -> str:
    """Return a text that controls neither a terminal nor, by a line that begins with ::, a GitHub runner."""
    return re.sub(r"^(\s*):(?=:)", r"\1\\x3a", clean(text, limit), flags=re.MULTILINE)
