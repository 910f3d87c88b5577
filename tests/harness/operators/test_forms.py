# SPDX-License-Identifier: Apache-2.0
"""What holds for the forms of every operator's cases."""

from __future__ import annotations

import dataclasses
import fnmatch
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnx.checker
import onnx.shape_inference
import pytest
from onnx import numpy_helper

from generated import (
    LOWEST_IR_OF_DOMAIN,
    cases,
    every_operator,
    few,
    model,
    nothing_derived,
    on_the_oracles,
    operator_node,
    schemas,
)
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.case.case import PLAIN, Case, Outcome, digest_values
from onnx_conformance.declare import EXACT, Op, Tag, Version, ramp
from onnx_conformance.forms.surroundings import LOCAL_DOMAIN
from onnx_conformance.forms.table import EXPANDED, EXTERNAL_DATA, IF_BRANCH, LOCAL_FUNCTION, TWICE, TYPED
from onnx_conformance.generation import plans as generate
from onnx_conformance.repro import check_code
from onnx_conformance.specification import evaluator, nodes, registry, schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CLIP_VERSIONS = (1, 6, 11, 12, 13)


def in_form(op: Op, form: str) -> Iterator[tuple[Case, Case]]:
    """Yield the plain case and the same in a form."""
    plain = {case.id: case for case in cases(op) if case.form == PLAIN}
    for case in cases(op):
        if case.form.partition("-")[0] == form:
            yield plain[case.id.partition("@")[0]], case


@pytest.mark.slow
@every_operator
def test_every_form_occurs(op: Op) -> None:
    forms = {case.form for case in cases(op)}
    assert PLAIN in forms, forms
    # A domain may have had no opset since the operator's versions.
    versions = schema.versions(op.domain, op.name)
    assert ("top" in forms) is any(version.top > version.since for version in versions), forms
    valid = [case for case in cases(op) if case.expected is not None]  # What a signature forbids comes in two forms.
    if any(dims(info) for case in valid for info in model(case).graph.input):
        assert "symbolic" in forms, forms
        assert "unranked" in forms or op.domain != "ai.onnx", forms
    for version in schema.versions(op.domain, op.name):
        if any(item.optional for item in version.inputs) and not version.inputs[-1].variadic:
            assert "omitted" in forms, forms


@pytest.mark.slow
def test_the_forms_that_tests_look_at_occur() -> None:
    forms = {case.form.partition("-")[0] for case in few()}
    assert forms >= {PLAIN, "initializer", "omitted", "symbolic", "unranked", "top"}, forms


@pytest.mark.slow
@every_operator
def test_every_form_expects_the_same(op: Op) -> None:
    plain = {case.id: case for case in cases(op) if case.form == PLAIN}
    for case in cases(op):
        stem = plain[case.id.partition("@")[0]]
        if case.form == EXPANDED and case.outcome is Outcome.UNSPECIFIED:  # The parts leave it open, or are disputed.
            assert set(case.clauses) > set(stem.clauses) or set(case.notes) > set(stem.notes), case.id
            continue
        assert (case.outcome, case.clauses, case.tags) == (stem.outcome, stem.clauses, stem.tags), case.id
        if case.form == "again":  # It draws the same values twice.
            assert digest_values(case.expected[: len(stem.outputs)]) == digest_values(stem.expected), case.id
            continue
        assert digest_values(case.expected) == digest_values(stem.expected), case.id
        if case.form == EXPANDED:  # Each node of the body rounds its result, so its errors are larger.
            unbounded = [dataclasses.replace(item.allowance, bounds=None, sums=None) for item in (case, stem)]
            assert unbounded[0] == unbounded[1], case.id
            continue
        assert case.allowance == stem.allowance, case.id


@pytest.mark.slow
@every_operator
def test_the_plain_form_imports_the_version_itself_and_bakes_nothing(op: Op) -> None:
    for case in cases(op):
        if case.form == PLAIN:
            graph = model(case).graph
            assert model(case).opset_import[0].version == int(case.operator.rpartition("/")[2]), case.id
            assert sum(bool(node.name) for node in graph.node) == 1, case.id  # What stands beside has no name.
            assert not graph.initializer, case.id
            assert list(operator_node(case).input)[-1:] != [""], case.id


