# SPDX-License-Identifier: Apache-2.0
"""Cases that follow from a signature and one valid call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from onnx_conformance.case.case import PLAIN, Outcome
from onnx_conformance.declare import EXACT, DeclarationError, Op, Rule, Tag, ramp
from onnx_conformance.generation import derived, plans
from onnx_conformance.specification import registry, schema
from refusals import refuses

if TYPE_CHECKING:
    from onnx_conformance.case.case import Case
    from onnx_conformance.specification.schema import OperatorVersion


def newest(op: Op) -> OperatorVersion:
    return registry.versions(op)[-1]


def concat(**example: Any) -> Op:
    op = Op("Concat", versions=(1, 4, 11, 13), compare=EXACT, widens=False)

    @op.oracle()
    def joined(_: Any, inputs: list[Any], axis: int | None) -> Any:
        import numpy as np  # noqa: PLC0415 - as an operator file would have it

        return np.concatenate(inputs, axis or 0)

    if example:
        op.example(**example)
    return op


WHOLE: dict[str, Any] = {"inputs": (ramp(2, 3), ramp(1, 3)), "axis": 0}


def cases_of(op: Op, since: int) -> dict[str, Case]:
    (version,) = (item for item in registry.versions(op) if item.since == since)
    return {case.id: case for case in plans.cases(op, (since,), derived.cases(op, version))}


def test_each_schema_point_of_a_call_and_each_breach_of_its_signature_is_derived() -> None:
    specs = derived.cases(concat(**WHOLE), newest(concat()))
    names = {spec.name: spec for spec in specs if not spec.name.startswith("usage_")}
    assert set(names) == {
        "signature_example",
        "signature_types_t",
        "signature_types_outside_t",
        "signature_two_types_inputs",
        "signature_axis_missing",
        "signature_attribute_unknown",
        "signature_none_of_inputs",
        "signature_one_of_inputs",
        "signature_two_of_inputs",
        "signature_outputs_too_few",
        "signature_outputs_too_many",
    }
    assert names["signature_axis_missing"].rejects is Rule.ATTRIBUTES
    assert names["signature_none_of_inputs"].rejects is Rule.ARITY
    assert names["signature_two_types_inputs"].rejects is Rule.TYPES
    assert names["signature_types_t"].cites[0].text == "Constrain output types to any tensor type."
    assert all(spec.tags == {Tag.SIGNATURE} for spec in names.values())


def test_types_are_those_that_the_version_allows_and_those_that_it_does_not() -> None:
    ids = cases_of(concat(**WHOLE), 1)
    allowed = {case.id.rsplit("/", 1)[-1] for case in ids.values() if "/signature_types_t/" in case.id}
    assert {name.partition("@")[0] for name in allowed} == {"float16", "float", "double"}
    outside = [case for case in ids.values() if "/signature_types_outside_t/" in case.id]
    assert outside
    assert {case.outcome for case in outside} == {Outcome.REJECTS}


def test_derived_cases_come_in_no_other_form_than_plain_and_top() -> None:
    cases = cases_of(concat(**WHOLE), 4).values()
    assert {case.outcome for case in cases} == {Outcome.REJECTS, Outcome.VALUES}
    assert {case.form for case in cases} == {PLAIN, "top"}


def test_a_declared_breach_of_a_signature_comes_in_no_other_form_either() -> None:
    op = concat()
    op.case("stray", **WHOLE, stray={"keepdims": 1}, rejects=Rule.ATTRIBUTES)
    op.case("whole", **WHOLE)
    forms: dict[str, set[str]] = {"stray": set(), "whole": set()}
    for case in plans.cases(op, (4,)):
        forms[case.name].add(case.form)
    assert forms["stray"] == {PLAIN, "top"}
    assert "symbolic" in forms["whole"]


def test_a_derived_call_without_an_answer_is_no_case() -> None:
    op = Op("Concat", versions=(1, 4, 11, 13), compare=EXACT, widens=False)
    alone = op.clause("List of tensors for concatenation")

    @op.oracle()
    def joined(v: Any, inputs: list[Any]) -> Any:
        v.require(alone, len(inputs) > 1)
        return inputs[0]

    op.example(**WHOLE)
    assert not [name for name in cases_of(op, 13) if "one_of_inputs" in name.replace("none_of", "")]


def test_an_example_that_the_text_forbids_is_refused() -> None:
    op = Op("Concat", versions=(1, 4, 11, 13), compare=EXACT, widens=False)
    never = op.clause("List of tensors for concatenation")

    @op.oracle()
    def joined(v: Any, inputs: list[Any]) -> Any:
        v.require(never, not inputs)
        return inputs

    op.example(**WHOLE)
    with refuses("example-invalid", "Concat/13/signature_example", kind=DeclarationError):
        cases_of(op, 13)


def test_a_call_that_a_signature_says_nothing_of_needs_an_example() -> None:
    assert derived.needs_example(newest(concat())) == "axis"
    assert not derived.cases(concat(), newest(concat()))
    assert not derived.needs_example(schema.versions("ai.onnx", "Add")[-1])
    assert derived.needs_example(schema.versions("ai.onnx", "SequenceAt")[-1]) == "input_sequence"


def test_a_deprecated_version_has_one_case() -> None:
    op = registry.load().named("Scatter")
    deprecated = next(version for version in registry.versions(op) if version.deprecated)
    (spec,) = derived.cases(op, deprecated)
    assert spec.deprecated
    assert spec.rejects is Rule.DEPRECATED


def test_a_second_example_and_a_name_of_a_derived_case_are_refused() -> None:
    op = concat(**WHOLE)
    with refuses("second-example", kind=DeclarationError):
        op.example(**WHOLE)
    with refuses("case-name-of-derived", kind=DeclarationError):
        op.case("signature_of_mine", **WHOLE)


@pytest.mark.parametrize(("operator", "attribute"), [("Cast", "saturate"), ("CastLike", "round_mode")])
def test_an_attribute_that_the_text_limits_to_some_types_is_set_for_these_alone(operator: str, attribute: str) -> None:
    op = registry.load().named(operator)
    (first, *_) = [version for version in registry.versions(op) if attribute in version.attributes]
    setting = [
        plan
        for plan in plans.plans(op, (first.since,), derived.cases(op, first))
        if attribute in plan.attributes and plan.outcome is Outcome.VALUES
    ]
    assert [plan.spec.name for plan in setting] == [f"signature_{attribute}_set"]
    assert all(plan.outputs[0][1][len("tensor(") : -1] in op.applies[attribute] for plan in setting)


@pytest.mark.parametrize("operator", ["Cast", "CastLike", "QuantizeLinear"])
def test_no_case_sets_an_attribute_for_types_to_which_the_text_does_not_apply_it(operator: str) -> None:
    op = registry.load().named(operator)
    newest = registry.versions(op)[-1]
    defined = {"float4e2m1", "float6e2m3", "float6e3m2"} if operator == "QuantizeLinear" else set()  # "No effect".
    specs = [spec for spec in plans.specs_of(op, newest) if {*op.applies} & {*spec.arguments}]
    found = [plan for plan in plans.plans(op, (newest.since,), specs) if plan.outcome is not Outcome.REJECTS]
    assert found
    for plan in found:
        for attribute in op.applies.keys() & plan.attributes.keys():
            assert plan.outputs[0][1][len("tensor(") : -1] in {*op.applies[attribute], *defined}, plan.id
