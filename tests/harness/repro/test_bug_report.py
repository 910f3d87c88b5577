# SPDX-License-Identifier: Apache-2.0
"""Bug reports: they render as meant with any message of a runtime, and reveal nothing about the machine."""

from __future__ import annotations

import dataclasses
import html
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from markdown_it import MarkdownIt

from commands import WRONG, adapter, command
from composed import X, case_of
from onnx_conformance.analysis import sentences
from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import Case, Outcome
from onnx_conformance.case.compare import differing
from onnx_conformance.judging.ask import LiveAnswer
from onnx_conformance.repro import bug_report
from onnx_conformance.repro.bug_report import Issue
from onnx_conformance.specification import links
from onnx_conformance.suites.lookup import find_case

pytestmark = pytest.mark.usefixtures("few_operators")

SPLIT = "ai.onnx/Split/13/lengths_sum"
HOSTILE = (
    "`` ` ``` </details></code> <script>alert(1)</script> | a \\| b | @octocat #123 GH-7 <!-- --> "
    "[link](javascript:x) ![i](http://evil.example/x.png) www.evil.example $x$ :tada: **bold** "
    "0123456789abcdef0123456789abcdef01234567 \x1b[31m\u202e\n\n</details>\n\n# heading\n\n| x | y |\n```\nout"
)
NOT_CODE = ("octocat", "#123", "evil", "script", "tada", "heading", "bold", "javascript")


def rendered(text: str) -> str:
    """Return HTML as GitHub makes it of Markdown with tables and raw HTML."""
    return str(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))


def outside_code(text: str) -> str:
    return re.sub(r"<(code)\b[^>]*>.*?</\1>", "", rendered(text), flags=re.DOTALL)


@pytest.fixture(scope="module")
def case() -> Case:
    return find_case(SPLIT)


def issue_of(case: Case, result: Result, hello: dict[str, Any], *others: LiveAnswer, **members: Any) -> Issue:
    return Issue(case, result, LiveAnswer(result.backend, hello, result, **members), others)


def failing(case: Case, **members: Any) -> Result:
    return dataclasses.replace(
        Result(case.id, case.operator, "mine", Verdict.WRONG_VALUE, str(case.outcome)), **members
    )


def hostile(case: Case) -> str:
    model = onnx.load_from_string(case.model)
    model.graph.name = "```\n</details>"
    model.graph.node[0].name = "@octocat `"
    case = dataclasses.replace(
        case,
        id=f"folder/{HOSTILE}", operator=f"ai.onnx/{HOSTILE}/18", clauses=(HOSTILE, "plain"), notes=(HOSTILE,),
        detail=HOSTILE, model=model.SerializeToString(), inputs={HOSTILE: np.array([HOSTILE], object)},
        allowance=Allowance(HOSTILE), expected=(np.array(["x"], object),), outputs=(HOSTILE,),
    )  # fmt: skip
    result = failing(case, message=HOSTILE, error=HOSTILE, stderr=HOSTILE, signal=HOSTILE)
    hello = {"runtime": HOSTILE, "version": HOSTILE, "repro": f"# {HOSTILE!a}\noutputs = []"}
    others = [
        LiveAnswer(HOSTILE, hello, failing(case, message=HOSTILE, error=HOSTILE, verdict=Verdict.REFUSED)),
        LiveAnswer(HOSTILE, {}, problem=HOSTILE),
    ]
    return bug_report.markdown(issue_of(case, result, hello, *others, outputs=(np.array([HOSTILE], object),)))


def test_markup_of_others_is_escaped(case: Case) -> None:
    text = hostile(case)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text)
    left = outside_code(text)
    for word in NOT_CODE:
        assert word not in left, left
    assert "<script" not in rendered(text)
    assert (left.count("<details>"), left.count("</details>"), left.count("<h1>")) == (1, 1, 1), left
    assert left.count("<table>") == 2, left
    rows = re.findall(r"<tr>(.*?)</tr>", rendered(text), re.DOTALL)
    assert {len(re.findall(r"<t[hd]\b", row)) for row in rows} == {3}, rows


@pytest.mark.parametrize("wrong", [lambda text: text, lambda text: f"`{text}`"])
def test_unguarded_text_is_noticed(case: Case, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bug_report, "code", lambda text, _limit=0: wrong(str(text)))
    with pytest.raises(AssertionError):
        test_markup_of_others_is_escaped(case)


