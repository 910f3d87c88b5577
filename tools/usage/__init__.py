"""The counts of `onnx_conformance.usage`: collects real models, exports others, and counts the calls of their nodes."""
