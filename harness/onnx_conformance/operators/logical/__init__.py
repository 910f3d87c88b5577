"""Comparisons and truth values.

One file an operator, as onnx/defs/logical has them; `_name.py` is meaning that several of them share.
"""
