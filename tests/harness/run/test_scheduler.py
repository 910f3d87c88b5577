# SPDX-License-Identifier: Apache-2.0
"""Many cases on many adapters at once: every fault is caught by name, and no other case pays for it."""

from __future__ import annotations

import dataclasses
import itertools
import shlex
import sys
from typing import TYPE_CHECKING

import pytest

from onnx_conformance.base.sample import in_shard
from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.environments import backend_names
from onnx_conformance.processes.adapter_process import Limits, StartError
from onnx_conformance.run.scheduler import Scheduler
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.selection import Selection
from paths import WRONG

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onnx_conformance.base.target import Target
    from onnx_conformance.case.case import Case

pytestmark = [pytest.mark.usefixtures("ends", "few_operators"), pytest.mark.slow]

NAMES = (
    "lengths", "lengths_equal", "lengths_one", "lengths_all", "lengths_sum", "lengths_default_axis",
    "other_dim_zero", "even", "even_columns", "even_one", "even_all", "length_zero_inside",
)  # fmt: skip
FAULTY = "lengths_sum"
SHORT = 0.5


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    ids = tuple(f"ai.onnx/Split/13/{name}" for name in NAMES)
    by_name = {case.name: case for case in Generated().cases(Selection(cases=ids))}
    assert set(by_name) == set(NAMES), f"the generated suite has only {sorted(by_name)} of {NAMES}"
    return [by_name[name] for name in NAMES]


def adapter(kind: str, case: str = FAULTY) -> Target:
    return backend_names.resolve("cmd:" + shlex.join([sys.executable, "-S", str(WRONG), kind, case]))


class Ran:
    """What came out of one run."""

    def __init__(self, scheduler: Scheduler, results: list[Result]) -> None:
        self.faults = scheduler.faults
        self.gave_up = bool(scheduler.given_up)
        self.results = results

    def of(self, target: Target) -> dict[str, Result]:
        """Return the results of one backend by the case's name; each case has one at most."""
        mine = [result for result in self.results if result.backend == target.name]
        named = {result.case.rpartition("/")[2]: result for result in mine}
        assert len(named) == len(mine), f"{target.name} has two results for one case: {sorted(r.case for r in mine)}"
        return named


def run(cases: Iterable[Case], *kinds: Target, jobs: int = 1, reference: Target | None = None, **limits: float) -> Ran:
    with Scheduler(kinds, Limits(**limits), jobs, reference) as scheduler:  # type: ignore[arg-type]
        scheduler.start()
        results = list(scheduler.run(cases))
    return Ran(scheduler, results)


def verdicts(results: dict[str, Result]) -> dict[str, str]:
    return {name: str(result.verdict) for name, result in sorted(results.items())}


# Every fault, by name

