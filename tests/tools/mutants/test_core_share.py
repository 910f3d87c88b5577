# SPDX-License-Identifier: Apache-2.0
"""The faults that the core notices, of those that all cases notice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from onnx_conformance.generation import core, kept, manifest
from onnx_conformance.specification import registry
from tools.mutants import __main__ as command
from tools.mutants import oracles
from tools.mutants.core_share import Share, add, enough, report, share
from tools.mutants.measure import Ledger, Settings
from tools.mutants.trial import Result
from weak_operators import PLAIN, STRONG, WEAK, loaded

if TYPE_CHECKING:
    from pathlib import Path

QUICK = Settings(seconds=0.5)


def compared(folder: Path, monkeypatch: pytest.MonkeyPatch, *core: str, cases: str = WEAK + STRONG) -> Share:
    ids = frozenset(f"ai.onnx/Relu/14/{name}" for name in core)
    monkeypatch.setattr(oracles, "core_of", lambda _op: ids)
    return share(loaded(folder, PLAIN, cases), QUICK, Ledger(folder / "results.ndjson"))


@pytest.mark.slow
def test_a_core_without_the_case_that_notices_a_fault_lacks_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = compared(tmp_path, monkeypatch, "positive")
    assert (found.tried, found.core) == (3, 2)
    [(fault, result)] = found.lacking
    assert (fault.words, result.case) == ("0 -> -1", "ai.onnx/Relu/14/signs")
    lines = list(report([found]))
    assert lines[0] == "ai.onnx/Relu/14/signs: not in the core, but detects:"
    assert lines[1].endswith(": relu: 0 -> -1")
    assert lines[-1] == "the core detects 2 of the 3 faults that all cases detect"
    assert not enough([found])
    written = (tmp_path / "results.ndjson").read_text()
    again = compared(tmp_path, monkeypatch, "positive")
    assert list(report([again])) == lines
    assert (tmp_path / "results.ndjson").read_text() == written  # Known results are not measured again.
    assert compared(tmp_path, monkeypatch, "signs").core == 3  # Those of another core do not count.


@pytest.mark.slow
@pytest.mark.parametrize(("core", "cases"), [("signs", WEAK + STRONG), ("positive", WEAK)])
def test_a_fault_that_no_case_notices_is_not_lacking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, core: str, cases: str
) -> None:
    found = compared(tmp_path, monkeypatch, core, cases=cases)
    assert found.lacking == ()
    assert enough([found])


def test_99_of_100_are_enough() -> None:
    op = registry.load().named("Relu")
    [fault] = Share(op, 1, 0, ((None, Result(noticed=True)),)).lacking  # type: ignore[arg-type]
    assert enough([Share(op, 100, 99, (fault,))])
    assert not enough([Share(op, 100, 98, (fault, fault))])


@pytest.mark.slow
def test_the_command_exits_with_1_if_the_core_lacks_a_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = oracles.core_of(registry.load().named("Relu"))
    for ids, code, text in (
        (whole, 0, "the core detects 6 of the 6 faults"),
        (frozenset(), 1, "not in the core, but detects:"),
    ):
        monkeypatch.setattr(oracles, "core_of", lambda _op, ids=ids: ids)
        options = ["--core", "--op", "ai.onnx/Relu", "--jobs", "1", "--results", str(tmp_path / f"{code}.ndjson")]
        done = CliRunner().invoke(command.main, options, catch_exceptions=False)
        assert (done.exit_code, text in done.stdout) == (code, True), done.output


def test_the_cases_that_detect_most_are_added_first_while_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    op = registry.load().named("Split")
    entries = manifest.entries(op)
    assert entries is not None
    one, two = [entry.id for entry in entries if not entry.core][:2]
    found = [(None, Result(noticed=True, case=name)) for name in (one, two, two)]
    shares = [Share(op, 3, 0, tuple(found))]  # type: ignore[arg-type]
    monkeypatch.setattr(core, "MOST", sum(entry.core for entry in entries) + 1)
    assert add(shares, [op], tmp_path) == (tmp_path / kept.NAME, 1, 1)
    assert (tmp_path / kept.NAME).read_text().endswith(f'"ai.onnx/Split" = ["{two.split("/", 2)[2]}"]\n')


def test_the_command_adds_only_to_a_measured_core(tmp_path: Path) -> None:
    done = CliRunner().invoke(command.main, ["--add", "--results", str(tmp_path / "results.ndjson")])
    assert (done.exit_code, "--core" in done.output) == (2, True)
