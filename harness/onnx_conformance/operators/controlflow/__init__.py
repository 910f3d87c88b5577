"""If, Loop and Scan.

One file an operator, as onnx/defs/controlflow has them; `_name.py` is meaning that several of them share.
"""