@pytest.mark.slow
@every_operator
def test_the_expanded_form_has_the_function_body_in_place_of_the_node(op: Op) -> None:
    for stem, case in in_form(op, EXPANDED):
        graph = model(case).graph
        names = [node.name for node in graph.node]
        assert op.name not in names, case.id
        assert len(set(names)) == len(names), case.id
        assert graph.input == model(stem).graph.input, case.id
        assert graph.output == model(stem).graph.output, case.id
        if case.outcome is not Outcome.UNSPECIFIED:
            onnx.checker.check_model(model(case))


@pytest.mark.slow
@every_operator
def test_every_function_body_is_written_out(op: Op) -> None:
    for version in schema.versions(op.domain, op.name):
        of_version = [case for case in cases(op) if case.operator == str(version)]
        answered = [case for case in of_version if case.form == PLAIN and case.expected is not None]
        expected = schema.first_body(version) is not None and bool(answered)
        assert any(case.form == EXPANDED for case in of_version) is expected, version


@pytest.mark.slow
@every_operator
def test_every_dispute_of_a_function_body_is_seen(op: Op) -> None:
    disputed = [case for case in cases(op) if case.form == EXPANDED and set(case.notes) & set(op.disputes.values())]
    assert all(case.outcome is Outcome.UNSPECIFIED for case in disputed)
    for glob in op.disputes:
        if glob.startswith("test_"):  # Of an official case: see test_official.
            continue
        assert any(fnmatch.fnmatchcase(case.name, glob) for case in disputed), glob


def holds_initializers(stem: Case, case: Case, names: set[str]) -> None:
    graph = model(case).graph
    baked = {item.name: numpy_helper.to_array(item) for item in graph.initializer}
    assert set(baked) == names, case.id
    assert not names & set(case.inputs), case.id
    inputs = {info.name for info in graph.input}
    assert (names <= inputs) is (model(case).ir_version < 4), f"{case.id}: inputs {inputs}"
    assert names.isdisjoint(inputs) or names <= inputs, case.id
    rebuilt = {**case.inputs, **baked}
    assert {name: digest_values(value) for name, value in rebuilt.items()} == {
        name: digest_values(value) for name, value in stem.inputs.items()
    }, case.id


@pytest.mark.slow
@every_operator
def test_the_initializer_form_bakes_parameters_with_their_values(op: Op) -> None:
    for stem, case in in_form(op, "initializer"):
        version = schema.in_force(op.domain, op.name, int(case.operator.rpartition("/")[2]))
        behind = {item.name for item in version.inputs[1:] if not item.variadic}
        tensors = {info.name for info in model(stem).graph.input if info.type.HasField("tensor_type")}
        parameters = behind & tensors
        assert parameters, case.id
        holds_initializers(stem, case, {case.form.partition("-")[2]} if "-" in case.form else parameters)


def clip() -> Op:
    op = nothing_derived(Op("Clip", versions=CLIP_VERSIONS, compare=EXACT))

    @op.oracle()
    def clipped(v: Version, input: Any, min: Any, max: Any) -> Any:  # noqa: A002, ARG001 - the text's own names
        return np.clip(input, min, max)

    op.case("both", Tag.EDGE, input=ramp(6), min=1, max=4, since=11)
    op.case("one", input=ramp(6), min=2, since=11)
    op.case("none", input=ramp(6), since=11)
    return op


def test_several_parameters_are_baked_one_by_one_and_together() -> None:
    by_id = {case.id.removeprefix("ai.onnx/Clip/13/"): case for case in generate.cases(clip(), (13,))}
    assert {name for name in by_id if name.startswith("both")} == {
        "both", "both@initializer", "both@initializer-min", "both@initializer-max", "both@symbolic", "both@unranked",
        "both@top", "both@expanded", "both@if_branch", "both@local_function",
        "both@typed", "both@external_data", "both@constant_nodes", "both@overridden",
    }  # fmt: skip
    for form, names in (("initializer", {"min", "max"}), ("initializer-min", {"min"}), ("initializer-max", {"max"})):
        holds_initializers(by_id["both"], by_id[f"both@{form}"], names)
    for name, written_ in (("one", ["input", "min", ""]), ("none", ["input", "", ""])):
        assert list(model(by_id[f"{name}@omitted"]).graph.node[0].input) == written_, name