@pytest.mark.parametrize(
    "text",
    ["a", "`", "``a", "a `b` ``c``", "a|b", "`|`", "\\", "\\`", "a\\|b", "<b>", "&amp;", "&#124;|", "- a", "1. a"],
)
def test_code_renders_as_the_same_text(text: str) -> None:
    for source in (f"{bug_report.code(text)}", f"| a |\n| --- |\n| {bug_report.code(text)} |"):
        match = re.search(r"<code>(.*?)</code>", rendered(source), re.DOTALL)
        assert match, source
        assert html.unescape(match[1]) == text, source


@pytest.mark.parametrize(
    "text", ["a_b_ *c* `d` <e> [f](g) ~h~ i|j &amp; \\", "# a", "- a", "1. a", "= a", "see @a", "a $b$"]
)
def test_prose_renders_as_the_same_text(text: str) -> None:
    shown = re.sub(r"</?(p|code|blockquote)>|\n", "", rendered(f"> {bug_report.prose(text)}"))
    assert html.unescape(shown) == text, shown


def test_a_page_of_the_documentation() -> None:
    root = "https://onnx.ai/onnx/operators"
    assert links.place("ai.onnx/Split/18") == f"{root}/onnx__Split.html#l-onnx-op-split-18"
    assert links.place("ai.onnx.ml/ZipMap/1") == f"{root}/onnx_aionnxml_ZipMap.html#l-onnx-opai-onnx-ml-zipmap-1"
    for strange in ("model", "com.microsoft/Gelu/1", "ai.onnx/a b/1", "ai.onnx/Split/", "ai.onnx/<b>/1"):
        assert links.place(strange) == "", strange


