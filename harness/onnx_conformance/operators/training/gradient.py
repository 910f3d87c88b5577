# SPDX-License-Identifier: Apache-2.0
"""Gradient: the partial derivatives of one value of the enclosing graph with respect to others.

    Outputs = Gradient(*Inputs, xs, y, zs=None)

Version: 1 of ai.onnx.preview.training.

Derivatives are computed with numbers that carry their slope (forward-mode differentiation), exact to float64. A slope
may also be a number with a slope, which leads to derivatives of derivatives.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Call, Op, Tag, Version, ramp, typed, ulp, value_of, vary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

GRADIENT = Op(
    "Gradient",
    versions=(1,),
    compare=ulp(8, "each operation of the differentiated graph rounds; in these cases no terms cancel"),
    domain="ai.onnx.preview.training",
    derives={"T2": lambda types, _: types.several.get("T1") or types["T1"]},
)
GRADIENT.example(
    beside="S = Add (A, B) Y = Mul (S, A)",
    around={"A": 3.0, "B": -2.0},
    Inputs=(typed("float", 11), typed("float", -13)),
    xs=["A"],
    zs=["B"],
    y="Y",
)

DERIVATIVES = GRADIENT.clause(
    "Gradient operator computes the partial derivatives of a specific tensor w.r.t. some other tensors.",
    note="The text does not define the gradient of a tensor with several elements: it could be that of their sum, or "
    "one for each element.",
)
FUNCTION = GRADIENT.clause('By definition, the tensor "y" is a function of independent variables in "xs" and "zs".')
ONLY_XS = GRADIENT.clause(
    'Since we only compute the gradient of "y" w.r.t. the differentiable variables in "xs", this Gradient only outputs '
    "dY/dW and dY/dZ."
)
NOT_BOTH = GRADIENT.clause('Note that "H" cannot appear in "xs" and "zs".')
OPTIONAL = GRADIENT.clause("All outputs are optional.")
SKIP = GRADIENT.clause(
    "If needed, for example, user can assign an empty string to the 1st output name of that Gradient to skip the "
    "generation of dY/dW."
)
INTERMEDIATE = GRADIENT.clause("Gradient operator can compute derivative against intermediate tensors.")
HIGH_ORDER = GRADIENT.clause("It is possible to represent high-order differentiation using Gradient operators.")
VALUES = GRADIENT.clause("the inputs to Gradient node define the values at which the gradient is computed.")
FEED = GRADIENT.clause("We can feed different tensors to the identified graph.")
MINIMAL = GRADIENT.clause(
    'The attribute "xs" and attribute "zs" are the minimal independent variable set that determines the value of "y".'
)
NECESSARY_ZS = GRADIENT.clause("It contains only the necessary non-differentiated inputs of a (sub-)graph.")
NECESSARY_XS = GRADIENT.clause("It contains only the necessary differentiated inputs of a (sub-)graph.")
GENERATED = GRADIENT.clause(
    "Variables (usually called intermediate variables) that can be generated from inputs cannot be included in this "
    "attribute."
)
ITH_INPUT = GRADIENT.clause(
    'The i-th input is the value of the i-th tensor specified in the concatenated list of the attribute "xs" and the '
    'attribute "zs".'
)
ITH_OUTPUT = GRADIENT.clause(
    'The i-th output is the gradient of "y" with respect to the i-th tensor specified in the attribute "xs".'
)
ANY = GRADIENT.clause(
    "Allow outputs to be any kind of tensor.", note="The sentence is on T1, which is the type of the inputs."
)
FLOATS = GRADIENT.clause(
    "Allow inputs to be any kind of floating-point tensor.",
    note="The sentence is on T2, which is the type of the outputs.",
)


class Dual:
    """A number and its slope: the rate at which it changes with one variable."""

    __slots__ = ("slope", "value")

    def __init__(self, value: Any, slope: Any) -> None:  # noqa: ANN401 - float, or Dual
        """Store the number and its slope."""
        self.value, self.slope = value, slope

    def __add__(self, other: Any) -> Dual:  # noqa: ANN401
        """Return the sum: slopes add."""
        other = _dual(other)
        return Dual(self.value + other.value, self.slope + other.slope)

    def __sub__(self, other: Any) -> Dual:  # noqa: ANN401
        """Return the difference."""
        return self + _dual(other) * -1.0

    def __mul__(self, other: Any) -> Dual:  # noqa: ANN401
        """Return the product: (uv)' = u'v + uv'."""
        other = _dual(other)
        return Dual(self.value * other.value, self.slope * other.value + self.value * other.slope)

    def __truediv__(self, other: Any) -> Dual:  # noqa: ANN401
        """Return the quotient: (u/v)' = (u' - u/v v') / v."""
        other = _dual(other)
        quotient = self.value / other.value
        return Dual(quotient, (self.slope - quotient * other.slope) / other.value)

    def __rsub__(self, other: Any) -> Dual:  # noqa: ANN401
        """Return the difference from a plain number."""
        return _dual(other) - self

    def __rtruediv__(self, other: Any) -> Dual:  # noqa: ANN401
        """Return the quotient of a plain number."""
        return _dual(other) / self

    __radd__, __rmul__ = __add__, __mul__


