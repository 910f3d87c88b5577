# SPDX-License-Identifier: Apache-2.0
"""Reductions along axes.

Each operator has one file, as in onnx/defs/reduction. A file `_name.py` contains code that several operators share.
"""
