"""The operators of ai.onnx.preview.training.

One file an operator, as onnx/defs/training has them; `_name.py` is meaning that several of them share.
"""
