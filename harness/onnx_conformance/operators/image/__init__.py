# SPDX-License-Identifier: Apache-2.0
"""Image files.

Each operator has one file, as in onnx/defs/image. A file `_name.py` contains code that several operators share.
"""
