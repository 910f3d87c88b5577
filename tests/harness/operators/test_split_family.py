# SPDX-License-Identifier: Apache-2.0
"""Split and SplitToSequence: where runtimes and texts part, and what lies around it.

The table is the one the operator files were written against. Expected values are written out by hand; inputs
count 0, 1, 2, ... in row-major order.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest

from onnx_conformance.case.case import PLAIN, Case, Outcome
from onnx_conformance.case.compare import compare
from onnx_conformance.declare import Type
from onnx_conformance.generation import plans
from onnx_conformance.specification import registry, schema

if TYPE_CHECKING:
    from collections.abc import Iterator

VALUES, REJECTS, UNSPECIFIED = Outcome.VALUES, Outcome.REJECTS, Outcome.UNSPECIFIED
SPLIT, STS = "Split", "SplitToSequence"
VERSIONS = {SPLIT: (1, 2, 11, 13, 18), STS: (11, 24)}
PART_BY_LENGTHS = (11, 13, 18)
"""The versions of Split whose text says what lengths may be."""


@dataclass(frozen=True)
class Row:
    """One situation: the case, the versions it exists in, and what it is scored with.

    For Split `expected` holds the outputs; for SplitToSequence the elements of its one output.
    """

    number: int
    operator: str
    case: str
    versions: tuple[int, ...]
    outcome: Outcome
    expected: list[Any] | None = None


ROWS = (
    # 5 in 4: rounding up leaves the last chunk -1 element
    Row(1, SPLIT, "overrun", (18,), UNSPECIFIED),
    Row(2, SPLIT, "overrun_more_parts_than_elements", (18,), UNSPECIFIED),
    Row(3, SPLIT, "uneven_three", (18,), VALUES, [[0, 1, 2], [3, 4, 5], [6]]),
    Row(3, SPLIT, "uneven", (18,), VALUES, [[0, 1], [2, 3], [4, 5], [6]]),
    Row(3, SPLIT, "uneven_two", (18,), VALUES, [[0, 1, 2], [3, 4]]),
    Row(
        3, SPLIT, "uneven_columns", (18,), VALUES,
        [[[0, 1, 2], [8, 9, 10]], [[3, 4, 5], [11, 12, 13]], [[6, 7], [14, 15]]],
    ),
    Row(4, SPLIT, "num_outputs_dim_zero", (18,), UNSPECIFIED),
    Row(4, SPLIT, "even_dim_zero", (2, 11, 13), VALUES, [[], []]),
    Row(5, SPLIT, "outputs_beyond_num_outputs", (18,), REJECTS),
    Row(6, SPLIT, "outputs_left_out", (18,), UNSPECIFIED),
    Row(6, SPLIT, "outputs_left_out_but_one", (18,), UNSPECIFIED),
    Row(6, SPLIT, "outputs_left_out_even", (18,), UNSPECIFIED),
    Row(7, SPLIT, "neither", (18,), REJECTS),
    Row(7, SPLIT, "both", (18,), REJECTS),
    Row(8, SPLIT, "num_outputs_zero", (18,), UNSPECIFIED),
    Row(9, SPLIT, "uneven_before_18", (2, 11, 13), REJECTS),
    Row(9, SPLIT, "uneven_two_before_18", (2, 11, 13), REJECTS),
    Row(9, SPLIT, "uneven_columns_before_18", (2, 11, 13), REJECTS),
    Row(10, SPLIT, "sum_short", (13, 18), REJECTS),
    Row(10, SPLIT, "sum_long", (13, 18), REJECTS),
    Row(10, SPLIT, "sum_before_13_short", (1, 2, 11), REJECTS),
    Row(10, SPLIT, "sum_before_13_long", (1, 2, 11), REJECTS),
    Row(10, SPLIT, "lengths_too_few", (1, 2, 11, 13, 18), REJECTS),
    Row(10, SPLIT, "lengths_too_many", (1, 2, 11, 13, 18), REJECTS),
    Row(11, SPLIT, "length_negative", PART_BY_LENGTHS, REJECTS),
    Row(11, SPLIT, "length_negative_before_11", (1, 2), REJECTS),
    Row(12, SPLIT, "length_zero_first", PART_BY_LENGTHS, VALUES, [[], [0, 1, 2, 3, 4, 5]]),
    Row(12, SPLIT, "length_zero_last", PART_BY_LENGTHS, VALUES, [[0, 1, 2, 3, 4, 5], []]),
    Row(12, SPLIT, "lengths_all_zero", PART_BY_LENGTHS, VALUES, [[], []]),
    Row(12, SPLIT, "length_zero_before_11", (1, 2), UNSPECIFIED),
    Row(13, SPLIT, "signature_split_of_int32", (13, 18), REJECTS),
    Row(13, SPLIT, "split_scalar", (13, 18), UNSPECIFIED),
    Row(13, SPLIT, "split_matrix", (13, 18), UNSPECIFIED),
    Row(14, SPLIT, "axis_before_11_from_back", (1, 2), UNSPECIFIED),
    Row(15, SPLIT, "lengths_input", (1,), VALUES, [[[0], [4], [8]], [[1, 2, 3], [5, 6, 7], [9, 10, 11]]]),
    Row(
        15, SPLIT, "rank2_axis1", VERSIONS[SPLIT], VALUES,
        [[[0], [4], [8]], [[1, 2, 3], [5, 6, 7], [9, 10, 11]]],
    ),
    Row(15, SPLIT, "no_axis", (1,), UNSPECIFIED),
    Row(15, SPLIT, "no_lengths", (1,), UNSPECIFIED),
    Row(15, SPLIT, "both_lengths", (1,), UNSPECIFIED),
    Row(16, SPLIT, "no_outputs", (1, 2, 11, 13, 18), REJECTS),
    Row(16, SPLIT, "no_outputs_even", (2, 11, 13), REJECTS),
    Row(16, SPLIT, "no_outputs_num_outputs", (18,), REJECTS),
    Row(17, SPLIT, "rank0_axis_too_high", PART_BY_LENGTHS, REJECTS),
    Row(17, SPLIT, "rank0_axis_too_low", PART_BY_LENGTHS, REJECTS),
    Row(17, SPLIT, "rank0_before_11", (1, 2), REJECTS),
    Row(18, STS, "scalar_zero", (11, 24), REJECTS),
    Row(18, STS, "scalar_zero@initializer", (11, 24), REJECTS),
    Row(19, STS, "lengths_zero", (11, 24), UNSPECIFIED),
    Row(19, STS, "lengths_zero_last", (11, 24), UNSPECIFIED),
    Row(19, STS, "lengths_all_zero", (11, 24), UNSPECIFIED),
    Row(20, STS, "keepdims_zero_scalar_one", (11, 24), VALUES, [[[0, 1]], [[2, 3]], [[4, 5]]]),
    Row(
        20, STS, "keepdims_zero_scalar_two", (11, 24), VALUES,
        [[[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8, 9], [10, 11]]],
    ),
    Row(20, STS, "keepdims_zero_lengths", (11, 24), VALUES, [[[0, 1], [2, 3]], [[4, 5], [6, 7], [8, 9], [10, 11]]]),
    Row(20, STS, "keepdims_zero_lengths_one", (11, 24), VALUES, [[[0, 1]], [[2, 3]], [[4, 5]]]),
    Row(21, STS, "keepdims_zero@omitted", (11, 24), VALUES, [[0, 1], [2, 3], [4, 5]]),
    Row(21, STS, "keepdims_zero", (11, 24), VALUES, [[0, 1], [2, 3], [4, 5]]),
    Row(22, STS, "default", (11, 24), VALUES, [[[0, 1]], [[2, 3]], [[4, 5]]]),
    Row(22, STS, "default@omitted", (11, 24), VALUES, [[[0, 1]], [[2, 3]], [[4, 5]]]),
    Row(22, STS, "default_columns", (11, 24), VALUES, [[[0], [3]], [[1], [4]], [[2], [5]]]),
    Row(23, STS, "scalar_uneven", (11, 24), VALUES, [[0, 1], [2, 3], [4]]),
    Row(23, STS, "lengths_short", (11, 24), REJECTS),
    Row(24, STS, "lengths_none", (11, 24), REJECTS),
    Row(25, STS, "scalar_negative", (11, 24), REJECTS),
    Row(26, STS, "split_matrix", (11, 24), REJECTS),
    Row(27, STS, "dim_zero", (11, 24), VALUES, []),
    Row(27, STS, "dim_zero_keepdims_zero", (11, 24), VALUES, []),
    Row(28, STS, "split_dtypes_scalar/int32", (11, 24), VALUES, [[0, 1], [2, 3], [4]]),
    Row(28, STS, "split_dtypes_scalar/int64", (11, 24), VALUES, [[0, 1], [2, 3], [4]]),
    Row(28, STS, "split_dtypes_lengths/int32", (11, 24), VALUES, [[0, 1], [2, 3, 4, 5]]),
    Row(28, STS, "split_dtypes_lengths/int64", (11, 24), VALUES, [[0, 1], [2, 3, 4, 5]]),
)  # fmt: skip


@functools.cache
def cases() -> dict[str, Case]:
    family = map(registry.load().named, ("Split", "SplitToSequence"))
    return {case.id: case for op in family for case in plans.cases(op)}


def answers(case: Case) -> list[Any]:
    """Return what a case expects: the outputs of Split, the elements of SplitToSequence's output."""
    assert case.expected is not None, case.id
    if f"/{STS}/" in case.operator:
        (sequence,) = case.expected
        assert isinstance(sequence, list), case.id
        return sequence
    return list(case.expected)


