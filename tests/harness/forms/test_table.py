# SPDX-License-Identifier: Apache-2.0
"""The table of forms: it has a row for every form that is built, and the rest of the harness reads it."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from onnx_conformance.case.case import PLAIN
from onnx_conformance.forms import table
from onnx_conformance.forms.table import Start
from onnx_conformance.generation import deliveries
from onnx_conformance.search import calls
from onnx_conformance.specification import registry
from paths import ROOT


def test_each_name_has_one_row() -> None:
    assert [name for name, count in Counter(form.name for form in table.FORMS).items() if count > 1] == []


def test_a_form_is_found_by_its_name_and_by_the_names_made_from_it() -> None:
    for form in table.FORMS:
        assert table.find(form.name) is form
    found = {
        name: getattr(table.find(name), "name", None)
        for name in ("initializer-split", "then_Relu", "folded_then_Relu_then_Cast", "symbolc", "then_relu", "")
    }
    assert found == {
        "initializer-split": "initializer-NAME",
        "then_Relu": PLAIN,
        "folded_then_Relu_then_Cast": "folded",
        "symbolc": None,
        "then_relu": None,
        "": PLAIN,
    }


@pytest.mark.usefixtures("all_operators")
def test_operators_are_delivered_in_the_forms_of_plans() -> None:
    names = {
        re.sub("^initializer-.*", "initializer-NAME", name)
        for op in registry.load()
        for version in registry.versions(op)
        for name in deliveries.form_names(version)
    }
    assert names == set(table.names(Start.PLAN))


@pytest.mark.slow
def test_every_form_in_the_published_results_has_a_row() -> None:
    """Ids of findings stay as they were published, with the name that a form had then."""
    files = list((ROOT / "reports").rglob("findings.json"))
    assert len(files) >= 3, files
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    forms = set(re.findall(r'"[\w.]+(?:/[\w-]+)+@([\w-]+)"', text))
    assert len(forms) > 20, forms
    assert [name for name in sorted(forms) if table.find(name) is None] == []


def test_the_search_draws_each_form_as_often_as_its_row_says() -> None:
    drawn = Counter(calls.FORMS)
    assert {form.name: form.drawn for form in table.FORMS if form.drawn} == drawn
    assert drawn[PLAIN] > max(count for name, count in drawn.items() if name != PLAIN)
