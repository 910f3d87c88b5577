# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on numbers.

Each operator has one file, as in onnx/defs/math. A file `_name.py` contains code that several operators share.
"""
