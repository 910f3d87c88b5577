"""What holds for the declared cases of every operator: each is generated, with the outcome of its oracle."""

from __future__ import annotations

import re
from typing import Any

import pytest

from generated import every_operator, nothing_derived, plans
from onnx_conformance.case.case import Outcome
from onnx_conformance.declare import EXACT, Clause, DeclarationError, Op, Version, ramp
from onnx_conformance.generation import plans as generate

IDENTITY_VERSIONS = (1, 13, 14, 16, 19, 21, 23, 24, 25)


def never_generated(op: Op) -> list[str]:
    """Return the declared cases that no version has everything for."""
    seen = {plan.spec.name for plan in plans(op)}
    return [spec.name for spec in op if spec.name not in seen]


@every_operator
def test_every_declared_case_is_generated_in_some_version(op: Op) -> None:
    assert not never_generated(op), never_generated(op)


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


def test_a_case_that_fits_no_version_is_noticed() -> None:
    op, _, _ = wrong(input=ramp(2))
    assert never_generated(op) == []
    op.case("argument", input=ramp(2), inputs=ramp(2))
    op.case("variable", each="T2", input=ramp(2))
    op.case("version", input=ramp(2), since=99)
    assert never_generated(op) == ["argument", "variable", "version"]


@every_operator
def test_declared_outcome_is_the_oracles(op: Op) -> None:
    for plan in plans(op):
        declared = (plan.spec.rejects and Outcome.REJECTS) or (plan.spec.unspecified and Outcome.UNSPECIFIED)
        assert plan.outcome in ({declared} if declared else {Outcome.VALUES, Outcome.PROPERTY}), plan.id
        assert (plan.expected is None) is bool(declared), plan.id


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


@every_operator
def test_bounds_can_be_measured_and_are_positive_where_something_is_computed(op: Op) -> None:
    """Of a measured tolerance; one that no evaluation with an error reaches would be an exact one, in silence."""
    if not op.compare.measured:
        return
    measured = [plan for plan in plans(op) if plan.expected is not None and plan.outcome == "values"]
    assert measured
    bounds = [bound for plan in measured for bound in plan.allowance.bounds or ()]
    assert any((bound > 0).any() for bound in bounds)
