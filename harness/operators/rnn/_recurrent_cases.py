"""Cases of recurrent layers: what LSTM and GRU share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.declare.arguments import typed
from harness.declare.clause import Rule
from harness.declare.data import ramp, waves
from harness.declare.op import Tag
from harness.operators.rnn._recurrent import ACTIVATIONS, DIRECTIONS, LAYOUT, TRANSPOSED

if TYPE_CHECKING:
    from harness.declare.clause import Clause
    from harness.declare.op import Op
    from harness.operators.rnn._recurrent import Recurrent

NEWEST = 22
"""The version in which cases run that need not in each."""

ENDS: dict[str, Any] = {"n": 2, "omits": ("Y",)}
"""For cases without an answer: outputs of one rank, which every version allows to be named."""

SEQUENCES, BATCH, INPUT, HIDDEN = 2, 4, 5, 3


def data(said: Recurrent, directions: int = 1, steps: int = SEQUENCES, *, symmetric: bool = False) -> dict[str, Any]:
    """Return X, W and R; in every gate of a symmetric R nothing changes if it is transposed."""
    x = waves(steps, BATCH, INPUT) / 3
    weights = waves(directions, said.gates * HIDDEN, INPUT)[:, ::-1] / 3
    matrices = waves(directions, said.gates, HIDDEN, HIDDEN)[:, :, ::-1] / 3
    if symmetric:
        matrices = matrices + matrices.swapaxes(2, 3)
    return {"X": x, "W": weights, "R": matrices.reshape(directions, -1, HIDDEN), "hidden_size": HIDDEN}


def extras(said: Recurrent, directions: int = 1) -> dict[str, Any]:
    """Return the optional inputs that are the same for all."""
    states = {name: waves(directions, BATCH, HIDDEN)[:, ::-1] / (2 + index) for index, name in enumerate(said.states)}
    return {"B": waves(directions, 2 * said.gates * HIDDEN) / 4, "sequence_lens": [2, 1, 2, 1], **states}


def both(
    op: Op, said: Recurrent, name: str, *tags: Tag, directions: int = 1, steps: int = SEQUENCES,
    cites: tuple[Clause, ...] = (), since: int = TRANSPOSED, **given: Any,  # noqa: ANN401 - see Op.case
) -> None:  # fmt: skip
    """Declare a case for the versions that say that R is transposed, and one with a symmetric R for those before.

    A case `since` a later version is meant for those alone. What is None is left out.
    """
    given = {"n": 1 + len(said.states), **given}
    now = tuple(item for item in cites if item.before is None)
    plain = {**data(said, directions, steps), **given}
    op.case(name, *tags, since=since, cites=now, **{key: value for key, value in plain.items() if value is not None})
    if since == TRANSPOSED:
        then = tuple(item for item in cites if item.since is None or item.since < TRANSPOSED)
        same = {**data(said, directions, steps, symmetric=True), **given}
        same = {key: value for key, value in same.items() if value is not None}
        op.case(f"{name}_old", *tags, before=TRANSPOSED, cites=then, **same)


def _inputs(op: Op, said: Recurrent) -> None:
    """Declare cases of each input, and of sizes."""
    optional = extras(said)
    new: dict[str, Any] = {"since": NEWEST}
    both(op, said, "plain", cites=(said.packed, said.weights, said.recurrence, said.zero, said.no_clip, said.trailing))
    both(op, said, "every_input", **optional, cites=(said.bias, said.lengths, said.batch, said.state_shape))
    both(op, said, "bias", **new, B=optional["B"], cites=(said.bias, said.zero))
    both(op, said, "lengths", sequence_lens=[1, 2, 1, 2], cites=(said.lengths, said.missing))
    both(op, said, "lengths_whole", **new, sequence_lens=[2, 2, 2, 2], cites=(said.no_lengths,))
    both(op, said, "no_lengths", steps=3, cites=(said.no_lengths,))
    for name in said.states:
        both(op, said, f"only_{name}", **new, **{name: optional[name]}, cites=(said.zero,))
    both(op, said, "hidden_size", cites=(said.neurons,))
    both(op, said, "hidden_size_left_out", hidden_size=None, cites=(said.neurons,))
    x = data(said)["X"]
    both(op, said, "large", Tag.EDGE, **new, X=x * 100, cites=(said.packed,))
    both(op, said, "nan", Tag.EDGE, **new, X=np.where(x == x[1, 2, 3], np.nan, x))
    both(op, said, "no_batch", Tag.EDGE, **new, X=ramp(SEQUENCES, 0, INPUT), cites=(said.packed,))
    empty: dict[str, Any] = {"X": ramp(SEQUENCES, BATCH, 0), "W": ramp(1, said.gates * HIDDEN, 0)}
    both(op, said, "no_features", Tag.EDGE, **new, **empty, B=optional["B"], cites=(said.weights,))
    ones: dict[str, Any] = {"W": np.full((1, said.gates, 1), 0.25), "R": np.ones((1, said.gates, 1)), "hidden_size": 1}
    both(op, said, "all_ones", Tag.EDGE, **new, X=[[[0.5]]], **ones, cites=(said.neurons,))
    both(op, said, "without_y", **ENDS, cites=(said.last, said.missing))
    op.case("y_alone", **data(said), n=1, since=TRANSPOSED, cites=(said.concats,))
    both(op, said, "dtypes", Tag.DTYPE, each="T", **optional, cites=(said.floats,))
    both(op, said, "dtypes_reverse", Tag.DTYPE, each="T", **new, direction="reverse", cites=(said.floats,))


def _attributes(op: Op, said: Recurrent) -> None:
    """Declare cases of directions, layouts and clipping."""
    for direction, orders in DIRECTIONS.items():
        wanted: dict[str, Any] = {"direction": direction, "directions": len(orders), "steps": 6}
        longer = {**extras(said, len(orders)), "sequence_lens": [4, 6, 1, 5]}
        ends = (said.direction, said.concats, said.last)
        both(op, said, f"direction_{direction}", since=NEWEST, **wanted, cites=ends)
        both(op, said, f"direction_{direction}_all", **wanted, **longer, cites=(said.lengths, said.direction))
        turned = {key: item.swapaxes(0, 1) if key in said.states else item for key, item in longer.items()}
        turned |= {"X": data(said, len(orders), 6)["X"].swapaxes(0, 1), "layout": 1}
        both(op, said, f"layout_1_{direction}", Tag.CHANGE, **wanted, **turned, since=LAYOUT, cites=(said.layout_one,))
    two: dict[str, Any] = {"directions": 2, "direction": "bidirectional"}
    both(op, said, "layout_0", Tag.CHANGE, **two, **extras(said, 2), layout=0, since=LAYOUT, cites=(said.layout,))
    both(op, said, "one_step", **two, steps=1, since=NEWEST, cites=(said.direction,))
    for clip in (0.25, 0.0, 9.0):
        name = f"clip_{clip}".replace(".", "_")
        both(op, said, name, since=NEWEST, B=extras(said)["B"], clip=clip, cites=(said.clip,))
    both(op, said, "clip_states", **extras(said), clip=0.5, cites=(said.clip,))


def _activations(op: Op, said: Recurrent) -> None:
    """Declare cases of activation functions."""
    count, bias = len(said.functions), extras(said)["B"]
    for name, item in ACTIVATIONS.items():
        scaling: dict[str, Any] = {}
        if item.alpha != "":
            scaling["activation_alpha"] = [0.5, 0.75, 0.375][:count]
        if item.beta != "":
            scaling["activation_beta"] = [0.25, 0.5, 0.125][:count]
        chosen: dict[str, Any] = {"activations": [name] * count, "B": bias}
        chosen["since"] = TRANSPOSED if name == "HardSigmoid" else NEWEST
        both(op, said, f"activation_{name.lower()}", **chosen, **scaling, cites=(said.known, said.optional))
        if isinstance(item.alpha, float):
            chosen["since"] = NEWEST
            both(op, said, f"activation_{name.lower()}_default", **chosen, cites=(said.defaults,))
    limits: list[dict[str, Any]] = [{"since": TRANSPOSED}, {"before": TRANSPOSED}]
    for limit in limits:
        given: dict[str, Any] = {**data(said, symmetric="before" in limit), "n": 1 + len(said.states), **limit}
        name = f"hard_sigmoid_default_{next(iter(limit))}"
        op.case(name, **given, activations=["HardSigmoid"] * count, cites=(said.defaults,))
    mixed = ["LeakyRelu", "HardSigmoid", "Tanh", "Affine", "Sigmoid", "Elu"][: 2 * count]
    takers = sum(ACTIVATIONS[name].alpha != "" for name in mixed)
    alphas: dict[str, Any] = {"activation_alpha": [0.125, 0.25, 0.5, 0.75][:takers], "activation_beta": [0.5, 0.25]}
    two: dict[str, Any] = {"directions": 2, "direction": "bidirectional", "B": extras(said, 2)["B"]}
    both(op, said, "activations_mixed", **two, activations=mixed, **alphas, cites=(said.consumed, said.counted))
    named: dict[str, Any] = {"activations": list(said.functions), "since": NEWEST}
    both(op, said, "activations_named", **named, cites=(said.counted, said.known))
    later: dict[str, Any] = {"activations": ["Sigmoid", "Elu", "Elu"][:count], "since": NEWEST}
    later["activation_alpha"] = [0.5, 0.25][: count - 1]
    both(op, said, "activations_alpha_of_the_last", **later, cites=(said.consumed,))


def _shapes(op: Op, said: Recurrent) -> None:
    """Declare cases of shapes that are forbidden."""
    plain: dict[str, Any] = {**data(said), **ENDS}
    tall = said.gates * HIDDEN
    wrong: list[tuple[Clause, str, dict[str, tuple[int, ...]]]] = [
        (said.packed, "X", {"rank2": (BATCH, INPUT), "rank4": (SEQUENCES, BATCH, INPUT, 1)}),
        (
            said.weights,
            "W",
            {"rank2": (tall, INPUT), "other_input": (1, tall, 6), "other_gates": (1, tall - 1, INPUT),
             "two_directions": (2, tall, INPUT)},
        ),
        (said.recurrence, "R", {"rank2": (tall, HIDDEN), "taller": (1, tall + 1, HIDDEN), "two": (2, tall, HIDDEN)}),
        (said.bias, "B", {"half": (1, tall), "rank1": (2 * tall,), "two_directions": (2, 2 * tall)}),
        (said.batch, "sequence_lens", {"few": (2,), "matrix": (1, BATCH)}),
    ]  # fmt: skip
    of_states = {"turned": (BATCH, 1, HIDDEN), "rank2": (BATCH, HIDDEN), "wide": (1, BATCH, HIDDEN + 1)}
    wrong += [(said.state_shape, name, {**of_states}) for name in said.states]
    for clause, name, shapes in wrong:
        for index, (what, shape) in enumerate(shapes.items()):
            given: dict[str, Any] = {**plain, name: ramp(*shape), "since": NEWEST if index else None}
            op.case(f"{name.lower()}_{what}", **given, rejects=clause)
    new: dict[str, Any] = {**plain, "since": NEWEST}
    op.case("one_direction_of_two", **new, direction="bidirectional", rejects=said.recurrence)
    op.case("hidden_size_other", **{**new, "hidden_size": HIDDEN + 1}, rejects=said.recurrence)
    turned: dict[str, Any] = {**plain, "X": plain["X"].swapaxes(0, 1), "layout": 1}
    op.case("layout_1_state_of_0", Tag.CHANGE, **turned, initial_h=ramp(1, BATCH, HIDDEN), rejects=said.layout_one)


def _others(op: Op, said: Recurrent) -> None:
    """Declare the other cases that have no answer."""
    case, count, names = op.case, len(said.functions), list(said.functions)
    plain: dict[str, Any] = {**data(said), **ENDS}
    new: dict[str, Any] = {**plain, "since": NEWEST}
    case("not_symmetric", Tag.CHANGE, **plain, before=TRANSPOSED, cites=(said.plain,), unspecified=said.transposed)
    case("direction_unknown", **plain, direction="backward", rejects=said.direction)
    case("direction_upper_case", **new, direction="FORWARD", rejects=said.direction)
    for name, layout in (("two", 2), ("negative", -1)):
        case(f"layout_{name}", Tag.EDGE, **new, layout=layout, unspecified=said.layout)
    for name, length in (("zero", 0), ("negative", -1), ("beyond", SEQUENCES + 1)):
        case(f"lengths_{name}", Tag.EDGE, **new, sequence_lens=[2, length, 2, 1], unspecified=said.lengths)
    case("no_steps", Tag.EDGE, **{**new, "X": ramp(0, BATCH, INPUT)}, unspecified=said.last)
    case("clip_negative", Tag.EDGE, **new, clip=-1.0, unspecified=said.clip)
    case("activations_too_few", **plain, activations=names[1:], rejects=said.counted)
    case("activations_too_many", **new, activations=[*names, "Tanh"], rejects=said.counted)
    case("activations_of_two_directions", **new, activations=names * 2, rejects=said.counted)
    case("activations_unknown", **plain, activations=[*names[1:], "Selu"], rejects=said.known)
    case("activations_lower_case", **new, activations=[*names[1:], "tanh"], rejects=said.known)
    case("activations_empty_name", **new, activations=[*names[1:], ""], rejects=said.known)
    elus: dict[str, Any] = {**new, "activations": ["Elu"] * count}
    case("alpha_too_few", Tag.EDGE, **elus, activation_alpha=[0.5], unspecified=said.consumed)
    case("alpha_too_many", Tag.EDGE, **elus, activation_alpha=[0.5] * 4, unspecified=said.consumed)
    case("alpha_of_no_taker", Tag.EDGE, **new, activation_alpha=[0.5], unspecified=said.consumed)
    for name in ("Affine", "ScaledTanh"):
        case(f"default_of_{name.lower()}", Tag.EDGE, **new, activations=[name] * count, unspecified=said.defaults)
    case("outside", Tag.DTYPE, outside="T", **plain, before=3, rejects=Rule.TYPES)
    case("bfloat16_old", Tag.CHANGE, **{**plain, "X": typed("bfloat16", plain["X"])}, before=22, rejects=said.floats)
    case("lengths_int64", **plain, sequence_lens=typed("int64", [2, 1, 2, 1]), rejects=said.integers)
    case("two_types", **{**new, "R": typed("double", plain["R"])}, rejects=Rule.TYPES)
    case("no_recurrence", **{**plain, "R": None}, rejects=Rule.ARITY)
    case("too_many_outputs", **{**plain, "n": 2 + len(said.states)}, rejects=Rule.ARITY)
    case("attribute_layout", Tag.CHANGE, **plain, stray={"layout": 0}, before=LAYOUT, rejects=Rule.ATTRIBUTES)
    case("attribute_batch_first", **new, stray={"batch_first": 0}, rejects=Rule.ATTRIBUTES)


def recurrent_cases(op: Op, said: Recurrent) -> None:
    """Declare cases of what the texts say in the same way."""
    _inputs(op, said)
    _attributes(op, said)
    _activations(op, said)
    _shapes(op, said)
    _others(op, said)


def output_sequence_cases(op: Op, said: Recurrent) -> None:
    """Declare the cases of output_sequence, which says whether Y may be left out."""
    given = data(said, symmetric=True)
    for value in (0, 1):
        count: dict[str, Any] = {"n": 1 + len(said.states), "output_sequence": value}
        op.case(f"output_sequence_{value}", **given, **count, cites=(said.optional_y,))
    op.case("output_sequence_no_y", **given, **ENDS, output_sequence=0, cites=(said.if_zero,))
