# SPDX-License-Identifier: Apache-2.0
"""What earlier runs took decides the order of slices, and nothing else."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from onnx_conformance.run import costs
from onnx_conformance.run.worker import SliceReport
from onnx_conformance.suites import packs
from onnx_conformance.suites.slices import Slice

if TYPE_CHECKING:
    from pathlib import Path

QUICK, SLOW, NEW = (
    Slice("ai.onnx/Abs/1", cases=100),
    Slice("ai.onnx/Conv/1", cases=50),
    Slice("ai.onnx/Neg/1", cases=90),
)


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", str(tmp_path))
    return tmp_path


def measured(*reports: tuple[Slice, float, int]) -> None:
    kept = costs.Costs()
    for part, seconds, cases in reports:
        kept.add(SliceReport(part, Counter({part.operator: cases}), seconds=seconds))
    kept.write("generated", ["b", "a"])


def test_without_earlier_runs_the_one_with_most_cases_comes_first() -> None:
    assert costs.longest_first([SLOW, QUICK, NEW], "generated", ["a"]) == [QUICK, NEW, SLOW]


def test_what_took_longest_comes_first_and_what_is_new_counts_as_usual() -> None:
    measured((QUICK, 1.0, 100), (SLOW, 10.0, 50))
    assert costs.longest_first([QUICK, SLOW, NEW], "generated", ["a", "b"]) == [SLOW, NEW, QUICK]
    assert costs.longest_first([SLOW, QUICK, NEW], "generated", ["a"]) == [QUICK, NEW, SLOW], "of other backends"
    assert costs.longest_first([SLOW, QUICK, NEW], "official", ["a", "b"]) == [QUICK, NEW, SLOW], "of another suite"


def test_parts_of_an_operator_version_share_its_average() -> None:
    parts = [Slice(SLOW.operator, (number, 2), 25) for number in (1, 2)]
    measured((parts[0], 4.0, 25), (parts[1], 6.0, 25))
    assert costs.seconds([SLOW], "generated", ["a", "b"]) == {SLOW: pytest.approx(10.0)}


def test_few_cases_say_nothing() -> None:
    measured((QUICK, 1000.0, costs.ENOUGH - 1))
    assert costs.seconds([QUICK], "generated", ["a", "b"]) == {QUICK: 100.0}


@pytest.mark.parametrize(
    "value", [[], 3, "x", {"ai.onnx/Abs/1": "x"}, {"ai.onnx/Abs/1": -1}, {"ai.onnx/Conv/1": 1e300}]
)
def test_other_content_is_ignored(value: object) -> None:
    packs.write_json(costs._key("generated", ["a", "b"]), value)
    assert costs.longest_first([SLOW, QUICK], "generated", ["a", "b"]) == [QUICK, SLOW]
    measured((QUICK, 1.0, 100), (SLOW, 10.0, 50))
    assert costs.longest_first([QUICK, SLOW], "generated", ["a", "b"]) == [SLOW, QUICK]


def test_a_hundred_thousand_brackets_are_ignored() -> None:
    packs._write(f"{costs._key('generated', ['a', 'b'])}.json", b"[" * 100_000)
    assert costs.longest_first([SLOW, QUICK], "generated", ["a", "b"]) == [QUICK, SLOW]


def test_a_cache_that_cannot_be_written_is_no_fault(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = cache_folder / "file"
    file.write_text("{}")
    for folder in (file / "below a file", ""):
        monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", str(folder))
        measured((QUICK, 1.0, 100))
    assert file.read_text() == "{}"
