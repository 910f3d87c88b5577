# SPDX-License-Identifier: Apache-2.0
"""Sources of cases: generated, official (the installed onnx package), or a folder in ONNX's layout.

Imports `generation` and its imports.
"""
