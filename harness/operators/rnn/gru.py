"""GRU: a recurrent layer with gates for updating and for resetting.

Versions: 1 (no linear_before_reset), 3 (defaults of activation functions), 7 (R is transposed; no output_sequence),
14 (layout), 22 (bfloat16).
"""

from __future__ import annotations

from typing import Any

from harness.declare import Array, Int, Op, Version
from harness.operators.rnn._error_bound import Measured, one_minus
from harness.operators.rnn._recurrent import TRANSPOSED, UNTRANSPOSED, Layer, as_measured, recurrent, through_time
from harness.operators.rnn._recurrent_cases import NEWEST, both, data, extras, output_sequence_cases, recurrent_cases

GRU = Op(
    "GRU",
    versions=(1, 3, 7, 14, 22),
    compare=as_measured(lambda **given: _computed(Version(NEWEST), **given)),
    rank=lambda _: 3,
)

LAYER = GRU.clause("Computes an one-layer GRU.")
DEFAULT = GRU.clause("Equations (Default: f=Sigmoid, g=Tanh):")
SEE_EQUATIONS = GRU.clause("Optional: See the equations for default if not specified.")
UPDATE_OLD = GRU.clause("zt = f(Xt*(Wz^T) + Ht-1*Rz + Wbz + Rbz)", before=7, note=UNTRANSPOSED)
RESET_OLD = GRU.clause("rt = f(Xt*(Wr^T) + Ht-1*Rr + Wbr + Rbr)", before=7)
CANDIDATE_OLD = GRU.clause(
    "ht = g(Xt*(Wh^T) + (rt (.) Ht-1)*Rh + Rbh + Wbh) # default, when linear_before_reset = 0", before=7
)
LINEAR_OLD = GRU.clause(
    "ht = g(Xt*(Wh^T) + (rt (.) (Ht-1*Rh + Rbh) + Wbh) # when linear_before_reset != 0",
    before=7,
    note="A bracket is missing; (.) binds more than +, as version 7 says. Version 1 has no such attribute.",
)
UPDATE = GRU.clause("zt = f(Xt*(Wz^T) + Ht-1*(Rz^T) + Wbz + Rbz)", since=7)
RESET = GRU.clause("rt = f(Xt*(Wr^T) + Ht-1*(Rr^T) + Wbr + Rbr)", since=7)
CANDIDATE = GRU.clause(
    "ht = g(Xt*(Wh^T) + (rt (.) Ht-1)*(Rh^T) + Rbh + Wbh) # default, when linear_before_reset = 0", since=7
)
LINEAR = GRU.clause("ht = g(Xt*(Wh^T) + (rt (.) (Ht-1*(Rh^T) + Rbh)) + Wbh) # when linear_before_reset != 0", since=7)
STATE = GRU.clause("Ht = (1 - zt) (.) ht + zt (.) Ht-1")
BEFORE_RESET = GRU.clause(
    "apply the linear transformation before multiplying by the output of the reset gate.", since=3
)
ORDER = GRU.clause("Concatenation of `W[zrh]` and `WB[zrh]` (if bidirectional) along dimension 0.")
BIAS_ORDER = GRU.clause(
    "Concatenation of `[Wb[zrh], Rb[zrh]]` and `[WBb[zrh], RBb[zrh]]` (if bidirectional) along dimension 0."
)
SAID = recurrent(
    GRU,
    ("Sigmoid", "Tanh"),
    ("initial_h",),
    weights=GRU.clause("This tensor has shape `[num_directions, 3*hidden_size, input_size]`."),
    recurrence=GRU.clause("This tensor has shape `[num_directions, 3*hidden_size, hidden_size]`."),
    bias=GRU.clause("This tensor has shape `[num_directions, 6*hidden_size]`."),
    counted=GRU.clause(
        "A list of 2 (or 4 if bidirectional) activation functions for update, reset, and hidden gates.",
        note="f serves the first two, as the equations say.",
    ),
    transposed=UPDATE,
    plain=UPDATE_OLD,
    shaped="X.shape = [seq_length, batch_size, input_size], Y.shape = [seq_length, num_directions, batch_size, "
    "hidden_size], initial_h.shape = Y_h.shape = [num_directions, batch_size, hidden_size].",
    batchwise="X.shape = [batch_size, seq_length, input_size], Y.shape = [batch_size, seq_length, num_directions, "
    "hidden_size], initial_h.shape = Y_h.shape = [batch_size, num_directions, hidden_size].",
    defaults_since=3,
    spaced_since=14,
)


