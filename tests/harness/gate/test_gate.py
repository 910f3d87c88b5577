"""The gate: how every verdict stands to every expected one, and what else closes it."""

from __future__ import annotations

import dataclasses
import datetime as dt
import itertools
from pathlib import Path
from typing import Any

import pytest

from harness.gate import expectations
from harness.gate.expectations import ExpectationsError
from harness.gate.gate import BADNESS, Gate, GateStatus, status_of_verdict
from harness.report import gate as gate_report
from harness.verdict import Result, Verdict

PATH = Path("expectations.toml")
HEADER: dict[str, Any] = {
    "suite": {"name": "generated", "digest": "d1"},
    "backends": {"mine": {"runtime": "mine", "version": "1.20.1 (gpu)"}, "other": {}},
    "arguments": {"selection": ""},
    "machine": {"system": "Linux"},
    "python": "3.11.7",
}
V = Verdict
SCORED = [verdict for verdict in Verdict if verdict not in {V.UNSPECIFIED, V.ADAPTER_ERROR}]
EXPECTED = [None, *(verdict for verdict in SCORED if verdict is not V.FLAKY)]
"""An entry for flaky cases has their worst verdict and `flaky = true`."""


def result(case: str, verdict: Verdict = V.PASS, backend: str = "mine", **given: Any) -> Result:
    operator = "/".join(case.split("/")[:3])
    form = case.partition("@")[2] or "plain"
    return Result(case, operator, backend, verdict, "values", form, **given)


def entry(verdict: str = "crash", **keys: str) -> str:
    lines = [f"{key} = {value}" for key, value in {"reason": '"why"', **keys}.items()]
    return "\n".join(["[[expect]]", f'verdict = "{verdict}"', *lines, ""])


def gate(text: str, *results: Result, today: dt.date = dt.date(2026, 11, 22), **head: Any) -> Gate:
    found = Gate(expectations.parse(f'backend = "mine"\n{text}', PATH), {**HEADER, **head}, today)
    for item in results:
        found.add(item)
    return found


# The truth table: one test for each cell

WORSE = [
    (V.UNSUPPORTED, V.ACCEPTED_INVALID), (V.ACCEPTED_INVALID, V.REFUSED), (V.REFUSED, V.WRONG_VALUE),
    (V.WRONG_VALUE, V.FLAKY), (V.WRONG_SHAPE, V.FLAKY), (V.FLAKY, V.TIMEOUT), (V.TIMEOUT, V.CRASH),
]  # fmt: skip
"""Each is followed by the next worse one."""
ALIKE = {V.WRONG_VALUE, V.WRONG_SHAPE, V.WRONG_TYPE, V.WRONG_COUNT}


def wanted(expected: Verdict | None, actual: Verdict) -> GateStatus:
    """Return the cell of the table, said another way than the gate does."""
    if expected is None:
        return GateStatus.MET if actual in {V.PASS, V.UNSUPPORTED} else GateStatus.REGRESSED
    if actual is expected or (actual is V.UNSUPPORTED and expected is not V.PASS):
        return GateStatus.MET
    if actual is V.PASS:
        return GateStatus.FIXED
    if {expected, actual} <= ALIKE:
        return GateStatus.DIFFERENT
    order = ["pass", "unsupported", "accepted_invalid", "refused", "wrong_", "flaky", "timeout", "crash"]
    before, now = (next(i for i, name in enumerate(order) if str(item).startswith(name)) for item in (expected, actual))
    return GateStatus.REGRESSED if now > before else GateStatus.IMPROVED


@pytest.mark.parametrize(("expected", "actual"), list(itertools.product(EXPECTED, SCORED)), ids=str)
def test_how_a_verdict_stands(expected: Verdict | None, actual: Verdict) -> None:
    assert status_of_verdict(expected, actual) is wanted(expected, actual)
    text = entry(str(expected), case='"ai.onnx/Split/*"') if expected else ""
    found = gate(text, result("ai.onnx/Split/18/uneven", actual))
    assert found.statuses == {wanted(expected, actual): 1}
    idle = actual is V.UNSUPPORTED and expected is not V.UNSUPPORTED  # The one case there is was not attempted.
    assert found.finish(complete=True) is (wanted(expected, actual) is GateStatus.MET and not idle), found.problems


