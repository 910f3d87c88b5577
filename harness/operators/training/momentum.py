"""Momentum: one step of gradient descent with momentum.

Versions: 1 of ai.onnx.preview.training.
"""

# ruff: noqa: N803, N806 - the names of the text's pseudo code
from __future__ import annotations

from typing import Any

import numpy as np

from harness.declare import Array, Op, Rule, Tag, Version, bounded, ramp, typed
from harness.declare.families.broadcasting import have_one_shape

Step = tuple[Array, Array]
ROUNDINGS = 6
"""Operations that one element of X_new goes through behind the products of the regularized gradient."""


def _step(
    R: Array, T: Array, X: Array, G: Array, V: Array, *, alpha: float, beta: float, norm: float, mode: str
) -> Step:
    """Return X_new and V_new as the pseudo code has them."""
    G_regularized = norm * X + G
    beta_adjusted = beta if T > 0 else 1
    V_new = alpha * V + beta_adjusted * G_regularized
    moved = G_regularized + alpha * V_new if mode == "nesterov" else V_new
    return np.asarray(X - R * moved), np.asarray(V_new)


def _rounding(
    *, R: Array, T: Array, inputs: list[Array], alpha: float, beta: float, norm_coefficient: float, mode: str
) -> list[Array]:
    """Return half a rounding of the sum of all magnitudes for each operation."""
    k = len(inputs) // 3
    given: dict[str, Any] = {"alpha": abs(alpha), "beta": abs(beta), "norm": abs(norm_coefficient), "mode": mode}
    found = [_step(-np.abs(R), T, *map(np.abs, inputs[place::k]), **given) for place in range(k)]
    return [both[which] * ROUNDINGS / 2 for which in (0, 1) for both in found]


MOMENTUM = Op(
    "Momentum",
    versions=(1,),
    compare=bounded(_rounding, "two scalings and sums to V_new, two more to X_new, half an epsilon of all terms each"),
    domain="ai.onnx.preview.training",
)

MOMENTUM.excuse("input inputs one", "a tensor comes with its gradient and its momentum")
MOMENTUM.excuse("output outputs one", "a tensor's new value comes with its new momentum")

said = MOMENTUM.clause
ONE = said('assume that there is only one tensor (called "X") to be optimized.')
FIRST = said("It should be zero in the first training iteration.", result=True)
MODE_ATTRIBUTE = said('choose either standard momentum or Nesterov\'s momentum "mode" should be used.', result=True)
NESTEROV = said('Set the attribute "mode" to "nesterov" if Nesterov\'s momentum is desired.')
STANDARD = said('Otherwise, set the attribute "model" to "standard" to use standard momentum.')
NUMPY = said(
    'Let "+", "-", "*", and "/" are all element-wise operations with numpy-style broadcasting.',
    note="So what is broadcast in the pseudo code is.",
)
REGULARIZED = said("G_regularized = norm_coefficient * X + G")
BETA = said("In the first training iteration, beta should always be 1. beta_adjusted = T > 0 ? beta : 1", result=True)
V_NEW = said("V_new = alpha * V + beta_adjusted * G_regularized")
X_NEW = said("X_new = X - R * V_new")
X_NEW_NESTEROV = said("X_new = X - R * (G_regularized + alpha * V_new)")
JOINTLY = said("their gradient and accumulate gradient should be concatenated too", result=True)
COEFFICIENT = said("Coefficient of 0.5 * norm_coefficient * ||X||^2.")
BETA_SCALAR = said("The coefficient of gradient in computing new momentum. It should be a scalar.", result=True)
MODES = said('Its value should be either "nesterov" or "standard".')
ALPHA_SCALAR = said("The decay factor of momentum. It should be a scalar.", result=True)
T_SCALAR = said('Update count of "X". It should be a scalar.')
INPUTS = said(
    "It sequentially contains the current values of optimized tensors, then their gradient tensors, and finally their "
    "momentum tensors."
)
OUTPUTS = said(
    "It sequentially contains the new values of optimized tensors and then the new values of their momentum tensors."
)
R_SCALAR = said("Constrain input types to float scalars.")
FLOATS = said("Constrain input types to float tensors.")


@MOMENTUM.oracle()
def stepped(
    v: Version, n: int, R: Array, T: Array, inputs: list[Array],
    alpha: float, beta: float, norm_coefficient: float, mode: str,
) -> list[Array]:  # fmt: skip
    """Return the new values of all tensors, then their new momenta."""
    v.require(MODES, mode in {"nesterov", "standard"})
    v.require(T_SCALAR, T.ndim == 0)
    v.require(R_SCALAR, R.ndim == 0)
    k, rest = divmod(len(inputs), 3)
    v.require(INPUTS, rest == 0)
    v.require(OUTPUTS, n == 2 * k)
    given: dict[str, Any] = {"alpha": alpha, "beta": beta, "norm": norm_coefficient, "mode": mode}
    for place in range(k):
        v.require(NUMPY, have_one_shape(*inputs[place::k]))
    with np.errstate(all="ignore"):
        found = [_step(R, T, *inputs[place::k], **given) for place in range(k)]
    return [both[which] for which in (0, 1) for both in found]


