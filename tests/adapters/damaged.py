# SPDX-License-Identifier: Apache-2.0
"""A correct runtime with one damaged node, or one wrong fusion, which its option names.

`damaged.py[node=NAME]` changes the result of the node with that name. `damaged.py[fuse=A+B]` changes the result of B if
A is computed right before it and nobody else reads A's result: as a runtime does that fuses both, wrongly. With the
level `none`, as in `damaged.py[none,fuse=A+B]`, nothing is fused. `damaged.py[crash=NAME]` ends at that node, and
`damaged.py[lacks=NAME]` refuses it as not supported. `damaged.py[fuses=NAME]` changes its numbers by a millionth if the
model has other nodes, `damaged.py[inexact=NAME]` always does, `damaged.py[cuts=NAME]` cuts its integers to 32 bits,
`damaged.py[flushes=NAME]` returns 0 for numbers below the smallest normal one, and `damaged.py[flattens=NAME]` returns
vectors.
"""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from onnx_conformance.specification.evaluator import Evaluator
from onnx_conformance.specification.evaluator import info as of_oracle

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LEVELS = ("none", "all")
OPT_OUTS = (("NotImplementedError", r"", "no kernel"),)
WORDS = [word for word in os.environ.get("ONNX_CONFORMANCE_OPTION", "").split(",") if word]
LEVEL = next((word for word in WORDS if word in LEVELS), "all")
CHOSEN = dict(word.split("=", 1) for word in WORDS if "=" in word)


def info() -> dict[str, Any]:
    """Return the members of the hello message."""
    return {**of_oracle(), "runtime": "damaged", "levels": list(LEVELS)}


class _Damaged(Evaluator):
    def __init__(self, model: onnx.ModelProto) -> None:
        super().__init__()
        self.names = {CHOSEN.get("node", ""), self._fused(model)}
        self.alone = len(model.graph.node) == 1

    @staticmethod
    def _fused(model: onnx.ModelProto) -> str:
        """Return the name of the node that is fused with the one before it, wrongly."""
        first, _, second = CHOSEN.get("fuse", "").partition("+")
        nodes = {node.name: node for node in model.graph.node}
        if LEVEL == "none" or first not in nodes or second not in nodes:
            return ""
        read = [name for node in model.graph.node for name in node.input] + [item.name for item in model.graph.output]
        (only,) = nodes[first].output
        return second if only in nodes[second].input and read.count(only) == 1 else ""

    def applied(self, node: onnx.NodeProto, *rest: Any) -> Any:
        answer = super().applied(node, *rest)
        if node.name and node.name == CHOSEN.get("crash"):
            os._exit(3)
        if node.name and node.name == CHOSEN.get("lacks"):
            raise NotImplementedError
        if node.name and node.name in self.names:
            return dataclasses.replace(answer, outputs=[_changed(value) for value in answer.outputs])
        for word, change in CHANGES.items():
            if node.name and node.name == CHOSEN.get(word) and not (word == "fuses" and self.alone):
                return dataclasses.replace(answer, outputs=[change(value) for value in answer.outputs])
        return answer


def _changed(value: Any) -> Any:
    """Return a tensor in which one element is wrong."""
    if not isinstance(value, np.ndarray) or not value.size:
        return value
    changed = value.copy()
    last = changed.reshape(-1)[-1]
    changed.reshape(-1)[-1] = (not last) if value.dtype.kind == "b" else last + np.asarray(1, value.dtype)
    return changed


CHANGES: dict[str, Callable[[Any], Any]] = {
    "fuses": lambda value: (value * (1 + 1e-6)).astype(value.dtype),
    "inexact": lambda value: (value * (1 + 1e-6)).astype(value.dtype),
    "flattens": lambda value: value.reshape(-1),
    "cuts": lambda value: np.minimum(value, np.iinfo(np.int32).max),
    "flushes": lambda value: np.where(np.abs(value) < np.finfo(value.dtype).smallest_normal, 0, value),
}


def session(model: bytes, folder: str | None = None) -> Callable[[dict[str, Any], Sequence[str]], list[Any]]:
    """Return a function that runs a model."""
    assert folder is None
    proto = onnx.load_from_string(model)

    def run(inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
        answers = _Damaged(proto).model(proto, inputs)
        return [answers[name] for name in outputs]

    return run


def run(model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
    """Return the values of `outputs`, in that order."""
    return session(model)(inputs, outputs)
