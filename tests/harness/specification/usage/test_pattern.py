# SPDX-License-Identifier: Apache-2.0
"""Reading patterns from models."""

from __future__ import annotations

from collections import Counter

import onnx.parser
import pytest

from onnx_conformance.specification.usage.pattern import Pattern, inferred, of_model

OUTER = """
<ir_version: 10, opset_import: ["" : 17, "other" : 1]>
main (float[1,3,8,8] x, bool c) => (y) <float[4,3,3,3] w = {1}>
{
    k = Constant <value = int64[2] {1, -1}> ()
    a = Conv <pads = [1,1,1,1], group = 1, auto_pad = "NOTSET"> (x, w)
    b = Reshape (a, k)
    d = Concat <axis = -1> (b, b)
    e = other.Own <mode = "two words"> (d)
    y = If (c) <
        then_branch = g () => (float[1,512] u) { u = Relu(d) },
        else_branch = h () => (float[1,512] v) { v = Softmax <axis = 1> (d) }
    >
}
"""


def columns(text: str) -> list[list[str]]:
    model = inferred(onnx.parser.parse_model(text))
    return [pattern.columns() for pattern in of_model(model)]


def test_nodes_of_the_graph_and_of_subgraphs_have_patterns() -> None:
    assert columns(OUTER) == [
        ["ai.onnx/Constant/13", "T=int64", "value", "", "0"],
        ["ai.onnx/Conv/11", "T=float", "auto_pad=NOTSET group:1 pads", "X/4 W/4c", "1"],
        ["ai.onnx/Reshape/14", "T=float", "", "data/4 shape/1c", "2"],
        ["ai.onnx/Concat/13", "T=float", "axis:-", "inputs*/2", "2"],
        ["other/Own/1", "", "mode", "", "?"],
        ["ai.onnx/If/16", "B=bool V=float", "else_branch then_branch", "cond/0", "0"],
        ["ai.onnx/Relu/14", "T=float", "", "X/2", "2"],
        ["ai.onnx/Softmax/13", "T=float", "axis:+", "input/2", "2"],
    ]


def test_nodes_of_functions_have_the_types_of_the_call() -> None:
    text = """
    <ir_version: 10, opset_import: ["" : 17, "own" : 1]>
    main (double[N,5] x) => (y) { y = own.Twice(x) }
    <opset_import: ["" : 17], domain: "own">
    Twice (a) => (b) { b = Add(a, a) }
    """
    assert columns(text) == [["ai.onnx/Add/14", "T=double", "", "A/2 B/2", "?"]]


@pytest.mark.parametrize(
    ("node", "attributes"),
    [
        (
            'LSTM <hidden_size = 1, activations = ["Tanh", "Sigmoid", "Tanh"]> (x, w, w)',
            "activations=Sigmoid,Tanh hidden_size:1",
        ),
        ('Einsum <equation = "i,j->ij"> (x, w)', "equation"),
        ("Cast <to = 7> (x)", "to"),
        ("Gather <axis = 0> (x, w)", "axis:+"),
        ("TopK <axis = -2, largest = 0, sorted = 1> (x, w)", "axis:- largest:0 sorted:1"),
        ("Gemm <alpha = 0.5, transB = 1> (x, w)", "alpha transB:1"),
        ("DepthToSpace <blocksize = 2> (x)", "blocksize:+"),
        ("Selu <gamma = 2.0> (x)", "gamma"),
    ],
)
def test_values_of_attributes_are_not_in_a_pattern(node: str, attributes: str) -> None:
    text = f'<ir_version: 10, opset_import: ["" : 17]> main (float[N] x, int64[M] w) => (y) {{ y = {node} }}'
    (row,) = columns(text)
    assert row[2] == attributes, row


def test_what_is_not_known_stays_unknown() -> None:
    text = """
    <ir_version: 10, opset_import: ["" : 17, "other" : 1]>
    main (float[N] x) => (y) { a = other.Own(x) b = Clip(a, , x) y = Max(b) }
    """
    assert columns(text)[1:] == [
        ["ai.onnx/Clip/13", "T=float", "", "input/? max/1", "?"],
        ["ai.onnx/Max/13", "", "", "data_0/?", "?"],
    ]


def test_the_class_of_the_size_is_a_power_of_sixteen() -> None:
    sizes = {0: "0", 1: "0", 15: "0", 16: "1", 255: "1", 256: "2", 70000: "4"}
    for size, expected in sizes.items():
        text = f'<ir_version: 10, opset_import: ["" : 17]> main (float[{size}] x) => (y) {{ y = Abs(x) }}'
        assert columns(text)[0][-1] == expected, size


def test_a_large_initializer_loses_its_data_and_keeps_its_shape() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 17]> main (float[1] x) => (y) <float[40,50] w> { y = Add(x, w) }'
    )
    model.graph.initializer.append(onnx.helper.make_tensor("w", 1, (40, 50), bytes(8000), raw=True))
    (pattern,) = of_model(inferred(model))
    assert pattern.inputs == ("A/1", "B/2c")
    assert not model.graph.initializer[0].raw_data


def test_a_pattern_is_read_as_it_is_written() -> None:
    patterns = Counter(of_model(inferred(onnx.parser.parse_model(OUTER))))
    assert all(Pattern.of_columns(*pattern.columns()) == pattern for pattern in patterns)
