# SPDX-License-Identifier: Apache-2.0
"""`expectations update`: the gate opens, what people wrote stays, and no failure slips in."""

from __future__ import annotations

import datetime as dt
import random
from typing import TYPE_CHECKING, Any

import pytest

from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.gate import expectations, update
from onnx_conformance.gate.expectations import ExpectationsError
from onnx_conformance.gate.gate import Gate
from onnx_conformance.results.stream import Run, Writer, header
from refusals import refuses

if TYPE_CHECKING:
    from pathlib import Path

V = Verdict
TODAY = dt.date(2026, 11, 22)
HEAD: dict[str, Any] = {
    **header({"name": "generated", "digest": "d"}, {"mine": {"version": "1.2"}}, {"selection": ""}),
    "python": "3.11.7",
    "machine": {"system": "Linux", "processor": "x86_64", "cores": 2},
}  # fmt: skip
SPLIT = "ai.onnx/Split/18"

FILE = f"""\
# Of our runtime.
backend = "mine"
minimum = 1   # it grows

# The chunks, see the plan.
[[expect]]
case = "{SPLIT}/uneven_*"   # all of them
verdict = "crash"
reason = "divides by zero"
link = "https://example.com/7"

[[expect]]
case = "{SPLIT}/late"
verdict = "timeout"
reason = "is slow"
"""
ATTEMPTED = """
# Number of supported cases. The gate is closed if there are fewer; `expectations update` updates the numbers.
[attempted]
"ai.onnx/Split/18" = {}
"""


def run(tmp_path: Path, verdicts: dict[str, Verdict], *, complete: bool = True) -> Run:
    path = tmp_path / "results.ndjson"
    path.unlink(missing_ok=True)
    writer = Writer(path)
    writer.open(HEAD)
    for name, verdict in verdicts.items():
        form = name.partition("@")[2] or "plain"
        id_ = name if name.startswith("ai.onnx/") else f"{SPLIT}/{name}"
        operator = "/".join(id_.split("/")[:3])
        # Failures of one letter have one cause.
        clauses = (f"sentence {name[0]}",)
        writer.add(Result(id_, operator, "mine", verdict, "values", form, clauses=clauses, message=name[0]))
    if complete:
        writer.finish(1.0)
    writer.close()
    return Run(path)


def renewed(
    tmp_path: Path, verdicts: dict[str, Verdict], *, text: str = FILE, reason: str = "", fewer: str = ""
) -> tuple[str, list[str]]:
    """Return the new text, whose gate is open, and the list of changes."""
    file = tmp_path / "e.toml"
    if text:
        file.write_text(text)
    measured = run(tmp_path, verdicts)
    new, changes = update.renew(file, measured, "mine", TODAY, new=reason, fewer=fewer)
    gate = Gate(expectations.parse(new, file), measured.header, TODAY)
    for result in measured.results():
        gate.add(result)
    assert gate.finish(complete=True), (new, gate.deviations, gate.problems)
    return new, changes


def test_valid_entries_stay_unchanged(tmp_path: Path) -> None:
    verdicts = {"uneven_one": V.CRASH, "uneven_two": V.CRASH, "late": V.TIMEOUT}
    new, changes = renewed(tmp_path, verdicts)
    assert new == FILE.replace("minimum = 1", "minimum = 3") + ATTEMPTED.format(3)
    assert changes == ["minimum: changed from 1 to 3", "attempted: 1 operator versions are new"]
    again, changes = renewed(tmp_path, verdicts, text=new)
    assert (again, changes) == (new, [])


def test_fixed_entries_are_removed_and_the_rest_stays(tmp_path: Path) -> None:
    new, changes = renewed(tmp_path, {"uneven_one": V.CRASH, "uneven_two": V.PASS, "late": V.PASS})
    assert "late" not in new
    assert new.startswith(
        '# Of our runtime.\nbackend = "mine"\nminimum = 3   # it grows\n\n# The chunks, see the plan.\n'
    )
    assert 'link = "https://example.com/7"' in new
    assert f'case = "{SPLIT}/uneven_one' in new
    assert changes == [
        "minimum: changed from 1 to 3",
        f"narrowed line 6 ({SPLIT}/uneven_* crash) to 1 cases",
        f"removed line 12 ({SPLIT}/late timeout): no case has this verdict any more",
        "attempted: 1 operator versions are new",
    ]


