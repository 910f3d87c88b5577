# SPDX-License-Identifier: Apache-2.0
"""Where implementations agree with one another and not with the oracle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commands import command
from onnx_conformance.analysis.dissent import DissentError, dissents
from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.environments.backend_names import implementation_of
from onnx_conformance.report import dissent as report
from refusals import refuses
from runs import HOSTILE_TEXTS, result, run_of

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_conformance.results.stream import Run

NAMES = ("one", "two", "three", "four")
P, W, R, A = Verdict.PASS, Verdict.WRONG_VALUE, Verdict.REFUSED, Verdict.ACCEPTED_INVALID


def answers(verdicts: dict[str, tuple[Verdict, str]], case: str = "even") -> list[Result]:
    return [
        result(case, verdict, backend=name, actual=actual, expected="float[1] 1")
        for name, (verdict, actual) in verdicts.items()
    ]


def run(path: Path, *results: Result, backends: tuple[str, ...] = NAMES) -> Run:
    return run_of(path, *results, backends=backends)


def test_three_that_agree_are_listed_with_the_others_beside_them(tmp_path: Path) -> None:
    same = (W, "float[1] 2")
    [row] = dissents([run(tmp_path / "r", *answers({"one": same, "two": same, "three": same, "four": (P, "")}))])
    assert (row.implementations, row.passing, row.answer, row.count) == (
        ("one", "three", "two"),
        ("four",),
        "float[1] 2",
        1,
    )


@pytest.mark.parametrize(
    "third",
    [(W, "float[1] 3"), (P, ""), (R, ""), (Verdict.CRASH, ""), (Verdict.UNSUPPORTED, ""), (W, "float[1] 2 2")],
    ids=str,
)
def test_two_agreeing_backends_are_no_dissent(tmp_path: Path, third: tuple[Verdict, str]) -> None:
    same = (W, "float[1] 2")
    one_run = run(tmp_path / "r", *answers({"one": same, "two": same, "three": third}))
    assert dissents([one_run]) == []
    assert len(dissents([one_run], enough=2)) == 1


def test_last_digits_are_no_disagreement(tmp_path: Path) -> None:
    near = {"one": (W, "float[1] 0.731059"), "two": (W, "float[1] 0.731058"), "three": (W, "float[1] 0.731059")}
    assert len(dissents([run(tmp_path / "r", *answers(near))])) == 1
    far = {**near, "two": (W, "float[1] 0.7309")}
    assert dissents([run(tmp_path / "s", *answers(far))]) == []
    strange = {"one": (W, "float[1] nan"), "two": (W, "float[1] inf"), "three": (W, "float[1] 1e400")}
    assert dissents([run(tmp_path / "t", *answers(strange))]) == []


def test_answers_that_are_kept_in_part_agree_where_they_differ_from_the_oracle_alike(tmp_path: Path) -> None:
    long = "float[99] 0 0 0 ..."
    mismatch = {
        "where": "outputs[0]", "expected": "0.0", "actual": "1.0", "differing": 2, "first": [40], "differs": [40, 41],
        "given": ["1.0", "2.0"],
    }  # fmt: skip

    def three(**other: object) -> list[Result]:
        return [
            result("x", W, backend=name, actual=long, mismatch={**mismatch, **(other if name == "two" else {})})
            for name in NAMES[:3]
        ]

    assert len(dissents([run(tmp_path / "r", *three())])) == 1
    assert len(dissents([run(tmp_path / "n", *three(given=["1.0000001", "2.0"]))])) == 1
    for number, other in enumerate(
        ({"differing": 3}, {"first": [7]}, {"differs": [40, 42]}, {"given": ["1.0", "3.0"]})
    ):
        assert dissents([run(tmp_path / str(number), *three(**other))]) == []


def test_refusals_count_where_nobody_passes(tmp_path: Path) -> None:
    refused = dict.fromkeys(NAMES[:3], (R, ""))
    [row] = dissents([run(tmp_path / "r", *answers(refused))])
    assert (row.verdict, row.answer) == (R, "refused")
    assert dissents([run(tmp_path / "s", *answers({**refused, "four": (P, "")}))]) == []


def test_one_implementation_in_several_packages_counts_once(tmp_path: Path) -> None:
    assert implementation_of("onnxruntime==1.20.1") == implementation_of("onnxruntime") == "onnxruntime"
    assert implementation_of("onnxruntime_node") == implementation_of("onnxruntime_web==1.30.0") == "onnxruntime"
    assert implementation_of("onnxoptimizer[a]==0.3") == implementation_of("onnxoptimizer[b]") == "onnxoptimizer"
    assert implementation_of("jaxonnxruntime") == "jaxonnxruntime"
    assert implementation_of("cmd:./x --stdio") == "cmd:./x --stdio"
    names = ("onnxruntime", "onnxruntime==1.20.1", "onnxruntime==1.17.3", "two", "three")
    same = dict.fromkeys(names, (W, "float[1] 2"))
    both = run(tmp_path / "r", *answers(same), backends=names)
    assert [row.implementations for row in dissents([both])] == [("onnxruntime", "three", "two")]
    with refuses("too-few-implementations", kind=DissentError):
        dissents([run(tmp_path / "s", *answers(dict.fromkeys(names[:3], (W, "x"))), backends=names[:3])])


def test_cases_of_one_name_are_one_point(tmp_path: Path) -> None:
    same = dict.fromkeys(NAMES[:3], (W, "float[1] 2"))
    results = [*answers(same, "even/float16"), *answers(same, "even/double"), *answers(same, "odd")]
    rows = dissents([run(tmp_path / "r", *results)])
    assert [(row.name, row.count, row.types) for row in rows] == [("even", 2, {"float16", "double"}), ("odd", 1, set())]


def test_answers_come_before_models_that_should_be_refused(tmp_path: Path) -> None:
    results = [*answers(dict.fromkeys(NAMES[:3], (A, "x")), "a"), *answers(dict.fromkeys(NAMES[:3], (W, "y")), "b")]
    assert [row.name for row in dissents([run(tmp_path / "r", *results)])] == ["b", "a"]


def test_several_suites_are_not_compared(tmp_path: Path) -> None:
    one = run(tmp_path / "r", *answers(dict.fromkeys(NAMES[:3], (W, "y"))))
    other = run(tmp_path / "s", *answers(dict.fromkeys(NAMES[:3], (W, "y"))))
    other.header["suite"]["digest"] = "another"
    with refuses("suites-differ-in-dissent", kind=DissentError):
        dissents([one, other])


@pytest.mark.parametrize("text", list(HOSTILE_TEXTS.values()), ids=list(HOSTILE_TEXTS))
def test_hostile_messages_are_escaped(tmp_path: Path, text: str) -> None:
    results = [
        result("x", W, backend=name, actual=text, case=f"folder/{text}", clauses=(text,), form=text) for name in NAMES
    ]
    shown = "\n".join(report.blocks(dissents([run(tmp_path / "r", *results)]), 3))
    assert not {"\x1b", "\u202e", "\u2028", "\x00", "\r"} & set(shown)
    assert max(map(len, shown.splitlines())) < 2000


def test_the_command_lists_dissents_and_its_status_is_1(tmp_path: Path) -> None:
    path = tmp_path / "r.ndjson"
    run(path, *answers(dict.fromkeys(NAMES[:3], (W, "float[1] 2"))))
    done = command("dissent", path)
    assert done.status == 1, done.text
    assert "3 agree  float[1] 2" in done.out
    assert "namely   one, three, two" in done.out
    assert command("dissent", path, "--enough", "4").status == 0
    assert command("dissent", tmp_path / "none").status == 2
