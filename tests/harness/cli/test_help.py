# SPDX-License-Identifier: Apache-2.0
"""The help of the program: every command in one group, on one line of 80 columns, and found by a similar name."""

from __future__ import annotations

import pytest

from commands import command
from onnx_conformance.cli import commands, search


def test_every_command_is_in_one_group() -> None:
    named = [name for names in commands.GROUPS.values() for name in names]
    assert sorted(named) == sorted(commands.COMMANDS)


def test_descriptions_fit_on_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    done = command("--help")
    assert done.status == 0, done.text
    for row in commands.COMMANDS.values():
        assert f"  {row.about}\n" in done.out, row.about
    assert max(map(len, done.out.splitlines())) <= 80, done.out


@pytest.mark.parametrize(("name", "near"), [("rnu", "run"), ("minimise", "minimize"), ("backend", "backends")])
def test_a_wrong_command_gets_a_similar_one(name: str, near: str) -> None:
    done = command(name)
    assert done.status == 2, done.text
    assert f"did you mean {near}?" in done.err, done.text


def test_another_wrong_command_gets_the_help() -> None:
    done = command("xyzzy")
    assert (done.status, "see onnx-conformance --help" in done.err) == (2, True), done.text


def test_search_has_its_help_without_hypothesis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "HAS_HYPOTHESIS", False)
    assert command("search", "--help").status == 0
    done = command("search", "--backend", "oracle", "--examples", "1")
    assert (done.status, "[hypothesis-missing]" in done.err) == (2, True), done.text


@pytest.mark.slow
def test_the_cache_is_shown_and_emptied(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", str(folder))
    assert command("list", "--op", "Split/18", "--by-version").status == 0  # It writes the index.
    mine = folder / "packs" / "mine.txt"
    mine.write_text("my own file")
    shown = command("cache")
    assert (shown.status, f"{folder}\n" in shown.out) == (0, True), shown.text
    assert len(list((folder / "packs").iterdir())) == 2
    cleared = command("cache", "--clear")
    assert (cleared.status, "removed" in cleared.out) == (0, True), cleared.text
    assert list((folder / "packs").iterdir()) == [mine]
    monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", "")
    assert "the cache is off" in command("cache").out