def fed(case: Case, name: str) -> np.ndarray[Any, Any]:
    value = case.inputs[name]
    assert isinstance(value, np.ndarray), case.id
    return value


def attributes(case: Case) -> dict[str, Any]:
    (node,) = onnx.load_from_string(case.model).graph.node
    return {item.name: onnx.helper.get_attribute_value(item) for item in node.attribute}


def test_the_table_has_every_row() -> None:
    assert sorted({row.number for row in ROWS}) == list(range(1, 29))


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.number}-{row.operator}-{row.case}")
def test_the_cases_of_a_row_expect_its_values(row: Row) -> None:
    ids = [f"ai.onnx/{row.operator}/{version}/{row.case}" for version in VERSIONS[row.operator]]
    of_row = [case for id_ in ids if (case := cases().get(id_))]
    assert tuple(int(case.operator.rpartition("/")[2]) for case in of_row) == row.versions, of_row
    for case in of_row:
        assert case.outcome is row.outcome, f"{case.id}: {case.outcome} {case.decided}"
        if row.expected is None:
            assert case.expected is None, case.id
            assert case.clauses, case.id
            continue
        got = answers(case)
        assert [value.tolist() for value in got] == row.expected, case.id
        assert {value.dtype.name for value in got} <= {"float32"}, case.id


