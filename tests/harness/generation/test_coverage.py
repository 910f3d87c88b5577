# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import re
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from commands import command
from generated import nothing_derived
from onnx_conformance.base.package import FOLDER
from onnx_conformance.cli import commands
from onnx_conformance.declare import EXACT, Array, Op, Version, ramp
from onnx_conformance.generation import coverage
from onnx_conformance.generation.coverage import Point
from onnx_conformance.report import coverage as report
from onnx_conformance.specification import schema


def trilu() -> Op:
    """Return an operator that is declared too little: one type, no `k`, `upper` always set."""
    op = nothing_derived(Op("Trilu", versions=(14,), compare=EXACT))

    @op.oracle()
    def triangle(v: Version, input: Array, upper: int) -> Array:  # noqa: A002, ARG001 - the text's own name
        return np.triu(input) if upper else np.tril(input)

    op.case("upper", input=ramp(3, 4), upper=1)
    return op


def test_unreached_points_and_sentences_are_reported() -> None:
    [coverage_] = coverage.of(trilu())
    [version] = schema.versions("ai.onnx", "Trilu")
    types = {Point("type", "T", type_) for type_ in version.types["T"] if type_ != "tensor(float)"}
    assert set(coverage_.missing) == types | {Point("attribute", "upper", "unset"), Point("input", "k", "given")}
    assert coverage_.points == len(version.types["T"]) + 4
    assert len(coverage_.uncited) == coverage_.sentences, coverage_.uncited
    assert coverage_.binding > 0, coverage_.uncited


def test_an_excuse_is_no_case() -> None:
    op = trilu()
    op.excuse("input k given", "a test does without")
    [coverage_] = coverage.of(op)
    assert coverage_.excused == {"input k given": "a test does without"}
    assert Point("input", "k", "given") not in coverage_.missing


def test_a_quote_covers_the_sentences_it_touches() -> None:
    op = trilu()
    clause = op.clause("Default is true.")
    op.case("quoted", input=ramp(2, 3), upper=1, cites=(clause,))
    [before], [after] = coverage.of(trilu()), coverage.of(op)
    gone = set(before.uncited) - set(after.uncited)
    assert gone, "the clause is in no sentence"
    assert all("Default is true." in sentence for sentence in gone), gone


def test_variadic_points_count_values() -> None:
    [version] = [item for item in schema.versions("ai.onnx", "Max") if item.since == 13]
    points = {str(point) for point in coverage.points(version) if point.kind == "input"}
    assert points == {"input data_0 one", "input data_0 several"}


def invoke(*words: str) -> Any:
    return CliRunner().invoke(commands.main, ["coverage", *words])


@pytest.mark.slow
@pytest.mark.usefixtures("few_operators")
def test_the_command_prints_totals_and_open_points() -> None:
    ran = invoke("--op", "Split")
    assert ran.exit_code == 0, ran.output
    assert "of the schema points" in ran.output, ran.output
    assert "ai.onnx/Split/1: excused: attribute axis unset:" in ran.output, ran.output
    assert "ai.onnx/SplitToSequence" not in ran.output, ran.output


@pytest.mark.slow
@pytest.mark.usefixtures("few_operators")
def test_the_command_gives_json() -> None:
    ran = invoke("--op", "Split/18", "--json")
    assert ran.exit_code == 0, ran.output
    [row] = json.loads(ran.output)
    assert (row["operator"], row["missing"]) == ("ai.onnx/Split/18", []), row
    assert row["points"] == len(coverage.points(schema.in_force("ai.onnx", "Split", 18))), row


def test_an_unknown_operator_is_reported() -> None:
    ran = invoke("--op", "Splat")
    assert ran.exit_code != 0
    assert "did you mean Split" in str(ran.exception), ran.exception


def test_figures_add_up() -> None:
    op = trilu()
    op.excuse("input k given", "a test does without")
    [coverage_] = coverage.of(op)
    row = next(line for line in "\n".join(report.lines([coverage_])).splitlines() if line.startswith("all"))
    figures = [int(part) for part in row.split()[1:]]
    assert figures[0] == figures[1] + figures[2] + len(coverage_.missing), row


@pytest.mark.slow
@pytest.mark.usefixtures("few_operators")
def test_an_undeclared_operator_counts_with_all_its_points_and_sentences() -> None:
    done = command("coverage", "--op", "Split", "--op", "Sigmoid")
    assert done.status == 0, done.text
    assert "1 of 2 operators and 5 of 8 operator versions are declared." in done.out, done.text
    assert "No case yet: Sigmoid 1 6 13" in done.out, done.text
    both, *of_declared = re.findall(r"(\d+\.\d) % of the (?:schema )?points", done.out)
    assert float(both) < float(of_declared[0]), done.text
    records = json.loads(command("coverage", "--op", "Sigmoid", "--json").out)
    assert [record["declared"] for record in records] == [False] * 3
    assert all(len(record["missing"]) == record["points"] > 0 for record in records), records


@pytest.mark.usefixtures("few_operators")
def test_an_operator_without_cases_is_one_of_onnx_wherever_it_is_named() -> None:
    sentence = "ONNX has ai.onnx/Sigmoid (versions 1, 6, 13), but no case is written for it yet"
    for words in (
        ("run", "--op", "Sigmoid"),
        ("list", "--op", "Sigmoid/13"),
        ("show", "Sigmoid"),
        ("show", "Sigmoid/13"),
    ):
        done = command(*words)
        assert (done.status, sentence in done.err) == (2, True), done.text
    assert command("run", "--op", "Sigmoit").refused("operator-not-in-suite", "Sigmoid")


def test_an_operator_is_shown_with_its_versions_and_sentences() -> None:
    done = command("show", "Split")
    assert done.status == 0, done.text
    path = os.path.relpath(FOLDER / "operators" / "tensor" / "split.py")
    for part in (
        f"declared in {path}\n",
        "ai.onnx/Split/13  13 to 17",
        "(18) «If the tensor is not evenly splittable into `num_outputs`",
    ):
        assert part in done.out, done.text
    assert command("show", "split").out == done.out
    only = command("show", "ai.onnx/Split/13").out
    assert "ai.onnx/Split/18" not in only
    assert "num_outputs" not in only
    assert command("show", "Split/12").refused("version-not-in-suite", "1, 2, 11, 13, 18")
