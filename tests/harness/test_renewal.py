"""`expectations update`: the gate opens, what people wrote stays, and no failure slips in."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import pytest

from harness import expectations, renewal
from harness.expectations import ExpectationsError
from harness.gate import Gate
from harness.results import Run, Writer
from harness.verdict import Result, Verdict

if TYPE_CHECKING:
    from pathlib import Path

V = Verdict
TODAY = dt.date(2026, 11, 22)
HEAD: dict[str, Any] = {
    "kind": "header", "format": 1, "suite": {"name": "generated", "digest": "d"}, "python": "3.11.7",
    "backends": {"mine": {"version": "1.2"}}, "arguments": {"selection": ""}, "machine": {"system": "Linux"},
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


def run(tmp_path: Path, verdicts: dict[str, Verdict], *, complete: bool = True) -> Run:
    path = tmp_path / "results.ndjson"
    path.unlink(missing_ok=True)
    writer = Writer(path)
    writer.open(HEAD)
    for name, verdict in verdicts.items():
        form = name.partition("@")[2] or "plain"
        writer.add(Result(f"{SPLIT}/{name}", SPLIT, "mine", verdict, "values", form))
    if complete:
        writer.finish(1.0)
    writer.close()
    return Run(path)


def renewed(
    tmp_path: Path, verdicts: dict[str, Verdict], *, text: str = FILE, reason: str = ""
) -> tuple[str, list[str]]:
    """Return the new text, whose gate is open, and what was said."""
    file = tmp_path / "e.toml"
    if text:
        file.write_text(text)
    found = run(tmp_path, verdicts)
    new, said = renewal.renew(file, found, "mine", reason, TODAY)
    gate = Gate(expectations.parse(new, file), found.header, TODAY)
    for result in found.results():
        gate.add(result)
    assert gate.finish(complete=True), (new, gate.news, gate.problems)
    return new, said


def test_what_holds_is_left_as_it_is(tmp_path: Path) -> None:
    verdicts = {"uneven_one": V.CRASH, "uneven_two": V.CRASH, "late": V.TIMEOUT}
    new, said = renewed(tmp_path, verdicts)
    assert new == FILE.replace("minimum = 1", "minimum = 3")
    assert said == ["minimum: 1 is now 3"]
    again, said = renewed(tmp_path, verdicts, text=new)
    assert (again, said) == (new, [])


def test_what_is_fixed_goes_and_the_rest_stays(tmp_path: Path) -> None:
    new, said = renewed(tmp_path, {"uneven_one": V.CRASH, "uneven_two": V.PASS, "late": V.PASS})
    assert "late" not in new
    assert new.startswith(
        '# Of our runtime.\nbackend = "mine"\nminimum = 3   # it grows\n\n# The chunks, see the plan.\n'
    )
    assert 'link = "https://example.com/7"' in new
    assert f'case = "{SPLIT}/uneven_one' in new
    assert said == [
        "minimum: 1 is now 3",
        f"narrowed line 6 ({SPLIT}/uneven_* crash) to 1 cases in 1 entries",
        f"removed line 12 ({SPLIT}/late timeout): no case is so any more",
    ]


def test_a_better_failure_keeps_its_reason(tmp_path: Path) -> None:
    new, said = renewed(tmp_path, {"uneven_one": V.CRASH, "uneven_two": V.WRONG_VALUE, "late": V.TIMEOUT})
    (_, first, second, _) = new.split("[[expect]]")
    assert 'verdict = "crash"' in first
    assert 'verdict = "wrong_value"\nreason = "divides by zero"\nlink = "https://example.com/7"' in second
    assert f"improved 1 cases of line 6 ({SPLIT}/uneven_* crash) to wrong_value" in said


@pytest.mark.parametrize(
    ("verdicts", "first"),
    [
        ({"uneven_one": V.CRASH, "late": V.TIMEOUT, "new": V.REFUSED}, f"1 failures are new, first {SPLIT}/new"),
        ({"uneven_one": V.CRASH, "late": V.CRASH}, f"1 failures are new, first {SPLIT}/late: crash"),
    ],
)
def test_a_new_failure_needs_a_reason(verdicts: dict[str, Verdict], first: str, tmp_path: Path) -> None:
    with pytest.raises(ExpectationsError) as caught:
        renewed(tmp_path, verdicts)
    assert str(caught.value).startswith(first)
    assert "--accept-new --reason WHY" in str(caught.value)
    new, said = renewed(tmp_path, verdicts, reason="the new kernel")
    assert 'reason = "the new kernel"' in new
    assert [line for line in said if line.startswith("accepted 1 ")], said


def test_another_failure_of_the_same_rank_is_new(tmp_path: Path) -> None:
    text = FILE.replace('"crash"', '"wrong_value"')
    with pytest.raises(ExpectationsError, match="failures are new"):
        renewed(tmp_path, {"uneven_one": V.WRONG_SHAPE, "late": V.TIMEOUT}, text=text)


def test_a_file_is_made_in_one_command(tmp_path: Path) -> None:
    verdicts = {"a": V.CRASH, "b": V.PASS, "c": V.UNSUPPORTED, "d@top": V.REFUSED, "e": V.UNSPECIFIED}
    new, said = renewed(tmp_path, verdicts, text="", reason="today")
    assert new.startswith('backend = "mine"\nsuite = "generated"\nminimum = 5\n')
    assert new.count("[[expect]]") == 2
    assert len(said) == 3


def test_an_expired_entry_is_accepted_anew_or_not_at_all(tmp_path: Path) -> None:
    text = FILE.replace('reason = "is slow"', 'reason = "is slow"\nexpires = 2026-01-01')
    verdicts = {"uneven_one": V.CRASH, "late": V.TIMEOUT}
    with pytest.raises(ExpectationsError, match=r"1 failures are new, first ai\.onnx/Split/18/late: timeout"):
        renewed(tmp_path, verdicts, text=text)
    new, _ = renewed(tmp_path, verdicts, text=text, reason="still slow")
    assert "expires" not in new
    assert 'reason = "still slow"' in new


def test_entries_for_other_circumstances_stay(tmp_path: Path) -> None:
    other = f'\n[[expect]]\ncase = "{SPLIT}/x"\nverdict = "crash"\nreason = "there"\nwhen = {{ platform = "Darwin" }}\n'
    new, _ = renewed(tmp_path, {"uneven_one": V.CRASH, "late": V.TIMEOUT, "x": V.PASS}, text=FILE + other)
    assert new.endswith(other)


def test_an_entry_that_waits_for_support_stays_until_it_comes(tmp_path: Path) -> None:
    waits = f'\n[[expect]]\ncase = "{SPLIT}/soon"\nverdict = "unsupported"\nreason = "no kernel yet"\n'
    others = {"uneven_one": V.CRASH, "late": V.TIMEOUT}
    new, _ = renewed(tmp_path, {**others, "soon": V.UNSUPPORTED}, text=FILE + waits)
    assert new.endswith(waits)
    new, _ = renewed(tmp_path, {**others, "soon": V.PASS}, text=FILE + waits)
    assert "soon" not in new


def test_a_run_that_was_cut_off_renews_nothing(tmp_path: Path) -> None:
    file = tmp_path / "e.toml"
    file.write_text(FILE)
    with pytest.raises(ExpectationsError, match="was cut off; go on with it first"):
        renewal.renew(file, run(tmp_path, {"late": V.PASS}, complete=False), "mine", "", TODAY)


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(ExpectationsError, match=r"cannot write .*e\.toml: No such file or directory"):
        renewal.write(tmp_path / "gone" / "e.toml", FILE)
    renewal.write(tmp_path / "e.toml", FILE)
    assert (tmp_path / "e.toml").read_text() == FILE
    assert [path.name for path in tmp_path.iterdir()] == ["e.toml"]
