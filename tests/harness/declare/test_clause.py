"""Clauses: where they are in force, and how strongly they bind."""

from __future__ import annotations

import pytest

from onnx_conformance.declare import EXACT, Clause, Op, Rule
from onnx_conformance.declare.clause import Force


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
