# SPDX-License-Identifier: Apache-2.0
"""Traits of a case: from its result alone, and from its model and inputs."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from generated import OPS, cases, few
from onnx_conformance.analysis import conditions
from onnx_conformance.analysis.model_traits import Reader, of_plan
from onnx_conformance.analysis.traits import (
    ALLOWED,
    FORBIDDEN,
    FORM,
    OPSET,
    TYPE,
    VERSION,
    Topic,
    Trait,
    TraitKind,
    of_result,
)
from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import Case, Outcome
from onnx_conformance.generation import plans
from onnx_conformance.specification import registry
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.lookup import find_case
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterable

    import onnx

SPLIT = "ai.onnx/Split/13"


def words(*parts: dict[Trait, Any]) -> set[str]:
    """Return every condition that the traits of one case meet, in words."""
    phrases = set()
    for part in parts:
        for trait, value in part.items():
            number = trait.kind is TraitKind.NUMBER
            phrases.add(conditions._equal(trait, value) if number else trait.name if value is True else
                      f"{trait.name}{trait.equals}{value}")  # fmt: skip
    return phrases


def of(case: Case) -> set[str]:
    return words(*Reader().of_case(case))


def case(
    operator: str,
    inputs: dict[str, Any],
    *,
    names: Iterable[str] | None = None,
    baked: Iterable[str] = (),
    outputs: Iterable[str] = ("y",),
    types: dict[str, int] | None = None,
    **attributes: Any,
) -> Case:
    """Return a case of one node whose graph inputs are named as the operator's."""
    domain, name, version = operator.split("/")
    node = helper.make_node(name, list(inputs if names is None else names), list(outputs), **attributes)
    infos: list[onnx.ValueInfoProto] = []
    for key, value in inputs.items():
        if isinstance(value, list):
            tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, None)
            infos.append(helper.make_value_info(key, helper.make_sequence_type_proto(tensor)))
        elif key not in baked:
            number = (types or {}).get(key) or helper.np_dtype_to_tensor_dtype(value.dtype)
            infos.append(helper.make_tensor_value_info(key, number, value.shape))
    weights = [numpy_helper.from_array(inputs[key], key) for key in baked]
    graph = helper.make_graph([node], "g", infos, [helper.make_tensor_value_info("y", 1, None)], weights)
    opset = helper.make_opsetid("" if domain == "ai.onnx" else domain, int(version))
    model = helper.make_model(graph, opset_imports=[opset]).SerializeToString()
    fed = {key: value for key, value in inputs.items() if key not in baked}
    return Case(f"{operator}/x", operator, model, fed, ("y",), Outcome.VALUES, None, Allowance("none"))


X = np.arange(6, dtype=np.float32).reshape(2, 3) + 1


# By the result alone


def test_traits_of_a_result_are_version_type_form_tags_sentences_and_outcome() -> None:
    result = Result(
        f"{SPLIT}/uneven/float16@symbolic", SPLIT, "mine", Verdict.PASS, "values", "symbolic",
        clauses=("A sentence.",), tags=("edge",),
    )  # fmt: skip
    assert words(of_result(result)) == {
        "version is 13", "type is float16", "form is @symbolic", "tag is edge", "the case cites «A sentence.»",
        "the text allows it",
    }  # fmt: skip
    assert of_result(result) is of_result(dataclasses.replace(result, backend="other", verdict=Verdict.CRASH))
    rejected = of_result(dataclasses.replace(result, outcome="rejects", form="plain"))
    assert FORBIDDEN in rejected
    assert ALLOWED not in rejected
    assert rejected[FORM] == "plain"


@pytest.mark.parametrize("name", ["official/test_split", "elsewhere/float16/x", f"{SPLIT}0/even/float16"])
def test_only_generated_ids_contain_a_type(name: str) -> None:
    traits_ = of_result(Result(name, SPLIT, "mine", Verdict.PASS, "values"))
    assert TYPE not in traits_
    assert traits_[VERSION] == 13


