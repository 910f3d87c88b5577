"""Recurrent layers.

One file an operator, as onnx/defs/rnn has them; `_name.py` is meaning that several of them share.
"""
