# SPDX-License-Identifier: Apache-2.0
"""Faults are put into oracles, and noticed by the cases that come out otherwise."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

import pytest

from onnx_conformance.declare import DeclarationError
from onnx_conformance.specification import registry
from refusals import refuses
from tools.mutants import __main__ as command
from tools.mutants.core_share import share
from tools.mutants.equivalent import Entry
from tools.mutants.measure import Ledger, Measured, Settings, measure
from weak_operators import DEMANDING, DYING, EITHER, LOOP, PLAIN, STRONG, WEAK, loaded

QUICK = Settings(seconds=0.5)


def measured(folder: Path, oracle: str, cases: str, *entries: Entry) -> Measured:
    return measure(loaded(folder, oracle, cases), QUICK, Ledger(folder / "results.ndjson"), entries)


def records(folder: Path) -> list[dict[str, str]]:
    lines = (folder / "results.ndjson").read_text().splitlines()
    return [json.loads(line) for line in lines if line]


@pytest.mark.slow
def test_a_fault_that_no_case_notices_survives(tmp_path: Path) -> None:
    result = measured(tmp_path, PLAIN, WEAK)
    [fault] = result.survivors
    assert (fault.function, fault.words) == ("relu", "0 -> -1")
    assert (fault.before, fault.after) == ("return np.maximum(X, 0)", "return np.maximum(X, -1)")
    assert fault.text == "return np.maximum(X, 0)"
    assert (result.figures.tried, result.figures.noticed, result.figures.surviving) == (3, 2, 1)


@pytest.mark.slow
def test_strong_cases_notice_every_fault(tmp_path: Path) -> None:
    result = measured(tmp_path, PLAIN, STRONG)
    assert not result.survivors
    assert (result.figures.faults, result.figures.tried, result.figures.noticed) == (3, 3, 3)
    assert not result.untouched


@pytest.mark.slow
def test_a_fault_that_loops_without_an_end_is_noticed(tmp_path: Path, ends: None) -> None:  # noqa: ARG001
    result = measured(tmp_path, LOOP, STRONG)
    assert [item["how"] for item in records(tmp_path) if item["fault"] == "statement removed"][-1] == "does not end"
    assert result.figures.noticed > 5


@pytest.mark.slow
def test_a_fault_in_another_answer_that_is_allowed_is_noticed(tmp_path: Path) -> None:
    result = measured(tmp_path, EITHER, STRONG)
    assert not result.survivors
    noticed = {item["fault"]: item["how"] for item in records(tmp_path)}
    assert noticed["1 -> 2"] == "other answers are allowed"


@pytest.mark.slow
def test_a_fault_that_kills_the_process_is_noticed(tmp_path: Path) -> None:
    measured(tmp_path, DYING, STRONG)
    assert {item["how"] for item in records(tmp_path) if item["fault"] == "Eq -> NotEq"} == {"ended by SIGABRT"}


@pytest.mark.slow
@pytest.mark.parametrize("oracle", [DEMANDING, DEMANDING.replace("ONE, X", "ONE, holds=X")])
def test_a_demand_is_negated_left_out_and_given_another_clause(tmp_path: Path, oracle: str) -> None:
    cases = STRONG + 'OP.case("scalar", X=-3, rejects=ONE)\n'
    result = measured(tmp_path, oracle, cases)
    assert not result.survivors
    words = {item["fault"] for item in records(tmp_path)}
    assert {"condition True", "condition negated", "another clause"} <= words


@pytest.mark.slow
def test_a_demand_that_no_case_breaks_survives_and_its_citation_is_reported(tmp_path: Path) -> None:
    cases = STRONG + 'OP.case("none", X=ramp(0), cites=(ANOTHER,))\nOP.case("cited", X=[-1, 1], cites=(ONE,))\n'
    result = measured(tmp_path, DEMANDING, cases)
    assert {"condition True", "another clause"} <= {fault.words for fault in result.survivors}
    # The negated demand is noticed by "cited", and so is the one that "none" cites: no demand, so any fault counts.
    assert not result.untouched


@pytest.mark.slow
def test_a_citation_by_cases_that_notice_nothing_is_reported(tmp_path: Path) -> None:
    result = measured(tmp_path, PLAIN, STRONG + 'OP.case("none", X=ramp(0), cites=(ANOTHER,))\n')
    assert [clause.text for clause in result.untouched] == ["produces one output data"]
    assert result.figures.untouched == 1
    [line] = [line for line in command.report([result], (), all_operators=False) if "cases cite this" in line]
    assert "«produces one output data»" in " ".join(line.split())


@pytest.mark.slow
def test_results_are_not_measured_twice(tmp_path: Path) -> None:
    first = measured(tmp_path, PLAIN, WEAK)
    before = records(tmp_path)
    again = measured(tmp_path, PLAIN, WEAK)
    assert records(tmp_path) == before
    assert again.figures == first.figures
    path = tmp_path / "results.ndjson"
    path.write_text(path.read_text().rstrip()[:-20])
    assert measured(tmp_path, PLAIN, WEAK).figures == first.figures
    lines = path.read_text().splitlines()
    assert len([line for line in lines if line.endswith("}")]) == len(before), "one line was measured anew"


@pytest.mark.slow
def test_other_sources_are_measured_anew(tmp_path: Path) -> None:
    measured(tmp_path, PLAIN, WEAK)
    assert measured(tmp_path, PLAIN, STRONG).figures.surviving == 0


def children() -> set[int]:
    """Return the numbers of this process's children on Linux; other tests may have left some."""
    stats = {int(path.parent.name): path for path in Path("/proc").glob("[0-9]*/stat")}
    of_parent = set()
    for pid, path in stats.items():
        with contextlib.suppress(OSError):  # It has ended by now.
            if int(path.read_text().rpartition(")")[2].split()[1]) == os.getpid():
                of_parent.add(pid)
    return of_parent


