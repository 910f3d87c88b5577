"""Moves from a case to smaller ones, each with its reason in a few words.

A move knows nothing of operators. It changes what stands together (an axis wherever it has that size, the numbers that
name it) in the ways that operators commonly need; whether a case is left is for the oracle to say.
"""

from __future__ import annotations

import contextlib
import dataclasses
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.case.case import FORMS, PLAIN
from harness.minimize.candidate import groups, leaves, typed, without
from harness.spec import schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from harness.minimize.candidate import Array, Draft, Leaf, Path

PLAIN_TYPES = ("float", "int64", "int32", "double", "bool", "uint8", "int8", "string")
"""Element types in the order of how familiar they are; the others come after."""
SINGLE = 48
"""Elements up to which each is tried by itself."""
FEW = 6
"""Slices of an axis up to which each is tried by itself."""


@dataclass(frozen=True)
class Move:
    """A draft that may be a smaller case, and what was done to get there."""

    draft: Draft
    why: str


def plainness(type_: str) -> int:
    """Return how far a type is from the most familiar one."""
    name = schema.inner(type_) if "(" in type_ else type_
    containers = type_.count("(") - 1 if "(" in type_ else 0
    return (PLAIN_TYPES.index(name) if name in PLAIN_TYPES else len(PLAIN_TYPES)) + 10 * max(0, containers)


def unfamiliar(form: str) -> int:
    """Return how far a form is from the plain one."""
    return FORMS.index(form.partition("-")[0])


# Fewer things


def fewer(draft: Draft) -> Iterator[Move]:
    """Yield drafts without one of the things that a node has."""
    spec = draft.spec
    for kind in ("arguments", "stray", "around"):
        held = getattr(spec, kind)
        for name in held:
            rest = {key: value for key, value in held.items() if key != name}
            yield Move(draft.with_spec(**{kind: rest}), f"without {name}")
    if spec.beside:
        yield Move(draft.with_spec(beside=""), "without the nodes beside it")
    for path, count in groups(draft):
        for index in range(count - 1, -1, -1):
            less = without(draft, path, index)
            yield Move(less, f"without {path[1]}[{index}]")
            yield from (Move(move.draft, f"{move.why} and {path[1]}[{index}]") for move in _outputs(less))
    yield from _outputs(draft)


def _outputs(draft: Draft) -> Iterator[Move]:
    """Yield drafts with an output less, and with the numbers that count the outputs."""
    spec = draft.spec
    for name in spec.omits:
        omits = tuple(other for other in spec.omits if other != name)
        yield Move(draft.with_spec(omits=omits, n=(spec.n or 1) - 1), f"without the output {name}")
    if spec.n is None or spec.n < 2:  # noqa: PLR2004 - a node has an output
        return
    one_less = draft.with_spec(n=spec.n - 1)
    yield Move(one_less, "an output less")
    for leaf in leaves(draft):
        if leaf.array.ndim == 0 and not leaf.tensor and leaf.array.dtype.kind in "iu" and leaf.array == spec.n:
            yield Move(one_less.put({leaf.path: np.asarray(spec.n - 1)}), f"an output less, as {leaf.name} counts them")
        if leaf.array.ndim == 1 and leaf.array.size == spec.n:
            for shorter in _parts(one_less, leaf):
                yield Move(shorter, f"an output less, as {leaf.name} counts them")


# Shorter axes


def shorter(draft: Draft) -> Iterator[Move]:
    """Yield drafts with fewer elements: of every axis of one size together, or of one axis alone."""
    found = leaves(draft)
    tensors = [leaf for leaf in found if leaf.tensor]
    for size in sorted({size for leaf in tensors for size in leaf.array.shape}, reverse=True):
        for length in _lengths(size):
            why = f"axes of size {size} cut to {length}"
            together = _cut(tensors, size, length)
            yield Move(draft.put(together), why)
            yield Move(draft.put(_cut(found, size, length)), why)
            numbers = {
                leaf.path: np.where(leaf.array == size, length, leaf.array).astype(leaf.array.dtype)
                for leaf in found
                if leaf.array.dtype.kind in "iu" and (leaf.array == size).any()
            }
            if numbers:
                apart = {path: array for path, array in together.items() if path not in numbers}
                yield Move(draft.put({**apart, **numbers}), f"{why}, with the numbers that name it")
    for leaf in found:
        if leaf.array.ndim == 1:
            for changed in _parts(draft, leaf):
                yield Move(changed, f"parts in {leaf.name} fewer or smaller")
    for leaf in found:
        for axis, size in enumerate(leaf.array.shape):
            for taken in _slices(size):
                yield Move(draft.put({leaf.path: leaf.array.take(taken, axis)}), f"{leaf.name} cut along axis {axis}")


