"""What onnx.defs says of operators, and the evaluator of whole models: the oracles applied node by node.

Imports `declare` and `operators` only.
"""
