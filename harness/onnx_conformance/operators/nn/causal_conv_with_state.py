# SPDX-License-Identifier: Apache-2.0
"""CausalConvWithState: a depthwise convolution over current and past values that returns the last values as a state.

    output, present_state = CausalConvWithState(input, weight, bias=None, past_state=None, activation="none")

Version: 27.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, bounded, ramp
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.sizes import filled, grid


def _sequence(input: Array, weight: Array, past_state: Array | None) -> Array:
    """Return the input after the state, or after zeros of the same length if there is no state."""
    past = np.zeros((*input.shape[:2], weight.shape[2] - 1)) if past_state is None else past_state
    return np.concatenate([past.astype(np.float64), input.astype(np.float64)], axis=2)


def _convolved(sequence: Array, weight: Array, length: int) -> Array:
    """Return, at each position, the sum of the kernel's values times the values that end at this position."""
    return np.asarray(sum(sequence[:, :, k : k + length] * weight[:, 0, k, None] for k in range(weight.shape[2])))


def _silu(x: Array) -> Array:
    return np.asarray(x / (1 + np.exp(-x)))


def _errors(input: Array, weight: Array, bias: Array | None, past_state: Array | None, activation: str) -> list[Array]:
    """Return half a rounding of all magnitudes for each addition, times a slope of up to 1.1, plus the activation.

    The activation adds a few roundings.
    """
    with np.errstate(all="ignore"):
        sequence, length = _sequence(input, weight, past_state), input.shape[2]
        shift = np.zeros(len(weight)) if bias is None else bias.astype(np.float64)
        kernel = weight.astype(np.float64)
        sums = _convolved(sequence, kernel, length) + shift[:, None]
        sizes = _convolved(np.abs(sequence), np.abs(kernel), length) + np.abs(shift)[:, None]
        errors = sizes * (weight.shape[2] / 2 + 1) + np.abs(sums)
        if activation != "none":
            errors = 1.1 * errors + (4 + np.abs(sums) / 2) * np.abs(_silu(sums))
        return [errors, np.zeros(1)]


CONV = Op(
    "CausalConvWithState",
    versions=(27,),
    compare=bounded(_errors, "each addition rounds by half an epsilon of all magnitudes; the state is only moved"),
    rank="input",
)
CONV.example(input=waves(2, 3, 5), weight=waves(3, 1, 4), bias=ramp(3), past_state=waves(2, 3, 3), activation="silu")

STATEFUL = CONV.clause("Stateful causal 1D depthwise convolution.")
CAUSAL = CONV.clause("The convolution is causal (looks only at current and past positions)")
DEPTHWISE = CONV.clause("(each channel is convolved independently with its own kernel).")
SHAPES = CONV.clause(
    "The input, weight, past_state, output, and present_state tensors are rank-3 with shape (batch_size, channels, "
    "length)."
)
BIAS = CONV.clause("The optional bias input is rank-1 with shape (channels).")
LAYOUT = CONV.clause("Weight layout: (channels, 1, k) for depthwise convolution.")
CARRY = CONV.clause("The carry state stores the last (k-1) positions for incremental decode.")
FUSED = CONV.clause("The optional activation attribute supports fused SiLU/Swish activation.")
ACTIVATION = CONV.clause("One of: 'silu', 'swish', 'none'. Default is 'none'.")
INPUT = CONV.clause("Input tensor with shape (batch_size, channels, length). Channels-first layout.")
WEIGHT = CONV.clause(
    "Depthwise convolution kernel with shape (channels, 1, k) where k is the kernel size.",
    note="The last value of a kernel belongs to the current position, as in Conv. The text does not define a kernel "
    "without values.",
)
PER_CHANNEL = CONV.clause("Optional per-channel bias with shape (channels).")
PAST = CONV.clause("Carry state from previous step with shape (batch_size, channels, k - 1).")
ZERO = CONV.clause("If not provided, padding is zero.")
OUTPUT = CONV.clause("Convolution output with same shape as input.")
PRESENT = CONV.clause("Updated carry state with shape (batch_size, channels, k - 1).")
EFFECTIVE = CONV.clause(
    "Contains the last (k - 1) values of the effective padded/concatenated sequence along the causal axis, including "
    "any values from past_state or zero-padding when the current input is shorter than k - 1."
)


