# SPDX-License-Identifier: Apache-2.0
"""Quantization to few bits and back.

Each operator has one file, as in onnx/defs/quantization. A file `_name.py` contains code that several operators share.
"""
