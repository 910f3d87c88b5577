# SPDX-License-Identifier: Apache-2.0
"""LinearRegressor: a weighted sum of the features for each target, and an intercept.

    Y = LinearRegressor(X, coefficients=[0.5, 2.0, -1.0], intercepts=[0.25], targets=1, post_transform="NONE")

Versions: 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, bounded, ramp, typed
from onnx_conformance.declare.sizes import filled, grid, listed
from onnx_conformance.operators.traditionalml._linear import linear_rounding
from onnx_conformance.operators.traditionalml._post_transform import (
    DEFINED,
    TRANSFORMS,
    UNDEFINED,
    normalized,
    probabilities,
    transformed,
)

if TYPE_CHECKING:
    from onnx_conformance.declare import Clause

MATRIX = 2


def _rounding(
    X: Array, coefficients: list[float] | None, intercepts: list[float] | None, targets: int, **_: object
) -> list[Array]:
    return [linear_rounding(X, coefficients, intercepts, targets)]


REGRESSOR = Op(
    "LinearRegressor",
    versions=(1,),
    compare=bounded(
        _rounding, "conversion and product round once each, each addition rounds by half an epsilon, then a transform"
    )
    .limited(0, 1, probabilities)
    .summing_to(1, normalized),
    domain="ai.onnx.ml",
    rank=lambda _: MATRIX,
)
REGRESSOR.example(
    X=[[1, 5, 2], [0, 3, 4]],
    coefficients=[0.5, 2.0, -1.0, 0.25, -0.5, 1.5],
    intercepts=[0.25, -3.0],
    targets=2,
    post_transform="LOGISTIC",
)
REGRESSOR.excuse("attribute coefficients unset", "nothing says what a model without them is")

EVALUATION = REGRESSOR.clause(
    "Generalized linear regression evaluation.", note="The text does not define inputs that are not a batch."
)
UNIVARIATE = REGRESSOR.clause("If targets is set to 1 (default) then univariate regression is performed.")
MANY = REGRESSOR.clause(
    "If targets is set to M then M sets of coefficients must be passed in as a sequence and M results will be output "
    "for each input n in N."
)
CONTIGUOUS = REGRESSOR.clause(
    "The coefficients array is of length n, and the coefficients for each target are contiguous."
)
MATCH = REGRESSOR.clause("Intercepts are optional but if provided must match the number of targets.")
TARGETS = REGRESSOR.clause("The total number of regression targets, 1 if not defined.")
WEIGHTS = REGRESSOR.clause("Weights of the model(s).")
INTERCEPTS = REGRESSOR.clause("Weights of the intercepts, if used.")
TRANSFORM = REGRESSOR.clause("Indicates the transform to apply to the regression output vector.", note=UNDEFINED)
ONE_OF = REGRESSOR.clause("One of 'NONE,' 'SOFTMAX,' 'LOGISTIC,' 'SOFTMAX_ZERO,' or 'PROBIT'")
OUTPUT = REGRESSOR.clause("Regression outputs (one per target, per example).")
NUMERIC = REGRESSOR.clause("The input must be a tensor of a numeric type.")


@REGRESSOR.oracle()
def regressed(
    v: Version,
    X: Array,
    coefficients: list[float] | None,
    intercepts: list[float] | None,
    targets: int,
    post_transform: str,
) -> Array:
    """Return the products of the rows and the coefficients of each target, plus its intercept, transformed."""
    v.require(ONE_OF, post_transform in TRANSFORMS)
    v.silent(EVALUATION, X.ndim != MATRIX or coefficients is None)
    v.silent(TARGETS, targets < 1)
    v.require(MANY, len(coefficients or ()) == targets * X.shape[1])
    v.require(MATCH, intercepts is None or len(intercepts) == targets)
    weights = np.array(coefficients).reshape(targets, X.shape[1])
    with np.errstate(all="ignore"):
        scores = X.astype(np.float64) @ weights.T + (intercepts or [0.0])
        return transformed(v, TRANSFORM, scores, post_transform).astype(np.float32)


case = REGRESSOR.case
ROWS = [[1, 5, -2], [0.5, -3, 4], [0.1, 1 / 3, -2 / 3], [0, 0, 0]]
ONE: dict[str, Any] = {"coefficients": [0.5, 2.0, -1.0]}
TWO: dict[str, Any] = {"coefficients": [0.5, 2.0, -1.0, 0.25, -0.5, 1.5], "targets": 2}

case("one_target", X=ROWS, **ONE, cites=(EVALUATION, UNIVARIATE, TARGETS, WEIGHTS, OUTPUT))
case("one_target_set", X=ROWS, **ONE, targets=1, cites=UNIVARIATE)
case("one_target_intercept", X=ROWS, **ONE, intercepts=[0.75], cites=(INTERCEPTS, MATCH))
case("two_targets", X=ROWS, **TWO, cites=(MANY, CONTIGUOUS, OUTPUT))
case("two_targets_intercepts", X=ROWS, **TWO, intercepts=[0.75, -3.0], cites=(MANY, INTERCEPTS, MATCH))
THREE = [float(number) for number in (1, 2, 3, 10, 20, 30, 100, 200, 300)]
case("three_of_three", X=ROWS, coefficients=THREE, targets=3, cites=CONTIGUOUS)
case("one_feature", Tag.EDGE, X=[[1], [2], [-3]], coefficients=[0.5], cites=UNIVARIATE)
case("one_feature_two_targets", Tag.EDGE, X=[[1], [2], [-3]], coefficients=[0.5, -2.0], targets=2, cites=MANY)
case("one_row", Tag.EDGE, X=[[1, 5, -2]], **TWO, cites=MANY)
case("no_rows", Tag.EDGE, X=ramp(0, 3), **TWO, cites=OUTPUT)
LONG = [float(number % 7) - 3 for number in range(100)]
case("long", X=np.cos(np.arange(300.0)).reshape(3, 100), coefficients=LONG, cites=EVALUATION)
case("dtypes", Tag.DTYPE, each="T", X=[[1, 5, 2], [0, 3, 4]], **TWO, intercepts=[0.75, -3.0], cites=NUMERIC)
case("int64_large", Tag.EDGE, X=typed("int64", [[2**40, -(2**41), 2**31]]), **ONE, cites=NUMERIC)
case("infinite", Tag.EDGE, X=[[np.inf, 1, 2], [1, -np.inf, 2], [np.inf, -np.inf, 0]], **ONE, cites=EVALUATION)
case("nan", Tag.EDGE, X=[[np.nan, 1, 2], [1, 2, 3]], **ONE, cites=EVALUATION)
for name in TRANSFORMS:
    outcome: dict[str, Any] = {"cites": (ONE_OF, TRANSFORM)} if name in DEFINED else {"unspecified": TRANSFORM}
    case(f"transform_{name.lower()}", X=ROWS, **TWO, post_transform=name, **outcome)
case("transform_logistic_one_target", X=ROWS, **ONE, post_transform="LOGISTIC", cites=TRANSFORM)
OTHERS: dict[str, tuple[dict[str, Any], Clause]] = {
    "transform_unknown": ({**ONE, "post_transform": "softmax"}, ONE_OF),
    "too_few_coefficients": ({"coefficients": [0.5, 2.0]}, MANY),
    "too_many_coefficients": ({"coefficients": [0.5, 2.0, 1.0, 3.0]}, MANY),
    "one_set_for_two_targets": ({**ONE, "targets": 2}, MANY),
    "too_few_intercepts": ({**TWO, "intercepts": [1.0]}, MATCH),
    "too_many_intercepts": ({**ONE, "intercepts": [1.0, 2.0]}, MATCH),
}
for name, (attributes, clause) in OTHERS.items():
    case(name, X=ROWS, **attributes, rejects=clause)
case("vector", Tag.EDGE, X=[1, 5, -2], **ONE, unspecified=EVALUATION)
case("scalar", Tag.EDGE, X=1, coefficients=[0.5], unspecified=EVALUATION)
case("cube", Tag.EDGE, X=ramp(2, 2, 3), **ONE, unspecified=EVALUATION)
case("no_coefficients", Tag.EDGE, X=ROWS, unspecified=EVALUATION)
case("no_targets", Tag.EDGE, X=ROWS, **ONE, targets=0, unspecified=TARGETS)
case("outside", Tag.DTYPE, outside="T", X=ramp(2, 3), **ONE, rejects=NUMERIC)

REGRESSOR.sized(
    "targets",
    grid(m=(1, 17, 64, 257), n=(7, 64, 257), targets=(1, 5, 11)),
    cites=(EVALUATION, MANY, CONTIGUOUS),
    arguments={
        "X": filled("m", "n"),
        "coefficients": listed(filled("targets", "n", floats=(-0.5, 0.5)), np.float32),
        "intercepts": listed(filled("targets"), np.float32),
        "targets": lambda sizes: sizes["targets"],
    },
)