@CONV.oracle()
def convolved(
    v: Version, input: Array, weight: Array, bias: Array | None, past_state: Array | None, activation: str
) -> tuple[Array, Array]:
    """Return the activated convolution of the input after its past, and the end of that sequence."""
    v.require(INPUT, input.ndim == 3)  # noqa: PLR2004 - (batch_size, channels, length)
    v.require(WEIGHT, weight.ndim == 3 and weight.shape[:2] == (input.shape[1], 1))  # noqa: PLR2004
    v.silent(WEIGHT, weight.shape[2] < 1)
    state = weight.shape[2] - 1
    v.require(PER_CHANNEL, bias is None or bias.shape == input.shape[1:2])
    v.require(PAST, past_state is None or past_state.shape == (*input.shape[:2], state))
    v.require(ACTIVATION, activation in {"silu", "swish", "none"})
    sequence = _sequence(input, weight, past_state)
    with np.errstate(all="ignore"):
        sums = _convolved(sequence, weight.astype(np.float64), input.shape[2])
        sums = sums if bias is None else sums + bias.astype(np.float64)[:, None]
        output = sums if activation == "none" else _silu(sums)
    return output, sequence[:, :, sequence.shape[2] - state :]


case = CONV.case
INPUT_VALUES, KERNEL, SHIFT, STATE = waves(2, 3, 5), waves(3, 1, 4)[..., ::-1], [0.5, -2, 3], waves(2, 3, 3) + 4
PLAIN: dict[str, Any] = {"input": INPUT_VALUES, "weight": KERNEL}
WHOLE: dict[str, Any] = {**PLAIN, "bias": SHIFT, "past_state": STATE}

case("plain", **PLAIN, n=2, cites=(STATEFUL, CAUSAL, DEPTHWISE, SHAPES, LAYOUT, OUTPUT, ZERO))
case("bias", **PLAIN, bias=SHIFT, n=2, cites=(BIAS, PER_CHANNEL))
case("past", **PLAIN, past_state=STATE, n=2, cites=(PAST, CARRY))
case("whole", **WHOLE, n=2, cites=(STATEFUL, PRESENT, EFFECTIVE))
for mode in ("silu", "swish", "none"):
    case(f"activation_{mode}", **WHOLE, activation=mode, n=2, cites=(ACTIVATION, FUSED))
    case(f"activation_{mode}_alone", **PLAIN, activation=mode, n=2, cites=(ACTIVATION, FUSED))
    case(f"each_type_{mode}", Tag.DTYPE, each="T", **WHOLE, activation=mode, n=2, cites=(OUTPUT, PRESENT))
case("activation_unknown", **PLAIN, activation="relu", n=2, rejects=ACTIVATION)
case("activation_upper_case", **PLAIN, activation="SiLU", n=2, rejects=ACTIVATION)
case("activation_empty", **PLAIN, activation="", n=2, rejects=ACTIVATION)