def test_texts_of_a_file_are_shortened_and_escaped() -> None:
    hostile = "\x1b[31m" + "word " * 500
    phrases = words(
        of_result(Result("x", hostile, "mine", Verdict.PASS, "v", hostile, clauses=(hostile,), tags=(hostile,)))
    )
    assert all(len(item) < 110 and item.isprintable() for item in phrases), phrases


# By the model


def test_inputs_are_named_as_the_text_names_them() -> None:
    case_ = case(SPLIT, {"a": X, "b": np.array([1, 1])}, outputs=("y", "z"), axis=-2)
    phrases = of(case_)
    assert {"split is given", "rank of input = 2", "rank of split = 1", "length of split = 2", "number of outputs = 2",
            "axis=-2", "axis is set", "axis counted from the front = 0", "axis is the first dimension",
            "axis is not the last dimension", "split has a value twice", "type is float", "opset is 13",
            "input and split differ in rank", "input and split differ in shape"} <= phrases  # fmt: skip
    assert not any(item.startswith("type of split") for item in phrases), "a type without alternatives is no trait"


def test_omitted_and_named_empty_and_initializer() -> None:
    assert "split is omitted" in of(case(SPLIT, {"input": X}))
    assert 'split is named ""' not in of(case(SPLIT, {"input": X}))
    named = of(case(SPLIT, {"input": X}, names=["input", ""]))
    assert {"split is omitted", 'split is named ""'} <= named
    baked = of(case(SPLIT, {"input": X, "split": np.array([1, 1])}, baked=["split"]))
    assert {"split is given", "split is an initializer", "length of split = 2"} <= baked


def test_a_default_is_a_value_too() -> None:
    phrases = of(case(SPLIT, {"input": X}))
    assert {"axis is not set", "axis=0", "axis is the first dimension"} <= phrases
    assert {"num_outputs is not set"} <= of(case("ai.onnx/Split/18", {"input": X}))


@pytest.mark.parametrize(
    ("value", "expected", "absent"),
    [
        (np.float32(3), {"split is a scalar"}, "split has a dimension of size 1"),
        (np.zeros((0, 2), np.float32), {"split has a dimension of size 0", "rank of split = 2"}, "split has a zero"),
        (np.array([[np.nan]]), {"split has NaN", "split has dimensions but one element"}, "split has an infinity"),
        (np.array([-np.inf, 1], np.float32), {"split has an infinity", "split has a negative value"}, "split has NaN"),
        (np.array([-0.0], ml_dtypes.bfloat16), {"split has a negative zero", "split has a zero"}, "split has NaN"),
        (np.array([1.5, 2]), {"split has a fraction"}, "split has a zero"),
        (np.array([-128], np.int8), {"split has the lowest value of its type"}, "split has a zero"),
        (np.zeros(0, np.int64), {"split is empty", "split has a dimension of size 0"}, "split has a zero"),
        (np.array([255], np.uint8), {"split has the highest value of its type"}, "the value of split is 255"),
        (np.array(-2), {"the value of split is -2", "split is a scalar"}, "split has the lowest value of its type"),
        (np.array([2**40, 1]), {"an input has a number beyond int32"}, "an input has a number beyond 2**53"),
        (np.array([True, False]), {"split is mixed throughout"}, "split has a zero"),
        (np.array([1j, np.inf]), {"split has a value that is not finite"}, "split has NaN"),
        (np.array(["", "ä"], object), {"split has an empty string", "split has text beyond ASCII"}, "split has a zero"),
    ],
)  # fmt: skip
def test_traits_of_values(value: Any, expected: set[str], absent: str) -> None:
    types = {"split": TensorProto.STRING} if np.asarray(value).dtype == object else None
    phrases = of(case(SPLIT, {"input": X, "split": np.asarray(value)}, types=types))
    assert expected <= phrases, phrases
    assert absent not in phrases


def test_sequences() -> None:
    phrases = of(case("ai.onnx/ConcatFromSequence/11", {"s": [X, X[:1]]}, axis=1))
    name = "input_sequence"
    assert {
        f"{name} is a sequence",
        f"length of {name} = 2",
        f"tensors of {name} differ in shape",
        "type is float",
    } <= phrases
    assert f"{name} is empty" in of(case("ai.onnx/ConcatFromSequence/11", {"s": []}, axis=1))