FLAKY = [
    # expected of a flaky case, attempts, status
    (V.WRONG_VALUE, [V.WRONG_VALUE, V.PASS], GateStatus.MET),
    (V.WRONG_VALUE, [V.PASS], GateStatus.MET),
    (V.WRONG_VALUE, [V.WRONG_VALUE], GateStatus.MET),
    (V.WRONG_VALUE, [V.REFUSED], GateStatus.MET),
    (V.WRONG_VALUE, [V.WRONG_VALUE, V.CRASH], GateStatus.REGRESSED),
    (V.WRONG_VALUE, [V.CRASH], GateStatus.REGRESSED),
    (V.CRASH, [V.CRASH, V.WRONG_VALUE], GateStatus.MET),
    (V.CRASH, [V.UNSPECIFIED], GateStatus.MET),
    (V.CRASH, [V.ADAPTER_ERROR], GateStatus.BROKEN),
]


@pytest.mark.parametrize(("expected", "attempts", "status"), FLAKY, ids=str)
def test_a_flaky_case_comes_out_no_worse_than_its_entry_says(
    expected: Verdict, attempts: list[Verdict], status: GateStatus
) -> None:
    found = result("ai.onnx/Split/18/a", attempts[0])
    if len(attempts) > 1:
        told = tuple({"process": "same", "verdict": str(verdict)} for verdict in attempts)
        found = dataclasses.replace(found, verdict=V.FLAKY, attempts=told)
    text = entry(str(expected), case='"ai.onnx/Split/*"', flaky="true")
    assert gate(text, found).statuses == {status: 1}


def test_a_verdict_flaky_is_said_by_what_it_comes_out_with() -> None:
    with pytest.raises(ExpectationsError, match="expected the worst of its verdicts, and fla"):
        gate(entry("flaky"))


@pytest.mark.parametrize("expected", EXPECTED, ids=str)
def test_what_is_not_scored_is_met_and_what_is_not_measured_is_broken(expected: Verdict | None) -> None:
    assert status_of_verdict(expected, V.UNSPECIFIED) is GateStatus.MET
    assert status_of_verdict(expected, V.ADAPTER_ERROR) is GateStatus.BROKEN


@pytest.mark.parametrize(("less", "more"), WORSE, ids=str)
def test_the_order_of_what_a_user_minds(less: Verdict, more: Verdict) -> None:
    assert BADNESS[less] < BADNESS[more]


def test_a_crash_that_became_a_wrong_value_is_told_from_a_regression() -> None:
    text = entry("crash", case='"ai.onnx/Split/18/a"') + entry("wrong_value", case='"ai.onnx/Split/18/b"')
    found = gate(text, result("ai.onnx/Split/18/a", V.WRONG_VALUE), result("ai.onnx/Split/18/b", V.CRASH))
    assert not found.finish(complete=True)
    told = list(gate_report.lines(found))
    assert told == [
        "regressed: 1 cases: worse than expected",
        "  ai.onnx/Split/18/b: expected wrong_value, got crash",
        "improved: 1 cases: still a failure, but a better one",
        "  ai.onnx/Split/18/a: expected crash, got wrong_value",
        "the gate is closed: of 2 cases 0 met, 1 regressed, 1 improved",
    ]


# What else closes it


def test_an_entry_that_matches_nothing_is_told() -> None:
    text = entry(case='"ai.onnx/Split/18/a"') + entry(case='"ai.onnx/Split/18/gone*"')
    found = gate(text, result("ai.onnx/Split/18/a", V.CRASH), result("ai.onnx/Split/18/b"))
    assert not found.finish(complete=True)
    assert found.problems == ["expectations.toml, line 6: matches no case that is scored and attempted; remove it"]


def test_an_entry_for_cases_that_are_no_longer_scored_matches_nothing() -> None:
    found = gate(entry(case='"ai.onnx/Split/18/a"'), result("ai.onnx/Split/18/a", V.UNSPECIFIED))
    assert not found.finish(complete=True)
    assert "matches no case that is scored" in found.problems[0]


