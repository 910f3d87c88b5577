"""Adam: one step of gradient descent with averages of the gradient and of its square.

Versions: 1 of ai.onnx.preview.training.
"""

# ruff: noqa: N803, N806 - the names of the text's pseudo code
from __future__ import annotations

from typing import Any

import numpy as np

from harness.declare import Array, Op, Rule, Tag, Version, bounded, ramp, typed
from harness.declare.families.broadcasting import have_one_shape

ROUNDINGS = 12
"""Operations that one element of X_final goes through, the learning rate's left aside."""


def _rate(R: Array, T: Array, alpha: float, beta: float) -> Array:
    return np.asarray(R * np.sqrt(1 - beta ** float(T)) / (1 - alpha ** float(T)) if T > 0 else R)


def _step(
    X: Array, G: Array, V: Array, H: Array, *, rate: Array, given: dict[str, float]
) -> tuple[Array, Array, Array]:
    """Return X_final, V_new and H_new as the pseudo code has them."""
    alpha, beta = given["alpha"], given["beta"]
    G_regularized = given["norm_coefficient"] * X + G
    V_new = alpha * V + (1 - alpha) * G_regularized
    H_new = beta * H + (1 - beta) * G_regularized * G_regularized
    H_sqrt = np.sqrt(H_new) + given["epsilon"]
    X_new = X - rate * V_new / H_sqrt
    return np.asarray((1 - given["norm_coefficient_post"]) * X_new), np.asarray(V_new), np.asarray(H_new)


def _rounding(
    *, R: Array, T: Array, inputs: list[Array], alpha: float, beta: float, norm_coefficient: float,
    norm_coefficient_post: float, epsilon: float,
) -> list[Array]:  # fmt: skip
    """Return half a rounding of all magnitudes for each operation; 1 less a power loses what the power rounds by."""
    k, lost = len(inputs) // 4, 0.0
    if T > 0:
        lost = sum(base ** float(T) / (1 - base ** float(T)) for base in (alpha, beta) if 0 < base < 1)
    rate, found = np.abs(_rate(R, T, alpha, beta)), []
    for place in range(k):
        X, G, V, H = inputs[place::k]
        terms = abs(norm_coefficient) * np.abs(X) + np.abs(G)
        V_new = abs(alpha) * np.abs(V) + abs(1 - alpha) * terms
        H_new = abs(beta) * np.abs(H) + abs(1 - beta) * terms * terms
        regularized = norm_coefficient * X + G
        # The square root is of what the oracle has; it takes half the relative error of a sum of squares.
        H_sqrt = np.sqrt(np.abs(beta * H + (1 - beta) * regularized * regularized))
        slope = np.divide(H_new, H_sqrt * H_sqrt, where=H_sqrt > 0, out=np.ones(np.shape(H_new)))
        moved = rate * V_new / (H_sqrt + epsilon) * (slope + lost)
        found.append((abs(1 - norm_coefficient_post) * (np.abs(X) + moved), V_new, H_new))
    return [every[which] * ROUNDINGS / 2 for which in range(3) for every in found]


ADAM = Op(
    "Adam",
    versions=(1,),
    compare=bounded(_rounding, "a dozen roundings of all terms, and what the powers in the learning rate lose"),
    domain="ai.onnx.preview.training",
)
ADAM.excuse("input inputs one", "a tensor comes with its gradient and the averages of that and of its square")
ADAM.excuse("output outputs one", "a tensor's new value comes with two new averages")

