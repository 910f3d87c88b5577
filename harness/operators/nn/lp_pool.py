"""LpPool: the Lp norm of each window.

Versions: 1 (p of any fraction, no default for the kernel), 2 (whole p), 11 (SAME with strides), 18 (formulas,
ceil_mode, dilations), 22 (bfloat16).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.declare import Array, Int, Ints, Op, Rule, Tag, Version, bounded
from harness.declare.data import waves
from harness.operators.nn._pooling import Pools, place, pool_cases
from harness.operators.nn._windows import SAME, sentences


def _norm(pixels: Array, kernel: tuple[int, ...], p: float) -> Array:
    return np.asarray((np.abs(pixels) ** p).sum(kernel) ** (1 / p))


def _rounding(X: Array, p: float, **placing: Any) -> list[Array]:  # noqa: ANN401, N803 - what `place` takes
    """Return what powers, sum and root lose, relative to the norm: the root divides the errors before it by p."""
    windows = place(Version(POOL.versions[-1]), SAID, X.shape, **placing)
    kernel = tuple(range(-len(windows.sizes), 0))
    terms = np.prod(windows.kernel)
    with np.errstate(all="ignore"):
        norm = _norm(windows.taken(X), kernel, p)
        exponent = np.abs(np.log(np.where(norm > 0, norm, 1))) / 2  # 1 / p is itself rounded.
        return [norm * ((p / 2 + 1 + terms / 2) / p + 1.5 + exponent)]


POOL = Op(
    "LpPool",
    versions=(1, 2, 11, 18, 22),
    compare=bounded(_rounding, "powers and root are within an epsilon, each addition rounds by half of one"),
    rank="X",
)

NORM = POOL.clause(
    "Lp pooling consisting of computing the Lp norm on all values of a subset of the input tensor according to the "
    "kernel size",
    note="Padding adds nothing to a norm, so that a last window of padding alone gives 0 (onnxruntime and "
    "onnx.reference leave that window out); of no pixels at all, behind the padding, it says nothing. onnx.reference "
    "skips NaN, and stretches the norm of a window that ceil_mode cuts short.",
)
VALUE = POOL.clause(
    "p value of the Lp norm used to pool over the input data",
    note="Below 1 it is no norm; of an infinite p it is silent.",
)
VALUE_DEFAULT = POOL.clause("default is 2.0.", before=2)
FLOOR = POOL.clause(
    "output_spatial_shape[i] = floor((input_spatial_shape[i] + pad_shape[i] - {kernelSpatialShape}) / "
    "strides_spatial_shape[i] + 1)",
    since=18,
    note="{kernelSpatialShape} stands for what the other pools write there: (kernel - 1) * dilation + 1. Older "
    "versions do not say what becomes of pixels that are left over.",
)
ADDED = POOL.clause(
    "pad_shape[i] = (output_spatial_shape[i] - 1) * strides_spatial_shape[i] + {kernelSpatialShape} - "
    "input_spatial_shape[i]",
    since=18,
    note="Leaves open what less than nothing is: padding is 0 or more.",
)
KERNEL = POOL.clause(
    "The size of the kernel along each axis.", note="Version 1, in which it may be left out, does not say what then."
)
DILATION = POOL.clause(
    "dilation value along each spatial axis of the filter.", since=18, note="Says nothing of one below 1."
)
DILATION_DEFAULT = POOL.clause("If not present, the dilation defaults is 1 along each spatial axis.", since=18)
LEGACY = POOL.clause("DEPRECATION NOTE: auto_pad is only intended to support legacy uses", before=2)
FLOATS = POOL.clause("Constrain input and output types to float tensors.")
SAID = Pools(
    windows=sentences(POOL, dimensions=FLOOR, rounded=FLOOR, dilation=DILATION, renewed=11, no_pads=2, amount=ADDED),
    form=POOL.clause("in the form of (N x C x D1 x D2 ... Dn)"),
    kernel=KERNEL,
    ceil_mode=POOL.clause("Whether to use ceil or floor (default) to compute the output shape.", since=18),
    sizes=(FLOOR,),
    of_ceil=(
        POOL.clause(
            "output_spatial_shape[i] = ceil((input_spatial_shape[i] + pad_shape[i] - {kernelSpatialShape}) / "
            "strides_spatial_shape[i] + 1)",
            since=18,
        ),
        POOL.clause("if ceil_mode is enabled `pad_shape[i]` is the sum of pads along axis `i`.", since=18),
    ),
    of_same=(
        POOL.clause(
            "SAME_UPPER or SAME_LOWER: output_spatial_shape[i] = ceil(input_spatial_shape[i] / "
            "strides_spatial_shape[i])",
            since=18,
        ),
        ADDED,
        POOL.clause("`auto_pad` is a DEPRECATED attribute.", since=18),
    ),
    of_valid=(
        POOL.clause(
            "VALID: output_spatial_shape[i] = ceil((input_spatial_shape[i] - {kernelSpatialShape} + 1) / "
            "strides_spatial_shape[i])",
            since=18,
        ),
    ),
    ignored=None,
)
POOL.excuse("attribute kernel_shape unset", "version 1 does not say what a pool without a kernel is")


@POOL.oracle()
def pooled(
    v: Version, *, X: Array, kernel_shape: Ints, strides: Ints, dilations: Ints, pads: Ints,  # noqa: N803
    auto_pad: str, ceil_mode: Int, p: float,
) -> Array:  # fmt: skip
    """Return the p-th root of the sum of the p-th powers of the magnitudes in each window."""
    v.silent(KERNEL, kernel_shape is None)
    windows = place(v, SAID, X.shape, kernel_shape=kernel_shape, strides=strides, dilations=dilations, pads=pads,
                    auto_pad=auto_pad, ceil_mode=ceil_mode)  # fmt: skip
    v.permit(FLOOR, min(windows.counts) < 1)
    v.silent(VALUE, not 1 <= p < np.inf)
    kernel = tuple(range(-len(windows.sizes), 0))
    v.silent(NORM, not windows.inside(padded=True).any(kernel).all())
    with np.errstate(all="ignore"):
        return _norm(windows.taken(X), kernel, p)


case = POOL.case
PLANE: dict[str, Any] = {"X": waves(1, 2, 4, 5), "kernel_shape": [2, 3]}
pool_cases(POOL, SAID, waves)

PADDED: dict[str, Any] = {"X": waves(1, 2, 3, 4), "kernel_shape": [2, 3], "pads": [1, 2, 0, 1]}
BELOW = -np.abs(waves(1, 2, 5))
for power in (1, 2, 3, 4):
    case(f"p_{power}_fraction", **PADDED, p=float(power), before=2, cites=(VALUE, NORM))
    case(f"p_{power}", **PLANE, p=power, since=2, cites=(VALUE, NORM))
    case(f"p_{power}_pads", **PADDED, p=power, since=2, cites=(VALUE,))
    case(f"p_{power}_below_zero", X=BELOW, kernel_shape=[3], p=power, since=2, cites=(NORM,))
for name, fraction in (("one_and_a_half", 1.5), ("two_and_a_quarter", 2.25)):
    case(f"p_{name}", **PLANE, p=fraction, before=2, cites=(VALUE,))
case("p_default_first", **PLANE, cites=(VALUE_DEFAULT,))
case("p_default", **PLANE, since=2, cites=(VALUE,))
case("auto_pad_legacy", **PLANE, auto_pad="SAME_LOWER", cites=(LEGACY,))
case("dilations_default", **PLANE, cites=(DILATION_DEFAULT,))
for mode in SAME:
    case(f"p_3_{mode.lower()}", X=waves(1, 2, 3, 5), kernel_shape=[2, 4], auto_pad=mode, p=3, since=2,
         cites=(VALUE,))  # fmt: skip
case("below_zero", X=BELOW, kernel_shape=[3], p=1.0, before=2, cites=(NORM,))
case("one_pixel", Tag.EDGE, X=[[[-3.5, 0, 0.25]]], kernel_shape=[1], cites=(NORM,))
case("zeros", Tag.EDGE, X=[[[0.0, -0.0, 0.0]]], kernel_shape=[2], cites=(NORM,))
case("infinities", Tag.EDGE, X=[[[1, np.inf, 2, -np.inf, -np.inf]]], kernel_shape=[2], cites=(NORM,))
case("nan", Tag.EDGE, X=[[[1, np.nan, 2, 3]]], kernel_shape=[2], pads=[1, 1], cites=(NORM,))
case("padding_alone", Tag.EDGE, X=waves(1, 2, 3), kernel_shape=[2], pads=[2, 3], cites=(NORM,))
case("long", X=np.cos(np.arange(300.0)).reshape(1, 1, 300), kernel_shape=[299], cites=(NORM,))
case("last_window_in_padding", X=waves(1, 2, 4), kernel_shape=[3], strides=[4], pads=[0, 1], ceil_mode=1, cites=(NORM,))
case("last_window_behind", X=waves(1, 2, 6), kernel_shape=[2], strides=[3], ceil_mode=1, unspecified=NORM)
STEPS: dict[str, Any] = {"X": waves(1, 2, 6, 8), "kernel_shape": [3, 2], "strides": [2, 4]}
case("strides_remainder_old", **STEPS, before=18, unspecified=FLOOR)
case("strides_remainder_valid_old", **STEPS, auto_pad="VALID", before=18, unspecified=FLOOR)
case("kernel_beyond_input_old", Tag.EDGE, X=waves(1, 2, 3), kernel_shape=[4], before=18, unspecified=FLOOR)
for mode in SAME:
    case(
        f"{mode.lower()}_strides_old",
        **{**STEPS, "kernel_shape": [3, 5]},
        auto_pad=mode,
        before=11,
        unspecified=SAID.windows.same,
    )
for name, wrong in (("zero", 0), ("negative", -1)):
    case(f"p_{name}", Tag.EDGE, **PLANE, p=wrong, since=2, unspecified=VALUE)
for name, less in (("zero_fraction", 0.0), ("half", 0.5), ("infinite", np.inf), ("nan", np.nan)):
    case(f"p_{name}", Tag.EDGE, **PLANE, p=less, before=2, unspecified=VALUE)

case("dtypes", Tag.DTYPE, each="T", **PADDED, cites=(FLOATS,))
case("dtypes_cubed", Tag.DTYPE, each="T", **PLANE, p=3, since=2, cites=(FLOATS,))
case("no_kernel", X=PLANE["X"], since=2, rejects=Rule.ATTRIBUTES)
case("no_kernel_old", X=PLANE["X"], before=2, unspecified=KERNEL)
case("two_outputs", **PLANE, n=2, rejects=Rule.ARITY)
for name, value in (("ceil_mode", 0), ("dilations", [1, 1])):
    case(f"attribute_{name}", Tag.CHANGE, **PLANE, stray={name: value}, before=18, rejects=Rule.ATTRIBUTES)
case("attribute_count_include_pad", **PLANE, stray={"count_include_pad": 0}, rejects=Rule.ATTRIBUTES)
