"""The suite `kernels`: real sizes, at which kernels differ from those for tiny tensors."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest

from onnx_conformance.case.case import Outcome
from onnx_conformance.case.compare import compare
from onnx_conformance.generation import sized
from onnx_conformance.specification import registry
from onnx_conformance.suites.kernels import Kernels
from onnx_conformance.suites.lookup import open_suite
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_conformance.case.case import Case

    Array = np.ndarray[Any, Any]
    Damage = Callable[[Array], None]

pytestmark = pytest.mark.slow

MOST = 25_000
"""Maximum number of cases: the whole suite should run in minutes."""


def test_every_case_is_in_the_newest_version_and_every_slice_has_it_once() -> None:
    suite = open_suite("kernels")
    selection = Selection(ops=("Exp", "Add"), cases=("*/length_n[13]*",))
    whole = [case.id for case in suite.cases(selection)]
    assert {"ai.onnx/Exp/13/length_n3/float", "ai.onnx/Add/14/length_n17/float@initializer"} <= {*whole}
    in_parts = Counter(case.id for part in suite.slices(selection) for case in suite.cases(selection.within(part)))
    assert in_parts == Counter(whole)
    assert [item.id for item in suite.listed(selection)] == whole


def test_the_suite_is_not_too_large_and_not_too_small() -> None:
    suite = Kernels()
    outlook = suite.outlook(Selection())
    assert outlook is not None
    assert 8_000 <= sum(outlook.declared.values()) <= MOST
    assert {*outlook.declared} == {*suite.operators()}


def test_other_types_have_some_of_the_sizes() -> None:
    op = registry.load().named("Exp")
    version = sized.version_of(op)
    assert version is not None
    of_type = Counter(suffix for *_, suffix in sized.stems(op, version))
    assert of_type["float"] == len(list(op.sized_cases()))
    assert all(0 < of_type[type_] < of_type["float"] / 2 for type_ in ("double", "float16", "bfloat16")), of_type


def test_a_result_that_the_text_leaves_open_is_unspecified_and_no_fault_of_the_declaration() -> None:
    cases = list(Kernels().cases(Selection(cases=("ai.onnx/ReduceMean/18/last_m3_n*/*int*",))))
    assert Outcome.UNSPECIFIED in {case.outcome for case in cases}, "a mean of integers need not be an integer"


def tail_of_a_vector(values: Array) -> None:
    length = values.shape[-1]
    values[..., length - length % 8 :] *= 1.25


def beyond_16_bits(values: Array) -> None:
    values.reshape(-1)[65_535:] *= 1.25


def rows_beyond_a_block(values: Array) -> None:
    values[..., 64:, :] *= 1.25


def last_part_of_a_thread(values: Array) -> None:
    values.reshape(-1)[-1:] *= 1.25


@pytest.mark.parametrize(
    ("damage", "glob"),
    [
        (tail_of_a_vector, "ai.onnx/Exp/13/length_n*"),
        (tail_of_a_vector, "ai.onnx/Add/14/rows_*"),
        (tail_of_a_vector, "ai.onnx/Sum/13/length_three_*"),
        (tail_of_a_vector, "ai.onnx/MatMul/13/stack_*/float"),
        (tail_of_a_vector, "ai.onnx/Conv/22/plane_*/float"),
        (beyond_16_bits, "ai.onnx/Exp/13/length_n*"),
        (beyond_16_bits, "ai.onnx/Add/14/length_n*"),
        (rows_beyond_a_block, "ai.onnx/MatMul/13/matrices_m129_*/float"),
        (last_part_of_a_thread, "ai.onnx/ReduceSum/13/first_*"),
    ],
)
def test_faults_that_depend_on_the_size_are_noticed(damage: Damage, glob: str) -> None:
    cases = list(Kernels().cases(Selection(cases=(glob,), forms=("plain",))))
    noticed = [case for case in cases if case.expected is not None and not _passes(case, damage)]
    may_notice = [case for case in cases if case.expected is not None and _differs(case, damage)]
    assert noticed == may_notice
    assert noticed, "no case reaches the size"


def _damaged(case: Case, damage: Damage) -> Array:
    (expected,) = case.expected or ()
    values = np.array(expected, dtype=np.float64)
    damage(values)
    return np.asarray(values.astype(np.asarray(expected).dtype))


def _differs(case: Case, damage: Damage) -> bool:
    (expected,) = case.expected or ()
    return not np.array_equal(_damaged(case, damage), np.asarray(expected))


def _passes(case: Case, damage: Damage) -> bool:
    return compare(case.expected or (), [_damaged(case, damage)], case.allowance) is None


SIXTEEN_BITS = 1 << 16


@pytest.mark.parametrize(
    ("glob", "elements"),
    [
        *((f"ai.onnx/{name}/every/float16", SIXTEEN_BITS) for name in ("Exp/13", "Relu/14", "Neg/13", "Floor/13")),
        *(
            (f"ai.onnx/{name}/every/bfloat16", SIXTEEN_BITS)
            for name in ("Tanh/13", "Sign/13", "IsNaN/20", "HardSwish/*")
        ),
        *((f"ai.onnx/{name}/pairs_int8", SIXTEEN_BITS) for name in ("Add/14", "Less/13", "BitwiseXor/18", "Max/13")),
        *((f"ai.onnx/{name}/pairs_uint8", SIXTEEN_BITS - 256) for name in ("Div/14", "Mod/*")),
        ("ai.onnx/BitShift/*/pairs_left_int8", SIXTEEN_BITS),
        ("ai.onnx/Abs/13/every/int16", SIXTEEN_BITS),
        ("ai.onnx/Identity/*/every_bfloat16", SIXTEEN_BITS),
        *((f"ai.onnx/Cast/*/every_float16/{type_}", SIXTEEN_BITS) for type_ in ("int8", "float", "float8e5m2", "bool")),
        ("ai.onnx/Cast/*/every_float16/float8e8m0", SIXTEEN_BITS),
        ("ai.onnx/Cast/*/every_int4/string", 16),
        ("ai.onnx/CastLike/*/every_bfloat16/uint4", SIXTEEN_BITS),
        ("ai.onnx/QuantizeLinear/*/every_float16/uint8", SIXTEEN_BITS),
        ("ai.onnx/QuantizeLinear/*/every_bfloat16/float8e4m3fn", SIXTEEN_BITS),
        ("ai.onnx/DequantizeLinear/*/every_to_float/uint16", SIXTEEN_BITS),
    ],
)
def test_one_wrong_value_of_all_values_is_noticed(glob: str, elements: int) -> None:
    (case,) = Kernels().cases(Selection(cases=(glob,)))
    (expected,) = case.expected or ()
    assert isinstance(expected, np.ndarray)
    assert expected.size == elements
    bounds = case.allowance.bounds
    open_ = np.zeros(elements, bool) if bounds is None else np.isinf(bounds[0])
    determined = np.flatnonzero(~open_)
    places = determined[:: max(1, len(determined) // 32)]
    assert len(places) >= min(elements, 16) // 2
    for place in places:
        assert _mismatches(case, expected, place) == 1, f"element {place}: {expected[place]}"
    for place in np.flatnonzero(open_)[::997]:
        assert _mismatches(case, expected, place) == 0, f"element {place} may have any value"


def _mismatches(case: Case, expected: Array, place: int) -> int:
    """Return how many elements are wrong if one has another value."""
    answer = expected.copy()
    answer[place] = _other(expected[place])
    mismatch = compare(case.expected or (), [answer], case.allowance)
    return mismatch.differing if mismatch else 0


def _other(value: Any) -> Any:
    """Return a value that no rounding explains."""
    if isinstance(value, str):
        return f"{value}0"
    if isinstance(value, np.bool_):
        return not value
    if np.isfinite(number := float(value)) and abs(number) > 1:
        return type(value)(number / 2)
    return type(value)(2)


def test_a_case_with_every_value_exists_in_every_type_and_only_plainly() -> None:
    cases = [case.id for case in Kernels().cases(Selection(cases=("ai.onnx/Neg/*/every/*",)))]
    version = sized.version_of(registry.load().named("Neg"))
    assert version is not None
    types = {type_.removeprefix("tensor(").removesuffix(")") for type_ in version.types["T"]}
    assert {case.rpartition("/")[2] for case in cases} == types
    assert len(cases) == len(types)
    pairs = [case.id for case in Kernels().cases(Selection(cases=("ai.onnx/Add/14/pairs_*",)))]
    assert pairs == ["ai.onnx/Add/14/pairs_int8", "ai.onnx/Add/14/pairs_uint8"], "B is not an initializer, too"


def test_models_are_valid() -> None:
    for case in Kernels().cases(Selection(cases=("ai.onnx/Conv/22/*_k3*", "ai.onnx/MatMul/13/stack_*"))):
        onnx.checker.check_model(onnx.load_from_string(case.model), full_check=True)
