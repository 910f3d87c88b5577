# SPDX-License-Identifier: Apache-2.0
"""From results to findings: what is apart, what a script says, which are one, and what a new run changes."""

from __future__ import annotations

import dataclasses
import json
import pickle
import re
import sys
import time
from collections import Counter
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from commands import command
from onnx_conformance.base.verdict import UNMET_CLAIMS, Verdict
from onnx_conformance.case.case import Outcome
from onnx_conformance.environments import backend_names
from onnx_conformance.environments.limits import Limit
from onnx_conformance.findings import collect, confirm, evidence, failure_groups, findings_file, script, smallest
from onnx_conformance.findings.causes import related as related_of
from onnx_conformance.findings.confirm import Place, Said
from onnx_conformance.findings.earlier import OldFindings
from onnx_conformance.findings.evidence import Evidence, Outline
from onnx_conformance.findings.finding import (
    BACK,
    FIXED,
    GRAVITY,
    OPEN,
    Example,
    FailingCases,
    Finding,
    Findings,
    History,
    Identity,
)
from onnx_conformance.findings.smallest import Budget, Smallest
from onnx_conformance.minimize import reducer
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.processes.asker import Asker
from onnx_conformance.report import findings_text as report
from onnx_conformance.results import stream
from onnx_conformance.results.severity import Nature, Severity
from onnx_conformance.results.stream import Run
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.lookup import find_case, plan_if_declarable
from onnx_conformance.suites.selection import Selection
from refusals import refuses
from runs import TOOLS, result, results_of_tools, run_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from onnx_conformance.case.case import Case
    from onnx_conformance.findings.earlier import Earlier

pytestmark = pytest.mark.slow

# What is apart

APART = [
    ({}, ""),
    ({"readings": ("R4",)}, "it rests on R4"),
    ({"reworded": "1.20.0"}, "onnx 1.20.0 introduced the present wording of its sentence"),
    ({"mismatch": {"relative": 1e-6}}, "rounding"),
    ({"mismatch": {"relative": 0.004, "ulp": 3}}, "rounding"),
    ({"mismatch": {"relative": 0.004, "ulp": -4}}, ""),
    ({"mismatch": {"relative": 1e-6, "ulp": 2, "beyond": [-1, 1]}}, ""),
    ({"mismatch": {"relative": 0.5}}, ""),
    ({"mismatch": {"relative": None}}, ""),
    ({"mismatch": {"relative": 3.0, "absolute": 6e-8, "wanted": ("0.0", "-10.269483", "inf")}}, "rounding"),
    ({"mismatch": {"relative": 3.0, "absolute": 6e-8, "wanted": ("0.0", "-0.01", "nan")}}, ""),
    (
        {
            "mismatch": {"relative": 3.0, "absolute": 6e-8, "wanted": ("0.0", "-10.27")},
            "case": "ai.onnx/Split/18/x/double",
        },
        "",
    ),
    ({"mismatch": {"relative": 0.3, "absolute": 1, "wanted": ("'3'", "abc")}}, ""),
    (
        {"mismatch": {"relative": 0.02, "absolute": 0.02, "expected": "1.0"}, "case": "ai.onnx/Split/18/x/bfloat16"},
        "rounding",
    ),
    ({"mismatch": {"relative": 0.02, "absolute": 0.02, "expected": "1.0"}}, ""),
    ({"verdict": Verdict.REFUSED, "message": "Type 'tensor(float)' of input 0 is invalid"}, ""),
    ({"verdict": Verdict.REFUSED, "message": "Resize: not implemented for rank 2"}, "missing support"),
    ({"verdict": Verdict.REFUSED, "message": "shape input must be constant"}, "missing support"),
    (
        {"verdict": Verdict.REFUSED, "message": "Pad ToTypedTranslator Caused by: Expect padding to be constant"},
        "missing support",
    ),
    ({"verdict": Verdict.REFUSED, "message": "expected axes as a constant"}, "missing support"),
    ({"verdict": Verdict.REFUSED, "message": "StridedSlice is typable only if axis is a const"}, "missing support"),
    ({"verdict": Verdict.REFUSED, "message": "this operator only supports 4-D inputs"}, "missing support"),
    ({"verdict": Verdict.REFUSED, "message": "Only 4-D or 5-D tensor is supported"}, "missing support"),
    ({"verdict": Verdict.DECLINED, "message": "not implemented: only supports 4-D inputs"}, ""),
    ({"verdict": Verdict.FALLBACK, "message": "nodes: ai.onnx/Abs on CPU is not supported"}, ""),
    ({"verdict": Verdict.ACCEPTED_INVALID, "force": "must"}, ""),
    ({"verdict": Verdict.ACCEPTED_INVALID, "force": "must", "clauses": ("X must be 1, Y should be 2.",)}, ""),
    (
        {"verdict": Verdict.ACCEPTED_INVALID, "force": "must", "clauses": ("X should differ. Y is not supported.",)},
        "should",
    ),
    (
        {"verdict": Verdict.ACCEPTED_INVALID, "force": "must", "clauses": ("A.", "1-dim expansion doesn't work yet.")},
        "missing feature",
    ),
    ({"verdict": Verdict.REFUSED, "message": "reflect is implemented for 3 dimensions"}, "missing support"),
    ({"verdict": Verdict.REFUSED, "message": "Need splits to be a constant and explicit"}, "missing support"),
    ({"verdict": Verdict.REFUSED, "message": "Caused by: shape input is variable"}, "missing support"),
    (
        {"verdict": Verdict.REFUSED, "message": "'input == CV_32F || input == CV_8S' where 4 (CV_32S)"},
        "missing support",
    ),
    ({"verdict": Verdict.REFUSED, "message": "Assertion failed: repeats_.dims == 1"}, ""),
    ({"verdict": Verdict.ACCEPTED_INVALID, "force": "should"}, "no must"),
    ({"readings": ("R1", "R3")}, "it rests on R1, R3"),
    ({"verdict": Verdict.REFUSED, "readings": ("R1", "R3")}, "it rests on R1"),
    ({"verdict": Verdict.CRASH, "readings": ("R2", "R10")}, ""),
    ({"verdict": Verdict.WRONG_SHAPE, "readings": ("R4",)}, ""),
    ({"verdict": Verdict.CRASH, "readings": ("R6",)}, "it rests on R6"),
    ({"verdict": Verdict.CRASH, "readings": ("R0",)}, "it rests on R0"),
]


@pytest.mark.parametrize(("fields", "why"), APART)
def test_what_does_not_count_says_why(fields: dict[str, Any], why: str) -> None:
    failure = dataclasses.replace(result(verdict=Verdict.WRONG_VALUE), **fields)
    said = failure_groups.apart(failure, "1.19.0")
    assert (why in said) if why else not said, said


