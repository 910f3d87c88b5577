# SPDX-License-Identifier: Apache-2.0
"""The operators of onnx.defs, and the evaluator of whole models, which applies the oracles node by node.

Imports `declare` and `operators` only.
"""