def _computed(
    v: Version, *, linear_before_reset: Int, output_sequence: Int, initial_h: Array | None, **given: Any  # noqa: ANN401
) -> list[Measured]:  # fmt: skip
    """Return Y and Y_h; output_sequence, which is None from version 7 on, says what may be left out."""
    del output_sequence

    def step(x: Measured, states: tuple[Measured, ...], layer: Layer, _: int) -> tuple[Measured, ...]:
        (before,), (f, g) = states, layer.functions
        z, r = (f(layer.from_input(x, gate) + layer.from_hidden(before, gate)) for gate in range(2))
        reset = r * layer.from_hidden(before, 2) if linear_before_reset else layer.from_hidden(r * before, 2)
        candidate = g(layer.from_input(x, 2) + reset)
        return (one_minus(z) * candidate + z * before,)

    return through_time(v, SAID, step, initial=[initial_h], **given)


@GRU.oracle()
def layer(
    v: Version, *, X: Array, W: Array, R: Array, B: Array | None, sequence_lens: Array | None,  # noqa: N803
    initial_h: Array | None, direction: str, layout: Int, hidden_size: Int, activations: list[str] | None,
    activation_alpha: list[float] | None, activation_beta: list[float] | None, clip: float | None,
    linear_before_reset: Int, output_sequence: Int,
) -> tuple[Array, ...]:  # fmt: skip
    """Return all hidden states, and the last one."""
    given = {name: value for name, value in locals().items() if name != "v"}
    return tuple(item.value for item in _computed(v, **given))


case = GRU.case
recurrent_cases(GRU, SAID)

EVERY: dict[str, Any] = extras(SAID)
WHOLE = (LAYER, DEFAULT, SEE_EQUATIONS, STATE, ORDER, BIAS_ORDER)
OLD: dict[str, Any] = {**data(SAID, symmetric=True), "n": 2}
NEW: dict[str, Any] = {**data(SAID), "n": 2}
case("equations_plain", **OLD, **EVERY, cites=(UPDATE_OLD, RESET_OLD, CANDIDATE_OLD, *SAID.formulas, *WHOLE))
case("equations_transposed", **NEW, **EVERY, cites=(UPDATE, RESET, CANDIDATE, *SAID.formulas, *WHOLE))
scaled: dict[str, Any] = {**EVERY, "activations": ["HardSigmoid", "ScaledTanh"]}
scaled |= {"activation_alpha": [0.25, 0.75], "activation_beta": [0.375, 0.5]}
case("functions_scaled_plain", **OLD, **scaled, cites=(*SAID.narrow, UPDATE_OLD))
case("functions_scaled_old", **NEW, **scaled, cites=(*SAID.narrow, UPDATE))
case("functions_scaled", **NEW, **scaled, cites=SAID.spaced)
case("y_alone_old", **{**OLD, "n": 1}, since=3, before=TRANSPOSED, cites=(SAID.concats,))
linear: dict[str, Any] = {"linear_before_reset": 1}
both(GRU, SAID, "linear_before_reset", **linear, **EVERY, cites=(BEFORE_RESET, LINEAR, LINEAR_OLD))
both(GRU, SAID, "linear_before_reset_alone", **linear, cites=(BEFORE_RESET,))
both(GRU, SAID, "linear_before_reset_two", linear_before_reset=2, **EVERY, since=NEWEST, cites=(LINEAR,))
both(GRU, SAID, "linear_before_reset_zero", linear_before_reset=0, **EVERY, cites=(CANDIDATE, CANDIDATE_OLD))
two: dict[str, Any] = {"directions": 2, "direction": "bidirectional", "steps": 4}
longer = {**extras(SAID, 2), "sequence_lens": [4, 3, 1, 2]}
both(GRU, SAID, "linear_before_reset_bidirectional", **linear, **two, **longer, cites=(SAID.directions, BEFORE_RESET))
both(GRU, SAID, "linear_before_reset_clip", **linear, **EVERY, clip=0.25, since=NEWEST, cites=(SAID.clip, LINEAR))
both(GRU, SAID, "linear_before_reset_dtypes", each="T", **linear, **EVERY, since=NEWEST, cites=(SAID.floats,))
output_sequence_cases(GRU, SAID)
