"""SVMClassifier: the classes that a support vector machine gives examples.

Versions: 1. The text names the parts of such a machine and says nothing of how they make scores: only what it says of
kinds, counts and sizes is specified, and without examples that is the whole answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.declare import EXACT, Array, Op, Rule, Tag, Version, ramp
from harness.operators.traditionalml._post_transform import TRANSFORMS

if TYPE_CHECKING:
    from collections.abc import Mapping


def _type(_: Mapping[str, str], attributes: Mapping[str, Any]) -> str:
    """Return the type of the labels set."""
    return "tensor(int64)" if attributes["classlabels_ints"] is not None else "tensor(string)"


SVM = Op("SVMClassifier", versions=(1,), compare=EXACT, domain="ai.onnx.ml", derives={"T2": _type})
for part in ("coefficients", "rho", "support_vectors", "vectors_per_class", "kernel_params"):
    SVM.excuse(f"attribute {part} unset", "nothing says what a machine without them is")

said = SVM.clause
FORMULA = "Neither the kernels nor how coefficients, rho and probabilities come together is said anywhere."
MACHINE = said("Support Vector Machine classifier", note=FORMULA)
ONE_LABELS = said("One and only one of the 'classlabels_*' attributes must be defined.")
SAME_SIZE = said("This array must be same size as prob_a.")
PROBABILITIES = said("If these are provided then output Z are probability estimates, otherwise they are raw scores.")
FIRST_SET = said("First set of probability coefficients.")
TRANSFORM = said("One of 'NONE,' 'SOFTMAX,' 'LOGISTIC,' 'SOFTMAX_ZERO,' or 'PROBIT'")
PARAMETERS = said("List of 3 elements containing gamma, coef0, and degree, in that order.")
UNUSED = said("Zero if unused for the kernel.", note="Says nothing of a list left out.")
KERNELS = said("The kernel type, one of 'LINEAR,' 'POLY,' 'RBF,' 'SIGMOID'.")
DATA = said("Data to be classified.")
OUTPUTS = said("Classification outputs (one class per example).")
SCORES = said("Class scores (one per class per example), if prob_a and prob_b are provided they are probabilities for")
NUMERIC = said("The input must be a tensor of a numeric type, either [C] or [N,C].")
BATCH = said("Its size will match the batch size of the input.")


@SVM.oracle()
def classified(
    v: Version, X: Array, classlabels_ints: list[int] | None, classlabels_strings: list[str] | None,  # noqa: N803
    kernel_type: str, kernel_params: list[float] | None, post_transform: str,
    prob_a: list[float] | None, prob_b: list[float] | None,
) -> tuple[Array, Array]:  # fmt: skip
    """Return no labels and no scores, where there are no examples."""
    v.require(ONE_LABELS, (classlabels_ints is None) is not (classlabels_strings is None))
    v.require(KERNELS, kernel_type in {"LINEAR", "POLY", "RBF", "SIGMOID"})
    v.require(TRANSFORM, post_transform in TRANSFORMS)
    v.require(PARAMETERS, kernel_params is None or len(kernel_params) == 3)  # noqa: PLR2004 - as it says
    v.require(SAME_SIZE, len(prob_a or ()) == len(prob_b or ()))
    v.require(NUMERIC, X.ndim in {1, 2})
    v.silent(UNUSED, kernel_params is None)
    v.silent(MACHINE, X.ndim == 1 or len(X) > 0)
    labels: Any = classlabels_ints if classlabels_strings is None else classlabels_strings
    return np.zeros(0, np.int64 if classlabels_strings is None else object), np.zeros((0, len(labels)))


MACHINES: dict[str, Any] = {
    "rho": [0.25, -0.5, 0.75],
    "coefficients": [0.5, -1.0, 2.0, 0.25, 1.5, -0.75],
    "support_vectors": [1.0, 2.0, 3.0, 4.0, 0.5, 6.0],
    "vectors_per_class": [1, 1, 1],
    "kernel_params": [0.5, 1.0, 2.0],
    "n": 2,
}
PROB: dict[str, Any] = {"prob_a": [0.5, 1.0, -1.0], "prob_b": [0.25, -0.5, 1.0]}
LABELS: dict[str, dict[str, Any]] = {
    "ints": {"classlabels_ints": [7, -3, 2**40]},
    "strings": {"classlabels_strings": ["b", "a", ""]},
}


def case(name: str, *tags: Tag, **declared: Any) -> None:  # noqa: ANN401 - whatever a case takes
    """Declare a case of a whole machine with integer labels, but for what is changed; None leaves out."""
    given = {"X": ramp(0, 2), **MACHINES, **LABELS["ints"], **declared}
    SVM.case(name, *tags, **{key: value for key, value in given.items() if value is not None})


for name, labels in LABELS.items():
    given = {"classlabels_ints": None, **labels}
    case(f"no_examples_{name}", Tag.EDGE, **given, cites=(OUTPUTS, BATCH, SCORES, DATA))
    case(f"dtypes_{name}", Tag.DTYPE, each="T1", **given, cites=(NUMERIC, BATCH))
    case(f"probabilities_{name}", Tag.EDGE, **given, **PROB, cites=(SAME_SIZE, FIRST_SET, SCORES))
    case(f"examples_{name}", X=ramp(3, 2), **given, unspecified=MACHINE)
    case(f"examples_{name}_dtypes", Tag.DTYPE, each="T1", X=ramp(3, 2), **given, unspecified=MACHINE)
    case(f"vector_{name}", Tag.EDGE, X=ramp(2), **given, unspecified=MACHINE)
    case(f"examples_{name}_probabilities", X=ramp(3, 2), **given, **PROB, cites=(PROBABILITIES,), unspecified=MACHINE)
case("parameters_unset", Tag.EDGE, kernel_params=None, unspecified=UNUSED)
for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
    case(f"kernel_{kernel.lower()}", Tag.EDGE, kernel_type=kernel, cites=(KERNELS, PARAMETERS))
    case(f"examples_{kernel.lower()}", X=ramp(3, 2), kernel_type=kernel, unspecified=MACHINE)
for transform in TRANSFORMS:
    case(f"transform_{transform.lower()}", Tag.EDGE, post_transform=transform, cites=(TRANSFORM,))
    case(f"examples_{transform.lower()}", X=ramp(3, 2), post_transform=transform, unspecified=MACHINE)

case("two_labels", **LABELS["strings"], rejects=ONE_LABELS)
case("no_labels", classlabels_ints=None, rejects=ONE_LABELS)
case("probabilities_of_other_size", prob_a=PROB["prob_a"], prob_b=[0.5], rejects=SAME_SIZE)
case("probabilities_of_one_set", prob_a=PROB["prob_a"], rejects=SAME_SIZE)
case("parameters_of_two", kernel_params=[0.5, 1.0], rejects=PARAMETERS)
case("parameters_of_four", kernel_params=[0.5, 1.0, 2.0, 3.0], rejects=PARAMETERS)
case("kernel_unknown", kernel_type="GAUSS", rejects=KERNELS)
case("kernel_small", kernel_type="linear", rejects=KERNELS)
case("transform_unknown", post_transform="SIGMOID", rejects=TRANSFORM)
case("rank0", Tag.EDGE, X=1, rejects=NUMERIC)
case("rank3", Tag.EDGE, X=ramp(1, 3, 2), rejects=NUMERIC)
case("outside", Tag.DTYPE, outside="T1", rejects=NUMERIC)
case("no_input", X=None, rejects=Rule.ARITY)
case("one_output", n=1, rejects=Rule.ARITY)
case("three_outputs", n=3, rejects=Rule.ARITY)
case("attribute_kernel", stray={"kernel": "LINEAR"}, rejects=Rule.ATTRIBUTES)
