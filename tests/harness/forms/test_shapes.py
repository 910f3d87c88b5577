# SPDX-License-Identifier: Apache-2.0
"""Forms without declared shapes: dimensions that the text equates have one symbol."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest

from onnx_conformance.forms import shapes
from onnx_conformance.generation import deliveries, plans
from onnx_conformance.specification import registry, schema

if TYPE_CHECKING:
    from onnx_conformance.forms.delivered import Delivered


def start_of(operator: str, since: int, name: str) -> Delivered:
    op = registry.load().named(operator)
    specs = [spec for spec in plans.specs_of(op, schema.in_force(op.domain, op.name, since)) if spec.name == name]
    return deliveries.started(next(plans.plans(op, (since,), specs)))


def symbols(delivered: Delivered | None) -> dict[str, list[str]]:
    assert delivered is not None
    graph = delivered.model.graph
    return {
        item.name: [dim.dim_param for dim in item.type.tensor_type.shape.dim] for item in (*graph.input, *graph.output)
    }


@pytest.mark.parametrize(
    ("operator", "since", "name", "expected"),
    [
        ("MatMul", 13, "shapes_2x3x4_and_4x5", {"A": ["A_0", "M", "K"], "B": ["K", "N"], "Y": ["Y_0", "M", "N"]}),
        ("MatMul", 13, "shapes_4_and_4", {"A": ["K"], "B": ["K"], "Y": []}),
        ("Gemm", 13, "transposed_a", {"A": ["K", "M"], "B": ["K", "N"], "C": ["M", "N"], "Y": ["M", "N"]}),
        ("Einsum", 12, "product", {"Inputs_0": ["index_i", "index_j"], "Inputs_1": ["index_j", "index_k"]}),
        ("Concat", 13, "columns", {"inputs_0": ["size_0", "inputs_0_1"], "inputs_1": ["size_0", "inputs_1_1"]}),
        ("Conv", 22, "bias_every_attribute", {"X": ["N", "C", "H", "W"], "W": ["M", "C", "kH", "kW"], "B": ["M"]}),
        (
            "LSTM",
            22,
            "layout_1_forward",
            {"X": ["batch_size", "seq_length", "input_size"], "Y_h": ["batch_size", "num_directions", "hidden_size"]},
        ),
    ],
)
def test_dimensions_that_the_text_equates_have_one_symbol(
    operator: str, since: int, name: str, expected: dict[str, list[str]]
) -> None:
    made = symbols(shapes.symbolic(start_of(operator, since, name)))
    assert {name: made[name] for name in expected} == expected


def test_the_heads_of_attention_have_one_size() -> None:
    made = symbols(shapes.symbolic(start_of("Attention", 23, "past_causal_before_24")))
    assert made["Q"] == ["batch_size", "q_num_heads", "q_sequence_length", "head_size"]
    assert made["K"] == ["batch_size", "kv_num_heads", "kv_sequence_length", "head_size"]
    assert made["past_value"][0] == made["Y"][0] == "batch_size"


def test_a_dimension_of_another_size_has_its_own_symbol() -> None:
    start = start_of("MatMul", 13, "shapes_2x4_and_4")
    assert symbols(shapes.symbolic(start))["B"] == ["K"]
    for other in ({"A": np.zeros((2, 5)), "B": np.zeros(6)}, {"A": np.zeros((2, 4)), "B": np.zeros(5)}):
        earlier = dataclasses.replace(start, another=other)  # The inputs of an earlier call have other sizes.
        assert symbols(shapes.twice(earlier))["B"] == ["B_0"]
    alike = dataclasses.replace(start, another={"A": np.zeros((2, 5)), "B": np.zeros(5)})
    assert symbols(shapes.twice(alike))["B"] == ["K"]
