# SPDX-License-Identifier: Apache-2.0
"""The manifest shows every change of a generated case."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import onnx
import pytest

from generated import nothing_derived
from onnx_conformance.declare import EXACT, Op, ramp
from onnx_conformance.generation import core, manifest, plans
from onnx_conformance.specification import registry
from onnx_conformance.specification.registry import Registry
from refusals import refuses

if TYPE_CHECKING:
    from pathlib import Path

VERSIONS = (1, 13, 14, 16, 19, 21, 23, 24, 25)


def registered(*sizes: int, bias: int = 0) -> Registry:
    """Return a registry of one operator with one case a size."""
    op = nothing_derived(Op("Identity", versions=VERSIONS, compare=EXACT))

    @op.oracle()
    def identity(v: Any, input: Any) -> Any:  # noqa: A002, ARG001 - the text's own name; an oracle takes its version
        return input + bias

    for size in sizes:
        op.case(f"ramp{size}", input=ramp(size), since=25)
    return Registry([op])


def checked(ops: Registry, folder: Path) -> list[str]:
    return [line.replace(f"{folder}/", "") for line in manifest.check(ops, folder)]


def test_a_written_manifest_passes_its_check(tmp_path: Path) -> None:
    written = manifest.write(registered(2, 3), tmp_path)
    assert written == [tmp_path / "ai.onnx.Identity.txt"]
    assert checked(registered(2, 3), tmp_path) == []


def test_a_line_has_the_forms_of_a_case_and_which_of_them_are_in_the_core(tmp_path: Path) -> None:
    (path,) = manifest.write(registered(2, 3), tmp_path)
    head, *lines = path.read_text().splitlines()
    assert head.endswith(f"onnx {onnx.__version__}"), head
    (op,) = registered(2, 3)
    cases = list(plans.cases(op))
    read = [entry for text in lines for entry in manifest.Line.parsed("ai.onnx/Identity", text).entries]
    chosen = core.choose(op, cases)
    assert read == [manifest.Entry(case.id, str(case.outcome), case.digest(), case.id in chosen) for case in cases]
    assert {True, False} == {entry.core for entry in read}
    assert lines[0].split()[0] == "25/ramp2"
    assert [str(manifest.Line.parsed("ai.onnx/Identity", text)) for text in lines] == lines


def test_a_form_with_another_outcome_says_so() -> None:
    text = f"18/uneven values {'a' * 11}{'b' * 11}{'c' * 11} plain* expanded=unspecified top=rejects*"
    line = manifest.Line.parsed("ai.onnx/Split", text)
    assert line.entries == (
        manifest.Entry("ai.onnx/Split/18/uneven", "values", "a" * 11, core=True),
        manifest.Entry("ai.onnx/Split/18/uneven@expanded", "unspecified", "b" * 11, core=False),
        manifest.Entry("ai.onnx/Split/18/uneven@top", "rejects", "c" * 11, core=True),
    )
    assert str(line) == text


@pytest.mark.parametrize("digests", ["a" * 11, "a" * 21, "a" * 23, "a" * 33])
def test_a_line_with_digests_for_other_forms_is_no_line(digests: str) -> None:
    with pytest.raises(ValueError, match="digests"):
        manifest.Line.parsed("ai.onnx/Split", f"18/uneven values {digests} plain* top")


def without_core(lines: list[str]) -> list[str]:
    """Return the differences except those in the core, which another case may change."""
    plain = [line.replace(manifest.CORE, "") for line in lines]
    both = {line.replace("txt: -", "txt: +") for line in plain if "txt: -" in line} & set(plain)
    return [line for line in plain if line.replace("txt: -", "txt: +") not in both]


def test_an_added_and_a_missing_case_are_reported(tmp_path: Path) -> None:
    manifest.write(registered(1, 2), tmp_path)
    added = without_core(checked(registered(1, 2, 3), tmp_path))
    assert added
    assert all(line.startswith("ai.onnx.Identity.txt: +25/ramp3") for line in added), added
    manifest.write(registered(1, 2, 3), tmp_path)
    missing = without_core(checked(registered(1, 2), tmp_path))
    assert [line.replace("txt: -", "txt: +") for line in missing] == added


def test_a_changed_case_is_reported_with_its_change(tmp_path: Path) -> None:
    manifest.write(registered(2), tmp_path)
    changed = checked(registered(2, bias=1), tmp_path)
    gone = [line.split(" ")[1:] for line in changed if ": -" in line]
    come = [line.split(" ")[1:] for line in changed if ": +" in line]
    assert len(gone) == len(come) == len(changed) / 2 > 0, changed
    for before, after in zip(gone, come, strict=True):
        # The name, the outcome and the forms are the same, the digest is not.
        assert before[0].lstrip("-") == after[0].lstrip("+")
        assert (before[1], before[3:]) == (after[1], after[3:])
        assert before[2] != after[2]


def test_many_changes_are_cut_and_counted(tmp_path: Path) -> None:
    manifest.write(registered(1, 2), tmp_path)
    lines = checked(registered(*range(1, 61)), tmp_path)
    assert len(lines) == manifest.SHOWN + 1
    forms = len(without_core(checked(registered(1, 2, 3), tmp_path)))
    more = re.fullmatch(r"ai\.onnx\.Identity\.txt: and (\d+) more lines", lines[-1])
    assert more, lines[-1]
    assert 58 * forms - manifest.SHOWN <= int(more[1]) <= 60 * forms, "with changes of the core"


def test_a_missing_file_is_named_with_the_command_that_writes_it(tmp_path: Path) -> None:
    (line,) = checked(registered(2), tmp_path)
    assert line == (
        "ai.onnx.Identity.txt: cannot be read: No such file or directory; `onnx-conformance manifest` writes it"
    )


def test_a_superfluous_file_is_reported_and_removed_by_writing(tmp_path: Path) -> None:
    manifest.write(registered(2), tmp_path)
    stray = tmp_path / "ai.onnx.Gone.txt"
    stray.write_text("old")
    assert checked(registered(2), tmp_path) == ["ai.onnx.Gone.txt: no operator file declares this operator"]
    manifest.write(registered(2), tmp_path)
    assert not stray.exists()


def test_another_onnx_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest.write(registered(2), tmp_path)
    monkeypatch.setattr(onnx, "__version__", "9.9.9")
    (line,) = checked(registered(2), tmp_path)
    assert "written with another onnx" in line
    assert "now 9.9.9" in line


@pytest.mark.parametrize("content", ["", "# head\n"])
def test_an_empty_file_lacks_every_case(content: str, tmp_path: Path) -> None:
    (tmp_path / "ai.onnx.Identity.txt").write_text(content)
    lines = checked(registered(2), tmp_path)
    names = ["/".join(case.id.split("/")[2:]) for op in registered(2) for case in plans.cases(op) if "@" not in case.id]
    assert [line.split(" ")[1].lstrip("+") for line in lines[1:]] == names, lines


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with refuses("manifest-not-writable", kind=manifest.ManifestError):
        manifest.write(registered(2), tmp_path / "file")


def test_the_number_of_all_cases_is_that_of_their_ids() -> None:
    op = registry.load().named("Split")
    of_ids, of_core = (manifest.counts(op, of_core=each, wanted=lambda _: True) for each in (False, True))
    assert set(of_ids) == {f"ai.onnx/Split/{since}" for since in op.versions}
    of_split = {name: counts for name, counts in manifest.all_counts().items() if name.startswith("ai.onnx/Split/")}
    assert of_split == {name: (of_ids[name], of_core[name]) for name in of_ids}


@pytest.mark.slow
@pytest.mark.parametrize("of_core", [False, True])
def test_the_digests_of_a_version_are_those_of_its_cases(*, of_core: bool) -> None:
    op = registry.load().named("Split")
    cases = list(plans.cases(op, (18,)))
    chosen = core.choose(op, plans.cases(op))
    expected = {case.id: case.digest() for case in cases if case.id in chosen or not of_core}
    assert len(expected) > 1
    assert manifest.digests("ai.onnx/Split/18", of_core=of_core, wanted=lambda _: True) == expected
    plain = manifest.digests("ai.onnx/Split/18", of_core=of_core, wanted=lambda name: "@" not in name)
    assert plain == {name: digest for name, digest in expected.items() if "@" not in name}


@pytest.mark.slow
@pytest.mark.parametrize("text", ["", "# another head\n", None])
def test_a_manifest_of_another_onnx_or_format_has_no_digests(
    text: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest.write([registry.load().named("Split")], tmp_path)
    monkeypatch.setattr(manifest, "GENERATED", tmp_path)
    file = tmp_path / "ai.onnx.Split.txt"
    assert manifest.digests("ai.onnx/Split/18", of_core=True, wanted=lambda _: True)
    assert manifest.digests("ai.onnx/Gather/13", of_core=True, wanted=lambda _: True) is None
    if text is None:
        monkeypatch.setattr(onnx, "__version__", "9.9.9")
    else:
        file.write_text(text + file.read_text().partition("\n")[2])
    assert manifest.digests("ai.onnx/Split/18", of_core=True, wanted=lambda _: True) is None


@pytest.mark.slow
def test_a_damaged_line_has_no_digests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest.write([registry.load().named("Split")], tmp_path)
    monkeypatch.setattr(manifest, "GENERATED", tmp_path)
    file = tmp_path / "ai.onnx.Split.txt"
    file.write_text(file.read_text() + "18/x values abc plain*\n")
    assert manifest.digests("ai.onnx/Split/13", of_core=True, wanted=lambda _: True)
    assert manifest.digests("ai.onnx/Split/18", of_core=True, wanted=lambda _: True) is None
