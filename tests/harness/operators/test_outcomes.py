# SPDX-License-Identifier: Apache-2.0
"""A case whose declared outcome is not that of the oracle is refused."""

from __future__ import annotations

import re
from typing import Any

import pytest

from generated import nothing_derived
from onnx_conformance.declare import EXACT, Clause, DeclarationError, Op, Version, ramp
from onnx_conformance.generation import plans as generate
from refusals import refuses

IDENTITY_VERSIONS = (1, 13, 14, 16, 19, 21, 23, 24, 25)


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
        ({"input": ramp(2, 2)}, "the oracle raises rejects «Identity operator», but the case does not"),
        ({"input": ramp(2, 2, 2)}, "the oracle raises unspecified «Identity operator», but the case does not"),
        ({"input": ramp(2), "rejects": "flat"}, "declared without values, but the oracle returns values"),
        ({"input": ramp(2), "unspecified": "flat"}, "declared without values, but the oracle returns values"),
        (
            {"input": ramp(2, 2), "rejects": "other"},
            "declared rejects=«Tensor to copy input into.», but the oracle names «Identity operator»",
        ),
        (
            {"input": ramp(2, 2), "unspecified": "flat"},
            "the oracle raises rejects «Identity operator», but the case does",
        ),
        (
            {"input": ramp(2, 2, 2), "rejects": "flat"},
            "the oracle raises unspecified «Identity operator», but the case",
        ),
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


def test_a_case_declared_as_unspecified_may_have_values_if_its_clause_leaves_some_elements_open() -> None:
    op = nothing_derived(Op("Identity", versions=IDENTITY_VERSIONS, compare=EXACT))
    first, other = op.clause("Identity operator"), op.clause("Tensor to copy input into.")

    @op.oracle()
    def identity(v: Version, input: Any) -> Any:  # noqa: A002 - the text's own name
        return v.leave_open(first, input > 1, input)

    op.case("partly", input=ramp(3), unspecified=first)
    op.case("not_at_all", input=ramp(2), unspecified=first)
    op.case("by_another", input=ramp(3), unspecified=other)
    partly, not_at_all, by_another = op
    (plan,) = generate.plans(op, (1,), [partly])
    assert plan.expected is not None
    assert plan.open[0] is not None
    assert plan.open[0].tolist() == [False, False, True]
    for spec in (not_at_all, by_another):
        with refuses("values-not-declared"):
            list(generate.plans(op, (1,), [spec]))
