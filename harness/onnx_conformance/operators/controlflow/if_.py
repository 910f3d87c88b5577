# SPDX-License-Identifier: Apache-2.0
"""If: run one of two subgraphs, depending on a condition.

    output, ... = If(cond, then_branch, else_branch)

Versions: 1 (branches agree in shape), 11 (branches may differ in shape), 13 (sequences), 16 (optionals), 19, 21, 23, 24
and 25 (types).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import (
    EMPTY,
    EXACT,
    Array,
    Op,
    Subgraph,
    Tag,
    Version,
    extremes,
    graph,
    outputs_of,
    ramp,
    typed,
    vary,
)

IF = Op(
    "If",
    versions=(1, 11, 13, 16, 19, 21, 23, 24, 25),
    compare=EXACT,
    derives={"V": outputs_of("then_branch", "else_branch")},
    widens=False,
)
# A loop without iterations returns a value of any type; Identity supports fewer types.
IF.example(
    cond=False,
    then_branch=graph(
        """then_branch () => ({V} y) {
            y = Loop(zero, "", a) <body = g (int64 i, bool c, {V} s) => (bool c, {V} s) {}>
        }"""
    ),
    else_branch=graph(
        """else_branch () => ({V} y) {
            y = Loop(zero, "", b) <body = g (int64 i, bool c, {V} s) => (bool c, {V} s) {}>
        }"""
    ),
    around={"a": typed("{V}", ramp(2, 3)), "b": typed("{V}", extremes(2, 3)), "zero": typed("int64", 0)},
)

CONDITIONAL = IF.clause("If conditional")
IF_TRUE = IF.clause("Graph to run if condition is true.")
IF_FALSE = IF.clause("Graph to run if condition is false.")
LIVE_OUT = IF.clause("Has N outputs: values you wish to be live-out to the enclosing scope.")
AS_MANY = IF.clause("The number of outputs must match the number of outputs in the then_branch.")
AS_MANY_ELSE = IF.clause("The number of outputs must match the number of outputs in the else_branch.")
ONE_ELEMENT = IF.clause(
    "The tensor must contain a single element.",
    note="The text does not define the rank.",
    see=("https://github.com/onnx/onnx/issues/5520", "https://github.com/onnx/onnx/pull/5617"),
)
SAME_SHAPE = IF.clause(
    "The return values in the `then_branch` and `else_branch` must be of the same shape and same data type.", before=11
)
SAME_TYPE = IF.clause(
    "The return values in the `then_branch` and `else_branch` must be of the same data type.", since=11
)
ONLY_BOOL = IF.clause("Only bool")
SHAPES_DIFFER = IF.clause(
    "The `then_branch` and `else_branch` may produce tensors with the same element type and different shapes.", since=11
)
COMPATIBLE = IF.clause(
    "then the shape of the corresponding output variable of the if-node (if present) must be compatible with both S1 "
    "and S2 as it represents the union of both possible shapes.",
    since=11,
    result=True,
    note="This applies to shapes that a model states. In the cases that cite it, no branch has a static shape.",
)
CONTRAST = IF.clause(
    "If's first output should have (a) no shape set, or (b) a shape of rank 1 with neither `dim_value` nor `dim_param` "
    "set, or (c) a shape of rank 1 with a unique `dim_param`. In contrast, the first output cannot have the shape [2] "
    "since [2] and [3] are not compatible.",
    since=11,
    result=True,
)


def _check(v: Version, n: int, cond: Array, then_branch: Subgraph, else_branch: Subgraph) -> None:
    """Require one condition, and for each branch as many outputs as the node has."""
    v.require(ONE_ELEMENT, cond.size == 1)
    v.require(AS_MANY, len(then_branch.outputs) == n)
    v.require(AS_MANY_ELSE, len(else_branch.outputs) == n)


@IF.oracle(before=11)
def conditional_before_11(
    v: Version, n: int, cond: Array, then_branch: Subgraph, else_branch: Subgraph
) -> tuple[Any, ...]:
    """Return the outputs of the chosen branch. They must have the shapes of the other branch's outputs."""
    _check(v, n, cond, then_branch, else_branch)
    v.require(SAME_SHAPE, then_branch.outputs == else_branch.outputs)
    outputs, other = then_branch(), else_branch()
    v.require(SAME_SHAPE, [np.shape(value) for value in outputs] == [np.shape(value) for value in other])
    return tuple(outputs if cond.item() else other)


