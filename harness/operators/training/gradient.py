"""Gradient: the partial derivatives of one value of the graph around with respect to others.

Versions: 1 of ai.onnx.preview.training.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.declare import Array, Call, Op, Rule, Tag, Version, ramp, typed, ulp, value_of
from harness.operators.training._calculus import leaves, partial

GRADIENT = Op(
    "Gradient",
    versions=(1,),
    compare=ulp(8, "each operation of the differentiated graph rounds; no terms of these cases cancel"),
    domain="ai.onnx.preview.training",
    derives={"T2": lambda types, _: types.several.get("T1") or types["T1"]},
)

said = GRADIENT.clause
DERIVATIVES = said(
    "Gradient operator computes the partial derivatives of a specific tensor w.r.t. some other tensors.",
    note="Says not what the gradient of a tensor of several elements is: their sum's, or one for each.",
)
FUNCTION = said('By definition, the tensor "y" is a function of independent variables in "xs" and "zs".')
ONLY_XS = said(
    'Since we only compute the gradient of "y" w.r.t. the differentiable variables in "xs", this Gradient only outputs '
    "dY/dW and dY/dZ."
)
NOT_BOTH = said('Note that "H" cannot appear in "xs" and "zs".')
OPTIONAL = said("All outputs are optional.")
SKIP = said(
    "If needed, for example, user can assign an empty string to the 1st output name of that Gradient to skip the "
    "generation of dY/dW."
)
INTERMEDIATE = said("Gradient operator can compute derivative against intermediate tensors.")
HIGH_ORDER = said("It is possible to represent high-order differentiation using Gradient operators.")
VALUES = said("the inputs to Gradient node define the values at which the gradient is computed.")
FEED = said("We can feed different tensors to the identified graph.")
MINIMAL = said(
    'The attribute "xs" and attribute "zs" are the minimal independent variable set that determines the value of "y".'
)
NECESSARY_ZS = said("It contains only the necessary non-differentiated inputs of a (sub-)graph.")
NECESSARY_XS = said("It contains only the necessary differentiated inputs of a (sub-)graph.")
GENERATED = said(
    "Variables (usually called intermediate variables) that can be generated from inputs cannot be included in this "
    "attribute."
)
ITH_INPUT = said(
    'The i-th input is the value of the i-th tensor specified in the concatenated list of the attribute "xs" and the '
    'attribute "zs".'
)
ITH_OUTPUT = said(
    'The i-th output is the gradient of "y" with respect to the i-th tensor specified in the attribute "xs".'
)
ANY = said("Allow outputs to be any kind of tensor.", note="Says it of T1, which the inputs have.")
FLOATS = said("Allow inputs to be any kind of floating-point tensor.", note="Says it of T2, which the outputs have.")


@GRADIENT.oracle()
def gradient(
    v: Version,
    nodes: list[Call],
    n: int,
    Inputs: list[Array],  # noqa: N803 - the text's own name
    y: str,
    xs: list[str],
    zs: list[str] | None,
) -> list[Array]:
    """Return the partial derivatives with respect to each of xs."""
    variables = [*xs, *(zs or [])]
    v.require(ITH_INPUT, len(Inputs) == len(variables))
    v.require(ITH_OUTPUT, n <= len(xs))
    for name in variables:
        others = {*variables} - {name}
        made = any(name in node.outputs for node in nodes)
        v.require(GENERATED, not made or not {*leaves(nodes, name, others)} <= others)
    v.require(MINIMAL, {*leaves(nodes, y, {*variables})} == {*variables})
    values = dict(zip(variables, Inputs, strict=True))
    try:
        return [np.asarray(partial(nodes, y, x, values), np.float64) for x in xs]
    except ValueError:  # Not one element.
        v.silent(DERIVATIVES, when=True)
        raise


def case(name: str, beside: str, xs: str, *tags: Tag, zs: str = "", y: str = "Y", **given: Any) -> None:  # noqa: ANN401
    """Declare a case; each letter of xs and zs is a variable, at the value that it has around the node."""
    around = {"A": 3.0, "B": -2.0, "C": 0.5, "D": 4.0, **given.pop("around", {})}
    settings = {"Inputs": tuple(map(value_of, xs + zs)), "xs": list(xs), "y": y, "n": len(xs), **given}
    if zs:
        settings["zs"] = list(zs)
    used = {key: value for key, value in around.items() if key in beside}
    GRADIENT.case(name, *tags, beside=beside, around=used, **settings)


PRODUCT = "S = Add (A, B) Y = Mul (S, A)"
case("sum", "Y = Add (A, B)", "AB", cites=(DERIVATIVES, FUNCTION, ITH_INPUT))
case("sum_times", PRODUCT, "AB", cites=(ITH_OUTPUT,))
case("other_order", PRODUCT, "BA", cites=(ITH_INPUT, ITH_OUTPUT))
case("inner", PRODUCT, "AB", y="S", cites=(FUNCTION,))
case("one", PRODUCT, "A", zs="B", cites=(ONLY_XS, NECESSARY_XS, NECESSARY_ZS))
case("other_one", PRODUCT, "B", zs="A", cites=(ONLY_XS,))
case("twice", "Y = Mul (A, A)", "A", Tag.EDGE, cites=(MINIMAL,))
case("one_left_out", PRODUCT, "AB", Tag.EDGE, n=1, cites=(OPTIONAL,))
case("first_skipped", PRODUCT, "AB", Tag.EDGE, omits=("Outputs_0",), cites=(SKIP,))
case("quotient", "Y = Div (A, D)", "AD", cites=(DERIVATIVES,))
case("difference", "Y = Sub (A, B)", "AB", cites=(DERIVATIVES,))
case("functions", "E = Exp (C) Q = Sqrt (D) P = Mul (E, Q) Y = Log (P)", "CD", cites=(DERIVATIVES,))
case("tanh", "P = Mul (C, D) T = Tanh (C) Y = Add (T, P)", "CD", cites=(DERIVATIVES,))
case("constant", "K = Constant <value_float: float = 3.0> () Y = Mul (A, K)", "A", cites=(MINIMAL,))
case("does_not_change", "Z = Sub (A, A) Y = Mul (Z, B)", "AB", Tag.EDGE, cites=(DERIVATIVES,))

SUM = "Y = ReduceSum <keepdims: int = 0> (P)"
MATRICES = {"W": [[1, -2, 3], [4, 0.5, -6]], "X": [[2, -1], [3, 5], [-4, 7]]}
case("matrices", f"P = MatMul (W, X) {SUM}", "WX", around=MATRICES, cites=(DERIVATIVES,))
case("matrices_one", f"P = MatMul (W, X) {SUM}", "W", zs="X", around=MATRICES, cites=(ONLY_XS,))
case("one_element", "P = MatMul (W, X) Y = ReduceSum (P)", "WX", Tag.EDGE, around=MATRICES, cites=(DERIVATIVES,))
case("broadcast", f"P = Mul (W, A) {SUM}", "AW", around=MATRICES, cites=(DERIVATIVES,))
case("broadcast_rows", f"P = Mul (W, B) {SUM}", "BW", around={**MATRICES, "B": [2, -3, 5]}, cites=(DERIVATIVES,))
case("zero_size", f"P = Identity (W) {SUM}", "W", Tag.EDGE, around={"W": np.zeros((0, 3))}, cites=(DERIVATIVES,))
case("rank5", f"P = Mul (W, W) {SUM}", "W", Tag.EDGE, around={"W": ramp(1, 2, 1, 3, 2)}, cites=(DERIVATIVES,))
for label, data in (("several", [1.0, 2.0, 5.0]), ("none", np.zeros(0))):
    case(f"y_of_{label}", "Y = Mul (W, A)", "WA", Tag.EDGE, around={"W": data}, unspecified=DERIVATIVES)

# With respect to what nodes give, at values that they do not have, and twice.
LINEAR = "H = Mul (W, X) Y = Mul (H, A)"
SCALARS = {"W": 5.0, "X": 7.0}
FED = typed("float", 11), typed("float", -13)
case("intermediate", LINEAR, "HA", around=SCALARS, cites=(INTERMEDIATE, VALUES))
case("intermediate_fed", LINEAR, "HA", around=SCALARS, Inputs=(FED[0], value_of("A")), cites=(FEED, VALUES))
case("all_fed", PRODUCT, "AB", Inputs=FED, cites=(FEED,))


def of(name: str, y: str, xs: str, zs: str = "") -> str:
    """Return a Gradient node that gives `name`, the derivative of y with respect to the first of xs."""
    lists = [f"{key}: strings = {list(text)}" for key, text in (("xs", xs), ("zs", zs)) if text]
    attributes = ", ".join([*lists, f"y: string = '{y}'"]).replace("'", '"')
    return f"{name} = ai.onnx.preview.training.Gradient <{attributes}> ({', '.join(xs + zs)})"


CUBE = f"Q = Mul (A, A) P = Mul (Q, A) Y = Mul (P, B) {of('F', 'Y', 'AB')}"
case("second_order", CUBE, "AB", y="F", cites=(HIGH_ORDER,))
case("third_order", f"{CUBE} {of('G', 'F', 'AB')}", "AB", y="G", cites=(HIGH_ORDER,))
EXPONENTIAL = f"P = Mul (C, D) E = Exp (P) Y = Mul (E, C) {of('F', 'Y', 'C', 'D')}"
case("second_order_mixed", EXPONENTIAL, "CD", y="F", cites=(HIGH_ORDER,))

# Types
EACH = {"A": typed("{T2}", 3), "B": typed("{T2}", -2)}
case("dtypes", PRODUCT, "AB", Tag.DTYPE, each="T2", around=EACH, cites=(FLOATS,))
SIZED = "N = Size (L) M = CastLike (N, A) Q = Mul (A, A) Y = Mul (Q, M)"
case("zs_dtypes", SIZED, "A", Tag.DTYPE, zs="L", each="T1", around={"L": typed("{T1}", ramp(2, 3))}, cites=(ANY,))
TEXTS = {"L": typed("string", ["a", "b", "ä"]), "H": typed("string", ["a", "", "ä"]), "W": [1, 2, 3], "X": [4, 5, 6]}
MASKED = f"M = Equal (L, H) P = Where (M, W, X) {SUM}"
case("zs_strings", MASKED, "WX", Tag.DTYPE, zs="LH", around=TEXTS, cites=(ANY,))
COUNTS = {"A": typed("int64", 3), "B": typed("int64", -2)}
case("of_integers", PRODUCT, "AB", Tag.DTYPE, around=COUNTS, rejects=FLOATS)

# What the sentences forbid
case("too_many_inputs", PRODUCT, "AB", Inputs=tuple(map(value_of, "ABA")), rejects=ITH_INPUT)
case("too_few_inputs", PRODUCT, "AB", Inputs=(value_of("A"),), rejects=ITH_INPUT)
case("too_many_outputs", PRODUCT, "A", zs="B", n=2, rejects=ITH_OUTPUT)
case("not_determined", PRODUCT, "A", rejects=MINIMAL)
case("not_minimal", f"{PRODUCT} Z = Mul (C, C)", "ABC", rejects=MINIMAL)
case("not_minimal_zs", f"{PRODUCT} Z = Mul (C, C)", "AB", zs="C", rejects=MINIMAL)
case("no_such_y", PRODUCT, "AB", y="Z", rejects=MINIMAL)
case("intermediate_in_xs", LINEAR, "WHXA", around=SCALARS, rejects=GENERATED, cites=(NOT_BOTH,))
case("intermediate_in_zs", LINEAR, "WXA", zs="H", around=SCALARS, rejects=GENERATED, cites=(NOT_BOTH,))
case("no_inputs", PRODUCT, "AB", Inputs=(), rejects=Rule.ARITY)
case("no_outputs", PRODUCT, "AB", n=0, rejects=Rule.ARITY)
case("attribute_ys", PRODUCT, "AB", stray={"ys": ["Y"]}, rejects=Rule.ATTRIBUTES)
AB = (value_of("A"), value_of("B"))
SIMPLE = {"A": 3.0, "B": -2.0}
GRADIENT.case("no_y", beside=PRODUCT, around=SIMPLE, Inputs=AB, xs=["A", "B"], n=2, rejects=Rule.ATTRIBUTES)
GRADIENT.case("no_xs", beside=PRODUCT, around=SIMPLE, Inputs=AB, y="Y", rejects=Rule.ATTRIBUTES)
GRADIENT.case(
    "zs_of_none", Tag.EDGE, beside=PRODUCT, around=SIMPLE, Inputs=AB, xs=["A", "B"], zs=[], y="Y", n=2, cites=(MINIMAL,)
)
