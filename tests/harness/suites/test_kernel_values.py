# SPDX-License-Identifier: Apache-2.0
"""Sized cases of operators whose oracles treat many elements at once: the values computed one by one.

Each function is the operator's text for the attributes of these cases, with one step for one element.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import helper

from onnx_conformance.suites.kernels import Kernels
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onnx_conformance.case.case import Case

Array = np.ndarray[Any, Any]

pytestmark = pytest.mark.slow

REDUCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "none": lambda _, new: new,
    "add": operator.add,
    "mul": operator.mul,
    "max": max,
    "min": min,
}


def scatter_elements(
    data: Array, indices: Array, updates: Array, *, axis: int, reduction: bytes = b"none"
) -> list[Any]:
    output = data.astype(np.float64)
    for place in np.ndindex(indices.shape):
        target = list(place)
        target[axis] = indices[place]
        output[tuple(target)] = REDUCTIONS[reduction.decode()](output[tuple(target)], float(updates[place]))
    return [output]


def scatter_nd(data: Array, indices: Array, updates: Array, *, reduction: bytes = b"none") -> list[Any]:
    output = data.astype(np.float64)
    for place in np.ndindex(indices.shape[:-1]):
        first = tuple(indices[place])
        for rest in np.ndindex(data.shape[len(first) :]):
            old, new = output[first + rest], float(updates[place + rest])
            output[first + rest] = REDUCTIONS[reduction.decode()](old, new)
    return [output]


def gather_elements(data: Array, indices: Array, *, axis: int) -> list[Any]:
    output = np.empty(indices.shape, data.dtype)
    for place in np.ndindex(indices.shape):
        source = list(place)
        source[axis] = indices[place]
        output[place] = data[tuple(source)]
    return [output]


def non_zero(x: Array) -> list[Any]:
    return [np.array([place for place in np.ndindex(x.shape) if x[place] != 0], np.int64).T]


def unique(x: Array, *, sorted: int) -> list[Any]:  # noqa: A002 - the name of the attribute
    values = x.tolist()
    different = [value for place, value in enumerate(values) if value not in values[:place]]
    if sorted:
        different.sort()
    firsts, places = [values.index(value) for value in different], [different.index(value) for value in values]
    return [different, firsts, places, [values.count(value) for value in different]]


def overlap(one: Array, other: Array) -> float:
    sides = [min(one[axis + 2], other[axis + 2]) - max(one[axis], other[axis]) for axis in (0, 1)]
    shared = max(sides[0], 0.0) * max(sides[1], 0.0)
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)]
    return float(shared / (sum(areas) - shared))


def non_max_suppression(boxes: Array, scores: Array, most: Array, iou: Array, least: Array) -> list[Any]:
    rows: list[list[int]] = []
    wide = boxes.astype(np.float64)
    for batch, class_ in np.ndindex(scores.shape[:2]):
        chosen: list[int] = []
        order = sorted(range(scores.shape[2]), key=lambda box: -scores[batch, class_, box])
        for box in (box for box in order if scores[batch, class_, box] >= least):
            if len(chosen) < most and not any(overlap(wide[batch, box], wide[batch, old]) > iou for old in chosen):
                chosen.append(box)
        rows += [[batch, class_, box] for box in chosen]
    return [rows]


def tf_idf(x: Array, **attributes: Any) -> list[Any]:
    pool, (_, pairs) = list(attributes["pool_int64s"]), attributes["ngram_counts"]
    grams = [(word,) for word in pool[:pairs]] + list(zip(pool[pairs::2], pool[pairs + 1 :: 2], strict=True))
    output = np.zeros((len(x), len(grams)))
    for row, words in zip(output, x.tolist(), strict=True):
        for gram, place, weight in zip(grams, attributes["ngram_indexes"], attributes["weights"], strict=True):
            steps = (1,) if len(gram) == 1 else range(1, attributes["max_skip_count"] + 2)
            found = [tuple(words[at : at + len(gram) * step : step]) for step in steps for at in range(len(words))]
            count = found.count(gram)
            mode = attributes["mode"].decode()
            row[place] = {"TF": count, "IDF": min(count, 1) * weight, "TFIDF": count * weight}[mode]
    return [output]


def trees(x: Array, **attributes: Any) -> list[Any]:
    def column(name: str) -> Sequence[Any]:
        values: Sequence[Any] = attributes[name]
        return values

    names = ("featureids", "values", "truenodeids", "falsenodeids", "modes")
    ids = list(zip(column("nodes_treeids"), column("nodes_nodeids"), strict=True))
    nodes = dict(zip(ids, zip(*(column(f"nodes_{name}") for name in names), strict=True), strict=True))
    output = np.zeros((len(x), attributes["n_targets"]))
    for row, features in zip(output, x, strict=True):
        for tree in {*column("nodes_treeids")}:
            at = 0
            while nodes[tree, at][4] != b"LEAF":
                feature, threshold, true, false, _ = nodes[tree, at]
                at = true if features[feature] <= threshold else false
            votes = (column(f"target_{name}") for name in ("treeids", "nodeids", "ids", "weights"))
            for of_tree, of_node, target, weight in zip(*votes, strict=True):
                if (of_tree, of_node) == (tree, at):
                    row[target] += weight
    return [output]


CASES: list[tuple[str, Callable[..., list[Any]]]] = [
    ("ai.onnx/ScatterElements/18/last_m7_n33_k*/float", scatter_elements),
    ("ai.onnx/ScatterElements/18/vector_*_n129_*", scatter_elements),
    ("ai.onnx/ScatterElements/18/middle_*", scatter_elements),
    ("ai.onnx/ScatterND/18/elements_*n129*", scatter_nd),
    ("ai.onnx/ScatterND/18/rows_*_d7_n33*", scatter_nd),
    ("ai.onnx/ScatterND/18/slices_*", scatter_nd),
    ("ai.onnx/GatherElements/13/last_m7_n33_*/float", gather_elements),
    ("ai.onnx/GatherElements/13/middle_*", gather_elements),
    ("ai.onnx/NonZero/13/cube_n6*", non_zero),
    ("ai.onnx/Unique/28/*sorted_n65*", unique),
    ("ai.onnx/NonMaxSuppression/11/*_n64_*", non_max_suppression),
    ("ai.onnx/TfIdfVectorizer/9/*_int64_m3_*", tf_idf),
    ("ai.onnx.ml/TreeEnsembleRegressor/3/*_depth3", trees),
]


def answer(case: Case, function: Callable[..., list[Any]]) -> list[Array]:
    """Return what a function returns for the inputs and attributes of a case, in the types of the expected outputs."""
    (node,) = onnx.load_from_string(case.model).graph.node
    attributes = {item.name: helper.get_attribute_value(item) for item in node.attribute}
    values = function(*(np.asarray(item) for item in case.inputs.values()), **attributes)
    return [
        np.array(value).astype(np.asarray(own).dtype) for value, own in zip(values, case.expected or (), strict=True)
    ]


@pytest.mark.parametrize(("glob", "function"), CASES)
def test_sized_cases_have_the_values_of_single_elements(glob: str, function: Callable[..., list[Any]]) -> None:
    cases = list(Kernels().cases(Selection(cases=(glob,), forms=("plain",))))
    cases = [case for case in cases if case.id.rpartition("/")[2] in {"float", "int64"} or case.id.count("/") == 3]
    assert cases
    for case in cases:
        for value, expected in zip(answer(case, function), case.expected or (), strict=True):
            assert np.array_equal(value, np.asarray(expected)), case.id
