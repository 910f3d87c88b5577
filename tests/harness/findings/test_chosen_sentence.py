# SPDX-License-Identifier: Apache-2.0
"""A sentence that a reader chose for a finding: from the command to the next update."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, cast

import pytest

from commands import command
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.findings import chosen_sentence, collect, findings_file, script
from onnx_conformance.findings.evidence import Evidence, Outline
from onnx_conformance.findings.finding import Example, FailingCases, Finding, Findings, History, Identity
from onnx_conformance.forms.table import FORMS
from paths import ROOT
from refusals import refuses

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_conformance.case.case import Case

RULES, CHOSEN = "The attribute has a default.", "the last chunk will be smaller."
DAY = "2026-12-01"


def finding(name: str = "mine-split", cause: str = "c", clause: str = RULES, chosen: str = "") -> Finding:
    return Finding(
        name,
        "Split: wrong",
        Identity("mine", "ai.onnx/Split", Verdict.WRONG_VALUE, cause),
        FailingCases(1, clause=clause, chosen=chosen, versions=(13, 18)),
        Example("case", "", {}, {}, {}, ""),
        History("mine", "1"),
    )


def folder_of(folder: Path, *items: Finding) -> Path:
    texts = {item.id: f'"""{item.title}\n\n{script.said(item.cases.clause)}\n"""\n' for item in items}
    findings_file.write(folder, Findings({}, {}, items, texts))
    return folder


def test_a_reader_chooses_the_sentence_of_a_finding_and_of_its_script(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "f", finding(), finding("other", "d"))
    done = command("findings", "--folder", folder, "--sentence", "mine-split", f" {CHOSEN.replace(' ', '  ')}")
    assert done.status == 0, done.text
    read = findings_file.read(folder)
    clauses = {item.id: (item.cases.clause, bool(item.cases.chosen)) for item in read.findings}
    assert clauses == {"mine-split": (CHOSEN, True), "other": (RULES, False)}
    assert script.said(CHOSEN) in read.scripts["mine-split"]
    assert script.said(RULES) in read.scripts["other"]
    assert [path.name for path in folder.iterdir()] == [findings_file.FILE], "it had no other file"


def test_the_script_in_a_folder_quotes_the_chosen_sentence(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "f", finding())
    assert command("scripts", folder).status == 0
    path = folder / finding().script
    assert script.said(RULES) in path.read_text()
    assert command("findings", "--folder", folder, "--sentence", "mine-split", CHOSEN).status == 0
    assert script.said(CHOSEN) in path.read_text()


def test_a_sentence_on_a_form_can_be_chosen() -> None:
    text = next(form.text for form in FORMS if form.name == "external_data")
    chosen = chosen_sentence.choose(Findings({}, {}, (finding(),)), "mine-split", text, DAY)
    assert [(item.cases.clause, item.cases.chosen) for item in chosen.findings] == [(text, DAY)]


FUSED = """<ir_version: 8, opset_import: ["" : 18]>
agraph (float[1] x, float[1] s) => (float[1] z) {
   y = Split <num_outputs: int = 1> (x)
   z = Mul (y, s)
}"""
OF_MUL = "Performs element-wise binary multiplication"


@pytest.mark.parametrize(("model", "made"), [(FUSED, ""), ("a model that is cut", FUSED)])
def test_a_sentence_on_another_operator_of_the_models_can_be_chosen(model: str, made: str) -> None:
    item = finding()
    with refuses("not-a-sentence-of-the-text"):
        chosen_sentence.choose(Findings({}, {}, (item,)), item.id, OF_MUL, DAY)
    item = dataclasses.replace(item, example=dataclasses.replace(item.example, model=model, made=made))
    (chosen,) = chosen_sentence.choose(Findings({}, {}, (item,)), item.id, OF_MUL, DAY).findings
    assert chosen.cases.clause == OF_MUL


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--sentence", "mine-spilt", CHOSEN), "no-such-finding"),
        (("--sentence", "mine-split", "The last chunk will be larger."), "not-a-sentence-of-the-text"),
        (("--sentence", "mine-split", " "), "not-a-sentence-of-the-text"),
        (("--sentence", "mine-split", CHOSEN * 40), "not-a-sentence-of-the-text"),
        (("--sentence", "mine-split", CHOSEN, "--script", "mine-split"), "findings-shown-and-made"),
        ((__file__, "--sentence", "mine-split", CHOSEN), "findings-shown-and-made"),
    ],
)  # fmt: skip
def test_a_wrong_choice_is_one_line_and_changes_nothing(words: tuple[str, ...], problem: str, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "f", finding())
    before = (folder / findings_file.FILE).read_bytes()
    done = command("findings", "--folder", folder, *words)
    assert (done.status, done.err.count("\n")) == (2, 1), done.text
    assert f"[{problem}]" in done.err, done.text
    assert (folder / findings_file.FILE).read_bytes() == before


def test_an_unknown_finding_is_answered_with_the_most_similar_one() -> None:
    with refuses("no-such-finding", "did you mean mine-split?"):
        chosen_sentence.choose(Findings({}, {}, (finding(),)), "mine-spilt", CHOSEN, DAY)


def updated(old: Finding, new: Finding) -> tuple[Finding, str, list[str]]:
    """Return the finding after an update, its script, and the codes of the notes."""
    text = f"title\n{script.said(new.cases.clause)}\ncode"
    collected = collect.Collected(Findings({}, {}, (old,)))
    evidence = Evidence(new, text, cast("Case", None), Outline(frozenset(), ()), "")
    collect._update(collected, [evidence], {old.id: old})
    (left,) = collected.findings.findings
    return left, collected.findings.scripts[left.id], [note.id for note in collected.notes]


def test_an_update_keeps_a_chosen_sentence() -> None:
    old = finding(clause=CHOSEN, chosen=DAY)
    left, text, notes = updated(old, finding("new"))
    assert (left.id, left.cases.clause, left.cases.chosen, notes) == (old.id, CHOSEN, DAY, [])
    assert text == f"title\n{script.said(CHOSEN)}\ncode"


def test_an_update_takes_the_sentence_of_the_rules_if_nobody_chose_one() -> None:
    left, text, notes = updated(finding(clause=CHOSEN), finding("new"))
    assert (left.cases.clause, left.cases.chosen, notes) == (RULES, "", [])
    assert script.said(RULES) in text


@pytest.mark.parametrize("changes", [{"cause": "another"}, {"clause": "The text does not have this any more."}])
def test_a_chosen_sentence_that_does_not_fit_any_more_is_dropped_with_a_note(changes: dict[str, str]) -> None:
    old = finding(clause=changes.get("clause", CHOSEN), chosen=DAY)
    new = finding("new", cause=changes.get("cause", "c"))
    cases = tuple(f"ai.onnx/Split/18/{number}" for number in range(3))
    old, new = (dataclasses.replace(item, cases=dataclasses.replace(item.cases, ids=cases)) for item in (old, new))
    left, text, notes = updated(old, new)
    assert (left.id, left.cases.clause, left.cases.chosen) == (old.id, RULES, "")
    assert script.said(RULES) in text
    assert notes == ["sentence-not-kept"]


@pytest.mark.parametrize("path", sorted((ROOT / "reports").glob("**/findings.json")), ids=lambda path: path.parts[-3])
def test_the_text_contains_the_chosen_sentences_that_are_published(path: Path) -> None:
    chosen = [item for item in findings_file.read(path.parent).findings if item.cases.chosen]
    assert [item.id for item in chosen if not chosen_sentence.is_in_text(item, item.cases.clause)] == []