def test_an_entry_that_another_one_overrides_everywhere_is_not_stale() -> None:
    text = entry("crash", case='"ai.onnx/Split/*"') + entry("refused", case='"ai.onnx/Split/18/a"')
    found = gate(text, result("ai.onnx/Split/18/a", V.REFUSED))
    assert found.finish(complete=True), found.problems


@pytest.mark.parametrize(("today", "opens"), [(dt.date(2026, 12, 31), True), (dt.date(2027, 1, 1), False)], ids=str)
def test_an_entry_holds_up_to_its_last_day(today: dt.date, *, opens: bool) -> None:
    text = entry(case='"ai.onnx/Split/18/a"', expires="2026-12-31")
    found = gate(text, result("ai.onnx/Split/18/a", V.CRASH), today=today)
    assert found.finish(complete=True) is opens
    assert found.problems == ([] if opens else ["expectations.toml, line 2: expired on 2026-12-31: why"])


def test_a_run_that_was_cut_off_closes_it() -> None:
    found = gate("", result("ai.onnx/Split/18/a"))
    assert not found.finish(complete=False)
    assert found.problems == ["the run was cut off after 1 cases of mine; go on with --resume"]


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ("minimum = 4", "3 cases, where expectations.toml requires at least 4: something has shrunk"),
        ("attempted = 2", "1 attempted cases, where expectations.toml requires at least 2: something has shrunk"),
        ("minimum = 3\nattempted = 1", ""),
    ],
)
def test_what_has_shrunk_closes_it(setting: str, problem: str) -> None:
    verdicts = (V.PASS, V.UNSUPPORTED, V.UNSPECIFIED)
    found = gate(setting, *(result(f"ai.onnx/Split/18/{i}", verdict) for i, verdict in enumerate(verdicts)))
    assert found.finish(complete=True) is not bool(problem)
    assert found.problems == ([problem] if problem else [])


SHRUNK = """
[attempted]
"ai.onnx/Abs/13" = 2
"ai.onnx/Split/18" = 3
"ai.onnx/Gone/1" = 4
"""


def test_an_operator_that_is_attempted_less_closes_it_and_is_named() -> None:
    abs_ = [result("ai.onnx/Abs/13/a"), result("ai.onnx/Abs/13/b", V.CRASH)]
    split = [result("ai.onnx/Split/18/a"), *(result(f"ai.onnx/Split/18/{i}", V.UNSUPPORTED) for i in range(5))]
    others = [result(f"ai.onnx/Add/14/{i}") for i in range(9)]
    found = gate(entry(case='"ai.onnx/Abs/13/b"') + SHRUNK, *abs_, *split, *others)
    assert not found.finish(complete=True)
    assert found.problems == [
        "ai.onnx/Gone/1: no cases attempted, where expectations.toml requires at least 4: the run has no others",
        "ai.onnx/Split/18: 1 cases attempted, where expectations.toml requires at least 3: the runtime opts out of 5",
    ]
    assert not found.deviations


def test_an_operator_that_is_attempted_as_much_or_more_does_not() -> None:
    text = '[attempted]\n"ai.onnx/Split/18" = 1\n"ai.onnx/Add/14" = 1\n'
    results = [result("ai.onnx/Split/18/a"), result("ai.onnx/Split/18/b", V.UNSUPPORTED)]
    found = gate(text, *results, *(result(f"ai.onnx/Add/14/{i}") for i in range(2)))
    assert found.finish(complete=True), found.problems


def test_of_many_operators_the_worst_are_named_and_the_rest_is_counted() -> None:
    text = "[attempted]\n" + "".join(f'"ai.onnx/Op{i}/1" = {i}\n' for i in range(1, 31))
    found = gate(text, result("ai.onnx/Other/1/a"))
    assert not found.finish(complete=True)
    assert len(found.problems) == 20
    assert found.problems[0].startswith("ai.onnx/Op30/1: no cases attempted, ")
    lost = sum(range(1, 12))
    assert found.problems[-1] == f"and 11 more operator versions, with {lost} fewer attempted cases"


