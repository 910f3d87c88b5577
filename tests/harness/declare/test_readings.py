# SPDX-License-Identifier: Apache-2.0
"""The register of readings, and the cases that rest on one."""

from __future__ import annotations

import fnmatch
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner

from commands import command
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.cli.cases import readings_
from onnx_conformance.declare import EXACT, Clause, Op, Rejected, Tag, Version, typed, ulp
from onnx_conformance.declare.readings import DOUBLE, ONE_ELEMENT, READINGS, SUBNORMAL, ReadingError, named, sentence
from onnx_conformance.generation import plans
from onnx_conformance.report import case as case_report
from onnx_conformance.results.files import Run
from onnx_conformance.specification import registry
from refusals import refuses

if TYPE_CHECKING:
    from pathlib import Path

CLAUSE = Clause("ai.onnx/Pad", "A scalar value.")


def test_each_reading_has_a_number_of_its_own_an_answer_and_a_reason() -> None:
    assert list(READINGS) == [f"R{number}" for number in range(1, len(READINGS) + 1)]
    for reading in READINGS.values():
        assert reading.question.endswith("?"), reading
        assert reading.answer.endswith("."), reading
        assert reading.reason.endswith("."), reading
        assert all(re.fullmatch(r"https://github\.com/onnx/onnx/(pull|issues)/\d+", link) for link in reading.see)


def test_a_number_that_is_none_is_named_with_those_there_are() -> None:
    with refuses("unknown-reading", "R99", "R1, R2", kind=ReadingError):
        named(["R1", "R99"])
    assert named(["R1"]) == {"R1"}


@pytest.mark.parametrize(("shape", "rests"), [((), False), ((1,), True)])
def test_one_element_does_for_a_scalar_and_that_is_a_reading(shape: tuple[int, ...], rests: bool) -> None:  # noqa: FBT001
    version = Version(13)
    scalar = version.scalar(CLAUSE, np.full(shape, 7))
    assert (scalar.shape, scalar.item()) == ((), 7)
    assert version.rests_on == ({ONE_ELEMENT} if rests else set())


@pytest.mark.parametrize("shape", [(2,), (1, 1), (0,)])
def test_other_shapes_are_no_scalar(shape: tuple[int, ...]) -> None:
    with pytest.raises(Rejected):
        Version(13).scalar(CLAUSE, np.zeros(shape))


def case_of(operator: str, version: int, name: str) -> plans.Case:
    op = registry.load().named(operator)
    return next(case for case in plans.cases(op, (version,)) if case.id.endswith(f"/{name}"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operator", "version", "name"),
    [
        ("Pad", 19, "constant_value_vector"), ("Loop", 21, "count_vector"), ("Range", 11, "of_shape_1"),
        ("QuantizeLinear", 10, "scale_of_rank1"), ("QLinearMatMul", 21, "scalars_as_vectors"),
    ],
)  # fmt: skip
def test_the_reading_on_scalars_is_applied_alike(operator: str, version: int, name: str) -> None:
    case = case_of(operator, version, name)
    assert "R1" in case.readings
    assert case.outcome in {"values", "property"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operator", "version", "name"), [("Clip", 13, "min_is_vector"), ("CumSum", 14, "axis_vector")]
)
def test_a_sentence_that_names_the_shape_of_a_scalar_forbids_others(operator: str, version: int, name: str) -> None:
    op = registry.load().named(operator)
    cases = [case for case in plans.cases(op, (version,)) if case.id.endswith(f"/{name}")]
    assert all(case.outcome == "rejects" and not case.readings for case in cases)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operator", "version", "glob", "number"),
    [
        ("Softmax", 13, "large*", "R4"),
        ("ReduceLogSumExp", 18, "far_apart*", "R4"),
        ("Range", 11, "count_beyond_double", "R4"),
        ("Mod", 28, "large_quotients_floor_*", "R4"),
        ("Less", 13, "extremes_float", "R5"),
        ("Max", 13, "nan_float", "R5"),
        ("ReduceMin", 20, "nan", "R5"),
        ("MaxPool", 22, "nan", "R5"),
        ("Relu", 14, "nan", "R5"),
        ("Unique", 11, "nan", "R5"),
        ("TopK", 11, "nan*", "R5"),
        ("ArgMax", 13, "nan*", "R5"),
        ("Clip", 13, "nan_m*", "R5"),
        ("Split", 18, "both", "R6"),
        ("NonMaxSuppression", 11, "batches*", "R7"),
        ("GRU", 3, "not_symmetric", "R8"),
        ("LSTM", 1, "not_symmetric", "R8"),
        ("RNN", 1, "not_symmetric", "R8"),
        ("Resize", 19, "scales_of_rounded_lengths*", "R9"),
        ("Resize", 11, "scales_of_rounded_lengths*_before_13", "R9"),
    ],
)
def test_a_reading_is_named_by_the_cases_that_rest_on_it(operator: str, version: int, glob: str, number: str) -> None:
    op = registry.load().named(operator)
    of_version = [case for case in plans.cases(op, (version,)) if case.form == "plain"]
    cases = [case for case in of_version if fnmatch.fnmatchcase(case.id.split("/")[3], glob)]
    assert cases
    assert all(number in case.readings for case in cases), [case.id for case in cases if number not in case.readings]
    assert any(number not in case.readings for case in of_version)


