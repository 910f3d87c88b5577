# SPDX-License-Identifier: Apache-2.0
"""The suite `kernels`: real sizes, at which kernels differ from those for tiny tensors."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest

from onnx_conformance.case.case import Outcome
from onnx_conformance.case.compare import compare
from onnx_conformance.declare.sizes import LARGE
from onnx_conformance.generation import sized
from onnx_conformance.specification import registry
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.kernels import Kernels
from onnx_conformance.suites.lookup import open_suite
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_conformance.case.case import Case
    from onnx_conformance.declare import CaseSpec, Op

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
    of_type = Counter(suffix for *_, suffix in sized.cases(op, version))
    assert of_type["float"] == len(list(op.sized_cases()))
    assert all(0 < of_type[type_] < of_type["float"] / 2 for type_ in ("double", "float16", "bfloat16")), of_type


def test_the_core_has_the_widest_spread_of_sized_cases() -> None:
    op = registry.load().named("Exp")
    version = sized.version_of(op)
    assert version is not None
    chosen = sized.spread(list(sized.cases(op, version)), sized.IN_CORE)
    assert len(chosen) == len({item.stem for item in chosen}) == sized.IN_CORE
    assert {item.suffix for item in chosen} >= {"float", "double", "float16", "bfloat16"}
    assert max((item.spec.sizes or {}).get("n", 0) for item in chosen) == max(LARGE)
    (as_kernel,) = Kernels().cases(Selection(ids=frozenset({chosen[0].stem})))
    (in_core,) = Generated().cases(Selection(ids=frozenset({chosen[0].stem}), core=True))
    assert in_core.digest() == as_kernel.digest()


def test_at_least_2000_sized_cases_are_in_the_core() -> None:
    names = {f"{sized.version_of(op)}/{spec.name}" for op in registry.load() for spec in sized_in_core(op)}
    stems = [item.id.partition("@")[0] for item in Generated().listed(Selection(core=True))]
    assert sum(stem in names or stem.rpartition("/")[0] in names for stem in stems) >= 2_000


def sized_in_core(op: Op) -> tuple[CaseSpec, ...]:
    version = sized.version_of(op)
    return () if version is None else sized.of_core(op, version)


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


def beyond_the_first_row(values: Array) -> None:
    values[1:] = values[:-1].copy()


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
        (rows_beyond_a_block, "ai.onnx/MatMul/13/matrices_m129_*"),
        (last_part_of_a_thread, "ai.onnx/ReduceSum/13/first_*"),
        (tail_of_a_vector, "ai.onnx/Gemm/13/dense_*_k64_*/float"),
        (tail_of_a_vector, "ai.onnx/MatMulInteger/10/stacks_*"),
        (tail_of_a_vector, "ai.onnx/QLinearMatMul/21/stacks_*"),
        (tail_of_a_vector, "ai.onnx/Einsum/28/heads_*"),
        (tail_of_a_vector, "ai.onnx/ConvTranspose/22/strides_*/float"),
        (tail_of_a_vector, "ai.onnx/ConvInteger/10/plane_*"),
        (tail_of_a_vector, "ai.onnx/QLinearConv/10/line_*"),
        (tail_of_a_vector, "ai.onnx/DeformConv/22/strides_*/float"),
        (tail_of_a_vector, "ai.onnx/AveragePool/22/line_*/float"),
        (tail_of_a_vector, "ai.onnx/MaxPool/22/line_b*/float"),
        (tail_of_a_vector, "ai.onnx/Col2Im/18/strides_*/float"),
        (last_part_of_a_thread, "ai.onnx/RoiAlign/22/average_*/float"),
        (tail_of_a_vector, "ai.onnx/Attention/25/cross_*_d16_e33/float"),
        (last_part_of_a_thread, "ai.onnx/LinearAttention/27/gated_*/float"),
        (tail_of_a_vector, "ai.onnx/CausalConvWithState/27/lines_none_*/float"),
        (tail_of_a_vector, "ai.onnx/RotaryEmbedding/23/tokens_0_*_half33/float"),
        (tail_of_a_vector, "ai.onnx/LSTM/22/reverse_step_*/float"),
        (tail_of_a_vector, "ai.onnx/GRU/22/bidirectional_step_*/float"),
        (tail_of_a_vector, "ai.onnx/Softmax/13/last_*"),
        (tail_of_a_vector, "ai.onnx/LogSoftmax/13/last_*"),
        (tail_of_a_vector, "ai.onnx/Hardmax/13/last_*"),
        (tail_of_a_vector, "ai.onnx/LayerNormalization/17/rows_m3_*"),
        (tail_of_a_vector, "ai.onnx/RMSNormalization/23/rows_m3_*"),
        (last_part_of_a_thread, "ai.onnx/BatchNormalization/15/channels_b2_*/float"),
        (last_part_of_a_thread, "ai.onnx/GroupNormalization/21/channels_*/float"),
        (last_part_of_a_thread, "ai.onnx/GlobalAveragePool/22/channels_*/float"),
        (tail_of_a_vector, "ai.onnx/Transpose/25/matrix_*/float"),
        (tail_of_a_vector, "ai.onnx/Slice/13/columns_*/float"),
        (tail_of_a_vector, "ai.onnx/Pad/25/image_reflect_*/float"),
        (beyond_16_bits, "ai.onnx/Where/16/length_n65537/float"),
        (last_part_of_a_thread, "ai.onnx/Split/18/first_smaller_last_*"),
        (last_part_of_a_thread, "ai.onnx/SplitToSequence/24/last_lengths_*"),
        (beyond_the_first_row, "ai.onnx/Gather/13/embedding_*/float"),
        (last_part_of_a_thread, "ai.onnx/ScatterElements/18/*_add_*/float"),
        (last_part_of_a_thread, "ai.onnx/ScatterND/18/*_mul_*"),
        (beyond_the_first_row, "ai.onnx/TopK/24/last_ties_*"),
        (beyond_the_first_row, "ai.onnx/CumSum/14/first_*"),
        (tail_of_a_vector, "ai.onnx/Resize/19/*_antialias_b1_c3_*"),
        (tail_of_a_vector, "ai.onnx/GridSample/22/channels_cubic_*"),
        (rows_beyond_a_block, "ai.onnx/DFT/20/real_onesided_b1_n10*"),
        (rows_beyond_a_block, "ai.onnx/STFT/17/window_b1_samples4000_*"),
        (last_part_of_a_thread, "ai.onnx.ml/TreeEnsembleRegressor/3/forest_rows7_*"),
        (last_part_of_a_thread, "ai.onnx.ml/LinearRegressor/1/targets_m64_*"),
    ],
)
def test_faults_that_depend_on_the_size_are_noticed(damage: Damage, glob: str) -> None:
    cases = list(Kernels().cases(Selection(cases=(glob,), forms=("plain",))))
    noticed = [case for case in cases if case.expected is not None and not _passes(case, damage)]
    may_notice = [case for case in cases if case.expected is not None and _differs(case, damage)]
    assert noticed == may_notice
    assert noticed, "no case reaches the size"


@pytest.mark.parametrize(("types", "noticed"), [("uint8_by_int8", True), ("int8_by_int8", False)])
def test_sums_of_two_products_that_are_limited_to_16_bits_are_noticed(types: str, *, noticed: bool) -> None:
    cases = list(Kernels().cases(Selection(cases=(f"ai.onnx/MatMulInteger/10/near_the_ends_{types}_*_k16_*",))))
    plain = [case for case in cases if len(case.inputs) == len("AB")]
    assert plain
    for case in plain:
        left, right = (np.asarray(value).astype(np.int64) for value in case.inputs.values())
        sums = sum(
            np.clip(left[:, k : k + 2] @ right[k : k + 2], -(1 << 15), (1 << 15) - 1) for k in range(0, len(right), 2)
        )
        answer = [np.asarray(sums, np.int32)]
        assert (compare(case.expected or (), answer, case.allowance) is not None) == noticed, case.id


@pytest.mark.parametrize("call", ["first", "middle"])
def test_a_softmax_that_adds_one_number_after_the_other_is_careful_enough(call: str) -> None:
    cases = list(Kernels().cases(Selection(cases=(f"ai.onnx/Softmax/13/{call}_*/float",), forms=("plain",))))
    assert cases
    for case in cases:
        (values,) = (np.moveaxis(np.asarray(item), -2, 0) for item in case.inputs.values())
        exponential = np.exp(values - values.max(0))
        total = np.zeros(values.shape[1:], np.float32)
        for row in exponential:
            total = total + row
        answer = [np.moveaxis(exponential / total, 0, -2)]
        assert compare(case.expected or (), answer, case.allowance) is None, case.id


def _expected(case: Case) -> list[Array]:
    """Return the tensors of all outputs, and those of a sequence."""
    outputs: list[Any] = [*(case.expected or ())]
    return [np.asarray(item) for output in outputs for item in (output if isinstance(output, list) else [output])]


def _damaged(case: Case, damage: Damage) -> list[Array]:
    damaged = []
    for expected in _expected(case):
        values = np.array(expected, dtype=np.float64)
        damage(values)
        damaged.append(values.astype(expected.dtype))
    return damaged


def _differs(case: Case, damage: Damage) -> bool:
    return any(
        not np.array_equal(one, other) for one, other in zip(_damaged(case, damage), _expected(case), strict=True)
    )


def _passes(case: Case, damage: Damage) -> bool:
    damaged: list[Any] = _damaged(case, damage)
    is_sequence = any(isinstance(output, list) for output in case.expected or ())
    return compare(case.expected or (), [damaged] if is_sequence else damaged, case.allowance) is None


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
    globs = (
        "Conv/22/*_k3*",
        "MatMul/13/stack_*",
        "LSTM/22/*_steps_*",
        "STFT/17/window_b1_samples1000_*",
        "SplitToSequence/24/last_ones_*",
    )
    for case in Kernels().cases(Selection(cases=tuple(f"ai.onnx/{glob}" for glob in globs))):
        onnx.checker.check_model(onnx.load_from_string(case.model), full_check=True)
