# SPDX-License-Identifier: Apache-2.0
"""The sentence on models that a model returned by a tool violates.

These sentences are not on operators. They are in onnx's IR.md or onnx.proto, or in the documentation of the tool.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class ModelRule(NamedTuple):
    """A sentence on models.

    Attributes:
        message: the messages on models that violate it.
        text: the sentence, in onnx's IR.md or onnx.proto.
    """

    message: re.Pattern[str]
    text: str


OF_SIGNATURE = (
    "The number of inputs and outputs in a node, their types, the set of attributes specified in a node and their "
    "types MUST satisfy the constraints imposed by the signature of the node’s operator."  # noqa: RUF001 - as in IR.md
)
RULES = (
    ModelRule(
        re.compile(r"^Field 'shape' of 'type' is required\b"),
        "The main graph inputs and outputs are required to have a shape, indicating the rank, even though the exact "
        "dimensions need not be specified.",
    ),
    ModelRule(
        re.compile(r"^Field 'type' of 'value_info' is required\b"),
        "Each main (top-level) graph MUST define the names, types and shapes of its inputs and outputs, which are "
        "specified as ‘value info’ structures.",  # noqa: RUF001 - as in IR.md
    ),
    ModelRule(  # The new rule of IR version 4. It does not apply to the models of earlier versions.
        re.compile(r" in initializer but not in graph input$"),
        "IR VERSION 4 published on Jan 22, 2019 - Relax constraint that initializers should be a subset of graph "
        "inputs",
    ),
    ModelRule(
        re.compile(r"^No opset import for domain "),
        "All ModelProtos MUST have at least one entry that specifies which version of the ONNX OperatorSet is being "
        "imported.",
    ),
    ModelRule(
        re.compile(r"^No Op registered for "),
        "Each operator used within a graph MUST be explicitly declared by one of the operator sets imported by the "
        "model.",
    ),
    ModelRule(
        re.compile(r"\b(?:static single|single static) assignment\b"),
        "The graph MUST adhere to single static assignment (SSA) for all node outputs; this means that all node output "
        "names MUST be unique within a graph.",
    ),
    ModelRule(
        re.compile(r"^Nodes in a graph must be topologically sorted\b"),
        "The list of nodes defining the top-level computation graph MUST be ordered topologically; that is, if node K "
        "follows node N in the graph, none of the data inputs of N may refer to outputs of K.",
    ),
    ModelRule(
        re.compile(r"^Graph output .* is not an output of any node\b"),
        "When the name of a node output coincides with the name of a graph output, the graph output's value is the "
        "corresponding output value computed by that node.",
    ),
    ModelRule(
        re.compile(r"^Negative dimension value\b"),
        "Mathematically, a tensor can be defined as a pair of sequences/lists (V, S) where S is the shape of the "
        "tensor (a list of non-negative integers) and V is a list of values with length equal to the product of the "
        "dimensions in S.",
    ),
    ModelRule(
        re.compile(r"^Sparse tensor indices\b"),
        "The indices of the non-default values, which may be stored in one of two formats.",
    ),
    ModelRule(
        re.compile(
            r"^Mismatched attribute type\b|^Unrecognized attribute\b|^Required attribute\b|\bTypeInferenceError\b"
            r"|^Node ?\(.*\) with schema\(.*\) has (?:input|output) size\b|\bType Error\b"
        ),
        OF_SIGNATURE,
    ),
)
_REASON = re.compile(r"^(?:the model checker|strict shape inference) rejects the \w+ model: (?P<reason>.*)", re.DOTALL)
"""The message on a model that onnx rejects."""
_FORBIDDEN = re.compile(r"^the specification forbids the \w+ model: «(?P<text>.*)»", re.DOTALL)
"""The message on a model that violates a sentence of the text of an operator."""
_INTERFACE = re.compile(r"^its outputs? |^it has the inputs ")
"""The message on a model whose inputs or outputs are not those of the original."""


def broken(message: str, promise: str = "") -> str:
    """Return the sentence that a returned model violates; empty if it is unknown.

    Args:
        message: the message of the verdict `invalid_model`.
        promise: the sentence of the tool's documentation on the inputs and outputs of the returned model.
    """
    if (forbidden := _FORBIDDEN.match(message)) is not None:
        return forbidden["text"]
    if _INTERFACE.match(message):
        return promise
    match = _REASON.match(message)
    reason = match["reason"] if match is not None else ""
    return next((rule.text for rule in RULES if reason and rule.message.search(reason)), "")
