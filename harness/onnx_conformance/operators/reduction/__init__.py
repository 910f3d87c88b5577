"""Reductions along axes.

One file an operator, as onnx/defs/reduction has them; `_name.py` is meaning that several of them share.
"""
