# SPDX-License-Identifier: Apache-2.0
"""Momentum: one step of gradient descent with momentum.

    outputs = Momentum(R, T, *inputs, alpha, beta, mode, norm_coefficient)

Version: 1 of ai.onnx.preview.training.
"""

# ruff: noqa: N806 - the names of the text's pseudo code

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, bounded, ramp, typed, vary
from onnx_conformance.declare.families.broadcasting import have_one_shape
from onnx_conformance.declare.sizes import LENGTHS, filled, grid, several

ROUNDINGS = 6
"""The number of operations that lead to one element of X_new after the products of the regularized gradient."""


def _step(
    R: Array, T: Array, X: Array, G: Array, V: Array, *, alpha: float, beta: float, norm_coefficient: float, mode: str
) -> tuple[Array, Array]:
    """Return X_new and V_new as in the pseudo code."""
    G_regularized = norm_coefficient * X + G
    beta_adjusted = beta if T > 0 else 1
    V_new = alpha * V + beta_adjusted * G_regularized
    X_new = X - R * (G_regularized + alpha * V_new) if mode == "nesterov" else X - R * V_new
    return np.asarray(X_new), np.asarray(V_new)


def _rounding(
    *, R: Array, T: Array, inputs: list[Array], alpha: float, beta: float, norm_coefficient: float, mode: str
) -> list[Array]:
    """Return half a rounding of the sum of all magnitudes for each operation."""
    k = len(inputs) // 3
    magnitudes = [
        _step(
            -np.abs(R),
            T,
            *map(np.abs, inputs[place::k]),
            alpha=abs(alpha),
            beta=abs(beta),
            norm_coefficient=abs(norm_coefficient),
            mode=mode,
        )
        for place in range(k)
    ]
    return [both[which] * ROUNDINGS / 2 for which in (0, 1) for both in magnitudes]


MOMENTUM = Op(
    "Momentum",
    versions=(1,),
    compare=bounded(
        _rounding, "two scalings and sums to V_new, two more to X_new; each rounds by half an epsilon of all terms"
    ),
    domain="ai.onnx.preview.training",
)

MOMENTUM.excuse("input inputs one", "a tensor comes with its gradient and its momentum")
MOMENTUM.excuse("output outputs one", "a tensor's new value comes with its new momentum")


ONE = MOMENTUM.clause('assume that there is only one tensor (called "X") to be optimized.')
FIRST = MOMENTUM.clause("It should be zero in the first training iteration.", result=True)
MODE_ATTRIBUTE = MOMENTUM.clause(
    'choose either standard momentum or Nesterov\'s momentum "mode" should be used.', result=True
)
NESTEROV = MOMENTUM.clause('Set the attribute "mode" to "nesterov" if Nesterov\'s momentum is desired.')
STANDARD = MOMENTUM.clause('Otherwise, set the attribute "model" to "standard" to use standard momentum.')
NUMPY = MOMENTUM.clause(
    'Let "+", "-", "*", and "/" are all element-wise operations with numpy-style broadcasting.',
    note="Therefore a gradient of another shape is broadcast. The text does not define whether a tensor or its "
    "momentum may be broadcast: the new value would have another shape, but the schema infers that it keeps its shape.",
)
REGULARIZED = MOMENTUM.clause("G_regularized = norm_coefficient * X + G")
BETA = MOMENTUM.clause(
    "In the first training iteration, beta should always be 1. beta_adjusted = T > 0 ? beta : 1", result=True
)
V_NEW = MOMENTUM.clause("V_new = alpha * V + beta_adjusted * G_regularized")
X_NEW = MOMENTUM.clause("X_new = X - R * V_new")
X_NEW_NESTEROV = MOMENTUM.clause("X_new = X - R * (G_regularized + alpha * V_new)")
JOINTLY = MOMENTUM.clause("their gradient and accumulate gradient should be concatenated too", result=True)
COEFFICIENT = MOMENTUM.clause("Coefficient of 0.5 * norm_coefficient * ||X||^2.")
BETA_SCALAR = MOMENTUM.clause(
    "The coefficient of gradient in computing new momentum. It should be a scalar.", result=True
)
MODES = MOMENTUM.clause('Its value should be either "nesterov" or "standard".')
ALPHA_SCALAR = MOMENTUM.clause("The decay factor of momentum. It should be a scalar.", result=True)
T_SCALAR = MOMENTUM.clause('Update count of "X". It should be a scalar.')
INPUTS = MOMENTUM.clause(
    "It sequentially contains the current values of optimized tensors, then their gradient tensors, and finally their "
    "momentum tensors."
)
OUTPUTS = MOMENTUM.clause(
    "It sequentially contains the new values of optimized tensors and then the new values of their momentum tensors."
)
R_SCALAR = MOMENTUM.clause("Constrain input types to float scalars.")
FLOATS = MOMENTUM.clause("Constrain input types to float tensors.")


