# SPDX-License-Identifier: Apache-2.0
"""RNN: a simple recurrent layer.

    Y, Y_h = RNN(X, W, R, B=None, sequence_lens=None, initial_h=None, ...)

Versions: 1, 7 (R is transposed; no output_sequence), 14 (layout), 22 (bfloat16).
"""

from __future__ import annotations

from typing import Any

from onnx_conformance.declare import Array, Int, Op, PartlyOpen, Tag, Version
from onnx_conformance.operators.rnn._recurrent import (
    TOLERANCE,
    UNTRANSPOSED,
    Layer,
    dimensions,
    recurrent,
    through_time,
)
from onnx_conformance.operators.rnn._recurrent_cases import (
    ENDS,
    NEWEST,
    data,
    extras,
    in_both_wordings,
    output_sequence_cases,
    recurrent_cases,
)
from onnx_conformance.operators.rnn._sizes import sized

RNN = Op("RNN", versions=(1, 7, 14, 22), compare=TOLERANCE, rank=lambda _: 3, dimensions=dimensions)
RNN.example(**data(1, symmetric=True), **extras(1, ("initial_h",)), **ENDS, activations=["Tanh"], clip=9.0)

COMPUTES = RNN.clause("Computes an one-layer simple RNN.")
DEFAULT = RNN.clause("Equations (Default: f=Tanh):")
EQUATION = RNN.clause("Ht = f(Xt*(Wi^T) + Ht-1*(Ri^T) + Wbi + Rbi)").reworded(
    before=7, text="Ht = f(Xt*(Wi^T) + Ht-1*Ri + Wbi + Rbi)", note=UNTRANSPOSED
)
ORDER = RNN.clause("Concatenation of `Wi` and `WBi` (if bidirectional).")
RECURRENCE_ORDER = RNN.clause("Concatenation of `Ri` and `RBi` (if bidirectional).")
BIAS_ORDER = RNN.clause("Concatenation of `[Wbi, Rbi]` and `[WBbi, RBbi]` (if bidirectional).")
WEIGHTS = RNN.clause("The tensor has shape `[num_directions, hidden_size, input_size]`.")
RECURRENCE = RNN.clause("The tensor has shape `[num_directions, hidden_size, hidden_size]`.")
BIAS = RNN.clause("The tensor has shape `[num_directions, 2*hidden_size]`.")
COUNTED = RNN.clause(
    "One (or two if bidirectional) activation function for input gate.",
    note="The schema has two default functions for one and for two directions. They are the single default of the "
    "text.",
)
KNOWN = RNN.clause("The activation function must be one of the activation functions specified above.")
IF_NONE = RNN.clause("Optional: Default `Tanh` if not specified.")
LAYOUT_0 = RNN.clause(
    "If 0, the following shapes are expected: X.shape = [seq_length, batch_size, input_size], Y.shape = [seq_length, "
    "num_directions, batch_size, hidden_size], initial_h.shape = Y_h.shape = [num_directions, batch_size, "
    "hidden_size].",
    since=14,
    note="The text does not define other values.",
)
LAYOUT_1 = RNN.clause(
    "If 1, the following shapes are expected: X.shape = [batch_size, seq_length, input_size], Y.shape = [batch_size, "
    "seq_length, num_directions, hidden_size], initial_h.shape = Y_h.shape = [batch_size, num_directions, "
    "hidden_size].",
    since=14,
)
FORMULAS = (
    RNN.clause("Relu(x) - max(0, x)"),
    RNN.clause("Tanh(x) - (1 - e^{-2x})/(1 + e^{-2x})"),
    RNN.clause("Sigmoid(x) - 1/(1 + e^{-x})"),
    RNN.clause("Affine(x) - alpha*x + beta"),
    RNN.clause("LeakyRelu(x) - x if x >= 0 else alpha * x"),
    RNN.clause("ThresholdedRelu(x) - x if x >= alpha else 0"),
    RNN.clause("ScaledTanh(x) - alpha*Tanh(beta*x)"),
    RNN.clause("HardSigmoid(x) - min(max(alpha*x + beta, 0), 1)"),
    RNN.clause("Elu(x) - x if x >= 0 else alpha*(e^x - 1)"),
    RNN.clause("Softsign(x) - x/(1 + |x|)"),
    RNN.clause("Softplus(x) - log(1 + e^x)"),
)
CLAUSES = recurrent(
    RNN,
    ("Tanh",),
    ("initial_h",),
    weights=WEIGHTS,
    recurrence=RECURRENCE,
    bias=BIAS,
    counted=COUNTED,
    equation=EQUATION,
    layout=LAYOUT_0,
    layout_one=LAYOUT_1,
    defaults_since=None,
    known=KNOWN,
)


