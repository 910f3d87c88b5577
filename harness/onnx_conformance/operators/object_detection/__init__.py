# SPDX-License-Identifier: Apache-2.0
"""Boxes.

Each operator has one file, as in onnx/defs/object_detection. A file `_name.py` contains code that several operators
share.
"""
