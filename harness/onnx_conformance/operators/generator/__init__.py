# SPDX-License-Identifier: Apache-2.0
"""Constants, ranges and random numbers.

Each operator has one file, as in onnx/defs/generator. A file `_name.py` contains code that several operators share.
"""
