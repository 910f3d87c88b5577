# SPDX-License-Identifier: Apache-2.0
"""`python -m onnx_conformance`: the command `onnx-conformance`."""

from onnx_conformance.cli import entry

entry()
