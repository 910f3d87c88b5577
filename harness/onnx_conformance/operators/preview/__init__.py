# SPDX-License-Identifier: Apache-2.0
"""The operators of ai.onnx.preview.

Each operator has one file, as in onnx/defs/preview. A file `_name.py` contains code that several operators share.
"""
