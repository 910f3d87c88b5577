# SPDX-License-Identifier: Apache-2.0
"""Overrides: a wider tolerance for an operator and a type, which hides no wrong answer."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from onnx_conformance.base.target import Target
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import Case, Outcome
from onnx_conformance.case.compare import compare
from onnx_conformance.judging import profile
from onnx_conformance.judging.judge import judge
from onnx_conformance.judging.overrides import MOST, Override
from onnx_conformance.processes.replies import Answered
from onnx_conformance.specification.element_types import element_type_named, numpy_dtype
from paths import ROOT
from refusals import refuses

HEAD = '[[overrides]]\noperator = "Conv"\ntype = "float"\nreason = "10 bits"\n'
EXACT = Allowance("exact")


def read(text: str) -> profile.Profile:
    return profile.of(Target("mine", (), profile=text), {})


@pytest.mark.parametrize(
    ("text", "problem", "words"),
    [
        ('[[overrides]]\ntype = "float"\nrtol = 0.001\nreason = "x"', "overrides-invalid", "has no operator"),
        ('[[overrides]]\noperator = "Conv"\nrtol = 0.001\nreason = "x"', "overrides-invalid", "has no type"),
        ('[[overrides]]\noperator = "Conv"\ntype = "float"\nrtol = 0.001', "overrides-invalid", "has no reason"),
        (HEAD, "overrides-invalid", "has no tolerance"),
        (f"{HEAD}rtol = -1", "overrides-invalid", "above 0"),
        (f"{HEAD}rtol = nan", "overrides-invalid", "above 0"),
        (f"{HEAD}rtol = inf", "overrides-invalid", "above 0"),
        (f"{HEAD}rtol = true", "overrides-invalid", "above 0"),
        (f'{HEAD}rtol = "1"', "overrides-invalid", "above 0"),
        (f"{HEAD}factor = 10", "overrides-invalid", "'factor'"),
        (HEAD.replace('"float"', '"int8"') + "atol = 0.001", "overrides-invalid", "no tolerance"),
        (HEAD.replace('"Conv"', '"Conv/>=x"') + "rtol = 0.001", "overrides-invalid", "Conv/>=11"),
        (HEAD.replace('"Conv"', '"*"') + "rtol = 0.001", "overrides-invalid", "operators"),
        (HEAD.replace('"Conv"', '"ai.onnx/*"') + "rtol = 0.001", "overrides-invalid", "operators"),
        (HEAD.replace('"Conv"', '"[A-Z]*/>=1"') + "rtol = 0.001", "overrides-invalid", "operators"),
        (f"{HEAD}rtol = 0.5", "override-too-wide", "at most 0.01"),
        (f"{HEAD}rtol = 0.001\natol = 1", "override-too-wide", "at most 0.001"),
        (f"{HEAD}ulp = 1e6", "override-too-wide", "at most 83886"),
        (HEAD.replace('"float"', '["bfloat16", "float"]') + "rtol = 0.05", "override-too-wide", "for float"),
        ("[[override]]\nrtol = 1", "profile-table-unknown", "did you mean [[overrides]]"),
    ],
)
def test_a_malformed_or_wide_table_gets_a_sentence(text: str, problem: str, words: str) -> None:
    with refuses(problem, words, "mine"):
        read(text)


def test_several_operators_of_one_kind_may_share_an_override() -> None:
    (override,) = read(HEAD.replace('"Conv"', '"Reduce*"') + "rtol = 0.001").overrides
    assert override.has("ai.onnx/ReduceSum/13")
    assert not override.has("ai.onnx/Conv/22")
    assert str(override) == "Reduce* (float), rtol 0.001: 10 bits"


def test_the_reference_has_the_limits() -> None:
    rows = re.findall(
        r"^\| (`(?:float|bfloat)\w*`[^|]*) \| ([\d.]+) \| ([\d.]+) \|",
        (ROOT / "docs" / "reference" / "profiles.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    found = {type_: (float(rtol), float(atol)) for types, rtol, atol in rows for type_ in re.findall(r"\w+", types)}
    assert found == MOST


def within(override: Override, wanted: Any, got: Any, type_: str = "float", allowance: Allowance = EXACT) -> bool:
    dtype = numpy_dtype(element_type_named(type_).number)
    expected, actual = (tuple(np.asarray(item, dtype) for item in (values,)) for values in (wanted, got))
    return compare(expected, actual, override.widened(allowance, expected)) is None


def test_the_tolerance_is_relative_absolute_or_in_units_in_the_last_place() -> None:
    relative = Override("Conv", ("float",), "x", rtol=0.001)
    assert within(relative, [100, -100], [100.09, -99.91])
    assert not within(relative, [100, -100], [100.11, -100])
    assert not within(relative, [0], [1e-9])
    absolute = Override("Conv", ("float",), "x", atol=0.001)
    assert within(absolute, [0, 5], [0.0009, 5.0009])
    assert not within(absolute, [0], [0.0011])
    ulp = Override("Conv", ("float",), "x", ulp=2)
    assert within(ulp, [1], [1 + 2 * 2**-23])
    assert not within(ulp, [1], [1 + 3 * 2**-23])


@pytest.mark.parametrize("type_", MOST)
def test_the_widest_override_hides_no_wrong_answer(type_: str) -> None:
    rtol, atol = MOST[type_]
    widest = Override("Conv", (type_,), "x", rtol=rtol, atol=atol)
    wanted = [[1, -2, 0.25], [3, 0.5, -7]]
    right = np.asarray(wanted)
    assert within(widest, wanted, right * (1 + rtol / 2), type_)
    for wrong in (right * 1.1, right * 0, -right, np.roll(right, 1), np.where(right == 1, 1.2, right)):
        assert not within(widest, wanted, wrong, type_)


def test_infinities_and_nan_stay_exact() -> None:
    widest = Override("Conv", ("float",), "x", rtol=0.01, atol=0.001, ulp=100)
    assert within(widest, [np.inf, np.nan, -np.inf], [np.inf, np.nan, -np.inf])
    for wrong in ([1, np.nan, -np.inf], [np.inf, 1, -np.inf], [np.inf, np.nan, np.inf], [3e38, np.nan, -np.inf]):
        assert not within(widest, [np.inf, np.nan, -np.inf], wrong)


def test_only_outputs_of_the_type_have_the_tolerance() -> None:
    override = Override("Conv", ("float16",), "x", rtol=0.02)
    half, single = np.float16([1, 2]), np.float32([1, 2])
    allowance = override.widened(EXACT, (half, single))
    assert compare((half, single), (half * np.float16(1.01), single), allowance) is None
    assert compare((half, single), (half, single * np.float32(1.001)), allowance) is not None


def test_the_tolerance_of_the_case_stays() -> None:
    override = Override("Conv", ("float",), "x", ulp=1)
    bounded = Allowance("bound", bounds=(np.asarray([0.5, 0.0]),))
    assert within(override, [1, 1], [1.4, 1], allowance=bounded)
    assert not within(override, [1, 1], [1, 1.4], allowance=bounded)
    capped = Allowance("capped", interval=(-1, 1))
    wide = Override("Conv", ("float",), "x", rtol=0.01)
    assert within(wide, [1], [0.995], allowance=capped)
    assert not within(wide, [1], [1.005], allowance=capped)


def case_of(value: float) -> Case:
    wanted = np.float32([value])
    name = "ai.onnx/Conv/22"
    return Case(f"{name}/a", name, b"", {}, ("y",), Outcome.VALUES, (wanted,), EXACT)


def test_a_pass_within_an_override_names_it() -> None:
    own = read(f"{HEAD}rtol = 0.001")
    case = case_of(100)
    near, far = (Answered((np.float32([value]),), 0.1) for value in (100.05, 101))
    result = judge(case, "mine", near, own)
    assert result.verdict is Verdict.PASS
    assert result.override == "Conv (float), rtol 0.001: 10 bits"
    assert result.ulps
    assert judge(case, "mine", near).verdict is Verdict.WRONG_VALUE
    assert judge(case, "mine", far, own).verdict is Verdict.WRONG_VALUE
    exact = judge(case, "mine", Answered((np.float32([100]),), 0.1), own)
    assert (exact.verdict, exact.override) == (Verdict.PASS, "")


def test_an_override_of_another_operator_does_not_apply() -> None:
    own = read(HEAD.replace('"Conv"', '"Gemm"') + "rtol = 0.001")
    assert judge(case_of(100), "mine", Answered((np.float32([100.05]),), 0.1), own).verdict is Verdict.WRONG_VALUE
