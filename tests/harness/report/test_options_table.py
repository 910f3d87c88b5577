# SPDX-License-Identifier: Apache-2.0
"""The table of a tool with several options: which columns it has, and what its cells say."""

from __future__ import annotations

import pytest

from onnx_conformance.base.verdict import Verdict
from onnx_conformance.report import options_table
from onnx_conformance.report.html.verdict_styles import STYLES

TOOL = {"version": "1", "subject": "transformer"}


def heads(*names: str) -> list[list[str]]:
    return [[head for head, _ in table.columns] for table in options_table.tables([(name, TOOL) for name in names])]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("t[21]", "t[9]", "t[18]"), [["9", "18", "21"]]),
        (("t[none]", "t[extended]", "t[basic]"), [["none", "extended", "basic"]]),
        (("t[full]", "t"), [["default", "full"]]),
        (("t[1]==2", "u[1]", "t[2]==2", "u[2]"), [["1", "2"], ["1", "2"]]),
        (("t[1]", "u[1]", "t[1]==2"), []),
        (("cmd:t [1]", "cmd:t [2]"), []),
    ],
)
def test_the_columns_are_the_options_of_one_tool(names: tuple[str, ...], expected: list[list[str]]) -> None:
    assert heads(*names) == expected


def test_two_versions_of_a_tool_have_a_table_each_and_a_runtime_has_none() -> None:
    new = {**TOOL, "version": "2"}
    backends = [("t[1]==1", TOOL), ("t[2]==1", TOOL), ("t[1]", new), ("t[2]", new), ("r[1]", {}), ("r[2]", {})]
    found = options_table.tables(backends)
    assert [(table.title, table.places) for table in found] == [
        ("t 1: operator version by target opset", (0, 1)),
        ("t 2: operator version by target opset", (2, 3)),
    ]


def test_the_columns_are_opsets_where_all_options_are_numbers() -> None:
    (table,) = options_table.tables([("t", TOOL), ("t[full]", TOOL)])
    assert table.title == "t 1: operator version by option"


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        ({}, ""),
        ({Verdict.PASS: 3}, "3/3"),
        ({Verdict.PASS: 3, Verdict.UNSPECIFIED: 2, Verdict.LENIENT: 1}, "3/3"),
        ({Verdict.PASS: 1, Verdict.CRASH: 2, Verdict.WRONG_VALUE: 3, Verdict.INVALID_MODEL: 4}, "1/10 V3 M4 C2"),
        ({Verdict.REFUSED: 1, Verdict.UNSUPPORTED: 2}, "0/3 R1 U2"),
        ({Verdict.KNOWS_LESS: 2}, "- K2"),
        ({Verdict.UNSPECIFIED: 2}, "-"),
    ],
)
def test_a_cell_has_the_share_and_a_letter_for_what_is_missing(counts: dict[Verdict, int], text: str) -> None:
    assert options_table.cell(counts) == text


def test_every_failure_has_a_letter_in_a_cell() -> None:
    for verdict in Verdict:
        if verdict.failed:
            assert options_table.cell({verdict: 1}).endswith(f" {STYLES[verdict].letter}1")
