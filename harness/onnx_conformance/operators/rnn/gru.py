# SPDX-License-Identifier: Apache-2.0
"""GRU: a recurrent layer with gates for updating and for resetting.

    Y, Y_h = GRU(X, W, R, B=None, sequence_lens=None, initial_h=None, ...)

Versions: 1 (no linear_before_reset), 3 (defaults of activation functions), 7 (R is transposed; no output_sequence),
14 (layout), 22 (bfloat16).
"""

from __future__ import annotations

from typing import Any

from onnx_conformance.declare import Array, Int, Op, PartlyOpen, Version
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
from onnx_conformance.operators.rnn._sizes import ONE_STEP, one_step, sized

GRU = Op("GRU", versions=(1, 3, 7, 14, 22), compare=TOLERANCE, rank=lambda _: 3, dimensions=dimensions)
GRU.example(**data(3, symmetric=True), **extras(3, ("initial_h",)), **ENDS, activations=["Sigmoid", "Tanh"], clip=9.0)

LAYER = GRU.clause("Computes an one-layer GRU.")
DEFAULT = GRU.clause("Equations (Default: f=Sigmoid, g=Tanh):")
SEE_EQUATIONS = GRU.clause("Optional: See the equations for default if not specified.")
UPDATE = GRU.clause("zt = f(Xt*(Wz^T) + Ht-1*(Rz^T) + Wbz + Rbz)").reworded(
    before=7, text="zt = f(Xt*(Wz^T) + Ht-1*Rz + Wbz + Rbz)", note=UNTRANSPOSED
)
RESET = GRU.clause("rt = f(Xt*(Wr^T) + Ht-1*(Rr^T) + Wbr + Rbr)").reworded(
    before=7, text="rt = f(Xt*(Wr^T) + Ht-1*Rr + Wbr + Rbr)"
)
CANDIDATE = GRU.clause(
    "ht = g(Xt*(Wh^T) + (rt (.) Ht-1)*(Rh^T) + Rbh + Wbh) # default, when linear_before_reset = 0"
).reworded(before=7, text="ht = g(Xt*(Wh^T) + (rt (.) Ht-1)*Rh + Rbh + Wbh) # default, when linear_before_reset = 0")
LINEAR = GRU.clause("ht = g(Xt*(Wh^T) + (rt (.) (Ht-1*(Rh^T) + Rbh)) + Wbh) # when linear_before_reset != 0").reworded(
    before=7,
    text="ht = g(Xt*(Wh^T) + (rt (.) (Ht-1*Rh + Rbh) + Wbh) # when linear_before_reset != 0",
    note="A bracket is missing. (.) binds more strongly than +, as in version 7. Version 1 does not have this "
    "attribute.",
)
STATE = GRU.clause("Ht = (1 - zt) (.) ht + zt (.) Ht-1")
BEFORE_RESET = GRU.clause(
    "apply the linear transformation before multiplying by the output of the reset gate.", since=3
)
ORDER = GRU.clause("Concatenation of `W[zrh]` and `WB[zrh]` (if bidirectional) along dimension 0.")
BIAS_ORDER = GRU.clause(
    "Concatenation of `[Wb[zrh], Rb[zrh]]` and `[WBb[zrh], RBb[zrh]]` (if bidirectional) along dimension 0."
)
WEIGHTS = GRU.clause("This tensor has shape `[num_directions, 3*hidden_size, input_size]`.")
RECURRENCE = GRU.clause("This tensor has shape `[num_directions, 3*hidden_size, hidden_size]`.")
BIAS = GRU.clause("This tensor has shape `[num_directions, 6*hidden_size]`.")
COUNTED = GRU.clause(
    "A list of 2 (or 4 if bidirectional) activation functions for update, reset, and hidden gates.",
    note="f is used for the first two, as in the equations. The text does not define the order if bidirectional: the "
    "functions of each direction may be adjacent, or those of each position in the equations.",
)
LAYOUT_0 = GRU.clause(
    "If 0, the following shapes are expected: X.shape = [seq_length, batch_size, input_size], Y.shape = [seq_length, "
    "num_directions, batch_size, hidden_size], initial_h.shape = Y_h.shape = [num_directions, batch_size, "
    "hidden_size].",
    since=14,
    note="The text does not define other values.",
)
LAYOUT_1 = GRU.clause(
    "If 1, the following shapes are expected: X.shape = [batch_size, seq_length, input_size], Y.shape = [batch_size, "
    "seq_length, num_directions, hidden_size], initial_h.shape = Y_h.shape = [batch_size, num_directions, "
    "hidden_size].",
    since=14,
)
FORMULAS = (
    GRU.clause("Relu(x) - max(0, x)"),
    GRU.clause("Tanh(x) - (1 - e^{-2x})/(1 + e^{-2x})"),
    GRU.clause("Sigmoid(x) - 1/(1 + e^{-x})"),
    GRU.clause("LeakyRelu(x) - x if x >= 0 else alpha * x"),
    GRU.clause("ThresholdedRelu(x) - x if x >= alpha else 0"),
    GRU.clause("Softsign(x) - x/(1 + |x|)"),
    GRU.clause("Softplus(x) - log(1 + e^x)"),
)
SCALED_FORMULAS = (
    GRU.clause("Affine(x) - alpha * x + beta").reworded(before=14, text="Affine(x) - alpha*x + beta"),
    GRU.clause("ScaledTanh(x) - alpha * Tanh(beta * x)").reworded(before=14, text="ScaledTanh(x) - alpha*Tanh(beta*x)"),
    GRU.clause("HardSigmoid(x) - min(max(alpha * x + beta, 0), 1)").reworded(
        before=14, text="HardSigmoid(x) - min(max(alpha*x + beta, 0), 1)"
    ),
    GRU.clause("Elu(x) - x if x >= 0 else alpha * (e^x - 1)").reworded(
        before=14, text="Elu(x) - x if x >= 0 else alpha*(e^x - 1)"
    ),
)
CLAUSES = recurrent(
    GRU,
    ("Sigmoid", "Tanh"),
    ("initial_h",),
    weights=WEIGHTS,
    recurrence=RECURRENCE,
    bias=BIAS,
    counted=COUNTED,
    equation=UPDATE,
    layout=LAYOUT_0,
    layout_one=LAYOUT_1,
    defaults_since=3,
)


