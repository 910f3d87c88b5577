# SPDX-License-Identifier: Apache-2.0
"""The whole sentence around a quoted part of an operator's text."""

from __future__ import annotations

import onnx
import pytest

from onnx_conformance.analysis.whole_sentence import MOST, whole
from onnx_conformance.specification import registry, schema

SAME = "SAME_UPPER or SAME_LOWER: output_spatial_shape[i] = ceil(input_spatial_shape[i] / strides_spatial_shape[i])"
POOLING = "GlobalLpPool consumes an input tensor X and applies lp pool pooling across the values in the same channel."
AVERAGE = (
    "In general, it calculates every value in the output tensor as a weighted average of neighborhood "
    "(a.k.a. sampling locations) in the input tensor."
)
NORMALIZATION = "Perform mean variance normalization on the input tensor X using formula:"
LOGARITHM = (
    "The operator computes the log of softmax values for the given input: "
    "LogSoftmax(input, axis) = Log(Softmax(input, axis=axis))"
)
EQUATION = "The `output` is calculated via the following equation:"
KEPT = (
    "The resulting tensor has the same rank as the input if `keepdims` equals 1. If `keepdims` equals 0, then the "
    "resulting tensor has the reduced dimension pruned."
)
SCALE = (
    "Scale tensor for input 'w'. It could be a scalar or a 1-D tensor, which means a per-tensor/layer or per output "
    "channel quantization."
)
KERNEL = (
    "For more than 2 dimensions, the kernel shape will be (M x C/group x k1 x k2 x ... x kn), where (k1 x k2 x "
    "... kn) is the dimension of the kernel."
)


@pytest.mark.parametrize(
    ("operator", "version", "quote", "sentence"),
    [
        ("Conv", 22, "Stride along each", "Stride along each spatial axis."),
        ("Slice", 1, "xes that `starts` and `ends` apply to.", "Axes that `starts` and `ends` apply to."),
        ("GlobalLpPool", 22, "the values in the same channel", POOLING),
        # A line of code and an item of a list end with their line; the mark of an item is no part of it.
        ("MaxPool", 22, SAME, SAME),
        (
            "BatchNormalization",
            15,
            "running_mean = input_mean * momentum + current_mean * (1 - momentum)",
            "running_mean = input_mean * momentum + current_mean * (1 - momentum)",
        ),
        ("LSTM", 22, "Relu(x) - max(0, x)", "Relu(x) - max(0, x)"),
        ("LSTM", 22, "* Relu(x) - max(0, x)", "Relu(x) - max(0, x)"),
        ("Cast", 23, "| Inf | FLT_MAX | NaN | FLT_MAX | NaN |", "| Inf | FLT_MAX | NaN | FLT_MAX | NaN |"),
        # An abbreviation and an ellipsis do not end a sentence.
        ("Resize", 19, "as a weighted average of neighborhood", AVERAGE),
        ("Conv", 22, "For more than 2 dimensions, the kernel shape will be", KERNEL),
        # A quote that ends in a second sentence.
        (
            "ReduceSumSquare",
            18,
            "has the same rank as the input if `keepdims` equals 1. If `keepdims` equals 0, then the resulting tensor",
            KEPT,
        ),
        ("QLinearConv", 10, "Scale tensor for input 'w'. It could be a scalar or a 1-D tensor", SCALE),
        # The formula after a colon belongs to the sentence if it is one line.
        ("MeanVarianceNormalization", 13, NORMALIZATION, f"{NORMALIZATION} (X-EX)/sqrt(E(X-EX)^2)"),
        ("LogSoftmax", 13, "The operator computes the log", LOGARITHM),
        ("ScatterND", 18, "calculated via the following equation:", EQUATION),
        # Not in the text, as the rules of a signature.
        ("Relu", 14, "Signature: X: T", "Signature: X: T"),
    ],
)
def test_a_part_of_a_sentence_is_completed(operator: str, version: int, quote: str, sentence: str) -> None:
    assert whole(schema.source("ai.onnx", operator, version), quote) == sentence


def test_a_long_text_without_a_full_stop_is_no_sentence() -> None:
    words = "word " * MOST
    source = onnx.defs.OpSchema("Foo", "com.example", 1, doc=f"{words} the quote {words}")
    assert whole(source, "the quote") == "the quote"


@pytest.mark.parametrize(("line", "added"), [("y = f(a)", " y = f(a)"), ("y = f(a,", ""), ("no formula", "")])
def test_only_a_whole_formula_follows_a_colon(line: str, added: str) -> None:
    source = onnx.defs.OpSchema("Foo", "com.example", 1, doc=f"It is computed as follows:\n\n{line}\n\nMore.")
    assert whole(source, "computed as") == f"It is computed as follows:{added}"


def test_the_whole_sentence_contains_the_quote_and_is_whole() -> None:
    for name in ("Attention", "Cast", "Conv", "Einsum", "LSTM", "Loop", "Resize", "Scan", "SequenceMap", "Split"):
        op = registry.load().named(f"ai.onnx/{name}")
        for version in schema.versions("ai.onnx", name):
            source = schema.source("ai.onnx", name, version.since)
            for clause in (item.text for item in op.clauses if item.in_force(version.since)):
                found = whole(source, clause)
                assert clause.lstrip("*-0123456789.) ") in found or found in whole(source, found), (name, clause, found)
                assert whole(source, found) == found, (name, clause, found)
