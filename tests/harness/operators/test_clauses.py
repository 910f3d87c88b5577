"""What holds for the clauses of every declared operator, whoever adds it."""

from __future__ import annotations

import re
from typing import Any
from unittest import mock

from generated import every_operator, nothing_derived, plans
from onnx_conformance.declare import EXACT, Clause, Op, Version, ramp
from onnx_conformance.specification import schema

IDENTITY_VERSIONS = (1, 13, 14, 16, 19, 21, 23, 24, 25)


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
    lines = misplaced(wrong)
    assert lines[0] == "ai.onnx/Split/11: «A negative value means counting dimensions from the back.» is still there"
    assert [line.partition(":")[0] for line in lines[1:]] == [f"ai.onnx/Split/{v}" for v in (11, 13, 18)], lines
    assert all("«Values should be > 0.» is missing" in line for line in lines[1:]), lines


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