@GRU.oracle()
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
    activations: list[str] | None,
    activation_alpha: list[float] | None,
    activation_beta: list[float] | None,
    clip: float | None,
    linear_before_reset: Int,
) -> tuple[PartlyOpen | Array, ...]:
    """Return all hidden states, and the last hidden state."""

    def step(x: Array, states: tuple[Array, ...], layer: Layer, _: int) -> tuple[Array, ...]:
        (before,), (f, g) = states, layer.functions
        z, r = (f(layer.from_input(x, gate) + layer.from_hidden(before, gate)) for gate in range(2))
        reset = r * layer.from_hidden(before, 2) if linear_before_reset else layer.from_hidden(r * before, 2)
        candidate = g(layer.from_input(x, 2) + reset)
        return ((1 - z) * candidate + z * before,)

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
        direction="forward" if direction == "foward" else direction,  # See Recurrent.direction.
        layout=layout,
        hidden_size=hidden_size,
        activations=activations,
        activation_alpha=activation_alpha,
        activation_beta=activation_beta,
        clip=clip,
    )


case = GRU.case
recurrent_cases(GRU, CLAUSES)

PLAIN: dict[str, Any] = data(3, symmetric=True)
TRANSPOSED_R: dict[str, Any] = data(3)
EVERY: dict[str, Any] = extras(3, ("initial_h",))
WHOLE = (LAYER, DEFAULT, SEE_EQUATIONS, STATE, ORDER, BIAS_ORDER, *FORMULAS)
case("equations_before_7", **PLAIN, **EVERY, n=2, before=7, cites=(UPDATE, RESET, CANDIDATE, *WHOLE))
case("equations", **TRANSPOSED_R, **EVERY, n=2, since=7, cites=(UPDATE, RESET, CANDIDATE, *WHOLE))
SCALED: dict[str, Any] = {
    "activations": ["HardSigmoid", "ScaledTanh"],
    "activation_alpha": [0.25, 0.75],
    "activation_beta": [0.375, 0.5],
}
case("functions_scaled_before_7", **PLAIN, **EVERY, **SCALED, n=2, before=7, cites=(*SCALED_FORMULAS, UPDATE))
SCALED_SINCE_7: dict[str, Any] = {**TRANSPOSED_R, **EVERY, **SCALED, "since": 7, "before": 14}
case("functions_scaled_before_14", **SCALED_SINCE_7, n=2, cites=(*SCALED_FORMULAS, UPDATE))
case("functions_scaled", **TRANSPOSED_R, **EVERY, **SCALED, n=2, since=14, cites=SCALED_FORMULAS)
case("y_alone_before_7", **PLAIN, n=1, since=3, before=7, cites=CLAUSES.concats)
in_both_wordings(GRU, CLAUSES, "linear_before_reset", **EVERY, linear_before_reset=1, cites=(BEFORE_RESET, LINEAR))
in_both_wordings(GRU, CLAUSES, "linear_before_reset_alone", linear_before_reset=1, cites=BEFORE_RESET)
in_both_wordings(GRU, CLAUSES, "linear_before_reset_two", **EVERY, linear_before_reset=2, since=NEWEST, cites=LINEAR)
in_both_wordings(GRU, CLAUSES, "linear_before_reset_zero", **EVERY, linear_before_reset=0, cites=CANDIDATE)
in_both_wordings(
    GRU,
    CLAUSES,
    "linear_before_reset_bidirectional",
    **{**extras(3, ("initial_h",), 2), "sequence_lens": [4, 3, 1, 2]},
    directions=2,
    direction="bidirectional",
    steps=4,
    linear_before_reset=1,
    cites=(CLAUSES.directions, BEFORE_RESET),
)
in_both_wordings(
    GRU,
    CLAUSES,
    "linear_before_reset_clip",
    **EVERY,
    linear_before_reset=1,
    clip=0.25,
    since=NEWEST,
    cites=(CLAUSES.clip, LINEAR),
)
in_both_wordings(
    GRU, CLAUSES, "linear_before_reset_each_type", each="T", **EVERY, linear_before_reset=1, since=NEWEST, cites=LINEAR
)
case(
    "hard_sigmoid_default_before_3",
    **PLAIN,
    **ENDS,
    before=3,
    activations=["HardSigmoid", "Tanh"],
    unspecified=CLAUSES.defaults,
)
output_sequence_cases(GRU, CLAUSES)
sized(GRU, CLAUSES, (LAYER, UPDATE, STATE))
linear: dict[str, Any] = {**one_step(CLAUSES, "forward"), "linear_before_reset": 1}
GRU.sized("linear_before_reset", ONE_STEP[1::3], n=2, each="T", cites=(LINEAR, BEFORE_RESET), arguments=linear)
