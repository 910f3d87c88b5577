# SPDX-License-Identifier: Apache-2.0
"""The cases that the core keeps because of the faults that they detect."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onnx_conformance.base.package import GENERATED
from onnx_conformance.generation import core, kept, manifest, plans
from onnx_conformance.specification import registry
from refusals import refuses

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return an empty folder from which kept cases are read."""
    monkeypatch.setattr(kept, "GENERATED", tmp_path)
    cached = (kept.ids, kept._read)
    for function in cached:
        function.cache_clear()
    yield tmp_path
    for function in cached:
        function.cache_clear()


def test_added_cases_are_read_again_and_cases_that_are_gone_leave(folder: Path) -> None:
    assert kept.ids("ai.onnx/Split") == frozenset()
    one, two, other = "ai.onnx/Split/18/b", "ai.onnx/Split/2/a", "ai.onnx/Add/1/c"
    file = kept.add([one, other], [one, two, other], folder)
    assert file == folder / kept.NAME
    assert kept.ids("ai.onnx/Split") == {one}
    assert kept.ids("ai.onnx/Add") == {other}
    kept.add([two], [one, two], folder)
    assert kept.ids("ai.onnx/Split") == {one, two}
    assert kept.ids("ai.onnx/Add") == frozenset()
    written = file.read_text()
    kept.add([], [one, two], folder)
    assert file.read_text() == written


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("'ai.onnx/Split' = ", "kept-cases-not-readable"),
        ("'ai.onnx/Split' = '18/uneven'", "kept-cases-invalid"),
        ("'ai.onnx/Split' = [18]", "kept-cases-invalid"),
    ],
)
def test_a_wrong_file_is_refused(folder: Path, text: str, reason: str) -> None:
    (folder / kept.NAME).write_text(text)
    with refuses(reason):
        kept.ids("ai.onnx/Split")


def test_a_folder_that_is_gone_is_refused(folder: Path) -> None:
    with refuses("kept-cases-not-writable"):
        kept.add([], [], folder / "gone")


@pytest.mark.slow
@pytest.mark.usefixtures("few_operators")
def test_the_core_keeps_a_case_that_its_rules_skip(folder: Path) -> None:
    op = registry.load().named("Split")
    cases = list(plans.cases(op))
    without = core.choose(op, cases)
    skipped = next(case.id for case in cases if case.id not in without)
    kept.add([skipped], [skipped], folder)
    assert core.choose(op, cases) == {*without, skipped}


@pytest.mark.slow
@pytest.mark.usefixtures("all_operators")
def test_the_kept_cases_exist_and_are_in_the_core() -> None:
    known = {str(op): op for op in registry.load()}
    for name in kept._read(GENERATED):
        marked = {entry.id for entry in manifest.entries(known[name]) or () if entry.core}
        assert kept.ids(name) <= marked, name
