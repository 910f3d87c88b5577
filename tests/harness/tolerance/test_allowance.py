# SPDX-License-Identifier: Apache-2.0
"""How far an answer may lie from the oracle's: exact, measured on the values at hand, or anything at all."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from onnx_conformance.case.compare import compare
from onnx_conformance.declare import (
    EXACT,
    AnyOf,
    AnyOrder,
    Array,
    DeclarationError,
    Op,
    Order,
    PartlyOpen,
    Tag,
    Version,
    bounded,
    measured,
    ramp,
    typed,
    ulp,
)
from onnx_conformance.generation import plans
from onnx_conformance.specification import registry
from onnx_conformance.specification.signature import TypedValue
from onnx_conformance.tolerance.allowance import operand_types
from refusals import refuses

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_conformance.declare import Tolerance
    from onnx_conformance.generation.deliveries import Plan


def plan_of(op: Op, name: str) -> Plan:
    return next(plans.plans(op, specs=[spec for spec in op if spec.name == name]))


def halved(*, tolerance: str) -> Op:
    """Return an operator whose first element is open, or half of the input."""
    op = Op("Relu", versions=(14,), compare=ulp(1, "one") if tolerance == "ulp" else measured("rounds"), rank="X")

    @op.oracle()
    def half(v: Version, X: Array) -> PartlyOpen | Array:  # noqa: ARG001, N803
        if X.dtype.kind != "f":
            return X
        return PartlyOpen(X / 3, np.arange(X.size) == 0)

    op.case("floats", Tag.BASIC, X=[1.0, 2.0, 3.0])
    op.case("halves", Tag.BASIC, X=typed("float16", [1.0, 2.0, 3.0]))
    op.case("integers", Tag.BASIC, X=typed("int32", ramp(3)))
    return op


@pytest.mark.parametrize("tolerance", ["ulp", "measured"])
def test_an_open_element_has_no_bound_whatever_the_tolerance(tolerance: str) -> None:
    allowance = plan_of(halved(tolerance=tolerance), "floats").allowance
    assert allowance.bounds is not None
    assert np.isinf(allowance.bounds[0]).tolist() == [True, False, False]
    assert (np.asarray(allowance.bounds[0][1:]) > 0).all() == (tolerance == "measured")


def test_what_is_determined_keeps_the_operators_tolerance() -> None:
    plan = plan_of(halved(tolerance="ulp"), "floats")
    assert plan.expected is not None
    got = np.array([9, 2 / 3, 1], np.float32)
    assert compare(plan.expected, [got], plan.allowance) is None
    assert compare(plan.expected, [got + np.float32(1e-5)], plan.allowance) is not None


def test_what_is_measured_grows_with_the_type() -> None:
    op = halved(tolerance="measured")
    single, half = (plan_of(op, name).allowance.bounds for name in ("floats", "halves"))
    assert single is not None
    assert half is not None
    assert half[0][2] > 100 * single[0][2]


@pytest.mark.parametrize("compare_by", ["measured", "bounded"])
def test_types_of_16_bits_are_computed_in_float_and_rounded_once(compare_by: str) -> None:
    """So 4 units off is wrong, however many terms a sum has; where the text rounds each step, more is allowed."""
    plan, by_steps = (plan_of(tiny_sum(compare_by, steps=steps), "sum") for steps in (False, True))
    assert plan.expected is not None
    (expected,) = plan.expected
    assert isinstance(expected, np.ndarray)
    codes = expected.view(np.int16)
    one, four = ((codes + np.int16(units)).view(np.float16) for units in (1, 4))
    assert compare(plan.expected, [one], plan.allowance) is None
    assert compare(plan.expected, [four], plan.allowance) is not None
    assert compare(plan.expected, [four], by_steps.allowance) is None
    assert compare(plan.expected, [four], plan.by_steps) is None, "a function body rounds after each node"


def tiny_sum(compare_by: str, *, steps: bool) -> Op:
    """Return an operator whose output is the sum of 1,000 elements of float16."""

    def errors(X: Array) -> list[Array]:  # noqa: N803
        return [np.abs(X).sum(keepdims=True) * X.size / 2]

    tolerance = bounded(errors, "sums", steps=steps)
    if compare_by == "measured":
        tolerance = replace(measured("sums"), steps=steps)
    op = Op("Relu", versions=(14,), compare=tolerance, rank="X")

    @op.oracle()
    def total(v: Version, X: Array) -> Array:  # noqa: ARG001, N803
        return np.asarray(X.sum(keepdims=True))

    op.case("sum", Tag.BASIC, X=typed("float16", np.linspace(0.5, 1, 1000)))
    return op


def magnitudes(X: Array) -> list[Array]:  # noqa: N803
    return [np.abs(X)]


def test_a_subnormal_result_of_16_bits_may_differ_only_where_the_error_crosses_a_tie() -> None:
    step = float(np.finfo(np.float16).smallest_subnormal)
    op = Op("Relu", versions=(14,), compare=bounded(magnitudes, "one rounding"), rank="X")

    @op.oracle()
    def quarter(v: Version, X: Array) -> Array:  # noqa: ARG001, N803
        return np.asarray(X / 4)

    op.case("ties", Tag.BASIC, X=typed("float16", np.array([5, 6, 8]) * step))
    bounds = plan_of(op, "ties").allowance.bounds
    assert bounds is not None
    reached = np.floor(np.asarray(bounds[0]) / step)
    assert reached.tolist() == [0, 1, 0], "5/4 and 8/4 are no ties, 6/4 is one"


def test_integers_are_exact() -> None:
    bounds = plan_of(halved(tolerance="measured"), "integers").allowance.bounds
    assert bounds is not None
    assert not np.any(bounds[0])


def test_bounds_are_pickled_as_numbers() -> None:
    allowance = plan_of(halved(tolerance="measured"), "floats").allowance
    again = pickle.loads(pickle.dumps(allowance))
    assert isinstance(again.bounds, tuple)
    assert allowance.bounds is not None
    assert (again.bounds[0] == allowance.bounds[0]).all()


def test_an_implementation_may_compute_in_the_type_of_any_input() -> None:
    op = halved(tolerance="measured")
    single, half = (TypedValue(np.zeros(2, dtype)) for dtype in (np.float32, np.float16))
    version = registry.versions(op)[0]
    assert operand_types(op, version, [single, None, [half]], {}) == [np.float32, np.float16]


def test_where_a_stage_has_a_type_of_its_own_that_decides() -> None:
    op = Op("LayerNormalization", versions=(17,), compare=measured("rounds", stage="stash_type"))
    version = registry.versions(op)[0]
    assert operand_types(op, version, [TypedValue(np.zeros(2, np.float16))], {}) == [np.float32]
    assert operand_types(op, version, [], {"stash_type": 10}) == [np.float16]


def test_behind_the_end_of_a_sequence_a_recurrent_layer_may_give_anything() -> None:
    op = registry.load().find("ai.onnx", "GRU")
    assert op is not None
    plan = next(item for item in plans.plans(op, (22,)) if item.spec.name == "lengths")
    assert plan.allowance.bounds is not None
    lengths = dict(plan.inputs)["sequence_lens"]
    assert lengths is not None
    behind = np.arange(plan.allowance.bounds[0].shape[0])[:, None] >= np.asarray(lengths.value)
    assert np.isinf(plan.allowance.bounds[0]).any(axis=(1, 3)).tolist() == behind.tolist()


def test_a_bound_of_the_largest_doubles_is_far_below_them() -> None:
    op = registry.load().find("ai.onnx", "MatMul")
    assert op is not None
    plan = next(item for item in plans.plans(op, (13,)) if item.spec.name == "largest_double")
    assert plan.expected is not None
    assert plan.allowance.bounds is not None
    assert float(plan.allowance.bounds[0].max()) < 1e-15 * float(np.max(plan.expected[0]))


def free(result: Callable[[Array], AnyOf | AnyOrder], tolerance: Tolerance = EXACT) -> Plan:
    """Return the plan of an operator that gives one of several answers."""
    op = Op("Relu", versions=(14,), compare=tolerance, rank="X")

    @op.oracle()
    def of_two(v: Version, X: Array) -> AnyOf | AnyOrder:  # noqa: ARG001, N803
        return result(X)

    op.case("two", Tag.BASIC, X=typed("float16", [[1.0, 2.0]]))
    return plan_of(op, "two")


def test_an_output_of_several_values_has_them_in_its_type() -> None:
    plan = free(lambda X: AnyOf(X / 3, X[0] / 3))  # noqa: N803
    (several,) = plan.allowance.any_of
    assert several is not None
    assert plan.expected is not None
    assert {value.dtype.name for value in several.values} == {"float16"}
    for answer in several.values:
        assert compare(plan.expected, [answer], plan.allowance) is None
    assert compare(plan.expected, [several.values[1].astype(np.float32)], plan.allowance) is not None


def test_a_model_states_no_size_that_may_be_another() -> None:
    def stated(result: Callable[[Array], AnyOf | AnyOrder]) -> list[int | str]:
        case = next(plans.delivered(free(result)))
        dims = onnx.load_from_string(case.model).graph.output[0].type.tensor_type.shape.dim
        return [item.dim_param or item.dim_value for item in dims]

    assert stated(lambda X: AnyOf(X, X + 1)) == [1, 2]  # noqa: N803
    assert stated(lambda X: AnyOf(X, X[:, :1])) == [1, "Y_1"]  # noqa: N803
    assert stated(lambda X: AnyOf(X, X[0])) == [1, 2]  # noqa: N803 - it has to state a rank


def test_an_order_is_open_along_an_axis_counted_from_the_front() -> None:
    plan = free(lambda X: AnyOrder(X, axis=-1))  # noqa: N803
    assert plan.allowance.any_order == Order(1, lanewise=False)
    assert plan.expected is not None
    assert compare(plan.expected, [np.array([[2, 1]], np.float16)], plan.allowance) is None


def test_other_answers_have_other_digests() -> None:
    results: list[Callable[[Array], AnyOf | AnyOrder]] = [
        AnyOf,
        lambda X: AnyOf(X, X + 1),  # noqa: N803
        lambda X: AnyOf(X, X + 2),  # noqa: N803
        lambda X: AnyOrder(X, axis=0),  # noqa: N803
        lambda X: AnyOrder(X, axis=1),  # noqa: N803
        lambda X: AnyOrder(X, axis=1, lanewise=True),  # noqa: N803
    ]
    assert len({next(plans.delivered(free(result))).digests()[2] for result in results}) == len(results)


def test_several_answers_are_exact() -> None:
    with refuses("choices-with-tolerance", kind=DeclarationError):
        free(lambda X: AnyOf(X, X + 1, elementwise=True), ulp(1, "rounds"))  # noqa: N803
    with refuses("choices-not-exact", kind=DeclarationError):
        free(lambda X: AnyOf(X, X + 1), measured("rounds"))  # noqa: N803
    with refuses("choices-not-exact", kind=DeclarationError):
        free(lambda X: AnyOrder(X, axis=0), measured("rounds"))  # noqa: N803


def test_one_element_may_be_open_and_another_one_of_two_values() -> None:
    plan = free(lambda X: PartlyOpen(AnyOf(X, X + 1, elementwise=True), np.array([[True, False]])))  # noqa: N803
    assert plan.expected is not None

    def passes(*answer: float) -> bool:
        return compare(plan.expected or (), [np.array([answer], np.float16)], plan.allowance) is None

    assert passes(9, 2)
    assert passes(np.nan, 3)
    assert not passes(9, 4)
    assert not passes(1, np.nan)
