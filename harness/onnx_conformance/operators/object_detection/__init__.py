"""Boxes.

One file an operator, as onnx/defs/object_detection has them; `_name.py` is meaning that several of them share.
"""
