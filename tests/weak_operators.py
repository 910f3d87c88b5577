# SPDX-License-Identifier: Apache-2.0
"""Operator files written for one test: a weak one, a strong one, and such as hang or die when they are changed."""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING

from onnx_conformance.declare import Op

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """\
import os

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Version, ramp

OP = Op("Relu", versions=(14,), compare=EXACT, rank="X")
COMPUTES = OP.clause("the rectified linear function")
ONE = OP.clause("Relu takes one input data")
ANOTHER = OP.clause("produces one output data")
"""
PLAIN = """
@OP.oracle()
def relu(v: Version, X: Array) -> Array:
    return np.maximum(X, 0)
"""
LOOP = """
@OP.oracle()
def relu(v: Version, X: Array) -> Array:
    result, at = np.zeros(X.shape), 0
    while at < X.size:
        result.flat[at] = max(float(X.flat[at]), 0.0)
        at += 1
    return result
"""
EITHER = """
from onnx_conformance.declare import AnyOf


@OP.oracle()
def relu(v: Version, X: Array) -> AnyOf:
    return AnyOf(np.maximum(X, 0), np.maximum(X, 0) + 1)
"""
DYING = """
@OP.oracle()
def relu(v: Version, X: Array) -> Array:
    if X.size == 0:
        os.abort()
    return np.maximum(X, 0)
"""
DEMANDING = """
@OP.oracle()
def relu(v: Version, X: Array) -> Array:
    v.require(ONE, X.ndim == 1)
    return np.maximum(X, 0)
"""
WEAK = 'OP.case("positive", X=[0.5, 2], cites=(COMPUTES,))\n'
STRONG = 'OP.case("signs", X=[-1.5, 0.5, 2], cites=(COMPUTES,))\n'


def loaded(folder: Path, oracle: str, cases: str) -> Op:
    """Write an operator file, import it, and return its operator."""
    path = folder / "relu_of_a_test.py"
    path.write_text(HEAD + oracle + cases)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    op = module.OP
    assert isinstance(op, Op)
    return op
