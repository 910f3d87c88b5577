# SPDX-License-Identifier: Apache-2.0
"""Strings.

Each operator has one file, as in onnx/defs/text. A file `_name.py` contains code that several operators share.
"""
