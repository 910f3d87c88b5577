# SPDX-License-Identifier: Apache-2.0
"""Expectations files: malformed members are named by line and key, with the right form."""

from __future__ import annotations

import dataclasses
import datetime as dt
import random
from pathlib import Path

import pytest

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.gate import expectations, update
from onnx_conformance.gate.expectations import ExpectationsError
from onnx_conformance.gate.gate import Gate
from onnx_conformance.report import gate as gate_report
from refusals import refuses
from runs import CONTROL, run_of
from runs import result as result_of

WHOLE = """\
backend = "onnxruntime"   # who
suite = "generated"
minimum = 10

# Why this one is here.
[[expect]]
case = "ai.onnx/Split/18/uneven*"
versions = ">=13"
type = "float16"
form = "symbolic"
tag = "edge"
clause = "equal"
verdict = "crash"
reason = "divides by zero"
link = "https://example.com/1"
expires = 2027-01-31
when = { backend = ">=1.20", platform = "Linux" }
flaky = true

[[expect]]
form = "top"
verdict = "refused"
reason = "newer than it knows"
"""


def test_a_whole_file_is_read() -> None:
    read = expectations.parse(WHOLE, Path("e.toml"))
    assert (read.backend, read.suite, read.minimum, read.attempted) == ("onnxruntime", "generated", 10, 0)
    first, second = read.entries
    assert (first.line, first.case, str(first.versions), first.type) == (
        6,
        ("ai.onnx/Split/18/uneven*",),
        ">=13",
        "float16",
    )
    assert (first.form, first.tag, first.clause, first.verdict) == ("symbolic", "edge", "equal", Verdict.CRASH)
    assert (first.reason, first.link) == ("divides by zero", "https://example.com/1")
    assert (first.expires, first.flaky) == (dt.date(2027, 1, 31), True)
    assert first.when == {"backend": ">=1.20", "platform": "Linux"}
    assert (second.line, second.case, second.verdict, second.flaky) == (20, ("*",), Verdict.REFUSED, False)


def test_an_entry_can_name_a_finding() -> None:
    text = WHOLE.replace('link = "https', 'finding = "mine-split-crash-1"\nlink = "https')
    first, second = expectations.parse(text, Path("e.toml")).entries
    assert (first.finding, second.finding) == ("mine-split-crash-1", "")


@pytest.mark.parametrize(
    ("was", "becomes", "sentence"),
    [
        ('backend = "onnxruntime"   # who\n', "", "line 1: 'backend' is missing; add the backend"),
        ("minimum = 10", "minimum = -1", "line 3: 'minimum' is -1; expected a number of cases"),
        ("minimum = 10", "minimum = true", "line 3: 'minimum' is True; expected a number of cases"),
        ("minimum = 10", "minumum = 10", "line 3: 'minumum' is not a valid key; did you mean 'minimum'?"),
        ('form = "symbolic"', 'form = "symbolc"', "line 10: 'form' is 'symbolc'; it can never match"),
        ('tag = "edge"', 'tag = "egde"', "line 11: 'tag' is 'egde'; it can never match, because there is no such tag"),
        ('type = "float16"', 'type = "half"', "line 9: 'type' is 'half'; it can never match, because there is no"),
        ('versions = ">=13"', 'versions = ">=99"', "line 8: 'versions' is '>=99'; it can never match"),
        ('versions = ">=13"', 'versions = "13-18"', "line 8: 'versions' is '13-18'; expected a version, 13"),
        ('verdict = "crash"', 'verdict = "fail"', "line 13: 'verdict' is 'fail'; expected one of pass, wrong_value"),
        ('verdict = "crash"', 'verdict = "unspecified"', "line 13: 'verdict' is 'unspecified'; expected one of"),
        ('verdict = "crash"\n', "", "line 6: 'verdict' is missing; an entry needs the accepted verdict"),
        ('reason = "divides by zero"', 'reason = " "', "line 14: 'reason' is ' '; expected a non-empty text"),
        ('reason = "divides by zero"\n', "", "line 6: 'reason' is missing"),
        ("expires = 2027-01-31", 'expires = "2027-01-31"', "line 16: 'expires' is '2027-01-31'; expected a date"),
        ("flaky = true", 'flaky = "yes"', "line 18: 'flaky' is 'yes'; expected true or false"),
        ('platform = "Linux"', 'platform = "Lunix"', "line 17: 'when' is"),
        ('backend = ">=1.20"', 'backend = "new"', "backend must be a range of versions"),
        ('form = "top"\n', "", "line 20: 'case' is missing; an entry selects cases by one of case, versions"),
        ('form = "top"', 'from = "top"', "line 21: 'from' is not a valid key; did you mean 'form'?"),
        ("minimum = 10", "minimum = ", "(at line 3, column"),
    ],
)  # fmt: skip
def test_malformed_members_are_named(was: str, becomes: str, sentence: str) -> None:
    assert was in WHOLE
    with pytest.raises(ExpectationsError) as caught:
        expectations.parse(WHOLE.replace(was, becomes, 1), Path("e.toml"))
    assert str(caught.value).startswith("e.toml"), caught.value
    assert sentence in str(caught.value), caught.value