@pytest.mark.parametrize("kind", [Verdict.ACCEPTED_INVALID, Verdict.CRASH])
def test_an_accepted_model_counts_only_for_a_checker(tmp_path: Path, kind: Verdict) -> None:
    hellos = {name: {"runtime": name, "version": "1", "subject": name} for name in ("runtime", "checker")}
    failures = [result(text, kind, backend=name, clauses=(text,), force="must") for name in hellos for text in "AB"]
    groups, _ = failure_groups.failure_groups(
        run_of(tmp_path / "x.ndjson", *failures, hellos=hellos), None, Selection()
    )
    accepted = kind is Verdict.ACCEPTED_INVALID
    for name, why in (("runtime", failure_groups.NOT_REQUIRED if accepted else ""), ("checker", "")):
        assert {group.apart for group in groups if group.backend == name} == {why}


LIMIT = {"sentence": "shapes must be known", "link": "https://example.org/limits", "forms": ["symbolic"]}


def test_a_documented_limit_excuses_refusals_alone() -> None:
    limits = (Limit.of(LIMIT),)
    refusal = result(verdict=Verdict.REFUSED, form="symbolic", message="dim is none")
    assert failure_groups.apart(refusal, "", limits) == (
        "a documented limit of the runtime: shapes must be known (https://example.org/limits)"
    )
    for other in ({"form": "plain"}, {"verdict": Verdict.WRONG_VALUE}, {"verdict": Verdict.CRASH}):
        assert not failure_groups.apart(dataclasses.replace(refusal, **other), "", limits)  # type: ignore[arg-type]
    compiler = Limit.of({**LIMIT, "compiler": True})
    assert failure_groups.apart(refusal, "", (compiler,)).startswith("a limit of an ahead-of-time compiler: ")
    empty = Limit.of({"sentence": "no empty tensors", "link": "https://example.org", "empty": True})
    assert empty.excuses(result(expected="float[2,0]"))
    assert not empty.excuses(result(expected="float[2,10] 0"))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"form": []}, "form"), ({"link": "http://x"}, "link"), ({"sentence": ""}, "sentence"),
        ({"forms": []}, "every refusal"),
    ],
)  # fmt: skip
def test_a_limit_that_excuses_too_much_is_refused(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        Limit.of({**LIMIT, **changes})


def test_the_sentence_that_passing_cases_do_not_cite_decides() -> None:
    failures = tuple(result(f"case{n}", clauses=("All say this.", "Some say that.")) for n in range(2))
    group = failure_groups.FailureGroup("mine", "1", "ai.onnx/Split", Verdict.WRONG_VALUE, (), failures)
    passed = Counter({"All say this.": 5})
    assert failure_groups._with_deciding(group, passed).deciding == ("Some say that.", "All say this.")


def test_a_script_begins_with_the_model_and_the_call() -> None:
    hello = {"runtime": "mine", "repro": "outputs = mine.run(model, inputs)\n"}
    text = script.text(find_case("ai.onnx/Split/18/uneven_two"), "mine", hello, "A title", clause="A sentence.")
    parts = ("The text: «A sentence.»", "parse_model", "inputs = {", "mine.run(", "assert", "subprocess.run(")
    places = [text.index(part) for part in parts]
    assert places == sorted(places), text
    assert "\nSplit_18_uneven_two (" in text, "the text of a model must not be indented"


def test_the_ledger_survives_an_update(tmp_path: Path) -> None:
    item = plain("a", "ai.onnx/Sin", "message", title="Sin: wrong")
    reported = {"link": "https://example.org/1", "date": "2026-11-27"}
    answered = {"state": "declined", "reason": "as designed", "link": "https://example.org/1#2"}
    history = dataclasses.replace(item.history, reported=reported, answered=answered)
    findings_file.write(tmp_path, Findings({}, {}, (dataclasses.replace(item, history=history),)))
    read = findings_file.read(tmp_path).findings[0].history
    assert (read.reported, read.answered) == (reported, answered)
    with refuses("findings-invalid"):
        text = (tmp_path / findings_file.FILE).read_text().replace('"declined"', '"ignored"')
        (tmp_path / findings_file.FILE).write_text(text)
        findings_file.read(tmp_path)


def test_reports_are_written_for_causes_that_nobody_reported(tmp_path: Path) -> None:
    common = plain("common", "ai.onnx/Sin", "no", title="Sin: wrong")
    common = dataclasses.replace(common, severity=Severity(Nature.TYPICAL, 3))
    rare = plain("rare", "ai.onnx/Cos", "pool.cc:7: gone", title="Cos: <b>wrong</b>")
    told = plain("told", "ai.onnx/Tan", "other", title="Tan: wrong")
    history = dataclasses.replace(told.history, reported={"link": "https://example.org"})
    told = dataclasses.replace(told, history=history)
    findings_file.write(tmp_path / "f", Findings({}, {}, (rare, told, common), {"rare": "print('rare')\n"}))
    done = command("findings", "--folder", tmp_path / "f", "--report", tmp_path / "out")
    assert done.status == 0, done.text
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["01-common.md", "02-rare.md"]
    text = (tmp_path / "out" / "02-rare.md").read_text()
    assert "<b>" not in text
    assert "Suspected place in the source: `pool.cc:7`" in text
    assert "print('rare')" in text
    shown = command("findings", "--folder", tmp_path / "f", "--script", "rare")
    assert (shown.status, shown.out) == (0, "print('rare')\n\n")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--script", "rar"), "no-such-finding"),
        (("--script", "rare", "--report", "x"), "findings-shown-and-made"),
        ((), "no-results-for-findings"),
        ((__file__, "--search-again"), "search-again-without-update"),
    ],
)  # fmt: skip
def test_showing_nothing_is_one_line(words: tuple[str, ...], problem: str, tmp_path: Path) -> None:
    findings_file.write(tmp_path / "f", Findings({}, {}, (plain("rare", "ai.onnx/Cos", "gone", title="Cos: wrong"),)))
    done = command("findings", "--folder", tmp_path / "f", *words)
    assert (done.status, done.err.count("\n")) == (2, 1), done.text
    assert f"[{problem}]" in done.err, done.text


def test_a_sentence_of_its_own_time_is_no_excuse() -> None:
    assert not failure_groups.apart(result(verdict=Verdict.WRONG_VALUE, reworded="1.20.0"), "1.21.0")


# The script

RUNTIME = """
import os
import signal
import time

import numpy as np


class Failed(Exception):
    pass


def run(model, inputs):
    values = {"a": np.asarray([1.0], np.float32)}
    data = next(iter(inputs.values()))
    BODY
"""
REPRO = "import faulty_runtime\n\noutputs = faulty_runtime.run(model, inputs)\n"
RIGHT = "return [data.copy()]"
BODIES = [
    (RIGHT, 0, "", None),
    ("return [data + 1]", 1, "wrong", Verdict.WRONG_VALUE),
    ("return [data[..., None]]", 1, "wrong", Verdict.WRONG_SHAPE),
    ("return [data.astype(np.float64)]", 1, "wrong", Verdict.WRONG_TYPE),
    ("return [data, data]", 1, "wrong", Verdict.WRONG_COUNT),
    ("raise Failed('no')", 1, "refused", Verdict.REFUSED),
    ("raise type('Panic', (BaseException,), {})('min > max')", 1, "refused", Verdict.REFUSED),
    ("raise SystemExit('ended by signal 6')", 1, "crash", Verdict.CRASH),
    ("os.kill(os.getpid(), signal.SIGSEGV)", 1, "crash", Verdict.CRASH),
    ("os._exit(6)", 1, "crash", Verdict.CRASH),
    ("time.sleep(60)", 1, "timeout", Verdict.TIMEOUT),
    ("raise ImportError('no library')", 2, "", None),
]


