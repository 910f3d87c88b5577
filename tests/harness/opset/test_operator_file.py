# SPDX-License-Identifier: Apache-2.0
"""`new`: the first lines of an operator file, another version of one, and a case from a model."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from commands import command
from onnx_conformance.declare import Op
from onnx_conformance.declare.clause import DeclarationError
from onnx_conformance.generation import coverage, operator_checks, plans
from onnx_conformance.opset import case_text, operator_file
from onnx_conformance.specification import registry, schema

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from onnx_conformance.specification.schema import OperatorVersion


def loaded(text: str, name: str) -> Op:
    """Return the operator that a text declares."""
    module = types.ModuleType(name)
    exec(compile(text, name, "exec"), vars(module))
    (op,) = [value for value in vars(module).values() if isinstance(value, Op)]
    return op


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where operator files lie in these tests: copies."""

    def copied(op: Op) -> Path:
        copy = tmp_path / f"{operator_file.snake(op.name)}.py"
        if not copy.exists():
            copy.write_text(PATH_OF(op).read_text())
        return copy

    monkeypatch.setattr(operator_file, "folder_of", lambda _: tmp_path)
    monkeypatch.setattr(operator_file, "path_of", copied)
    monkeypatch.setattr(case_text, "path_of", copied)
    return tmp_path