PASS, CRASH, BROKEN = Verdict.PASS, Verdict.CRASH, Verdict.ADAPTER_ERROR
FAULTS = {
    "good": (PASS, ""),
    "prints_a_line": (BROKEN, "not a header line: b'Loading the plug-in for Split'"),
    "answers_the_next_first": (BROKEN, "an answer to request 6 while 5 was due"),
    "gives_an_output_less": (Verdict.WRONG_COUNT, "expected 2 outputs, got 1"),
    "gives_an_output_more": (Verdict.WRONG_COUNT, "expected 2 outputs, got 3"),
    "gives_nan_bytes": (Verdict.WRONG_VALUE, "got nan"),
    "says_nan_in_the_header": (BROKEN, "tensor shape [nan]"),
    "takes_nan_seconds": (PASS, ""),
    "takes_endless_seconds": (PASS, ""),
    "announces_two_gib": (BROKEN, '"payload" announces 2147483648 bytes'),
    "writes_an_endless_header": (BROKEN, "a header line of over"),
    "sends_too_few_bytes": (BROKEN, "needs 4000000 bytes"),
    "sends_too_many_bytes": (BROKEN, "bytes are left over after the last value"),
    "nests_without_end": (BROKEN, "deep in one another"),
    "says_an_endless_shape": (BROKEN, "tensor shape [inf, inf]: expected a list of integers"),
    "says_an_endless_shape_of_strings": (BROKEN, "tensor shape [inf, inf]: expected a list of integers"),
    "says_a_shape_of_a_million_digits": (BROKEN, "tensor shape [inf]: expected a list of integers"),
    "says_a_shape_of_a_thousand_dimensions": (BROKEN, "1000 dimensions, expected at most 64"),
    "fills_its_header": (BROKEN, "a header line of over"),
    "repeats_itself": (Verdict.WRONG_SHAPE, "outputs[0]: expected shape [1, 3], got shape [1000, 3]"),
    "gives_32_mib": (Verdict.WRONG_SHAPE, "outputs[0]: expected shape [1, 3], got shape [8388608]"),
    "gives_32_mib_of_int2": (Verdict.WRONG_TYPE, "outputs[0]: expected tensor(float), got tensor(int2)"),
    "gives_32_mib_unlike_its_header": (BROKEN, "needs 37748736 bytes, 33554480 are left"),
    "gives_a_bool_of_2": (BROKEN, "a bool of shape [3] has a byte 2: expected 0 or 1"),
    "refuses_with_nested_words": (Verdict.REFUSED, "[[["),
    "says_an_unknown_kind": (BROKEN, "kind 'surprise': expected answer, refused, unsupported or fault"),
    "names_an_endless_request": (BROKEN, "... while 5 was due"),
    "says_hello_again": (BROKEN, 'a second "hello"'),
    "dies_by_segv": (CRASH, "ended by SIGSEGV"),
    "dies_by_abrt": (CRASH, "ended by SIGABRT"),
    "dies_slowly_by_segv": (CRASH, "ended by SIGSEGV"),
    "exits_with_3": (CRASH, "exited with status 3"),
    "dies_with_hostile_words": (CRASH, "exited with status 5"),
    "refuses_with_hostile_words": (Verdict.REFUSED, "second line"),
    "allocates": (PASS, ""),
    "wrong_at_first": (Verdict.WRONG_COUNT, "expected 2 outputs, got 1"),
    "wrong_after_others": (Verdict.WRONG_COUNT, "expected 2 outputs, got 1"),
    "dies_after_others": (CRASH, "exited with status 3"),
    "breaks_the_second_time": (Verdict.WRONG_COUNT, "expected 2 outputs, got 1"),
    "floods_stderr": (PASS, ""),
}
LATE = {
    "hangs": (Verdict.TIMEOUT, "no answer within"),
    "hangs_printing": (Verdict.TIMEOUT, "no answer within"),
    "drips": (Verdict.TIMEOUT, "no answer within"),
    "dies_leaving_a_child": (CRASH, "exited with status 4"),
    "closes_its_output": (BROKEN, "closed its output without an answer"),
    "is_slow": (PASS, ""),
}
"""With a short deadline.

The harness waits for the end of whoever closed its output longer than the deadline is, and `is_slow` answers
meanwhile: it must not be called late for that.
"""


@pytest.fixture(scope="module")
def together(cases: list[Case]) -> Ran:
    """All faults side by side, so that each could spoil the others' results."""
    return run(cases, *map(adapter, FAULTS))


@pytest.fixture(scope="module")
def hurried(cases: list[Case]) -> Ran:
    return run(cases, *map(adapter, LATE), timeout=SHORT)


def check(ran: Ran, kind: str, verdict: Verdict, message: str) -> None:
    results = ran.of(adapter(kind))
    assert verdicts(results) == {name: str(verdict if name == FAULTY else PASS) for name in sorted(NAMES)}, ran.faults
    culprit = results[FAULTY]
    assert message in culprit.message, culprit
    assert "\x1b" not in culprit.message + culprit.stderr + culprit.error, culprit
    assert len(culprit.message) < 2100, f"{len(culprit.message)} characters"
    if verdict is BROKEN:
        assert culprit.message.startswith(adapter(kind).name), f"{culprit.message!r} does not name the backend"