def test_paths_are_cut_down(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for text, shown in (
        (f'File "{Path.home()}/work/secret/x.py", line 3', 'File "x.py", line 3'),
        (f"in {tmp_path}/a/b.onnx: bad", "in b.onnx: bad"),
        (f"{sys.prefix}/lib/python/site.py", "site.py"),
        (f"at {tempfile.gettempdir()}/x)", "at x)"),
        ("/home/alice/build/libort.so", "libort.so"),
        ("/Users/alice/x.so and C:\\Users\\Alice\\y.dll", "x.so and y.dll"),
        (f"{Path.home()}", "..."),
        ("/onnxruntime_src/onnxruntime/core/x.cc:12", "/onnxruntime_src/onnxruntime/core/x.cc:12"),
        ("a/home/made shape [2,3]/[4]", "a/home/made shape [2,3]/[4]"),
    ):
        assert bug_report.public(text) == shown
    command_line = f"cmd:{Path.home()}/bin/runner --stdio /opt/models/x"
    assert bug_report.public_name(command_line) == "cmd:runner --stdio x"
    assert bug_report.public_name("my_runtime.backend") == "my_runtime.backend"


def test_a_report_has_every_part(case: Case) -> None:
    assert case.expected is not None
    outputs = (case.expected[0], np.asarray(case.expected[1]) + 1)
    others = [LiveAnswer("there", {"runtime": "there", "version": "2"}, failing(case, verdict=Verdict.PASS))]
    text = bug_report.markdown(
        issue_of(case, failing(case, message="off"), {"repro": "outputs = []"}, *others, outputs=outputs)
    )
    for part in (
        "wrong_value", "onnx__Split.html", "## Model", "[Split]", "## Inputs", "input = float", "## Expected",
        "Tolerance: exact", "## Actual", "| `outputs[1][0,0]` | ", "<details>", "parse_model", "`there 2` | pass",
        "## Versions", f"onnx {onnx.__version__}", f"numpy {np.__version__}", "Python 3", f"`{SPLIT}`",
    ):  # fmt: skip
        assert part in text, part


def test_a_report_quotes_whole_sentences(case: Case) -> None:
    cut = dataclasses.replace(case, operator="ai.onnx/Conv/22", clauses=("Stride along each", "Stride along"))
    text = bug_report.markdown(issue_of(cut, failing(cut), {}))
    assert text.count("Stride along each spatial axis.") == 1
    assert "Other sentences" not in text  # The second clause is a part of the same sentence.


def test_rejected_and_unspecified_cases_name_their_sentence(case: Case) -> None:
    for outcome, heading in ((Outcome.REJECTS, "A rejection: «"), (Outcome.UNSPECIFIED, "Unspecified by the text: «")):
        changed = dataclasses.replace(case, outcome=outcome, expected=None)
        assert heading in bug_report.markdown(issue_of(changed, failing(changed), {}))


def test_elements_that_differ() -> None:
    a = np.array([[1, 2], [3, np.nan]], np.float32)
    b = np.array([[1, 5], [3, 4]], np.float32)
    assert list(differing([a], [b], Allowance(""))) == [
        ("outputs[0][0,1]", "2.0", "5.0"),
        ("outputs[0][1,1]", "nan", "4.0"),
    ]
    assert list(differing([a], [b], Allowance("", atol=4))) == [("outputs[0][1,1]", "nan", "4.0")]
    assert list(differing([[a, a], {"k": a}], [[a, b], {"k": b}], Allowance("", atol=4))) == [
        ("outputs[0][1][1,1]", "nan", "4.0"),
        ("outputs[1]['k'][1,1]", "nan", "4.0"),
    ]
    for other in (a, a.astype(np.float64), a[0], None, [a]):
        assert list(differing([a], [other], Allowance(""))) == []


@pytest.mark.slow
@pytest.mark.usefixtures("all_operators")
def test_a_report_of_a_transformer_has_the_model_that_came_and_what_it_means() -> None:
    case = case_of("agraph (float[2,3] x) => (float[2,3] y) { y = Neg(x) }", {"x": X})
    changed = onnx.load_from_string(case.model)
    changed.graph.node[0].op_type = "Relu"
    tool = {"subject": "transformer", "runtime": "tool", "version": "1", "repro": "pass\n"}
    result = failing(case, verdict=Verdict.WRONG_VALUE)
    text = bug_report.markdown(issue_of(case, result, tool, model=changed.SerializeToString()))
    actual = text.partition("## Actual")[2].partition("## One-file")[0]
    assert "The returned model, and the oracle's outputs of it:" in actual
    assert "y = Relu (x)" in actual
    assert "y = float[2,3] 2 3 4 5 6 7" in actual
    assert "| `outputs[0][0,0]` | `-2.0` | `2.0` |" in actual
    without = bug_report.markdown(issue_of(case, result, tool, model=b"no model"))
    assert "The returned model:" in without.partition("## Actual")[2]


# The command


@pytest.mark.slow
def test_a_report_of_a_command_names_no_path() -> None:
    for kind in ("gives_nan_bytes", "dies_by_segv", "refuses_with_hostile_words", "dies_with_hostile_words"):
        done = command("repro", SPLIT, "--backend", adapter(kind), "--format", "markdown", "--other", adapter("good"))
        assert done.status == 0, done.text
        assert "| `wrong 1` | pass |" in done.out, done.out
        for path in (str(WRONG.parent), sys.executable, sys.prefix, str(Path.home())):
            assert path not in done.out, path


@pytest.mark.slow
def test_another_backend_that_does_not_start_has_a_row() -> None:
    words = ("repro", SPLIT, "--backend", adapter("gives_nan_bytes"), "--format", "markdown")
    done = command(*words, "--other", adapter("dies_at_start"), "--other", "oracle")
    assert done.status == 0, done.text
    assert re.search(r"\| `cmd:python\S* -S wrong.py dies_at_start` \| not run \| `.*exited with", done.out), done.out
    assert "| `oracle onnx" in done.out, done.out
    assert "onnx.reference" not in done.out, "others are named"
    assert "| `onnx.reference" in command(*words).out


@pytest.mark.slow
def test_a_folder_is_a_suite_with_its_report(tmp_path: Path) -> None:
    backend = adapter("gives_nan_bytes")
    done = command("repro", SPLIT, "--backend", backend, "--format", "folder", "--out", tmp_path / "made")
    assert done.status == 0, done.text
    (folder,) = (tmp_path / "made").iterdir()
    assert done.out == f"wrong_value: {folder}\n"
    assert {"model.onnx", "test_data_set_0", "case.json", "repro.py", "README.md"} <= {p.name for p in folder.iterdir()}
    assert json.loads((folder / "case.json").read_text())["id"] == SPLIT
    assert str(WRONG) in (folder / "repro.py").read_text(), "it must run here"
    again = command("run", "--suite", tmp_path / "made", "--backend", backend)
    assert again.status == 1, again.text
    assert "wrong_value" in again.out, again.text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--format", "folder"), "needs --out DIR"),
        (("--other", "oracle"), "--other is for --format markdown and folder"),
        (("--format", "markdown", "--other", "onnx_referense"), "did you mean onnx_reference"),
        (("--out", "."), "is a folder"),
        (("--format", "markdown", "--out", "missing/x.md"), "cannot write missing/x.md"),
        (("--format", "folder", "--out", "taken"), "is not a folder"),
    ],
)
def test_bad_input_is_one_sentence(
    words: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("")
    done = command("repro", SPLIT, "--backend", adapter("gives_nan_bytes"), *words)
    assert done.status == 2, done.text
    assert len(done.err.strip().splitlines()) == 1, done.err
    assert message in done.err, done.err


# Titles and sentences


@pytest.mark.parametrize(
    ("members", "title"),
    [
        (
            {
                "verdict": Verdict.WRONG_SHAPE,
                "mismatch": {"where": "outputs[0]", "expected": "shape [3]", "actual": "shape [4]"},
            },
            "`outputs[0]`: `shape [4]` (expected `shape [3]`)",
        ),
        (
            {"verdict": Verdict.WRONG_VALUE, "mismatch": {"where": "outputs[1]", "expected": "-0.0", "actual": "0.0"}},
            "`outputs[1]`: `0.0` (expected `-0.0`)",
        ),
        (
            {"verdict": Verdict.REFUSED, "error": "Fail", "message": "no kernel " + "x" * 500},
            "`no kernel " + "x" * 190 + "...` (expected `float[3], float[4]`)",
        ),
        ({"verdict": Verdict.REFUSED, "error": "Fail"}, "`Fail` (expected `float[3], float[4]`)"),
        ({"verdict": Verdict.CRASH, "signal": "SIGFPE"}, "`SIGFPE` (expected `float[3], float[4]`)"),
        (
            {"verdict": Verdict.TIMEOUT, "message": "no answer within 20.0 s"},
            "no answer within 20.0 s (expected `float[3], float[4]`)",
        ),
        ({"verdict": Verdict.ACCEPTED_INVALID, "actual": "float[2] 1 2"}, "`float[2] 1 2` (expected a rejection)"),
    ],
)
def test_a_title_has_the_expected_and_the_actual_answer(members: dict[str, Any], title: str) -> None:
    case = find_case("ai.onnx/Split/18/uneven_two")
    case = dataclasses.replace(case, expected=(np.zeros(3, np.float32), np.zeros(4, np.float32)))
    first = bug_report.markdown(
        issue_of(case, failing(case, **members), {"runtime": "mine", "version": "2"})
    ).splitlines()[0]
    assert first == f"# {title}: `ai.onnx/Split/18`, `mine 2`"


def test_a_crash_where_the_text_forbids_an_answer_wants_a_refusal() -> None:
    case = find_case("ai.onnx/Split/18/neither")
    text = bug_report.markdown(issue_of(case, failing(case, verdict=Verdict.CRASH, signal="SIGABRT"), {}))
    assert text.startswith("# `SIGABRT` (expected a rejection): ")


TYPES, DOES, SAYS_SHAPE = (
    "Constrain input and output types to all tensor types.",
    "Split a tensor into a list of tensors, along the specified 'axis'.",
    "Otherwise, the tensor is split to equal sized parts.",
)


@pytest.mark.parametrize(
    ("clauses", "members", "order"),
    [
        ((TYPES, DOES), {}, (DOES,)),
        ((TYPES,), {}, (TYPES,)),
        ((DOES, TYPES), {"verdict": Verdict.WRONG_TYPE}, (TYPES, DOES)),
        ((DOES, SAYS_SHAPE), {"verdict": Verdict.WRONG_VALUE}, (DOES, SAYS_SHAPE)),
        (
            (DOES, SAYS_SHAPE + " sizes"),
            {"verdict": Verdict.WRONG_SHAPE, "mismatch": {"where": "outputs[0]"}},
            (SAYS_SHAPE + " sizes", DOES),
        ),
        ((DOES, "What outputs_1 holds."), {"mismatch": {"where": "outputs[1]"}}, ("What outputs_1 holds.", DOES)),
    ],
)
def test_the_sentence_that_the_failing_part_rests_on_leads(
    clauses: tuple[str, ...], members: dict[str, Any], order: tuple[str, ...]
) -> None:
    case = dataclasses.replace(find_case("ai.onnx/Split/13/lengths"), clauses=clauses)
    assert sentences.leading(case, failing(case, **members)) == order


def test_the_clause_that_decides_a_refusal_leads_even_if_it_is_about_types() -> None:
    case = dataclasses.replace(find_case("ai.onnx/Split/18/neither"), clauses=(DOES, "Signature: of types."))
    assert sentences.leading(case, failing(case)) == ("Signature: of types.", DOES)
