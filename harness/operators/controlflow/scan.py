"""Scan: a subgraph over the elements of tensors along an axis, carrying a state.

Versions: 8 (a batch, and lengths), 9 (axes and directions instead), 11 (negative axes), 16 to 25 (types).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.declare import EXACT, Array, Op, Rule, Subgraph, Tag, Version, graph, iterate, outputs_of, ramp, typed

Flags = list[int] | None
DERIVES = {"V": outputs_of("body")}
SCAN = Op("Scan", versions=(8, 9, 11, 16, 19, 21, 23, 24, 25), compare=EXACT, derives=DERIVES, widens=False)

ONE_OR_MORE = SCAN.clause("Scan can be used to iterate over one or more scan_input tensors")
STATE_OLD = SCAN.clause("All these tensors are required to have the same shape in each iteration of the loop", before=9)
STATE = SCAN.clause("as well as scan_output_element tensors) are required to have the same shape in each iter", since=9)
GRAPH = SCAN.clause("The attribute body must be a graph")
RETURNS = SCAN.clause("It must return the (updated) values of the state_variables and zero or more scan_output_element")
ITERATED = SCAN.clause("It will have a rank one less than the rank of the corresponding scan_input.", since=9)
BATCHING = SCAN.clause("the batch-axis is required to be 0.", before=9, note="Of the states too: test_scan_sum.")
SAME_BATCH = SCAN.clause("they must all have the same batch-size, and they must all have the same maximum-", before=9)
BATCHES = SCAN.clause("The batch-size of scan_1, ..., scan_m are all required to be equal", before=9)
LONGEST = SCAN.clause("scan_i.shape[1] is required to be equal to scan_j.shape[1] for all i,j.", before=9)
SEQUENCE_AXIS = SCAN.clause("The sequence axis or scan axis is required to be 1.", before=9)
LENGTHS = SCAN.clause("to allow variable length sequences of length <= the maximum-sequence-length.", before=9)
MEANINGFUL = SCAN.clause("but only first N values will be meaningful.", before=9)
REVERSED_OLD = SCAN.clause("to scan a sequence in the reverse direction.", before=9, note="Whence, of a shorter one?")
DIRECTIONS = SCAN.clause("scan_input tensor: 0 indicates forward direction and 1 indicates reverse direction.")
LISTED = SCAN.clause("ONNX restriction that only the last parameter of an operator can be variadic")
EQUAL = SCAN.clause("scan_i.shape[axis_i] is required to be equal to scan_j.shape[axis_j] for all i,j.", since=9)
SAMPLE = SCAN.clause("graph rnn-cell-1 ( %H_tminus1[FLOAT, tensor] %X_t[FLOAT, tensor] )")
M_FLAGS = SCAN.clause("An optional list of M flags.")
K_FLAGS = SCAN.clause("An optional list of K flags", since=9)
PREPENDED = SCAN.clause("should be constructed by appending or prepending a new value", since=9, result=True)
DEFAULT_AXES = SCAN.clause("If omitted, 0 will be used as the scan axis for every scan_output.", since=9)
AXIS_IN = SCAN.clause("specifies the axis to be scanned (the sequence axis) for the i-th scan_input.", since=9)
ACCUMULATED = SCAN.clause("The scan outputs are accumulated along the specified axis.", since=9)
BACK = SCAN.clause("Negative value for an axis means counting dimensions from the back.", since=11)
RANGE_IN = SCAN.clause("Accepted range is [-r, r-1] where r = rank(input).", since=11)
RANGE_OUT = SCAN.clause("Accepted range is [-r, r-1].", since=11, note="Where r is the rank of the scan output.")
NUMBER = SCAN.clause("Initial values of the loop's N state variables followed by M scan_inputs")
INPUTS = SCAN.clause("It has N+M inputs: (loop state variables..., scan_input_elts...).")
# Without an iteration nothing tells the other dimensions.
CONCATENATED = SCAN.clause("Each scan_output is created by concatenating", note="Along a new axis: test_scan9_sum.")
UNCHANGING = SCAN.clause("It is an error if the dimensions of these values change across loop iterations.")
FINAL = SCAN.clause("N state variables followed by K scan_outputs", note="Says nothing of a node that has fewer.")


def _states(v: Version, n: int, body: Subgraph, given: list[Array], scanned: int) -> int:
    """Return the number of state variables."""
    v.require(ONE_OR_MORE, scanned >= 1)
    v.require(NUMBER, scanned <= len(given))
    v.require(INPUTS, len(body.inputs) == len(given))
    v.require(RETURNS, len(body.outputs) >= len(given) - scanned)
    v.require(FINAL, n <= len(body.outputs))
    v.silent(FINAL, n < len(body.outputs))
    return len(given) - scanned


def _flags(flags: Flags, count: int) -> list[int]:
    """Return the list given, or one of zeros."""
    return [0] * count if flags is None else flags


@SCAN.oracle(before=9)
def batched(
    v: Version, n: int, sequence_lens: Array | None, initial_state_and_scan_inputs: list[Array], body: Subgraph,
    num_scan_inputs: int, directions: Flags,
) -> tuple[Array, ...]:  # fmt: skip
    """Return for each sequence of a batch the final states and what its iterations gave."""
    given, first = initial_state_and_scan_inputs, _states(v, n, body, initial_state_and_scan_inputs, num_scan_inputs)
    reverse = _flags(directions, num_scan_inputs)
    v.require(M_FLAGS, len(reverse) == num_scan_inputs)
    v.silent(DIRECTIONS, not {*reverse} <= {0, 1})
    v.require(BATCHING, all(item.ndim >= 1 for item in given))
    v.require(SEQUENCE_AXIS, all(item.ndim > 1 for item in given[first:]))
    batch, longest = given[first].shape[:2]
    v.require(SAME_BATCH, all(item.shape[:2] == (batch, longest) for item in given[first:]))
    v.silent(BATCHING, batch == 0 or any(item.shape[0] != batch for item in given[:first]))
    lengths = np.full(batch, longest) if sequence_lens is None else sequence_lens
    v.require(LENGTHS, lengths.shape == (batch,) and bool((lengths <= longest).all()))
    v.silent(LENGTHS, bool((lengths < 0).any()))
    v.silent(REVERSED_OLD, any(reverse) and bool((lengths < longest).any()))
    v.silent(MEANINGFUL, len(body.outputs) > first and bool((lengths < longest).any()))
    answers = []
    for index, length in enumerate(lengths):
        sequences = [item[index, :: -1 if back else 1] for item, back in zip(given[first:], reverse, strict=True)]
        elements = ([item[t] for item in sequences] for t in range(length))
        states, added = iterate(v, body, [item[index] for item in given[:first]], elements, STATE_OLD, UNCHANGING)
        v.require(STATE_OLD, all(new.shape == old.shape[1:] for new, old in zip(states, given[:first], strict=True)))
        v.silent(CONCATENATED, any(not scan for scan in added))
        answers.append([*states, *map(np.stack, added)])
    return tuple(map(np.stack, zip(*answers, strict=True)))


@SCAN.oracle(since=9)
def scanned(
    v: Version, n: int, initial_state_and_scan_inputs: list[Array], body: Subgraph, num_scan_inputs: int,
    scan_input_axes: Flags, scan_input_directions: Flags, scan_output_axes: Flags, scan_output_directions: Flags,
) -> tuple[Array, ...]:  # fmt: skip
    """Return the final states and what the iterations gave, along the axes and in the directions asked for."""
    given, first = initial_state_and_scan_inputs, _states(v, n, body, initial_state_and_scan_inputs, num_scan_inputs)
    reverse, axes = (_flags(item, num_scan_inputs) for item in (scan_input_directions, scan_input_axes))
    count = len(body.outputs) - first
    prepend, along = (_flags(item, count) for item in (scan_output_directions, scan_output_axes))
    v.require(M_FLAGS, len(reverse) == len(axes) == num_scan_inputs)
    v.require(K_FLAGS, len(prepend) == len(along) == count)
    v.silent(DIRECTIONS, not {*reverse} <= {0, 1})
    v.silent(PREPENDED, not {*prepend} <= {0, 1})
    v.permit(BACK, any(axis < 0 for axis in (*axes, *along)))
    v.require(RANGE_IN, all(-item.ndim <= axis < item.ndim for item, axis in zip(given[first:], axes, strict=True)))
    moved = [np.moveaxis(item, axis, 0) for item, axis in zip(given[first:], axes, strict=True)]
    v.require(EQUAL, all(len(item) == len(moved[0]) for item in moved))
    sequences = [item[:: -1 if back else 1] for item, back in zip(moved, reverse, strict=True)]
    states, added = iterate(v, body, given[:first], zip(*sequences, strict=True), STATE, UNCHANGING)
    # That the initial states have another shape is not forbidden.
    v.silent(STATE, any(new.shape != old.shape for new, old in zip(states, given[:first], strict=True)))
    v.silent(CONCATENATED, any(not scan for scan in added))
    ranks = [scan[0].ndim + 1 for scan in added]
    v.require(RANGE_OUT, all(-rank <= axis < rank for rank, axis in zip(ranks, along, strict=True)))
    ordered = [scan[:: -1 if back else 1] for scan, back in zip(added, prepend, strict=True)]
    return (*states, *(np.stack(scan, axis) for scan, axis in zip(ordered, along, strict=True)))


case = SCAN.case


def body(inputs: str, outputs: str, nodes: str, scanned: int = 1) -> dict[str, Any]:
    """Return a body and how many of its inputs are scanned."""
    return {"num_scan_inputs": scanned, "body": graph(f"body ({inputs}) => ({outputs}) {{ {nodes} }}")}


def given(*values: Any) -> dict[str, Any]:  # noqa: ANN401 - see Op.case
    """Return the states and scan inputs."""
    return {"initial_state_and_scan_inputs": values}


SUMS = body("float[] s, float[] x", "float[] t, float[] y", "t = Add(s, x) y = Identity(t)")
FOLD = body("float[] s, float[] x", "float[] t", "t = Add(s, x)")
MAP = body("float[] x", "float[] y", "y = Add(x, x)")
TWICE = body("float[] p, float[] q", "float[] y, float[] z", "y = Identity(p) z = Identity(q)", 2)
COPIES = "t = Add(s, p) u = Identity(r) y = Identity(r) z = Identity(q)"
MANY = body("float[] s, int64[] r, float[] p, int64[] q", "float[] t, int64[] u, int64[] y, int64[] z", COPIES, 2)
MATRIX, ROWS = ramp(2, 3, 4), typed("int64", ramp(2, 3))
OLD: dict[str, Any] = {**given(ramp(2, 4), MATRIX), "before": 9}
case("batches", Tag.CHANGE, **OLD, n=2, **SUMS, cites=(BATCHING, SEQUENCE_AXIS, CONCATENATED, SAMPLE, LISTED))
case("batches_zip", Tag.CHANGE, **given(MATRIX, ramp(2, 3, 1)), n=2, **TWICE, before=9, cites=(BATCHES, LONGEST))
for turn in (0, 1):
    case(f"batches_direction_{turn}", **OLD, n=2, **SUMS, directions=[turn], cites=(REVERSED_OLD, DIRECTIONS))
case("batches_back_shorter", Tag.EDGE, **OLD, **FOLD, directions=[1], sequence_lens=[1, 3], unspecified=REVERSED_OLD)
for name, lens in {"full": [3, 3], "shorter": [1, 2], "none": [0, 3]}.items():
    case(f"lengths_{name}", Tag.CHANGE, **OLD, sequence_lens=lens, **FOLD, cites=(LENGTHS,))
case("lengths_full_scan", Tag.CHANGE, **OLD, sequence_lens=[3, 3], n=2, **SUMS, cites=(LENGTHS,))
case("lengths_shorter_scan", Tag.CHANGE, **OLD, sequence_lens=[1, 2], n=2, **SUMS, unspecified=MEANINGFUL)
for name, wrong in {"too_long": [4, 3], "too_many": [3, 3, 3]}.items():
    case(f"lengths_{name}", Tag.EDGE, **OLD, sequence_lens=wrong, **FOLD, rejects=LENGTHS)
case("lengths_negative", Tag.EDGE, **OLD, sequence_lens=[-1, 3], **FOLD, unspecified=LENGTHS)
case("other_batch", **given(MATRIX, ramp(1, 3, 4)), n=2, before=9, **TWICE, rejects=SAME_BATCH)
case("other_length_old", **given(MATRIX, ramp(2, 1, 4)), n=2, before=9, **TWICE, rejects=SAME_BATCH)
case("no_batch", Tag.EDGE, **given(1, MATRIX), before=9, **FOLD, rejects=BATCHING)
case("no_sequence", Tag.EDGE, **given(ramp(2), ramp(2)), before=9, **FOLD, rejects=SEQUENCE_AXIS)

NEW: dict[str, Any] = {**given(ramp(3, 4), MATRIX), "since": 9}
case("sums", Tag.CHANGE, **NEW, n=2, **SUMS, cites=(CONCATENATED, ITERATED, DEFAULT_AXES, SAMPLE))
for name, shape in {"matrices": (2, 3, 4), "one": (1, 1, 2), "zero_size": (2, 3, 0)}.items():
    case(f"map_{name}", **given(ramp(*shape)), **MAP, cites=(ONE_OR_MORE, CONCATENATED))
case("map_nothing", Tag.EDGE, **given(ramp(0, 3, 2)), since=9, **MAP, unspecified=CONCATENATED)
case("fold_nothing", Tag.EDGE, **given(ramp(3), ramp(0, 3)), since=9, **FOLD, cites=(FINAL,))
case("many", **given(ramp(3), typed("int64", 5), ramp(2, 3), ROWS), n=4, since=9, **MANY, cites=(LISTED, INPUTS))
ALIKE = body("{V} s, {V} x", "{V} t, {V} y", "t = Identity(x) y = Identity(s)")
case("types", Tag.DTYPE, each="V", **given(ramp(2, 3), ramp(2, 4, 3)), n=2, before=9, **ALIKE)
case("types_now", Tag.DTYPE, each="V", **given(ramp(5), ramp(3, 5)), n=2, since=9, **ALIKE)
BOTH: dict[str, Any] = {**given(MATRIX, ramp(2, 5)), "n": 2, "since": 9, **TWICE}
for turns in ([0, 0], [0, 1], [1, 0]):
    name = "".join(map(str, turns))
    case(f"input_directions_{name}", Tag.AXIS, **BOTH, scan_input_directions=turns, cites=(DIRECTIONS, M_FLAGS))
    case(f"output_directions_{name}", Tag.AXIS, **BOTH, scan_output_directions=turns, cites=(PREPENDED, K_FLAGS))
ONE: dict[str, Any] = {**given(MATRIX), **MAP}
for axis in range(-3, 3):
    name, said = f"{axis}".replace("-", "minus_"), (BACK, RANGE_IN, RANGE_OUT) if axis < 0 else ()
    case(f"input_axis_{name}", Tag.AXIS, **ONE, scan_input_axes=[axis], cites=(AXIS_IN, *said))
    case(f"output_axis_{name}", Tag.AXIS, **ONE, scan_output_axes=[axis], cites=(ACCUMULATED, *said))
TURNS = {f"scan_{name}": [1, 0] for name in ("input_axes", "input_directions", "output_axes")}
everything: dict[str, Any] = {**given(MATRIX, ramp(3, 5)), **TWICE, **TURNS, "scan_output_directions": [0, 1]}
case("everything", Tag.AXIS, **everything, n=2, cites=(K_FLAGS, M_FLAGS, ACCUMULATED))
case("axis_from_back_old", Tag.AXIS, **ONE, before=11, scan_input_axes=[-1], unspecified=BACK)
for name, axis in {"too_high": 3, "too_low": -4}.items():
    case(f"input_axis_{name}", Tag.AXIS, **ONE, scan_input_axes=[axis], rejects=RANGE_IN)
    case(f"output_axis_{name}", Tag.AXIS, **ONE, scan_output_axes=[axis], rejects=RANGE_OUT)
case("scalar", Tag.EDGE, **given(3), **MAP, rejects=RANGE_IN)
case("other_length", **given(MATRIX, ramp(3, 5)), n=2, **TWICE, rejects=EQUAL)
FLAGS = {"input_directions": M_FLAGS, "input_axes": M_FLAGS, "output_directions": K_FLAGS, "output_axes": K_FLAGS}
for name, clause in FLAGS.items():
    case(f"{name}_of_one", rejects=clause, **{**BOTH, f"scan_{name}": [0]})
    case(f"{name}_of_two", rejects=clause, **{**ONE, f"scan_{name}": [0, 0]})
case("directions_of_two", **OLD, n=2, **SUMS, directions=[0, 0], rejects=M_FLAGS)
case("direction_two", Tag.EDGE, **ONE, scan_input_directions=[2], unspecified=DIRECTIONS)
TURNED, TURNED_OLD = typed("int64", [[2, 3], [3, 2]]), typed("int64", [[[2, 3], [3, 2]]])
RESHAPES = body("float[] x, int64[] z", "float[] y", "y = Reshape(x, z)", 2)
case("scan_of_other_shape_old", **given(ramp(1, 2, 6), TURNED_OLD), before=9, **RESHAPES, rejects=UNCHANGING)
case("scan_of_other_shape", **given(ramp(2, 6), TURNED), since=9, **RESHAPES, rejects=UNCHANGING)
SWAP = body("float[] p, float[] q, float[] x", "float[] r, float[] s", "r = Identity(q) s = Identity(p)")
case("state_of_other_shape_old", **given(ramp(2, 3), ramp(2, 4), MATRIX), n=2, before=9, **SWAP, rejects=STATE_OLD)
case("state_of_other_shape", **given(ramp(3), ramp(4), MATRIX), n=2, **SWAP, rejects=STATE)
case("first_state_of_other_shape", Tag.EDGE, **given(ramp(1), ramp(2, 3)), since=9, **FOLD, unspecified=STATE)
for name, number, clause in (("none", 0, ONE_OR_MORE), ("negative", -1, ONE_OR_MORE), ("two", 2, NUMBER)):
    case(f"scan_inputs_{name}", Tag.EDGE, **{**ONE, "num_scan_inputs": number}, rejects=clause)
LESS = body("float[] s, float[] p, float[] x", "float[] t", "t = Add(s, x)")
case("body_takes_more", **given(MATRIX), **LESS, rejects=INPUTS)
case("body_gives_less", **given(ramp(2), ramp(2, 4), MATRIX), **LESS, rejects=RETURNS)
case("node_has_more", **ONE, n=2, rejects=FINAL)
case("node_has_less", Tag.EDGE, **NEW, **SUMS, unspecified=FINAL)
case("no_body", **given(MATRIX), num_scan_inputs=1, rejects=GRAPH)
case("no_outputs", **ONE, n=0, rejects=Rule.ARITY)