def test_expect_must_be_a_list_of_tables() -> None:
    for text in ("expect = 3", 'expect = [{ case = "*", verdict = "crash", reason = "x" }]'):
        with refuses("expectations-invalid", "e.toml, line 2", kind=ExpectationsError):
            expectations.parse(f'backend = "x"\n{text}\n', Path("e.toml"))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with refuses("expectations-not-readable", "gone.toml", kind=ExpectationsError):
        expectations.read(tmp_path / "gone.toml")
    (tmp_path / "latin.toml").write_bytes(b'backend = "\xe4"')
    with refuses("expectations-not-readable", kind=ExpectationsError):
        expectations.read(tmp_path / "latin.toml")


# Every malformed file gets a sentence

MUTATIONS = 250
WORDS = (
    "[[expect]]\n", "[expect]\n", "[expect.when]\n", "[attempted]\n", "\x00", "\r", "\u2028", "\x0b", "\ufeff", "=",
    '"', "'''", "#", "{", "]", "expect = 3\n", "a.b.c = 1\n",
)  # fmt: skip
VALUES = (
    "1", "-1", "0", "true", "nan", "inf", "1e999", "1_0", "+5", '""', '" "', '"x"', '"*"', '"["', '"[z-a]"', "[]",
    "[[]]", "{}", '["a"]', '["a", 1]', '[""]', "2027-01-31", "2027-01-31T00:00:00Z", "2027-13-45", "07:32:00",
    '"2027-01-31"', "0001-01-01", "9999-12-31", '"\\u001b[2J"', '"\\uD800"', '"""\n[[expect]]\n"""',
    "'''\n[attempted]\n'''",
    "{ backend = 1 }", '{ backend = ">=1", x = 2 }', "{ platform = [] }", "{ a = { b = { c = 1 } } }", '"===x"',
    '"==1.*"', '"\u0663"', '"\u00b2"', '{ "ai.onnx/Split/18" = 1.5 }', "0x" + "f" * 6000, "9" * 5000, "9" * 4000,
    "[" * 500 + "]" * 500, "[" * 50 + "]" * 50, f'"{"a" * 50000}"', f'">={"9" * 5000}"', f'"*{"*a" * 3000}"',
)  # fmt: skip


