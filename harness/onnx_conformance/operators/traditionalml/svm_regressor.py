# SPDX-License-Identifier: Apache-2.0
"""SVMRegressor: the numbers that a support vector machine assigns to examples.

    Y = SVMRegressor(X, kernel_type="LINEAR", kernel_params=[gamma, coef0, degree], support_vectors, n_supports,
                     coefficients, rho, one_class=0, post_transform="NONE")

Versions: 1. The text names the parts of such a machine but does not define how they compute a score. Only its sentences
on types, counts and sizes are tested, and the score may be any number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, PartlyOpen, Tag, Version, ramp, vary
from onnx_conformance.declare.sizes import filled, grid, listed
from onnx_conformance.operators.traditionalml._post_transform import TRANSFORMS
from onnx_conformance.operators.traditionalml._support_vectors import check_kernel

MATRIX = 2
SVM = Op("SVMRegressor", versions=(1,), compare=EXACT, domain="ai.onnx.ml", rank=lambda _: MATRIX)
SVM.example(
    X=ramp(3, 2),
    kernel_type="POLY",
    kernel_params=[0.5, 1.0, 2.0],
    support_vectors=[1.0, 2.0, 3.0, 4.0, 0.5, 6.0],
    n_supports=3,
    coefficients=[0.5, -1.0, 2.0],
    rho=[0.25],
    one_class=1,
    post_transform="LOGISTIC",
)
for part in ("coefficients", "rho", "support_vectors", "kernel_params", "n_supports"):
    SVM.excuse(f"attribute {part} unset", "nothing says what a machine without them is")

MACHINE = SVM.clause(
    "Support Vector Machine regression prediction and one-class SVM anomaly detection.",
    note="The text does not define the kernels, how coefficients and rho are combined, or the prediction of a "
    "one-class machine.",
)
COEFFICIENTS = SVM.clause("Support vector coefficients.")
NUMBER = SVM.clause(
    "The number of support vectors.", note="The text does not define a machine without support vectors."
)
ONE_CLASS = SVM.clause(
    "Flag indicating whether the regression is a one-class SVM or not.",
    note="The text does not define values other than 0 and 1.",
)
VECTORS = SVM.clause("Chosen support vectors")
TRANSFORM = SVM.clause("One of 'NONE,' 'SOFTMAX,' 'LOGISTIC,' 'SOFTMAX_ZERO,' or 'PROBIT.'")
PARAMETERS = SVM.clause("List of 3 elements containing gamma, coef0, and degree, in that order.")
UNUSED = SVM.clause("Zero if unused for the kernel.", note="The text does not define an omitted list.")
KERNELS = SVM.clause("The kernel type, one of 'LINEAR,' 'POLY,' 'RBF,' 'SIGMOID'.")
DATA = SVM.clause("Data to be regressed.")
OUTPUTS = SVM.clause(
    "Regression outputs (one score per target per example).",
    note="Such a machine has one target, so the output has one row for each example and one column.",
)
NUMERIC = SVM.clause(
    "The input type must be a tensor of a numeric type, either [C] or [N,C].",
    note="The text does not define the shape of the output for a vector.",
)


@SVM.oracle()
def regressed(
    v: Version,
    *,
    X: Array,
    kernel_type: str,
    kernel_params: list[float] | None,
    support_vectors: list[float] | None,
    n_supports: int,
    coefficients: list[float] | None,
    rho: list[float] | None,
    one_class: int,
    post_transform: str,
) -> PartlyOpen:
    """Return any score for each example."""
    v.require(TRANSFORM, post_transform in TRANSFORMS)
    v.require(NUMERIC, X.ndim in {1, MATRIX})
    check_kernel(v, KERNELS, PARAMETERS, UNUSED, kernel_type, kernel_params)
    v.silent(ONE_CLASS, one_class not in {0, 1})
    v.silent(NUMBER, n_supports < 1)
    v.silent(MACHINE, any(part is None for part in (support_vectors, coefficients, rho)))
    v.silent(NUMERIC, X.ndim == 1)
    v.silent(VECTORS, len(support_vectors or ()) != n_supports * X.shape[1])
    v.silent(COEFFICIENTS, len(coefficients or ()) != n_supports)
    return PartlyOpen(np.zeros((len(X), 1)), np.ones((len(X), 1), bool))


case = SVM.case
SUPPORT: dict[str, Any] = {
    "support_vectors": [1.0, 2.0, 3.0, 4.0, 0.5, 6.0],
    "n_supports": 3,
    "coefficients": [0.5, -1.0, 2.0],
    "rho": [0.25],
}
PARTS: dict[str, Any] = {"kernel_params": [0.5, 1.0, 2.0], **SUPPORT}
EXAMPLES = ramp(3, 2)

case("examples", X=EXAMPLES, **PARTS, cites=(OUTPUTS, DATA, COEFFICIENTS, NUMBER, VECTORS))
case("one_example", Tag.EDGE, X=ramp(1, 2), **PARTS, cites=OUTPUTS)
case("no_examples", Tag.EDGE, X=ramp(0, 2), **PARTS, cites=OUTPUTS)
case("dtypes", Tag.DTYPE, each="T", X=EXAMPLES, **PARTS, cites=NUMERIC)
for value in (0, 1):
    case(f"one_class_{value}", X=EXAMPLES, **PARTS, one_class=value, cites=ONE_CLASS)
for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
    case(f"kernel_{kernel.lower()}", X=EXAMPLES, **PARTS, kernel_type=kernel, cites=(KERNELS, PARAMETERS))
for transform in TRANSFORMS:
    case(f"transform_{transform.lower()}", X=EXAMPLES, **PARTS, post_transform=transform, cites=TRANSFORM)
case("vector", Tag.EDGE, X=ramp(2), **PARTS, unspecified=NUMERIC)
case("parameters_unset", Tag.EDGE, X=EXAMPLES, **SUPPORT, unspecified=UNUSED)
for part in ("support_vectors", "coefficients", "rho"):
    others = {name: value for name, value in PARTS.items() if name != part}
    case(f"{part}_unset", Tag.EDGE, X=EXAMPLES, **others, unspecified=MACHINE)
case("no_supports", Tag.EDGE, X=EXAMPLES, **{**PARTS, "n_supports": 0}, unspecified=NUMBER)
case("vectors_of_other_size", Tag.EDGE, X=EXAMPLES, **{**PARTS, "support_vectors": [1.0, 2.0]}, unspecified=VECTORS)
case("fewer_coefficients", Tag.EDGE, X=EXAMPLES, **{**PARTS, "coefficients": [0.5]}, unspecified=COEFFICIENTS)
case("one_class_two", Tag.EDGE, X=EXAMPLES, **PARTS, one_class=2, unspecified=ONE_CLASS)
numbers = vary(of_two=[0.5, 1.0], of_four=[0.5, 1.0, 2.0, 3.0])
case("parameters", X=EXAMPLES, **SUPPORT, kernel_params=numbers, rejects=PARAMETERS)
case("kernel", X=EXAMPLES, **PARTS, kernel_type=vary(unknown="GAUSS", small="linear"), rejects=KERNELS)
case("transform_unknown", X=EXAMPLES, **PARTS, post_transform="SIGMOID", rejects=TRANSFORM)
case("rank0", Tag.EDGE, X=1, **PARTS, rejects=NUMERIC)
case("rank3", Tag.EDGE, X=ramp(1, 3, 2), **PARTS, rejects=NUMERIC)
case("outside", Tag.DTYPE, outside="T", X=EXAMPLES, **PARTS, rejects=NUMERIC)

for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
    SVM.sized(
        kernel.lower(),
        grid(m=(33,), n=(7, 16), vectors=(100,)),
        cites=(OUTPUTS, KERNELS),
        arguments={
            "X": filled("m", "n"),
            "kernel_type": kernel,
            "kernel_params": [0.05, 0.5, 2.0],
            "support_vectors": listed(filled("vectors", "n"), np.float32),
            "n_supports": lambda sizes: sizes["vectors"],
            "coefficients": listed(filled("vectors"), np.float32),
            "rho": [0.25],
        },
    )
