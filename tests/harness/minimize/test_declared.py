# SPDX-License-Identifier: Apache-2.0
"""What a smaller declared case keeps."""

from __future__ import annotations

import numpy as np

from onnx_conformance.minimize.declared import Declared
from onnx_conformance.suites.lookup import find_case, plan_if_declarable


def test_a_scale_does_not_become_zero() -> None:
    """A scale of zero is a special case, which a maintainer may call irrelevant."""
    case = find_case("ai.onnx/DequantizeLinear/13/zero_point")
    plan = plan_if_declarable(case)
    assert plan is not None
    space = Declared(case, plan)
    candidate = space.first.candidate
    (scale,) = [leaf for leaf in candidate.leaves() if leaf.name == "x_scale"]
    data = next(leaf for leaf in candidate.leaves() if leaf.name == "x")
    assert space.built(candidate.with_values({scale.path: np.ones_like(scale.array)})) is not None
    assert space.built(candidate.with_values({scale.path: np.zeros_like(scale.array)})) is None
    assert space.built(candidate.with_values({data.path: np.zeros_like(data.array)})) is not None
