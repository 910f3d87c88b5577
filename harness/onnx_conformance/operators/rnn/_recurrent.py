# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers: the common part of LSTM, GRU and RNN, except the equations of one step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare.partly_open import PartlyOpen
from onnx_conformance.declare.readings import OWN_FORMULA
from onnx_conformance.declare.rounding import saturated
from onnx_conformance.declare.tolerance import measured

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from onnx_conformance.declare import Array
    from onnx_conformance.declare.clause import Clause, Version
    from onnx_conformance.declare.op import Op

DIRECTIONS = {"forward": (1,), "reverse": (-1,), "bidirectional": (1, -1)}
TRANSPOSED = 7
"""The first version whose equations transpose R."""
LAYOUT = 14
"""The version that introduced layout."""
UNTRANSPOSED = (
    "The text transposes W but not R; since version 7 it transposes R too. So R is used without transposition. Only "
    "the cases `not_symmetric` have an R that differs from its transpose."
)
"""The note on an equation before version 7."""


def dimensions(shapes: Mapping[str, tuple[int, ...]], attributes: Mapping[str, Any]) -> Mapping[str, Sequence[str]]:
    """Name the dimensions of layout 1; the descriptions of inputs and outputs name those of layout 0."""
    if not attributes.get("layout"):
        return {}
    state = ("batch_size", "num_directions", "hidden_size")
    states = {name: state for name in shapes if name in {"initial_h", "initial_c", "Y_h", "Y_c"}}
    y = ("batch_size", "seq_length", "num_directions", "hidden_size")
    return {"X": ("batch_size", "seq_length", "input_size"), **states, "Y": y}


@dataclass(frozen=True)
class Activation:
    """An activation function of x, alpha and beta.

    Attributes:
        of: the function that computes its values.
        alpha, beta: the default in the ONNX operator of that name. None means no default, "" means no such parameter.
    """

    of: Callable[[Array, Any, Any], Array]
    alpha: float | str | None = ""
    beta: float | str | None = ""


ACTIVATIONS = {
    "Relu": Activation(lambda x, *_: np.maximum(0, x)),
    "Tanh": Activation(lambda x, *_: np.tanh(x)),
    "Sigmoid": Activation(lambda x, *_: saturated(1 / (1 + np.exp(-x)))),
    "Affine": Activation(lambda x, alpha, beta: alpha * x + beta, None, None),
    "LeakyRelu": Activation(lambda x, alpha, _: np.where(x >= 0, x, alpha * x), 0.01),
    "ThresholdedRelu": Activation(lambda x, alpha, _: np.where(x >= alpha, x, 0), 1.0),
    "ScaledTanh": Activation(lambda x, alpha, beta: alpha * np.tanh(beta * x), None, None),
    "HardSigmoid": Activation(lambda x, alpha, beta: np.minimum(np.maximum(alpha * x + beta, 0), 1), 0.2, 0.5),
    "Elu": Activation(lambda x, alpha, _: np.where(x >= 0, x, alpha * (np.exp(x) - 1)), 1.0),
    "Softsign": Activation(lambda x, *_: x / (1 + np.abs(x))),
    "Softplus": Activation(lambda x, *_: np.log(1 + np.exp(x))),
}
TOLERANCE = measured("sums, products and functions round, and errors add up from step to step")


@dataclass(frozen=True)
class Recurrent:
    """The sentences of the texts, one field for each sentence.

    Attributes:
        gates: the number of gates with weights.
        functions: the default activation functions, in the order of the equations.
        states: names of the states that are initial inputs.
        weights, recurrence, bias, counted: the sentences of the operator on shapes and on the number of functions.
        equation: an equation in which R is transposed, but not in its earlier wording.
        layout, layout_one: the shapes of layout 0 and of layout 1.
    """

    gates: int
    functions: tuple[str, ...]
    states: tuple[str, ...]
    weights: Clause
    recurrence: Clause
    bias: Clause
    counted: Clause
    equation: Clause
    direction: Clause
    packed: Clause
    known: Clause
    optional: Clause
    consumed: Clause
    defaults: Clause
    clip: Clause
    no_clip: Clause
    lengths: Clause
    no_lengths: Clause
    batch: Clause
    zero: Clause
    state_shape: Clause
    concats: Clause
    last: Clause
    neurons: Clause
    layout: Clause
    layout_one: Clause
    missing: Clause
    trailing: Clause
    directions: Clause
    optional_y: Clause
    if_zero: Clause


