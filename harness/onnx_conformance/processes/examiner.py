# SPDX-License-Identifier: Apache-2.0
"""The oracle in a separate process: it evaluates models that a tool returned, which may be arbitrary."""

from __future__ import annotations

import atexit
import dataclasses
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


def evaluated(
    case: Case,
    model: bytes,
    inputs: Mapping[str, Value],
    adapter: str = ADAPTER,
    outputs: tuple[str, ...] | None = None,
) -> Reply:
    """Return the oracle's reply for a model with these inputs.

    The oracle has all optional features that a form may need of an adapter, so it is asked as for a plain case.

    Args:
        case: the case that the model belongs to.
        model: serialized.
        inputs: by name.
        adapter: the module that evaluates the model, in a process that is kept.
        outputs: the names of the outputs; None: those of the case.
    """
    plain = dataclasses.replace(by_itself(case), form=PLAIN, outputs=case.outputs if outputs is None else outputs)
    return _asker(adapter).ask(dataclasses.replace(plain, model=model, inputs=dict(inputs), files={}, earlier=None))


def _asker(adapter: str) -> Asker:
    if adapter not in _processes:
        _processes[adapter] = Asker(backend_names.resolve(adapter), Limits(timeout=SECONDS, restarts=1 << 30))
        if len(_processes) == 1:
            atexit.register(close)
    return _processes[adapter]


_processes: dict[str, Asker] = {}
"""The running process of each evaluator."""


def close() -> None:
    """End the processes, if there are any; the next question starts another."""
    while _processes:
        _processes.popitem()[1].close()


def parsed(model: bytes) -> onnx.ModelProto | str:
    """Return a model, or the reason why bytes are not a model."""
    try:
        made = onnx.load_from_string(model)
    except (DecodeError, ValueError):
        return f"{len(model):,} bytes that are not a ModelProto"
    return made if made.HasField("graph") else f"{len(model):,} bytes that contain a ModelProto without a graph"


def parsed_reply(reply: ReturnedModel) -> onnx.ModelProto | str:
    """Return the model of a reply, or the reason why it is not a model."""
    if reply.model is None:
        return f"a model of {reply.size:,} bytes, which was not read: it is far larger than the case can need"
    return parsed(reply.model)
