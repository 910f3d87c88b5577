# SPDX-License-Identifier: Apache-2.0
"""The oracle on whole models: nodes, functions, subgraphs; and as a backend."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import onnx
import onnx.parser
import pytest

from generated import cases, every_operator, few, nothing_derived, on_the_oracles
from onnx_conformance.base.sample import in_shard
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.case.case import PLAIN, Outcome
from onnx_conformance.case.compare import compare
from onnx_conformance.declare import EXACT, NoAnswer, Op, Rejected, Rule, Unspecified, Version
from onnx_conformance.environments import backend_names
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.run.scheduler import Scheduler
from onnx_conformance.specification import evaluator, registry, schema
from onnx_conformance.specification.evaluator import Evaluator, UndeclaredError
from onnx_conformance.specification.registry import Registry
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.official import Official
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from onnx_conformance.suites.suite import Suite

# Operators that have no file yet, as far as these tests need them.


def elementwise(name: str, versions: tuple[int, ...], function: Any) -> Op:
    op = nothing_derived(Op(name, versions=versions, compare=EXACT))

    @op.oracle()
    def meaning(v: Version, A: Any, B: Any) -> Any:  # noqa: ARG001, N803 - an oracle takes its version; the text's own names
        return function(A, B)

    return op


IF = nothing_derived(Op("If", versions=(1, 11, 13, 16, 19, 21, 23, 24, 25), compare=EXACT))


@IF.oracle()
def branch(v: Version, cond: Any, then_branch: Any, else_branch: Any) -> Any:  # noqa: ARG001 - an oracle takes its version
    return tuple((then_branch if cond else else_branch)())


CONSTANT = nothing_derived(Op("Constant", versions=(1, 9, 11, 12, 13, 19, 21, 23, 24, 25), compare=EXACT))


@CONSTANT.oracle()
def constant(v: Version, value: Any, value_float: Any) -> Any:  # noqa: ARG001 - an oracle takes its version
    return value if value_float is None else np.float32(value_float)


HARD_SIGMOID = nothing_derived(Op("HardSigmoid", versions=(1, 6, 22), compare=EXACT))


@HARD_SIGMOID.oracle()
def hard_sigmoid(v: Version, X: Any, alpha: float, beta: float) -> Any:  # noqa: ARG001, N803 - an oracle takes its version; the text's own names
    return np.clip(alpha * X + beta, 0, 1)


HELPERS = [
    IF,
    CONSTANT,
    HARD_SIGMOID,
    elementwise("Mul", (1, 6, 7, 13, 14), lambda a, b: a * b),
    elementwise("Greater", (1, 7, 9, 13), lambda a, b: a > b),
    elementwise("Equal", (1, 7, 11, 13, 19), lambda a, b: a == b),
    elementwise("Or", (1, 7), lambda a, b: a | b),
]
DECLARED = Registry(
    [*registry.load(), *(op for op in HELPERS if registry.load().find(op.domain, op.name) is None)]
)  # As long as they have no file of their own.


def evaluate(text: str, **inputs: Any) -> dict[str, Any]:
    model = onnx.parser.parse_model(text)
    return dict(Evaluator(DECLARED).model(model, {name: np.asarray(value) for name, value in inputs.items()}))


def floats(*values: float) -> np.ndarray[Any, Any]:
    return np.array(values, np.float32)


def test_several_nodes() -> None:
    outputs = evaluate(
        """<ir_version: 8, opset_import: ["": 18]>
        graph (float[6] x, float[2] y) => (float[2] sum, float[2] last) {
            first, middle, last = Split<num_outputs=3>(x)
            product = Mul(first, middle)
            sum = Add(product, y)
        }""",
        x=floats(1, 2, 3, 4, 5, 6),
        y=floats(10, 20),
    )
    assert {name: value.tolist() for name, value in outputs.items()} == {"sum": [13, 28], "last": [5, 6]}
    assert {value.dtype.name for value in outputs.values()} == {"float32"}


def test_outputs_that_are_not_named_are_dropped() -> None:
    outputs = evaluate(
        """<ir_version: 8, opset_import: ["": 18]>
        graph (float[6] x) => (float[2] last) { "", "", last = Split<num_outputs=3>(x) }""",
        x=floats(1, 2, 3, 4, 5, 6),
    )
    assert outputs["last"].tolist() == [5, 6]


def test_initializers_and_inputs_that_override_them() -> None:
    text = """<ir_version: {ir}, opset_import: ["": 13]>
        graph (float[4] x{also}) => (float[N] a, float[M] b) <int64[2] lengths = {{1, 3}}> {{
            a, b = Split(x, lengths)
        }}"""
    outputs = evaluate(text.format(ir=7, also=""), x=floats(1, 2, 3, 4))
    assert outputs["a"].tolist() == [1], outputs
    overridden = evaluate(text.format(ir=3, also=", int64[2] lengths"), x=floats(1, 2, 3, 4), lengths=[3, 1])
    assert overridden["a"].tolist() == [1, 2, 3], overridden


def test_a_low_precision_type_is_rounded_to_the_nearest() -> None:
    outputs = Evaluator(DECLARED).model(
        onnx.parser.parse_model(
            """<ir_version: 8, opset_import: ["": 14]>
            graph (bfloat16[1] x, bfloat16[1] y) => (bfloat16[1] z) { z = Add(x, y) }"""
        ),
        {"x": np.array([256], evaluator.ml_dtypes.bfloat16), "y": np.array([3], evaluator.ml_dtypes.bfloat16)},
    )
    value = outputs["z"]
    assert isinstance(value, np.ndarray)
    # 259 lies between 258 and 260; the tie goes to the even significand.
    assert (value.dtype.name, float(value[0])) == ("bfloat16", 260.0)


# Functions

HALVES = """<ir_version: 8, opset_import: ["": 18, "local": 1]>
graph (float[2,4] x) => (float[N,M] a, float[N,M] b) {{ a, b = local.halves{attributes}(x) }}
<domain: "local", opset_import: ["": 18]>
halves<{declared}>(input) => (first, second) {{ first, second = Split<axis: int = @axis, num_outputs = 2>(input) }}
"""
X24 = np.arange(8, dtype=np.float32).reshape(2, 4)


@pytest.mark.parametrize(
    ("declared", "attributes", "shape"),
    [
        ("axis", "<axis = 1>", (2, 2)),
        ("axis", "<axis = -2>", (1, 4)),
        ("axis: int = 1", "", (2, 2)),  # the function's default
        ("axis: int = 1", "<axis = 0>", (1, 4)),
        ("axis", "", (1, 4)),  # nothing refers to anything: the default of Split itself
    ],
)
def test_attribute_references_and_defaults(declared: str, attributes: str, shape: tuple[int, int]) -> None:
    outputs = evaluate(HALVES.format(declared=declared, attributes=attributes), x=X24)
    assert [outputs["a"].shape, outputs["b"].shape] == [shape, shape]


def test_functions_call_functions_with_names_of_their_own() -> None:
    outputs = evaluate(
        """<ir_version: 8, opset_import: ["": 18, "local": 1]>
        graph (float[4] x) => (float[1] y) { y = local.outer(x) }
        <domain: "local", opset_import: ["": 18, "local": 1]>
        outer(a) => (y) { x, b = local.inner<parts = 2>(a)  c, y = local.inner<parts = 2>(b) }
        <domain: "local", opset_import: ["": 18]>
        inner<parts>(x) => (a, b) { a, b = Split<num_outputs: int = @parts>(x) }""",
        x=floats(1, 2, 3, 4),
    )
    assert outputs["y"].tolist() == [4], outputs


def test_an_input_that_a_call_leaves_out_is_left_out_inside() -> None:
    text = """<ir_version: 8, opset_import: ["": 13, "local": 1]>
        graph (float[4] x, int64[2] lengths) => (float[N] a, float[M] b) {{ a, b = local.cut({inputs}) }}
        <domain: "local", opset_import: ["": 13]>
        cut(x, lengths) => (a, b) {{ a, b = Split(x, lengths) }}"""
    for inputs, first in (("x, lengths", [1]), ("x", [1, 2]), ('x, ""', [1, 2])):
        outputs = evaluate(text.format(inputs=inputs), x=floats(1, 2, 3, 4), lengths=[1, 3])
        assert outputs["a"].tolist() == first, inputs


@pytest.mark.parametrize("circle", ["again", "other"])
def test_a_circle_of_functions_is_refused(circle: str) -> None:
    text = f"""<ir_version: 8, opset_import: ["": 18, "local": 1]>
        graph (float[4] x) => (float[4] y) {{ y = local.again(x) }}
        <domain: "local", opset_import: ["local": 1]>
        again(x) => (y) {{ y = local.{circle}(x) }}
        <domain: "local", opset_import: ["local": 1]>
        other(x) => (y) {{ y = local.again(x) }}"""
    with pytest.raises(Rejected, match=f"calls nest deeper than {evaluator.MAX_DEPTH}"):
        evaluate(text, x=floats(1, 2, 3, 4))


def test_the_function_body_of_the_text_is_evaluated_by_parts() -> None:
    """GreaterOrEqual has no file; its schema says Or(Greater(A, B), Equal(A, B))."""
    outputs = evaluate(
        """<ir_version: 8, opset_import: ["": 16]>
        graph (float[4] a, float[4] b) => (bool[4] c) { c = GreaterOrEqual(a, b) }""",
        a=floats(1, 2, 3, np.nan),
        b=floats(2, 2, 2, 2),
    )
    assert (outputs["c"].dtype.name, outputs["c"].tolist()) == ("bool", [False, True, True, False])


def test_the_function_body_of_the_text_takes_constants() -> None:
    outputs = evaluate(
        """<ir_version: 8, opset_import: ["": 14]>
        graph (float[3] x) => (float[3] y) { y = HardSwish(x) }""",
        x=floats(-3, 0, 6),
    )
    assert outputs["y"].tolist() == [0, 0, 6], outputs


@pytest.mark.parametrize(("attributes", "threshold"), [("", 1.0), ("<alpha = 2.5>", 2.5)])
def test_the_function_body_of_the_text_takes_the_schemas_defaults(attributes: str, threshold: float) -> None:
    model = onnx.parser.parse_model(
        f"""<ir_version: 10, opset_import: ["": 22]>
        graph (float[3] x) => (float[3] y) {{ y = ThresholdedRelu{attributes}(x) }}"""
    )
    outputs = Evaluator(DECLARED).model(model, {"x": floats(0.5, 2, 3)})
    value = outputs["y"]
    assert isinstance(value, np.ndarray)
    assert value.tolist() == [x if x > threshold else 0 for x in (0.5, 2, 3)], value


# Subgraphs

CHOICE = """<ir_version: 8, opset_import: ["": 16]>
graph (bool c, float[4] x) => (float[2] y, float[2] z) <float[2] ten = {{10, 10}}> {{
    left, right = Split<axis = 0>(x)
    y, z = If(c) <
        then_branch = then () => (float[2] a, float[2] b) {{ a = Add(left, ten)  b = Mul(right, ten) }},
        else_branch = otherwise () => (float[2] a, float[2] b) <float[2] own = {{1, 2}}> {{
            {nested}
        }}
    >
}}"""


@pytest.mark.parametrize(("condition", "y", "z"), [(True, [11, 12], [30, 40]), (False, [2, 4], [13, 14])])
def test_a_subgraph_sees_the_values_around_it(condition: bool, y: list[float], z: list[float]) -> None:  # noqa: FBT001 - a row of the table
    outputs = evaluate(
        CHOICE.format(nested="a = Add(left, own)  b = Add(right, ten)"), c=condition, x=floats(1, 2, 3, 4)
    )
    assert (outputs["y"].tolist(), outputs["z"].tolist()) == (y, z)


def test_a_subgraph_in_a_subgraph_sees_both() -> None:
    nested = """
        d = Equal(left, left)
        a = Add(left, own)
        b = If(c) < then_branch = t () => (float[2] u) { u = Add(left, own) },
                    else_branch = e () => (float[2] u) { v = Mul(right, own)  u = Add(v, ten) } >"""
    outputs = evaluate(CHOICE.format(nested=nested), c=False, x=floats(1, 2, 3, 4))
    assert outputs["z"].tolist() == [13, 18], outputs


def test_two_outputs_of_a_body_may_be_one_value() -> None:
    """Common subexpression elimination makes such bodies, and no text forbids them."""
    text = CHOICE.format(nested="a = Add(left, own)").replace(
        "otherwise () => (float[2] a, float[2] b)", "otherwise () => (float[2] a, float[2] a)"
    )
    outputs = evaluate(text, c=False, x=floats(1, 2, 3, 4))
    assert outputs["y"].tolist() == outputs["z"].tolist() == [2, 4]


def test_names_of_a_subgraph_do_not_leak() -> None:
    text = """<ir_version: 8, opset_import: ["": 16]>
        graph (bool c, float[1] x) => (float[1] y, float[1] hidden) {
            y = If(c) < then_branch = t () => (float[1] hidden) { hidden = Add(x, x) },
                        else_branch = e () => (float[1] hidden) { hidden = Mul(x, x) } >
        }"""
    with pytest.raises(KeyError, match="hidden"):
        evaluate(text, c=True, x=floats(3))


@pytest.mark.parametrize(
    ("text", "shadows"),
    [
        ("body (float a, float b) => (float c) { c = Add(a, around) }", []),
        ("body (float a, float around) => (float c) { c = Neg(a) }", ["around"]),
        ("body (float a) => (float c) { around = Neg(a) c = Neg(around) }", ["around"]),
        ("body (float a) => (float c) <float around = {1}> { c = Neg(a) }", ["around"]),
    ],
)
def test_a_subgraph_says_which_of_its_names_values_around_it_have(text: str, shadows: list[str]) -> None:
    attribute = onnx.AttributeProto(name="body", type=onnx.AttributeProto.GRAPH, g=onnx.parser.parse_graph(text))
    scope = evaluator.Scope(opsets={}, functions={}, call={})
    subgraph = Evaluator().attribute(attribute, {"around": None, "other": None}, scope)
    assert list(subgraph.shadows) == shadows


def test_a_subgraph_in_a_function_sees_the_attributes_of_the_call() -> None:
    outputs = evaluate(
        """<ir_version: 8, opset_import: ["": 18, "local": 1]>
        graph (bool c, float[4] x) => (float[1] y) { y = local.first<parts = 4>(c, x) }
        <domain: "local", opset_import: ["": 18]>
        first<parts>(c, x) => (y) {
            y = If(c) < then_branch = t () => (float[1] a) { a, b, d, e = Split<num_outputs: int = @parts>(x) },
                        else_branch = e () => (float[1] a) { a = Add(x, x) } >
        }""",
        c=True,
        x=floats(7, 8, 9, 10),
    )
    assert outputs["y"].tolist() == [7], outputs


# No answer


@pytest.mark.parametrize(
    ("opset", "node", "kind", "sentence"),
    [
        (13, "a, b = Split<axis = 1>(x)", Rejected, "Accepted range is [-rank, rank-1] where r = rank(input)."),
        (13, "a, b = Split<num_outputs = 2>(x)", Rejected, f"{Rule.ATTRIBUTES.text}» (there is no num_outputs)"),
        (18, "a, b = Split(x)", Rejected, "Either input 'split' or the attribute 'num_outputs' should be specified"),
        (18, "a, b = Split<num_outputs = 2>(x, x)", Rejected, f"{Rule.TYPES.text}» (split is tensor(float))"),
        (18, "a, b = Split<num_outputs = 2>(x, x, x)", Rejected, f"{Rule.ARITY.text}» (3 inputs)"),
        (18, 'a, b = Split<num_outputs = 2>("")', Rejected, f"{Rule.ARITY.text}» (input is required)"),
        (2, "a, b = Split<axis = -1>(x)", Unspecified, "A negative value means counting dimensions from the back."),
        (18, "a, b = Split<num_outputs = 0>(x)", Unspecified, "Number of outputs to split parts of the tensor into."),
    ],
)
def test_no_answer_names_its_sentence(opset: int, node: str, kind: type[NoAnswer], sentence: str) -> None:
    text = f"""<ir_version: 8, opset_import: ["": {opset}]>
        graph (float[4] x) => (float[N] a, float[M] b) {{ {node} }}"""
    with pytest.raises(NoAnswer, match=re.escape(sentence)) as caught:
        evaluate(text, x=floats(1, 2, 3, 4))
    assert type(caught.value) is kind, caught.value


def test_an_operator_without_a_file_is_undeclared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(DECLARED._ops, ("ai.onnx", "Sin"))
    for text, named in (
        ("y = Sin(x)", "declares ai.onnx/Sin of opset 18"),
        ("y = NoSuchOperator(x)", "declares ai.onnx/NoSuchOperator of opset 18"),
    ):
        with pytest.raises(UndeclaredError, match=named):
            evaluate(f'<ir_version: 8, opset_import: ["": 18]> graph (float[4] x) => (float[4] y) {{ {text} }}', x=X24)


def test_a_value_that_no_node_computes_is_rejected() -> None:
    with pytest.raises(Rejected, match="no, an input of Split, has no value"):
        evaluate(
            '<ir_version: 8, opset_import: ["": 18]> g (float[4] x) => (float[4] y) { y = Split<num_outputs=1>(no) }',
            x=X24,
        )


def test_a_domain_that_is_not_imported_is_refused() -> None:
    with pytest.raises(Rejected, match=r"the model imports no opset of com\.example"):
        evaluate(
            '<ir_version: 8, opset_import: ["": 18]> g (float[4] x) => (float[4] y) { y = com.example.Split(x) }', x=X24
        )


def test_the_body_of_an_older_version_is_not_used() -> None:
    """LessOrEqual came with opset 12; before there is nothing to say."""
    with pytest.raises(UndeclaredError, match=r"ai\.onnx/LessOrEqual of opset 11"):
        evaluate(
            '<ir_version: 8, opset_import: ["": 11]> g (float[1] x) => (bool[1] y) { y = LessOrEqual(x, x) }',
            x=floats(1),
        )


# As a backend


def run(chosen: Suite, selection: Selection) -> list[Any]:
    with Scheduler([backend_names.resolve("oracle")], Limits(), jobs=1) as scheduler:
        hello = scheduler.start()["oracle"]
        assert hello["runtime"] == "oracle", hello
        results = list(scheduler.run(chosen.cases(selection)))
        assert not scheduler.faults, scheduler.faults
    return results


@pytest.mark.slow
@every_operator
def test_whole_models_evaluate_to_the_expected_outputs(op: Op) -> None:
    """The oracle as a backend passes every case of every form, in the version's own opset and in the highest."""
    for case in cases(op):
        result = on_the_oracles(case)
        expected = Verdict.UNSPECIFIED if case.outcome is Outcome.UNSPECIFIED else Verdict.PASS
        assert result.verdict is expected, f"{case.id}: {result.verdict} {result.message}"


