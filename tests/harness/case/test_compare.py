# SPDX-License-Identifier: Apache-2.0
"""Comparison of an answer with the expected values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from onnx_conformance.backends.protocol import ELEMENT_TYPES, numpy_dtype
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.case.allowance import Allowance, Bounds
from onnx_conformance.case.compare import MOST_OFFSETS, Mismatch, compare, offsets
from onnx_conformance.case.elements import is_float, ordered, ulps

if TYPE_CHECKING:
    from collections.abc import Iterator

EXACT = Allowance("exact", signed_zero=True)
LOOSE = Allowance("loose", ulp=1e9, rtol=1e9, atol=1e9)
FLOATS = [
    row
    for row in ELEMENT_TYPES
    if is_float(np.zeros(1, numpy_dtype(row.number))) and numpy_dtype(row.number).kind != "c"
]
SMALL_FLOATS = [row for row in FLOATS if row.bits <= 16]


def mismatch_of(expected: Any, got: Any, allowance: Allowance = EXACT) -> Mismatch:
    mismatch = compare([expected], [got], allowance)
    assert mismatch is not None, f"{expected!r} passes for {got!r}"
    return mismatch


def passes(expected: Any, got: Any, allowance: Allowance = EXACT) -> bool:
    return compare([expected], [got], allowance) is None


def array(*values: Any, dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    return np.array(values, dtype)


# Count, type, shape: checked in this order

ONE_OFF = "1 of 1 elements differ, the first at [0]; worst at [0]"


@pytest.mark.parametrize(
    ("expected", "got", "verdict", "message"),
    [
        ([array(1)], [], Verdict.WRONG_COUNT, "outputs: expected 1 outputs, got 0 outputs"),
        ([array(1)], [array(1), array(1)], Verdict.WRONG_COUNT, "outputs: expected 1 outputs, got 2 outputs"),
        ([array(1)], [array(1, 2, dtype=np.float64)], Verdict.WRONG_TYPE,
         "outputs[0]: expected tensor(float), got tensor(double)"),
        ([array(1)], [array(1, 2)], Verdict.WRONG_SHAPE, "outputs[0]: expected shape [1], got shape [2]"),
        ([array(1)], [np.array(1, np.float32)], Verdict.WRONG_SHAPE, "outputs[0]: expected shape [1], got shape []"),
        ([np.zeros((0, 2), np.float32)], [np.zeros((2, 0), np.float32)], Verdict.WRONG_SHAPE,
         "outputs[0]: expected shape [0, 2], got shape [2, 0]"),
        ([array(1), array(2)], [array(1), array(3)], Verdict.WRONG_VALUE,
         f"outputs[1]: {ONE_OFF}: expected 2.0, got 3.0 (1 off, relative 0.5, 4194304 ULP)"),
        ([array(1, dtype=np.int8)], [array(1, dtype=bool)], Verdict.WRONG_TYPE,
         "outputs[0]: expected tensor(int8), got tensor(bool)"),
    ],
)  # fmt: skip
def test_count_type_and_shape_have_their_own_verdicts(expected: Any, got: Any, verdict: Verdict, message: str) -> None:
    mismatch = compare(expected, got, EXACT)
    assert mismatch is not None
    assert (mismatch.verdict, str(mismatch)) == (verdict, message)


def test_no_outputs_and_no_elements_are_equal() -> None:
    assert compare([], [], EXACT) is None
    assert passes(np.zeros((0, 3)), np.zeros((0, 3)))
    assert passes([], [])


# Nested values


@pytest.mark.parametrize(
    ("expected", "got", "verdict", "where"),
    [
        ([array(1)], [array(1), array(2)], Verdict.WRONG_COUNT, "outputs[0]"),
        ([array(1), array(2)], [array(1), array(3)], Verdict.WRONG_VALUE, "outputs[0][1]"),
        ([array(1)], [array(1, dtype=np.float16)], Verdict.WRONG_TYPE, "outputs[0][0]"),
        ([[array(1)], []], [[array(1)], [array(2)]], Verdict.WRONG_COUNT, "outputs[0][1]"),
        ([array(1)], array(1), Verdict.WRONG_TYPE, "outputs[0]"),
        (array(1), [array(1)], Verdict.WRONG_TYPE, "outputs[0]"),
        ({"a": array(1)}, {"b": array(1)}, Verdict.WRONG_VALUE, "outputs[0]"),
        ({"a": array(1), "b": array(2)}, {"a": array(1), "b": array(3)}, Verdict.WRONG_VALUE, "outputs[0]['b']"),
        ({7: [array(1)]}, {7: [array(1, 2)]}, Verdict.WRONG_SHAPE, "outputs[0][7][0]"),
        ({"a": array(1)}, [array(1)], Verdict.WRONG_TYPE, "outputs[0]"),
        (None, array(1), Verdict.WRONG_TYPE, "outputs[0]"),
        (array(1), None, Verdict.WRONG_TYPE, "outputs[0]"),
        ([None], [[]], Verdict.WRONG_TYPE, "outputs[0][0]"),
    ],
)
def test_sequences_maps_and_optionals_differ(expected: Any, got: Any, verdict: Verdict, where: str) -> None:
    mismatch = mismatch_of(expected, got)
    assert (mismatch.verdict, mismatch.where) == (verdict, where), mismatch


@pytest.mark.parametrize(
    "value",
    [None, [None], [[array(1)], []], {"a": array(1), "b": [array(2)]}, {1: {2: array(3)}}, [array("x", dtype=object)]],
)
def test_sequences_maps_and_optionals_are_equal(value: Any) -> None:
    assert passes(value, value)


def test_the_order_of_a_map_does_not_matter() -> None:
    assert passes({"a": array(1), "b": array(2)}, {"b": array(2), "a": array(1)})


def test_kinds_have_standard_names() -> None:
    assert str(mismatch_of(None, [array(1)])) == "outputs[0]: expected an empty optional, got a sequence"
    assert str(mismatch_of(array(1), {1: array(1)})) == "outputs[0]: expected tensor(float), got a map"


# Allowances


@pytest.mark.parametrize(
    ("allowance", "expected", "got", "within"),
    [
        (Allowance(""), 1.0, np.nextafter(np.float32(1), np.float32(2)), False),
        (Allowance("", ulp=1), 1.0, np.nextafter(np.float32(1), np.float32(2)), True),
        (Allowance("", ulp=1), 1.0, 1 + 2 * 2.0**-23, False),
        (Allowance("", ulp=2), 1.0, 1 + 2 * 2.0**-23, True),
        (Allowance("", ulp=1), 0.0, 2.0**-149, True),
        (Allowance("", ulp=1), -(2.0**-149), 2.0**-149, False),
        (Allowance("", ulp=2), -(2.0**-149), 2.0**-149, True),
        (Allowance("", rtol=0.125), 8.0, 9.0, True),
        (Allowance("", rtol=0.125), 8.0, 9.0 + 2.0**-20, False),
        (Allowance("", rtol=0.125), 9.0, 8.0, True),
        (Allowance("", rtol=0.125), -8.0, -9.0, True),
        (Allowance("", rtol=0.125), -8.0, 8.0, False),
        (Allowance("", rtol=0.125), 0.0, 2.0**-100, False),
        (Allowance("", atol=0.5), 8.0, 8.5, True),
        (Allowance("", atol=0.5), 8.0, 8.5 + 2.0**-20, False),
        (Allowance("", rtol=0.125, atol=0.5), 8.0, 9.5, True),
        (Allowance("", rtol=0.125, atol=0.5), 8.0, 9.5 + 2.0**-20, False),
        (Allowance("", rtol=1, ulp=1), 0.0, 2.0**-149, True),  # either is enough
    ],
)
def test_an_allowance_ends_where_it_says(allowance: Allowance, expected: float, got: float, within: bool) -> None:  # noqa: FBT001 - a row of the table
    assert passes(array(expected), array(got), allowance) is within


def test_bounds_hold_element_by_element_and_output_by_output() -> None:
    allowance = Allowance("sum", bounds=(np.array([0.0, 0.5, 1.0]), np.array([0.25])))
    expected = [array(1, 1, 1), array(1)]
    assert compare(expected, [array(1, 1.5, 2), array(1.25)], allowance) is None
    for got, index in (
        ([array(1.5, 1.5, 2), array(1)], (0,)),
        ([array(1, 1.6, 2), array(1)], (1,)),
        ([array(1, 1, 2.5), array(1)], (2,)),
    ):
        mismatch = compare(expected, got, allowance)
        assert mismatch is not None, got
        assert (mismatch.where, mismatch.worst, mismatch.differing) == ("outputs[0]", index, 1), mismatch
    second = compare(expected, [array(1, 1, 1), array(1.3)], allowance)
    assert second is not None
    assert second.where == "outputs[1]"


def of_limits(*limits: float) -> tuple[Allowance, list[float]]:
    """Return an allowance with these lower limits of its bounds, and a list of those that were computed."""
    computed: list[float] = []

    def compute() -> Iterator[tuple[np.ndarray[Any, Any], ...]]:
        for limit in limits:
            computed.append(limit)
            yield (np.full(2, limit),)

    return Allowance("measured", bounds=Bounds(compute)), computed


@pytest.mark.parametrize(
    ("answer", "needed", "within"),
    [([1, 2], [], True), ([1, 2.1], [0.2], True), ([1.3, 2.1], [0.2, 0.4], True), ([1, 2.5], [0.2, 0.4], False)],
)
def test_only_the_limits_are_computed_that_an_answer_needs(
    answer: list[float],
    needed: list[float],
    within: bool,  # noqa: FBT001 - a row of the table
) -> None:
    allowance, computed = of_limits(0.2, 0.4)
    expected = [np.array([1.0, 2.0])]
    for _ in range(2):  # A later answer takes the limits that are computed already.
        assert (compare(expected, [np.array(answer, float)], allowance) is None) is within
        assert computed == needed
    assert compare(expected, [np.array([1.3, 2.0])], allowance) is None
    assert compare(expected, [np.array([1.5, 2.0])], allowance) is not None
    assert computed == [0.2, 0.4]
    assert np.asarray(allowance.bound(0)).tolist() == [0.4, 0.4]


def test_bounds_that_cannot_be_computed_fail_each_time() -> None:
    def compute() -> Iterator[tuple[np.ndarray[Any, Any], ...]]:
        yield (np.zeros(1),)
        raise ValueError("no oracle")

    bounds = Bounds(compute)
    for _ in range(2):
        with pytest.raises(ValueError, match="no oracle"):
            len(bounds)


@pytest.mark.parametrize("wanted", [array(1, 2), np.array([1, 2]), np.array(["a", "b"], object), array(1, 2) + 1j])
def test_an_element_without_a_bound_may_be_anything_and_the_others_not(wanted: np.ndarray[Any, Any]) -> None:
    allowance = Allowance("", bounds=(np.array([np.inf, 0.0]),))
    for other in ("z" if wanted.dtype == object else 77, wanted[1]):
        got = wanted.copy()
        got[0] = other
        assert compare([wanted], [got], allowance) is None
        got[1] = other if other != wanted[1] else wanted[0]
        mismatch = compare([wanted], [got], allowance)
        assert mismatch is not None
        assert (mismatch.differing, mismatch.worst) == (1, (1,))


def test_nan_may_stand_where_there_is_no_bound() -> None:
    allowance = Allowance("", bounds=(np.array([np.inf, 1.0]),))
    assert compare([array(1, 1)], [array(np.nan, 2)], allowance) is None
    assert compare([array(1, 1)], [array(1, np.nan)], allowance) is not None


@pytest.mark.parametrize("row", FLOATS, ids=lambda row: row.name)
def test_exact_means_the_very_next_value_differs(row: Any) -> None:
    dtype = numpy_dtype(row.number)
    one = np.ones(1, dtype)
    following = (one.view(f"u{dtype.itemsize}") + 1).astype(f"u{dtype.itemsize}").view(dtype)
    assert passes(one, one.copy())
    mismatch = mismatch_of(one, following)
    assert (mismatch.verdict, mismatch.ulp) == (Verdict.WRONG_VALUE, 1), mismatch
    assert passes(one, following, Allowance("", ulp=1))


# NaN, infinities, zeros


def test_nan_equals_nan_whatever_its_payload() -> None:
    plain, other = (
        np.array([0x7FC00000], np.uint32).view(np.float32),
        np.array([0xFFC12345], np.uint32).view(np.float32),
    )
    assert plain.tobytes() != other.tobytes()
    assert passes(plain, other)
    assert passes(np.array([0x7E00], np.uint16).view(np.float16), np.array([0xFE01], np.uint16).view(np.float16))
    assert passes(array(complex(math.nan, 1), dtype=np.complex64), array(complex(-math.nan, 1), dtype=np.complex64))


def test_signalling_nans_are_nans_too() -> None:
    """Converting one warns, and warnings are errors here."""
    for code, dtype in ((0x7F81, ml_dtypes.bfloat16), (0x7C01, np.float16)):
        signalling = np.array([code, code], np.uint16).view(dtype)
        assert passes(signalling, np.array([np.nan, np.nan], dtype), Allowance("", ulp=1)), dtype
    assert passes(np.array([0x7F800001], np.uint32).view(np.float32), array(math.nan))


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (math.nan, 0.0), (0.0, math.nan), (math.inf, math.nan), (math.nan, math.inf), (math.inf, -math.inf),
        (math.inf, 3.4e38), (3.4e38, math.inf), (-math.inf, -3.4e38),
    ],
)  # fmt: skip
def test_values_that_are_not_finite_are_never_within_an_allowance(expected: float, got: float) -> None:
    mismatch = mismatch_of(array(1, expected), array(1, got), LOOSE)
    assert (mismatch.first, mismatch.worst, mismatch.differing, mismatch.total) == ((1,), (1,), 1, 2), mismatch
    assert (mismatch.absolute, mismatch.relative, mismatch.ulp) == (None, None, None), mismatch
    assert "off" not in str(mismatch), mismatch


def test_a_nan_is_worse_than_any_number() -> None:
    mismatch = mismatch_of(array(1, 1, 1), array(2, math.nan, 1e30))
    assert (mismatch.first, mismatch.worst, mismatch.actual) == ((0,), (1,), "nan"), mismatch


def test_infinities_equal_themselves() -> None:
    assert passes(array(math.inf, -math.inf), array(math.inf, -math.inf))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn])
def test_the_sign_of_zero_counts_where_the_allowance_says_so(dtype: Any) -> None:
    plus, minus = np.array([0.0], dtype), np.array([-0.0], dtype)
    assert plus.tobytes() != minus.tobytes()
    for expected, got in ((plus, minus), (minus, plus)):
        for allowance in (EXACT, Allowance("", ulp=9, signed_zero=True), Allowance("", atol=1, signed_zero=True)):
            mismatch = mismatch_of(expected, got, allowance)
            assert (mismatch.expected, mismatch.actual) == (str(expected[0]), str(got[0])), mismatch
            assert (mismatch.absolute, mismatch.ulp) == (0.0, 0), mismatch
        assert passes(expected, got, Allowance(""))
        assert passes(expected, got, Allowance("", ulp=9, atol=1))


def test_the_sign_of_zero_counts_in_both_parts_of_a_complex_number() -> None:
    expected, got = array(complex(1, 0.0), dtype=np.complex64), array(complex(1, -0.0), dtype=np.complex64)
    assert mismatch_of(expected, got).differing == 1
    assert passes(expected, got, Allowance(""))


# Integers, booleans, strings


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint8, np.int64, np.uint64, ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.uint2]
)
def test_integers_are_never_tolerant(dtype: Any) -> None:
    mismatch = mismatch_of(np.array([0, 1], dtype), np.array([0, 0], dtype), LOOSE)
    assert (mismatch.first, mismatch.absolute, mismatch.relative, mismatch.ulp) == ((1,), 1.0, 1.0, 1), mismatch


def test_booleans_and_strings_are_never_tolerant() -> None:
    flags = mismatch_of(array(True, False, dtype=bool), array(True, True, dtype=bool), LOOSE)  # noqa: FBT003 - data
    assert (flags.first, flags.absolute, flags.ulp, flags.actual) == ((1,), None, None, "True"), flags
    texts = mismatch_of(array("a", "ä", dtype=object), array("a", "a\u0308", dtype=object), LOOSE)
    assert (texts.first, texts.differing, texts.total, texts.expected) == ((1,), 1, 2, "'ä'"), texts
    assert (texts.absolute, texts.relative, texts.ulp) == (None, None, None), texts
    assert passes(array("a", "", dtype=object), array("a", "", dtype=object))


# Figures


def test_a_mismatch_has_first_and_worst_element_and_distances() -> None:
    expected = array(1, 2, 3, 4, 5, 6).reshape(2, 3)
    got = array(1, 2.5, 3, 4, 4, 9).reshape(2, 3)
    mismatch = mismatch_of(expected, got)
    assert (mismatch.first, mismatch.worst) == ((0, 1), (1, 2))
    assert (mismatch.differing, mismatch.total) == (3, 6)
    assert (mismatch.expected, mismatch.actual) == ("6.0", "9.0")
    # From 6 to 8 are 2 * 2**23 / 4 values, from 8 to 9 one eighth of 2**23.
    assert (mismatch.absolute, mismatch.relative, mismatch.ulp) == (3.0, 0.5, 2**22 + 2**20)


def test_elements_within_the_allowance_are_not_counted() -> None:
    mismatch = mismatch_of(array(1, 2, 100), array(1.1, 3, 100.1), Allowance("", atol=0.5))
    assert (mismatch.first, mismatch.worst, mismatch.differing) == ((1,), (1,), 1), mismatch


def test_the_relative_distance_to_zero_is_none() -> None:
    mismatch = mismatch_of(array(0), array(2.0**-149))
    assert (mismatch.absolute, mismatch.relative, mismatch.ulp) == (2.0**-149, None, 1), mismatch


def test_a_relative_distance_beyond_all_numbers_is_none() -> None:
    """JSON, which results are written in, has no infinity."""
    mismatch = mismatch_of(array(2.0**-1074, dtype=np.float64), array(1e300, dtype=np.float64))
    assert (mismatch.absolute, mismatch.relative) == (1e300, None), mismatch


def test_complex_numbers_are_measured_by_their_distance() -> None:
    mismatch = mismatch_of(array(3 + 4j, dtype=np.complex128), array(0, dtype=np.complex128))
    assert (mismatch.absolute, mismatch.relative, mismatch.ulp) == (5.0, 1.0, None), mismatch


def test_a_scalar_has_an_empty_index() -> None:
    mismatch = mismatch_of(np.array(1.0), np.array(2.0))
    assert (mismatch.first, mismatch.worst, mismatch.total) == ((), (), 1), mismatch


def test_huge_values_do_not_overflow() -> None:
    limits = np.finfo(np.float64)
    far = mismatch_of(array(limits.max, dtype=np.float64), array(limits.min, dtype=np.float64))
    assert (far.verdict, far.absolute, far.ulp) == (Verdict.WRONG_VALUE, None, None), far
    top = float(limits.max)
    close = mismatch_of(array(top, dtype=np.float64), array(np.nextafter(top, 0), dtype=np.float64))
    assert (close.absolute, close.ulp) == (2.0**971, 1), close
    assert not passes(array(limits.max, dtype=np.float64), array(limits.min, dtype=np.float64), LOOSE_BY_ULP)
    ints = np.iinfo(np.int64)
    wide = mismatch_of(array(ints.min, dtype=np.int64), array(ints.max, dtype=np.int64))
    assert (wide.absolute, wide.ulp) == (2.0**64, 2**64 - 1), wide
    unsigned = mismatch_of(array(0, dtype=np.uint64), array(2**64 - 1, dtype=np.uint64))
    assert (unsigned.absolute, unsigned.ulp) == (2.0**64, 2**64 - 1), unsigned
    near = mismatch_of(array(2**63 - 1, dtype=np.int64), array(2**63 - 2, dtype=np.int64))
    assert near.ulp == 1, near


LOOSE_BY_ULP = Allowance("", ulp=2.0**62)


def test_a_clipped_value_stays_short() -> None:
    mismatch = mismatch_of(array("a" * 5000, dtype=object), array("b" * 5000, dtype=object))
    assert max(len(mismatch.expected), len(mismatch.actual)) < 300, len(mismatch.expected)


# Units in the last place, by brute force


def every_value(dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    bits = ELEMENT_BITS[dtype]
    codes = np.arange(2**bits, dtype=f"u{dtype.itemsize}")
    values = codes.view(dtype)
    with np.errstate(invalid="ignore"):  # Some of the codes are signalling NaNs.
        return values[np.isfinite(values.astype(np.float64))]


ELEMENT_BITS = {numpy_dtype(row.number): row.bits for row in FLOATS}


@pytest.mark.parametrize("row", SMALL_FLOATS, ids=lambda row: row.name)
def test_ulp_distances_count_the_values_between(row: Any) -> None:
    values = every_value(numpy_dtype(row.number))
    wide = values.astype(np.float64)
    rank = np.searchsorted(np.unique(wide), wide)  # -0 and +0 are one value
    if len(values) <= 256:
        first, second = (axis.reshape(-1) for axis in np.indices((len(values), len(values))))
    else:
        chosen = np.random.default_rng(1)
        first, second = chosen.integers(len(values), size=(2, 50_000))
        second[:1000] = np.minimum(first[:1000] + 1, len(values) - 1)  # neighbours, too
    got = ulps(values[first], values[second])
    expected = np.abs(rank[first] - rank[second])
    wrong = np.flatnonzero(got != expected)
    assert not wrong.size, [(wide[first[i]], wide[second[i]], got[i], expected[i]) for i in wrong[:5]]
    assert expected.max() > 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("start", [0.0, 1.0, -1.0, 1e-40, -2.0, 1e30])
def test_ulp_distances_of_wide_types_count_steps(dtype: Any, start: float) -> None:
    value = here = np.array([start], dtype)
    for steps in range(1, 40):
        here = np.nextafter(here, np.array([np.inf], dtype))
        assert ulps(value, here)[0] == steps, f"{steps} steps from {start}"
        assert ulps(here, value)[0] == steps, f"{steps} steps from {start}"


def test_ulp_distances_across_the_whole_range_do_not_wrap() -> None:
    limits = np.finfo(np.float64)
    far = ulps(np.array([limits.max]), np.array([limits.min]))
    assert far[0] == pytest.approx(2 * float(0x7FEFFFFFFFFFFFFF), rel=1e-15), far


def test_every_float_type_is_measured() -> None:
    assert {row.name for row in SMALL_FLOATS} == {
        "float16", "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "float4e2m1",
        "float8e8m0", "float6e2m3", "float6e3m2",
    }  # fmt: skip


# How far an answer lies from what is expected, where it passes


def beside(value: np.ndarray[Any, Any], steps: int) -> np.ndarray[Any, Any]:
    """Return the value so many representable ones away from zero."""
    bits = value.view(f"i{value.dtype.itemsize}")
    return (bits + np.array(steps, bits.dtype)).view(value.dtype)


@pytest.mark.parametrize("row", [row for row in FLOATS if row.bits >= 8], ids=lambda row: row.name)
def test_offsets_count_representable_values(row: Any) -> None:
    expected = np.ones(3, numpy_dtype(row.number))
    got = expected.copy()
    got[1:2], got[2:] = beside(expected[1:2], 2), beside(expected[2:], -1)
    assert offsets([expected], [got], EXACT) == {"outputs[0]": [[1, 2], [2, -1]]}
    assert offsets([got], [got], EXACT) == {}
    assert offsets([got], [expected], EXACT) == {"outputs[0]": [[1, -2], [2, 1]]}


def test_offsets_add_up_between_two_answers() -> None:
    rng = np.random.default_rng(1)
    expected, one, two = (np.float64(1) + rng.integers(-9, 9, (50,)) * 2.0**-52 for _ in range(3))
    first, second = (dict(map(tuple, offsets([expected], [got], EXACT).get("outputs[0]", []))) for got in (one, two))  # type: ignore[arg-type]
    between = dict(map(tuple, offsets([one], [two], EXACT)["outputs[0]"]))  # type: ignore[arg-type]
    assert between == {
        index: second.get(index, 0) - first.get(index, 0)
        for index in range(50)
        if second.get(index, 0) != first.get(index, 0)
    }


def test_offsets_skip_values_without_a_distance() -> None:
    expected, got = array(math.nan, -0.0, math.inf), array(math.nan, 0.0, math.inf)
    got.view(np.uint32)[0] |= 1  # Another NaN.
    integers = array(1, 2, dtype=np.int32)
    assert offsets([expected, integers], [got, integers + 1], EXACT) == {}


def test_offsets_reach_into_containers_and_complex_numbers() -> None:
    one, near = array(1), np.nextafter(array(1), np.float32(2))
    assert offsets([[one, one], {"k": one}], [[one, near], {"k": near}], EXACT) == {
        "outputs[0][1]": [[0, 1]], "outputs[1]['k']": [[0, 1]]
    }  # fmt: skip
    expected = np.array([1 + 1j, 2 + 2j])
    got = np.array([1 + np.nextafter(1, 2) * 1j, np.nextafter(2, 1) + 2j])
    assert offsets([expected], [got], EXACT) == {"outputs[0]": [[1, -1], [2, 1]]}


def test_the_number_of_offsets_is_limited() -> None:
    expected = np.ones(1000, np.float32)
    got = np.nextafter(expected, np.float32(2))
    got[900] = np.nextafter(got[900], np.float32(2))
    steps = offsets([expected], [got], EXACT)["outputs[0]"]
    assert (len(steps), steps[0]) == (MOST_OFFSETS, [900, 2])


def test_offsets_of_huge_distances_do_not_wrap() -> None:
    assert offsets([np.array([-1e300])], [np.array([1e300])], EXACT) == {
        "outputs[0]": [[0, 2 * (2**63 - 1 & int(np.array([1e300]).view(np.int64)[0]))]]
    }


# What is kept of the elements, so that a report can mark them


def test_the_elements_that_differ_are_kept_by_index_and_value() -> None:
    expected = array(1, 1 / 3, 3, 4).reshape(2, 2)
    got = array(1, np.nextafter(np.float32(1 / 3), np.float32(1)), 3, -0.0).reshape(2, 2)
    mismatch = mismatch_of(expected, got)
    assert (mismatch.shape, mismatch.differs, mismatch.start) == ((2, 2), (1, 3), 0)
    assert mismatch.wanted == ("1.0", "0.33333334", "3.0", "4.0")
    assert mismatch.given == ("1.0", "0.33333337", "3.0", "-0.0")  # Another value reads otherwise, be it one ULP away.


def test_elements_within_the_tolerance_are_not_listed() -> None:
    mismatch = mismatch_of(array(1, 2, 3), array(1.001, 2.5, 3.001), Allowance("loose", atol=0.1))
    assert mismatch.differs == (1,)


@pytest.mark.parametrize(("first", "start"), [(0, 0), (3, 0), (50, 46), (98, 76), (99, 76)])
def test_for_a_large_tensor_the_neighbourhood_is_kept(first: int, start: int) -> None:
    expected = np.arange(100, dtype=np.int32)
    got = expected.copy()
    got[first:] += 1000
    mismatch = mismatch_of(expected, got)
    assert mismatch.start == start
    assert mismatch.wanted == tuple(map(str, range(start, start + 24)))
    assert len(mismatch.given) == 24
    assert mismatch.differs == tuple(range(first, 100))[:64]
    assert mismatch.differing == 100 - first


def test_hostile_strings_are_kept_as_text() -> None:
    mismatch = mismatch_of(np.array(["a"], object), np.array(["\x1b[2J\u202e" + "x" * 1000], object))
    assert mismatch.wanted == ("'a'",)
    assert mismatch.given[0].startswith("'\\x1b[2J\\u202e")
    assert len(mismatch.given[0]) < 70


def test_no_element_is_kept_where_none_can_be_compared() -> None:
    mismatch = mismatch_of(array(1, 2), array(1))
    assert (mismatch.differs, mismatch.wanted, mismatch.given) == ((), (), ())


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.complex128])
def test_the_farthest_of_many_offsets_are_kept_the_first_of_equals(dtype: type) -> None:
    """Also where two doubles are farther apart than an int64 can say."""
    random = np.random.default_rng(7)
    size = 5 * MOST_OFFSETS
    wanted, got = (random.choice([-1.0, 1.0, np.inf, -np.inf, 0.5, 2.0, 0.0], size).astype(dtype) for _ in range(2))
    parts = [(wanted, got)] if dtype is not np.complex128 else [(wanted.real, got.real), (wanted.imag, got.imag)]
    each = [pair for a, b in parts for pair in zip(ordered(a.copy()).tolist(), ordered(b.copy()).tolist(), strict=True)]
    far = [[index, to - from_] for index, (from_, to) in enumerate(each) if to != from_]
    assert len(far) > MOST_OFFSETS
    expected = sorted(far, key=lambda item: (-abs(item[1]), item[0]))[:MOST_OFFSETS]
    assert offsets([wanted], [got], EXACT) == {"outputs[0]": expected}
    assert max(abs(steps) for _, steps in expected) > (1 << 62 if dtype in {np.float64, np.complex128} else 1)


def test_a_value_beyond_those_of_the_function_is_wrong_however_near_it_is() -> None:
    allowance = Allowance("near", ulp=4, interval=(-1, 1))
    one, above = array(1.0), np.nextafter(array(1.0), np.float32(2))
    assert passes(array(0.5), np.nextafter(array(0.5), np.float32(1)), allowance)
    assert passes(np.nextafter(one, np.float32(0)), one, allowance)
    mismatch = mismatch_of(one, above, allowance)
    assert (mismatch.ulp, mismatch.beyond) == (1, (-1, 1))
    assert "the function has values from -1 to 1" in str(mismatch)
    far = mismatch_of(one, array(0.5), allowance)
    assert not far.beyond
    assert passes(array(np.nan), array(np.nan), allowance)
