# SPDX-License-Identifier: Apache-2.0
"""Cases of recurrent layers that LSTM, GRU and RNN share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare.data import ramp, waves
from onnx_conformance.declare.op import Tag
from onnx_conformance.operators.rnn._recurrent import ACTIVATIONS, DIRECTIONS, LAYOUT, TRANSPOSED

if TYPE_CHECKING:
    from onnx_conformance.declare.clause import Clause
    from onnx_conformance.declare.op import Op
    from onnx_conformance.operators.rnn._recurrent import Recurrent

NEWEST = 22
"""The version of the cases that do not have to run in every version."""

ENDS: dict[str, Any] = {"n": 2, "omits": ("Y",)}
"""For cases without an expected output: outputs of one rank, which a model may name in every version."""

SEQUENCES, BATCH, INPUT, HIDDEN = 2, 4, 5, 3


def data(gates: int, directions: int = 1, steps: int = SEQUENCES, *, symmetric: bool = False) -> dict[str, Any]:
    """Return X, W and R of an operator with this number of gates. A symmetric R equals its transpose, for each gate."""
    x = waves(steps, BATCH, INPUT) / 3
    weights = waves(directions, gates * HIDDEN, INPUT)[:, ::-1] / 3
    matrices = waves(directions, gates, HIDDEN, HIDDEN)[:, :, ::-1] / 3
    if symmetric:
        matrices = matrices + matrices.swapaxes(2, 3)
    return {"X": x, "W": weights, "R": matrices.reshape(directions, -1, HIDDEN), "hidden_size": HIDDEN}


def extras(gates: int, states: tuple[str, ...], directions: int = 1) -> dict[str, Any]:
    """Return the optional inputs that the operators have: B, sequence_lens and the initial states."""
    initial = {name: waves(directions, BATCH, HIDDEN)[:, ::-1] / (2 + index) for index, name in enumerate(states)}
    return {"B": waves(directions, 2 * gates * HIDDEN) / 4, "sequence_lens": [2, 1, 2, 1], **initial}


def in_both_wordings(
    op: Op,
    clauses: Recurrent,
    name: str,
    *tags: Tag,
    directions: int = 1,
    steps: int = SEQUENCES,
    cites: Clause | tuple[Clause, ...] = (),
    since: int = TRANSPOSED,
    **arguments: Any,  # noqa: ANN401 - see Op.case
) -> None:
    """Declare a case for the versions that transpose R, and one with a symmetric R for earlier versions.

    A case `since` a later version is declared only for those. An argument that is None is omitted.
    """
    arguments = {"n": 1 + len(clauses.states), **arguments}
    sentences = cites if isinstance(cites, tuple) else (cites,)
    call = {**data(clauses.gates, directions, steps), **arguments}
    op.case(
        name,
        *tags,
        since=since,
        cites=tuple(item for item in sentences if item.before is None),
        **{key: value for key, value in call.items() if value is not None},
    )
    if since == TRANSPOSED:
        call = {**data(clauses.gates, directions, steps, symmetric=True), **arguments}
        op.case(
            f"{name}_before_{TRANSPOSED}",
            *tags,
            before=TRANSPOSED,
            cites=tuple(item for item in sentences if item.since is None or item.since < TRANSPOSED),
            **{key: value for key, value in call.items() if value is not None},
        )


def _inputs(op: Op, clauses: Recurrent) -> None:
    """Declare the cases for each input, and for sizes."""
    optional = extras(clauses.gates, clauses.states)
    new: dict[str, Any] = {"since": NEWEST}
    in_both_wordings(
        op,
        clauses,
        "plain",
        cites=(clauses.packed, clauses.weights, clauses.recurrence, clauses.zero, clauses.no_clip, clauses.trailing),
    )
    in_both_wordings(
        op,
        clauses,
        "every_input",
        **optional,
        cites=(clauses.bias, clauses.lengths, clauses.batch, clauses.state_shape),
    )
    in_both_wordings(op, clauses, "bias", **new, B=optional["B"], cites=(clauses.bias, clauses.zero))
    in_both_wordings(op, clauses, "lengths", sequence_lens=[1, 2, 1, 2], cites=(clauses.lengths, clauses.missing))
    in_both_wordings(op, clauses, "lengths_whole", **new, sequence_lens=[2, 2, 2, 2], cites=clauses.no_lengths)
    in_both_wordings(op, clauses, "no_lengths", steps=3, cites=clauses.no_lengths)
    for name in clauses.states:
        in_both_wordings(op, clauses, f"only_{name}", **new, **{name: optional[name]}, cites=clauses.zero)
    in_both_wordings(op, clauses, "hidden_size", cites=clauses.neurons)
    in_both_wordings(op, clauses, "hidden_size_left_out", hidden_size=None, cites=clauses.neurons)
    x = data(clauses.gates)["X"]
    in_both_wordings(op, clauses, "large", Tag.EDGE, **new, X=x * 100, cites=clauses.packed)
    in_both_wordings(op, clauses, "nan", Tag.EDGE, **new, X=np.where(x == x[1, 2, 3], np.nan, x))
    in_both_wordings(op, clauses, "no_batch", Tag.EDGE, **new, X=ramp(SEQUENCES, 0, INPUT), cites=clauses.packed)
    empty: dict[str, Any] = {"X": ramp(SEQUENCES, BATCH, 0), "W": ramp(1, clauses.gates * HIDDEN, 0)}
    in_both_wordings(op, clauses, "no_features", Tag.EDGE, **new, **empty, B=optional["B"], cites=clauses.weights)
    ones: dict[str, Any] = {
        "W": np.full((1, clauses.gates, 1), 0.25),
        "R": np.ones((1, clauses.gates, 1)),
        "hidden_size": 1,
    }
    in_both_wordings(op, clauses, "all_ones", Tag.EDGE, **new, X=[[[0.5]]], **ones, cites=clauses.neurons)
    for direction, orders in DIRECTIONS.items():
        # With one neuron R equals its transpose, so the equations are the same in every version.
        one: dict[str, Any] = {
            "X": waves(3, 2, INPUT) / 2,
            "W": waves(len(orders), clauses.gates, INPUT)[:, ::-1] / 2,
            "R": waves(len(orders), clauses.gates, 1) / 2,
            "B": waves(len(orders), 2 * clauses.gates) / 4,
            **{name: waves(len(orders), 2, 1)[:, ::-1] / (2 + index) for index, name in enumerate(clauses.states)},
        }
        op.case(
            f"one_neuron_{direction}",
            Tag.EDGE,
            **one,
            hidden_size=1,
            direction=direction,
            n=1 + len(clauses.states),
            cites=(clauses.direction, clauses.neurons),
        )
    in_both_wordings(op, clauses, "without_y", **ENDS, cites=(clauses.last, clauses.missing))
    op.case("y_alone", **data(clauses.gates), n=1, since=TRANSPOSED, cites=clauses.concats)
    in_both_wordings(op, clauses, "each_type", Tag.DTYPE, each="T", **optional, cites=clauses.bias)
    # Small numbers have no correct digits in a type with few bits: sigmoids and tangents have errors of a unit of 1.
    large: dict[str, Any] = {"X": x * 2, **{name: optional[name] * 2 for name in clauses.states}}
    in_both_wordings(
        op,
        clauses,
        "reverse_each_type",
        Tag.DTYPE,
        each="T",
        **new,
        **large,
        direction="reverse",
        cites=clauses.direction,
    )


def _attributes(op: Op, clauses: Recurrent) -> None:
    """Declare the cases for directions, layouts and clipping."""
    for direction, orders in DIRECTIONS.items():
        chosen: dict[str, Any] = {"direction": direction, "directions": len(orders), "steps": 6}
        longer = {**extras(clauses.gates, clauses.states, len(orders)), "sequence_lens": [4, 6, 1, 5]}
        ends = (clauses.direction, clauses.concats, clauses.last)
        in_both_wordings(op, clauses, f"direction_{direction}", since=NEWEST, **chosen, cites=ends)
        in_both_wordings(
            op, clauses, f"direction_{direction}_all", **chosen, **longer, cites=(clauses.lengths, clauses.direction)
        )
        turned = {key: item.swapaxes(0, 1) if key in clauses.states else item for key, item in longer.items()}
        turned |= {"X": data(clauses.gates, len(orders), 6)["X"].swapaxes(0, 1), "layout": 1}
        in_both_wordings(
            op, clauses, f"layout_1_{direction}", Tag.CHANGE, **chosen, **turned, since=LAYOUT, cites=clauses.layout_one
        )
    two: dict[str, Any] = {"directions": 2, "direction": "bidirectional"}
    in_both_wordings(
        op,
        clauses,
        "layout_0",
        Tag.CHANGE,
        **two,
        **extras(clauses.gates, clauses.states, 2),
        layout=0,
        since=LAYOUT,
        cites=clauses.layout,
    )
    in_both_wordings(op, clauses, "one_step", **two, steps=1, since=NEWEST, cites=clauses.direction)
    for clip in (0.25, 0.0, 9.0):
        name = f"clip_{clip}".replace(".", "_")
        in_both_wordings(
            op, clauses, name, since=NEWEST, B=extras(clauses.gates, clauses.states)["B"], clip=clip, cites=clauses.clip
        )
    in_both_wordings(op, clauses, "clip_states", **extras(clauses.gates, clauses.states), clip=0.5, cites=clauses.clip)


def _activations(op: Op, clauses: Recurrent) -> None:
    """Declare the cases for activation functions."""
    count, bias = len(clauses.functions), extras(clauses.gates, clauses.states)["B"]
    for name, item in ACTIVATIONS.items():
        scaling: dict[str, Any] = {}
        if item.alpha != "":
            scaling["activation_alpha"] = [0.5, 0.75, 0.375][:count]
        if item.beta != "":
            scaling["activation_beta"] = [0.25, 0.5, 0.125][:count]
        chosen: dict[str, Any] = {"activations": [name] * count, "B": bias}
        chosen["since"] = TRANSPOSED if name == "HardSigmoid" else NEWEST
        in_both_wordings(
            op, clauses, f"activation_{name.lower()}", **chosen, **scaling, cites=(clauses.known, clauses.optional)
        )
        if isinstance(item.alpha, float):
            chosen["since"] = NEWEST
            in_both_wordings(op, clauses, f"activation_{name.lower()}_default", **chosen, cites=clauses.defaults)
    hard = ["HardSigmoid"] * count
    op.case(
        "hard_sigmoid_default_since_7",
        **data(clauses.gates),
        n=1 + len(clauses.states),
        since=TRANSPOSED,
        activations=hard,
        cites=clauses.defaults,
    )
    op.case(
        "hard_sigmoid_default_before_7",
        **data(clauses.gates, symmetric=True),
        n=1 + len(clauses.states),
        before=TRANSPOSED,
        activations=hard,
        cites=clauses.defaults,
    )
    if count > 1:
        mixed: dict[str, Any] = {"activations": ["LeakyRelu", "HardSigmoid", "Elu"][:count], "activation_beta": [0.5]}
        mixed["activation_alpha"] = [0.125, 0.25, 0.5][:count]
        in_both_wordings(op, clauses, "activations_mixed", B=bias, **mixed, cites=(clauses.consumed, clauses.counted))
    two: dict[str, Any] = {
        "directions": 2,
        "direction": "bidirectional",
        "B": extras(clauses.gates, clauses.states, 2)["B"],
    }
    same: dict[str, Any] = {"activations": ["Elu"] * (2 * count), "activation_alpha": [0.5] * (2 * count)}
    in_both_wordings(op, clauses, "activations_same_of_both", **two, **same, cites=(clauses.consumed, clauses.counted))
    named: dict[str, Any] = {"activations": list(clauses.functions), "since": NEWEST}
    in_both_wordings(op, clauses, "activations_named", **named, cites=(clauses.counted, clauses.known))
    if count > 1:
        later: dict[str, Any] = {"activations": ["Sigmoid", "Elu", "Elu"][:count], "since": NEWEST}
        later["activation_alpha"] = [0.5, 0.25][: count - 1]
        in_both_wordings(op, clauses, "activations_alpha_of_the_last", **later, cites=clauses.consumed)


def _shapes(op: Op, clauses: Recurrent) -> None:
    """Declare the cases for forbidden shapes."""
    plain: dict[str, Any] = {**data(clauses.gates), **ENDS}
    tall = clauses.gates * HIDDEN
    wrong: list[tuple[Clause, str, dict[str, tuple[int, ...]]]] = [
        (clauses.packed, "X", {"rank2": (BATCH, INPUT), "rank4": (SEQUENCES, BATCH, INPUT, 1)}),
        (
            clauses.weights,
            "W",
            {
                "rank2": (tall, INPUT),
                "rank1": (tall,),
                "other_input": (1, tall, 6),
                "other_gates": (1, tall - 1, INPUT),
                "two_directions": (2, tall, INPUT),
            },
        ),
        (clauses.recurrence, "R", {"rank2": (tall, HIDDEN), "taller": (1, tall + 1, HIDDEN), "two": (2, tall, HIDDEN)}),
        (clauses.bias, "B", {"half": (1, tall), "rank1": (2 * tall,), "two_directions": (2, 2 * tall)}),
        (clauses.batch, "sequence_lens", {"few": (2,), "matrix": (1, BATCH)}),
    ]
    of_states = {"turned": (BATCH, 1, HIDDEN), "rank2": (BATCH, HIDDEN), "wide": (1, BATCH, HIDDEN + 1)}
    wrong += [(clauses.state_shape, name, {**of_states}) for name in clauses.states]
    for clause, name, shapes in wrong:
        for index, (misfit, shape) in enumerate(shapes.items()):
            call: dict[str, Any] = {**plain, name: ramp(*shape), "since": NEWEST if index else None}
            op.case(f"{name.lower()}_{misfit}", **call, rejects=clause)
    new: dict[str, Any] = {**plain, "since": NEWEST}
    no_size = {name: value for name, value in new.items() if name != "hidden_size"}
    op.case("r_rank2_hidden_size_left_out", **{**no_size, "R": ramp(tall, HIDDEN)}, rejects=clauses.recurrence)
    op.case("one_direction_of_two", **new, direction="bidirectional", rejects=clauses.recurrence)
    op.case("hidden_size_other", **{**new, "hidden_size": HIDDEN + 1}, rejects=clauses.recurrence)
    turned: dict[str, Any] = {**plain, "X": plain["X"].swapaxes(0, 1), "layout": 1}
    op.case("layout_1_state_of_0", Tag.CHANGE, **turned, initial_h=ramp(1, BATCH, HIDDEN), rejects=clauses.layout_one)


def _others(op: Op, clauses: Recurrent) -> None:
    """Declare the other cases without an expected output."""
    case, count, names = op.case, len(clauses.functions), list(clauses.functions)
    plain: dict[str, Any] = {**data(clauses.gates), **ENDS}
    new: dict[str, Any] = {**plain, "since": NEWEST}
    case(
        "not_symmetric",
        Tag.CHANGE,
        **data(clauses.gates),
        **{**extras(clauses.gates, clauses.states), "sequence_lens": None},
        n=1 + len(clauses.states),
        before=TRANSPOSED,
        cites=clauses.equation,
    )
    case("direction_unknown", **plain, direction="backward", rejects=clauses.direction)
    case("direction_upper_case", **new, direction="FORWARD", rejects=clauses.direction)
    for name, layout in (("two", 2), ("negative", -1)):
        case(f"layout_{name}", Tag.EDGE, **new, layout=layout, unspecified=clauses.layout)
    for name, length in (("zero", 0), ("negative", -1), ("beyond", SEQUENCES + 1)):
        case(f"lengths_{name}", Tag.EDGE, **new, sequence_lens=[2, length, 2, 1], unspecified=clauses.lengths)
    case("no_steps", Tag.EDGE, **{**new, "X": ramp(0, BATCH, INPUT)}, unspecified=clauses.last)
    case("clip_negative", Tag.EDGE, **new, clip=-1.0, unspecified=clauses.clip)
    if count > 1:  # The order of several functions for two directions is open.
        case("activations_too_few", **plain, activations=names[1:], rejects=clauses.counted)
        case("activations_too_many", **new, activations=[*names, "Tanh"], rejects=clauses.counted)
        case("activations_of_two_directions", **new, activations=names * 2, rejects=clauses.counted)
        both: dict[str, Any] = {**data(clauses.gates, 2), **ENDS, "direction": "bidirectional"}
        case("activations_of_both", Tag.EDGE, **both, activations=names * 2, unspecified=clauses.counted)
        elus_of_both: dict[str, Any] = {**both, "activations": ["Elu"] * (2 * count), "since": NEWEST}
        halves = [0.5] * count + [0.25] * count
        case("alphas_of_both", Tag.EDGE, **elus_of_both, activation_alpha=halves, unspecified=clauses.counted)
    case("activations_unknown", **plain, activations=[*names[1:], "Selu"], rejects=clauses.known)
    case("activations_lower_case", **new, activations=[*names[1:], "tanh"], rejects=clauses.known)
    case("activations_empty_name", **new, activations=[*names[1:], ""], rejects=clauses.known)
    elus: dict[str, Any] = {**new, "activations": ["Elu"] * count}
    if count > 1:
        case("alpha_too_few", Tag.EDGE, **elus, activation_alpha=[0.5], unspecified=clauses.consumed)
    case("alpha_too_many", Tag.EDGE, **elus, activation_alpha=[0.5] * 4, unspecified=clauses.consumed)
    case("alpha_of_no_taker", Tag.EDGE, **new, activation_alpha=[0.5], unspecified=clauses.consumed)
    for name in ("Affine", "ScaledTanh"):
        case(f"default_of_{name.lower()}", Tag.EDGE, **new, activations=[name] * count, unspecified=clauses.defaults)


def recurrent_cases(op: Op, clauses: Recurrent) -> None:
    """Declare the cases for the sentences that the operators share."""
    _inputs(op, clauses)
    _attributes(op, clauses)
    _activations(op, clauses)
    _shapes(op, clauses)
    _others(op, clauses)


def output_sequence_cases(op: Op, clauses: Recurrent) -> None:
    """Declare the cases for output_sequence, which defines whether Y may be omitted."""
    call = data(clauses.gates, symmetric=True)
    for value in (0, 1):
        op.case(
            f"output_sequence_{value}",
            **call,
            n=1 + len(clauses.states),
            output_sequence=value,
            cites=clauses.optional_y,
        )
    op.case("output_sequence_no_y", **call, **ENDS, output_sequence=0, cites=clauses.if_zero)
