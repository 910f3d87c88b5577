# SPDX-License-Identifier: Apache-2.0
"""Versions that a runtime lacks, although it runs an earlier one with the same meaning."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from commands import command
from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.results.stream import Writer, header
from onnx_conformance.results.version_gaps import VersionGaps
from onnx_conformance.specification import meanings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

V = Verdict
SPLIT = "ai.onnx/Split"


def result(since: int, name: str = "even", verdict: Verdict = V.PASS, **members: str) -> Result:
    operator = f"{SPLIT}/{since}"
    outcome = members.pop("outcome", "values")
    return Result(f"{operator}/{name}", operator, "mine", verdict, outcome, message="no kernel", **members)


def gaps_of(*results: Result, newest: int | None = None) -> list[tuple[int, int, tuple[str, ...]]]:
    gaps = VersionGaps(newest)
    for item in results:
        gaps.add(item)
    return [(gap.lacks, gap.runs, gap.types) for gap in gaps.found()]


def test_versions_have_one_meaning_if_they_share_an_oracle() -> None:
    assert meanings.earlier(SPLIT, 13) == (11, 2)
    assert meanings.earlier(SPLIT, 18) == ()
    assert meanings.earlier("com.example/Foo", 3) == ()


def test_a_gap_is_one_case_that_passes_earlier_and_is_unsupported_later() -> None:
    lacks = result(13, verdict=V.UNSUPPORTED)
    assert gaps_of(result(2), result(11), lacks) == [(13, 11, ())]
    assert gaps_of(result(2), result(11, verdict=V.CRASH), lacks) == [(13, 2, ())]
    typed = [
        result(since, f"even/{type_}", V.UNSUPPORTED if since > 2 else V.PASS)
        for type_ in ("bool", "int8")
        for since in (2, 13)
    ]
    assert gaps_of(*typed) == [(13, 2, ("bool", "int8"))]


@pytest.mark.parametrize(
    "results",
    [
        [result(1), result(2, verdict=V.UNSUPPORTED)],
        [result(13), result(18, verdict=V.UNSUPPORTED)],
        [result(11, "uneven"), result(13, verdict=V.UNSUPPORTED)],
        [result(11, "even/bool"), result(13, "even/int8", V.UNSUPPORTED)],
        [result(13), result(11, verdict=V.UNSUPPORTED)],
        [result(11), result(13, verdict=V.REFUSED)],
        [result(11, form="twice"), result(13, verdict=V.UNSUPPORTED, form="twice")],
        [result(11, outcome="rejects"), result(13, verdict=V.UNSUPPORTED, outcome="rejects")],
    ],
    ids=["meaning", "meaning of 18", "case", "type", "later", "refused", "form", "outcome"],
)
def test_other_differences_are_no_gap(results: list[Result]) -> None:
    assert gaps_of(*results) == []


def test_versions_newer_than_the_runtime_are_counted_apart() -> None:
    gaps = VersionGaps(12)
    for item in (result(11), result(13, verdict=V.UNSUPPORTED)):
        gaps.add(item)
    assert (gaps.found(), gaps.too_new()) == ([], [f"{SPLIT}/13"])


def test_the_runtime_is_asked_about_the_newest_earlier_version_that_has_the_case() -> None:
    asked: list[frozenset[str]] = []

    def ask(ids: frozenset[str]) -> Mapping[str, bool]:
        asked.append(ids)
        return {f"{SPLIT}/2/even": True} if f"{SPLIT}/2/even" in ids else {}

    gaps = VersionGaps()
    gaps.add(result(13, verdict=V.UNSUPPORTED))
    (gap,) = gaps.found(ask)
    assert (gap.name, gap.runs, gap.passing) == (f"{SPLIT}/13", 2, f"{SPLIT}/2/even")
    assert asked == [{f"{SPLIT}/11/even"}, {f"{SPLIT}/2/even"}]


def written(path: Path, *results: Result, version: str = "") -> Path:
    writer = Writer(path)
    writer.open(header({"name": "generated", "digest": "d"}, {"oracle": {"version": version}}, {"selection": ""}))
    for item in results:
        writer.add(Result(item.case, item.operator, "oracle", item.verdict, "values", message=item.message))
    writer.finish(1.0, [])
    writer.close()
    return path


def test_the_command_lists_gaps_in_three_formats(tmp_path: Path) -> None:
    columns = (result(2, "even_columns"), result(13, "even_columns", V.UNSUPPORTED))
    file = written(tmp_path / "r.ndjson", result(11), result(13, verdict=V.UNSUPPORTED), *columns)
    text, markdown, of_json = (
        command("gaps", file, "--offline", "--format", name) for name in ("text", "markdown", "json")
    )
    assert text.status == markdown.status == of_json.status == 1
    assert "oracle: 2 version gaps" in text.out
    assert "| Split" in markdown.out
    assert f"{SPLIT}/11/even" in markdown.out
    (gaps,) = json.loads(of_json.out).values()
    assert [(gap["lacks"], gap["runs"]) for gap in gaps["gaps"]] == [(13, 11), (13, 2)]


@pytest.mark.slow
def test_results_of_another_version_need_offline(tmp_path: Path) -> None:
    file = written(tmp_path / "r.ndjson", result(13, verdict=V.UNSUPPORTED), version="0.1")
    done = command("gaps", file)
    assert done.status == 2
    assert "[gaps-of-another-version]" in done.err
    assert "--offline" in done.err
    assert command("gaps", file, "--backend", "other").status == 2
