# SPDX-License-Identifier: Apache-2.0
"""Finding, in the releases of onnx, since when each clause reads so."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from onnx_conformance.specification.rewordings import release
from refusals import refuses
from tools import rewordings
from tools.rewordings import RewordingsError, plain, since, texts_of

if TYPE_CHECKING:
    from pathlib import Path

FIRST = """\
### <a name="Split-1"></a>**Split-1**</a>
  Split a tensor.
### <a name="ai.onnx.ml.Scaler-1"></a>**ai.onnx.ml.Scaler-1**</a>
  Rescale.
"""
SECOND = FIRST.replace("Split a tensor.", "Split a tensor into `a` list of tensors, &lt;all&gt; equal.")


def commit(folder: Path, text: str, tag: str) -> None:
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "docs" / "Changelog.md").write_text(text)
    name = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    for arguments in (["add", "."], [*name, "commit", "-qm", tag], [*name, "tag", tag]):
        subprocess.run(["git", "-C", str(folder), *arguments], check=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    commit(tmp_path, FIRST, "v1.0")
    commit(tmp_path, SECOND, "v1.2.1")
    commit(tmp_path, SECOND + "\n", "v1.10.0")
    commit(tmp_path, FIRST, "v1.10.0rc1")
    return tmp_path


def test_the_texts_of_a_release_are_read_by_operator_version(checkout: Path) -> None:
    texts = texts_of(checkout)
    assert set(texts) == {"ai.onnx/Split/1", "ai.onnx.ml/Scaler/1"}
    assert set(texts["ai.onnx/Split/1"]) == {(1,), (1, 2, 1), (1, 10)}  # A release candidate is no release.


def test_a_sentence_is_as_old_as_the_first_release_that_has_it_from_then_on(checkout: Path) -> None:
    texts = texts_of(checkout)["ai.onnx/Split/1"]
    assert since(texts, "Split a tensor into a list of tensors, <all> equal.", (1, 23)) == (1, 2, 1)
    assert since(texts, "Split a tensor", (1, 23)) is None
    assert since(texts, "Split a tensor into two.", (1, 23)) == (1, 23)


def test_a_sentence_that_was_away_for_a_while_is_as_old_as_its_return() -> None:
    texts = {(1, 1): "one", (1, 2): "two", (1, 3): "one"}
    assert since(texts, "One", (1, 9)) == (1, 3)


def test_punctuation_and_markup_are_cosmetic_and_words_are_not() -> None:
    assert plain("<dd>The `axis`, from -r to r-1.</dd>") == plain("The axis from -r to r-1")
    assert plain("axis below 0") != plain("axis below 1")
    assert plain("a &lt; b") == plain("a < b")


def test_a_folder_that_is_no_repository_is_named(tmp_path: Path) -> None:
    with refuses("git-failed", kind=RewordingsError):
        texts_of(tmp_path)


def test_a_clone_without_tags_is_named_with_what_would_be_right(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    with refuses("tags-missing", kind=RewordingsError):
        texts_of(tmp_path)


def test_the_command_writes_the_file(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewordings, "GENERATED", tmp_path)
    done = CliRunner().invoke(rewordings.main, [str(checkout)])
    assert done.exit_code == 0, done.output
    written = (tmp_path / "rewordings.toml").read_text()
    assert '["ai.onnx/Split/1"]' in written
    assert "from the releases until 1.10 and onnx" in written
    assert release("1.10") == (1, 10)


def test_the_command_says_what_was_wrong(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    done = CliRunner().invoke(rewordings.main, [str(tmp_path)])
    assert done.exit_code == 2
    assert "not a git repository" in done.output + capfd.readouterr().err