@pytest.mark.parametrize("kind", FAULTS)
def test_one_case_has_the_blame_and_the_others_their_verdict(together: Ran, kind: str) -> None:
    check(together, kind, *FAULTS[kind])


@pytest.mark.parametrize("kind", LATE)
def test_a_deadline_blames_one_case_while_others_are_busy(hurried: Ran, kind: str) -> None:
    check(hurried, kind, *LATE[kind])


def test_no_fault_of_one_case_ends_a_backend(together: Ran, hurried: Ran) -> None:
    assert (together.faults, together.gave_up) == ([], False), together.faults
    assert (hurried.faults, hurried.gave_up) == ([], False), hurried.faults


@pytest.mark.slow
def test_the_signal_and_the_last_words_are_kept(together: Ran) -> None:
    abrt, segv = (together.of(adapter(kind))[FAULTY] for kind in ("dies_by_abrt", "dies_by_segv"))
    assert (abrt.signal, segv.signal) == ("SIGABRT", "SIGSEGV"), (abrt, segv)
    assert "terminate called after throwing" in abrt.stderr, abrt


def test_every_fault_of_the_wrong_adapter_is_tried_here() -> None:
    source = WRONG.read_text()
    alone = {
        "answers_unasked",
        "dies_on_every_case",
        "reads_four_first",
        "is_very_slow",
        "leaves_daemons",
        "dies_leaving_daemons",
        "hangs_leaving_daemons",
    }  # They have tests of their own.
    for table in ("CASES", "EVERY"):
        body = source.partition(f"\n{table} = (")[2].partition(")\n")[0].partition(")  # fmt")[0]
        named = {word.strip() for word in body.split(",") if word.strip()}
        assert named, f"wrong.py has no table {table}"
        assert named <= set(FAULTS) | set(LATE) | alone, f"not tried: {sorted(named - set(FAULTS) - set(LATE) - alone)}"


def test_two_processes_give_the_verdicts_of_one(cases: list[Case], together: Ran) -> None:
    kinds = ("good", "dies_by_segv", "answers_the_next_first", "gives_nan_bytes", "exits_with_3")
    ran = run(cases, *map(adapter, kinds), jobs=2)
    for kind in kinds:
        once, twice = (verdicts(item.of(adapter(kind))) for item in (together, ran))
        assert twice == once, f"{kind}: {ran.faults}"


# Where nobody can be blamed


def test_an_answer_that_nobody_asked_for_is_a_fault_of_the_run(cases: list[Case]) -> None:
    target = adapter("answers_unasked", NAMES[-1])  # The last one, so that nothing else is due.
    ran = run(cases, target)
    assert verdicts(ran.of(target)) == dict.fromkeys(sorted(NAMES), "pass"), ran.faults
    assert len(ran.faults) == 1, ran.faults
    assert ran.faults[0].startswith(target.name), ran.faults
    assert "that was not requested, while no case was running" in ran.faults[0], ran.faults


# Giving up


def test_a_budget_ends_one_backend_and_not_the_other(cases: list[Case]) -> None:
    dying, good = adapter("dies_on_every_case"), adapter("is_slow")
    ran = run(cases[:8], dying, good, restarts=3)
    assert verdicts(ran.of(dying)) == dict.fromkeys(sorted(NAMES[:4]), "crash"), ran.faults
    assert verdicts(ran.of(good)) == dict.fromkeys(sorted(NAMES[:8]), "pass"), ran.faults
    assert ran.gave_up, "a backend without all its results must show"
    assert len(ran.faults) == 1, ran.faults
    for part in (dying.name, "ended 4 times", "its process exited with 6", "--restarts allows 3"):
        assert part in ran.faults[0], f"{part!r} is not in {ran.faults[0]!r}"


