# SPDX-License-Identifier: Apache-2.0
"""The operator files of com.microsoft: their faults, and how much of the text they cover."""

from __future__ import annotations

import dataclasses
import fnmatch
import functools
from typing import TYPE_CHECKING

import onnx
import pytest

from onnx_conformance.declare.clause import Force
from onnx_conformance.declare.readings import NEAREST_INTEGER
from onnx_conformance.forms.delivered import INITIALIZERS_ALONE
from onnx_conformance.generation import coverage, operator_checks, plans
from onnx_conformance.generation import mutant_figures as figures
from onnx_conformance.generation.deliveries import started
from onnx_conformance.specification import packages, registry, schema

if TYPE_CHECKING:
    from onnx_conformance.case.case import Case
    from onnx_conformance.declare import Op

MICROSOFT = packages.named("microsoft")
OPS = list(registry.load(MICROSOFT))
MOST_OPEN = 0.05
"""The share of schema points that no case may reach."""
OLD_FIGURES = 0.5
"""The share of figures on faults that may be of an earlier state of the files."""


def test_the_package_has_the_operators_that_models_have() -> None:
    assert len(OPS) >= 35
    assert {str(op) for op in OPS} <= set(schema.every(MICROSOFT))


@pytest.mark.parametrize("op", OPS, ids=str)
def test_a_file_has_no_faults(op: Op) -> None:
    assert list(operator_checks.faults(op, every_form=False)) == []


def test_nearly_every_schema_point_has_a_case() -> None:
    """The check of a file accepts a point without a case only if the file has a reason."""
    every = sum(len(coverage.points(version)) for op in OPS for version in registry.versions(op))
    assert every > 500
    assert sum(len(op.excuses) for op in OPS) <= MOST_OPEN * every


def test_operators_have_sizes_of_models() -> None:
    without = {op.name for op in OPS if not op.calls}
    assert not without, without


def test_the_cases_detect_faults() -> None:
    shown = figures.of(OPS, figures.path(MICROSOFT))
    current = [item.figures for item in shown.values() if item.current]
    assert len(current) >= OLD_FIGURES * len(OPS)
    detected, tried = (sum(getattr(item, word) for item in current) for word in ("noticed", "tried"))
    assert detected >= 0.9 * tried


@functools.cache
def cases_of(name: str) -> list[Case]:
    """Return all cases of an operator, in every form."""
    return list(plans.cases(registry.load(MICROSOFT).named(name)))


def test_inputs_that_must_be_constants_are_constants_in_every_form() -> None:
    forms = set()
    for case in cases_of("GatherBlockQuantized"):
        forms.add(case.form)
        given = {*case.inputs, *(case.earlier or {})}
        assert not given & {"data", "scales", "zero_points"}, case.id
        model = onnx.load_from_string(case.model)
        assert {item.name for item in model.graph.input} == given, case.id
        assert model.ir_version >= INITIALIZERS_ALONE
    assert {"plain", "initializer", "symbolic", "typed", "external_data", "constant_nodes"} <= forms
    assert "overridden" not in forms


def test_an_earlier_call_of_the_session_has_the_same_constants() -> None:
    plan = next(plans.plans(registry.load(MICROSOFT).named("GatherBlockQuantized")))
    earlier = {name: item for name, item in plan.inputs if item is not None}
    start = started(dataclasses.replace(plan, earlier=earlier))
    assert start.another is not None
    assert [*start.another] == [*start.inputs] == ["indices"]


@pytest.mark.parametrize(
    ("name", "glob", "optional"),
    [
        ("GroupQueryAttention", "padded*", True),  # query_seqlens
        ("GroupQueryAttention", "sliding_after_*", True),  # C > W
        ("GroupQueryAttention", "sliding_full_after_*", False),
        ("GroupQueryAttention", "prompt*", False),
    ],
)
def test_a_sentence_permits_some_runtimes_to_reject_a_model(name: str, glob: str, optional: bool) -> None:  # noqa: FBT001
    valid = [case for case in cases_of(name) if case.outcome == "values"]
    cases = [case for case in valid if fnmatch.fnmatchcase(case.id.split("/")[3].partition("@")[0], glob)]
    assert cases
    assert {case.force for case in cases} == {Force.OPTIONAL if optional else ""}


@pytest.mark.parametrize(
    ("name", "rests", "exact"),
    [
        ("QLinearAdd", "sum_saturates", "cancels"),
        ("QLinearConcat", "saturates_int8", ""),
        ("QLinearWhere", "saturates_int8", ""),
        ("QGemm", "saturates_int8_by_int8_to_int8", ""),
    ],
)
def test_rounding_and_saturation_are_a_reading(name: str, rests: str, exact: str) -> None:
    readings = {case.id.split("/")[3]: case.readings for case in cases_of(name) if case.form == "plain"}
    assert NEAREST_INTEGER.number in readings[rests]
    assert not exact or NEAREST_INTEGER.number not in readings[exact]
    assert any(NEAREST_INTEGER.number not in of_case for of_case in readings.values())
