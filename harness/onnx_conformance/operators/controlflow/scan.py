# SPDX-License-Identifier: Apache-2.0
"""Scan: run a subgraph over the elements of tensors along an axis, carrying a state.

    final_state_and_scan_outputs = Scan(sequence_lens, *initial_state_and_scan_inputs, body, num_scan_inputs)  (8)
    final_state_and_scan_outputs = Scan(*initial_state_and_scan_inputs, body, num_scan_inputs)

Versions: 8 (a batch, and lengths), 9 (axes and directions instead), 11 (negative axes), 16, 19, 21, 23, 24 and 25
(types).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import (
    EXACT,
    Array,
    Op,
    Subgraph,
    Tag,
    Version,
    graph,
    iterate,
    outputs_of,
    ramp,
    typed,
    vary,
)

SCAN = Op(
    "Scan", versions=(8, 9, 11, 16, 19, 21, 23, 24, 25), compare=EXACT, derives={"V": outputs_of("body")}, widens=False
)
SCAN.example(
    sequence_lens=[4, 4],
    initial_state_and_scan_inputs=(ramp(2, 3), ramp(2, 4, 3)),
    num_scan_inputs=1,
    directions=[1],
    scan_input_axes=[1],
    scan_input_directions=[1],
    scan_output_axes=[1],
    scan_output_directions=[1],
    body=graph("body ({V} s, {V} x) => ({V} t, {V} y) { t = Identity(s) y = Identity(x) }"),
    n=2,
)

ONE_OR_MORE = SCAN.clause("Scan can be used to iterate over one or more scan_input tensors")
STATE_SHAPES = SCAN.clause(
    "All these tensors are required to have the same shape in each iteration of the loop (a restriction imposed to "
    "enable efficient memory allocation).",
    before=9,
)
STATE = SCAN.clause(
    "All the output tensors (state_variables as well as scan_output_element tensors) are required to have the same "
    "shape in each iteration of the loop (a restriction imposed to enable efficient memory allocation).",
    since=9,
    note="The text does not define whether the initial states must have this shape.",
)
GRAPH = SCAN.clause("The attribute body must be a graph")
RETURNS = SCAN.clause(
    "It must return the (updated) values of the state_variables and zero or more scan_output_element tensors."
)
ITERATED = SCAN.clause("It will have a rank one less than the rank of the corresponding scan_input.", since=9)
BATCHING = SCAN.clause(
    "the batch-axis is required to be 0.", before=9, note="This applies to the states too: test_scan_sum."
)
SAME_BATCH = SCAN.clause(
    "they must all have the same batch-size, and they must all have the same maximum-sequence-length", before=9
)
BATCHES = SCAN.clause("The batch-size of scan_1, ..., scan_m are all required to be equal", before=9)
LONGEST = SCAN.clause("scan_i.shape[1] is required to be equal to scan_j.shape[1] for all i,j.", before=9)
SEQUENCE_AXIS = SCAN.clause("The sequence axis or scan axis is required to be 1.", before=9)
LENGTHS = SCAN.clause("to allow variable length sequences of length <= the maximum-sequence-length.", before=9)
MEANINGFUL = SCAN.clause("but only first N values will be meaningful.", before=9)
REVERSED = SCAN.clause(
    "The optional attribute directions can be used to scan a sequence in the reverse direction.",
    before=9,
    note="The text does not define where the scan of a shorter sequence begins.",
)
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
RANGE_OUT = SCAN.clause("Accepted range is [-r, r-1].", since=11, note="r is the rank of the scan output.")
NUMBER = SCAN.clause("Initial values of the loop's N state variables followed by M scan_inputs")
INPUTS = SCAN.clause("It has N+M inputs: (loop state variables..., scan_input_elts...).")
CONCATENATED = SCAN.clause(
    "Each scan_output is created by concatenating the value of the specified scan_output_elt value at the end of each "
    "iteration of the loop.",
    note="The values are concatenated along a new axis: test_scan9_sum. Without an iteration the other dimensions are "
    "not known.",
)
UNCHANGING = SCAN.clause("It is an error if the dimensions of these values change across loop iterations.")
FINAL = SCAN.clause(
    "N state variables followed by K scan_outputs", note="The text does not define a node with fewer outputs."
)


def _states(v: Version, n: int, body: Subgraph, inputs: list[Array], scanned: int) -> int:
    """Return the number of state variables."""
    v.require(ONE_OR_MORE, scanned >= 1)
    v.require(NUMBER, scanned <= len(inputs))
    v.require(INPUTS, len(body.inputs) == len(inputs))
    v.require(RETURNS, len(body.outputs) >= len(inputs) - scanned)
    v.require(FINAL, n <= len(body.outputs))
    v.silent(FINAL, n < len(body.outputs))
    return len(inputs) - scanned


def _flags(flags: list[int] | None, count: int) -> list[int]:
    """Return the flags, all 0 if the attribute is omitted."""
    return [0] * count if flags is None else flags


@SCAN.oracle(before=9)
def batched(
    v: Version,
    n: int,
    sequence_lens: Array | None,
    initial_state_and_scan_inputs: list[Array],
    body: Subgraph,
    num_scan_inputs: int,
    directions: list[int] | None,
) -> tuple[Array, ...]:
    """Return for each sequence of a batch the final states and the scan outputs."""
    count = _states(v, n, body, initial_state_and_scan_inputs, num_scan_inputs)
    initial, scanned = initial_state_and_scan_inputs[:count], initial_state_and_scan_inputs[count:]
    reverse = _flags(directions, num_scan_inputs)
    v.require(M_FLAGS, len(reverse) == num_scan_inputs)
    v.silent(DIRECTIONS, not {*reverse} <= {0, 1})
    v.require(BATCHING, all(item.ndim >= 1 for item in initial_state_and_scan_inputs))
    v.require(SEQUENCE_AXIS, all(item.ndim > 1 for item in scanned))
    sizes = {item.shape[:2] for item in scanned}
    v.require(SAME_BATCH, len(sizes) == 1)
    ((batch, longest),) = sizes
    v.silent(BATCHING, batch == 0 or any(item.shape[0] != batch for item in initial))
    lengths = np.full(batch, longest) if sequence_lens is None else sequence_lens
    v.require(LENGTHS, lengths.shape == (batch,) and bool((lengths <= longest).all()))
    v.silent(LENGTHS, bool((lengths < 0).any()))
    v.silent(REVERSED, any(reverse) and bool((lengths < longest).any()))
    v.silent(MEANINGFUL, len(body.outputs) > count and bool((lengths < longest).any()))
    of_batch = []
    for index, length in enumerate(lengths):
        sequences = [item[index, :: -1 if back else 1] for item, back in zip(scanned, reverse, strict=True)]
        elements = ([item[t] for item in sequences] for t in range(length))
        states, scans = iterate(v, body, [item[index] for item in initial], elements, STATE_SHAPES, UNCHANGING)
        v.require(STATE_SHAPES, all(new.shape == old.shape[1:] for new, old in zip(states, initial, strict=True)))
        v.silent(CONCATENATED, any(not scan for scan in scans))
        of_batch.append([*states, *map(np.stack, scans)])
    return tuple(map(np.stack, zip(*of_batch, strict=True)))


@SCAN.oracle(since=9)
def scanned(
    v: Version,
    n: int,
    initial_state_and_scan_inputs: list[Array],
    body: Subgraph,
    num_scan_inputs: int,
    scan_input_axes: list[int] | None,
    scan_input_directions: list[int] | None,
    scan_output_axes: list[int] | None,
    scan_output_directions: list[int] | None,
) -> tuple[Array, ...]:
    """Return the final states and the scan outputs, along their axes and in their directions."""
    count = _states(v, n, body, initial_state_and_scan_inputs, num_scan_inputs)
    initial, inputs = initial_state_and_scan_inputs[:count], initial_state_and_scan_inputs[count:]
    axes, reverse = _flags(scan_input_axes, num_scan_inputs), _flags(scan_input_directions, num_scan_inputs)
    v.require(M_FLAGS, len(reverse) == len(axes) == num_scan_inputs)
    scan_outputs = len(body.outputs) - count
    along, prepend = _flags(scan_output_axes, scan_outputs), _flags(scan_output_directions, scan_outputs)
    v.require(K_FLAGS, len(prepend) == len(along) == scan_outputs)
    v.silent(DIRECTIONS, not {*reverse} <= {0, 1})
    v.silent(PREPENDED, not {*prepend} <= {0, 1})
    v.permit(BACK, any(axis < 0 for axis in (*axes, *along)))
    v.require(RANGE_IN, all(-item.ndim <= axis < item.ndim for item, axis in zip(inputs, axes, strict=True)))
    moved = [np.moveaxis(item, axis, 0) for item, axis in zip(inputs, axes, strict=True)]
    v.require(EQUAL, len({len(item) for item in moved}) == 1)
    sequences = [item[:: -1 if back else 1] for item, back in zip(moved, reverse, strict=True)]
    states, scans = iterate(v, body, initial, zip(*sequences, strict=True), STATE, UNCHANGING)
    v.silent(STATE, [item.shape for item in states] != [item.shape for item in initial])
    v.silent(CONCATENATED, any(not scan for scan in scans))
    ranks = [np.ndim(scan) for scan in scans]
    v.require(RANGE_OUT, all(-rank <= axis < rank for rank, axis in zip(ranks, along, strict=True)))
    ordered = [scan[:: -1 if back else 1] for scan, back in zip(scans, prepend, strict=True)]
    return (*states, *(np.stack(scan, axis) for scan, axis in zip(ordered, along, strict=True)))


case = SCAN.case

SUMS = graph("body (float[] s, float[] x) => (float[] t, float[] y) { t = Add(s, x) y = Identity(t) }")
FOLD = graph("body (float[] s, float[] x) => (float[] t) { t = Add(s, x) }")
MAP = graph("body (float[] x) => (float[] y) { y = Add(x, x) }")
ZIP = graph("body (float[] p, float[] q) => (float[] y, float[] z) { y = Identity(p) z = Identity(q) }")
MATRIX = ramp(2, 3, 4)

# Before 9: a batch in axis 0, the sequence in axis 1
SUMS_OF_BATCHES = (ramp(2, 4), MATRIX)
case(
    "batches",
    Tag.CHANGE,
    initial_state_and_scan_inputs=SUMS_OF_BATCHES,
    num_scan_inputs=1,
    n=2,
    body=SUMS,
    before=9,
    cites=(BATCHING, SEQUENCE_AXIS, CONCATENATED, SAMPLE, LISTED),
)
case(
    "batches_zip",
    Tag.CHANGE,
    initial_state_and_scan_inputs=(MATRIX, ramp(2, 3, 1)),
    num_scan_inputs=2,
    n=2,
    body=ZIP,
    before=9,
    cites=(BATCHES, LONGEST),
)
for name, turn in (("batches_direction_0", 0), ("batches_direction_1", 1)):
    case(
        name,
        initial_state_and_scan_inputs=SUMS_OF_BATCHES,
        num_scan_inputs=1,
        directions=[turn],
        n=2,
        body=SUMS,
        cites=(REVERSED, DIRECTIONS),
    )
case(
    "batches_back_shorter",
    Tag.EDGE,
    sequence_lens=[1, 3],
    initial_state_and_scan_inputs=SUMS_OF_BATCHES,
    num_scan_inputs=1,
    directions=[1],
    body=FOLD,
    unspecified=REVERSED,
)
case(
    "lengths",
    Tag.CHANGE,
    sequence_lens=vary(full=[3, 3], shorter=[1, 2], none=[0, 3]),
    initial_state_and_scan_inputs=SUMS_OF_BATCHES,
    num_scan_inputs=1,
    body=FOLD,
    cites=LENGTHS,
)
case(
    "lengths_full_scan",
    Tag.CHANGE,
    sequence_lens=[3, 3],
    initial_state_and_scan_inputs=SUMS_OF_BATCHES,
    num_scan_inputs=1,
    n=2,
    body=SUMS,
    cites=LENGTHS,
)
case(
    "lengths_shorter_scan",
    Tag.CHANGE,
    sequence_lens=[1, 3],
    initial_state_and_scan_inputs=SUMS_OF_BATCHES,
    num_scan_inputs=1,
    n=2,
    body=SUMS,
    unspecified=MEANINGFUL,
)
case(
    "lengths",
    Tag.EDGE,
    sequence_lens=vary(too_long=[4, 3], too_many=[3, 3, 3]),
    initial_state_and_scan_inputs=SUMS_OF_BATCHES,
    num_scan_inputs=1,
    body=FOLD,
    rejects=LENGTHS,
)
case(
    "lengths_negative",
    Tag.EDGE,
    sequence_lens=[-1, 3],
    initial_state_and_scan_inputs=SUMS_OF_BATCHES,
    num_scan_inputs=1,
    body=FOLD,
    unspecified=LENGTHS,
)
case(
    "other_batch",
    initial_state_and_scan_inputs=(MATRIX, ramp(1, 3, 4)),
    num_scan_inputs=2,
    n=2,
    body=ZIP,
    rejects=SAME_BATCH,
)
case(
    "other_length_before_9",
    initial_state_and_scan_inputs=(MATRIX, ramp(2, 1, 4)),
    num_scan_inputs=2,
    n=2,
    body=ZIP,
    rejects=SAME_BATCH,
)
case("no_batch", Tag.EDGE, initial_state_and_scan_inputs=(1, MATRIX), num_scan_inputs=1, body=FOLD, rejects=BATCHING)
case(
    "no_sequence",
    Tag.EDGE,
    initial_state_and_scan_inputs=(ramp(2), ramp(2)),
    num_scan_inputs=1,
    body=FOLD,
    rejects=SEQUENCE_AXIS,
)
case(
    "map_nothing_before_9",
    Tag.EDGE,
    initial_state_and_scan_inputs=(ramp(2, 0, 3),),
    num_scan_inputs=1,
    body=MAP,
    before=9,
    unspecified=CONCATENATED,
)
case(
    "map_scalars_before_9",
    Tag.EDGE,
    initial_state_and_scan_inputs=(ramp(2, 3),),
    num_scan_inputs=1,
    body=MAP,
    before=9,
    cites=SEQUENCE_AXIS,
)
case(
    "no_sequence_of_second",
    Tag.EDGE,
    initial_state_and_scan_inputs=(MATRIX, ramp(2)),
    num_scan_inputs=2,
    n=2,
    body=ZIP,
    rejects=SEQUENCE_AXIS,
)
case(
    "batch_of_none",
    Tag.EDGE,
    initial_state_and_scan_inputs=(ramp(0, 3, 2),),
    num_scan_inputs=1,
    body=MAP,
    before=9,
    unspecified=BATCHING,
)
case(
    "other_batch_of_state",
    Tag.EDGE,
    initial_state_and_scan_inputs=(ramp(3, 4), MATRIX),
    num_scan_inputs=1,
    body=FOLD,
    before=9,
    unspecified=BATCHING,
)
case(
    "batches_back_shorter_of_two",
    Tag.EDGE,
    sequence_lens=[1, 3],
    initial_state_and_scan_inputs=(MATRIX, ramp(2, 3, 1)),
    num_scan_inputs=2,
    directions=[0, 1],
    n=2,
    body=ZIP,
    unspecified=REVERSED,
)
case(
    "direction_two_before_9",
    Tag.EDGE,
    initial_state_and_scan_inputs=SUMS_OF_BATCHES,
    num_scan_inputs=1,
    directions=[2],
    n=2,
    body=SUMS,
    unspecified=DIRECTIONS,
)

# Since 9: no batch, and the sequence is in axis 0 unless an attribute selects another axis
case(
    "sums",
    Tag.CHANGE,
    initial_state_and_scan_inputs=(ramp(3, 4), MATRIX),
    num_scan_inputs=1,
    n=2,
    body=SUMS,
    cites=(CONCATENATED, ITERATED, DEFAULT_AXES, SAMPLE),
)
case(
    "rows_of_matrices",
    initial_state_and_scan_inputs=(ramp(3, 4), ramp(2, 4)),
    num_scan_inputs=1,
    body=FOLD,
    since=9,
    cites=(ITERATED, FINAL),
)
case(
    "map",
    initial_state_and_scan_inputs=vary(matrices=(MATRIX,), one=(ramp(1, 1, 2),), zero_size=(ramp(2, 3, 0),)),
    num_scan_inputs=1,
    body=MAP,
    cites=(ONE_OR_MORE, CONCATENATED),
)
case(
    "map_nothing",
    Tag.EDGE,
    initial_state_and_scan_inputs=(ramp(0, 3, 2),),
    num_scan_inputs=1,
    body=MAP,
    since=9,
    unspecified=CONCATENATED,
)
case(
    "fold_nothing",
    Tag.EDGE,
    initial_state_and_scan_inputs=(ramp(3), ramp(0, 3)),
    num_scan_inputs=1,
    body=FOLD,
    since=9,
    cites=FINAL,
)
case(
    "many",
    initial_state_and_scan_inputs=(ramp(3), typed("int64", 5), ramp(2, 3), typed("int64", ramp(2, 3))),
    num_scan_inputs=2,
    n=4,
    body=graph(
        """body (float[] s, int64[] r, float[] p, int64[] q) => (float[] t, int64[] u, int64[] y, int64[] z) {
            t = Add(s, p)
            u = Identity(r)
            y = Identity(r)
            z = Identity(q)
        }"""
    ),
    since=9,
    cites=(LISTED, INPUTS),
)
for name, turns in (("00", [0, 0]), ("01", [0, 1]), ("10", [1, 0])):
    case(
        f"input_directions_{name}",
        Tag.AXIS,
        initial_state_and_scan_inputs=(MATRIX, ramp(2, 5)),
        num_scan_inputs=2,
        scan_input_directions=turns,
        n=2,
        body=ZIP,
        cites=(DIRECTIONS, M_FLAGS),
    )
    case(
        f"output_directions_{name}",
        Tag.AXIS,
        initial_state_and_scan_inputs=(MATRIX, ramp(2, 5)),
        num_scan_inputs=2,
        scan_output_directions=turns,
        n=2,
        body=ZIP,
        cites=(PREPENDED, K_FLAGS),
    )
for axis in range(-3, 3):
    name = f"{axis}".replace("-", "minus_")
    case(
        f"input_axis_{name}",
        Tag.AXIS,
        initial_state_and_scan_inputs=(MATRIX,),
        num_scan_inputs=1,
        scan_input_axes=[axis],
        body=MAP,
        cites=(AXIS_IN, BACK, RANGE_IN) if axis < 0 else (AXIS_IN,),
    )
    case(
        f"output_axis_{name}",
        Tag.AXIS,
        initial_state_and_scan_inputs=(MATRIX,),
        num_scan_inputs=1,
        scan_output_axes=[axis],
        body=MAP,
        cites=(ACCUMULATED, BACK, RANGE_OUT) if axis < 0 else (ACCUMULATED,),
    )
case(
    "everything",
    Tag.AXIS,
    initial_state_and_scan_inputs=(MATRIX, ramp(3, 5)),
    num_scan_inputs=2,
    scan_input_axes=[1, 0],
    scan_input_directions=[1, 0],
    scan_output_axes=[1, 0],
    scan_output_directions=[0, 1],
    n=2,
    body=ZIP,
    cites=(K_FLAGS, M_FLAGS, ACCUMULATED),
)
case(
    "axis_from_back_before_11",
    Tag.AXIS,
    initial_state_and_scan_inputs=(MATRIX,),
    num_scan_inputs=1,
    scan_input_axes=[-1],
    body=MAP,
    before=11,
    unspecified=BACK,
)
OUTSIDE = vary(too_high=[3], too_low=[-4])
case(
    "input_axis",
    Tag.AXIS,
    initial_state_and_scan_inputs=(MATRIX,),
    num_scan_inputs=1,
    scan_input_axes=OUTSIDE,
    body=MAP,
    rejects=RANGE_IN,
)
case(
    "output_axis",
    Tag.AXIS,
    initial_state_and_scan_inputs=(MATRIX,),
    num_scan_inputs=1,
    scan_output_axes=OUTSIDE,
    body=MAP,
    rejects=RANGE_OUT,
)
case("scalar", Tag.EDGE, initial_state_and_scan_inputs=(3,), num_scan_inputs=1, body=MAP, rejects=RANGE_IN)
case(
    "other_length", initial_state_and_scan_inputs=(MATRIX, ramp(3, 5)), num_scan_inputs=2, n=2, body=ZIP, rejects=EQUAL
)
for name, clause in (
    ("input_directions", M_FLAGS),
    ("input_axes", M_FLAGS),
    ("output_directions", K_FLAGS),
    ("output_axes", K_FLAGS),
):
    too_few: dict[str, Any] = {f"scan_{name}": [0]}
    case(
        f"{name}_of_one",
        initial_state_and_scan_inputs=(MATRIX, ramp(2, 5)),
        num_scan_inputs=2,
        **too_few,
        n=2,
        body=ZIP,
        since=9,
        rejects=clause,
    )
    too_many: dict[str, Any] = {f"scan_{name}": [0, 0]}
    case(
        f"{name}_of_two",
        initial_state_and_scan_inputs=(MATRIX,),
        num_scan_inputs=1,
        **too_many,
        body=MAP,
        rejects=clause,
    )
case(
    "directions_of_two",
    initial_state_and_scan_inputs=SUMS_OF_BATCHES,
    num_scan_inputs=1,
    directions=[0, 0],
    n=2,
    body=SUMS,
    before=9,
    rejects=M_FLAGS,
)
case(
    "direction_two",
    Tag.EDGE,
    initial_state_and_scan_inputs=(MATRIX,),
    num_scan_inputs=1,
    scan_input_directions=[2],
    body=MAP,
    unspecified=DIRECTIONS,
)
case(
    "output_direction_two",
    Tag.EDGE,
    initial_state_and_scan_inputs=(MATRIX,),
    num_scan_inputs=1,
    scan_output_directions=[2],
    body=MAP,
    unspecified=PREPENDED,
)
case(
    "input_axis_of_second_too_high",
    Tag.AXIS,
    initial_state_and_scan_inputs=(MATRIX, ramp(2, 5)),
    num_scan_inputs=2,
    scan_input_axes=[0, 2],
    n=2,
    body=ZIP,
    rejects=RANGE_IN,
)

# Shapes that change, and numbers that do not match
RESHAPES = graph("body (float[] x, int64[] z) => (float[] y) { y = Reshape(x, z) }")
case(
    "scan_of_other_shape_before_9",
    initial_state_and_scan_inputs=(ramp(1, 2, 6), typed("int64", [[[2, 3], [3, 2]]])),
    num_scan_inputs=2,
    body=RESHAPES,
    before=9,
    rejects=UNCHANGING,
)
case(
    "scan_of_other_shape",
    initial_state_and_scan_inputs=(ramp(2, 6), typed("int64", [[2, 3], [3, 2]])),
    num_scan_inputs=2,
    body=RESHAPES,
    since=9,
    rejects=UNCHANGING,
)
SWAP = graph("body (float[] p, float[] q, float[] x) => (float[] r, float[] s) { r = Identity(q) s = Identity(p) }")
case(
    "state_of_other_shape_before_9",
    initial_state_and_scan_inputs=(ramp(2, 3), ramp(2, 4), MATRIX),
    num_scan_inputs=1,
    n=2,
    body=SWAP,
    before=9,
    rejects=STATE_SHAPES,
)
case(
    "state_of_other_shape",
    initial_state_and_scan_inputs=(ramp(3), ramp(4), MATRIX),
    num_scan_inputs=1,
    n=2,
    body=SWAP,
    rejects=STATE,
)
case(
    "first_state_of_other_shape_before_9",
    Tag.EDGE,
    initial_state_and_scan_inputs=(ramp(2, 1), ramp(2, 4, 3)),
    num_scan_inputs=1,
    body=FOLD,
    rejects=STATE_SHAPES,
)
case(
    "first_state_of_other_shape",
    Tag.EDGE,
    initial_state_and_scan_inputs=(ramp(1), ramp(2, 3)),
    num_scan_inputs=1,
    body=FOLD,
    since=9,
    unspecified=STATE,
)
case(
    "scan_inputs",
    Tag.EDGE,
    initial_state_and_scan_inputs=(MATRIX,),
    num_scan_inputs=vary(none=0, negative=-1),
    body=MAP,
    rejects=ONE_OR_MORE,
)
case("scan_inputs_two", Tag.EDGE, initial_state_and_scan_inputs=(MATRIX,), num_scan_inputs=2, body=MAP, rejects=NUMBER)
TAKES_THREE = graph("body (float[] s, float[] p, float[] x) => (float[] t) { t = Add(s, x) }")
case("body_takes_more", initial_state_and_scan_inputs=(MATRIX,), num_scan_inputs=1, body=TAKES_THREE, rejects=INPUTS)
case(
    "body_gives_less",
    initial_state_and_scan_inputs=(ramp(2), ramp(2, 4), MATRIX),
    num_scan_inputs=1,
    body=TAKES_THREE,
    rejects=RETURNS,
)
case("node_has_more", initial_state_and_scan_inputs=(MATRIX,), num_scan_inputs=1, n=2, body=MAP, rejects=FINAL)
case(
    "node_has_less",
    Tag.EDGE,
    initial_state_and_scan_inputs=(ramp(3, 4), MATRIX),
    num_scan_inputs=1,
    body=SUMS,
    since=9,
    unspecified=FINAL,
)
case("no_body", initial_state_and_scan_inputs=(MATRIX,), num_scan_inputs=1, rejects=GRAPH)
