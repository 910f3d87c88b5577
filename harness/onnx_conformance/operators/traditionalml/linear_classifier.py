# SPDX-License-Identifier: Apache-2.0
"""LinearClassifier: the class with the highest weighted sum of the features, and the sums of all classes.

    Y, Z = LinearClassifier(X, coefficients, intercepts, classlabels_ints=[7, -3, 0], multi_class=0,
                            post_transform="NONE")

Versions: 1. The text contains little more than the name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Op, PartlyOpen, Tag, Version, bounded, ramp, typed
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
    from collections.abc import Mapping

    from onnx_conformance.declare import Clause

MATRIX = 2


def _type(_: Mapping[str, str], attributes: Mapping[str, Any]) -> str:
    """Return the type of the labels that are set."""
    return "tensor(int64)" if attributes["classlabels_ints"] is not None else "tensor(string)"


def _rounding(
    X: Array,
    coefficients: list[float],
    intercepts: list[float] | None,
    classlabels_ints: list[int] | None,
    classlabels_strings: list[str] | None,
    **_: object,
) -> list[Array]:
    labels: Any = classlabels_ints if classlabels_strings is None else classlabels_strings
    return [np.zeros(()), linear_rounding(np.atleast_2d(X), coefficients, intercepts, len(labels))]


CLASSIFIER = Op(
    "LinearClassifier",
    versions=(1,),
    compare=bounded(
        _rounding, "conversion and product round once each, each addition rounds by half an epsilon, then a transform"
    )
    .limited(0, 1, probabilities)
    .summing_to(1, normalized, output=1),
    domain="ai.onnx.ml",
    derives={"T2": _type},
)
CLASSIFIER.example(
    X=[[1, 5], [3, 0]],
    coefficients=[0.5, 2.0, -1.0, 0.25, -0.5, 1.5],
    intercepts=[0.25, -3.0, 0.5],
    classlabels_ints=[7, -3, 2**40],
    multi_class=1,
    post_transform="SOFTMAX",
)
CLASSIFIER.excuse("attribute intercepts unset", "nothing says what a model without them is")

LINEAR = CLASSIFIER.clause(
    "Linear classifier",
    note="Therefore a score is a weighted sum plus an intercept. The weights of the classes follow one another as in "
    "LinearRegressor. The text does not define classes without weights or intercepts.",
)
TRANSFORM = CLASSIFIER.clause("Indicates the transform to apply to the scores vector.", note=UNDEFINED)
ONE_OF = CLASSIFIER.clause("One of 'NONE,' 'SOFTMAX,' 'LOGISTIC,' 'SOFTMAX_ZERO,' or 'PROBIT'")
ONE_LABELS = CLASSIFIER.clause("One and only one 'classlabels' attribute must be defined.")
LABELS = CLASSIFIER.clause("Class labels when using integer labels.")
STRINGS = CLASSIFIER.clause("Class labels when using string labels.")
MULTI = CLASSIFIER.clause(
    "Indicates whether to do OvR or multinomial (0=OvR is the default).",
    note="Scores before a transform are the same for both. The text does not define values other than 0 and 1.",
)
INTERCEPTS = CLASSIFIER.clause("A collection of intercepts.")
WEIGHTS = CLASSIFIER.clause("A collection of weights of the model(s).")
ONE_CLASS = CLASSIFIER.clause(
    "Classification outputs (one class per example).",
    note="With three or more classes, it is the class with the highest score; the text does not define the class for "
    "equal scores. With two classes, runtimes check whether the score of one class is positive, so the resulting class "
    "is left open.",
)
SCORES = CLASSIFIER.clause("Classification scores ([N,E] - one score for each class and example")
SHAPE = CLASSIFIER.clause("The input must be a tensor of a numeric type, and of shape [N,C] or [C].")
VECTOR = CLASSIFIER.clause("In the latter case, it will be treated as [1,C]")


@CLASSIFIER.oracle()
def classified(
    v: Version,
    *,
    X: Array,
    coefficients: list[float],
    intercepts: list[float] | None,
    classlabels_ints: list[int] | None,
    classlabels_strings: list[str] | None,
    multi_class: int,
    post_transform: str,
) -> tuple[Array | PartlyOpen, Array]:
    """Return the label with the highest score for each row, and the scores."""
    v.require(ONE_LABELS, (classlabels_ints is None) is not (classlabels_strings is None))
    v.require(ONE_OF, post_transform in TRANSFORMS)
    v.require(SHAPE, X.ndim in {1, MATRIX})
    v.silent(MULTI, multi_class not in {0, 1})
    labels: Any = classlabels_ints if classlabels_strings is None else classlabels_strings
    rows, count = np.atleast_2d(X).astype(np.float64), len(labels)
    v.silent(LINEAR, len(coefficients) != count * rows.shape[1])
    v.silent(LINEAR, len(intercepts or ()) != count)
    with np.errstate(all="ignore"):
        scores = rows @ np.array(coefficients).reshape(count, rows.shape[1]).T + np.array(intercepts)
    names = np.array(labels, v.dtypes["T2"])
    v.ordered(ONE_CLASS, scores)
    ordered = np.sort(scores.astype(np.float32), 1)
    v.silent(ONE_CLASS, count > MATRIX and bool((ordered[:, -1] == ordered[:, -2]).any()))
    top: Array | PartlyOpen = names[scores.argmax(1)]
    if count <= MATRIX:
        top = PartlyOpen(np.full(len(rows), names[0]), np.full(len(rows), fill_value=True))
    return top, transformed(v, TRANSFORM, scores, post_transform).astype(np.float32)


case = CLASSIFIER.case
ROWS = [[1, 5, -2], [0.5, -3, 4], [0.1, 1 / 3, -2 / 3], [-6, 0, 1]]
UNWEIGHTED: dict[str, Any] = {"coefficients": [0.5, 2.0, -1.0, 0.25, -0.5, 1.5, -2.0, -0.25, 0.125]}
WEIGHTED: dict[str, Any] = {**UNWEIGHTED, "intercepts": [0.25, -3.0, 0.5]}
INTS: dict[str, Any] = {**WEIGHTED, "classlabels_ints": [7, -3, 2**40]}
TEXTS: dict[str, Any] = {**WEIGHTED, "classlabels_strings": ["b", "a", "ä"]}
PAIR: dict[str, Any] = {
    "coefficients": WEIGHTED["coefficients"][:6],
    "classlabels_ints": [7, -3],
    "intercepts": [0.25, -3.0],
}

case("ints", X=ROWS, **INTS, cites=(LINEAR, LABELS, ONE_CLASS, SCORES, INTERCEPTS))
case("strings", X=ROWS, **TEXTS, cites=(LINEAR, STRINGS, ONE_LABELS, WEIGHTS))
case("no_intercepts", X=ROWS, **UNWEIGHTED, classlabels_ints=[7, -3, 0], unspecified=LINEAR)
case("multinomial", X=ROWS, **INTS, multi_class=1, cites=MULTI)
case("one_against_rest", X=ROWS, **INTS, multi_class=0, cites=MULTI)
case("two_classes", X=ROWS, **PAIR, cites=SCORES)
case("vector", X=[1, 5, -2], **INTS, cites=(VECTOR, SHAPE))
case("vector_strings", X=[0.5, -3, 4], **TEXTS, cites=VECTOR)
case("one_row", Tag.EDGE, X=[[1, 5, -2]], **INTS, cites=ONE_CLASS)
case("no_rows", Tag.EDGE, X=ramp(0, 3), **INTS, cites=SCORES)
four: dict[str, Any] = {"coefficients": [1.0, -1.0, 2.0, 0.5], "classlabels_ints": [4, 3, 2, 1]}
case("one_feature", Tag.EDGE, X=[[1], [-2], [0.25]], **four, intercepts=[0.0, 1.25, -1.5, 0.625], cites=LINEAR)
case("dtypes", Tag.DTYPE, each="T1", X=[[1, 5, 2], [0, 3, 4]], **INTS, cites=SHAPE)
case("dtypes_strings", Tag.DTYPE, each="T1", X=[[1, 5, 2], [0, 3, 4]], **TEXTS, cites=SHAPE)
for name in TRANSFORMS:
    outcome: dict[str, Any] = {"cites": (ONE_OF, TRANSFORM)} if name in DEFINED else {"unspecified": TRANSFORM}
    case(f"transform_{name.lower()}", X=ROWS, **INTS, post_transform=name, **outcome)
    case(f"transform_{name.lower()}_multinomial", X=ROWS, **TEXTS, multi_class=1, post_transform=name, **outcome)
far: dict[str, Any] = {"X": [[1000, 0, 0], [0, -2000, 7]], "post_transform": "SOFTMAX"}
case("transform_softmax_far_apart", Tag.EDGE, **far, **INTS, cites=TRANSFORM)
case("ties", Tag.EDGE, X=[[0, 0, 0]], **{**INTS, "intercepts": [0.5, 0.5, 0.25]}, unspecified=ONE_CLASS)
case("nan", Tag.EDGE, X=[[np.nan, 0, 0]], **INTS, unspecified=ONE_CLASS)
case("fewer_weights", Tag.EDGE, X=ROWS, **{**PAIR, "coefficients": [0.5, 2.0, -1.0]}, unspecified=LINEAR)
case("more_weights", Tag.EDGE, X=ROWS, **{**INTS, "coefficients": [0.5] * 12}, unspecified=LINEAR)
case("fewer_intercepts", Tag.EDGE, X=ROWS, **{**INTS, "intercepts": [0.5]}, unspecified=LINEAR)
case("multi_class_two", Tag.EDGE, X=ROWS, **INTS, multi_class=2, unspecified=MULTI)
OTHERS: dict[str, tuple[dict[str, Any], Clause]] = {
    "two_labels": ({**INTS, "classlabels_strings": ["a", "b", "c"]}, ONE_LABELS),
    "no_labels": (WEIGHTED, ONE_LABELS),
    "transform_unknown": ({**INTS, "post_transform": "softmax"}, ONE_OF),
}
for name, (attributes, clause) in OTHERS.items():
    case(name, X=ROWS, **attributes, rejects=clause)
case("rank0", Tag.EDGE, X=1, **INTS, rejects=SHAPE)
case("rank3", Tag.EDGE, X=ramp(1, 2, 3), **INTS, rejects=SHAPE)
case("outside", Tag.DTYPE, outside="T1", X=ramp(2, 3), **INTS, rejects=SHAPE)
case("integers_beyond_float", Tag.EDGE, X=typed("int64", [[2**40, 0, 2**41]]), **INTS, cites=LINEAR)

for transform in ("NONE", "SOFTMAX", "LOGISTIC"):
    CLASSIFIER.sized(
        transform.lower(),
        grid(m=(1, 17, 64, 257), n=(7, 64, 257), classes=(3, 10))[:: 1 if transform == "NONE" else 4],
        n=2,
        cites=(LINEAR, ONE_CLASS, SCORES),
        arguments={
            "X": filled("m", "n"),
            "coefficients": listed(filled("classes", "n", floats=(-0.5, 0.5)), np.float32),
            "intercepts": listed(filled("classes"), np.float32),
            "classlabels_ints": lambda sizes: list(range(10, 10 + sizes["classes"])),
            "post_transform": transform,
        },
    )
