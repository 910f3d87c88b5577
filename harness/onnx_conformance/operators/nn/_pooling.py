# SPDX-License-Identifier: Apache-2.0
"""Pools: the sentences that the texts of MaxPool, AveragePool and LpPool share, except those on windows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare.data import ramp
from onnx_conformance.declare.op import Op, Tag
from onnx_conformance.operators.nn._windows import SAME, Layout, Sentences, Windows, forbidden, lay, layouts, left_open

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_conformance.declare import Array
    from onnx_conformance.declare.clause import Clause, Version

    Ints = Array | list[int] | tuple[int, ...] | None


def shuffled(*shape: int) -> Array:
    """Return whole numbers from 0 to 126 in no order. If there are fewer than 128, all are different."""
    return (np.arange(math.prod(shape)) * 37 % 127).reshape(shape)


@dataclass(frozen=True)
class Pools:
    """The sentences on pools.

    Attributes:
        windows: the sentences on windows.
        form: the sentence on the dimensions of the input.
        kernel: the sentence on kernel_shape.
        amount: the sentence on the number of pixels that SAME adds.
        ceil_mode: the sentence on rounding sizes up.
        sizes, sizes_ceil, sizes_same, sizes_valid: the formulas and the sentences around them, in the wordings of all
            versions: rounded down, rounded up, with SAME, with VALID.
    """

    windows: Sentences
    form: Clause
    kernel: Clause
    amount: Clause
    ceil_mode: Clause
    sizes: tuple[Clause, ...]
    sizes_ceil: tuple[Clause, ...]
    sizes_same: tuple[Clause, ...]
    sizes_valid: tuple[Clause, ...]


def place(
    v: Version,
    clauses: Pools,
    sizes: tuple[int, ...],
    *,
    kernel_shape: Ints,
    strides: Ints,
    dilations: Ints,
    pads: Ints,
    auto_pad: str,
    ceil_mode: int | None,
) -> Windows:
    """Return the windows of a pool over an input of `sizes`, (N, C, D1, ..., Dn)."""
    v.require(clauses.form, len(sizes) > 1)
    v.silent(clauses.form, len(sizes) == 2)  # noqa: PLR2004 - N and C, and no D1
    v.require(clauses.kernel, len(kernel_shape or ()) == len(sizes) - 2)
    kernel = [int(size) for size in kernel_shape or ()]
    v.silent(clauses.kernel, min(kernel) < 1)
    v.silent(clauses.ceil_mode, ceil_mode not in {0, 1, None})
    windows = lay(v, clauses.windows, sizes[2:], kernel, strides, dilations, pads, auto_pad)
    rests = windows.rests()
    v.silent(clauses.amount, auto_pad in SAME and max(rests) > 0)
    if ceil_mode == 1 and auto_pad == "NOTSET":
        windows = replace(windows, counts=tuple(n + (rest > 0) for n, rest in zip(windows.counts, rests, strict=True)))
    v.silent(clauses.windows.dimensions, min(windows.counts) < 0)
    return windows


def beginning_before_the_end(v: Version, ignored: Clause, windows: Windows, ceil_mode: int | None) -> Windows:
    """Return the windows that start before the padding at the end, in versions with the sentence `ignored`."""
    if not ignored.in_force(v.since):
        return windows
    starts = -(-np.add(windows.sizes, windows.begin) // windows.strides)
    counts = np.minimum(windows.counts, starts)
    v.silent(ignored, bool((counts < windows.counts).any()) and not ceil_mode)
    return replace(windows, counts=tuple(counts.tolist()))


ROUNDED_UP = (
    Layout("exact", (5, 7), (2, 3), {"strides": [3, 2]}),
    Layout("remainder", (6, 9), (3, 2), {"strides": [2, 4]}),
    Layout("one_axis", (5, 6), (2, 3), {"strides": [2, 3]}),
    Layout("pads", (4, 6), (3, 3), {"strides": [3, 3], "pads": [1, 1, 0, 1]}),
    Layout("dilations", (7,), (3,), {"strides": [3], "dilations": [2]}),
    Layout("space", (3, 4, 5), (2, 2, 2), {"strides": [2, 3, 2]}),
    Layout("valid", (6, 9), (3, 2), {"strides": [3, 6], "auto_pad": "VALID"}),
    Layout("same_upper", (4, 6), (3, 5), {"strides": [2, 3], "auto_pad": "SAME_UPPER"}),
    Layout("same_lower", (4, 6), (3, 5), {"strides": [2, 3], "auto_pad": "SAME_LOWER"}),
)
"""Windows for which ceil_mode could matter. With auto_pad, the formulas lead to the same result."""

OF_ONE_AXIS = {
    "pads_top",
    "pads_left",
    "pads_bottom",
    "pads_right",
    "pads_zero",
    "strides_height",
    "strides_width",
    "dilations_height",
    "dilations_width",
    "dilations_of_one",
}
"""Layouts with an attribute for one side or axis.

