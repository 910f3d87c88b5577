"""The executable meaning of ONNX operator versions, and a harness that holds any runtime against it."""

__version__ = "0.1.0"
