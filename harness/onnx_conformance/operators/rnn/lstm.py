# SPDX-License-Identifier: Apache-2.0
"""LSTM: a recurrent layer with a cell and with input, output and forget gates.

    Y, Y_h, Y_c = LSTM(X, W, R, B=None, sequence_lens=None, initial_h=None, initial_c=None, P=None, ...)

Versions: 1 (R without a transposition; output_sequence), 7 (transposed), 14 (layout), 22 (bfloat16).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Int, Op, PartlyOpen, Version, ramp
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.sizes import filled
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
    HIDDEN,
    NEWEST,
    data,
    extras,
    in_both_wordings,
    output_sequence_cases,
    recurrent_cases,
)
from onnx_conformance.operators.rnn._sizes import ONE_STEP, one_step, sized

LSTM = Op("LSTM", versions=(1, 7, 14, 22), compare=TOLERANCE, rank=lambda _: 3, dimensions=dimensions)
LSTM.example(
    **data(4, symmetric=True)
    | {"X": data(4)["X"] * 2},  # Smaller numbers have no correct digits in a type with few bits.
    **extras(4, ("initial_h", "initial_c")),
    P=waves(1, 3 * HIDDEN)[:, ::-1] / 2,
    **ENDS,
    activations=["Sigmoid", "Tanh", "Tanh"],
    clip=99.0,
)

LAYER = LSTM.clause("Computes an one-layer LSTM.")
DEFAULT = LSTM.clause("Equations (Default: f=Sigmoid, g=Tanh, h=Tanh):")
SEE_EQUATIONS = LSTM.clause("Optional: See the equations for default if not specified.")
EQUATIONS = (
    LSTM.clause("it = f(Xt*(Wi^T) + Ht-1*(Ri^T) + Pi (.) Ct-1 + Wbi + Rbi)").reworded(
        before=7, text="it = f(Xt*(Wi^T) + Ht-1*Ri + Pi (.) Ct-1 + Wbi + Rbi)", note=UNTRANSPOSED
    ),
    LSTM.clause("ft = f(Xt*(Wf^T) + Ht-1*(Rf^T) + Pf (.) Ct-1 + Wbf + Rbf)").reworded(
        before=7, text="ft = f(Xt*(Wf^T) + Ht-1*Rf + Pf (.) Ct-1 + Wbf + Rbf)", note=UNTRANSPOSED
    ),
    LSTM.clause("ct = g(Xt*(Wc^T) + Ht-1*(Rc^T) + Wbc + Rbc)").reworded(
        before=7, text="ct = g(Xt*(Wc^T) + Ht-1*Rc + Wbc + Rbc)", note=UNTRANSPOSED
    ),
    LSTM.clause("ot = f(Xt*(Wo^T) + Ht-1*(Ro^T) + Po (.) Ct + Wbo + Rbo)").reworded(
        before=7, text="ot = f(Xt*(Wo^T) + Ht-1*Ro + Po (.) Ct + Wbo + Rbo)", note=UNTRANSPOSED
    ),
)
CELL = LSTM.clause("Ct = ft (.) Ct-1 + it (.) ct")
HIDDEN_STATE = LSTM.clause("Ht = ot (.) h(Ct)")
ORDER = LSTM.clause("Concatenation of `W[iofc]` and `WB[iofc]` (if bidirectional) along dimension 0.")
BIAS_ORDER = LSTM.clause(
    "Concatenation of `[Wb[iofc], Rb[iofc]]`, and `[WBb[iofc], RBb[iofc]]` (if bidirectional) along dimension 0."
)
PEEPHOLES = LSTM.clause(
    "Concatenation of `P[iof]` and `PB[iof]` (if bidirectional) along dimension 0. It has shape `[num_directions, 3*"
)
NO_PEEPHOLES = LSTM.clause("Optional: If not specified - assumed to be 0.")
COUPLE = LSTM.clause(
    "Couple the input and forget gates if 1", note="The text does not define how, or the effect of other values."
)
INITIAL_C = LSTM.clause("Optional initial value of the cell.")
LAST_CELL = LSTM.clause("The last output value of the cell.")
WEIGHTS = LSTM.clause("The tensor has shape `[num_directions, 4*hidden_size, input_size]`.")
RECURRENCE = LSTM.clause("This tensor has shape `[num_directions, 4*hidden_size, hidden_size]`.")
BIAS = LSTM.clause("This tensor has shape `[num_directions, 8*hidden_size]`.")
COUNTED = LSTM.clause(
    "A list of 3 (or 6 if bidirectional) activation functions for input, output, forget, cell, and hidden.",
    note="f is used for the first three, as in the equations. The text does not define the order if bidirectional: the "
    "functions of each direction may be adjacent, or those of each position in the equations.",
)
LAYOUT_0 = LSTM.clause(
    "If 0, the following shapes are expected: X.shape = [seq_length, batch_size, input_size], Y.shape = [seq_length, "
    "num_directions, batch_size, hidden_size], initial_h.shape = Y_h.shape = initial_c.shape = Y_c.shape = "
    "[num_directions, batch_size, hidden_size].",
    since=14,
    note="The text does not define other values.",
)
LAYOUT_1 = LSTM.clause(
    "If 1, the following shapes are expected: X.shape = [batch_size, seq_length, input_size], Y.shape = [batch_size, "
    "seq_length, num_directions, hidden_size], initial_h.shape = Y_h.shape = initial_c.shape = Y_c.shape = "
    "[batch_size, num_directions, hidden_size].",
    since=14,
)
FORMULAS = (
    LSTM.clause("Relu(x) - max(0, x)"),
    LSTM.clause("Tanh(x) - (1 - e^{-2x})/(1 + e^{-2x})"),
    LSTM.clause("Sigmoid(x) - 1/(1 + e^{-x})"),
    LSTM.clause("Affine(x) - alpha*x + beta"),
    LSTM.clause("LeakyRelu(x) - x if x >= 0 else alpha * x"),
    LSTM.clause("ThresholdedRelu(x) - x if x >= alpha else 0"),
    LSTM.clause("ScaledTanh(x) - alpha*Tanh(beta*x)"),
    LSTM.clause("HardSigmoid(x) - min(max(alpha*x + beta, 0), 1)"),
    LSTM.clause("Elu(x) - x if x >= 0 else alpha*(e^x - 1)"),
    LSTM.clause("Softsign(x) - x/(1 + |x|)"),
    LSTM.clause("Softplus(x) - log(1 + e^x)"),
)
CLAUSES = recurrent(
    LSTM,
    ("Sigmoid", "Tanh", "Tanh"),
    ("initial_h", "initial_c"),
    weights=WEIGHTS,
    recurrence=RECURRENCE,
    bias=BIAS,
    counted=COUNTED,
    equation=EQUATIONS[0],
    layout=LAYOUT_0,
    layout_one=LAYOUT_1,
    defaults_since=None,
)


@LSTM.oracle()
def layer(  # noqa: PLR0913 - the arguments of the operator
    v: Version,
    *,
    X: Array,
    W: Array,
    R: Array,
    B: Array | None,
    sequence_lens: Array | None,
    initial_h: Array | None,
    initial_c: Array | None,
    P: Array | None,
    direction: str,
    layout: Int,
    hidden_size: Int,
    activations: list[str] | None,
    activation_alpha: list[float] | None,
    activation_beta: list[float] | None,
    clip: float | None,
    input_forget: int,
) -> tuple[PartlyOpen | Array, ...]:
    """Return all hidden states, the last hidden state, and the last cell."""
    v.silent(COUPLE, input_forget != 0)
    directions = 2 if direction == "bidirectional" else 1
    v.require(WEIGHTS, W.ndim == 3)  # noqa: PLR2004 - as in the sentence
    hidden = W.shape[1] // 4
    v.require(PEEPHOLES, P is None or P.shape == (directions, 3 * hidden))
    peepholes = np.zeros((directions, 3, hidden)) if P is None else P.reshape(directions, 3, hidden)

    def step(x: Array, states: tuple[Array, ...], layer: Layer, index: int) -> tuple[Array, ...]:
        (h_before, c_before), (f, g, h) = states, layer.functions
        i_peep, o_peep, f_peep = peepholes[index]
        i_sum, o_sum, f_sum, c_sum = (
            layer.from_input(x, gate) + layer.from_hidden(h_before, gate) for gate in range(4)
        )
        i, forget, c = f(i_sum + i_peep * c_before), f(f_sum + f_peep * c_before), g(c_sum)
        cell = forget * c_before + i * c
        return f(o_sum + o_peep * cell) * h(cell), cell

    return through_time(
        v,
        CLAUSES,
        step,
        X=X,
        W=W,
        R=R,
        B=B,
        sequence_lens=sequence_lens,
        initial=[initial_h, initial_c],
        direction=direction,
        layout=layout,
        hidden_size=hidden_size,
        activations=activations,
        activation_alpha=activation_alpha,
        activation_beta=activation_beta,
        clip=clip,
    )


case = LSTM.case
recurrent_cases(LSTM, CLAUSES)

WHOLE = (LAYER, DEFAULT, SEE_EQUATIONS, CELL, HIDDEN_STATE, ORDER, BIAS_ORDER, *FORMULAS)
PEEPHOLE_WEIGHTS = waves(1, 3 * HIDDEN)[:, ::-1] / 2
EVERY: dict[str, Any] = {**extras(4, ("initial_h", "initial_c")), "P": PEEPHOLE_WEIGHTS}
case("equations_before_7", **data(4, symmetric=True), **EVERY, n=3, before=7, cites=(*EQUATIONS, *WHOLE))
case("equations", **data(4), **EVERY, n=3, since=7, cites=(*EQUATIONS, *WHOLE))
in_both_wordings(LSTM, CLAUSES, "peepholes", P=PEEPHOLE_WEIGHTS, cites=(PEEPHOLES, NO_PEEPHOLES, CLAUSES.missing))
in_both_wordings(
    LSTM,
    CLAUSES,
    "peepholes_reverse",
    P=PEEPHOLE_WEIGHTS,
    steps=6,
    direction="reverse",
    since=NEWEST,
    cites=(PEEPHOLES, LAST_CELL),
)
in_both_wordings(
    LSTM,
    CLAUSES,
    "peepholes_bidirectional",
    **extras(4, ("initial_h", "initial_c"), 2),
    P=waves(2, 3 * HIDDEN) / 2,
    directions=2,
    direction="bidirectional",
    cites=(PEEPHOLES, CLAUSES.directions, INITIAL_C),
)
in_both_wordings(LSTM, CLAUSES, "peepholes_clip", **EVERY, clip=0.25, since=NEWEST, cites=CLAUSES.clip)
in_both_wordings(
    LSTM,
    CLAUSES,
    "peepholes_one_neuron",
    X=[[[0.5]], [[1]]],
    W=np.full((1, 4, 1), 0.25),
    R=np.ones((1, 4, 1)),
    P=[[0.5, -0.25, 1]],
    hidden_size=1,
    since=NEWEST,
    cites=PEEPHOLES,
)
in_both_wordings(LSTM, CLAUSES, "uncoupled", input_forget=0, cites=COUPLE)
LARGE: dict[str, Any] = EVERY | {"X": data(4)["X"] * 2}
in_both_wordings(LSTM, CLAUSES, "peepholes_each_type", each="T", **LARGE, since=NEWEST, cites=PEEPHOLES)
for value in (1, 2):
    case(f"coupled_{value}", **data(4), **ENDS, since=NEWEST, input_forget=value, unspecified=COUPLE)
output_sequence_cases(LSTM, CLAUSES)
in_both_wordings(LSTM, CLAUSES, "cell_alone", n=3, omits=("Y", "Y_h"), cites=LAST_CELL)
case("peepholes_four_gates", **data(4), **ENDS, since=NEWEST, P=ramp(1, 12), rejects=PEEPHOLES)
case("peepholes_rank1", **data(4), **ENDS, P=ramp(9), rejects=PEEPHOLES)
case("peepholes_two_directions", **data(4), **ENDS, since=NEWEST, P=ramp(2, 9), rejects=PEEPHOLES)
sized(LSTM, CLAUSES, (LAYER, CELL, HIDDEN_STATE))
with_peepholes = {**one_step(CLAUSES, "forward"), "P": filled(1, (3, "h"), floats=(-0.5, 0.5))}
LSTM.sized("peepholes", ONE_STEP[2::5], n=3, each="T", cites=(*EQUATIONS, PEEPHOLES), arguments=with_peepholes)