def test_a_death_at_the_last_case_is_within_any_budget(cases: list[Case]) -> None:
    target = adapter("exits_with_3", NAMES[-1])
    ran = run(cases, target, restarts=0)
    assert ran.of(target)[NAMES[-1]].verdict is Verdict.CRASH, ran.results
    assert (ran.faults, ran.gave_up) == ([], False), ran.faults


def test_a_reference_that_cannot_go_on_is_not_taken_for_the_backend_of_its_name(cases: list[Case]) -> None:
    target = adapter("dies_on_every_case")
    ran = run(cases, target, reference=target, restarts=2)
    assert ran.gave_up, ran.faults
    assert all(target.name in fault for fault in ran.faults), ran.faults


def test_one_backend_that_does_not_start_ends_the_run_before_it_begins() -> None:
    with (
        Scheduler([adapter("good"), adapter("dies_at_start")], Limits(), 1) as scheduler,
        pytest.raises(StartError) as caught,
    ):
        scheduler.start()
    assert str(caught.value).startswith(adapter("dies_at_start").name), str(caught.value)


def test_a_memory_limit_hurts_one_case_only(cases: list[Case]) -> None:
    target, good = adapter("allocates"), adapter("good")
    ran = run(cases, target, good, memory=512 << 20)
    assert ran.of(target)[FAULTY].verdict is Verdict.REFUSED, ran.of(target)[FAULTY]
    assert ran.of(target)[FAULTY].error == "MemoryError", ran.of(target)[FAULTY]
    for name in NAMES:
        assert ran.of(good)[name].verdict is PASS, ran.of(good)[name]
        assert name == FAULTY or ran.of(target)[name].verdict is PASS, ran.of(target)[name]


# Requests ahead of answers


def test_requests_are_sent_ahead_of_answers(cases: list[Case]) -> None:
    """An adapter that reads four requests before it answers the first can only be right if four are sent."""
    target = adapter("reads_four_first")
    ran = run(cases[:8], target, timeout=10, ahead=4)
    assert verdicts(ran.of(target)) == dict.fromkeys(sorted(NAMES[:8]), "pass"), ran.faults


def test_without_requests_ahead_the_same_adapter_waits_in_vain(cases: list[Case]) -> None:
    target = adapter("reads_four_first")
    ran = run(cases[:1], target, timeout=SHORT, ahead=1)
    assert verdicts(ran.of(target)) == {NAMES[0]: "timeout"}, ran.results


def endless(case: Case, started: list[int]) -> Iterator[Case]:
    for number in itertools.count():
        started[0] = number
        yield dataclasses.replace(case, id=f"{case.id}-{number}")


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "count"), [("good", 500), ("is_slow", 5)])
def test_cases_are_taken_as_there_is_room_for_them(cases: list[Case], kind: str, count: int) -> None:
    """A suite of a million cases is never held at once, however slow the backend is."""
    started = [0]
    with Scheduler([adapter(kind)], Limits(), 1) as scheduler:
        scheduler.start()
        results = scheduler.run(endless(cases[0], started))
        got = sum(1 for _ in zip(range(count), results, strict=False))
        results.close()  # type: ignore[attr-defined]
    assert got == count, got
    assert started[0] < count + 64 + 100, f"{started[0]} cases were taken for {got} results"


@pytest.mark.parametrize("kind", ["hangs", "closes_its_output"])
def test_a_backend_that_hangs_delays_no_other(kind: str, cases: list[Case], monkeypatch: pytest.MonkeyPatch) -> None:
    """A quick one is through thousands of cases while the other waits for its first deadline."""
    monkeypatch.setattr("onnx_conformance.processes.adapter_process.EXIT_SECONDS", 60)
    hangs, good = adapter(kind, NAMES[0]), adapter("good")
    with Scheduler([hangs, good], Limits(timeout=60), 1) as scheduler:
        scheduler.start()
        first = list(itertools.islice(scheduler.run(endless(cases[0], [0])), 5000))
    assert {result.backend for result in first} == {good.name}