def test_a_better_failure_keeps_its_reason(tmp_path: Path) -> None:
    new, changes = renewed(tmp_path, {"uneven_one": V.CRASH, "uneven_two": V.WRONG_VALUE, "late": V.TIMEOUT})
    (_, first, second, _) = new.split("[[expect]]")
    assert 'verdict = "crash"' in first
    assert 'verdict = "wrong_value"\nreason = "divides by zero"\nlink = "https://example.com/7"' in second
    assert f"improved 1 cases of line 6 ({SPLIT}/uneven_* crash) to wrong_value" in changes


@pytest.mark.parametrize(
    ("verdicts", "first"),
    [
        ({"uneven_one": V.CRASH, "late": V.TIMEOUT, "new": V.REFUSED}, f"1 failures are new, the first is {SPLIT}/new"),
        ({"uneven_one": V.CRASH, "late": V.CRASH}, f"1 failures are new, the first is {SPLIT}/late: crash"),
    ],
)
def test_a_new_failure_needs_a_reason(verdicts: dict[str, Verdict], first: str, tmp_path: Path) -> None:
    with pytest.raises(ExpectationsError) as caught:
        renewed(tmp_path, verdicts)
    assert str(caught.value).startswith(first)
    assert "--accept-new --reason WHY" in str(caught.value)
    new, changes = renewed(tmp_path, verdicts, reason="the new kernel")
    assert 'reason = "the new kernel"' in new
    assert [line for line in changes if line.startswith("accepted 1 ")], changes


def test_another_failure_of_the_same_rank_is_new(tmp_path: Path) -> None:
    text = FILE.replace('"crash"', '"wrong_value"')
    with refuses("changes-refused", "failures are new", kind=ExpectationsError):
        renewed(tmp_path, {"uneven_one": V.WRONG_SHAPE, "late": V.TIMEOUT}, text=text)


def test_a_file_is_made_in_one_command(tmp_path: Path) -> None:
    verdicts = {"a": V.CRASH, "b": V.PASS, "c": V.UNSUPPORTED, "d@top": V.REFUSED, "e": V.UNSPECIFIED}
    new, changes = renewed(tmp_path, verdicts, text="", reason="today")
    assert new.startswith('backend = "mine"\nsuite = "generated"\nminimum = 5\n')
    assert new.count("[[expect]]") == 2
    assert new.endswith(ATTEMPTED.format(3))
    assert len(changes) == 4


def test_an_expired_entry_is_accepted_anew_or_not_at_all(tmp_path: Path) -> None:
    text = FILE.replace('reason = "is slow"', 'reason = "is slow"\nexpires = 2026-01-01')
    verdicts = {"uneven_one": V.CRASH, "late": V.TIMEOUT}
    with refuses("changes-refused", "ai.onnx/Split/18/late: timeout", kind=ExpectationsError):
        renewed(tmp_path, verdicts, text=text)
    new, _ = renewed(tmp_path, verdicts, text=text, reason="still slow")
    assert "expires" not in new
    assert 'reason = "still slow"' in new


def test_entries_for_other_circumstances_stay(tmp_path: Path) -> None:
    other = f'\n[[expect]]\ncase = "{SPLIT}/x"\nverdict = "crash"\nreason = "there"\nwhen = {{ platform = "Darwin" }}\n'
    new, _ = renewed(tmp_path, {"uneven_one": V.CRASH, "late": V.TIMEOUT, "x": V.PASS}, text=FILE + other)
    assert new.endswith(other + ATTEMPTED.format(3))


def test_an_entry_that_waits_for_support_stays_until_it_comes(tmp_path: Path) -> None:
    waits = f'\n[[expect]]\ncase = "{SPLIT}/soon"\nverdict = "unsupported"\nreason = "no kernel yet"\n'
    others = {"uneven_one": V.CRASH, "late": V.TIMEOUT}
    new, _ = renewed(tmp_path, {**others, "soon": V.UNSUPPORTED}, text=FILE + waits)
    assert new.endswith(waits + ATTEMPTED.format(2))
    new, _ = renewed(tmp_path, {**others, "soon": V.PASS}, text=FILE + waits)
    assert "soon" not in new


# What the runtime no longer attempts

BEFORE = {"uneven_one": V.CRASH, "late": V.TIMEOUT, "a": V.PASS, "b": V.PASS, "ai.onnx/Abs/13/x": V.PASS}
LESS = {**BEFORE, "a": V.UNSUPPORTED}