@pytest.mark.slow
def test_a_row_with_other_values_fails() -> None:
    with pytest.raises(AssertionError, match="uneven_two"):
        test_the_cases_of_a_row_expect_its_values(Row(3, SPLIT, "uneven_two", (18,), VALUES, [[0, 1], [2, 3, 4]]))
    with pytest.raises(AssertionError, match="the tensor is split to equal sized parts"):
        test_the_cases_of_a_row_expect_its_values(Row(9, SPLIT, "uneven_before_18", (2, 11, 13), UNSPECIFIED))
    with pytest.raises(AssertionError, match="overrun"):
        test_the_cases_of_a_row_expect_its_values(Row(1, SPLIT, "overrun", (13, 18), UNSPECIFIED))


SHAPES_OF_EMPTY_PARTS = {
    "Split/13/even_dim_zero": [(0,), (0,)],
    "Split/18/length_zero_inside": [(2, 2), (0, 2), (4, 2)],
    "Split/18/other_dim_zero": [(1, 0), (3, 0)],
    "Split/18/uneven_last_empty": [(2,), (2,), (2,), (0,)],
    "SplitToSequence/24/other_dim_zero": [(2, 0), (1, 0)],
    "SplitToSequence/24/dim_zero_scalar": [],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES_OF_EMPTY_PARTS)
def test_empty_parts_keep_their_shape(name: str) -> None:
    shapes = [value.shape for value in answers(cases()[f"ai.onnx/{name}"])]
    assert shapes == SHAPES_OF_EMPTY_PARTS[name], shapes


# What lies around the rows

every_version = pytest.mark.parametrize(
    ("operator", "version"), [(name, version) for name, versions in VERSIONS.items() for version in versions]
)


def of(operator: str, version: int, *, form: str = PLAIN) -> Iterator[Case]:
    return (case for case in cases().values() if case.operator == f"ai.onnx/{operator}/{version}" and case.form == form)


def axis_of(case: Case) -> int:
    return int(attributes(case).get("axis", 0))


