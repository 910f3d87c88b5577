# SPDX-License-Identifier: Apache-2.0
"""The sizes of recurrent layers in real models, and their sized calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_conformance.declare.arguments import typed
from onnx_conformance.declare.sizes import filled, grid, pairwise
from onnx_conformance.operators.rnn._recurrent import DIRECTIONS

if TYPE_CHECKING:
    from onnx_conformance.declare.clause import Clause
    from onnx_conformance.declare.op import Op
    from onnx_conformance.declare.sizes import Sizes
    from onnx_conformance.operators.rnn._recurrent import Recurrent

NEURONS = (1, 3, 4, 8, 15, 16, 17, 32, 64, 100)
"""Numbers of neurons around the widths of vectors."""
ONE_STEP = pairwise(most=1 << 20, h=NEURONS, b=(1, 3, 5), i=(1, 16, 33))
MANY = grid(h=(100,), b=(700,), i=(3,))
STEPS = grid(h=(17,), b=(2,), i=(10,), t=(2, 5)) + grid(h=(4,), b=(3,), i=(8,), t=(20,))
"""The numbers of neurons, of sequences, of inputs and of time steps; MANY has many sequences. The cost of the allowed
errors grows with the time steps, so most calls have one step, with initial states."""


def one_step(clauses: Recurrent, direction: str) -> dict[str, Any]:
    """Return the arguments of a call with one time step, all states and a bias."""
    number = len(DIRECTIONS[direction])
    return {
        "X": filled(1, "b", "i", floats=(-1, 1)),
        "W": filled(number, (clauses.gates, "h"), "i", floats=(-0.25, 0.25)),
        "R": filled(number, (clauses.gates, "h"), "h", floats=(-0.25, 0.25)),
        "B": filled(number, (2 * clauses.gates, "h"), floats=(-0.25, 0.25)),
        "hidden_size": lambda sizes: sizes["h"],
        "direction": direction,
        **{name: filled(number, "b", "h", floats=(-1, 1)) for name in clauses.states},
    }


def sized(op: Op, clauses: Recurrent, cites: tuple[Clause, ...]) -> None:
    """Declare the sized calls of an operator: one step and several steps in each direction, with all states."""

    def lengths(sizes: Sizes) -> object:
        return typed("int32", [1 + (index + sizes["t"] // 2) % sizes["t"] for index in range(sizes["b"])])

    for direction in DIRECTIONS:
        ends, forward = 1 + len(clauses.states), direction == "forward"
        layer = one_step(clauses, direction)
        some = (*ONE_STEP, *MANY) if forward else ONE_STEP[::4]
        op.sized(f"{direction}_step", some, n=ends, each="T", cites=cites, arguments=layer)
        steps = {**layer, "X": filled("t", "b", "i", floats=(-1, 1)), "sequence_lens": lengths}
        few = STEPS if forward else STEPS[:2]
        op.sized(f"{direction}_steps", few, n=ends, cites=(*cites, clauses.lengths), arguments=steps)
