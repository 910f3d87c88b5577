# SPDX-License-Identifier: Apache-2.0
"""What the specification leaves open, and what runtimes do there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from commands import command
from onnx_conformance.analysis import open_points
from onnx_conformance.analysis.open_points import Kind
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.declare.readings import READINGS
from onnx_conformance.report import open_points as report
from onnx_conformance.results.stream import Run
from onnx_conformance.specification import registry
from onnx_conformance.suites.selection import Selection
from paths import ADAPTERS
from runs import result, run_of

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_conformance.base.verdict import Result

EMPTY = "If the attribute 'num_outputs' is specified, then the tensor is split into equal sized parts."


def points_of(name: str, version: str, *kinds: Kind) -> list[open_points.OpenPoint]:
    return open_points.of([registry.load().named(name)], Selection(ops=(version,)), kinds or tuple(Kind))


def of_split(version: str = "Split") -> dict[str, open_points.OpenPoint]:
    found = points_of("Split", version, Kind.SILENCE)
    return {item.sentence: item for item in found}


def test_a_sentence_is_listed_with_its_versions_and_cases() -> None:
    found = of_split()
    assert found[EMPTY].versions == {18}
    assert found[EMPTY].cases == ["num_outputs_dim_zero"]
    lengths = found["length of each output"]
    assert lengths.note.startswith("There is exactly one length for each output")
    assert lengths.versions >= {1, 13, 18}
    assert EMPTY not in of_split("Split/13")


def test_the_votes_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "results.ndjson"
    careless = ADAPTERS / "careless.py"
    done = command(
        "run", "--op", "Split/18", "--case", "*/num_outputs_dim_zero", "--case", "*/num_outputs_negative", "--backend",
        "onnx_reference", "--backend", careless, "--results", path,
    )  # fmt: skip
    assert done.status in {0, 1}, done.text
    found = of_split("Split/18")
    open_points.count_votes(list(found.values()), Run(path).results(), Selection())
    empty = found[EMPTY]
    assert (empty.votes["onnx_reference"].returns, empty.votes["onnx_reference"].refuses) == (1, 0)
    assert (empty.agree, empty.differ) == (0, 0), "the other one is the oracle, which returns nothing"
    assert empty.votes[f"{careless}"].refuses == 1


def test_the_command_has_three_formats() -> None:
    text = command("open-points", "--op", "Split/18").out
    assert f"«{EMPTY}»" in " ".join(text.split())
    assert "silences" in text.splitlines()[-1]
    only = ("--kind", "silence")
    rows = json.loads(command("open-points", "--op", "Split/18", *only, "--format", "json").out)
    assert {row["sentence"] for row in rows} == set(of_split("Split/18"))
    assert all(row["kind"] == "silence" for row in rows)
    table = command("open-points", "--op", "Split/18", *only, "--format", "markdown").out.splitlines()
    assert len(table) == 2 + len(rows)
    assert all(line.count("|") == table[0].count("|") for line in table)


def made(name: str, *answers: str) -> open_points.OpenPoint:
    """Return a point with one case, in which backends a, b, c, ... have answers; an empty one is an error."""
    found = open_points.OpenPoint(Kind.SILENCE, "ai.onnx/Split", "A sentence.", versions={18}, cases=[name])
    item = open_points.CaseAnswers(f"ai.onnx/Split/18/{name}")
    for backend, answer in zip("abcdefgh", answers, strict=False):
        if answer:
            item.returned.setdefault(answer, []).append(backend)
        else:
            item.refused.append(backend)
    found.answers.append(item)
    return found


def test_equal_answers_are_grouped(tmp_path: Path) -> None:
    path, reference = tmp_path / "results.ndjson", "onnx_reference"
    careless = ADAPTERS / "careless.py"
    command(
        "run", "--op", "Split/18", "--case", "*/num_outputs_dim_zero", "--backend", reference, "--backend", careless,
        "--backend", "onnxruntime", "--results", path,
    )  # fmt: skip
    found = of_split("Split/18")
    open_points.count_votes(list(found.values()), Run(path).results(), Selection())
    (answers,) = [item for item in found[EMPTY].answers if "@" not in item.case]
    assert answers.case == "ai.onnx/Split/18/num_outputs_dim_zero"
    assert answers.refused == [f"{careless}"]
    assert sorted(name for names in answers.returned.values() for name in names) == [reference, "onnxruntime"]
    assert (found[EMPTY].agree, found[EMPTY].differ) in {(1, 0), (0, 1)}
    assert found[EMPTY].agree == (len(answers.returned) == 1)


def test_the_answers_are_one_line_for_each_case() -> None:
    shown = " ".join(" ".join(report.text([made("zero", "float[1] 1", "float[1] 1", "float[1] 2", "", "")])).split())
    assert 'ai.onnx/Split/18/zero: 2 return "float[1] 1" (a, b); 1 returns "float[1] 2" (c); 2 refuse (d, e)' in shown
    assert shown.endswith("1 silence of 1 operator.")
    assert "case: zero" in shown
    (*_, row) = report.markdown([made("zero", "", "")])
    assert "ai.onnx/Split/18/zero: 2 refuse (a, b)" in row.replace("\\", "")


def test_an_operator_without_a_text_has_no_empty_quote() -> None:
    point = made("zero")
    point.sentence = ""
    for lines in (report.text([point]), report.markdown([point])):
        shown = "\n".join(lines)
        assert "«»" not in shown
        assert "no sentence of the text" in shown


# Contradictions, rewordings and readings


def test_two_sentences_that_contradict_each_other_are_listed_together() -> None:
    (point,) = points_of("Split", "Split/1", Kind.CONTRADICTION)
    assert (point.against, point.is_undecided) == ("Optional list of output lengths (see also arg 'split')", True)
    assert point.cases == ["no_axis", "no_lengths", "both_lengths"]
    shown = " ".join(" ".join(report.text([point])).split())
    assert "contradicted by «Optional list of output lengths (see also arg 'split')»" in shown


def test_a_sentence_that_a_later_version_added_is_told() -> None:
    (point,) = [item for item in points_of("Split", "Split", Kind.SILENCE) if item.sentence == "Values should be >= 0."]
    assert (point.versions, point.later) == ({1, 2}, 11)
    assert "    «Values should be >= 0.» (only since version 11)" in [*report.text([point])]
    assert of_split()["length of each output"].later is None


@pytest.mark.slow
def test_the_opponents_are_in_the_text_of_their_versions() -> None:
    """The checks of an operator file run only if its oracle or cases change, and these quotes are neither."""
    wrong = [
        f"{version}: {clause.contradicts}"
        for op in registry.load()
        for clause in op.clauses
        if clause.contradicts
        for version in registry.versions(op)
        if clause.in_force(version.since) and clause.contradicts not in version.text
    ]
    assert not wrong


def test_official_cases_and_function_bodies_contradict_the_text() -> None:
    official = [point for point in points_of("Dropout", "Dropout", Kind.CONTRADICTION) if "test_" in point.against]
    assert any("test_training_dropout" in point.against and not point.is_undecided for point in official)
    op = next(op for op in registry.load() if any(not glob.startswith("test_") for glob in op.disputes))
    bodies = [point for point in points_of(op.name, op.name) if point.against == open_points.FUNCTION_BODY]
    assert {point.note for point in bodies} <= set(op.disputes.values())
    assert all(point.cases and not point.is_undecided for point in bodies)


def counted(path: Path, *results: Result, kinds: tuple[Kind, ...]) -> list[open_points.OpenPoint]:
    """Return the points of Split and Softmax with the votes of results."""
    selection = Selection(ops=("Split", "Softmax"))
    ops = [registry.load().named(name) for name in selection.ops]
    points = open_points.of(ops, selection, kinds)
    open_points.count_votes(points, run_of(path, *results).results(), selection, kinds)
    return points


def test_a_rewording_counts_the_cases_that_agree_with_it(tmp_path: Path) -> None:
    (point,) = points_of("Split", "Split/11", Kind.REWORDING)
    assert (point.release, point.versions) == ("1.7", {11})
    fields = {"operator": "ai.onnx/Split/11", "reworded": point.release, "clauses": (point.sentence,)}
    results = (result("a", **fields), result("b", Verdict.REFUSED, **fields), result("c", operator="ai.onnx/Split/11"))
    (point,) = [
        item for item in counted(tmp_path / "r", *results, kinds=(Kind.REWORDING,)) if item.sentence == point.sentence
    ]
    assert point.votes == {"mine": open_points.Votes(agrees=1, deviates=1)}
    assert point.cases == ["a", "b"]
    assert "mine agrees 1, deviates 1" in " ".join(report.text([point]))


def test_a_reading_is_counted_by_operator(tmp_path: Path) -> None:
    softmax = "ai.onnx/Softmax/13"
    results = (
        result("a", operator=softmax, readings=("R4",)),
        result("b", Verdict.WRONG_VALUE, operator=softmax, readings=("R4", "R2")),
        result("c", operator="ai.onnx/Exp/13", readings=("R4",)),
        result("d"),
    )
    points = counted(tmp_path / "r", *results, kinds=(Kind.READING,))
    assert [(point.operator, point.reading) for point in points] == [
        ("ai.onnx/Softmax", "R2"),
        ("ai.onnx/Softmax", "R4"),
    ]
    assert points[1].votes == {"mine": open_points.Votes(agrees=1, deviates=1)}
    assert points[1].versions == {13}
    others = counted(tmp_path / "s", *results, kinds=(Kind.REWORDING,))
    assert not [point for point in others if point.reading]


def test_readings_of_many_operators_are_listed_without_a_selection() -> None:
    (*points, last) = open_points.of([], Selection(), (Kind.READING,))
    assert {point.reading for point in (*points, last)} == set(READINGS)
    assert "many operators: reading" in [*report.text([last])]
