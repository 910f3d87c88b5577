"""LSTM: a recurrent layer with a cell, whose input, output and forgetting have gates.

Versions: 1 (R not said to be transposed; output_sequence), 7 (transposed), 14 (layout), 22 (bfloat16).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.declare import Array, Int, Op, Version, ramp
from harness.declare.data import waves
from harness.operators.rnn._error_bound import Measured
from harness.operators.rnn._recurrent import UNTRANSPOSED, Layer, as_measured, recurrent, through_time
from harness.operators.rnn._recurrent_cases import (
    ENDS,
    HIDDEN,
    NEWEST,
    both,
    data,
    extras,
    output_sequence_cases,
    recurrent_cases,
)

LSTM = Op(
    "LSTM",
    versions=(1, 7, 14, 22),
    compare=as_measured(lambda **given: _computed(Version(NEWEST), **given)),
    rank=lambda _: 3,
)

LAYER = LSTM.clause("Computes an one-layer LSTM.")
DEFAULT = LSTM.clause("Equations (Default: f=Sigmoid, g=Tanh, h=Tanh):")
SEE_EQUATIONS = LSTM.clause("Optional: See the equations for default if not specified.")
PEEPING = {"i": "Pi (.) Ct-1 + ", "f": "Pf (.) Ct-1 + ", "c": "", "o": "Po (.) Ct + "}
OLD = [
    LSTM.clause(
        f"{gate}t = {'g' if gate == 'c' else 'f'}(Xt*(W{gate}^T) + Ht-1*R{gate} + {peep}Wb{gate} + Rb{gate})",
        before=7,
        note=UNTRANSPOSED,
    )
    for gate, peep in PEEPING.items()
]
NEW = [
    LSTM.clause(
        f"{gate}t = {'g' if gate == 'c' else 'f'}(Xt*(W{gate}^T) + Ht-1*(R{gate}^T) + {peep}Wb{gate} + Rb{gate})",
        since=7,
    )
    for gate, peep in PEEPING.items()
]
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
COUPLE = LSTM.clause("Couple the input and forget gates if 1", note="Says neither how, nor what other values do.")
INITIAL_C = LSTM.clause("Optional initial value of the cell.")
LAST_CELL = LSTM.clause("The last output value of the cell.")
SAID = recurrent(
    LSTM,
    ("Sigmoid", "Tanh", "Tanh"),
    ("initial_h", "initial_c"),
    weights=LSTM.clause("The tensor has shape `[num_directions, 4*hidden_size, input_size]`."),
    recurrence=LSTM.clause("This tensor has shape `[num_directions, 4*hidden_size, hidden_size]`."),
    bias=LSTM.clause("This tensor has shape `[num_directions, 8*hidden_size]`."),
    counted=LSTM.clause(
        "A list of 3 (or 6 if bidirectional) activation functions for input, output, forget, cell, and hidden.",
        note="f serves the first three, as the equations say.",
    ),
    transposed=NEW[0],
    plain=OLD[0],
    shaped="X.shape = [seq_length, batch_size, input_size], Y.shape = [seq_length, num_directions, batch_size, "
    "hidden_size], initial_h.shape = Y_h.shape = initial_c.shape = Y_c.shape = [num_directions, batch_size, "
    "hidden_size].",
    batchwise="X.shape = [batch_size, seq_length, input_size], Y.shape = [batch_size, seq_length, num_directions, "
    "hidden_size], initial_h.shape = Y_h.shape = initial_c.shape = Y_c.shape = [batch_size, num_directions, "
    "hidden_size].",
    defaults_since=None,
    spaced_since=None,
)


def _computed(
    v: Version, *, W: Array, P: Array | None, input_forget: int, output_sequence: Int, **given: Any  # noqa: N803, ANN401
) -> list[Measured]:  # fmt: skip
    """Return Y, Y_h and Y_c; output_sequence, which is None from version 7 on, says what may be left out."""
    del output_sequence
    v.silent(COUPLE, input_forget != 0)
    directions = 2 if given["direction"] == "bidirectional" else 1
    hidden = W.shape[1] // 4 if W.ndim > 1 else 0
    v.require(PEEPHOLES, P is None or P.shape == (directions, 3 * hidden))
    peepholes = np.zeros((directions, 3, hidden)) if P is None else P.reshape(directions, 3, hidden)

    def step(x: Measured, states: tuple[Measured, ...], layer: Layer, index: int) -> tuple[Measured, ...]:
        (h_before, c_before), (f, g, h) = states, layer.functions
        i_peep, o_peep, f_peep = (Measured.exact(item) for item in peepholes[index])
        i_sum, o_sum, f_sum, c_sum = (
            layer.from_input(x, gate) + layer.from_hidden(h_before, gate) for gate in range(4)
        )
        i, forget, c = f(i_sum + i_peep * c_before), f(f_sum + f_peep * c_before), g(c_sum)
        cell = forget * c_before + i * c
        return f(o_sum + o_peep * cell) * h(cell), cell

    initial = given.pop("initial_h"), given.pop("initial_c")
    return through_time(v, SAID, step, W=W, initial=initial, **given)


@LSTM.oracle()
def layer(  # noqa: PLR0913 - the operator's own arguments
    v: Version, *, X: Array, W: Array, R: Array, B: Array | None, sequence_lens: Array | None,  # noqa: N803
    initial_h: Array | None, initial_c: Array | None, P: Array | None, direction: str, layout: Int,  # noqa: N803
    hidden_size: Int, activations: list[str] | None, activation_alpha: list[float] | None,
    activation_beta: list[float] | None, clip: float | None, input_forget: int, output_sequence: Int,
) -> tuple[Array, ...]:  # fmt: skip
    """Return all hidden states, the last one, and the last cell."""
    given = {name: value for name, value in locals().items() if name != "v"}
    return tuple(item.value for item in _computed(v, **given))


case = LSTM.case
recurrent_cases(LSTM, SAID)

WHOLE = (LAYER, DEFAULT, SEE_EQUATIONS, CELL, HIDDEN_STATE, ORDER, BIAS_ORDER)
PEEP = waves(1, 3 * HIDDEN)[:, ::-1] / 2
EVERY: dict[str, Any] = {**extras(SAID), "P": PEEP}
case("equations_plain", **data(SAID, symmetric=True), **EVERY, n=3, before=7, cites=(*OLD, *SAID.formulas, *WHOLE))
case("equations_transposed", **data(SAID), **EVERY, n=3, cites=(*NEW, *SAID.formulas, *WHOLE))
both(LSTM, SAID, "peepholes", P=PEEP, cites=(PEEPHOLES, NO_PEEPHOLES, SAID.missing))
both(LSTM, SAID, "peepholes_reverse", since=NEWEST, P=PEEP, steps=6, direction="reverse", cites=(PEEPHOLES, LAST_CELL))
two: dict[str, Any] = {"directions": 2, "direction": "bidirectional", "P": waves(2, 3 * HIDDEN) / 2}
both(LSTM, SAID, "peepholes_bidirectional", **extras(SAID, 2), **two, cites=(PEEPHOLES, SAID.directions, INITIAL_C))
both(LSTM, SAID, "peepholes_clip", since=NEWEST, **EVERY, clip=0.25, cites=(SAID.clip,))
both(LSTM, SAID, "uncoupled", input_forget=0, cites=(COUPLE,))
both(LSTM, SAID, "peepholes_dtypes", since=NEWEST, each="T", **EVERY, cites=(SAID.floats,))
for value in (1, 2):
    case(f"coupled_{value}", **data(SAID), **ENDS, since=NEWEST, input_forget=value, unspecified=COUPLE)
output_sequence_cases(LSTM, SAID)
both(LSTM, SAID, "cell_alone", n=3, omits=("Y", "Y_h"), cites=(LAST_CELL,))
for name, shape in (("four_gates", (1, 12)), ("rank1", (9,)), ("two_directions", (2, 9))):
    since = None if name == "rank1" else NEWEST
    case(f"peepholes_{name}", **data(SAID), **ENDS, since=since, P=ramp(*shape), rejects=PEEPHOLES)
