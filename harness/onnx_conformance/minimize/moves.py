# SPDX-License-Identifier: Apache-2.0
"""Moves from a case to smaller ones, each with a short description.

A move knows nothing about operators. It changes related values together (every axis of one size, the numbers that name
an axis) in the ways that operators commonly need. The oracle decides whether the result is still a case.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.case.case import PLAIN
from onnx_conformance.declare.type import Type
from onnx_conformance.forms import table
from onnx_conformance.minimize.declared_candidate import typed_arguments, value_groups, without
from onnx_conformance.minimize.search_space import C, Move
from onnx_conformance.specification import schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from onnx_conformance.minimize.declared_candidate import DeclaredCandidate
    from onnx_conformance.minimize.search_space import Array, Leaf, Path

PLAIN_TYPES = ("float", "int64", "int32", "double", "bool", "uint8", "int8", "string")
"""Element types, with the most common ones first; all other types follow."""
_FORMS = [form for form in table.FORMS if table.Start.PLAN in form.starts]
MOST_SINGLE_ELEMENTS = 48
"""In arrays with up to this many elements, elements are also simplified one by one."""
MOST_PARTS = 256
"""Longer lists of numbers are no sizes of parts."""
MOST_SINGLE_SLICES = 6
"""On axes of up to this size, slices are also removed one by one."""


def type_distance(type_: str) -> int:
    """Return a distance of a type from the most common one, float."""
    inner, containers = Type.parse_short(type_), 0
    while inner.inner is not None:
        inner, containers = inner.inner, containers + 1
    place = PLAIN_TYPES.index(inner.element) if inner.element in PLAIN_TYPES else len(PLAIN_TYPES)
    return place + 10 * containers


def form_distance(form: str) -> int:
    """Return a distance of a form from the plain one: its place in the list of forms of plans, simpler ones first."""
    found = table.find(form)
    return _FORMS.index(found) if found in _FORMS else len(_FORMS)


# Fewer things


def fewer(candidate: DeclaredCandidate) -> Iterator[Move[DeclaredCandidate]]:
    """Yield candidates without one argument, neighbouring node, value of a sequence, or output."""
    spec = candidate.spec
    for kind in ("arguments", "stray", "around"):
        values = getattr(spec, kind)
        for name in values:
            rest = {key: value for key, value in values.items() if key != name}
            yield Move(candidate.with_spec(**{kind: rest}), f"without {name}")
    if spec.beside:
        yield Move(candidate.with_spec(beside=""), "without the other nodes")
    for path, count in value_groups(candidate):
        for index in range(count - 1, -1, -1):
            less = without(candidate, path, index)
            yield Move(less, f"without {path[1]}[{index}]")
            yield from (Move(move.candidate, f"{move.description} and {path[1]}[{index}]") for move in _outputs(less))
    yield from _outputs(candidate)


def _outputs(candidate: DeclaredCandidate) -> Iterator[Move[DeclaredCandidate]]:
    """Yield candidates with one output less, also with a change of the numbers that count the outputs."""
    spec = candidate.spec
    for name in spec.omits:
        omits = tuple(other for other in spec.omits if other != name)
        yield Move(candidate.with_spec(omits=omits, n=(spec.n or 1) - 1), f"without the output {name}")
    if spec.n is None or spec.n < 2:  # noqa: PLR2004 - a node has an output
        return
    one_less = candidate.with_spec(n=spec.n - 1)
    yield Move(one_less, "one output less")
    for leaf in candidate.leaves():
        if leaf.array.ndim == 0 and not leaf.tensor and leaf.array.dtype.kind in "iu" and leaf.array == spec.n:
            yield Move(
                one_less.with_values({leaf.path: np.asarray(spec.n - 1)}), f"one output less, counted by {leaf.name}"
            )
        if leaf.array.ndim == 1 and leaf.array.size == spec.n:
            for shorter in _parts(one_less, leaf):
                yield Move(shorter, f"one output less, counted by {leaf.name}")


# Shorter axes


def halves(candidate: C) -> Iterator[Move[C]]:
    """Yield candidates with one half of the elements: on all axes of one size together, or on one axis."""
    all_leaves = candidate.leaves()
    tensors = [leaf for leaf in all_leaves if leaf.tensor]
    sizes = {size for leaf in tensors for size in leaf.array.shape if size > MOST_SINGLE_SLICES}
    for size in sorted(sizes, reverse=True):
        half = (size + 1) // 2
        for indices, which in ((range(half), "first"), (range(size - half, size), "second")):
            why = f"the {which} half of axes of size {size}"
            together = _taken(tensors, size, indices)
            yield Move(candidate.with_values(together), why)
            one = [leaf for leaf in tensors if leaf.path in together] if len(together) > 1 else []
            yield from (
                Move(candidate.with_values(_taken([leaf], size, indices)), f"{why} of {leaf.name}") for leaf in one
            )


def shorter(candidate: C) -> Iterator[Move[C]]:
    """Yield candidates with fewer elements: on all axes of one size together, or on one axis."""
    all_leaves = candidate.leaves()
    tensors = [leaf for leaf in all_leaves if leaf.tensor]
    for size in sorted({size for leaf in tensors for size in leaf.array.shape}, reverse=True):
        for length in _lengths(size):
            why = f"axes of size {size} cut to {length}"
            together = _cut(tensors, size, length)
            yield Move(candidate.with_values(together), why)
            yield Move(candidate.with_values(_cut(all_leaves, size, length)), why)
            numbers = {
                leaf.path: np.where(leaf.array == size, length, leaf.array).astype(leaf.array.dtype)
                for leaf in all_leaves
                if leaf.array.dtype.kind in "iu" and (leaf.array == size).any()
            }
            if numbers:
                apart = {path: array for path, array in together.items() if path not in numbers}
                yield Move(candidate.with_values({**apart, **numbers}), f"{why}, with the numbers that name it")
    for leaf in all_leaves:
        if leaf.array.ndim == 1:
            for changed in _parts(candidate, leaf):
                yield Move(changed, f"fewer or smaller parts in {leaf.name}")
    for leaf in all_leaves:
        for axis, size in enumerate(leaf.array.shape):
            for indices in _slices(size):
                changed = candidate.with_values({leaf.path: leaf.array.take(indices, axis)})
                yield Move(changed, f"{leaf.name} cut along axis {axis}")


def _lengths(size: int) -> list[int]:
    return sorted({length for length in (0, 1, 2, size // 2, 7 * size // 8, size - 1) if 0 <= length < size})


def _slices(size: int) -> Iterator[Sequence[int]]:
    """Yield the indices of an axis to keep."""
    for length in _lengths(size):
        yield range(length)
        if length:
            yield range(size - length, size)
    if size <= MOST_SINGLE_SLICES:
        for index in range(1, size - 1):
            yield [other for other in range(size) if other != index]


def _cut(values: Iterable[Leaf], size: int, length: int) -> dict[Path, Array]:
    return _taken(values, size, range(length))


def _taken(values: Iterable[Leaf], size: int, indices: range) -> dict[Path, Array]:
    """Return the arrays that have axes of a size, with some of the indices on these axes."""
    changes = {}
    for leaf in values:
        array = leaf.array
        for axis, dim in enumerate(leaf.array.shape):
            if dim == size:
                array = array.take(indices, axis)
        if array.shape != leaf.array.shape:
            changes[leaf.path] = array
    return changes


def _parts(candidate: C, leaf: Leaf) -> Iterator[C]:
    """Yield candidates with one part less or a shorter part, if numbers add up to the size of an axis."""
    if leaf.array.dtype.kind not in "iu" or not 0 < leaf.array.size <= MOST_PARTS:
        return
    parts = leaf.array.tolist()
    whole = sum(parts)
    others = [other for other in candidate.leaves() if other.tensor and other.path != leaf.path]
    # One after the other: all lists together have the square of the number of parts.
    options = itertools.chain(
        ([*parts[:i], *parts[i + 1 :]] for i in range(len(parts))),
        ([*parts[:i], sum(pair), *parts[i + 2 :]] for i, pair in enumerate(itertools.pairwise(parts))),
        ([*parts[:i], 1, *parts[i + 1 :]] for i, part in enumerate(parts) if part > 1),
        ([*parts[:i], part - 1, *parts[i + 1 :]] for i, part in enumerate(parts) if part > 1),
    )
    limits = np.iinfo(leaf.array.dtype)
    for option in options:
        if any(not limits.min <= part <= limits.max for part in option):
            continue  # The type cannot represent the sum of two large parts.
        changes = _cut(others, whole, sum(option)) if 0 <= sum(option) < whole else {}
        yield candidate.with_values({**changes, leaf.path: np.array(option, leaf.array.dtype)})


# Lower rank


def lower(candidate: C) -> Iterator[Move[C]]:
    """Yield candidates with one axis less: in every input that has it, or in one input."""
    all_leaves = candidate.leaves()
    tensors = [leaf for leaf in all_leaves if leaf.tensor]
    rank = max((leaf.array.ndim for leaf in tensors), default=0)
    for axis in range(rank):
        for front in (True, False):
            place = axis if front else axis - rank
            deleted = {leaf.path: _deleted(leaf.array, place) for leaf in tensors if _has(leaf.array, place)}
            numbers = _renumbered(all_leaves, axis, rank)
            entries = _entries(all_leaves, axis, rank)
            for changes in (deleted, {**deleted, **numbers}, {**entries, **deleted}, {**entries, **deleted, **numbers}):
                yield Move(candidate.with_values(changes), f"without axis {place} of every input")
    for size in sorted({size for leaf in tensors for size in leaf.array.shape}, reverse=True):
        deleted = {
            leaf.path: _deleted(leaf.array, leaf.array.shape.index(size))
            for leaf in tensors
            if size in leaf.array.shape
        }
        yield Move(candidate.with_values(deleted), f"without the axis of size {size} of every input")
    for leaf in tensors:
        for axis in range(leaf.array.ndim):
            deleted = {leaf.path: _deleted(leaf.array, axis)}
            yield Move(candidate.with_values(deleted), f"{leaf.name} without axis {axis}")
            numbers = _renumbered([other for other in all_leaves if other is not leaf], axis, leaf.array.ndim)
            if numbers:
                yield Move(
                    candidate.with_values({**numbers, **deleted}), f"{leaf.name} without axis {axis}, renumbered"
                )


def _has(array: Array, place: int) -> bool:
    return -array.ndim <= place < array.ndim


def _deleted(array: Array, place: int) -> Array:
    """Return the first slice of an array along an axis, without the axis."""
    if array.shape[place]:
        return np.asarray(array.take(0, place), array.dtype)
    axis = place % array.ndim
    return np.zeros((*array.shape[:axis], *array.shape[axis + 1 :]), array.dtype)


def _renumbered(values: Iterable[Leaf], axis: int, rank: int) -> dict[Path, Array]:
    """Return the values of leaves that may be axis numbers, renumbered for tensors without one axis."""
    changes = {}
    for leaf in values:
        array = leaf.array
        if array.dtype.kind not in "iu" or array.ndim > 1 or not array.size or (abs(array) > rank).any():
            continue
        named = [value for value in array.reshape(-1).tolist() if array.ndim == 0 or value % rank != axis]
        moved = [value - (value > axis) + (value < 0 and value + rank < axis) for value in named]
        if moved != array.reshape(-1).tolist():
            changes[leaf.path] = np.array(moved, array.dtype).reshape(() if array.ndim == 0 else -1)
    return changes


def _entries(values: Iterable[Leaf], axis: int, rank: int) -> dict[Path, Array]:
    """Return lists that have one entry per axis (or two, like pads), without the entries of one axis.

    The entries are matched to axes from the last axis on.
    """
    changes = {}
    for leaf in values:
        count = leaf.array.size
        if leaf.array.ndim != 1 or not count:
            continue
        back = rank - 1 - axis
        two_per_axis = "pads" in leaf.name or (count > rank and not count % 2)
        axes = count // 2 if two_per_axis else count
        if back < axes:
            removed = [axes - 1 - back, *([count - 1 - back] if two_per_axis else [])]
            changes[leaf.path] = np.delete(leaf.array, removed)
    return changes


# Simpler values


def simpler(candidate: C) -> Iterator[Move[C]]:
    """Yield candidates with simpler values: in a whole array, in parts of it, in single elements."""
    for leaf in candidate.leaves():
        for changed in _simpler(leaf.array):
            yield Move(candidate.with_values({leaf.path: changed}), f"simpler values of {leaf.name}")


def _simpler(array: Array) -> Iterator[Array]:
    flat = array.reshape(-1)
    if not flat.size:
        return
    for values in _fillings(flat):
        yield values.reshape(array.shape)
    half = flat.size // 2
    zero = "" if flat.dtype.kind == "O" else 0
    while half > 1:
        for begin in range(0, flat.size, half):
            changed = flat.copy()
            changed[begin : begin + half] = zero
            yield changed.reshape(array.shape)
        half //= 2
    if flat.size <= MOST_SINGLE_ELEMENTS:
        for index in range(flat.size):
            for value in _simpler_elements(flat[index]):
                changed = flat.copy()
                with contextlib.suppress(OverflowError):  # An unsigned type has no -1.
                    changed[index] = value
                yield changed.reshape(array.shape)


def _fillings(flat: Array) -> Iterator[Array]:
    if flat.dtype.kind == "O":
        yield np.array([""] * flat.size, object)
        yield np.array(["a"] * flat.size, object)
        return
    yield np.zeros(flat.size, flat.dtype)
    yield np.ones(flat.size, flat.dtype)
    if flat.dtype.kind != "b":
        yield np.arange(flat.size).astype(flat.dtype)
        if flat.dtype.kind not in "iuc" and np.isfinite(flat.astype(np.float64)).all():
            yield np.trunc(flat.astype(np.float64)).astype(flat.dtype)


def _simpler_elements(value: Any) -> list[object]:  # noqa: ANN401 - any element
    """Return simpler values that may replace an element."""
    if isinstance(value, str):
        half, letters = len(value) // 2, range(min(len(value), MOST_SINGLE_ELEMENTS))
        return ["", "a", value[:half], value[half:], *(value[:i] + value[i + 1 :] for i in letters)]
    if isinstance(value, bool | np.bool_):
        return [False]
    if isinstance(value, complex | np.complexfloating):
        return [0, 1]
    if isinstance(value, int | np.integer):
        return [*_simpler_integers(int(value))]
    number = float(value)
    if not np.isfinite(number):
        return [0, 1]
    whole = int(number)
    # As floats, because bfloat16 takes no integer beyond int64.
    return [*map(float, _simpler_integers(whole) if number == whole else (0, 1, whole, 0.5))]


def _simpler_integers(whole: int) -> list[int]:
    return [0, 1, -1, 2, abs(whole), int(whole / 2), whole - (whole > 0) + (whole < 0)]


# Plainer forms and types


def plainer(candidate: DeclaredCandidate) -> Iterator[Move[DeclaredCandidate]]:
    """Yield candidates in a more common form, and with more common types."""
    if candidate.form != PLAIN:
        plainer_forms = _FORMS[: form_distance(candidate.form)]
        for name in (name for form in plainer_forms for name in form.names(candidate.version.parameters)):
            yield Move(dataclasses.replace(candidate, form=name), f"in the form {name}")
    for variable, type_ in candidate.types.items():
        allowed = [*candidate.version.allowed(variable), *(schema.ALL_TENSOR_TYPES if candidate.spec.outside else ())]
        for other in sorted(set(allowed), key=lambda item: (type_distance(item), item)):
            if type_distance(other) < type_distance(type_):
                bound = dataclasses.replace(candidate, types={**candidate.types, variable: other})
                yield Move(bound, f"{variable} is {other}")
                yield Move(bound.with_values(_counted(candidate)), f"{variable} is {other}")
    yield from _retyped(candidate)


def _retyped(candidate: DeclaredCandidate) -> Iterator[Move[DeclaredCandidate]]:
    """Yield candidates with more common types for arguments that declare their own type: all of one type, or one."""
    typed = typed_arguments(candidate)
    together = [[place for place, argument in typed if argument.type == type_] for type_ in {a.type for _, a in typed}]
    for places in [*sorted(together), *([place] for place, _ in typed)]:
        before = getattr(candidate.spec, places[0][0])[places[0][1]].type
        for other in PLAIN_TYPES[: type_distance(before)]:
            changed = candidate
            for kind, name in places:
                values = getattr(changed.spec, kind)
                argument = dataclasses.replace(values[name], type=other)
                changed = changed.with_spec(**{kind: {**values, name: argument}})
            yield Move(changed, f"{', '.join(name for _, name in places)} of {other}")


def _counted(candidate: DeclaredCandidate) -> Mapping[Path, Array]:
    """Return every input filled with 0, 1, 2 and so on, which every type can represent."""
    return {
        leaf.path: np.arange(leaf.array.size).reshape(leaf.array.shape) for leaf in candidate.leaves() if leaf.tensor
    }
