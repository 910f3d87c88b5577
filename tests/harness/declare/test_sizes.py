# SPDX-License-Identifier: Apache-2.0
"""Sized calls: the drawn values, the combinations of sizes, and the declarations."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import pytest

from onnx_conformance.declare import EXACT, Multidirectional, Op, every_two, every_value, typed
from onnx_conformance.declare.data import SWEPT, Data
from onnx_conformance.declare.sizes import (
    among,
    filled,
    fractions,
    grid,
    indices_of,
    listed,
    pairwise,
    sequence,
    several,
    shape_of,
    together,
    tuples,
)
from refusals import refuses

if TYPE_CHECKING:
    from onnx_conformance.declare.sizes import Sizes

KEY = "ai.onnx/MatMul rows_m3_k4 A"


def test_drawn_values_depend_on_the_text_alone() -> None:
    first = fractions(KEY, 1000)
    assert first[:3].tolist() == [0.9267746339637273, 0.5459723918922705, 0.3456924561427379]
    assert np.array_equal(fractions(KEY, 10), first[:10])
    assert not np.array_equal(fractions(f"{KEY}B", 1000), first)
    assert first.min() >= 0
    assert first.max() < 1
    assert abs(first.mean() - 0.5) < 0.05


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16])
def test_floats_are_within_their_limits(dtype: type) -> None:
    values = filled("m", "k", floats=(-0.5, 2)).data({"m": 30, "k": 40}, KEY).of(np.dtype(dtype))
    assert values.shape == (30, 40)
    assert values.dtype == dtype
    assert -0.5 <= values.astype(np.float64).min() < -0.4
    assert 1.9 < values.astype(np.float64).max() <= 2


@pytest.mark.parametrize(("dtype", "least"), [(np.int8, -3), (np.uint8, 0), (np.int64, -3)])
def test_integers_have_all_numbers_within_their_limits(dtype: type, least: int) -> None:
    values = filled(1000, integers=(-3, 5)).data({}, KEY).of(np.dtype(dtype))
    assert sorted({*values.tolist()}) == list(range(least, 6))


def test_integers_may_be_the_indices_of_a_dimension() -> None:
    drawn = filled("m", below="g").data({"m": 400, "g": 3}, KEY)
    assert {*drawn.of(np.dtype(np.int64)).tolist()} == {0, 1, 2}


def test_a_dimension_may_be_a_product() -> None:
    drawn = filled("b", (4, "h"), (2, "h", "b")).data({"b": 3, "h": 5}, KEY)
    assert drawn.of(np.dtype(np.float32)).shape == (3, 20, 30)


def test_an_argument_may_have_a_type_of_its_own() -> None:
    op = Op("RMSNormalization", versions=(23,), compare=EXACT)
    arguments = {"X": filled("n"), "scale": filled("n", type_="{T}")}
    op.sized("rows", grid(n=(3,)), cites=op.clause("`Y` and `X` have the same shape."), arguments=arguments)
    (case,) = op.sized_cases()
    assert isinstance(case.arguments["X"], Data)
    assert (case.arguments["scale"].type, case.arguments["scale"].values.shape) == ("{T}", (3,))


def test_texts_and_booleans_are_drawn_too() -> None:
    assert {*filled(100, integers=(0, 2)).data({}, KEY).of(np.dtype(object)).tolist()} == {"s0", "s1", "s2"}
    assert {*filled(100).data({}, KEY).of(np.dtype(bool)).tolist()} == {True, False}


def test_elements_are_among_the_values() -> None:
    numbers = among([-np.inf, 0, np.inf], "n").data({"n": 100}, KEY)
    assert {*numbers.of(np.dtype(np.float16)).tolist()} == {-np.inf, 0, np.inf}
    texts = among(["a", "b c"], 10, 10).data({}, KEY).of(np.dtype(object))
    assert texts.shape == (10, 10)
    assert {*texts.reshape(-1).tolist()} == {"a", "b c"}


@pytest.mark.parametrize(("back", "least"), [(False, 0), (True, -7)])
def test_indices_are_those_of_their_dimension(*, back: bool, least: int) -> None:
    indices = indices_of("n", 20, 30, back=back).data({"n": 7}, KEY).of(np.dtype(np.int32))
    assert (indices.shape, indices.dtype) == ((20, 30), np.dtype(np.int32))
    assert {*indices.reshape(-1).tolist()} == {*range(least, 7)}


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_distinct_indices_occur_once_along_their_axis(axis: int) -> None:
    drawn = indices_of("n", "n", 9, 8, back=True, distinct=axis).data({"n": 9}, KEY).of(np.dtype(np.int64)) % 9
    lanes = np.moveaxis(drawn, axis, -1).reshape(-1, drawn.shape[axis])
    assert all(len({*lane}) == len(lane) for lane in lanes.tolist())
    assert len({*map(tuple, lanes.tolist())}) > 1, "the lanes have orders of their own"


def test_tuples_are_places_of_a_tensor() -> None:
    places = tuples(("a", "b"), 4, 25).data({"a": 3, "b": 5}, KEY).of(np.dtype(np.int64))
    assert places.shape == (4, 25, 2)
    assert {*map(tuple, places.reshape(-1, 2).tolist())} == {(row, column) for row in range(3) for column in range(5)}
    once = tuples(("a", "b"), 15, distinct=True).data({"a": 3, "b": 5}, KEY).of(np.dtype(np.int64))
    assert len({*map(tuple, once.tolist())}) == 15


def test_a_grid_has_all_combinations() -> None:
    assert grid(m=(1, 2), n=(3, 4)) == [{"m": 1, "n": 3}, {"m": 1, "n": 4}, {"m": 2, "n": 3}, {"m": 2, "n": 4}]


def test_every_pair_of_sizes_occurs_that_fits() -> None:
    numbers, most = (1, 3, 8, 20), 1000
    chosen = pairwise(most=most, m=numbers, k=numbers, n=numbers)
    assert len(chosen) < len(numbers) ** 3 / 2
    assert all(list(sizes) == ["m", "k", "n"] for sizes in chosen)
    assert all(sizes["m"] * sizes["k"] * sizes["n"] <= most for sizes in chosen)
    for one, other in itertools.combinations("mkn", 2):
        pairs = {(sizes[one], sizes[other]) for sizes in chosen}
        assert pairs == {(a, b) for a in numbers for b in numbers if a * b <= most}


def test_the_arguments_of_a_case_depend_on_its_sizes() -> None:
    op = Op("Concat", versions=(13,), compare=EXACT)
    clause = op.clause("A list of input tensors")
    arguments = {"inputs": filled("n"), "axis": lambda sizes: sizes["n"] - 3, "other": 7}
    op.sized("length", grid(n=(3, 4)), cites=clause, arguments=arguments)
    first, second = op.sized_cases()
    assert (first.name, second.name) == ("length_n3", "length_n4")
    assert (second.arguments["axis"], second.arguments["other"], second.cites) == (1, 7, (clause,))
    assert not list(op), "they are not cases of the suite generated"
    for name in ("length", "Length", ""):
        with refuses("sized-name-invalid", name):
            op.sized(name, [], cites=clause, arguments={})


def test_every_tensor_of_a_variadic_input_has_values_of_its_own() -> None:
    op = Op("Concat", versions=(13,), compare=EXACT)
    op.sized(
        "pair",
        grid(n=(9,)),
        cites=op.clause("A list"),
        arguments={"inputs": (filled("n"), filled("n")), "pads": (0, 1)},
    )
    (case,) = op.sized_cases()
    first, second = (item.of(np.dtype(np.float32)) for item in case.arguments["inputs"])
    assert first.shape == second.shape == (9,)
    assert not np.array_equal(first, second)
    assert case.arguments["pads"] == (0, 1)


def test_the_number_of_tensors_and_of_outputs_may_be_a_dimension() -> None:
    op = Op("Concat", versions=(13,), compare=EXACT)
    arguments = {
        "inputs": several("count", lambda index: filled(index + 1, "n")),
        "list": sequence(2, lambda _: indices_of("n", "n")),
    }
    op.sized("many", grid(count=(3,), n=(2,)), n="count", cites=op.clause("A list"), arguments=arguments)
    (case,) = op.sized_cases()
    assert case.n == 3
    assert isinstance(case.arguments["inputs"], tuple)
    assert [item.shape for item in case.arguments["inputs"]] == [(1, 2), (2, 2), (3, 2)]
    assert isinstance(case.arguments["list"], list)
    first, second = case.arguments["list"]
    assert first.shape == second.shape == (2,)


def test_attributes_and_typed_values_are_drawn_too() -> None:
    op = Op("Concat", versions=(13,), compare=EXACT)
    arguments = {
        "weights": listed(filled(2, "n", floats=(0, 1)), np.float32),
        "counts": listed(indices_of("n", 5), np.int64),
        "indices": typed("int32", indices_of("n", "n")),
        "shape": shape_of("n", 3),
    }
    op.sized("drawn", grid(n=(4,)), cites=op.clause("A list"), arguments=arguments)
    (case,) = op.sized_cases()
    weights, counts = case.arguments["weights"], case.arguments["counts"]
    assert len(weights) == 8
    assert all(isinstance(item, float) and np.float32(item) == item for item in weights)
    assert [type(item) for item in counts] == [int] * 5
    assert case.arguments["indices"].type == "int32"
    assert case.arguments["indices"].values.of(np.dtype(np.int32)).shape == (4,)
    assert case.arguments["shape"] == [4, 3]


def test_arguments_that_belong_together_are_computed_once_and_when_they_are_used() -> None:
    op = Op("Concat", versions=(13,), compare=EXACT)
    calls: list[int] = []

    def both(sizes: Sizes) -> dict[str, int]:
        calls.append(sizes["n"])
        return {"first": sizes["n"], "second": -sizes["n"]}

    op.sized("pair", grid(n=(4, 5)), cites=op.clause("A list"), arguments=together(both, "first", "second"))
    cases = list(op.sized_cases())
    assert [[*case.arguments] for case in cases] == [["first", "second"]] * 2
    assert not calls
    assert [dict(case.arguments) for case in cases] == [{"first": 4, "second": -4}, {"first": 5, "second": -5}]
    assert calls == [4, 5]
    assert "third" not in cases[0].arguments


def test_an_argument_is_computed_once_for_a_case() -> None:
    op = Op("Concat", versions=(13,), compare=EXACT)
    calls: list[int] = []
    arguments = {"axis": lambda sizes: calls.append(sizes["n"])}
    op.sized("axis", grid(n=(4,)), cites=op.clause("A list"), arguments=arguments)
    (case,) = op.sized_cases()
    assert case.arguments["axis"] is None
    assert case.arguments["axis"] is None
    assert calls == [4]


def test_the_sizes_of_two_tensors_may_be_limited() -> None:
    op = Op("Add", versions=(14,), compare=EXACT)
    numpy = Multidirectional(op)
    numpy.sized(numpy.clause, lambda one, other: {"A": filled(*one), "B": filled(*other)}, most=700)
    products = [math.prod(sizes.values()) for call in op.calls for _, sizes in call.each()]
    assert len(products) > 10
    assert 500 < max(products) <= 700


SIXTEEN_BITS = (np.float16, ml_dtypes.bfloat16, np.int16, np.uint16)


@pytest.mark.parametrize("dtype", [*SIXTEEN_BITS, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu, np.int8, np.uint8])
def test_every_value_of_a_small_type_occurs_once(dtype: type) -> None:
    values = every_value().of(np.dtype(dtype))
    assert values.dtype == dtype
    codes = values.view(f"u{values.itemsize}")
    assert sorted(codes.tolist()) == list(range(1 << (8 * values.itemsize)))


@pytest.mark.parametrize(
    ("dtype", "bits"),
    [
        (ml_dtypes.float4_e2m1fn, 4),
        (ml_dtypes.float6_e2m3fn, 6),
        (ml_dtypes.int4, 4),
        (ml_dtypes.uint4, 4),
        (ml_dtypes.int2, 2),
        (ml_dtypes.uint2, 2),
        (bool, 1),
    ],
)
def test_every_value_of_a_type_below_a_byte_occurs_once(dtype: type, bits: int) -> None:
    values = every_value().of(np.dtype(dtype)).astype(np.float64)
    assert len({(value, math.copysign(1, value)) for value in values.tolist()}) == values.size == 1 << bits


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_sweep_has_every_exponent_with_both_signs(dtype: type) -> None:
    values = every_value().of(np.dtype(dtype))
    info = np.finfo(dtype)
    fields = values.view(f"u{values.itemsize}") >> np.asarray(info.nmant, f"u{values.itemsize}")
    exponents, counts = np.unique(fields, return_counts=True)
    assert exponents.tolist() == list(range(1 << (8 * values.itemsize - info.nmant)))
    assert set(counts.tolist()) == {SWEPT}
    assert len(np.unique(values[np.isfinite(values) & (values != 0)])) == np.isfinite(values).sum() - 2
    assert {math.copysign(1, value) for value in values[values == 0].tolist()} == {1, -1}
    assert {*values[np.isinf(values)].tolist()} == {math.inf, -math.inf}
    assert {float(info.max), float(info.smallest_subnormal * 0 + info.tiny)} <= {*values.tolist()}


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32, np.uint64])
def test_a_sweep_of_integers_has_every_number_of_bits(dtype: type) -> None:
    values, limits = every_value().of(np.dtype(dtype)).tolist(), np.iinfo(dtype)
    assert {limits.min, limits.max, 0, 1} <= {*values}
    assert len({*values}) == len(values)
    by_bits = Counter((value < 0, abs(value).bit_length()) for value in values)
    assert {bits for _, bits in by_bits} >= set(range(limits.bits))
    assert all(
        count >= min(SWEPT, 1 << max(bits - 1, 0)) for (negative, bits), count in by_bits.items() if not negative
    )


def test_every_two_values_are_a_pair() -> None:
    left, right = (side.of(np.dtype(np.int8)) for side in every_two())
    assert len({*zip(left.tolist(), right.tolist(), strict=True)}) == left.size == 1 << 16
    left, right = (side.of(np.dtype(np.int8)) for side in every_two(divided=True))
    assert len({*zip(left.tolist(), right.tolist(), strict=True)}) == left.size == (1 << 16) - 256
    assert 0 not in right


def test_a_call_with_every_value_has_one_size() -> None:
    op = Op("Identity", versions=(25,), compare=EXACT)
    clause = op.clause("Identity operator")
    op.every("every", each="V", but="string", cites=clause, input=every_value())
    (case,) = op.sized_cases()
    assert (case.name, case.each, case.but, case.cites) == ("every", "V", ("string",), (clause,))
    assert case.sized
    assert case.exhaustive