@pytest.mark.slow
@every_version
def test_parts_put_together_are_the_input(operator: str, version: int) -> None:
    """Whatever the oracle does: nothing is lost, added, moved or retyped."""
    seen = 0
    for case in of(operator, version):
        if case.outcome is not VALUES:
            continue
        seen += 1
        whole, parts, axis = fed(case, "input"), answers(case), axis_of(case)
        if not parts:
            assert whole.shape[axis] == 0, case.id
            continue
        # Only keepdims=0 takes the axis out of the parts.
        again = (np.stack if parts[0].ndim < whole.ndim else np.concatenate)(parts, axis)
        mismatch = compare([whole], [again], case.allowance)
        assert mismatch is None, f"{case.id}: {mismatch}"
    assert seen > 20, seen


def asked_lengths(case: Case) -> list[int] | None:
    sizes = next((case.inputs[name] for name in ("split", "split_input") if name in case.inputs), None)
    if sizes is None:
        sizes = attributes(case).get("split")
    array = None if sizes is None else np.asarray(sizes)
    if array is None or array.ndim == 0:
        return None
    return [int(length) for length in array]


@pytest.mark.slow
@every_version
def test_parts_have_the_lengths_asked_for(operator: str, version: int) -> None:
    seen = 0
    for case in of(operator, version):
        if case.outcome is VALUES and (expected := asked_lengths(case)) is not None:
            got = [part.shape[axis_of(case)] for part in answers(case)]
            assert got == expected, f"{case.id}: {got} for {expected}"
            seen += 1
    assert seen > 3, seen


@every_version
def test_every_type_is_tried_with_limits_and_plain_values(operator: str, version: int) -> None:
    allowed = schema.in_force("ai.onnx", operator, version).types["T"]
    types = {Type.parse(text).element: Type.parse(text) for text in allowed}
    for declared in ("signature_types_t", "extremes"):
        by_type = {case.element_type: case for case in of(operator, version) if case.name == declared}
        assert set(by_type) == set(types), f"{declared}: {set(by_type) ^ set(types)}"
        for name, case in by_type.items():
            assert case.outcome is VALUES, case.id
            assert fed(case, "input").dtype == schema.dtype_of(types[name]), case.id
    if operator == STS:
        for declared in ("split_dtypes_scalar", "split_dtypes_lengths"):
            by_type = {case.element_type: case for case in of(operator, version) if case.name == declared}
            assert {fed(case, "split").dtype.name for case in by_type.values()} == {"int32", "int64"}, declared


@every_version
def test_every_other_type_is_refused(operator: str, version: int) -> None:
    allowed = schema.in_force("ai.onnx", operator, version).types["T"]
    others = {Type.parse(text).element for text in schema.ALL_TENSOR_TYPES if text not in allowed}
    by_type = {case.element_type: case for case in of(operator, version) if case.name == "signature_types_outside_t"}
    assert set(by_type) == others, set(by_type) ^ others
    assert {case.outcome for case in by_type.values()} == {REJECTS}, by_type


@every_version
@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_every_axis_of_ranks_1_to_4(operator: str, version: int, rank: int) -> None:
    from_back = version >= 11
    shape = (3, 4, 5, 6)[:rank]
    for axis in range(-rank if from_back else 0, rank):
        name = f"rank{rank}_axis{axis}".replace("-", "_minus")
        case = cases()[f"ai.onnx/{operator}/{version}/{name}"]
        assert case.outcome is VALUES, case.id
        assert axis_of(case) == axis, case.id
        whole = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        assert np.array_equal(fed(case, "input"), whole), case.id
        dim = shape[axis]
        # Split: one and the rest; SplitToSequence: chunks of two.
        cuts = [(0, 1), (1, dim)] if operator == SPLIT else [(i, min(i + 2, dim)) for i in range(0, dim, 2)]
        expected = [whole.take(range(start, end), axis) for start, end in cuts]
        got = answers(case)
        assert [part.tolist() for part in got] == [part.tolist() for part in expected], case.id
    if not from_back:
        assert f"ai.onnx/{operator}/{version}/rank{rank}_axis_minus1" not in cases()