case("looks_back", input=[[[1, 0, 0, 0, 0, 0]]], weight=[[[4, 3, 2]]], n=2, cites=(CAUSAL, WEIGHT))
case("looks_back_at_the_past", input=[[[0, 0, 0]]], weight=[[[4, 3, 2]]], past_state=[[[10, 100]]], n=2, cites=PAST)
case("first_position", input=[[[1]]], weight=[[[4, 3, 2]]], past_state=[[[10, 100]]], n=2, cites=(CAUSAL, EFFECTIVE))
case("kernel_one", Tag.EDGE, input=INPUT_VALUES, weight=waves(3, 1, 1), n=2, cites=(PRESENT, WEIGHT))
case("kernel_one_past", Tag.EDGE, input=INPUT_VALUES, weight=waves(3, 1, 1), past_state=ramp(2, 3, 0), n=2, cites=PAST)
case("kernel_two", input=INPUT_VALUES, weight=waves(3, 1, 2), past_state=waves(2, 3, 1), n=2, cites=PAST)
case("kernel_as_long", input=INPUT_VALUES, weight=waves(3, 1, 5), n=2, cites=EFFECTIVE)
case("kernel_one_longer", input=INPUT_VALUES, weight=waves(3, 1, 6), n=2, cites=EFFECTIVE)
case("kernel_longer", input=INPUT_VALUES[..., :2], weight=waves(3, 1, 6), n=2, cites=EFFECTIVE)
case(
    "kernel_longer_past",
    input=INPUT_VALUES[..., :2],
    weight=waves(3, 1, 6),
    past_state=waves(2, 3, 5),
    n=2,
    cites=EFFECTIVE,
)
case("one_position", Tag.EDGE, input=INPUT_VALUES[..., :1], weight=KERNEL, past_state=STATE, n=2, cites=EFFECTIVE)
case("no_positions", Tag.EDGE, input=ramp(2, 3, 0), weight=KERNEL, past_state=STATE, n=2, cites=EFFECTIVE)
case("no_positions_and_no_past", Tag.EDGE, input=ramp(2, 3, 0), weight=KERNEL, n=2, cites=(EFFECTIVE, ZERO))
case("no_batch", Tag.EDGE, input=ramp(0, 3, 5), weight=KERNEL, n=2, cites=SHAPES)
case("no_channels", Tag.EDGE, input=ramp(2, 0, 5), weight=ramp(0, 1, 4), n=2, cites=SHAPES)
case("one_channel", Tag.EDGE, input=waves(4, 1, 3), weight=waves(1, 1, 2), bias=[2], n=2, cites=DEPTHWISE)
case("one_element", Tag.EDGE, input=[[[-3.5]]], weight=[[[2]]], n=2, cites=OUTPUT)
case("long", input=waves(1, 2, 200), weight=waves(2, 1, 67), past_state=waves(1, 2, 66), n=2, cites=CAUSAL)
case("many_channels", input=waves(1, 37, 3), weight=waves(37, 1, 2), n=2, cites=DEPTHWISE)
for name, value in (("nan", np.nan), ("infinity", np.inf), ("minus_infinity", -np.inf)):
    spoilt = [[[1, value, 2, 3, 4]]]
    case(f"{name}_in_input", Tag.EDGE, input=spoilt, weight=[[[4, 3]]], n=2, cites=CAUSAL)
    case(
        f"{name}_in_past",
        Tag.EDGE,
        input=[[[1, 2, 3]]],
        weight=[[[4, 3, 2]]],
        past_state=[[[value, 1]]],
        n=2,
        cites=PAST,
    )
    case(f"{name}_in_bias", Tag.EDGE, input=waves(1, 2, 3), weight=waves(2, 1, 2), bias=[1, value], n=2, cites=BIAS)
case(
    "infinity_silu",
    Tag.EDGE,
    input=[[[np.inf, np.nan, 800, 0.0, -80]]],
    weight=[[[1]]],
    activation="silu",
    n=2,
    cites=FUSED,
)
case(
    "far_below_silu",
    Tag.EDGE,
    input=[[[-800, -100, -20, 20, 100]]],
    weight=[[[1]]],
    activation="silu",
    n=2,
    cites=FUSED,
)

case("input_matrix", input=waves(3, 5), weight=KERNEL, n=2, rejects=INPUT)
case("input_rank4", input=waves(2, 3, 5, 1), weight=KERNEL, n=2, rejects=INPUT)
for name, shape in (
    ("matrix", (3, 4)),
    ("rank4", (3, 1, 4, 1)),
    ("of_fewer_channels", (2, 1, 4)),
    ("of_one_channel", (1, 1, 4)),
    ("of_more_channels", (6, 1, 4)),
    ("of_groups", (3, 3, 4)),
    ("transposed", (1, 3, 4)),
):
    case(f"weight_{name}", input=INPUT_VALUES, weight=waves(*shape), n=2, rejects=WEIGHT)
case("kernel_empty", Tag.EDGE, input=INPUT_VALUES, weight=ramp(3, 1, 0), n=2, unspecified=WEIGHT)
for name, sizes in (
    ("short", (2,)),
    ("one", (1,)),
    ("long", (4,)),
    ("scalar", ()),
    ("matrix", (1, 3)),
    ("column", (3, 1)),
):
    case(f"bias_{name}", **PLAIN, bias=ramp(*sizes), n=2, rejects=PER_CHANNEL)
for name, state in (
    ("of_kernel", (2, 3, 4)),
    ("short", (2, 3, 2)),
    ("empty", (2, 3, 0)),
    ("of_one_batch", (1, 3, 3)),
    ("of_one_channel", (2, 1, 3)),
    ("matrix", (3, 3)),
    ("positions_first", (2, 3, 3, 1)),
):
    case(f"past_{name}", **PLAIN, past_state=ramp(*state), n=2, rejects=PAST)

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
