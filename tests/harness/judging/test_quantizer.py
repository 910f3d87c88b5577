# SPDX-License-Identifier: Apache-2.0
"""The limits of the judge of quantizers: ranges, scales, and constants that are near the original ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import faulty
import numpy as np
import onnx
import pytest

from commands import command
from onnx_conformance.base.under_test import Subject
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.judging import quantizer
from onnx_conformance.judging.unrounded import Unlike, Unrounded, Watched
from onnx_conformance.processes.replies import ReturnedModel
from onnx_conformance.suites.lookup import find_case, open_suite

CASE = "ai.onnx/Conv/22/line_b2_c3_m8_w33_k3/float@initializer"
WRONG = Path(faulty.__file__).parent / "wrong_quantizer.py"
NUMBERS = np.array([-1.0, 2.0])


def watched(**changes: object) -> Watched:
    fields = {"name": "x", "scale_name": "s", "scale": 3 / 255, "low": -1.0, "high": 2.0, "steps": 255.0, "made_by": ""}
    return Watched(**{**fields, **changes})  # type: ignore[arg-type]


def model_with(*items: Watched) -> Unrounded:
    return Unrounded(onnx.ModelProto(), quantizes=True, watched=list(items))


@pytest.mark.parametrize(
    ("low", "high", "is_narrow"),
    [(-1.0, 2.0, False), (-1.0, 1.5, True), (-0.5, 2.0, True), (0.0, 2.0, False)],  # The last one replaces a Relu.
)
def test_a_range_contains_its_numbers_unless_it_ends_at_zero(low: float, high: float, *, is_narrow: bool) -> None:
    assert bool(quantizer._narrow(model_with(watched(low=low, high=high)), {"x": NUMBERS})) == is_narrow


@pytest.mark.parametrize(
    ("factor", "steps", "made_by", "is_coarse"),
    [
        (1, 255, "", False),
        (4.1, 255, "", False),
        (4.3, 255, "", True),
        (4.3, np.inf, "", False),  # A short float.
        (1, 255, "Softmax", False),
    ],
)
def test_a_scale_is_not_coarser_than_necessary(factor: float, steps: float, made_by: str, *, is_coarse: bool) -> None:
    item = watched(scale=factor * 3 / 255, steps=steps, made_by=made_by)
    assert bool(quantizer._coarse(model_with(item), {"x": NUMBERS})) == is_coarse


def test_a_bounded_operator_may_have_a_scale_for_all_its_results() -> None:
    values = {"x": np.array([0.0, 0.1])}
    for made_by, is_coarse in (("Softmax", False), ("Add", True)):
        assert bool(quantizer._coarse(model_with(watched(scale=1 / 255, made_by=made_by)), values)) == is_coarse


def test_a_tensor_may_share_the_scale_of_one_with_larger_numbers() -> None:
    small = watched(name="y", scale_name="other")
    values = {"x": NUMBERS, "y": NUMBERS / 100}
    assert not quantizer._coarse(model_with(watched(), small), values)
    assert quantizer._coarse(model_with(small), values)


@pytest.mark.parametrize(
    ("error", "is_fine", "verdict"),
    [
        (0.01, True, Verdict.UNSPECIFIED),
        (0.05, True, Verdict.WRONG_VALUE),
        (0.05, False, Verdict.UNSPECIFIED),
        (0.4, False, Verdict.WRONG_VALUE),
    ],
)
def test_constants_may_change_if_the_results_are_near(error: float, verdict: Verdict, *, is_fine: bool) -> None:
    case = find_case(CASE, (open_suite("kernels"),))
    assert case.expected is not None
    expected = np.asarray(case.expected[0])
    exact = Unrounded(onnx.ModelProto(), unlike=[Unlike("W", (0,), 1.0, 2.0, 3.0, is_fine)])
    fields = quantizer._constants_fault(case, exact, [expected + np.float32(error) * np.abs(expected).max()])
    assert fields is not None
    assert fields["verdict"] is verdict


def test_a_model_that_is_quantized_already_has_no_verdict() -> None:
    case = find_case("ai.onnx/QuantizeLinear/25/zero_point_zero")
    reply = ReturnedModel(case.model, len(case.model), Subject.QUANTIZER, None)
    assert quantizer.judged(case, reply)["verdict"] is Verdict.UNSPECIFIED


@pytest.mark.slow
def test_a_script_recognizes_the_model_that_was_judged(tmp_path: Path) -> None:
    done = command("repro", CASE, "--suite", "kernels", "--backend", f"{WRONG}[clipped]")
    assert done.status == 0, done.text
    path = tmp_path / "script.py"
    path.write_text(done.out, encoding="utf-8")
    for option, status in (("clipped", 1), ("narrow", 2)):
        environment = {**os.environ, "ONNX_CONFORMANCE_OPTION": option}
        ran = subprocess.run(
            [sys.executable, str(path)], env=environment, capture_output=True, text=True, check=False, timeout=120
        )
        assert ran.returncode == status, ran.stdout + ran.stderr
