"""Arithmetic on numbers.

One file an operator, as onnx/defs/math has them; `_name.py` is meaning that several of them share.
"""
