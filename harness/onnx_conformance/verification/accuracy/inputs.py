# SPDX-License-Identifier: Apache-2.0
"""The inputs on which an elementwise function is measured.

Types of 16 bits have all their numbers. Wider types have numbers of every exponent and both signs, with more numbers
where most functions bend, and runs of neighbouring numbers. Then a search looks around the worst numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.case.elements import ordered
from onnx_conformance.verification.accuracy.truth import Format

Array = np.ndarray[Any, Any]

NARROW = 2
"""Bytes of the types that have all their numbers."""
BEND = range(-14, 8)
"""Exponents around which most functions bend."""
DENSER = 8
"""How many times as many numbers these exponents have."""
RUN = 16
"""The length of a run of neighbouring numbers."""
FEWER = 256
"""Types with more exponents than this have so many times fewer numbers for each, because their truth takes longer."""
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan)
SEEDS, CANDIDATES = 12, 64
"""The number of worst inputs that a round of the search looks around, and how many inputs it tries for each."""
ROUNDS = 5
NARROWER = 16
"""By which factor each round looks nearer around them."""


def sweep(dtype: np.dtype[Any], points: int, draw: np.random.Generator) -> Array:
    """Return the inputs of the first measurement, without repeated ones.

    Args:
        dtype: the type.
        points: the numbers for each exponent and sign, for types of more than 16 bits.
        draw: chooses the numbers.
    """
    special = np.array(SPECIAL).astype(dtype)
    if dtype.itemsize <= NARROW:
        with np.errstate(invalid="ignore"):  # Signalling NaN.
            every = np.arange(2**16, dtype=np.uint16).view(dtype)
            wide = every.astype(np.float64)
        return np.concatenate([every[np.isfinite(wide) & (wide != 0)], special])
    form = Format.of(dtype)
    points = max(2, points // (form.greatest // FEWER)) if form.greatest > FEWER else points
    codes = [_numbers(exponent, form, points, draw) for exponent in range(form.greatest - form.least + 1)]
    codes.append(_subnormal(form, points, draw))
    magnitudes = np.unique(np.concatenate(codes)).astype(f"u{dtype.itemsize}").view(dtype)
    return np.concatenate([magnitudes, -magnitudes, special])


def _numbers(exponent: int, form: Format, points: int, draw: np.random.Generator) -> Array:
    """Return the codes of numbers of one exponent; 0 is the exponent of the smallest normal numbers."""
    bends = exponent + form.least in BEND
    count, size = points * (DENSER if bends else 1), 1 << form.fraction
    fractions = (np.arange(count) + draw.random(count)) * (size / count)
    starts = draw.integers(size - RUN, size=max(1, points // RUN)) if bends else np.empty(0, np.int64)
    runs = (starts[:, None] + np.arange(RUN)).ravel()
    places = np.concatenate([fractions.astype(np.int64), runs, [0, size - 1]])
    return places + (np.int64(exponent + 1) << form.fraction)


def _subnormal(form: Format, points: int, draw: np.random.Generator) -> Array:
    exponents = draw.random(4 * points) * form.fraction
    return np.concatenate([[1, 2, 3, (1 << form.fraction) - 1], np.floor(2.0**exponents).astype(np.int64)])


def around(values: Array, errors: Array, number: int, draw: np.random.Generator) -> Array:
    """Return inputs near those with the largest errors, of different signs and exponents.

    Args:
        values: inputs, finite numbers.
        errors: their errors.
        number: of the round, from 0; later rounds look nearer.
        draw: chooses the inputs. The last round tries the neighbouring numbers instead.
    """
    form = Format.of(values.dtype)
    order = np.argsort(-errors, kind="stable")
    codes = ordered(values)
    _, first = np.unique(codes[order] >> form.fraction, return_index=True)  # One input of each sign and exponent.
    seeds = codes[order[np.sort(first)[:SEEDS]]]
    if number == ROUNDS - 1:
        offsets = np.broadcast_to(np.arange(-(CANDIDATES // 2), CANDIDATES // 2), (len(seeds), CANDIDATES))
    else:
        width = max(CANDIDATES, (1 << form.fraction) // NARROWER**number)
        offsets = draw.integers(-width, width, size=(len(seeds), CANDIDATES))
    most = ordered(np.array([np.finfo(values.dtype).max], values.dtype))[0]
    return decoded(np.clip(seeds[:, None] + offsets, -most, most).ravel(), values.dtype)


def decoded(codes: Array, dtype: np.dtype[Any]) -> Array:
    """Return the numbers of signed codes, as `case.elements.ordered` returns them."""
    numbers = np.abs(codes).astype(f"u{dtype.itemsize}").view(dtype)
    return np.where(codes < 0, -numbers, numbers)
