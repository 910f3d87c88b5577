# SPDX-License-Identifier: Apache-2.0
"""What reports count and print."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from generated import few
from onnx_conformance.base.signature import signature
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.generation import plans
from onnx_conformance.report import case as case_report
from onnx_conformance.report import comparison, markdown, report_data, terminal
from onnx_conformance.results.summary import Summary, rate, rates
from onnx_conformance.specification import registry
from runs import CONTROL, HOSTILE, SPLIT, hostile, result, run_of

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_conformance.base.verdict import Result
    from onnx_conformance.results.stream import Run


def summed(*results: Result) -> Summary:
    summary = Summary()
    for item in results:
        summary.add(item)
    return summary


# Rates


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 0, "no data"),
        (0, 50, "0.0 %"),
        (5, 5, "5 of 5"),
        (9, 9, "9 of 9"),
        (10, 10, "100.0 %"),
        (9_999, 10_000, "99.9 %"),
        (999_999, 1_000_000, "99.9 %"),
        (20, 30, "66.6 %"),
        (1, 3000, "0.0 %"),
        (1, 1000, "0.1 %"),
    ],
)
def test_rates_are_floored_and_no_data_is_not_zero(part: int, whole: int, text: str) -> None:
    assert rate(part, whole) == text


def test_specified_and_attempted() -> None:
    counts = Counter(
        {
            Verdict.PASS: 5, Verdict.WRONG_VALUE: 1, Verdict.CRASH: 1, Verdict.ACCEPTED_INVALID: 1,
            Verdict.UNSUPPORTED: 10, Verdict.UNSPECIFIED: 100, Verdict.ADAPTER_ERROR: 2,
        }
    )  # fmt: skip
    rate = rates(counts)
    assert (rate.passed, rate.specified, rate.attempted) == (5, 20, 8)
    assert str(rate) == "25.0 % / 5 of 8"


def test_opting_out_of_everything_leaves_no_data() -> None:
    assert str(rates({Verdict.UNSUPPORTED: 30})) == "0.0 % / no data"
    assert str(rates({Verdict.UNSPECIFIED: 3})) == "no data / no data"
    assert str(rates({})) == "no data / no data"


# Summary


def test_counts_by_operator_version_and_backend() -> None:
    summary = summed(
        result(), result(), result(verdict=Verdict.CRASH), result(backend="other"), result(operator="ai.onnx/Split/2")
    )
    assert summary.counts == {
        (SPLIT, "mine"): {Verdict.PASS: 2, Verdict.CRASH: 1},
        (SPLIT, "other"): {Verdict.PASS: 1},
        ("ai.onnx/Split/2", "mine"): {Verdict.PASS: 1},
    }
    assert (summary.total[Verdict.PASS], summary.failed) == (4, 1)


@pytest.mark.parametrize("verdict", Verdict)
def test_failed_counts_scored_verdicts_other_than_pass(verdict: Verdict) -> None:
    grouped = {Verdict.PASS, Verdict.LENIENT, Verdict.KNOWS_LESS, Verdict.UNSUPPORTED, Verdict.UNSPECIFIED}
    apart = {*grouped, Verdict.ADAPTER_ERROR}
    assert summed(result(verdict=verdict)).failed == (verdict not in apart)
    assert len(summed(result(verdict=verdict)).groups) == (verdict not in grouped)


def test_failures_that_share_a_sentence_are_one_group() -> None:
    wrong = Verdict.WRONG_VALUE
    summary = summed(
        result("uneven/float16", wrong, clauses=("Last.",)),
        result("uneven/float16@top", wrong, clauses=("Last.",), form="top"),
        result("uneven", wrong, clauses=("Last.",), operator="ai.onnx/Split/13"),
        result("uneven", wrong, clauses=("Equal.",)),
        result("uneven", Verdict.WRONG_SHAPE, clauses=("Last.",)),
        result("uneven", wrong, clauses=("Last.",), backend="other"),
        result("uneven", wrong, clauses=("Last.",), operator="ai.onnx/Slice/13"),
    )
    assert [group.count for group in summary.groups.values()] == [3, 1, 1, 1, 1]
    first = next(iter(summary.groups.values()))
    assert first.example.case == "ai.onnx/Split/13/uneven"
    assert (first.versions, first.forms, first.types) == ({"13", "18"}, {"plain", "top"}, {"float16"})


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ("shape [1, 2] of tensor(float)", "shape [3, 4] of tensor(int64)", True),
        ("node 'Split_1' failed", "node 'Split_2' failed", True),
        ("no such attribute", "no such input", False),
    ],
)
def test_refusals_are_grouped_by_message_without_numbers_types_and_names(
    one: str,
    other: str,
    together: bool,  # noqa: FBT001 - a row of the table
) -> None:
    refused = [result(verdict=Verdict.REFUSED, error="Fail", message=text) for text in (one, other)]
    assert (signature(refused[0]) == signature(refused[1])) is together
    assert signature(refused[0]) != signature(dataclasses.replace(refused[0], error="TypeError"))


def test_crashes_are_grouped_by_signal_and_sentence() -> None:
    crash = result(verdict=Verdict.CRASH, message="the process ended by SIGFPE", clauses=("One.",))
    assert signature(crash) == signature(dataclasses.replace(crash, case="x", stderr="other"))
    assert signature(crash) != signature(dataclasses.replace(crash, message="the process ended by SIGSEGV"))
    assert signature(crash) != signature(dataclasses.replace(crash, clauses=("Two.",)))


def test_crashes_and_timeouts_come_first_then_larger_groups() -> None:
    summary = summed(
        result("a", Verdict.ACCEPTED_INVALID, clauses=("A.",)),
        result("b", Verdict.REFUSED, message="b"),
        result("c", Verdict.WRONG_VALUE, clauses=("C.",)),
        result("d", Verdict.WRONG_SHAPE, clauses=("D.",)),
        result("e", Verdict.WRONG_SHAPE, clauses=("D.",)),
        result("f", Verdict.TIMEOUT),
        result("g", Verdict.CRASH),
        result("h", Verdict.ADAPTER_ERROR),
        result("z", Verdict.ACCEPTED_INVALID, backend="a_backend"),
    )
    assert [group.example.case.rpartition("/")[2] for group in summary.ordered_groups()] == list("zhgfdcba")


def test_groups_are_bounded_and_the_rest_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onnx_conformance.results.summary.MOST_GROUPS", 3)
    wrong = [result(str(i), Verdict.WRONG_VALUE, clauses=(f"{i}",)) for i in range(10)]
    summary = summed(*wrong, wrong[0])
    assert (len(summary.groups), summary.left_out, summary.failed) == (3, 7, 11)
    blocks = list(terminal.groups(summary, {}, limit=0))
    assert blocks[-1].startswith("7 more failures "), blocks[-1]


# Terminal


def test_the_table() -> None:
    text = terminal.table(
        summed(
            *[result()] * 12, result(verdict=Verdict.WRONG_SHAPE), result(verdict=Verdict.UNSPECIFIED),
            result(operator="ai.onnx/Split/2", verdict=Verdict.UNSUPPORTED),
            result(operator="ai.onnx/Split/2", backend="other"),
        )
    )  # fmt: skip
    rows = [re.split(r" {2,}", line.strip()) for line in text.splitlines()]
    dashes = next(index for index, row in enumerate(rows) if set("".join(row)) == {"-"})
    assert rows[dashes + 1 : dashes + 6] == [
        ["ai.onnx/Split/2", "mine", "1", "0/1", "0/0 no data"],
        ["ai.onnx/Split/2", "other", "1", "1/1", "1/1"],
        [SPLIT, "mine", "12", "1", "1", "12/13 92.3 %", "12/13 92.3 %"],
        ["all", "mine", "12", "1", "1", "1", "12/14 85.7 %", "12/13 92.3 %"],
        ["all", "other", "1", "1/1", "1/1"],
    ]
    heads = " ".join(" ".join(row) for row in rows[:dashes])
    for head in ("operator version", "backend", "pass", "wrong", "shape", "unsupported", "unspecified", "attempted"):
        assert head in heads, heads
    assert "No case has the verdict wrong_value, wrong_type, wrong_count, invalid_model, refused, declined, " in text
    assert "crash" not in heads, heads


def test_versions_are_in_the_order_of_numbers() -> None:
    text = terminal.table(summed(*(result(operator=f"ai.onnx/Split/{v}") for v in (18, 2, 11, 1))))
    assert re.findall(r"Split/(\d+)", text) == ["1", "2", "11", "18"]


def test_a_block_has_sentence_and_three_answers_side_by_side() -> None:
    wrong = result(
        "uneven/float16@top", Verdict.WRONG_SHAPE, clauses=("The last chunk will be smaller.",), form="top",
        message="outputs[0]: expected shape [3], got shape [4]", expected="float[3] 0 1 2", actual="float[4] 0 1 2 3",
    )  # fmt: skip
    (block,) = terminal.groups(summed(wrong, wrong), {wrong.case: "float[3] 0 1 2 of the reference"}, limit=0)
    lines = block.splitlines()
    assert lines[0] == "mine: wrong_shape, ai.onnx/Split, 2 cases (versions 18; types float16; forms top)"
    assert lines[1] == "  for example ai.onnx/Split/18/uneven/float16@top"
    assert lines[2] == "  text     «The last chunk will be smaller.»"
    assert lines[3] == "  message  outputs[0]: expected shape [3], got shape [4]"
    heads = re.split(r" {2,}", lines[4].strip())
    assert heads == ["expected", "onnx.reference", "actual (mine)"]
    assert re.split(r" {2,}", lines[6].strip()) == [
        "float[3] 0 1 2", "float[3] 0 1 2 of the reference", "float[4] 0 1 2 3",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("failed", "expected", "got"),
    [
        (result(verdict=Verdict.CRASH, signal="SIGFPE", expected="float[1] 0"), "float[1] 0", "crash: SIGFPE"),
        (result(verdict=Verdict.REFUSED, error="Fail"), "the expected values", "refused: Fail"),
        (result(verdict=Verdict.ACCEPTED_INVALID, outcome="rejects", actual="float[1] 0"), "refused", "float[1] 0"),
        (result(verdict=Verdict.TIMEOUT), "the expected values", "timeout"),
    ],
    ids=lambda item: str(getattr(item, "verdict", "")),
)
def test_a_block_without_values_shows_the_verdict(failed: Result, expected: str, got: str) -> None:
    (block,) = terminal.groups(summed(failed), {}, limit=0)
    assert re.split(r" {2,}", block.splitlines()[-1].strip()) == [expected, "(not run)", got], block


def test_groups_beyond_the_limit_are_counted_by_backend() -> None:
    summary = summed(
        *(result(str(i), Verdict.WRONG_VALUE, clauses=(f"{i}",)) for i in range(5)),
        result(verdict=Verdict.WRONG_VALUE, backend="other"),
    )
    blocks = list(terminal.groups(summary, {}, limit=2))
    assert blocks[-1] == "mine: 3 more faults; --groups 0 shows them all"
    assert [block.partition(":")[0] for block in blocks] == ["mine", "mine", "other", "mine"]
    assert len(list(terminal.groups(summary, {}, limit=0))) == 6


def test_hostile_text_is_neutralised_on_a_terminal() -> None:
    summary = summed(hostile(HOSTILE))
    shown = [terminal.table(summary), *terminal.groups(summary, {hostile(HOSTILE).case: HOSTILE}, limit=0)]
    for text in shown:
        assert not CONTROL.findall(text), ascii(text)
        assert "evil" in text, text
        assert max(map(len, text.splitlines())) < 400, text


def test_an_endless_message_is_cut() -> None:
    endless = result(verdict=Verdict.REFUSED, message="word " * 100_000, expected="v" * 100_000)
    (block,) = terminal.groups(summed(endless), {endless.case: "r" * 100_000}, limit=0)
    assert len(block) < 4000, len(block)


# Markdown


def test_markdown(tmp_path: Path) -> None:
    results = [result(), result("uneven", Verdict.WRONG_SHAPE, clauses=("Last.",), message="a ``` fence")]
    run = run_of(tmp_path / "results", *results)
    text = "".join(markdown.report(report_data.read(run)))
    lines = text.splitlines()
    assert lines[0] == "# mine 1.0: suite generated"
    assert "suite digest `0123abcd`." in text
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    assert cells[0] == [
        "operator version", "backend", "pass", "wrong shape", "unsupported", "passed of specified",
        "passed of attempted",
    ]  # fmt: skip
    assert cells[2] == [SPLIT, "mine", "1", "1", "", "1/2", "1/2"]
    assert "\nmine, all 2 cases of the suite generated.\n" in text
    assert {len(row) for row in cells} == {7}
    assert text.count("```") == 2, "a message cannot end its block"
    assert "mine: wrong_shape, ai.onnx/Split, 1 case (versions 18)" in text
    assert "cut off" not in text


def test_markdown_of_a_run_without_failures(tmp_path: Path) -> None:
    run = run_of(tmp_path / "results", result())
    assert "".join(markdown.report(report_data.read(run))).endswith("## Failures, by sentence and message\n\nNone.\n")


def test_markdown_of_a_run_that_was_cut_off_says_so(tmp_path: Path) -> None:
    run = run_of(tmp_path / "results", result(), finish=False)
    assert "**This run was cut off; cases are missing.**" in "".join(markdown.report(report_data.read(run)))


def test_hostile_text_is_neutralised_in_markdown(tmp_path: Path) -> None:
    run = run_of(tmp_path / "results", hostile(HOSTILE))
    data = dataclasses.replace(report_data.read(run), references={hostile(HOSTILE).case: HOSTILE})
    text = "".join(markdown.report(data))
    assert not CONTROL.findall(text), ascii(text)
    assert len(re.findall("^ *```", text, re.MULTILINE)) == 2, text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1, rows


# Comparison


def test_a_comparison_of_two_runs(tmp_path: Path) -> None:
    before = run_of(
        tmp_path / "before", result("same"), result("fixed", Verdict.CRASH), result("broke"),
        result("changed", Verdict.REFUSED), result("went"), result("learned", Verdict.UNSUPPORTED),
    )  # fmt: skip
    after = run_of(
        tmp_path / "after", result("same"), result("fixed"), result("broke", Verdict.WRONG_VALUE),
        result("changed", Verdict.WRONG_VALUE), result("came"), result("learned"),
    )  # fmt: skip
    changes = comparison.compare_runs(before, after)
    short = {kind: [(row[0].rpartition("/")[2], *row[1:]) for row in rows] for kind, rows in changes.kinds.items()}
    assert short == {
        "broke": [("broke", "pass", "wrong_value")],
        "fixed": [("fixed", "crash", "pass"), ("learned", "unsupported", "pass")],
        "changed": [("changed", "refused", "wrong_value")],
        "came": [("came", "", "pass")],
        "went": [("went", "pass", "")],
    }
    assert changes.same == 1
    text = "\n".join(comparison.lines(before, after, changes))
    assert "cases: 1 broken, 2 fixed, 1 changed, 1 new, 1 missing, 1 with the same verdict" in text
    assert text.index("ai.onnx/Split/18/broke") < text.index("ai.onnx/Split/18/fixed") < text.index("/18/went"), text


def test_one_backend_each_is_compared_whatever_its_name(tmp_path: Path) -> None:
    before = run_of(tmp_path / "before", result(backend="mine"))
    after = run_of(tmp_path / "after", result(backend="mine==2", verdict=Verdict.CRASH), backends=("mine==2",))
    changes = comparison.compare_runs(before, after)
    assert changes.broke == [(f"{SPLIT}/even", "pass", "crash")]


def test_several_backends_are_compared_by_name(tmp_path: Path) -> None:
    names = ("mine", "other")
    before = run_of(tmp_path / "before", *(result(backend=name) for name in names), backends=names)
    after = run_of(
        tmp_path / "after", result(), result(backend="other", verdict=Verdict.CRASH), backends=names, finish=False
    )
    changes = comparison.compare_runs(before, after)
    assert (changes.broke, changes.same) == ([(f"{SPLIT}/even on other", "pass", "crash")], 1)
    first, second, *_ = comparison.lines(before, after, changes)
    assert "mine 1.0, other 1.0" in first
    assert second.endswith("(cut off)"), second
    assert "cut off" not in first


def test_a_long_comparison_is_cut_and_says_so(tmp_path: Path) -> None:
    before = run_of(tmp_path / "before", *(result(f"case{i}") for i in range(100)))
    after = run_of(tmp_path / "after")
    lines = list(comparison.lines(before, after, comparison.compare_runs(before, after)))
    text = "\n".join(lines)
    assert text.count("/case") == comparison.SHOWN
    assert f"... and {100 - comparison.SHOWN} more missing" in text


def test_a_comparison_names_the_settings_in_which_the_runs_differ(tmp_path: Path) -> None:
    def run(name: str, drift: int, threads: int | None) -> Run:
        return run_of(tmp_path / name, result("sum", ulps={"outputs[0]": [[0, drift]]}), threads=threads)

    one, four, default = run("one", 1, 1), run("four", 3, 4), run("default", 1, None)
    text = "\n".join(comparison.lines(one, four, comparison.compare_runs(one, four)))
    assert "the runs differ in threads: 1 before, 4 after" in text
    assert "cases that pass in both runs with other outputs: 1 (Split 1)" in text
    text = "\n".join(comparison.lines(default, four, comparison.compare_runs(default, four)))
    assert "the runs differ in threads: as the adapters choose before, 4 after" in text
    assert "differ in" not in "\n".join(comparison.lines(four, four, comparison.compare_runs(four, four)))


def test_drift_of_passing_cases_is_shown_in_ulp(tmp_path: Path) -> None:
    def passing(name: str, **ulps: list[list[int]]) -> Result:
        return result(name, ulps={f"outputs[{key[1:]}]": value for key, value in ulps.items()})

    before = run_of(
        tmp_path / "before", passing("still", o0=[[3, 2]]), passing("moved", o0=[[3, 2], [1, -1]], o1=[[0, 1]]),
        passing("better", o0=[[0, 9]]), passing("exact"), result("broke", ulps={"outputs[0]": [[0, 7]]}),
    )  # fmt: skip
    after = run_of(
        tmp_path / "after", passing("still", o0=[[3, 2]]), passing("moved", o0=[[3, -2]], o1=[[0, 1]]),
        passing("better"), passing("exact", o0=[[5, -1]]), result("broke", Verdict.WRONG_VALUE),
    )  # fmt: skip
    changes = comparison.compare_runs(before, after)
    short = [
        (drift.case.rpartition("/")[2], drift.where, drift.before, drift.after, drift.moved) for drift in changes.drifts
    ]
    assert short == [
        ("better", "outputs[0] element 0", 9, 0, 1),
        ("moved", "outputs[0] element 3", 2, -2, 2),
        ("exact", "outputs[0] element 5", 0, -1, 1),
    ]
    text = "\n".join(comparison.lines(before, after, changes))
    assert "cases that pass in both runs with other outputs: 3 (Split 3)" in text
    assert re.search(r"/moved +outputs\[0\] element 3 +\+2 +-2 +4 +2\n", text), text


def test_elements_beyond_the_limit_of_the_stream_do_not_count_as_drift(tmp_path: Path) -> None:
    full = [[index, 5] for index in range(comparison.MOST_OFFSETS)]
    before = run_of(tmp_path / "before", result(ulps={"outputs[0]": full}))
    after = run_of(tmp_path / "after", result(ulps={"outputs[0]": [[7, 6], *full[1:7], [900, 5]]}))
    (drift,) = comparison.compare_runs(before, after).drifts
    assert (drift.where, drift.before, drift.after, drift.moved) == ("outputs[0] element 7", 5, 6, 1)


def test_drift_is_not_shown_where_the_runs_expect_other_values(tmp_path: Path) -> None:
    before, after = (
        run_of(tmp_path / name, result(ulps={"outputs[0]": [[0, steps]]})) for name, steps in (("a", 1), ("b", 2))
    )
    assert comparison.compare_runs(before, after).drifts
    for key, member, words in (
        ("suite", {"name": "generated", "digest": "other"}, "the suites expect other values"),
        ("arguments", {"reference": "onnx_reference"}, "are outputs of onnx_reference"),
    ):
        former = after.header[key]
        after.header[key] = {**former, **member}
        changes = comparison.compare_runs(before, after)
        assert not changes.drifts
        assert words in list(comparison.lines(before, after, changes))[-1]
        after.header[key] = former


def test_hostile_text_is_neutralised_in_a_comparison(tmp_path: Path) -> None:
    before, after = run_of(tmp_path / "before"), run_of(tmp_path / "after", hostile(HOSTILE))
    text = "\n".join(comparison.lines(before, after, comparison.compare_runs(before, after)))
    assert "evil" in text
    assert not CONTROL.findall(text), ascii(text)


# One case


def test_a_case_is_shown_whole() -> None:
    by_id = {case.id: case for case in plans.cases(registry.load().named("Split"), (18,))}
    text = "\n".join(case_report.lines(by_id["ai.onnx/Split/18/uneven_two"]))
    for part in (
        "operator version ai.onnx/Split/18, form plain, tags change",
        "«If the tensor is not evenly splittable into `num_outputs`, the last chunk will be smaller.»",
        "outputs_0, outputs_1 = Split <num_outputs: int = 2> (input)",
        "input = float[5] 0 1 2 3 4",
        "outputs_0 = float[3] 0 1 2",
        "outputs_1 = float[2] 3 4",
        "tolerance exact: the operator only moves or selects data",
    ):
        assert part in text, f"{part!r} is not in\n{text}"
    rejects = "\n".join(case_report.lines(by_id["ai.onnx/Split/18/neither"]))
    words = " ".join(rejects.split())
    assert "it violates a `should` (accepting the model is lenient): «Either input 'split'" in words, rejects
    unspecified = "\n".join(case_report.lines(by_id["ai.onnx/Split/18/overrun"]))
    assert "unspecified: the specification does not decide: «If the tensor is not evenly" in unspecified, unspecified
    assert "not scored" in unspecified


@pytest.mark.slow
def test_every_generated_case_can_be_shown() -> None:
    some = [case for case in few() if case.form in {"plain", "initializer"}]
    assert {case.form for case in some} == {"plain", "initializer"}
    for case in some:
        assert f"  operator version {case.operator}" in "\n".join(case_report.lines(case)), case.id


@pytest.mark.parametrize("version", ["²", "9" * 5000, "1.0"])
def test_an_invalid_version_is_shown_unchanged(version: str) -> None:
    summary = Summary()
    for name in ("18", version):
        summary.add(result("a", Verdict.REFUSED, operator=f"ai.onnx/Split/{name}"))
    assert "ai.onnx/Split/18" in terminal.table(summary)
    assert "versions" not in "".join(terminal.groups(summary, {}, 0))


def test_versions_are_in_the_order_of_their_numbers() -> None:
    assert terminal.some({"13", "2", "1", "11"}) == "1, 2, 11, 13"
    assert terminal.some({"b", "a", "g", "f", "e", "d", "c"}) == "a, b, c, d, e, f and 1 more"
