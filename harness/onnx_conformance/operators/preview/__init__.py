"""The operators of ai.onnx.preview.

One file an operator, as onnx/defs/preview has them; `_name.py` is meaning that several of them share.
"""
