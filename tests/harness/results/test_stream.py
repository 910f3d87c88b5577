# SPDX-License-Identifier: Apache-2.0
"""The result stream: written results are read unchanged, and every record fits the published schema."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from typing import TYPE_CHECKING, Any

import jsonschema
import numpy as np
import pytest

from commands import command
from onnx_conformance.base import schemas
from onnx_conformance.base.target import Target
from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.case.case import Case, Outcome
from onnx_conformance.declare.clause import Force
from onnx_conformance.generation import plans
from onnx_conformance.judging import profile
from onnx_conformance.judging.judge import judge
from onnx_conformance.processes import retries
from onnx_conformance.processes.replies import Answered, Assigned, Broken, Died, Late, Refused
from onnx_conformance.processes.retries import Attempt
from onnx_conformance.results import records as records_
from onnx_conformance.results import stream
from onnx_conformance.results.stream import ResultsError, Run, Writer, from_record, header, identity, to_record
from onnx_conformance.specification import registry
from onnx_conformance.specification.completeness import completeness, covers
from refusals import refuses
from runs import result as result_
from runs import run_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("few_operators")

SCHEMA = schemas.read("results")
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker())
HEAD = header(
    {"name": "generated", "digest": "0123"},
    {
        "mine": {"kind": "hello", "runtime": "mine", "version": "1.2", "python": "3.11.1", "repro": "outputs = 1\n"},
        "other": {},
    },
    {"selection": "", "reference": "", "jobs": 2, "repeat": 1, "timeout": 20.0, "memory": None},
    {"operators": 117, "of_operators": 227, "versions": 430, "of_versions": 659},
)
FULL = Result(
    case="ai.onnx/Split/18/uneven/float16@top",
    operator="ai.onnx/Split/18",
    backend="mine",
    verdict=Verdict.WRONG_VALUE,
    outcome="values",
    form="top",
    message="outputs[0]: «ä» 日本語",
    error="Fail",
    phase="run",
    signal="SIGSEGV",
    seconds=0.25,
    expected="float[1] 1",
    actual="float[1] 2",
    mismatch={
        "where": "outputs[0]", "expected": "1.0", "actual": "2.0", "differing": 1, "total": 1, "first": [0],
        "worst": [0], "absolute": 1.0, "relative": 1.0, "ulp": 8388608, "shape": [1], "differs": [0], "start": 0,
        "wanted": ["1.0"], "given": ["2.0"],
    },
    clauses=("One.", "Two."),
    force="must",
    reworded="1.19",
    readings=("R1",),
    tags=("change", "edge"),
    stderr="the last",
    unstable="memory",
    attempts=(
        {"process": "first", "verdict": "wrong_value", "message": "1 of 1", "actual": "float[1] 2"},
        {"process": "same", "verdict": "pass"}, {"process": "fresh", "verdict": "crash"},
    ),
    ulps={"outputs[0]": [[3, -2], [0, 1]]},
    excluded="no time",
    override="ai.onnx/Split (float), rtol 0.001: the device",
    exceeded="Exp (float), ulp 2: safety",
)  # fmt: skip
SHORT = Result("ai.onnx/Split/18/uneven", "ai.onnx/Split/18", "mine", Verdict.PASS, "values")


def test_repro_code_is_kept_whole_or_not_at_all() -> None:
    hello = {"runtime": "a" * 100, "repro": "x = 1\n" * 10, "repro_wide": "x = 1\n" * 10_000, "other": 1}
    backends = header({}, {"mine": hello, "odd": {"repro": 3}}, {})["backends"]
    assert set(backends["mine"]) == {"runtime", "repro"}
    assert backends["mine"]["repro"] == "x = 1\n" * 10
    assert len(backends["mine"]["runtime"]) < 120
    assert backends["odd"] == {}


def test_repro_code_does_not_identify_a_runtime() -> None:
    assert identity({"runtime": "a", "version": "1", "repro": "x"}) == {"runtime": "a", "version": "1"}
    in_node = {"runtime": "a", "node": "20.1.0"}
    assert identity(header({}, {"mine": in_node}, {})["backends"]["mine"]) == in_node


def write(path: Path, *results: Result, finish: bool = True) -> Path:
    writer = Writer(path)
    writer.open(HEAD)
    for result in results:
        writer.add(result)
    if finish:
        writer.faults = ["a fault"]
        writer.finish(1.5)
    writer.close()
    return path


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_written_results_are_read_unchanged(tmp_path: Path) -> None:
    run = Run(write(tmp_path / "results.ndjson", FULL, SHORT))
    assert list(run.results()) == [FULL, SHORT]
    assert run.header == json.loads(json.dumps(HEAD))
    assert run.complete
    assert run.footer is not None
    assert run.footer["counts"] == {"mine": {"pass": 1, "wrong_value": 1}}
    assert (run.footer["faults"], run.footer["seconds"]) == (["a fault"], 1.5)
    assert run.end == (tmp_path / "results.ndjson").stat().st_size


def test_empty_members_are_left_out() -> None:
    assert to_record(SHORT) == {
        "kind": "result", "case": "ai.onnx/Split/18/uneven", "operator": "ai.onnx/Split/18", "backend": "mine",
        "verdict": "pass", "outcome": "values", "form": "plain",
    }  # fmt: skip
    assert from_record(to_record(SHORT)) == SHORT
    assert set(to_record(FULL)) == {"kind", *(field.name for field in dataclasses.fields(Result))}
    zero = dataclasses.replace(SHORT, seconds=0.0)
    assert from_record(to_record(zero)) == zero


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"message": 'a "quote", a \\ and \x00\x1f\x7f\u2028\n', "tags": ("ä", '"', "\t")},
        {"message": "a lone \ud800 surrogate", "clauses": ("\udfff",)},
        {"seconds": 1e-07},
        {"seconds": 3},
        {"seconds": 0.0},
        {"seconds": -1.0},
        {"seconds": math.inf},
        {"seconds": math.nan},
        {"ulps": {"outputs[0]": [[0, -(2**64)]]}},
        {"clauses": ["a list"], "readings": []},
        {"mismatch": {"absolute": math.nan, "first": (1, 2)}},
    ],
)
def test_a_line_is_the_json_of_its_record(changed: dict[str, Any]) -> None:
    for result in (SHORT, FULL):
        result_of = dataclasses.replace(result, **changed)
        text = json.dumps(to_record(result_of), ensure_ascii=False, separators=(",", ":"))
        assert stream.encoded(result_of) == text.encode("utf-8", "replace") + b"\n"


def test_a_line_of_a_file_of_others_is_written_with_the_defaults() -> None:
    result = from_record({"kind": "result", "case": "a", "backend": "b", "verdict": "crash"})
    assert json.loads(stream.encoded(result)) == to_record(result)


def test_a_minimal_file_of_others_is_read() -> None:
    record = {"kind": "result", "case": "a", "backend": "b", "verdict": "crash", "their own": 1}
    assert not list(VALIDATOR.iter_errors(record))
    assert from_record(record) == Result("a", "", "b", Verdict.CRASH, "values")


# The schema


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_the_schema_has_the_members_of_the_code() -> None:
    defs = SCHEMA["$defs"]
    assert defs["verdict"]["enum"] == list(map(str, Verdict))
    assert defs["result"]["properties"]["outcome"]["enum"] == list(map(str, Outcome))
    assert defs["header"]["properties"]["format"]["const"] == stream.FORMAT
    assert set(defs["result"]["properties"]) == {"kind", *(field.name for field in dataclasses.fields(Result))}
    assert set(defs["header"]["properties"]) == set(HEAD)


CLAIMS = profile.of(Target("mine", (), profile='[[claims]]\noperator = "SplitToSequence"'), {})


def judged() -> Iterator[Result]:
    """Yield a result for every kind of reply to cases of every outcome."""
    by_outcome: dict[Outcome, Case] = {}
    for case in plans.cases(registry.load().named("SplitToSequence"), (24,)):
        by_outcome.setdefault(case.outcome, case)
    right = by_outcome[Outcome.VALUES].expected
    assert right is not None
    replies = [
        Answered(right, 0.5),
        Answered((), None),
        Answered(([np.array([math.nan], np.float32)],), 0.0),
        Answered(([np.array([[math.inf, 1], [2, 3], [4, 5]], np.float32)] * 3,), 0.0),
        Answered((np.zeros(3),), 0.0),
        Answered(right, 0.5, Assigned("Mine", (("ai.onnx/SplitToSequence", "CPU"),))),
        Refused("Fail", "a message", None, 0.1),
        Refused("NotImplemented", "a message", "no kernel", None),
        Died("SIGFPE", -8, "printed"),
        Died("", 3, ""),
        Late(20.0, "printed"),
        Broken("broke the wire format", "printed"),
    ]
    for case in by_outcome.values():
        for reply in replies:
            yield judge(case, "mine", reply)
            yield judge(case, "mine", reply, CLAIMS)
    for force in Force:
        yield judge(dataclasses.replace(by_outcome[Outcome.REJECTS], force=str(force)), "mine", replies[0])
    case = by_outcome[Outcome.VALUES]
    once, again = (judge(case, "mine", reply) for reply in (Answered((), None), Answered(right, None)))
    yield retries.combined([Attempt(retries.FIRST, once), Attempt(retries.SAME, once), Attempt(retries.FRESH, again)])


NOT_HERE = {Verdict.WRONG_SHAPE, Verdict.INVALID_MODEL, Verdict.KNOWS_LESS}
"""Verdicts that none of these results has; the last two are of tools."""


@pytest.mark.slow
def test_every_record_of_a_run_is_as_the_schema_says(tmp_path: Path) -> None:
    results = [FULL, SHORT, *judged()]
    assert {result.verdict for result in results} >= set(Verdict) - NOT_HERE, results
    path = write(tmp_path / "results.ndjson", *results)
    written = records(path)
    assert len(written) == len(results) + 2
    assert [record["kind"] for record in written[:2]] == ["header", "result"]
    for record in written:
        errors = [error.message for error in VALIDATOR.iter_errors(record)]
        assert not errors, f"{record}: {errors}"
    for again, result in zip(Run(path).results(), results, strict=True):
        assert json.dumps(to_record(again)) == json.dumps(to_record(result)), result.case


WRONG_RECORDS = {
    "no case": {"kind": "result", "backend": "b", "verdict": "pass"},
    "no backend": {"kind": "result", "case": "a", "verdict": "pass"},
    "no verdict": {"kind": "result", "case": "a", "backend": "b"},
    "another verdict": {**to_record(SHORT), "verdict": "passed"},
    "another outcome": {**to_record(SHORT), "outcome": "property of no kind"},
    "another kind": {**to_record(SHORT), "kind": "results"},
    "no kind": {"case": "a", "backend": "b", "verdict": "pass"},
    "negative seconds": {**to_record(SHORT), "seconds": -1},
    "one clause": {**to_record(SHORT), "clauses": "One."},
    "a mismatch without a place": {**to_record(SHORT), "mismatch": {"expected": "1", "actual": "2"}},
    "half an index": {**to_record(FULL), "mismatch": {**FULL.mismatch, "first": [0.5]}},
    "an attempt without a verdict": {**to_record(FULL), "attempts": [{"process": "same"}]},
    "an attempt elsewhere": {**to_record(FULL), "attempts": [{"process": "next door", "verdict": "pass"}]},
    "a distance without an element": {**to_record(FULL), "ulps": {"outputs[0]": [[3]]}},
    "another format": {**HEAD, "format": 2},
    "no backends": {**HEAD, "backends": {}},
    "no suite": {key: value for key, value in HEAD.items() if key != "suite"},
    "a count of nothing": {
        "kind": "footer",
        "counts": {"b": {"passed": 1}},
        "faults": [],
        "finished": "",
        "seconds": 0,
    },
    "a line of text": "result",
}


@pytest.mark.parametrize("name", WRONG_RECORDS)
def test_a_wrong_record_fails_the_schema(name: str) -> None:
    assert list(VALIDATOR.iter_errors(WRONG_RECORDS[name])), WRONG_RECORDS[name]


@pytest.mark.parametrize("key", sorted(HEAD.keys() - {"covers"}))
def test_every_member_of_a_header_but_coverage_is_required(key: str) -> None:
    assert not list(VALIDATOR.iter_errors(HEAD))
    assert list(VALIDATOR.iter_errors({name: value for name, value in HEAD.items() if name != key})), key


# Files that were cut off, or are damaged


def test_a_run_without_footer_was_cut_off(tmp_path: Path) -> None:
    path = write(tmp_path / "results.ndjson", FULL, SHORT, finish=False)
    run = Run(path)
    assert (run.complete, len(list(run.results()))) == (False, 2)
    with refuses("run-cut-off", kind=ResultsError):
        Writer(path).open(HEAD)
    assert len(list(Run(path).results())) == 2


@pytest.mark.parametrize("left", [1, 20, -1])
def test_half_a_last_line_is_not_counted_and_written_over(left: int, tmp_path: Path) -> None:
    path = write(tmp_path / "results.ndjson", FULL, SHORT, finish=False)
    lines = path.read_bytes().splitlines(keepends=True)
    half = json.dumps({**to_record(SHORT), "message": "long " * 1000}).encode()
    path.write_bytes(b"".join(lines[:-1]) + half[:left])
    run = Run(path)
    assert list(run.results()) == [FULL]
    assert run.end == len(b"".join(lines[:-1]))
    writer = Writer(path)
    writer.resume(run)
    writer.add(SHORT)
    writer.finish(1)
    writer.close()
    again = Run(path)
    assert (list(again.results()), again.complete) == ([FULL, SHORT], True)
    assert again.end == path.stat().st_size, "nothing is left after the footer"


LEAST = '{"kind": "result", "case": "a", "backend": "mine", "verdict": "pass", '
DAMAGED = {
    '{"kind": "resu': "line 2: not a record",
    '{"kind": "result", "case": "a"}': "line 2: result must contain",
    '{"kind": "result", "case": "a", "backend": "b", "verdict": "great"}': "line 2: result.verdict must be one of",
    LEAST
    + '"attempts": [{"process": "same", "verdict": "odd"}]}': r"line 2: result.attempts\[0\].verdict must be one of",
    LEAST.replace("mine", "b") + '"tags": []}': "line 2: backend 'b' is not in the header",
    '{"kind": "note"}': "line 2: 'note' is not a kind of record",
    "[" * 100_000: "line 2: not a record",
    LEAST + '"seconds": NaN}': "line 2: not a record of the result stream: NaN is not a JSON number",
    LEAST + '"seconds": 1e999}': "1e999 is too large",
    LEAST + f'"seconds": 1{"0" * 99}}}': "an integer with 100 digits",
    LEAST + '"ulps": {"outputs[0]": [[1.0, 2]]}}': r"ulps.outputs\[0\]\[0\]\[0\] must be integer",
    LEAST + f'"message": "{"x" * records_.MOST_BYTES}"}}': "line 2: .* longer than a record can be",
    json.dumps(HEAD): "line 2: unexpected header; the file contains two streams",
    '{"kind": "footer", "counts": {}, "faults": [], "finished": "2026-01-01T00:00:00Z", "seconds": 1}': (
        "line 3: unexpected record after the footer"
    ),
}


def test_damage_in_the_middle_names_the_line(tmp_path: Path) -> None:
    path = write(tmp_path / "results.ndjson", FULL, SHORT)
    lines = path.read_bytes().splitlines(keepends=True)
    for line, sentence in DAMAGED.items():
        path.write_bytes(lines[0] + line.encode() + b"\n" + b"".join(lines[2:]))
        with pytest.raises(ResultsError, match=sentence):
            Run(path)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "line 1: expected the header of a run"),
        (b"hello\n", "line 1: expected the header of a run"),
        (b'{"kind": "result"}\n', "line 1: expected the header of a run"),
        (b'{"kind": "header", "format": 2}\n', "format 2; this version reads format 1"),
    ],
)
def test_a_file_without_results_is_reported(content: bytes, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "results.ndjson"
    path.write_bytes(content)
    with pytest.raises(ResultsError, match=sentence) as caught:
        Run(path)
    assert str(path) in str(caught.value), caught.value


WRONG_HEADERS: dict[str, tuple[dict[str, Any], str]] = {
    "no time": ({"started": "yesterday"}, "header.started must be date-time"),
    "a time of no place": ({"started": "2026-01-01T00:00:00"}, "header.started must be date-time"),
    "a time before all time": ({"started": "0001-01-01T00:00:00+23:59"}, "header.started must be date-time"),
    "a list of machines": ({"machine": []}, "header.machine must be object"),
    "no text for a selection": ({"arguments": {"selection": 3}}, "header.arguments.selection must be string"),
    "a sample of half": ({"arguments": {"samples": {"mine": 2.5}}}, "header.arguments.samples.mine must be integer"),
    "a version that is none": ({"backends": {"mine": {"version": 3}}}, "header.backends.mine.version must be string"),
    "a name of the suite that is none": ({"suite": {"name": None, "digest": ""}}, "header.suite.name must be string"),
}


@pytest.mark.parametrize("what", WRONG_HEADERS)
def test_a_header_is_checked_by_the_schema(what: str, tmp_path: Path) -> None:
    change, sentence = WRONG_HEADERS[what]
    path = tmp_path / "results.ndjson"
    path.write_text(json.dumps(HEAD | change) + "\n")
    with refuses("header-invalid", sentence, kind=ResultsError):
        Run(path)


def test_an_existing_file_is_not_overwritten(tmp_path: Path) -> None:
    path = write(tmp_path / "results.ndjson", FULL, SHORT)
    before = path.read_bytes()
    with refuses("results-exist", kind=ResultsError):
        Writer(path).open(HEAD)
    with refuses("results-are-not-overwritten", kind=ResultsError):
        stream.check_no_results(path)
    assert path.read_bytes() == before
    writer = Writer(path, overwrite=True)
    writer.open(HEAD)
    writer.add(SHORT)
    writer.close()
    assert list(Run(path).results()) == [SHORT]
    other = tmp_path / "thesis.txt"
    other.write_text("years of work\n")
    with refuses("not-results", kind=ResultsError):
        Writer(other, overwrite=True).open(HEAD)
    assert other.read_text() == "years of work\n", "only results are replaced"
    stream.check_no_results(other)


def test_two_writers_of_one_file_do_not_tear_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "results.ndjson"
    first, second = Writer(path), Writer(path, overwrite=True)
    first.open(HEAD)
    first.add(SHORT)
    with refuses("results-in-use", kind=ResultsError):
        second.open(HEAD)
    with refuses("results-in-use", kind=ResultsError):
        second.resume(Run(path))
    first.add(FULL)
    first.close()
    assert list(Run(path).results()) == [SHORT, FULL]
    second.open(HEAD)
    second.close()


def test_a_pipe_is_written_to_and_is_not_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with refuses("results-not-writable", kind=ResultsError):
        Writer(pipe).open(HEAD)
    with refuses("results-not-a-file", kind=ResultsError):
        Run(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    writer = Writer(pipe)
    writer.open(HEAD)
    writer.add(SHORT)
    assert [json.loads(text)["kind"] for text in os.read(reader, 1 << 16).splitlines()] == ["header", "result"]
    os.close(reader)
    with refuses("results-not-written", kind=ResultsError):
        writer.add(SHORT)
    writer.close()


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with refuses("results-not-readable", kind=ResultsError):
        Run(tmp_path / "missing")
    with refuses("results-not-writable", kind=ResultsError):
        Writer(tmp_path / "missing" / "results").open(HEAD)


def test_text_that_cannot_be_encoded_is_written_all_the_same(tmp_path: Path) -> None:
    path = write(tmp_path / "results.ndjson", dataclasses.replace(SHORT, message="lone \ud800 surrogate"))
    (result,) = Run(path).results()
    assert result.message.startswith("lone "), result.message
    assert all(not list(VALIDATOR.iter_errors(record)) for record in records(path))


def test_without_a_path_results_are_only_counted() -> None:
    writer = Writer(None)
    writer.open(HEAD)
    writer.add(SHORT)
    writer.finish(1)
    writer.close()
    assert writer.counts == {"mine": {"pass": 1}}


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [math.nan, math.inf, -1.0])
def test_a_result_that_could_not_be_read_again_is_shortened(seconds: float, tmp_path: Path) -> None:
    """An adapter may say any time, and a model have any number of outputs."""
    far = {f"outputs[{index}]": [[place, 1] for place in range(256)] for index in range(2000)}
    path = write(tmp_path / "results.ndjson", dataclasses.replace(FULL, seconds=seconds, ulps=far))
    assert list(Run(path).results()) == [dataclasses.replace(FULL, seconds=None, ulps={})]


@pytest.mark.slow
def test_the_header_says_how_much_of_onnx_the_suite_is_of(tmp_path: Path) -> None:
    path = tmp_path / "r.ndjson"
    ran = command("run", "--backend", "oracle", "--case", "ai.onnx/Split/18/uneven", "--results", path)
    assert ran.status == 0, ran.text
    assert Run(path).header["covers"] == covers()
    sentence = f"Coverage of ONNX: {completeness()}."
    assert sentence in ran.out
    for kind in ("markdown", "html"):
        assert command("report", path, "--format", kind, "--out", tmp_path / kind).status == 0
        assert sentence in (tmp_path / kind).read_text()
    other = run_of(tmp_path / "older.ndjson", result_())
    assert "covers" not in other.header
    assert command("report", other.path, "--format", "markdown").status == 0


def test_a_changed_file_is_checked_by_the_schema_again(tmp_path: Path) -> None:
    run = run_of(tmp_path / "r.ndjson", result_(), result_("other"))
    assert len(list(run.results())) == 2
    text = run.path.read_bytes()
    run.path.write_bytes(text.replace(b'"verdict":"pass"', b'"verdict":"good"', 1))
    with refuses("record-invalid", "line 2", kind=ResultsError):
        list(run.results())
