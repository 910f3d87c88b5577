# SPDX-License-Identifier: Apache-2.0
"""Sums of many terms: how far they may be off, and where partial ones may overflow."""

from __future__ import annotations

import numpy as np
import pytest

from onnx_conformance.declare import PartlyOpen
from onnx_conformance.declare.families.sums import but_where, overflows, roundings

HALF = np.dtype(np.float16)


def open_of(terms: list[float], dtype: np.dtype[np.floating] = HALF) -> bool:
    return bool(overflows(np.array(sum(terms)), np.array(sum(map(abs, terms))), dtype))


def test_a_sum_of_few_terms_errs_by_a_rounding_of_each_and_of_many_by_their_root() -> None:
    assert [roundings(terms) for terms in (0, 1, 9)] == [0, 1, 9]
    assert roundings(900) == pytest.approx(90)


def test_random_roundings_of_many_half_precision_terms_stay_within_the_bound() -> None:
    terms = np.random.default_rng(0).uniform(0.5, 1, (200, 512)).astype(np.float16)
    one_by_one = np.zeros(200, np.float16)
    for column in terms.T:
        one_by_one += column
    exact = terms.astype(float).sum(1)
    far = np.abs(one_by_one - exact) / exact / np.finfo(np.float16).eps
    assert far.max() < roundings(512) / 2
    assert far.max() > roundings(512) / 20


def test_a_sum_is_open_where_terms_of_one_sign_overflow_and_it_does_not() -> None:
    assert open_of([60000, 30000, -60000])
    assert open_of([-60000, -30000, 60000])
    assert not open_of([60000, 5000, -60000])
    assert not open_of([60000, 30000, -60000], np.dtype(np.float32))


def test_a_sum_that_overflows_is_open_only_if_it_may_overflow_to_the_other_side_too() -> None:
    assert not open_of([60000, 60000, -30000])
    assert open_of([65504, 65504, 65504, -65504, -1000])


def test_a_sum_of_an_infinite_term_has_one_value() -> None:
    assert not open_of([np.inf, 60000, 60000])


def test_only_open_elements_are_marked() -> None:
    total = np.array([1.0, 2.0])
    marked = but_where(np.array([False, True]), total)
    assert isinstance(marked, PartlyOpen)
    assert marked.open.tolist() == [False, True]
    assert isinstance(but_where(np.array([False, False]), total), np.ndarray)
