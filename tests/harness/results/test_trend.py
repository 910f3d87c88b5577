# SPDX-License-Identifier: Apache-2.0
"""Trends: changes from version to version, the list of versions, and runs without a trend."""

from __future__ import annotations

import itertools
import sys
from typing import TYPE_CHECKING

import pytest

from commands import adapter, command
from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.cli.trend import _versions as versions_of
from onnx_conformance.environments import node_environment, package_index, python_environment
from onnx_conformance.environments.kept_environment import NoEnvironmentError
from onnx_conformance.environments.python_environment import Needs
from onnx_conformance.report import trend as report
from onnx_conformance.results.stream import Run
from onnx_conformance.results.trend import Change, TrendError, trend
from refusals import refuses
from runs import HOSTILE_TEXTS, SPLIT, result, run_of

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("few_operators")

OLDER, OLD, NEW = "mine==1.2", "mine==1.10", "mine"
VERSIONS = {OLDER: "1.2.0", OLD: "1.10.0", NEW: "2.0.1"}
P, W, C, U, X = Verdict.PASS, Verdict.WRONG_VALUE, Verdict.CRASH, Verdict.UNSUPPORTED, Verdict.UNSPECIFIED


def hellos(versions: dict[str, str], runtime: str = "mine") -> dict[str, dict[str, str]]:
    """Return the hellos of backends of these versions."""
    return {name: {"runtime": runtime, "version": version} for name, version in versions.items()}


def row(name: str, *verdicts: Verdict | None, operator: str = SPLIT) -> list[Result]:
    """Return a case on OLDER, OLD and NEW; None: not run there."""
    backends = zip(VERSIONS, verdicts, strict=True)
    return [result(name, verdict, operator=operator, backend=name_) for name_, verdict in backends if verdict]


def three(path: Path, *rows: list[Result]) -> Run:
    """Return a run of three versions, which lie in the file in no order of theirs."""
    return run_of(path, *sorted(itertools.chain(*rows), key=lambda item: item.backend), hellos=hellos(VERSIONS))


def test_a_change_is_reported_at_the_first_version_that_has_it(tmp_path: Path) -> None:
    history = trend([three(tmp_path / "r", row("a", W, P, P), row("b", W, P, P), row("c", P, P, C), row("d", P, P, P))])
    assert history.versions == ("1.2.0", "1.10.0", "2.0.1"), "1.10 comes after 1.2"
    assert history.changes == (
        Change(SPLIT, "1.10.0", W, P, 2, f"{SPLIT}/a"),
        Change(SPLIT, "2.0.1", P, C, 1, f"{SPLIT}/c"),
    )
    assert [change.example for change in history.broke("2.0.1")] == [f"{SPLIT}/c"]
    assert not history.broke("1.10.0")
    assert history.counts[SPLIT, "2.0.1"] == {P: 3, C: 1}


def test_a_pass_that_breaks_and_returns_is_two_changes(tmp_path: Path) -> None:
    history = trend([three(tmp_path / "r", row("a", P, W, P))])
    assert [(change.version, change.was, change.now) for change in history.changes] == [
        ("1.10.0", P, W),
        ("2.0.1", W, P),
    ]


def test_a_version_that_did_not_run_a_case_is_passed_over(tmp_path: Path) -> None:
    history = trend([three(tmp_path / "r", row("a", W, None, P), row("b", None, P, P), row("c", U, U, None))])
    assert history.changes == (Change(SPLIT, "2.0.1", W, P, 1, f"{SPLIT}/a"),)


def test_an_operator_that_comes_out_the_same_is_counted_and_no_more(tmp_path: Path) -> None:
    same = row("a", X, X, X, operator="ai.onnx/Add/14")
    history = trend([three(tmp_path / "r", same, row("a", U, P, P))])
    assert history.operators == [SPLIT]
    assert history.unchanged == 1
    assert "ai.onnx/Add/14" not in "".join(report.text(history))


def test_several_files_are_one_trend(tmp_path: Path) -> None:
    one = run_of(tmp_path / "1", result("a", W, backend="mine"), hellos=hellos({"mine": "1.0"}))
    two = run_of(tmp_path / "2", result("a", P, backend="mine"), hellos=hellos({"mine": "1.1"}))
    assert trend([two, one]).changes == (Change(SPLIT, "1.1", W, P, 1, f"{SPLIT}/a"),)


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ({"hellos": hellos({"mine": "1.0"})}, "mine 1.0 occurs twice"),
        ({"hellos": hellos({"mine": "1.1"}), "digest": "d2"}, "one suite, but these are generated d1, generated d2"),
        ({"hellos": hellos({"mine": "1.1"}, "yours")}, "one runtime, but these are mine, yours"),
        ({"hellos": hellos({"mine": "nightly"})}, "its version 'nightly' cannot be ordered"),
        ({"hellos": hellos({"mine": ""})}, "its adapter reports no version"),
        ({"hellos": hellos({"other": "1"}), "reference": "other"}, "only mine 1.0"),
    ],
)
def test_runs_without_a_trend_are_reported(tmp_path: Path, other: dict[str, object], sentence: str) -> None:
    runs = [
        run_of(tmp_path / "1", hellos=hellos({"mine": "1.0"}), digest="d1"),
        run_of(tmp_path / "2", **{"digest": "d1", **other}),  # type: ignore[arg-type]
    ]
    with pytest.raises(TrendError) as raised:
        trend(runs)
    assert sentence in str(raised.value)