def recurrent(
    op: Op,
    functions: tuple[str, ...],
    states: tuple[str, ...],
    *,
    weights: Clause,
    recurrence: Clause,
    bias: Clause,
    counted: Clause,
    equation: Clause,
    layout: Clause,
    layout_one: Clause,
    defaults_since: int | None,
    known: Clause | None = None,
) -> Recurrent:
    """Declare the sentences that the operators share verbatim, and add those of one operator; see Recurrent.

    Alpha and beta have defaults since version `defaults_since`. `known` is the sentence of an operator with one
    function on that function.
    """
    return Recurrent(
        gates={"LSTM": 4, "GRU": 3, "RNN": 1}[op.name],
        functions=functions,
        states=states,
        weights=weights,
        recurrence=recurrence,
        bias=bias,
        counted=counted,
        equation=equation,
        direction=op.clause(
            "Must be one of forward (default), reverse, or bidirectional.",
            note="The schema of GRU 1 has the default `foward`; the sentence decides. The text does not define the "
            "order of Y for reverse. It is the order of X, in which t counts the time steps, as the official cases "
            "show.",
            see=(
                "https://github.com/onnx/onnx/issues/626",
                "https://github.com/onnx/onnx/pull/7935",
                "https://github.com/onnx/onnx-tensorflow/issues/342",
            ),
        ),
        packed=op.clause(
            "The input sequences packed (and potentially padded) into one 3-D tensor with the shape of `[seq_length, "
            "batch_size, input_size]`.",
            note="If layout is 1, the sentence on layout 1 defines the shape.",
        ),
        known=known or op.clause("The activation functions must be one of the activation functions specified above."),
        optional=op.clause(
            "Below are optional",
            note="A runtime that does not implement one of them reports this, which counts as `unsupported`.",
        ),
        consumed=op.clause(
            "The values are consumed in the order of activation functions, for example (f, g, h) in LSTM.",
            note="A function without parameters consumes no values. The text does not define more or fewer values than "
            "are consumed.",
        ),
        defaults=op.clause(
            "Default values are the same as of corresponding ONNX operators.",
            since=defaults_since,
            note="ONNX has no operator Affine or ScaledTanh. In onnxruntime the default alpha of ThresholdedRelu is "
            "not 1.",
        ),
        clip=op.clause(
            "Clipping bounds the elements of a tensor in the range of [-threshold, +threshold] and is applied to the "
            "input of activations.",
            note="Therefore clip bounds the input of the activation of a state, not the state. In LSTM, h is an "
            "activation like f and g, and its input is Ct. The input of f is the whole sum with the terms of "
            "peepholes, in which Ct is not clipped. The preceding words `Cell clip threshold` are the name of the "
            "attribute. The text does not define a negative threshold. onnxruntime clips the inputs of f and g in "
            "LSTM, but not that of h; onnx.reference does not clip.",
            see=("https://github.com/microsoft/onnxruntime/issues/27224",),
        ),
        no_clip=op.clause("No clip if not specified."),
        lengths=op.clause(
            "Optional tensor specifying lengths of the sequences in a batch.",
            note="The text does not define lengths that are 0, negative or greater than seq_length. It does not define "
            "Y after the end of a sequence, so any value is accepted. A reversed sequence begins at its end. "
            "onnx.reference ignores lengths.",
        ),
        no_lengths=op.clause("If not specified - assumed all sequences in the batch to have length `seq_length`."),
        batch=op.clause("It has shape `[batch_size]`."),
        zero=op.clause("If not specified - assumed to be 0"),
        state_shape=op.clause("It has shape `[num_directions, batch_size, hidden_size]`."),
        concats=op.clause("A tensor that concats all the intermediate output values of the hidden."),
        last=op.clause("The last output value of the hidden.", note="Without time steps there is no last value."),
        neurons=op.clause(
            "Number of neurons in the hidden layer",
            note="If it is omitted, the shape of R defines it; onnxruntime rejects this.",
        ),
        layout=layout,
        layout_one=layout_one,
        missing=op.clause(
            "An empty string may be used in the place of an actual argument's name to indicate a missing argument.",
            since=7,
        ),
        trailing=op.clause(
            "Trailing optional arguments (those not followed by an argument that is present) may also be simply "
            "omitted.",
            since=7,
        ),
        directions=op.clause("`num_directions` - 2 if direction == bidirectional else 1"),
        optional_y=op.clause("The sequence output for the hidden is optional if 0. Default 0.", before=TRANSPOSED),
        if_zero=op.clause("It is optional if `output_sequence` is 0.", before=TRANSPOSED),
    )


