# SPDX-License-Identifier: Apache-2.0
"""Comparisons and logical operators.

Each operator has one file, as in onnx/defs/logical. A file `_name.py` contains code that several operators share.
"""
