# SPDX-License-Identifier: Apache-2.0
"""The oracle in a separate process: it evaluates models that a tool returned, which may be arbitrary."""

from __future__ import annotations

import atexit
import dataclasses
import functools
from typing import TYPE_CHECKING

import onnx
from google.protobuf.message import DecodeError

from onnx_conformance.case.case import PLAIN, by_itself
from onnx_conformance.environments import backend_names
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.processes.asker import Asker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_conformance.base.values import Value
    from onnx_conformance.case.case import Case
    from onnx_conformance.processes.replies import Reply, ReturnedModel

SECONDS = 30.0
"""How long the oracle may take for one model."""
ADAPTER = "onnx_conformance.specification.examiner"


def evaluated(case: Case, model: bytes, inputs: Mapping[str, Value]) -> Reply:
    """Return the oracle's reply for a model with these inputs; the outputs are those of the case.

    The oracle has all optional features that a form may need of an adapter, so it is asked as for a plain case.
    """
    plain = dataclasses.replace(by_itself(case), form=PLAIN)
    asked = dataclasses.replace(plain, model=model, inputs=dict(inputs), files={}, earlier=None)
    return _process().ask(asked)


@functools.cache
def _process() -> Asker:
    asker = Asker(backend_names.resolve(ADAPTER), Limits(timeout=SECONDS, restarts=1 << 30))
    atexit.register(close)
    return asker


def close() -> None:
    """End the process, if there is one; the next question starts another."""
    if _process.cache_info().currsize:
        _process().close()
        _process.cache_clear()


def parsed(reply: ReturnedModel) -> onnx.ModelProto | str:
    """Return the model of a reply, or the reason why it is not a model."""
    if reply.model is None:
        return f"a model of {reply.size:,} bytes, which was not read: it is far larger than the case can need"
    try:
        made = onnx.load_from_string(reply.model)
    except (DecodeError, ValueError):
        return f"{reply.size:,} bytes that are not a ModelProto"
    return made if made.HasField("graph") else f"{reply.size:,} bytes that contain a ModelProto without a graph"