@every_version
def test_axis_out_of_range_on_both_sides(operator: str, version: int) -> None:
    if version < 11:  # The text has no range; it is silent on what lies below zero.
        expected = {
            "axis_too_high_before_11": REJECTS,
            "axis_before_11_too_low": UNSPECIFIED,
            "rank0_before_11": REJECTS,
        }
    else:
        expected = {
            f"rank{rank}_axis_too_{side}": REJECTS for rank, side in itertools.product(range(5), ("high", "low"))
        }
    by_name = {case.name: case for case in of(operator, version) if case.name in expected}
    assert {name: case.outcome for name, case in by_name.items()} == expected
    for case in by_name.values():
        rank = fed(case, "input").ndim
        assert not -rank <= axis_of(case) < rank, f"{case.id}: axis {axis_of(case)} of rank {rank}"
        if version >= 11:
            assert axis_of(case) == (rank if case.name.endswith("high") else -rank - 1), case.id


ONE_AND_ALL = {
    (SPLIT, "lengths_one"): (VERSIONS[SPLIT], [6]),
    (SPLIT, "even_one"): ((2, 11, 13), [6]),
    (SPLIT, "num_outputs_one"): ((18,), [6]),
    (SPLIT, "lengths_all"): (VERSIONS[SPLIT], [1] * 6),
    (SPLIT, "even_all"): ((2, 11, 13), [1] * 6),
    (SPLIT, "num_outputs_all"): ((18,), [1] * 6),
    (STS, "lengths_one"): (VERSIONS[STS], [6]),
    (STS, "lengths_all"): (VERSIONS[STS], [1] * 6),
    (STS, "scalar_whole"): (VERSIONS[STS], [5]),
    (STS, "scalar_beyond"): (VERSIONS[STS], [5]),
    (STS, "scalar_one"): (VERSIONS[STS], [1] * 3),
}


@pytest.mark.parametrize(("operator", "name"), ONE_AND_ALL)
def test_one_part_and_as_many_as_elements(operator: str, name: str) -> None:
    versions, lengths = ONE_AND_ALL[operator, name]
    ids = {version: f"ai.onnx/{operator}/{version}/{name}" for version in VERSIONS[operator]}
    assert tuple(version for version, id_ in ids.items() if id_ in cases()) == versions
    for version in versions:
        got = [part.shape[0] for part in answers(cases()[ids[version]])]
        assert got == lengths, ids[version]


def has_runtime_split(operator: str, version: int) -> bool:
    return operator == STS or version in {1, 13, 18}


def not_rejected(operator: str, version: int) -> list[Case]:
    """Return the cases but derived ones, which come in two forms only, and those that must be refused."""
    return [
        case
        for case in of(operator, version)
        if case.outcome is not Outcome.REJECTS and not case.name.startswith("signature_")
    ]


@every_version
def test_split_as_runtime_input_and_as_initializer(operator: str, version: int) -> None:
    runtime = {case.id for case in not_rejected(operator, version) if {"split", "split_input"} & set(case.inputs)}
    baked = {case.id.partition("@")[0] for case in of(operator, version, form="initializer")}
    assert bool(runtime) is has_runtime_split(operator, version), runtime
    assert runtime <= baked, runtime - baked


@every_version
def test_static_symbolic_and_unranked_shapes(operator: str, version: int) -> None:
    plain = {case.id for case in not_rejected(operator, version)}
    symbolic = {case.id.partition("@")[0] for case in of(operator, version, form="symbolic")}
    unranked = {case.id.partition("@")[0] for case in of(operator, version, form="unranked")}
    assert len(symbolic) > len(plain) // 2, f"{len(symbolic)} of {len(plain)}"
    # No operator of opset 1 makes a tensor of unknown rank from a shape known at run time only.
    assert bool(unranked) is (version > 1), unranked
    for name in ("rank3_axis1", "sum_short" if version >= 13 and operator == SPLIT else "rank4_axis2"):
        id_ = f"ai.onnx/{operator}/{version}/{name}"
        assert id_ in symbolic, id_
        assert (id_ in unranked) is (version > 1), id_


@every_version
def test_lowest_and_highest_opset(operator: str, version: int) -> None:
    following = [later for later in VERSIONS[operator] if later > version]
    highest = following[0] - 1 if following else onnx.defs.onnx_opset_version()
    imported = {
        onnx.load_from_string(case.model).opset_import[0].version
        for form in (PLAIN, "top")
        for case in of(operator, version, form=form)
    }
    assert imported == {version, highest}, imported
