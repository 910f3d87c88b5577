# SPDX-License-Identifier: Apache-2.0
"""Slices: together they are the selected cases, each once."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from onnx_conformance.run.export import Export
from onnx_conformance.specification import registry
from onnx_conformance.specification.registry import Registry
from onnx_conformance.suites import slices
from onnx_conformance.suites.folder import Folder
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.official import Official
from onnx_conformance.suites.selection import Selection
from onnx_conformance.suites.slices import Slice, divided

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_conformance.suites.suite import Suite

pytestmark = pytest.mark.usefixtures("few_operators")


def of_slices(suite: Suite, selection: Selection) -> Counter[str]:
    parts = suite.slices(selection)
    assert len(parts) > 1
    assert len(set(parts)) == len(parts)
    return Counter(case.id for part in parts for case in suite.cases(selection.within(part)))


SELECTIONS = {
    "everything": Selection(),
    "core": Selection(core=True),
    "shard": Selection(shard=(2, 3)),
    "sample": Selection(sample=5),
    "tag": Selection(tags=("axis*", "even")),
    "form": Selection(forms=("plain",), ops=("Split*", "Re*")),
    "case": Selection(cases=("*/Split*/even*", "*/Reshape/*")),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SELECTIONS)
def test_slices_of_the_generated_suite_have_each_case_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    two = Registry(map(registry.load().named, ("SplitToSequence", "Reshape")))
    monkeypatch.setattr(registry, "load", lambda *_: two)
    suite, selection = Generated(), SELECTIONS[name]
    whole = Counter(case.id for case in suite.cases(selection))
    assert whole
    for most in (400, 40):
        monkeypatch.setattr(slices, "MOST_CASES", most)
        assert of_slices(suite, selection) == whole, most


@pytest.mark.slow
def test_all_forms_of_a_case_are_in_one_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "MOST_CASES", 50)
    suite, selection = Generated(), Selection(ops=("Split/18",))
    places: dict[str, set[str]] = {}
    for part in suite.slices(selection):
        assert str(part).startswith("ai.onnx/Split/18 ")
        for case in suite.cases(selection.within(part)):
            places.setdefault(case.id.partition("@")[0], set()).add(str(part))
    assert places
    assert {len(parts) for parts in places.values()} == {1}


@pytest.mark.slow
def test_slices_of_a_folder_and_of_the_official_suite_have_each_case_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "MOST_CASES", 20)
    Export(Generated(), Selection(ops=("Split/18",), forms=("plain",)), tmp_path).run()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "model.onnx").write_bytes(b"no model")
    folder = Folder(tmp_path)
    for suite, selection in ((folder, Selection()), (Official(), Selection(ops=("Split*",)))):
        whole = Counter(case.id for case in suite.cases(selection))
        assert of_slices(suite, selection) == whole
    assert [item.case for item in folder.unreadable] == [f"{tmp_path.name}/broken"]


def test_what_a_slice_matches_is_no_longer_idle_elsewhere() -> None:
    suite, selection = Generated(), Selection(ops=("Split*", "Reshape"), forms=("plain", "no_such_form"))
    assert len(selection.idle) == 4
    one = selection.within(Slice("ai.onnx/Split/18"))
    assert list(suite.cases(one))
    assert one.idle == {("--op", "Reshape"), ("--form", "no_such_form")}
    assert len(selection.idle) == 4, "that is for whoever merges them to say"
    selection.idle &= one.idle
    assert selection.within(Slice("ai.onnx/Reshape/5")).idle == one.idle


@pytest.mark.parametrize(("cases", "parts"), [(0, 1), (1, 1), (149, 1), (151, 2), (1000, 10)])
def test_a_slice_has_about_so_many_cases(cases: int, parts: int) -> None:
    whole = list(divided("ai.onnx/Split/18", cases))
    assert [part.part for part in whole] == [(number, parts) for number in range(1, parts + 1)]
    names = [f"case{number}" for number in range(200)]
    assert all(sum(part.has(name) for part in whole) == 1 for name in names)
