# SPDX-License-Identifier: Apache-2.0
"""The table of faults that depend on sizes: which operators notice each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

from onnx_conformance.generation import plans, sized
from onnx_conformance.specification import registry
from tools.size_faults import faults
from tools.size_faults.__main__ import SUITES, Noticed, main, measure, report, touches
from tools.size_faults.exempt import EXEMPT
from tools.size_faults.faults import FAULTS, other

if TYPE_CHECKING:
    from collections.abc import Sequence

SMALL, _, WITH_KERNELS = SUITES
NAMED = {fault.name: fault for fault in FAULTS}


def measured(*names: str) -> Noticed:
    noticed = Noticed()
    for name in names:
        measure(registry.load().named(name), noticed)
    return noticed


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "uint8", "int64", "bool", "complex64"])
def test_another_value_differs_from_every_value(dtype: str) -> None:
    values = np.arange(-8, 8).astype(dtype)
    assert (other(values) != values).all()
    assert (other(np.array([np.inf, np.nan])) == [1, 1]).all()
    assert other(np.array(["a", ""], object)).tolist() == ["a0", "0"]


def test_a_damage_leaves_the_other_elements() -> None:
    values = np.arange(1.0, 23).reshape(2, 11)
    changed = faults.tail(values)
    assert changed is not None
    assert np.argwhere(changed != values).tolist() == [[row, column] for row in (0, 1) for column in (8, 9, 10)]
    assert faults.tail(values[:, :8]) is None, "the length is that of a vector"
    assert faults.tail(values[:, :7]) is None, "no whole vector is in front"
    rows = np.ones((70, 3))
    changed = faults.beyond_the_first_rows(rows)
    assert changed is not None
    assert (changed[:64] == 1).all()
    assert (changed[64:] != 1).all()


def test_winograds_algorithm_computes_a_convolution() -> None:
    """Its result differs from the expected values by roundings only."""
    noticed = False
    for plan in _sized("Conv", "plane_b1_c4_m4_h14_k3"):
        wrong = faults.by_winograd(plan)
        assert wrong is not None
        (right,) = plan.expected or ()
        assert isinstance(right, np.ndarray)
        assert np.abs(wrong[0] - right).max() < 1e-3 * np.abs(right).max()
        noticed = noticed or not np.array_equal(wrong[0], right)
    assert noticed


def _sized(operator: str, name: str) -> Sequence[Any]:
    op = registry.load().named(operator)
    version = sized.version_of(op)
    assert version is not None
    items = [item for item in sized.cases(op, version) if item.spec.name == name and item.suffix == "float"]
    assert items
    return [plans.plan(op, version, item.spec, item.types, item.suffix) for item in items]


def test_the_sizes_of_a_product_show_faults_that_small_cases_hide() -> None:
    noticed = measured("MatMul")
    for name in ("rows beyond the first 64 of a product", "everything after element 65,535"):
        assert "ai.onnx/MatMul" in noticed.touched[name]
        assert "ai.onnx/MatMul" not in noticed.by[name, SMALL]
        assert "ai.onnx/MatMul" in noticed.by[name, WITH_KERNELS]
    assert not [fault.name for fault in FAULTS if noticed.missing(fault)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["Conv", "Gemm", "MatMulInteger", "QLinearConv", "ReduceSum", "Exp", "Add", "Softmax", "LSTM", "Resize"]
)
def test_every_fault_that_touches_an_operator_is_noticed(name: str) -> None:
    noticed = measured(name)
    assert any(noticed.touched.values())
    assert not [fault.name for fault in FAULTS if noticed.missing(fault)]


def test_an_operator_that_does_not_notice_is_named() -> None:
    noticed = Noticed()
    fault = FAULTS[0]
    noticed.touched[fault.name] |= {"ai.onnx/Add", "ai.onnx/Sub"}
    for suite in SUITES:
        noticed.by[fault.name, suite].add("ai.onnx/Add")
    text = "\n".join(report(noticed))
    assert f"{fault.name}: no case notices it of ai.onnx/Sub" in text
    assert noticed.missing(fault) == ["ai.onnx/Sub"]


def test_every_exemption_is_of_a_fault_and_of_an_operator_with_sized_calls() -> None:
    assert EXEMPT.keys() <= NAMED.keys()
    for name, operators in EXEMPT.items():
        for operator, reason in operators.items():
            assert registry.load().named(operator).calls, operator
            assert reason.endswith("."), operator
            assert not touches(NAMED[name], registry.load().named(operator))


def test_an_unknown_operator_is_rejected() -> None:
    done = CliRunner().invoke(main, ["--op", "ai.onnx/Convv"])
    assert done.exit_code == 2
    assert "no operator matches ai.onnx/Convv" in done.output