@pytest.fixture
def identity() -> Case:
    (case,) = Generated().cases(Selection(ops=("Identity/13",), ids=frozenset({"ai.onnx/Identity/13/matrix"})))
    return case


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that holds a runtime; scripts run in it, on this Python."""
    monkeypatch.setattr(confirm, "place", lambda _backend, _version: Place(sys.executable, None))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(script, "SECONDS", 10)
    return tmp_path


def said_by(folder: Path, body: str, case: Case) -> Said:
    (folder / "faulty_runtime.py").write_text(RUNTIME.replace("BODY", body))
    hello = {"runtime": "faulty", "version": "1", "repro": REPRO}
    text = script.text(case, "faulty", hello, 'a title """ with quotes \\')
    return confirm.run(confirm.place("faulty", "1"), text)


@pytest.mark.parametrize(("body", "status", "word", "kind"), BODIES)
def test_a_script_says_whether_the_fault_is_there(
    body: str, status: int, word: str, kind: Verdict | None, identity: Case, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind is Verdict.TIMEOUT:
        monkeypatch.setattr(script, "SECONDS", 1)
    said = said_by(here, body, identity)
    assert said.status == status, said
    assert (script.THERE + word in said.text) is bool(word), said
    assert (script.GONE in said.text) is (status == 0), said
    assert all(script.shows(said.text, each) is (kind is not None and _alike(each, kind)) for each in GRAVITY), said


def _alike(one: Verdict, other: Verdict) -> bool:
    """Return whether a script says the same of both kinds: it tells wrong values, shapes and types by their message."""
    told = {kind for kind in GRAVITY if kind not in script.WORDS}
    if one in UNMET_CLAIMS:  # The runtime refuses: without the provider's report, a script cannot tell these apart.
        one = Verdict.REFUSED
    return one is other or {one, other} <= told or (one is Verdict.INVALID_MODEL and other in told)


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [("raise Failed('no')", 0, ""), (RIGHT, 1, "accepted"), ("os.kill(os.getpid(), signal.SIGSEGV)", 1, "crash")],
)
def test_a_script_of_a_forbidden_model_expects_a_refusal(
    body: str, status: int, word: str, identity: Case, here: Path
) -> None:
    case = dataclasses.replace(identity, outcome=Outcome.REJECTS, expected=None, detail="forbidden", force="must")
    said = said_by(here, body, case)
    assert said.status == status, said
    assert (script.THERE + word in said.text) is bool(word), said


def test_what_a_script_has_started_ends_with_it(here: Path) -> None:
    text = (
        "import pathlib, subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(100)'], stdout=subprocess.DEVNULL,"
        " stderr=subprocess.DEVNULL)\n"
        f"pathlib.Path({str(here / 'pid')!r}).write_text(str(child.pid))\n"
    )
    assert confirm.run(Place(sys.executable, None), text).status == 0
    number = int((here / "pid").read_text())
    for _ in range(100):
        state = Path(f"/proc/{number}/stat")
        if not state.exists() or state.read_text().split()[2] == "Z":
            return
        time.sleep(0.05)
    pytest.fail("it goes on")


# From a run to findings


