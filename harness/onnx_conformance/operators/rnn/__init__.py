# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers.

Each operator has one file, as in onnx/defs/rnn. A file `_name.py` contains code that several operators share.
"""
