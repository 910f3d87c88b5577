# SPDX-License-Identifier: Apache-2.0
"""Quantization of quotients whose rounding no text defines: every value between them is allowed, and no other."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from onnx_conformance.case.compare import compare
from onnx_conformance.declare import EXACT, AnyOf, Clause, Op, PartlyOpen, Unspecified, Version
from onnx_conformance.declare.families.quantization import quantized
from onnx_conformance.generation import plans
from onnx_conformance.specification import registry


def formula() -> Clause:
    return Op("QuantizeLinear", versions=(25,), compare=EXACT).clause("y = saturate((x / y_scale) + y_zero_point)")


def allowed(*quotients: list[float], dtype: Any = np.uint8, zero: float = 0) -> list[set[float]]:
    """Return the values that each element may have."""
    arrays = [np.array(quotient, float) for quotient in quotients]
    result = quantized(Version(25), formula(), arrays, zero, np.dtype(dtype))
    values = result.values if isinstance(result, AnyOf) else [result]
    return [{float(value[index]) for value in values} for index in range(len(quotients[0]))]


def test_a_quotient_has_one_integer_and_a_tie_the_even_one() -> None:
    assert allowed([0.5, 1.5, 2.5, 254.6, 300, -7, np.inf, -np.inf]) == [{0}, {2}, {2}, {255}, {255}, {0}, {255}, {0}]
    assert allowed([0.5, 126, -200], dtype=np.int8, zero=3) == [{3}, {127}, {-128}]


def test_either_neighbour_of_a_tie_is_allowed() -> None:
    assert allowed([2.5, 7], [2.4999, 7.0001], [2.5001, 6.9999]) == [{2, 3}, {7}]


def test_every_integer_between_two_quotients_is_allowed() -> None:
    assert allowed([100], [97.6], [102.4]) == [{98, 99, 100, 101, 102}]
    assert allowed([254], [251], [257]) == [{251, 252, 253, 254, 255}]


def test_a_sum_of_floats_may_be_rounded_once_or_twice() -> None:
    assert allowed([17, 1], dtype=ml_dtypes.float8_e4m3fn, zero=-16) == [{1, 0}, {-15, -15}]


@pytest.mark.parametrize("dtype", [np.int8, ml_dtypes.int4, ml_dtypes.float4_e2m1fn])
def test_nan_is_open_in_a_type_without_nan(dtype: type) -> None:
    v, clause = Version(25), formula()
    result = quantized(v, clause, [np.array([np.nan, 1.0])], 0, np.dtype(dtype))
    assert isinstance(result, PartlyOpen)
    assert result.open.tolist() == [True, False]
    with pytest.raises(Unspecified):
        quantized(v, clause, [np.array([np.nan])], 0, np.dtype(dtype))


def test_nan_is_a_number_of_eight_bits() -> None:
    result = quantized(Version(25), formula(), [np.array([np.nan, 1.0])], 0, np.dtype(ml_dtypes.float8_e5m2))
    assert isinstance(result, np.ndarray)
    assert np.isnan(result.astype(float)).tolist() == [True, False]


@pytest.mark.parametrize("type_", ["float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "float4e2m1"])
def test_minus_zero_becomes_a_zero_and_not_the_nan_of_types_without_a_sign_of_zero(type_: str) -> None:
    op = registry.load().named("QuantizeLinear")
    (plan,) = plans.plans(op, (25,), [spec for spec in op if spec.name == f"minus_zero_{type_}"])
    (right,) = plan.expected or ()
    assert isinstance(right, np.ndarray)
    assert right[:2].astype(float).tolist() == [0, 0]
    code = 8 if type_ == "float4e2m1" else 0x80
    wrong = np.concatenate([np.full(1, code, np.uint8).view(right.dtype), right[1:]])
    missing_sign = "fnuz" in type_
    assert np.isnan(wrong.astype(float))[0] == missing_sign
    noticed = compare((right,), [wrong], plan.allowance) is not None
    assert noticed is missing_sign, "no text defines the sign of the zero"
