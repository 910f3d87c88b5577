# SPDX-License-Identifier: Apache-2.0
"""Adam: one step of gradient descent with averages of the gradient and of its square.

    outputs = Adam(R, T, *inputs, alpha=0.9, beta=0.999, epsilon=1e-6, norm_coefficient=0, norm_coefficient_post=0)

Version: 1 of ai.onnx.preview.training.
"""

# ruff: noqa: N806 - the names of the text's pseudo code

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, bounded, ramp, typed, vary
from onnx_conformance.declare.families.broadcasting import have_one_shape
from onnx_conformance.operators.training._sizes import sized

ROUNDINGS = 12
"""The number of operations that lead to one element of X_final, without those of the learning rate."""


def _adjusted(R: Array, T: Array, alpha: float, beta: float) -> Array:
    """Return R_adjusted."""
    return np.asarray(R * np.sqrt(1 - beta ** T.item()) / (1 - alpha ** T.item()) if T > 0 else R)


def _step(
    X: Array,
    G: Array,
    V: Array,
    H: Array,
    *,
    R_adjusted: Array,
    alpha: float,
    beta: float,
    epsilon: float,
    norm_coefficient: float,
    norm_coefficient_post: float,
) -> tuple[Array, Array, Array]:
    """Return X_final, V_new and H_new as in the pseudo code."""
    G_regularized = norm_coefficient * X + G
    V_new = alpha * V + (1 - alpha) * G_regularized
    H_new = beta * H + (1 - beta) * G_regularized * G_regularized
    H_sqrt = np.sqrt(H_new) + epsilon
    X_new = X - R_adjusted * V_new / H_sqrt
    X_final = (1 - norm_coefficient_post) * X_new
    return np.asarray(X_final), np.asarray(V_new), np.asarray(H_new)


def _rounding(
    *,
    R: Array,
    T: Array,
    inputs: list[Array],
    alpha: float,
    beta: float,
    epsilon: float,
    norm_coefficient: float,
    norm_coefficient_post: float,
) -> list[Array]:
    """Return half a rounding of all magnitudes for each operation.

    The difference of 1 and a power also loses the rounding error of the power.
    """
    k, lost = len(inputs) // 4, 0.0
    if T > 0:
        lost = sum(base ** T.item() / (1 - base ** T.item()) for base in (alpha, beta) if 0 < base < 1)
    rate = np.abs(_adjusted(R, T, alpha, beta))
    bounds = []
    for place in range(k):
        X, G, V, H = inputs[place::k]
        terms = abs(norm_coefficient) * np.abs(X) + np.abs(G)
        V_new = abs(alpha) * np.abs(V) + abs(1 - alpha) * terms
        H_new = abs(beta) * np.abs(H) + abs(1 - beta) * terms * terms
        regularized = norm_coefficient * X + G
        # This is the square root of the oracle's H_new. It has half the relative error of the sum of squares.
        H_sqrt = np.sqrt(np.abs(beta * H + (1 - beta) * regularized * regularized))
        slope = np.divide(H_new, H_sqrt * H_sqrt, where=H_sqrt > 0, out=np.ones(np.shape(H_new)))
        moved = rate * V_new / (H_sqrt + epsilon) * (slope + lost)
        bounds.append((abs(1 - norm_coefficient_post) * (np.abs(X) + moved), V_new, H_new))
    return [of_tensor[which] * ROUNDINGS / 2 for which in range(3) for of_tensor in bounds]


ADAM = Op(
    "Adam",
    versions=(1,),
    compare=bounded(_rounding, "a dozen roundings of all terms, and the errors of the powers in the learning rate"),
    domain="ai.onnx.preview.training",
)
ADAM.excuse("input inputs one", "a tensor comes with its gradient and the averages of that and of its square")
ADAM.excuse("output outputs one", "a tensor's new value comes with two new averages")