def test_fewer_attempted_cases_are_not_accepted_in_silence(tmp_path: Path) -> None:
    text, _ = renewed(tmp_path, BEFORE)
    assert text.endswith('[attempted]\n"ai.onnx/Abs/13" = 1\n"ai.onnx/Split/18" = 4\n')
    for verdicts in (LESS, dict.fromkeys(BEFORE, V.UNSUPPORTED)):
        for reason in ("", "new failures only"):
            with pytest.raises(ExpectationsError) as caught:
                renewed(tmp_path, verdicts, text=text, reason=reason)
            assert "there are fewer cases than" in str(caught.value)
            assert "--accept-fewer --reason WHY" in str(caught.value)
    assert (tmp_path / "e.toml").read_text() == text


def test_fewer_attempted_cases_are_accepted_for_a_reason_that_stays_in_the_file(tmp_path: Path) -> None:
    text, _ = renewed(tmp_path, BEFORE)
    less, changes = renewed(tmp_path, LESS, text=text, fewer="a new\nkernel")
    assert less == text.replace('Split/18" = 4', 'Split/18" = 3  # 4 until 2026-11-22: a new kernel')
    assert changes == ["attempted: ai.onnx/Split/18 changed from 4 to 3"]
    again, changes = renewed(tmp_path, LESS, text=less)
    assert (again, changes) == (less, [])
    more, changes = renewed(tmp_path, BEFORE, text=less)
    assert (more, changes) == (text, ["attempted: 1 operator versions have more cases than before"])


def test_an_operator_that_is_no_longer_attempted_stays_with_zero(tmp_path: Path) -> None:
    text, _ = renewed(tmp_path, BEFORE)
    without = {name: verdict for name, verdict in BEFORE.items() if "Abs" not in name}
    with refuses("changes-refused", "4 instead of 5", kind=ExpectationsError):
        renewed(tmp_path, without, text=text)
    less, _ = renewed(tmp_path, without, text=text, fewer="gone")
    assert '"ai.onnx/Abs/13" = 0  # 1 until 2026-11-22: gone\n' in less
    assert "minimum = 4   # 5 until 2026-11-22: gone; it grows\n" in less


def test_a_runtime_that_opts_out_of_everything_has_nothing_to_accept(tmp_path: Path) -> None:
    with refuses("gate-still-closed", "mine", kind=ExpectationsError):
        renewed(tmp_path, {"a": V.UNSUPPORTED}, text="", reason="today", fewer="today")


@pytest.mark.parametrize(
    "written", ["attempted = 3", "attempted = 0x2  # in all", 'attempted = {"ai.onnx/Split/18" = 2}']
)
def test_a_file_with_one_number_counts_by_operator_afterwards(written: str, tmp_path: Path) -> None:
    text = FILE.replace("minimum = 1 ", f"{written}\nminimum = 3 ")
    with refuses("changes-refused", "fewer cases", kind=ExpectationsError):
        renewed(tmp_path, {"a": V.PASS, "b": V.UNSUPPORTED, "c": V.UNSUPPORTED}, text=text)
    verdicts = {"uneven_one": V.CRASH, "late": V.TIMEOUT, "a": V.PASS}
    new, _ = renewed(tmp_path, verdicts, text=text)
    assert new == FILE.replace("minimum = 1 ", "minimum = 3 ") + ATTEMPTED.format(3)


def test_comments_in_the_table_stay(tmp_path: Path) -> None:
    table = """
[attempted]  # see the plan
# The old ones.
"ai.onnx/Abs/6" = 1
# The new one.
"ai.onnx/Split/18" = 2   # nearly all
"""
    verdicts = {**BEFORE, "ai.onnx/Abs/6/x": V.PASS}
    new, _ = renewed(tmp_path, verdicts, text=FILE.replace("\n# The chunks", table + "\n# The chunks"))
    expected = table.replace("= 2   #", "= 4   #").replace('/6" = 1\n', '/6" = 1\n"ai.onnx/Abs/13" = 1\n')
    assert expected in new
    assert new.index("[attempted]") < new.index("[[expect]]")


# One entry for one cause


