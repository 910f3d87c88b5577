"""Sampling: the values of an image between its pixels, and beyond its border.

A place is a number for each spatial axis: 0 is the centre of pixel 0, size - 1 that of the last one.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.declare.data import Array

ALPHA = -0.75
"""The coefficient of the cubic convolution that PyTorch takes."""


def points(*shape: int) -> Array:
    """Return odd eighths from -7/8 to 7/8: exact in every type, and never halfway between two of 2 to 5 pixels."""
    index = np.arange(math.prod(shape))
    return np.asarray((index * 5 + index // 8) % 8 * 2 - 7).reshape(shape) / 8


def reflected(place: Array, size: int, *, at_centers: bool) -> Array:
    """Return places mirrored at the border over and over until they are in bounds.

    Args:
        place: along one axis.
        size: of that axis.
        at_centers: the border is the centre of the outer pixels, not their outer edge.
    """
    low, span = (0, size - 1) if at_centers else (-0.5, size)
    if span == 0:
        return np.zeros_like(place)
    far = (place - low) % (2 * span)
    return np.asarray(low + np.where(far > span, 2 * span - far, far))


def located(grid: Array, sizes: Sequence[int], *, at_centers: bool) -> list[Array]:
    """Return for each axis, outermost first, the places that a grid of -1 to 1 names, innermost first.

    Args:
        grid: (..., axes).
        sizes: of the axes.
        at_centers: -1 and 1 are the centres of the outer pixels, not their outer edges.
    """
    named = [(grid[..., -1 - axis], size) for axis, size in enumerate(sizes)]
    return [(place + 1) / 2 * (size - 1) if at_centers else ((place + 1) * size - 1) / 2 for place, size in named]


def brought_in(
    places: Sequence[Array], outside: Array, sizes: Sequence[int], padding: str, *, at_centers: bool
) -> list[Array]:
    """Return places with those that are `outside`, (..., axes) innermost first, reflected or moved to the border."""
    found = []
    for axis, (place, size) in enumerate(zip(places, sizes, strict=True)):
        kept = reflected(place, size, at_centers=at_centers) if padding == "reflection" else place.clip(0, size - 1)
        found.append(np.where(outside[..., -1 - axis], kept, place))
    return found


def neighbours(place: Array, mode: str) -> list[tuple[Array, Array]]:
    """Return the pixels that count at a place along one axis, and their weights.

    Args:
        place: along one axis.
        mode: nearest (of two the even one), linear or cubic.
    """
    if mode == "nearest":
        return [(np.rint(place), np.ones_like(place))]
    first = np.floor(place)
    t = place - first
    if mode == "linear":
        return [(first, 1 - t), (first + 1, t)]
    near = [((ALPHA + 2) * s - (ALPHA + 3)) * s * s + 1 for s in (t, 1 - t)]
    away = [((ALPHA * s - 5 * ALPHA) * s + 8 * ALPHA) * s - 4 * ALPHA for s in (1 + t, 2 - t)]
    return list(zip((first - 1, first, first + 1, first + 2), (away[0], *near, away[1]), strict=True))


@dataclass(frozen=True)
class Term:
    """One neighbour of every place.

    Attributes:
        values: (N, C, *places); some pixel's where there is none.
        weights: (N, 1, *places).
        inside: whether there is such a pixel, (N, 1, *places).
    """

    values: Array
    weights: Array
    inside: Array


def terms(data: Array, places: Sequence[Array], mode: str, padding: str, *, at_centers: bool) -> list[Term]:
    """Return all neighbours of places in an image.

    Args:
        data: (N, C, *sizes).
        places: for each axis, (N, ...).
        mode: see neighbours.
        padding: what stands for pixels out of bounds: zeros, border or reflection.
        at_centers: see reflected.
    """
    pixels = np.moveaxis(data, 1, -1)
    batch = np.arange(len(data)).reshape(-1, *[1] * (places[0].ndim - 1))
    found = []
    for chosen in itertools.product(*(neighbours(place, mode) for place in places)):
        weights, inside, at = np.ones(places[0].shape), np.ones(places[0].shape, bool), []
        for (index, share), size in zip(chosen, data.shape[2:], strict=True):
            kept = reflected(index, size, at_centers=at_centers) if padding == "reflection" else index
            inside = inside & ((padding != "zeros") | ((index >= 0) & (index < size)))
            at.append(kept.clip(0, size - 1).astype(np.int64))
            weights = weights * share
        values = np.moveaxis(pixels[(batch, *at)], -1, 1)
        found.append(Term(values, weights[:, None], inside[:, None]))
    return found
