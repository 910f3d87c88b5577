"""What holds for every declared operator, whoever adds it."""

from __future__ import annotations

import fnmatch
import hashlib
import os
import re
import subprocess
import sys
from collections import defaultdict
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import onnx
import onnx.checker
import onnx.defs
import onnx.shape_inference
import pytest
from generated import OPS, cases, every_operator, few, model, nothing_derived, plans
from onnx import numpy_helper
from paths import TESTS

from backends.protocol import ELEMENT_TYPES
from harness.case.case import EXPANDED, PLAIN, Case, Outcome, digest_values
from harness.declare import EXACT, Clause, DeclarationError, Op, Tag, Version, ramp
from harness.generation import plans as generate
from harness.spec import schema

if TYPE_CHECKING:
    from collections.abc import Iterator

IDENTITY_VERSIONS = (1, 13, 14, 16, 19, 21, 23, 24, 25)
CLIP_VERSIONS = (1, 6, 11, 12, 13)

# From onnx's Versioning.md: the IR version of the first release that had each opset of ai.onnx.
LOWEST_IR = dict.fromkeys(range(1, 9), 3) | {9: 4, 10: 5, 11: 6} | dict.fromkeys((12, 13, 14), 7)
LOWEST_IR |= dict.fromkeys(range(15, 19), 8) | dict.fromkeys((19, 20), 9) | dict.fromkeys((21, 22), 10)
LOWEST_IR |= {23: 11, 24: 12, 25: 13, 26: 13, 27: 13, 28: 14}
LOWEST_IR_OF_DOMAIN = {
    "": LOWEST_IR,
    "ai.onnx.preview": LOWEST_IR,
    "ai.onnx.ml": {1: 3, 2: 6, 3: 8, 4: 9, 5: 10},
    "ai.onnx.preview.training": {1: 7},
}


def schemas(op: Op) -> list[onnx.defs.OpSchema]:
    found = [
        item
        for item in onnx.defs.get_all_schemas_with_history()
        if (item.domain or "ai.onnx", item.name) == (op.domain, op.name)
    ]
    return sorted(found, key=lambda item: item.since_version)


def test_some_operator_is_declared() -> None:
    assert {"ai.onnx/Split", "ai.onnx/SplitToSequence"} <= set(map(str, OPS)), OPS


@every_operator
def test_versions_are_those_of_onnx_defs(op: Op) -> None:
    assert op.versions == tuple(item.since_version for item in schemas(op)), op


# Clauses


def misplaced(op: Op) -> list[str]:
    """Return a line for every quote that is missing where it is in force, or present where it is not."""
    return [
        f"{version}: «{clause.text}» is {'missing' if clause.in_force(version.since) else 'still there'}"
        for clause in op.clauses
        for version in schema.versions(op.domain, op.name)
        if (clause.text in version.text) is not clause.in_force(version.since)
    ]


@every_operator
def test_every_quote_stands_in_exactly_its_versions(op: Op) -> None:
    assert not misplaced(op), misplaced(op)


def test_a_quote_in_a_wrong_version_is_noticed() -> None:
    wrong = nothing_derived(Op("Split", versions=(1, 2, 11, 13, 18), compare=EXACT))
    wrong.clause("A negative value means counting dimensions from the back.", since=13)
    wrong.clause("Values should be > 0.", since=11)
    found = misplaced(wrong)
    assert found[0] == "ai.onnx/Split/11: «A negative value means counting dimensions from the back.» is still there"
    assert [line.partition(":")[0] for line in found[1:]] == [f"ai.onnx/Split/{v}" for v in (11, 13, 18)], found
    assert all("«Values should be > 0.» is missing" in line for line in found[1:]), found


@every_operator
def test_a_quote_is_folded_and_of_its_own_operator(op: Op) -> None:
    for clause in op.clauses:
        assert clause.text == schema.fold(clause.text), clause
        assert clause.operator == str(op), clause


@every_operator
def test_every_clause_is_cited_rejected_or_unspecified_by_some_case(op: Op) -> None:
    tried = {clause for plan in plans(op) for clause in plan.spec.clauses}
    idle = [clause.text for clause in op.clauses if clause not in tried]
    assert not idle, idle


