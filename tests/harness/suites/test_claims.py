# SPDX-License-Identifier: Apache-2.0
"""Claims: which cases they cover, the sentences for malformed files, and the claims of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commands import command
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.gate import observed_claims
from onnx_conformance.generation import plans
from onnx_conformance.results.stream import Run
from onnx_conformance.specification import registry
from onnx_conformance.suites import claims
from onnx_conformance.suites.chosen import selection_of
from onnx_conformance.suites.generated import Generated
from refusals import refuses
from runtime_fakes import write_lacking

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_conformance.case.case import Case

TEXTS = {
    "operator": 'operator = "Clip/>=12"',
    "versions": 'operator = "ai.onnx/Clip"\nversions = [12, 13]',
    "types": 'operator = "Clip/13"\ntypes = { T = ["float", "int8"] }',
    "ranks": 'operator = "Clip/13"\nranks = { input = [1] }',
    "forms": 'operator = "Clip/13"\nforms = ["plain", "initializer*"]',
    "but": 'operator = "Clip/13"\nbut = ["*/float16*"]',
    "attributes": 'operator = "Flatten/13"\nattributes = { axis = [1, 2] }',
}
UNKNOWN_RANK = {"unranked", "expanded"}
"""Forms in whose models another node computes an input, or the operator has no node."""


def made(name: str) -> list[Case]:
    return list(plans.cases(registry.load().named(name), (13,)))


@pytest.mark.parametrize("key", TEXTS)
def test_a_condition_selects_the_same_cases_from_declarations_and_from_models(key: str, tmp_path: Path) -> None:
    path = tmp_path / "claims.toml"
    path.write_text(f"[[claims]]\n{TEXTS[key]}\n", encoding="utf-8")
    name = "Flatten" if key == "attributes" else "Clip"
    every = made(name)
    own = claims.read(path)
    covered = {case.id for case in every if own.cover(case) and case.form not in UNKNOWN_RANK}
    selection = selection_of({"op": f"{name}/13", "claims": path})
    chosen = {case.id for case in Generated().listed(selection) if case.form not in UNKNOWN_RANK}
    assert covered == chosen
    assert covered
    assert key in {"operator", "versions"} or len(covered) < len([c for c in every if c.form not in UNKNOWN_RANK])
    assert str(selection) == f"--op {name}/13 --claims claims.toml@{own.digest}"


def test_an_omitted_attribute_has_its_default() -> None:
    case = next(case for case in made("Flatten") if b"axis" not in case.model and case.form == "plain")
    for value, covered in ((1, True), (2, False)):
        text = f'[[claims]]\noperator = "Flatten"\nattributes = {{ axis = [{value}] }}'
        assert claims.parse(text, "x").cover(case) is covered


@pytest.mark.parametrize(
    ("text", "problem", "word"),
    [
        ("", "claims-missing", "[[claims]]"),
        ("[[claims]", "profile-not-toml", "mine.toml"),
        ("a" + ".a" * 50 + " = 1", "profile-not-toml", "parts"),
        ("claims = 3", "claims-invalid", "[[claims]]"),
        ("[[claims]]", "claims-invalid", "number 1 has no operator"),
        ('[[claims]]\noperator = "Conv/>=x"', "claims-invalid", "Conv/>=11"),
        ('[[claims]]\noperator = "Conv"\nversion = [1]', "claims-invalid", "did you mean 'versions'"),
        ('[[claims]]\noperator = "Conv"\nversions = 1', "claims-invalid", "whole numbers"),
        ('[[claims]]\noperator = "Conv"\ntypes = { T = ["flot("] }', "claims-invalid", "float"),
        ('[[claims]]\noperator = "Conv"\ntypes = ["float"]', "claims-invalid", "expected a table"),
        ('[[claims]]\noperator = "Conv"\nranks = { X = ["a"] }', "claims-invalid", "whole numbers"),
        ('[[claims]]\noperator = "Conv"\nattributes = { a = 1 }', "claims-invalid", "list of values"),
        ('[[claims]]\noperator = "Conv"\nforms = []', "claims-invalid", "list of texts"),
    ],
)
def test_a_malformed_file_gets_a_sentence(text: str, problem: str, word: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with refuses(problem, word, "mine.toml"):
        claims.read(path)


def test_a_missing_file_gets_a_sentence(tmp_path: Path) -> None:
    for option in ("--claims", "--profile"):
        done = command("run", "--op", "Clip/13", option, tmp_path / "none.toml")
        assert done.status == 2, done.text
        assert "[profile-not-readable]" in done.err, done.text


LACKS_SOME = "any(item.name == 'axis' and item.i < 0 for item in loaded.graph.node[0].attribute)"
FLATTEN = ("--op", "Flatten/13", "--form", "plain", "--table", "none", "--groups", "1")


@pytest.mark.slow
def test_the_claims_of_a_run_hold_until_the_runtime_lacks_more(tmp_path: Path) -> None:
    adapter, file, profile = tmp_path / "mine.py", tmp_path / "r.ndjson", tmp_path / "claims.toml"
    write_lacking(adapter, LACKS_SOME)
    backend = ("--backend", adapter, "--results", file, "--overwrite")
    command("run", *FLATTEN, *backend)
    verdicts = {result.case: result.verdict for result in Run(file).results()}
    assert {Verdict.PASS, Verdict.UNSUPPORTED} <= set(verdicts.values())
    assert command("claims", file, "--out", profile).status == 0
    assert "attributes = { axis =" in profile.read_text(encoding="utf-8")
    assert "\nbut" not in profile.read_text(encoding="utf-8")
    own = claims.read(profile)
    every = [case for case in made("Flatten") if case.form == "plain" and case.outcome == "values"]
    assert all(own.cover(case) for case in every if verdicts[case.id] is Verdict.PASS)
    assert not any(own.cover(case) for case in every if verdicts[case.id] is Verdict.UNSUPPORTED)
    accepted = tmp_path / "accepted.toml"
    command("run", *FLATTEN, *backend, "--profile", profile)
    assert Verdict.DECLINED not in {result.verdict for result in Run(file).results()}
    update = ("expectations", "update", file, "--expectations", accepted, "--accept-new", "--reason", "for now")
    assert command(*update).status == 0
    write_lacking(adapter, "True")  # It claims what it declines.
    done = command("run", *FLATTEN, *backend, "--profile", profile, "--expectations", accepted)
    assert done.status == 1, done.text
    assert "declined" in done.text, done.text
    assert Verdict.DECLINED in {result.verdict for result in Run(file).results()}
    done = command("claims", file)
    assert done.status == 2, done.text
    assert "[claims-of-nothing]" in done.err, done.text


def test_claims_are_written_into_a_file_whose_other_tables_stay(tmp_path: Path) -> None:
    path, file = tmp_path / "mine.toml", tmp_path / "r.ndjson"
    path.write_text('# Mine.\n[provider]\nnames = ["Mine"]\n', encoding="utf-8")
    command("run", "--op", "Flatten/13", "--form", "plain", "--table", "none", "--results", file)
    assert command("claims", file, "--out", path).status == 0
    text = path.read_text(encoding="utf-8")
    assert text.startswith('# Mine.\n[provider]\nnames = ["Mine"]\n\n[[claims]]\n')
    assert claims.parse(text, "mine.toml").has("ai.onnx/Flatten/13")
    done = command("claims", file, "--out", path)
    assert done.status == 2, done.text
    assert "[claims-exist]" in done.err, done.text
    assert command("claims", file, "--out", path, "--overwrite").status == 0
    assert path.read_text(encoding="utf-8") == text
    done = command("claims", file, "--backend", "other")
    assert "[claims-of-another-backend]" in done.err, done.text


def test_written_claims_are_read_as_they_were() -> None:
    text = """[[claims]]
operator = "a.b/Op"
versions = [1, 2]
types = { T = ["float", "seq(tensor(float))"], "tensor(int64)" = ["int64"] }
ranks = { X = [0, 3] }
attributes = { pads = [[0, 1], [1, 1]], mode = ["a\\"b"], alpha = [0.5] }
forms = ["plain"]
but = ["a.b/Op/1/x[[]1]"]
"""
    own = claims.parse(text, "x")
    assert claims.parse(observed_claims.text(own.every), "x") == own
    assert claims.parse(text.replace("0.5", "0.25"), "x").digest != own.digest
