# SPDX-License-Identifier: Apache-2.0
"""Which failures a user meets first."""

from __future__ import annotations

import dataclasses

import pytest

from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.results import severity
from onnx_conformance.results.severity import Nature, Severity, of_result

CONV = Result("ai.onnx/Conv/22/a", "ai.onnx/Conv/22", "mine", Verdict.WRONG_VALUE, "values", expected="float[1] 2")


@pytest.mark.parametrize(
    ("changes", "nature"),
    [
        ({}, Nature.TYPICAL),
        ({"form": "initializer"}, Nature.TYPICAL),
        ({"case": "ai.onnx/Conv/22/a/float16"}, Nature.TYPICAL),
        ({"case": "ai.onnx/Conv/22/a/bfloat16"}, Nature.UNCOMMON),
        ({"operator": "ai.onnx/Det/22", "case": "ai.onnx/Det/22/a"}, Nature.UNCOMMON),
        ({"form": "unranked"}, Nature.EDGE),
        ({"tags": ("edge",)}, Nature.EDGE),
        ({"outcome": "unspecified"}, Nature.EDGE),
        ({"expected": "float[2] 1 nan"}, Nature.EDGE),
        ({"expected": "float[2,0]"}, Nature.DEGENERATE),
        ({"expected": "float[10] 0"}, Nature.TYPICAL),
        ({"outcome": "rejects"}, Nature.INVALID),
        ({"verdict": Verdict.ACCEPTED_INVALID}, Nature.INVALID),
    ],
)  # fmt: skip
def test_the_nature_of_a_result(changes: dict[str, object], nature: Nature) -> None:
    assert of_result(dataclasses.replace(CONV, **changes)).nature is nature  # type: ignore[arg-type]


def test_versions_with_one_meaning_share_their_callers() -> None:
    found = of_result(CONV)
    assert found.newest
    assert found.models > 10
    older = of_result(dataclasses.replace(CONV, operator="ai.onnx/Conv/11"))
    assert (older.newest, older.models) == (False, found.models)


def test_failures_are_ordered_by_nature_then_silence_then_version_then_use() -> None:
    ordered = [
        (Severity(Nature.TYPICAL, 3), Verdict.WRONG_SHAPE),
        (Severity(Nature.TYPICAL, 2), Verdict.WRONG_VALUE),
        (Severity(Nature.TYPICAL, 9, newest=False), Verdict.WRONG_VALUE),
        (Severity(Nature.TYPICAL, 9), Verdict.CRASH),
        (Severity(Nature.TYPICAL, 9), Verdict.REFUSED),
        (Severity(Nature.TYPICAL, 9, imprecise=True), Verdict.WRONG_VALUE),
        (Severity(Nature.UNCOMMON, 0, having=5), Verdict.WRONG_VALUE),
        (Severity(Nature.UNCOMMON), Verdict.WRONG_VALUE),
        (Severity(Nature.EDGE), Verdict.WRONG_VALUE),
        (Severity(Nature.DEGENERATE), Verdict.CRASH),
        (Severity(Nature.INVALID), Verdict.CRASH),
        (Severity(Nature.INVALID), Verdict.ACCEPTED_INVALID),
    ]
    keys = [item.key(kind) for item, kind in ordered]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(("relative", "imprecise"), [(3e-6, True), (0.009, True), (0.02, False), ("nan", False)])
def test_a_number_close_to_the_right_one_is_imprecise(relative: object, *, imprecise: bool) -> None:
    wrong = dataclasses.replace(CONV, verdict=Verdict.WRONG_VALUE, mismatch={"where": "y", "relative": relative})
    assert of_result(wrong).imprecise is imprecise
    assert not of_result(dataclasses.replace(wrong, verdict=Verdict.WRONG_TYPE)).imprecise


def test_every_severity_has_a_sentence() -> None:
    for nature in Nature:
        assert severity.Severity(nature, 3, newest=False, having=7).sentence().endswith("only superseded versions fail")
