# SPDX-License-Identifier: Apache-2.0
"""Common code of the operators that scatter: the targets of updates, reductions, and the cases for the axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare.data import axes, axes_outside, ramp
from onnx_conformance.declare.families.extremum import require_order
from onnx_conformance.declare.op import Op, Tag

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator

    from onnx_conformance.declare import Array
    from onnx_conformance.declare.clause import Clause, Version

OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}


def reduced_into(v: Version, reduces: Clause, reduction: str, old: Any, new: Any) -> Any:  # noqa: ANN401 - numbers
    """Return an element after an update is reduced into it.

    Args:
        v: the version.
        reduces: the sentence on the reduction.
        reduction: one of OPERATIONS.
        old: the element, or several elements.
        new: the update.
    """
    if reduction in {"max", "min"}:
        require_order(v, reduces, np.asarray(old), np.asarray(new))
    with np.errstate(all="ignore"):
        result = OPERATIONS[reduction](old, new)
    if result.dtype.kind in "iu":
        exact = OPERATIONS[reduction](np.asarray(old).astype(object), np.asarray(new).astype(object))
        v.silent(reduces, bool(np.any(np.asarray(result).astype(object) != exact)))
    return result


def targets(indices: Array, axis: int) -> Array:
    """Return the target of each entry of `indices`: its position, with the entry as the index on the axis.

    The result has a column for each entry, in row-major order, and a row for each axis of the data.
    """
    places: list[Array] = list(np.indices(indices.shape))
    places[axis] = indices
    return np.reshape(places, (indices.ndim, indices.size))


def repeats(places: Array, shape: tuple[int, ...]) -> Array:
    """Return for each target the number of equal targets before it.

    Args:
        places: a column for each target, as `targets` returns them. An index may count from the back.
        shape: the shape of the data.
    """
    flat = np.zeros(places.shape[1], np.int64)
    for index, size in zip(places, shape, strict=False):
        flat = flat * size + index % max(size, 1)
    _, group, counts = np.unique(flat, return_inverse=True, return_counts=True)
    before = np.empty(len(flat), np.int64)
    before[np.argsort(group, kind="stable")] = np.arange(len(flat)) - np.repeat(np.cumsum(counts) - counts, counts)
    return before


def rounds(places: Array, shape: tuple[int, ...]) -> Iterator[tuple[Array, tuple[Array, ...]]]:
    """Yield the numbers of updates with different targets, and these targets, until all updates have occurred once.

    Updates of one target keep their order.

    Args:
        places: as in `repeats`.
        shape: the shape of the data.
    """
    before = repeats(places, shape)
    for number in range(before.max(initial=-1) + 1):
        updates = np.flatnonzero(before == number)
        yield updates, tuple(places[:, updates])


def rounding(data: Array, updates: Array, places: Array, reduction: str | None) -> list[Array]:
    """Return half a rounding of all magnitudes for each update that is added or multiplied; 0 for moved elements.

    After several updates, the expected value is half a rounding from the exact one, too.

    Args:
        data: the tensor into which updates are scattered.
        updates: the updates, in the order of the targets.
        places: the targets, as in `repeats`.
        reduction: one of OPERATIONS, another string, or None.
    """
    terms, magnitudes = np.zeros(data.shape), np.zeros(data.shape)
    if reduction in {"add", "mul"}:
        magnitudes = np.abs(data.astype(np.complex128)).astype(np.float64)
        added = np.abs(updates.reshape(places.shape[1], *data.shape[len(places) :]).astype(np.complex128))
        for numbers, target in rounds(places, data.shape):
            terms[target] += 1
            magnitudes[target] = OPERATIONS[reduction](magnitudes[target], added[numbers])
    return [magnitudes * np.where(terms > 1, terms + 1, terms) / 2]


def axis_cases(op: Op, *, rank: Clause, back: Clause, in_range: Clause, ranks: Container[int] = range(5)) -> None:
    """Declare a case for each axis, and for axes out of range.

    Args:
        op: the operator, with inputs data, indices and updates.
        rank: the sentence that forbids data of rank 0.
        back: the sentence on negative axes.
        in_range: the sentence on the range of axes.
        ranks: the ranks of data for which cases are declared.
    """
    for name, shape, axis in (item for item in axes() if len(item[1]) in ranks):
        updates, cites = ramp(*[1] * len(shape)), (back, in_range) if axis < 0 else ()
        last = np.full([1] * len(shape), shape[axis] - 1)
        op.case(name, Tag.AXIS, data=ramp(*shape), indices=last, updates=updates, axis=axis, cites=cites)
    for name, shape, axis in (item for item in axes_outside() if len(item[1]) in ranks):
        ones, rejects = ramp(*[1] * len(shape)), in_range if shape else rank
        op.case(name, Tag.AXIS, data=ramp(*shape), indices=ones, updates=ones, axis=axis, rejects=rejects)