@pytest.mark.slow
@every_operator
def test_a_case_means_the_same_in_every_opset_of_its_version(op: Op) -> None:
    """One plain case in twelve, in every opset from the one that brought the version to the last before the next."""
    for case in cases(op):
        if case.form != PLAIN or case.expected is None or not in_shard(case.id, (1, 12)):
            continue
        version = schema.in_force(op.domain, op.name, int(case.operator.rpartition("/")[2]))
        for opset in range(version.since, version.top + 1):
            moved = onnx.load_from_string(case.model)
            moved.opset_import[0].version = opset
            answer = evaluator.run(moved.SerializeToString(), dict(case.inputs), case.outputs)
            assert compare(case.expected, answer, case.allowance) is None, f"{case.id} in opset {opset}"


@pytest.mark.slow
def test_the_backend_passes_every_case_of_a_few_operators() -> None:
    by_id = {case.id: case for case in few()}
    operators = sorted({case.operator for case in by_id.values()})
    selection = Selection(cases=tuple(f"{operator}/*" for operator in operators))
    results = run(Generated(), selection)
    assert {result.case for result in results} == set(by_id), len(results)
    counted = Counter(result.verdict for result in results)
    assert set(counted) == {Verdict.PASS, Verdict.UNSPECIFIED}, counted


@pytest.mark.slow
def test_the_backend_passes_the_official_cases_of_the_split_family() -> None:
    results = run(Official(), Selection(ops=("Split*",)))
    assert Counter(result.verdict for result in results) == {Verdict.PASS: 19}, [
        (result.case, result.verdict, result.message) for result in results if result.verdict is not Verdict.PASS
    ]


@pytest.mark.parametrize(
    ("bits", "dtype"),
    [
        (np.uint16(0x7D01), np.dtype(np.float16)),
        (np.uint16(0x7F81), np.dtype(ml_dtypes.bfloat16)),
        (np.uint32(0x7FA00001), np.dtype(np.float32)),
        (np.uint64(0x7FF4000000000001), np.dtype(np.float64)),
    ],
)
def test_a_signalling_nan_is_quiet_when_an_oracle_gets_it(bits: np.unsignedinteger[Any], dtype: np.dtype[Any]) -> None:
    signalling = np.full(20, bits).view(dtype)
    quiet = np.uint64(1 << 51)
    assert (evaluator.widen(signalling).view(np.uint64) & quiet == quiet).all()
    assert (signalling.view(bits.dtype) == bits).all()