said = ADAM.clause
ONLY = said('Assume that only a tensor "X" is being optimized.')
REST = said('The rest of required information is - the value of "X", - "X"\'s gradient (denoted by "G"),')
NUMPY = said(
    'Let "+", "-", "*", and "/" are all element-wise arithmetic operations with numpy-style broadcasting support.'
)
REGULARIZED = said("G_regularized = norm_coefficient * X + G")
V_NEW = said("V_new = alpha * V + (1 - alpha) * G_regularized")
H_NEW = said("H_new = beta * H + (1 - beta) * G_regularized * G_regularized")
H_SQRT = said("H_sqrt = Sqrt(H_new) + epsilon")
RATE = said(
    "R_adjusted = T > 0 ? R * Sqrt(1 - beta**T) / (1 - alpha**T) : R",
    note="The powers lose digits where T is small: the bound allows for it.",
)
X_NEW = said("X_new = X - R_adjusted * V_new / H_sqrt")
X_FINAL = said("X_final = (1 - norm_coefficient_post) * X_new")
EACH = said("the pseudo code will be applied independently to each of them.")
EPSILON = said("Small scalar to avoid dividing by zero.")
POST_ZERO = said("Default to 0, which means no regularization.")
BETA = said("Coefficient of previously accumulated squared-gradient in running average. Default to 0.999.")
ALPHA = said("Coefficient of previously accumulated gradient in running average. Default to 0.9.")
INITIAL = said("The initial learning rate.")
T_SCALAR = said('The update count of "X". It should be a scalar.')
INPUTS = said(
    "The tensors to be optimized, followed by their respective gradients, followed by their respective accumulated "
    "gradients (aka momentum), followed by their respective accumulated squared gradients."
)
OUTPUTS = said(
    "New values of optimized tensors, followed by their respective new accumulated gradients, followed by their "
    "respective new accumulated squared gradients."
)
R_SCALAR = said("Constrain input types to float scalars.")
FLOATS = said("Constrain input and output types to float tensors.")


@ADAM.oracle()
def stepped(
    v: Version, n: int, R: Array, T: Array, inputs: list[Array], alpha: float, beta: float, epsilon: float,
    norm_coefficient: float, norm_coefficient_post: float,
) -> list[Array]:  # fmt: skip
    """Return the new values of all tensors, then their averages of gradients, then those of the squares."""
    v.require(T_SCALAR, T.ndim == 0)
    v.require(R_SCALAR, R.ndim == 0)
    k, rest = divmod(len(inputs), 4)
    v.require(INPUTS, rest == 0)
    v.require(OUTPUTS, n == 3 * k)
    for place in range(k):
        v.require(NUMPY, have_one_shape(*inputs[place::k]))
    given = {"alpha": alpha, "beta": beta, "epsilon": epsilon}
    given |= {"norm_coefficient": norm_coefficient, "norm_coefficient_post": norm_coefficient_post}
    with np.errstate(all="ignore"):
        rate = _rate(R, T, alpha, beta)
        found = [_step(*inputs[place::k], rate=rate, given=given) for place in range(k)]
    return [every[which] for which in range(3) for every in found]


X, G, V, H = (np.array(item) for item in ([1.2, 2.8, -0.5], [-0.94, -2.5, 3], [1.7, 3.6, -0.1], [0.1, 0.2, 2.5]))
Y, F, W = (np.arange(6.0).reshape(2, 3) * scale - 1 for scale in (0.7, -0.3, 1.1))
Q = np.arange(6.0).reshape(2, 3) + 0.5


def case(name: str, *tags: Tag, **declared: Any) -> None:  # noqa: ANN401 - whatever a case takes
    """Declare a case; what is left out is that of one tensor in some later iteration."""
    wanted = {"R": 0.1, "T": 3, "inputs": (X, G, V, H), "n": 3, **declared}
    ADAM.case(name, *tags, **{key: value for key, value in wanted.items() if value is not None})


WHOLE: dict[str, Any] = {"alpha": 0.95, "beta": 0.1, "epsilon": 1e-2, "norm_coefficient": 0.001}
WHOLE["norm_coefficient_post"] = 0.2
case("defaults", cites=(ONLY, REST, ALPHA, BETA, POST_ZERO, V_NEW, H_NEW, X_NEW, EPSILON))
case("everything_set", **WHOLE, cites=(REGULARIZED, V_NEW, H_NEW, H_SQRT, RATE, X_NEW, X_FINAL))
for name, count in {"zero": 0, "one": 1, "two": 2, "many": 1000, "beyond_int32": 2**40, "negative": -1}.items():
    case(f"count_{name}", T=count, cites=(RATE, INITIAL))
    case(f"count_{name}_set", T=count, **WHOLE, cites=(RATE, INITIAL))
