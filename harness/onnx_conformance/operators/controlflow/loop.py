# SPDX-License-Identifier: Apache-2.0
"""Loop: run a subgraph repeatedly, controlled by a count and a condition.

    v_final_and_scan_outputs = Loop(M=None, cond=None, *v_initial, body)

Versions: 1, 11 (no loop-carried dependency needed), 13 (sequences; matching by order), 16 (optionals), 19, 21, 23, 24
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
    Rule,
    Subgraph,
    Tag,
    Type,
    Version,
    extremes,
    graph,
    outputs_of,
    ramp,
    typed,
    vary,
)
from onnx_conformance.declare.families.subgraphs import accumulate

LOOP = Op(
    "Loop",
    versions=(1, 11, 13, 16, 19, 21, 23, 24, 25),
    compare=EXACT,
    derives={"V": outputs_of("body", behind=1)},
    widens=False,
)
LOOP.example(
    M=2,
    cond=True,
    v_initial=(extremes(2, 6),),
    body=graph("body (int64 i, bool c, {V} s) => (bool d, {V} s) { d = Identity(no) }"),
    around={"no": typed("bool", 0)},
)

COUNT = LOOP.clause("Trip count. Iteration count specified at runtime. Set by specifying the input M. Optional.")
CONDITION = LOOP.clause("whether to run the first iteration and also a loop-carried dependency for the body graph.")
YIELDS = LOOP.clause(
    "The body graph must yield a value for the condition variable, whether this input is provided or not.",
    note="The text does not define a value that is not a scalar.",
)
FOREVER = LOOP.clause("for (int i=0; ; ++i) { cond = ... // Note this value is ignored, but is required in the body }")
WHILE = LOOP.clause('input ("", cond) // Note this is analogous to a while loop bool cond = ...; for (int i=0; cond;')
DO_WHILE = LOOP.clause('("", 1) // Note this is analogous to a do-while loop bool cond = true for (int i=0; cond;')
FOR = LOOP.clause(
    'input (trip_count, "") // Note this is analogous to a for loop int trip_count = ... for (int i=0; i < trip_count; '
    "++i) { cond = ...; // ignored }",
    note="The text does not define the body's condition input in the first iteration. onnxruntime does not ignore the "
    "condition that the body yields, and onnx.reference runs no iteration.",
)
BOTH = LOOP.clause("(trip_count, cond) int trip_count = ...; bool cond = ...; for (int i=0; i < trip_count && cond;")
AROUND = LOOP.clause(
    'Values from the enclosing scope (i.e. variable "a" here) are in scope',
    note="The text does not define a body whose values have the same names as values in scope. The IR specification "
    "forbids this.",
    see=("https://github.com/onnx/onnx/issues/2303", "https://github.com/onnx/onnx/pull/6955"),
).reworded(before=11, text="Values from the enclosing scope (i.e. variable a here) are in scope")
DECLARED = LOOP.clause(
    "Any variables which you wish to make available in the enclosing scope (i.e. the variables b and keepgoing) must "
    "be declared as either loop-carried dependencies (both at the op inputs and output and at the body net input and "
    "output) or scan_outputs.",
    before=11,
)
PAIRS = LOOP.clause(
    "The loop operation node supplies the input value of the input variable for the first iteration, and returns the "
    "output value of the output variable produced by the final iteration.",
    since=11,
    note="If no iteration runs, no iteration produces a value. The sample code returns the initial value.",
)
SAMPLE = LOOP.clause("Loop[body = <graph body-net>](%max_trip_count, %keepgoing, %b)")
SAMPLE_SHADOWS = LOOP.clause(
    "graph body-net ( %i[INT32, scalar] %keepgoing[BOOL, scalar] %b[INT32, scalar] )",
    before=11,
    note="Both are also names of values of the outer scope. The IR specification forbids variable shadowing, so the "
    "two texts contradict each other.",
)
SAMPLE_OUTPUTS = LOOP.clause(
    "%keepgoing_out, %b_out, %user_defined_vals = Loop[body = <graph body-net>]",
    note="These are also names of values in the body. Those are not in scope there, so nothing is shadowed.",
)
SAMPLE_VALUE = LOOP.clause("%b_out = Sub(%a, %b_in)").reworded(before=11, text="%b_out = Sub(%a, %b)")
ACCUMULATED = LOOP.clause("%user_defined_val = Add(%b_in, %b_in) // scan-output value to be accumulated", since=11)
FRONTENDS = LOOP.clause("Frontends should emit multi-layer RNNs as a series of While operators", result=True)
CONCATENATED = LOOP.clause(
    "Each scan_output is created by concatenating the value of the specified output value at the end of each iteration "
    "of the loop.",
    note="The values are concatenated along a new first dimension, as user_defined_vals[i] in the sample code and the "
    "official cases show; onnx.reference uses the existing first dimension. Without an iteration, the text does not "
    "define the other dimensions.",
    see=("https://github.com/onnx/onnx/issues/3122",),
)
UNCHANGING = LOOP.clause("It is an error if the dimensions or data type of these scan_outputs change")
INSIDE = LOOP.clause("Values created in the body cannot be accessed in the enclosing scope, except using").reworded(
    before=11, text="Values created in the body cannot be accessed in the enclosing scope."
)
ORDER = LOOP.clause("(produced by loop node) matching is based on order instead of name.", since=13)
INPUTS = LOOP.clause("It has 2+N inputs: (iteration_num, condition, loop carried dependencies...).")
OUTPUTS = LOOP.clause("It has 1+N+K outputs: (condition, loop carried dependencies..., scan_outputs...).")
CHANGE = LOOP.clause("The initial values of any loop-carried dependencies (values that change across loop iterations)")
FINAL = LOOP.clause(
    "Final N loop carried dependency values then K scan_outputs",
    note="The condition is not included, although the sample usage has it as the first output. The text does not "
    "define a node that omits the last outputs. In the bodies of two official cases, Unsqueeze has a scalar, but its "
    "text requires a list of axes.",
    against=("test_loop13_seq", "test_loop16_seq_none"),
)
TENSORS = LOOP.clause("Scan outputs must be Tensors.", since=13)
SCALAR_COUNT = LOOP.clause("tensor of int64, which should be a scalar.")
SCALAR_CONDITION = LOOP.clause("tensor of bool, which should be a scalar.")


@LOOP.oracle()
def looped(
    v: Version, n: int, M: Array | None, cond: Array | None, v_initial: list[Any], body: Subgraph
) -> tuple[Any, ...]:
    """Return the final values of the loop-carried dependencies, then the scan outputs."""
    count = len(v_initial)
    scanned = body.outputs[1 + count :]
    v.require(YIELDS, bool(body.outputs) and body.outputs[0] in {"tensor(bool)", ""})
    v.require(INPUTS, len(body.inputs) == 2 + count)
    v.require(DECLARED if DECLARED.in_force(v.since) else OUTPUTS, len(body.outputs) >= 1 + count)
    v.silent(SAMPLE_SHADOWS if SAMPLE_SHADOWS.in_force(v.since) else AROUND, bool(body.shadows))
    v.require(FINAL, n < len(body.outputs))
    v.silent(FINAL, n < len(body.outputs) - 1)
    if TENSORS.in_force(v.since):
        v.require(TENSORS, all(Type.parse(type_).is_tensor for type_ in scanned if type_))
    M = None if M is None else v.scalar(SCALAR_COUNT, M)  # noqa: N806 - the text's own name
    cond = None if cond is None else v.scalar(SCALAR_CONDITION, cond)
    v.silent(FOREVER, M is None and cond is None)
    carried = v_initial
    scans: list[list[Array]] = [[] for _ in scanned]
    going = np.ones((), bool) if cond is None else cond
    i = 0
    while (M is None or i < M) and (cond is None or going):
        going, *values = body(np.asarray(i), going, *carried)
        v.silent(YIELDS, going.ndim != 0)
        carried = values[:count]
        accumulate(v, UNCHANGING, scans, values[count:])
        i += 1
    v.silent(CONCATENATED, bool(scans) and i == 0)
    return (*carried, *(np.stack(scan) for scan in scans))


case = LOOP.case

A = {"a": [[5, 4, 3], [10, 20, 30]]}
ROW = {"a": [5, 4, 3]}
NO = {"no": typed("bool", 0)}
SUM = graph("body (int64 i, bool c, float[] s) => (bool d, float[] t) { d = Identity(c) t = Add(s, a) }")
SUM_AND_SCAN = graph(
    """body (int64 i, bool c, float[] s) => (bool d, float[] t, float[] y) {
        d = Identity(c)
        t = Add(s, a)
        y = Identity(s)
    }"""
)
SAME = graph("body (int64 i, bool c, float[] s) => (bool c, float[] s) {}")

# A count
case("for", M=3, v_initial=(ramp(2, 3),), n=2, body=SUM_AND_SCAN, around=A, cites=(COUNT, FOR, CONCATENATED, FINAL))
case(
    "for_around_before_11",
    M=2,
    v_initial=(ramp(2, 3),),
    n=2,
    body=SUM_AND_SCAN,
    around=A,
    before=11,
    cites=(AROUND, INSIDE),
)
case("for_around", M=2, v_initial=(ramp(2, 3),), n=2, body=SUM_AND_SCAN, around=A, cites=(AROUND, INSIDE, ACCUMULATED))
case(
    "for_stopped",
    M=3,
    v_initial=(ramp(2, 3),),
    n=2,
    body=graph(
        """body (int64 i, bool c, float[] s) => (bool d, float[] t, float[] y) {
            d = Identity(no)
            t = Add(s, a)
            y = Identity(s)
        }"""
    ),
    around={**A, **NO},
    cites=FOR,
)
case("for", Tag.EDGE, M=vary(zero=0, negative=-1), v_initial=(ramp(3),), body=SUM, around=ROW, cites=FOR)
case(
    "for_zero_scan", Tag.EDGE, M=0, v_initial=(ramp(2, 3),), n=2, body=SUM_AND_SCAN, around=A, unspecified=CONCATENATED
)
case("final_of_two", M=2, v_initial=(ramp(3),), body=SUM, around=ROW, cites=PAIRS)
case(
    "iteration",
    M=4,
    v_initial=(ramp(3),),
    n=2,
    body=graph("body (int64 i, bool c, float[] s) => (bool c, float[] s, int64[] y) { y = Identity(i) }"),
    cites=INPUTS,
)

# A condition that passes through two carried flags: the flags are the condition of later iterations, until it is false.
FLAGS = graph(
    """body (int64 i, bool c, bool f, bool g, float[] s) => (bool d, bool h, bool j, float[] t, float[] y) {
        d = Identity(f)
        h = Identity(g)
        j = Identity(no)
        t = Add(s, a)
        y = Identity(s)
    }"""
)
ONCE = (typed("bool", 0), typed("bool", 1), ramp(2, 3))
THRICE = (typed("bool", 1), typed("bool", 1), ramp(2, 3))
case(
    "while_1", cond=True, v_initial=ONCE, n=4, body=FLAGS, around={**A, **NO}, cites=(CONDITION, DO_WHILE, CONCATENATED)
)
case(
    "while_3", cond=True, v_initial=THRICE, n=4, body=FLAGS, around={**A, **NO}, cites=(CONDITION, WHILE, CONCATENATED)
)
case("while_false", Tag.EDGE, cond=False, v_initial=(ramp(3),), body=SUM, around=ROW, cites=(WHILE, CONDITION))

# Both
case(
    "both",
    M=2**63 - 1,
    cond=True,
    v_initial=vary(**{"1_of_many": ONCE, "3_of_many": THRICE}),
    n=4,
    body=FLAGS,
    around={**A, **NO},
    cites=(BOTH, CHANGE),
)
case(
    "both_2_of_3",
    M=2,
    cond=True,
    v_initial=THRICE,
    n=4,
    body=FLAGS,
    around={**A, **NO},
    cites=(BOTH, SAMPLE, CONCATENATED),
)
case("both_false", Tag.EDGE, M=3, cond=False, v_initial=(ramp(3),), body=SUM, around=ROW, cites=BOTH)
case("both_zero", Tag.EDGE, M=0, cond=True, v_initial=(ramp(3),), body=SUM, around=ROW, cites=BOTH)

# Loop-carried dependencies
NUMBERS = graph("body (int64 i, bool c) => (bool c, int64[] y) { y = Identity(i) }")
case("nothing_carried", Tag.CHANGE, M=3, cond=True, body=NUMBERS, since=11, cites=(CONCATENATED, OUTPUTS))
case("nothing_carried_before_11", Tag.CHANGE, M=3, cond=True, body=NUMBERS, before=11, rejects=Rule.ARITY)
SWAP = graph("body (int64 i, bool c, float[] p, float[] q) => (bool c, float[] q, float[] p) {}")
case("swap", M=vary(**{"2": 2, "3": 3}), v_initial=(ramp(2, 3), ramp(4)), n=2, body=SWAP, cites=CHANGE)
case("swap_by_order", M=vary(**{"2": 2, "3": 3}), v_initial=([1, 2], [5, 6]), n=2, body=SWAP, cites=(ORDER, OUTPUTS))
CARRIED = graph(
    """body (int64 i, bool c, float[] s, int32[] k, float[] r) => (bool d, float[] t, int32[] m, float[] u) {
        d = Identity(flag)
        t = Add(s, a)
        m = Identity(k)
        u = Neg(r)
    }"""
)
OF_TWO_TYPES: dict[str, Any] = {"v_initial": (ramp(3), typed("int32", 5), ramp(2, 3)), "n": 3, "body": CARRIED}
case("two_types", M=3, cond=True, **OF_TWO_TYPES, around={**ROW, "flag": typed("bool", 1)}, cites=FOR)
case("two_types_until", cond=True, **OF_TWO_TYPES, around={**ROW, "flag": typed("bool", 0)}, cites=WHILE)
case("swap_both", M=3, cond=True, v_initial=(ramp(2, 3), ramp(4)), n=2, body=SWAP, cites=BOTH)
case(
    "many",
    M=3,
    cond=True,
    v_initial=(ramp(2, 3), typed("int64", 7)),
    n=5,
    body=graph(
        """body (int64 i, bool c, float[] p, int64[] q)
            => (bool d, float[] r, int64[] s, int64[] t, float[] u, int64[] w)
        {
            d = Identity(c)
            r = Add(p, p)
            s = Identity(i)
            t = Identity(q)
            u = Identity(p)
            w = Identity(i)
        }"""
    ),
    cites=FINAL,
)
# Each iteration has more elements than the previous one.
GROWS = graph(
    """body (int64 i, bool c, float[] s) => (bool d, float[] t, int64[] y) {
        d = Identity(c)
        t = Concat <axis = 0> (s, a)
        y = Size(s)
    }"""
)
THREE_TIMES: dict[str, Any] = {"M": 3, "cond": True, "n": 2}
case("grows", **THREE_TIMES, v_initial=(ramp(2, 3),), body=GROWS, around=A, cites=(CHANGE, CONCATENATED))
case(
    "grows_from_nothing", Tag.EDGE, **THREE_TIMES, v_initial=(ramp(0, 3),), body=GROWS, around=A, cites=(FINAL, CHANGE)
)
DOUBLES = graph(
    "body (int64 i, bool c, float[] p, float[] q) => (bool c, float[] r, float[] p) { r = Concat <axis = 1> (p, q) }"
)
case("grows_by_another", **THREE_TIMES, v_initial=(ramp(2, 3), ramp(2, 1)), body=DOUBLES, cites=(FINAL, CHANGE))
INSERTS = graph("body (int64 i, bool c, seq(float[]) s) => (bool c, seq(float[]) t) { t = SequenceInsert(s, a) }")
for name, sequence in (("sequence_empty", []), ("sequence_two", [ramp(2), ramp(1, 3)])):
    initial = typed("seq(tensor(float))", sequence)
    case(name, Tag.CHANGE, M=2, v_initial=(initial,), body=INSERTS, around=A, since=13, cites=CHANGE)
case(
    "optional_empty",
    Tag.EDGE,
    M=2,
    v_initial=(typed("optional(tensor(float))", EMPTY),),
    body=graph("body (int64 i, bool c, optional(float[]) s) => (bool c, optional(float[]) s) {}"),
    since=16,
    cites=CHANGE,
)

# Names
NAMES_OF_OUTPUTS = graph(
    """body (int64 i, bool c, float[] s)
        => (bool d, float[] v_final_and_scan_outputs_1, float[] v_final_and_scan_outputs_0)
    {
        d = Identity(c)
        v_final_and_scan_outputs_1 = Add(s, a)
        v_final_and_scan_outputs_0 = Neg(s)
    }"""
)
NAMED: dict[str, Any] = {**THREE_TIMES, "v_initial": (ramp(2, 3),), "body": NAMES_OF_OUTPUTS, "around": A}
case("names_of_outputs", **NAMED, cites=(SAMPLE_OUTPUTS, SAMPLE_VALUE))
SHADOWING = {
    "input": "body (int64 i, bool c, float[] a) => (bool c, float[] t) { t = Add(a, a) }",
    "value": "body (int64 i, bool c, float[] s) => (bool c, float[] t) { a = Neg(s) t = Add(s, a) }",
    "initial": "body (int64 i, bool c, float[] v_initial_0) => (bool c, float[] t) { t = Neg(v_initial_0) }",
}
for name, text in SHADOWING.items():
    shadowing: dict[str, Any] = {"M": 2, "cond": True, "v_initial": (ramp(2, 3),), "body": graph(text), "around": A}
    case(f"shadows_by_{name}_before_11", Tag.CHANGE, **shadowing, before=11, unspecified=SAMPLE_SHADOWS)
    case(f"shadows_by_{name}", Tag.CHANGE, **shadowing, since=11, unspecified=AROUND)

# Scan outputs
SCANS_STATE = graph("body (int64 i, bool c, float[] s) => (bool c, float[] s, float[] y) { y = Identity(s) }")
case(
    "scan",
    Tag.EDGE,
    M=2,
    v_initial=vary(scalar=(ramp(),), zero_size=(ramp(0, 3),), rank4=(ramp(2, 3, 1, 4),)),
    n=2,
    body=SCANS_STATE,
    cites=CONCATENATED,
)
case(
    "types_scan",
    Tag.DTYPE,
    each="V",
    M=2,
    v_initial=(extremes(3),),
    n=2,
    body=graph("body (int64 i, bool c, {V} s) => (bool c, {V} s, {V} y) { y = Identity(s) }"),
    before=13,
    cites=CONCATENATED,
)
# A sequence cannot be scanned, so {V} cannot be used. The newest version has every type.
for type_ in (
    "float16",
    "bfloat16",
    "double",
    "string",
    "bool",
    "complex128",
    "uint8",
    "int64",
    "float8e4m3fn",
    "uint4",
    "float4e2m1",
    "int2",
):
    case(
        f"scan_{type_}",
        Tag.DTYPE,
        M=2,
        v_initial=(typed(type_, extremes(3)),),
        n=2,
        body=graph(f"body (int64 i, bool c, {type_}[] s) => (bool c, {type_}[] s, {type_}[] y) {{ y = Identity(s) }}"),
        since=25,
        cites=CONCATENATED,
    )

# Subgraphs in the body
case(
    "nested",
    M=2,
    cond=True,
    v_initial=(ramp(2, 3),),
    n=2,
    body=graph(
        """body (int64 i, bool c, float[] s) => (bool c, float[] t, float[] z) {
            t, z = Loop(two, c, s) <
                body = inner (int64 k, bool e, float[] p) => (bool e, float[] q, float[] r) {
                    q = Add(p, a)
                    r = Identity(s)
                }
            >
        }"""
    ),
    around={**A, "two": typed("int64", 2)},
    cites=(CONDITION, FRONTENDS),
)
case(
    "branches",
    M=2,
    cond=True,
    v_initial=(ramp(2, 3),),
    n=2,
    body=graph(
        """body (int64 i, bool c, float[] s) => (bool c, float[] t, float[] y) {
            y = If(c) <
                then_branch = u () => (float[] x) { x = Identity(s) },
                else_branch = w () => (float[] z) { z = Identity(a) }
            >
            t = Add(s, a)
        }"""
    ),
    around=A,
    cites=CONDITION,
)

# Models that sentences forbid or leave open
SCANS_FIRST = graph(
    """body (int64 i, bool c, float[] p, float[] q) => (bool c, float[] q, float[] p, float[] y) {
        y = Identity(p)
    }"""
)
case(
    "scan_of_other",
    M=3,
    v_initial=vary(size=(ramp(2), ramp(3)), rank=(ramp(3), ramp(1, 3))),
    n=3,
    body=SCANS_FIRST,
    rejects=UNCHANGING,
)
case(
    "scan_of_sequences",
    M=2,
    v_initial=(typed("seq(tensor(float))", [ramp(2), ramp(1, 3)]),),
    n=2,
    body=graph(
        """body (int64 i, bool c, seq(float[]) s) => (bool c, seq(float[]) s, seq(float[]) y) {
            y = SequenceInsert(s, a)
        }"""
    ),
    around=A,
    rejects=TENSORS,
)
case(
    "no_condition",
    M=2,
    v_initial=(ramp(3),),
    body=graph("body (int64 i, bool c, float[] s) => (float[] s) {}"),
    rejects=YIELDS,
    cites=FOREVER,
)
case("body_takes_less", M=2, v_initial=(ramp(3), ramp(2)), body=SAME, rejects=INPUTS)
case(
    "body_takes_more",
    M=2,
    v_initial=(ramp(3),),
    body=graph("body (int64 i, bool c, float[] s, float[] u) => (bool c, float[] s) {}"),
    rejects=INPUTS,
)
for name, clause in (("body_gives_less_before_11", DECLARED), ("body_gives_less", OUTPUTS)):
    case(
        name,
        M=2,
        v_initial=(ramp(3),),
        body=graph("body (int64 i, bool c, float[] s) => (bool c) {}"),
        since=11 if clause is OUTPUTS else None,
        rejects=clause,
    )
case("node_has_more", M=2, v_initial=(ramp(3),), n=2, body=SAME, rejects=FINAL)
case("node_has_less", Tag.EDGE, M=2, v_initial=(ramp(2, 3),), n=1, body=SUM_AND_SCAN, around=A, unspecified=FINAL)
case("count_vector", Tag.EDGE, M=[2], v_initial=(ramp(3),), body=SUM, around=ROW, cites=SCALAR_COUNT)
case("condition_vector", Tag.EDGE, M=2, cond=[True], v_initial=(ramp(3),), body=SUM, around=ROW, cites=SCALAR_CONDITION)
case("count_of_two", Tag.EDGE, M=[2, 2], v_initial=(ramp(3),), body=SUM, around=ROW, rejects=SCALAR_COUNT)
case(
    "condition_of_two",
    Tag.EDGE,
    M=2,
    cond=[True, True],
    v_initial=(ramp(3),),
    body=SUM,
    around=ROW,
    rejects=SCALAR_CONDITION,
)
case(
    "condition_becomes_vector",
    Tag.EDGE,
    M=2,
    cond=True,
    v_initial=(ramp(3),),
    body=graph("body (int64 i, bool c, float[] s) => (bool[] d, float[] s) { d = Identity(go) }"),
    around={"go": typed("bool", [True])},
    unspecified=YIELDS,
)
