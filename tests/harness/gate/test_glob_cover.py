# SPDX-License-Identifier: Apache-2.0
"""Few globs for many ids: exactly these, none of the others."""

from __future__ import annotations

import fnmatch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onnx_conformance.gate.glob_cover import fold

IDS = [
    f"ai.onnx/{operator}/{version}/{name}{type_}{form}"
    for operator in ("Split", "SplitToSequence")
    for version in (2, 13, 18)
    for name in ("even", "even_one", "uneven_two", "dtypes")
    for type_ in (("/float", "/float16") if name == "dtypes" else ("",))
    for form in ("", "@top", "@initializer", "@initializer-split")
]
TYPES = ("float", "float16", "float8e4m3fn", "float8e5m2", "seq-float", "seq-int8", "int8")
OTHERS = ["official/test_split_1", "official/test_split_2", "official/test_add[1]", "mine/test_split*"]


def holds(globs: list[str], covered: set[str], others: set[str]) -> None:
    matched = {case for case in covered | others if any(fnmatch.fnmatchcase(case, glob) for glob in globs)}
    assert matched == covered, globs


@pytest.mark.slow
@given(st.sets(st.sampled_from(IDS + OTHERS)))
@settings(max_examples=60, deadline=None)
def test_any_set_is_covered_exactly(covered: set[str]) -> None:
    others = {*IDS, *OTHERS} - covered
    globs = fold(covered, others)
    holds(globs, covered, others)
    assert len(globs) <= len(covered)
    assert globs == sorted(set(globs))


@pytest.mark.parametrize(
    ("covered", "globs"),
    [
        ([], []),
        (IDS[:1], ["ai.onnx/Split/2/even"]),
        ([case for case in IDS if case.startswith("ai.onnx/Split/")], ["ai.onnx/Split/*"]),
        ([case for case in IDS if case.startswith("ai.onnx/Split/18/")], ["ai.onnx/Split/18/*"]),
        ([case for case in IDS if "Split/18/even" in case], ["ai.onnx/Split/18/even*"]),
        ([case for case in IDS if "Split/" in case and "/uneven" in case], ["ai.onnx/Split/*/uneven_two*"]),
        ([case for case in IDS if "Split/13/dtypes/float16" in case], ["ai.onnx/Split/13/dtypes/float16*"]),
        ([case for case in IDS if "Split/" in case and case.endswith("float16")], ["ai.onnx/Split/*/dtypes/float16"]),
        (
            [case for case in IDS if "Split/" in case and "even_" not in case and "/even" in case],
            ["ai.onnx/Split/*/even", "ai.onnx/Split/*/even@*"],
        ),
    ],
)
def test_ids_with_a_common_part_are_one_glob(covered: list[str], globs: list[str]) -> None:
    assert fold(covered, set(IDS) - set(covered)) == globs


def test_types_that_begin_alike_are_one_glob() -> None:
    ids = [f"ai.onnx/Cast/{version}/bits/{type_}" for version in (19, 24) for type_ in TYPES]
    assert fold([case for case in ids if "float8" in case], [case for case in ids if "float8" not in case]) == [
        "ai.onnx/Cast/*/bits/float8e*"
    ]
    assert fold([case for case in ids if "seq" in case], [case for case in ids if "seq" not in case]) == [
        "ai.onnx/Cast/*/bits/seq-*"
    ]


@pytest.mark.parametrize("name", ["sum_1", "sum_two_3"])
def test_no_glob_has_two_stars_together(name: str) -> None:
    ids = [f"ai.onnx/Add/14/sum_{i}{form}" for i in range(4) for form in ("", "@top")]
    (glob,) = fold([*ids, f"ai.onnx/Add/14/{name}/float@top"], ["ai.onnx/Add/14/sum", "ai.onnx/Add/14/other"])
    assert glob == "ai.onnx/Add/14/sum_*"


def test_one_id_is_not_widened() -> None:
    assert fold(["ai.onnx/Add/14/sum/float@top"], ["ai.onnx/Add/14/other"]) == ["ai.onnx/Add/14/sum/float@top"]


def test_ids_in_neither_set_may_be_matched() -> None:
    covered = [case for case in IDS if "Split/18/even" in case and "@" not in case]
    assert fold(covered, [case for case in IDS if "/uneven" in case]) == ["ai.onnx/Split/18/even*"]


def test_special_characters_of_ids_are_literal() -> None:
    assert fold(["official/test_add[1]"], ["official/test_add1"]) == ["official/test_add[[]1]"]
    assert fold(["mine/a*b"], ["mine/ab", "mine/axb"]) == ["mine/a[*]b"]