ONLY = ADAM.clause('Assume that only a tensor "X" is being optimized.')
REST = ADAM.clause('The rest of required information is - the value of "X", - "X"\'s gradient (denoted by "G"),')
NUMPY = ADAM.clause(
    'Let "+", "-", "*", and "/" are all element-wise arithmetic operations with numpy-style broadcasting support.',
    note="Therefore a gradient of another shape is broadcast. The text does not define whether a tensor or an average "
    "may be broadcast: the new value would have another shape, but the schema infers that it keeps its shape.",
)
REGULARIZED = ADAM.clause("G_regularized = norm_coefficient * X + G")
V_NEW = ADAM.clause("V_new = alpha * V + (1 - alpha) * G_regularized")
H_NEW = ADAM.clause("H_new = beta * H + (1 - beta) * G_regularized * G_regularized")
H_SQRT = ADAM.clause("H_sqrt = Sqrt(H_new) + epsilon")
RATE = ADAM.clause(
    "R_adjusted = T > 0 ? R * Sqrt(1 - beta**T) / (1 - alpha**T) : R",
    note="The powers lose digits if T is small. The tolerance allows this.",
)
X_NEW = ADAM.clause("X_new = X - R_adjusted * V_new / H_sqrt")
X_FINAL = ADAM.clause("X_final = (1 - norm_coefficient_post) * X_new")
EACH = ADAM.clause("the pseudo code will be applied independently to each of them.")
EPSILON = ADAM.clause("Small scalar to avoid dividing by zero.")
POST_ZERO = ADAM.clause("Default to 0, which means no regularization.")
BETA = ADAM.clause("Coefficient of previously accumulated squared-gradient in running average. Default to 0.999.")
ALPHA = ADAM.clause("Coefficient of previously accumulated gradient in running average. Default to 0.9.")
INITIAL = ADAM.clause("The initial learning rate.")
T_SCALAR = ADAM.clause('The update count of "X". It should be a scalar.')
INPUTS = ADAM.clause(
    "The tensors to be optimized, followed by their respective gradients, followed by their respective accumulated "
    "gradients (aka momentum), followed by their respective accumulated squared gradients."
)
OUTPUTS = ADAM.clause(
    "New values of optimized tensors, followed by their respective new accumulated gradients, followed by their "
    "respective new accumulated squared gradients."
)
R_SCALAR = ADAM.clause("Constrain input types to float scalars.")
FLOATS = ADAM.clause("Constrain input and output types to float tensors.")


@ADAM.oracle()
def stepped(
    v: Version,
    n: int,
    R: Array,
    T: Array,
    inputs: list[Array],
    alpha: float,
    beta: float,
    epsilon: float,
    norm_coefficient: float,
    norm_coefficient_post: float,
) -> list[Array]:
    """Return the new values of all tensors, then their averages of gradients, then those of the squares."""
    R, T = v.scalar(R_SCALAR, R), v.scalar(T_SCALAR, T)
    k, rest = divmod(len(inputs), 4)
    v.require(INPUTS, rest == 0)
    v.require(OUTPUTS, n == 3 * k)
    steps = []
    for place in range(k):
        of_tensor = inputs[place::k]
        v.require(NUMPY, have_one_shape(*of_tensor))
        with np.errstate(all="ignore"):
            step = _step(
                *of_tensor,
                R_adjusted=_adjusted(R, T, alpha, beta),
                alpha=alpha,
                beta=beta,
                epsilon=epsilon,
                norm_coefficient=norm_coefficient,
                norm_coefficient_post=norm_coefficient_post,
            )
        updated = (of_tensor[0], *of_tensor[2:])
        v.silent(NUMPY, [new.shape for new in step] != [old.shape for old in updated])
        steps.append(step)
    return [step[which] for which in range(3) for step in steps]


X, G, V, H = (np.array(item) for item in ([1.2, 2.8, -0.5], [-0.94, -2.5, 3], [1.7, 3.6, -0.1], [0.1, 0.2, 2.5]))
Y, F, W = (np.arange(6.0).reshape(2, 3) * scale - 1 for scale in (0.7, -0.3, 1.1))
Q = np.arange(6.0).reshape(2, 3) + 0.5
"""A vector with its gradient and the averages of the gradient and of its square.

Y is a matrix with F, W and Q in the same roles.
"""
SET: dict[str, Any] = {
    "alpha": 0.95,
    "beta": 0.1,
    "epsilon": 1e-2,
    "norm_coefficient": 0.001,
    "norm_coefficient_post": 0.2,
}
"""All attributes, with values other than the default."""
ADAM.example(R=0.1, T=3, inputs=(Y, F, W, Q), n=3, **SET)


def case(
    name: str,
    *tags: Tag,
    R: Any = 0.1,  # noqa: ANN401 - any value of an input
    T: Any = 3,  # noqa: ANN401
    inputs: Any = (X, G, V, H),  # noqa: ANN401
    n: int = 3,
    **words: Any,  # noqa: ANN401 - see Op.case
) -> None:
    """Declare a case. Without arguments it is a step of one vector in a later iteration."""
    ADAM.case(name, *tags, R=R, T=T, inputs=inputs, n=n, **words)


