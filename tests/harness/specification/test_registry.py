# SPDX-License-Identifier: Apache-2.0
"""Which operator versions there are: those that an operator file declares and that the installed onnx has."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from commands import command
from generated import nothing_derived
from onnx_conformance import operators
from onnx_conformance.declare import EXACT, Op, ramp
from onnx_conformance.generation import plans
from onnx_conformance.specification import evaluator as oracle
from onnx_conformance.specification import registry, schema
from onnx_conformance.specification.registry import Registry
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from pathlib import Path

IDENTITY = (1, 13, 14, 16, 19, 21, 23, 24, 25)


def identity(*versions: int, name: str = "Identity") -> Op:
    op = nothing_derived(Op(name, versions=versions, compare=EXACT))

    @op.oracle()
    def same(v: object, input: object) -> object:  # noqa: A002, ARG001 - the text's own name
        return input

    op.case("ramp", input=ramp(3))
    return op


def notes(monkeypatch: pytest.MonkeyPatch, op: Op, *ops: str) -> dict[str, str]:
    """Return the operator versions that a selection of one operator leaves out, by the id of the note."""
    monkeypatch.setattr(registry, "load", lambda *_: Registry([op]))
    left_out = Generated().left_out(Selection(ops or (op.name,)))
    return {note.id: note.text.rpartition(": ")[2] for note in left_out}


def test_a_version_that_is_not_declared_is_left_out_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    op = identity(*IDENTITY[:-1])
    assert {case.operator for case in plans.cases(op)} == {f"ai.onnx/Identity/{since}" for since in IDENTITY[:-1]}
    assert notes(monkeypatch, op) == {"versions-undeclared": "ai.onnx/Identity/25"}
    assert notes(monkeypatch, op, "Identity/13") == {}


def test_a_version_that_this_onnx_lacks_is_left_out_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    op = identity(*IDENTITY, 900)
    assert {case.operator for case in plans.cases(op)} == {f"ai.onnx/Identity/{since}" for since in IDENTITY}
    assert notes(monkeypatch, op) == {"versions-not-in-onnx": "ai.onnx/Identity/900"}


def test_an_operator_that_this_onnx_lacks_is_left_out_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    op = identity(29, name="NotYet")
    assert list(plans.cases(op)) == []
    assert notes(monkeypatch, op) == {"versions-not-in-onnx": "ai.onnx/NotYet/29"}


@pytest.mark.slow
def test_a_command_goes_on_without_the_versions_that_it_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "load", lambda *_: Registry([identity(*IDENTITY[:-1])]))
    for words in (("list",), ("list", "--by-version"), ("run", "--backend", "oracle", "--table", "full")):
        done = command(*words)
        assert done.status == 0, done.text
        assert done.err.count("ai.onnx/Identity/25") == 1, done.text
        assert "ai.onnx/Identity/24" in done.out


def test_the_oracle_does_not_answer_for_a_version_that_is_not_declared() -> None:
    op = identity(*IDENTITY[:-1])
    evaluator = oracle.Evaluator(Registry([op]))
    node = onnx.helper.make_node("Identity", ["x"], ["y"])
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [node], "g", [info("x", onnx.TensorProto.FLOAT, [3])], [info("y", onnx.TensorProto.FLOAT, [3])]
    )
    older, newer = (
        onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)]) for opset in (24, 25)
    )
    x = np.arange(3, dtype=np.float32)
    assert (evaluator.model(older, {"x": x})["y"] == x).all()
    with pytest.raises(oracle.UndeclaredError, match="Identity of opset 25"):
        evaluator.model(newer, {"x": x})


def test_all_of_onnx_is_known_by_name() -> None:
    every = schema.every()
    assert every["ai.onnx/Split"] == tuple(f"ai.onnx/Split/{since}" for since in (1, 2, 11, 13, 18))
    assert sum(map(len, every.values())) == len(onnx.defs.get_all_schemas_with_history())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "from onnx_conformance.declare import ramp\n\nX = ramp(3)[0]\n",
            "line 3: TypeError: 'Data' object is not subscriptable",
        ),
        ("def broken(:\n", "line 1: invalid syntax"),
        ("from onnx_conformance.declare import EXACT, Op\n\nA = Op('Abs', versions=(1), compare=EXACT)\n", "line 3: "),
    ],
)
def test_what_is_wrong_in_an_operator_file_gets_one_line(
    text: str, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whoever writes an operator meets these first; they are no fault of the harness."""
    file = tmp_path / "split.py"  # Of the operator that the command needs.
    file.write_text(text)
    monkeypatch.setattr(operators, "__path__", [*operators.__path__, str(tmp_path)])
    monkeypatch.setattr(registry, "FOLDER", tmp_path)
    monkeypatch.delitem(sys.modules, "onnx_conformance.operators.split", raising=False)
    monkeypatch.setattr(registry, "load", registry.load.__wrapped__)
    done = command("list", "--op", "Split")
    assert (done.status, done.out) == (2, ""), done.text
    assert done.err.startswith(f"onnx-conformance: {file}, {said}"), done.err
    assert done.err.count("\n") == 1
