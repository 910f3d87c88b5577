# SPDX-License-Identifier: Apache-2.0
"""LpPool: the Lp norm of each window.

    Y = LpPool(X, kernel_shape, p=2, strides=..., pads=..., dilations=..., auto_pad="NOTSET", ceil_mode=0)

Versions: 1 (p may be a fraction, no default for the kernel), 2 (whole p), 11 (SAME with strides), 18 (formulas,
ceil_mode, dilations), 22 (bfloat16).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Int, Ints, Op, Tag, Version, bounded, vary
from onnx_conformance.declare.data import waves
from onnx_conformance.operators.nn._pooling import Pools, place, pool_cases
from onnx_conformance.operators.nn._sizes import POOLED, pool_arguments
from onnx_conformance.operators.nn._windows import SAME as SAME_MODES
from onnx_conformance.operators.nn._windows import Windows, sentences


def _norm(windows: Windows, X: Array, p: float) -> Array:
    return np.asarray(windows.combined(np.add, windows.pixels(np.abs(X) ** p)) ** (1 / p))


def _rounding(X: Array, p: float, **attributes: Any) -> list[Array]:  # noqa: ANN401 - see `place`
    """Return the errors of powers, sum and root, relative to the norm. The root divides earlier errors by p."""
    windows = place(Version(POOL.versions[-1]), POOLS, X.shape, **attributes)
    terms = np.prod(windows.kernel)
    with np.errstate(all="ignore"):
        norm = _norm(windows, X, p)
        exponent = np.abs(np.log(np.where(norm > 0, norm, 1))) / 2  # 1 / p is also rounded.
        return [norm * ((p / 2 + 1 + terms / 2) / p + 1.5 + exponent)]


POOL = Op(
    "LpPool",
    versions=(1, 2, 11, 18, 22),
    compare=bounded(_rounding, "powers and root are within an epsilon, each addition rounds by half an epsilon"),
    rank="X",
)
POOL.example(X=waves(2, 3, 5, 8), kernel_shape=[2, 3], strides=[1, 2], pads=[1, 0, 0, 1], dilations=[1, 2], ceil_mode=1)

NORM = POOL.clause(
    "Lp pooling consisting of computing the Lp norm on all values of a subset of the input tensor according to the "
    "kernel size",
    note="Padding adds nothing to a norm, so a last window that contains only padding has the result 0 (onnxruntime "
    "and onnx.reference omit that window). The text does not define a window without pixels, after the padding. "
    "onnx.reference skips NaN, and scales up the norm of a window that ceil_mode cuts off.",
)
P = POOL.clause(
    "p value of the Lp norm used to pool over the input data",
    note="Below 1 it is not a norm. The text does not define an infinite p.",
    see=("https://github.com/onnx/onnx/issues/1614",),
)
P_DEFAULT = POOL.clause("default is 2.0.", before=2)
FLOOR = POOL.clause(
    "output_spatial_shape[i] = floor((input_spatial_shape[i] + pad_shape[i] - {kernelSpatialShape}) / "
    "strides_spatial_shape[i] + 1)",
    since=18,
    note="{kernelSpatialShape} means the expression in the other pools: (kernel - 1) * dilation + 1. Older versions do "
    "not define the treatment of pixels that are left over.",
)
ADDED = POOL.clause(
    "pad_shape[i] = (output_spatial_shape[i] - 1) * strides_spatial_shape[i] + {kernelSpatialShape} - "
    "input_spatial_shape[i]",
    since=18,
    note="The text does not define a negative result: padding is 0 or more.",
)
KERNEL = POOL.clause(
    "The size of the kernel along each axis.",
    note="Version 1 allows this attribute to be omitted, but does not define its default.",
)
DILATION = POOL.clause(
    "dilation value along each spatial axis of the filter.",
    since=18,
    note="The text does not define a dilation below 1.",
    see=("https://github.com/onnx/onnx/issues/2290",),
)
DILATION_DEFAULT = POOL.clause("If not present, the dilation defaults is 1 along each spatial axis.", since=18)
LEGACY = POOL.clause("DEPRECATION NOTE: auto_pad is only intended to support legacy uses", before=2)
FORM = POOL.clause("in the form of (N x C x D1 x D2 ... Dn)")
CEIL_MODE = POOL.clause(
    "Whether to use ceil or floor (default) to compute the output shape.",
    since=18,
    see=("https://github.com/onnx/onnx/issues/4958",),
)
CEIL = POOL.clause(
    "output_spatial_shape[i] = ceil((input_spatial_shape[i] + pad_shape[i] - {kernelSpatialShape}) / "
    "strides_spatial_shape[i] + 1)",
    since=18,
)
IF_CEIL = POOL.clause("if ceil_mode is enabled `pad_shape[i]` is the sum of pads along axis `i`.", since=18)
SAME = POOL.clause(
    "SAME_UPPER or SAME_LOWER: output_spatial_shape[i] = ceil(input_spatial_shape[i] / strides_spatial_shape[i])",
    since=18,
)
VALID = POOL.clause(
    "VALID: output_spatial_shape[i] = ceil((input_spatial_shape[i] - {kernelSpatialShape} + 1) / "
    "strides_spatial_shape[i])",
    since=18,
)
DEPRECATED = POOL.clause("`auto_pad` is a DEPRECATED attribute.", since=18)
SAME_SHAPE = POOL.clause(
    "SAME_UPPER or SAME_LOWER mean pad the input so that `output_shape[i] = ceil(input_shape[i] / strides[i])` for "
    "each axis `i`.",
    since=11,
    see=("https://github.com/onnx/onnx/issues/3153", "https://github.com/onnx/onnx/pull/3188"),
)
STRIDE_DEFAULT = POOL.clause("If not present, the stride defaults to 1 along each spatial axis.", since=11)
POOLS = Pools(
    windows=sentences(
        POOL,
        dimensions=FLOOR,
        rounded=FLOOR,
        dilation=DILATION,
        same=SAME_SHAPE,
        stride_default=STRIDE_DEFAULT,
        no_pads=2,
    ),
    form=FORM,
    kernel=KERNEL,
    amount=ADDED,
    ceil_mode=CEIL_MODE,
    sizes=(FLOOR,),
    sizes_ceil=(CEIL, IF_CEIL),
    sizes_same=(SAME, ADDED, DEPRECATED),
    sizes_valid=(VALID,),
)
POOL.excuse("attribute kernel_shape unset", "version 1 does not say what a pool without a kernel is")


@POOL.oracle()
def pooled(
    v: Version,
    *,
    X: Array,
    kernel_shape: Ints,
    strides: Ints,
    dilations: Ints,
    pads: Ints,
    auto_pad: str,
    ceil_mode: Int,
    p: float,
) -> Array:
    """Return the p-th root of the sum of the p-th powers of the magnitudes in each window."""
    v.silent(KERNEL, kernel_shape is None)
    windows = place(
        v,
        POOLS,
        X.shape,
        kernel_shape=kernel_shape,
        strides=strides,
        dilations=dilations,
        pads=pads,
        auto_pad=auto_pad,
        ceil_mode=ceil_mode,
    )
    v.permit(SAME_SHAPE, auto_pad in SAME_MODES and max(windows.strides) > 1)
    v.permit(FLOOR, max(windows.rests()) > 0 or min(windows.counts) < 1)
    v.silent(P, not 1 <= p < np.inf)
    kernel = tuple(range(-len(windows.sizes), 0))
    v.silent(NORM, not windows.inside_padded().any(kernel).all())
    with np.errstate(all="ignore"):
        return _norm(windows, X, p)


case = POOL.case
pool_cases(POOL, POOLS, waves)

PLANE = waves(1, 2, 4, 5)
BELOW_ZERO = -np.abs(waves(1, 2, 5))
PADDED: dict[str, Any] = {"X": waves(1, 2, 3, 4), "kernel_shape": [2, 3], "pads": [1, 2, 0, 1]}
for power in (1, 2, 3, 4):
    case(f"p_{power}_before_2", **PADDED, p=float(power), before=2, cites=(P, NORM))
    case(f"p_{power}", X=PLANE, kernel_shape=[2, 3], p=power, since=2, cites=(P, NORM))
    case(f"p_{power}_pads", **PADDED, p=power, since=2, cites=P)
    case(f"p_{power}_below_zero", X=BELOW_ZERO, kernel_shape=[3], p=power, since=2, cites=NORM)
FRACTIONS = vary(one_and_a_half=1.5, two_and_a_quarter=2.25)
case("p", X=PLANE, kernel_shape=[2, 3], p=FRACTIONS, before=2, cites=P)
case("p_default_before_2", X=PLANE, kernel_shape=[2, 3], cites=P_DEFAULT)
case("p_default", X=PLANE, kernel_shape=[2, 3], since=2, cites=P)
case("auto_pad_before_2", X=PLANE, kernel_shape=[2, 3], auto_pad="SAME_LOWER", cites=LEGACY)
case("dilations_below_zero", X=BELOW_ZERO, kernel_shape=[2], dilations=[2], p=1, cites=NORM)
case("dilations_default", X=PLANE, kernel_shape=[2, 3], cites=DILATION_DEFAULT)
for mode in ("SAME_UPPER", "SAME_LOWER"):
    case(f"p_3_{mode.lower()}", X=waves(1, 2, 3, 5), kernel_shape=[2, 4], auto_pad=mode, p=3, since=2, cites=P)
case("below_zero", X=BELOW_ZERO, kernel_shape=[3], p=1.0, before=2, cites=NORM)
case("one_pixel", Tag.EDGE, X=[[[-3.5, 0, 0.25]]], kernel_shape=[1], cites=NORM)
case("zeros", Tag.EDGE, X=[[[0.0, -0.0, 0.0]]], kernel_shape=[2], cites=NORM)
case("infinities", Tag.EDGE, X=[[[1, np.inf, 2, -np.inf, -np.inf]]], kernel_shape=[2], cites=NORM)
case("nan", Tag.EDGE, X=[[[1, np.nan, 2, 3]]], kernel_shape=[2], pads=[1, 1], cites=NORM)
case("no_pixels_but_padding", Tag.EDGE, X=np.zeros((1, 2, 0)), kernel_shape=[2], pads=[1, 2], cites=NORM)
case("padding_alone", Tag.EDGE, X=waves(1, 2, 3), kernel_shape=[2], pads=[2, 3], cites=NORM)
case("long", X=np.cos(np.arange(300.0)).reshape(1, 1, 300), kernel_shape=[299], cites=NORM)
case(
    "last_window_in_padding",
    Tag.EDGE,
    X=waves(1, 2, 4),
    kernel_shape=[3],
    strides=[4],
    pads=[0, 1],
    ceil_mode=1,
    cites=(CEIL_MODE, NORM),
)
case("last_window_behind", X=waves(1, 2, 6), kernel_shape=[2], strides=[3], ceil_mode=1, unspecified=NORM)
STEPS: dict[str, Any] = {"X": waves(1, 2, 6, 8), "strides": [2, 4]}
case("strides_remainder_before_18", **STEPS, kernel_shape=[3, 2], before=18, unspecified=FLOOR)
case("strides_remainder_valid_before_18", **STEPS, kernel_shape=[3, 2], auto_pad="VALID", before=18, unspecified=FLOOR)
case(
    "strides_remainder_of_width_before_18",
    X=waves(1, 2, 6, 8),
    strides=[3, 5],
    kernel_shape=[3, 2],
    before=18,
    unspecified=FLOOR,
)
case("kernel_beyond_height_before_18", Tag.EDGE, X=waves(1, 2, 3, 5), kernel_shape=[4, 2], before=18, unspecified=FLOOR)
case("kernel_beyond_input_before_18", Tag.EDGE, X=waves(1, 2, 3), kernel_shape=[4], before=18, unspecified=FLOOR)
for mode, stride in (("SAME_UPPER", 4), ("SAME_LOWER", 1)):
    case(
        f"{mode.lower()}_strides_before_11",
        X=waves(1, 2, 6, 8),
        strides=[2, stride],
        kernel_shape=[3, 5],
        auto_pad=mode,
        before=11,
        unspecified=SAME_SHAPE,
    )
case("p", Tag.EDGE, X=PLANE, kernel_shape=[2, 3], p=vary(zero=0, negative=-1), since=2, unspecified=P)
NO_NORM = vary(zero_fraction=0.0, half=0.5, infinite=np.inf, nan=np.nan)
case("p", Tag.EDGE, X=PLANE, kernel_shape=[2, 3], p=NO_NORM, before=2, unspecified=P)
case("cubes_each_type", Tag.DTYPE, each="T", X=PLANE, kernel_shape=[2, 3], p=3, since=2, cites=(P, NORM))
case("no_kernel_before_2", X=PLANE, before=2, unspecified=KERNEL)

for name, (dims, sizes) in POOLED.items():
    POOL.sized(name, sizes[::2], each="T", cites=(NORM, P), arguments=pool_arguments(dims))
