# SPDX-License-Identifier: Apache-2.0
"""Choice of the allowed answer that is nearest to the answer of a runtime."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.case.elements import is_float, ordered, unequal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx_conformance.base.values import Drawn, Value
    from onnx_conformance.case.allowance import Allowance
    from onnx_conformance.declare import AnyOf, Order

Array = np.ndarray[Any, Any]


def nearest(
    expected: Sequence[Value | Drawn], actual: Sequence[Value], allowance: Allowance
) -> Sequence[Value | Drawn]:
    """Return the expected values, chosen and ordered within the allowance to be as near as possible to an answer.

    Args:
        expected: one of the answers that the case allows.
        actual: the answer of a runtime, with any number of outputs.
        allowance: the other answers that the case allows.
    """
    if allowance.any_of:
        pairs = enumerate(zip(expected, actual, strict=False))
        chosen = [_chosen(allowance.any_of[index], value, answer, allowance) for index, (value, answer) in pairs]
        expected = [*chosen, *expected[len(chosen) :]]
    return _reordered(expected, actual, allowance.any_order) if allowance.any_order else expected


def _chosen(any_of: AnyOf | None, value: Value | Drawn, answer: Value, allowance: Allowance) -> Value | Drawn:
    if any_of is None or not isinstance(answer, np.ndarray):
        return value
    if any_of.elementwise:
        return _chosen_by_element(any_of, answer, allowance)
    return min(any_of.values, key=lambda value: _distance(value, answer, allowance))


def _distance(value: Array, answer: Array, allowance: Allowance) -> tuple[bool, bool, int]:
    """Return how a value differs from an answer: in its type, in its shape, and in how many elements."""
    if not _alike(value, answer):
        return value.dtype != answer.dtype, value.shape != answer.shape, 0
    return False, False, int(unequal(value, answer, allowance, None).sum())


def _chosen_by_element(any_of: AnyOf, answer: Array, allowance: Allowance) -> Array:
    first = any_of.values[0]
    if not _alike(first, answer):
        return first
    for value in any_of.values[1:]:
        first = np.where(unequal(value, answer, allowance, None), first, value)
    return first


def _alike(value: object, answer: object) -> bool:
    return (
        isinstance(value, np.ndarray)
        and isinstance(answer, np.ndarray)
        and value.dtype == answer.dtype
        and value.shape == answer.shape
    )


def _reordered(expected: Sequence[Value | Drawn], actual: Sequence[Value], order: Order) -> Sequence[Value | Drawn]:
    """Return the expected outputs in the order of an answer. Rows that the answer lacks get the remaining places."""
    if len(expected) != len(actual) or not all(map(_alike, expected, actual)):
        return expected
    pairs = [(np.asarray(value), np.asarray(answer)) for value, answer in zip(expected, actual, strict=True)]
    integers = [(value, answer) for value, answer in pairs if not is_float(value)]
    bits = [(_bits(value), _bits(answer)) for value, answer in pairs]
    # First match rows that are identical in all outputs, then equal rows, then rows with equal integers (an index).
    keys = [_rows(several, order) for several in (bits, pairs, integers) if several]
    lanes, _, size = keys[0].shape
    places = np.array([_places(lane) for lane in zip(*keys, strict=True)], np.int64).reshape(lanes, size)
    return [_permuted(value, places, order) for value, _ in pairs]


def _by_lane(array: Array, order: Order) -> Array:
    """Return an array of [lane, place along the axis, element]. If the order is lanewise, a row has one element."""
    front = np.moveaxis(array, order.axis, 0)
    rows = front.reshape(len(front), -1 if front.size else int(np.prod(front.shape[1:])))
    return rows.T[..., None] if order.lanewise else rows[None]


def _permuted(array: Array, places: Array, order: Order) -> Array:
    """Return an array whose rows are permuted within each lane."""
    rows = np.take_along_axis(_by_lane(array, order), places[..., None], 1)
    rows = rows[..., 0].T if order.lanewise else rows[0]
    shape = np.moveaxis(array, order.axis, 0).shape
    return np.moveaxis(rows.reshape(shape), 0, order.axis)


def _rows(pairs: Sequence[tuple[Array, Array]], order: Order) -> Array:
    """Return a number for each row, the same for equal rows: [lane, expected or actual, place]."""
    codes = [np.stack([_by_lane(code, order) for code in _codes(*pair)], 1) for pair in pairs]
    rows = np.concatenate(codes, -1)
    if not rows.size:
        return np.zeros(rows.shape[:-1], np.int64)
    numbers = np.unique(rows.reshape(-1, rows.shape[-1]), axis=0, return_inverse=True)[1]
    return np.asarray(numbers.reshape(rows.shape[:-1]))


def _bits(array: Array) -> Array:
    """Return numbers that distinguish the two zeros, and different NaNs."""
    return array.view(f"u{array.dtype.itemsize}") if is_float(array) and array.dtype.kind != "c" else array


def _codes(value: Array, answer: Array) -> Array:
    """Return a number for each element of two arrays, as [2, ...]. Equal elements and all NaNs get the same number."""
    both = np.stack([value, answer])
    if is_float(both) and both.dtype.kind != "c":
        both = np.where(np.isnan(both.astype(np.float64)), np.iinfo(np.int64).max, ordered(both))
    elif both.dtype.kind not in "biucO":
        both = both.astype(np.int64)  # Integers of a few bits.
    return np.asarray(np.unique(both, return_inverse=True)[1].reshape(both.shape))


def _places(keys: Sequence[Array]) -> list[int]:
    """Return the place of the matching expected row for each row of the answer.

    Args:
        keys: arrays of row numbers, [expected or actual, place]. Rows with the same number in the first array match;
            the remaining rows are matched by the second array, and so on.
    """
    size = keys[0].shape[1]
    free, places = set(range(size)), [-1] * size
    for expected, actual in keys:
        left = defaultdict(list)
        for place in sorted(free, reverse=True):
            left[int(expected[place])].append(place)
        for index, number in enumerate(actual):
            if places[index] < 0 and left[int(number)]:
                places[index] = left[int(number)].pop()
                free.remove(places[index])
    others = iter(sorted(free))
    return [next(others) if place < 0 else place for place in places]
