# SPDX-License-Identifier: Apache-2.0
"""Clauses: where they are in force, and how strongly they bind."""

from __future__ import annotations

import numpy as np
import pytest

from onnx_conformance.declare import (
    EXACT,
    AnyOf,
    Clause,
    DeclarationError,
    Op,
    PartlyOpen,
    Rejected,
    Rule,
    Unspecified,
    Version,
    reshaped,
    vary,
)
from onnx_conformance.declare.clause import Force
from onnx_conformance.declare.readings import NAN
from refusals import refuses


@pytest.mark.parametrize(
    ("sentence", "force"),
    [
        ("It must be a scalar(tensor of empty shape).", Force.MUST),
        ("Accepted range is [-r, r-1] where r = rank(data).", Force.MUST),
        ("If an axis is selected with shape entry not equal to one, an error is raised.", Force.MUST),
        ("1-dim expansion doesn't work yet.", Force.MUST),
        ("Values should be >= 0.", Force.SHOULD),
        ("tensor of bool, which should be a scalar.", Force.SHOULD),
        ("Sizes must be equal, and should be small.", Force.MUST),
        ("It has shape `[batch_size]`.", Force.DESCRIBES),
        ("The maximum of the rangefinder.", Force.DESCRIBES),
        ("Constrain input and output types to float tensors.", Force.SIGNATURE),
    ],
)
def test_the_words_of_a_sentence_say_how_strongly_it_binds(sentence: str, force: Force) -> None:
    op = Op("Split", versions=(18,), compare=EXACT)
    assert op.clause(sentence).force is force


def test_a_declaration_may_know_the_force_better_than_the_words() -> None:
    op = Op("Split", versions=(18,), compare=EXACT)
    assert op.clause("A 0-D tensor.", force=Force.MUST).force is Force.MUST


def test_a_rule_of_the_signature_has_the_force_of_the_signature() -> None:
    assert {Rule.TYPES.force, Rule.ARITY.force, Rule.ATTRIBUTES.force, Rule.DEPRECATED.force} == {Force.SIGNATURE}


@pytest.mark.parametrize(("version", "in_force"), [(10, False), (11, True), (12, True), (13, False)])
def test_a_clause_is_in_force_from_its_first_version_until_before_another(version: int, in_force: bool) -> None:  # noqa: FBT001
    assert Clause("", "", since=11, before=13).in_force(version) is in_force


def three_wordings() -> tuple[Op, Clause]:
    """Return an operator, and a clause that it words in three ways."""
    op = Op("Split", versions=(1, 2, 11, 13, 18), compare=EXACT)
    op.clause("First.")
    clause = op.clause("It must be new.", note="new").reworded(before=13, text="It must be old.")
    clause = clause.reworded(before=11, text="It should  be oldest.", since=2, note="oldest")
    op.clause("Last.")
    return op, clause


def test_each_wording_is_a_clause_of_the_operator() -> None:
    op, _ = three_wordings()
    assert [(item.text, item.since, item.before, item.note) for item in op.clauses] == [
        ("First.", None, None, ""),
        ("It must be new.", 13, None, "new"),
        ("It must be old.", 11, 13, ""),
        ("It should be oldest.", 2, 11, "oldest"),
        ("Last.", None, None, ""),
    ]
    assert [item.force for item in op.clauses[1:4]] == [Force.MUST, Force.MUST, Force.SHOULD]


@pytest.mark.parametrize(
    ("version", "text", "in_force"), [(1, "oldest", False), (2, "oldest", True), (11, "old", True)]
)
def test_a_reworded_clause_has_the_wording_of_a_version(version: int, text: str, in_force: bool) -> None:  # noqa: FBT001
    _, clause = three_wordings()
    assert clause.at(version).text.endswith(f" {text}.")
    assert clause.in_force(version) is in_force


def test_versions_between_two_wordings_have_neither() -> None:
    op = Op("ReduceSum", versions=(1, 11, 13), compare=EXACT)
    clause = op.clause("New.", since=13).reworded(before=11, text="Old.")
    assert [clause.in_force(version) for version in (1, 11, 13)] == [True, False, True]
    assert clause.at(11).text == "New."


@pytest.mark.parametrize("wrong", [{"before": 13}, {"before": 18}, {"before": 9, "since": 9}])
def test_wordings_may_not_overlap(wrong: dict[str, int]) -> None:
    op = Op("Split", versions=(1, 2, 11, 13, 18), compare=EXACT)
    clause = op.clause("New.").reworded(before=13, text="Old.")
    with refuses("rewording-overlaps", kind=DeclarationError):
        clause.reworded(text="Oldest.", **wrong)


