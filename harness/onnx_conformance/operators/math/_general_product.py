# SPDX-License-Identifier: Apache-2.0
"""The general matrix product alpha * A * B + beta * C, which Gemm and the operators that extend it compute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare.families.sums import but_where, largest, overflows
from onnx_conformance.operators.math._matrix_product import greatest_magnitude, product_of_doubles

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_conformance.declare import Array, Clause, Result, Version

MATRIX = 2
"""The rank of a matrix."""


def dimensions(_: Mapping[str, tuple[int, ...]], attributes: Mapping[str, Any]) -> Mapping[str, Sequence[str]]:
    """Name the dimensions of A and B, which the attributes transpose."""
    return {
        "A": ["K", "M"] if attributes.get("transA") else ["M", "K"],
        "B": ["N", "K"] if attributes.get("transB") else ["K", "N"],
    }


def broadcastable(C: Array, shape: tuple[int, int]) -> bool:
    """Return whether C has at most two dimensions, each equal to that of a matrix of this shape or 1."""
    sizes = zip(reversed(C.shape), reversed(shape), strict=False)
    return C.ndim <= MATRIX and all(size in {1, whole} for size, whole in sizes)


def product(A: Array, B: Array) -> Array:
    """Return A * B, computed in double precision or better. An infinity times a zero is NaN."""
    with np.errstate(all="ignore"):  # Whether numpy warns of infinities depends on the machine.
        return product_of_doubles(A, B)


def absolute_products(A: Array, B: Array) -> Array:
    """Return the sums of the absolute values of the products, which bound how much the sums round."""
    return product(np.abs(A), np.abs(B))


def scaled_sum(of_product: Array, C: Array, alpha: float, beta: float) -> Array:
    """Return alpha * of_product + beta * C."""
    with np.errstate(all="ignore"):
        return np.asarray(alpha * of_product + beta * C.astype(np.longdouble))


def magnitudes(A: Array, B: Array, C: Array, alpha: float, beta: float) -> Array:
    """Return the sums of the absolute values of all terms, which bound how much they round."""
    return scaled_sum(absolute_products(A, B), np.abs(C), abs(alpha), abs(beta))


def general_product(
    v: Version, A: Array, B: Array, C: Array, alpha: float, beta: float, *, general: Clause, formula: Clause
) -> Result:
    """Return alpha * A * B + beta * C of real numbers; for integers it is exact.

    Args:
        v: the version.
        A: the left matrix of shape (M, K).
        B: the right matrix of shape (K, N).
        C: the summand of shape (M, N).
        alpha: the factor of the product.
        beta: the factor of C.
        general: the clause that leaves infinities and NaN open if their factor is 0.
        formula: the clause that leaves open integers that are not whole or out of range.
    """
    if A.dtype.kind == "f":
        v.silent(general, alpha == 0 and not (np.isfinite(A).all() and np.isfinite(B).all()))
        multiplied, most = product(A, B), largest(v.dtypes["T"])
        total = scaled_sum(multiplied, C, alpha, beta)
        with np.errstate(invalid="ignore"):
            of_product = A.shape[1] * greatest_magnitude(A) * greatest_magnitude(B)
            if of_product <= most and abs(alpha) * of_product + abs(beta) * greatest_magnitude(C) <= most:
                return but_where(np.zeros(total.shape, bool), total)  # No sum of some of the terms overflows.
        products = absolute_products(A, B)
        in_product = overflows(multiplied, products, v.dtypes["T"])
        before_scaling = (np.abs(multiplied) > most) & (np.abs(total) <= most)
        in_sum = overflows(total, scaled_sum(products, np.abs(C), abs(alpha), abs(beta)), v.dtypes["T"])
        sums = but_where(in_product | before_scaling | in_sum, total)
        return v.leave_open(general, ~np.isfinite(C) & (beta == 0), sums)
    (a, a_divisor), (b, b_divisor) = float(alpha).as_integer_ratio(), float(beta).as_integer_ratio()
    whole = A.astype(object) @ B.astype(object)
    exact, divisor = a * b_divisor * whole + b * a_divisor * C.astype(object), a_divisor * b_divisor
    result = v.fitting(formula, exact // divisor, A.dtype)
    return v.leave_open(formula, exact % divisor != 0, result)
