# SPDX-License-Identifier: Apache-2.0
"""What failed runs again, and a case with two verdicts is flaky: never silently green, and never lost."""

from __future__ import annotations

import itertools
import json
import shlex
import sys
from typing import TYPE_CHECKING

import pytest

import commands
from commands import command
from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.environments import backend_names
from onnx_conformance.processes import retries
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.results.stream import Run
from onnx_conformance.run.scheduler import Scheduler
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.selection import Selection
from paths import WRONG

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_conformance.base.target import Target
    from onnx_conformance.case.case import Case

pytestmark = pytest.mark.usefixtures("ends", "few_operators")
NAMES = ("lengths", "lengths_sum", "even", "lengths_one")
FAULTY = "lengths_sum"


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    ids = tuple(f"ai.onnx/Split/13/{name}" for name in NAMES)
    by_name = {case.name: case for case in Generated().cases(Selection(cases=ids))}
    return [by_name[name] for name in NAMES]


def adapter(kind: str, case: str = FAULTY) -> Target:
    return backend_names.resolve("cmd:" + shlex.join([sys.executable, "-S", str(WRONG), kind, case]))


def run(cases: list[Case], kind: str, repeat: int, **options: object) -> tuple[dict[str, Result], Scheduler]:
    with Scheduler([adapter(kind)], Limits(restarts=1), 1, repeat=repeat, **options) as scheduler:  # type: ignore[arg-type]
        scheduler.start()
        results = list(scheduler.run(cases))
    by_case = {result.case.rpartition("/")[2]: result for result in results}
    assert len(by_case) == len(results), "a case has two results"
    return by_case, scheduler


def tried(result: Result) -> list[tuple[str, str]]:
    return [(attempt["process"], attempt["verdict"]) for attempt in result.attempts]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "attempts"),
    [
        ("wrong_at_first", [("first", "wrong_count"), ("same", "pass"), ("fresh", "wrong_count")]),
        ("wrong_after_others", [("first", "wrong_count"), ("same", "wrong_count"), ("fresh", "pass")]),
        # It ends the process, so that there is no same one; what was sent ahead of it runs before it again.
        ("dies_after_others", [("first", "crash"), ("fresh", "crash"), ("fresh", "pass")]),
    ],
)
def test_two_verdicts_are_flaky_and_both_attempts_are_kept(
    cases: list[Case], kind: str, attempts: list[tuple[str, str]]
) -> None:
    by_case, scheduler = run(cases, kind, 1)
    assert scheduler.faults == []
    assert {name for name, result in by_case.items() if result.verdict is Verdict.PASS} == set(NAMES) - {FAULTY}
    culprit = by_case[FAULTY]
    assert culprit.verdict is Verdict.FLAKY
    assert tried(culprit) == attempts
    assert culprit.verdict.failed, "flaky is a failure"
    assert culprit.message.startswith(f"first: {attempts[0][1]}; "), culprit.message


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gives_an_output_less", "exits_with_3", "refuses_with_hostile_words"])
@pytest.mark.parametrize("repeat", [1, 3])
def test_a_repeated_verdict_stays(cases: list[Case], kind: str, repeat: int) -> None:
    once, _ = run(cases, kind, 0)
    again, scheduler = run(cases, kind, repeat)
    assert scheduler.faults == [], "a crash that is repeated is within the budget of restarts"
    assert {name: (r.verdict, r.message, r.attempts) for name, r in again.items()} == {
        name: (r.verdict, r.message, ()) for name, r in once.items()
    }


@pytest.mark.slow
def test_a_failure_runs_again_as_often_as_repeat_says(cases: list[Case]) -> None:
    by_case, _ = run(cases, "wrong_at_first", 3)
    assert [process for process, _ in tried(by_case[FAULTY])] == ["first", *["same"] * 3, *["fresh"] * 3]


def test_without_repeats_a_failure_runs_once(cases: list[Case]) -> None:
    by_case, _ = run(cases, "wrong_at_first", 0)
    assert (by_case[FAULTY].verdict, by_case[FAULTY].attempts) == (Verdict.WRONG_COUNT, ())


@pytest.mark.slow
def test_an_adapter_error_in_an_attempt_replaces_the_verdict(cases: list[Case]) -> None:
    by_case, _ = run(cases, "breaks_the_second_time", 1)
    assert by_case[FAULTY].verdict is Verdict.ADAPTER_ERROR
    assert "not a header line" in by_case[FAULTY].message


