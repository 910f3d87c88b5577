# SPDX-License-Identifier: Apache-2.0
"""The gate: the status of every verdict for every expected one, and what else closes it."""

from __future__ import annotations

import dataclasses
import datetime as dt
import itertools
from pathlib import Path
from typing import Any

import pytest

from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.gate import expectations
from onnx_conformance.gate.expectations import ExpectationsError
from onnx_conformance.gate.gate import BADNESS, Gate, GateStatus, status_of_verdict
from onnx_conformance.report import gate as gate_report
from refusals import refuses

PATH = Path("expectations.toml")
HEADER: dict[str, Any] = {
    "suite": {"name": "generated", "digest": "d1"},
    "backends": {"mine": {"runtime": "mine", "version": "1.20.1 (gpu)"}, "other": {}},
    "arguments": {"selection": ""},
    "machine": {"system": "Linux"},
    "python": "3.11.7",
}
V = Verdict
SCORED = [verdict for verdict in Verdict if verdict not in {V.LENIENT, V.KNOWS_LESS, V.UNSPECIFIED, V.ADAPTER_ERROR}]
EXPECTED = [None, *(verdict for verdict in SCORED if verdict is not V.FLAKY)]
"""An entry for flaky cases has their worst verdict and `flaky = true`."""


def result(case: str, verdict: Verdict = V.PASS, backend: str = "mine", **members: Any) -> Result:
    operator = "/".join(case.split("/")[:3])
    form = case.partition("@")[2] or "plain"
    return Result(case, operator, backend, verdict, "values", form, **members)


def entry(verdict: str = "crash", **keys: str) -> str:
    lines = [f"{key} = {value}" for key, value in {"reason": '"why"', **keys}.items()]
    return "\n".join(["[[expect]]", f'verdict = "{verdict}"', *lines, ""])


def gate_of(text: str, *results: Result, today: dt.date = dt.date(2026, 11, 22), **head: Any) -> Gate:
    gate = Gate(expectations.parse(f'backend = "mine"\n{text}', PATH), {**HEADER, **head}, today)
    for item in results:
        gate.add(item)
    return gate


# The truth table: one test for each cell

WORSE = [
    (V.UNSUPPORTED, V.ACCEPTED_INVALID), (V.ACCEPTED_INVALID, V.REFUSED), (V.REFUSED, V.WRONG_VALUE),
    (V.WRONG_VALUE, V.FLAKY), (V.WRONG_SHAPE, V.FLAKY), (V.FLAKY, V.TIMEOUT), (V.TIMEOUT, V.CRASH),
]  # fmt: skip
"""Each is followed by the next worse one."""
ALIKE = {V.WRONG_VALUE, V.WRONG_SHAPE, V.WRONG_TYPE, V.WRONG_COUNT, V.INVALID_MODEL}
LIKE_REFUSED = {V.REFUSED, V.DECLINED, V.FALLBACK}


def expected_status(expected: Verdict | None, actual: Verdict) -> GateStatus:
    """Return the cell of the table, computed in another way than by the gate."""
    if expected is None:
        return GateStatus.MET if actual in {V.PASS, V.UNSUPPORTED} else GateStatus.REGRESSED
    if actual is expected or (actual is V.UNSUPPORTED and expected is not V.PASS):
        return GateStatus.MET
    if actual is V.PASS:
        return GateStatus.FIXED
    if {expected, actual} <= ALIKE or {expected, actual} <= LIKE_REFUSED:
        return GateStatus.DIFFERENT
    order = ["pass", "unsupported", "accepted_invalid", "refused", "wrong_", "flaky", "timeout", "crash"]
    instead = {V.INVALID_MODEL: "wrong_", V.DECLINED: "refused", V.FALLBACK: "refused"}
    words = (instead.get(item, str(item)) for item in (expected, actual))
    before, now = (next(i for i, name in enumerate(order) if word.startswith(name)) for word in words)
    return GateStatus.REGRESSED if now > before else GateStatus.IMPROVED