def test_the_backend_whose_answers_are_expected_is_no_version(tmp_path: Path) -> None:
    versions = {"mine==1": "1.0", "mine==2": "2.0", "other": "7"}
    run = run_of(tmp_path / "r", result("a", backend="mine==1"), hellos=hellos(versions), reference="other")
    assert trend([run]).versions == ("1.0", "2.0")


def test_the_text_names_the_version_of_a_change(tmp_path: Path) -> None:
    history = trend([three(tmp_path / "r", row("a", W, P, P), row("b", W, P, P), row("c", P, U, U))])
    shown = [" ".join(line.split()) for line in "\n".join(report.text(history)).splitlines()]
    assert "passed of attempted 1.2.0 1.10.0 2.0.1" in shown
    assert "ai.onnx/Split/18 1/3 2/2 2/2" in shown
    assert "1.10.0 2 wrong_value -> pass ai.onnx/Split/18/a" in shown
    assert "newly passing 2 0" in shown
    assert "no longer passing 1 0" in shown


def test_a_run_that_was_cut_off_is_reported(tmp_path: Path) -> None:
    history = trend([run_of(tmp_path / "r", *row("a", P, P, W), finish=False, hellos=hellos(VERSIONS))])
    for text in (report.text(history), report.markdown(history)):
        assert "was cut off" in "".join(text)


@pytest.mark.slow
def test_a_sample_is_reported(tmp_path: Path) -> None:
    words = (f"{adapter('good')} lengths_sum 1.0", f"{adapter('good')} lengths_sum 1.1")
    done = command("trend", *words, "--op", "Split/13", "--sample", "1/9", "--out", tmp_path / "t.md")
    assert done.status == 0, done.text
    assert done.out.count("ran a sample of 1 case in 9") == 1, "once for all versions"
    assert "Every version ran a sample of 1 case in 9" in (tmp_path / "t.md").read_text()
    mixed = command("trend", *words, "--op", "Split/13", "--sample", f"{words[0]}=1/9")
    assert "1.0 ran a sample of 1 case in 9" in mixed.out, mixed.text
    assert mixed.status == 0, mixed.text
    broken = command("trend", words[0], f"{adapter('says_an_endless_shape')} lengths_sum 1.1", "--op", "Split/13")
    assert "ai.onnx/Split/13" in broken.out
    assert broken.status == 2, "this adapter breaks the protocol; its results are reported all the same"


@pytest.mark.parametrize("text", list(HOSTILE_TEXTS.values()), ids=list(HOSTILE_TEXTS))
def test_texts_of_a_suite_are_escaped(tmp_path: Path, text: str) -> None:
    rows = [
        result("x", verdict, backend=name, operator=text, case=f"folder/{text}")
        for name, verdict in zip(VERSIONS, (P, W, P), strict=True)
    ]
    history = trend([run_of(tmp_path / "r", *rows, hellos=hellos(VERSIONS))])
    page = "".join(report.markdown(history))
    assert "<script>" not in page
    assert "](http" not in page
    shown = "\n".join(report.text(history))
    assert "\x1b" not in shown + page
    assert "\u202e" not in shown + page


def test_the_command_reads_files_and_prints_changes(tmp_path: Path) -> None:
    path = tmp_path / "r.ndjson"
    three(path, row("a", W, P, P), row("b", P, P, C))
    done = command("trend", path, "--out", tmp_path / "t.md")
    assert done.status == 1, done.text
    assert "2.0.1   1  pass -> crash" in done.out
    assert "| ai.onnx/Split/18 | 2.0.1" in (tmp_path / "t.md").read_text()
    path.unlink()
    three(path, row("a", W, P, P), row("b", P, C, C))
    assert command("trend", path).status == 0, "broke before the newest version"


def test_the_command_runs_versions_and_keeps_the_results(tmp_path: Path) -> None:
    file = tmp_path / "kept.ndjson"
    words = (f"{adapter('good')} lengths_sum 1.0", f"{adapter('dies_by_segv')} lengths_sum 1.1")
    done = command("trend", *words, "--op", "Split/13", "--case", "*/lengths_sum", "--results", file)
    assert done.status == 1, done.text
    assert "1.1  1  pass -> crash" in done.out
    assert len(list(Run(file).results())) == 2


