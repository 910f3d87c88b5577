# SPDX-License-Identifier: Apache-2.0
"""Cases that follow from the calls of real models, and the calls that have no case."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from onnx_conformance.case.case import PLAIN, Outcome
from onnx_conformance.declare import Tag
from onnx_conformance.generation import core, derived, manifest, plans, used
from onnx_conformance.specification import registry

if TYPE_CHECKING:
    from onnx_conformance.case.case import Case
    from onnx_conformance.declare import CaseSpec, Op

OPEN = {
    "ai.onnx.ml/ArrayFeatureExtractor": (7, "the text does not define indices that are not a list, or vectors"),
    "ai.onnx/DequantizeLinear": (1, "a scale for each element with one zero point is forbidden"),
    "ai.onnx/GridSample": (1, "version 20 renamed the mode bilinear to linear"),
    "ai.onnx/LSTM": (1, "the text does not define the number of activations of two directions"),
    "ai.onnx/Resize": (1, "since version 13, scales and sizes must not both be inputs"),
}
"""The calls of real models that no case makes at the newest version: their number, and the reason."""


def of_usage(name: str) -> dict[str, CaseSpec]:
    op = registry.load().named(name)
    return {spec.name: spec for version in registry.versions(op) for spec in used.cases(op, version)}


def made(op: Op, *names: str) -> dict[str, Case]:
    """Return the plain derived cases of the newest version by name."""
    version = registry.versions(op)[-1]
    specs = [spec for spec in used.cases(op, version) if spec.name in names]
    return {case.name: case for case in plans.cases(op, (version.since,), specs) if case.form == PLAIN}


def test_a_call_without_a_declared_case_is_derived_from_one() -> None:
    op = registry.load().named("Add")
    case = made(op, "usage_int64_a2_b0")["usage_int64_a2_b0"]
    assert [value.shape for value in case.inputs.values()] == [(2, 1), ()]  # type: ignore[union-attr]
    assert {value.dtype for value in case.inputs.values()} == {np.dtype(np.int64)}  # type: ignore[union-attr]
    assert case.outcome is Outcome.VALUES
    assert case.tags == {Tag.USAGE}


def test_a_call_that_a_declared_case_makes_is_not_derived() -> None:
    op = registry.load().named("Add")
    wanted = {call.inputs for call in used.wanted(op) if "T=float" in call.types}
    assert ("A/2", "B/1") in wanted
    names = of_usage("Add")
    assert "usage_float_a4_b0" in names
    assert "usage_float_a2_b1" not in names


def test_attributes_that_models_write_out_have_their_defaults() -> None:
    name = "usage_float_x4_auto_pad_notset_ceil_mode_dilations_kernel_shape_pads_storage_order_strides"
    arguments = of_usage("MaxPool")[name].arguments
    assert arguments["auto_pad"] == "NOTSET"
    assert arguments["storage_order"] == 0
    assert len(arguments["kernel_shape"]) == len(arguments["strides"]) == 2
    assert of_usage("Cast")["usage_int32_float_input2_to"].arguments["to"].name == "float"


def test_tensors_of_attributes_have_the_type_of_the_call() -> None:
    ((name, spec),) = of_usage("TreeEnsemble").items()
    assert name.startswith("usage_double_x2_")
    types = {name: value.type for name, value in spec.arguments.items() if hasattr(value, "type")}
    assert types == {"X": "double", "nodes_splits": "double", "leaf_weights": "double", "nodes_modes": "uint8"}


def test_only_the_newest_version_of_a_meaning_has_such_cases() -> None:
    op = registry.load().named("Dropout")
    newest = {version.since for _, version in used.represented(op).values()}
    for version in registry.versions(op):
        assert version.since in newest or not list(used.cases(op, version)), version
    assert any(spec.tags == {Tag.USAGE} for spec in derived.cases(op, registry.versions(op)[-1]))


def test_a_long_list_of_attributes_is_a_digest() -> None:
    names = [name for name in of_usage("TreeEnsembleRegressor") if "x2" in name]
    assert names
    assert all(len(name) < 150 for name in names)
    assert len(set(names)) == len(names)


def test_added_dimensions_broadcast_and_removed_ones_keep_the_last_elements() -> None:
    op = registry.load().named("Where")
    base = next(iter(op))
    three = used._changed(base.arguments["X"], 3, "float", (3, 2, 4, 5))
    assert len(three.values.shape) == 3
    whole = np.arange(6.0).reshape(2, 3)
    assert used._changed(whole, 1, "", (3, 2)).tolist() == [3, 4, 5]
    assert used._changed(whole, 3, "", (3, 2, 4)).shape == (4, 2, 3)


def test_a_choice_of_the_core_has_every_call_that_a_case_makes() -> None:
    op = registry.load().named("Relu")
    cases = list(plans.cases(op))
    chosen = core.choose(op, cases)
    of_all, of_core = used.Matches(op), used.Matches(op)
    for case in cases:
        of_all.add(case)
        if case.id in chosen:
            of_core.add(case)
    assert not of_all.missing()
    assert not of_core.missing()
    assert len(chosen) < len(cases) / 2


def test_cases_of_other_forms_and_without_values_make_no_call() -> None:
    op = registry.load().named("Relu")
    found = used.Matches(op)
    cases = [case for case in plans.cases(op) if case.form != PLAIN or case.expected is None]
    for case in cases:
        found.add(case)
    assert len(found.missing()) == len(found.wanted) > 0


@pytest.mark.slow
def test_the_core_has_a_case_of_every_call_of_real_models() -> None:
    """A call that the text does not allow has no case; the reason is in OPEN."""
    missing = {}
    for op in registry.load():
        found = used.Matches(op)
        if found.wanted:
            ids = {entry.id for entry in manifest.entries(op) or () if entry.core and "@" not in entry.id}
            versions = sorted({int(call.operator.rpartition("/")[2]) for call in found.wanted})
            for case in plans.cases(op, versions, wanted=ids.__contains__):
                found.add(case)
            if left := found.missing():
                missing[str(op)] = left
    expected = {name: count for name, (count, _) in OPEN.items()}
    shown = "\n".join("\t".join(call.columns()) for left in missing.values() for call in left)
    assert {name: len(left) for name, left in missing.items()} == expected, shown
