"""Optional values.

One file an operator, as onnx/defs/optional has them; `_name.py` is meaning that several of them share.
"""