case("defaults", cites=(ONLY, REST, ALPHA, BETA, POST_ZERO, V_NEW, H_NEW, X_NEW, EPSILON))
case("everything_set", **SET, cites=(REGULARIZED, V_NEW, H_NEW, H_SQRT, RATE, X_NEW, X_FINAL))
COUNTS = vary(zero=0, one=1, two=2, many=1000, beyond_int32=2**40, negative=-1)
case("count", T=COUNTS, cites=(RATE, INITIAL))
case("count_set", T=COUNTS, **SET, cites=(RATE, INITIAL))
case("alpha", Tag.EDGE, alpha=vary(zero=0.0, half=0.5), cites=V_NEW)
case("beta", Tag.EDGE, beta=vary(zero=0.0, quarter=0.25), cites=H_NEW)
case("epsilon", Tag.EDGE, epsilon=vary(zero=0.0, ten=10.0), cites=H_SQRT)
case("norm_coefficient", Tag.EDGE, norm_coefficient=vary(three=3.0, negative=-0.5), cites=REGULARIZED)
case("norm_coefficient_post", Tag.EDGE, norm_coefficient_post=vary(one=1.0, negative=-0.5), cites=X_FINAL)
case("two", inputs=(X, Y, G, F, V, W, H, Q), n=6, cites=(INPUTS, OUTPUTS, EACH))
case("three", inputs=(X, Y, 5, G, F, 7, V, W, -2, H, Q, 0.5), n=9, T=0, **SET, cites=(INPUTS, OUTPUTS, EACH))
case("rate", Tag.EDGE, R=vary(zero=0, negative=-2), cites=X_NEW)
case("nothing_accumulated", Tag.EDGE, inputs=(X, G, [0, 0, 0], [0, 0, 0]), T=1, cites=(RATE, H_SQRT))
case("nothing_at_all", Tag.EDGE, inputs=([0, 0], [0, 0], [0, 0], [0, 0]), cites=EPSILON)
case("scalars", Tag.EDGE, inputs=(3, -2, 0.5, 2), cites=NUMPY)
case("matrix", inputs=(Y, F, W, Q), **SET, cites=NUMPY)
case("zero_size", Tag.EDGE, inputs=(ramp(2, 0), ramp(2, 0), ramp(2, 0), ramp(2, 0)), cites=NUMPY)
case("gradient_broadcast", Tag.EDGE, inputs=(Y, G, W, Q), cites=NUMPY)
case("gradient_scalar", Tag.EDGE, inputs=(Y, -2, W, Q), **SET, cites=NUMPY)
case("average_broadcast", Tag.EDGE, inputs=(Y, F, 0.5, Q), unspecified=NUMPY)
case("value_broadcast", Tag.EDGE, inputs=(X, F, W, Q), unspecified=NUMPY)
case("nan", Tag.EDGE, inputs=([np.nan, 1, 1], [1, np.nan, 1], [1, 1, np.nan], [1, 2, 3]), cites=X_NEW)
case("dtypes", Tag.DTYPE, each="T3", R=typed("{T3}", 0.1), cites=FLOATS)
case("dtypes_set", Tag.DTYPE, each="T3", R=typed("{T3}", 0.1), **SET, cites=FLOATS)

case("count_vector", Tag.EDGE, T=[3], cites=T_SCALAR)
case("rate_vector", Tag.EDGE, R=[0.1], cites=R_SCALAR)
case("count_of_two", Tag.EDGE, T=[3, 3], rejects=T_SCALAR)
case("rate_of_two", Tag.EDGE, R=[0.1, 0.1], rejects=R_SCALAR)
case("inputs", inputs=vary(three=(X, G, V), five=(X, G, V, H, H), two=(X, G)), rejects=INPUTS)
for n in (1, 2, 4):
    case(f"outputs_{n}", n=n, rejects=OUTPUTS)
case("shapes_mismatch", Tag.EDGE, inputs=(X, [1, 2], V, H), rejects=NUMPY)
case("shapes_mismatch_in_rows", Tag.EDGE, inputs=(Y, ramp(4, 3), W, Q), rejects=NUMPY)

sized(ADAM, 4, (V_NEW, H_NEW, X_FINAL), SET)
