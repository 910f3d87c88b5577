"""What Scatter and ScatterElements share: where the entries of updates go, and the cases of the axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.declare.data import Array, axes, axes_outside, ramp
from harness.declare.op import Op, Tag

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from harness.declare.clause import Clause


def targets(indices: Array, axis: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield each place in `indices` with its target: the same place, but on the axis the entry itself."""
    for entry in np.ndindex(indices.shape):
        target = list(entry)
        target[axis] = int(indices[entry])
        yield entry, tuple(target)


def axis_cases(op: Op, *, rank: Clause, back: Clause, in_range: Clause, ranks: Container[int] = range(5)) -> None:
    """Declare a case for each axis, and beyond it.

    Args:
        op: the operator, with inputs data, indices and updates.
        rank: forbids data of rank 0.
        back: says what an axis below 0 means.
        in_range: says which axes there are.
        ranks: the ranks of data to declare them for.
    """
    for name, shape, axis in (item for item in axes() if len(item[1]) in ranks):
        updates, cites = ramp(*[1] * len(shape)), (back, in_range) if axis < 0 else ()
        last = np.full([1] * len(shape), shape[axis] - 1)
        op.case(name, Tag.AXIS, data=ramp(*shape), indices=last, updates=updates, axis=axis, cites=cites)
    for name, shape, axis in (item for item in axes_outside() if len(item[1]) in ranks):
        ones, rejects = ramp(*[1] * len(shape)), in_range if shape else rank
        op.case(name, Tag.AXIS, data=ramp(*shape), indices=ones, updates=ones, axis=axis, rejects=rejects)