@pytest.fixture(scope="module")
def softmax(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return results of onnx.reference, which takes Softmax 11 for Softmax 13."""
    path = tmp_path_factory.mktemp("results") / "results.ndjson"
    done = command(
        "run", "--core", "--op", "Softmax/11", "--op", "Relu/14", "--backend", "onnx_reference", "--results", path
    )
    assert done.status == 1, done.text
    return path


def made(folder: Path, results: Path, *words: str) -> Findings:
    done = command(
        "findings", results, "--folder", folder, "--jobs", "1", "--seconds", "2", "--other", "onnxruntime", *words
    )
    assert done.status in {0, 1}, done.text
    return findings_file.read(folder)


@pytest.fixture(scope="module")
def folder(softmax: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(confirm, "place", lambda _backend, _version: Place(sys.executable, None))
        target = tmp_path_factory.mktemp("findings") / "new"
        made(target, softmax)
    return target


def test_failures_become_a_finding_with_its_sentence_and_a_script(folder: Path) -> None:
    found = findings_file.read(folder)
    assert found.counted
    first = found.counted[0]
    assert (first.identity.backend, first.identity.operator, first.identity.kind) == (
        "onnx_reference",
        "ai.onnx/Softmax",
        Verdict.WRONG_VALUE,
    )
    assert re.fullmatch(r"Softmax \([\d, ]+\): (.* -> )?returns .* \(expected .*\)", first.title), first.title
    assert first.cases.clause
    assert first.cases.versions == (1, 11), (
        "found in version 11, and confirmed in version 1, which has the same meaning"
    )
    assert first.example.expected != first.example.given
    assert first.history.state == OPEN
    assert first.history.confirmed["exit"] == 1
    version = metadata.version("onnxruntime")
    assert first.example.others == ({"backend": "onnxruntime", "version": version, "verdict": "pass", "given": ""},)
    assert not [item for item in found.findings if item.identity.operator == "ai.onnx/Relu"]
    text = (folder / first.script).read_text()
    assert "harness" not in text
    said = confirm.run(Place(sys.executable, None), text)
    assert said.status == 1, said


def test_its_readme_ranks_them_and_links_their_scripts(folder: Path) -> None:
    text = (folder / "README.md").read_text()
    for item in findings_file.read(folder).findings:
        assert item.script in text
    assert "onnx.reference 1.23.2" in text


def test_what_is_written_is_what_is_read(folder: Path, tmp_path: Path) -> None:
    found = findings_file.read(folder)
    assert found.scripts
    findings_file.write(tmp_path, found)
    assert findings_file.read(tmp_path) == found
    assert '"guilty"' not in (tmp_path / findings_file.FILE).read_text(), "only optimizers have passes"
    first, *others = found.findings
    example = dataclasses.replace(first.example, guilty=("a", "b"))
    guilty = dataclasses.replace(found, findings=(dataclasses.replace(first, example=example), *others))
    findings_file.write(tmp_path, guilty)
    assert findings_file.read(tmp_path) == guilty
    assert "guilty together: a, b" in report.markdown(guilty)
    assert any("guilty together: a, b" in text for text in report.lines(guilty, ()))


@pytest.mark.slow
@pytest.mark.parametrize("reported", [False, True])
def test_a_finding_that_does_not_count_any_more_is_left_out_unless_it_was_reported(
    folder: Path, softmax: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, reported: bool
) -> None:
    monkeypatch.setattr(confirm, "place", lambda _backend, _version: Place(sys.executable, None))
    monkeypatch.setattr(failure_groups, "apart", lambda *_: failure_groups.LACKS)
    before = findings_file.read(folder)
    if reported:
        histories = [dataclasses.replace(item.history, reported={"link": "https://x.org"}) for item in before.findings]
        pairs = zip(before.findings, histories, strict=True)
        before = dataclasses.replace(before, findings=tuple(dataclasses.replace(a, history=b) for a, b in pairs))
    findings_file.write(tmp_path / "f", before)
    found = made(tmp_path / "f", softmax, "--update")
    assert len(before.counted) > 0
    assert [item.id for item in found.counted] == ([item.id for item in before.counted] if reported else [])


@pytest.mark.parametrize(("tools", "why"), [({"onnxslim"}, "mine"), (set(), "")])
def test_a_fault_of_the_runtime_inside_a_tool_does_not_count(
    monkeypatch: pytest.MonkeyPatch, tools: set[str], why: str
) -> None:
    monkeypatch.setattr(collect, "runtime_at_fault", lambda item: "mine" if item.id == "a" else "")
    of_tool = [plain(name, "ai.onnx/Sin", "no", backend="onnxslim") for name in "ab"]
    collected = collect.Collected(Findings({}, {}, tuple(of_tool)))
    collect._set_those_of_runtimes_apart(collected, tools)
    one, other = collected.findings.findings
    assert one.identity.apart == (f"{why}, which is inside this tool, has the same fault" if why else "")
    assert not other.identity.apart


def test_the_tools_of_a_run_are_its_backends_that_are_no_runtimes(tmp_path: Path) -> None:
    run = run_of(tmp_path / "x.ndjson", *results_of_tools(), hellos=TOOLS)
    assert collect._tools([(run, None)]) == set(TOOLS) - {"mine"}


@pytest.mark.slow
@pytest.mark.usefixtures("anywhere")
def test_the_runtime_inside_a_tool_runs_its_smallest_cases_and_its_faults_do_not_count(
    softmax: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collect, "_tools", lambda _runs: {"onnx_reference"})
    monkeypatch.setattr(collect, "runtime_inside", lambda _backend: "onnxruntime")
    asked: list[list[str]] = []

    def at_fault(item: Finding) -> str:
        asked.append([other["backend"] for other in item.example.others])
        return "onnxruntime"

    monkeypatch.setattr(collect, "runtime_at_fault", at_fault)
    done = command("findings", softmax, "--folder", tmp_path / "f", "--jobs", "1", "--seconds", "2")
    assert done.status == 0, done.text
    found = findings_file.read(tmp_path / "f")
    assert asked
    assert asked[0][-1] == "onnxruntime"
    assert not found.counted
    assert "onnxruntime, which is inside this tool, has the same fault" in {i.identity.apart for i in found.apart}


def test_of_new_findings_with_one_cause_the_one_with_the_old_reason_takes_the_old_id() -> None:
    old = plain("old", "ai.onnx/Sin", "no", cause="c")
    read = dataclasses.replace(old, id="new", identity=dataclasses.replace(old.identity, apart="a reading"))
    own = Outline(frozenset(), ())
    confirmed = [Evidence(item, "", cast("Case", None), own, "") for item in (read, old)]
    collected = collect.Collected(Findings({}, {}, ()))
    collect._update(collected, confirmed, {"old": old})
    assert {item.id: item.identity.apart for item in collected.findings.findings} == {"old": "", "new": "a reading"}


def test_a_finding_keeps_its_id_if_the_reason_why_it_does_not_count_changes() -> None:
    old, other = plain("old", "ai.onnx/Sin", "no", cause="c"), plain("other", "ai.onnx/Sin", "no", cause="d")
    old = dataclasses.replace(old, identity=dataclasses.replace(old.identity, apart="a reading"))
    new = plain("new", "ai.onnx/Sin", "no", cause="c")
    assert collect._same([other, old], new) == old
    exact = dataclasses.replace(new, id="exact")
    assert collect._same([old, exact], new) == exact, "the one with the same reason"
    assert collect._same([other], new) is None


def test_cases_that_do_not_fail_and_failures_that_do_not_count_are_set_apart(tmp_path: Path) -> None:
    results = [
        result("passes"), result("undecided", Verdict.UNSPECIFIED),
        result("read", Verdict.WRONG_VALUE, readings=("R2",)),
        result("wrong", Verdict.WRONG_VALUE), result("skipped", Verdict.UNSUPPORTED),
    ]  # fmt: skip
    apart = failure_groups.set_apart(run_of(tmp_path / "x.ndjson", *results), Selection())
    assert apart == {("mine", item.case) for item in results[:3]}


def test_a_finding_whose_cases_are_not_known_stays() -> None:
    old = plain("old", "ai.onnx/Sin", "no")
    kept = {"old": old, "new": dataclasses.replace(old, cases=FailingCases(1, ids=("ai.onnx/Sin/7/a",)))}
    left = collect._without_apart(kept, [{("mine==1", "ai.onnx/Sin/7/a")}], collect.Collected(Findings({}, {}, ())))
    assert list(left) == ["old"]


def replaced(*failing: str, known: str = "", new_known: str = "", state: str = OPEN) -> dict[str, str]:
    """Return what is left of an old finding with the cases a and b and a new one with a: the ids, and the links."""
    old, new = plain("old", "ai.onnx/Sin", "no"), plain("new", "ai.onnx/Sin", "no")
    history = dataclasses.replace(old.history, state=state, issue=known)
    old = dataclasses.replace(old, cases=FailingCases(2, ids=("a", "b")), history=history)
    new = dataclasses.replace(new, history=dataclasses.replace(new.history, issue=new_known))
    collected = collect.Collected(Findings({}, {}, (old, new)))
    backend = old.identity.backend
    collect._leave_out_replaced(collected, {"new": frozenset({"a"})}, {(backend, case) for case in failing})
    assert bool(collected.notes) == (len(collected.findings.findings) == 1)
    return {item.id: item.history.issue for item in collected.findings.findings}


def test_an_old_finding_whose_failures_a_new_one_contains_is_left_out() -> None:
    assert list(replaced("a")) == ["new"], "b does not fail any more, or is not in the results"
    assert list(replaced("a", "b")) == ["old", "new"], "no new finding contains b"
    assert list(replaced("b")) == ["old", "new"]
    assert list(replaced()) == ["old", "new"], "nothing is known about its cases"
    assert list(replaced("a", state=FIXED)) == ["old", "new"], "it shows since when the fault is gone"


def test_the_link_of_an_old_finding_goes_to_the_new_one_that_contains_it() -> None:
    assert replaced("a", known="x") == {"new": "x"}
    assert replaced("a", known="x", new_known="x") == {"new": "x"}
    assert replaced("a", new_known="y") == {"new": "y"}
    assert replaced("a", known="x", new_known="y") == {"old": "x", "new": "y"}, "a link would be lost"


@pytest.mark.slow
def test_findings_of_before_are_not_overwritten(folder: Path, softmax: Path) -> None:
    done = command("findings", softmax, "--folder", folder)
    assert done.status == 2
    assert "--update" in done.err


@pytest.fixture
def anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let scripts run on this Python."""
    monkeypatch.setattr(confirm, "place", lambda _backend, _version: Place(sys.executable, None))


def copied(folder: Path, target: Path) -> Path:
    """Return a copy of a folder of findings, the first of which has a link."""
    data = json.loads((folder / findings_file.FILE).read_text())
    data["findings"][0]["issue"] = "https://example.org/1"
    target.mkdir(parents=True)
    (target / findings_file.FILE).write_text(json.dumps(data))
    return target


def statuses(monkeypatch: pytest.MonkeyPatch, *numbers: int) -> None:
    """Let scripts exit so, run after run; the last one from then on."""
    left = list(numbers)

    def run_all(_backend: str, _version: str, texts: Iterable[str], _jobs: int) -> Iterator[Said]:
        status = left.pop(0) if len(left) > 1 else left[0]
        yield from (Said(status, f"{script.THERE}wrong" if status else script.GONE) for _ in texts)

    monkeypatch.setattr(confirm, "run_all", run_all)


def changed(folder: Path, **members: str) -> None:
    """Change members of all findings of a folder, and their scripts: one that is the same as a new one is run once."""
    data = json.loads((folder / findings_file.FILE).read_text())
    for item in (*data["findings"], *data["apart"]):
        item.update(members)
        item["script"].append("# as it was")
    (folder / findings_file.FILE).write_text(json.dumps(data))


@pytest.mark.usefixtures("anywhere")
def test_a_fault_that_is_gone_is_fixed_and_may_come_back(
    folder: Path, softmax: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = copied(folder, tmp_path / "findings")
    before = findings_file.read(target)
    # First the new groups' scripts, then those of before: a script that another fault of this operator has.
    statuses(monkeypatch, 1, 1)
    again = made(target, softmax, "--update")
    assert {item.id for item in again.findings} == {item.id for item in before.findings}
    assert [item.history.issue for item in again.counted if item.history.issue] == ["https://example.org/1"]
    assert {item.history.state for item in again.findings} == {OPEN}

    statuses(monkeypatch, 1, 0)  # The new script shows it, those of before do not.
    changed(target, version="0.1")
    assert {item.history.state for item in made(target, softmax, "--update").findings} <= {FIXED, BACK}
    statuses(monkeypatch, 1, 1)
    changed(target, state=FIXED)
    back = made(target, softmax, "--update")
    assert {item.history.state for item in back.counted} == {BACK}
    assert [event["state"] for event in back.counted[0].history.events][-1] == BACK
    assert back.counted[0].history.issue == "https://example.org/1"


def test_an_interrupted_command_asks_no_script_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", str(tmp_path))
    monkeypatch.setattr(
        confirm, "place", lambda _backend, version: Place(sys.executable, None, (), f"made of {version}")
    )
    asked: list[str] = []

    def run(_where: Place, text: str) -> Said:
        if text == "stop":
            raise KeyboardInterrupt
        asked.append(text)
        return Said(1, f"said by {text}")

    monkeypatch.setattr(confirm, "run", run)
    with pytest.raises(KeyboardInterrupt):
        list(confirm.run_new("tool", "1", ["a", "b", "stop"], 1))
    assert [said.text for said in confirm.run_new("tool", "1", ["c", "a", "b"], 1)] == [
        "said by c", "said by a", "said by b",
    ]  # fmt: skip
    assert asked == ["a", "b", "c"]
    list(confirm.run_new("tool", "2", ["a"], 1))
    assert asked[3:] == ["a"], "what another version says is not known"
    monkeypatch.setattr(confirm, "place", lambda _backend, _version: Place(sys.executable, None))
    for _ in range(2):
        list(confirm.run_new("tool", "1", ["a"], 1))
    assert asked[4:] == ["a", "a"], "nobody knows what is installed there"


@pytest.mark.usefixtures("anywhere")
def test_what_no_run_shows_any_more_is_fixed(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = copied(folder, tmp_path / "findings")
    path = tmp_path / "passes.ndjson"
    assert command("run", "--core", "--op", "Relu/14", "--backend", "onnx_reference", "--results", path).status == 0
    statuses(monkeypatch, 0)
    same = command("findings", path, "--folder", target, "--update", "--jobs", "1")
    assert {item.history.state for item in findings_file.read(target).findings} == {OPEN}, "nothing was mended"
    assert "its script passes here" in same.text
    changed(target, version="0.1")
    done = command("findings", path, "--folder", target, "--update", "--jobs", "1")
    assert done.status == 0, done.text
    fixed = findings_file.read(target)
    assert {item.history.state for item in fixed.findings} == {FIXED}
    assert [event["state"] for event in fixed.findings[0].history.events] == [OPEN, FIXED]


def test_what_looks_like_a_marker_in_a_script_stays(tmp_path: Path) -> None:
    own = plain("a", "ai.onnx/Add", "message", title="The title of this finding")
    texts = {"a": "The title of this finding\n\nhas ⟨title⟩ and ⟨model⟩\n\n", "b": ""}
    other = plain("b", "ai.onnx/Add", "message", title="The title of this finding")
    findings_file.write(tmp_path, Findings({}, {}, (own, other), texts))
    assert "⟨title⟩" in (tmp_path / findings_file.FILE).read_text(encoding="utf-8")
    assert findings_file.read(tmp_path).scripts == texts


@pytest.mark.slow
def test_scripts_are_written_from_the_findings_alone(folder: Path, tmp_path: Path) -> None:
    done = command("scripts", folder, "--out", tmp_path)
    assert done.status == 0, done.text
    for path in [folder / "README.md", *(folder / "scripts").iterdir()]:
        assert (tmp_path / path.relative_to(folder)).read_bytes() == path.read_bytes()
    assert command("scripts", tmp_path / "scripts").status == 2


def test_a_group_whose_script_does_not_show_it_is_no_finding(
    softmax: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    statuses(monkeypatch, 0)
    done = command("findings", softmax, "--folder", tmp_path, "--jobs", "1", "--seconds", "1", "--other", "onnxruntime")
    assert done.status == 0, done.text
    assert "are no findings, because no script reproduces them" in done.out
    assert not findings_file.read(tmp_path).findings


@pytest.mark.usefixtures("anywhere")
def test_a_case_that_stays_too_large_is_no_finding_and_is_told(
    softmax: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collect, "MOST_SCRIPT", 100)
    done = command("findings", softmax, "--folder", tmp_path, "--jobs", "1", "--seconds", "1", "--other", "onnxruntime")
    assert done.status == 0, done.text
    assert "the script of its smallest case is too long" in done.out
    assert not findings_file.read(tmp_path).findings


@pytest.fixture
def searches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the id of each case from which a search for a smaller one starts. The cache is empty."""
    monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", str(tmp_path / "cache"))
    started: list[str] = []
    run = reducer._Reducer.run

    def counted(own: reducer._Reducer) -> None:
        started.append(own.first.case.id)
        run(own)

    monkeypatch.setattr(reducer._Reducer, "run", counted)
    return started


@pytest.mark.usefixtures("anywhere")
def test_an_update_takes_the_smallest_cases_of_old_findings(
    folder: Path, softmax: Path, tmp_path: Path, searches: list[str]
) -> None:
    before = findings_file.read(folder)
    target = copied(folder, tmp_path / "findings")
    again = made(target, softmax, "--update")
    examples = [{item.id: item.example for item in found.findings} for found in (before, again)]
    assert examples[0] == examples[1]
    assert not searches
    made(target, softmax, "--update", "--search-again")
    assert searches


@pytest.mark.usefixtures("anywhere")
def test_a_case_is_searched_again_if_the_old_one_does_not_fail_in_the_same_way(
    folder: Path, softmax: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, searches: list[str]
) -> None:
    of = OldFindings.of

    def passing(old: OldFindings, group: failure_groups.FailureGroup) -> tuple[Earlier, ...]:
        model = '<ir_version: 7, opset_import: ["" : 11]> g (float[1] input) => (float[1] y) { y = Softmax (input) }'
        passes = {"minimized": True, "model": model, "inputs": (("input", "float[1] 0"),)}
        return tuple(dataclasses.replace(item, **passes) for item in of(old, group))

    monkeypatch.setattr(OldFindings, "of", passing)
    again = made(copied(folder, tmp_path / "findings"), softmax, "--update")
    assert {item.id for item in again.findings} == {item.id for item in findings_file.read(folder).findings}
    assert searches


def test_an_old_case_of_another_group_counts_only_if_it_fails_in_the_same_way(softmax: Path) -> None:
    one = groups_of(softmax)[0]
    other = dataclasses.replace(one, results=(result(),))
    case = find_case(one.results[0].case)
    small = reducer.minimize(
        case, plan_if_declarable(case), backend_names.resolve("onnx_reference"), Limits(timeout=20), 1
    )
    assert smallest._is_of(small, one, Generated())
    assert not smallest._is_of(small, other, Generated())


@pytest.mark.usefixtures("anywhere")
def test_a_script_that_an_old_finding_has_too_is_run_once(
    folder: Path, softmax: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", str(tmp_path / "cache"))
    ran: list[str] = []
    run = confirm.run

    def counted(where: Place, text: str) -> Said:
        ran.append(text)
        return run(where, text)

    monkeypatch.setattr(confirm, "run", counted)
    target = copied(folder, tmp_path / "findings")
    data = json.loads((target / findings_file.FILE).read_text())
    items = [*data["findings"], *data["apart"]]
    assert len(items) > 1
    items[0]["title"] = "Softmax: another title"  # No part of the program.
    items[-1]["script"].append("# as it was")
    (target / findings_file.FILE).write_text(json.dumps(data))
    assert "another title" in findings_file.read(target).scripts[data["findings"][0]["id"]]
    made(target, softmax, "--update")
    assert len(ran) == len(set(map(script.program_of, ran)))
    assert [text.rstrip().endswith("# as it was") for text in ran] == [False] * (len(ran) - 1) + [True]


def test_a_finding_of_two_groups_lists_cases_of_both() -> None:
    """By them, the next update finds its smallest case for each group."""
    assert collect._of_both(("a", "b"), ("c",)) == ("a", "c", "b")
    assert collect._of_both(("a", "b"), ("b", "c")) == ("a", "b", "c")
    many = [str(number) for number in range(30)]
    assert collect._of_both(many[:20], many[20:])[:4] == ("0", "20", "1", "21")
    assert len(collect._of_both(many[:20], many[20:])) == 20


def test_one_cause_is_one_finding_and_ids_are_stable(folder: Path, softmax: Path, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(confirm, "place", lambda _backend, _version: Place(sys.executable, None))
        again = made(tmp_path / "again", softmax)
    assert [item.id for item in again.counted] == [item.id for item in findings_file.read(folder).counted]
    assert len({(item.identity.cause, item.identity.apart) for item in again.findings}) == len(again.findings)


def plain(
    name: str,
    operator: str,
    message: str,
    *,
    backend: str = "mine",
    kind: Verdict = Verdict.REFUSED,
    cause: str = "",
    versions: tuple[int, ...] = (),
    guilty: tuple[str, ...] = (),
    state: str = OPEN,
    title: str = "",
) -> Finding:
    return Finding(
        name,
        title,
        Identity(backend, operator, kind, cause or name),
        FailingCases(1, versions=versions),
        Example("case", "", {}, {}, {}, message, guilty=guilty),
        History("mine", "1", state),
    )


def groups_of(results: Path) -> list[failure_groups.FailureGroup]:
    return failure_groups.failure_groups(Run(results), Generated(), Selection())[0]


@pytest.mark.parametrize(
    ("mismatch", "counts"),
    [
        ({"expected": "-1.217", "ulp": 2}, False),
        ({"expected": "1e-05", "ulp": 3}, False),
        ({"expected": "1.5", "ulp": 4}, True),
        ({"expected": "1.5"}, True),
        ({"expected": "3", "ulp": 1}, True),  # An index that is off by one is another index.
        ({"expected": "0.0", "ulp": 1}, True),  # Memory that was not set.
        ({"expected": "-0.0", "ulp": 0}, True),
        ({"expected": "nan", "ulp": 0}, True),
        ({"expected": "1.0", "ulp": 1, "beyond": [-1, 1]}, True),  # The function has no values above 1.
    ],
)
def test_a_smallest_case_that_differs_by_few_units_in_the_last_place_does_not_count(
    mismatch: dict[str, object], *, counts: bool
) -> None:
    wrong = result("x", Verdict.WRONG_VALUE, mismatch={"where": "outputs[0]", **mismatch})
    assert (not failure_groups.apart_of_smallest(wrong)) is counts
    refused = dataclasses.replace(wrong, verdict=Verdict.REFUSED)
    assert not failure_groups.apart_of_smallest(refused)


def test_a_smallest_case_is_kept_until_something_that_it_depends_on_changes(
    softmax: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", str(tmp_path))
    one, budget = groups_of(softmax)[0], Budget(("generated", "x"), 2.0, 20.0)
    searched: list[str] = []
    search = smallest._search

    def counted(group: failure_groups.FailureGroup, budget: Budget, known: Sequence[Earlier]) -> Smallest | None:
        searched.append(group.version)
        return search(group, budget, known)

    monkeypatch.setattr(smallest, "_search", counted)
    first, kept = smallest.smallest(one, budget), smallest.smallest(one, budget)
    assert first is not None
    assert kept is not None
    assert len(searched) == 1
    assert stream.encoded(kept.result) == stream.encoded(first.result)
    assert (kept.given, kept.hello) == (first.given, first.hello)
    assert kept.case.digests() == first.case.digests()
    assert kept.case.expected is not None
    pickle.loads(pickle.dumps(kept))  # It comes from a process of its own.
    made = [evidence._made(one, found, Generated()) for found in (first, kept)]
    assert made[0].finding == made[1].finding
    assert made[0].script == made[1].script
    assert not made[0].finding.identity.apart
    rounding = dataclasses.replace(first.result, mismatch=dict(first.result.mismatch, expected="0.5", ulp=3))
    rounded = evidence._made(one, dataclasses.replace(first, result=rounding), Generated())
    assert rounded.finding.identity.apart == failure_groups.OF_ROUNDING
    for other in (
        (dataclasses.replace(one, version="2"), budget),
        (one, dataclasses.replace(budget, seconds=1.0)),
        (one, dataclasses.replace(budget, profile="[[claims]]\noperator = 'Softmax'")),
    ):
        smallest.smallest(*other)
    assert len(searched) == 4


LACKING = """
OPT_OUTS = (("NotImplementedError", "", "no kernel"),)


def info():
    return {"runtime": "lacking", "version": "1"}


def run(model, inputs, outputs):
    raise NotImplementedError("gone")
"""


def test_a_claimed_case_that_is_declined_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", str(tmp_path / "cache"))
    adapter, claims, results = tmp_path / "lacking.py", tmp_path / "claims.toml", tmp_path / "r.ndjson"
    adapter.write_text(LACKING)
    claims.write_text('[[claims]]\noperator = "Identity"\nversions = [13]\n')
    words = ("--op", "Identity/13", "--form", "plain", "--profile", claims, "--table", "none", "--groups", "1")
    command("run", *words, "--backend", adapter, "--results", results)
    group, *others = groups_of(results)
    assert {item.kind for item in (group, *others)} == {Verdict.DECLINED}
    budget = Budget(("generated", "x"), 2.0, 20.0, claims.read_text())
    found = smallest.smallest(group, budget)
    assert found is not None
    assert found.result.verdict is Verdict.DECLINED
    assert "claimed, but unsupported: 'no kernel: gone'" in evidence._made(group, found, Generated()).finding.title
    assert smallest.smallest(group, dataclasses.replace(budget, profile="")) is None


def outline(*features: str, difference: str = "far", operator: str = "ai.onnx/Sin", version: int = 7) -> Evidence:
    own = Outline(frozenset((text,) for text in features), (difference,))
    item = plain("-".join(features), operator, "", versions=(version,), cause=own.digest(operator), kind=Verdict.CRASH)
    return Evidence(item, "", cast("Case", None), own, "")


@pytest.mark.parametrize(
    ("others", "count"),
    [
        ([outline("a")], 1),
        ([outline("a", version=9)], 1),  # The same: that the version differs says nothing.
        ([outline("a", "scalar")], 1),  # It fails without the scalar already.
        ([outline("a", "scalar", version=9)], 2),  # In this version, nobody has seen that.
        ([outline("b")], 2),
        ([outline("a", "scalar", difference="nan")], 2),
        ([outline("a", "scalar", operator="ai.onnx/Cos")], 2),
        ([outline("a", "scalar"), outline("a", "empty"), outline("a", "scalar", "empty")], 1),
    ],
)
def test_what_fails_without_something_special_is_one_with_what_has_it(others: list[Evidence], count: int) -> None:
    merged = collect._merged([outline("a"), *others])
    assert len(merged) == count
    assert sum(item.finding.cases.count for item in merged) == 1 + len(others)
    for item in merged:
        versions = ", ".join(map(str, item.finding.cases.versions))
        assert len(item.finding.cases.versions) == 1 or f"({versions})" in item.finding.title


@pytest.mark.parametrize(
    ("kind", "first", "other", "kept"),
    [
        (Verdict.WRONG_VALUE, "Constrain output types.", "y = x + 1", "y = x + 1"),
        (Verdict.WRONG_VALUE, "y = x + 1", "Constrain output types.", "y = x + 1"),
        (Verdict.WRONG_VALUE, "y = x + 1", "y = x + 2", "y = x + 1"),
        (Verdict.WRONG_TYPE, "Constrain output types.", "y = x + 1", "Constrain output types."),
    ],
)
def test_of_two_joined_groups_the_sentence_stays_that_may_decide(
    kind: Verdict, first: str, other: str, kept: str
) -> None:
    def one(clause: str) -> Evidence:
        made = outline("a")
        finding_ = dataclasses.replace(
            made.finding,
            identity=dataclasses.replace(made.finding.identity, kind=kind),
            cases=dataclasses.replace(made.finding.cases, clause=clause),
        )
        return dataclasses.replace(made, finding=finding_, script=f"title\n{script.said(clause)}\ncode")

    joined = collect._joined(one(first), one(other))
    assert joined.finding.cases.clause == kept
    assert joined.script == f"title\n{script.said(kept)}\ncode"


def test_a_smallest_case_is_kept_while_its_own_operator_is_the_same() -> None:
    one, other = (
        failure_groups.FailureGroup("mine", "1", f"ai.onnx/{name}", Verdict.CRASH, (), (result(),))
        for name in ("Sin", "Cos")
    )
    before, now, kernels = (
        Budget(suite, 2.0, 20.0) for suite in (("generated", "a"), ("generated", "b"), ("kernels", "a"))
    )
    assert smallest._key(one, before) == smallest._key(one, now)
    assert len({smallest._key(one, now), smallest._key(other, now), smallest._key(one, kernels)}) == 3
    assert smallest._key(one, kernels) != smallest._key(one, dataclasses.replace(kernels, suite=("kernels", "b")))


def test_the_versions_that_a_runtime_lacks_are_known(tmp_path: Path) -> None:
    unsupported = result("new", Verdict.UNSUPPORTED, operator="ai.onnx/Split/18", outcome="values")
    forbidden = result("bad", Verdict.PASS, operator="ai.onnx/Split/18", outcome="rejects")
    crash = result("old", Verdict.CRASH, operator="ai.onnx/Split/13", outcome="values")
    made, _ = failure_groups.failure_groups(
        run_of(tmp_path / "r.ndjson", unsupported, forbidden, crash), None, Selection()
    )
    assert [(item.kind, item.lacks) for item in made] == [(Verdict.CRASH, frozenset({18}))]


def test_a_form_that_is_refused_is_no_fault_of_each_operator() -> None:
    refused = result(verdict=Verdict.REFUSED, message="m")
    of_form = dataclasses.replace(refused, form="unranked")
    for results, apart in (((of_form,), failure_groups.OF_FORM), ((of_form, refused), ""), ((refused,), "")):
        one = failure_groups.FailureGroup("mine", "1", "ai.onnx/Sin", Verdict.REFUSED, (), results)
        assert failure_groups._without_forms(one).apart == apart
    crash = failure_groups.FailureGroup("mine", "1", "ai.onnx/Sin", Verdict.CRASH, (), (of_form,))
    assert not failure_groups._without_forms(crash).apart


@pytest.mark.parametrize(("form", "apart"), [("unranked", failure_groups.OF_FORM), ("symbolic", "")])
def test_a_form_that_is_refused_is_apart_in_the_findings_of_a_run(form: str, apart: str, tmp_path: Path) -> None:
    refused = result(f"even@{form}", Verdict.REFUSED, form=form, message="m")
    made, _ = failure_groups.failure_groups(run_of(tmp_path / "r.ndjson", refused), None, Selection())
    assert [item.apart for item in made] == [apart]


def test_refusals_in_the_same_words_are_one_before_they_are_cut_down() -> None:
    said = [("a of 3 is bad", 7), ("a of 5 is bad", 9), ("b is bad", 9)]
    every = [
        failure_groups.FailureGroup("mine", "1", "ai.onnx/Sin", Verdict.REFUSED, ("x", f"v{n}"), (result(
            verdict=Verdict.REFUSED, message=text, operator=f"ai.onnx/Sin/{n}"),))
        for text, n in said
    ]  # fmt: skip
    joined = failure_groups._one_for_each_message(every)
    assert [(len(item.results), item.conditions) for item in joined] == [(2, ("x",)), (1, ("x", "v9"))]


def test_each_model_of_a_rewrite_has_failures_of_its_own(tmp_path: Path) -> None:
    """The fusion of one layer may be wrong in several ways, which no condition of its operator tells apart."""
    names = ("layer_of_bert_other_scale", "layer_of_bert_other_scale@constant_inputs", "layer_of_bert_mask_of_few")
    wrong = [result(name, Verdict.WRONG_VALUE, operator="ai.onnx/Softmax/13") for name in (*names, "mine", "yours")]
    made, _ = failure_groups.failure_groups(run_of(tmp_path / "r.ndjson", *wrong), None, Selection())
    names_of = sorted(tuple(failure.case.rpartition("/")[2] for failure in group.results) for group in made)
    assert names_of == [(names[2],), names[:2], ("mine", "yours")]


def test_models_of_one_rewrite_have_outlines_of_their_own() -> None:
    case = find_case("ai.onnx/Split/18/uneven_two")
    outlines = set()
    for name in ("layer_of_bert_other_scale", "layer_of_bert_mask_of_few", "uneven", "uneven_two"):
        of_model = dataclasses.replace(case, id=f"ai.onnx/Split/18/{name}_minimized")
        wrong = result(name, Verdict.WRONG_VALUE, mismatch={"where": "outputs[0]", "relative": 1})
        outlines.add(evidence._outline(smallest.Smallest(of_model, wrong, (), {}), ""))
    assert len(outlines) == 3


def test_the_same_fault_in_several_operators_is_told() -> None:
    findings = [
        plain("a", "ai.onnx/Sin", "Sin: input of rank 7 is too much"),
        plain("b", "ai.onnx/Cos", "Cos: input of rank 9 is too much"),
        plain("c", "ai.onnx/Tan", "another message"),
        plain("d", "ai.onnx/Tan", "Tan: input of rank 7 is too much", backend="another"),
    ]
    related = {item.id: item.related for item in related_of(findings)}
    assert related == {"a": ("b",), "b": ("a",), "c": (), "d": ()}
    by_pass = [
        plain("e", "ai.onnx/Sin", "one message", guilty=("fuse",), kind=Verdict.WRONG_VALUE),
        plain("f", "ai.onnx/Cos", "another", guilty=("fuse",), kind=Verdict.WRONG_SHAPE),
        plain("g", "ai.onnx/Tan", "another", guilty=("drop",), kind=Verdict.WRONG_SHAPE),
    ]
    related = {item.id: item.related for item in related_of(by_pass)}
    assert related == {"e": ("f",), "f": ("e",), "g": ()}


def test_findings_are_ranked_by_gravity_and_what_is_fixed_comes_last() -> None:
    every = [plain(str(kind), "ai.onnx/Sin", "", kind=kind) for kind in reversed(GRAVITY)]
    gone = plain("fixed", "ai.onnx/Sin", "", kind=Verdict.CRASH, state=FIXED)
    findings = Findings({}, {}, (gone, *every))
    assert [item.id for item in findings.counted] == [*map(str, GRAVITY), "fixed"]


# Bad input


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "is not JSON"),
        ("[]", "must be object"),
        ('{"format": 99, "findings": []}', "format must be same as const definition: 2"),
        ('{"format": 2, "findings": [{}]}', "findings[0] must contain"),
        ('{"format": 2, "findings": [7]}', "findings[0] must be object"),
    ],
)
def test_a_damaged_file_is_named(text: str, why: str, tmp_path: Path, softmax: Path) -> None:
    (tmp_path / findings_file.FILE).write_text(text)
    done = command("findings", softmax, "--folder", tmp_path, "--update")
    assert done.status == 2
    assert why in done.err, done.text


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--version", "onnx_reference"], "expected NAME==VERSION"),
        (["--version", "other==1"], "where NAME is one of onnx_reference"),
        (["--op", "Nothing*"], "matches no operator"),
        (["--update"], "makes it"),
    ],
)
def test_what_cannot_be_done_gets_a_sentence(words: list[str], why: str, softmax: Path, tmp_path: Path) -> None:
    done = command("findings", softmax, "--folder", tmp_path / "new", "--jobs", "1", *words)
    assert done.status == 2, done.text
    assert why in done.err, done.text


def test_results_of_a_backend_without_an_environment_have_no_findings(tmp_path: Path) -> None:
    path = tmp_path / "run.ndjson"
    run_of(path, result(verdict=Verdict.WRONG_VALUE))
    done = command("findings", path, "--folder", tmp_path / "new")
    assert done.status == 2
    assert "mine" in done.err


def test_a_case_that_no_longer_fails_is_dropped_with_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confirm, "place", lambda _backend, _version: Place(sys.executable, None))
    text = softmax_passes(tmp_path)
    options = collect.Options(Selection(), jobs=1, seconds=1)
    collected = collect.collect([(Run(text), Generated())], options)
    assert not collected.findings.findings
    assert [why for *_, why in collected.dropped] == ["none of its cases failed again in the same way"]


def softmax_passes(folder: Path) -> Path:
    """Return results in which somebody has made a failure of a pass."""
    path = folder / "results.ndjson"
    command("run", "--core", "--op", "Relu/14", "--backend", "onnx_reference", "--results", path)
    lines = path.read_text().splitlines()
    first = next(number for number, line in enumerate(lines) if '"verdict":"pass"' in line and '"values"' in line)
    lines[first] = lines[first].replace('"verdict":"pass"', '"verdict":"wrong_shape"')
    lines[-1] = lines[-1].replace("{", "{", 1)
    path.write_text("\n".join(lines[:-1]) + "\n")
    return path


def test_an_adapter_says_how_its_runtime_is_called() -> None:
    """Without that no script could be written."""
    with Asker(backend_names.resolve("onnx_reference"), Limits()) as asker:
        assert "onnx.reference" in str(asker.process.hello["repro"])


def test_an_environment_that_there_is_not_is_a_sentence() -> None:
    with refuses("no-environment-for-findings"):
        confirm.place("my_backend", "1")
