"""What changed in ONNX between two opsets or two onnx packages, and what that does to the cases."""