def test_failures_of_one_cause_are_one_entry_whatever_their_version_type_and_form(tmp_path: Path) -> None:
    verdicts = {
        "a": V.WRONG_VALUE, "a@top": V.WRONG_VALUE, "also/float": V.WRONG_VALUE, "also/int8": V.PASS,
        "ai.onnx/Split/13/a_b": V.WRONG_VALUE, "b": V.WRONG_VALUE, "c": V.PASS, "ab": V.PASS,
        "ai.onnx/Abs/13/a": V.WRONG_VALUE,
    }  # fmt: skip
    new, changes = renewed(tmp_path, verdicts, text="", reason="today")
    entries = expectations.parse(new, tmp_path / "e.toml").entries
    assert {entry.case for entry in entries} == {
        ("ai.onnx/Abs/13/a",),
        ("ai.onnx/Split/13/a_b", "ai.onnx/Split/18/a", "ai.onnx/Split/18/a@top", "ai.onnx/Split/18/also/float"),
        ("ai.onnx/Split/18/b",),
    }
    assert '# «sentence a»\n[[expect]]\ncase = [\n    "ai.onnx/Split/13/a_b",\n' in new
    assert len([line for line in changes if line.startswith("accepted ")]) == 3
    assert not [line for line in new.splitlines() if "**" in line]