@pytest.mark.slow
def test_more_failures_than_a_batch_are_all_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "BATCH", 2)
    asked = (case for case in Generated().cases(Selection(ops=("Split/18",))) if not case.needs)
    known = list(itertools.islice(asked, 9))
    with Scheduler([adapter("dies_on_every_case")], Limits(), 2, repeat=1) as scheduler:
        scheduler.start()
        results = list(scheduler.run(known))
    assert sorted(result.case for result in results) == sorted(case.id for case in known)
    assert {result.verdict for result in results} == {Verdict.CRASH}


def test_results_survive_an_early_end(cases: list[Case]) -> None:
    with Scheduler([adapter("gives_an_output_less")], Limits(), 1, repeat=1) as scheduler:
        scheduler.start()
        stream = scheduler.run(cases)
        early = [next(stream), next(stream)]
        assert {result.verdict for result in early} == {Verdict.PASS}, "the failure waits"
        stream.close()  # type: ignore[attr-defined]
        rest = list(scheduler.rest())
    assert [(result.case.rpartition("/")[2], result.verdict) for result in rest if result.verdict.failed] == [
        (FAULTY, Verdict.WRONG_COUNT)
    ]


def test_a_backend_that_cannot_go_on_keeps_its_results(cases: list[Case]) -> None:
    with Scheduler([adapter("dies_on_every_case")], Limits(restarts=0), 1, repeat=1) as scheduler:
        scheduler.start()
        results = list(scheduler.run(cases))
        results += scheduler.rest()
    assert scheduler.given_up
    assert results, "the first crash was measured"
    assert {result.verdict for result in results} == {Verdict.CRASH}


# The whole command

BACKEND = "cmd:" + shlex.join([sys.executable, "-S", str(WRONG), "wrong_at_first", FAULTY])
GIVEN = ("--backend", BACKEND, "--op", "Split/13", "--case", "*/lengths_sum*", "--repeat", "1")


@pytest.mark.slow
def test_a_flaky_case_fails_the_gate_unless_the_file_says_so(tmp_path: Path) -> None:
    results, file = tmp_path / "a.ndjson", tmp_path / "e.toml"
    ran = command("run", *GIVEN, "--results", results)
    assert ran.status == 1, ran.text
    assert "flaky" in ran.out, ran.text
    flaky = [result for result in Run(results).results() if result.verdict is Verdict.FLAKY]
    assert [result.case for result in flaky] == [f"ai.onnx/Split/13/{FAULTY}"]
    assert json.loads(results.read_text().splitlines()[0])["arguments"]["repeat"] == 1

    file.write_text(f"backend = {json.dumps(BACKEND)}\nselection = '--op Split/13 --case */lengths_sum*'\n")
    gate = command("gate", results, "--expectations", file)
    assert gate.status == 1, gate.text
    assert "expected pass, got flaky" in gate.out, gate.text

    accept = ("--accept-new", "--reason", "a race")
    update = command("expectations", "update", results, "--expectations", file, *accept)
    assert update.status == 0, update.text
    assert f"accepted 1 flaky, at worst wrong_count, first ai.onnx/Split/13/{FAULTY}" in update.out, update.text
    assert "flaky = true" in file.read_text()
    for words in (("gate", results), ("run", *GIVEN), ("run", *GIVEN[:-2])):  # It holds for one look as well.
        done = command(*words, "--expectations", file)
        assert done.status == 0, done.text


@pytest.mark.slow
def test_a_run_is_resumed_with_as_many_repeats(tmp_path: Path) -> None:
    results = tmp_path / "a.ndjson"
    command("run", *GIVEN, "--results", results)
    lines = results.read_text().splitlines(keepends=True)
    results.write_text("".join(lines[:-1]))
    done = command("run", *GIVEN[:-2], "--results", results, "--resume")
    assert done.status == 2, done.text
    assert done.refused("another-run-to-resume", "repeat"), done.text


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "status"), [(("--restarts", "2"), 2), (("--max-fail", "1"), 1)])
def test_a_run_that_is_stopped_keeps_the_failures_that_it_has_seen(
    tmp_path: Path, limit: tuple[str, str], status: int
) -> None:
    results = tmp_path / "a.ndjson"
    words = ("--backend", commands.adapter("dies_on_every_case"), "--case", "ai.onnx/Split/13/lengths*@unranked")
    done = command("run", *words, "--repeat", "1", *limit, "--results", results)
    assert done.status == status, done.text
    recorded = list(Run(results).results())
    assert len(recorded) > 1, "each of a batch that has run again has a verdict"
    # A case that needs more of an adapter than this one accepts does not end it.
    assert {result.verdict for result in recorded} - {Verdict.UNSUPPORTED} == {Verdict.CRASH}
    assert all(not result.attempts for result in recorded), "one verdict, however often"