def test_a_function_body_rests_on_the_readings_of_its_parts() -> None:
    op = registry.load().named("LessOrEqual")
    cases = [case for case in plans.cases(op, (16,)) if case.form == "expanded" and "/extremes_float" in case.id]
    assert cases
    assert all("R5" in case.readings for case in cases)


def unary(tolerance: str) -> Op:
    op = Op("Relu", versions=(14,), compare=EXACT if tolerance == "exact" else ulp(1, "one"), rank="X")

    @op.oracle()
    def same(v: Version, X: np.ndarray) -> np.ndarray:  # noqa: ARG001, N803
        return X

    op.case("floats", Tag.BASIC, X=[1.0, 2.0])
    op.case("doubles", Tag.BASIC, X=typed("double", [1.0, 2.0]))
    op.case("subnormals", Tag.BASIC, X=[1e-45, 2.0])
    op.case("subnormal_halves", Tag.BASIC, X=typed("float16", [1e-7]))
    op.case("zeros", Tag.BASIC, X=[0.0, -0.0, np.nan, np.inf])
    return op


@pytest.mark.parametrize(
    ("name", "tolerance", "rests"),
    [
        ("floats", "ulp", ()),
        ("doubles", "ulp", (DOUBLE.number,)),
        ("doubles", "exact", ()),
        ("subnormals", "ulp", (SUBNORMAL.number,)),
        ("subnormals", "exact", (SUBNORMAL.number,)),
        ("subnormal_halves", "ulp", (SUBNORMAL.number,)),
        ("zeros", "ulp", ()),
    ],
)
def test_precision_is_a_reading_where_the_values_show_it(name: str, tolerance: str, rests: tuple[str, ...]) -> None:
    op = unary(tolerance)
    (plan,) = plans.plans(op, specs=[spec for spec in op if spec.name == name])
    assert plan.readings == rests


def test_a_case_is_shown_with_its_reading() -> None:
    text = "\n".join(case_report.lines(case_of("Pad", 19, "constant_value_vector")))
    assert "reading: R1: If a text requires a scalar" in text


def test_the_register_is_printed() -> None:
    done = CliRunner().invoke(readings_)
    assert done.exit_code == 0
    for reading in READINGS.values():
        assert sentence(reading.number).split(":")[0] in done.output
        assert reading.question in done.output


@pytest.mark.slow
def test_cases_that_rest_on_a_reading_are_not_scored_where_a_run_does_without(tmp_path: Path) -> None:
    results = tmp_path / "r.ndjson"
    words = ["run", "--backend", "oracle", "--case", "ai.onnx/Pad/19/constant_value_vector", "--results", results]
    assert command(*words).status == 0
    assert [item.verdict for item in Run(results).results()] == [Verdict.PASS]
    command(*words, "--overwrite", "--without-reading", "R1")
    [result] = Run(results).results()
    assert (result.verdict, result.readings) == (Verdict.UNSPECIFIED, ("R1",))
    assert Run(results).header["arguments"]["without_readings"] == ["R1"]


def test_a_reading_that_does_not_exist_is_named_with_those_that_do() -> None:
    done = command("run", "--without-reading", "R77")
    assert done.status == 2
    assert done.refused("unknown-reading", "R77", "R1, R2")
