# SPDX-License-Identifier: Apache-2.0
"""What the specification leaves open, and what runtimes do there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from commands import command
from onnx_conformance.analysis import silences
from onnx_conformance.report import silences as report
from onnx_conformance.results.stream import Run
from onnx_conformance.specification import registry
from onnx_conformance.suites.selection import Selection
from paths import ADAPTERS

if TYPE_CHECKING:
    from pathlib import Path

EMPTY = "If the attribute 'num_outputs' is specified, then the tensor is split into equal sized parts."


def of_split(version: str = "Split") -> dict[str, silences.Silence]:
    found = silences.of([registry.load().named("Split")], Selection(ops=(version,)))
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
    silences.count_votes(list(found.values()), [Run(path)])
    empty = found[EMPTY]
    assert (empty.votes["onnx_reference"].returns, empty.votes["onnx_reference"].refuses) == (1, 0)
    assert (empty.agree, empty.differ) == (0, 0), "the other one is the oracle, which returns nothing"
    assert empty.votes[f"{careless}"].refuses == 1


def test_the_command_has_three_formats() -> None:
    text = command("silences", "--op", "Split/18").out
    assert f"«{EMPTY}»" in " ".join(text.split())
    assert "sentences of 1 operator leave something open" in text
    rows = json.loads(command("silences", "--op", "Split/18", "--format", "json").out)
    assert {row["sentence"] for row in rows} == set(of_split("Split/18"))
    table = command("silences", "--op", "Split/18", "--format", "markdown").out.splitlines()
    assert len(table) == 2 + len(rows)
    assert all(line.count("|") == table[0].count("|") for line in table)


def made(name: str, *answers: str) -> silences.Silence:
    """Return a silence with one case, in which backends a, b, c, ... have answers; an empty one is an error."""
    found = silences.Silence("ai.onnx/Split", "A sentence.", "", (), {18}, [name])
    item = silences.CaseAnswers(f"ai.onnx/Split/18/{name}")
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
    silences.count_votes(list(found.values()), [Run(path)])
    (answers,) = [item for item in found[EMPTY].answers if "@" not in item.case]
    assert answers.case == "ai.onnx/Split/18/num_outputs_dim_zero"
    assert answers.refused == [f"{careless}"]
    assert sorted(name for names in answers.returned.values() for name in names) == [reference, "onnxruntime"]
    assert (found[EMPTY].agree, found[EMPTY].differ) in {(1, 0), (0, 1)}
    assert found[EMPTY].agree == (len(answers.returned) == 1)


def test_the_answers_are_one_line_for_each_case() -> None:
    shown = " ".join(" ".join(report.text([made("zero", "float[1] 1", "float[1] 1", "float[1] 2", "", "")])).split())
    assert 'ai.onnx/Split/18/zero: 2 return "float[1] 1" (a, b); 1 returns "float[1] 2" (c); 2 refuse (d, e)' in shown
    assert "1 sentence of 1 operator leaves something open." in shown
    assert "case: zero" in shown
    (*_, row) = report.markdown([made("zero", "", "")])
    assert "ai.onnx/Split/18/zero: 2 refuse (a, b)" in row.replace("\\", "")


def test_an_operator_without_a_text_has_no_empty_quote() -> None:
    silence = made("zero")
    silence.sentence = ""
    for lines in (report.text([silence]), report.markdown([silence])):
        shown = "\n".join(lines)
        assert "«»" not in shown
        assert "no sentence of the text" in shown
