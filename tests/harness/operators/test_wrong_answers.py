# SPDX-License-Identifier: Apache-2.0
"""Each case with values can fail: answers that are wrong by far are not accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from generated import every_operator, plans
from onnx_conformance.case.compare import compare
from onnx_conformance.case.nearest import nearest
from onnx_conformance.declare import Drawn, Op, Tolerance, Version
from onnx_conformance.generation import plans as generate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.generation.deliveries import Plan

Array = np.ndarray[Any, Any]
REPLACED = "one element replaced by the next"


def wrong_answers(values: Array) -> Iterator[tuple[str, Array]]:
    """Yield zeros; the values negated, a tenth more, rolled by one along each axis; one element replaced by the next.

    Numbers of narrow types are computed with as doubles.
    """
    yield "zeros", np.zeros_like(values)
    if values.dtype.kind not in "OUSb":
        with np.errstate(all="ignore"):
            wide = values if values.dtype.kind == "c" else values.astype(np.float64)
            if values.dtype.kind != "u" and "uint" not in values.dtype.name:
                yield "negated", (-wide).astype(values.dtype)
            yield "a tenth more", (wide * 1.1).astype(values.dtype)
    for axis in range(values.ndim):
        yield f"rolled along axis {axis}", np.roll(values, 1, axis)
    if values.size > 1 and values.dtype.kind not in "OUSb":
        flat = values.reshape(-1).copy()
        with np.errstate(all="ignore"):
            steps = np.nan_to_num(np.abs(np.diff(wide.reshape(-1))))
        place = int(steps.argmax())
        flat[place] = flat[place + 1]
        yield REPLACED, flat.reshape(values.shape)


def differs(one: Array, other: Array, is_open: Array | None) -> bool:
    """Return whether values that are determined differ by more than two steps; of two zeros the sign may be open."""
    if one.dtype.kind == "O":
        return bool((one != other).any())
    with np.errstate(invalid="ignore"):  # Signalling NaNs.
        first, second = (item if item.dtype.kind in "cb" else item.astype(np.float64) for item in (one, other))
    same = (first == second) | (np.isnan(first) & np.isnan(second))
    if one.dtype.kind not in "iubc" and "int" not in one.dtype.name:
        with np.errstate(all="ignore"):
            largest = np.maximum(np.abs(first), np.abs(second))
            same |= np.abs(first - second) <= 2 * float(ml_dtypes.finfo(one.dtype).eps) * largest
    return not (same if is_open is None else same | is_open).all()


def is_smooth(values: Array, rolled: Array) -> bool:
    """Return whether neighbours differ by less than a thousandth of the greatest value, as in a long window."""
    with np.errstate(invalid="ignore"):  # Differences of infinities: these are not smooth.
        return values.dtype.kind == "f" and bool(np.abs(values - rolled).max() < 1e-3 * np.abs(values).max())


def accepted(plan: Plan) -> Iterator[str]:
    """Yield each wrong answer that passes."""
    expected = plan.expected or ()
    if any(isinstance(value, Drawn) for value in expected):
        return
    for index, values in enumerate(expected):
        if not isinstance(values, np.ndarray) or not values.size:
            continue
        for name, answer in wrong_answers(values):
            answers = [*expected[:index], answer, *expected[index + 1 :]]
            right = nearest(expected, answers, plan.allowance)  # Of a set, or of several values, it may be another one.
            wrong = (differs(*pair, mask) for *pair, mask in zip(right, answers, plan.open, strict=True))
            # Of thousands of elements, neighbours may be nearly equal.
            near = plan.spec.sized and (name == REPLACED or is_smooth(values, answer))
            if any(wrong) and not near and compare(expected, answers, plan.allowance) is None:
                yield f"{plan.id}: {name}"


@pytest.mark.slow
@every_operator
def test_answers_that_are_wrong_by_far_are_not_accepted(op: Op) -> None:
    assert [text for plan in plans(op) for text in accepted(plan)] == []


@pytest.mark.parametrize(
    ("atol", "names"),
    [
        (0.25, []),
        (1.5, ["a tenth more"]),
        (9, ["a tenth more", "one element replaced by the next", "rolled along axis 0", "rolled along axis 1"]),
    ],
)
def test_a_tolerance_that_is_too_wide_is_noticed(atol: float, names: list[str]) -> None:
    op = Op("Relu", versions=(14,), compare=Tolerance("too wide", atol=atol), rank="X")

    @op.oracle()
    def same(v: Version, X: Array) -> Array:  # noqa: ARG001, N803
        return X

    op.case("numbers", X=[[1, 2, 4], [8, 9, 10]])
    (plan,) = generate.plans(op, specs=list(op))
    assert sorted(accepted(plan)) == [f"{plan.id}: {name}" for name in names]
