"""Strings.

One file an operator, as onnx/defs/text has them; `_name.py` is meaning that several of them share.
"""
