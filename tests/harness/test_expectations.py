"""Expectations files: what is malformed is named by line and key, with what would be right."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from harness import expectations
from harness.expectations import ExpectationsError
from harness.verdict import Verdict

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
    found = expectations.parse(WHOLE, Path("e.toml"))
    assert (found.backend, found.suite, found.minimum, found.attempted) == ("onnxruntime", "generated", 10, 0)
    first, second = found.entries
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


@pytest.mark.parametrize(
    ("was", "becomes", "sentence"),
    [
        ('backend = "onnxruntime"   # who\n', "", "line 1: 'backend' is missing; name the backend"),
        ("minimum = 10", "minimum = -1", "line 3: 'minimum' is -1; expected a number of cases"),
        ("minimum = 10", "minimum = true", "line 3: 'minimum' is True; expected a number of cases"),
        ("minimum = 10", "minumum = 10", "line 3: 'minumum' is no key here; did you mean 'minimum'?"),
        ('form = "symbolic"', 'form = "symbolc"', "line 10: 'form' is 'symbolc'; it can never match: there is no"),
        ('tag = "edge"', 'tag = "egde"', "line 11: 'tag' is 'egde'; it can never match: there is no such tag"),
        ('type = "float16"', 'type = "half"', "line 9: 'type' is 'half'; it can never match: there is no such type"),
        ('versions = ">=13"', 'versions = ">=99"', "line 8: 'versions' is '>=99'; it can never match: versions go"),
        ('versions = ">=13"', 'versions = "13-18"', "line 8: 'versions' is '13-18'; expected a version, 13"),
        ('verdict = "crash"', 'verdict = "fail"', "line 13: 'verdict' is 'fail'; expected one of pass, wrong_value"),
        ('verdict = "crash"', 'verdict = "unspecified"', "line 13: 'verdict' is 'unspecified'; expected one of"),
        ('verdict = "crash"\n', "", "line 6: 'verdict' is missing; an entry says what is accepted, and why"),
        ('reason = "divides by zero"', 'reason = " "', "line 14: 'reason' is ' '; expected a text that is not empty"),
        ('reason = "divides by zero"\n', "", "line 6: 'reason' is missing"),
        ("expires = 2027-01-31", 'expires = "2027-01-31"', "line 16: 'expires' is '2027-01-31'; expected a date"),
        ("flaky = true", 'flaky = "yes"', "line 18: 'flaky' is 'yes'; expected true or false"),
        ('platform = "Linux"', 'platform = "Lunix"', "line 17: 'when' is"),
        ('backend = ">=1.20"', 'backend = "new"', "backend is a range of versions"),
        ('form = "top"\n', "", "line 20: 'case' is missing; an entry selects cases by one of case, versions"),
        ('form = "top"', 'from = "top"', "line 21: 'from' is no key here; did you mean 'form'?"),
        ("minimum = 10", "minimum = ", "(at line 3, column"),
    ],
)  # fmt: skip
def test_what_is_malformed_is_named(was: str, becomes: str, sentence: str) -> None:
    assert was in WHOLE
    with pytest.raises(ExpectationsError) as caught:
        expectations.parse(WHOLE.replace(was, becomes, 1), Path("e.toml"))
    assert str(caught.value).startswith("e.toml"), caught.value
    assert sentence in str(caught.value), caught.value


def test_expect_must_be_a_list_of_tables() -> None:
    for text in ("expect = 3", 'expect = [{ case = "*", verdict = "crash", reason = "x" }]'):
        with pytest.raises(ExpectationsError, match=r"e\.toml, line 2: 'expect' write each entry as \[\[expect\]\]"):
            expectations.parse(f'backend = "x"\n{text}\n', Path("e.toml"))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ExpectationsError, match=r"cannot read .*gone\.toml: No such file"):
        expectations.read(tmp_path / "gone.toml")
    (tmp_path / "latin.toml").write_bytes(b'backend = "\xe4"')
    with pytest.raises(ExpectationsError, match="not UTF-8"):
        expectations.read(tmp_path / "latin.toml")
