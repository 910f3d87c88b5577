# SPDX-License-Identifier: Apache-2.0
"""CausalConvWithState: a depthwise convolution over current and past values that returns the last values as a state.

    output, present_state, state_update = CausalConvWithState(
        input, weight, bias=None, past_state=None, activation="none", channels_last=0, dilation=1, ndim=1,
        state_window=0, ...
    )

Versions: 1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, bounded, ramp, typed, vary
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.sizes import filled, grid

RANK = 3
"""The rank of (batch_size, channels, length)."""
MOST_DIMENSIONS = 3
"""The greatest number of spatial dimensions."""
MOST_SLOTS = 8
"""The greatest number of states in a window."""


def _channels_first(data: Array) -> Array:
    """Return (..., batch, length, d_1, ..., d_n), whose rank is that of the state or the input, as (batch, c, length).

    Args:
        data: a tensor of shape (batch, length, d_1, ..., d_n).
    """
    rows = data.reshape(*data.shape[:2], math.prod(data.shape[2:]))
    return rows.transpose(0, 2, 1)


def _as_declared(data: Array, channels_last: int, channels: tuple[int, ...]) -> Array:
    """Return data of shape (batch, channels, length) in the layout that the attribute selects."""
    return data.transpose(0, 2, 1).reshape(data.shape[0], data.shape[2], *channels) if channels_last else data


def _sequence(input: Array, weight: Array, past_state: Array | None, channels_last: int, dilation: int) -> Array:
    """Return the input after the state, or after zeros of the same length if there is no state."""
    current = _channels_first(input) if channels_last else input
    if past_state is None:
        past = np.zeros((*current.shape[:2], (weight.shape[2] - 1) * dilation))
    else:
        past = _channels_first(past_state) if channels_last else past_state
    return np.concatenate([past, current], axis=2)


def _convolved(sequence: Array, weight: Array, dilation: int) -> Array:
    """Return, at each position, the sum of the taps times the values of the sequence that they read."""
    taps = weight.shape[2]
    length = sequence.shape[2] - (taps - 1) * dilation
    starts = [tap * dilation for tap in range(taps)]
    return np.asarray(sum(sequence[:, :, at : at + length] * weight[:, 0, j, None] for j, at in enumerate(starts)))


def _silu(x: Array) -> Array:
    return np.asarray(x / (1 + np.exp(-x)))


def _errors(
    input: Array,
    weight: Array,
    bias: Array | None,
    past_state: Array | None,
    activation: str,
    channels_last: int,
    dilation: int,
    state_window: int,
    **_: Any,  # noqa: ANN401 - attributes that the text does not define at other values than their defaults
) -> list[Array]:
    """Return half a rounding of all magnitudes for each addition, times a slope of up to 1.1, plus the activation.

    The activation adds a few roundings.
    """
    with np.errstate(all="ignore"):
        newest = past_state[-1] if past_state is not None and state_window else past_state
        sequence = _sequence(input, weight, newest, channels_last, dilation)
        shift = np.zeros(len(weight)) if bias is None else bias
        sums = _convolved(sequence, weight, dilation) + shift[:, None]
        sizes = _convolved(np.abs(sequence), np.abs(weight), dilation) + np.abs(shift)[:, None]
        errors = sizes * (weight.shape[2] / 2 + 1) + np.abs(sums)
        if activation != "none":
            errors = 1.1 * errors + (4 + np.abs(sums) / 2) * np.abs(_silu(sums))
        return [_as_declared(errors, channels_last, input.shape[2:]), np.zeros(1), np.zeros(1)]


CONV = Op(
    "CausalConvWithState",
    versions=(1,),
    compare=bounded(_errors, "each addition rounds by half an epsilon of all magnitudes; the state is only moved"),
    domain="com.microsoft",
    rank="input",
)
EXTENDED: dict[str, Any] = {
    "input_channel_offset": 0,
    "input_channels": 0,
    "state_channels_last": -1,
    "state_length": 0,
    "state_update_capacity": 0,
}
"""The attributes of the extended path of CUDA, with their defaults."""
CONV.example(
    input=waves(2, 3, 5),
    weight=waves(3, 1, 4),
    bias=ramp(3),
    past_state=waves(2, 3, 3),
    activation="silu",
    channels_last=0,
    dilation=1,
    ndim=1,
    state_window=0,
    **EXTENDED,
)
CONV.excuse("output state_update given", "the text limits it to the extended path of CUDA, so other runtimes lack it")

STATEFUL = CONV.clause("Stateful causal depthwise convolution, generalized to N spatial dimensions.")
CAUSAL = CONV.clause(
    "The convolution is causal (looks only at current and past positions along the last spatial dimension) and "
    "depthwise (each channel is convolved independently with its own kernel)."
)
LAYOUT = CONV.clause("Input layout is channels-first: (batch_size, channels, ...).")
WEIGHT_LAYOUT = CONV.clause("Weight layout: (channels, 1, k_1, ...) for depthwise convolution.")
CARRY = CONV.clause("The carry state stores the last (k-1) positions along the causal axis for incremental decode.")
LAST_ONLY = CONV.clause("Causality is enforced on the last spatial dimension only.")
GENERALIZED = CONV.clause(
    "The ndim attribute generalizes the op to 1D, 2D, or 3D spatial dimensions.",
    note="The text does not define 2D and 3D: it does not define the padding of the dimensions that are not causal or "
    "the shape of the state. The causal axis is the last one, but the number of its taps is called k_1.",
)
FUSED = CONV.clause("The optional activation attribute supports fused SiLU/Swish activation.")
TAPS = CONV.clause(
    "The dilation attribute spaces the kernel taps along the causal axis: output position t reads input positions t - "
    "(k_1 - 1 - j) * dilation for tap j."
)
GROWS = CONV.clause(
    "The receptive field therefore spans (k_1 - 1) * dilation positions before the current one, and the carry state "
    "grows to match: past_state and present_state hold (k_1 - 1) * dilation positions instead of k_1 - 1."
)
UNDILATED = CONV.clause("Dilation 1 (the default) is the undilated case and keeps the original state length")
SEQUENCE_MAJOR = CONV.clause(
    "With channels_last = 1 and ndim = 1, input and output are (batch_size, sequence_length, d_1, ..., d_n) and the "
    "state tensors are (batch_size, state_length, d_1, ..., d_n), where channels = d_1 * ... * d_n."
)
ANY_NUMBER = CONV.clause(
    "Any number of trailing channel axes is accepted", note="The text does not define an input without channel axes."
)
KEPT = CONV.clause(
    "weight and bias keep their channels-first (channels, 1, k_1) and (channels) shapes because they have no sequence "
    "axis."
)
IDENTICAL = CONV.clause(
    "The computed values are identical to the channels-first layout; only the memory layout differs."
)
INPUT = CONV.clause(
    "Input tensor with shape (batch_size, channels, ...) in the default channels-first layout. Spatial dims: 1D: (L,);"
)
INPUT_LAST = CONV.clause("When channels_last = 1 the shape is (batch_size, sequence_length, d_1, ..., d_n) instead.")
WEIGHT = CONV.clause(
    "Depthwise convolution kernel with shape (channels, 1, k_1, ...). Spatial kernel sizes: (k_1, ..., k_ndim).",
    note="The text does not define a kernel without values.",
)
BIAS = CONV.clause("Optional per-channel bias with shape (channels).")
PAST = CONV.clause(
    "Carry state from previous step. For ndim=1: (batch_size, channels, state_length), or (W, batch_size, channels, "
    "state_length) when state_window = W > 0, in which case only slot W-1 is read, where state_length = (k_1 - 1) * "
    "dilation."
)
PAST_LAST = CONV.clause("When channels_last = 1 each slot is (batch_size, state_length, d_1, ..., d_n) instead.")
ZERO = CONV.clause("If not provided, padding is zero.")
OUTPUT = CONV.clause(
    "Convolution output with same shape as input, except the final dimension is input_channels when extended channel "
    "selection is enabled.",
    result=True,
)
PRESENT = CONV.clause(
    "Updated carry state. For ndim=1: (batch_size, channels, state_length), or (W, batch_size, channels, state_length) "
    "when state_window = W > 0, and (batch_size, state_length, d_1, ..., d_n) per slot when channels_last = 1.",
    result=True,
)
LAST_VALUES = CONV.clause(
    "Slot W-1 contains the last state_length values from the virtual input along the causal axis; slot j contains the "
    "same for the prefix ending at position (seq_len - W + j).",
    result=True,
)
ACTIVATION = CONV.clause("One of: 'silu', 'swish', 'none'. Default is 'none'.")
NEEDS_ONE_D = CONV.clause(
    "Requires ndim = 1. Default is 0 (channels-first).", note="The text does not define values other than 0 and 1."
)
SPACING = CONV.clause("Must be >= 1. Default is 1 (undilated).")
DIMENSIONS = CONV.clause("Spatial dimensionality: 1, 2, or 3. Default is 1.")
WITHOUT_WINDOW = CONV.clause(
    "When 0 (default) the state tensors have no window axis and hold only the state after the last position, i.e. the "
    "backward-compatible (batch_size, channels, state_length) where state_length = (k_1 - 1) * dilation."
)
WINDOW = CONV.clause(
    "When W > 0 both gain a LEADING axis of extent W, right-aligned: slot j is the state after position (seq_len - W + "
    "j), so slot W-1 is always the state after the last position (identical to the W = 0 tensor) and is the slot "
    "past_state is read from."
)
EMPTY_SLOTS = CONV.clause(
    "Slots below max(0, W - seq_len) hold no position from this call and are filled with zeros.",
    note="Without positions, slot W - 1 has zeros according to this sentence. According to the one before, it has the "
    "past state. The result is unspecified.",
)
SLOTS = CONV.clause("Valid range is [0, 8].")
ON_CUDA = "The text limits it to CUDA. It does not define the attribute for other runtimes."
OF_EXTENDED = {
    "input_channel_offset": CONV.clause("Starting channel of the channels-last input slice (CUDA only).", note=ON_CUDA),
    "input_channels": CONV.clause(
        "CUDA channels-last input channel slice width; 0 selects all channels.", note=ON_CUDA
    ),
    "state_channels_last": CONV.clause(
        "State layout override (CUDA only): -1 follows channels_last, 0 uses [B,C,state_length], 1 uses "
        "[B,state_length,C].",
        note=ON_CUDA,
    ),
    "state_length": CONV.clause("Carry history length (CUDA only); 0 uses (kernel_size-1)*dilation.", note=ON_CUDA),
    "state_update_capacity": CONV.clause(
        "Compact speculative state-update capture capacity (CUDA extended path only, 0..8);", note=ON_CUDA
    ),
}
NEED_ROWS = CONV.clause("Nondefault extended attributes require rank-3 input and state_window=0.")
LONG_ENOUGH = CONV.clause("An explicit length must cover the receptive field; convolution reads its trailing history.")
CAPTURED = CONV.clause("CUDA extended path only; requires rank-3 channels-last input and state_window=0.")
CAPTURE = CONV.clause(
    "Optional compact state-update capture with shape (batch_size, state_update_capacity, channels) when "
    "state_update_capacity > 0.",
    note="The text does not define the output if state_update_capacity is 0.",
)


@CONV.oracle()
def convolved(
    v: Version,
    n: int,
    input: Array,
    weight: Array,
    bias: Array | None,
    past_state: Array | None,
    activation: str,
    channels_last: int,
    dilation: int,
    ndim: int,
    state_window: int,
    input_channel_offset: int,
    input_channels: int,
    state_channels_last: int,
    state_length: int,
    state_update_capacity: int,
) -> tuple[Array, Array]:
    """Return the activated convolution of the input after its past, and the ends of that sequence."""
    v.require(DIMENSIONS, ndim in range(1, MOST_DIMENSIONS + 1))
    v.silent(NEEDS_ONE_D, channels_last not in {0, 1})
    v.require(NEEDS_ONE_D, ndim == 1 or not channels_last)
    v.silent(GENERALIZED, ndim != 1)
    v.require(ACTIVATION, activation in {"silu", "swish", "none"})
    v.require(SPACING, dilation >= 1)
    v.require(SLOTS, 0 <= state_window <= MOST_SLOTS)
    v.silent(ANY_NUMBER, bool(channels_last) and input.ndim < RANK)
    v.require(INPUT, bool(channels_last) or input.ndim == RANK)
    batch, channels, length = (_channels_first(input) if channels_last else input).shape
    v.require(WEIGHT, weight.ndim == RANK and weight.shape[:2] == (channels, 1))
    v.silent(WEIGHT, weight.shape[2] == 0)
    v.require(BIAS, bias is None or bias.shape == (channels,))
    positions, axes = (weight.shape[2] - 1) * dilation, input.shape[2:]
    slot = (batch, positions, *axes) if channels_last else (batch, channels, positions)
    state = (state_window, *slot) if state_window else slot
    v.require(PAST_LAST if channels_last else PAST, past_state is None or past_state.shape == state)
    v.silent(EMPTY_SLOTS, state_window > 0 and length == 0)
    values = (input_channel_offset, input_channels, state_channels_last, state_length, state_update_capacity)
    for (name, default), value in zip(EXTENDED.items(), values, strict=True):
        v.require(NEED_ROWS, value == default or (input.ndim == RANK and not state_window))
        v.require(LONG_ENOUGH, name != "state_length" or value == default or value >= positions)
        v.require(CAPTURED, name != "state_update_capacity" or value == default or bool(channels_last))
        v.silent(OF_EXTENDED[name], value != default)
    v.silent(CAPTURE, n == 3)  # noqa: PLR2004 - the outputs with state_update
    newest = past_state[-1] if past_state is not None and state_window else past_state

    sequence = _sequence(input, weight, newest, channels_last, dilation)
    with np.errstate(all="ignore"):
        sums = _convolved(sequence, weight, dilation)
        sums = sums if bias is None else sums + bias[:, None]
        output = sums if activation == "none" else _silu(sums)

    def after(count: int) -> Array:
        """Return the state after so many positions; zeros for none."""
        part = sequence[:, :, count : count + positions]
        return _as_declared(part if count > 0 else np.zeros(part.shape), channels_last, axes)

    if state_window:
        present = np.stack([after(max(0, length - state_window + 1 + j)) for j in range(state_window)])
    else:
        present = _as_declared(sequence[:, :, length:], channels_last, axes)
    return _as_declared(output, channels_last, axes), present


case = CONV.case
INPUT_VALUES, KERNEL, SHIFT, STATE = waves(2, 3, 5), waves(3, 1, 4)[..., ::-1], [0.5, -2, 3], waves(2, 3, 3) + 4
PLAIN: dict[str, Any] = {"input": INPUT_VALUES, "weight": KERNEL}
WHOLE: dict[str, Any] = {**PLAIN, "bias": SHIFT, "past_state": STATE}

case("plain", **PLAIN, n=2, cites=(STATEFUL, CAUSAL, LAYOUT, WEIGHT_LAYOUT, INPUT, OUTPUT, ZERO, DIMENSIONS))
case("bias", **PLAIN, bias=SHIFT, n=2, cites=BIAS)
case("past", **PLAIN, past_state=STATE, n=2, cites=(PAST, CARRY))
case("whole", **WHOLE, n=2, cites=(STATEFUL, PRESENT, LAST_VALUES, WITHOUT_WINDOW))
case("one_dimension", **WHOLE, ndim=1, n=2, cites=(DIMENSIONS, LAST_ONLY))
case("extended_defaults", **WHOLE, **EXTENDED, n=2, cites=(PAST, PRESENT, OUTPUT))
for mode in ("silu", "swish", "none"):
    case(f"activation_{mode}", **WHOLE, activation=mode, n=2, cites=(ACTIVATION, FUSED))
    case(f"activation_{mode}_alone", **PLAIN, activation=mode, n=2, cites=(ACTIVATION, FUSED))
    case(f"each_type_{mode}", Tag.DTYPE, each="T", **WHOLE, activation=mode, n=2, cites=(OUTPUT, PRESENT))
case("activation", **PLAIN, activation=vary(unknown="relu", upper_case="SiLU", empty=""), n=2, rejects=ACTIVATION)

case("looks_back", input=[[[1, 0, 0, 0, 0, 0]]], weight=[[[4, 3, 2]]], n=2, cites=(CAUSAL, TAPS))
case("looks_back_at_the_past", input=[[[0, 0, 0]]], weight=[[[4, 3, 2]]], past_state=[[[10, 100]]], n=2, cites=PAST)
case("first_position", input=[[[1]]], weight=[[[4, 3, 2]]], past_state=[[[10, 100]]], n=2, cites=(CAUSAL, LAST_VALUES))
case("kernel_one", Tag.EDGE, input=INPUT_VALUES, weight=waves(3, 1, 1), n=2, cites=(PRESENT, WEIGHT))
case("kernel_one_past", Tag.EDGE, input=INPUT_VALUES, weight=waves(3, 1, 1), past_state=ramp(2, 3, 0), n=2, cites=PAST)
case("kernel_two", input=INPUT_VALUES, weight=waves(3, 1, 2), past_state=waves(2, 3, 1), n=2, cites=PAST)
case("kernel", input=INPUT_VALUES, weight=vary(as_long=waves(3, 1, 5), longer=waves(3, 1, 6)), n=2, cites=LAST_VALUES)
TWO = INPUT_VALUES[..., :2]
case("kernel_much_longer", input=TWO, weight=waves(3, 1, 6), n=2, cites=LAST_VALUES)
case("kernel_longer_past", input=TWO, weight=waves(3, 1, 6), past_state=waves(2, 3, 5), n=2, cites=LAST_VALUES)
case("one_position", Tag.EDGE, input=TWO[..., :1], weight=KERNEL, past_state=STATE, n=2, cites=LAST_VALUES)
case("no_positions", Tag.EDGE, input=ramp(2, 3, 0), weight=KERNEL, past_state=STATE, n=2, cites=LAST_VALUES)
case("no_positions_and_no_past", Tag.EDGE, input=ramp(2, 3, 0), weight=KERNEL, n=2, cites=(LAST_VALUES, ZERO))
case("no_batch", Tag.EDGE, input=ramp(0, 3, 5), weight=KERNEL, n=2, cites=INPUT)
case("no_channels", Tag.EDGE, input=ramp(2, 0, 5), weight=ramp(0, 1, 4), n=2, cites=INPUT)
case("one_channel", Tag.EDGE, input=waves(4, 1, 3), weight=waves(1, 1, 2), bias=[2], n=2, cites=CAUSAL)
case("one_element", Tag.EDGE, input=[[[-3.5]]], weight=[[[2]]], n=2, cites=OUTPUT)
case("long", input=waves(1, 2, 200), weight=waves(2, 1, 67), past_state=waves(1, 2, 66), n=2, cites=CAUSAL)
case("many_channels", input=waves(1, 37, 3), weight=waves(37, 1, 2), n=2, cites=CAUSAL)
for name, value in (("nan", np.nan), ("infinity", np.inf), ("minus_infinity", -np.inf)):
    spoilt: dict[str, Any] = {"input": [[[1, value, 2, 3, 4]]], "weight": [[[4, 3]]]}
    case(f"{name}_in_input", Tag.EDGE, **spoilt, n=2, cites=CAUSAL)
    of_past: dict[str, Any] = {"weight": [[[4, 3, 2]]], "past_state": [[[value, 1]]]}
    case(f"{name}_in_past", Tag.EDGE, input=[[[1, 2, 3]]], **of_past, n=2, cites=PAST)
    case(f"{name}_in_bias", Tag.EDGE, input=waves(1, 2, 3), weight=waves(2, 1, 2), bias=[1, value], n=2, cites=BIAS)
for name, values in (("infinity", [np.inf, np.nan, 800, 0.0, -80]), ("far_below", [-800, -100, -20, 20, 100])):
    case(f"{name}_silu", Tag.EDGE, input=[[values]], weight=[[[1]]], activation="silu", n=2, cites=FUSED)

# The kernel has 4 taps, so the state has 6 positions at a dilation of 2, and 9 at one of 3.
for dilation, positions in ((2, 6), (3, 9)):
    case(f"dilation_{dilation}", **PLAIN, dilation=dilation, n=2, cites=(TAPS, GROWS, SPACING))
    dilated: dict[str, Any] = {**WHOLE, "past_state": waves(2, 3, positions) + 4, "dilation": dilation}
    case(f"dilation_{dilation}_past", **dilated, n=2, cites=(TAPS, GROWS, PAST))
    case(f"dilation_{dilation}_silu", **dilated, activation="silu", n=2, cites=(TAPS, FUSED))
case("dilation_one", **WHOLE, dilation=1, n=2, cites=(UNDILATED, SPACING))
case("dilation_of_one_tap", Tag.EDGE, input=INPUT_VALUES, weight=waves(3, 1, 1), dilation=3, n=2, cites=GROWS)
case("dilation", Tag.EDGE, **PLAIN, dilation=vary(zero=0, negative=-1), n=2, rejects=SPACING)
case("dilation_past_of_undilated", **WHOLE, dilation=2, n=2, rejects=PAST)

# The same values in the other layout, with one, two or three axes of channels.
LAST, LAST_STATE = INPUT_VALUES.transpose(0, 2, 1), STATE.transpose(0, 2, 1)
LAST_WHOLE: dict[str, Any] = {**WHOLE, "input": LAST, "past_state": LAST_STATE, "channels_last": 1}
OF_LAST = (SEQUENCE_MAJOR, IDENTICAL, INPUT_LAST, PAST_LAST, KEPT, ANY_NUMBER)
case("channels_last", **LAST_WHOLE, n=2, cites=OF_LAST)
case("channels_last_without_past", input=LAST, weight=KERNEL, channels_last=1, n=2, cites=OF_LAST)
case("channels_last_silu", **LAST_WHOLE, activation="silu", n=2, cites=OF_LAST)
case("channels_last_each_type", Tag.DTYPE, each="T", **LAST_WHOLE, activation="silu", n=2, cites=SEQUENCE_MAJOR)
DILATED_LAST: dict[str, Any] = {**LAST_WHOLE, "past_state": waves(2, 6, 3) + 4, "dilation": 2}
case("channels_last_dilation", **DILATED_LAST, n=2, cites=(SEQUENCE_MAJOR, GROWS))
for name, axes in {"two": (3, 2), "three": (3, 2, 2)}.items():
    several: dict[str, Any] = {
        "input": waves(2, 5, *axes),
        "weight": waves(math.prod(axes), 1, 4),
        "bias": waves(math.prod(axes)),
        "channels_last": 1,
    }
    case(f"channels_last_{name}_axes", **several, past_state=waves(2, 3, *axes) + 4, n=2, cites=OF_LAST)
    case(f"channels_last_{name}_axes_without_past", **several, n=2, cites=ANY_NUMBER)
    case(f"channels_last_{name}_axes_past_first", **several, past_state=ramp(2, *axes, 3), n=2, rejects=PAST_LAST)
case("channels_last_past_first", **{**LAST_WHOLE, "past_state": waves(2, 3, 4)}, n=2, rejects=PAST_LAST)
case("channels_last_input_first", **{**LAST_WHOLE, "input": INPUT_VALUES}, n=2, rejects=WEIGHT)
case("channels_last_zero", **WHOLE, channels_last=0, n=2, cites=NEEDS_ONE_D)
IN_TWO: dict[str, Any] = {"input": waves(2, 5, 6, 3), "weight": waves(3, 1, 1, 4), "ndim": 2}
case("channels_last_of_2d", **IN_TWO, channels_last=1, n=2, rejects=NEEDS_ONE_D)
case("channels_last_two", Tag.EDGE, **WHOLE, channels_last=2, n=2, unspecified=NEEDS_ONE_D)
NO_AXES: dict[str, Any] = {"input": waves(2, 5), "weight": waves(1, 1, 4), "channels_last": 1}
case("channels_last_no_axes", Tag.EDGE, **NO_AXES, n=2, unspecified=ANY_NUMBER)

for slots in (1, 2, 3, 8):
    case(f"window_{slots}", **PLAIN, bias=SHIFT, state_window=slots, n=2, cites=(WINDOW, LAST_VALUES, EMPTY_SLOTS))
    windowed: dict[str, Any] = {**WHOLE, "past_state": waves(slots, 2, 3, 3) + 4, "state_window": slots}
    case(f"window_{slots}_past", **windowed, n=2, cites=(WINDOW, PAST, EMPTY_SLOTS))
    last: dict[str, Any] = {**LAST_WHOLE, "past_state": waves(slots, 2, 3, 3) + 4, "state_window": slots}
    case(f"window_{slots}_channels_last", **last, n=2, cites=(WINDOW, PAST_LAST, EMPTY_SLOTS))
WINDOW_OF_TWO: dict[str, Any] = {"past_state": waves(2, 2, 3, 3), "state_window": 2}
case("window_one_position", Tag.EDGE, input=TWO[..., :1], weight=KERNEL, **WINDOW_OF_TWO, n=2, cites=EMPTY_SLOTS)
case("window_silu", **{**WHOLE, **WINDOW_OF_TWO}, activation="silu", n=2, cites=WINDOW)
case("window_dilation", **{**WHOLE, "past_state": waves(3, 2, 3, 6)}, dilation=2, state_window=3, n=2, cites=WINDOW)
case("window", Tag.EDGE, **PLAIN, state_window=vary(of_nine=9, negative=-1), n=2, rejects=SLOTS)
case("window_past_without", **WHOLE, state_window=2, n=2, rejects=PAST)
case("window_past_of_fewer", **{**WHOLE, **WINDOW_OF_TWO, "state_window": 3}, n=2, rejects=PAST)
NOTHING: dict[str, Any] = {"input": ramp(2, 3, 0), "weight": KERNEL}
case("window_no_positions", Tag.EDGE, **NOTHING, **WINDOW_OF_TWO, n=2, unspecified=EMPTY_SLOTS)

case("input_matrix", input=waves(3, 5), weight=KERNEL, n=2, rejects=INPUT)
case("input_rank4", input=waves(2, 3, 5, 1), weight=KERNEL, n=2, rejects=INPUT)
WRONG_WEIGHTS = {
    "matrix": (3, 4),
    "rank4": (3, 1, 4, 1),
    "of_fewer_channels": (2, 1, 4),
    "of_one_channel": (1, 1, 4),
    "of_groups": (3, 3, 4),
    "transposed": (1, 3, 4),
}
for name, shape in WRONG_WEIGHTS.items():
    case(f"weight_{name}", input=INPUT_VALUES, weight=waves(*shape), n=2, rejects=WEIGHT)
case("kernel_empty", Tag.EDGE, input=INPUT_VALUES, weight=ramp(3, 1, 0), n=2, unspecified=WEIGHT)
for name, shape in {"short": (2,), "one": (1,), "long": (4,), "scalar": (), "matrix": (1, 3), "column": (3, 1)}.items():
    case(f"bias_{name}", **PLAIN, bias=ramp(*shape), n=2, rejects=BIAS)
WRONG_STATES = {
    "of_kernel": (2, 3, 4),
    "short": (2, 3, 2),
    "empty": (2, 3, 0),
    "of_one_batch": (1, 3, 3),
    "of_one_channel": (2, 1, 3),
    "matrix": (3, 3),
}
for name, shape in WRONG_STATES.items():
    case(f"past_{name}", **PLAIN, past_state=ramp(*shape), n=2, rejects=PAST)
case("dimensions", Tag.EDGE, **PLAIN, ndim=vary(none=0, four=4, negative=-1), n=2, rejects=DIMENSIONS)
case("two_dimensions", **IN_TWO, n=2, unspecified=GENERALIZED)
case("three_dimensions", input=waves(2, 3, 4, 5, 6), weight=waves(3, 1, 1, 1, 2), ndim=3, n=2, unspecified=GENERALIZED)
SET = {
    "input_channel_offset": 1,
    "input_channels": 2,
    "state_channels_last": 1,
    "state_length": 5,
    "state_update_capacity": 2,
}
for name, number in SET.items():
    of_cuda: dict[str, Any] = {"input": LAST, "weight": KERNEL, "channels_last": 1, name: number}
    case(f"{name}_set", Tag.EDGE, **of_cuda, n=2, unspecified=OF_EXTENDED[name])
    case(f"{name}_window", Tag.EDGE, **of_cuda, state_window=2, n=2, rejects=NEED_ROWS)
    of_axes: dict[str, Any] = {**of_cuda, "input": waves(2, 5, 3, 1)}
    case(f"{name}_rank4", Tag.EDGE, **of_axes, n=2, rejects=NEED_ROWS)
case("state_length_short", Tag.EDGE, **PLAIN, state_length=2, n=2, rejects=LONG_ENOUGH)
case("state_length_of_kernel", Tag.EDGE, **PLAIN, state_length=3, n=2, unspecified=OF_EXTENDED["state_length"])
case("state_update_channels_first", Tag.EDGE, **PLAIN, state_update_capacity=2, n=2, rejects=CAPTURED)
case("state_update_of_none", Tag.EDGE, **PLAIN, n=3, unspecified=CAPTURE)
AT_LIMITS = typed("float16", [[[60000, 5000, -60000, 60000]]])
case("beyond_float16", Tag.EDGE, input=AT_LIMITS, weight=typed("float16", [[[1, 1]]]), n=2, cites=OUTPUT)

LINES = grid(b=(2,), c=(3, 16, 65), t=(1, 7, 64, 129, 513), k=(2, 4))
for mode in ("none", "silu"):
    of_sizes: dict[str, Any] = {
        "input": filled("b", "c", "t"),
        "weight": filled("c", 1, "k"),
        "bias": filled("c"),
        "activation": mode,
    }
    CONV.sized(f"lines_{mode}", LINES[::2], n=2, each="T", cites=(STATEFUL, OUTPUT), arguments=of_sizes)
    states = {**of_sizes, "past_state": filled("b", "c", "state")}
    with_past = [{**sizes, "state": sizes["k"] - 1} for sizes in LINES[1::4]]
    CONV.sized(f"past_{mode}", with_past, n=2, each="T", cites=(PAST, PRESENT), arguments=states)
    rows = {**of_sizes, "input": filled("b", "t", "c"), "channels_last": 1, "dilation": 2}
    CONV.sized(f"rows_{mode}", LINES[2::5], n=2, each="T", cites=(SEQUENCE_MAJOR, GROWS), arguments=rows)