@MOMENTUM.oracle()
def stepped(
    v: Version,
    n: int,
    R: Array,
    T: Array,
    inputs: list[Array],
    alpha: float,
    beta: float,
    norm_coefficient: float,
    mode: str,
) -> list[Array]:
    """Return the new values of all tensors, then their new momenta."""
    v.require(MODES, mode in {"nesterov", "standard"})
    R, T = v.scalar(R_SCALAR, R), v.scalar(T_SCALAR, T)
    k, rest = divmod(len(inputs), 3)
    v.require(INPUTS, rest == 0)
    v.require(OUTPUTS, n == 2 * k)
    steps = []
    for place in range(k):
        of_tensor = inputs[place::k]
        v.require(NUMPY, have_one_shape(*of_tensor))
        with np.errstate(all="ignore"):
            step = _step(R, T, *of_tensor, alpha=alpha, beta=beta, norm_coefficient=norm_coefficient, mode=mode)
        updated = (of_tensor[0], *of_tensor[2:])
        v.silent(NUMPY, [new.shape for new in step] != [old.shape for old in updated])
        steps.append(step)
    return [step[which] for which in (0, 1) for step in steps]


X, G, V = np.array([1.2, 2.8, -0.5]), np.array([-0.94, -2.5, 3]), np.array([1.7, 3.6, -0.1])
Y, H, W = (np.arange(6.0).reshape(2, 3) * scale - 1 for scale in (0.7, -0.3, 1.1))
"""A vector with its gradient and its momentum, and a matrix Y with H and W in the same roles."""
MOMENTUM.example(R=0.1, T=3, inputs=(Y, H, W), n=2, alpha=0.95, beta=0.85, norm_coefficient=0.001, mode="nesterov")


def case(
    name: str,
    *tags: Tag,
    R: Any = 0.1,  # noqa: ANN401 - any value of an input
    T: Any = 3,  # noqa: ANN401
    inputs: Any = (X, G, V),  # noqa: ANN401
    n: int = 2,
    alpha: float = 0.95,
    beta: float = 0.85,
    norm_coefficient: float = 0.001,
    mode: Any = "standard",  # noqa: ANN401
    **words: Any,  # noqa: ANN401 - see Op.case
) -> None:
    """Declare a case. Without arguments it is a step of one vector in a later iteration."""
    MOMENTUM.case(
        name,
        *tags,
        R=R,
        T=T,
        inputs=inputs,
        n=n,
        alpha=alpha,
        beta=beta,
        norm_coefficient=norm_coefficient,
        mode=mode,
        **words,
    )


