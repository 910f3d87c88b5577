# SPDX-License-Identifier: Apache-2.0
"""Optional values.

Each operator has one file, as in onnx/defs/optional. A file `_name.py` contains code that several operators share.
"""
