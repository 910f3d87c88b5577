# SPDX-License-Identifier: Apache-2.0
"""Every form takes any delivered model: a declared case, a case of the core, a model with a pattern and a chain."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.compare import compare
from onnx_conformance.declare import CaseSpec
from onnx_conformance.forms import table
from onnx_conformance.forms.delivered import Delivered, in_opset, unchanged
from onnx_conformance.forms.table import PLAIN, Start
from onnx_conformance.generation import deliveries, neighbours, plans, rewrite_cases
from onnx_conformance.rewrites.rewrite import Model, listed, numbers
from onnx_conformance.search import chains
from onnx_conformance.specification import evaluator, registry, schema

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from onnx_conformance.generation.deliveries import Plan


def plan(operator: str, since: int, name: str) -> Plan:
    op = registry.load().named(operator)
    specs = [spec for spec in plans.specs_of(op, schema.in_force(op.domain, op.name, since)) if spec.name == name]
    return next(plans.plans(op, (since,), specs))


def pattern() -> Delivered:
    nodes = "t = Transpose<perm = [1, 0]>(x)\na = Add(t, c)\ny = Relu(a)"
    return rewrite_cases.started(Model("model", nodes, {"x": numbers(3, 4)}, {"c": listed(1, -1, 0.5)}), "pattern")


def chain() -> Delivered:
    first = plan("Add", 14, "same_shape")
    (value,) = first.expected or ()
    assert isinstance(value, np.ndarray)
    op, version = registry.load().named("Mul"), schema.in_force("ai.onnx", "Mul", 14)
    spec = CaseSpec("drawn", {"A": value, "B": np.float32([2])}, frozenset())
    second = plans.plan(op, version, spec, {"T": "tensor(float)"})
    return chains.started(chains.Chain((first, second), (("C", "A"),), 14, constant=True, symbolic=False))


STARTS: dict[str, Callable[[], Delivered]] = {
    "a declared case": lambda: deliveries.started(plan("Split", 18, "lengths")),
    "a random operator": lambda: deliveries.started(plan("RandomNormal", 1, "seed")),
    "a case with a function body": lambda: deliveries.started(plan("Clip", 13, "by_inputs")),
    "a case without optional inputs": lambda: deliveries.started(plan("Clip", 13, "min_matrix")),
    "an operator of another domain": lambda: deliveries.started(plan("ai.onnx.ml/ArrayFeatureExtractor", 1, "matrix")),
    "a case of the core": lambda: neighbours.started(deliveries.plain(plan("Split", 18, "lengths"))),
    "a pattern": pattern,
    "a chain": chain,
}
start_of = functools.cache(lambda name: STARTS[name]())


def made_of(name: str) -> dict[str, Delivered]:
    """Return every form that is suitable for a start, by its name."""
    start = start_of(name)
    built = {form.name: form.build(start) for form in table.FORMS}
    return {form: made for form, made in built.items() if made is not None}


@pytest.mark.parametrize("name", STARTS)
def test_every_form_of_any_start_is_valid_and_expects_what_the_oracles_compute(name: str, tmp_path: Path) -> None:
    before = start_of(name).model.SerializeToString()
    made = made_of(name)
    assert len(made) > 4, made.keys()
    for form, item in made.items():
        folder = tmp_path / form
        folder.mkdir()
        for file, content in item.files.items():
            (folder / file).write_bytes(content)
        onnx.save(item.model, folder / "model.onnx")
        onnx.checker.check_model(str(folder / "model.onnx"))
        answers = evaluator.session(item.model.SerializeToString(), str(folder))(dict(item.inputs), item.outputs)
        assert compare(item.expected or (), answers, Allowance("exact")) is None, form
    assert start_of(name).model.SerializeToString() == before


def test_each_form_is_suitable_for_some_start() -> None:
    found = {form for name in STARTS for form in made_of(name)}
    assert found == {form.name for form in table.FORMS}


def test_forms_of_patterns_are_available_to_declared_cases_and_the_reverse() -> None:
    declared, patterns = made_of("a declared case"), made_of("a pattern")
    assert {"constant_nodes", "doubled", "folded", "recent", "behind_identity"} <= declared.keys()
    assert {"typed", "external_data", "top", "before_transpose"} <= patterns.keys()
    assert [node.op_type for node in declared["constant_nodes"].model.graph.node] == ["Constant", "Split"]
    assert patterns["typed"].model.graph.initializer[0].float_data == [1, -1, 0.5]


def test_a_form_of_one_of_several_parameters_stores_only_that_one() -> None:
    form = table.find("initializer-max")
    assert form is not None
    start = deliveries.started(plan("Clip", 13, "by_inputs"))
    assert form.names(start.parameters) == ["initializer-min", "initializer-max"]
    assert form.names(["min"]) == []
    made = form.deliver(start, "initializer-max")
    assert made is not None
    assert [item.name for item in made.model.graph.initializer] == ["max"]
    assert list(made.inputs) == ["input", "min"]


def test_a_form_is_delivered_of_every_kind_that_its_row_names(monkeypatch: pytest.MonkeyPatch) -> None:
    row = table.Form("another", "nothing differs", unchanged, frozenset({Start.CASE}))
    monkeypatch.setattr(table, "FORMS", (*table.FORMS, row))
    declared = plan("Split", 18, "lengths")
    cases = {case.form: case for case in plans.delivered(declared)}
    assert "another" not in cases
    assert "another" in {case.form for case in neighbours.neighbours(cases[PLAIN])}
    assert "another" not in {form for form, _ in table.delivered(pattern(), Start.REWRITE)}


def test_a_model_may_import_another_opset_of_its_own_or_of_another_domain() -> None:
    start = start_of("an operator of another domain")
    both = in_opset(start, "ai.onnx", 21)
    assert [(item.domain, item.version) for item in both.model.opset_import] == [("ai.onnx.ml", 1), ("", 21)]
    assert both.model.ir_version == schema.lowest_ir("ai.onnx", 21) > start.model.ir_version
    assert in_opset(both, "ai.onnx", 21) is both
    assert unchanged(start) is start