@dataclass(frozen=True)
class Layer:
    """The parameters of one direction: W^T, R^T, Wb and Rb of each gate, and the functions including clipping."""

    W: Array
    R: Array
    Wb: Array
    Rb: Array
    functions: tuple[Callable[[Array], Array], ...]

    def from_input(self, x: Array, gate: int) -> Array:
        """Return Xt*(W^T) + Wb of one gate."""
        return np.asanyarray(x @ self.W[gate].T + self.Wb[gate])

    def from_hidden(self, h: Array, gate: int) -> Array:
        """Return Ht-1*(R^T) + Rb of one gate."""
        return np.asanyarray(h @ self.R[gate].T + self.Rb[gate])


def _function(
    name: str, alpha: float | str | None, beta: float | str | None, clip: float | None
) -> Callable[[Array], Array]:
    def applied(x: Array) -> Array:
        return ACTIVATIONS[name].of(x if clip is None else np.minimum(np.maximum(x, -clip), clip), alpha, beta)

    return applied


def _scaling(
    v: Version, clauses: Recurrent, defaults: Sequence[float | str | None], attribute: Sequence[float]
) -> list[float | str | None]:
    """Return one alpha or beta for each function, from the attribute or the default; "" for a function without one."""
    takers = [index for index, default in enumerate(defaults) if default != ""]
    values = list(defaults)
    if attribute:
        v.silent(clauses.consumed, len(attribute) != len(takers))
        for index, value in zip(takers, attribute, strict=True):
            values[index] = float(value)
        return values
    known = clauses.defaults.in_force(v.since)
    v.silent(clauses.defaults, any(defaults[index] is None or not known for index in takers))
    return values


def _functions(
    v: Version,
    clauses: Recurrent,
    directions: int,
    names: Sequence[str] | None,
    alpha: Sequence[float] | None,
    beta: Sequence[float] | None,
    clip: float | None,
) -> list[Callable[[Array], Array]]:
    """Return the functions of all directions."""
    chosen = list(names or clauses.functions * directions)
    v.require(clauses.counted, len(chosen) == len(clauses.functions) * directions)
    v.require(clauses.known, all(name in ACTIVATIONS for name in chosen))
    v.silent(clauses.clip, clip is not None and clip < 0)
    alphas = _scaling(v, clauses, [ACTIVATIONS[name].alpha for name in chosen], list(alpha or ()))
    betas = _scaling(v, clauses, [ACTIVATIONS[name].beta for name in chosen], list(beta or ()))
    scaled = list(zip(chosen, alphas, betas, strict=True))
    interleaved = [item for index in range(directions) for item in scaled[index::directions]]
    v.silent(clauses.counted, names is not None and scaled != interleaved)
    return [_function(*item, clip) for item in scaled]


