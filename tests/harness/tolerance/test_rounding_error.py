# SPDX-License-Identifier: Apache-2.0
"""Measured errors: a careful implementation keeps within them, a careless one does not."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from onnx_conformance.declare import Rejected, Rule
from onnx_conformance.declare.rounding import fourier, rounding_as
from onnx_conformance.tolerance import rounding_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_conformance.declare import Array

HALF, SINGLE = np.dtype(np.float16), np.dtype(np.float32)


def allowed(function: Callable[..., Array], dtype: np.dtype[Any], **arguments: Any) -> Array:
    """Return the errors that are allowed to a function's result."""

    def oracle(arguments: Any) -> list[Array]:
        return [function(**arguments)]

    with np.errstate(all="ignore"):
        exact = [np.asarray(function(**arguments))]
    *_, last = rounding_error.measure(oracle, arguments, exact, [dtype])
    return last[0]


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(powers / powers.sum(-1, keepdims=True))


def layer(x: Array, w: Array) -> Array:
    return np.asarray(np.tanh(x @ w) * np.float32(0.5) + np.einsum("ij,jk->ik", x, w))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [HALF, SINGLE])
@pytest.mark.parametrize(
    ("function", "shapes"),
    [(softmax, [(5, 40)]), (layer, [(4, 30), (30, 5)]), (lambda x: x.mean(0), [(200, 3)]), (np.cumsum, [(90,)])],
)
def test_computing_in_the_type_itself_is_allowed(
    function: Callable[..., Array], shapes: list[tuple[int, ...]], dtype: np.dtype[Any]
) -> None:
    draw = np.random.default_rng(7)
    for _ in range(20):
        operands = [draw.normal(size=shape).astype(dtype) for shape in shapes]
        wide = [item.astype(np.float64) for item in operands]
        names = ["x", "w"] if function in {softmax, layer} else ["a", "w"]
        named = dict(zip(names, wide, strict=False))
        bound = allowed(lambda **named: function(*named.values()), dtype, **named)
        off = np.abs(function(*operands).astype(np.float64) - function(*wide))
        assert (off <= bound).all()


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("length", [2, 9, 40])
def test_the_sums_of_a_fourier_transform_may_err_as_their_operations_do(length: int, *, inverse: bool) -> None:
    def spelled_out(x: Array) -> Array:
        places = rounding_as(np.arange(float(length)), x)
        turns = np.outer(places, places) / length
        return np.asanyarray(x @ np.exp((2j if inverse else -2j) * np.pi * turns))

    values = np.random.default_rng(length).normal(size=(50, length)) + 0j
    one = allowed(spelled_out, SINGLE, x=values)
    other = allowed(lambda x: fourier(x, length, inverse=inverse), SINGLE, x=values)
    ratios = np.sqrt(np.mean(other**2, 0) / np.mean(one**2, 0))
    assert ((ratios > 0.8) & (ratios < 1.25)).all(), ratios


def test_a_fourier_transform_in_float_is_allowed_but_not_one_with_a_rough_angle() -> None:
    length = 1000
    values = np.random.default_rng(7).normal(size=length)
    bound = allowed(lambda x: fourier(x + 0j, 501, inverse=False), SINGLE, x=values)
    exact = fourier(values + 0j, 501, inverse=False)
    turns = np.outer(np.arange(length), np.arange(501)) % length / length
    for pi, within in ((np.pi, True), (3.141, False)):
        factors = np.exp(-2j * pi * turns).astype(np.complex64)
        off = np.abs(values.astype(np.float32) @ factors - exact)
        assert bool((off <= bound).all()) is within


def test_a_sum_of_many_equal_terms_may_not_err_as_one_does_that_stops_growing() -> None:
    terms = np.full(4000, 0.1, HALF)
    naive = HALF.type(0)
    for term in terms:
        naive += term
    pairwise = terms.sum(dtype=HALF)
    wide = terms.astype(np.float64)
    bound = allowed(np.sum, HALF, a=wide)
    assert abs(float(naive) - wide.sum()) > bound
    assert abs(float(pairwise) - wide.sum()) <= bound
    assert bound < wide.sum() / 10


def test_the_error_of_a_sum_grows_with_the_square_root_of_its_terms() -> None:
    few, more = (allowed(np.sum, SINGLE, a=np.ones(count)) / count for count in (100, 10_000))
    assert 5 < more / few < 20


def test_what_is_only_moved_or_selected_is_exact() -> None:
    def selected(x: Array) -> Array:
        return np.where(x > 0, np.maximum(x, 2 * np.float64(1)), -x).clip(-1, 3)[::-1]

    assert not allowed(selected, HALF, x=np.linspace(-4, 4, 9)).any()