def test_variadic_inputs_are_counted_and_numbered() -> None:
    phrases = of(case("ai.onnx/Concat/13", {"a": X, "b": X[:0]}, axis=0))
    assert {
        "number of inputs = 2",
        "inputs[1] has a dimension of size 0",
        "inputs[0] and inputs[1] differ in shape",
    } <= phrases


def test_lists_and_texts_and_types_of_attributes() -> None:
    image = np.ones((1, 1, 4, 4), np.float32)
    phrases = of(case("ai.onnx/MaxPool/12", {"X": image}, kernel_shape=[2, 3], pads=[0, 0, 0, 0], auto_pad="VALID"))
    assert {"kernel_shape=[2,3]", "length of kernel_shape = 2", "values of kernel_shape differ", "auto_pad=VALID",
            "values of pads are all equal", "dilations is not set", "Indices is not asked for"} <= phrases  # fmt: skip
    assert "to=float16" in of(case("ai.onnx/Cast/13", {"input": X}, to=TensorProto.FLOAT16))
    assert "there is an attribute wrong" in of(case("ai.onnx/Cast/13", {"input": X}, to=1, wrong=2))


def test_a_model_without_a_node_of_the_operator_has_the_opset_alone() -> None:
    case_ = dataclasses.replace(case("ai.onnx/Cast/13", {"input": X}, to=1), operator=SPLIT)
    assert of(case_) == {"opset is 13"}
    assert of(dataclasses.replace(case_, operator="model")) == set()


@pytest.mark.slow
@pytest.mark.usefixtures("few_operators")
def test_forms_have_the_traits_of_the_plain_form() -> None:
    reader = Reader()
    chosen = Selection(cases=("ai.onnx/Split/18/dtypes_num_outputs/float16*", "ai.onnx/ReduceSum/13/*"))
    read = {item.id: (item, reader.of_case(item)) for item in Generated().cases(chosen)}
    assert {item.form for item, _ in read.values()} >= {"plain", "omitted", "unranked", "initializer", "top"}
    for name, (item, (shared, own)) in read.items():
        plain, (first, alone) = read[name.partition("@")[0]]
        assert shared is first, name
        assert any(word.startswith("type is ") for word in words(shared)), name
        if item.form.startswith("initializer"):
            assert any(word.endswith("is an initializer") for word in words(own))
        if item.form == "top":
            assert own[OPSET] > alone[OPSET] == int(plain.operator.rpartition("/")[2])


@pytest.mark.slow
@pytest.mark.usefixtures("few_operators")
def test_shared_traits_are_never_those_of_another_case() -> None:
    """Without its plain case before it, a form has the traits of its own model."""
    reader = Reader()
    every = list(Generated().cases(Selection(cases=("ai.onnx/SplitToSequence/11/*",))))
    forms = [item for item in every if item.form == "initializer"]
    assert forms
    for item in forms:
        plain = next(other for other in every if other.id == item.id.partition("@")[0])
        assert words(reader.of_case(item)[0]) == words(Reader().of_case(plain)[0]), item.id


@pytest.mark.slow
def test_cases_of_every_kind_can_be_read() -> None:
    for item in few():
        phrases = of(item)
        assert phrases, item.id
        assert all(word.isprintable() and len(word) < 120 for word in phrases), item.id


@pytest.mark.slow
@pytest.mark.parametrize(
    "op", [op for op in OPS if op.name in {"Loop", "Optional", "Constant", "DictVectorizer"}], ids=str
)
def test_graphs_optionals_values_and_maps_can_be_read(op: Any) -> None:
    phrases = {word for item in cases(op)[:400] for word in of(item)}
    expected = {
        "Loop": "M is omitted", "Optional": "type is set", "Constant": "value is set", "DictVectorizer": "X is a map"
    }  # fmt: skip
    assert expected[op.name] in phrases, sorted(phrases)


