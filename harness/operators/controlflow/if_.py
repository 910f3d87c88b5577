"""If: one of two subgraphs, by a condition.

Versions: 1 (branches agree in shape), 11 (branches may differ in shape), 13 (sequences), 16 (optionals), 19, 21, 23, 24
and 25 (types).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.declare import (
    EMPTY,
    EXACT,
    Array,
    Op,
    Rule,
    Subgraph,
    Tag,
    Version,
    extremes,
    graph,
    outputs_of,
    ramp,
    typed,
)  # fmt: skip

DERIVES = {"V": outputs_of("then_branch", "else_branch")}
IF = Op("If", versions=(1, 11, 13, 16, 19, 21, 23, 24, 25), compare=EXACT, derives=DERIVES, widens=False)

CONDITIONAL = IF.clause("If conditional")
IF_TRUE = IF.clause("Graph to run if condition is true.")
IF_FALSE = IF.clause("Graph to run if condition is false.")
LIVE_OUT = IF.clause("Has N outputs: values you wish to be live-out to the enclosing scope.")
AS_MANY = IF.clause("The number of outputs must match the number of outputs in the then_branch.")
AS_MANY_ELSE = IF.clause("The number of outputs must match the number of outputs in the else_branch.")
ONE_ELEMENT = IF.clause("The tensor must contain a single element.", note="Says not of what rank.")
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
    note="Speaks of shapes that a model states. In the cases cited no branch has a static shape.",
)
CONTRAST = IF.clause(
    "If's first output should have (a) no shape set, or (b) a shape of rank 1 with neither `dim_value` nor `dim_param` "
    "set, or (c) a shape of rank 1 with a unique `dim_param`. In contrast, the first output cannot have the shape [2] "
    "since [2] and [3] are not compatible.",
    since=11,
    result=True,
)


@IF.oracle()
def conditional(v: Version, n: int, cond: Array, then_branch: Subgraph, else_branch: Subgraph) -> tuple[Any, ...]:
    """Return what the chosen branch gives."""
    v.require(ONE_ELEMENT, cond.size == 1)
    v.require(AS_MANY, len(then_branch.outputs) == n)
    v.require(AS_MANY_ELSE, len(else_branch.outputs) == n)
    v.require(SAME_TYPE if SAME_TYPE.in_force(v.since) else SAME_SHAPE, then_branch.outputs == else_branch.outputs)
    if SAME_SHAPE.in_force(v.since):
        shapes = [[np.shape(value) for value in branch()] for branch in (then_branch, else_branch)]
        v.require(SAME_SHAPE, shapes[0] == shapes[1])
    return tuple(then_branch() if cond.item() else else_branch())


case = IF.case


def branches(then: str, otherwise: str, outputs: str = "float[] y") -> dict[str, Any]:
    """Return two branches by their nodes."""
    return {
        "then_branch": graph(f"then_branch () => ({outputs}) {{ {then} }}"),
        "else_branch": graph(f"else_branch () => ({outputs}) {{ {otherwise} }}"),
    }


def passed(name: str, type_: str) -> str:
    """Return a node that hands on a value of any type and tells nothing of its shape: a loop of no iterations."""
    return f'y = Loop(zero, "", {name}) <body = b (int64 i, bool c, {type_} s) => (bool c, {type_} s) {{}}>'


ZERO = {"zero": typed("int64", 0)}
COPIES = branches("y = Identity(a)", "y = Identity(b)")
PASSED = branches(passed("a", "float[]"), passed("b", "float[]"))
AROUND = {"a": ramp(2, 3), "b": [[60, 50, 40], [30, 20, 10]]}
INNER = "y = If(other) <then_branch = t () => (float[] p) {{ p = Identity({}) }}, else_branch = e () => (float[] q) "
INNER += "{{ q = Identity({}) }}>"
for cond in (True, False):
    which = str(cond).lower()
    said = (IF_TRUE if cond else IF_FALSE, CONDITIONAL)
    case(which, cond=cond, around=AROUND, **COPIES, cites=said)
    case(f"{which}_vector", Tag.EDGE, cond=[cond], around=AROUND, **COPIES, cites=(ONE_ELEMENT,))
    case(f"{which}_rank3", Tag.EDGE, cond=[[[cond]]], around=AROUND, **COPIES, cites=(ONE_ELEMENT,))
    case(f"{which}_constants", cond=cond, cites=said, **branches(
        "y = Constant<value = float[3] {1, 2, 3}>()", "y = Constant<value = float[3] {6, 5, 4}>()"
    ))  # fmt: skip
    two = branches("p = Identity(a) q = Add(a, b)", "q = Identity(a) p = Add(b, b)", "float[] p, float[] q")
    case(f"{which}_two_outputs", cond=cond, around=AROUND, n=2, **two, cites=(LIVE_OUT, AS_MANY, AS_MANY_ELSE))
    mixed = branches("p = Identity(a) q = Identity(c)", "q = Identity(d) p = Identity(b)", "float[] p, int64[] q")
    others = {**AROUND, "c": typed("int64", [1, 2]), "d": typed("int64", [4, 3])}
    case(f"{which}_two_types", cond=cond, around=others, n=2, **mixed, cites=(LIVE_OUT,))
    for name, shape in {"rank": (4,), "size": (2, 4), "count": (6,), "zero_size": (2, 0), "scalar": ()}.items():
        shapes = {"a": ramp(2, 3), "b": ramp(*shape), **ZERO}
        seen = (SHAPES_DIFFER, COMPATIBLE, CONTRAST)
        case(f"{which}_other_{name}", Tag.CHANGE, cond=cond, around=shapes, **PASSED, cites=seen)
    sizes = {"a": ramp(2, 3), "b": ramp(2, 4)}
    case(f"{which}_other_shape", Tag.CHANGE, cond=cond, around=sizes, **COPIES, rejects=SAME_SHAPE)
    zero = {"a": ramp(0, 3), "b": ramp(0, 3)}
    case(f"{which}_zero_size", Tag.EDGE, cond=cond, around=zero, **COPIES)
    for turn in (True, False):
        given = {**AROUND, "other": typed("bool", turn)}
        nested = branches(INNER.format("a", "b"), INNER.format("b", "a"))
        case(f"{which}_around_{turn}".lower(), cond=cond, around=given, **nested, cites=(LIVE_OUT,))
    # The other branch could not run: its shape is told at run time, and does not fit.
    fits = {**AROUND, "good": typed("int64", [3, 2]), "bad": typed("int64", [5])}
    wanted, other = ("good", "bad") if cond else ("bad", "good")
    alone = branches(f"y = Reshape(a, {wanted})", f"y = Reshape(a, {other})")
    case(f"{which}_alone", Tag.EDGE, cond=cond, around=fits, **alone, since=11, cites=said[:1])
    empty = {"a": typed("optional(tensor(float))", EMPTY), "b": typed("optional(tensor(float))", ramp(3))}
    optional = branches("y = Identity(a)", "y = Identity(b)", "optional(float[]) y")
    case(f"{which}_optional", Tag.EDGE, cond=cond, around=empty, **optional, since=16, cites=(LIVE_OUT,))
    lists = {"a": typed("seq(tensor(float))", []), "b": typed("seq(tensor(float))", [ramp(3), ramp(2, 1)])}
    held = branches("y = SequenceInsert(a, x)", "y = SequenceInsert(b, x)", "seq(float[]) y")
    case(f"{which}_sequence", cond=cond, around={**lists, "x": ramp(2)}, **held, since=13, cites=(LIVE_OUT,))

EITHER: dict[str, Any] = {"around": {"x": typed("{V}", ramp(2, 3)), "z": typed("{V}", extremes(2, 3))}, "each": "V"}
IDENTITIES = branches("y = Identity(x)", "y = Identity(z)", "{V} y")
case("types_true_old", Tag.DTYPE, cond=True, **EITHER, **IDENTITIES, before=13, cites=(CONDITIONAL,))
case("types_false_old", Tag.DTYPE, cond=False, **EITHER, **IDENTITIES, before=13, cites=(CONDITIONAL,))
EITHER["around"] |= ZERO
LOOPS = branches(passed("x", "{V}"), passed("z", "{V}"), "{V} y")
case("types_true", Tag.DTYPE, cond=True, **EITHER, **LOOPS, since=13, cites=(SAME_TYPE,))

case("cond_of_two", cond=[True, False], around=AROUND, **COPIES, rejects=ONE_ELEMENT)
case("cond_of_none", Tag.EDGE, cond=np.zeros((0,), bool), around=AROUND, **COPIES, rejects=ONE_ELEMENT)
LONGER = graph("branch () => (float[] y, float[] z) { y = Identity(a) z = Identity(b) }")
case("else_has_more", cond=True, around=AROUND, **{**COPIES, "else_branch": LONGER}, rejects=AS_MANY_ELSE)
case("then_has_more", cond=True, around=AROUND, **{**COPIES, "then_branch": LONGER}, rejects=AS_MANY)
case("node_has_more", cond=True, around=AROUND, n=2, **COPIES, rejects=AS_MANY)
TYPES = {**COPIES, "else_branch": graph("else_branch () => (int64[] y) { y = Identity(c) }")}
WITH_C = {**AROUND, "c": typed("int64", [[1, 2, 3], [4, 5, 6]])}
case("other_type_old", cond=True, around=WITH_C, **TYPES, rejects=SAME_SHAPE)
case("other_type", cond=True, around=WITH_C, **TYPES, rejects=SAME_TYPE)
for type_ in ("int64", "uint8", "float"):
    case(f"cond_{type_}", Tag.DTYPE, cond=typed(type_, 1), around=AROUND, **COPIES, rejects=ONLY_BOOL)
case("no_cond", around=AROUND, **COPIES, rejects=Rule.ARITY)
case("no_outputs", cond=True, around=AROUND, n=0, **COPIES, rejects=Rule.ARITY)
case("no_else", cond=True, around=AROUND, then_branch=COPIES["then_branch"], rejects=Rule.ATTRIBUTES)
case("no_then", cond=True, around=AROUND, else_branch=COPIES["else_branch"], rejects=Rule.ATTRIBUTES)
case("attribute_body", cond=True, around=AROUND, **COPIES, stray={"body": 1}, rejects=Rule.ATTRIBUTES)