def test_up_to_ir_version_3_an_initializer_is_a_graph_input_too() -> None:
    op = nothing_derived(Op("Reshape", versions=(1, 5, 13, 14, 19, 21, 23, 24, 25), compare=EXACT))

    @op.oracle()
    def reshaped(v: Version, data: Any, shape: Any) -> Any:  # noqa: ARG001 - an oracle takes its version
        return np.reshape(data, [int(dim) for dim in shape])

    op.case("pairs", data=ramp(6), shape=[3, 2], since=5)
    by_id = {case.id: case for case in generate.cases(op)}
    for since, ir_version in ((5, 3), (13, 7)):
        stem, case = (by_id[f"ai.onnx/Reshape/{since}/pairs{form}"] for form in ("", "@initializer"))
        assert model(case).ir_version == ir_version, case.id
        holds_initializers(stem, case, {"shape"})
        onnx.checker.check_model(model(case))


@pytest.mark.slow
@every_operator
def test_the_omitted_form_names_each_input_left_out_by_an_empty_text(op: Op) -> None:
    for stem, case in in_form(op, "omitted"):
        short, long = list(operator_node(stem).input), list(operator_node(case).input)
        version = schema.in_force(op.domain, op.name, int(case.operator.rpartition("/")[2]))
        assert len(long) == len(version.inputs) > len(short), f"{case.id}: {long}"
        assert long == short + [""] * (len(long) - len(short)), f"{case.id}: {long}"


def dims(info: onnx.ValueInfoProto) -> list[onnx.TensorShapeProto.Dimension]:
    return list(info.type.tensor_type.shape.dim)


@pytest.mark.slow
@every_operator
def test_the_symbolic_form_names_every_dimension_whose_length_the_text_does_not_state(op: Op) -> None:
    for stem, case in in_form(op, "symbolic"):
        seen, lengths = 0, {info.name: [dim.dim_value for dim in dims(info)] for info in model(stem).graph.input}
        for info in (*model(case).graph.input, *model(case).graph.output):
            stated = op.stated(tuple(lengths.get(info.name, ()))) if info.name in operator_node(case).input else ()
            for axis, dim in enumerate(dims(info)):
                if axis in stated:
                    assert dim.dim_value == lengths[info.name][axis], f"{case.id}: {info.name}"
                    continue
                assert dim.WhichOneof("value") == "dim_param", f"{case.id}: {info.name}"
                assert dim.dim_param, f"{case.id}: {info.name}"
                seen += 1
        assert seen, case.id
        ranks = {info.name: len(dims(info)) for info in model(stem).graph.input}
        assert {info.name: len(dims(info)) for info in model(case).graph.input} == ranks, case.id


@pytest.mark.slow
@every_operator
def test_dimensions_with_one_symbol_have_one_size(op: Op) -> None:
    for form in ("symbolic", TWICE):
        for _, case in in_form(op, form):
            for inputs in (case.inputs, case.earlier or {}):
                sizes: dict[str, set[int]] = {}
                for info in model(case).graph.input:
                    value = inputs.get(info.name)
                    shape = value.shape if isinstance(value, np.ndarray) else ()
                    for dim, size in zip(dims(info), shape, strict=False):
                        sizes.setdefault(dim.dim_param, set()).add(size)
                several = {symbol for symbol, found in sizes.items() if symbol and len(found) > 1}
                assert not several, f"{case.id}: {several}"


@every_operator
def test_the_plain_form_states_every_shape(op: Op) -> None:
    for case in cases(op):
        if case.form == PLAIN:
            for info in model(case).graph.input:
                value = case.inputs[info.name]
                if not info.type.HasField("tensor_type"):
                    continue  # A container's tensors may differ in shape.
                assert isinstance(value, np.ndarray), case.id
                assert tuple(dim.dim_value for dim in dims(info)) == value.shape, f"{case.id}: {info.name}"


