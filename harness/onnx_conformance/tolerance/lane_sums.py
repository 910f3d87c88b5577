# SPDX-License-Identifier: Apache-2.0
"""How far the sum of a lane may be from the sum that the operator defines, such as that of probabilities from 1."""

from __future__ import annotations

import inspect
import math
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from onnx_conformance.case.elements import is_float
from onnx_conformance.case.lane_sums import LaneSums
from onnx_conformance.declare.families.sums import roundings

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_conformance.declare import Tolerance
    from onnx_conformance.specification.evaluator import Answer

MORE = 3
"""Epsilons in addition to those of the sum: a reciprocal, a product, and the logarithm of the sum if one is used."""


def of_answer(
    tolerance: Tolerance, answer: Answer, named: list[int], computed_in: Callable[[np.dtype[Any]], np.dtype[Any]]
) -> LaneSums | None:
    """Return the sums of an answer; None if it has none.

    The elements are the terms of a sum, each divided by this sum. An error of a term is in both, so it does not change
    the sum of the quotients. Only the additions, the division and the rounding of the results change it.

    Args:
        tolerance: the tolerance of the operator.
        answer: the oracle's answer.
        named: the indices of the outputs that the node names.
        computed_in: returns the type in which a careful implementation computes results of a type.
    """
    declared = tolerance.sums
    if declared is None or declared.output not in named:
        return None
    known = {"v": answer.version, **answer.arguments}
    axes = declared.axes(**{name: known.get(name) for name in inspect.signature(declared.axes).parameters})
    values = answer.outputs[declared.output]
    if not axes or not isinstance(values, np.ndarray) or not is_float(values):
        return None
    terms = math.prod(values.shape[axis] for axis in axes)
    inner = computed_in(values.dtype)
    within = (roundings(terms) / 2 + MORE) * _of(inner, "eps") + terms * _of(values.dtype, "smallest_subnormal") / 2
    if inner != values.dtype:
        within += _of(values.dtype, "eps") / 2
    return LaneSums(axes, declared.total, within * abs(declared.total), named.index(declared.output))


def _of(dtype: np.dtype[Any], limit: str) -> float:
    """Return a limit of a floating type by its name."""
    return float(getattr(ml_dtypes.finfo(dtype), limit))  # type: ignore[no-untyped-call]
