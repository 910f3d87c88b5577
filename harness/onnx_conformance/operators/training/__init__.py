# SPDX-License-Identifier: Apache-2.0
"""The operators of ai.onnx.preview.training.

Each operator has one file, as in onnx/defs/training. A file `_name.py` contains code that several operators share.
"""
