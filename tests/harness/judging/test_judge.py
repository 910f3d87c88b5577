# SPDX-License-Identifier: Apache-2.0
"""The verdict of an answer, and how strongly the text forbids a model that got one."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest

from onnx_conformance.base.verdict import Verdict
from onnx_conformance.case.case import Outcome
from onnx_conformance.declare.clause import Force
from onnx_conformance.generation import plans
from onnx_conformance.judging.judge import judge
from onnx_conformance.processes.replies import Answered, Died, Late, Oversized, Refused
from onnx_conformance.results.stream import from_record, to_record
from onnx_conformance.results.summary import Rates, Summary, rates
from onnx_conformance.specification import registry

if TYPE_CHECKING:
    from onnx_conformance.case.case import Case
    from onnx_conformance.processes.replies import Reply

ANSWER = Answered((np.zeros(2, np.float32),), 0.1)


def rejected() -> dict[str, Case]:
    """Return cases of Split 18 that must be refused, by the force of what forbids them."""
    op = registry.load().named("Split")
    cases = [case for case in plans.cases(op, (18,)) if case.force]
    return {case.force: case for case in cases}


@pytest.mark.slow
@pytest.mark.parametrize("force", [Force.MUST, Force.SHOULD, Force.DESCRIBES, Force.SIGNATURE])
def test_an_accepted_model_is_told_apart_by_the_force_of_what_forbids_it(force: Force) -> None:
    case = dataclasses.replace(next(iter(rejected().values())), force=str(force), detail="")
    result = judge(case, "mine", ANSWER)
    verdict = Verdict.ACCEPTED_INVALID if force is Force.MUST else Verdict.LENIENT
    assert (result.verdict, result.force) == (verdict, force)
    assert result.verdict.scored is (force is Force.MUST)
    weaker = {
        Force.MUST: "",
        Force.SHOULD: " (it violates only a `should`)",
        Force.DESCRIBES: " (it violates only a description)",
        Force.SIGNATURE: " (it violates only the signature, which a model checker verifies)",
    }
    assert result.message == f"an invalid model was accepted{weaker[force]}"


@pytest.mark.slow
def test_a_rejection_that_the_text_permits_is_unsupported() -> None:
    cases = plans.cases(registry.load().named("Split"), (18,))
    valid = next(case for case in cases if case.outcome is Outcome.VALUES)
    optional = dataclasses.replace(valid, force=str(Force.OPTIONAL))
    refused = Refused("ValueError", "not on this device", None, 0.1)
    assert judge(valid, "mine", refused).verdict is Verdict.REFUSED
    result = judge(optional, "mine", refused)
    assert result.verdict is Verdict.UNSUPPORTED
    assert result.message == "the text permits some runtimes to reject this model: not on this device"
    assert judge(optional, "mine", ANSWER).verdict.failed
    assert valid.expected
    assert judge(optional, "mine", Answered(valid.expected, 0.1)).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (Died("SIGSEGV", -11, ""), Verdict.CRASH),
        (Late(20.0, ""), Verdict.TIMEOUT),
        (Refused("ValueError", "no", None, 0.1), Verdict.UNSPECIFIED),
        (Refused("NotImplementedError", "no", "no kernel", 0.1), Verdict.UNSPECIFIED),
        (ANSWER, Verdict.UNSPECIFIED),
    ],
)
def test_a_process_must_not_die_or_hang_even_if_the_text_is_silent(reply: Reply, verdict: Verdict) -> None:
    op = registry.load().named("Split")
    case = next(case for case in plans.cases(op) if case.expected is not None)
    result = judge(dataclasses.replace(case, outcome=Outcome.UNSPECIFIED, expected=None), "mine", reply)
    assert result.verdict is verdict
    assert result.verdict.failed is (verdict is not Verdict.UNSPECIFIED)
    assert result.verdict is Verdict.UNSPECIFIED or result.wanted.startswith("any result or error")


def test_generated_cases_know_the_force_of_what_forbids_them() -> None:
    assert {"must", "should", "signature"} <= set(rejected())


def test_a_valid_case_has_no_force() -> None:
    op = registry.load().named("Split")
    assert not any(case.force for case in plans.cases(op, (18,)) if case.expected is not None)


@pytest.mark.slow
def test_the_force_is_kept_in_results_and_left_out_where_there_is_none() -> None:
    result = judge(rejected()["must"], "mine", ANSWER)
    assert from_record(to_record(result)).force == "must"
    refused = judge(dataclasses.replace(rejected()["must"], force=""), "mine", Refused("Error", "no", None, None))
    assert "force" not in to_record(refused)
    assert from_record(to_record(refused)).force == ""


def test_a_model_that_is_forbidden_without_a_known_force_is_not_accepted_leniently() -> None:
    result = judge(dataclasses.replace(rejected()["must"], force=""), "mine", ANSWER)
    assert result.verdict is Verdict.ACCEPTED_INVALID


@pytest.mark.slow
def test_an_answer_too_large_to_read_is_lenient_by_the_same_rule() -> None:
    for force, verdict in (("must", Verdict.ACCEPTED_INVALID), ("signature", Verdict.LENIENT)):
        case = dataclasses.replace(next(iter(rejected().values())), force=force)
        assert judge(case, "mine", Oversized((), 1 << 40, None)).verdict is verdict


@pytest.mark.slow
def test_lenient_answers_count_neither_as_passed_nor_as_failed() -> None:
    summary = Summary()
    for force in ("signature", "should", "must"):
        summary.add(judge(rejected()[force], "mine", ANSWER))
    assert summary.failed == 1
    assert [group.example.force for group in summary.ordered_groups()] == ["must"]
    assert summary.leniences("mine") == "should 1, signature 1"
    assert rates(summary.total) == Rates(passed=0, specified=1, attempted=1)
