# SPDX-License-Identifier: Apache-2.0
"""A node written out as the function body of its operator."""

from __future__ import annotations

import onnx
import onnx.parser

from onnx_conformance.forms import syntax

BODY = """
<domain: "d", opset_import: ["": 18]>
Scaled <factor, mode: int = 3> (x, bias) => (y, twice) {
    c = Constant <value_float: float = @factor> ()
    s = Mul (x, c)
    y = If (flag) <
        then_branch = t () => (float[] r) { r = Add (s, bias) },
        else_branch = e () => (float[] r) { r = Clip (s, bias) }
    >
    twice = Cast <to: int = @mode> (around)
}
"""


def written(call: str, defaults: tuple[onnx.AttributeProto, ...] = ()) -> list[onnx.NodeProto]:
    model = onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["": 18]> g (float[1] a) => (float[1] b) {{ {call} }}'
    )
    node = model.graph.node[0]
    node.name = "Scaled"
    return syntax.written_out(node, onnx.parser.parse_function(BODY), {item.name: item for item in defaults})


def test_names_are_those_of_the_node_and_others_its_own() -> None:
    constant, mul, branch, cast = written("b, b2 = Scaled <factor = 2.0, mode = 7> (a, a)")
    assert (constant.output, mul.input, mul.output) == (["Scaled_c"], ["a", "Scaled_c"], ["Scaled_s"])
    assert (branch.output, cast.output) == (["b"], ["b2"])
    assert [node.name for node in (constant, mul, branch, cast)] == [
        "Scaled_0_Constant", "Scaled_1_Mul", "Scaled_2_If", "Scaled_3_Cast",
    ]  # fmt: skip
    add = branch.attribute[0].g.node[0]
    assert (add.input, add.output) == (["Scaled_s", "a"], ["Scaled_r"])
    assert branch.attribute[0].g.output[0].name == "Scaled_r"


def test_names_that_the_body_does_not_define_stay() -> None:
    *_, branch, cast = written("b, b2 = Scaled <factor = 2.0> (a, a)")
    assert (branch.input, cast.input) == (["flag"], ["around"])


def test_inputs_that_the_node_leaves_out_are_left_out() -> None:
    *_, branch, cast = written("b = Scaled <factor = 2.0> (a)")
    assert branch.attribute[1].g.node[0].input == ["Scaled_s", ""]
    assert cast.output == ["Scaled_twice"]
    assert written("b, = Scaled <factor = 2.0> (a)")[-1].output == ["Scaled_twice"]


def test_attributes_come_from_the_node_or_the_defaults_or_not_at_all() -> None:
    default = onnx.helper.make_attribute("mode", 3)
    constant, *_, cast = written("b, b2 = Scaled <factor = 2.0> (a, a)", (default,))
    assert onnx.helper.get_node_attr_value(constant, "value_float") == 2
    assert onnx.helper.get_node_attr_value(cast, "to") == 3
    constant, *_, cast = written("b, b2 = Scaled <mode = 7> (a, a)", (default,))
    assert (list(constant.attribute), onnx.helper.get_node_attr_value(cast, "to")) == ([], 7)
