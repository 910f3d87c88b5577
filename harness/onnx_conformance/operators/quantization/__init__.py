"""Quantization to few bits and back.

One file an operator, as onnx/defs/quantization has them; `_name.py` is meaning that several of them share.
"""
