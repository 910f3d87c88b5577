"""The form @expanded: a node written out as the function body of its operator."""

from __future__ import annotations

import dataclasses

import numpy as np
import onnx
import onnx.parser
import pytest

from onnx_conformance.case.case import Case, Outcome
from onnx_conformance.declare import DeclarationError
from onnx_conformance.generation import deliveries, function_body, plans
from onnx_conformance.specification import evaluator, registry
from onnx_conformance.specification.evaluator import Evaluator

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
    return function_body.written_out(node, onnx.parser.parse_function(BODY), {item.name: item for item in defaults})


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


# Whether the body and the text agree


def expanded(operator: str, name: str, since: int) -> Case:
    """Return a case as its function body, before anybody asked whether they agree."""
    op = registry.load().named(operator)
    (plan,) = plans.plans(op, (since,), [spec for spec in op if spec.name == name])
    return deliveries.build(plan, next(form for form in deliveries.deliveries(plan) if form.body))


def test_a_body_that_gives_something_else_needs_a_dispute() -> None:
    case = expanded("ReduceLogSumExp", "large", 18)
    with pytest.raises(DeclarationError, match=r"large@expanded: the body has another result: outputs\[0\]: .*got inf"):
        function_body.agreed(case, None, Evaluator())
    disputed = function_body.agreed(case, "because", Evaluator())
    assert disputed
    assert (disputed.outcome, disputed.expected, disputed.notes[-1]) == (Outcome.UNSPECIFIED, None, "because")


def test_a_body_that_is_not_valid_needs_a_dispute() -> None:
    case = expanded("Clip", "fractions_bfloat16", 13)
    with pytest.raises(
        DeclarationError, match=r"fractions_bfloat16@expanded: the body is not valid: .*tensor\(bfloat16\)"
    ):
        function_body.agreed(case, None, Evaluator())


def test_a_body_that_agrees_has_the_same_expected_outputs() -> None:
    case = expanded("Clip", "both_infinities", 13)
    for dispute in (None, "needless"):
        left = function_body.agreed(case, dispute, Evaluator())
        assert left
        assert (left.outcome, left.expected, left.notes) == (case.outcome, case.expected, case.notes)


def test_a_body_rests_on_the_readings_of_its_parts() -> None:
    case = expanded("Clip", "both_nan", 13)
    left = function_body.agreed(dataclasses.replace(case, readings=("R9",)), None, Evaluator())
    assert left
    assert left.readings == ("R5", "R9"), "the body compares with NaN"


def test_outputs_that_the_parts_leave_open_are_unspecified() -> None:
    case = expanded("Softmax", "nan", 13)
    left = function_body.agreed(case, None, Evaluator())
    assert left
    assert (left.outcome, left.expected) == (Outcome.UNSPECIFIED, None)
    assert "Computes the max" in left.clauses[-1]
    assert left.clauses[-1] in left.detail


def test_without_the_parts_there_is_no_such_form() -> None:
    case = expanded("Clip", "both_infinities", 13)
    assert function_body.agreed(case, None, Evaluator(registry.Registry([registry.load().named("Split")]))) is None


def test_an_operator_without_a_file_is_evaluated_by_its_body() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 18]> g (float[3] x, float limit) => (float[3] y) { y = Clip (x, , limit) }'
    )
    parts = [op for op in registry.load() if op.name != "Clip"]
    answers = evaluator.Evaluator(registry.Registry(parts)).model(
        model, {"x": np.array([1, 5, 9], np.float32), "limit": np.array(4, np.float32)}
    )
    assert np.asarray(answers["y"]).tolist() == [1, 4, 4]
