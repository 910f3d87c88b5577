"""Layers of neural networks: convolutions, pools, normalizations, attention.

One file an operator, as onnx/defs/nn has them; `_name.py` is meaning that several of them share.
"""
