# SPDX-License-Identifier: Apache-2.0
"""Layers of neural networks: convolutions, pools, normalizations, attention.

Each operator has one file, as in onnx/defs/nn. A file `_name.py` contains code that several operators share.
"""