@pytest.mark.parametrize(("expected", "actual"), list(itertools.product(EXPECTED, SCORED)), ids=str)
def test_how_a_verdict_stands(expected: Verdict | None, actual: Verdict) -> None:
    assert status_of_verdict(expected, actual) is expected_status(expected, actual)
    text = entry(str(expected), case='"ai.onnx/Split/*"') if expected else ""
    gate = gate_of(text, result("ai.onnx/Split/18/uneven", actual))
    assert gate.statuses == {expected_status(expected, actual): 1}
    idle = actual is V.UNSUPPORTED and expected is not V.UNSUPPORTED  # The one case there is was not attempted.
    assert gate.finish(complete=True) is (expected_status(expected, actual) is GateStatus.MET and not idle), (
        gate.problems
    )


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
    flaky = result("ai.onnx/Split/18/a", attempts[0])
    if len(attempts) > 1:
        attempted = tuple({"process": "same", "verdict": str(verdict)} for verdict in attempts)
        flaky = dataclasses.replace(flaky, verdict=V.FLAKY, attempts=attempted)
    text = entry(str(expected), case='"ai.onnx/Split/*"', flaky="true")
    assert gate_of(text, flaky).statuses == {status: 1}


def test_expecting_flaky_is_an_error_that_names_the_member_flaky() -> None:
    with refuses("expectations-invalid", kind=ExpectationsError):
        gate_of(entry("flaky"))


@pytest.mark.parametrize("expected", EXPECTED, ids=str)
def test_unscored_verdicts_are_met_and_unmeasured_ones_broken(expected: Verdict | None) -> None:
    assert status_of_verdict(expected, V.UNSPECIFIED) is GateStatus.MET
    assert status_of_verdict(expected, V.ADAPTER_ERROR) is GateStatus.BROKEN


@pytest.mark.parametrize(("less", "more"), WORSE, ids=str)
def test_statuses_are_ordered_by_badness(less: Verdict, more: Verdict) -> None:
    assert BADNESS[less] < BADNESS[more]


def test_a_crash_that_became_a_wrong_value_is_improved_and_no_regression() -> None:
    text = entry("crash", case='"ai.onnx/Split/18/a"') + entry("wrong_value", case='"ai.onnx/Split/18/b"')
    gate = gate_of(text, result("ai.onnx/Split/18/a", V.WRONG_VALUE), result("ai.onnx/Split/18/b", V.CRASH))
    assert not gate.finish(complete=True)
    lines = list(gate_report.lines(gate))
    assert lines == [
        "regressed: 1 cases: worse than expected",
        "  ai.onnx/Split/18/b: expected wrong_value, got crash",
        "improved: 1 cases: still a failure, but a less severe one",
        "  ai.onnx/Split/18/a: expected crash, got wrong_value",
        "the gate is closed: of 2 cases, 0 as expected, 1 regressed, 1 improved",
    ]


# What else closes it


def test_an_entry_that_matches_nothing_closes_the_gate() -> None:
    text = entry(case='"ai.onnx/Split/18/a"') + entry(case='"ai.onnx/Split/18/gone*"')
    gate = gate_of(text, result("ai.onnx/Split/18/a", V.CRASH), result("ai.onnx/Split/18/b"))
    assert not gate.finish(complete=True)
    assert gate.problems == ["expectations.toml, line 6: matches no scored, attempted case; remove it"]


def test_an_entry_for_cases_that_are_no_longer_scored_matches_nothing() -> None:
    gate = gate_of(entry(case='"ai.onnx/Split/18/a"'), result("ai.onnx/Split/18/a", V.UNSPECIFIED))
    assert not gate.finish(complete=True)
    assert "matches no scored, attempted case" in gate.problems[0]


def test_an_entry_that_another_one_overrides_everywhere_is_not_stale() -> None:
    text = entry("crash", case='"ai.onnx/Split/*"') + entry("refused", case='"ai.onnx/Split/18/a"')
    gate = gate_of(text, result("ai.onnx/Split/18/a", V.REFUSED))
    assert gate.finish(complete=True), gate.problems


@pytest.mark.parametrize(("today", "opens"), [(dt.date(2026, 12, 31), True), (dt.date(2027, 1, 1), False)], ids=str)
def test_an_entry_is_valid_up_to_its_last_day(today: dt.date, *, opens: bool) -> None:
    text = entry(case='"ai.onnx/Split/18/a"', expires="2026-12-31")
    gate = gate_of(text, result("ai.onnx/Split/18/a", V.CRASH), today=today)
    assert gate.finish(complete=True) is opens
    assert gate.problems == ([] if opens else ["expectations.toml, line 2: expired on 2026-12-31: why"])