# Conditions


def table(*rows: dict[Trait, Any]) -> list[conditions.Condition]:
    return conditions.conditions(conditions.table([(row,) for row in rows]))


def test_numbers_become_bounds_that_match_their_cases() -> None:
    axis = Trait(Topic.ARGUMENT, "axis", TraitKind.NUMBER, "=")
    cases_of = {item.words: item.cases for item in table({axis: -1}, {axis: 0}, {axis: 2}, {axis: 5}, {})}
    assert cases_of == {
        "axis=-1": 0b1, "axis=0": 0b10, "axis=2": 0b100, "axis=5": 0b1000,
        "axis is negative": 0b1, "axis is not negative": 0b1110,
        "axis <= 0": 0b11, "axis >= 2": 0b1100, "axis <= 2": 0b111, "axis >= 5": 0b1000, "0 <= axis <= 2": 0b110,
    }  # fmt: skip


def test_bounds_of_lists_are_those_of_their_values() -> None:
    low = Trait(Topic.ARGUMENT, "smallest of pads", TraitKind.NUMBER, " = ")
    high = Trait(Topic.ARGUMENT, "largest of pads", TraitKind.NUMBER, " = ")
    cases_of = {item.words: item.cases for item in table({low: -1, high: 1}, {low: 0, high: 3})}
    assert cases_of == {
        "a value of pads is negative": 0b1, "every value of pads is at least 0": 0b10,
        "every value of pads <= 1": 0b1, "a value of pads >= 3": 0b10,
    }  # fmt: skip


def test_a_choice_lists_the_shorter_side() -> None:
    choice = conditions.Choice(TYPE, {"a": 1, "b": 2, "c": 4, "d": 8})

    def chosen(inside: str, outside: str) -> tuple[str, int]:
        condition = choice.condition(inside, outside)
        assert condition is not None
        return condition.words, condition.cases

    assert chosen("a", "bcd") == ("type is a", 1)
    assert chosen("ba", "cd") == ("type is one of a, b", 3)
    assert chosen("abc", "d") == ("type is not d", 7)
    assert chosen("ab", "d") == ("type is not d", 7), "of c nothing is known"
    many = conditions.Choice(TYPE, {f"t{n}": 1 << n for n in range(20)})
    assert many.condition([f"t{n}" for n in range(10)], [f"t{n}" for n in range(10, 20)]) is None, "too long to read"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Split", "ReduceSum", "Dropout", "SequenceInsert", "Constant", "LayerNormalization"])
def test_traits_of_a_plan_are_those_of_its_models(name: str) -> None:
    """Traits without the models of all forms are those that are read from the models."""
    of_operator = list(plans.plans(registry.load().named(name)))
    assert of_operator
    for plan in of_operator:
        reader = Reader()
        read = {case.id: reader.of_case(case) for case in plans.delivered(plan)}
        assert dict(of_plan(plan, lambda _: True)).items() >= read.items(), plan.id
        assert dict(of_plan(plan, lambda case: "@" in case)).keys() <= {case for case in read if "@" in case} | {
            f"{plan.id}@expanded"
        }
        assert not dict(of_plan(plan, lambda _: False))


def test_the_columns_of_a_table_have_no_traits_but_the_members_of_an_enumeration_have() -> None:
    """Users do not understand "class_ids=[0,2,1]"; "nodes_modes contains BRANCH_GTE" may be a cause."""
    meets = of(find_case("ai.onnx.ml/TreeEnsembleClassifier/3/gte_missing_0"))
    assert {"nodes_modes contains BRANCH_GTE", "nodes_modes contains LEAF"} <= meets
    assert not {phrase for phrase in meets if "ids=[" in phrase or "largest of class_ids" in phrase}
    one = {"X": np.array(["One"], object)}
    labels = case("ai.onnx.ml/LabelEncoder/4", one, domain="ai.onnx.ml", keys_strings=["One"], values_int64s=[1])
    assert any("keys_strings" in phrase for phrase in of(labels))
    assert not {phrase for phrase in of(labels) if " contains " in phrase}
