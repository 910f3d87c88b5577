"""`python -m onnx_conformance`: the command `onnx-conformance`."""

from onnx_conformance.cli import entry

entry()
