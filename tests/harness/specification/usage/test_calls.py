# SPDX-License-Identifier: Apache-2.0
"""Matching the calls of real models with cases."""

from __future__ import annotations

import pytest

from onnx_conformance.specification import schema
from onnx_conformance.specification.usage.calls import carried, matching, of_pattern
from onnx_conformance.specification.usage.pattern import Pattern


def pattern(operator: str, types: str = "", attributes: str = "", inputs: str = "") -> Pattern:
    return Pattern.of_columns(f"ai.onnx/{operator}", types, attributes, inputs, "")


def test_a_call_lacks_sizes_constants_and_numbers() -> None:
    found = Pattern.of_columns("ai.onnx/Conv/11", "T=float", "auto_pad=VALID group:1 pads", "X/4 W/4c B/1c", "3")
    assert of_pattern(found) == pattern("Conv/11", "T=float", "auto_pad=VALID group pads", "X/4 W/4 B/1")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("Squeeze/11", "T=float", "axes", "data/4"), ("Squeeze/13", "T=float", "", "data/4 axes/1")),
        (("Dropout/7", "T=float", "ratio", "data/2"), ("Dropout/13", "T=float", "", "data/2 ratio/?")),
        (
            ("BatchNormalization/9", "T=float", "epsilon", "X/4 scale/1 B/1 mean/1 var/1"),
            (
                "BatchNormalization/15",
                "T1=float T2=float T=float",
                "epsilon",
                "X/4 scale/1 B/1 input_mean/1 input_var/1",
            ),
        ),
        (("Identity/1", "T=float", "", "input/4"), ("Identity/25", "V=float", "", "input/4")),
        (("Add/6", "T=float", "axis broadcast", "A/4 B/1"), ("Add/14", "T=float", "", "A/4 B/1")),
        (("Relu/14", "T=float", "", "X/4"), ("Relu/14", "T=float", "", "X/4")),
    ],
)
def test_a_call_is_carried_to_a_newer_version(old: tuple[str, ...], new: tuple[str, ...]) -> None:
    versions = [schema.in_force("ai.onnx", *_numbered(name)) for name in (old[0], new[0])]
    assert carried(pattern(*old), *versions) == pattern(*new)


def _numbered(name: str) -> tuple[str, int]:
    return name.partition("/")[0], int(name.partition("/")[2])


CALL = ("Gemm/13", "T=float", "alpha transB", "A/2 B/2 C/1")


@pytest.mark.parametrize(
    "other",
    [
        ("Gemm/13", "T=double", "alpha transB", "A/2 B/2 C/1"),
        ("Gemm/13", "T=float", "alpha", "A/2 B/2 C/1"),
        ("Gemm/13", "T=float", "alpha beta transB", "A/2 B/2 C/1"),
        ("Gemm/13", "T=float", "alpha transB", "A/2 B/2"),
        ("Gemm/13", "T=float", "alpha transB", "A/2 B/2 C/0"),
        ("Gemm/11", "T=float", "alpha transB", "A/2 B/2 C/1"),
    ],
)
def test_a_case_that_differs_matches_no_call(other: tuple[str, ...]) -> None:
    call = pattern(*CALL)
    assert matching([call], [pattern(*other), call]) == {call: [1]}
    higher = pattern(*other[:3], "A/2 B/2 C/2")
    assert matching([call], [pattern(*other), higher]) == {call: []}


def test_enumerations_are_compared_and_order_is_not() -> None:
    call = pattern("Resize/19", "", "mode=nearest antialias", "X/4 sizes/1")
    same = pattern("Resize/19", "", "antialias mode=nearest", "X/4 sizes/1")
    linear = pattern("Resize/19", "", "antialias mode=linear", "X/4 sizes/1")
    assert matching([call], [linear, same]) == {call: [1]}


def test_a_rank_above_the_largest_is_matched_by_the_largest() -> None:
    call = pattern("Add/14", "T=float", "", "A/6 B/1")
    three, four, of_int = (
        pattern("Add/14", f"T={kind}", "", f"A/{rank} B/1") for kind, rank in (("float", 3), ("float", 4), ("int64", 5))
    )
    assert matching([call], [three, four]) == {call: [1]}
    assert matching([call], [three, four, of_int]) == {call: []}, "of any type"


def test_unknown_ranks_and_types_are_matched_by_any() -> None:
    call = pattern("Add/14", "", "", "A/? B/1")
    cases = [pattern("Add/14", "T=int8", "", f"A/{rank} B/{other}") for rank, other in ((3, 1), (2, 2), (0, 1))]
    assert matching([call], cases) == {call: [0, 2]}


def test_several_values_are_not_one() -> None:
    call = pattern("Concat/13", "T=float", "axis", "inputs*/2")
    one = pattern("Concat/13", "T=float", "axis", "inputs/2")
    assert matching([call], [one, call]) == {call: [1]}