def mutated(chance: random.Random, text: str) -> bytes:
    """Return a file that was damaged in one of the ways in which files are."""
    lines = text.splitlines(keepends=True)
    kind = chance.choice(["bytes", "without", "twice", "shuffled", "cut", "word", *["value"] * 3])
    if kind == "bytes":
        damaged = bytearray(text.encode())
        for _ in range(chance.randrange(1, 6)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        return bytes(damaged)
    if kind == "cut":
        return text.encode()[: chance.randrange(len(text))]
    if kind == "without":
        del lines[chance.randrange(len(lines))]
    elif kind == "twice":
        lines.insert(chance.randrange(len(lines)), chance.choice(lines))
    elif kind == "shuffled":
        chance.shuffle(lines)
    elif kind == "word":
        index = chance.randrange(len(lines))
        lines[index] = chance.choice(WORDS) + lines[index]
    else:
        index = chance.choice([index for index, line in enumerate(lines) if "=" in line])
        lines[index] = f"{lines[index].partition('=')[0]}= {chance.choice(VALUES)}\n"
    return "".join(lines).encode()


def holds(text: str) -> None:
    """Hold that a text is a line that a person can read."""
    assert len(text) < 800, text
    assert "\n" not in text, text
    assert not CONTROL.search(text), text


@pytest.mark.slow
def test_a_damaged_file_is_read_or_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "e.toml"
    results = [result_of("uneven/float16@symbolic", Verdict.CRASH, form="symbolic", tags=("edge",), clauses=("equal",))]
    results += [result_of("rank1@top", Verdict.REFUSED, form="top"), result_of("even")]
    results = [dataclasses.replace(item, backend="onnxruntime") for item in results]
    run = run_of(tmp_path / "r.ndjson", *results, backends=("onnxruntime",))
    ways = {"read": 0, "renewed": 0, "refused": 0}
    for seed in range(MUTATIONS):
        path.write_bytes(mutated(random.Random(seed), WHOLE + ATTEMPTED))
        try:
            gate = Gate(expectations.read(path), run.header)
            for result in run.results():
                gate.add(result)
            gate.finish(complete=True)
            for line in gate_report.lines(gate):
                holds(line)
            ways["read"] += 1
            new, _ = update.renew(path, run, "onnxruntime", dt.date(2026, 11, 22), new="new", fewer="fewer")
            expectations.parse(new, path)
            ways["renewed"] += 1
        except HarnessError as error:
            holds(str(error))
            ways["refused"] += 1
    assert min(ways.values()) > MUTATIONS // 20, ways


ATTEMPTED = """
[attempted]
"ai.onnx/Split/18" = 614
"ai.onnx/Abs/13" = 4
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"minimum = {'9' * 5000}", "Exceeds the limit (4300 digits) for integer string conversion"),
        (f"minimum = {'9' * 4000}", "'minimum' is 9999"),
        (f"minimum = 0x{'f' * 6000}", "'minimum' is a number with thousands of digits; expected a number of cases"),
        (f"minimum = \"{'a' * 100_000}\"", "... (100002 characters); expected a number of cases"),
        (f"x = {'[' * 500}{']' * 500}", "is nested too deeply; an entry is a flat table"),
        ("attempted = -1", "line 2: 'attempted' is -1; expected a number of cases"),
        ('[attempted]\n"a" = "b"', "line 2: 'attempted' is {'a': 'b'}; a is not a number of cases"),
        ("[attempted]\na.onnx = 3", "a is not a number of cases"),
        ('[[expect]]\ncase = []\nverdict = "crash"', "line 3: 'case' is []; expected a glob over case ids"),
        ('[[expect]]\ncase = ["a", 1]', "line 3: 'case' is ['a', 1]; expected a non-empty text"),
        (f'[[expect]]\nversions = ">={"9" * 5000}"', "line 3: 'versions' is '>=9999"),
        ('[[expect]]\nwhen = { backend = "x" }', "backend must be a range of versions"),
        ('"x\\u001b[2J" = 1', "line 2: 'x\\x1b[2J' is not a valid key"),
        ('x = """\n[[expect]]\n"""\n[[expect]]\nreason = ""', "line 2: 'x' is not a valid key"),
        ('[[expect]]\nlink = """\n[[expect]]\n"""\nreason = ""', "line 6: 'reason' is ''; expected a non-empty text"),
    ],
)  # fmt: skip
def test_files_that_once_ended_in_a_traceback_get_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ExpectationsError) as caught:
        expectations.parse(f'backend = "onnxruntime"\n{text}\n', Path("e.toml"))
    assert sentence in str(caught.value), caught.value
    holds(str(caught.value))


def test_a_file_that_is_no_text_is_refused_by_the_update_too(tmp_path: Path) -> None:
    path = tmp_path / "e.toml"
    path.write_bytes(b'backend = "\xff"')
    with refuses("expectations-not-readable", kind=ExpectationsError):
        update.renew(path, run_of(tmp_path / "r.ndjson"), "mine", dt.date(2026, 11, 22))


def test_the_mark_that_some_editors_begin_a_file_with_is_none_of_it(tmp_path: Path) -> None:
    (tmp_path / "e.toml").write_bytes(b'\xef\xbb\xbfbackend = "mine"')
    assert expectations.read(tmp_path / "e.toml").backend == "mine"


def test_a_case_may_be_a_list_of_globs() -> None:
    text = 'backend = "x"\n[[expect]]\ncase = ["*/a*", "b"]\nverdict = "crash"\nreason = "r"\n'
    (entry,) = expectations.parse(text, Path("e.toml")).entries
    assert entry.case == ("*/a*", "b")
    matched = [name for name in ("x/ab", "b", "c", "ab") if entry.matches(result_of(case=name))]
    assert matched == ["x/ab", "b"]


def test_attempted_cases_are_one_number_or_one_an_operator_version() -> None:
    one = expectations.parse('backend = "x"\nattempted = 4\n', Path("e.toml"))
    assert (one.attempted, one.attempted_of) == (4, {})
    each = expectations.parse(f'backend = "x"\n{ATTEMPTED}', Path("e.toml"))
    assert (each.attempted, each.attempted_of) == (0, {"ai.onnx/Split/18": 614, "ai.onnx/Abs/13": 4})


@pytest.mark.parametrize("head", ["{} = 1", "[{}]", "[[expect]]\n{} = 1", "x = {{ {} = 1 }}"])
def test_a_key_of_many_parts_is_refused_at_once(head: str, tmp_path: Path) -> None:
    text = 'backend = "mine"\n' + head.format(".".join(["a"] * 50_000)) + "\n"
    with refuses("expectations-key-too-long", kind=ExpectationsError):
        expectations.parse(text, tmp_path / "e.toml")
