"""Digests of cases: equal on every processor, and different where a case is."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import Case, Outcome

ULP = Allowance("a reason", ulp=2)
BOUNDS = Allowance("a reason", bounds=(np.full(3, 1e-9),))
EXACT = Allowance("a reason")


def digests(values: Any, allowance: Allowance, dtype: str = "float64") -> tuple[str, ...]:
    expected = (np.array(values, dtype),)
    return Case("a/B/1/c", "a/B/1", b"model", {}, ("y",), Outcome.VALUES, expected, allowance).digests()


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize(
    ("allowance", "here", "there"),
    [
        (ULP, [1 / 3, 1.0, 5e300], [np.nextafter(1 / 3, 1), np.nextafter(1.0, 0), 5e300]),
        (BOUNDS, [1.0, 3e-17, -0.0], [np.nextafter(1.0, 0), -7e-17, 0.0]),
        (EXACT, [np.nan, 1.0, 2.0], [-np.nan, 1.0, 2.0]),
    ],
    ids=["ulp", "bounds", "nan"],
)
def test_the_last_bits_of_another_processor_make_no_difference(
    allowance: Allowance, here: list[float], there: list[float], dtype: str
) -> None:
    assert digests(here, allowance, dtype) == digests(there, allowance, dtype)


@pytest.mark.parametrize(
    ("allowance", "here", "there"),
    [
        (ULP, [1 / 3, 1.0], [1 / 3 + 1e-6, 1.0]),
        (BOUNDS, [1.0, 0.5, 0.0], [1.0, 0.5 + 1e-6, 0.0]),
        (EXACT, [1 / 3, 0.0], [np.nextafter(1 / 3, 1), 0.0]),
        (EXACT, [1.0, 0.0], [1.0, -0.0]),
        (EXACT, [1.0, np.nan], [1.0, np.inf]),
    ],
)
def test_another_value_makes_a_difference(allowance: Allowance, here: list[float], there: list[float]) -> None:
    assert digests(here, allowance) != digests(there, allowance)
    assert digests(here, allowance) != digests(here, allowance, "float32")


def test_the_tolerance_makes_a_difference_and_its_reason_does_not() -> None:
    other = dataclasses.replace(ULP, reason="the same in other words")
    assert digests([1.0], ULP) == digests([1.0], other) != digests([1.0], dataclasses.replace(ULP, ulp=3))
