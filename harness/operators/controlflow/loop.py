"""Loop: a subgraph again and again, by a count and a condition.

Versions: 1, 11 (no loop-carried dependency needed), 13 (sequences; matching by order), 16 (optionals), 19, 21, 23, 24
and 25 (types).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.declare import EMPTY, EXACT, Array, Op, Rule, Subgraph, Tag, Version, extremes, graph, ramp, typed
from harness.declare.families.subgraphs import accumulate, outputs_of

DERIVES = {"V": outputs_of("body", behind=1)}
LOOP = Op("Loop", versions=(1, 11, 13, 16, 19, 21, 23, 24, 25), compare=EXACT, derives=DERIVES, widens=False)

COUNT = LOOP.clause("Trip count. Iteration count specified at runtime. Set by specifying the input M. Optional.")
CONDITION = LOOP.clause("whether to run the first iteration and also a loop-carried dependency for the body graph.")
YIELDS = LOOP.clause(
    "The body graph must yield a value for the condition variable, whether this input is provided or not.",
    note="Says nothing of a value that is no scalar.",
)
FOREVER = LOOP.clause("for (int i=0; ; ++i) { cond = ... // Note this value is ignored, but is required in the body }")
WHILE = LOOP.clause('input ("", cond) // Note this is analogous to a while loop bool cond = ...; for (int i=0; cond;')
DO_WHILE = LOOP.clause('("", 1) // Note this is analogous to a do-while loop bool cond = true for (int i=0; cond;')
FOR = LOOP.clause(
    'input (trip_count, "") // Note this is analogous to a for loop int trip_count = ... for (int i=0; i < trip_count; '
    "++i) { cond = ...; // ignored }",
    note="Says not what the body gets for the condition in the first iteration. onnxruntime does not ignore what it "
    "yields, and onnx.reference runs no iteration.",
)
BOTH = LOOP.clause("(trip_count, cond) int trip_count = ...; bool cond = ...; for (int i=0; i < trip_count && cond;")
AROUND_OLD = LOOP.clause("Values from the enclosing scope (i.e. variable a here) are in scope", before=11)
AROUND = LOOP.clause('Values from the enclosing scope (i.e. variable "a" here) are in scope', since=11)
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
    note="Where no iteration runs, none produced a value: the sample code returns the initial one.",
)
SAMPLE = LOOP.clause("Loop[body = <graph body-net>](%max_trip_count, %keepgoing, %b)")
ACCUMULATED = LOOP.clause("%user_defined_val = Add(%b_in, %b_in) // scan-output value to be accumulated", since=11)
FRONTENDS = LOOP.clause("Frontends should emit multi-layer RNNs as a series of While operators", result=True)
CONCATENATED = LOOP.clause(
    "Each scan_output is created by concatenating the value of the specified output value at the end of each iteration "
    "of the loop.",
    note="Along a new first dimension, as user_defined_vals[i] in the sample code and the official cases say; "
    "onnx.reference takes the one that is there. Without an iteration the other dimensions are not said.",
)
UNCHANGING = LOOP.clause("It is an error if the dimensions or data type of these scan_outputs change")
INSIDE_OLD = LOOP.clause("Values created in the body cannot be accessed in the enclosing scope.", before=11)
INSIDE = LOOP.clause("Values created in the body cannot be accessed in the enclosing scope, except using", since=11)
ORDER = LOOP.clause("(produced by loop node) matching is based on order instead of name.", since=13)
INPUTS = LOOP.clause("It has 2+N inputs: (iteration_num, condition, loop carried dependencies...).")
OUTPUTS = LOOP.clause("It has 1+N+K outputs: (condition, loop carried dependencies..., scan_outputs...).")
CHANGE = LOOP.clause("The initial values of any loop-carried dependencies (values that change across loop iterations)")
FINAL = LOOP.clause(
    "Final N loop carried dependency values then K scan_outputs",
    note="Without the condition, which the sample usage names as the first. Says nothing of a node that leaves out the "
    "last ones. The bodies of two official cases hand Unsqueeze a scalar, where its text speaks of a list of axes.",
    against=("test_loop13_seq", "test_loop16_seq_none"),
)
TENSORS = LOOP.clause("Scan outputs must be Tensors.", since=13)
SCALAR_COUNT = LOOP.clause("tensor of int64, which should be a scalar.", note="onnxruntime takes a vector of one.")
SCALAR_CONDITION = LOOP.clause("tensor of bool, which should be a scalar.", note="onnxruntime takes a vector of one.")


@LOOP.oracle()
def looped(
    v: Version,
    n: int,
    M: Array | None,  # noqa: N803 - the text's own name
    cond: Array | None,
    v_initial: list[Any],
    body: Subgraph,
) -> tuple[Any, ...]:
    """Return the final values of what is carried, then what each iteration added."""
    v.require(YIELDS, bool(body.outputs) and body.outputs[0] in {"tensor(bool)", ""})
    v.require(INPUTS, len(body.inputs) == 2 + len(v_initial))
    v.require(DECLARED if DECLARED.in_force(v.since) else OUTPUTS, len(body.outputs) >= 1 + len(v_initial))
    v.require(FINAL, n < len(body.outputs))
    v.silent(FINAL, n < len(body.outputs) - 1)
    added: list[list[Any]] = [[] for _ in body.outputs[1 + len(v_initial) :]]
    if TENSORS.in_force(v.since):
        v.require(
            TENSORS, all(type_.startswith("tensor(") or not type_ for type_ in body.outputs[1 + len(v_initial) :])
        )
    v.require(SCALAR_COUNT, M is None or M.ndim == 0)
    v.require(SCALAR_CONDITION, cond is None or cond.ndim == 0)
    v.silent(FOREVER, M is None and cond is None)
    carried, i, going = list(v_initial), 0, np.asarray(1, bool) if cond is None else cond
    while (M is None or i < M) and (cond is None or going):
        going, *values = body(np.asarray(i), going, *carried)
        v.silent(YIELDS, going.ndim != 0)
        carried = values[: len(carried)]
        accumulate(v, UNCHANGING, added, values[len(carried) :])
        i += 1
    v.silent(CONCATENATED, bool(added) and i == 0)
    return (*carried, *(np.stack(scan) for scan in added))


case = LOOP.case


def body(inputs: str, outputs: str, nodes: str = "") -> dict[str, Any]:
    """Return a body by what comes behind the iteration number and the condition, its outputs, and its nodes."""
    taken = ", ".join(filter(None, ("int64 i, bool c", inputs)))
    return {"body": graph(f"body ({taken}) => ({outputs}) {{ {nodes} }}")}


CARRIED, GIVEN = "float[] s", "bool d, float[] t, float[] y"
ADDS = body(CARRIED, GIVEN, "d = Identity(c) t = Add(s, a) y = Identity(s)")
A = {"a": [[5, 4, 3], [10, 20, 30]]}
ADDING: dict[str, Any] = {"v_initial": (ramp(2, 3),), "around": A, "n": 2, **ADDS}
case("for", M=3, **ADDING, cites=(COUNT, FOR, CONCATENATED, FINAL))
case("for_around", M=2, **ADDING, before=11, cites=(AROUND_OLD, INSIDE_OLD))
case("for_around_now", M=2, **ADDING, cites=(AROUND, INSIDE, ACCUMULATED))
STOPS = body(CARRIED, GIVEN, "d = Identity(no) t = Add(s, a) y = Identity(s)")
NO = {"no": typed("bool", 0)}
case("for_stopped", M=3, **{**ADDING, "around": {**A, **NO}, **STOPS}, cites=(FOR,))
SUM: dict[str, Any] = {"v_initial": (ramp(3),), "around": {"a": [5, 4, 3]}}
SUM |= body(CARRIED, "bool d, float[] t", "d = Identity(c) t = Add(s, a)")
for name, count in {"zero": 0, "negative": -1}.items():
    case(f"for_{name}", Tag.EDGE, M=count, **SUM, cites=(FOR,))
case("for_zero_scan", Tag.EDGE, M=0, **ADDING, unspecified=CONCATENATED)
# The condition goes through as many carried flags as there are iterations to come.
SHIFTS = "d = Identity(f) h = Identity(g) j = Identity(no) t = Add(s, a) y = Identity(s)"
FLAGS = body("bool f, bool g, float[] s", "bool d, bool h, bool j, float[] t, float[] y", SHIFTS)
FLAGGED: dict[str, Any] = {"around": {**A, **NO}, "n": 4, **FLAGS}
for trips, flags in {1: (False, True), 3: (True, True)}.items():
    given = {"v_initial": (*(typed("bool", flag) for flag in flags), ramp(2, 3)), **FLAGGED}
    case(f"while_{trips}", cond=True, **given, cites=(CONDITION, DO_WHILE if trips == 1 else WHILE))
    case(f"both_{trips}_of_many", M=2**63 - 1, cond=True, **given, cites=(BOTH, CHANGE))
case("both_2_of_3", M=2, cond=True, **given, cites=(BOTH, SAMPLE))
case("while_false", Tag.EDGE, cond=False, **SUM, cites=(WHILE, CONDITION))
case("both_false", Tag.EDGE, M=3, cond=False, **SUM, cites=(BOTH,))
case("both_zero", Tag.EDGE, M=0, cond=True, **SUM, cites=(BOTH,))
case("final_of_two", M=2, **SUM, cites=(PAIRS,))

COUNTS = body(CARRIED, "bool c, float[] s, int64[] y", "y = Identity(i)")
case("iteration", M=4, v_initial=(ramp(3),), n=2, **COUNTS, cites=(INPUTS,))
NUMBERS = body("", "bool c, int64[] y", "y = Identity(i)")
case("nothing_carried", Tag.CHANGE, M=3, cond=True, **NUMBERS, since=11, cites=(OUTPUTS,))
case("nothing_carried_old", Tag.CHANGE, M=3, cond=True, **NUMBERS, before=11, rejects=Rule.ARITY)
SWAP = body("float[] p, float[] q", "bool c, float[] q, float[] p")
for trips in (2, 3):
    case(f"swap_{trips}", M=trips, v_initial=(ramp(2, 3), ramp(4)), n=2, **SWAP, cites=(CHANGE,))
    case(f"swap_by_order_{trips}", M=trips, v_initial=([1, 2], [5, 6]), n=2, **SWAP, cites=(ORDER, OUTPUTS))
SCANNED = body("float[] p, float[] q", "bool c, float[] q, float[] p, float[] y", "y = Identity(p)")
case("scan_of_other_size", M=3, v_initial=(ramp(2), ramp(3)), n=3, **SCANNED, rejects=UNCHANGING)
case("scan_of_other_rank", M=2, v_initial=(ramp(3), ramp(1, 3)), n=3, **SCANNED, rejects=UNCHANGING)
GIVES = "d = Identity(c) r = Add(p, p) s = Identity(i) t = Identity(q) u = Identity(p) w = Identity(i)"
MANY = body("float[] p, int64[] q", "bool d, float[] r, int64[] s, int64[] t, float[] u, int64[] w", GIVES)
case("many", M=3, cond=True, v_initial=(ramp(2, 3), typed("int64", 7)), n=5, **MANY, cites=(FINAL,))
COPIED = body(CARRIED, "bool c, float[] s, float[] y", "y = Identity(s)")
for name, shape in {"scalar": (), "zero_size": (0, 3), "rank4": (2, 3, 1, 4)}.items():
    case(f"scan_{name}", Tag.EDGE, M=2, v_initial=(ramp(*shape),), n=2, **COPIED, cites=(CONCATENATED,))
INSIDES = "t, z = Loop(two, c, s) <body = inner (int64 k, bool e, float[] p) => (bool e, float[] q, float[] r) "
INSIDES += "{ q = Add(p, a) r = Identity(s) }>"
INNER = body(CARRIED, "bool c, float[] t, float[] z", INSIDES)
TWO = {**A, "two": typed("int64", 2)}
case("nested", M=2, cond=True, v_initial=(ramp(2, 3),), n=2, around=TWO, **INNER, cites=(CONDITION, FRONTENDS))
CHOICE = "y = If(c) <then_branch = u () => (float[] x) { x = Identity(s) }, else_branch = w () => (float[] z) "
CHOICE += "{ z = Identity(a) }> t = Add(s, a)"
case("branches", M=2, cond=True, **{**ADDING, **body(CARRIED, "bool c, float[] t, float[] y", CHOICE)})
GROWS = body("seq(float[]) s", "bool c, seq(float[]) t", "t = SequenceInsert(s, a)")
for name, held in {"empty": [], "two": [ramp(2), ramp(1, 3)]}.items():
    grown: dict[str, Any] = {"M": 2, "v_initial": (typed("seq(tensor(float))", held),), "around": A}
    case(f"sequence_{name}", Tag.CHANGE, **grown, **GROWS, since=13, cites=(CHANGE,))
GATHERS = body("seq(float[]) s", "bool c, seq(float[]) s, seq(float[]) y", "y = SequenceInsert(s, a)")
case("scan_of_sequences", **grown, n=2, **GATHERS, rejects=TENSORS)
HANDS_ON, NOTHING = body("optional(float[]) s", "bool c, optional(float[]) s"), typed("optional(tensor(float))", EMPTY)
case("optional_empty", Tag.EDGE, M=2, v_initial=(NOTHING,), **HANDS_ON, since=16, cites=(CHANGE,))
case("types", Tag.DTYPE, each="V", M=2, v_initial=(extremes(2, 6),), **body("{V} s", "bool c, {V} s"))

SCANS = body("{V} s", "bool c, {V} s, {V} y", "y = Identity(s)")
case("types_scan", Tag.DTYPE, each="V", M=2, v_initial=(extremes(3),), n=2, **SCANS, before=13)
# A sequence cannot be scanned: {V} would not do. The newest version has every type.
NAMED = ("float16", "bfloat16", "double", "string", "bool", "complex128", "uint8", "int64", "float8e4m3fn", "uint4")
for type_ in (*NAMED, "float4e2m1", "int2"):
    scans = body(f"{type_}[] s", f"bool c, {type_}[] s, {type_}[] y", "y = Identity(s)")
    case(f"scan_{type_}", Tag.DTYPE, M=2, v_initial=(typed(type_, extremes(3)),), n=2, since=25, **scans)

ONE: dict[str, Any] = {"M": 2, "v_initial": (ramp(3),)}
case("no_condition", **ONE, **body(CARRIED, "float[] s"), rejects=YIELDS, cites=(FOREVER,))
case("body_takes_less", M=2, v_initial=(ramp(3), ramp(2)), **body(CARRIED, "bool c, float[] s"), rejects=INPUTS)
case("body_takes_more", **ONE, **body("float[] s, float[] u", "bool c, float[] s"), rejects=INPUTS)
case("body_gives_less_old", **ONE, **body(CARRIED, "bool c"), rejects=DECLARED)
case("body_gives_less", **ONE, **body(CARRIED, "bool c"), since=11, rejects=OUTPUTS)
case("node_has_more", n=2, **ONE, **body(CARRIED, "bool c, float[] s"), rejects=FINAL)
case("node_has_less", Tag.EDGE, M=2, **{**ADDING, "n": 1}, unspecified=FINAL)
case("count_vector", Tag.EDGE, M=[2], **SUM, rejects=SCALAR_COUNT)
case("condition_vector", Tag.EDGE, M=2, cond=[True], **SUM, rejects=SCALAR_CONDITION)
GOES: dict[str, Any] = {"v_initial": (ramp(3),), "around": {"go": typed("bool", [True])}}
VECTOR = body(CARRIED, "bool[] d, float[] s", "d = Identity(go)")
case("condition_becomes_vector", Tag.EDGE, M=2, cond=True, **GOES, **VECTOR, unspecified=YIELDS)
case("count_int32", Tag.DTYPE, M=typed("int32", 2), **SUM, rejects=Rule.TYPES)
case("condition_int64", Tag.DTYPE, M=2, cond=typed("int64", 1), **SUM, rejects=Rule.TYPES)
case("no_body", **ONE, rejects=Rule.ATTRIBUTES)
case("no_outputs", M=2, **{**ADDING, "n": 0}, rejects=Rule.ARITY)
case("attribute_max_trip_count", M=2, **SUM, stray={"max_trip_count": 3}, rejects=Rule.ATTRIBUTES)