@RNN.oracle()
def layer(
    v: Version,
    *,
    X: Array,
    W: Array,
    R: Array,
    B: Array | None,
    sequence_lens: Array | None,
    initial_h: Array | None,
    direction: str,
    layout: Int,
    hidden_size: Int,
    activations: list[str],
    activation_alpha: list[float] | None,
    activation_beta: list[float] | None,
    clip: float | None,
) -> tuple[PartlyOpen | Array, ...]:
    """Return all hidden states, and the last hidden state."""

    def step(x: Array, states: tuple[Array, ...], layer: Layer, _: int) -> tuple[Array, ...]:
        (before,), (f,) = states, layer.functions
        return (f(layer.from_input(x, 0) + layer.from_hidden(before, 0)),)

    return through_time(
        v,
        CLAUSES,
        step,
        X=X,
        W=W,
        R=R,
        B=B,
        sequence_lens=sequence_lens,
        initial=[initial_h],
        direction=direction,
        layout=layout,
        hidden_size=hidden_size,
        activations=None if list(activations) == ["Tanh", "Tanh"] else activations,  # The default of each direction.
        activation_alpha=activation_alpha,
        activation_beta=activation_beta,
        clip=clip,
    )


case = RNN.case
recurrent_cases(RNN, CLAUSES)

EVERY: dict[str, Any] = extras(1, ("initial_h",))
WHOLE = (COMPUTES, DEFAULT, IF_NONE, ORDER, RECURRENCE_ORDER, BIAS_ORDER, *FORMULAS)
case("equations_before_7", **data(1, symmetric=True), **EVERY, n=2, before=7, cites=(EQUATION, *WHOLE))
case("equations", **data(1), **EVERY, n=2, since=7, cites=(EQUATION, *WHOLE))
BOTH: dict[str, Any] = {"directions": 2, "direction": "bidirectional", "B": extras(1, (), 2)["B"]}
OF_BOTH = (COUNTED, CLAUSES.directions)
FORWARD: dict[str, Any] = {**data(1), **ENDS}
in_both_wordings(RNN, CLAUSES, "activations_of_both", **BOTH, activations=["Sigmoid", "Relu"], cites=OF_BOTH)
SCALED: dict[str, Any] = {"activation_alpha": [0.5, 0.25], "activation_beta": [0.125, 0.75]}
affine = {**BOTH, **SCALED, "activations": ["HardSigmoid", "Affine"], "since": NEWEST}
in_both_wordings(RNN, CLAUSES, "scaling_of_both", **affine, cites=(COUNTED, CLAUSES.consumed))
second = {**BOTH, "activations": ["Sigmoid", "Elu"], "activation_alpha": [0.25], "since": NEWEST}
in_both_wordings(RNN, CLAUSES, "scaling_of_the_second", **second, cites=CLAUSES.consumed)
in_both_wordings(RNN, CLAUSES, "activations_of_the_default", activations=["Tanh", "Tanh"], since=NEWEST, cites=IF_NONE)
case("activations_too_many", **FORWARD, activations=["Tanh", "Relu"], rejects=COUNTED)
few: dict[str, Any] = {**data(1, 2), **ENDS, "direction": "bidirectional", "since": NEWEST}
case("activations_too_few", **few, activations=["Tanh"], rejects=COUNTED)
case("activations_second_unknown", **few, activations=["Tanh", "Selu"], rejects=KNOWN)
elus: dict[str, Any] = {**few, "activations": ["Elu", "Elu"], "activation_alpha": [0.5]}
case("alpha_too_few", Tag.EDGE, **elus, unspecified=CLAUSES.consumed)
output_sequence_cases(RNN, CLAUSES)
sized(RNN, CLAUSES, (COMPUTES, EQUATION))
