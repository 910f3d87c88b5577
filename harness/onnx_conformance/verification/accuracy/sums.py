# SPDX-License-Identifier: Apache-2.0
"""Operators that add or multiply many terms: how a call of each is built from lanes of terms.

A lane has the K terms of one result. An operator that only adds its terms (with factors, and perhaps divided by K) is
`plain`: the probes of `accumulators` need its sums for any terms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

Array = np.ndarray[Any, Any]
Build = Callable[[Array, Array], list[Array]]
"""Returns the inputs of a node for lanes of terms, of shape (lanes, K), and K factors, both of its element type."""

LANES = 16
"""The number of results with K terms each."""
COLUMNS = 8
"""Columns of the second matrix of a product, so that runtimes use their code for matrices rather than vectors."""


@dataclass(frozen=True)
class Sum:
    """A call of an operator with K terms.

    Attributes:
        operator: the name of the operator.
        build: returns the inputs.
        attributes: the attributes of the node.
        plain: returns the sum of each lane from the result and K, for an operator that only adds; None for others.
        signed: whether the results have both signs, so that some are near zero. Their errors are then in ULP of the
            largest result.
        low, high: the limits of the terms.
        factors: whether terms are factors of a product that stays near 1.
    """

    operator: str
    build: Build
    attributes: Mapping[str, Any] = field(default_factory=dict)
    plain: Callable[[Array, int], Array] | None = None
    signed: bool = False
    low: float = 0.5
    high: float = 1.5
    factors: bool = False

    def terms(self, count: int, dtype: np.dtype[Any], draw: np.random.Generator) -> Array:
        """Return drawn terms, K = `count` for each lane."""
        if self.factors:  # Their product is between 1/8 and 8 with great likelihood.
            return np.asarray(2.0 ** (draw.uniform(-1, 1, (LANES, count)) / np.sqrt(count))).astype(dtype)
        return draw.uniform(self.low, self.high, (LANES, count)).astype(dtype)


def _axis(index: int) -> Array:
    return np.array([index], np.int64)


def _reduction(terms: Array, _: Array) -> list[Array]:
    return [terms, _axis(1)]


def _matrices(terms: Array, factors: Array) -> list[Array]:
    return [terms, np.repeat(factors[:, None], COLUMNS, 1)]


def _channels(terms: Array, factors: Array) -> list[Array]:
    weights = np.repeat(factors[None], COLUMNS, 0)
    return [terms[:, :, None, None], weights[:, :, None, None]]


def _normalized(terms: Array, _: Array) -> list[Array]:
    ones = np.ones(terms.shape[1], terms.dtype)
    return [terms, ones]


def _of_instances(terms: Array, _: Array) -> list[Array]:
    ones = np.ones(len(terms), terms.dtype)
    return [terms[None], ones, np.zeros(len(terms), terms.dtype)]


def _same(result: Array, _: int) -> Array:
    return result.reshape(len(result))


def _times(result: Array, count: int) -> Array:
    return result.astype(np.float64).ravel() * count


def _column(result: Array, _: int) -> Array:
    return result.reshape(len(result), -1)[:, 0]


_REDUCED: Mapping[str, Any] = {"keepdims": 0}
SUMS = (
    Sum("ReduceSum", _reduction, _REDUCED, _same),
    Sum("ReduceMean", _reduction, _REDUCED, _times),
    Sum("ReduceL1", _reduction, _REDUCED),
    Sum("ReduceL2", _reduction, _REDUCED),
    Sum("ReduceSumSquare", _reduction, _REDUCED),
    Sum("ReduceLogSum", _reduction, _REDUCED),
    Sum("ReduceLogSumExp", _reduction, _REDUCED),
    Sum("ReduceProd", _reduction, _REDUCED, factors=True),
    Sum("CumSum", lambda terms, _: [terms, np.array(1, np.int64)], {}, lambda result, _: result[:, -1]),
    Sum("MatMul", _matrices, {}, _column),
    Sum("Gemm", _matrices, {}, _column),
    Sum("Einsum", _matrices, {"equation": "ij,jk->ik"}, _column),
    Sum("Conv", _channels, {}, _column),
    Sum("GlobalAveragePool", lambda terms, _: [terms[:, None, None, :]], {}, _times),
    Sum("Softmax", lambda terms, _: [terms], {"axis": -1}, low=-2.0, high=2.0),
    Sum("LogSoftmax", lambda terms, _: [terms], {"axis": -1}, low=-2.0, high=2.0),
    Sum("LpNormalization", lambda terms, _: [terms], {"axis": -1, "p": 2}),
    Sum("LayerNormalization", _normalized, {"axis": -1}, signed=True, low=-2.0, high=2.0),
    Sum("RMSNormalization", _normalized, {"axis": -1}, signed=True, low=-2.0, high=2.0),
    Sum("InstanceNormalization", _of_instances, {}, signed=True, low=-2.0, high=2.0),
    Sum("GroupNormalization", _of_instances, {"num_groups": LANES}, signed=True, low=-2.0, high=2.0),
    Sum("MeanVarianceNormalization", lambda terms, _: [terms[None, :, None, :]], {"axes": [0, 2, 3]}, signed=True),
)  # fmt: skip
"""The measured operators. Schemas do not name the dimension of the terms, so each call is written here."""
