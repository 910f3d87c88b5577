# SPDX-License-Identifier: Apache-2.0
"""Replacing the sentences of published findings."""

from __future__ import annotations

import dataclasses
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnx.printer
import pytest
from click.testing import CliRunner

from onnx_conformance.base.printing import quoted
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.findings import findings_file
from onnx_conformance.findings.failure_groups import FailureGroup
from onnx_conformance.findings.script import said
from onnx_conformance.suites.lookup import find_case
from runs import result, run_of
from site_runs import finding, write_findings
from tools import sentences

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_conformance.base.verdict import Result
    from onnx_conformance.case.case import Case

NORMALIZATION = "ai.onnx/InstanceNormalization"
IMAGE = f"{NORMALIZATION}/22/image"
LINE = f"{NORMALIZATION}/22/line"
PAPER = "Carries out instance normalization as described in the paper https://arxiv.org/abs/1607.08022."
FORMULA = (
    "y = scale * (x - mean) / sqrt(variance + epsilon) + B, "
    "where mean and variance are computed per instance per channel."
)
CUT = "instance normalization as described in"


def normalization(number: int = 1, case: str = IMAGE, **members: Any) -> dict[str, Any]:
    """Return a finding of InstanceNormalization with the old sentence, whose script contains its model."""
    model = onnx.printer.to_text(onnx.load_from_string(find_case(IMAGE).model))
    script = f'"""A title\n\nThe text: {quoted(PAPER)}\n"""\n\nmodel = onnx.parser.parse_model("""\n{model}\n""")\n'
    example = {"case": f"{case}_minimized", "model": model, "inputs": {"input": "float[1,2,2,2] 0", "B": "int4[2] 0"}}
    own = {
        "operator": NORMALIZATION, "clause": PAPER, "cases": {"count": 1, "ids": [IMAGE]}, "script": [script],
        "example": {**example, "message": "outputs[0]: wrong"},
    }  # fmt: skip
    return finding(number, **(own | members))


def run(path: Path, version: str = "2.0", digest: str = "x", case: str = IMAGE) -> Path:
    """Return a run with a wrong value in two versions, and an accepted model."""
    mismatch = {"where": "outputs[0]", "actual": "0", "expected": "1", "relative": 0.5}
    wrong = result(
        "x", Verdict.WRONG_VALUE, operator=f"{NORMALIZATION}/22", backend="alpha", case=case,
        clauses=find_case(IMAGE).clauses, mismatch=mismatch, message="of the run",
    )  # fmt: skip
    older = dataclasses.replace(wrong, operator=f"{NORMALIZATION}/6", case=f"{NORMALIZATION}/6/image")
    accepted = dataclasses.replace(
        wrong, case=LINE, verdict=Verdict.ACCEPTED_INVALID, outcome="rejects", mismatch={}, force="must"
    )
    hellos = {"alpha": {"version": version}}
    return run_of(path, older, wrong, accepted, backends=("alpha",), hellos=hellos, digest=digest).path


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        ({}, FORMULA),
        ({"case": f"{NORMALIZATION}/6/image"}, FORMULA),  # It was made from the case in another version.
        (
            {"kind": "accepted_invalid", "case": LINE, "cases": {"count": 1, "ids": [LINE]}},
            PAPER,
        ),  # Its sentence is part of its cause.
        ({"kind": "accepted_invalid", "clause": CUT}, PAPER),  # The rest of the sentence is added.
        ({"kind": "accepted_invalid", "clause": CUT, "operator": "ai.onnx/Unknown"}, CUT),  # It has no text.
        ({"chosen": "2026-12-01"}, PAPER),  # A reader chose it.
        ({"chosen": "2026-12-01", "clause": CUT}, CUT),  # It is not completed, either.
        ({"kind": "wrong_shape"}, PAPER),  # The run has no such failure.
        ({"cases": {"count": 1, "ids": [LINE]}}, PAPER),  # The run has no failure of this case.
        ({"script": ["print()"]}, PAPER),
        ({"script": ["model = onnx.load_from_string(BYTES)"]}, FORMULA),
        ({"script": ["model = onnx.load_from_string(b'no model')"]}, PAPER),
        ({"script": ['parse_model("""\nno model\n""")']}, PAPER),
        ({"case": f"{NORMALIZATION}/22/other"}, FORMULA),  # The run has the failure, but not this case.
    ],
)
def test_a_finding_has_the_sentence_of_today_s_rules(tmp_path: Path, members: dict[str, Any], sentence: str) -> None:
    scripts = [text.replace("BYTES", repr(find_case(IMAGE).model)) for text in members.get("script", ())]
    own = members | ({"script": scripts} if scripts else {})
    write_findings(tmp_path / "f", [normalization(**own)])
    command = [str(run(tmp_path / "run.ndjson")), "--folder", str(tmp_path / "f")]
    done = CliRunner().invoke(sentences.main, command, catch_exceptions=False)
    assert done.exit_code == 0
    assert f"{int(sentence != members.get('clause', PAPER))} of 1 findings have another sentence" in done.stdout
    read = findings_file.read(tmp_path / "f")
    (item,) = read.findings
    assert item.cases.clause == sentence
    if "script" not in members and sentence != CUT:
        assert f"The text: {quoted(sentence)}\n" in read.scripts[item.id]


