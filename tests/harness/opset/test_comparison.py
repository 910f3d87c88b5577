# SPDX-License-Identifier: Apache-2.0
"""`opset`: the range, what a terminal, Markdown and JSON say, and the gate of whoever adds an opset."""

from __future__ import annotations

import dataclasses
import functools
import json

import onnx
import pytest

from commands import command
from onnx_conformance.opset import comparison, description, effects
from onnx_conformance.opset.comparison import INSTALLED, Opsets, Packages
from onnx_conformance.report import opset as report
from onnx_conformance.specification import registry, schema

NEWEST = schema.newest_opset("ai.onnx")


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("27..28", Opsets(27, 28)),
        ("13", Opsets(12, 13)),
        ("..13", Opsets(12, 13)),
        ("", Opsets(NEWEST - 1, NEWEST)),
        ("20..", Opsets(20, NEWEST)),
        ("onnx==1.19.1..onnx-weekly", Packages("onnx==1.19.1", "onnx-weekly")),
        ("1.19.1..1.20.1", Packages("onnx==1.19.1", "onnx==1.20.1")),
        ("1.19.1..", Packages("onnx==1.19.1", INSTALLED)),
        ("1.19.1", Packages("onnx==1.19.1", INSTALLED)),
        ("..onnx-weekly", Packages(INSTALLED, "onnx-weekly")),
    ],
)
def test_a_range_is_of_opsets_or_of_packages(text: str, asked: Opsets | Packages) -> None:
    assert comparison.parse(text, "ai.onnx") == asked


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("27..99", f"has no opset 99 of ai.onnx; its newest is {NEWEST}"),
        ("28..27", "'28..27' is reversed; the older opset is first"),
        ("28..28", "is empty"),
        ("0", "has no opset -1"),
        ("27..1.22.0", "compares an opset with a package"),
        ("1.22.0..1.19.1", "is reversed; the older one is first"),
        ("1.19.1..1.19.1", "is empty"),
        ("1.2.0..1.19.1", "the harness needs onnx 1.19 or later"),
        ("torch..onnx-weekly", "'torch' is not a version of onnx; write a version such as 1.22.0, or onnx-weekly"),
        ("a b..c", "'a b' is not a version of onnx"),
        ("..", None),
    ],
)
def test_a_range_that_is_none_gets_one_line(text: str, said: str | None) -> None:
    if said is None:  # Both sides left out: from the opset before the newest.
        assert comparison.parse(text, "ai.onnx") == Opsets(NEWEST - 1, NEWEST)
        return
    done = command("opset", text)
    assert done.status == 2, done.text
    assert done.err.startswith("onnx-conformance: ")
    assert done.err.count("\n") == 1
    assert said in done.err


def test_a_domain_that_onnx_lacks_gets_one_line() -> None:
    done = command("opset", "--domain", "com.microsoft")
    assert (done.status, done.err.count("\n")) == (2, 1), done.text
    assert "[unknown-domain]" in done.err


OFFICIAL = functools.cache(effects.official_cases)


@pytest.fixture
def few_schemas(monkeypatch: pytest.MonkeyPatch) -> None:
    """An onnx that has three operators, of which BitCast 26 came last."""
    known = schema.every()
    few = {f"ai.onnx/{name}": known[f"ai.onnx/{name}"] for name in ("Abs", "BitCast", "Transpose")}
    monkeypatch.setattr(schema, "every", lambda *_: few)
    monkeypatch.setattr(effects, "official_cases", OFFICIAL)


@pytest.mark.slow
@pytest.mark.usefixtures("few_schemas")
def test_what_came_is_shown_with_its_cases() -> None:
    done = command("opset", "25..26", "--check")
    assert done.status == 0, done.text
    assert done.out.startswith(f"opset 25 to opset 26 of onnx {onnx.__version__}: new operator 1\n")
    shown = " ".join(done.out.split())
    assert "added «The target data type must have the same bit-width as the input data type.»" in shown
    assert "test_bitcast_float32_to_int32" in shown
    assert done.out.endswith("Every schema point and every binding sentence of these has a case.\n")
    text = command("opset", "25..26", "--format", "markdown").out
    assert "\n## ai.onnx/BitCast/26: new operator\n" in text
    data = json.loads(command("opset", "25..26", "--format", "json").out)
    (step,) = data["steps"]
    assert (step["operator"], step["kind"], step["complete"], step["points"]) == (
        "ai.onnx/BitCast/26", "new operator", True, [],
    )  # fmt: skip
    assert step["cases"] > 100
    quiet = command("opset", "14..15", "--check")
    assert (quiet.status, "no new version and no reworded text" in quiet.out) == (0, True), quiet.text


@pytest.mark.slow
@pytest.mark.usefixtures("few_schemas")
def test_check_ends_with_1_where_a_sentence_or_a_point_has_no_case(monkeypatch: pytest.MonkeyPatch) -> None:
    op = registry.load().named("BitCast")
    cited = "The target data type must have the same bit-width as the input data type."
    monkeypatch.setattr(op, "cases", [spec for spec in op.cases if cited not in {item.text for item in spec.clauses}])
    done = command("opset", "25..26", "--check")
    assert done.status == 1, done.text
    shown = " ".join(done.out.split())
    assert f"no case «{cited}»" in shown
    assert "1 of 1 lack a case for a point or sentence: ai.onnx/BitCast/26." in shown
    assert command("opset", "25..26").status == 0
    without = registry.Registry([registry.load().named("Abs")])
    monkeypatch.setattr(registry, "load", lambda *_: without)
    undeclared = command("opset", "25..26", "--check")
    assert undeclared.status == 1, undeclared.text
    assert "no operator file declares this version" in undeclared.out


@pytest.mark.slow
def test_a_sentence_reworded_in_place_is_found_between_packages_word_by_word() -> None:
    number, every = description.parse(description.printed())
    name = "ai.onnx/Split/18"
    quoted = "It is up to the runtime to split it evenly"
    old = {path: item for path, item in every.items() if item.operator in {"ai.onnx/Split", "ai.onnx/Abs"}}
    first = next(text for text in old[name].sentences if "equal" in text)
    reworded = tuple(text.replace("equal", "the same") for text in old[name].sentences)
    old[name] = dataclasses.replace(old[name], sentences=(*reworded, quoted))
    del old["ai.onnx/Abs/13"]
    old["ai.onnx/Gone/1"] = dataclasses.replace(old["ai.onnx/Abs/1"], operator="ai.onnx/Gone")
    changed = [change for change in comparison._between(old, {**every}) if change.after.operator == "ai.onnx/Split"]
    (change,) = changed
    assert str(change.kind) == "reworded in place"
    assert change.went == (quoted,)
    assert any("[-the same-] {+equal+}" in report.words(parts) for parts in change.changed), first
    assert number == onnx.__version__


@pytest.mark.slow
@pytest.mark.usefixtures("few_schemas")
def test_two_packages_are_compared_each_in_an_environment_of_its_own() -> None:
    """Transpose was reworded in place after 1.22.0."""
    done = command("opset", "1.22.0..", "--format", "json")
    assert done.status == 0, done.text
    data = json.loads(done.out)
    assert data["before"] == "onnx 1.22.0"
    steps = {step["operator"]: step for step in data["steps"]}
    shown = steps["ai.onnx/Transpose/25"]
    assert shown["kind"] == "reworded in place"
    parts = [part for sentence in shown["changed"] for part in sentence]
    assert any(part["went"] == "dimensions" and part["came"] == "axes" for part in parts), parts
    assert shown["holding"] == shown["former"] > 100