def test_one_product_may_be_rounded_to_either_side() -> None:
    x = np.array([1.1, -3.3, 100.0])
    bound = allowed(lambda x: x * x, HALF, x=x)
    assert (bound >= np.spacing((x * x).astype(HALF)) / 2).all()
    assert (bound <= 8 * np.spacing((x * x).astype(HALF)).astype(float)).all()


def test_subnormal_results_may_err_by_subnormal_numbers() -> None:
    x = np.array([3e-4, 0.0])
    bound = allowed(lambda x: x * x, HALF, x=x)
    assert bound[0] >= np.finfo(HALF).smallest_subnormal
    assert bound[1] >= 0


def test_both_parts_of_a_complex_number_err() -> None:
    spectrum = allowed(lambda x: np.exp(-2j * np.pi * x / 7), SINGLE, x=np.arange(7.0))
    assert spectrum.shape == (7,)
    assert (spectrum > 0).all()


def test_values_that_are_not_finite_allow_no_error_to_others() -> None:
    bound = allowed(lambda x: x * 3, SINGLE, x=np.array([np.inf, np.nan, 1.0]))
    assert bound[0] == 0
    assert bound[1] == 0
    assert 0 < bound[2] < 1e-5


def test_an_evaluation_that_a_drawn_error_brings_over_a_limit_is_left_out() -> None:
    def bounded(x: Array) -> Array:
        y = x * 3
        if (np.asarray(y) > 3).any():
            raise Rejected(Rule.TYPES)
        return y

    bound = allowed(bounded, SINGLE, x=np.array([1.0]))
    assert 0 < bound[0] < 1e-5


def test_the_same_values_have_the_same_bound_each_time() -> None:
    x = np.random.default_rng(1).normal(size=(6, 7))
    assert (allowed(softmax, HALF, x=x) == allowed(softmax, HALF, x=x)).all()


def test_an_in_place_operation_keeps_its_error() -> None:
    def doubled(x: Array) -> Array:
        y = x * 1.0
        y *= 1.1
        return y

    assert (allowed(doubled, HALF, x=np.array([1.0, 2.0])) > 0).all()


@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((400, 500), 0),
        ((400, 500), 1),
        ((65_536, 4), 0),
        ((2, 40_000, 4), 1),
        pytest.param((1100, 1000), 0, marks=pytest.mark.slow),
    ],
)
def test_errors_that_are_drawn_once_allow_as_much_as_others(shape: tuple[int, ...], axis: int) -> None:
    def summed(x: Array) -> Array:
        return np.asarray(np.square(x).sum(axis))

    x = np.ones(shape)
    once = allowed(summed, SINGLE, x=x)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounding_error, "MOST_DRAWN", x.size)
        each = allowed(summed, SINGLE, x=x)
    assert (once != each).all()
    assert np.median(once) == pytest.approx(np.median(each), rel=0.5)
    assert np.max(once) < 3 * np.median(each)
    total = rounding_error._reused()[: rounding_error.REUSED].sum()
    assert 0.7 < abs(total) / np.sqrt(rounding_error.REUSED) < 1.4


def test_the_coarsest_type_decides() -> None:
    assert rounding_error.coarsest([SINGLE, HALF, np.dtype(np.int64)]) == HALF
    assert rounding_error.coarsest([np.dtype(np.int64)]) is None


def test_the_parts_of_a_complex_sum_err_by_themselves() -> None:
    def real_alone(x: Array) -> Array:
        total = x + 1j * (x * 0)
        if np.asarray(total).imag.any():
            raise Rejected(Rule.TYPES)
        return np.asarray(total.real * 3)

    assert (allowed(real_alone, SINGLE, x=np.array([1.0, 2.0])) > 0).all()


def test_an_oracle_without_an_answer_beside_any_error_is_a_fault_and_no_exact_bound() -> None:
    def exactly_three(x: Array) -> Array:
        y = x * 3
        if np.asarray(y)[0] != 3:
            raise Rejected(Rule.TYPES)
        return y

    with pytest.raises(rounding_error.MeasureError, match="every rounding error of float32 crosses a limit"):
        allowed(exactly_three, SINGLE, x=np.array([1.0]))


def test_the_limits_before_the_bounds_grow() -> None:
    """Also where some evaluations have no answer, and for outputs of several types."""
    draw, calls = np.random.default_rng(3), itertools.count()

    def oracle(arguments: Any) -> list[Array]:
        if next(calls) % 3 == 2:
            raise Rejected(Rule.TYPES)
        product = arguments["x"] @ arguments["w"]
        return [product, np.tanh(product)]

    arguments = {"x": draw.normal(size=(4, 30)), "w": draw.normal(size=(30, 5))}
    limits = list(rounding_error.measure(oracle, arguments, oracle(arguments), [HALF, SINGLE]))
    assert len(limits) > 2
    for first, second in itertools.pairwise(limits):
        assert all((before <= after).all() for before, after in zip(first, second, strict=True))
    assert (limits[0][0] > 0).all()
    assert all((item > 0).all() for item in limits[-1])
