# SPDX-License-Identifier: Apache-2.0
"""The oracles of com.microsoft agree with the numbers in the unit tests of ONNX Runtime, or a sentence decides."""

from __future__ import annotations

import dataclasses
import functools
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import helper

from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.compare import compare
from onnx_conformance.declare import NoAnswer
from onnx_conformance.specification import schema
from onnx_conformance.specification.evaluator import Evaluator

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx_conformance.specification.evaluator import Answer

DOMAIN = "com.microsoft"
FILE = Path(__file__).with_name("captured.toml")
TOLERANCE = 1e-3
"""The absolute error of a floating-point output if the test in ONNX Runtime states none."""
STEPS = 1
"""Units in the last place that a float16 may also be off: above 2, they are larger than TOLERANCE."""


@dataclass(frozen=True)
class Call:
    """One entry of `captured.toml`, whose header describes the fields.

    An input or output is a table with `type`, `shape` and `values`; a variadic input is a list of them.
    """

    test: str
    source: str
    operator: str
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    tolerance: float = TOLERANCE
    disagrees: str = ""
    because: str = ""

    @property
    def name(self) -> str:
        """The operator, the source and the test."""
        return f"{self.operator}/{self.source}/{self.test}"

    @property
    def expected(self) -> list[np.ndarray[Any, Any]]:
        """The expected outputs, in the order of the schema."""
        return [tensor(self.outputs[item.name]) for item in version(self).outputs if item.name in self.outputs]


@functools.cache
def captured() -> Mapping[str, Any]:
    """Return the tables of the file."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


@functools.cache
def calls() -> tuple[Call, ...]:
    """Return the calls, in the order of the file."""
    return tuple(Call(**entry) for entry in captured()["calls"])


def version(call: Call) -> schema.OperatorVersion:
    """Return the only version of the operator."""
    return schema.in_force(DOMAIN, call.operator, 1)


def tensor(entry: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    """Return the array that an entry describes."""
    dtype = helper.tensor_dtype_to_np_dtype(element_type(entry))
    return np.array(entry["values"]).reshape(entry["shape"]).astype(dtype)


def element_type(entry: Mapping[str, Any]) -> int:
    """Return the number of an entry's element type."""
    return int(onnx.TensorProto.DataType.Value(entry["type"].upper()))


class Recorder(Evaluator):
    """An evaluator that stores the oracle's answer to the last node, with all values that it permits."""

    answer: Answer

    def applied(self, *arguments: Any) -> Answer:
        """Return and store the oracle's answer."""
        self.answer = super().applied(*arguments)
        return self.answer


def evaluated(call: Call) -> Answer:
    """Return the oracle's answer.

    Raises:
        NoAnswer: a sentence forbids the call or does not define its result.
    """
    feeds, names, infos = {}, [], []
    for parameter in version(call).inputs:
        entry = call.inputs.get(parameter.name, [{}])
        for number, each in enumerate(entry if isinstance(entry, list) else [entry]):
            names.append(f"{parameter.name}_{number}" if each else "")
            if each:
                feeds[names[-1]] = tensor(each)
                infos.append(helper.make_tensor_value_info(names[-1], element_type(each), each["shape"]))
    outputs = _without_end([item.name if item.name in call.outputs else "" for item in version(call).outputs])
    node = helper.make_node(call.operator, _without_end(names), outputs, domain=DOMAIN, **call.attributes)
    results = [onnx.ValueInfoProto(name=name) for name in outputs if name]
    graph = helper.make_graph([node], "graph", infos, results)
    recorder = Recorder()
    recorder.model(helper.make_model(graph, opset_imports=[helper.make_opsetid(DOMAIN, 1)]), feeds)
    return recorder.answer


def _without_end(names: list[str]) -> list[str]:
    """Return the names without the omitted ones at the end."""
    return names[: max(number for number, name in enumerate(names, 1) if name)]


def mismatch(answer: Answer, call: Call) -> str:
    """Return how the expected outputs differ from the values that an answer permits; "" if they do not."""
    present = [number for number, item in enumerate(version(call).outputs) if item.name in call.outputs]
    open_ = [answer.open[number] for number in present]
    half = any(entry["type"] == "float16" for entry in call.outputs.values())
    allowance = Allowance(
        "the numbers are those of a kernel",
        atol=call.tolerance,
        ulp=STEPS if half else 0,
        any_of=tuple(answer.any_of[number] for number in present),
        any_order=answer.any_order,
        bounds=[np.zeros(()) if mask is None else np.where(mask, np.inf, 0) for mask in open_],
    )
    return str(compare([answer.outputs[number] for number in present], call.expected, allowance) or "")


def check(call: Call) -> None:
    """Assert that the oracle agrees with a call or, if it is said to disagree, that this sentence is the reason."""
    try:
        difference = mismatch(evaluated(call), call)
    except NoAnswer as no_answer:
        difference = no_answer.clause.text
    assert difference == call.disagrees, call.name


@pytest.mark.parametrize("call", calls(), ids=lambda call: call.name)
def test_the_oracle_agrees_with_the_expected_numbers_or_a_sentence_decides(call: Call) -> None:
    check(call)


def damaged(call: Call) -> Iterator[tuple[str, Call]]:
    """Yield the call with one wrong number, for each number of its outputs, and the place of the number."""
    for name, entry in call.outputs.items():
        for place, number in enumerate(entry["values"]):
            is_float = entry["type"] in {"float16", "float", "double"}
            off = 10 * call.tolerance + abs(number) / 100 if is_float else 64
            values = list(entry["values"])
            values[place] = number - off if number > 0 else number + off
            yield (
                f"{name}[{place}]",
                dataclasses.replace(call, outputs={**call.outputs, name: entry | {"values": values}}),
            )


def test_each_wrong_number_is_noticed() -> None:
    checked, unnoticed = Counter[str](), []
    for call in calls():
        if call.disagrees:
            continue
        answer = evaluated(call)
        for place, wrong in damaged(call):
            checked[call.operator] += 1
            unnoticed += [] if mismatch(answer, wrong) else [f"{call.name}: {place}"]
    assert min(checked.values()) > 0
    assert set(checked) == {call.operator for call in calls()}
    assert not unnoticed


def test_a_wrong_shape_or_type_is_noticed() -> None:
    [call] = [call for call in calls() if call.name == "Inverse/inverse/two_by_two_float"]
    check(call)
    for change in ({"shape": [4]}, {"type": "double"}):
        wrong = dataclasses.replace(call, outputs={"Y": call.outputs["Y"] | change})
        with pytest.raises(AssertionError, match="expected"):
            check(wrong)


def test_a_call_that_agrees_cannot_be_said_to_disagree() -> None:
    call = next(call for call in calls() if not call.disagrees)
    with pytest.raises(AssertionError):
        check(dataclasses.replace(call, disagrees="The operator accepts only numbers below 3."))


def test_a_disagreement_has_the_sentence_that_decides() -> None:
    call = next(call for call in calls() if call.disagrees)
    for other in ("", "The operator accepts only numbers below 3."):
        with pytest.raises(AssertionError):
            check(dataclasses.replace(call, disagrees=other))


def test_the_numbers_are_of_many_operators_and_their_sources_are_known() -> None:
    assert len(calls()) >= 25
    assert len({call.operator for call in calls()}) >= 12
    assert {call.source for call in calls()} == set(captured()["sources"])
    assert max(Counter(call.name for call in calls()).values()) == 1
    assert all(bool(call.disagrees) == bool(call.because) for call in calls())
    assert all(len(source["commit"]) == 40 for source in captured()["sources"].values())