def converters(path: Path, *names: str) -> Run:
    """Return a run of converters, named TOOL[OPTION]==VERSION, whose hellos have one runtime."""
    versions = {name: name.partition("]==")[2] or "9" for name in names}
    return run_of(path, *(result("a", P, backend=name) for name in names), hellos=hellos(versions, "tool"))


def test_several_versions_of_one_option_are_a_trend_and_several_options_are_none(tmp_path: Path) -> None:
    assert trend([converters(tmp_path / "a", "tool[18]==1.20", "tool[18]==1.21", "tool[18]")]).versions == (
        "1.20", "1.21", "9"
    )  # fmt: skip
    with refuses("trend-of-options", "tool[18], tool[21]", kind=TrendError):
        trend([converters(tmp_path / "b", "tool[18]==1.20", "tool[21]==1.21")])


def test_an_option_with_a_version_is_not_asked_for_its_last_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(package_index, "minors", lambda needs, _last: asked.append(needs.name) or ["1.0", "1.1"])
    assert versions_of(("onnx_checker[full]==1.22.0",), 2) == ("onnx_checker[full]==1.22.0",)
    assert asked == []
    assert versions_of(("onnx_checker[full]",), 2) == ("onnx_checker[full]==1.0", "onnx_checker[full]==1.1")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nonesuch",), "there is no backend 'nonesuch'"),
        (("oracle",), "the versions of 'oracle' are unknown"),
        (("no.ndjson",), "cannot read no.ndjson"),
        (("onnxruntime", "no.ndjson"), "onnxruntime is not a results file"),
        (("oracle==1", "oracle==2"), "there is no backend 'oracle==1'"),
        (("onnx_checker", "onnx_checker[full]"), "but these are onnx_checker, onnx_checker[full]; use `report`"),
    ],
)
def test_bad_sources_get_a_sentence(words: tuple[str, ...], message: str) -> None:
    done = command("trend", *words)
    assert done.status == 2, done.text
    assert message in done.err


NEEDS = Needs("mine", "mine-dist", "mine", "2.0")


def fake_uv(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    path = folder / "uv"
    path.write_text(f"#!{sys.executable}\nimport sys\nasked = sys.stdin.read()\n{body}\n")
    path.chmod(0o755)
    monkeypatch.setattr(python_environment, "uv", lambda: str(path))


def test_the_newest_of_each_minor_version_is_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"mine-dist": "1.10.3", "mine-dist<1.10": "1.9.0", "mine-dist<1.9": "0.12.7"}
    body = (
        f"there = {there!r}\n"
        "if asked not in there: sys.exit('  x No solution found when resolving dependencies')\n"
        "print('mine-dist==' + there[asked])"
    )
    fake_uv(tmp_path, monkeypatch, body)
    assert package_index.minors(NEEDS, 2) == ["1.9.0", "1.10.3"]
    assert package_index.minors(NEEDS, 9) == ["0.12.7", "1.9.0", "1.10.3"], "fewer, where there are no more"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("sys.exit('No solution found')", "uv finds no version of mine-dist"),
        ("sys.exit('error: Failed to fetch: \\x1b[31mno network')", "the versions of mine-dist: error: F"),
        ("print('nonsense')", "'nonsense'"),
    ],
)
def test_versions_that_cannot_be_listed_get_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, message: str
) -> None:
    fake_uv(tmp_path, monkeypatch, body)
    with pytest.raises(NoEnvironmentError) as raised:
        package_index.minors(NEEDS, 3)
    assert message in str(raised.value)
    assert "\x1b" not in str(raised.value)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            'echo \'["1.9.0", "1.10.1", "1.10.3", "1.11.0-rc.1", "1.11.0-dev.20241212-1f88284f96"]\'',
            ["1.9.0", "1.10.3"],
        ),
        ("echo '\"2.0.0\"'", ["2.0.0"]),
        ("echo nonsense", "the versions of some-package: nonsense"),
        ("echo offline >&2; exit 1", "the versions of some-package: offline"),
        ("echo '[]'", "npm lists no release of some-package"),
    ],
)
def test_npm_is_asked_for_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, expected: list[str] | str
) -> None:
    script = tmp_path / "npm"
    script.write_text(f"#!/bin/sh\n{body}\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    needed = node_environment.Needs("mine", "some-package", "2.0.0", ">=20")
    if isinstance(expected, list):
        assert package_index.minors(needed, 2) == expected
    else:
        with pytest.raises(NoEnvironmentError) as raised:
            package_index.minors(needed, 2)
        assert expected in str(raised.value)