def test_a_run_that_was_cut_off_closes_it() -> None:
    gate = gate_of("", result("ai.onnx/Split/18/a"))
    assert not gate.finish(complete=False)
    assert gate.problems == ["the run was cut off after 1 cases of mine; continue it with --resume"]


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ("minimum = 4", "3 cases, but expectations.toml requires at least 4"),
        ("attempted = 2", "1 attempted cases, but expectations.toml requires at least 2"),
        ("minimum = 3\nattempted = 1", ""),
    ],
)
def test_fewer_cases_close_it(setting: str, problem: str) -> None:
    verdicts = (V.PASS, V.UNSUPPORTED, V.UNSPECIFIED)
    gate = gate_of(setting, *(result(f"ai.onnx/Split/18/{i}", verdict) for i, verdict in enumerate(verdicts)))
    assert gate.finish(complete=True) is not bool(problem)
    assert gate.problems == ([problem] if problem else [])


def test_a_lenient_answer_is_met_unless_a_pass_is_demanded() -> None:
    lenient = result("ai.onnx/Split/18/a", V.LENIENT)
    assert gate_of("", lenient).finish(complete=True)
    for verdict in (V.ACCEPTED_INVALID, V.CRASH):
        assert gate_of(entry(str(verdict), case='"ai.onnx/Split/*"'), lenient).statuses == {GateStatus.MET: 1}
    gate = gate_of(entry("pass", case='"ai.onnx/Split/*"'), lenient)
    assert not gate.finish(complete=True)
    assert gate.statuses == {GateStatus.REGRESSED: 1}


def test_a_lenient_answer_was_attempted() -> None:
    text = '[attempted]\n"ai.onnx/Split/18" = 2\n'
    assert gate_of(text, result("ai.onnx/Split/18/a"), result("ai.onnx/Split/18/b", V.LENIENT)).finish(complete=True)


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
    gate = gate_of(entry(case='"ai.onnx/Abs/13/b"') + SHRUNK, *abs_, *split, *others)
    assert not gate.finish(complete=True)
    assert gate.problems == [
        "ai.onnx/Gone/1: no cases attempted, but expectations.toml requires at least 4; the run has no other cases",
        "ai.onnx/Split/18: 1 cases attempted, but expectations.toml requires at least 3; 5 are unsupported",
    ]
    assert not gate.deviations


def test_an_operator_that_is_attempted_as_much_or_more_does_not() -> None:
    text = '[attempted]\n"ai.onnx/Split/18" = 1\n"ai.onnx/Add/14" = 1\n'
    results = [result("ai.onnx/Split/18/a"), result("ai.onnx/Split/18/b", V.UNSUPPORTED)]
    gate = gate_of(text, *results, *(result(f"ai.onnx/Add/14/{i}") for i in range(2)))
    assert gate.finish(complete=True), gate.problems


def test_the_worst_of_many_operators_are_named_and_the_rest_is_counted() -> None:
    text = "[attempted]\n" + "".join(f'"ai.onnx/Op{i}/1" = {i}\n' for i in range(1, 31))
    gate = gate_of(text, result("ai.onnx/Other/1/a"))
    assert not gate.finish(complete=True)
    assert len(gate.problems) == 20
    assert gate.problems[0].startswith("ai.onnx/Op30/1: no cases attempted, ")
    lost = sum(range(1, 12))
    assert gate.problems[-1] == f"and 11 more operator versions, with {lost} fewer attempted cases"


def test_a_runtime_that_opts_out_of_everything_closes_it() -> None:
    opted_out = [result(f"ai.onnx/Split/18/{i}", V.UNSUPPORTED) for i in range(3)]
    gate = gate_of("minimum = 3", *opted_out, result("ai.onnx/Split/18/open", V.UNSPECIFIED))
    assert not gate.finish(complete=True)
    (problem,) = gate.problems
    assert problem.startswith("mine supports no case, so nothing is compared with expectations.toml;")
    assert 'add an entry with verdict = "unsupported"' in problem
    assert gate_of("minimum = 3", *opted_out, result("ai.onnx/Abs/13/a")).finish(complete=True)
    expected = entry("unsupported", case='"ai.onnx/Split/*"')
    assert gate_of(expected, *opted_out).finish(complete=True)
    some = entry("unsupported", case='"ai.onnx/Split/18/1"')
    assert not gate_of(some, *opted_out).finish(complete=True)


