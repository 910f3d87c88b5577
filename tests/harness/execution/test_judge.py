"""The verdict of an answer, and how strongly the text forbids a model that got one."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest

from harness.declare.clause import Force
from harness.execution.judge import judge
from harness.execution.replies import Answered, Refused
from harness.generation import plans
from harness.report.run_end import lines
from harness.results.stream import from_record, to_record
from harness.results.summary import Summary
from harness.spec import registry
from harness.verdict import Verdict

if TYPE_CHECKING:
    from harness.case.case import Case

ANSWER = Answered((np.zeros(2, np.float32),), 0.1)


def rejected() -> dict[str, Case]:
    """Return cases of Split 18 that must be refused, by the force of what forbids them."""
    op = registry.load().named("Split")
    cases = [case for case in plans.cases(op, (18,)) if case.force]
    return {case.force: case for case in cases}


@pytest.mark.parametrize("force", [Force.MUST, Force.SHOULD, Force.DESCRIBES, Force.SIGNATURE])
def test_an_accepted_model_is_told_apart_by_the_force_of_what_forbids_it(force: Force) -> None:
    case = dataclasses.replace(next(iter(rejected().values())), force=str(force), detail="")
    result = judge(case, "mine", ANSWER)
    assert (result.verdict, result.force) == (Verdict.ACCEPTED_INVALID, force)
    weaker = {
        Force.MUST: "",
        Force.SHOULD: ", if only by a `should`",
        Force.DESCRIBES: ", if only by what it describes",
        Force.SIGNATURE: ", if only by the signature, which a model checker looks at",
    }
    assert result.message == f"an answer, where the text forbids one{weaker[force]}"


def test_generated_cases_know_the_force_of_what_forbids_them() -> None:
    assert {"must", "should", "signature"} <= set(rejected())


def test_a_valid_case_has_no_force() -> None:
    op = registry.load().named("Split")
    assert not any(case.force for case in plans.cases(op, (18,)) if case.expected is not None)


def test_the_force_is_kept_in_results_and_left_out_where_there_is_none() -> None:
    result = judge(rejected()["must"], "mine", ANSWER)
    assert from_record(to_record(result)).force == "must"
    refused = judge(dataclasses.replace(rejected()["must"], force=""), "mine", Refused("Error", "no", None, None))
    assert "force" not in to_record(refused)
    assert from_record(to_record(refused)).force == ""


def test_results_without_a_force_are_counted_as_before() -> None:
    summary = Summary()
    summary.add(dataclasses.replace(judge(rejected()["must"], "mine", ANSWER), force=""))
    assert summary.forces("mine") == ""
    assert any("models that the text forbids; ONNX" in line for line in lines(summary, {}, "all", {}))


def test_what_breaks_more_than_the_signature_comes_first() -> None:
    summary = Summary()
    for force in ("signature", "must"):
        summary.add(judge(rejected()[force], "mine", ANSWER))
    assert [group.example.force for group in summary.ordered_groups()] == ["must", "signature"]