Pools skip them, because layouts with several sides or axes cover them and pools have many versions.
"""


def pool_cases(op: Op, clauses: Pools, data: Callable[..., Array], *, but: tuple[str, ...] = ()) -> None:
    """Declare the cases for the sentences that pools share.

    Args:
        op: the operator.
        clauses: its sentences.
        data: returns an input of the given shape.
        but: the names of layouts that the operator declares itself.
    """
    case, windows = op.case, clauses.windows
    case("batch", X=data(2, 3, 4, 5), kernel_shape=[3, 2], cites=(clauses.form, clauses.kernel))
    for layout in layouts(windows.renewed):
        even = layout.name.startswith(("same_upper_even", "same_lower_even"))  # The odd ones test the same.
        if layout.name not in OF_ONE_AXIS.union(but) and not even:
            case(
                layout.name,
                X=data(1, 2, *layout.sizes),
                kernel_shape=layout.kernel,
                **layout.attributes,
                cites=windows.named(*layout.cites) or clauses.kernel,
            )
    _sizes(op, clauses, data)
    for layout in ROUNDED_UP:
        case(
            f"ceil_{layout.name}",
            X=data(1, 2, *layout.sizes),
            kernel_shape=layout.kernel,
            **layout.attributes,
            ceil_mode=1,
            cites=clauses.ceil_mode,
        )
    wide: dict[str, Any] = {"X": data(1, 2, 6, 9), "kernel_shape": [3, 2], "strides": [2, 4]}
    case("ceil_off", **wide, ceil_mode=0, cites=clauses.ceil_mode)
    case("ceil_two", **wide, ceil_mode=2, unspecified=clauses.ceil_mode)
    for mode in SAME:
        case(
            f"{mode.lower()}_steps_over",
            X=data(1, 2, 4, 3),
            kernel_shape=[1, 2],
            strides=[2, 1],
            auto_pad=mode,
            unspecified=clauses.amount,
        )
    _edges(op, clauses, data)
    for name, attributes, sentence in forbidden():
        case(name, X=data(1, 2, 4, 5), kernel_shape=[2, 3], **attributes, rejects=getattr(windows, sentence))
    for name, attributes, sentence in left_open():
        case(name, X=data(1, 2, 4, 5), kernel_shape=[2, 3], **attributes, unspecified=getattr(windows, sentence))


def _sizes(op: Op, clauses: Pools, data: Callable[..., Array]) -> None:
    """Declare a case for each wording of a formula, in the versions that have it."""
    formulas = (
        ("sizes", clauses.sizes, (6, 9), (3, 2), {"strides": [2, 4], "pads": [1, 0, 0, 0]}),
        ("sizes_ceil", clauses.sizes_ceil, (6, 9), (3, 2), {"strides": [2, 4], "ceil_mode": 1}),
        ("sizes_same", clauses.sizes_same, (4, 6), (3, 5), {"strides": [2, 3], "auto_pad": "SAME_UPPER"}),
        ("sizes_valid", clauses.sizes_valid, (5, 7), (2, 3), {"strides": [2, 5], "auto_pad": "VALID"}),
    )
    for name, clauses_of_formula, sizes, kernel, attributes in formulas:
        sentences = [wording for clause in clauses_of_formula for wording in clause.wordings or (clause,)]
        for since, before in dict.fromkeys((clause.since, clause.before) for clause in sentences):
            words = [name, *([f"since_{since}"] if since else ()), *([f"before_{before}"] if before else ())]
            op.case(
                "_".join(words),
                X=data(1, 2, *sizes),
                kernel_shape=kernel,
                **attributes,
                cites=tuple(clause for clause in sentences if (clause.since, clause.before) == (since, before)),
            )


def _edges(op: Op, clauses: Pools, data: Callable[..., Array]) -> None:
    case, dimensions = op.case, clauses.windows.dimensions
    case("no_batch", Tag.EDGE, X=ramp(0, 2, 4), kernel_shape=[3], cites=clauses.form)
    case("no_pixels", Tag.EDGE, X=ramp(1, 2, 0), kernel_shape=[1], cites=dimensions)
    case("kernel_beyond_input", Tag.EDGE, X=data(1, 2, 3), kernel_shape=[4], cites=dimensions)
    case("kernel_far_beyond_input", Tag.EDGE, X=data(1, 2, 3), kernel_shape=[5], unspecified=dimensions)
    case("kernel_far_beyond_height", Tag.EDGE, X=data(1, 2, 3, 5), kernel_shape=[5, 2], unspecified=dimensions)
    case("kernel_of_no_pixels", Tag.EDGE, X=data(1, 2, 3), kernel_shape=[0], unspecified=clauses.kernel)
    case("kernel_of_no_columns", Tag.EDGE, X=data(1, 2, 3, 5), kernel_shape=[2, 0], unspecified=clauses.kernel)
    case("no_spatial_axes", Tag.EDGE, X=data(2, 3), kernel_shape=[], unspecified=clauses.form)
    case("rank0", Tag.EDGE, X=data(), kernel_shape=[1], rejects=clauses.form)
    case("rank1", Tag.EDGE, X=data(3), kernel_shape=[1], rejects=clauses.form)
    case("kernel_too_short", X=data(1, 2, 4, 5), kernel_shape=[2], rejects=clauses.kernel)
    case("kernel_too_long", X=data(1, 2, 4, 5), kernel_shape=[1, 2, 3], rejects=clauses.kernel)