def test_a_glob_of_a_list_that_matches_nothing_closes_the_gate() -> None:
    text = entry(case='["ai.onnx/Split/18/a", "ai.onnx/Split/18/b*", "ai.onnx/Split/18/c", "ai.onnx/Abs/*"]')
    gate = gate_of(text, result("ai.onnx/Split/18/a", V.CRASH), result("ai.onnx/Split/18/c", V.UNSUPPORTED))
    assert not gate.finish(complete=True)
    (problem,) = gate.problems
    assert problem.startswith("expectations.toml, line 2: 'ai.onnx/Abs/*' and 2 more of its globs match no "), problem
    whole = gate_of(
        text, *(result(f"ai.onnx/{name}", V.CRASH) for name in ("Split/18/a", "Split/18/bc", "Split/18/c", "Abs/6/x"))
    )
    assert whole.finish(complete=True), whole.problems


def test_hostile_texts_of_cases_and_files_are_escaped() -> None:
    text = entry(case='"a/*"', expires="2026-01-01", reason='"evil\\u001b[2J\\n::error::x\\u202e"')
    gate = gate_of(text + '[attempted]\n"evil\\u001b[2J\\u009b" = 1\n', result("b/evil\x1b[2J\r\n::error::y", V.CRASH))
    assert not gate.finish(complete=True)
    lines = list(gate_report.lines(gate))
    assert all(character.isprintable() for text in lines for character in text), lines
    assert not [text for text in lines if text.startswith("::")], lines


def test_an_empty_run_is_open_only_without_a_minimum() -> None:
    assert gate_of("").finish(complete=True)
    assert not gate_of("minimum = 1").finish(complete=True)


def test_other_backends_of_the_run_are_passed_over() -> None:
    gate = gate_of("", result("ai.onnx/Split/18/a", V.CRASH, "other"), result("ai.onnx/Split/18/a"))
    assert gate.finish(complete=True)
    assert gate.statuses == {GateStatus.MET: 1}


def test_a_fault_of_the_adapter_is_no_expectation() -> None:
    gate = gate_of(entry(case='"ai.onnx/Split/18/a"'), result("ai.onnx/Split/18/a", V.ADAPTER_ERROR))
    assert not gate.finish(complete=True)
    assert gate.statuses == {GateStatus.BROKEN: 1}


def test_the_end_can_be_looked_at_twice() -> None:
    gate = gate_of("minimum = 2", result("ai.onnx/Split/18/a"))
    assert not gate.finish(complete=False)
    assert not gate.finish(complete=True)
    assert len(gate.problems) == 1


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
        gate = gate_of(text, item)
        assert gate.statuses == {GateStatus.MET: 1}, gate.deviations


def test_two_entries_as_narrow_that_disagree_are_an_error() -> None:
    text = entry("crash", case='"ai.onnx/Split/*"') + entry("refused", case='"ai.onnx/Spl*/18"', form='"plain"')
    gate_of(text, result("ai.onnx/Split/18/a", V.CRASH))
    with refuses("expectations-ambiguous", "lines 2 and 6", "crash and refused", kind=ExpectationsError):
        gate_of(entry("crash", case='"*/18/?"') + entry("refused", case='"*/?8/a"'), result("ai.onnx/Split/18/a"))


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
    assert gate_of(text, result("ai.onnx/Split/18/a", V.CRASH)).finish(complete=True) is holds
    # An entry for other circumstances is no stale one.
    assert gate_of(text, result("ai.onnx/Split/18/b")).finish(complete=True) is not holds


def test_a_version_that_is_none_meets_no_condition() -> None:
    text = entry(case='"ai.onnx/Split/18/a"', when='{ backend = ">=1" }')
    backends = {"mine": {"version": "built yesterday"}}
    assert not gate_of(text, result("ai.onnx/Split/18/a", V.CRASH), backends=backends).finish(complete=True)


# What cannot be compared


@pytest.mark.parametrize(
    ("text", "head", "sentence"),
    [
        ("", {"backends": {"other": {}}}, "expectations.toml is for mine, but the run is of other"),
        ('suite = "official"', {}, "was written for suite official, but the run has generated"),
        ('digest = "d0"', {}, "was written for suite digest d0, but the run has d1"),
        ('selection = "--op Split"', {}, "was written for selection --op Split, but the run has everything"),
        ("", {"arguments": {"selection": "--shard 1/2"}}, "for selection everything, but the run has --shard 1/2"),
    ],
)
def test_a_run_of_something_else_is_refused(text: str, head: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ExpectationsError) as caught:
        gate_of(text, **head)
    assert sentence in str(caught.value)
