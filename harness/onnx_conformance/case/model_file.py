# SPDX-License-Identifier: Apache-2.0
"""Reads a model from a file that the user names."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import onnx

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import line

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 2 << 30
"""Maximum size of a model, in bytes; protobuf reads no larger message."""


def load_model(path: Path) -> onnx.ModelProto:
    """Return the model of a file, without its external data.

    Raises:
        HarnessError: the file cannot be read, is a pipe or a device, is too large, or is not a model.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise HarnessError("model-not-readable", f"cannot read {line(path)}: {error.strerror}") from None
    if not stat.S_ISREG(status.st_mode):
        raise HarnessError(
            "model-not-a-file", f"{line(path)} is a {_kind(status.st_mode)}; expected the file of a model"
        )
    if status.st_size > MOST_BYTES:
        size = f"{status.st_size:,} bytes; a model has at most {MOST_BYTES:,}"
        raise HarnessError("model-too-large", f"{line(path)} has {size}. Store its tensors as external data")
    try:
        return onnx.load(path, load_external_data=False)
    except OSError as error:
        raise HarnessError("model-not-readable", f"cannot read {line(path)}: {error.strerror}") from None
    except Exception as error:  # noqa: BLE001 - protobuf has its own errors
        raise HarnessError("not-a-model", f"{line(path)} is not an ONNX model: {line(error)}") from None


def load_nodes(path: Path) -> onnx.ModelProto:
    """Return the model of a file, which must have nodes, without its external data.

    Raises:
        HarnessError: as in load_model, or the model has no nodes.
    """
    model = load_model(path)
    if not model.graph.node and not model.functions:
        raise HarnessError(
            "not-a-model-with-nodes",
            f"{path} is not an ONNX model with nodes; expected a file that onnx.load() can read",
        )
    return model


def _kind(mode: int) -> str:
    """Return the kind of a file that is not a regular one."""
    if stat.S_ISDIR(mode):
        return "folder"
    return "pipe" if stat.S_ISFIFO(mode) else "device"
