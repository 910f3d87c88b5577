# SPDX-License-Identifier: Apache-2.0
"""Verdicts that depend on claims, and on the execution provider that ran the tested operator."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pytest

from commands import command
from onnx_conformance.base.target import Target
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.case.case import Outcome
from onnx_conformance.forms.table import EXPANDED
from onnx_conformance.generation import plans
from onnx_conformance.judging import profile
from onnx_conformance.judging.judge import judge
from onnx_conformance.processes.adapter_process import OPTED_OUT
from onnx_conformance.processes.replies import Answered, Assigned, Refused
from onnx_conformance.results.stream import Run
from onnx_conformance.specification import registry
from refusals import refuses

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_conformance.case.case import Case
    from onnx_conformance.judging.profile import Profile

OPERATOR = "ai.onnx/Clip"
LACKS = Refused("NotImplemented", "no kernel", "no kernel", 0.1)


@functools.cache
def case_of(form: str = "plain", outcome: Outcome = Outcome.VALUES) -> Case:
    every = plans.cases(registry.load().named("Clip"), (13,))
    return next(case for case in every if case.form == form and case.outcome is outcome)


def claiming(text: str = f'[[claims]]\noperator = "{OPERATOR}"') -> Profile:
    return profile.of(Target("mine", (), profile=text), {})


def answer(case: Case, *nodes: tuple[str, str]) -> Answered:
    assert case.expected is not None
    return Answered(case.expected, 0.1, Assigned("Mine", nodes))  # type: ignore[arg-type]


def test_an_unsupported_case_is_declined_if_it_is_claimed() -> None:
    case = case_of()
    result = judge(case, "mine", LACKS, claiming())
    assert (result.verdict, result.message) == (Verdict.DECLINED, "no kernel: no kernel")
    assert result.verdict.failed
    assert judge(case, "mine", LACKS).verdict is Verdict.UNSUPPORTED
    assert judge(case, "mine", LACKS, claiming('[[claims]]\noperator = "Relu"')).verdict is Verdict.UNSUPPORTED


def test_claims_of_the_adapter_count_like_those_of_the_file() -> None:
    registered = {"claims": [{"operator": "ai.onnx/Clip/>=13"}]}
    assert judge(case_of(), "mine", LACKS, profile.of(Target("mine", ()), registered)).verdict is Verdict.DECLINED
    with refuses("claims-invalid", "operator"):
        profile.of(Target("mine", ()), {"claims": [{"operator": 3}]})


@pytest.mark.parametrize("reason", OPTED_OUT.values())
def test_a_case_that_the_adapter_is_not_asked_is_not_declined(reason: str) -> None:
    assert judge(case_of(), "mine", Refused("", "", reason, None), claiming()).verdict is Verdict.UNSUPPORTED


def test_an_invalid_model_is_not_declined() -> None:
    assert judge(case_of(outcome=Outcome.REJECTS), "mine", LACKS, claiming()).verdict is Verdict.UNSUPPORTED


def test_a_silent_fallback_to_the_cpu_is_no_pass() -> None:
    case = case_of()
    on_cpu = answer(case, (OPERATOR, "CPU"))
    result = judge(case, "mine", on_cpu, claiming())
    assert result.verdict is Verdict.FALLBACK
    assert f"{OPERATOR} on CPU" in result.message
    assert judge(case, "mine", on_cpu).verdict is Verdict.UNSUPPORTED
    assert judge(case, "mine", answer(case, (OPERATOR, "Mine"))).verdict is Verdict.PASS
    both = answer(case, (OPERATOR, "Mine"), (OPERATOR, "CPU"))
    assert judge(case, "mine", both, claiming()).verdict is Verdict.FALLBACK


def test_an_error_of_another_provider_does_not_reject_an_invalid_model() -> None:
    case = case_of(outcome=Outcome.REJECTS)
    refused = Refused("Fail", "no", None, 0.1, "run", Assigned("Mine", ((OPERATOR, "CPU"),)))
    assert judge(case, "mine", refused, claiming()).verdict is Verdict.UNSUPPORTED


def test_only_the_tested_operator_must_run_on_the_provider() -> None:
    case = case_of("if_branch")
    helped = answer(case, ("ai.onnx/If", "CPU"), ("ai.onnx/Identity", "CPU"), (OPERATOR, "Mine"))
    assert judge(case, "mine", helped, claiming()).verdict is Verdict.PASS
    lost = answer(case, ("ai.onnx/If", "Mine"), (OPERATOR, "CPU"))
    assert judge(case, "mine", lost, claiming()).verdict is Verdict.FALLBACK


def test_a_model_that_was_computed_while_it_was_loaded_proves_nothing() -> None:
    case = case_of("if_branch")
    for nodes in ((), (("ai.onnx/If", "Mine"),)):
        assert judge(case, "mine", answer(case, *nodes), claiming()).verdict is Verdict.UNSUPPORTED


def test_the_nodes_that_replace_the_operator_must_run_on_the_provider() -> None:
    case = case_of()
    assert judge(case, "mine", answer(case, ("ai.onnx/Max", "Mine"))).verdict is Verdict.PASS
    mixed = answer(case, ("ai.onnx/Max", "Mine"), ("ai.onnx/Min", "CPU"))
    assert judge(case, "mine", mixed, claiming()).verdict is Verdict.FALLBACK


def test_every_node_of_a_function_body_must_run_on_the_provider() -> None:
    case = case_of(EXPANDED)
    mixed = answer(case, ("ai.onnx/Max", "Mine"), ("ai.onnx/Min", "CPU"))
    assert judge(case, "mine", mixed).verdict is Verdict.UNSUPPORTED
    assert judge(case, "mine", answer(case, ("ai.onnx/Max", "Mine"))).verdict is Verdict.PASS


def test_a_claim_does_not_cover_the_function_body_unless_it_names_the_form() -> None:
    case = case_of(EXPANDED)
    assert judge(case, "mine", LACKS, claiming()).verdict is Verdict.UNSUPPORTED
    named = claiming(f'[[claims]]\noperator = "{OPERATOR}"\nforms = ["{EXPANDED}"]')
    assert judge(case, "mine", LACKS, named).verdict is Verdict.DECLINED


# Adapters of providers that are deliberately wrong

ADAPTER = """
import onnx
import onnx.reference

