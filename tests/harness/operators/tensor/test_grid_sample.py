# SPDX-License-Identifier: Apache-2.0
"""GridSample between pixels: two evaluations of one formula differ by their roundings, and that decides nothing."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from onnx_conformance.base.verdict import Verdict
from onnx_conformance.case.case import PLAIN
from onnx_conformance.declare import PartlyOpen, Version
from onnx_conformance.declare.data import waves
from onnx_conformance.generation import plans
from onnx_conformance.judging.judge import judge
from onnx_conformance.operators.tensor.grid_sample import sampled
from onnx_conformance.processes.replies import Died, Refused
from onnx_conformance.specification import registry

PLACE = re.compile(r"/place_(\w+?)_(linear|nearest|cubic)_(?:nan|infinite)$")
IMAGE = waves(2, 3, 4, 5)
GRID = np.random.default_rng(0).uniform(-1.5, 1.5, (2, 6, 7, 2)).round(3)  # No weight is a power of two.


def open_elements(grid: np.ndarray[Any, Any], mode: str, padding: str, *, align_corners: int) -> int:
    result = sampled(Version(22), IMAGE, grid, align_corners, mode, padding)
    return int(result.open.sum()) if isinstance(result, PartlyOpen) else 0


@pytest.mark.parametrize("align_corners", [0, 1])
@pytest.mark.parametrize(
    ("mode", "padding"),
    [("linear", "border"), ("linear", "reflection"), ("cubic", "reflection"), ("nearest", "border")],
)
def test_a_rounding_leaves_no_element_open(mode: str, padding: str, align_corners: int) -> None:
    assert open_elements(GRID, mode, padding, align_corners=align_corners) == 0


def test_an_element_is_open_if_the_place_and_the_pixels_around_it_have_other_values() -> None:
    beside_the_edge = np.full((2, 1, 2, 2), 0.125)
    beside_the_edge[0, 0, 0] = [1.125, 0.125]
    assert open_elements(beside_the_edge, "linear", "zeros", align_corners=0) == IMAGE.shape[1]
    assert open_elements(beside_the_edge[:, :, 1:], "linear", "zeros", align_corners=0) == 0


def test_a_place_that_is_not_finite_leaves_only_its_own_elements_open() -> None:
    grid = np.full((2, 1, 3, 2), 0.125)
    grid[1, 0, 2, 0] = np.nan
    assert open_elements(grid, "nearest", "zeros", align_corners=0) == IMAGE.shape[1]


@pytest.mark.parametrize("operator", ["GridSample", "MaxRoiPool", "RoiAlign"])
def test_a_process_that_reads_far_outside_the_image_crashes_although_the_text_defines_no_value(operator: str) -> None:
    op = registry.load().named(operator)
    newest = registry.versions(op)[-1].since
    specs = [spec for spec in op if re.search(r"^place_|_far_", spec.name)]
    far = [case for case in plans.cases(op, (newest,), specs) if case.form == PLAIN]
    if operator == "GridSample":
        around = {(model.group(1), model.group(2)) for case in far if (model := PLACE.search(case.id))}
        assert around == {(p, m) for p in ("zeros", "border", "reflection") for m in ("linear", "nearest", "cubic")}
    assert len(far) > 1
    for case in far:
        assert judge(case, "mine", Died("SIGSEGV", -11, "")).verdict is Verdict.CRASH, case.id
        assert judge(case, "mine", Refused("ValueError", "no", None, 0.1)).verdict is not Verdict.REFUSED, case.id
