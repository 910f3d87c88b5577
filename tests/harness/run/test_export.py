# SPDX-License-Identifier: Apache-2.0
"""`generate` and `list`: parts of a suite, progress, and folders that are not empty."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from commands import command, on_a_terminal
from onnx_conformance.generation import plans
from onnx_conformance.run import export, progress
from onnx_conformance.suites import onnx_layout
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.selection import Selection
from onnx_conformance.suites.suite import Outlook

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from onnx_conformance.case.case import Case

pytestmark = pytest.mark.usefixtures("few_operators")

SPLIT = ("--op", "Split/18")


def written(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def names(**options: object) -> set[str]:
    selection = Selection(("Split/18",), **options)  # type: ignore[arg-type]
    return {onnx_layout.folder_name(case.id) for case in Generated().cases(selection)}


def listed(*words: str) -> set[str]:
    done = command("list", *SPLIT, *words)
    assert done.status == 0, done.text
    return {onnx_layout.folder_name(text.split()[0]) for text in done.out.splitlines()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "chosen"),
    [
        (("--form", "symbolic"), {"forms": ("symbolic",)}),
        (("--form", "init*", "--form", "top"), {"forms": ("init*", "top")}),
        (("--shard", "2/5"), {"shard": (2, 5)}),
        (("--sample", "1/9"), {"sample": 9}),
        (("--form", "plain", "--shard", "1/2", "--sample", "1/3"), {"forms": ("plain",), "shard": (1, 2), "sample": 3}),
    ],
)
def test_a_part_of_the_suite_is_listed_and_written(
    words: tuple[str, ...], chosen: dict[str, object], tmp_path: Path
) -> None:
    done = command("generate", *SPLIT, *words, "--out", tmp_path)
    assert (done.status, written(tmp_path)) == (0, names(**chosen)), done.text
    assert f"{len(names(**chosen))} cases in {tmp_path}" in done.out
    assert listed(*words) == written(tmp_path)
    assert 0 < len(written(tmp_path)) < len(names()), "all or nothing is no part"


@pytest.mark.slow
def test_the_shards_of_a_suite_fill_one_folder(tmp_path: Path) -> None:
    for index in (1, 2, 3):
        assert command("generate", *SPLIT, "--shard", f"{index}/3", "--out", tmp_path).status == 0
    assert written(tmp_path) == names()


def test_a_form_spares_making_the_cases_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    forms: list[str] = []
    deliver = plans.deliver
    monkeypatch.setattr(plans, "deliver", lambda plan, form, made: forms.append(form) or deliver(plan, form, made))
    cases = list(Generated().cases(Selection(("Split/18",), forms=("symbolic",))))
    assert cases
    assert {case.form for case in cases} == {"symbolic"}
    assert forms[2:] == ["symbolic"] * len(forms[2:]), "once a form was met, none of another is made"


def test_globs_that_match_cases_but_none_together_are_reported() -> None:
    done = command("list", *SPLIT, "--case", "ai.onnx/Split/18/uneven_two", "--tag", "dtype")
    assert done.refused("nothing-selected", "--tag dtype"), done.text


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--form", "bold"), "--form 'bold' matches no case of suite generated"),
        (("--sample", "1/0"), "'1/0' is not a sample"),
        (
            ("--sample", "mine=1/4"),
            "'mine=1/4' is a sample for one backend, but this command runs no backends; write 1/4",
        ),
        (("--shard", "5/4"), "'5/4' is not a shard"),
    ],
)
def test_an_invalid_part_is_reported(words: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    for name in (("list",), ("generate", "--out", str(tmp_path / "out"))):
        done = command(*name, *SPLIT, *words)
        assert (done.status, sentence in done.text) == (2, True), done.text


@pytest.mark.slow
def test_a_form_is_a_part_of_a_run_and_of_its_results_file(tmp_path: Path) -> None:
    file = tmp_path / "results.ndjson"
    done = command("run", "--backend", "oracle", *SPLIT, "--form", "omitted", "--results", file)
    assert done.status == 0, done.text
    first, *results, _ = file.read_text().splitlines()
    assert '"selection":"--op Split/18 --form omitted"' in first
    assert len(results) == len(names(forms=("omitted",)))
    assert all('@omitted"' in text for text in results)


@pytest.mark.slow
def test_a_command_that_was_interrupted_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put, count = onnx_layout.put, iter(range(1000))

    def interrupted(files: object, folder: Path, **options: Any) -> bool:
        if next(count) == 7:
            raise KeyboardInterrupt
        return put(files, folder, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(onnx_layout, "put", interrupted)
    done = command("generate", *SPLIT, "--out", tmp_path)
    assert (done.status, len(written(tmp_path))) == (2, 7), done.text
    assert str(tmp_path) in done.err
    monkeypatch.setattr(onnx_layout, "put", put)
    done = command("generate", *SPLIT, "--out", tmp_path)
    assert (done.status, written(tmp_path)) == (0, names()), done.text
    assert f"{len(names())} cases in {tmp_path}, 7 of them unchanged" in done.out


@pytest.mark.slow
def test_a_case_that_differs_is_replaced_only_with_overwrite(tmp_path: Path) -> None:
    words = ("generate", *SPLIT, "--form", "plain", "--out", tmp_path)
    assert command(*words).status == 0
    damaged = tmp_path / sorted(written(tmp_path))[3]
    whole = (damaged / "model.onnx").read_bytes()
    (damaged / "model.onnx").write_bytes(b"mine")
    done = command(*words)
    assert done.status == 2, done.text
    assert "[case-folder-taken]" in done.err
    assert "--overwrite" in done.err
    assert (damaged / "model.onnx").read_bytes() == b"mine"
    done = command(*words, "--overwrite")
    assert (done.status, (damaged / "model.onnx").read_bytes()) == (0, whole), done.text


@pytest.mark.slow
def test_a_case_that_the_layout_cannot_hold_costs_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoded, name = onnx_layout._encoded, "ai.onnx/Split/18/uneven"

    def refuses(case: Case) -> dict[str, bytes]:
        if case.id == name:
            raise onnx_layout.case_json.StoreError("no-place", f"{name}: no place for it")
        return encoded(case)

    monkeypatch.setattr(onnx_layout, "_encoded", refuses)
    done = command("generate", *SPLIT, "--out", tmp_path)
    assert (done.status, written(tmp_path)) == (2, names() - {onnx_layout.folder_name(name)}), done.text
    assert f"{name}: no place for it" in done.err


# How far it is


class Slow:
    """A suite whose cases take two seconds each, by a clock of its own."""

    name = "slow"

    def __init__(self) -> None:
        self.now, self.unreadable = 0.0, []
        self.known = list(Generated().cases(Selection(("Split/18",), forms=("plain",))))[:40]

    def outlook(self, _: Selection) -> Outlook:
        return Outlook({"ai.onnx/Split/18": 40}, 1.0)

    def cases(self, _: Selection) -> Iterator[Case]:
        for case in self.known:
            self.now += 2
            yield case


def exported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> export.Export:
    slow, watch = Slow(), progress.Watch
    monkeypatch.setattr(progress, "Watch", lambda *words, judged: watch(*words, clock=lambda: slow.now, judged=judged))
    return export.Export(slow, Selection(), folder)  # type: ignore[arg-type]


@pytest.mark.slow
def test_without_a_terminal_progress_lines_are_rare(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done = exported(tmp_path, monkeypatch)
    done.run()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2, lines
    assert re.fullmatch(r"onnx-conformance: after 30 s: cases: 15 of about \d+, about \d+ s left, 0\.5/s", lines[0]), (
        lines
    )
    assert (done.whole, len(written(tmp_path))) == (40, 40)


@pytest.mark.slow
def test_on_a_terminal_there_is_a_line_of_progress(tmp_path: Path) -> None:
    out, shown = on_a_terminal("generate", "--op", "ReduceSum", "--out", "out", folder=tmp_path)
    assert re.search(r"cases +[\d,]+ of about [\d,]+", shown), shown
    assert "failed" not in shown, "nothing is judged"
    assert f"{len(written(tmp_path / 'out'))} cases in out\n" == out
