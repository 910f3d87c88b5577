# SPDX-License-Identifier: Apache-2.0
"""Since which release of onnx a sentence stands in an operator version's text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onnx_conformance.specification import registry, rewordings
from onnx_conformance.specification.rewordings import latest, release

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("1.23.2", (1, 23, 2)), ("1.20.0", (1, 20)), ("1.20", (1, 20)), ("1.9.0rc1", (1, 9)), ("", ())],
)
def test_a_release_is_read_as_numbers(text: str, numbers: tuple[int, ...]) -> None:
    assert release(text) == numbers


def test_releases_are_ordered_by_number_and_not_by_letter() -> None:
    assert release("1.9.0") < release("1.10.0") < release("1.10.1")


@pytest.mark.parametrize(
    ("version", "begins", "since"),
    [
        ("ai.onnx/Attention/23", "query `i` attends key `j` iff", "1.23"),
        ("ai.onnx/Attention/23", "If set to `1`, qk_matmul_output is the output after the softcap operation", "1.22"),
        ("ai.onnx/ArgMax/11", "The input tensor must not be empty.", "1.15"),
    ],
)
def test_known_rewordings_are_in_the_file(version: str, begins: str, since: str) -> None:
    assert [number for text, number in rewordings.read()[version].items() if text.startswith(begins)] == [since]


def test_every_sentence_of_the_file_is_a_clause_in_force_in_its_version() -> None:
    clauses = {
        (f"{op}/{version}", clause.text)
        for op in registry.load()
        for version in op.versions
        for clause in op.clauses
        if clause.in_force(version)
    }
    named = {(version, text) for version, sentences in rewordings.read().items() for text in sentences}
    assert named <= clauses, f"python -m tools.rewordings writes it anew: {sorted(named - clauses)[:5]}"


def test_the_latest_rewording_of_several_sentences_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rewordings.toml").write_text('["a/B/1"]\n"one" = "1.9"\n"two" = "1.10"\n"three" = "1.2"\n')
    monkeypatch.setattr(rewordings, "GENERATED", tmp_path)
    rewordings.read.cache_clear()
    try:
        assert latest("a/B/1", ["three", "one", "two", "none"]) == "1.10"
        assert latest("a/B/1", ["none"]) == ""
        assert latest("a/B/2", ["one"]) == ""
    finally:
        rewordings.read.cache_clear()


def test_without_the_file_nothing_was_reworded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewordings, "GENERATED", tmp_path)
    rewordings.read.cache_clear()
    try:
        assert rewordings.read() == {}
    finally:
        rewordings.read.cache_clear()