def test_an_oracle_names_the_wording_in_force() -> None:
    _, clause = three_wordings()
    with pytest.raises(Rejected) as rejected:
        Version(11).require(clause, holds=False)
    assert rejected.value.clause.text == "It must be old."
    with pytest.raises(Unspecified) as unspecified:
        Version(18).silent(clause)
    assert unspecified.value.clause.text == "It must be new."
    with pytest.raises(Unspecified, match="not stated in version 1"):
        Version(1).require(clause, holds=False)


def cases_of(op: Op) -> dict[str, tuple[str, list[int]]]:
    """Return the first sentence of each case, and the versions that the case is meant for."""
    return {spec.name: (spec.clauses[0].text, [n for n in op.versions if spec.meant_for(n)]) for spec in op}


def test_a_case_has_each_wording_in_its_versions() -> None:
    op, clause = three_wordings()
    op.case("one", rejects=clause)
    assert cases_of(op) == {
        "one": ("It must be new.", [13, 18]),
        "one_before_13": ("It must be old.", [11]),
        "one_before_11": ("It should be oldest.", [2]),
    }


def test_a_varied_case_is_named_after_its_wording_first() -> None:
    op, clause = three_wordings()
    op.case("one", axis=vary(low=-9, high=9), since=11, cites=clause)
    assert list(cases_of(op)) == ["one_low", "one_high", "one_before_13_low", "one_before_13_high"]


@pytest.mark.parametrize(
    ("span", "text", "versions"), [({"since": 13}, "new", [13, 18]), ({"before": 11}, "oldest", [2])]
)
def test_a_case_in_one_wording_has_its_own_name(span: dict[str, int], text: str, versions: list[int]) -> None:
    op, clause = three_wordings()
    op.case("one", cites=clause, **span)
    ((name, (sentence, meant_for)),) = cases_of(op).items()
    assert (name, meant_for) == ("one", versions)
    assert sentence.endswith(f" {text}.")


def test_a_case_that_a_reworded_clause_leaves_open_has_each_wording() -> None:
    op, clause = three_wordings()
    op.case("one", since=2, before=18, unspecified=clause)
    assert [versions for _, versions in cases_of(op).values()] == [[13], [11], [2]]


NUMBERS = np.array([1.0, 2.0, 3.0])


def test_elements_that_a_clause_leaves_open_add_up() -> None:
    op, clause = three_wordings()
    v = Version(11)
    assert v.leave_open(clause, NUMBERS > 5, NUMBERS) is NUMBERS
    assert v.open_by == set()
    result = v.leave_open(clause, NUMBERS == 1, v.leave_open(op.clauses[-1], NUMBERS == 3, NUMBERS))
    assert isinstance(result, PartlyOpen)
    assert result.open.tolist() == [True, False, True]
    assert {item.text for item in v.open_by} == {"It must be old.", "Last."}, "in the wording of version 11"


def test_a_result_without_a_determined_element_is_unspecified() -> None:
    _, clause = three_wordings()
    first = Version(18).leave_open(clause, NUMBERS < 3, NUMBERS)
    with pytest.raises(Unspecified, match="must"):
        Version(18).leave_open(clause, NUMBERS == 3, first)
    assert Version(18).leave_open(clause, NUMBERS[:0] > 0, NUMBERS[:0]).size == 0, "there is nothing to determine"


def test_an_order_of_nan_rests_on_a_reading() -> None:
    _, clause = three_wordings()
    v = Version(18)
    v.unordered(clause, np.array([False, False, False]), NUMBERS)
    assert not v.rests_on
    v.unordered(clause, np.array([False, True, False]), NUMBERS)
    assert v.rests_on == {NAN}


def test_a_choice_has_only_the_values_that_differ() -> None:
    _, clause = three_wordings()
    v = Version(18)
    with_nan = np.array([1.0, np.nan])
    assert v.choose(clause, with_nan, with_nan.copy()) is with_nan
    assert v.open_by == set()
    result = v.choose(clause, NUMBERS, NUMBERS.copy(), NUMBERS + 1)
    assert isinstance(result, AnyOf)
    assert [value.tolist() for value in result.values] == [[1, 2, 3], [2, 3, 4]]
    assert {item.text for item in v.open_by} == {"It must be new."}


def test_a_result_keeps_its_open_elements_and_its_choices_in_another_shape() -> None:
    values, other = np.arange(6.0), np.arange(6.0) + 1
    result = reshaped(PartlyOpen(AnyOf(values, other, elementwise=True), values == 4), (2, 3))
    assert isinstance(result, PartlyOpen)
    assert result.open.tolist() == [[False, False, False], [False, True, False]]
    assert isinstance(result.value, AnyOf)
    assert result.value.elementwise
    assert [value.tolist() for value in result.value.values] == [[[0, 1, 2], [3, 4, 5]], [[1, 2, 3], [4, 5, 6]]]
