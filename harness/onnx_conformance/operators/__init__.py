# SPDX-License-Identifier: Apache-2.0
"""The meaning of ONNX: one file for each operator, with the sentences of its text, its oracle and its cases.

Folders are those of onnx/defs. Files here import only `onnx_conformance.declare`, numpy, and the `_name.py` files of
their folder. `onnx_conformance.specification.registry` finds every `Op`.
"""
