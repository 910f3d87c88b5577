"""Pools: what the texts of MaxPool and AveragePool, and mostly of LpPool, share beside the windows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.declare.clause import Clause, Rule
from harness.declare.data import Array, ramp
from harness.declare.op import Op, Tag
from harness.operators.nn._windows import SAME, Sentences, Windows, forbidden, lay, layouts, left_open, sentences

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.declare.clause import Version

    Ints = Array | list[int] | tuple[int, ...] | None

_EXTENT = "((kernel_spatial_shape[i] - 1) * dilations[i] + 1)"
_LINKED = "dilation[i] * (kernel_shape[i] - 1) - 1"
SLIDING = "Sliding windows that would start in the right padded region are ignored."
BEHIND = (
    "The region begins behind the last pixel, whether pads has an end or not, as the official "
    "test_maxpool_2d_ceil_output_size_reduce_by_one shows; where sizes are rounded down it is not said."
)


def shuffled(*shape: int) -> Array:
    """Return whole numbers from 0 to 126 in no order, no two alike as long as there are fewer than 128."""
    return (np.arange(math.prod(shape)) * 37 % 127).reshape(shape)


@dataclass(frozen=True)
class Pools:
    """What the texts say of pools.

    Attributes:
        windows: their sentences on windows.
        sizes: the formulas and what stands around them, every wording of each version.
        ceil_mode: says that sizes may be rounded up.
        ignored: says that windows in the right padding do not count.
    """

    windows: Sentences
    form: Clause
    kernel: Clause
    ceil_mode: Clause
    sizes: tuple[Clause, ...]
    of_ceil: tuple[Clause, ...]
    of_same: tuple[Clause, ...]
    of_valid: tuple[Clause, ...]
    ignored: Clause | None


def pools(op: Op, *, dilated: int, renewed: int, wording: int, dilation: Clause, ignored: Clause) -> Pools:
    """Declare the sentences of MaxPool and AveragePool.

    Args:
        op: the operator.
        dilated: since when its formulas have dilations.
        renewed: since when they are those of explicit padding alone.
        wording: the version that said anew what SAME means.
        dilation: its sentence on dilations.
        ignored: its sentence on windows in the right padding.
    """

    def sizes(rounded: str, **versions: int) -> list[Clause]:
        """Declare the formula in its three wordings; `versions` may say since when there is one."""
        start = "output_spatial_shape[i] = " + rounded + "((input_spatial_shape[i] + pad_shape[i] - "
        end = ") / strides_spatial_shape[i] + 1)"
        since = versions.get("since")
        wordings = [("kernel_spatial_shape[i]", since, dilated), (_EXTENT, dilated, renewed), (_LINKED, renewed, None)]
        wordings = [(size, first, until) for size, first, until in wordings if first != until]
        return [op.clause(start + size + end, since=first, before=until) for size, first, until in wordings]

    floor = op.clause(
        "Floor value of the dimension is used", note="Unless ceil_mode, which came with version 10, says otherwise."
    )
    same = op.clause(
        "SAME_UPPER or SAME_LOWER: output_spatial_shape[i] = ceil(input_spatial_shape[i] / strides_spatial_shape[i])"
    )
    amount = "pad_shape[i] = (output_spatial_shape[i] - 1) * strides_spatial_shape[i] + "
    added = op.clause(
        f"{amount}{_EXTENT} - input_spatial_shape[i]",
        since=dilated,
        note="Leaves open what less than nothing is: padding is 0 or more.",
    )
    valid = f"VALID: output_spatial_shape[i] = ceil((input_spatial_shape[i] - {_EXTENT}"
    plain = valid.replace(_EXTENT, "kernel_spatial_shape[i]")
    return Pools(
        windows=sentences(
            op, dimensions=floor, rounded=floor, dilation=dilation, renewed=wording, strided=same, amount=added
        ),
        form=op.clause("For non image case, the dimensions are in the form of (N x C x D1 x D2 ... Dn)"),
        kernel=op.clause("The size of the kernel along each axis."),
        ceil_mode=op.clause("Whether to use ceil or floor (default) to compute the output shape.", since=10),
        sizes=(*sizes("floor"), op.clause("sum of pads along axis")),
        of_ceil=(*sizes("ceil", since=10), op.clause("if ceil_mode is enabled", since=10)),
        of_same=(
            same,
            added,
            op.clause(f"{amount}kernel_spatial_shape[i] - input_spatial_shape[i]", before=dilated),
            op.clause(
                "SAME_UPPER or SAME_LOWER: output_spatial_shape[i] = floor((input_spatial_shape[i] - 1) / "
                "strides_spatial_shape[i]) + 1",
                since=renewed,
            ),
            op.clause("`auto_pad` is a DEPRECATED attribute."),
        ),
        of_valid=(
            op.clause(f"{valid} + 1) / strides_spatial_shape[i])", since=dilated),
            op.clause(f"{plain} + 1) / strides_spatial_shape[i])", before=dilated),
            op.clause(f"{valid.replace('ceil', 'floor')}) / strides_spatial_shape[i]) + 1", since=renewed),
        ),
        ignored=ignored,
    )


def place(
    v: Version, said: Pools, sizes: tuple[int, ...], *, kernel_shape: Ints, strides: Ints, dilations: Ints, pads: Ints,
    auto_pad: str, ceil_mode: int | None,
) -> Windows:  # fmt: skip
    """Return the windows of a pool over an input of `sizes`, (N, C, D1, ..., Dn)."""
    v.require(said.form, len(sizes) > 1)
    v.silent(said.form, len(sizes) == 2)  # noqa: PLR2004 - N and C, and no D1
    v.require(said.kernel, len(kernel_shape or ()) == len(sizes) - 2)
    kernel = [int(size) for size in kernel_shape or ()]
    v.silent(said.kernel, min(kernel) < 1)
    v.silent(said.ceil_mode, ceil_mode not in {0, 1, None})
    windows = lay(v, said.windows, sizes[2:], kernel, strides, dilations, pads, auto_pad, up=ceil_mode == 1)
    if said.ignored is None or not said.ignored.in_force(v.since) or auto_pad != "NOTSET":
        return windows
    parts = zip(windows.sizes, windows.begin, windows.strides, strict=True)
    before = [-(-(size + pad) // stride) for size, pad, stride in parts]
    counts = tuple(min(pair) for pair in zip(windows.counts, before, strict=True))
    v.silent(said.ignored, counts != windows.counts and not ceil_mode)
    return replace(windows, counts=counts)


ROUNDED_UP: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "exact": ((5, 7), (2, 3), {"strides": [3, 2]}),
    "remainder": ((6, 9), (3, 2), {"strides": [2, 4]}),
    "one_axis": ((5, 6), (2, 3), {"strides": [2, 3]}),
    "pads": ((4, 6), (3, 3), {"strides": [3, 3], "pads": [1, 1, 0, 1]}),
    "dilations": ((7,), (3,), {"strides": [3], "dilations": [2]}),
    "space": ((3, 4, 5), (2, 2, 2), {"strides": [2, 3, 2]}),
    "valid": ((6, 9), (3, 2), {"strides": [3, 6], "auto_pad": "VALID"}),
    "same_upper": ((4, 6), (3, 5), {"strides": [2, 3], "auto_pad": "SAME_UPPER"}),
    "same_lower": ((4, 6), (3, 5), {"strides": [2, 3], "auto_pad": "SAME_LOWER"}),
}
"""Windows where ceil_mode could matter; with auto_pad its formulas come to the same."""


MERGED = {"pads_top", "pads_left", "pads_bottom", "pads_right", "pads_zero", "dilations_of_one"}
MERGED |= {f"{name}_{axis}" for name in ("strides", "dilations") for axis in ("height", "width")}
MERGED |= {f"{mode.lower()}_even{suffix}" for mode in SAME for suffix in ("", "_old")}
"""Layouts that others of more than one side or axis hold as well: pools have many versions."""


def pool_cases(op: Op, said: Pools, data: Callable[..., Array], *, but: tuple[str, ...] = ()) -> None:
    """Declare cases of what pools say in the same way.

    Args:
        op: the operator.
        said: its sentences.
        data: makes an input of a shape.
        but: the names of layouts that the operator declares itself.
    """
    case, windows = op.case, said.windows
    case("batch", X=data(2, 3, 4, 5), kernel_shape=[3, 2], cites=(said.form, said.kernel))
    for layout in layouts():
        if layout.name not in MERGED.union(but):
            shape: dict[str, Any] = {"X": data(1, 2, *layout.sizes), "kernel_shape": layout.kernel}
            case(layout.name, **shape, **layout.given, cites=windows.named(*layout.cites) or (said.kernel,))
    wide: dict[str, Any] = {"X": data(1, 2, 6, 9), "kernel_shape": [3, 2], "strides": [2, 4]}
    same: dict[str, Any] = {"X": data(1, 2, 4, 6), "kernel_shape": [3, 5], "strides": [2, 3], "auto_pad": "SAME_UPPER"}
    valid: dict[str, Any] = {"X": data(1, 2, 5, 7), "kernel_shape": [2, 3], "strides": [2, 5], "auto_pad": "VALID"}
    formulas = {"": ({**wide, "pads": [1, 0, 0, 0]}, said.sizes), "_ceil": ({**wide, "ceil_mode": 1}, said.of_ceil)}
    formulas |= {"_same": (same, said.of_same), "_valid": (valid, said.of_valid)}
    for name, (given, sentences_) in formulas.items():
        for index, clause in enumerate(sentences_):
            case(f"sizes{name}_{index}", **given, cites=(clause,))
    for name, (sizes, kernel, more) in ROUNDED_UP.items():
        shape = {"X": data(1, 2, *sizes), "kernel_shape": kernel}
        case(f"ceil_{name}", **shape, **more, ceil_mode=1, cites=(said.ceil_mode,))
    case("ceil_off", **wide, ceil_mode=0, cites=(said.ceil_mode,))
    case("ceil_two", **wide, ceil_mode=2, unspecified=said.ceil_mode)
    for mode in SAME:
        skipping: dict[str, Any] = {"X": data(1, 2, 4), "kernel_shape": [1], "strides": [2], "auto_pad": mode}
        case(f"{mode.lower()}_steps_over", **skipping, unspecified=windows.amount)
    _edges(op, said, data)
    plane: dict[str, Any] = {"X": data(1, 2, 4, 5), "kernel_shape": [2, 3]}
    for name, more, sentence in forbidden():
        case(name, **plane, **more, rejects=getattr(windows, sentence))
    for name, more, sentence in left_open():
        case(name, **plane, **more, unspecified=getattr(windows, sentence))
    strange: dict[str, Any] = {"outside": "T", "X": ramp(1, 1, 4), "kernel_shape": [2], "rejects": Rule.TYPES}
    case("outside", Tag.DTYPE, **strange, before=op.versions[1])
    case("outside_now", Tag.DTYPE, **strange, since=op.versions[-1])
    case("no_input", kernel_shape=[2], rejects=Rule.ARITY)
    case("no_outputs", **plane, n=0, rejects=Rule.ARITY)
    case("attribute_group", **plane, stray={"group": 1}, rejects=Rule.ATTRIBUTES)


def _edges(op: Op, said: Pools, data: Callable[..., Array]) -> None:
    case, windows = op.case, said.windows
    case("no_batch", Tag.EDGE, X=ramp(0, 2, 4), kernel_shape=[3], cites=(said.form,))
    case("no_pixels", Tag.EDGE, X=ramp(1, 2, 0), kernel_shape=[1], cites=(windows.dimensions,))
    case("kernel_beyond_input", Tag.EDGE, X=data(1, 2, 3), kernel_shape=[4], cites=(windows.dimensions,))
    case("kernel_far_beyond_input", Tag.EDGE, X=data(1, 2, 3), kernel_shape=[5], unspecified=windows.dimensions)
    case("kernel_of_no_pixels", Tag.EDGE, X=data(1, 2, 3), kernel_shape=[0], unspecified=said.kernel)
    case("no_spatial_axes", Tag.EDGE, X=data(2, 3), kernel_shape=[], unspecified=said.form)
    for rank in (0, 1):
        case(f"rank{rank}", Tag.EDGE, X=data(*[3] * rank), kernel_shape=[1], rejects=said.form)
    case("kernel_too_short", X=data(1, 2, 4, 5), kernel_shape=[2], rejects=said.kernel)
    case("kernel_too_long", X=data(1, 2, 4, 5), kernel_shape=[1, 2, 3], rejects=said.kernel)
