# SPDX-License-Identifier: Apache-2.0
"""The last screen of a run: what came of each backend, and what to type next."""

from __future__ import annotations

import shlex

import pytest

from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.report import run_end, terminal
from onnx_conformance.results.scope import Scope
from onnx_conformance.results.summary import Summary
from runs import result


def summed(*results: Result) -> Summary:
    summary = Summary()
    for item in results:
        summary.add(item)
    return summary


def screen(summary: Summary, **samples: int) -> str:
    return "\n".join(run_end.lines(summary, {"mine": "1.2.3"}, Scope("generated", samples=samples)))


def several(verdict: Verdict, count: int, operator: str = "ai.onnx/Split/18", **more: str) -> list[Result]:
    return [result(f"{verdict}{i}", verdict, operator=operator, **more) for i in range(count)]


MIXED = summed(
    *several(Verdict.PASS, 1200),
    *several(Verdict.WRONG_VALUE, 3, "ai.onnx/Mod/13"),
    *several(Verdict.REFUSED, 5),
    *several(Verdict.CRASH, 2, "ai.onnx/Mod/13", signal="SIGFPE"),
    *several(Verdict.CRASH, 1, "ai.onnx/Add/14", signal="SIGSEGV"),
    *several(Verdict.ACCEPTED_INVALID, 50, "ai.onnx/Abs/13"),
    *several(Verdict.UNSUPPORTED, 7),
    *several(Verdict.UNSPECIFIED, 4),
)


GRAVEST = "ai.onnx/Mod/13/wrong_value0"


def test_each_kind_of_verdict_has_a_line_with_its_count() -> None:
    assert screen(MIXED).splitlines() == [
        "mine 1.2.3, all 1,272 cases of the suite generated",
        "  passed       1,200  95.1 % of the 1,261 attempted, 94.6 % of the 1,268 specified",
        "  failed           8  refused 5, wrong_value 3",
        "  crashed          3  SIGFPE 2, SIGSEGV 1",
        "  accepted        50  invalid models, which ONNX does not require to be rejected",
        "  unsupported      7  the runtime said so",
        "  unspecified      4  the specification does not decide; not scored",
        "  most failures:  Mod 5, Split 5, Add 1",
    ]


@pytest.mark.slow
def test_lenient_answers_are_counted_by_the_force_of_what_forbids_the_model() -> None:
    accepted = [
        *several(Verdict.ACCEPTED_INVALID, 3, force="must"),
        *several(Verdict.LENIENT, 1, force="should"),
        *several(Verdict.LENIENT, 40, force="signature"),
    ]
    assert screen(summed(*accepted)).splitlines()[1:4] == [
        "  passed     0  0 of the 3 attempted, 0 of the 3 specified",
        "  accepted   3  invalid models, which ONNX does not require to be rejected",
        "  lenient   41  accepted models that violate no `must` (should 1, signature 40); not scored",
    ]


def test_verdicts_that_did_not_occur_have_no_line() -> None:
    assert screen(summed(*several(Verdict.PASS, 2)), mine=40).splitlines() == [
        "mine 1.2.3, 1 case in 40: 2 cases of the suite generated",
        "  passed  2  2 of the 2 attempted, 2 of the 2 specified",
    ]


def test_at_most_five_operators_are_named() -> None:
    every = [item for number in range(9) for item in several(Verdict.REFUSED, number + 1, f"ai.onnx/Op{number}/1")]
    assert "most failures:  Op8 9, Op7 8, Op6 7, Op5 6, Op4 5\n" in screen(summed(*every))


def test_the_next_command_is_of_the_gravest_fault() -> None:
    text = "\n".join(run_end.next_commands(MIXED, "today.ndjson", [], 120))
    assert f"onnx-conformance repro {GRAVEST} --backend mine" in text
    assert "onnx-conformance report today.ndjson --format html" in text
    assert "--results FILE" not in text
    assert text.count("onnx-conformance") == 2


def test_without_results_the_next_command_keeps_them() -> None:
    text = "\n".join(run_end.next_commands(MIXED, "", [], 120))
    assert "onnx-conformance run ... --results FILE" in text
    assert text.count("onnx-conformance") == 2


def test_without_failures_there_is_no_next_command() -> None:
    assert list(run_end.next_commands(summed(*several(Verdict.PASS, 2)), "today.ndjson", [], 120)) == []


def test_an_adapter_error_suggests_no_next_command() -> None:
    both = summed(result("broken", Verdict.ADAPTER_ERROR), result("wrong", Verdict.WRONG_VALUE))
    assert "repro ai.onnx/Split/18/wrong" in "\n".join(run_end.next_commands(both, "", [], 120))


