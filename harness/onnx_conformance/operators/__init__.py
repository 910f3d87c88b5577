"""The meaning of ONNX: one file an operator, with the sentences of its text, its oracle and its cases.

Folders are those of onnx/defs. Files here import `onnx_conformance.declare`, numpy, and the `_name.py` beside
them, and nothing else. `onnx_conformance.specification.registry` finds every `Op`.
"""
