"""Filters that windows are multiplied with: what the texts of Conv and ConvTranspose share beside the windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.declare.arguments import typed
from harness.declare.clause import Rule
from harness.declare.data import ramp, waves
from harness.declare.op import Tag
from harness.operators.nn._windows import Sentences, forbidden, left_open

if TYPE_CHECKING:
    from harness.declare.clause import Clause, Version
    from harness.declare.data import Array
    from harness.declare.op import Op

    Ints = Array | list[int] | tuple[int, ...] | None


@dataclass(frozen=True)
class Filters:
    """What the texts say of filters, one field a sentence."""

    weights: Clause
    data: Clause
    kernel: Clause
    inferred: Clause
    bias: Clause
    groups: Clause
    dilation: Clause
    dilation_default: Clause
    floats: Clause


def filters(op: Op, *, weights: Clause, dilation_default: str) -> Filters:
    """Declare the sentences that an operator shares with the other.

    Args:
        op: the operator.
        weights: its sentence on the shape of the weights.
        dilation_default: its sentence on dilations left out, since version 11.
    """
    return Filters(
        weights=weights,
        data=op.clause("Otherwise the size is (N x C x D1 x D2 ... x Dn)"),
        kernel=op.clause("The shape of the convolution kernel."),
        inferred=op.clause("If not present, should be inferred from input W.", result=True),
        bias=op.clause("Optional 1D bias to be added to the convolution, has size of M."),
        groups=op.clause(
            "number of groups input channels and output channels are divided into.",
            note="Says nothing of groups below 1, nor of channels that cannot be divided.",
        ),
        dilation=op.clause(
            "dilation value along each spatial axis of the filter.",
            note="Says nothing of one below 1; version 11 adds that one left out is 1. onnxruntime refuses any beside "
            "SAME.",
        ),
        dilation_default=op.clause(dilation_default, since=11),
        floats=op.clause("Constrain input and output types to float tensors."),
    )


def check(v: Version, said: Filters, data: Array, weights: Array, group: int, kernel_shape: Ints) -> None:
    """Raise what follows from the ranks of the inputs and from the kernel."""
    v.require(said.data, data.ndim > 1)
    v.silent(said.data, data.ndim == 2)  # noqa: PLR2004 - N and C, and no D1
    v.require(said.weights, weights.ndim == data.ndim)
    v.silent(said.weights, 0 in weights.shape[2:])
    v.require(said.kernel, kernel_shape is None or tuple(kernel_shape) == weights.shape[2:])
    v.silent(said.groups, group < 1)


def with_bias(sums: Array, bias: Array | None) -> Array:
    """Return the sums (N, M, ...) with the bias of each map."""
    return sums if bias is None else sums + bias.reshape(-1, *[1] * (sums.ndim - 2))


def filter_cases(op: Op, said: Filters, windows: Sentences, weights: Array) -> None:
    """Declare cases of what the two say in the same way.

    Args:
        op: the operator.
        said: its sentences on filters.
        windows: its sentences on windows.
        weights: for 2 channels and 3 maps, a kernel of shape (2, 3).
    """
    plane: dict[str, Any] = {"X": waves(1, 2, 4, 5), "W": weights}
    case = op.case
    case("bias", **plane, B=[10, -20, 0.3], cites=(said.bias,))
    case("bias_batch", X=waves(2, 2, 5, 6), W=weights, B=[1, -2, 0.3], cites=(said.bias,))
    case("kernel_shape", **plane, kernel_shape=[2, 3], cites=(said.kernel,))
    case("kernel_shape_inferred", **plane, cites=(said.inferred,))
    case("dilations_default", **plane, cites=(said.dilation_default,))
    case("group_one", **plane, group=1, cites=(said.groups,))
    case("no_batch", Tag.EDGE, X=ramp(0, 2, 4, 5), W=weights, cites=(said.data,))
    case("dtypes", Tag.DTYPE, each="T", **plane, B=[1, -2, 0.3], pads=[1, 0, 0, 2], cites=(said.floats,))

    for name, given, sentence in forbidden():
        case(name, **plane, **given, rejects=getattr(windows, sentence))
    for name, given, sentence in left_open():
        case(name, **plane, **given, unspecified=getattr(windows, sentence))
    for name, shape in (("rank0", ()), ("rank1", (2,))):
        case(name, Tag.EDGE, X=ramp(*shape), W=ramp(*shape), rejects=said.data)
    case("no_spatial_axes", Tag.EDGE, X=ramp(2, 3), W=ramp(3, 3), unspecified=said.data)
    case("weights_of_lower_rank", X=plane["X"], W=weights[..., 0], rejects=said.weights)
    case("kernel_of_no_pixels", Tag.EDGE, X=plane["X"], W=weights[..., :0], unspecified=said.weights)
    case("kernel_shape_other", **plane, kernel_shape=[3, 2], rejects=said.kernel)
    case("kernel_shape_too_short", **plane, kernel_shape=[2], rejects=said.kernel)
    case("group_zero", Tag.EDGE, **plane, group=0, unspecified=said.groups)
    case("group_negative", Tag.EDGE, **plane, group=-1, unspecified=said.groups)
    case("bias_of_channels", **plane, B=[1, 2], rejects=said.bias)
    case("bias_scalar", **plane, B=1, rejects=said.bias)

    case("outside", Tag.DTYPE, outside="T", X=[[[1, 2, 4]]], W=[[[1, 10]]], rejects=Rule.TYPES)
    case("weights_of_other_type", X=plane["X"], W=typed("double", weights), rejects=Rule.TYPES)
    case("bias_of_other_type", **plane, B=typed("double", [1, 2, 3]), rejects=Rule.TYPES)
    case("no_weights", X=plane["X"], rejects=Rule.ARITY)
    case("no_outputs", **plane, n=0, rejects=Rule.ARITY)
    case("two_outputs", **plane, n=2, rejects=Rule.ARITY)
    case("attribute_ceil_mode", **plane, stray={"ceil_mode": 0}, rejects=Rule.ATTRIBUTES)
