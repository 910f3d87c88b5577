"""Image files.

One file an operator, as onnx/defs/image has them; `_name.py` is meaning that several of them share.
"""
