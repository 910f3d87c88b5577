# SPDX-License-Identifier: Apache-2.0
"""Several values and several orders: what the text allows passes, and nothing else does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from onnx_conformance.base.verdict import Verdict
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.compare import compare, differing, offsets, unlike
from onnx_conformance.declare import AnyOf, AnyOrder, Order
from onnx_conformance.generation import plans
from onnx_conformance.judging.judge import judge
from onnx_conformance.judging.references import by_backend
from onnx_conformance.processes.replies import Answered
from onnx_conformance.specification import registry

if TYPE_CHECKING:
    from collections.abc import Sequence

Array = np.ndarray[Any, Any]
ROW, VECTOR = np.array([[4, 8, 0]], np.int64), np.array([4, 8, 0], np.int64)
EITHER = Allowance("either", any_of=(AnyOf(ROW, VECTOR),))


def verdict(expected: Sequence[Array], actual: Sequence[Any], allowance: Allowance) -> Verdict:
    mismatch = compare(expected, actual, allowance)
    return mismatch.verdict if mismatch else Verdict.PASS


@pytest.mark.parametrize("value", [ROW, VECTOR], ids=str)
def test_each_of_several_values_passes(value: Array) -> None:
    assert compare([ROW], [value], EITHER) is None
    assert unlike([ROW], [value], EITHER) is None
    assert offsets([ROW], [value], EITHER) == {}
    assert list(differing([ROW], [value], EITHER)) == []


@pytest.mark.parametrize(
    ("value", "expected", "words"),
    [
        (ROW.T, Verdict.WRONG_SHAPE, "expected shape [1, 3], got shape [3, 1]"),
        (VECTOR[:2], Verdict.WRONG_SHAPE, "expected shape [1, 3], got shape [2]"),
        (VECTOR.astype(np.int32), Verdict.WRONG_TYPE, "expected tensor(int64), got tensor(int32)"),
        (VECTOR[::-1], Verdict.WRONG_VALUE, "2 of 3 elements differ, the first at [0]"),
        (ROW + np.array([0, 0, 1]), Verdict.WRONG_VALUE, "1 of 3 elements differ, the first at [0, 2]"),
        ([VECTOR], Verdict.WRONG_TYPE, "got a sequence"),
    ],
)
def test_what_is_none_of_several_values_differs_from_the_nearest(value: Any, expected: Verdict, words: str) -> None:
    mismatch = compare([ROW], [value], EITHER)
    assert mismatch is not None
    assert mismatch.verdict is expected
    assert words in str(mismatch)


def test_several_values_keep_the_tolerance() -> None:
    one, two = np.array([1, 2], np.float32), np.array([3, 4], np.float32)
    near = Allowance("near", atol=0.25, any_of=(AnyOf(one, two),))
    assert verdict([one], [two + np.float32(0.25)], near) is Verdict.PASS
    assert verdict([one], [two + np.float32(0.5)], near) is Verdict.WRONG_VALUE
    assert verdict([one], [np.array([1, 4], np.float32)], near) is Verdict.WRONG_VALUE


def test_an_element_may_be_that_of_any_value_where_they_are_chosen_by_element() -> None:
    low, high = np.array([[0, 1], [2, 0]]), np.array([[3, 1], [4, 0]])
    each = Allowance("ties", any_of=(AnyOf(low, high, elementwise=True),))
    for answer in (low, high, np.array([[0, 1], [4, 0]]), np.array([[3, 1], [2, 0]])):
        assert verdict([low], [answer], each) is Verdict.PASS, answer
    for wrong in (np.array([[1, 1], [2, 0]]), np.array([[0, 3], [2, 0]]), np.array([[0, 1], [3, 0]])):
        assert verdict([low], [wrong], each) is Verdict.WRONG_VALUE, wrong
    assert verdict([low], [low.reshape(-1)], each) is Verdict.WRONG_SHAPE


def test_only_the_output_that_has_several_values_may_have_them() -> None:
    allowance = Allowance("the second", any_of=(None, AnyOf(ROW, VECTOR)))
    assert verdict([ROW, ROW], [ROW, VECTOR], allowance) is Verdict.PASS
    assert verdict([ROW, ROW], [VECTOR, ROW], allowance) is Verdict.WRONG_SHAPE


def test_values_without_common_elements_are_refused() -> None:
    with pytest.raises(ValueError, match="shape"):
        AnyOf(ROW, VECTOR, elementwise=True)
    with pytest.raises(ValueError, match="one"):
        AnyOf()


VALUES, INDICES = np.array([[9, 7, 5], [8, 8, 4]], np.float32), np.array([[1, 3, 4], [0, 2, 4]])
LANES = Allowance("a set", any_order=Order(1, lanewise=True))


def test_each_lane_may_have_an_order_of_its_own() -> None:
    turned = [np.array([[5, 9, 7], [8, 4, 8]], np.float32), np.array([[4, 1, 3], [2, 4, 0]])]
    assert verdict([VALUES, INDICES], turned, LANES) is Verdict.PASS
    assert verdict([VALUES.T, INDICES.T], [item.T for item in turned], LANES) is Verdict.WRONG_VALUE
    across = Allowance("a set", any_order=Order(0, lanewise=True))
    assert verdict([VALUES.T, INDICES.T], [item.T for item in turned], across) is Verdict.PASS


@pytest.mark.parametrize(
    ("values", "indices", "expected"),
    [
        pytest.param([[7, 9, 5], [8, 8, 4]], [[1, 3, 4], [0, 2, 4]], Verdict.WRONG_VALUE, id="values alone turned"),
        pytest.param([[9, 7, 5], [8, 8, 4]], [[3, 1, 4], [0, 2, 4]], Verdict.WRONG_VALUE, id="indices alone turned"),
        pytest.param([[9, 7, 7], [8, 8, 4]], [[1, 3, 3], [0, 2, 4]], Verdict.WRONG_VALUE, id="one twice"),
        pytest.param([[9, 7, 5], [8, 8, 4]], [[1, 3, 4], [0, 0, 4]], Verdict.WRONG_VALUE, id="one of equals twice"),
        pytest.param([[9, 7, 3], [8, 8, 4]], [[1, 3, 0], [0, 2, 4]], Verdict.WRONG_VALUE, id="another element"),
        pytest.param([[8, 8, 4], [9, 7, 5]], [[0, 2, 4], [1, 3, 4]], Verdict.WRONG_VALUE, id="lanes exchanged"),
        pytest.param([[9, 7], [8, 8]], [[1, 3], [0, 2]], Verdict.WRONG_SHAPE, id="one missing"),
        pytest.param([9, 7, 5, 8, 8, 4], [1, 3, 4, 0, 2, 4], Verdict.WRONG_SHAPE, id="flat"),
    ],
)
def test_what_is_not_the_same_set_is_wrong(values: Any, indices: Any, expected: Verdict) -> None:
    answer = [np.array(values, np.float32), np.array(indices)]
    assert verdict([VALUES, INDICES], answer, LANES) is expected


def test_without_its_partner_an_output_is_a_set_by_itself() -> None:
    assert verdict([VALUES], [VALUES[:, ::-1]], LANES) is Verdict.PASS
    assert verdict([VALUES], [np.array([[9, 7, 7], [8, 8, 4]], np.float32)], LANES) is Verdict.WRONG_VALUE


def test_a_reference_that_is_right_leaves_what_the_text_leaves_open_and_a_wrong_one_does_not() -> None:
    op = registry.load().named("TopK")
    case = next(plans.cases(op, (11,), [spec for spec in op if spec.name == "unsorted"]))
    values, indices = map(np.asarray, case.expected or ())
    turned, wrong = (values[:, ::-1], indices[:, ::-1]), (values + 1, indices)
    right = by_backend(case, "theirs", Answered(turned, None))
    assert right.expected is turned
    assert judge(right, "mine", Answered((values, indices), None)).verdict is Verdict.PASS
    other = by_backend(case, "theirs", Answered(wrong, None))
    assert judge(other, "mine", Answered(wrong, None)).verdict is Verdict.PASS
    reversed_ = tuple(item[:, ::-1] for item in wrong)
    assert judge(other, "mine", Answered(reversed_, None)).verdict is Verdict.WRONG_VALUE


BOXES = np.array([[0, 0, 3], [0, 0, 0], [0, 1, 3], [1, 0, 2]])
ROWS = Allowance("a set", any_order=Order(0, lanewise=False))


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]])
def test_whole_rows_may_change_places(order: list[int]) -> None:
    assert verdict([BOXES], [BOXES[order]], ROWS) is Verdict.PASS


def test_rows_stay_whole() -> None:
    mixed = BOXES.copy()
    mixed[:, 2] = BOXES[::-1, 2]
    assert verdict([BOXES], [mixed], ROWS) is Verdict.WRONG_VALUE
    assert verdict([BOXES], [BOXES[[0, 1, 2, 2]]], ROWS) is Verdict.WRONG_VALUE
    assert verdict([BOXES], [BOXES[:3]], ROWS) is Verdict.WRONG_SHAPE
    assert verdict([BOXES[:0]], [BOXES[:0]], ROWS) is Verdict.PASS
    assert verdict([BOXES[:, :0]], [BOXES[:, :0]], ROWS) is Verdict.PASS


def test_a_wrong_row_alone_differs() -> None:
    wrong = BOXES[[3, 1, 2, 0]]
    wrong[2] = [0, 1, 4]
    mismatch = compare([BOXES], [wrong], ROWS)
    assert mismatch is not None
    assert (mismatch.differing, mismatch.first, mismatch.expected, mismatch.actual) == (1, (2, 2), "3", "4")
    assert list(differing([BOXES], [wrong], ROWS)) == [("outputs[0][2,2]", "3", "4")]


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16, ml_dtypes.int4, object, bool])
def test_elements_of_any_type_have_any_order(dtype: Any) -> None:
    plain = np.array([0, 1, 1, 0, 1]).astype(dtype)
    assert verdict([plain], [plain[[1, 2, 4, 0, 3]]], Allowance("", any_order=Order(0, lanewise=True))) is Verdict.PASS
    one_more = plain[[1, 2, 4, 0, 1]]
    assert verdict([plain], [one_more], Allowance("", any_order=Order(0, lanewise=True))) is Verdict.WRONG_VALUE


def test_nan_and_the_sign_of_zero_do_not_hide_an_element() -> None:
    hard = np.array([np.nan, -0.0, 0.0, np.inf], np.float32)
    turned = Allowance("", signed_zero=True, any_order=Order(0, lanewise=True))
    for order in ([3, 0, 1, 2], [2, 1, 3, 0]):
        assert verdict([hard], [hard[order]], turned) is Verdict.PASS, order
    assert verdict([hard], [np.array([np.inf, np.nan, 0, 0], np.float32)], turned) is Verdict.WRONG_VALUE
    assert verdict([hard], [np.array([np.inf, np.nan, 0, 1], np.float32)], turned) is Verdict.WRONG_VALUE


def test_outputs_that_change_places_together_have_the_same_size() -> None:
    assert AnyOrder(VALUES, INDICES, axis=-1, lanewise=True).order == Order(1, lanewise=True)
    assert AnyOrder(BOXES, VALUES.T[[0, 1, 2, 0]], axis=0).order == Order(0, lanewise=False)
    with pytest.raises(ValueError, match="axis"):
        AnyOrder(BOXES, VALUES, axis=0)
    with pytest.raises(ValueError, match="axis"):
        AnyOrder(BOXES, BOXES[:, :2], axis=0, lanewise=True)
