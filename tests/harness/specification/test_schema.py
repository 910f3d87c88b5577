# SPDX-License-Identifier: Apache-2.0
"""What holds of any onnx: the newest opset, the onnx that was read, and sentences that another one words otherwise."""

from __future__ import annotations

import re
import tomllib

import onnx
import pytest
from onnx import helper

from commands import command
from onnx_conformance.case.case import Outcome
from onnx_conformance.declare import Op
from onnx_conformance.declare.clause import DeclarationError
from onnx_conformance.generation import plans
from onnx_conformance.specification import registry, rewordings, schema
from paths import ROOT
from refusals import refuses


def test_the_newest_opset_is_that_of_a_schema_where_the_table_of_releases_lacks_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    newest = schema.newest_opset("ai.onnx")
    older = {key: ir for key, ir in helper.OP_SET_ID_VERSION_MAP.items() if key[1] < newest - 1}
    monkeypatch.setattr(helper, "OP_SET_ID_VERSION_MAP", older)
    assert schema.newest_opset("ai.onnx") == newest
    assert schema.newest_opset("ai.onnx.ml") == 5


def test_the_onnx_that_was_read_is_the_one_that_tests_and_manifest_are_made_with() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert f"onnx=={schema.READ}" in extras["test"]
    assert onnx.__version__ == schema.READ


@pytest.mark.slow
def test_a_sentence_that_this_onnx_words_otherwise_leaves_its_cases_open(monkeypatch: pytest.MonkeyPatch) -> None:
    op = registry.load().named("SpaceToDepth")
    (usual, *_) = list(plans.plans(op, (13,)))
    assert usual.outcome is Outcome.VALUES
    monkeypatch.setattr(rewordings, "unread", lambda _version, clauses: bool(clauses))
    left = [plan for plan in plans.plans(op, (13,)) if plan.spec.clauses]
    assert left
    assert {plan.outcome for plan in left} == {Outcome.UNSPECIFIED}
    assert {plan.expected for plan in left} == {None}
    details = {plan.detail for plan in left if plan.spec.unspecified is None}
    assert details == {f"onnx {onnx.__version__} words it differently"}
    monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", "")  # An index in it is of the sentences as they are.
    done = command("list", "--op", "SpaceToDepth/13")
    assert "[sentences-reworded]" in done.err


def test_a_body_of_an_onnx_that_was_not_read_may_disagree(monkeypatch: pytest.MonkeyPatch) -> None:
    op = registry.load().named("ReduceLogSumExp")
    large = [spec for spec in op if spec.name == "large"]
    monkeypatch.setattr(Op, "disputed", lambda _op, _name: None)
    with refuses("function-body-differs", kind=DeclarationError):
        list(plans.cases(op, (18,), large))
    monkeypatch.setattr(onnx, "__version__", "1.99.0")
    (expanded,) = [case for case in plans.cases(op, (18,), large) if case.form == "expanded"][:1]
    assert expanded.outcome is Outcome.UNSPECIFIED
    assert expanded.notes[-1] == f"the function body of onnx 1.99.0 disagrees; only that of {schema.READ} was reviewed"


def test_versions_that_this_onnx_lacks_are_missing_in_coverage() -> None:
    lacking = [f"{op}/{since}" for op in registry.load() for since in registry.missing(op)]
    assert lacking, "every declared version is in the installed onnx: take this test's operator from another one"
    done = command("coverage", "--op", lacking[0])
    assert done.status == 0, done.text
    text = re.sub(r"\s+", " ", done.out)
    assert f"Missing, because onnx {onnx.__version__} does not define them (see --onnx): {lacking[0]}" in text
    assert '"in_onnx": false' in command("coverage", "--op", lacking[0], "--json").out
