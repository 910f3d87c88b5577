# SPDX-License-Identifier: Apache-2.0
"""An optimizer of passes that are wrong: two alone, and two together. A user calls it by the functions of this file."""

from __future__ import annotations

import onnx

from onnx_conformance.backends.option import passes


def tidy(model: onnx.ModelProto) -> None:
    """Right: it removes the texts."""
    model.doc_string = ""


def fuse_negs(model: onnx.ModelProto) -> None:
    """Wrong: of two Neg that meet it leaves one."""
    made = {name: node for node in model.graph.node for name in node.output}
    for node in model.graph.node:
        before = made.get(node.input[0]) if node.input else None
        if node.op_type == "Neg" and before is not None and before.op_type == "Neg":
            node.input[0] = before.input[0]


def mark(model: onnx.ModelProto) -> None:
    """Wrong by itself for Ceil alone: it marks each Exp."""
    for node in model.graph.node:
        if node.op_type == "Ceil":
            node.op_type = "Neg"
        if node.op_type == "Exp":
            node.doc_string = "marked"


def replace_marked(model: onnx.ModelProto) -> None:
    """Wrong where something is marked."""
    for node in model.graph.node:
        if node.doc_string == "marked":
            node.op_type = "Abs"


def number(model: onnx.ModelProto) -> None:
    """Right: it gives the nodes names."""
    for index, node in enumerate(model.graph.node):
        node.name = f"node_{index}"


def simplify(model: onnx.ModelProto) -> None:
    """Wrong twice: it replaces Tanh by another operator, and ThresholdedRelu loses its alpha."""
    for node in model.graph.node:
        if node.op_type == "Tanh":
            node.op_type = "Softsign"
        if node.op_type == "ThresholdedRelu":
            node.ClearField("attribute")


PASSES = {item.__name__: item for item in (tidy, fuse_negs, mark, replace_marked, number, simplify)}


def optimize(model: onnx.ModelProto, names: tuple[str, ...]) -> onnx.ModelProto:
    for name in names:
        PASSES[name](model)
    return model


def info() -> dict[str, object]:
    chosen = list(passes(tuple(PASSES)).chosen)
    repro = f"import wrong_passes\n\nmodel = wrong_passes.optimize(model, {chosen!r})\n"
    return {"runtime": "wrong-passes", "version": "1", "passes": chosen, "repro": repro}


def transform(model: bytes) -> bytes:
    names = passes(tuple(PASSES)).chosen
    return bytes(optimize(onnx.load_from_string(model), names).SerializeToString())
