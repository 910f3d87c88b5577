"""The operators of onnx.defs, and the evaluator of whole models: the oracles applied node by node.

Imports `declare` and `operators` only.
"""