PATH_OF = operator_file.path_of


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Take an operator out of the registry, or put another declaration of it there."""
    whole = registry.load()

    def take(name: str, instead: Op | None = None) -> None:
        rest = [other for other in whole if other.name != name]
        changed = registry.Registry([*rest, instead] if instead else rest)
        monkeypatch.setattr(registry, "load", lambda *_: changed)

    return take


@pytest.mark.parametrize(
    ("name", "file", "folder_name"),
    [
        ("BitCast", "bit_cast.py", "tensor"),
        ("CumProd", "cum_prod.py", "math"),
        ("LSTM", "lstm.py", "rnn"),
        ("SplitToSequence", "split_to_sequence.py", "sequence"),
        ("TfIdfVectorizer", "tf_idf_vectorizer.py", "nn"),
        ("SVMClassifier", "svm_classifier.py", "traditionalml"),
    ],
)
def test_a_file_has_the_name_of_its_operator_and_lies_where_onnx_has_it(name: str, file: str, folder_name: str) -> None:
    op = registry.load().named(name)
    version = schema.versions(op.domain, name)[-1]
    assert f"{operator_file.snake(name)}.py" == file
    assert operator_file.folder_of(version).name == folder_name


def sentences(versions: Sequence[OperatorVersion]) -> set[str]:
    """Return the sentences of the texts of all versions."""
    return {text for item in versions for text in coverage.sentences(item)}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["BitCast", "SplitToSequence", "LSTM", "If", "Normalizer", "Concat"])
@pytest.mark.usefixtures("folder")
def test_a_new_file_has_every_sentence_and_fails_until_it_is_decided(name: str, without: Callable[..., None]) -> None:
    domain = registry.load().named(name).domain
    without(name)
    draft = operator_file.new(domain, name, None)
    op = loaded(draft.text, f"drafted_{name}")
    versions = [item for item in schema.versions(domain, name) if not item.deprecated]
    again = {text for text in sentences(versions) if any(f"a clause for «{text}»" in line for line in draft.left)}
    assert {clause.text for clause in op.clauses} | again == sentences(versions)
    assert again == ({"Which axis to concat on."} if name == "Concat" else set())
    assert list(operator_checks.quotes_are_in_their_versions(operator_checks.Expanded(op))) == []
    assert op.versions == tuple(item.since for item in schema.versions(domain, name) if not item.deprecated)
    assert [line for line in draft.text.splitlines() if len(line) > 120] == []
    assert draft.left[0].startswith(f"the oracle {operator_file.snake(name)}: ")
    # An earlier wording has the same case, under the name with _before_n.
    decide = {spec.name.partition("_before_")[0] for spec in op.cases if spec.name.startswith("to_decide_")}
    assert len(decide) == sum("to_decide_" in text for text in draft.left)
    with pytest.raises(DeclarationError):
        list(plans.plans(op))


def test_a_new_file_chains_the_wordings_of_one_sentence(folder: Path, without: Callable[..., None]) -> None:
    without("Flatten")
    text = operator_file.new("ai.onnx", "Flatten", None).text
    assert text.count('.reworded(\n    before=11,\n    text="The value for axis must be in the range [0, R]') == 1
    assert 'FLATTEN.clause("Negative value means counting dimensions from the back.", since=11)' in text
    assert folder.is_dir()


def test_types_alone_add_a_number(without: Callable[..., None], folder: Path) -> None:
    without("OneHot")
    first = operator_file.new("ai.onnx", "OneHot", 11)
    first.path.write_text(first.text)
    without("OneHot", loaded(first.text, "one_hot_11"))
    done = command("new", "OneHot/28")
    assert done.status == 0, done.text
    assert done.out.startswith(f"extended {folder / 'one_hot.py'}\n")
    assert first.path.read_text() == first.text.replace("versions=(11,)", "versions=(11, 28,)")


def test_another_meaning_ends_clauses_and_adds_some_and_an_oracle(without: Callable[..., None], folder: Path) -> None:
    without("Split")
    first = operator_file.new("ai.onnx", "Split", 13)
    first.path.write_text(first.text)
    without("Split", loaded(first.text, "split_13"))
    draft = operator_file.new("ai.onnx", "Split", 18)
    extended = loaded(draft.text, "extended_split")
    assert extended.versions == (13, 18)
    assert draft.path == folder / "split.py"
    assert any("split_since_18" in text for text in draft.left)
    assert [oracle.function.__name__ for oracle in extended.oracles] == ["split", "split_since_18"]
    assert [extended.oracle_for(since).function.__name__ for since in (13, 18)] == ["split", "split_since_18"]
    newer = schema.versions("ai.onnx", "Split")[-1]
    in_force = {clause.text for clause in extended.clauses if clause.in_force(18)}
    assert in_force == set(coverage.sentences(newer))
    ended = [clause.text for clause in extended.clauses if clause.before == 18]
    assert any("Otherwise, the tensor is split to equal sized parts." in text for text in ended), ended


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("Spilt",), "did you mean Split"),
        (("Split/17",), "ai.onnx/Split has the versions 1, 2, 11, 13, 18, not 17"),
        (("Split/18",), "declares ai.onnx/Split/18 already"),
        (("Split",), "declares ai.onnx/Split/18 already"),
        ((), "name an operator, such as Split/18, or a model with --model"),
        (("Split", "--name", "x"), "--inputs, --name and --out need --model"),
        (("Split", "--model", "x.onnx"), "name an operator, such as Split/18, or a model with --model"),
        (("com.microsoft/Gelu/1",), "Gelu"),
    ],
)
def test_what_cannot_be_new_gets_one_line(words: tuple[str, ...], said: str) -> None:
    done = command("new", *words)
    assert (done.status, done.out) == (2, ""), done.text
    assert done.err.count("\n") == 1
    assert said in done.err


def model(path: Path, *nodes: onnx.NodeProto, domain: str = "", opset: int = 18) -> Path:
    """Write a model of nodes from x to y."""
    graph = helper.make_graph(
        list(nodes), "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [7])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        initializer=[numpy_helper.from_array(np.array([3, 4], np.int64), "lengths")],
    )  # fmt: skip
    whole = helper.make_model(graph, opset_imports=[helper.make_opsetid(domain, opset)], ir_version=8)
    onnx.save(whole, path)
    return path


def split(*outputs: str) -> onnx.NodeProto:
    return helper.make_node("Split", ["x", "lengths"], list(outputs))


@pytest.mark.usefixtures("folder")
def test_a_model_that_somebody_met_becomes_a_case(folder: Path, tmp_path: Path) -> None:
    met = model(tmp_path / "met.onnx", split("y", "z"))
    np.savez(tmp_path / "x.npz", x=np.arange(7, dtype=np.float32))
    done = command("new", "--model", met, "--inputs", tmp_path / "x.npz", "--name", "met_in_a_wild_model")
    assert done.status == 0, done.text
    assert "ai.onnx/Split/18: the oracle returns" in done.out
    assert "cites=: the sentence that the case tries" in done.out
    op = loaded((folder / "split.py").read_text(), "split_with_case")
    (spec,) = [spec for spec in op.cases if spec.name == "met_in_a_wild_model"]
    (plan,) = [
        plan
        for plan in plans.plans(op, (18,))
        if plan.spec is spec and plan.types.get("T", "") in {"", "tensor(float)"}
    ][:1]
    assert [value.tolist() for value in plan.expected or () if isinstance(value, np.ndarray)] == [
        [0, 1, 2],
        [3, 4, 5, 6],
    ]
    again = command("new", "--model", met, "--inputs", tmp_path / "x.npz", "--name", "lengths")
    assert again.status == 2, again.text
    assert "[case-exists]" in again.err


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_a_model_that_the_text_forbids_becomes_a_case_with_its_sentence(folder: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=np.arange(8, dtype=np.float32))
    met = model(tmp_path / "met.onnx", split("y", "z"))
    done = command("new", "--model", met, "--inputs", tmp_path / "x.npz")
    assert done.status == 0, done.text
    assert "ai.onnx/Split/18: invalid: «" in done.out
    op = loaded((folder / "split.py").read_text(), "split_with_refusal")
    (spec,) = [spec for spec in op.cases if spec.name == "met"]
    assert spec.rejects is not None


@pytest.mark.slow
def test_a_model_becomes_a_folder_that_runs(tmp_path: Path) -> None:
    met = model(tmp_path / "met.onnx", split("y", "z"))
    np.savez(tmp_path / "x.npz", x=np.arange(7, dtype=np.float32))
    out = tmp_path / "mine"
    done = command("new", "--model", met, "--inputs", tmp_path / "x.npz", "--out", out)
    assert done.status == 0, done.text
    ran = command("run", "--suite", out, "--backend", "oracle")
    assert (ran.status, "passed  1" in ran.out) == (0, True), ran.text


@pytest.mark.parametrize(
    ("nodes", "domain", "inputs", "said"),
    [
        ([split("h", "z"), helper.make_node("Abs", ["h"], ["y"])], "", {"x": np.zeros(7, np.float32)},
         "got 2 nodes"),
        ([helper.make_node("Mine", ["x"], ["y"], domain="com.mine")], "com.mine", {"x": np.zeros(7, np.float32)},
         "no operator file declares com.mine/Mine"),
        ([split("y", "z")], "", {"w": np.zeros(7, np.float32)}, "has no x; it has w"),
        ([split("y", "z")], "", None, "no test_data_set_0 in its folder; pass the inputs with --inputs"),
    ],
)  # fmt: skip
def test_a_model_that_is_no_case_gets_one_line(
    nodes: list[onnx.NodeProto], domain: str, inputs: dict[str, Any] | None, said: str, tmp_path: Path
) -> None:
    met = model(tmp_path / "met.onnx", *nodes, domain=domain, opset=1 if domain else 18)
    words: list[str | Path] = ["new", "--model", met, "--out", tmp_path / "out"]
    if inputs is not None:
        np.savez(tmp_path / "x.npz", **inputs)
        words += ["--inputs", tmp_path / "x.npz"]
    done = command(*words)
    assert (done.status, done.out) == (2, ""), done.text
    assert done.err.count("\n") == 1
    assert said in done.err


def test_files_that_are_no_model_or_no_inputs_get_one_line(tmp_path: Path) -> None:
    (tmp_path / "text.onnx").write_text("no model")
    met = model(tmp_path / "met.onnx", split("y", "z"))
    for words, said in (
        (("--model", tmp_path / "text.onnx"), "is not an ONNX model"),
        (("--model", tmp_path / "none.onnx"), f"{tmp_path / 'none.onnx'}: No such file"),
        (("--model", met, "--inputs", tmp_path / "text.onnx"), "is not an .npz file of plain tensors"),
        (("--model", met, "--inputs", tmp_path / "none.npz"), "is not an .npz file of plain tensors"),
    ):
        done = command("new", *words)
        assert (done.status, done.out) == (2, ""), done.text
        assert done.err.count("\n") == 1
        assert said in done.err