@pytest.mark.slow
def test_an_interrupt_keeps_the_results_and_leaves_no_process(tmp_path: Path) -> None:
    def interrupt(done: int, _all: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    op, before = loaded(tmp_path, LOOP, STRONG), children()
    with pytest.raises(KeyboardInterrupt):
        measure(op, Settings(jobs=2, seconds=0.5), Ledger(tmp_path / "results.ndjson"), (), interrupt)
    assert len(records(tmp_path)) == 2
    assert children() <= before
    whole = measure(op, QUICK, Ledger(None))
    resumed = measure(op, QUICK, Ledger(tmp_path / "results.ndjson"))
    assert resumed.figures == whole.figures


@pytest.mark.slow
def test_a_draw_is_the_same_every_time(tmp_path: Path) -> None:
    op = loaded(tmp_path, LOOP, STRONG)
    drawn = []
    for index in range(2):
        ledger = Ledger(tmp_path / f"{index}.ndjson")
        assert measure(op, Settings(most=4, seconds=0.5), ledger).figures.tried == 4
        lines = (tmp_path / f"{index}.ndjson").read_text().splitlines()
        drawn.append(sorted(json.loads(line)["key"] for line in lines))
    assert drawn[0] == drawn[1]


def entry(words: str, line: str = "return np.maximum(X, 0)", operator: str = "") -> Entry:
    return Entry("relu_of_a_test.py", "relu", "a test", line, words, operator)


@pytest.mark.slow
def test_an_equivalent_fault_is_no_survivor(tmp_path: Path) -> None:
    listed = entry("0 -> -1")
    result = measured(tmp_path, PLAIN, WEAK, listed)
    assert not result.survivors
    assert (result.figures.equivalent, result.figures.surviving) == (1, 0)
    assert list(command.stale([result], [listed], all_operators=True)) == []


@pytest.mark.slow
def test_an_entry_that_is_noticed_or_matches_nothing_is_reported(tmp_path: Path) -> None:
    wrong, gone = entry("0 -> 1"), entry("0 -> -1", "return np.minimum(X, 0)")
    result = measured(tmp_path, PLAIN, WEAK, wrong, gone)
    lines = list(command.stale([result], [wrong, gone], all_operators=True))
    assert ["not equivalent, because ai.onnx/Relu/14/positive detects it" in line for line in lines] == [True, False]
    assert "matches no fault any more" in lines[1]
    assert result.figures.surviving == 1


@pytest.mark.slow
@pytest.mark.parametrize("line", ["", "return np.maximum(X, 0)"])
def test_an_entry_without_a_fault_stands_for_the_undetected_ones_only(tmp_path: Path, line: str) -> None:
    whole, gone = entry("", line), Entry("relu_of_a_test.py", "gone", "a test")
    plain, listed = (measured(tmp_path, PLAIN, WEAK, *entries) for entries in ((), (whole, gone)))
    assert plain.figures.surviving == listed.figures.equivalent > 0
    assert (listed.figures.surviving, listed.figures.noticed) == (0, plain.figures.noticed)
    [message] = command.stale([listed], [whole, gone], all_operators=True)
    assert "gone: every fault: every line" in message


@pytest.mark.slow
def test_an_entry_of_another_operator_does_not_count(tmp_path: Path) -> None:
    result = measured(tmp_path, PLAIN, WEAK, entry("0 -> -1", operator="ai.onnx/Split"))
    assert result.figures.equivalent == 0
    of_glob = measured(tmp_path, PLAIN, WEAK, entry("0 -> -1", operator="ai.onnx/R*"))
    assert of_glob.figures.equivalent == 1
    entries = [entry("0 -> 1", operator=name) for name in ("com.microsoft/Q*", "ai.onnx/Nobody")]
    told = list(command.stale([result], [*entries, entry("gone")], all_operators=True))
    assert len(told) == 2, "com.microsoft is another package"
    assert "Nobody" in told[0]
    some = [entry("0 -> 1", operator=name) for name in ("ai.onnx/R*", "ai.onnx/Rel*", "ai.onnx/Nobody")]
    [told_of_one] = command.stale([result], [*some, entry("gone")], all_operators=False)
    assert "ai.onnx/Rel*" in told_of_one, "Relu is the only operator that it names"


@pytest.mark.slow
def test_cases_that_differ_from_themselves_are_refused(tmp_path: Path) -> None:
    random = PLAIN.replace("np.maximum(X, 0)", "np.maximum(X, 0) + len(os.urandom(1)) * (os.getpid() % 1000)")
    with refuses("case-not-deterministic", kind=DeclarationError):
        measured(tmp_path, random, STRONG)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Split", "Dropout", "Scatter"])
def test_the_core_notices_most_of_a_draw_of_the_faults_of_declared_operators(name: str) -> None:
    found = share(registry.load().named(name), Settings(most=12), Ledger(None))
    assert 0 < found.tried <= 12
    assert found.core >= found.tried / 2
