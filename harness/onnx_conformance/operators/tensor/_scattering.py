"""Common code of the operators that scatter: the targets of updates, reductions, and the cases for the axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare.data import axes, axes_outside, ramp
from onnx_conformance.declare.families.extremum import require_order
from onnx_conformance.declare.op import Op, Tag

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

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


def targets(indices: Array, axis: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield each position in `indices` with its target: the same position, with the entry as the index on the axis."""
    for entry in np.ndindex(indices.shape):
        target = list(entry)
        target[axis] = int(indices[entry])
        yield entry, tuple(target)


def rounding(data: Array, updates: Array, places: Iterable[tuple[Any, Any]], reduction: str | None) -> list[Array]:
    """Return half a rounding of all magnitudes for each update that is added or multiplied; 0 for moved elements.

    Args:
        data: the tensor into which updates are scattered.
        updates: the updates.
        places: for each update its position in `updates` and its target in `data`.
        reduction: one of OPERATIONS, another string, or None.
    """
    terms, magnitudes = np.zeros(data.shape), np.zeros(data.shape)
    if reduction in {"add", "mul"}:
        magnitudes = np.abs(data.astype(np.complex128)).astype(np.float64)
        for place, target in places:
            terms[target] += 1
            magnitudes[target] = OPERATIONS[reduction](magnitudes[target], np.abs(updates[place].astype(np.complex128)))
    return [np.where(terms > 0, magnitudes * terms / 2, 0)]


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
