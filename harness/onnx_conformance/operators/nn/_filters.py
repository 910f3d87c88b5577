# SPDX-License-Identifier: Apache-2.0
"""Filters of convolutions: the sentences that the texts of convolutions share, except those on windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare.arguments import vary
from onnx_conformance.declare.data import ramp, waves
from onnx_conformance.declare.op import Tag
from onnx_conformance.operators.nn._windows import Sentences, forbidden, left_open

if TYPE_CHECKING:
    from onnx_conformance.declare import Array
    from onnx_conformance.declare.clause import Clause, Version
    from onnx_conformance.declare.op import Op
    from onnx_conformance.operators.nn._windows import Windows

    Ints = Array | list[int] | tuple[int, ...] | None


@dataclass(frozen=True)
class Kernels:
    """The sentences on filters, one field for each sentence."""

    weights: Clause
    data: Clause
    kernel: Clause
    inferred: Clause
    groups: Clause
    dilation: Clause
    dilation_default: Clause


@dataclass(frozen=True)
class Filters(Kernels):
    """The sentences on filters with a bias."""

    bias: Clause


def kernels(op: Op, *, weights: Clause, dilation_default: Clause, inferred: Clause) -> Kernels:
    """Declare the sentences that all convolutions share verbatim, and add those of one operator.

    Args:
        op: the operator.
        weights: its sentence on the shape of the weights.
        dilation_default: its sentence on omitted dilations.
        inferred: its sentence on an omitted kernel_shape.
    """
    return Kernels(
        weights=weights,
        data=op.clause("Otherwise the size is (N x C x D1 x D2 ... x Dn)"),
        kernel=op.clause("The shape of the convolution kernel."),
        inferred=inferred,
        groups=op.clause(
            "number of groups input channels and output channels are divided into.",
            note="The text does not define groups below 1, or channels that cannot be divided into groups.",
            see=("https://github.com/onnx/onnx/issues/5281",),
        ),
        dilation=op.clause(
            "dilation value along each spatial axis of the filter.",
            note="The text does not define dilations below 1. Version 11 adds that omitted dilations are 1. "
            "onnxruntime rejects dilations except 1 with SAME.",
        ),
        dilation_default=dilation_default,
    )


def filters(op: Op, *, weights: Clause, dilation_default: Clause) -> Filters:
    """Declare the sentences that Conv and ConvTranspose share verbatim, and add those of one operator.

    Args:
        op: the operator.
        weights: its sentence on the shape of the weights.
        dilation_default: its sentence on omitted dilations.
    """
    inferred = op.clause("If not present, should be inferred from input W.", result=True)
    bias = op.clause("Optional 1D bias to be added to the convolution, has size of M.")
    own = kernels(op, weights=weights, dilation_default=dilation_default, inferred=inferred)
    return Filters(**vars(own), bias=bias)


def check(v: Version, clauses: Kernels, data: Array, weights: Array, group: int, kernel_shape: Ints) -> None:
    """Raise if the ranks of the inputs, the kernel or the number of groups are forbidden or left open."""
    v.require(clauses.data, data.ndim > 1)
    v.silent(clauses.data, data.ndim == 2)  # noqa: PLR2004 - N and C, and no D1
    v.require(clauses.weights, weights.ndim == data.ndim)
    v.silent(clauses.weights, 0 in weights.shape[2:])
    v.require(clauses.kernel, kernel_shape is None or tuple(kernel_shape) == weights.shape[2:])
    v.silent(clauses.groups, group < 1)


def products(windows: Windows, data: Array, weights: Array, group: int) -> Array:
    """Return the sums (N, M, *counts). Each group of filters is applied to its group of channels."""
    rank, maps = len(windows.sizes), weights.shape[0] // group
    pixels = windows.pixels(data)
    if group > 1 and weights.shape[1] == 1:
        return _products_of_channels(pixels, weights, maps)
    sums = [
        np.tensordot(
            pixels[:, index * weights.shape[1] : (index + 1) * weights.shape[1]],
            weights[index * maps : (index + 1) * maps],
            ([1, *range(2 + rank, 2 + 2 * rank)], range(1, 2 + rank)),
        )
        for index in range(group)
    ]
    return np.moveaxis(np.concatenate(sums, -1), -1, 1)


def _products_of_channels(pixels: Array, weights: Array, maps: int) -> Array:
    """Return the sums of products if each group has one channel: pixel by pixel, for all channels at once."""
    sums = np.zeros((len(pixels), len(weights), *pixels.shape[2 : weights.ndim]), np.result_type(pixels, weights))
    for place in np.ndindex(weights.shape[2:]):
        factors = weights[:, 0, *place].reshape(-1, *[1] * (weights.ndim - 2))
        sums += np.repeat(pixels[..., *place], maps, 1) * factors if maps > 1 else pixels[..., *place] * factors
    return sums


def with_bias(sums: Array, bias: Array | None) -> Array:
    """Return the sums (N, M, ...) with the bias of each map."""
    return sums if bias is None else sums + bias.reshape(bias.size, *[1] * (sums.ndim - 2))


def filter_cases(op: Op, clauses: Filters, windows: Sentences, weights: Array) -> None:
    """Declare the cases for the sentences that Conv and ConvTranspose share.

    Args:
        op: the operator.
        clauses: its sentences on filters.
        windows: its sentences on windows.
        weights: for 2 channels and 3 maps, a kernel of shape (2, 3).
    """
    case, data = op.case, waves(1, 2, 4, 5)
    plane: dict[str, Any] = {"X": data, "W": weights}
    case("bias", **plane, B=[10, -20, 0.3], cites=clauses.bias)
    case("bias_batch", X=waves(2, 2, 5, 6), W=weights, B=[1, -2, 0.3], cites=clauses.bias)
    case("kernel_shape", **plane, kernel_shape=[2, 3], cites=clauses.kernel)
    case("kernel_shape_inferred", **plane, cites=clauses.inferred)
    case("dilations_default", **plane, cites=clauses.dilation_default)
    case("group_one", **plane, group=1, cites=clauses.groups)
    case("no_batch", Tag.EDGE, X=ramp(0, 2, 4, 5), W=weights, cites=clauses.data)

    for name, attributes, sentence in forbidden():
        case(name, **plane, **attributes, rejects=getattr(windows, sentence))
    for name, attributes, sentence in left_open():
        case(name, **plane, **attributes, unspecified=getattr(windows, sentence))
    case("rank0", Tag.EDGE, X=ramp(), W=ramp(), rejects=clauses.data)
    case("rank1", Tag.EDGE, X=ramp(2), W=ramp(2), rejects=clauses.data)
    case("no_spatial_axes", Tag.EDGE, X=ramp(2, 3), W=ramp(3, 3), unspecified=clauses.data)
    case("weights_of_lower_rank", X=data, W=weights[..., 0], rejects=clauses.weights)
    case("kernel_of_no_pixels", Tag.EDGE, X=data, W=weights[..., :0], unspecified=clauses.weights)
    case("kernel_of_no_rows", Tag.EDGE, X=data, W=weights[:, :, :0], unspecified=clauses.weights)
    case("kernel_shape", **plane, kernel_shape=vary(other=[3, 2], too_short=[2]), rejects=clauses.kernel)
    case("group", Tag.EDGE, **plane, group=vary(zero=0, negative=-1), unspecified=clauses.groups)
    case("bias", **plane, B=vary(of_channels=[1, 2], scalar=1), rejects=clauses.bias)
