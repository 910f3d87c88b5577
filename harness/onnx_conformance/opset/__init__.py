# SPDX-License-Identifier: Apache-2.0
"""Changes in ONNX between two opsets or two onnx packages, and their effects on the cases."""
