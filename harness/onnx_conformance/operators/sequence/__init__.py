# SPDX-License-Identifier: Apache-2.0
"""Sequences of tensors.

Each operator has one file, as in onnx/defs/sequence. A file `_name.py` contains code that several operators share.
"""