def _lengths(size: int) -> list[int]:
    return sorted({length for length in (0, 1, 2, size // 2, size - 1) if 0 <= length < size})


def _slices(size: int) -> Iterator[Sequence[int]]:
    """Yield which indices of an axis to keep."""
    for length in _lengths(size):
        yield range(length)
        if length:
            yield range(size - length, size)
    if size <= FEW:
        for index in range(1, size - 1):
            yield [kept for kept in range(size) if kept != index]


def _cut(found: Iterable[Leaf], size: int, length: int) -> dict[Path, Array]:
    changes = {}
    for leaf in found:
        array = leaf.array
        for axis, dim in enumerate(leaf.array.shape):
            if dim == size:
                array = array.take(range(length), axis)
        if array.shape != leaf.array.shape:
            changes[leaf.path] = array
    return changes


def _parts(draft: Draft, leaf: Leaf) -> Iterator[Draft]:
    """Yield drafts with a part less, or a shorter one, where numbers sum to the size of an axis."""
    if leaf.array.dtype.kind not in "iu" or not leaf.array.size:
        return
    parts = leaf.array.tolist()
    whole = sum(parts)
    others = [other for other in leaves(draft) if other.tensor and other.path != leaf.path]
    options = [[*parts[:i], *parts[i + 1 :]] for i in range(len(parts))]
    options += [[*parts[:i], sum(pair), *parts[i + 2 :]] for i, pair in enumerate(pairwise(parts))]
    options += [[*parts[:i], 1, *parts[i + 1 :]] for i, part in enumerate(parts) if part > 1]
    options += [[*parts[:i], part - 1, *parts[i + 1 :]] for i, part in enumerate(parts) if part > 1]
    for option in options:
        changes = _cut(others, whole, sum(option)) if 0 <= sum(option) < whole else {}
        yield draft.put({**changes, leaf.path: np.array(option, leaf.array.dtype)})


# Lower rank


def lower(draft: Draft) -> Iterator[Move]:
    """Yield drafts with an axis less: in every input that has it, or in one."""
    found = leaves(draft)
    tensors = [leaf for leaf in found if leaf.tensor]
    rank = max((leaf.array.ndim for leaf in tensors), default=0)
    for axis in range(rank):
        for front in (True, False):
            place = axis if front else axis - rank
            deleted = {leaf.path: _deleted(leaf.array, place) for leaf in tensors if _has(leaf.array, place)}
            numbers = _renumbered(found, axis, rank)
            entries = _entries(found, axis, rank)
            for changes in (deleted, {**deleted, **numbers}, {**entries, **deleted}, {**entries, **deleted, **numbers}):
                yield Move(draft.put(changes), f"without axis {place} of every input")
    for size in sorted({size for leaf in tensors for size in leaf.array.shape}, reverse=True):
        deleted = {
            leaf.path: _deleted(leaf.array, leaf.array.shape.index(size))
            for leaf in tensors
            if size in leaf.array.shape
        }
        yield Move(draft.put(deleted), f"without the axis of size {size} of every input")
    for leaf in tensors:
        for axis in range(leaf.array.ndim):
            deleted = {leaf.path: _deleted(leaf.array, axis)}
            yield Move(draft.put(deleted), f"{leaf.name} without axis {axis}")
            numbers = _renumbered([other for other in found if other is not leaf], axis, leaf.array.ndim)
            if numbers:
                yield Move(draft.put({**numbers, **deleted}), f"{leaf.name} without axis {axis}, renumbered")


def _has(array: Array, place: int) -> bool:
    return -array.ndim <= place < array.ndim


def _deleted(array: Array, place: int) -> Array:
    """Return an array without an axis: its first slice."""
    if array.shape[place]:
        return np.asarray(array.take(0, place), array.dtype)
    axis = place % array.ndim
    return np.zeros((*array.shape[:axis], *array.shape[axis + 1 :]), array.dtype)


def _renumbered(found: Iterable[Leaf], axis: int, rank: int) -> dict[Path, Array]:
    """Return numbers that may name axes as they are without one of them."""
    changes = {}
    for leaf in found:
        array = leaf.array
        if array.dtype.kind not in "iu" or array.ndim > 1 or not array.size or (abs(array) > rank).any():
            continue
        named = [value for value in array.reshape(-1).tolist() if array.ndim == 0 or value % rank != axis]
        moved = [value - (value > axis) + (value < 0 and value + rank < axis) for value in named]
        if moved != array.reshape(-1).tolist():
            changes[leaf.path] = np.array(moved, array.dtype).reshape(() if array.ndim == 0 else -1)
    return changes


def _entries(found: Iterable[Leaf], axis: int, rank: int) -> dict[Path, Array]:
    """Return lists with an entry for each axis (or two, as pads have), counted from the back, without one of them."""
    changes = {}
    for leaf in found:
        count = leaf.array.size
        if leaf.array.ndim != 1 or not count:
            continue
        back = rank - 1 - axis
        twice = "pads" in leaf.name or (count > rank and not count % 2)
        each = count // 2 if twice else count
        if back < each:
            gone = [each - 1 - back, *([count - 1 - back] if twice else [])]
            changes[leaf.path] = np.delete(leaf.array, gone)
    return changes


# Simpler values


def simpler(draft: Draft) -> Iterator[Move]:
    """Yield drafts with simpler values: of a whole array, of parts of it, of each element."""
    for leaf in leaves(draft):
        for changed in _simpler(leaf.array):
            yield Move(draft.put({leaf.path: changed}), f"simpler values of {leaf.name}")


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
    if flat.size <= SINGLE:
        for index in range(flat.size):
            for value in _near(flat[index]):
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


def _near(value: Any) -> list[object]:  # noqa: ANN401 - any element
    """Return simpler values in place of one."""
    if isinstance(value, str):
        half, letters = len(value) // 2, range(min(len(value), SINGLE))
        return ["", "a", value[:half], value[half:], *(value[:i] + value[i + 1 :] for i in letters)]
    if isinstance(value, bool | np.bool_):
        return [False]
    if isinstance(value, complex | np.complexfloating):
        return [0, 1]
    if not isinstance(value, int | np.integer):
        number = float(value)
        if not np.isfinite(number):
            return [0, 1]
        if number != int(number):
            return [0, 1, int(number), 0.5]
        value = int(number)
    whole = int(value)
    return [0, 1, -1, 2, abs(whole), int(whole / 2), whole - (whole > 0) + (whole < 0)]


# Plainer forms and types


def plainer(draft: Draft) -> Iterator[Move]:
    """Yield drafts in a more familiar form, and of more familiar types."""
    if draft.form != PLAIN:
        for form in FORMS[: unfamiliar(draft.form)]:
            yield Move(dataclasses.replace(draft, form=form), f"in the form {form}")
    for variable, type_ in draft.types.items():
        allowed = [*draft.version.allowed(variable), *(schema.ALL_TENSOR_TYPES if draft.spec.outside else ())]
        for other in sorted(set(allowed), key=lambda item: (plainness(item), item)):
            if plainness(other) < plainness(type_):
                bound = dataclasses.replace(draft, types={**draft.types, variable: other})
                yield Move(bound, f"{variable} is {other}")
                yield Move(bound.put(_counted(draft)), f"{variable} is {other}")
    yield from _retyped(draft)


def _retyped(draft: Draft) -> Iterator[Move]:
    """Yield drafts with more familiar types of the arguments that have one of their own: all of a type, or one."""
    apart = typed(draft)
    together = [[place for place, argument in apart if argument.type == type_] for type_ in {a.type for _, a in apart}]
    for places in [*sorted(together), *([place] for place, _ in apart)]:
        before = getattr(draft.spec, places[0][0])[places[0][1]].type
        for other in PLAIN_TYPES[: plainness(before)]:
            changed = draft
            for kind, name in places:
                held = getattr(changed.spec, kind)
                argument = dataclasses.replace(held[name], type=other)
                changed = changed.with_spec(**{kind: {**held, name: argument}})
            yield Move(changed, f"{', '.join(name for _, name in places)} of {other}")


def _counted(draft: Draft) -> Mapping[Path, Array]:
    """Return every input as 0, 1, 2 and so on, which any type can hold."""
    return {leaf.path: np.arange(leaf.array.size).reshape(leaf.array.shape) for leaf in leaves(draft) if leaf.tensor}