def without_a_rejects_case(op: Op) -> list[str]:
    """Return the clauses that an oracle demands in a version in which no case breaks them."""
    demanded: set[tuple[int, Clause]] = set()
    require = Version.require

    def recording(self: Version, clause: Clause, holds: bool) -> None:  # noqa: FBT001 - Version.require's own
        if clause.in_force(self.since) and clause.operator == str(op):  # A subgraph asks other operators, too.
            demanded.add((self.since, clause))
        require(self, clause, holds)

    with mock.patch.object(Version, "require", recording):
        broken = {(plan.version.since, plan.spec.rejects) for plan in plans(op)}
    return [f"{op}/{since}: {clause.text}" for since, clause in sorted(demanded - broken, key=str)]


@every_operator
def test_every_clause_that_forbids_has_a_rejects_case_in_every_version(op: Op) -> None:
    assert not without_a_rejects_case(op), without_a_rejects_case(op)


def test_a_clause_that_forbids_and_is_never_broken_is_noticed() -> None:
    op = nothing_derived(Op("Identity", versions=IDENTITY_VERSIONS, compare=EXACT))
    same = op.clause("Identity operator")

    @op.oracle()
    def identity(v: Version, input: Any) -> Any:  # noqa: A002 - the text's own name
        v.require(same, input.ndim < 3)
        return input

    op.case("one", input=ramp(2), since=25)
    assert without_a_rejects_case(op) == ["ai.onnx/Identity/25: Identity operator"]
    op.case("three", input=ramp(2, 1, 1), since=25, rejects=same)
    assert without_a_rejects_case(op) == []


@every_operator
def test_every_sentence_that_obliges_is_a_clause_with_a_rejects_case(op: Op) -> None:
    broken = {(plan.version.since, plan.spec.rejects) for plan in plans(op)}
    # What speaks of the result is broken by runtimes: values show it.
    broken |= {(plan.version.since, clause) for plan in plans(op) for clause in plan.spec.cites if clause.result}
    for version in schema.versions(op.domain, op.name):
        if version.deprecated:  # No model is valid that a sentence could oblige.
            continue
        spans = [
            (match.span(), clause)
            for clause in op.clauses
            for match in re.finditer(re.escape(clause.text), version.text)
            if clause.in_force(version.since)
        ]
        for word in re.finditer(r"\b(must|should|Accepted range)\b", version.text):
            around = version.text[max(0, word.start() - 60) : word.end() + 60]
            holding = [clause for (start, end), clause in spans if start <= word.start() < end]
            assert holding, f"{version}: no clause holds «{around}»"
            assert any((version.since, clause) in broken for clause in holding), f"{version}: nothing breaks «{around}»"


def never_generated(op: Op) -> list[str]:
    """Return the declared cases that no version has everything for."""
    seen = {plan.spec.name for plan in plans(op)}
    return [spec.name for spec in op if spec.name not in seen]


@every_operator
def test_every_declared_case_is_generated_in_some_version(op: Op) -> None:
    assert not never_generated(op), never_generated(op)


def test_a_case_that_fits_no_version_is_noticed() -> None:
    op, _, _ = wrong(input=ramp(2))
    assert never_generated(op) == []
    op.case("argument", input=ramp(2), inputs=ramp(2))
    op.case("variable", each="T2", input=ramp(2))
    op.case("version", input=ramp(2), since=99)
    assert never_generated(op) == ["argument", "variable", "version"]


# Outcomes


@every_operator
def test_declared_outcome_is_the_oracles(op: Op) -> None:
    for plan in plans(op):
        declared = (plan.spec.rejects and Outcome.REJECTS) or (plan.spec.unspecified and Outcome.UNSPECIFIED)
        assert plan.outcome in ({declared} if declared else {Outcome.VALUES, Outcome.PROPERTY}), plan.id
        assert (plan.expected is None) is bool(declared), plan.id


def wrong(**declared: Any) -> tuple[Op, Clause, Clause]:
    """Return an operator whose oracle refuses rank 2 and leaves rank 3 open, with one case to come."""
    op = nothing_derived(Op("Identity", versions=IDENTITY_VERSIONS, compare=EXACT))
    flat, other = op.clause("Identity operator"), op.clause("Tensor to copy input into.")

    @op.oracle()
    def identity(v: Version, input: Any) -> Any:  # noqa: A002 - the text's own name
        v.silent(flat, input.ndim == 3)
        v.require(flat, input.ndim != 2)
        return input

    named = {key: {"flat": flat, "other": other}.get(str(value), value) for key, value in declared.items()}
    op.case("one", **named)
    return op, flat, other