@pytest.mark.slow
@every_operator
def test_the_unranked_form_hides_every_rank(op: Op) -> None:
    for stem, case in in_form(op, "unranked"):
        node = operator_node(case)
        # Only what comes before the operator: inferring shapes of some refused models ends the process.
        before = onnx.ModelProto()
        before.CopyFrom(model(case))
        del before.graph.node[:], before.graph.output[:]
        before.graph.node.extend(item for item in model(case).graph.node if item.name != node.name)
        inferred = onnx.shape_inference.infer_shapes(before, strict_mode=True)
        ranked = {info.name for info in inferred.graph.value_info if info.type.tensor_type.HasField("shape")}
        fed = {info.name for info in inferred.graph.input}
        tensors = {info.name for info in model(stem).graph.input if info.type.HasField("tensor_type")}
        for name in tensors & set(node.input):
            assert name not in ranked | fed, f"{case.id}: {name} has a rank"
            data, shape = case.inputs[f"{name}_data"], case.inputs[f"{name}_shape"]
            assert isinstance(data, np.ndarray), case.id
            assert data.ndim == 1, case.id
            assert digest_values(data.reshape(tuple(np.asarray(shape)))) == digest_values(stem.inputs[name]), case.id


@pytest.mark.slow
@every_operator
def test_the_top_form_imports_the_last_opset_before_the_next_version(op: Op) -> None:
    ends = {
        item.since_version: after.since_version - 1 for item, after in zip(schemas(op), schemas(op)[1:], strict=False)
    }
    ends[op.versions[-1]] = max(LOWEST_IR_OF_DOMAIN["" if op.domain == "ai.onnx" else op.domain])
    for stem, case in in_form(op, "top"):
        since = int(case.operator.rpartition("/")[2])
        assert model(case).opset_import[0].version == ends[since] > since, case.id
        assert model(case).graph == model(stem).graph, case.id
    topped = {int(case.operator.rpartition("/")[2]) for _, case in in_form(op, "top")}
    assert topped == {since for since, end in ends.items() if end > since}, topped


def of_one_kind(op: Op, since: int) -> dict[object, list[str]]:
    """Return the names of the cases of a version that are declared with values, by the arguments of their nodes."""
    (version,) = (item for item in schema.versions(op.domain, op.name) if item.since == since)
    kinds: dict[object, list[str]] = {}
    names = {case.name for case in cases(op) if case.operator == str(version) and case.expected is not None}
    for spec in op:
        if spec.name in names and not spec.unspecified:
            present = frozenset(name for name, value in spec.arguments.items() if value is not None)
            kinds.setdefault((present, spec.n, spec.omits), []).append(spec.name)
    return kinds


@every_operator
def test_the_first_case_of_each_kind_of_node_has_something_else_around_it(op: Op) -> None:
    by_form: dict[tuple[str, str], set[str]] = {}
    for case in cases(op):
        by_form.setdefault((case.operator, case.form), set()).add(case.name)
    for since in op.versions:
        leading = {names[0] for names in of_one_kind(op, since).values()}
        called = by_form.get((f"{op}/{since}", LOCAL_FUNCTION), set())
        about_others = leading and "nodes" in op.oracle_for(since).of_node
        assert called == (set() if about_others else leading), since
        assert by_form.get((f"{op}/{since}", IF_BRANCH), set()) <= called, since


@every_operator
def test_the_branch_of_an_if_takes_its_inputs_from_the_graph_around(op: Op) -> None:
    for stem, case in in_form(op, IF_BRANCH):
        *_, conditional = model(case).graph.node
        branches = {item.name: item.g for item in conditional.attribute}
        assert conditional.op_type == "If", case.id
        assert not branches["then_branch"].input, case.id
        (node,) = branches["then_branch"].node
        assert (node.op_type, node.input) == (op.name, operator_node(stem).input), case.id
        assert node.attribute == operator_node(stem).attribute, case.id
        assert case.inputs.keys() == {*stem.inputs, conditional.input[0]}, case.id
        assert case.inputs[conditional.input[0]], case.id


@every_operator
def test_the_other_branch_gives_other_values(op: Op) -> None:
    for _, case in in_form(op, IF_BRANCH):
        elements = [array.size for value in case.expected or () for array in check_code.arrays(value)]
        if case.outcome is not Outcome.VALUES or not any(elements):
            continue
        other = {**case.inputs, "takes_then": np.array(False)}  # noqa: FBT003 - a value
        answers = evaluator.run(case.model, other, case.outputs)
        assert digest_values(answers) != digest_values(list(case.expected or ())), case.id


