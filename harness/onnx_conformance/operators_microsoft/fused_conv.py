# SPDX-License-Identifier: Apache-2.0
"""FusedConv: an activation function of a convolution.

    Y = FusedConv(X, W, B=None, Z=None, activation="", activation_params=..., group=1, kernel_shape=..., strides=...,
                  dilations=..., pads=..., auto_pad="NOTSET")

Versions: 1.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Ints, Op, Result, Tag, Version, bounded, ramp, typed, vary
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.families.sums import BEYOND_FLOAT16, but_where, overflows, roundings
from onnx_conformance.declare.sizes import filled
from onnx_conformance.operators.nn._filters import Filters, check, filter_cases, products, with_bias
from onnx_conformance.operators.nn._sizes import FILTERED, filtered
from onnx_conformance.operators.nn._windows import Sentences, Windows, lay, layouts
from onnx_conformance.operators_microsoft._activations import Activation, activation_of

if TYPE_CHECKING:
    from collections.abc import Sequence

COEFFICIENTS: dict[str, tuple[str, ...]] = {"Relu": (), "Tanh": (), "Sigmoid": (), "LeakyRelu": ("alpha",)}
"""The activations with at most one coefficient that are in wide use, and its name."""


def _activation(name: str, params: Sequence[float] | None) -> Activation | None:
    """Return an activation, or None if these parameters have no single meaning for a function of this name."""
    names, numbers = COEFFICIENTS.get(name), params or ()
    if names is None or len(names) != len(numbers):
        return None
    return activation_of(name, dict(zip(names, numbers, strict=True)))


def _rounding(
    X: Array,
    W: Array,
    B: Array | None,
    group: int,
    activation: str | None,
    activation_params: Sequence[float] | None,
    kernel_shape: Ints,  # noqa: ARG001 - the shape of W contains it
    Z: None,  # noqa: ARG001 - no case with an answer has it
    **attributes: Any,  # noqa: ANN401 - the attributes of windows
) -> list[Array]:
    """Return half a rounding of all magnitudes for each product, each sum and the bias, and that of the activation."""
    windows = lay(Version(1), WINDOWS, X.shape[2:], W.shape[2:], **attributes)
    with np.errstate(all="ignore"):
        errors = _magnitudes(windows, X, W, B, group) * roundings(W[0:1].size + 2) / 2
        applied = None if activation is None else _activation(activation, activation_params)
        return [errors if applied is None else applied.errors(with_bias(products(windows, X, W, group), B), errors)]


def _magnitudes(windows: Windows, X: Array, W: Array, B: Array | None, group: int) -> Array:
    """Return the sums of the absolute terms."""
    return with_bias(products(windows, np.abs(X), np.abs(W), group), None if B is None else np.abs(B))


FUSED = Op(
    "FusedConv",
    versions=(1,),
    compare=bounded(
        _rounding, "each product and each sum, in any order, and the activation round by half an epsilon", steps=True
    ),
    domain="com.microsoft",
    rank="X",
)
FUSED.example(
    X=waves(2, 4, 5, 6), W=waves(6, 2, 2, 3), B=waves(6), group=2, kernel_shape=[2, 3], strides=[2, 1],
    dilations=[1, 2], pads=[0, 1, 2, 1], activation="LeakyRelu", activation_params=[0.25],
)  # fmt: skip

SAME = FUSED.clause(
    "The fused convolution operator schema is the same as Conv besides it includes an attribute activation.",
    note="So without an activation, Y is that of Conv of ONNX, whose text defines windows, groups and padding. That "
    "text does not define the product of a weight that is not finite and a pixel of the padding, an input in which no "
    "window fits, or strides, dilations and groups below 1.",
)
ACTIVATION = FUSED.clause(
    "it includes an attribute activation.",
    note="The text does not list the activations, or the meaning of activation_params. Relu, Tanh, Sigmoid and "
    "LeakyRelu are read as the operators of ONNX with these names, applied to the result of Conv. A single parameter "
    "of LeakyRelu is read as its alpha. The text does not define other functions, omitted parameters, parameters that "
    "a function lacks, or the order of several parameters.",
)
FOURTH = FUSED.clause(
    "besides it includes an attribute activation.", note="Conv has no input Z, and the text does not mention it."
)
FUSED.excuse("input Z given", "the text does not define the input Z")
FILTERS = Filters(**{field.name: SAME for field in dataclasses.fields(Filters)})
WINDOWS = Sentences(1, **{field.name: SAME for field in dataclasses.fields(Sentences) if field.name != "renewed"})


@FUSED.oracle()
def fused_conv(
    v: Version,
    *,
    X: Array,
    W: Array,
    B: Array | None,
    Z: Array | None,
    activation: str | None,
    activation_params: Sequence[float] | None,
    group: int,
    kernel_shape: Ints,
    strides: Ints,
    dilations: Ints,
    pads: Ints,
    auto_pad: str,
) -> Result:
    """Return the activation of the sums of the products of each window with each filter, and the bias."""
    check(v, FILTERS, X, W, group, kernel_shape)
    v.require(SAME, X.shape[1] == W.shape[1] * group)
    v.require(SAME, W.shape[0] % group == 0)
    v.require(SAME, B is None or B.shape == W.shape[:1])
    windows = lay(v, WINDOWS, X.shape[2:], W.shape[2:], strides, dilations, pads, auto_pad)
    v.silent(SAME, min(windows.counts) < 1)
    v.silent(SAME, not (windows.inside().all() or np.isfinite(W).all()))
    v.silent(FOURTH, Z is not None)
    applied = None if activation is None else _activation(activation, activation_params)
    v.silent(ACTIVATION, applied is None and (activation is not None or activation_params is not None))
    with np.errstate(all="ignore"):
        total = with_bias(products(windows, X, W, group), B)
        sums = but_where(overflows(total, _magnitudes(windows, X, W, B, group), v.dtypes["T"]), total)
    return sums if applied is None else applied.result(v, ACTIVATION, sums)


case = FUSED.case
LEAKY: dict[str, Any] = {"activation": "LeakyRelu", "activation_params": [0.5]}
"""An activation whose results are all different."""
LINE = [[[1, 2, 4, 8]]]

case("batch", X=waves(2, 3, 4, 5), W=waves(5, 3, 3, 2), cites=SAME)
case("batch_leaky", X=waves(2, 3, 4, 5), W=waves(5, 3, 3, 2), **LEAKY, cites=(SAME, ACTIVATION))
case("not_turned", X=LINE, W=[[[1, 10]]], cites=SAME)
EVERY: dict[str, Any] = {
    "X": waves(1, 2, 4, 5), "W": waves(3, 2, 2, 3), "B": [1, -2, 0.3], "kernel_shape": [2, 3], "strides": [1, 2],
    "dilations": [2, 1], "group": 1, "pads": [0, 1, 2, 1], "auto_pad": "NOTSET",
}  # fmt: skip
"""A call with every attribute of Conv."""
case("every_attribute", **EVERY, cites=SAME)
for layout in layouts(1):
    if not layout.name.endswith("_before_1"):
        arguments: dict[str, Any] = {"X": waves(1, 2, *layout.sizes), "W": waves(3, 2, *layout.kernel)}
        case(layout.name, **arguments, **layout.attributes, **LEAKY, cites=SAME)
case("group_two", X=waves(1, 4, 3), W=waves(6, 2, 2), group=2, cites=SAME)
case("group_three_leaky", X=waves(2, 6, 4), W=waves(3, 2, 3), group=3, B=[1, 2, 3], **LEAKY, cites=SAME)
case("group_each_channel", X=waves(1, 3, 4, 5), W=waves(3, 1, 2, 3), group=3, pads=[1, 0, 0, 1], cites=SAME)
case("group_each_channel_twice", X=waves(2, 3, 4), W=waves(6, 1, 2), group=3, pads=[1, 0], cites=SAME)
case("no_maps", Tag.EDGE, X=ramp(1, 2, 4), W=ramp(0, 2, 3), cites=SAME)
case("no_channels", Tag.EDGE, X=ramp(1, 0, 4), W=ramp(3, 0, 2), B=[1, 2, 3], cites=SAME)
case("no_pixels_but_padding", Tag.EDGE, X=ramp(1, 2, 0), W=waves(3, 2, 2), pads=[1, 2], cites=SAME)
case("padding_alone", Tag.EDGE, X=waves(1, 1, 2), W=waves(1, 1, 2), pads=[3, 4], B=[0.5], cites=SAME)
case("nan", Tag.EDGE, X=[[[1, np.nan, 2, 3, 4]]], W=[[[1, 2]]], pads=[1, 1], cites=SAME)
case("infinities", Tag.EDGE, X=[[[1, np.inf, 2, -np.inf, 4]]], W=[[[1, 0, 2]]], cites=SAME)
case("infinite_weight", Tag.EDGE, X=[[[1, 2, -3, 4]]], W=[[[1, np.inf]]], cites=SAME)
case("infinite_weight_padded", Tag.EDGE, X=LINE, W=[[[1, np.inf]]], pads=[1, 0], unspecified=SAME)
case("infinite_weight_padded_one_window", Tag.EDGE, X=[[[1, 2, 4]]], W=[[[1, np.inf]]], pads=[1, 0], strides=[3],
     unspecified=SAME)  # fmt: skip
case("long", X=np.cos(np.arange(240.0)).reshape(1, 3, 80), W=waves(2, 3, 75), cites=SAME)
TERMS_BEYOND, ADDED = typed("float16", BEYOND_FLOAT16[:, None]), typed("float16", np.ones((1, 1, 5)))
case("partial_sums_beyond_float16", Tag.EDGE, X=TERMS_BEYOND, W=ADDED, cites=SAME)
case("partial_sums_beyond_float16_tanh", Tag.EDGE, X=TERMS_BEYOND, W=ADDED, activation="Tanh", cites=ACTIVATION)
BIASED: dict[str, Any] = {
    "X": typed("float16", [[[40000, -20000, 10000]]]), "W": typed("float16", [[[1, 1]], [[2, 2]]])
}  # fmt: skip
case("partial_sums_beyond_float16_by_bias", **BIASED, B=typed("float16", [30000, 1]), cites=SAME)

APPLIED: dict[str, list[float] | None] = {"Relu": None, "Tanh": None, "Sigmoid": None, "LeakyRelu": [0.25]}
"""The activations, and their parameters."""
for name, params in APPLIED.items():
    word = name.lower()
    given: dict[str, Any] = {} if params is None else {"activation_params": params}
    plane: dict[str, Any] = {"X": waves(2, 3, 4, 5), "W": waves(5, 3, 3, 2), "activation": name, **given}
    case(f"activation_{word}", **plane, cites=ACTIVATION)
    case(f"activation_{word}_bias", **plane, B=waves(5), cites=ACTIVATION)
    case(f"activation_{word}_dtypes", Tag.DTYPE, each="T", X=waves(1, 2, 4, 5), W=waves(3, 2, 2, 3) / 4,
         activation=name, **given, cites=ACTIVATION)  # fmt: skip
    case(f"activation_{word}_every_attribute", **EVERY, activation=name, **given, cites=ACTIVATION)
SMALL: dict[str, Any] = {"X": waves(1, 2, 4, 5), "W": waves(3, 2, 2, 3)}
UNDEFINED = {
    "LeakyRelu": [0.25, 0.5], "Relu": [0.5], "Elu": [1.75], "HardSigmoid": [0.25, 0.5], "Clip": [0.0, 6.0]
}  # fmt: skip
"""Activations with parameters that the text does not define."""
for name, params in UNDEFINED.items():
    case(f"parameters_of_{name.lower()}", **SMALL, activation=name, activation_params=params, unspecified=ACTIVATION)
MISSING = vary(leakyrelu="LeakyRelu", elu="Elu", hardsigmoid="HardSigmoid", clip="Clip")
case("parameters_missing", **SMALL, activation=MISSING, unspecified=ACTIVATION)
case("parameters_alone", **SMALL, activation_params=[0.5], unspecified=ACTIVATION)
NAMES = vary(empty="", lower_case="relu", unknown="Nothing", other_operator="Concat", softplus="Softplus")
case("activation", **SMALL, activation=NAMES, unspecified=ACTIVATION)
case("relu_nan", Tag.EDGE, X=[[[1, np.nan, 2, 3, 4]]], W=[[[1, 2]]], activation="Relu", unspecified=ACTIVATION)
case("sigmoid_nan", Tag.EDGE, X=[[[1, np.nan, 2, 3, 4]]], W=[[[1, 2]]], activation="Sigmoid", cites=ACTIVATION)
case("fourth_input", **SMALL, Z=waves(1, 3, 3, 3), unspecified=FOURTH)
case("fourth_input_relu", **SMALL, Z=waves(1, 3, 3, 3), activation="Relu", unspecified=FOURTH)

case("channels_too_few", X=waves(1, 3, 4), W=waves(3, 2, 2), rejects=SAME)
case("channels_of_all_groups", X=waves(1, 4, 3), W=waves(6, 4, 2), group=2, rejects=SAME)
case("maps_no_multiple", X=waves(1, 4, 3), W=waves(3, 2, 2), group=2, rejects=SAME)
case("kernel_beyond_input", Tag.EDGE, X=waves(1, 2, 3), W=waves(3, 2, 4), unspecified=SAME)
case("kernel_beyond_height", Tag.EDGE, X=waves(1, 2, 3, 5), W=waves(3, 2, 4, 2), unspecified=SAME)
case("kernel_dilated_beyond_input", X=waves(1, 2, 3), W=waves(3, 2, 2), dilations=[3], unspecified=SAME)
filter_cases(FUSED, FILTERS, WINDOWS, waves(3, 2, 2, 3))

for name, (data, weights, sizes) in FILTERED.items():
    of_sizes = {**filtered(data, weights), "B": filled("m"), "activation": "Relu"}
    FUSED.sized(name, sizes[1::4], each="T", cites=(SAME, ACTIVATION), arguments=of_sizes)