@pytest.mark.parametrize(
    ("title", "changed"),
    [
        (
            "InstanceNormalization: form is @then_Det -> returns 0 (expected 1)",
            " (22): epsilon=1e-05 -> returns 0 (expected 1)",
        ),
        ("InstanceNormalization: returns 0 (expected 1)", " (22): epsilon=1e-05 -> returns 0 (expected 1)"),
        (
            "InstanceNormalization (22): form is one of @a, @b -> refused: 'a -> b'",
            " (22): epsilon=1e-05 -> refused: 'a -> b'",
        ),
        ("InstanceNormalization: refused: 'a -> b'", " (22): epsilon=1e-05 -> refused: 'a -> b'"),
        (
            "InstanceNormalization (22): B has NaN -> refused: 'form is wrong'",
            " (22): B has NaN -> refused: 'form is wrong'",
        ),
    ],
)
def test_a_title_of_an_earlier_release_gets_versions_and_no_names_of_forms(
    tmp_path: Path, title: str, changed: str
) -> None:
    model = onnx.load_from_string(find_case(IMAGE).model)
    (node,) = model.graph.node
    del node.attribute[:]
    node.attribute.append(onnx.helper.make_attribute("epsilon", 1e-5))
    script = f'"""{title}\n"""\nmodel = onnx.parser.parse_model("""\n{onnx.printer.to_text(model)}\n""")\n'
    write_findings(tmp_path / "f", [normalization(title=title, script=[script], versions=[22])])
    command = [str(run(tmp_path / "run.ndjson")), "--folder", str(tmp_path / "f")]
    CliRunner().invoke(sentences.main, command, catch_exceptions=False)
    read = findings_file.read(tmp_path / "f")
    (item,) = read.findings
    assert item.title == f"InstanceNormalization{changed}"
    assert item.title in read.scripts[item.id]


@pytest.mark.parametrize(
    ("case", "sentence"), [(f"{IMAGE}@no_such_form", FORMULA), (f"{NORMALIZATION}/22/no_such_case", PAPER)]
)
def test_a_case_that_the_generated_suite_lacks_is_used_in_the_plain_form_if_it_has_one(
    tmp_path: Path, case: str, sentence: str
) -> None:
    write_findings(tmp_path / "f", [normalization(case=case.partition("@")[0], cases={"count": 1, "ids": [case]})])
    command = [str(run(tmp_path / "run.ndjson", case=case)), "--folder", str(tmp_path / "f")]
    assert CliRunner().invoke(sentences.main, command, catch_exceptions=False).exit_code == 0
    (item,) = findings_file.read(tmp_path / "f").findings
    assert item.cases.clause == sentence


@pytest.mark.parametrize(
    ("title", "changed"),
    [
        ("InstanceNormalization: B has NaN and form is @a -> returns 0", " (6, 22): B has NaN -> returns 0"),
        ("InstanceNormalization: form is one of @a, @b -> returns 0", " (6, 22): returns 0"),
        ("InstanceNormalization (6): refused: 'form is @a -> b'", " (6): refused: 'form is @a -> b'"),
        ("InstanceNormalization: refused: 'a and form is b -> c'", " (6, 22): refused: 'a and form is b -> c'"),
    ],
)
def test_an_old_title_without_a_model_keeps_its_other_conditions(tmp_path: Path, title: str, changed: str) -> None:
    write_findings(tmp_path / "f", [normalization(title=title, script=[f'"""{title}"""'], versions=[6, 22])])
    command = [str(run(tmp_path / "run.ndjson")), "--folder", str(tmp_path / "f")]
    CliRunner().invoke(sentences.main, command, catch_exceptions=False)
    (item,) = findings_file.read(tmp_path / "f").findings
    assert item.title == f"InstanceNormalization{changed}"


def test_without_runs_only_cut_sentences_change(tmp_path: Path) -> None:
    write_findings(tmp_path / "f", [normalization(), normalization(2, clause=CUT), normalization(3, clause="")])
    done = CliRunner().invoke(sentences.main, ["--folder", str(tmp_path / "f")], catch_exceptions=False)
    assert done.stdout == "1 of 3 findings have another sentence\n"
    assert [item.cases.clause for item in findings_file.read(tmp_path / "f").findings] == [PAPER, PAPER, ""]


