# SPDX-License-Identifier: Apache-2.0
"""Tests of every operator run for those whose oracles or cases changed since all were tested, and for a few always."""

from __future__ import annotations

import re
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest

import due
import warm
from generated import KINDS, OPS
from paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path


FILE = "tests/harness/operators/test_checks.py"
NAMES = {str(op) for op in OPS}


@pytest.mark.slow
def test_all_operators_are_due_where_none_was_tested(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(due, "TESTED", tmp_path / "tested.toml")
    assert due.operators() == NAMES


@pytest.mark.slow
def test_an_operator_that_changed_is_due_beside_those_of_every_kind(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(due, "TESTED", tmp_path / "tested.toml")
    due.write()
    few = {str(op) for op in OPS if op.name in KINDS}
    assert due.operators() == few
    digest = tomllib.loads(due.TESTED.read_text())["ai.onnx/Exp"]
    due.TESTED.write_text(due.TESTED.read_text().replace(digest, "0" * len(digest)))
    assert due.operators() == {*few, "ai.onnx/Exp"}


def test_the_record_names_operators_that_are_there() -> None:
    assert set(tomllib.loads(due.TESTED.read_text())) <= NAMES, "`nox -s operators` writes it anew"


@pytest.mark.slow
def test_all_are_collected_on_request_and_by_name() -> None:
    def collected(*words: str) -> int:
        # Modules that were imported before pytest do not report failed assertions in detail.
        options = ("-q", "--collect-only", "-p", "no:cacheprovider", "-W", "ignore:Module already imported")
        operators = (name for name in sorted(sys.modules) if name.startswith("onnx_conformance.operators."))
        done = warm.run(["-m", "pytest", *options, FILE, *words], ROOT, ("pytest", *operators))
        assert done.returncode == 0, done.stdout
        return len(re.findall(r"\[ai\.onnx", done.stdout))

    whole = collected("--operators", "all")
    assert whole % len(NAMES) == 0
    assert collected() == whole * len(due.operators()) // len(NAMES)
    assert collected("-k", "ai.onnx") == whole
