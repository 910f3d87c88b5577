"""Sequences of tensors.

One file an operator, as onnx/defs/sequence has them; `_name.py` is meaning that several of them share.
"""
