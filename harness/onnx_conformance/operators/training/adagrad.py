# SPDX-License-Identifier: Apache-2.0
"""Adagrad: one step of gradient descent. The larger the sum of the squares of gradients, the shorter the step.

    outputs = Adagrad(R, T, *inputs, decay_factor=0, epsilon=1e-6, norm_coefficient=0)

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
"""The number of operations that lead to one element of X_new."""


def _rate(R: Array, T: Array, decay_factor: float) -> Array:
    """Return r."""
    return np.asarray(R / (1 + T * decay_factor))


def _step(X: Array, G: Array, H: Array, *, r: Array, epsilon: float, norm_coefficient: float) -> tuple[Array, Array]:
    """Return X_new and H_new as in the pseudo code."""
    G_regularized = norm_coefficient * X + G
    H_new = H + G_regularized * G_regularized
    H_adaptive = np.sqrt(H_new) + epsilon
    X_new = X - r * G_regularized / H_adaptive
    return np.asarray(X_new), np.asarray(H_new)


def _rounding(
    *, R: Array, T: Array, inputs: list[Array], decay_factor: float, epsilon: float, norm_coefficient: float
) -> list[Array]:
    """Return half a rounding of all magnitudes for each operation."""
    k, decayed = len(inputs) // 3, T * decay_factor
    # A sum of 1 and a negative number loses precision.
    rate = np.abs(_rate(R, T, decay_factor)) * (1 + np.abs(decayed)) / np.abs(1 + decayed)
    bounds = []
    for place in range(k):
        X, G, H = inputs[place::k]
        terms, regularized = abs(norm_coefficient) * np.abs(X) + np.abs(G), norm_coefficient * X + G
        H_new = np.abs(H) + terms * terms
        # This is the square root of the oracle's H_new. It has half the relative error of the sum of squares.
        H_sqrt = np.sqrt(np.abs(H + regularized * regularized))
        slope = np.divide(H_new, H_sqrt * H_sqrt, where=H_sqrt > 0, out=np.ones(np.shape(H_new)))
        bounds.append((np.abs(X) + rate * terms / (H_sqrt + epsilon) * slope, H_new))
    return [of_tensor[which] * ROUNDINGS / 2 for which in range(2) for of_tensor in bounds]


ADAGRAD = Op(
    "Adagrad",
    versions=(1,),
    compare=bounded(_rounding, "a dozen roundings of all terms"),
    domain="ai.onnx.preview.training",
)
ADAGRAD.excuse("input inputs one", "a tensor comes with its gradient and its accumulated squared gradient")
ADAGRAD.excuse("output outputs one", "a tensor's new value comes with its new accumulated squared gradient")


SEVERAL = ADAGRAD.clause("This operator can conduct the optimization of multiple tensor variables.")
ONE = ADAGRAD.clause('Assume that only a single tensor "X" is updated by this operator.')
SEQUENCE = ADAGRAD.clause('variables in this operator\'s input list are sequentially "R", "T", "X", "G", and "H".')
NUMPY = ADAGRAD.clause(
    'Let "+", "-", "*", and "/" are all element-wise arithmetic operations with numpy-style broadcasting support.',
    note="Therefore a gradient of another shape is broadcast. The text does not define whether a tensor or its "
    "accumulated squares may be broadcast: the new value would have another shape, but the schema infers that it keeps "
    "its shape.",
)
RATE = ADAGRAD.clause("r = R / (1 + T * decay_factor);", note="The text does not define a divisor of 0.")
REGULARIZED = ADAGRAD.clause("G_regularized = norm_coefficient * X + G;")
H_NEW = ADAGRAD.clause("H_new = H + G_regularized * G_regularized;")
H_ADAPTIVE = ADAGRAD.clause(
    "H_adaptive = Sqrt(H_new) + epsilon", note="The text does not define the root of a negative sum, or a divisor of 0."
)
X_NEW = ADAGRAD.clause("X_new = X - r * G_regularized / H_adaptive;")
JOINTLY = ADAGRAD.clause(
    "(of course, their gradient and accumulate gradient should be concatenated too) and then just reuse the entire "
    "pseudo code.",
    result=True,
)
NO_DECAY = ADAGRAD.clause("Default to 0 so that increasing update counts doesn't reduce the learning rate.")
EPSILON = ADAGRAD.clause("Small scalar to avoid dividing by zero.")
NO_NORM = ADAGRAD.clause("Default to 0, which means no regularization.")
INITIAL = ADAGRAD.clause("The initial learning rate.")
T_SCALAR = ADAGRAD.clause('The update count of "X". It should be a scalar.')
INPUTS = ADAGRAD.clause(
    "The current values of optimized tensors, followed by their respective gradients, followed by their respective "
    "accumulated squared gradients."
)
OUTPUTS = ADAGRAD.clause(
    "Updated values of optimized tensors, followed by their updated values of accumulated squared gradients."
)
R_SCALAR = ADAGRAD.clause("Constrain input types to float scalars.")
FLOATS = ADAGRAD.clause("Constrain input and output types to float tensors.")


@ADAGRAD.oracle()
def stepped(
    v: Version,
    n: int,
    R: Array,
    T: Array,
    inputs: list[Array],
    decay_factor: float,
    epsilon: float,
    norm_coefficient: float,
) -> list[Array]:
    """Return the new values of all tensors, then their new accumulated squared gradients."""
    R, T = v.scalar(R_SCALAR, R), v.scalar(T_SCALAR, T)
    k, rest = divmod(len(inputs), 3)
    v.require(INPUTS, rest == 0)
    v.require(OUTPUTS, n == 2 * k)
    v.silent(RATE, bool(1 + T * decay_factor == 0))
    steps = []
    for place in range(k):
        of_tensor = inputs[place::k]
        v.require(NUMPY, have_one_shape(*of_tensor))
        with np.errstate(all="ignore"):
            step = _step(*of_tensor, r=_rate(R, T, decay_factor), epsilon=epsilon, norm_coefficient=norm_coefficient)
        v.silent(NUMPY, [new.shape for new in step] != [of_tensor[0].shape, of_tensor[2].shape])
        X_new, H_new = step
        v.silent(H_ADAPTIVE, bool(((H_new < 0) | (np.sqrt(np.abs(H_new)) + epsilon == 0)).any()))
        steps.append((X_new, H_new))
    return [step[which] for which in range(2) for step in steps]


X, G, H = (np.array(item) for item in ([1.2, 2.8, -0.5], [-0.94, -2.5, 3], [0.1, 0.2, 2.5]))
Y, F = (np.arange(6.0).reshape(2, 3) * scale - 1 for scale in (0.7, -0.3))
Q = np.arange(6.0).reshape(2, 3) + 0.5
"""A vector with its gradient and accumulated squares, and a matrix Y with F and Q in the same roles."""
SET: dict[str, Any] = {"decay_factor": 0.1, "epsilon": 1e-2, "norm_coefficient": 0.25}
"""All attributes, with values other than the default."""
ADAGRAD.example(R=0.1, T=3, inputs=(Y, F, Q), n=2, **SET)


def case(
    name: str,
    *tags: Tag,
    R: Any = 0.1,  # noqa: ANN401 - any value of an input
    T: Any = 3,  # noqa: ANN401
    inputs: Any = (X, G, H),  # noqa: ANN401
    n: int = 2,
    **words: Any,  # noqa: ANN401 - see Op.case
) -> None:
    """Declare a case. Without arguments it is a step of one vector in a later iteration."""
    ADAGRAD.case(name, *tags, R=R, T=T, inputs=inputs, n=n, **words)


case("defaults", cites=(ONE, SEQUENCE, NO_DECAY, NO_NORM, H_NEW, X_NEW))
case("everything_set", **SET, cites=(REGULARIZED, H_NEW, H_ADAPTIVE, RATE, X_NEW))
case("count", T=vary(zero=0, one=1, beyond_int32=2**40, negative=-2), **SET, cites=(RATE, INITIAL))
case("decay_factor", T=7, decay_factor=vary(half=0.5, negative=-0.25), cites=RATE)
case("epsilon", Tag.EDGE, epsilon=vary(zero=0.0, ten=10.0), cites=H_ADAPTIVE)
case("norm_coefficient", Tag.EDGE, norm_coefficient=vary(three=3.0, negative=-0.5), cites=REGULARIZED)
case("two", inputs=(X, Y, G, F, H, Q), n=4, cites=(INPUTS, OUTPUTS, SEVERAL, JOINTLY))
case("three", inputs=(X, Y, 5, G, F, 7, H, Q, 0.5), n=6, T=0, **SET, cites=(INPUTS, OUTPUTS, JOINTLY))
case("rate", Tag.EDGE, R=vary(zero=0, negative=-2), cites=X_NEW)
case("nothing_accumulated", Tag.EDGE, inputs=(X, G, [0, 0, 0]), cites=H_ADAPTIVE)
case("nothing_at_all", Tag.EDGE, inputs=([0, 3], [0, 0], [0, 0]), cites=EPSILON)
case("scalars", Tag.EDGE, inputs=(3, -2, 2), cites=NUMPY)
case("matrix", inputs=(Y, F, Q), **SET, cites=NUMPY)
case("zero_size", Tag.EDGE, inputs=(ramp(2, 0), ramp(2, 0), ramp(2, 0)), cites=NUMPY)
case("gradient_broadcast", Tag.EDGE, inputs=(Y, G, Q), cites=NUMPY)
case("gradient_scalar", Tag.EDGE, inputs=(Y, -2, Q), **SET, cites=NUMPY)
case("squares_broadcast", Tag.EDGE, inputs=(Y, F, 0.5), unspecified=NUMPY)
case("value_broadcast", Tag.EDGE, inputs=(X, F, Q), unspecified=NUMPY)
case("nan", Tag.EDGE, inputs=([np.nan, 1, 1], [1, np.nan, 1], [1, 1, np.nan]), cites=X_NEW)
case("dtypes", Tag.DTYPE, each="T3", R=typed("{T3}", 0.1), **SET, cites=FLOATS)

case("nothing_to_divide_by", Tag.EDGE, inputs=([1, 2], [0, 2], [0, 0]), epsilon=0.0, unspecified=H_ADAPTIVE)
case("root_less_itself", Tag.EDGE, inputs=([1, 2], [1, 1], [3, 8]), epsilon=-2.0, unspecified=H_ADAPTIVE)
case("squares_negative", Tag.EDGE, inputs=([1, 2], [0.5, 1], [1, -1.5]), unspecified=H_ADAPTIVE)
case("decayed_to_nothing", Tag.EDGE, T=4, decay_factor=-0.25, unspecified=RATE)
case("count_vector", Tag.EDGE, T=[3], cites=T_SCALAR)
case("rate_vector", Tag.EDGE, R=[0.1], cites=R_SCALAR)
case("count_of_two", Tag.EDGE, T=[3, 3], rejects=T_SCALAR)
case("rate_of_two", Tag.EDGE, R=[0.1, 0.1], rejects=R_SCALAR)
case("inputs", inputs=vary(two=(X, G), four=(X, G, H, H)), rejects=INPUTS)
for n in (1, 3):
    case(f"outputs_{n}", n=n, rejects=OUTPUTS)
case("shapes_mismatch", Tag.EDGE, inputs=(X, [1, 2], H), rejects=NUMPY)
case("shapes_mismatch_in_rows", Tag.EDGE, inputs=(Y, ramp(4, 3), Q), rejects=NUMPY)

sized(ADAGRAD, 3, (REGULARIZED, H_NEW, X_NEW), SET)