def test_a_runtime_that_opts_out_of_everything_closes_it() -> None:
    opted_out = [result(f"ai.onnx/Split/18/{i}", V.UNSUPPORTED) for i in range(3)]
    found = gate("minimum = 3", *opted_out, result("ai.onnx/Split/18/open", V.UNSPECIFIED))
    assert not found.finish(complete=True)
    (problem,) = found.problems
    assert problem == (
        "mine opts out of every case: nothing is compared with expectations.toml; an entry with verdict = "
        '"unsupported" would say that this is expected'
    )
    assert gate("minimum = 3", *opted_out, result("ai.onnx/Abs/13/a")).finish(complete=True)
    expected = entry("unsupported", case='"ai.onnx/Split/*"')
    assert gate(expected, *opted_out).finish(complete=True)
    some = entry("unsupported", case='"ai.onnx/Split/18/1"')
    assert not gate(some, *opted_out).finish(complete=True)


def test_a_glob_of_a_list_that_matches_nothing_is_told() -> None:
    text = entry(case='["ai.onnx/Split/18/a", "ai.onnx/Split/18/b*", "ai.onnx/Split/18/c", "ai.onnx/Abs/*"]')
    found = gate(text, result("ai.onnx/Split/18/a", V.CRASH), result("ai.onnx/Split/18/c", V.UNSUPPORTED))
    assert not found.finish(complete=True)
    (problem,) = found.problems
    assert problem == (
        "expectations.toml, line 2: 'ai.onnx/Abs/*' and 2 more of its globs match no case that is scored and "
        "attempted; remove it"
    )
    whole = gate(
        text, *(result(f"ai.onnx/{name}", V.CRASH) for name in ("Split/18/a", "Split/18/bc", "Split/18/c", "Abs/6/x"))
    )
    assert whole.finish(complete=True), whole.problems


def test_what_a_case_or_a_file_says_cannot_do_harm() -> None:
    text = entry(case='"a/*"', expires="2026-01-01", reason='"evil\\u001b[2J\\n::error::x\\u202e"')
    found = gate(text + '[attempted]\n"evil\\u001b[2J\\u009b" = 1\n', result("b/evil\x1b[2J\r\n::error::y", V.CRASH))
    assert not found.finish(complete=True)
    told = list(gate_report.lines(found))
    assert all(character.isprintable() for text in told for character in text), told
    assert not [text for text in told if text.startswith("::")], told


def test_an_empty_run_is_open_only_without_a_minimum() -> None:
    assert gate("").finish(complete=True)
    assert not gate("minimum = 1").finish(complete=True)


def test_other_backends_of_the_run_are_passed_over() -> None:
    found = gate("", result("ai.onnx/Split/18/a", V.CRASH, "other"), result("ai.onnx/Split/18/a"))
    assert found.finish(complete=True)
    assert found.statuses == {GateStatus.MET: 1}


def test_a_fault_of_the_adapter_is_no_expectation() -> None:
    found = gate(entry(case='"ai.onnx/Split/18/a"'), result("ai.onnx/Split/18/a", V.ADAPTER_ERROR))
    assert not found.finish(complete=True)
    assert found.statuses == {GateStatus.BROKEN: 1}


def test_the_end_can_be_looked_at_twice() -> None:
    found = gate("minimum = 2", result("ai.onnx/Split/18/a"))
    assert not found.finish(complete=False)
    assert not found.finish(complete=True)
    assert len(found.problems) == 1


# Which entry decides


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ({"case": '"ai.onnx/Split/18/a"'}, {"case": '"ai.onnx/Split/18/*"', "form": '"plain"', "tag": '"edge"'}),
        ({"case": '"ai.onnx/Split/*"', "form": '"plain"'}, {"case": '"ai.onnx/Split/18/*"'}),
        ({"case": '"ai.onnx/Split/18/*"'}, {"case": '"ai.onnx/Split/*"'}),
        ({"case": '"ai.onnx/Split/1[8]/*"'}, {"case": '"ai.onnx/Split/*"'}),
        ({"clause": '"equal"', "tag": '"e*"'}, {"case": '"ai.onnx/Split/*"'}),
        ({"case": '["ai.onnx/Abs/*", "ai.onnx/Split/18/a"]'}, {"case": '"ai.onnx/Split/18/*"'}),
        ({"case": '"ai.onnx/Split/18/*"'}, {"case": '["ai.onnx/Split/*", "ai.onnx/Add/14/a"]'}),
    ],
)  # fmt: skip
def test_the_narrower_entry_wins(narrow: dict[str, str], wide: dict[str, str]) -> None:
    item = result("ai.onnx/Split/18/a", V.REFUSED, tags=("edge",), clauses=("split to equal parts",))
    for text in (
        entry("refused", **narrow) + entry("crash", **wide),
        entry("crash", **wide) + entry("refused", **narrow),
    ):
        found = gate(text, item)
        assert found.statuses == {GateStatus.MET: 1}, found.deviations


