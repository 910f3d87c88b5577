# SPDX-License-Identifier: Apache-2.0
"""The precision of the oracles: right on a small sample, and a less precise oracle is noticed."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner

from onnx_conformance.declare.rounding import nearest
from refusals import refuses

pytest.importorskip("mpmath", reason="mpmath is not installed; it is in the extra dev")

from tools import oracle_precision as precision

if TYPE_CHECKING:
    from onnx_conformance.declare import Op
    from onnx_conformance.specification.evaluator import Answer
    from onnx_conformance.specification.schema import OperatorVersion

SAMPLE = precision.inputs(80, 1)


def function(name: str) -> tuple[Op, OperatorVersion]:
    (found,) = [(op, version) for op, version in precision.functions() if op.name == name]
    return found


@pytest.mark.slow
def test_each_unary_function_is_precise_or_known_not_to_be() -> None:
    rows = [precision.measured(op, version, SAMPLE) for op, version in precision.functions()]
    assert len(rows) >= 30
    assert {row.operator.split("/")[1] for row in rows} == set(precision.FORMULAS)
    assert not [row for row in rows if not row.as_known]
    assert {row.operator.split("/")[1] for row in rows if row.cancels} == set(precision.CANCELS)


def test_a_less_precise_oracle_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = precision.answered
    op, version = function("Exp")
    assert precision.measured(op, version, SAMPLE).good

    def in_float32(op: Op, version: OperatorVersion, x: np.ndarray) -> Answer:
        answer = right(op, version, x)
        wrong = [answer.exact[0] * (1 + 3e-8)]  # A relative error of a quarter of an ULP or more.
        return dataclasses.replace(answer, exact=wrong, outputs=[nearest(wrong[0], np.dtype(np.float32))])

    monkeypatch.setattr(precision, "answered", in_float32)
    found = precision.measured(op, version, SAMPLE)
    assert not found.good
    assert not found.as_known
    assert 0.5 < found.rounded < 1.1


def test_the_error_is_in_units_of_float32() -> None:
    mp = precision.mp
    assert precision.error(1.0, mp.mpf(1) + mp.ldexp(1, -24), overflow=True) == 0.5
    assert precision.error(0.0, mp.ldexp(1, -150), overflow=True) == 0.5
    assert precision.error(math.inf, mp.ldexp(1, 128), overflow=True) == 0
    assert precision.error(math.inf, mp.mpf(1), overflow=True) == math.inf
    assert precision.error(1.0, mp.ldexp(1, 128), overflow=True) == math.inf
    assert precision.error(math.nan, mp.nan, overflow=True) == 0
    assert precision.error(math.nan, mp.mpf(1), overflow=True) == math.inf


def test_the_inputs_have_all_exponents_and_both_signs() -> None:
    x = precision.inputs(8000, 3)
    assert len(set(x.tolist())) == 8000
    assert x.dtype == np.float32
    for side in (x[x > 0], -x[x < 0]):
        exponents = set(np.frexp(side)[1].tolist())
        assert exponents >= set(range(precision.NORMAL + 1, precision.MOST + 2))
        assert min(exponents) < precision.NORMAL
    np.testing.assert_array_equal(x, precision.inputs(8000, 3))


def test_the_table_names_the_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    some = [function("Exp"), function("Elu")]
    monkeypatch.setattr(precision, "functions", lambda: iter(some))
    done = CliRunner().invoke(precision.main, ["--inputs", "40"])
    assert done.exit_code == 0, done.output
    assert "1 of 2 operators have at most 0.5000001 ULP after rounding." in done.output
    assert "exp(x) - 1" in done.output
    monkeypatch.setattr(precision, "CANCELS", {"Exp": "nothing"})
    done = CliRunner().invoke(precision.main, ["--inputs", "40"])
    assert done.exit_code == 1
    assert "ai.onnx/Exp/13 is precise, so remove it from CANCELS" in done.output
    assert "ai.onnx/Elu/22 has " in done.output
    monkeypatch.setattr(precision, "FORMULAS", {})
    with refuses("no-formula", "ai.onnx/Exp/13"):
        precision.measured(*some[0], SAMPLE)
    assert CliRunner().invoke(precision.main, ["--op", "Softmax"]).exit_code == 2
