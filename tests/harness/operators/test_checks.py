# SPDX-License-Identifier: Apache-2.0
"""The checks of operator files: every declared operator passes them, and each notices a wrong operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from commands import command
from generated import cases, every_operator, nothing_derived, plans
from onnx_conformance.case.case import Outcome
from onnx_conformance.declare import EXACT, Op, Tolerance, Version, measured, ramp
from onnx_conformance.generation import operator_checks
from onnx_conformance.generation.operator_checks import CHECKS, Expanded
from onnx_conformance.specification import schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Check = Callable[[Expanded], Iterator[str]]

IDENTITY_VERSIONS = (1, 13, 14, 16, 19, 21, 23, 24, 25)


class Generated(Expanded):
    """An operator whose cases the tests of this operator share."""

    @property
    def plans(self) -> Any:
        """As the other tests have them."""
        return plans(self.op)

    @property
    def wrong(self) -> tuple[str, ...]:
        """None, or `plans` would raise."""
        return ()

    @property
    def cases(self) -> Any:
        """As the other tests have them."""
        return cases(self.op)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@every_operator
def test_every_operator_passes(op: Op, check: Check) -> None:
    assert list(check(Generated(op))) == []


@every_operator
def test_a_quote_is_folded_and_of_its_own_operator(op: Op) -> None:
    for clause in op.clauses:
        assert clause.text == schema.fold(clause.text), clause
        assert clause.operator == str(op), clause


# Wrong operators, each with the sentences of the check that notices it


def identity(*, versions: tuple[int, ...] = IDENTITY_VERSIONS, compare: Tolerance = EXACT) -> Op:
    """Return Identity as declared by a careless author, without cases."""
    op = nothing_derived(Op("Identity", versions=versions, compare=compare))
    same = op.clause("Identity operator")

    @op.oracle()
    def returned(v: Version, input: Any) -> Any:  # noqa: A002 - the text's own name
        v.silent(same, input.ndim == 4)
        v.require(same, input.ndim < 3)
        return input

    return op


def found(check: Check, op: Op) -> list[str]:
    """Return the sentences of one check."""
    return list(check(Expanded(op)))


def test_versions_that_onnx_does_not_have_are_noticed() -> None:
    (line,) = found(operator_checks.versions_are_those_of_onnx, identity(versions=(1, 13)))
    assert line.startswith("ai.onnx/Identity: versions=(1, 13), but the installed onnx has (1, 13, 14, 16")


def test_a_quote_in_a_wrong_version_is_noticed() -> None:
    wrong = nothing_derived(Op("Split", versions=(1, 2, 11, 13, 18), compare=EXACT))
    wrong.clause("A negative value means counting dimensions from the back.", since=13)
    wrong.clause("Values should be > 0.", since=11)
    lines = found(operator_checks.quotes_are_in_their_versions, wrong)
    assert lines[0].startswith("ai.onnx/Split/11: the text also contains «A negative value means counting dimensions")
    assert [line.partition(":")[0] for line in lines[1:]] == [f"ai.onnx/Split/{v}" for v in (11, 13, 18)], lines
    assert all("the text does not contain «Values should be > 0.»" in line for line in lines[1:]), lines


def test_a_constant_that_is_no_input_is_noticed() -> None:
    wrong = nothing_derived(Op("Split", versions=(1, 2, 11, 13, 18), compare=EXACT, constants=("split", "sizes")))
    assert found(operator_checks.constants_are_inputs, wrong) == [
        "ai.onnx/Split: constants=('split', 'sizes') has 'sizes', which is no input; correct its name"
    ]


def test_a_contradiction_with_a_quote_that_is_not_in_the_text_is_noticed() -> None:
    wrong = nothing_derived(Op("Split", versions=(1, 2, 11, 13, 18), compare=EXACT))
    wrong.clause("Values should be >= 0.", since=13, contradicts="Values may be negative.")
    lines = found(operator_checks.quotes_are_in_their_versions, wrong)
    assert [line.partition(":")[0] for line in lines if "contradicts=" in line] == [
        "ai.onnx/Split/13",
        "ai.onnx/Split/18",
    ]


def test_an_earlier_wording_in_a_wrong_version_is_noticed() -> None:
    wrong = nothing_derived(Op("Flatten", versions=(1, 9, 11, 13, 21, 23, 24, 25), compare=EXACT))
    right = "The value for axis must be in the range [-r, r], where r is the rank of the input tensor."
    wrong.clause(right).reworded(before=11, text=right.replace("-r", "0"))
    lines = found(operator_checks.quotes_are_in_their_versions, wrong)
    assert [line.partition(": ")[0] for line in lines] == ["ai.onnx/Flatten/1", "ai.onnx/Flatten/9"]


def test_a_clause_without_a_case_is_noticed() -> None:
    op = identity()
    op.case("one", input=ramp(2), since=25)
    op.clause("Tensor to copy input into.")
    assert found(operator_checks.clauses_are_used, op) == [
        "ai.onnx/Identity: no case is about «Identity operator»",
        "ai.onnx/Identity: no case is about «Tensor to copy input into.»",
    ]


def test_a_demand_that_no_case_violates_is_noticed() -> None:
    op = identity()
    op.case("one", input=ramp(2), since=25)
    (line,) = found(operator_checks.demands_are_violated, op)
    assert line == "ai.onnx/Identity/25: no case violates «Identity operator»; declare one with rejects="
    op.case("three", input=ramp(2, 1, 1), since=25, rejects=op.clauses[0])
    assert found(operator_checks.demands_are_violated, op) == []


def test_a_must_without_a_clause_or_a_violation_is_noticed() -> None:
    op = nothing_derived(Op("Flatten", versions=(1, 9, 11, 13, 21, 23, 24, 25), compare=EXACT))

    @op.oracle()
    def flattened(v: Version, input: Any, axis: int) -> Any:  # noqa: A002, ARG001 - the text's own name
        return input.reshape(input.shape[0], -1)

    op.case("one", input=ramp(2, 3), axis=1, since=25)
    lines = found(operator_checks.sentences_that_oblige_are_clauses, op)
    assert "ai.onnx/Flatten/25: no clause quotes «" in lines[-1]
    op.clause("The value for axis must be in the range [-r, r], where r is the rank of the input tensor.", since=11)
    lines = found(operator_checks.sentences_that_oblige_are_clauses, op)
    assert "ai.onnx/Flatten/25: no case violates «" in lines[-1]


def test_a_case_that_fits_no_version_is_noticed() -> None:
    op = identity()
    op.case("fits", input=ramp(2))
    assert found(operator_checks.declared_cases_are_generated, op) == []
    op.case("argument", input=ramp(2), inputs=ramp(2))
    op.case("variable", each="T2", input=ramp(2))
    op.case("version", input=ramp(2), since=99)
    lines = found(operator_checks.declared_cases_are_generated, op)
    assert [line.split("'")[1] for line in lines] == ["argument", "variable", "version"]
    assert lines[0].endswith("none has the argument 'inputs'; did you mean 'input'?")
    op = identity()
    op.case("far", input=ramp(2), axis=1)
    (line,) = found(operator_checks.declared_cases_are_generated, op)
    assert line.endswith("none has the argument 'axis'; the versions have input")


def test_every_contradiction_is_listed_and_not_only_the_first() -> None:
    op = identity()
    op.case("right", input=ramp(2), since=25)
    op.case("too_high", input=ramp(2, 1, 1), since=25)
    op.case("not_wrong", input=ramp(2), since=25, rejects=op.clauses[0])
    lines = found(operator_checks.declarations_agree, op)
    assert [line.partition(":")[0].rpartition("/")[2] for line in lines] == ["too_high", "not_wrong"], lines
    assert {plan.spec.name for plan in Expanded(op).plans} == {"right"}


def test_an_outcome_that_is_not_the_declared_one_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    op = identity()
    op.case("one", input=ramp(2), since=25)
    of = Expanded(op)
    (plan,) = of.plans
    monkeypatch.setitem(vars(plan), "outcome", Outcome.REJECTS)
    assert len(list(operator_checks.outcomes_are_declared(of))) == 1


def test_a_measured_tolerance_without_an_error_is_noticed() -> None:
    op = identity(compare=measured("as if it computed"))
    op.case("one", input=ramp(2), since=25)
    (line,) = found(operator_checks.tolerances_are_measured, op)
    assert line.endswith("no case computes anything with an error; declare EXACT")


def test_an_odd_id_and_one_that_two_cases_have_are_noticed() -> None:
    op = identity()
    op.case("one", input=ramp(2), since=25)
    of = Expanded(op)
    vars(of)["cases"] = (of.cases[0], of.cases[0])
    assert list(operator_checks.ids_are_unique_and_well_formed(of)) == [
        "ai.onnx/Identity/25/one: two cases have this id"
    ]
    vars(of)["cases"] = tuple(case for case in Expanded(op).cases[1:2])
    vars(of.cases[0])["form"] = "plain"
    (line,) = operator_checks.ids_are_unique_and_well_formed(of)
    assert "expected an id of the form ai.onnx/Identity/VERSION/NAME" in line


def test_a_missing_type_and_a_missing_schema_point_are_noticed() -> None:
    op = identity()
    op.case("one", input=ramp(2), since=25)
    op.excuse("attribute axis unset", "there is no such attribute")
    lines = found(operator_checks.types_occur, op)
    assert any(line.startswith("ai.onnx/Identity/25: no case with an answer has V = ") for line in lines), lines
    lines = found(operator_checks.schema_points_have_cases, op)
    assert any("schema point: type V tensor(double)" in line for line in lines), lines
    assert lines[-1].startswith("ai.onnx/Identity: the excuse 'attribute axis unset' is for no schema point")


def test_a_binding_sentence_without_a_case_is_noticed() -> None:
    op = nothing_derived(Op("Flatten", versions=(1, 9, 11, 13, 21, 23, 24, 25), compare=EXACT))

    @op.oracle()
    def flattened(v: Version, input: Any) -> Any:  # noqa: A002, ARG001 - the text's own name
        return input.reshape(input.shape[0], -1)

    op.case("one", input=ramp(2, 3), since=25)
    lines = found(operator_checks.binding_sentences_are_cited, op)
    assert any(line.startswith("ai.onnx/Flatten/25: no case cites «") for line in lines), lines


def test_a_version_without_derived_cases_is_noticed() -> None:
    op = identity()
    op.case("one", input=ramp(2), since=25)
    lines = found(operator_checks.signatures_have_cases, op)
    assert (
        lines[-1] == "ai.onnx/Identity/25: the example of the operator file does not fit; correct IDENTITY.example(...)"
    )


def test_a_model_that_the_checker_rejects_and_one_with_other_names_are_noticed() -> None:
    op = identity()
    op.case("one", input=ramp(2), since=25)
    of = Expanded(op)
    case = of.cases[0]
    vars(case)["inputs"] = {"x": case.inputs["input"]}
    (line,) = list(operator_checks.inputs_and_outputs_are_those_of_the_graph(of))[:1]
    assert line == "ai.onnx/Identity/25/one: the graph has inputs ['input']; the case has ['x']"
    vars(case)["model"] = case.model.replace(b"Identity", b"Identito")
    (line,) = list(operator_checks.models_pass_the_checker(of))[:1]
    assert line.startswith("ai.onnx/Identity/25/one: onnx.checker rejects the model: ")


# The command


@pytest.mark.slow
@pytest.mark.usefixtures("few_operators")
def test_the_command_prints_no_faults_of_a_right_operator() -> None:
    done = command("check", "ReduceSum")
    assert (done.status, done.out) == (0, "ReduceSum: no faults found\n"), done.text


@pytest.mark.usefixtures("few_operators")
def test_the_command_lists_faults_and_its_status_is_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operator_checks, "CHECKS", (lambda of: iter([f"{of.op}: one", f"{of.op}: two"]),))
    done = command("check", "Split")
    assert (done.status, done.out) == (1, "ai.onnx/Split: one\nai.onnx/Split: two\nSplit: 2 faults\n"), done.text


@pytest.mark.slow
@pytest.mark.usefixtures("few_operators")
def test_the_command_compares_the_manifest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onnx_conformance.generation.manifest.check", lambda *_, **__: iter(["one line"]))
    done = command("check", "Dropout", "--forms")
    assert done.status == 1
    assert "1 lines of the manifest differ; `onnx-conformance manifest --op ai.onnx/Dropout` writes it" in done.out


@pytest.mark.usefixtures("few_operators")
def test_an_unknown_operator_is_one_line() -> None:
    done = command("check", "Splitt")
    assert done.status == 2
    assert "did you mean Split?" in done.text


def test_a_declared_outcome_may_be_values_only_if_some_elements_are_open(monkeypatch: pytest.MonkeyPatch) -> None:
    op = nothing_derived(Op("Identity", versions=IDENTITY_VERSIONS, compare=EXACT))
    same = op.clause("Identity operator")

    @op.oracle()
    def returned(v: Version, input: Any) -> Any:  # noqa: A002 - the text's own name
        return v.leave_open(same, input == 0, input)

    op.case("one", input=ramp(2), since=25, unspecified=same)
    of = Expanded(op)
    (plan,) = of.plans
    assert list(operator_checks.outcomes_are_declared(of)) == []
    monkeypatch.setitem(vars(plan), "open", (None,))
    assert len(list(operator_checks.outcomes_are_declared(of))) == 1