def _dual(number: Any) -> Dual:  # noqa: ANN401
    return number if isinstance(number, Dual) else Dual(number, 0.0)


def _chain(function: Callable[[float], float], slope: Callable[[Any, Any], Any]) -> Callable[[Array], Array]:
    """Return an elementwise function. `slope` computes its slope from x and from its result."""

    def of(x: Any) -> Any:  # noqa: ANN401
        if not isinstance(x, Dual):
            return function(x)
        result = of(x.value)
        return Dual(result, slope(x.value, result) * x.slope)

    return lambda array: np.asarray(np.frompyfunc(of, 1, 1)(array), object)


def _sum(data: Array, axes: Array | None = None, keepdims: int = 1) -> Array:
    axis = None if axes is None else tuple(int(item) for item in axes)
    return np.asarray(np.sum(data, axis=axis, keepdims=bool(keepdims)), object)


MEANINGS: Mapping[str, Callable[..., Any]] = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "Div": lambda a, b: a / b,
    "Identity": lambda a: a,
    "Exp": _chain(math.exp, lambda _, result: result),
    "Log": _chain(math.log, lambda x, _: 1.0 / x),
    "Sqrt": _chain(math.sqrt, lambda _, result: 0.5 / result),
    "Tanh": _chain(math.tanh, lambda _, result: 1.0 - result * result),
    "MatMul": np.matmul,
    "ReduceSum": _sum,
    "Where": np.where,
    # The results of these operators do not depend on anything that has a slope.
    "Constant": lambda *, value_float: np.array(value_float),
    "Equal": lambda a, b: np.asarray(a == b),
    "Size": lambda data: np.asarray(data.size),
    "CastLike": lambda number, _: number,
}
"""The meaning of operators for numbers with slopes: the operators of ai.onnx that differentiable cases need."""


def leaves(nodes: Iterable[Call], name: str, stops: set[str]) -> Iterator[str]:
    """Yield every name that a value depends on: stops, and otherwise names that no node outputs."""
    maker = next((node for node in nodes if name in node.outputs), None)
    if name in stops or maker is None:
        yield name
        return
    for input_name in maker.inputs:
        yield from leaves(nodes, input_name, stops)


def evaluate(nodes: Sequence[Call], name: str, values: dict[str, Array]) -> Array:
    """Return the value of a name. `values` contains the values of variables, and computed values are added to it.

    Raises:
        NotImplementedError: the derivative of an operator is not implemented.
    """
    if name not in values:
        node = next(node for node in nodes if name in node.outputs)
        inputs = [evaluate(nodes, input_name, values) for input_name in node.inputs]
        operator = node.operator.removeprefix("ai.onnx/")
        if operator == str(GRADIENT):
            attributes = node.attributes
            named = dict(zip([*attributes["xs"], *attributes.get("zs", [])], inputs, strict=True))
            results = [partial(nodes, attributes["y"], x, named) for x in attributes["xs"]]
        elif operator in MEANINGS:
            results = [MEANINGS[operator](*inputs, **node.attributes)]
        else:
            raise NotImplementedError(
                f"nothing says how {node.operator} is differentiated: see MEANINGS in operators/training/gradient.py"
            )
        values.update(zip(node.outputs, map(np.asarray, results), strict=False))
    return values[name]