def test_two_entries_as_narrow_that_disagree_are_an_error() -> None:
    text = entry("crash", case='"ai.onnx/Split/*"') + entry("refused", case='"ai.onnx/Spl*/18"', form='"plain"')
    gate(text, result("ai.onnx/Split/18/a", V.CRASH))
    with pytest.raises(ExpectationsError, match=r"lines 2 and 6 both match ai\.onnx/Split/18/a, .* crash and refused"):
        gate(entry("crash", case='"*/18/?"') + entry("refused", case='"*/?8/a"'), result("ai.onnx/Split/18/a"))


@pytest.mark.parametrize(
    ("selector", "matching", "others"),
    [
        ('versions = ">=11,<18"', ["ai.onnx/Split/11/a", "ai.onnx/Split/13/a"], ["ai.onnx/Split/18/a", "official/x"]),
        ("versions = 13", ["ai.onnx/Split/13/a"], ["ai.onnx/Split/11/a"]),
        ('type = "float*"', ["ai.onnx/Split/13/a/float16", "ai.onnx/Split/1/a/float"], ["ai.onnx/Split/13/float"]),
        ('type = "seq-*"', ["ai.onnx/Identity/16/a/seq-float"], ["ai.onnx/Identity/16/a/float"]),
        ('form = "initializer-split"', ["ai.onnx/Split/13/a@initializer-split"], ["ai.onnx/Split/13/a@initializer"]),
        ('form = "plain"', ["ai.onnx/Split/13/a"], ["ai.onnx/Split/13/a@top"]),
    ],
)  # fmt: skip
def test_selectors(selector: str, matching: list[str], others: list[str]) -> None:
    parsed = expectations.parse(f'backend = "mine"\n[[expect]]\nverdict = "crash"\nreason = "x"\n{selector}\n', PATH)
    (only,) = parsed.entries
    assert [case for case in matching + others if only.matches(result(case))] == matching


@pytest.mark.parametrize(
    ("when", "holds"),
    [
        ('{ backend = ">=1.20,<1.21" }', True), ('{ backend = "<1.20" }', False), ('{ platform = "Linux" }', True),
        ('{ platform = "Darwin" }', False), ('{ python = ">=3.11" }', True), ('{ python = ">=3.12" }', False),
        ('{ python = ">=3.11", backend = ">2" }', False),
    ],
)  # fmt: skip
def test_conditions(when: str, *, holds: bool) -> None:
    text = entry(case='"ai.onnx/Split/18/a"', when=when)
    assert gate(text, result("ai.onnx/Split/18/a", V.CRASH)).finish(complete=True) is holds
    # An entry for other circumstances is no stale one.
    assert gate(text, result("ai.onnx/Split/18/b")).finish(complete=True) is not holds


def test_a_version_that_is_none_meets_no_condition() -> None:
    text = entry(case='"ai.onnx/Split/18/a"', when='{ backend = ">=1" }')
    backends = {"mine": {"version": "built yesterday"}}
    assert not gate(text, result("ai.onnx/Split/18/a", V.CRASH), backends=backends).finish(complete=True)


# What cannot be compared


@pytest.mark.parametrize(
    ("text", "head", "sentence"),
    [
        ("", {"backends": {"other": {}}}, "expectations.toml is for mine, the run is of other"),
        ('suite = "official"', {}, "was written for suite official, the run has generated"),
        ('digest = "d0"', {}, "was written for suite digest d0, the run has d1"),
        ('selection = "--op Split"', {}, "was written for selection --op Split, the run has everything"),
        ("", {"arguments": {"selection": "--shard 1/2"}}, "for selection everything, the run has --shard 1/2"),
    ],
)
def test_a_run_of_something_else_is_refused(text: str, head: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ExpectationsError) as caught:
        gate(text, **head)
    assert sentence in str(caught.value)