@IF.oracle(since=11)
def conditional(v: Version, n: int, cond: Array, then_branch: Subgraph, else_branch: Subgraph) -> tuple[Any, ...]:
    """Return the outputs of the chosen branch. The other branch is not run."""
    _check(v, n, cond, then_branch, else_branch)
    v.require(SAME_TYPE, then_branch.outputs == else_branch.outputs)
    return tuple(then_branch() if cond.item() else else_branch())


case = IF.case

EITHER = vary(true=True, false=False)
FLOATS = {"a": ramp(2, 3), "b": [[60, 50, 40], [30, 20, 10]]}
THEN_A = graph("then_branch () => (float[] y) { y = Identity(a) }")
ELSE_B = graph("else_branch () => (float[] y) { y = Identity(b) }")

case("true", cond=True, then_branch=THEN_A, else_branch=ELSE_B, around=FLOATS, cites=(IF_TRUE, CONDITIONAL))
case("false", cond=False, then_branch=THEN_A, else_branch=ELSE_B, around=FLOATS, cites=(IF_FALSE, CONDITIONAL))
case(
    "vector",
    Tag.EDGE,
    cond=vary(true=[True], false=[False]),
    then_branch=THEN_A,
    else_branch=ELSE_B,
    around=FLOATS,
    cites=ONE_ELEMENT,
)
case(
    "rank2",
    Tag.EDGE,
    cond=vary(true=[[True]], false=[[False]]),
    then_branch=THEN_A,
    else_branch=ELSE_B,
    around=FLOATS,
    cites=ONE_ELEMENT,
)
case(
    "rank3",
    Tag.EDGE,
    cond=vary(true=[[[True]]], false=[[[False]]]),
    then_branch=THEN_A,
    else_branch=ELSE_B,
    around=FLOATS,
    cites=ONE_ELEMENT,
)
case(
    "constants",
    cond=EITHER,
    then_branch=graph("then_branch () => (float[] y) { y = Constant<value = float[3] {1, 2, 3}>() }"),
    else_branch=graph("else_branch () => (float[] y) { y = Constant<value = float[3] {6, 5, 4}>() }"),
    cites=CONDITIONAL,
)
case(
    "two_outputs",
    cond=EITHER,
    n=2,
    then_branch=graph("then_branch () => (float[] p, float[] q) { p = Identity(a) q = Add(a, b) }"),
    else_branch=graph("else_branch () => (float[] p, float[] q) { q = Identity(a) p = Add(b, b) }"),
    around=FLOATS,
    cites=(LIVE_OUT, AS_MANY, AS_MANY_ELSE),
)
case(
    "two_types",
    cond=EITHER,
    n=2,
    then_branch=graph("then_branch () => (float[] p, int64[] q) { p = Identity(a) q = Identity(c) }"),
    else_branch=graph("else_branch () => (float[] p, int64[] q) { q = Identity(d) p = Identity(b) }"),
    around={**FLOATS, "c": typed("int64", [1, 2]), "d": typed("int64", [4, 3])},
    cites=LIVE_OUT,
)
case(
    "zero_size",
    Tag.EDGE,
    cond=EITHER,
    then_branch=THEN_A,
    else_branch=ELSE_B,
    around={"a": ramp(0, 3), "b": ramp(0, 3)},
    cites=LIVE_OUT,
)
case(
    "sequence",
    cond=EITHER,
    then_branch=graph("then_branch () => (seq(float[]) y) { y = SequenceInsert(a, x) }"),
    else_branch=graph("else_branch () => (seq(float[]) y) { y = SequenceInsert(b, x) }"),
    around={
        "a": typed("seq(tensor(float))", []),
        "b": typed("seq(tensor(float))", [ramp(3), ramp(2, 1)]),
        "x": ramp(2),
    },
    since=13,
    cites=LIVE_OUT,
)
case(
    "optional",
    Tag.EDGE,
    cond=EITHER,
    then_branch=graph("then_branch () => (optional(float[]) y) { y = Identity(a) }"),
    else_branch=graph("else_branch () => (optional(float[]) y) { y = Identity(b) }"),
    around={"a": typed("optional(tensor(float))", EMPTY), "b": typed("optional(tensor(float))", ramp(3))},
    since=16,
    cites=LIVE_OUT,
)
for name, other in (("around_true", True), ("around_false", False)):
    case(
        name,
        cond=EITHER,
        then_branch=graph(
            """then_branch () => (float[] y) {
                y = If(other) <
                    then_branch = t () => (float[] p) { p = Identity(a) },
                    else_branch = e () => (float[] q) { q = Identity(b) }
                >
            }"""
        ),
        else_branch=graph(
            """else_branch () => (float[] y) {
                y = If(other) <
                    then_branch = t () => (float[] p) { p = Identity(b) },
                    else_branch = e () => (float[] q) { q = Identity(a) }
                >
            }"""
        ),
        around={**FLOATS, "other": typed("bool", other)},
        cites=LIVE_OUT,
    )

