# SPDX-License-Identifier: Apache-2.0
"""Titles that are understandable alone."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING

import pytest

from onnx_conformance.base.verdict import Result, Verdict, clean
from onnx_conformance.findings import titles
from onnx_conformance.forms import table
from onnx_conformance.suites.lookup import find_case

if TYPE_CHECKING:
    from onnx_conformance.case.case import Case


@functools.cache
def split() -> Case:
    return find_case("ai.onnx/Split/18/uneven_two")


def result(verdict: Verdict = Verdict.WRONG_VALUE, **more: object) -> Result:
    return Result(split().id, split().operator, "mine", verdict, "values", **more)  # type: ignore[arg-type]


def test_a_condition_that_the_smallest_case_lacks_is_not_in_the_title() -> None:
    assert titles.true_of(split(), ["num_outputs is set", "split is given", "rank of input = 7"]) == (
        "num_outputs is set",
    )


def test_a_title_has_versions_conditions_and_both_values() -> None:
    mismatch = {"where": "outputs[1]", "expected": "0.2500001", "actual": "0.75"}
    made = titles.title(
        "ai.onnx/Split", (13, 18), Verdict.WRONG_VALUE, split(), result(mismatch=mismatch),
        ["num_outputs is set", "the text allows it", "rank of input = 7"],
    )  # fmt: skip
    second = split().outputs[1]
    assert made == f"Split (13, 18): with num_outputs -> returns 0.75 in output {second} (expected 0.25)"


def test_a_title_without_conditions_has_the_attributes_of_the_smallest_case() -> None:
    made = titles.title("ai.onnx/Split", (18,), Verdict.CRASH, split(), result(Verdict.CRASH), ["rank of input = 7"])
    assert made.startswith("Split (18): num_outputs=2 -> the process ends"), made
    pool = find_case("ai.onnx/MaxPool/22/same_lower_dilations")  # kernel_shape is required.
    assert titles.attributes(pool, "ai.onnx/MaxPool") == ["auto_pad=SAME_LOWER", "dilations=[3,1]"]
    assert titles.attributes(find_case("ai.onnx/LpPool/22/one_pixel"), "ai.onnx/LpPool") == ["kernel_shape=[1]"]
    assert not titles.attributes(pool, "ai.onnx/Conv")
    assert not titles.attributes(pool, "model")


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("'W'", "KeyError: 'W'"),
        ("", "KeyError"),
        ("axis is wrong", "axis is wrong"),
        (f"{'node ' * 40}: axis is wrong", f"...{'node ' * 18}: axis is wrong"),
        (f"{'node ' * 40}) failed: kernel failed: axis is wrong", "axis is wrong"),
        (f"none of {'tensor(x),' * 40}", f"...{'tensor(x),' * 11}"),
        (f"Status Message: {'axis ' * 40}is wrong", f"...{'axis ' * 20}is wrong"),
        (clean(f"axis is wrong: {'node ' * 800}"), f"axis is wrong: {'node ' * 18}node..."),
    ],
)
def test_a_title_has_the_part_of_a_message_that_names_the_error(message: str, shown: str) -> None:
    refused = result(Verdict.REFUSED, message=message, error="KeyError")
    made = titles.title("ai.onnx/Split", (18,), Verdict.REFUSED, split(), refused, [])
    assert made.partition(" -> refused: ")[2].startswith(repr(shown)), made


def test_a_title_names_the_model_of_a_rewrite() -> None:
    case = dataclasses.replace(split(), id="ai.onnx/Split/18/layer_of_bert_other_scale_minimized@symbolic")
    crash = result(Verdict.CRASH, signal="SIGSEGV")
    made = titles.title("ai.onnx/Split", (18,), Verdict.CRASH, case, crash, ["num_outputs is set"])
    assert made.startswith("Split (18): in the model 'layer of bert other scale' -> the process ends by SIGSEGV"), made


def test_a_title_gets_the_versions_of_joined_findings() -> None:
    for first in ("Split (2): with axis -> crash (expected 1, 2)", "Split: with axis -> crash (expected 1, 2)"):
        assert titles.with_versions(first, (2, 13)) == "Split (2, 13): with axis -> crash (expected 1, 2)"


def test_a_form_is_described() -> None:
    case = find_case("ai.onnx/Split/18/uneven_two@symbolic")
    made = titles.title(
        "ai.onnx/Split", (18,), Verdict.CRASH, case, result(Verdict.CRASH, signal="SIGSEGV"), ["form is @symbolic"]
    )
    assert made.startswith("Split (18): with symbolic dimensions -> the process ends by SIGSEGV (expected ")


def test_every_form_has_words_for_a_title() -> None:
    assert not [form.name for form in table.FORMS if not form.phrase and form.name != "plain"]
    assert not [form.name for form in table.FORMS if form.phrase.startswith(("@", "form"))]


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        (("0.20134", "0.2014567"), ("0.2013", "0.2015")),
        (("1.0", "0.0"), ("1", "0")),
        (("-0.5", "inf"), ("-0.5", "inf")),
        (("1.00000012", "1.0"), ("1.0000001", "1")),
        (("True", "False"), ("True", "False")),
        (("3", "4"), ("3", "4")),
    ],
)
def test_numbers_have_the_digits_in_which_they_differ(texts: tuple[str, str], shown: tuple[str, str]) -> None:
    assert titles.rounded(*texts) == shown


def test_columns_of_a_table_are_not_shown_if_there_are_other_attributes() -> None:
    shown = titles.attributes(
        find_case("ai.onnx.ml/TreeEnsembleClassifier/3/gte_missing_0"), "ai.onnx.ml/TreeEnsembleClassifier"
    )
    assert any(text.startswith("nodes_modes=[BRANCH_GTE") for text in shown)
    assert not [text for text in shown if text.partition("=")[0].endswith("ids")]
