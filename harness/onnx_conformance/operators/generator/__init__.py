"""Constants, ranges and random numbers.

One file an operator, as onnx/defs/generator has them; `_name.py` is meaning that several of them share.
"""