def partial(nodes: Sequence[Call], y: str, x: str, values: Mapping[str, Array]) -> Array:
    """Return the partial derivatives of the one element of `y` with respect to each element of `x`, in the shape of x.

    Args:
        nodes: the nodes of the graph.
        y: the name of the result.
        x: the name of the variable.
        values: the values of x and of all other names that y depends on.
    """
    shape = np.shape(values[x])
    slopes = np.empty(shape, object)
    for place in np.ndindex(shape):
        seeded = {name: _lifted(value, place if name == x else None) for name, value in values.items()}
        slopes[place] = _dual(np.asarray(evaluate(nodes, y, seeded), object).item()).slope
    return slopes


def _lifted(value: Array, place: tuple[int, ...] | None) -> Array:
    """Return numbers with a slope of 0, or of 1 at one position. Other values are returned unchanged."""
    flat = [item if isinstance(item, Dual) else float(item) for item in value.flat] if _numbers(value) else None
    if flat is None:
        return value
    lifted = np.empty(len(flat), object)
    lifted[:] = [Dual(item, 0.0) for item in flat]
    lifted = lifted.reshape(value.shape)
    if place is not None:
        lifted[place] = Dual(lifted[place].value, 1.0)
    return lifted


def _numbers(value: Array) -> bool:
    """Return whether these numbers can have slopes: floating-point numbers, or numbers with slopes."""
    return value.dtype.kind == "f" or (value.dtype.kind == "O" and any(isinstance(x, Dual) for x in value.flat))


