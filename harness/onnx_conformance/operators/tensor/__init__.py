# SPDX-License-Identifier: Apache-2.0
"""Operators that move, select, resize and convert elements.

Each operator has one file, as in onnx/defs/tensor. A file `_name.py` contains code that several operators share.
"""