@pytest.mark.parametrize(
    ("message", "used"), [("outputs[0]: wrong", "outputs[0]: wrong"), ("outputs... (1,234 characters)", "of the run")]
)
@pytest.mark.parametrize("version", [6, 22])
def test_the_rules_receive_the_smallest_case_and_its_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, message: str, used: str, version: int
) -> None:
    listed = normalization(case=f"{NORMALIZATION}/{version}/image")
    listed["example"] |= {"message": message, "case": f"{NORMALIZATION}/{version}/image_minimized"}
    listed["example"]["inputs"] = {"input": "float[1,2] 3 -1", "B": "int4[2] 0", "S": "string[1] 'a'", "N": "optional"}
    write_findings(tmp_path / "f", [listed])
    received = []

    def chosen(case: Case, first: Result, _: object) -> str:
        received.append((case, first))
        return FORMULA

    monkeypatch.setattr(sentences, "sentence", chosen)
    command = [str(run(tmp_path / "run.ndjson")), "--folder", str(tmp_path / "f")]
    CliRunner().invoke(sentences.main, command, catch_exceptions=False)
    [(case, first)] = received
    assert (first.case, first.message) == (f"{NORMALIZATION}/{version}/image", used)
    assert onnx.load_from_string(case.model).graph.node[0].op_type == "InstanceNormalization"
    arrays = {name: value for name, value in case.inputs.items() if isinstance(value, np.ndarray)}
    assert {name: (str(value.dtype), value.shape) for name, value in arrays.items()} == {
        "input": ("float32", (1, 2)),
        "B": ("int4", (2,)),
    }
    assert arrays["input"].tolist() == [[3, -1]]
    assert not arrays["B"].any()  # Its text is cut.
    assert case.form == "plain"


@pytest.mark.parametrize(
    ("smallest", "other"),
    [
        ("signature_types_t/double", "signature_types_t_minimized"),
        ("image@initializer", "image_minimized"),  # It passes in the plain form, but its smallest case does not.
        ("image", "image_minimized@initializer"),
    ],
)
def test_the_group_of_the_smallest_case_explains_a_finding_of_several_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, smallest: str, other: str
) -> None:
    own, names = f"{NORMALIZATION}/22/{smallest}", ("line", "volume", "one_channel")
    operator = f"{NORMALIZATION}/22"
    refused = [
        result("x", Verdict.REFUSED, operator=operator, backend="alpha", case=case, message="outputs[0]: wrong")
        for case in (own, *(f"{operator}/{name}" for name in names))
    ]
    groups = [
        FailureGroup("alpha", "2.0", NORMALIZATION, Verdict.REFUSED, (), tuple(part))
        for part in (refused[1:], [dataclasses.replace(refused[0], message="no kernel"), refused[0]])
    ]
    monkeypatch.setattr(sentences, "failure_groups", lambda *_, **__: (groups, ""))
    listed = normalization(kind="refused", cases={"count": 4, "ids": [item.case for item in refused]})
    listed["example"] |= {"case": f"{operator}/{other}", "message": "outputs[0]: wr... (17 characters)"}
    write_findings(tmp_path / "f", [listed])
    received = []
    monkeypatch.setattr(sentences, "sentence", lambda *given: received.append(given) or FORMULA)
    command = [str(run(tmp_path / "run.ndjson")), "--folder", str(tmp_path / "f")]
    CliRunner().invoke(sentences.main, command, catch_exceptions=False)
    [(case, first, group)] = received
    assert (first.case, first.message, group) == (own, "outputs[0]: wrong", groups[1])
    assert case.form == (other.partition("@")[2] or "plain")


def test_a_sentence_with_a_backslash_leaves_a_script_that_python_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = "y = \\sum x", 'y = \\prod x, """'
    script = normalization()["script"][0].replace(f"The text: {quoted(PAPER)}", said(old))
    write_findings(tmp_path / "f", [normalization(clause=old, script=[script])])
    monkeypatch.setattr(sentences, "sentence", lambda *_: new)
    command = [str(run(tmp_path / "run.ndjson")), "--folder", str(tmp_path / "f")]
    CliRunner().invoke(sentences.main, command, catch_exceptions=False)
    read = findings_file.read(tmp_path / "f")
    written = read.scripts[read.findings[0].id]
    assert said(new) in written
    with warnings.catch_warnings(action="error"):
        compile(written, "script.py", "exec")


def test_a_run_of_another_suite_is_taken(tmp_path: Path) -> None:
    write_findings(tmp_path / "f", [normalization()])
    path = run(tmp_path / "run.ndjson", digest="of another suite")
    done = CliRunner().invoke(sentences.main, [str(path), "--folder", str(tmp_path / "f")], catch_exceptions=False)
    assert "1 of 1 findings have another sentence" in done.stdout


def test_findings_of_another_version_are_left_out(tmp_path: Path) -> None:
    write_findings(tmp_path / "f", [normalization()])
    command = [str(run(tmp_path / "run.ndjson", "3.0")), "--folder", str(tmp_path / "f")]
    done = CliRunner().invoke(sentences.main, command, catch_exceptions=False)
    for words in ("run.ndjson: ", "version 2.0", "of 3.0", "left out"):
        assert words in done.stderr
    assert findings_file.read(tmp_path / "f").findings[0].cases.clause == PAPER


def test_findings_that_cannot_be_read_are_one_message(tmp_path: Path) -> None:
    done = CliRunner().invoke(sentences.main, [str(run(tmp_path / "run.ndjson")), "--folder", str(tmp_path)])
    assert done.exit_code == 2
    assert done.stderr.startswith("sentences: cannot read ")
