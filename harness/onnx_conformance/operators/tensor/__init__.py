"""Elements moved, selected, resized and converted.

One file an operator, as onnx/defs/tensor has them; `_name.py` is meaning that several of them share.
"""