@pytest.mark.slow
def test_how_far_a_backend_may_be_behind_is_bounded_in_bytes(
    cases: list[Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    hangs, good, started = adapter("hangs", NAMES[0]), adapter("good"), [0]
    monkeypatch.setattr("onnx_conformance.processes.pool.MOST_WAITING_BYTES", 100 * cases[0].size)
    with Scheduler([hangs, good], Limits(timeout=SHORT, restarts=0), 1) as scheduler:
        scheduler.start()
        results = scheduler.run(endless(cases[0], started))
        late = next(result for result in results if result.verdict is Verdict.TIMEOUT)
        behind = started[0]
        results.close()  # type: ignore[attr-defined]
    assert late.backend == hangs.name
    assert 100 <= behind < 100 + 50, f"{behind} cases were taken while one backend hung"


# Shards


@pytest.fixture(scope="module")
def ids() -> list[str]:
    return [case.id for case in Generated().cases(Selection(ops=("Split/18",)))]


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_shards_part_the_cases(ids: list[str], count: int) -> None:
    homes = {name: [i for i in range(1, count + 1) if in_shard(name, (i, count))] for name in ids}
    lost = {name: shards for name, shards in homes.items() if len(shards) != 1}
    assert not lost, f"not in one shard of {count}: {lost}"
    filled = {shards[0] for shards in homes.values()}
    assert filled == set(range(1, count + 1)), f"of {count} shards only {sorted(filled)} hold any of {len(ids)} cases"


def test_an_added_case_moves_no_other(ids: list[str]) -> None:
    def members(names: list[str]) -> dict[int, list[str]]:
        return {i: [name for name in names if in_shard(name, (i, 3))] for i in (1, 2, 3)}

    added = ["ai.onnx/Aaa/1/first", *ids[:10], "ai.onnx/Split/18/one_more", *ids[10:], "ai.onnx/Zzz/1/last"]
    before, after = members(ids), members(added)
    for i in (1, 2, 3):
        assert [name for name in after[i] if name in set(ids)] == before[i], f"shard {i} changed"


@pytest.mark.slow
def test_the_shards_of_a_selection_are_its_parts(ids: list[str]) -> None:
    suite = Generated()
    parts = [[case.id for case in suite.cases(Selection(ops=("Split/18",), shard=(i, 3)))] for i in (1, 2, 3)]
    assert sorted(sum(parts, [])) == sorted(ids), [len(part) for part in parts]  # noqa: RUF017 - three short lists


# The real thing

KILLERS = {"Split/18": ("SIGABRT", "ai.onnx/Split/18/outputs_beyond_num_outputs")}
"""Row 5 of the known divergences: the process ends."""


@pytest.mark.parametrize("operator", KILLERS)
def test_onnxruntime_dies_of_some_cases_and_no_other_case_is_touched(operator: str) -> None:
    pytest.importorskip("onnxruntime")
    name, known = KILLERS[operator]
    cases = list(Generated().cases(Selection(ops=(operator,))))
    target = backend_names.resolve("onnxruntime")
    ran = run(cases, target)
    assert (ran.faults, ran.gave_up) == ([], False), ran.faults
    assert sorted(result.case for result in ran.results) == sorted(case.id for case in cases), len(ran.results)
    crashed = {result.case: result.signal for result in ran.results if result.verdict is Verdict.CRASH}
    assert crashed.get(known) == name, f"{known}: {[r for r in ran.results if r.case == known]}"
    assert set(crashed.values()) == {name}, crashed
    # What is left, run without anything that kills: the very same results.
    survivors = run([case for case in cases if case.id not in crashed], target)
    assert survivors.faults == [], survivors.faults
    alone = {result.case: (result.verdict, result.message) for result in survivors.results}
    beside = {r.case: (r.verdict, r.message) for r in ran.results if r.case not in crashed}
    differing = {case: (beside.get(case), alone.get(case)) for case in beside if beside[case] != alone.get(case)}
    assert beside == alone, f"{len(differing)} differ: {dict(list(differing.items())[:3])}"
