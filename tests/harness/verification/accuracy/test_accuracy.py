# SPDX-License-Identifier: Apache-2.0
"""`accuracy` on runtimes whose errors are known."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from commands import command
from onnx_conformance.environments import backend_names
from onnx_conformance.verification.accuracy import (
    accumulators,
    inputs,
    measured,
    measuring,
    precise,
    script,
    truth,
    unary,
)
from onnx_conformance.verification.accuracy.measured import Place
from onnx_conformance.verification.accuracy.truth import Format
from paths import ADAPTERS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from onnx_conformance.verification.accuracy.measured import Accuracy, Elementwise, Growth

Array = np.ndarray[Any, Any]
FLOATS: dict[str, Any] = {
    "float": np.float32, "double": np.float64, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16,
}  # fmt: skip


def backend(fault: str = "") -> str:
    return str(ADAPTERS / "inaccurate.py") + (f"[{fault}]" if fault else "")


@functools.cache
def accuracy(fault: str, operator: str, *types: str) -> Accuracy:
    return measuring.accuracy(
        backend_names.resolve(backend(fault)), lambda name: name.split("/")[1] == operator, types, points=8
    )


def exp(fault: str, type_: str = "float") -> Elementwise:
    (row,) = accuracy(fault, "Exp", type_).elementwise
    return row


def added(fault: str, type_: str) -> Growth:
    (row,) = accuracy(fault, "ReduceSum", type_).growth
    return row


@functools.cache
def functions() -> dict[str, unary.Function]:
    return {
        measured.name_of(str(item.version), item.attributes): item
        for item in unary.functions(lambda name: name.split("/")[1] in NAMES)
    }


NAMES = {"Exp", "Softplus", "Gelu", "Mish", "Celu", "Tanh", "Softmax", "CumSum", "LpNormalization", "Transpose", "Cast"}


# The operators


def test_elementwise_operators_are_found_and_no_others() -> None:
    assert set(functions()) == {"Exp", "Softplus", "Gelu", "Gelu tanh", "Mish", "Celu", "Tanh"}


# The exact results


@pytest.mark.parametrize("type_", ["float", "bfloat16"])
def test_cancelling_formulas_have_exact_results(type_: str) -> None:
    """log(exp(-20) + 1) has 7 correct digits in float64; mpmath computes the others."""
    mpmath = pytest.importorskip("mpmath")
    item = functions()["Softplus"]
    values = np.array([-20.0, -30.0, -80.0, 0.5], FLOATS[type_])
    found = truth.of(item.op, item.version, item.attributes, values)
    assert found.judged.all()
    with mpmath.workprec(300):
        exact = [mpmath.log1p(mpmath.exp(float(value))) for value in values]
        unit = Format.of(values.dtype).unit(found.nearest)
        for one, high, low, step in zip(exact, found.nearest, found.rest, unit, strict=True):
            assert abs(one - mpmath.mpf(float(high)) - mpmath.mpf(float(low))) < step / 64


def test_without_mpmath_such_results_are_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precise, "available", lambda: False)
    item = functions()["Softplus"]
    found = truth.of(item.op, item.version, item.attributes, np.array([-20.0, 0.5], np.float32))
    assert found.known.tolist() == [False, True]


def test_without_mpmath_double_is_left_out_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precise, "available", lambda: False)
    found = measuring.accuracy(
        backend_names.resolve(backend()), lambda name: name == "ai.onnx/Exp/13", ("float16", "double")
    )
    assert [row.type for row in found.elementwise] == ["float16"]
    assert "mpmath" in found.notes[0]


@pytest.mark.parametrize(("type_", "name"), [("double", "Gelu"), ("double", "Exp"), ("float", "Gelu tanh")])
def test_the_exact_result_is_that_of_mpmath(type_: str, name: str) -> None:
    mpmath = pytest.importorskip("mpmath")
    formulas: dict[str, Callable[[Any], Any]] = {
        "Exp": mpmath.exp,
        "Gelu": lambda x: x * mpmath.erfc(-x / mpmath.sqrt(2)) / 2,
        "Gelu tanh": lambda x: (
            x * (1 + mpmath.tanh(mpmath.sqrt(2 / mpmath.pi) * (x + mpmath.mpf("0.044715") * x**3))) / 2
        ),
    }
    if type_ == "double" and name == "Gelu tanh":
        pytest.skip("the text does not define it")
    item = functions()[name]
    values = np.array([-9.5, -5.0, -0.3, 1e-9, 0.7, 3.25], FLOATS[type_])
    found = truth.of(item.op, item.version, item.attributes, values)
    with mpmath.workprec(400):
        for value, high, low in zip(values, found.nearest, found.rest, strict=True):
            exact = formulas[name](mpmath.mpf(float(value)))
            unit = mpmath.mpf(float(Format.of(values.dtype).unit(np.array(high))))
            assert abs(exact - mpmath.mpf(float(high)) - mpmath.mpf(float(low))) <= unit / 64, value


def test_an_unknown_constant_is_not_taken_for_exact() -> None:
    mpmath = pytest.importorskip("mpmath")
    with precise._context().workprec(200), mpmath.workprec(200):
        assert precise._number(0.044715) == mpmath.mpf("0.044715") != mpmath.mpf(0.044715)
    assert precise._number(1.25) == 1.25
    with pytest.raises(precise.PrecisionError, match=r"0\.8414709848078965"):
        precise._number(math.sin(1))


@pytest.mark.parametrize("type_", FLOATS)
def test_units_are_the_distances_of_neighbours(type_: str) -> None:
    dtype = np.dtype(FLOATS[type_])
    least, most = float(ml_dtypes.finfo(dtype).smallest_normal), float(ml_dtypes.finfo(dtype).max)
    for value in (1.0, 1.5, -3.0, least, least / 4, most):
        own = np.array([value], dtype)
        code = own.view(f"i{dtype.itemsize}")
        inner = (code - 1).view(dtype) if value == most else (code + 1).view(dtype)
        step = abs(float(inner[0]) - float(own[0]))
        assert Format.of(dtype).unit(np.array(value)) == step, value


def test_errors_are_distances_in_units() -> None:
    found = truth.Truth(
        np.array([1.0, 1.0, np.inf, 3e38, np.nan, 1.0]), np.array([0, 2.0**-25, 0, 0, 0, 0]),
        np.ones(6, bool), np.zeros(6, bool), None,  # type: ignore[arg-type]
    )  # fmt: skip
    actual = np.array([1 + 2.0**-22, 1.0, np.inf, np.inf, np.nan, np.nan], np.float32)
    errors = truth.errors(found, actual)
    assert errors[:3].tolist() == [2.0, 0.25, 0.0]
    assert 1e6 < errors[3] < 1e7  # Infinity counts as 2**128.
    assert errors[4] == 0
    assert np.isnan(errors[5])


# The inputs


def test_narrow_types_have_all_numbers() -> None:
    draw = np.random.default_rng(0)
    for type_ in ("float16", "bfloat16"):
        dtype = np.dtype(FLOATS[type_])
        values = inputs.sweep(dtype, 1, draw)
        with np.errstate(invalid="ignore"):
            finite = np.isfinite(np.arange(2**16, dtype=np.uint16).view(dtype).astype(np.float64)).sum()
        assert len(np.unique(values.view(np.uint16))) == finite + 3  # Two infinities, and one NaN.


def test_wide_types_have_every_exponent_and_neighbours() -> None:
    values = inputs.sweep(np.dtype(np.float32), 4, np.random.default_rng(0))
    exponents = np.frexp(np.abs(values[np.isfinite(values) & (values != 0)]))[1]
    assert set(range(-125, 129)) <= set(exponents.tolist())
    codes = np.sort(values[values > 0].view(np.int32))
    assert (np.diff(codes) == 1).sum() > 100
    assert {math.inf, -math.inf, 0.0} <= set(values.tolist())


def test_the_search_looks_around_the_worst_inputs() -> None:
    values = np.linspace(1, 2, 33, dtype=np.float32)[:-1]
    errors = np.where(values == 1.5, 7.0, 0.5)
    near = inputs.around(values, errors, inputs.ROUNDS - 1, np.random.default_rng(0))
    assert np.abs(near.view(np.int32) - np.float32(1.5).view(np.int32)).max() == inputs.CANDIDATES // 2


# Elementwise functions


def test_a_correctly_rounded_function_has_errors_of_half_a_unit() -> None:
    for type_ in ("float", "bfloat16"):
        row = exp("flush" if type_ == "bfloat16" else "", type_)  # Only floats are flushed.
        assert row.normal is not None
        assert 0.45 < row.normal.worst.ulp <= 0.5001, type_
        assert not row.special_count
        assert not row.disorder_count
        assert not row.flushed


def test_an_error_near_one_input_is_found_with_its_input() -> None:
    row = exp("exp")
    assert row.normal is not None
    assert 4.5 < row.normal.worst.ulp < 5.6
    assert abs(float(row.normal.worst.input) - 1.5) < 1.1e-2
    assert row.normal.percentile < 1  # One input in thousands.
    assert row.of_bound > 1


def test_a_fall_of_a_growing_function_is_found() -> None:
    row = exp("jump")
    assert row.disorder_count
    one, other = row.disorder[0]
    assert float(one.input) < float(other.input)
    assert float(one.actual) > float(other.actual)


def test_a_wrong_special_value_is_found() -> None:
    row = exp("nan", "float16")
    assert row.ulp == math.inf
    assert [(one.input, one.actual) for one in row.special] == [("-inf", "nan")]


def test_the_nearest_number_is_right_for_an_infinity_and_one_far_from_it_is_not() -> None:
    (right,) = accuracy("", "Atan", "float16").elementwise
    assert right.special_count == 0
    (wrong,) = accuracy("limit", "Atan", "float16").elementwise
    assert [one.input for one in wrong.special] == ["inf", "-inf"]


def test_an_earlier_version_takes_the_place_of_one_that_the_runtime_lacks() -> None:
    (row,) = accuracy("old", "Exp", "float16").elementwise
    assert row.operator == "ai.onnx/Exp/6"
    (product,) = accuracy("old", "MatMul", "float16").growth
    assert product.operator == "ai.onnx/MatMul/9"
    assert not accuracy("old", "ReduceSum", "float16").growth, "in version 11, axes is an attribute"
    assert not accuracy("old", "Exp", "bfloat16").elementwise, "version 6 has no bfloat16"


def test_results_that_are_flushed_to_zero_are_counted() -> None:
    row = exp("flush")
    assert row.flushed
    assert row.normal is not None
    assert row.normal.worst.ulp < 0.51  # They are listed apart.


# Sums


def test_a_sum_in_float16_is_named() -> None:
    row = added("float16", "float16")
    assert row.accumulator is not None
    assert (row.accumulator.bits, row.accumulator.order) == (11, "sequential")
    assert row.terms[-1].ulp > 100
    assert row.exponent is not None
    assert row.exponent > 0.5
    assert row.terms[-1].of_bound > 1


def test_a_sum_of_floats_in_float16_is_named() -> None:
    row = added("float16", "float")
    assert row.accumulator is not None
    assert row.accumulator.bits == 11


def test_the_order_of_a_sum_is_found() -> None:
    one, other = added("", "float").accumulator, added("pairwise", "float").accumulator
    assert one is not None
    assert (one.bits, one.order, one.depth) == (24, "sequential", 63)
    assert other is not None
    assert (other.bits, other.order, other.depth) == (24, "pairwise", 6)
    grown, pairs = added("", "float").exponent, added("pairwise", "float").exponent
    assert grown is not None
    assert pairs is None or pairs < grown


def blocked(rows: Array) -> Array:
    lanes = np.zeros((len(rows), 4), rows.dtype)
    for first in range(0, rows.shape[1], 4):
        lanes = lanes + rows[:, first : first + 4]
    return np.asarray((lanes[:, 0] + lanes[:, 1]) + (lanes[:, 2] + lanes[:, 3]), np.float64)


def test_partial_sums_are_found() -> None:
    found = accumulators.probed(blocked, np.dtype(np.float32))
    assert found is not None
    assert (found.bits, found.order, found.depth) == (24, "blocked", 17)


def test_an_exact_sum_has_a_wide_accumulator() -> None:
    found = accumulators.probed(lambda rows: np.array([math.fsum(row) for row in rows.tolist()]), np.dtype(np.float16))
    assert found is not None
    assert found.bits is None


def test_sums_that_belong_to_no_tree_have_no_order() -> None:
    def shuffled(rows: Array) -> Array:
        draw = np.random.default_rng(int(np.flatnonzero(rows[0])[0]))
        found = [np.add.accumulate(draw.permuted(row)[None], 1, dtype=np.float32)[0, -1] for row in rows]
        return np.array(found, np.float64)

    found = accumulators.probed(shuffled, np.dtype(np.float32))
    assert found is not None
    assert found.order == "unordered"


# The command


def written(folder: Path, fault: str, operator: str) -> Path:
    path = folder / f"{fault}{operator}.json"
    path.write_text(measured.as_json(accuracy(fault, operator, "float16")), encoding="utf-8")
    return path


def test_the_table_fits_80_columns_and_names_the_input(tmp_path: Path) -> None:
    path = tmp_path / "exp.json"
    path.write_text(measured.as_json(accuracy("exp", "Exp", "float")), encoding="utf-8")
    done = command("accuracy", "show", path)
    assert done.status == 0, done.text
    assert max(map(len, done.out.splitlines())) <= 80
    (row,) = [line.split() for line in done.out.splitlines() if line.startswith("Exp ")]
    assert row[1] == "float"
    assert 4.5 < float(row[2]) < 5.6
    assert abs(float(row[-1]) - 1.5) < 1.1e-2


def test_the_json_is_valid_and_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    words = ("--backend", backend("nan"), "--op", "Exp", "--op", "ReduceSum", "--type", "float16")
    done = command("accuracy", *words, "--format", "json", "--out", path)
    assert done.status == 0, done.text
    parsed = json.loads(path.read_text("utf-8"))
    assert parsed["elementwise"][0]["special_count"] == 1
    found = measured.read(path)
    assert measured.as_json(found) == path.read_text("utf-8").rstrip("\n")
    done = command("accuracy", "show", path)
    assert "Exp float16: 1 input, such as -inf: expected 0.0, actual nan" in done.out


OWN = "outputs = [np.exp(inputs['input_0'].astype(np.float64)).astype(inputs['input_0'].dtype)]\n"
"""The code of a runtime whose exponential is correctly rounded."""
FAULTS = {
    "exp": ("float", "x = inputs['input_0']\noutputs = [(np.exp(x).view(np.int32) + 5).view(np.float32)]\n"),
    "nan": ("float16", "outputs = [np.exp(inputs['input_0']) * np.nan]\n"),
}
"""By fault of the adapter: a type, and code of a runtime with such a fault."""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_script_shows_the_largest_error(fault: str, tmp_path: Path) -> None:
    type_, code = FAULTS[fault]
    path = tmp_path / "exp.json"
    for own, status in ((code, 1), (OWN, 0)):
        found = dataclasses.replace(accuracy(fault, "Exp", type_), repro=own)
        path.write_text(measured.as_json(found), encoding="utf-8")
        file = tmp_path / "script.py"
        done = command("accuracy", "repro", path, "--op", "Exp", "--type", type_, "--out", file)
        assert done.status == 0, done.text
        ran = subprocess.run([sys.executable, file], capture_output=True, text=True, check=False)
        assert ran.returncode == status, ran.stdout + ran.stderr
        assert ran.stdout.startswith("input ")


def test_the_error_of_an_infinite_double_is_finite_in_the_script() -> None:
    """As in `truth.errors`, an infinity counts as the first power of 2 beyond the range."""
    place = Place(4.75845e285, "3.4028236692093843e+38", "3.4028236692093843e+38", "inf")
    found = accuracy("", "Exp", "double")
    (row,) = found.elementwise
    assert row.normal is not None
    row = dataclasses.replace(row, normal=dataclasses.replace(row.normal, worst=place), special=())
    text = script.script(dataclasses.replace(found, repro="outputs = [np.full(3, np.inf)]\n"), row)
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert ran.stdout.strip().endswith("error 4.758454e+285 ULP")


def test_a_script_for_bfloat16_uses_the_code_for_wide_types(tmp_path: Path) -> None:
    found = dataclasses.replace(accuracy("", "Exp", "bfloat16"), repro="raise SystemExit(3)\n", repro_wide=OWN)
    path = tmp_path / "exp.json"
    path.write_text(measured.as_json(found), encoding="utf-8")
    done = command("accuracy", "repro", path, "--op", "Exp", "--type", "bfloat16")
    ran = subprocess.run([sys.executable, "-c", done.out], capture_output=True, text=True, check=False)
    assert ran.returncode in {0, 1}, ran.stderr
    assert "ULP" in ran.stdout


@pytest.mark.parametrize(
    ("words", "problem", "hint"),
    [
        (("--op", "Exp", "--type", "float16"), "accuracy-without-code", "no code that calls"),
        (("--op", "Tan", "--type", "float16"), "accuracy-without-function", "it has Exp"),
        (("--op", "Exp", "--type", "double"), "accuracy-without-function", "it has none"),
    ],
)
def test_a_script_that_cannot_be_written_gets_one_sentence(
    words: tuple[str, ...], problem: str, hint: str, tmp_path: Path
) -> None:
    path = tmp_path / "exp.json"
    path.write_text(
        measured.as_json(dataclasses.replace(accuracy("nan", "Exp", "float16"), repro="")), encoding="utf-8"
    )
    done = command("accuracy", "repro", path, *words)
    assert done.refused(problem), done.text
    assert hint in done.err


def test_two_files_are_compared(tmp_path: Path) -> None:
    good, bad = written(tmp_path, "pairwise", "ReduceSum"), written(tmp_path, "float16", "ReduceSum")
    done = command("accuracy", "compare", good, bad)
    assert done.status == 1
    assert [line.split()[:3] for line in done.out.splitlines() if "ReduceSum" in line] == [
        ["worse", "ReduceSum", "float16"]
    ]
    assert command("accuracy", "compare", bad, good).status == 0
    same = command("accuracy", "compare", good, good)
    assert same.status == 0
    assert "no function became" in same.out


def test_the_page_has_a_chart_of_each_function(tmp_path: Path) -> None:
    function, total = written(tmp_path, "nan", "Exp"), written(tmp_path, "float16", "ReduceSum")
    page = tmp_path / "page.html"
    assert command("accuracy", "show", function, total, function, "--format", "html", "--out", page).status == 0
    text = page.read_text("utf-8")
    assert text.count("<svg") == 2
    assert text.count("<polyline") == 3  # Two runtimes have the function.
    assert "Exp, float16" in text


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--backend", "onnx_reference", "--op", "Split"), "accuracy-of-nothing"),
        (("--backend", "onnx_checker", "--op", "Exp", "--type", "float16"), "accuracy-of-a-tool"),
        (("--backend", "onnx_reference", "--op", "Exp", "--format", "html"), "html-without-out"),
        (("show", "missing.json"), "accuracy-not-readable"),
        (("compare", "text.json", "text.json"), "accuracy-not-json"),
        (("show", "other.json"), "accuracy-not-valid"),
    ],
)
def test_bad_input_gets_one_sentence(
    words: tuple[str, ...], problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.json").write_text("no JSON", encoding="utf-8")
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")
    done = command("accuracy", *words)
    assert done.refused(problem), done.text
    assert len(done.err.strip().splitlines()) == 1, done.text


def test_a_command_without_a_backend_is_refused() -> None:
    done = command("accuracy")
    assert done.status == 2
    assert "--backend" in done.err