def through_time(
    v: Version,
    clauses: Recurrent,
    step: Callable[[Array, tuple[Array, ...], Layer, int], tuple[Array, ...]],
    *,
    X: Array,
    W: Array,
    R: Array,
    B: Array | None,
    sequence_lens: Array | None,
    initial: Sequence[Array | None],
    direction: str,
    layout: int | None,
    hidden_size: int | None,
    activations: Sequence[str] | None,
    activation_alpha: Sequence[float] | None,
    activation_beta: Sequence[float] | None,
    clip: float | None,
) -> tuple[PartlyOpen | Array, ...]:
    """Return Y and the last states. Values of Y after the end of a sequence are open.

    `step` receives Xt, the previous states, the parameters of a direction and its number. It returns the new states,
    the hidden state first.
    """
    v.require(clauses.direction, direction in DIRECTIONS)
    v.silent(clauses.layout, layout not in {None, 0, 1})
    v.require(clauses.packed, X.ndim == 3)  # noqa: PLR2004 - as in the sentence
    x = X.transpose(1, 0, 2) if layout else X
    if layout:
        initial = [None if item is None else item.transpose(1, 0, 2) for item in initial]
    orders = DIRECTIONS[direction]
    v.require(clauses.recurrence, R.ndim == 3)  # noqa: PLR2004 - as in the sentence
    hidden = R.shape[2] if hidden_size is None else hidden_size
    v.require(clauses.recurrence, R.shape == (len(orders), clauses.gates * hidden, hidden))
    v.require(clauses.weights, W.shape == (len(orders), clauses.gates * hidden, x.shape[2]))
    v.require(clauses.bias, B is None or B.shape == (len(orders), 2 * clauses.gates * hidden))
    of_state = len(orders), x.shape[1], hidden
    state_shape = clauses.layout_one if layout else clauses.state_shape
    v.require(state_shape, all(item is None or item.shape == of_state for item in initial))
    v.require(clauses.batch, sequence_lens is None or sequence_lens.shape == x.shape[1:2])
    v.silent(clauses.last, len(x) == 0)
    lengths = np.full(x.shape[1], len(x)) if sequence_lens is None else sequence_lens
    v.silent(clauses.lengths, bool(((lengths < 1) | (lengths > len(x))).any()))
    functions = _functions(v, clauses, len(orders), activations, activation_alpha, activation_beta, clip)
    matrices = R.reshape(len(orders), clauses.gates, hidden, hidden)
    if v.since < TRANSPOSED:
        turned = matrices.transpose(0, 1, 3, 2)
        v.reads(OWN_FORMULA, not np.array_equal(turned, matrices, equal_nan=True))
        matrices = turned  # The steps transpose R, so this uses R without transposition.
    inputs, bias = (
        W.reshape(len(orders), clauses.gates, hidden, x.shape[2]),
        np.zeros((len(orders), 2, clauses.gates, hidden)),
    )
    bias = bias if B is None else B.reshape(bias.shape)
    ends, y, runs = [], np.zeros((len(x), *of_state)), np.arange(len(x))[:, None] < lengths
    for index, order in enumerate(orders):
        own = tuple(functions[index * len(clauses.functions) : (index + 1) * len(clauses.functions)])
        layer = Layer(inputs[index], matrices[index], bias[index, 0], bias[index, 1], own)
        states = tuple(np.zeros((x.shape[1], hidden)) if item is None else item[index] for item in initial)
        for t in range(len(x))[::order]:
            new = step(x[t], states, layer, index)
            states = tuple(np.where(runs[t][:, None], now, before) for now, before in zip(new, states, strict=True))
            y[t, index, runs[t]] = new[0][runs[t]]
        ends.append(states)
    last = [np.stack(state) for state in zip(*ends, strict=True)]
    open_ = np.broadcast_to(~runs[:, None, :, None], y.shape)
    if layout:
        last = [state.transpose(1, 0, 2) for state in last]
        y, open_ = (item.transpose(2, 0, 1, 3) for item in (y, open_))
    return PartlyOpen(y, open_), *last