@pytest.mark.parametrize(
    ("declared", "sentence"),
    [
        ({"input": ramp(2, 2)}, "the oracle says rejects «Identity operator», the case does not"),
        ({"input": ramp(2, 2, 2)}, "the oracle says unspecified «Identity operator», the case does not"),
        ({"input": ramp(2), "rejects": "flat"}, "declared to give no values, but the oracle gives some"),
        ({"input": ramp(2), "unspecified": "flat"}, "declared to give no values, but the oracle gives some"),
        (
            {"input": ramp(2, 2), "rejects": "other"},
            "declared rejects=«Tensor to copy input into.», the oracle says «Identity operator»",
        ),
        ({"input": ramp(2, 2), "unspecified": "flat"}, "the oracle says rejects «Identity operator», the case does"),
        ({"input": ramp(2, 2, 2), "rejects": "flat"}, "the oracle says unspecified «Identity operator», the case"),
    ],
)
def test_a_wrongly_declared_outcome_is_refused(declared: dict[str, Any], sentence: str) -> None:
    op, _, _ = wrong(**declared)
    with pytest.raises(DeclarationError, match=re.escape(sentence)) as caught:
        list(generate.plans(op, (1,)))
    assert str(caught.value).startswith("ai.onnx/Identity/1/one: "), caught.value


@pytest.mark.parametrize(
    "declared",
    [{"input": ramp(2)}, {"input": ramp(2, 2), "rejects": "flat"}, {"input": ramp(1, 1, 1), "unspecified": "flat"}],
)
def test_a_rightly_declared_outcome_is_taken(declared: dict[str, Any]) -> None:
    op, _, _ = wrong(**declared)
    assert [plan.id for plan in generate.plans(op, (1,))] == ["ai.onnx/Identity/1/one"]


# Types


def written(type_: onnx.TypeProto) -> str:
    """Return a type as signatures write it."""
    names = {row.number: row.name for row in ELEMENT_TYPES}
    if type_.HasField("sequence_type"):
        return f"seq({written(type_.sequence_type.elem_type)})"
    if type_.HasField("optional_type"):
        return f"optional({written(type_.optional_type.elem_type)})"
    if type_.HasField("map_type"):
        value = names[type_.map_type.value_type.tensor_type.elem_type]
        return f"map({names[type_.map_type.key_type]}, {value})"
    return f"tensor({names[type_.tensor_type.elem_type]})"


def operator_node(case: Case) -> onnx.NodeProto:
    name = case.operator.split("/")[1]
    return next(node for node in model(case).graph.node if node.name == name)  # A form may put others in front.


@every_operator
def test_every_allowed_type_occurs_in_a_model_of_every_version(op: Op) -> None:
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    versions = {str(version): version for version in schema.versions(op.domain, op.name)}
    for case in cases(op):
        if case.expected is None or case.form != PLAIN:
            continue
        version, node, graph = versions[case.operator], operator_node(case), model(case).graph
        types = {info.name: written(info.type) for info in (*graph.input, *graph.output)}
        made = {name for other in graph.node if other.name != node.name for name in other.output}
        for parameters, names in ((version.inputs, node.input), (version.outputs, node.output)):
            for index, name in enumerate(names):
                if name and name not in made:
                    parameter = parameters[min(index, len(parameters) - 1)]
                    found[case.operator, parameter.type].add(types[name])
    for version in (item for item in versions.values() if not item.deprecated):
        for variable, allowed in version.types.items():
            excused = {type_ for type_ in allowed if f"type {variable} {type_}" in op.excuses}
            missing = set(allowed) - found[str(version), variable] - excused
            strange = found[str(version), variable] - set(allowed)
            assert not missing, f"{version}: no case has {variable} = {sorted(missing)}"
            assert not strange, f"{version}: {variable} = {sorted(strange)} is expected to give values"


# Ids and digests


