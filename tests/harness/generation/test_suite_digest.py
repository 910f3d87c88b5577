# SPDX-License-Identifier: Apache-2.0
"""The digest of the suite: the same as long as the cases are, and never that of cases which it does not know."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import onnx
import pytest
from click.testing import CliRunner

from onnx_conformance.base.package import GENERATED
from onnx_conformance.cli.cases import manifest_
from onnx_conformance.generation import suite_digest
from onnx_conformance.specification import registry
from onnx_conformance.suites.generated import Generated

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The manifests of a few operators, recorded, as the folder of the manifest."""
    for name in ("ai.onnx.Split.txt", "ai.onnx.Sign.txt"):
        shutil.copy(GENERATED / name, tmp_path)
    suite_digest.record(tmp_path)
    monkeypatch.setattr(suite_digest, "recorded", lambda at=tmp_path, recorded=suite_digest.recorded: recorded(at))
    return tmp_path


@pytest.fixture(autouse=True)
def _afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read the record again for each test."""
    monkeypatch.setattr(suite_digest, "_known", suite_digest._known.__wrapped__)


def other_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Act as if the code that makes the cases had another text."""
    monkeypatch.setattr(suite_digest, "_machinery", lambda: "other")


def test_the_digest_is_that_of_the_manifest(folder: Path) -> None:
    assert suite_digest.digest() == suite_digest.of_manifest(folder) != suite_digest.of_code()
    assert Generated().digest() == suite_digest.digest()


def test_it_stays_the_same_when_other_code_makes_the_same_cases(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = suite_digest.digest()
    other_code(monkeypatch)
    suite_digest.record(folder)
    assert suite_digest.digest() == before


def test_code_that_has_changed_since_the_manifest_was_written_has_its_own_digest(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = suite_digest.digest()
    other_code(monkeypatch)
    assert suite_digest.digest() == suite_digest.of_code() != before
    assert suite_digest.differences(folder) == []


def test_another_onnx_has_its_own_digest(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = suite_digest.digest()
    monkeypatch.setattr(onnx, "__version__", "1.0.0")
    assert suite_digest.digest() == suite_digest.of_code() != before
    assert suite_digest.recorded(folder) is None


@pytest.mark.parametrize("text", [None, "", "code = [", "code = 1\ndigest = 2\n", "digest = ''\n"])
def test_without_a_record_the_digest_is_that_of_the_code(folder: Path, text: str | None) -> None:
    (folder / suite_digest.NAME).unlink()
    if text is not None:
        (folder / suite_digest.NAME).write_text(text, encoding="utf-8")
    assert suite_digest.digest() == suite_digest.of_code()


@pytest.mark.parametrize("damage", ["a line", "a file", "the limits"])
def test_other_cases_have_another_digest(folder: Path, damage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = suite_digest.of_manifest(folder)
    if damage == "a line":
        path = folder / "ai.onnx.Sign.txt"
        path.write_text(path.read_text(encoding="utf-8").replace("values", "error", 1), encoding="utf-8")
    elif damage == "a file":
        (folder / "ai.onnx.Sign.txt").unlink()
    else:
        monkeypatch.setattr(suite_digest, "LIMITS", ("base",))
    assert suite_digest.of_manifest(folder) != before
    [sentence] = suite_digest.differences(folder)
    assert before in sentence
    assert str(folder) in sentence


def test_the_committed_record_is_that_of_the_committed_manifest() -> None:
    assert suite_digest.differences(GENERATED) == []


@pytest.mark.parametrize("whole", [True, False])
def test_only_the_whole_manifest_is_recorded(whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: FBT001
    sign = registry.Registry([registry.load().named("ai.onnx/Sign")])
    monkeypatch.setattr(registry, "load", lambda: sign)
    ran = CliRunner().invoke(manifest_, [*([] if whole else ["--op", "Sign"]), "--out", str(tmp_path)])
    assert ran.exit_code == 0, ran.output
    assert (tmp_path / suite_digest.NAME).is_file() == whole
    assert (suite_digest.recorded(tmp_path) == suite_digest.of_manifest(tmp_path)) == whole


def test_the_command_compares_the_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sign = registry.Registry([registry.load().named("ai.onnx/Sign")])
    monkeypatch.setattr(registry, "load", lambda: sign)
    CliRunner().invoke(manifest_, ["--out", str(tmp_path)])
    assert CliRunner().invoke(manifest_, ["--check", "--out", str(tmp_path)]).exit_code == 0
    path = tmp_path / suite_digest.NAME
    path.write_text(path.read_text(encoding="utf-8").replace('digest = "', 'digest = "0'), encoding="utf-8")
    ran = CliRunner().invoke(manifest_, ["--check", "--out", str(tmp_path)])
    assert ran.exit_code == 1
    assert suite_digest.NAME in ran.output