OPT_OUTS = (("NotImplementedError", "", "no kernel"),)


def info():
    return {"runtime": "mine", "version": "1"}


def session(model):
    evaluator = onnx.reference.ReferenceEvaluator(onnx.load_from_string(model))

    def run(inputs, outputs):
        return evaluator.run(outputs, inputs)

    ASSIGNED
    return run


def run(model, inputs, outputs):
    return session(model)(inputs, outputs)
"""
CASE = "ai.onnx/Clip/13/both_matrix"
WRONG = [
    ("run.assigned = {'target': 'Mine', 'nodes': [['', 'Clip', 'Mine']]}", Verdict.PASS, 0),
    ("run.assigned = {'target': 'Mine', 'nodes': [['', 'Clip', 'CPU']]}", Verdict.FALLBACK, 1),
    ("run.assigned = {'target': 'Mine', 'nodes': []}", Verdict.UNSUPPORTED, 1),
    ("raise NotImplementedError('gone')", Verdict.DECLINED, 1),
    ("run.assigned = {'target': 'Mine', 'nodes': [['Clip', 'CPU']]}", Verdict.ADAPTER_ERROR, 2),
    ("run.assigned = 'CPU'", Verdict.ADAPTER_ERROR, 2),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("assigned", "verdict", "status"), WRONG,
    ids=["right", "falls back silently", "folds", "declines its claims", "malformed row", "malformed"],
)  # fmt: skip
def test_a_wrong_provider_is_noticed_through_the_wire(
    assigned: str, verdict: Verdict, status: int, tmp_path: Path
) -> None:
    adapter, claims = tmp_path / "mine.py", tmp_path / "claims.toml"
    adapter.write_text(ADAPTER.replace("ASSIGNED", assigned))
    claims.write_text(f'[[claims]]\noperator = "{OPERATOR}"\n')
    results = tmp_path / "r.ndjson"
    options = ("--backend", adapter, "--claims", claims, "--table", "none", "--results", results)
    done = command("run", "--op", "Clip/13", "--case", CASE, *options)
    assert done.status == status, done.text
    assert [result.verdict for result in Run(results).results()] == [verdict], done.text