@GRADIENT.oracle()
def gradient(
    v: Version, nodes: list[Call], n: int, Inputs: list[Array], y: str, xs: list[str], zs: list[str] | None
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
    v.silent(DERIVATIVES, evaluate(nodes, y, dict(values)).size != 1)
    return [np.asarray(partial(nodes, y, x, values), np.float64) for x in xs]


def case(
    name: str,
    *tags: Tag,
    beside: str,
    xs: tuple[str, ...],
    zs: tuple[str, ...] = (),
    y: str = "Y",
    around: Mapping[str, Any] | None = None,
    **words: Any,  # noqa: ANN401 - see Op.case
) -> None:
    """Declare a case. By default the inputs are the variables, with their values in the outer graph.

    Args:
        name: the name of the case.
        tags: the tags of the case.
        beside: the graph to differentiate.
        xs: the variables in `xs`.
        zs: the variables in `zs`.
        y: the name in `y`.
        around: the values of names that no node of `beside` outputs. A, B, C and D have default values.
        words: other arguments of `Op.case`.
    """
    values = {"A": 3.0, "B": -2.0, "C": 0.5, "D": 4.0, **(around or {})}
    words = {"Inputs": tuple(map(value_of, xs + zs)), "n": len(xs), **words}
    if zs:
        words["zs"] = list(zs)
    used = {key: value for key, value in values.items() if key in beside}
    GRADIENT.case(name, *tags, beside=beside, around=used, xs=list(xs), y=y, **words)


PRODUCT = "S = Add (A, B) Y = Mul (S, A)"
case("sum", beside="Y = Add (A, B)", xs=("A", "B"), cites=(DERIVATIVES, FUNCTION, ITH_INPUT))
case("sum_times", beside=PRODUCT, xs=("A", "B"), cites=ITH_OUTPUT)
case("other_order", beside=PRODUCT, xs=("B", "A"), cites=(ITH_INPUT, ITH_OUTPUT))
case("inner", beside=PRODUCT, xs=("A", "B"), y="S", cites=FUNCTION)
case("one", beside=PRODUCT, xs=("A",), zs=("B",), cites=(ONLY_XS, NECESSARY_XS, NECESSARY_ZS))
case("other_one", beside=PRODUCT, xs=("B",), zs=("A",), cites=ONLY_XS)
case("twice", Tag.EDGE, beside="Y = Mul (A, A)", xs=("A",), cites=MINIMAL)
case("one_left_out", Tag.EDGE, beside=PRODUCT, xs=("A", "B"), n=1, cites=OPTIONAL)
case("first_skipped", Tag.EDGE, beside=PRODUCT, xs=("A", "B"), omits=("Outputs_0",), cites=SKIP)
case("quotient", beside="Y = Div (A, D)", xs=("A", "D"), cites=DERIVATIVES)
case("difference", beside="Y = Sub (A, B)", xs=("A", "B"), cites=DERIVATIVES)
case("functions", beside="E = Exp (C) Q = Sqrt (D) P = Mul (E, Q) Y = Log (P)", xs=("C", "D"), cites=DERIVATIVES)
case("tanh", beside="P = Mul (C, D) T = Tanh (C) Y = Add (T, P)", xs=("C", "D"), cites=DERIVATIVES)
case("constant", beside="K = Constant <value_float: float = 3.0> () Y = Mul (A, K)", xs=("A",), cites=MINIMAL)
case("does_not_change", Tag.EDGE, beside="Z = Sub (A, A) Y = Mul (Z, B)", xs=("A", "B"), cites=DERIVATIVES)
GRADIENT.case(
    "zs_of_none",
    Tag.EDGE,
    beside=PRODUCT,
    around={"A": 3.0, "B": -2.0},
    Inputs=(value_of("A"), value_of("B")),
    xs=["A", "B"],
    zs=[],
    y="Y",
    n=2,
    cites=MINIMAL,
)

# Tensors of several elements
MATRICES = {"W": [[1, -2, 3], [4, 0.5, -6]], "X": [[2, -1], [3, 5], [-4, 7]]}
SUM_OF_PRODUCT = "P = MatMul (W, X) Y = ReduceSum <keepdims: int = 0> (P)"
case("matrices", beside=SUM_OF_PRODUCT, xs=("W", "X"), around=MATRICES, cites=DERIVATIVES)
case("matrices_one", beside=SUM_OF_PRODUCT, xs=("W",), zs=("X",), around=MATRICES, cites=ONLY_XS)
case(
    "one_element",
    Tag.EDGE,
    beside="P = MatMul (W, X) Y = ReduceSum (P)",
    xs=("W", "X"),
    around=MATRICES,
    cites=DERIVATIVES,
)
case(
    "broadcast",
    beside="P = Mul (W, A) Y = ReduceSum <keepdims: int = 0> (P)",
    xs=("A", "W"),
    around=MATRICES,
    cites=DERIVATIVES,
)
case(
    "broadcast_rows",
    beside="P = Mul (W, B) Y = ReduceSum <keepdims: int = 0> (P)",
    xs=("B", "W"),
    around={**MATRICES, "B": [2, -3, 5]},
    cites=DERIVATIVES,
)
case(
    "sums_of_rows",
    beside="S = ReduceSum <keepdims: int = 0> (W, N) P = Mul (S, S) Y = ReduceSum <keepdims: int = 0> (P)",
    xs=("W",),
    zs=("N",),
    around={"W": MATRICES["W"], "N": typed("int64", [1])},
    cites=DERIVATIVES,
)
case(
    "zero_size",
    Tag.EDGE,
    beside="P = Identity (W) Y = ReduceSum <keepdims: int = 0> (P)",
    xs=("W",),
    around={"W": np.zeros((0, 3))},
    cites=DERIVATIVES,
)
case(
    "rank5",
    Tag.EDGE,
    beside="P = Mul (W, W) Y = ReduceSum <keepdims: int = 0> (P)",
    xs=("W",),
    around={"W": ramp(1, 2, 1, 3, 2)},
    cites=DERIVATIVES,
)
for name, data in (("y_of_several", [1.0, 2.0, 5.0]), ("y_of_none", np.zeros(0))):
    case(name, Tag.EDGE, beside="Y = Mul (W, A)", xs=("W", "A"), around={"W": data}, unspecified=DERIVATIVES)

# With respect to the outputs of nodes, at values other than those of the graph, and twice
LINEAR = "H = Mul (W, X) Y = Mul (H, A)"
SCALARS = {"W": 5.0, "X": 7.0}
case("intermediate", beside=LINEAR, xs=("H", "A"), around=SCALARS, cites=(INTERMEDIATE, VALUES))
case(
    "intermediate_fed",
    beside=LINEAR,
    xs=("H", "A"),
    around=SCALARS,
    Inputs=(typed("float", 11), value_of("A")),
    cites=(FEED, VALUES),
)
case("all_fed", beside=PRODUCT, xs=("A", "B"), Inputs=(typed("float", 11), typed("float", -13)), cites=FEED)
case(
    "second_order",
    beside="""
        Q = Mul (A, A)
        P = Mul (Q, A)
        Y = Mul (P, B)
        F = ai.onnx.preview.training.Gradient <xs: strings = ["A", "B"], y: string = "Y"> (A, B)
    """,
    xs=("A", "B"),
    y="F",
    cites=HIGH_ORDER,
)
case(
    "third_order",
    beside="""
        Q = Mul (A, A)
        P = Mul (Q, A)
        Y = Mul (P, B)
        F = ai.onnx.preview.training.Gradient <xs: strings = ["A", "B"], y: string = "Y"> (A, B)
        G = ai.onnx.preview.training.Gradient <xs: strings = ["A", "B"], y: string = "F"> (A, B)
    """,
    xs=("A", "B"),
    y="G",
    cites=HIGH_ORDER,
)
case(
    "second_order_mixed",
    beside="""
        P = Mul (C, D)
        E = Exp (P)
        Y = Mul (E, C)
        F = ai.onnx.preview.training.Gradient <xs: strings = ["C"], zs: strings = ["D"], y: string = "Y"> (C, D)
    """,
    xs=("C", "D"),
    y="F",
    cites=HIGH_ORDER,
)

# Types
case(
    "dtypes",
    Tag.DTYPE,
    each="T2",
    beside=PRODUCT,
    xs=("A", "B"),
    around={"A": typed("{T2}", 3), "B": typed("{T2}", -2)},
    cites=FLOATS,
)
case(
    "zs_dtypes",
    Tag.DTYPE,
    each="T1",
    beside="N = Size (L) M = CastLike (N, A) Q = Mul (A, A) Y = Mul (Q, M)",
    xs=("A",),
    zs=("L",),
    around={"L": typed("{T1}", ramp(2, 3))},
    cites=ANY,
)
case(
    "zs_strings",
    Tag.DTYPE,
    beside="M = Equal (L, H) P = Where (M, W, X) Y = ReduceSum <keepdims: int = 0> (P)",
    xs=("W", "X"),
    zs=("L", "H"),
    around={
        "L": typed("string", ["a", "b", "ä"]),
        "H": typed("string", ["a", "", "ä"]),
        "W": [1, 2, 3],
        "X": [4, 5, 6],
    },
    cites=ANY,
)
case(
    "of_integers",
    Tag.DTYPE,
    beside=PRODUCT,
    xs=("A", "B"),
    around={"A": typed("int64", 3), "B": typed("int64", -2)},
    rejects=FLOATS,
)

# Models that sentences forbid
case(
    "inputs",
    beside=PRODUCT,
    xs=("A", "B"),
    Inputs=vary(too_many=(value_of("A"), value_of("B"), value_of("A")), too_few=(value_of("A"),)),
    rejects=ITH_INPUT,
)
case("too_many_outputs", beside=PRODUCT, xs=("A",), zs=("B",), n=2, rejects=ITH_OUTPUT)
case("not_determined", beside=PRODUCT, xs=("A",), rejects=MINIMAL)
case("not_minimal", beside=f"{PRODUCT} Z = Mul (C, C)", xs=("A", "B", "C"), rejects=MINIMAL)
case("not_minimal_zs", beside=f"{PRODUCT} Z = Mul (C, C)", xs=("A", "B"), zs=("C",), rejects=MINIMAL)
case("no_such_y", beside=PRODUCT, xs=("A", "B"), y="Z", rejects=MINIMAL)
case("intermediate_in_xs", beside=LINEAR, xs=("W", "H", "X", "A"), around=SCALARS, rejects=GENERATED, cites=NOT_BOTH)
case(
    "intermediate_in_zs",
    beside=LINEAR,
    xs=("W", "X", "A"),
    zs=("H",),
    around=SCALARS,
    rejects=GENERATED,
    cites=NOT_BOTH,
)