# The other branch could not run: its shape is known only at run time, and does not match.
RESHAPED = {**FLOATS, "fits": typed("int64", [3, 2]), "does_not": typed("int64", [5])}
case(
    "true_alone",
    Tag.EDGE,
    cond=True,
    then_branch=graph("then_branch () => (float[] y) { y = Reshape(a, fits) }"),
    else_branch=graph("else_branch () => (float[] y) { y = Reshape(a, does_not) }"),
    around=RESHAPED,
    since=11,
    cites=IF_TRUE,
)
case(
    "false_alone",
    Tag.EDGE,
    cond=False,
    then_branch=graph("then_branch () => (float[] y) { y = Reshape(a, does_not) }"),
    else_branch=graph("else_branch () => (float[] y) { y = Reshape(a, fits) }"),
    around=RESHAPED,
    since=11,
    cites=IF_FALSE,
)

# A loop without iterations returns a value of any type and does not state its shape.
for name, shape in (("rank", (4,)), ("size", (2, 4)), ("count", (6,)), ("zero_size", (2, 0)), ("scalar", ())):
    case(
        f"other_{name}",
        Tag.CHANGE,
        cond=EITHER,
        then_branch=graph(
            """then_branch () => (float[] y) {
                y = Loop(zero, "", a) <body = g (int64 i, bool c, float[] s) => (bool c, float[] s) {}>
            }"""
        ),
        else_branch=graph(
            """else_branch () => (float[] y) {
                y = Loop(zero, "", b) <body = g (int64 i, bool c, float[] s) => (bool c, float[] s) {}>
            }"""
        ),
        around={"a": ramp(2, 3), "b": ramp(*shape), "zero": typed("int64", 0)},
        cites=(SHAPES_DIFFER, COMPATIBLE, CONTRAST),
    )
case(
    "types",
    Tag.DTYPE,
    cond=EITHER,
    each="V",
    then_branch=graph("then_branch () => ({V} y) { y = Identity(a) }"),
    else_branch=graph("else_branch () => ({V} y) { y = Identity(b) }"),
    around={"a": typed("{V}", ramp(2, 3)), "b": typed("{V}", extremes(2, 3))},
    before=13,
    cites=CONDITIONAL,
)

case(
    "other_shape",
    Tag.CHANGE,
    cond=EITHER,
    then_branch=THEN_A,
    else_branch=ELSE_B,
    around={"a": ramp(2, 3), "b": ramp(2, 4)},
    rejects=SAME_SHAPE,
)
case("cond_of_two", cond=[True, False], then_branch=THEN_A, else_branch=ELSE_B, around=FLOATS, rejects=ONE_ELEMENT)
case(
    "cond_of_none",
    Tag.EDGE,
    cond=np.zeros((0,), bool),
    then_branch=THEN_A,
    else_branch=ELSE_B,
    around=FLOATS,
    rejects=ONE_ELEMENT,
)
TWO_OUTPUTS = graph("branch () => (float[] y, float[] z) { y = Identity(a) z = Identity(b) }")
case("else_has_more", cond=True, then_branch=THEN_A, else_branch=TWO_OUTPUTS, around=FLOATS, rejects=AS_MANY_ELSE)
case("then_has_more", cond=True, then_branch=TWO_OUTPUTS, else_branch=ELSE_B, around=FLOATS, rejects=AS_MANY)
case("node_has_more", cond=True, n=2, then_branch=THEN_A, else_branch=ELSE_B, around=FLOATS, rejects=AS_MANY)
for name, clause in (("other_type_before_11", SAME_SHAPE), ("other_type", SAME_TYPE)):
    case(
        name,
        cond=True,
        then_branch=THEN_A,
        else_branch=graph("else_branch () => (int64[] y) { y = Identity(c) }"),
        around={**FLOATS, "c": typed("int64", [[1, 2, 3], [4, 5, 6]])},
        rejects=clause,
    )
case(
    "cond",
    Tag.DTYPE,
    cond=vary(int64=typed("int64", 1), uint8=typed("uint8", 1), float=typed("float", 1)),
    then_branch=THEN_A,
    else_branch=ELSE_B,
    around=FLOATS,
    rejects=ONLY_BOOL,
)