for mode, cited in (("standard", (STANDARD, X_NEW)), ("nesterov", (NESTEROV, X_NEW_NESTEROV))):
    case(mode, mode=mode, cites=(ONE, MODES, MODE_ATTRIBUTE, V_NEW, COEFFICIENT, *cited))
    case(f"{mode}_first", mode=mode, T=0, cites=(FIRST, BETA, *cited))
    case(f"{mode}_second", Tag.EDGE, mode=mode, T=1, cites=(BETA_SCALAR, *cited))
    case(f"{mode}_before_first", Tag.EDGE, mode=mode, T=-1, cites=(BETA, *cited))
    case(f"{mode}_late", Tag.EDGE, mode=mode, T=2**40, cites=cited)
    case(f"{mode}_two", mode=mode, inputs=(X, Y, G, H, V, W), n=4, cites=(INPUTS, OUTPUTS, JOINTLY, *cited))
    case(
        f"{mode}_three",
        mode=mode,
        inputs=(X, Y, 5, G, H, 7, V, W, -2),
        n=6,
        T=0,
        cites=(INPUTS, OUTPUTS, JOINTLY, *cited),
    )
    case(f"{mode}_heavy", mode=mode, norm_coefficient=2.5, cites=(REGULARIZED, COEFFICIENT, *cited))
    case(f"{mode}_plain", Tag.EDGE, mode=mode, norm_coefficient=0.0, cites=(REGULARIZED, *cited))
    case(f"{mode}_alpha_zero", Tag.EDGE, mode=mode, alpha=0.0, cites=(ALPHA_SCALAR, *cited))
    case(f"{mode}_alpha_negative", Tag.EDGE, mode=mode, alpha=-1.5, cites=(ALPHA_SCALAR, *cited))
    case(f"{mode}_beta_zero", Tag.EDGE, mode=mode, beta=0.0, cites=(BETA_SCALAR, *cited))
    case(f"{mode}_beta_large", mode=mode, beta=3.0, cites=(BETA_SCALAR, *cited))
    case(f"{mode}_rate_zero", Tag.EDGE, mode=mode, R=0, cites=cited)
    case(f"{mode}_rate_negative", Tag.EDGE, mode=mode, R=-2, cites=cited)
    case(f"{mode}_scalars", Tag.EDGE, mode=mode, inputs=(3, -2, 0.5), cites=(NUMPY, *cited))
    case(f"{mode}_zero_size", Tag.EDGE, mode=mode, inputs=(ramp(2, 0), ramp(2, 0), ramp(2, 0)), cites=(NUMPY, *cited))
    case(f"{mode}_matrix", mode=mode, inputs=(Y, H, W), cites=(NUMPY, *cited))
    case(f"{mode}_gradient_broadcast", Tag.EDGE, mode=mode, inputs=(Y, G, W), cites=(NUMPY, *cited))
    case(f"{mode}_gradient_scalar", Tag.EDGE, mode=mode, inputs=(Y, -2, W), cites=(NUMPY, *cited))
    case(f"{mode}_value_broadcast", Tag.EDGE, mode=mode, inputs=(X, H, V), unspecified=NUMPY)
    case(f"{mode}_momentum_broadcast", Tag.EDGE, mode=mode, inputs=(Y, H, [[0.5], [2]]), unspecified=NUMPY)
    case(
        f"{mode}_nan",
        Tag.EDGE,
        mode=mode,
        inputs=([np.nan, np.inf, 1, 0, -np.inf], [1, 2, np.inf, 0, 3], [0, 1, 1, np.nan, 2]),
        cites=cited,
    )
    case(f"{mode}_dtypes", Tag.DTYPE, mode=mode, each="T3", cites=(FLOATS, *cited))
    case(
        f"{mode}_double",
        Tag.DTYPE,
        mode=mode,
        R=typed("double", 0.1),
        inputs=(typed("double", X), typed("double", G), typed("double", V)),
        cites=cited,
    )

case("mode", Tag.EDGE, mode=vary(unknown="Nesterov", empty=""), rejects=MODES)
case("count_vector", Tag.EDGE, T=[3], cites=T_SCALAR)
case("rate_vector", Tag.EDGE, R=[0.1], cites=R_SCALAR)
case("count_of_two", Tag.EDGE, T=[3, 3], rejects=T_SCALAR)
case("rate_of_two", Tag.EDGE, R=[0.1, 0.1], rejects=R_SCALAR)
case("inputs", inputs=vary(two=(X, G), four=(X, G, V, V)), rejects=INPUTS)
case("one_output", n=1, rejects=OUTPUTS)
case("three_outputs", n=3, rejects=OUTPUTS)
case("shapes_mismatch", Tag.EDGE, inputs=(X, [1, 2], V), rejects=NUMPY)
case("shapes_mismatch_in_rows", Tag.EDGE, inputs=(Y, ramp(4, 3), W), rejects=NUMPY)

DECAYS = {"alpha": 0.95, "beta": 0.85, "norm_coefficient": 0.001}
for mode, formula in {"standard": X_NEW, "nesterov": X_NEW_NESTEROV}.items():
    MOMENTUM.sized(
        f"vector_{mode}",
        grid(n=(*LENGTHS[::3], 65_537)),
        n=2,
        each="T3" if mode == "standard" else None,
        cites=(V_NEW, formula),
        arguments={"R": 0.1, "T": 3, "inputs": (filled("n"), filled("n"), filled("n")), **DECAYS, "mode": mode},
    )
    MOMENTUM.sized(
        f"two_matrices_{mode}",
        grid(m=(17,), n=(9, 64)),
        n=4,
        cites=(V_NEW, formula),
        arguments={"R": 0.1, "T": 3, "inputs": several(6, lambda _: filled("m", "n")), **DECAYS, "mode": mode},
    )
