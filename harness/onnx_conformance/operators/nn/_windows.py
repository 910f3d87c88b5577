# SPDX-License-Identifier: Apache-2.0
"""Windows that slide over the spatial axes of a tensor: the sentences that convolutions and pools share.

They define padding, strides and dilations in the same way, mostly in the same words. If a version of an operator
differs, the file of that operator contains the sentence.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare.clause import Clause

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onnx_conformance.declare import Array
    from onnx_conformance.declare.clause import Version
    from onnx_conformance.declare.op import Op

    Ints = Array | list[int] | tuple[int, ...] | None

SAME = ("SAME_UPPER", "SAME_LOWER")


@dataclass(frozen=True)
class Sentences:
    """The sentences on windows, one field for each sentence.

    auto_pad has two wordings, before and since `renewed`. If an operator has the newer wording in all versions, that
    sentence is also used in the field of the older one.

    Attributes:
        renewed: the version that reworded auto_pad.
        dimensions: the sentence closest to a definition of the number of windows.
        rounded: the sentence on pixels that are left over at the end.
        strided: the sentence that allows SAME with strides other than 1.
    """

    renewed: int
    dimensions: Clause
    rounded: Clause
    strided: Clause
    either: Clause
    explicit: Clause
    match_before: Clause
    odd_before: Clause
    valid_before: Clause
    same: Clause
    split: Clause
    odd: Clause
    at_least_zero: Clause
    pixels: Clause
    format: Clause
    alone: Clause
    no_pads: Clause
    stride: Clause
    stride_default: Clause
    dilation: Clause

    def named(self, *names: str) -> tuple[Clause, ...]:
        """Return the sentences with these names."""
        return tuple(getattr(self, name) for name in names)


def sentences(
    op: Op,
    *,
    dimensions: Clause,
    rounded: Clause,
    dilation: Clause,
    same: Clause,
    stride_default: Clause,
    no_pads: Clause | int | None = None,
    strided: Clause | None = None,
    pads_format: Clause | None = None,
) -> Sentences:
    """Declare the sentences that all operators with windows share verbatim, and add those of one operator.

    Args:
        op: the operator.
        dimensions: its sentence closest to a definition of the number of windows.
        rounded: its sentence on pixels that are left over at the end.
        dilation: its sentence on dilations.
        same: its sentence on the shape of the output with SAME, in the newer wording.
        stride_default: its sentence on omitted strides.
        no_pads: its sentence on omitted pads if the wording differs, or the first version that has the common sentence.
            None means that all versions have it.
        strided: the sentence that allows SAME with strides. None means `same`.
        pads_format: its sentence on the order of pads, if it differs.
    """
    renewed = same.since or op.versions[0]
    odd = op.clause(
        "In case the padding is an odd number, the extra padding is added at the end for SAME_UPPER and at the "
        "beginning for SAME_LOWER.",
        since=same.since,
    )
    reworded = same.since is not None
    return Sentences(
        renewed=renewed,
        dimensions=dimensions,
        rounded=rounded,
        dilation=dilation,
        strided=strided or same,
        same=same,
        stride_default=stride_default,
        either=op.clause("auto_pad must be either NOTSET, SAME_UPPER, SAME_LOWER or VALID."),
        explicit=op.clause("Where default value is NOTSET, which means explicit padding is used."),
        match_before=op.clause(
            "size match the input.",
            before=renewed,
            note="This is meant for strides of 1. With other strides the output does not have that size.",
        )
        if reworded
        else same,
        odd_before=op.clause(
            "In case of odd number add the extra padding at the end for SAME_UPPER and at the beginning for "
            "SAME_LOWER.",
            before=renewed,
        )
        if reworded
        else odd,
        valid_before=op.clause("VALID mean no padding.", before=renewed) if reworded else same,
        split=op.clause(
            "The padding is split between the two sides equally or almost equally (depending on whether it is even or "
            "odd).",
            since=same.since,
        ),
        odd=odd,
        at_least_zero=op.clause("it can take any value greater than or equal to 0."),
        pixels=op.clause(
            "The value represent the number of pixels added to the beginning and end part of the corresponding axis.",
            note="The text does not define the value of the padding. Padding contributes nothing to the result of a "
            "window.",
        ),
        format=pads_format
        or op.clause(
            "`pads` format should be as follow [x1_begin, x2_begin...x1_end, x2_end,...], where xi_begin the number of "
            "pixels added at the beginning of axis `i` and xi_end, the number of pixels added at the end of axis `i`."
        ),
        alone=op.clause(
            "This attribute cannot be used simultaneously with auto_pad attribute.",
            note="NOTSET means that pads is used, so the two are allowed together. With other values onnx.reference "
            "ignores pads; onnxruntime does so for pools.",
        ),
        no_pads=no_pads
        if isinstance(no_pads, Clause)
        else op.clause(
            "If not present, the padding defaults to 0 along start and end of each spatial axis.",
            since=no_pads,
            note="VALID, which newer versions name without explaining it, therefore adds no padding.",
        ),
        stride=op.clause(
            "Stride along each",
            note="The text does not define a stride below 1. Version 11 adds that omitted strides are 1.",
            see=("https://github.com/onnx/onnx/issues/5281",),
        ),
    )


@dataclass(frozen=True)
class Windows:
    """Windows over all spatial axes. Every field has one element for each axis.

    Attributes:
        sizes: sizes of the input.
        kernel: number of pixels of a window.
        strides: steps from one window to the next.
        dilations: steps from one pixel of a window to the next.
        begin, end: padding.
        counts: number of windows.
    """

    sizes: tuple[int, ...]
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    begin: tuple[int, ...]
    end: tuple[int, ...]
    counts: tuple[int, ...]

    @functools.cached_property
    def _places(self) -> list[Array]:
        """For each axis, the positions in the input of the pixels of its windows."""
        rank, axes = len(self.sizes), []
        for axis in range(rank):
            starts = np.arange(self.counts[axis]) * self.strides[axis] - self.begin[axis]
            pixels = starts[:, None] + np.arange(self.kernel[axis]) * self.dilations[axis]
            shape = [1] * (2 * rank)
            shape[axis], shape[rank + axis] = pixels.shape
            axes.append(pixels.reshape(shape))
        return axes

    def inside(self) -> Array:
        """Return which pixels of each window, (*counts, *kernel), are in the input."""
        return self._between(np.zeros(len(self.sizes), int), np.asarray(self.sizes))

    def inside_padded(self) -> Array:
        """Return which pixels of each window, (*counts, *kernel), are in the input or its padding."""
        return self._between(-np.asarray(self.begin), np.add(self.sizes, self.end))

    def _between(self, low: Array, high: Array) -> Array:
        between = np.ones(self.counts + self.kernel, bool)
        for axis, places in enumerate(self._places):
            between = between & (places >= low[axis]) & (places < high[axis])
        return between

    def rests(self) -> list[int]:
        """Return for each axis the number of pixels, padding included, after the last window.

        The number is negative if the last window ends after the padding.
        """
        last = np.subtract(self.counts, 1) * self.strides + np.subtract(self.kernel, 1) * self.dilations
        return list(self.begin + np.add(self.sizes, self.end) - last - 1)

    def pixels(self, data: Array, outside: float = 0) -> Array:
        """Return the pixels of `data`, (N, C, *sizes), in each window, (N, C, *counts, *kernel).

        The result is a view of the padded data, because windows share most of their pixels.
        """
        if 0 in self.counts + self.kernel:
            return np.full(data.shape[:2] + self.counts + self.kernel, outside, data.dtype)
        padded = np.full((*data.shape[:2], *self._lengths), outside, data.dtype)
        of_padded, of_data = self._common
        padded[of_padded] = data[of_data]
        return self._pixels_of(padded)

    @property
    def _extents(self) -> list[int]:
        """For each axis, the number of pixels from the first to the last pixel of a window."""
        return [(size - 1) * step + 1 for size, step in zip(self.kernel, self.dilations, strict=True)]

    @property
    def _lengths(self) -> list[int]:
        """For each axis, the number of pixels from the first to the last pixel of all windows."""
        axes = zip(self.counts, self.strides, self._extents, strict=True)
        return [(count - 1) * stride + extent for count, stride, extent in axes]

    @property
    def _common(self) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
        """The pixels of the input in the range of the windows, as slices of that range and of the input."""
        of_padded, of_data = [slice(None), slice(None)], [slice(None), slice(None)]
        for begin, length, size in zip(self.begin, self._lengths, self.sizes, strict=True):
            first, last = max(0, begin), max(0, begin, min(length, begin + size))
            of_padded.append(slice(first, last))
            of_data.append(slice(first - begin, last - begin))
        return tuple(of_padded), tuple(of_data)

    def _pixels_of(self, padded: Array) -> Array:
        """Return the pixels of each window, (N, C, *counts, *kernel), as a view of all pixels in their range."""
        axes = tuple(range(2, padded.ndim))
        windows = np.lib.stride_tricks.sliding_window_view(padded, self._extents, axes, writeable=True)
        steps = [*(slice(None, None, step) for step in (*self.strides, *self.dilations))]
        return windows[(slice(None), slice(None), *steps)]

    def combined(self, operation: np.ufunc, pixels: Array) -> Array:
        """Return one value for each window, (N, C, *counts), from its pixels: their sum, or the greatest, or the like.

        If there are more windows than pixels in a window, the operation goes from pixel to pixel, for all windows at
        once. Numpy goes from window to window, which takes ten times as long for small windows.

        Args:
            operation: a function of two numbers, such as np.add.
            pixels: (N, C, *counts, *kernel); see `pixels`.
        """
        if math.prod(self.kernel) > math.prod(self.counts):
            return np.asarray(operation.reduce(pixels, tuple(range(-len(self.kernel), 0))))
        first, *others = (pixels[..., *place] for place in np.ndindex(self.kernel))
        values = first.copy()
        for other in others:
            operation(values, other, out=values)
        return values

    def overlapped(self, values: Array) -> Array:
        """Return the sums (N, C, *sizes) of the values that windows, (N, C, *counts, *kernel), add to their pixels."""
        sums = np.zeros(values.shape[:2] + self.sizes, values.dtype)
        if 0 not in self.counts + self.kernel:
            padded = np.zeros((*values.shape[:2], *self._lengths), values.dtype)
            pixels = self._pixels_of(padded)
            for place in np.ndindex(self.kernel):  # Pixels at the same place of different windows are different.
                pixels[..., *place] += values[..., *place]
            of_padded, of_sums = self._common
            sums[of_sums] = padded[of_padded]
        return sums

    def moved(self, begin: tuple[int, ...]) -> Windows:
        """Return the same windows with different padding at the beginning."""
        return dataclasses.replace(self, begin=begin)


def spread(v: Version, clause: Clause, values: Ints, rank: int) -> tuple[int, ...]:
    """Return one stride or dilation for each axis; the default is 1."""
    if values is None:
        return (1,) * rank
    v.require(clause, len(values) == rank)
    v.silent(clause, any(item < 1 for item in values))
    return tuple(int(item) for item in values)


def padding(v: Version, clauses: Sentences, rank: int, pads: Ints, auto_pad: str) -> tuple[int, ...]:
    """Return the explicit padding, all beginnings before all ends. It is 0 if auto_pad is used."""
    v.require(clauses.either, auto_pad in {"NOTSET", "VALID", *SAME})
    if pads is None:
        return (0,) * (2 * rank)
    v.require(clauses.alone, auto_pad == "NOTSET")
    v.require(clauses.format, len(pads) == 2 * rank)
    v.require(clauses.at_least_zero, all(pad >= 0 for pad in pads))
    return tuple(int(pad) for pad in pads)


def halves(total: Sequence[int], *, more_at_end: bool) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Split padding between the two sides of each axis. If it is odd, the extra pixel goes to one of them."""
    less, more = tuple(item // 2 for item in total), tuple(item - item // 2 for item in total)
    return (less, more) if more_at_end else (more, less)


def lay(
    v: Version,
    clauses: Sentences,
    sizes: Sequence[int],
    kernel: Sequence[int],
    strides: Ints,
    dilations: Ints,
    pads: Ints,
    auto_pad: str,
) -> Windows:
    """Return the windows over axes of `sizes`, without a last window that does not fit.

    SAME adds the least padding that leads to the required output size. Padding is never negative.
    """
    rank = len(sizes)
    strides, dilations = spread(v, clauses.stride, strides, rank), spread(v, clauses.dilation, dilations, rank)
    explicit = padding(v, clauses, rank, pads, auto_pad)
    begin, end = explicit[:rank], explicit[rank:]
    extent = [(size - 1) * step + 1 for size, step in zip(kernel, dilations, strict=True)]
    if auto_pad in SAME:
        counts = tuple(-(-size // stride) for size, stride in zip(sizes, strides, strict=True))
        lengths = zip(counts, strides, extent, sizes, strict=True)
        total = [(count - 1) * stride + length - size for count, stride, length, size in lengths]
        begin, end = halves([max(0, item) for item in total], more_at_end=auto_pad == "SAME_UPPER")
    else:
        room = np.add(sizes, begin) + end - extent
        counts = tuple((room // strides + 1).tolist())
    return Windows(tuple(sizes), tuple(kernel), strides, dilations, begin, end, counts)


@dataclass(frozen=True)
class Layout:
    """Windows to test: the spatial sizes of the input, kernel, attributes, and the cited sentences by field name."""

    name: str
    sizes: tuple[int, ...]
    kernel: tuple[int, ...]
    attributes: dict[str, Any]
    cites: tuple[str, ...] = ()


def layouts(renewed: int) -> Iterator[Layout]:
    """Yield windows that fit: ranks 1 to 4, every attribute alone and with others. All axes are different.

    Args:
        renewed: the version that reworded auto_pad.
    """
    yield Layout("line", (7,), (3,), {})
    yield Layout("plane", (4, 5), (2, 3), {}, ("no_pads", "explicit"))
    yield Layout("space", (2, 3, 4), (1, 2, 3), {})
    yield Layout("hyperspace", (1, 2, 3, 4), (1, 2, 1, 3), {})
    yield Layout("defaults", (4, 5), (2, 3), {}, ("stride_default",))
    yield Layout("kernel_one", (4, 5), (1, 1), {})
    yield Layout("kernel_whole", (2, 3), (2, 3), {})
    yield Layout("size_one", (1,), (1,), {})
    yield Layout("strides_height", (5, 7), (2, 3), {"strides": [3, 1]}, ("stride",))
    yield Layout("strides_width", (5, 7), (2, 3), {"strides": [1, 2]}, ("stride",))
    yield Layout("strides_both", (5, 7), (2, 3), {"strides": [3, 2]}, ("stride",))
    yield Layout("strides_beyond_kernel", (7, 9), (2, 1), {"strides": [5, 4]}, ("stride",))
    yield Layout("strides_beyond_input", (3, 4), (2, 3), {"strides": [4, 7]}, ("rounded",))
    yield Layout("strides_remainder", (6, 8), (3, 2), {"strides": [2, 4]}, ("rounded",))
    yield Layout("strides_remainder_pads", (3, 7), (2, 3), {"strides": [4, 3], "pads": [1, 0, 1, 1]}, ("rounded",))
    yield Layout("pads_top", (3, 4), (2, 3), {"pads": [1, 0, 0, 0]}, ("pixels", "format"))
    yield Layout("pads_left", (3, 4), (2, 3), {"pads": [0, 1, 0, 0]}, ("pixels", "format"))
    yield Layout("pads_bottom", (3, 4), (2, 3), {"pads": [0, 0, 1, 0]}, ("pixels", "format"))
    yield Layout("pads_right", (3, 4), (2, 3), {"pads": [0, 0, 0, 1]}, ("pixels", "format"))
    yield Layout("pads_all", (3, 4), (2, 3), {"pads": [1, 2, 0, 1]}, ("pixels", "format", "explicit"))
    yield Layout("pads_zero", (3, 4), (2, 3), {"pads": [0, 0, 0, 0]}, ("at_least_zero",))
    yield Layout("pads_line", (4,), (3,), {"pads": [2, 1]}, ("format",))
    yield Layout("pads_space", (2, 3, 4), (2, 3, 2), {"pads": [1, 0, 1, 0, 2, 1]}, ("format",))
    yield Layout("pads_make_room", (1, 2), (2, 3), {"pads": [0, 1, 1, 0]}, ("pixels",))
    yield Layout("pads_notset", (3, 4), (2, 3), {"pads": [1, 0, 0, 2], "auto_pad": "NOTSET"}, ("explicit", "alone"))
    yield Layout("dilations_height", (5, 7), (2, 3), {"dilations": [3, 1]}, ("dilation",))
    yield Layout("dilations_width", (5, 7), (2, 3), {"dilations": [1, 2]}, ("dilation",))
    yield Layout("dilations_both", (5, 7), (2, 3), {"dilations": [3, 2]}, ("dilation",))
    yield Layout("dilations_of_one", (3, 4), (1, 2), {"dilations": [5, 3]}, ("dilation",))
    yield Layout("strides_pads", (4, 6), (3, 2), {"strides": [2, 3], "pads": [1, 1, 0, 1]}, ("stride", "format"))
    yield Layout(
        "strides_pads_dilations",
        (4, 6),
        (3, 2),
        {"strides": [2, 3], "pads": [1, 1, 0, 1], "dilations": [1, 4]},
        ("dilation",),
    )
    yield Layout(
        "strides_pads_dilations_space",
        (3, 4, 5),
        (2, 2, 3),
        {"strides": [2, 1, 3], "pads": [0, 1, 0, 1, 0, 1], "dilations": [1, 2, 1]},
        ("dilation",),
    )
    for mode in SAME:
        name, same = mode.lower(), {"auto_pad": mode}
        before = f"before_{renewed}"
        yield Layout(f"{name}_odd_{before}", (5,), (2,), same, ("match_before", "odd_before", "either"))
        yield Layout(f"{name}_odd", (5,), (2,), same, ("same", "odd", "split"))
        yield Layout(f"{name}_even_{before}", (5,), (3,), same, ("match_before", "odd_before", "either"))
        yield Layout(f"{name}_even", (5,), (3,), same, ("same", "odd", "split"))
        yield Layout(f"{name}_plane_{before}", (3, 5), (2, 4), same, ("match_before", "odd_before"))
        yield Layout(f"{name}_plane", (3, 5), (2, 4), same, ("same", "odd"))
        yield Layout(f"{name}_strides", (5, 7), (4, 3), {**same, "strides": [2, 3]}, ("strided",))
        yield Layout(f"{name}_strides_space", (3, 4, 5), (2, 3, 4), {**same, "strides": [1, 2, 3]}, ("strided",))
        yield Layout(f"{name}_of_one", (6, 5), (3, 2), {**same, "strides": [3, 1]}, ("strided",))
        yield Layout(f"{name}_dilations", (5, 6), (2, 3), {**same, "dilations": [3, 1]}, ("dilation",))
    yield Layout(f"valid_before_{renewed}", (4, 5), (2, 3), {"auto_pad": "VALID"}, ("valid_before",))
    yield Layout("valid", (4, 5), (2, 3), {"auto_pad": "VALID"}, ("no_pads", "either"))
    yield Layout("valid_strides", (5, 7), (2, 3), {"auto_pad": "VALID", "strides": [3, 2]}, ("no_pads", "stride"))


def forbidden() -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield a name, attributes and the sentence that forbids these attributes, for a kernel of rank 2."""
    yield "pads_negative", {"pads": [0, -1, 0, 0]}, "at_least_zero"
    yield "pads_too_few", {"pads": [1, 1]}, "format"
    yield "pads_too_many", {"pads": [1] * 6}, "format"
    yield "auto_pad_unknown", {"auto_pad": "SAME"}, "either"
    yield "auto_pad_lower_case", {"auto_pad": "same_upper"}, "either"
    for mode in (*SAME, "VALID"):
        yield f"pads_with_{mode.lower()}", {"pads": [1, 0, 0, 2], "auto_pad": mode}, "alone"
    yield "strides_too_few", {"strides": [2]}, "stride"
    yield "strides_too_many", {"strides": [1, 1, 1]}, "stride"
    yield "dilations_too_few", {"dilations": [2]}, "dilation"
    yield "dilations_too_many", {"dilations": [1, 1, 1]}, "dilation"


def left_open() -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield a name, attributes and the sentence that leaves these attributes open, for a kernel of rank 2."""
    yield "strides_zero", {"strides": [1, 0]}, "stride"
    yield "dilations_zero", {"dilations": [0, 1]}, "dilation"