@every_operator
def test_a_function_of_the_model_refers_to_the_attributes_of_its_call(op: Op) -> None:
    for stem, case in in_form(op, LOCAL_FUNCTION):
        (function,) = model(case).functions
        (node,) = function.node
        call = model(case).graph.node[-1]
        assert (call.domain, call.op_type) == (function.domain, function.name), case.id
        assert list(function.input) == list(call.input), case.id
        references = [item.ref_attr_name for item in node.attribute if item.ref_attr_name]
        assert list(function.attribute) == references, case.id
        resolved = nodes.of_operator(model(case), op.domain, op.name)
        assert resolved is not None, case.id
        assert {item.name: item for item in resolved.attribute} == {
            item.name: item for item in operator_node(stem).attribute
        }, case.id


class Fault:
    """Evaluates models by the oracles, after a fault has changed them."""

    @staticmethod
    def swaps_captured_names(changed: onnx.ModelProto) -> None:
        for graph in nodes.subgraphs(changed.graph.node):
            for node in graph.node:
                node.input[:] = list(node.input)[::-1]

    @staticmethod
    def forgets_the_attributes_of_calls(changed: onnx.ModelProto) -> None:
        for node in changed.graph.node:
            if node.domain == LOCAL_DOMAIN:
                del node.attribute[:]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "name", "form"),
    [
        (Fault.swaps_captured_names, "ai.onnx/Less/13/", IF_BRANCH),
        (Fault.forgets_the_attributes_of_calls, "ai.onnx/Split/13/", LOCAL_FUNCTION),
    ],
)
def test_a_runtime_that_is_wrong_only_around_a_node_fails_in_that_form_alone(
    fault: Callable[[onnx.ModelProto], None], name: str, form: str
) -> None:
    op = registry.load().named("/".join(name.split("/")[:2]))
    verdicts: dict[str, set[Verdict]] = {}
    for case in generate.cases(op, (13,)):
        if case.outcome is Outcome.VALUES and case.id.startswith(name):
            changed = onnx.load_from_string(case.model)
            fault(changed)
            broken = dataclasses.replace(case, model=changed.SerializeToString())
            verdicts.setdefault(case.form, set()).add(on_the_oracles(broken).verdict)
    assert verdicts.pop(form) & {Verdict.WRONG_VALUE, Verdict.WRONG_SHAPE, Verdict.REFUSED}
    assert {Verdict.PASS} == set.union(*verdicts.values()), verdicts


@every_operator
def test_typed_and_external_initializers_have_the_values_of_the_plain_inputs(op: Op) -> None:
    for form in (TYPED, EXTERNAL_DATA):
        for stem, case in in_form(op, form):
            graph = model(case).graph
            assert graph.initializer, case.id
            for tensor in graph.initializer:
                assert not tensor.HasField("raw_data"), case.id
                assert (tensor.data_location == onnx.TensorProto.EXTERNAL) is (form == EXTERNAL_DATA), case.id
                read = onnx.TensorProto()
                read.CopyFrom(tensor)
                if form == EXTERNAL_DATA:
                    entries = {item.key: item.value for item in tensor.external_data}
                    start, length = int(entries["offset"]), int(entries["length"])
                    read.raw_data = case.files[entries["location"]][start : start + length]
                    read.ClearField("data_location")
                    del read.external_data[:]
                assert digest_values(numpy_helper.to_array(read)) == digest_values(stem.inputs[tensor.name]), case.id


@pytest.mark.slow
@every_operator
def test_the_earlier_inputs_are_those_of_another_case_with_the_same_model(op: Op) -> None:
    for stem, case in in_form(op, TWICE):
        assert case.earlier is not None
        assert list(case.earlier) == list(case.inputs), case.id
        assert digest_values(dict(case.earlier)) != digest_values(dict(case.inputs)), case.id
        assert digest_values(dict(stem.inputs)) == digest_values(dict(case.inputs)), case.id
        others = {digest_values(dict(other.inputs)) for other in cases(op) if other.expected is not None}
        assert digest_values(dict(case.earlier)) in others, case.id


@pytest.mark.slow
def test_most_of_the_earlier_inputs_have_other_shapes() -> None:
    in_all = [case for op in ("Add", "ReduceSum", "Softmax") for case in generate.cases(registry.load().named(op))]
    twice = [case for case in in_all if case.earlier is not None]
    other = [case for case in twice if any(np.shape(case.earlier[n]) != np.shape(case.inputs[n]) for n in case.inputs)]  # type: ignore[index,arg-type]
    assert len(other) > len(twice) / 2 > 2
