# SPDX-License-Identifier: Apache-2.0
"""The operator files of com.microsoft: their faults, and how much of the text they cover."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onnx_conformance.generation import coverage, operator_checks
from onnx_conformance.generation import mutant_figures as figures
from onnx_conformance.specification import packages, registry, schema

if TYPE_CHECKING:
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