def test_a_list_loses_fixed_cases_and_keeps_the_others(tmp_path: Path) -> None:
    globs = [f"{SPLIT}/a_*", f"{SPLIT}/b", f"{SPLIT}/c_*", f"{SPLIT}/gone"]
    lines = "".join(f'    "{glob}",\n' for glob in globs)
    head = 'backend = "mine"\n\n# Why.\n[[expect]]\ncase = [ # all\n'
    text = f'{head}{lines}]\nform = "plain"\nverdict = "crash"\nreason = "r"\n'
    verdicts = {
        "a_1": V.CRASH, "a_2": V.CRASH, "b": V.PASS, "c_x_1": V.CRASH, "c_x_2": V.CRASH, "c_y": V.PASS,
        "a_1@top": V.PASS, "c_x_1@top": V.PASS, "gone": V.UNSUPPORTED,
    }  # fmt: skip
    new, changes = renewed(tmp_path, verdicts, text=text)
    (entry,) = expectations.parse(new, tmp_path / "e.toml").entries
    assert entry.case == (f"{SPLIT}/a_*", f"{SPLIT}/c_x_*")
    assert entry.form == "plain"
    assert "# Why.\n[[expect]]\ncase = [\n" in new
    assert f"narrowed line 4 ({SPLIT}/a_* and 3 more globs crash) to 4 cases" in changes
    text = text.replace(f'    "{SPLIT}/b",\n', "").replace("c_*", "c_x_*")
    new, changes = renewed(tmp_path, verdicts, text=text)
    assert expectations.parse(new, tmp_path / "e.toml").entries[0].case == (f"{SPLIT}/a_*", f"{SPLIT}/c_x_*")
    assert [line for line in changes if line.startswith("narrowed")] == [
        f"narrowed line 4 ({SPLIT}/a_* and 2 more globs crash): removed globs without matches: {SPLIT}/gone"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_an_entry_matches_exactly_its_failures(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    names = [
        f"ai.onnx/{operator}/{version}/{name}{type_}{form}"
        for operator in ("Split", "Abs")
        for version in (2, 13, 18)
        for name in ("even", "even_one", "uneven", "types")
        for type_ in (("/float", "/float8e5m2", "/float8e4m3fn") if name == "types" else ("",))
        for form in ("", "@top", "@initializer-split")
    ]
    some = [V.PASS] * chance.randrange(1, 20) + [V.CRASH, V.WRONG_VALUE, V.REFUSED, V.UNSUPPORTED]
    first = {name: chance.choice(some) for name in names}
    text, _ = renewed(tmp_path, first, text="", reason="today")
    exactly(tmp_path, text, first)
    fixed = {name: chance.choice([verdict, verdict, V.PASS]) for name, verdict in first.items()}
    narrowed, changes = renewed(tmp_path, fixed, text=text)
    assert [line for line in changes if line.startswith("narrowed")]
    assert not [line for line in changes if line.startswith("accepted")]
    exactly(tmp_path, narrowed, fixed)


def exactly(tmp_path: Path, text: str, verdicts: dict[str, Verdict]) -> None:
    entries = expectations.parse(text, tmp_path / "e.toml").entries
    for result in run(tmp_path, verdicts).results():
        if result.verdict.scored:
            matching = [entry.verdict for entry in entries if entry.matches(result)]
            assert matching == ([result.verdict] if result.verdict.failed else []), (result.case, text)


def test_hostile_ids_and_reasons_survive_toml(tmp_path: Path) -> None:
    verdicts = {"😀 \x1b[2J\x7f\u202e\n[[expect]]": V.CRASH, '" # [attempted]': V.REFUSED, "\U000e0001": V.WRONG_VALUE}
    new, _ = renewed(tmp_path, verdicts, text="", reason='"why"\n\x1b[2J\U0001f600')
    assert all(character.isprintable() or character == "\n" for character in new)
    entries = expectations.parse(new, tmp_path / "e.toml").entries
    assert {entry.reason for entry in entries} == {'"why"\n\x1b[2J\U0001f600'}
    assert len(entries) == 3


def test_headers_and_keys_inside_a_text_are_left_alone(tmp_path: Path) -> None:
    reason = 'reason = """is\n[[expect]]\ncase = "x"\n[attempted]\nminimum = 7\n"""\n'
    text = FILE.replace('reason = "divides by zero"\n', reason)
    new, _ = renewed(tmp_path, {"uneven_one": V.CRASH, "uneven_two": V.PASS, "late": V.TIMEOUT}, text=text)
    assert reason in new
    assert [entry.case for entry in expectations.parse(new, tmp_path / "e.toml").entries] == [
        (f"{SPLIT}/uneven_one",), (f"{SPLIT}/late",),
    ]  # fmt: skip


def test_a_run_that_was_cut_off_renews_nothing(tmp_path: Path) -> None:
    file = tmp_path / "e.toml"
    file.write_text(FILE)
    with refuses("gate-of-cut-off-run", kind=ExpectationsError):
        update.renew(file, run(tmp_path, {"late": V.PASS}, complete=False), "mine", TODAY)


def test_a_file_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    with refuses("expectations-not-writable", kind=ExpectationsError):
        update.write(tmp_path / "gone" / "e.toml", FILE)
    update.write(tmp_path / "e.toml", FILE)
    assert (tmp_path / "e.toml").read_text() == FILE
    assert [path.name for path in tmp_path.iterdir()] == ["e.toml"]


def gapped(tmp_path: Path, *without: int) -> Run:
    """Return results of one case in three versions of Split with the same meaning, some of them without support."""
    path = tmp_path / "gaps.ndjson"
    path.unlink(missing_ok=True)
    writer = Writer(path)
    writer.open(HEAD)
    for since in (2, 11, 13):
        verdict = V.UNSUPPORTED if since in without else V.PASS
        name = f"ai.onnx/Split/{since}"
        writer.add(Result(f"{name}/even", name, "mine", verdict, "values", message="no kernel"))
    writer.finish(1.0, [])
    writer.close()
    return Run(path)


def test_a_new_version_gap_closes_the_gate_until_it_is_accepted(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    text, _ = update.renew(file, gapped(tmp_path), "mine", TODAY)
    file.write_text(text)
    assert "gaps" not in text

    def problems(run_: Run) -> list[str]:
        gate = Gate(expectations.read(file), run_.header, TODAY)
        for result in run_.results():
            gate.add(result)
        gate.finish(complete=True)
        return [text for text in gate.problems if "version gap" in text]

    (problem,) = problems(gapped(tmp_path, 13))
    assert "ai.onnx/Split/13 is a new version gap: version 11 has the same meaning" in problem
    with refuses("changes-refused", "1 version gaps are new, the first is ai.onnx/Split/13"):
        update.renew(file, gapped(tmp_path, 13), "mine", TODAY, fewer="a new release")
    text, changes = update.renew(file, gapped(tmp_path, 13), "mine", TODAY, new="a new release", fewer="a new release")
    file.write_text(text)
    assert 'gaps = [\n    "ai.onnx/Split/13",\n]' in text
    assert "gaps: 1 version gaps are listed now, 0 before" in changes
    assert problems(gapped(tmp_path, 13)) == []
    (problem,) = problems(gapped(tmp_path))
    assert "ai.onnx/Split/13 is no version gap any more; remove it" in problem
    text, _ = update.renew(file, gapped(tmp_path), "mine", TODAY)
    assert "gaps = []" in text
