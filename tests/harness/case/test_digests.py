# SPDX-License-Identifier: Apache-2.0
"""Digests of cases: equal on every processor, and different where a case is."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from onnx_conformance.backends import protocol
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import Case, Outcome
from onnx_conformance.case.lane_sums import LaneSums
from onnx_conformance.declare import AnyOf, Order

ULP = Allowance("a reason", ulp=2)
BOUNDS = Allowance("a reason", bounds=(np.full(3, 1e-9),))
EXACT = Allowance("a reason")


def case_of(values: Any, allowance: Allowance, dtype: str = "double") -> Case:
    expected = (np.array(values, protocol.numpy_dtype(protocol.element_type_named(dtype).number)),)
    return Case("a/B/1/c", "a/B/1", b"model", {}, ("y",), Outcome.VALUES, expected, allowance)


def digests(values: Any, allowance: Allowance, dtype: str = "double") -> tuple[str, str]:
    """Return the digest of the expected outcome, and that of the case."""
    case = case_of(values, allowance, dtype)
    return case.digests()[2], case.digest()


def differ(first: tuple[str, str], second: tuple[str, str]) -> bool:
    """Return whether both digests differ."""
    return first[0] != second[0] and first[1] != second[1]


@pytest.mark.parametrize("dtype", ["double", "complex128"])
@pytest.mark.parametrize(
    ("allowance", "here", "there"),
    [
        (ULP, [1 / 3, 1.0, 5e300], [np.nextafter(1 / 3, 1), np.nextafter(1.0, 0), 5e300]),
        (ULP, [np.nan, 1.0, 2.0], [-np.nan, 1.0, 2.0]),
        (BOUNDS, [1.0, 3e-17, -0.0], [np.nextafter(1.0, 0), -7e-17, 0.0]),
        (BOUNDS, [1.0, 1 / 3, 0.0], [np.nextafter(1.0, 0), 1 / 3, 0.0]),
        (EXACT, [np.nan, 1.0, 2.0], [-np.nan, 1.0, 2.0]),
    ],
    ids=["ulp", "nan with ulp", "bounds", "bounds by a power of 2", "nan"],
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
    assert differ(digests(here, allowance), digests(there, allowance))
    assert differ(digests(here, allowance), digests(here, allowance, "float"))


def test_the_tolerance_makes_a_difference_and_its_reason_does_not() -> None:
    other = dataclasses.replace(ULP, reason="the same in other words")
    assert digests([1.0], ULP) == digests([1.0], other)
    assert differ(digests([1.0], ULP), digests([1.0], dataclasses.replace(ULP, ulp=3)))


@pytest.mark.parametrize("dtype", ["float", "float16", "bfloat16", "float8e5m2", "complex64"])
@pytest.mark.parametrize("allowance", [ULP, EXACT])
def test_short_floats_differ_by_each_bit_except_the_sign_of_nan(allowance: Allowance, dtype: str) -> None:
    right = digests([np.nan, 1.0, 2.0], allowance, dtype)
    assert digests([-np.nan, 1.0, 2.0], allowance, dtype) == right
    case = case_of([np.nan, 1.0, 2.0], allowance, dtype)
    assert case.expected is not None
    array = case.expected[0].copy()
    array.view(np.uint8)[-1 - array.itemsize // 2] ^= 1
    changed = dataclasses.replace(case, expected=(array,))
    assert differ((changed.digests()[2], changed.digest()), right)


def test_bits_far_below_the_largest_element_make_no_difference() -> None:
    """The largest element may be subnormal, infinite, or the largest float64."""
    largest = float(np.finfo(np.float64).max)
    assert digests([largest, 1.0, 0], BOUNDS) == digests([largest, 0, 0], BOUNDS)
    assert digests([1.0, 0.5 * (1 + 1e-9), 0], BOUNDS) == digests([1.0, 0.5, 0], BOUNDS)
    assert differ(digests([np.inf, 1.0, 0], BOUNDS), digests([np.inf, 0.5, 0], BOUNDS))
    assert differ(digests([5e-324, 0, 0], BOUNDS), digests([np.nan, np.nan, np.nan], BOUNDS))


def test_the_parts_of_complex_numbers_have_a_largest_element_each() -> None:
    right = digests([1e9 + 1j], BOUNDS, "complex128")
    assert differ(digests([1e9 + 1.01j], BOUNDS, "complex128"), right)
    assert digests([1e9 + 1e-3 + 1j], BOUNDS, "complex128") == right


CHANGES: dict[str, dict[str, Any]] = {
    "operator": {"operator": "a/B/2"},
    "model": {"model": b"other"},
    "input": {"inputs": {"x": np.ones(2, np.float32)}},
    "output": {"outputs": ("z",)},
    "earlier": {"earlier": {"x": np.zeros(2, np.float32)}},
    "file": {"files": {"data": b"1"}},
    "form": {"form": "top"},
    "outcome": {"outcome": Outcome.UNSPECIFIED},
    "no values": {"expected": None},
    "force": {"force": "should"},
    "rtol": {"allowance": dataclasses.replace(ULP, rtol=1e-3)},
    "atol": {"allowance": dataclasses.replace(ULP, atol=1e-3)},
    "signed zero": {"allowance": dataclasses.replace(ULP, signed_zero=True)},
    "interval": {"allowance": dataclasses.replace(ULP, interval=(-1, 1))},
    "sums": {"allowance": dataclasses.replace(ULP, sums=LaneSums((0,), 1, 0.5))},
    "other sums": {"allowance": dataclasses.replace(ULP, sums=LaneSums((0,), 1, 0.25))},
    "bounds": {"allowance": dataclasses.replace(ULP, bounds=(np.zeros(2),))},
    "order": {"allowance": dataclasses.replace(ULP, any_order=Order(axis=0, lanewise=False))},
    "other order": {"allowance": dataclasses.replace(ULP, any_order=Order(axis=0, lanewise=True))},
    "choice": {"allowance": dataclasses.replace(ULP, any_of=(AnyOf(np.ones(2), np.zeros(2)),))},
    "other choice": {"allowance": dataclasses.replace(ULP, any_of=(AnyOf(np.ones(2), np.full(2, 3.0)),))},
    "choice by element": {
        "allowance": dataclasses.replace(ULP, any_of=(AnyOf(np.ones(2), np.zeros(2), elementwise=True),))
    },
}


def test_everything_that_a_verdict_depends_on_makes_a_difference() -> None:
    case = dataclasses.replace(case_of([1.0, 2.0], ULP), inputs={"x": np.zeros(2, np.float32)})
    found = {name: dataclasses.replace(case, **change).digest() for name, change in CHANGES.items()}
    assert len({case.digest(), *found.values()}) == len(CHANGES) + 1, found


def test_a_phrase_makes_no_difference() -> None:
    case = case_of([1.0, 2.0], ULP)
    other = dataclasses.replace(
        case, clauses=("a",), tags=frozenset({"b"}), detail="c", reworded="1", readings=("2",), notes=("d",)
    )
    assert case.digest() == other.digest()
