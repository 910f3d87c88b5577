# SPDX-License-Identifier: Apache-2.0
"""What a smaller declared case keeps."""

from __future__ import annotations

import itertools

import numpy as np
import onnx

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


def test_no_smaller_case_lacks_an_input_of_a_branch_that_is_not_taken() -> None:
    """The oracle does not need it, but without it the model is not valid."""
    case = find_case("ai.onnx/If/25/optional_true")
    plan = plan_if_declarable(case)
    assert plan is not None
    space = Declared(case, plan)
    moves = itertools.chain.from_iterable(moves(space.first.candidate) for moves in space.passes)
    smaller = [built.case for move in moves if (built := space.built(move.candidate)) is not None]
    assert smaller
    for made in smaller:
        onnx.checker.check_model(made.model)
