# SPDX-License-Identifier: Apache-2.0
"""Samples: which cases they hold, and that a sampled run is nowhere taken for a whole one."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from commands import Done, adapter, command
from onnx_conformance.base.sample import in_sample, in_shard
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.case.case import PLAIN
from onnx_conformance.gate import expectations, update
from onnx_conformance.gate.gate import Gate
from onnx_conformance.generation import deliveries, manifest, plans
from onnx_conformance.report import badge, comparison, index, markdown, terminal
from onnx_conformance.report.formats import FORMATS
from onnx_conformance.report.html.table import Table
from onnx_conformance.results import sampling
from onnx_conformance.results.merge import merge
from onnx_conformance.results.stream import ResultsError, Run
from onnx_conformance.specification import registry
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.selection import Selection
from refusals import refuses
from runs import data_of, foreign, result

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("few_operators")

IDS = [f"ai.onnx/Split/18/case{number}" for number in range(4000)]
OPS = ("Split*",)
GOOD, DYING = adapter("good"), adapter("dies_on_every_case")
CASES = ("--case", "ai.onnx/Split/13/length*")
HALF = {"arguments": {"selection": "--op Split", "samples": {"mine": 2}}}


@pytest.fixture(scope="module")
def generated() -> Generated:
    return Generated()


# Which cases


@pytest.mark.parametrize("count", [2, 8, 80])
def test_a_sample_is_1_in_n_and_lies_within_the_larger_ones(count: int) -> None:
    sampled = [name for name in IDS if in_sample(name, count)]
    expected = len(IDS) / count
    assert abs(len(sampled) - expected) < 4 * expected**0.5, f"{len(sampled)} of {len(IDS)}, 1/{count} asked for"
    assert all(in_sample(name, larger) for name in sampled for larger in (1, 2, count - 1 or 1))
    assert in_sample("ai.onnx/Split/18/case1001", 1)


def test_a_sample_is_the_same_on_every_machine() -> None:
    """Written down: another hash would make every sample another one, and old runs could not be compared."""
    assert [name for name in IDS[:200] if in_sample(name, 40)] == [
        f"ai.onnx/Split/18/case{number}" for number in (39, 54, 82, 133, 150, 195)
    ]


def test_a_sample_has_nothing_to_do_with_the_shard() -> None:
    shard = [name for name in IDS if in_shard(name, (1, 4))]
    both = sum(in_sample(name, 4) for name in shard)
    assert abs(both - len(shard) / 4) < 4 * (len(shard) / 4) ** 0.5, f"{both} of {len(shard)} in the shard"


@pytest.mark.slow
def test_a_suite_returns_the_sample_of_its_cases(generated: Generated) -> None:
    whole = [case.id for case in generated.cases(Selection(ops=OPS))]
    for options in ({"sample": 7}, {"shard": (2, 5)}, {"sample": 3, "shard": (1, 2)}):
        names = [case.id for case in generated.cases(Selection(ops=OPS, **options))]  # type: ignore[arg-type]
        sample, shard = options.get("sample", 1), options.get("shard", (1, 1))
        expected = [name for name in whole if in_sample(name, sample) and in_shard(name, shard)]  # type: ignore[arg-type]
        assert (names, bool(names)) == (expected, True), options
    some = [case.id for case in generated.cases(Selection(ops=("Split/18",), sample=7))]
    assert some == [name for name in whole if name.startswith("ai.onnx/Split/18/") and in_sample(name, 7)]


def test_cases_outside_are_not_made(generated: Generated, monkeypatch: pytest.MonkeyPatch) -> None:
    planned: list[str] = []
    plan = plans.plan

    def counted(*arguments: Any) -> Any:
        planned.append(arguments[2].name)
        return plan(*arguments)

    monkeypatch.setattr("onnx_conformance.generation.plans.plan", counted)
    every = sum(1 for _ in generated.cases(Selection(ops=("Split/18",))))
    whole = len(planned)
    planned.clear()
    few = sum(1 for _ in generated.cases(Selection(ops=("Split/18",), sample=100)))
    assert few <= len(planned) < whole / 5, f"{len(planned)} of {whole} plans made for {few} of {every} cases"
    planned.clear()
    [one] = generated.cases(Selection(ids=frozenset({"ai.onnx/Split/18/lengths@top"}), ops=("Split/18",)))
    assert (one.form, planned) == ("top", ["lengths"])


@pytest.mark.slow
@pytest.mark.usefixtures("all_operators")
def test_every_form_of_the_manifest_is_one_that_its_version_may_have() -> None:
    """Otherwise a sample would lack the cases of that form."""
    total = 0
    for op in registry.load():
        names = {str(version): deliveries.form_names(version) for version in registry.versions(op)}
        for entry in manifest.entries(op) or ():
            assert (entry.id.partition("@")[2] or PLAIN) in names["/".join(entry.id.split("/")[:3])], entry.id
            total += 1
    assert total > 100_000, f"{total} cases in the manifest"


@pytest.mark.slow
def test_a_glob_is_matched_with_the_suite_and_not_with_the_sample(generated: Generated) -> None:
    met = Selection(ops=OPS, cases=("*/Split/18/lengths",), sample=10**6)
    assert not [*generated.cases(met)], "the sample is to be empty"
    assert not met.idle
    unmet = Selection(cases=("*/Split/18/length_of_nothing",), sample=10**6)
    assert not [*generated.cases(unmet)]
    assert unmet.idle == {("--case", "*/Split/18/length_of_nothing")}, unmet.idle


# What is asked for


def test_samples_are_read() -> None:
    backends = ("onnxruntime==1.20.1", "iree", "cmd:./x --k=v")
    samples = [sampling.parse(text) for text in ("1/10", "iree=1/80", "cmd:./x --k=v=1/1", "onnxruntime==1.20.1=1/3")]
    assert sampling.by_backend(samples, backends) == {"onnxruntime==1.20.1": 3, "iree": 80}
    assert sampling.by_backend([], backends) == {}
    assert sampling.widest({"iree": 80}, backends) == 1, "two backends are asked everything"
    assert sampling.widest({"iree": 80}, ["iree"]) == 80
    assert sampling.widest({"iree": 80, "b": 8}, ["iree", "b"]) == 8


@pytest.mark.parametrize(
    "text", ["", "1", "2/80", "1/0", "1/-3", "1/x", "iree", "iree=80", "=1/80", "1/80=iree", "0/1"]
)
def test_an_invalid_sample_is_reported(text: str) -> None:
    done = command("run", "--backend", GOOD, *CASES, "--sample", text)
    assert (done.status, repr(text) in done.err) == (2, True), done.text


def test_a_sample_of_an_unknown_backend_is_reported() -> None:
    done = command("run", "--backend", "oracle", *CASES, "--sample", "oracel=1/80")
    assert done.refused("sample-of-unknown-backend", "oracel=1/80", "expected one of oracle"), done.text
    assert done.err.count("\n") == 1, done.text
    twice = command("run", "--backend", "oracle", *CASES, "--sample", "1/8", "--sample", "1/9")
    assert twice.refused("two-samples", "every backend", "1/8 and 1/9"), twice.text
    same = command("run", "--backend", "oracle", *CASES, "--sample", "oracle=1/8", "--sample", "oracle=1/9")
    assert same.refused("two-samples", "oracle", "1/8 and 1/9"), same.text


# A run


def verdicts(path: Path) -> dict[str, set[str]]:
    cases_of: dict[str, set[str]] = {}
    for item in Run(path).results():
        cases_of.setdefault(item.backend, set()).add(item.case)
    return cases_of


def run(*words: str | Path) -> Done:
    return command("run", *CASES, *words)


@pytest.mark.slow
def test_a_run_asks_each_backend_its_sample(tmp_path: Path) -> None:
    file = tmp_path / "results.ndjson"
    done = run("--backend", GOOD, "--backend", "oracle", "--sample", "oracle=1/3", "--results", file)
    cases_of, head = verdicts(file), Run(file).header
    assert head["arguments"]["samples"] == {"oracle": 3}, head
    assert cases_of["oracle"] == {name for name in cases_of[GOOD] if in_sample(name, 3)}, "another sample"
    assert 0 < len(cases_of["oracle"]) < len(cases_of[GOOD])
    assert re.search(r"^oracle .*, part, 1 case in 3: \d+ of [\d,]+ cases of", done.out, re.MULTILINE), done.text
    for name, words in {"both": ("1/3",), "one": ("1/3", f"{GOOD}=1/1")}.items():
        other = tmp_path / name
        options = [word for sample in words for word in ("--sample", sample)]
        run("--backend", GOOD, "--backend", "oracle", *options, "--results", other)
        assert verdicts(other)["oracle"] == cases_of["oracle"], name
        assert verdicts(other)[GOOD] == (cases_of["oracle"] if name == "both" else cases_of[GOOD]), name


@pytest.mark.slow
def test_a_reference_answers_beyond_its_own_sample(tmp_path: Path) -> None:
    file = tmp_path / "results.ndjson"
    run("--backend", GOOD, "--backend", "oracle", "--sample", "oracle=1/3", "--results", file, "--reference", "oracle")
    cases_of = verdicts(file)
    assert cases_of["oracle"] == {name for name in cases_of[GOOD] if in_sample(name, 3)}, cases_of


@pytest.mark.slow
def test_an_empty_sample_is_no_fault() -> None:
    done = command("run", "--backend", GOOD, "--case", "ai.onnx/Split/13/lengths", "--sample", "1/100000")
    assert (done.status, "suite generated has no cases in this sample (1/100000)" in done.out) == (0, True), done.text
    backends = ("--backend", GOOD, "--backend", "oracle")
    done = command("run", *backends, "--case", "ai.onnx/Split/13/lengths", "--sample", "oracle=1/100000")
    assert "oracle: its sample (1/100000) has no cases" in done.out, done.text
    unmet = command("run", "--backend", GOOD, "--case", "ai.onnx/Split/13/length_of_nothing", "--sample", "1/9")
    assert (unmet.status, "matches no case of suite generated" in unmet.err) == (2, True), unmet.text


@pytest.mark.slow
def test_a_sampled_run_goes_on_with_the_same_sample_alone(tmp_path: Path) -> None:
    file = tmp_path / "results.ndjson"
    words = ("--backend", GOOD, "--backend", "oracle", "--sample", "oracle=1/3", "--results", file)
    run(*words)
    whole = verdicts(file)
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:5]))
    for other in ("oracle=1/4", f"{GOOD}=1/3", "1/3"):
        done = run(*words[:4], "--sample", other, "--results", file, "--resume")
        assert done.refused("another-run-to-resume", "its sample is oracle 1/3"), done.text
    plain = run(*words[:4], "--results", file, "--resume")
    assert plain.refused("another-run-to-resume", "oracle 1/3", "none"), plain.text
    assert file.read_text() == "".join(lines[:5]), "what cannot be gone on with was changed"
    run(*words, "--resume")
    assert verdicts(file) == whole


# Nowhere taken for a whole one


def test_a_gate_is_of_the_whole_suite_or_of_the_very_sample(tmp_path: Path) -> None:
    path = tmp_path / "e.toml"
    blocks = '[[expect]]\ncase = "*/x"\nverdict = "crash"\nreason = "r"\n'
    sampled = foreign(tmp_path / "half.ndjson", result("x", Verdict.CRASH), **HALF)
    whole = expectations.parse(f'backend = "mine"\nselection = "--op Split"\nminimum = 99\n{blocks}', path)
    with refuses("expectations-of-another-run", "--op Split --sample", kind=expectations.ExpectationsError):
        Gate(whole, sampled.header)
    half = expectations.parse(f'backend = "mine"\nselection = "--op Split --sample 1/2"\n{blocks}', path)
    gate = Gate(half, sampled.header)
    gate.add(next(iter(sampled.results())))
    assert gate.finish(complete=True), gate.problems
    with refuses("expectations-of-another-run", "--sample 1/2", kind=expectations.ExpectationsError):
        Gate(half, {**sampled.header, "arguments": {"selection": "--op Split"}})


def test_an_update_never_shrinks_a_file_to_a_sample(tmp_path: Path) -> None:
    path = tmp_path / "e.toml"
    text = 'backend = "mine"\nselection = "--op Split"\nminimum = 99\n'
    path.write_text(text)
    sampled = foreign(tmp_path / "half.ndjson", result("x"), **HALF)
    done = command("expectations", "update", sampled.path, "--expectations", path)
    assert (done.status, path.read_text()) == (2, text), done.text
    fresh, _ = update.renew(tmp_path / "new.toml", sampled, "mine", dt.date(2026, 1, 1))
    assert 'selection = "--op Split --sample 1/2"' in fresh, fresh


def test_merged_files_keep_their_samples(tmp_path: Path) -> None:
    one = foreign(tmp_path / "one", result("x"), **HALF)
    whole = foreign(
        tmp_path / "whole", result("x", backend="b"), backends=("b",), arguments={"selection": "--op Split"}
    )
    again = foreign(tmp_path / "again", result("x"), arguments={"selection": "--op Split"})
    out = tmp_path / "out"
    for paths in ([one.path, whole.path], [whole.path, one.path]):
        assert merge(paths, out, overwrite=True) == 2
        assert sampling.from_header(Run(out).header) == {"mine": 2}, Run(out).header
    with refuses("samples-differ", "1 case in 2", kind=ResultsError):
        merge([one.path, again.path], out, overwrite=True)


def test_a_comparison_covers_the_cases_of_both_runs(tmp_path: Path) -> None:
    inside = next(name for name in IDS if in_sample(name, 2)).rpartition("/")[2]
    outside = [name.rpartition("/")[2] for name in IDS if not in_sample(name, 2)][:2]
    sampled = foreign(tmp_path / "half", result(inside, Verdict.CRASH), **HALF)
    whole = foreign(tmp_path / "whole", result(inside), *map(result, outside))
    changes = comparison.compare_runs(whole, sampled)
    assert ([row[0].rpartition("/")[2] for row in changes.broke], changes.went) == ([inside], []), changes
    text = "\n".join(comparison.lines(whole, sampled, changes))
    assert f"{sampled.path} is a sample (mine 1 case in 2): 2 results of {whole.path} are not compared" in text, text
    back = comparison.compare_runs(sampled, whole)
    assert (len(back.fixed), back.came, back.outside) == (1, [], (2, 0)), back
    lost = comparison.compare_runs(whole, foreign(tmp_path / "lost", **HALF))
    assert [row[0].rpartition("/")[2] for row in lost.went] == [inside], "a case of the sample that is not there"
    same = comparison.compare_runs(whole, whole)
    assert "is a sample" not in "\n".join(comparison.lines(whole, whole, same))


@pytest.mark.parametrize("name", [name for name, kind in FORMATS.items() if name != "html" and not kind.commands])
def test_every_format_names_the_sample(name: str, tmp_path: Path) -> None:
    run_ = foreign(tmp_path / "half", result("x", Verdict.CRASH), **HALF)
    whole = data_of(tmp_path / "plain", result("x", Verdict.CRASH))
    text = "".join(FORMATS[name].report(dataclasses.replace(whole, run=run_)))
    if name in {"json", "ep-conformance"}:
        read = json.loads(text)
        (of_backend,) = read["backends"].values() if name == "json" else read["providers"]
        assert of_backend["sample"] == 2
    else:
        assert "1 case in 2" in text
    assert "1 case in" not in "".join(FORMATS[name].report(whole))


def test_titles_columns_and_tables_name_the_sample(tmp_path: Path) -> None:
    run_ = foreign(tmp_path / "half", result("x", Verdict.CRASH), **HALF)
    sampled = dataclasses.replace(data_of(tmp_path / "plain", result("x", Verdict.CRASH)), run=run_)
    assert re.search(r"^# .*mine 1 \(1 case in 2\)", "".join(markdown.report(sampled)))
    text = "".join(index.report([(sampled, "badge.json")]))
    [row] = [line for line in text.splitlines() if "of the suite generated" in line]
    assert row.startswith("| part, 1 case in 2: 1 case of the suite generated (--op Split) "), row
    assert "1 case in 2" in json.loads("".join(badge.report(sampled)))["message"]
    assert [column.label for column in Table([run_]).columns] == ["mine, 1 case in 2"]
    assert "mine, 1 case in 2" in terminal.table(sampled.summary, samples={"mine": 2})


def test_hostile_samples_in_a_header_are_ignored() -> None:
    for nonsense in (None, 3, [1], {"a": "x", "b": 1, "c": 0, "d": None}):
        assert sampling.from_header({"arguments": {"samples": nonsense}}) == {}, nonsense