SINGLE = {"alpha": [0.0, 0.5], "beta": [0.0, 0.25], "epsilon": [0.0, 10.0], "norm_coefficient": [3.0, -0.5]}
SINGLE["norm_coefficient_post"] = [1.0, -0.5]
for name, numbers in SINGLE.items():
    for place, number in enumerate(numbers):
        case(f"{name}_{place}", Tag.EDGE, **{name: number}, cites=(V_NEW, H_NEW, H_SQRT, X_FINAL))
case("two", inputs=(X, Y, G, F, V, W, H, Q), n=6, cites=(INPUTS, OUTPUTS, EACH))
several = (X, Y, 5, G, F, 7, V, W, -2, H, Q, 0.5)
case("three", inputs=several, n=9, T=0, **WHOLE, cites=(INPUTS, OUTPUTS, EACH))
for name, rate in {"zero": 0, "negative": -2}.items():
    case(f"rate_{name}", Tag.EDGE, R=rate, cites=(X_NEW,))
case("nothing_accumulated", Tag.EDGE, inputs=(X, G, [0, 0, 0], [0, 0, 0]), T=1, cites=(RATE, H_SQRT))
case("nothing_at_all", Tag.EDGE, inputs=([0, 0], [0, 0], [0, 0], [0, 0]), cites=(EPSILON,))
case("scalars", Tag.EDGE, inputs=(3, -2, 0.5, 2), cites=(NUMPY,))
case("matrix", inputs=(Y, F, W, Q), **WHOLE, cites=(NUMPY,))
empty = ramp(2, 0)
case("zero_size", Tag.EDGE, inputs=(empty, empty, empty, empty), cites=(NUMPY,))
case("gradient_broadcast", Tag.EDGE, inputs=(Y, G, W, Q), cites=(NUMPY,))
case("average_broadcast", Tag.EDGE, inputs=(Y, F, 0.5, Q), cites=(NUMPY,))
case("value_broadcast", Tag.EDGE, inputs=(X, F, W, Q), cites=(NUMPY,))
case("nan", Tag.EDGE, inputs=([np.nan, 1, 1], [1, np.nan, 1], [1, 1, np.nan], [1, 2, 3]), cites=(X_NEW,))
case("dtypes", Tag.DTYPE, each="T3", R=typed("{T3}", 0.1), cites=(FLOATS,))
case("dtypes_set", Tag.DTYPE, each="T3", R=typed("{T3}", 0.1), **WHOLE, cites=(FLOATS,))
case("rate_dtypes", Tag.DTYPE, each="T1", cites=(R_SCALAR,))
doubles = tuple(typed("double", item) for item in (X, G, V, H))
case("doubles", Tag.DTYPE, R=typed("double", 0.1), inputs=doubles, **WHOLE, cites=(FLOATS,))

case("count_vector", Tag.EDGE, T=[3], rejects=T_SCALAR)
case("rate_vector", Tag.EDGE, R=[0.1], rejects=R_SCALAR)
for name, inputs in {"three": (X, G, V), "five": (X, G, V, H, H), "two": (X, G)}.items():
    case(f"inputs_{name}", inputs=inputs, rejects=INPUTS)
for n in (1, 2, 4):
    case(f"outputs_{n}", n=n, rejects=OUTPUTS)
case("shapes_mismatch", Tag.EDGE, inputs=(X, [1, 2], V, H), rejects=NUMPY)
case("no_inputs", inputs=(), rejects=Rule.ARITY)
case("no_rate", R=None, rejects=Rule.ARITY)
for variable in ("T1", "T2", "T3"):
    case(f"outside_{variable.lower()}", Tag.DTYPE, outside=variable, rejects=Rule.TYPES)
case("attribute_mode", stray={"mode": "standard"}, rejects=Rule.ATTRIBUTES)
