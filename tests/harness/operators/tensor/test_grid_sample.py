"""GridSample between pixels: two evaluations of one formula differ by their roundings, and that decides nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnx_conformance.declare import PartlyOpen, Version
from onnx_conformance.declare.data import waves
from onnx_conformance.operators.tensor.grid_sample import sampled

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
