# SPDX-License-Identifier: Apache-2.0
"""Producers: adapters of exporters, which make ONNX models of the programs of a framework; see ../README.md."""