def test_a_command_is_quoted_for_a_shell_and_a_narrow_terminal_has_the_meaning_on_its_own_line() -> None:
    backend = "cmd:./my runner --stdio"
    only = summed(result("wrong", Verdict.WRONG_VALUE, backend=backend))
    text = "\n".join(run_end.next_commands(only, "r.ndjson", [], 80))
    command = next(line for line in text.splitlines() if " repro " in line)
    assert shlex.split(command)[-1] == backend
    assert "\n      write a script" in text


def test_one_sentence_that_is_broken_in_two_ways_is_one_fault() -> None:
    clauses = ("the last chunk will be smaller.",)
    summary = summed(
        result("a", Verdict.WRONG_SHAPE, clauses=clauses),
        result("b", Verdict.WRONG_SHAPE, clauses=clauses),
        result("c", Verdict.CRASH, clauses=clauses, signal="SIGSEGV", message="the process ended by SIGSEGV"),
        result("d", Verdict.REFUSED, clauses=clauses, error="E", message="no"),
    )
    crash, refused = summary.faults()
    assert (crash.count, dict(crash.verdicts), crash.example.case) == (
        3, {Verdict.CRASH: 1, Verdict.WRONG_SHAPE: 2}, "ai.onnx/Split/18/c",
    )  # fmt: skip
    assert (refused.count, refused.example.verdict) == (1, Verdict.REFUSED), "an error is a fault by what it says"


def test_a_case_of_a_folder_is_named_with_its_folder() -> None:
    text = "\n".join(run_end.next_commands(MIXED, "", [], 120, "my suites/one"))
    assert f"onnx-conformance repro {GRAVEST} --suite 'my suites/one' --backend mine" in text


def test_lines_fit_into_80_columns() -> None:
    many = [item for number in range(9) for item in several(Verdict.REFUSED, number + 1, f"ai.onnx/LongName{number}/1")]
    accepted = several(Verdict.ACCEPTED_INVALID, 3, "ai.onnx/Abs/13")
    text = "\n".join(run_end.lines(summed(*many, *accepted), {"mine": "1.2.3"}, Scope("generated"), 80))
    assert max(map(len, text.splitlines())) <= 80, text


def test_the_overview_begins_with_the_most_severe_faults() -> None:
    lines = list(terminal.overview(MIXED, 30))
    assert lines[0] == "mine: 5 faults"
    assert [line.split()[0] for line in lines[1:-1]] == ["wrong_value", "crash", "crash", "refused", "accepted_invalid"]
    few = list(terminal.overview(MIXED, 5))
    assert few[0] == "mine: 3 of 5 faults; --groups 0 shows all"
    assert [line.split()[0] for line in few[1:-1]] == ["wrong_value", "crash", "crash"]


def versions(summary: Summary, width: int = 120) -> str:
    return "\n".join(terminal.versions(summary, width, "the new ones"))


NEW = summed(
    *several(Verdict.PASS, 4, "ai.onnx/Cast/28"),
    *several(Verdict.PASS, 2, "ai.onnx/Celu/28"),
    *several(Verdict.WRONG_VALUE, 1, "ai.onnx/Celu/28"),
    *several(Verdict.UNSUPPORTED, 3, "ai.onnx/Mod/28"),
    *several(Verdict.PASS, 2, "ai.onnx/Range/27"),
    *several(Verdict.UNSUPPORTED, 5, "ai.onnx/Range/27"),
    *several(Verdict.UNSPECIFIED, 1, "ai.onnx/Tan/28"),
    *several(Verdict.PASS, 1, "ai.onnx/Cast/28", backend="other"),
)


def test_each_new_operator_version_has_a_row_with_a_cell_for_each_backend() -> None:
    rows = [line.split("  ") for line in versions(NEW).splitlines()]
    cells = {
        row[0]: [cell.strip() for cell in row[1:] if cell.strip()] for row in rows if row[0].startswith("ai.onnx/")
    }
    assert cells == {
        "ai.onnx/Cast/28": ["4/4", "1/1"],
        "ai.onnx/Celu/28": ["2/3", "no data"],
        "ai.onnx/Mod/28": ["not supported", "no data"],
        "ai.onnx/Range/27": ["2/2, 5 not supported", "no data"],
        "ai.onnx/Tan/28": ["no data", "no data"],
    }


def test_a_sentence_lists_the_new_versions_that_a_backend_lacks_or_gets_wrong() -> None:
    text = versions(NEW)
    assert "mine does not support 1 of 5 operator versions (Mod/28) and fails in 1 (Celu/28)" in text, text
    assert "other lacks none of 5 operator versions and fails in none" in text, text


def test_a_narrow_terminal_gets_a_table_for_some_backends_each() -> None:
    assert versions(NEW, 44).count("operator version  ") == 2
