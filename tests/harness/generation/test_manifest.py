"""The manifest shows every change of a generated case."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import onnx
import pytest

from generated import nothing_derived
from onnx_conformance.declare import EXACT, Op, ramp
from onnx_conformance.generation import core, manifest, plans
from onnx_conformance.specification.registry import Registry

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


def test_a_line_has_id_outcome_three_digests_and_a_word_if_it_is_of_the_core(tmp_path: Path) -> None:
    (path,) = manifest.write(registered(2), tmp_path)
    head, *lines = path.read_text().splitlines()
    assert head.endswith(f"onnx {onnx.__version__}"), head
    cases = {case.id: case for op in registered(2) for case in plans.cases(op)}
    words = [line.split() for line in lines]
    assert [row[:5] for row in words] == [[id_, "values", *case.digests()] for id_, case in cases.items()]
    (op,) = registered(2)
    assert {row[0] for row in words if row[5:] == ["core"]} == core.choose(op, cases.values())
    assert {tuple(row[5:]) for row in words} <= {("core",), ()}
    assert len(lines) > 2, lines


def beside_the_core(lines: list[str]) -> list[str]:
    """Return the differences but for those of what belongs to the core, which another case may change of any."""
    plain = [line.removesuffix(" core") for line in lines]
    both = {line.replace("txt: -", "txt: +") for line in plain if "txt: -" in line} & set(plain)
    return [line for line in plain if line.replace("txt: -", "txt: +") not in both]


def test_an_added_and_a_missing_case_are_reported(tmp_path: Path) -> None:
    manifest.write(registered(1, 2), tmp_path)
    added = beside_the_core(checked(registered(1, 2, 3), tmp_path))
    assert added
    assert all(line.startswith("ai.onnx.Identity.txt: +ai.onnx/Identity/25/ramp3") for line in added), added
    manifest.write(registered(1, 2, 3), tmp_path)
    missing = beside_the_core(checked(registered(1, 2), tmp_path))
    assert [line.replace("txt: -", "txt: +") for line in missing] == added


def test_a_changed_case_is_reported_with_its_change(tmp_path: Path) -> None:
    manifest.write(registered(2), tmp_path)
    changed = checked(registered(2, bias=1), tmp_path)
    gone = [line.split(" ")[1:] for line in changed if ": -" in line]
    come = [line.split(" ")[1:] for line in changed if ": +" in line]
    assert len(gone) == len(come) == len(changed) / 2 > 0, changed
    for before, after in zip(gone, come, strict=True):
        # name, outcome, model and inputs are the same, what is expected is not
        assert [part.lstrip("+-") for part in before[:4]] == [part.lstrip("+-") for part in after[:4]]
        assert before[4] != after[4]


def test_many_changes_are_cut_and_counted(tmp_path: Path) -> None:
    manifest.write(registered(1, 2), tmp_path)
    lines = checked(registered(*range(1, 41)), tmp_path)
    assert len(lines) == manifest.SHOWN + 1
    forms = len(beside_the_core(checked(registered(1, 2, 3), tmp_path)))
    more = re.fullmatch(r"ai\.onnx\.Identity\.txt: and (\d+) more lines", lines[-1])
    assert more, lines[-1]
    assert 38 * forms - manifest.SHOWN <= int(more[1]) <= 40 * forms, "what moves into the core and out of it, too"


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
    ids = [case.id for op in registered(2) for case in plans.cases(op)]
    assert [line.split(" ")[1].lstrip("+") for line in lines[1:]] == ids, lines


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(manifest.ManifestError, match=r"cannot write .*file"):
        manifest.write(registered(2), tmp_path / "file")
