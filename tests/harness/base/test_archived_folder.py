# SPDX-License-Identifier: Apache-2.0
"""A folder in an archive is read as the folder itself is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from onnx_conformance.base import archived_folder
from onnx_conformance.base.archived_folder import ArchivedPath
from onnx_conformance.generation import manifest
from onnx_conformance.generation.manifest import all_counts

if TYPE_CHECKING:
    from pathlib import Path

PATTERNS = ("*.txt", "*.toml")
LINE = "1/lengths_zero values RLmbSUwR4m4nTzqPKz9dLQPu1Ya9sVi0E plain* omitted symbolic*\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "cases"
    (folder / "models").mkdir(parents=True)
    (folder / "ai.onnx.Split.txt").write_text(f"# é\n{LINE}", encoding="utf-8")
    (folder / "figures.toml").write_text("a = 1\n")
    (folder / "models" / "other.txt").write_text("left out")
    (folder / "program.py").write_text("left out")
    return folder


def archived(folder: Path) -> ArchivedPath:
    archive = folder.with_suffix(".txz")
    archived_folder.write(archive, folder, PATTERNS)
    return ArchivedPath(archive)


def test_the_archive_has_the_files_and_their_texts(folder: Path) -> None:
    archive = archived(folder)
    assert sorted(path.name for path in archive.glob("*")) == ["ai.onnx.Split.txt", "figures.toml"]
    (text,) = archive.glob("*.txt")
    assert (text.stem, text.is_file(), (archive / "absent.txt").is_file()) == ("ai.onnx.Split", True, False)
    assert text.read_text(encoding="utf-8") == (folder / text.name).read_text(encoding="utf-8")


def test_files_of_a_subfolder_have_its_name(folder: Path) -> None:
    archive = folder.with_suffix(".txz")
    archived_folder.write(archive, folder, ("*.txt", "models/*.txt"))
    path = ArchivedPath(archive) / "models" / "other.txt"
    assert (path.is_file(), path.read_text()) == (True, "left out")
    assert not (ArchivedPath(archive) / "other.txt").is_file()
    assert not (ArchivedPath(folder / "absent.txz") / "models" / "other.txt").is_file()


def test_a_file_is_opened_for_reading_only(folder: Path) -> None:
    path = archived(folder) / "ai.onnx.Split.txt"
    with path.open(encoding="utf-8") as text, path.open("rb") as content:
        assert list(text) == ["# é\n", LINE]
        assert content.read() == path.read_bytes()
    with pytest.raises(PermissionError, match=str(path)):
        path.open("w")


def test_a_missing_file_and_a_damaged_archive_are_errors_of_the_system(folder: Path) -> None:
    with pytest.raises(FileNotFoundError):
        (archived(folder) / "absent.txt").read_text()
    damaged = folder.with_name("damaged.txz")
    damaged.write_text("no archive")
    with pytest.raises(OSError, match=str(damaged)):
        (ArchivedPath(damaged) / "ai.onnx.Split.txt").read_text()
    with pytest.raises(FileNotFoundError):
        (ArchivedPath(folder / "absent.txz") / "ai.onnx.Split.txt").read_text()


def test_the_same_files_are_the_same_bytes(folder: Path) -> None:
    first = archived(folder).read_bytes()
    for path in folder.iterdir():
        os.utime(path, (1, 1))
    assert archived(folder).read_bytes() == first


def test_the_manifest_is_read_from_an_archive(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = []
    for place in (folder, archived(folder)):
        monkeypatch.setattr(manifest, "GENERATED", place)
        counts.append(all_counts())
    assert counts[0] == counts[1] == {"ai.onnx/Split/1": (3, 2)}