X, G, V = np.array([1.2, 2.8, -0.5]), np.array([-0.94, -2.5, 3]), np.array([1.7, 3.6, -0.1])
Y, H, W = (np.arange(6.0).reshape(2, 3) * scale - 1 for scale in (0.7, -0.3, 1.1))


def case(name: str, *tags: Tag, **declared: Any) -> None:  # noqa: ANN401 - whatever a case takes
    """Declare a case; what is left out is that of one tensor in some later iteration."""
    given = {"R": 0.1, "T": 3, "inputs": (X, G, V), "n": 2, "alpha": 0.95, "beta": 0.85, "norm_coefficient": 0.001}
    wanted = {**given, "mode": "standard", **declared}
    MOMENTUM.case(name, *tags, **{key: value for key, value in wanted.items() if value is not None})


for mode, cited in (("standard", (STANDARD, X_NEW)), ("nesterov", (NESTEROV, X_NEW_NESTEROV))):
    case(mode, mode=mode, cites=(ONE, MODES, MODE_ATTRIBUTE, V_NEW, COEFFICIENT, *cited))
    case(f"{mode}_first", mode=mode, T=0, cites=(FIRST, BETA, *cited))
    case(f"{mode}_second", Tag.EDGE, mode=mode, T=1, cites=(BETA_SCALAR, *cited))
    case(f"{mode}_before_first", Tag.EDGE, mode=mode, T=-1, cites=(BETA, *cited))
    case(f"{mode}_late", Tag.EDGE, mode=mode, T=2**40, cites=cited)
    case(f"{mode}_two", mode=mode, inputs=(X, Y, G, H, V, W), n=4, cites=(INPUTS, OUTPUTS, JOINTLY, *cited))
    several = (X, Y, 5, G, H, 7, V, W, -2)
    case(f"{mode}_three", mode=mode, inputs=several, n=6, T=0, cites=(INPUTS, OUTPUTS, JOINTLY, *cited))
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
    case(f"{mode}_value_broadcast", Tag.EDGE, mode=mode, inputs=(X, H, V), cites=(NUMPY, *cited))
    case(f"{mode}_momentum_broadcast", Tag.EDGE, mode=mode, inputs=(Y, H, [[0.5], [2]]), cites=(NUMPY, *cited))
    hard = ([np.nan, np.inf, 1, 0, -np.inf], [1, 2, np.inf, 0, 3], [0, 1, 1, np.nan, 2])
    case(f"{mode}_nan", Tag.EDGE, mode=mode, inputs=hard, cites=cited)
    case(f"{mode}_rate_dtypes", Tag.DTYPE, mode=mode, each="T1", cites=(R_SCALAR, *cited))
    case(f"{mode}_dtypes", Tag.DTYPE, mode=mode, each="T3", cites=(FLOATS, *cited))
    case(
        f"{mode}_double",
        Tag.DTYPE,
        mode=mode,
        R=typed("double", 0.1),
        inputs=tuple(typed("double", item) for item in (X, G, V)),
    )

case("mode_unknown", mode="Nesterov", rejects=MODES)
case("mode_empty", Tag.EDGE, mode="", rejects=MODES)
case("count_vector", Tag.EDGE, T=[3], rejects=T_SCALAR)
case("rate_vector", Tag.EDGE, R=[0.1], rejects=R_SCALAR)
case("two_inputs", inputs=(X, G), rejects=INPUTS)
case("four_inputs", inputs=(X, G, V, V), rejects=INPUTS)
case("one_output", n=1, rejects=OUTPUTS)
case("three_outputs", n=3, rejects=OUTPUTS)
case("shapes_mismatch", Tag.EDGE, inputs=(X, [1, 2], V), rejects=NUMPY)
case("no_inputs", inputs=(), rejects=Rule.ARITY)
case("no_rate", R=None, rejects=Rule.ARITY)
for name in ("alpha", "beta", "norm_coefficient", "mode"):
    case(f"no_{name}", **{name: None}, rejects=Rule.ATTRIBUTES)
for variable, argument in {"T1": {"R": 1}, "T2": {"T": 3}, "T3": {}}.items():
    case(f"outside_{variable.lower()}", Tag.DTYPE, outside=variable, **argument, rejects=Rule.TYPES)
case("attribute_epsilon", stray={"epsilon": 0.1}, rejects=Rule.ATTRIBUTES)
