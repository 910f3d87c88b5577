"""The operators of ai.onnx.ml.

One file an operator, as onnx/defs/traditionalml has them; `_name.py` is meaning that several of them share.
"""
