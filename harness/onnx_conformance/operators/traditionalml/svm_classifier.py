# SPDX-License-Identifier: Apache-2.0
"""SVMClassifier: the classes that a support vector machine assigns to examples.

    Y, Z = SVMClassifier(X, classlabels_ints=[7, -3], kernel_type="LINEAR", kernel_params=[gamma, coef0, degree],
                         support_vectors, vectors_per_class, coefficients, rho, prob_a=None, prob_b=None,
                         post_transform="NONE")

Versions: 1. The text names the parts of such a machine but does not define how they compute scores. Only its sentences
on types, counts and sizes are tested. The label must be one of the listed labels, and the score may be any number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import EXACT, AnyOf, Array, Op, PartlyOpen, Tag, Version, ramp, vary
from onnx_conformance.declare.sizes import filled, grid, listed
from onnx_conformance.operators.traditionalml._post_transform import TRANSFORMS
from onnx_conformance.operators.traditionalml._support_vectors import check_kernel

if TYPE_CHECKING:
    from collections.abc import Mapping


def _type(_: Mapping[str, str], attributes: Mapping[str, Any]) -> str:
    """Return the type of the labels that are set."""
    return "tensor(int64)" if attributes["classlabels_ints"] is not None else "tensor(string)"


SVM = Op("SVMClassifier", versions=(1,), compare=EXACT, domain="ai.onnx.ml", derives={"T2": _type})
SVM.example(
    X=ramp(0, 2),
    classlabels_ints=[7, -3, 2**40],
    kernel_type="POLY",
    kernel_params=[0.5, 1.0, 2.0],
    support_vectors=[1.0, 2.0, 3.0, 4.0, 0.5, 6.0],
    vectors_per_class=[1, 1, 1],
    coefficients=[0.5, -1.0, 2.0, 0.25, 1.5, -0.75],
    rho=[0.25, -0.5, 0.75],
    prob_a=[0.5, 1.0, -1.0],
    prob_b=[0.25, -0.5, 1.0],
    post_transform="SOFTMAX",
)
for part in ("coefficients", "rho", "support_vectors", "vectors_per_class", "kernel_params"):
    SVM.excuse(f"attribute {part} unset", "nothing says what a machine without them is")

MACHINE = SVM.clause(
    "Support Vector Machine classifier",
    note="The text does not define the kernels, or how coefficients, rho and probabilities are combined.",
)
ONE_LABELS = SVM.clause("One and only one of the 'classlabels_*' attributes must be defined.")
SAME_SIZE = SVM.clause("This array must be same size as prob_a.")
PROBABILITIES = SVM.clause(
    "If these are provided then output Z are probability estimates, otherwise they are raw scores."
)
FIRST_SET = SVM.clause("First set of probability coefficients.")
TRANSFORM = SVM.clause("One of 'NONE,' 'SOFTMAX,' 'LOGISTIC,' 'SOFTMAX_ZERO,' or 'PROBIT'")
PARAMETERS = SVM.clause("List of 3 elements containing gamma, coef0, and degree, in that order.")
UNUSED = SVM.clause("Zero if unused for the kernel.", note="The text does not define an omitted list.")
KERNELS = SVM.clause("The kernel type, one of 'LINEAR,' 'POLY,' 'RBF,' 'SIGMOID'.")
DATA = SVM.clause("Data to be classified.")
OUTPUTS = SVM.clause("Classification outputs (one class per example).")
SCORES = SVM.clause(
    "Class scores (one per class per example), if prob_a and prob_b are provided they are probabilities for"
)
NUMERIC = SVM.clause("The input must be a tensor of a numeric type, either [C] or [N,C].")
BATCH = SVM.clause("Its size will match the batch size of the input.")


@SVM.oracle()
def classified(
    v: Version,
    *,
    X: Array,
    classlabels_ints: list[int] | None,
    classlabels_strings: list[str] | None,
    kernel_type: str,
    kernel_params: list[float] | None,
    support_vectors: list[float] | None,
    vectors_per_class: list[int] | None,
    coefficients: list[float] | None,
    rho: list[float] | None,
    prob_a: list[float] | None,
    prob_b: list[float] | None,
    post_transform: str,
) -> tuple[AnyOf, PartlyOpen]:
    """Return for each example any of the labels, and any score for each label."""
    v.require(ONE_LABELS, (classlabels_ints is None) is not (classlabels_strings is None))
    v.require(TRANSFORM, post_transform in TRANSFORMS)
    v.require(SAME_SIZE, len(prob_a or ()) == len(prob_b or ()))
    v.require(NUMERIC, X.ndim in {1, 2})
    check_kernel(v, KERNELS, PARAMETERS, UNUSED, kernel_type, kernel_params)
    v.silent(MACHINE, any(part is None for part in (support_vectors, vectors_per_class, coefficients, rho)))
    v.silent(MACHINE, X.ndim == 1)
    labels: Any = classlabels_ints if classlabels_strings is None else classlabels_strings
    any_label = AnyOf(*(np.full(len(X), label, v.dtypes["T2"]) for label in labels), elementwise=True)
    return any_label, PartlyOpen(np.zeros((len(X), len(labels))), np.ones((len(X), len(labels)), bool))


case = SVM.case

SUPPORT: dict[str, Any] = {
    "support_vectors": [1.0, 2.0, 3.0, 4.0, 0.5, 6.0],
    "vectors_per_class": [1, 1, 1],
    "coefficients": [0.5, -1.0, 2.0, 0.25, 1.5, -0.75],
    "rho": [0.25, -0.5, 0.75],
}
PARTS: dict[str, Any] = {"kernel_params": [0.5, 1.0, 2.0], **SUPPORT}
INTS: dict[str, Any] = {"classlabels_ints": [7, -3, 2**40], **PARTS}
STRINGS: dict[str, Any] = {"classlabels_strings": ["b", "a", ""], **PARTS}
SETS: dict[str, Any] = {"prob_a": [0.5, 1.0, -1.0], "prob_b": [0.25, -0.5, 1.0]}
NONE, EXAMPLES = ramp(0, 2), ramp(3, 2)

case("vector_empty", Tag.EDGE, X=ramp(0), **INTS, unspecified=MACHINE)
case("one_example", Tag.EDGE, X=ramp(1, 2), **INTS, cites=(OUTPUTS, SCORES))
for name, machine in {"ints": INTS, "strings": STRINGS}.items():
    case(f"no_examples_{name}", Tag.EDGE, X=NONE, **machine, cites=(OUTPUTS, BATCH, SCORES, DATA))
    case(f"dtypes_{name}", Tag.DTYPE, each="T1", X=NONE, **machine, cites=(NUMERIC, BATCH))
    case(f"probabilities_{name}", Tag.EDGE, X=NONE, **machine, **SETS, cites=(SAME_SIZE, FIRST_SET, SCORES))
    case(f"examples_{name}", X=EXAMPLES, **machine, cites=(OUTPUTS, BATCH, SCORES))
    case(f"examples_{name}_dtypes", Tag.DTYPE, each="T1", X=EXAMPLES, **machine, cites=(NUMERIC, OUTPUTS))
    case(f"vector_{name}", Tag.EDGE, X=ramp(2), **machine, unspecified=MACHINE)
    case(f"examples_{name}_probabilities", X=EXAMPLES, **machine, **SETS, cites=PROBABILITIES)
case("parameters_unset", Tag.EDGE, X=NONE, classlabels_ints=[7, -3, 2**40], **SUPPORT, unspecified=UNUSED)
for part in SUPPORT:
    others = {name: value for name, value in INTS.items() if name != part}
    case(f"{part}_unset", Tag.EDGE, X=NONE, **others, unspecified=MACHINE)
for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
    case(f"kernel_{kernel.lower()}", Tag.EDGE, X=NONE, **INTS, kernel_type=kernel, cites=(KERNELS, PARAMETERS))
    case(f"examples_{kernel.lower()}", X=EXAMPLES, **INTS, kernel_type=kernel, cites=KERNELS)
for transform in TRANSFORMS:
    case(f"transform_{transform.lower()}", Tag.EDGE, X=NONE, **INTS, post_transform=transform, cites=TRANSFORM)
    case(f"examples_{transform.lower()}", X=EXAMPLES, **INTS, post_transform=transform, cites=TRANSFORM)

case("two_labels", X=NONE, **INTS, classlabels_strings=["b", "a", ""], rejects=ONE_LABELS)
case("no_labels", X=NONE, **PARTS, rejects=ONE_LABELS)
case("probabilities_of_other_size", X=NONE, **INTS, prob_a=[0.5, 1.0, -1.0], prob_b=[0.5], rejects=SAME_SIZE)
case("probabilities_of_one_set", X=NONE, **INTS, prob_a=[0.5, 1.0, -1.0], rejects=SAME_SIZE)
case(
    "parameters",
    X=NONE,
    classlabels_ints=[7, -3, 2**40],
    **SUPPORT,
    kernel_params=vary(of_two=[0.5, 1.0], of_four=[0.5, 1.0, 2.0, 3.0]),
    rejects=PARAMETERS,
)
case("kernel", X=NONE, **INTS, kernel_type=vary(unknown="GAUSS", small="linear"), rejects=KERNELS)
case("transform_unknown", X=NONE, **INTS, post_transform="SIGMOID", rejects=TRANSFORM)
case("rank0", Tag.EDGE, X=1, **INTS, rejects=NUMERIC)
case("rank3", Tag.EDGE, X=ramp(1, 3, 2), **INTS, rejects=NUMERIC)
case("outside", Tag.DTYPE, outside="T1", X=NONE, **INTS, rejects=NUMERIC)

for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
    SVM.sized(
        kernel.lower(),
        grid(m=(33, 4097), n=(7, 16), vectors=(20,)),
        n=2,
        cites=(OUTPUTS, SCORES, KERNELS),
        arguments={
            "X": filled("m", "n"),
            "classlabels_ints": [7, -3, 5],
            "kernel_type": kernel,
            "kernel_params": [0.05, 0.5, 2.0],
            "support_vectors": listed(filled(3, "vectors", "n"), np.float32),
            "vectors_per_class": lambda sizes: [sizes["vectors"]] * 3,
            "coefficients": listed(filled(2, 3, "vectors"), np.float32),
            "rho": [0.25, -0.5, 0.75],
        },
    )