@every_operator
def test_ids_are_unique_and_say_what_they_are(op: Op) -> None:
    ids = [case.id for case in cases(op)]
    assert len(ids) == len(set(ids)), sorted({id_ for id_ in ids if ids.count(id_) > 1})
    pattern = re.compile(rf"{re.escape(str(op))}/\d+/[a-z0-9]+(_[a-z0-9]+)*(/[a-z0-9-]+)?(@[a-z]+(-\w+)?)?")
    odd = [id_ for id_ in ids if not pattern.fullmatch(id_)]
    assert not odd, odd
    for case in cases(op):
        assert case.id.startswith(f"{case.operator}/"), case.id
        assert (case.form == PLAIN) == ("@" not in case.id), case.id
        assert case.id.partition("@")[2] == ("" if case.form == PLAIN else case.form), case.id


DIGEST = """
import hashlib
from generated import few
print(hashlib.sha256("".join(f"{case.id} {case.digests()}" for case in few()).encode()).hexdigest())
"""


def test_generation_is_deterministic_in_this_process_and_in_others() -> None:
    """The manifest holds the digests of all cases; here are some of each kind under other hash seeds."""

    def digest() -> str:
        return hashlib.sha256("".join(f"{case.id} {case.digests()}" for case in few()).encode()).hexdigest()

    here = digest()
    assert digest() == here
    for seed in ("1", "4242"):
        run = subprocess.run(
            [sys.executable, "-c", DIGEST],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(TESTS)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout.strip() == here, f"PYTHONHASHSEED={seed}"


# Models


@every_operator
def test_every_model_that_gives_values_passes_the_checker(op: Op) -> None:
    checked = [case for case in cases(op) if case.expected is not None]
    assert checked, op
    for case in checked:
        try:
            onnx.checker.check_model(model(case))
        except onnx.checker.ValidationError as error:
            pytest.fail(f"{case.id}: {error}")


def test_the_checker_sees_what_is_wrong() -> None:
    broken = onnx.ModelProto()
    broken.CopyFrom(model(next(case for case in cases(OPS[0]) if case.outcome is Outcome.VALUES)))
    broken.graph.node[0].attribute.add(name="no_such_attribute", type=onnx.AttributeProto.INT)
    with pytest.raises(onnx.checker.ValidationError, match="no_such_attribute"):
        onnx.checker.check_model(broken)


@every_operator
def test_every_model_has_the_lowest_ir_version_of_its_opset(op: Op) -> None:
    assert onnx.defs.onnx_opset_version() in LOWEST_IR, "a new opset: add its row from Versioning.md"
    for case in cases(op):
        imports = model(case).opset_import
        wanted = max(LOWEST_IR_OF_DOMAIN[item.domain][item.version] for item in imports)
        assert model(case).ir_version == wanted, f"{case.id}: IR {model(case).ir_version}, {imports}"


@every_operator
def test_graph_inputs_and_outputs_are_those_of_the_case(op: Op) -> None:
    for case in cases(op):
        graph = model(case).graph
        baked = {item.name for item in graph.initializer}
        assert [info.name for info in graph.input if info.name not in baked] == list(case.inputs), case.id
        assert [info.name for info in graph.output] == list(case.outputs), case.id


# Forms


def in_form(op: Op, form: str) -> Iterator[tuple[Case, Case]]:
    """Yield the plain case and the same in a form."""
    plain = {case.id: case for case in cases(op) if case.form == PLAIN}
    for case in cases(op):
        if case.form.partition("-")[0] == form:
            yield plain[case.id.partition("@")[0]], case


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


def test_the_forms_that_tests_look_at_occur() -> None:
    forms = {case.form.partition("-")[0] for case in few()}
    assert forms >= {PLAIN, "initializer", "omitted", "symbolic", "unranked", "top"}, forms


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
        assert case.allowance == stem.allowance, case.id


@every_operator
def test_the_plain_form_imports_the_version_itself_and_bakes_nothing(op: Op) -> None:
    for case in cases(op):
        if case.form == PLAIN:
            graph = model(case).graph
            assert model(case).opset_import[0].version == int(case.operator.rpartition("/")[2]), case.id
            assert sum(bool(node.name) for node in graph.node) == 1, case.id  # What stands beside has no name.
            assert not graph.initializer, case.id
            assert list(operator_node(case).input)[-1:] != [""], case.id


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


@every_operator
def test_every_function_body_is_written_out(op: Op) -> None:
    for version in schema.versions(op.domain, op.name):
        found = [case for case in cases(op) if case.operator == str(version)]
        answered = [case for case in found if case.form == PLAIN and case.expected is not None]
        wanted = schema.first_body(version) is not None and bool(answered)
        assert any(case.form == EXPANDED for case in found) is wanted, version


@every_operator
def test_every_dispute_of_a_function_body_is_seen(op: Op) -> None:
    disputed = [case for case in cases(op) if case.form == EXPANDED and set(case.notes) & set(op.disputes.values())]
    assert all(case.outcome is Outcome.UNSPECIFIED for case in disputed)
    for glob in op.disputes:
        if glob.startswith("test_"):  # Of an official case: see test_official.
            continue
        assert any(fnmatch.fnmatchcase(case.name, glob) for case in disputed), glob


def holds_initializers(stem: Case, case: Case, wanted: set[str]) -> None:
    graph = model(case).graph
    baked = {item.name: numpy_helper.to_array(item) for item in graph.initializer}
    assert set(baked) == wanted, case.id
    assert not wanted & set(case.inputs), case.id
    inputs = {info.name for info in graph.input}
    assert (wanted <= inputs) is (model(case).ir_version < 4), f"{case.id}: inputs {inputs}"
    assert wanted.isdisjoint(inputs) or wanted <= inputs, case.id
    rebuilt = {**case.inputs, **baked}
    assert {name: digest_values(value) for name, value in rebuilt.items()} == {
        name: digest_values(value) for name, value in stem.inputs.items()
    }, case.id


@every_operator
def test_initializer_form(op: Op) -> None:
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
    found = {case.id.removeprefix("ai.onnx/Clip/13/"): case for case in generate.cases(clip(), (13,))}
    assert {name for name in found if name.startswith("both")} == {
        "both", "both@initializer", "both@initializer-min", "both@initializer-max", "both@symbolic", "both@unranked",
        "both@top", "both@expanded",
    }  # fmt: skip
    for form, wanted in (("initializer", {"min", "max"}), ("initializer-min", {"min"}), ("initializer-max", {"max"})):
        holds_initializers(found["both"], found[f"both@{form}"], wanted)
    for name, written_ in (("one", ["input", "min", ""]), ("none", ["input", "", ""])):
        assert list(model(found[f"{name}@omitted"]).graph.node[0].input) == written_, name


def test_up_to_ir_version_3_an_initializer_is_a_graph_input_too() -> None:
    op = nothing_derived(Op("Reshape", versions=(1, 5, 13, 14, 19, 21, 23, 24, 25), compare=EXACT))

    @op.oracle()
    def reshaped(v: Version, data: Any, shape: Any) -> Any:  # noqa: ARG001 - an oracle takes its version
        return np.reshape(data, [int(dim) for dim in shape])

    op.case("pairs", data=ramp(6), shape=[3, 2], since=5)
    found = {case.id: case for case in generate.cases(op)}
    for since, ir_version in ((5, 3), (13, 7)):
        stem, case = (found[f"ai.onnx/Reshape/{since}/pairs{form}"] for form in ("", "@initializer"))
        assert model(case).ir_version == ir_version, case.id
        holds_initializers(stem, case, {"shape"})
        onnx.checker.check_model(model(case))


@every_operator
def test_omitted_form(op: Op) -> None:
    for stem, case in in_form(op, "omitted"):
        short, long = list(operator_node(stem).input), list(operator_node(case).input)
        version = schema.in_force(op.domain, op.name, int(case.operator.rpartition("/")[2]))
        assert len(long) == len(version.inputs) > len(short), f"{case.id}: {long}"
        assert long == short + [""] * (len(long) - len(short)), f"{case.id}: {long}"


def dims(info: onnx.ValueInfoProto) -> list[onnx.TensorShapeProto.Dimension]:
    return list(info.type.tensor_type.shape.dim)


@every_operator
def test_symbolic_form(op: Op) -> None:
    for stem, case in in_form(op, "symbolic"):
        seen = 0
        for info in (*model(case).graph.input, *model(case).graph.output):
            for dim in dims(info):
                assert dim.WhichOneof("value") == "dim_param", f"{case.id}: {info.name}"
                assert dim.dim_param, f"{case.id}: {info.name}"
                seen += 1
        assert seen, case.id
        ranks = {info.name: len(dims(info)) for info in model(stem).graph.input}
        assert {info.name: len(dims(info)) for info in model(case).graph.input} == ranks, case.id


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


@every_operator
def test_unranked_form(op: Op) -> None:
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


@every_operator
def test_top_form(op: Op) -> None:
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
